//! Columns of one element of every rank on a machine, against sums of integers of two thousand bits that are rounded once.

use num_bigint::{BigInt, BigUint};
use warpfold::kernel::{Executor, RankSums};
use warpfold::{Element, bf16, f16};

use crate::data::{Contents, Random, array};
use crate::{SCALE, machine};

/// A float: bits of its significand, and the exponent of its least number, below zero.
trait Float: Element {
    const BITS: u64;
    const LEAST: u64;
    fn wide(self) -> f64;
    /// Of a number that it holds, or that is beyond its greatest.
    fn of(x: f64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! float {
    ($F:ty, $bits:expr, $least:expr, $wide:expr, $of:expr) => {
        impl Float for $F {
            const BITS: u64 = $bits;
            const LEAST: u64 = $least;
            fn wide(self) -> f64 {
                $wide(self)
            }
            fn of(x: f64) -> Self {
                $of(x)
            }
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
        }
    };
}
float!(f16, 11, 24, f16::to_f64, f16::from_f64);
float!(bf16, 8, 133, bf16::to_f64, bf16::from_f64);
float!(f32, 24, 149, f64::from, |x| x as f32);
float!(f64, 53, 1074, |x| x, |x| x);

/// The sum of a column by the contract: infinities and NaNs as they are, all else as an integer in units of 2^-1074, rounded to nearest-even.
fn expected<F: Float>(column: &[F]) -> F {
    let x: Vec<f64> = column.iter().map(|x| x.wide()).collect();
    let (plus, minus) = (x.contains(&f64::INFINITY), x.contains(&f64::NEG_INFINITY));
    if x.iter().any(|x| x.is_nan()) || plus && minus {
        return F::of(f64::NAN);
    }
    if plus || minus {
        return F::of(if plus { f64::INFINITY } else { f64::NEG_INFINITY });
    }
    let sum: BigInt = x.iter().map(|&x| integer(x)).sum();
    let (magnitude, is_negative) = (sum.magnitude(), sum < BigInt::ZERO);
    let cut = magnitude.bits().saturating_sub(F::BITS).max(1074 - F::LEAST);
    let (top, rest) = (magnitude >> cut, magnitude & ((BigUint::from(1u8) << cut) - 1u8));
    let mut significand = u64::try_from(top).expect("53 bits");
    let twice = rest * 2u8;
    let unit = BigUint::from(1u8) << cut;
    if twice > unit || twice == unit && significand % 2 == 1 {
        significand += 1;
    }
    // In two steps, so that no power leaves the range; either is exact.
    let (exponent, most) = (cut as i32 - 1074, 900);
    let first = exponent.clamp(-most, most);
    let found = significand as f64 * 2f64.powi(first) * 2f64.powi(exponent - first);
    F::of(if is_negative { -found } else { found })
}

fn integer(x: f64) -> BigInt {
    let (field, fraction) = (x.to_bits() >> 52 & 0x7ff, x.to_bits() & ((1 << 52) - 1));
    let magnitude = match field {
        0 => BigInt::from(fraction),
        _ => BigInt::from(fraction | 1 << 52) << (field - 1),
    };
    if x.is_sign_negative() { -magnitude } else { magnitude }
}

/// How the rows lie.
#[derive(Debug, Clone, Copy)]
struct Lie {
    /// Elements before the first row.
    from: usize,
    /// Elements between rows.
    gap: usize,
    /// The row that lies elsewhere, where the sums go too.
    own: Option<usize>,
}

const CLOSE: Lie = Lie { from: 0, gap: 0, own: None };

/// Sums rows of one length, which lie one behind the other in `x`.
fn check<F: Float>(x: &[F], ranks: usize, lie: Lie, multiprocessors: u32) {
    let Some(device) = machine(multiprocessors, 5) else { return };
    let Lie { from, gap, own } = lie;
    let columns = x.len() / ranks;
    let pitch = columns + gap;
    let mut rows = vec![F::of(77.0); from + ranks * pitch];
    for (rank, row) in x.chunks(columns.max(1)).enumerate() {
        // What lies elsewhere is not read here.
        if own != Some(rank) {
            rows[from + rank * pitch..][..columns].copy_from_slice(row);
        }
    }
    let mut sums = vec![F::of(55.0); from + columns + gap];
    if let Some(own) = own {
        sums[from..from + columns].copy_from_slice(&x[own * columns..][..columns]);
    }
    let (rows, sums) = (device.upload(&rows).unwrap(), device.upload(&sums).unwrap());
    let first = (from * size_of::<F>()) as u64;
    let out = sums.address() + first;
    let launch = RankSums {
        dtype: F::DTYPE,
        rows: rows.address() + first,
        pitch: pitch as u64,
        ranks: ranks as u64,
        columns: columns as u64,
        own: own.map(|own| (own as u64, out)),
        out,
    };
    let launch = launch.launch(multiprocessors).unwrap();
    Executor::run_batched(&device, &[launch], &[]).unwrap();
    let found = sums.download().unwrap();
    for (k, found) in found[from..from + columns].iter().enumerate() {
        let column: Vec<F> = (0..ranks).map(|rank| x[rank * columns + k]).collect();
        let right = expected(&column);
        assert_eq!(found.bits(), right.bits(), "{k} of {columns}, {lie:?}: {column:?}");
    }
    let around = found[..from].iter().chain(&found[from + columns..]);
    assert!(around.clone().all(|x| x.wide() == 55.0), "written beside the sums");
}

fn of_type<F: Float>() {
    let mut random = Random(F::DTYPE as u64 + 90);
    let kinds =
        [Contents::Plain, Contents::Wide, Contents::Specials, Contents::Zeros, Contents::Ties];
    for (at, ranks) in [1, 2, 3, 4, 7, 33].into_iter().enumerate() {
        for (k, kind) in kinds.into_iter().enumerate() {
            let columns = [5, 133, 1, 40, 64][(at + k) % 5] * SCALE;
            let x = array::<F>(kind, ranks * columns, &mut random);
            let own = (k % 2 == 1).then_some(ranks / 2);
            check(&x, ranks, Lie { own, ..CLOSE }, 1);
            check(&x, ranks, Lie { from: 1 + k, gap: k, own }, 2);
        }
    }
    // Every column in doubt: nothing is left to what is certain.
    check(&array::<F>(Contents::AllNan, 3 * 70, &mut random), 3, CLOSE, 1);
    check(&array::<F>(Contents::Lowest, 2 * 70, &mut random), 2, Lie { own: Some(0), ..CLOSE }, 1);
    // Several tiles of several blocks.
    let columns = 2500;
    check(&array::<F>(Contents::Specials, 2 * columns, &mut random), 2, CLOSE, 1);
    check(
        &array::<F>(Contents::Wide, 2 * columns, &mut random),
        2,
        Lie { own: Some(1), ..CLOSE },
        2,
    );
    check::<F>(&[], 3, CLOSE, 1);
}

#[test]
fn columns_of_f16() {
    of_type::<f16>();
}

#[test]
fn columns_of_bf16() {
    of_type::<bf16>();
}

#[test]
fn columns_of_f32() {
    of_type::<f32>();
}

#[test]
fn columns_of_f64() {
    of_type::<f64>();
}

/// Half-way between two floats but for what lies far below, sums that cancel, and those that overflow on the way alone.
fn edges<F: Float>() {
    let ulp = 2f64.powi(1 - F::BITS as i32);
    let least = 2f64.powi(-(F::LEAST as i32));
    let greatest = F::of(
        (2.0 - ulp)
            * 2f64.powi(match F::LEAST {
                24 => 15,
                1074 => 1023,
                _ => 127,
            }),
    );
    let (big, half) = (greatest.wide() / 4.0, ulp / 2.0);
    let columns: Vec<Vec<f64>> = [
        vec![1.0, half, 0.0, 0.0],
        vec![1.0 + ulp, half, 0.0, 0.0],
        vec![1.0 + ulp, half, -least, 0.0],
        vec![1.0, half, least, 0.0],
        vec![1.0, half, least, -least],
        vec![1.0, half, half * ulp, -half * ulp * ulp],
        vec![big, 1.0, -big, least],
        vec![big, least, -big, -least],
        vec![big, -least, -big, 0.0],
        vec![-0.0, -0.0, -0.0, -0.0],
        vec![greatest.wide(), greatest.wide(), -greatest.wide(), -1.0],
        vec![greatest.wide(), greatest.wide(), -greatest.wide(), -greatest.wide()],
        vec![greatest.wide(), greatest.wide(), 0.0, 0.0],
        vec![-greatest.wide(), -greatest.wide() * half, -least, 0.0],
        vec![greatest.wide(), greatest.wide() * half, least, 0.0],
        vec![-least, -least, -least, least],
        vec![f64::INFINITY, greatest.wide(), 0.0, f64::NEG_INFINITY],
        vec![f64::NEG_INFINITY, greatest.wide(), greatest.wide(), 0.0],
        vec![-1.0, -half, -least, least / 2.0],
        vec![1.0, 2f64.powi(-60), -1.0, 2f64.powi(-120)],
    ]
    .into();
    let signs = [1.0, -1.0];
    // In every order of ranks that a rotation gives, and with the other sign.
    for turn in 0..4 {
        for sign in signs {
            let all = 0..columns.len();
            let row = |rank: usize| all.clone().map(move |k| (k, (rank + turn) % 4));
            let x: Vec<F> =
                (0..4).flat_map(row).map(|(k, r)| F::of(sign * columns[k][r])).collect();
            check(&x, 4, CLOSE, 1);
            check(&x, 4, Lie { own: Some(turn), ..CLOSE }, 1);
        }
    }
    // More ranks than limbs take without carrying, all of them in doubt.
    let mut random = Random(7);
    let mut x = array::<F>(Contents::Wide, 2000 * 3, &mut random);
    x[0] = greatest;
    x[3] = greatest;
    x[6] = F::of(-greatest.wide());
    check(&x, 2000, CLOSE, 1);
    check(&[greatest; 2000 * 2], 2000, CLOSE, 1);
}

#[test]
fn ties_cancellation_and_overflow() {
    edges::<f16>();
    edges::<bf16>();
    edges::<f32>();
    edges::<f64>();
}

#[test]
fn integers_and_complex_numbers_are_refused() {
    let of = |dtype| RankSums { dtype, rows: 0, pitch: 0, ranks: 1, columns: 0, own: None, out: 0 };
    for dtype in [warpfold::DType::I32, warpfold::DType::Complex64] {
        let error = of(dtype).launch(1).unwrap_err().to_string();
        assert!(error.contains("real floats"), "{error}");
    }
}
