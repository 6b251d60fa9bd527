//! What results are, by big integers alone: the nearest float is searched among all floats by comparing rationals.

use std::cmp::Ordering;

use num_bigint::BigInt;

/// An exact number.
#[derive(Clone, Debug)]
pub(crate) struct Ratio {
    numerator: BigInt,
    denominator: BigInt,
}

impl Ratio {
    pub(crate) fn new(numerator: BigInt, denominator: BigInt) -> Ratio {
        Ratio { numerator, denominator }
    }

    /// A finite float, of any type, as what it is.
    pub(crate) fn of(x: f64) -> Ratio {
        let bits = x.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let power = exponent.max(1) - 1075;
        let numerator = BigInt::from(mantissa) * if x < 0.0 { -1 } else { 1 };
        match power < 0 {
            true => Ratio::new(numerator, BigInt::from(1) << -power),
            false => Ratio::new(numerator << power, BigInt::from(1)),
        }
    }

    fn plus(&self, other: &Ratio) -> Ratio {
        // Denominators are powers of two, mostly the same.
        match self.denominator.cmp(&other.denominator) {
            Ordering::Equal => {
                Ratio::new(&self.numerator + &other.numerator, self.denominator.clone())
            }
            Ordering::Less => other.plus(self),
            Ordering::Greater => {
                let scaled = &other.numerator * (&self.denominator / &other.denominator);
                Ratio::new(&self.numerator + scaled, self.denominator.clone())
            }
        }
    }

    pub(crate) fn times(&self, other: &Ratio) -> Ratio {
        Ratio::new(&self.numerator * &other.numerator, &self.denominator * &other.denominator)
    }

    pub(crate) fn over(&self, n: i64) -> Ratio {
        Ratio::new(self.numerator.clone(), &self.denominator * n)
    }

    fn compare(&self, other: &Ratio) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }

    pub(crate) fn integer(&self) -> BigInt {
        &self.numerator / &self.denominator
    }
}

pub(crate) fn sum<'a>(all: impl IntoIterator<Item = &'a Ratio>) -> Ratio {
    all.into_iter().fold(Ratio::of(0.0), |sum, x| sum.plus(x))
}

/// The variance over `n - ddof`.
pub(crate) fn variance(all: &[Ratio], ddof: i64) -> Ratio {
    let n = all.len() as i64;
    let squares: Vec<Ratio> = all.iter().map(|x| x.times(x)).collect();
    let (sum, squares) = (sum(all), sum(&squares));
    let spread = sum.times(&sum);
    let n_squares = Ratio::new(&squares.numerator * n, squares.denominator);
    let negated = Ratio::new(-spread.numerator, spread.denominator);
    n_squares.plus(&negated).over(n).over(n - ddof)
}

/// The nearest of floats that are given by increasing bits, ties to even bits, where `too_much` compares a candidate with the exact value.
fn nearest(infinity: u64, value: impl Fn(u64) -> f64, compare: impl Fn(&Ratio) -> Ordering) -> f64 {
    let (mut low, mut high) = (0, infinity);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match compare(&Ratio::of(value(middle))) {
            Ordering::Greater => high = middle,
            _ => low = middle,
        }
    }
    let below = Ratio::of(value(low));
    let step =
        if high == infinity { (value(low), value(low - 1)) } else { (value(high), value(low)) };
    let gap = Ratio::of(step.0 - step.1);
    let half_way = below.plus(&Ratio::new(gap.numerator, gap.denominator * 2));
    match compare(&half_way) {
        Ordering::Less => value(high),
        Ordering::Greater => value(low),
        Ordering::Equal => value(if low % 2 == 0 { low } else { high }),
    }
}

fn with_sign(x: &Ratio, magnitude: impl Fn(&Ratio) -> f64) -> f64 {
    let zero = BigInt::from(0);
    match x.numerator < zero {
        true => -magnitude(&Ratio::new(-&x.numerator, x.denominator.clone())),
        false => magnitude(x),
    }
}

/// The nearest f64.
pub(crate) fn f64_of(x: &Ratio) -> f64 {
    let infinity = f64::INFINITY.to_bits();
    with_sign(x, |x| nearest(infinity, f64::from_bits, |candidate| candidate.compare(x)))
}

/// The nearest f32.
pub(crate) fn f32_of(x: &Ratio) -> f32 {
    let infinity = u64::from(f32::INFINITY.to_bits());
    let value = |bits| f64::from(f32::from_bits(bits as u32));
    with_sign(x, |x| nearest(infinity, value, |candidate| candidate.compare(x))) as f32
}

/// The f64 nearest to the root.
pub(crate) fn root_of(x: &Ratio) -> f64 {
    let infinity = f64::INFINITY.to_bits();
    nearest(infinity, f64::from_bits, |candidate| candidate.times(candidate).compare(x))
}

#[test]
fn the_reference_itself() {
    for x in [0.0, 1.5, -0.1, 5e-324, f64::MAX, -f64::MIN_POSITIVE] {
        assert_eq!(f64_of(&Ratio::of(x)), x);
    }
    let ratio = |a: i64, b: i64| Ratio::new(BigInt::from(a), BigInt::from(b));
    assert_eq!(f64_of(&ratio(1, 3)), 1.0 / 3.0);
    assert_eq!(f64_of(&ratio((1 << 53) + 1, 1)), (1i64 << 53) as f64);
    assert_eq!(f64_of(&ratio((1 << 53) + 3, 1)), ((1i64 << 53) + 4) as f64);
    assert_eq!(f32_of(&ratio(-1, 10)), -0.1);
    assert_eq!(root_of(&ratio(2, 1)), 2f64.sqrt());
    assert_eq!(f64_of(&Ratio::of(f64::MAX).over(1).plus(&Ratio::of(f64::MAX))), f64::INFINITY);
}
