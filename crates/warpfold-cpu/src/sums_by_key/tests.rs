//! Sums by key beside exact accumulators of each key.

use std::collections::BTreeMap;

use warpfold_exact::Exact;
use warpfold_exact::partial::{Output, Partial};
use warpfold_num::Nan;
use warpfold_num::random::Words;

use super::*;

/// The results for all keys, after shares of the rows were taken in apart.
fn found<T: Element>(
    op: Op,
    nan: Nan,
    rows: &[(u64, T)],
    shares: usize,
) -> (Vec<u64>, Result<Column>) {
    let policy = Policy { nan, ..Policy::default() };
    let new = || SumsByKey::new(op, T::DTYPE, policy).expect("sums of real elements");
    let mut all = new();
    for rows in rows.chunks(rows.len().div_ceil(shares).max(1)) {
        let mut one = new();
        for rows in rows.chunks(1777) {
            let (ranks, x): (Vec<u64>, Vec<T>) = rows.iter().copied().unzip();
            one.push(&ranks, HostArray::of(&x)).unwrap();
        }
        // Ranks of others have other names.
        all.merge(one, |rank| rank ^ 1).unwrap();
    }
    assert_eq!(all.rows(), rows.len() as u64);
    let ranks = all.ranks();
    let column = all.finish(&ranks, Finish::default());
    (ranks, column)
}

fn agree<T: Element>(rows: &[(u64, T)]) {
    let mut expected = BTreeMap::<u64, Exact<T>>::new();
    rows.iter().for_each(|&(rank, x)| expected.entry(rank ^ 1).or_default().add(x));
    for shares in [1, 2, 7] {
        let (ranks, sums) = found(Op::Sum, Nan::default(), rows, shares);
        assert!(ranks.iter().eq(expected.keys()));
        let (_, means) = found(Op::Mean, Nan::default(), rows, shares);
        let (sums, means) = (sums.unwrap(), means.unwrap());
        for (k, exact) in expected.values().enumerate() {
            for (op, column) in [(Op::Sum, &sums), (Op::Mean, &means)] {
                let partial = Partial::Sum(exact.clone());
                let Ok(Output::One(value)) = partial.finish(op, Finish::default()) else {
                    panic!("{op} of {partial:?} is one number");
                };
                // Every NaN is the same one, and the zeros are not.
                assert_eq!(format!("{:?}", column.get(k)), format!("{value:?}"), "{op} of {k}");
            }
        }
    }
}

#[test]
fn sums_and_means_of_every_type() {
    let mut words = Words(7);
    let mut rows = |groups: u64| -> Vec<(u64, u64)> {
        (0..30_000)
            .map(|_| ((words.next() % groups).wrapping_mul(0x9E37_79B9_7F4A_7C15), words.next()))
            .collect()
    };
    for groups in [1, 100, 9000] {
        let rows = rows(groups);
        macro_rules! integers {
            ($($ty:ty),+) => {$(agree::<$ty>(&rows.iter().map(|&(rank, x)| (rank, x as $ty)).collect::<Vec<_>>());)+};
        }
        integers!(i8, i16, i32, u8, u16, u32);
        agree::<bool>(&rows.iter().map(|&(rank, x)| (rank, x % 3 == 0)).collect::<Vec<_>>());
        // Their sums fit 64 bits.
        agree::<i64>(&rows.iter().map(|&(rank, x)| (rank, x as i64 >> 16)).collect::<Vec<_>>());
        agree::<u64>(&rows.iter().map(|&(rank, x)| (rank, x >> 16)).collect::<Vec<_>>());
        let small = |x: u64| (x as i32) as f64 / 64.0;
        agree::<f64>(&rows.iter().map(|&(rank, x)| (rank, small(x))).collect::<Vec<_>>());
        agree::<f32>(&rows.iter().map(|&(rank, x)| (rank, small(x) as f32)).collect::<Vec<_>>());
        agree::<f16>(
            &rows.iter().map(|&(rank, x)| (rank, f16::from_bits(x as u16))).collect::<Vec<_>>(),
        );
        agree::<bf16>(
            &rows.iter().map(|&(rank, x)| (rank, bf16::from_bits(x as u16))).collect::<Vec<_>>(),
        );
        // Every bit pattern: spread over all exponents, infinities and NaN among them.
        agree::<f32>(
            &rows.iter().map(|&(rank, x)| (rank, f32::from_bits(x as u32))).collect::<Vec<_>>(),
        );
        agree::<f64>(&rows.iter().map(|&(rank, x)| (rank, f64::from_bits(x))).collect::<Vec<_>>());
        // Zeros of both signs, and the ends of the range, whose sums overflow on the way.
        let ends = [0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, -5e-324, 1.0];
        agree::<f64>(
            &rows.iter().map(|&(rank, x)| (rank, ends[x as usize % 7])).collect::<Vec<_>>(),
        );
    }
}

#[test]
fn ignored_nans_leave_a_group_without_a_mean() {
    let rows = [(5, f64::NAN), (9, 1.5), (5, f64::NAN), (9, f64::NAN), (9, 2.0)];
    let (_, sums) = found(Op::Sum, Nan::Ignore, &rows, 2);
    assert_eq!(sums.unwrap(), Column::of(vec![0.0, 3.5]));
    let (_, means) = found(Op::Mean, Nan::Ignore, &rows, 2);
    let empty = Error::Empty { op: Op::Mean, ignored: true };
    assert_eq!(means, Err(Error::Output { output: At::Group("0".into()), error: empty.into() }));
}

#[test]
fn an_overflow_names_the_type_and_the_first_group() {
    let rows: Vec<(u64, u64)> = (0..40_000)
        .map(|k| ((k % 20_000) ^ 1, if k % 20_000 < 17_000 { 1 } else { u64::MAX }))
        .collect();
    let (_, sums) = found(Op::Sum, Nan::default(), &rows, 3);
    let Err(Error::Output { output, error }) = sums else { panic!("{sums:?}") };
    assert_eq!(output, At::Group("17000".into()));
    assert!(matches!(*error, Error::Overflow { dtype: DType::U64, .. }), "{error}");
}

#[test]
fn other_reductions_are_none_of_these() {
    for (op, dtype) in [(Op::Max, DType::F64), (Op::Var, DType::I32), (Op::Sum, DType::Complex64)] {
        assert!(SumsByKey::new(op, dtype, Policy::default()).is_none());
    }
}
