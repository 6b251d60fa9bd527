//! Sums of magnitudes of complex numbers and the largest of them: as exact squares and their roots have them, and as each input alone.

use num_bigint::{BigInt, BigUint};
use warpfold_exact::exact::round_ratio;
use warpfold_num::element::{Decode, Decoded, Float};
use warpfold_num::random::Words;
use warpfold_num::{Column, Complex, Element, Nan, Op, Policy};

use crate::sources::{alone, sources};

/// Bits below that of the lowest square.
const BELOW: u32 = 200;

/// The magnitude in units of `2^-(1074 + BELOW)`, rounded down; `None` of what is not finite.
fn root(z: [f64; 2]) -> Option<BigUint> {
    let mut squares = BigUint::ZERO;
    for part in z {
        match part.decode() {
            Decoded::Finite { mantissa, shift, .. } => {
                squares += BigUint::from(mantissa).pow(2) << (2 * shift);
            }
            _ => return None,
        }
    }
    Some((squares << (2 * BELOW)).sqrt())
}

/// What a reduction of some finite numbers gives.
fn expected<F: Float>(op: Op, x: &[[f64; 2]]) -> Option<F> {
    let roots: Vec<_> = x.iter().map(|&z| root(z)).collect::<Option<_>>()?;
    let all = match op {
        Op::L1 => roots.into_iter().sum(),
        _ => roots.into_iter().max().unwrap_or_default(),
    };
    Some(round_ratio(&BigInt::from(all), &BigUint::from(1u32), -1074 - i64::from(BELOW)))
}

fn number(words: &mut Words, data: usize) -> f64 {
    let bits = words.next();
    let x = (bits >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    match (data, words.next() % 900) {
        (1, power) => x * 2f64.powi((power % 60) as i32 - 30),
        // Pythagorean triples, halves between floats among their roots.
        (2, k) => [3.0, 4.0, 5.0, 12.0, 0.0, -8.0, 15.0][k as usize % 7] * (bits >> 40) as f64,
        (3, 0) => f64::NAN,
        (3, 1) => f64::NEG_INFINITY,
        (3, 2..400) => 0.0,
        (4, power) => x * 2f64.powi(power as i32 * 2 - 900),
        (5, _) => x * 1e-310,
        (6, _) => f64::from_bits(words.next()),
        _ => x,
    }
}

fn agree<T: Element, F: Float>(of: fn([f64; 2]) -> T, parts: fn(T) -> [f64; 2]) {
    for data in 0..7 {
        let mut words = Words(23 + data as u64);
        for source in sources(&mut || of([number(&mut words, data), number(&mut words, data)])) {
            // NaNs are in some alone.
            let ignored = [3, 6].contains(&data).then_some(Nan::Ignore);
            let ops = [Op::L1, Op::Linf].into_iter();
            for (op, nan) in ops.flat_map(|op| {
                [Some(Nan::Propagate), ignored].into_iter().flatten().map(move |nan| (op, nan))
            }) {
                let policy = Policy { nan, ..Policy::default() };
                let found = &source.columns(op, policy).expect("a norm of each input")[0].1;
                for (k, x) in source.inputs.iter().enumerate() {
                    let name =
                        format!("{op} of {} {data} {nan:?}: {}, output {k}", T::DTYPE, source.name);
                    let alone = alone(op, policy, x).expect("a norm");
                    let found = found.get(k).to_string();
                    assert_eq!(found, alone, "{name}");
                    // Integers of thousands of bits take their time.
                    if k % 20 > 0 || x.len() > 100 || nan == Nan::Ignore {
                        continue;
                    }
                    let x: Vec<_> = x.iter().map(|&z| parts(z)).collect();
                    if let Some(expected) = expected::<F>(op, &x) {
                        let expected = Column::of(vec![expected]).get(0).to_string();
                        let number = |text: &str| text.parse::<f64>().expect("a number");
                        // Within an ulp of what is not far below one, and half as much for the digits.
                        let ulp = if T::DTYPE.size() == 8 { 2f64.powi(-23) } else { f64::EPSILON };
                        let apart = (number(&found) - number(&expected)).abs();
                        let is_near =
                            apart <= 1.5 * ulp * number(&expected) || number(&expected) < 1e-30;
                        assert!(found == expected || op == Op::L1 && is_near, "{name}: {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn norms_of_complex_numbers() {
    agree::<_, f32>(|[re, im]| Complex::new(re as f32, im as f32), |z| [z.re.into(), z.im.into()]);
    agree::<_, f64>(|[re, im]| Complex::new(re, im), |z| [z.re, z.im]);
}
