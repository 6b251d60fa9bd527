//! Every reduction of the contract, folded element by element.

use std::cmp::Ordering;
use std::marker::PhantomData;

use num_bigint::{BigInt, BigUint, Sign};
use warpfold::partial::Finish;
use warpfold::{DType, Nan, Op, Overflow};

use super::answer::{Cell, Expected, Refusal};
use super::format::{BF16, F16, F32, F64, Format, Magnitude, Number};
use super::total::{ExactSum, Factor, Product};
use crate::sample::{Class, Sample};

/// Guard bits under the roots of a complex l1: more than any sum of roots here can lose.
const GUARD: i64 = 128;

/// One reduction of elements pushed in turn, readable after each.
#[derive(Debug, Clone)]
pub struct Oracle<T> {
    op: Op,
    nan: Nan,
    seen: u64,
    kept: u64,
    nonzero: u64,
    first_nan: Option<u64>,
    sums: [ExactSum; 2],
    squares: ExactSum,
    largest: ExactSum,
    product: Product,
    factor_specials: ExactSum,
    negative_factors: u64,
    zero_factor: bool,
    least: Option<(Number, Vec<u64>, u64)>,
    greatest: Option<(Number, Vec<u64>, u64)>,
    element: PhantomData<T>,
}

/// What a reduction of whole arrays may answer.
pub fn expected<T: Sample>(op: Op, nan: Nan, x: &[T], y: &[T], finish: Finish) -> Expected {
    let mut oracle = Oracle::new(op, nan);
    for (k, &x) in x.iter().enumerate() {
        oracle.push(x, y.get(k).copied());
    }
    oracle.expected(finish)
}

impl<T: Sample> Oracle<T> {
    pub fn new(op: Op, nan: Nan) -> Self {
        let unit = match op {
            Op::Dot => 2 * T::UNIT,
            Op::L1 if T::PARTS == 2 => T::UNIT - GUARD,
            _ => T::UNIT,
        };
        Oracle {
            op,
            nan,
            seen: 0,
            kept: 0,
            nonzero: 0,
            first_nan: None,
            sums: [ExactSum::new(unit), ExactSum::new(unit)],
            squares: ExactSum::new(2 * T::UNIT),
            largest: ExactSum::new(2 * T::UNIT),
            product: Product::default(),
            factor_specials: ExactSum::new(T::UNIT),
            negative_factors: 0,
            zero_factor: false,
            least: None,
            greatest: None,
            element: PhantomData,
        }
    }

    /// Takes in an element, and for dot the one beside it.
    pub fn push(&mut self, x: T, y: Option<T>) {
        let index = self.seen;
        self.seen += 1;
        let a = x.numbers();
        let b = y.map(Sample::numbers).unwrap_or_default();
        if self.nan == Nan::Ignore && a.iter().chain(&b).any(|number| number.is_nan()) {
            return;
        }
        self.kept += 1;
        self.nonzero += u64::from(!a.iter().all(|number| number.is_zero()));
        match self.op {
            Op::Sum | Op::Mean => self.add_parts(&a),
            Op::Var | Op::Std => {
                self.add_parts(&a);
                a.iter().for_each(|&number| self.squares.add(number.times(number)));
            }
            Op::L2 | Op::Sumsq => {
                a.iter().for_each(|&number| self.squares.add(number.times(number)))
            }
            Op::L1 if T::PARTS == 2 => self.add_root(&a),
            Op::L1 => self.add_parts(&[a[0].magnitude()]),
            Op::Linf => {
                let mut square = ExactSum::new(2 * T::UNIT);
                a.iter().for_each(|&number| square.add(number.times(number)));
                self.largest.finite = (&self.largest.finite).max(&square.finite).clone();
                self.largest.specials.nan |= square.specials.nan;
                self.largest.specials.plus |= square.specials.plus;
            }
            Op::Prod => self.multiply(&a),
            Op::Dot => match (a.as_slice(), b.as_slice()) {
                ([a], [b]) => self.add_parts(&[a.times(*b)]),
                ([a, b], [c, d]) => {
                    self.add_parts(&[a.times(*c), a.times(*d)]);
                    self.add_parts(&[b.times(*d).negate_if(true), b.times(*c)]);
                }
                _ => panic!("dot takes pairs"),
            },
            Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax => {
                self.rank(a[0], x.words(), index);
            }
            Op::Any | Op::All | Op::Count => {}
            Op::Stats => panic!("stats is compared field by field"),
        }
    }

    fn add_parts(&mut self, numbers: &[Number]) {
        self.sums.iter_mut().zip(numbers).for_each(|(sum, &number)| sum.add(number));
    }

    /// Adds |z|, a root cut off far below what a rounding can see.
    fn add_root(&mut self, parts: &[Number]) {
        let mut square = ExactSum::new(2 * T::UNIT);
        parts.iter().for_each(|&number| square.add(number.times(number)));
        self.sums[0].specials.nan |= square.specials.nan;
        self.sums[0].specials.plus |= square.specials.plus;
        self.sums[0].finite += (square.finite << (2 * GUARD) as u64).sqrt();
    }

    fn multiply(&mut self, parts: &[Number]) {
        if parts.iter().all(|part| matches!(part, Number::Finite { .. })) {
            self.negative_factors += u64::from(T::PARTS == 1 && parts[0].is_negative());
            self.zero_factor |= parts.iter().all(|part| part.is_zero());
            self.product.multiply(Factor::new(parts));
        } else {
            self.negative_factors += u64::from(T::PARTS == 1 && parts[0].is_negative());
            parts.iter().for_each(|&part| self.factor_specials.add(part.magnitude()));
        }
    }

    fn rank(&mut self, number: Number, words: Vec<u64>, index: u64) {
        if number.is_nan() {
            self.first_nan.get_or_insert(index);
            return;
        }
        if self.least.as_ref().is_none_or(|(least, ..)| order(&number, least).is_lt()) {
            self.least = Some((number, words.clone(), index));
        }
        if self.greatest.as_ref().is_none_or(|(greatest, ..)| order(&number, greatest).is_gt()) {
            self.greatest = Some((number, words, index));
        }
    }

    /// What may be answered for the elements so far.
    pub fn expected(&self, finish: Finish) -> Expected {
        let (op, n) = (self.op, self.kept);
        let ordered = matches!(op, Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax);
        if ordered && T::PARTS == 2 {
            return Expected::Refused(Refusal::Undefined, op);
        }
        if n == 0 && (ordered || matches!(op, Op::Mean | Op::Var | Op::Std)) {
            return Expected::Refused(Refusal::Empty, op);
        }
        if matches!(op, Op::Var | Op::Std) && finish.ddof >= n {
            return Expected::Refused(Refusal::TooFew, op);
        }
        let round = format_of(finish.round_to).unwrap_or(T::ROUND);
        if op == Op::L1 && T::PARTS == 2 && round.fraction_bits > T::ROUND.fraction_bits {
            return Expected::Refused(Refusal::Unsupported, op);
        }
        let one = |cell| Expected::Bits(vec![cell]);
        let each = |denominator: u64| {
            let bits = self.sums[..T::PARTS].iter().map(|sum| sum.round(round, denominator));
            Cell::floats(round, &bits.collect::<Vec<_>>())
        };
        match (op, T::CLASS) {
            (Op::Sum | Op::Dot, Class::Signed | Class::Unsigned) if finish.round_to.is_none() => {
                integer::<T>(&self.sums[0].finite, op, finish.overflow)
            }
            (Op::Sum | Op::Dot, _) => one(each(1)),
            (Op::Mean, _) => one(each(n)),
            (Op::Var, _) => self.variance(round, finish.ddof, |variance| variance),
            (Op::Std, _) => self.variance(round, finish.ddof, Magnitude::root),
            (Op::L1, _) if T::PARTS == 2 && !self.sums[0].specials.any() => Expected::Near {
                format: round,
                negative: false,
                exact: Magnitude::dyadic(
                    self.sums[0].finite.magnitude().clone(),
                    self.sums[0].unit,
                ),
            },
            (Op::L1, _) => one(Cell::floats(round, &[self.sums[0].round(round, 1)])),
            (Op::L2, _) => one(Cell::floats(round, &[self.squares.round_root(round)])),
            (Op::Sumsq, Class::Signed | Class::Unsigned) if finish.round_to.is_none() => {
                integer::<T>(&self.squares.finite, op, finish.overflow)
            }
            (Op::Sumsq, _) => one(Cell::floats(round, &[self.squares.round(round, 1)])),
            (Op::Linf, Class::Signed | Class::Unsigned) if finish.round_to.is_none() => {
                let largest = self.largest.finite.sqrt();
                one(Cell::new("u64", &[u64::try_from(largest).expect("a magnitude fits")]))
            }
            (Op::Linf, _) => one(Cell::floats(round, &[self.largest.round_root(round)])),
            (Op::Prod, Class::Float(_)) => self.float_product(round),
            (Op::Prod, _) if finish.round_to.is_some() => {
                // As documented: a partial knows of a product beyond 2^64 only that it is.
                let Factor { parts: [product, _], .. } = self.product.value();
                let negative = product.sign() == Sign::Minus;
                let sign = if negative { round.sign() } else { 0 };
                match product.bits() > 64 {
                    true => one(Cell::floats(round, &[round.infinity() | sign])),
                    false => {
                        let exact = Magnitude::dyadic(product.magnitude().clone(), 0);
                        Expected::rounded(round, negative, &exact)
                    }
                }
            }
            (Op::Prod, _) => integer::<T>(&self.product.value().parts[0], op, finish.overflow),
            (Op::Min, _) => one(self.extreme(&self.least)),
            (Op::Max, _) => one(self.extreme(&self.greatest)),
            (Op::MinMax, _) => {
                Expected::Bits(vec![self.extreme(&self.least), self.extreme(&self.greatest)])
            }
            (Op::ArgMin, _) => one(self.index(&self.least)),
            (Op::ArgMax, _) => one(self.index(&self.greatest)),
            (Op::Any, _) => one(Cell::new("bool", &[u64::from(self.nonzero > 0)])),
            (Op::All, _) => one(Cell::new("bool", &[u64::from(self.nonzero == n)])),
            (Op::Count, _) => one(Cell::new("u64", &[self.nonzero])),
            (Op::Stats, _) => panic!("stats is compared field by field"),
        }
    }

    /// The exact sums, each in units of its lowest bit: what a partial of the same reduction holds.
    pub fn sums(&self) -> Vec<BigInt> {
        let sums = self.sums[..T::PARTS].iter().map(|sum| sum.finite.clone());
        match self.op {
            Op::Sum | Op::Mean | Op::Dot => sums.collect(),
            Op::Var | Op::Std => sums.chain([self.squares.finite.clone()]).collect(),
            op => panic!("{op} is read from no exact sums"),
        }
    }

    /// `(n·Σx² - (Σx)²) / (n·(n - ddof))`, or its root.
    fn variance(&self, format: Format, ddof: u64, of: impl Fn(Magnitude) -> Magnitude) -> Expected {
        if self.squares.specials.any() || self.sums.iter().any(|sum| sum.specials.any()) {
            return Expected::Bits(vec![Cell::floats(format, &[format.nan()])]);
        }
        let squared_sums: BigInt = self.sums.iter().map(|sum| &sum.finite * &sum.finite).sum();
        let numerator = &self.squares.finite * self.kept - squared_sums;
        let numerator = numerator.to_biguint().expect("a sum of squares is not negative");
        let denominator = BigUint::from(self.kept) * (self.kept - ddof);
        let variance = Magnitude::dyadic(numerator, 2 * T::UNIT).over(denominator);
        Expected::rounded(format, false, &of(variance))
    }

    fn float_product(&self, format: Format) -> Expected {
        let specials = self.factor_specials.specials;
        if specials.any() && T::PARTS == 2 {
            return Expected::Special;
        }
        if specials.any() {
            let sign = if self.negative_factors % 2 == 1 { format.sign() } else { 0 };
            let is_nan = specials.nan || self.zero_factor;
            let bits = if is_nan { format.nan() } else { format.infinity() | sign };
            return Expected::Bits(vec![Cell::floats(format, &[bits])]);
        }
        let Factor { parts, exponent } = self.product.value();
        if T::PARTS == 2 {
            return Expected::NearComplex { format, exact: parts, exponent };
        }
        let exact = Magnitude::dyadic(parts[0].magnitude().clone(), exponent);
        Expected::Near { format, negative: parts[0].sign() == Sign::Minus, exact }
    }

    fn extreme(&self, extreme: &Option<(Number, Vec<u64>, u64)>) -> Cell {
        let nan = match T::DTYPE {
            DType::F16 => F16.nan(),
            DType::BF16 => BF16.nan(),
            DType::F32 => F32.nan(),
            _ => F64.nan(),
        };
        match (self.first_nan, extreme) {
            (Some(_), _) => Cell::new(T::DTYPE.name(), &[nan]),
            (None, Some((_, words, _))) => Cell::new(T::DTYPE.name(), words),
            (None, None) => panic!("an empty input has no extreme"),
        }
    }

    fn index(&self, extreme: &Option<(Number, Vec<u64>, u64)>) -> Cell {
        let index = self.first_nan.or(extreme.as_ref().map(|(.., index)| *index));
        Cell::new("u64", &[index.expect("an empty input has no index")])
    }
}

fn format_of(dtype: Option<DType>) -> Option<Format> {
    dtype.map(|dtype| match dtype {
        DType::F16 => F16,
        DType::BF16 => BF16,
        DType::F32 | DType::Complex64 => F32,
        DType::F64 | DType::Complex128 => F64,
        other => panic!("{other} is no float"),
    })
}

/// An integer result: checked, or its low 64 bits.
fn integer<T: Sample>(exact: &BigInt, op: Op, overflow: Overflow) -> Expected {
    let (dtype, narrow) = match T::CLASS {
        Class::Signed => ("i64", i64::try_from(exact).map(|value| value as u64)),
        _ => ("u64", u64::try_from(exact)),
    };
    match (narrow, overflow) {
        (Ok(word), _) => Expected::Bits(vec![Cell::new(dtype, &[word])]),
        (Err(_), Overflow::Error) => Expected::Refused(Refusal::Overflow, op),
        (Err(_), Overflow::Wrap) => {
            let modulus = BigInt::from(1) << 64;
            let low = ((exact % &modulus) + &modulus) % &modulus;
            let low = u64::try_from(low).expect("a residue below 2^64");
            Expected::Bits(vec![Cell::new(dtype, &[low])])
        }
    }
}

/// The order of the contract: -0 below +0.
fn order(a: &Number, b: &Number) -> Ordering {
    // Sign, then class (finite below infinite), then leading bit, then the bits below it.
    fn rank(number: &Number) -> (bool, i64, u128) {
        match *number {
            Number::Infinite { .. } => (true, 0, 0),
            Number::Finite { mantissa: 0, .. } => (false, i64::MIN, 0),
            Number::Finite { mantissa, exponent, .. } => {
                let zeros = mantissa.leading_zeros();
                (false, exponent - i64::from(zeros), mantissa << zeros)
            }
            Number::Nan => panic!("a NaN has no place in the order"),
        }
    }
    match (a.is_negative(), b.is_negative()) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => rank(a).cmp(&rank(b)),
        (true, true) => rank(b).cmp(&rank(a)),
    }
}
