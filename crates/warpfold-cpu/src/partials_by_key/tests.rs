//! Reductions by key beside exact partials to which each key's elements are added one by one.

use std::collections::BTreeMap;

use warpfold_exact::exact::{Exact, Moments};
use warpfold_exact::partial::{Count, Extremes, Output, Partial};
use warpfold_num::error::At;
use warpfold_num::random::Words;
use warpfold_num::{Column, Value};

use super::*;

/// The reductions whose partials can be added to one by one.
const OPS: [Op; 14] = [
    Op::Sum,
    Op::Mean,
    Op::Var,
    Op::Std,
    Op::L2,
    Op::Sumsq,
    Op::Min,
    Op::Max,
    Op::MinMax,
    Op::ArgMin,
    Op::ArgMax,
    Op::Any,
    Op::All,
    Op::Count,
];

/// Groups of the rows, shares of which were taken in apart.
fn groups<T: Element>(op: Op, nan: Nan, rows: &[(u64, T)], shares: usize) -> PartialsByKey {
    let policy = Policy { nan, ..Policy::default() };
    let new = || PartialsByKey::new(op, T::DTYPE, policy).expect("real elements");
    // Where each row stands among those of its key.
    let mut sizes = BTreeMap::<u64, u64>::new();
    let place = |&(rank, x)| {
        let size = sizes.entry(rank).or_default();
        *size += 1;
        (rank, x, *size - 1)
    };
    let placed: Vec<(u64, T, u64)> = rows.iter().map(place).collect();
    let mut all = new();
    // Shares come in any order.
    for rows in placed.chunks(rows.len().div_ceil(shares).max(1)).rev() {
        let mut one = new();
        for rows in rows.chunks(1777) {
            let (ranks, x): (Vec<u64>, Vec<T>) = rows.iter().map(|&(rank, x, _)| (rank, x)).unzip();
            let places: Vec<u64> = rows.iter().map(|&(.., place)| place).collect();
            one.push(&ranks, HostArray::of(&x), &places).unwrap();
        }
        // Ranks of others have other names.
        all.merge(one, |rank| rank ^ 1).unwrap();
    }
    assert_eq!(all.rows(), rows.len() as u64);
    all
}

/// The results for all keys.
fn found<T: Element>(
    op: Op,
    nan: Nan,
    rows: &[(u64, T)],
    shares: usize,
) -> (Vec<u64>, Result<Columns>) {
    let all = groups(op, nan, rows, shares);
    let ranks = all.ranks();
    let columns = all.finish(&ranks, Finish::default(), Empty::Error);
    (ranks, columns.map(|(columns, _)| columns))
}

/// The only column.
fn one(columns: Result<Columns>) -> Result<Column> {
    columns.map(|columns| match <[_; 1]>::try_from(columns) {
        Ok([(_, column)]) => column,
        Err(columns) => panic!("{columns:?} is no column"),
    })
}

fn by_key<T: Element>(rows: &[(u64, T)]) -> BTreeMap<u64, Vec<T>> {
    let mut keys = BTreeMap::<u64, Vec<T>>::new();
    rows.iter().for_each(|&(rank, x)| keys.entry(rank ^ 1).or_default().push(x));
    keys
}

/// What elements give, one added after another.
fn expected<T: Element<Component = T> + Ordered>(op: Op, x: &[T]) -> Result<Vec<Value>> {
    let partial: Partial<T> = match op.partial() {
        PartialKind::Sum => {
            let mut all = Exact::new();
            x.iter().for_each(|&x| all.add(x));
            Partial::Sum(all)
        }
        PartialKind::Moments => {
            let mut all = Moments::new();
            x.iter().for_each(|&x| all.add(x));
            Partial::Moments(all.into())
        }
        PartialKind::Extremes => {
            let mut all = Extremes::new();
            x.iter().zip(0..).for_each(|(&x, at)| all.add(x, at));
            Partial::Extremes(all)
        }
        PartialKind::Count => {
            let mut all = Count::default();
            x.iter().for_each(|&x| all.add(x));
            Partial::Count(all)
        }
        other => unreachable!("{other:?} is no partial of these"),
    };
    Ok(match partial.finish(op, Finish::default())? {
        Output::One(value) => vec![value],
        Output::Pair(least, greatest) => vec![least, greatest],
        other => panic!("{other:?} is no result of these"),
    })
}

fn agree<T: Element<Component = T> + Ordered>(rows: &[(u64, T)]) {
    let keys = by_key(rows);
    for (k, op) in OPS.into_iter().enumerate() {
        let (ranks, columns) = found(op, Nan::default(), rows, [1, 2, 7][k % 3]);
        assert!(ranks.iter().eq(keys.keys()));
        let all: Result<Vec<_>> = keys.values().map(|x| expected(op, x)).collect();
        let (columns, all) = match (columns, all) {
            (Ok(columns), Ok(all)) => (columns, all),
            (Err(Error::Output { error, .. }), Err(expected)) => {
                assert_eq!(*error, expected, "{op} of {}", T::DTYPE);
                continue;
            }
            (columns, all) => panic!("{op} of {}: {columns:?} and not {all:?}", T::DTYPE),
        };
        for (k, expected) in all.iter().enumerate() {
            let found: Vec<Value> = columns.iter().map(|(_, column)| column.get(k)).collect();
            // Every NaN is the same one, and the zeros are not.
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{op} of {}, {k}", T::DTYPE);
        }
    }
}

/// Random words under so many keys.
fn random(groups: u64) -> Vec<(u64, u64)> {
    let mut words = Words(7);
    (0..30_000)
        .map(|_| ((words.next() % groups).wrapping_mul(0x9E37_79B9_7F4A_7C15), words.next()))
        .collect()
}

#[test]
fn every_type_under_few_and_many_keys() {
    for groups in [1, 100, 9000] {
        let rows = random(groups);
        macro_rules! of {
            ($($ty:ty: $x:ident => $value:expr;)+) => {$(
                agree::<$ty>(&rows.iter().map(|&(rank, $x)| (rank, $value)).collect::<Vec<_>>());
            )+};
        }
        let small = |x: u64| f64::from(x as i32) / 64.0;
        // Zeros of both signs, and the ends of the range, whose sums overflow on the way.
        let ends = [0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, -5e-324, 1.0];
        of! {
            i8: x => x as i8;
            i16: x => x as i16;
            i32: x => x as i32;
            u8: x => x as u8;
            u16: x => x as u16;
            u32: x => x as u32;
            bool: x => x % 3 == 0;
            // Their sums fit 64 bits, and sums of squares of some do not.
            i64: x => x as i64 >> 16;
            u64: x => x >> 16;
            u64: x => x >> 40;
            // Squares beyond 128 bits.
            i64: x => if x % 2 == 0 { i64::MIN } else { i64::MAX };
            f64: x => small(x);
            f64: x => 1e9 + small(x);
            f32: x => small(x) as f32;
            f16: x => f16::from_bits(x as u16);
            bf16: x => bf16::from_bits(x as u16);
            // Every bit pattern: spread over all exponents, infinities and NaN among them.
            f32: x => f32::from_bits(x as u32);
            f64: x => f64::from_bits(x);
            f64: x => ends[x as usize % 7];
        }
    }
}

#[test]
fn norms_of_magnitudes() {
    for groups in [3, 5000] {
        let rows: Vec<(u64, i64)> =
            random(groups).into_iter().map(|(rank, x)| (rank, x as i64)).collect();
        let keys = by_key(&rows);
        let sums = keys.values().map(|x| x.iter().map(|x| u128::from(x.unsigned_abs())).sum());
        let sums: Vec<f64> = sums.map(|sum: u128| sum as f64).collect();
        assert_eq!(one(found(Op::L1, Nan::default(), &rows, 3).1), Ok(Column::of(sums)));
        let largest = keys.values().map(|x| x.iter().map(|x| x.unsigned_abs()).max());
        let largest: Vec<u64> = largest.flatten().collect();
        assert_eq!(one(found(Op::Linf, Nan::default(), &rows, 3).1), Ok(Column::of(largest)));
        let rows: Vec<(u64, f32)> =
            rows.iter().map(|&(rank, x)| (rank, (x >> 20) as f32 / 8.0)).collect();
        let keys = by_key(&rows);
        let largest = keys.values().map(|x| x.iter().fold(0f32, |most, x| most.max(x.abs())));
        let largest: Vec<f32> = largest.collect();
        assert_eq!(one(found(Op::Linf, Nan::default(), &rows, 3).1), Ok(Column::of(largest)));
    }
    // A NaN is a magnitude above all others, and an infinity comes next.
    let rows = [(2, f64::NAN), (2, 1.0), (4, -3.0), (4, f64::NEG_INFINITY)];
    let (_, largest) = found(Op::Linf, Nan::default(), &rows, 2);
    assert_eq!(format!("{:?}", one(largest)), "Ok(F64([NaN, inf]))");
    let (_, largest) = found(Op::Linf, Nan::Ignore, &rows, 2);
    assert_eq!(one(largest), Ok(Column::of(vec![1.0, f64::INFINITY])));
}

#[test]
fn ignored_nans_are_not_there() {
    let rows: Vec<(u64, f64)> = random(50)
        .into_iter()
        .map(|(rank, x)| (rank, if x % 5 == 0 { f64::NAN } else { f64::from(x as i16) }))
        .collect();
    let kept: Vec<(u64, f64)> = rows.iter().copied().filter(|(_, x)| !x.is_nan()).collect();
    // Places count the rows that are ignored.
    for op in OPS.into_iter().filter(|op| !matches!(op, Op::ArgMin | Op::ArgMax)) {
        let (_, without) = found(op, Nan::default(), &kept, 1);
        assert_eq!(found(op, Nan::Ignore, &rows, 3).1, without, "{op}");
    }
    let rows = [(5, f64::NAN), (9, 1.5), (5, f64::NAN), (9, f64::NAN), (9, 2.0)];
    let (_, sums) = found(Op::Sum, Nan::Ignore, &rows, 2);
    assert_eq!(one(sums), Ok(Column::of(vec![0.0, 3.5])));
    // A NaN is the first of both ends, unless it is ignored.
    let rows_of_nine = [(9, f64::NAN), (9, 1.5), (9, f64::NAN), (9, -2.0), (9, 1.5)];
    for (op, nan, place) in [
        (Op::ArgMin, Nan::Ignore, 3),
        (Op::ArgMax, Nan::Ignore, 1),
        (Op::ArgMin, Nan::Propagate, 0),
        (Op::ArgMax, Nan::Propagate, 0),
    ] {
        assert_eq!(one(found(op, nan, &rows_of_nine, 2).1), Ok(Column::of(vec![place as u64])));
    }
    let all = groups(Op::ArgMin, Nan::Ignore, &rows_of_nine, 3);
    assert_eq!((all.size(8), all.partial(8).count()), (5, Some(3)));
    let greatest = all.finish_as(Op::Max, &[8], Finish::default(), Empty::Error).unwrap().0;
    assert_eq!(one(Ok(greatest)), Ok(Column::of(vec![1.5])));
    for op in [Op::Mean, Op::Var, Op::Max, Op::ArgMax] {
        let empty = Error::Empty { op, ignored: true };
        let named = Error::Output { output: At::Group("0".into()), error: empty.into() };
        assert_eq!(found(op, Nan::Ignore, &rows, 2).1, Err(named));
    }
}

#[test]
fn results_are_rounded_as_is_asked_for() {
    let rows: Vec<(u64, f64)> =
        random(40).into_iter().map(|(rank, x)| (rank, f64::from(x as i32) / 3.0)).collect();
    let keys = by_key(&rows);
    let finish = Finish { ddof: 1, round_to: Some(DType::F32), ..Finish::default() };
    for op in [Op::Var, Op::Std, Op::Sum] {
        let all = groups(op, Nan::default(), &rows, 2);
        let (columns, _) = all.finish(&all.ranks(), finish, Empty::Error).unwrap();
        let column = one(Ok(columns)).unwrap();
        for (k, x) in keys.values().enumerate() {
            let mut moments = Moments::new();
            x.iter().for_each(|&x| moments.add(x));
            let partial: Partial<f64> = match op {
                Op::Sum => Partial::Sum(moments.to_sum()),
                _ => Partial::Moments(moments.into()),
            };
            let Ok(Output::One(value)) = partial.finish(op, finish) else { panic!("{op}") };
            assert_eq!(column.get(k), value, "{op}");
        }
    }
    let one_each: Vec<(u64, f64)> = (0..5).map(|k| (k, 1.0)).collect();
    let all = groups(Op::Var, Nan::default(), &one_each, 1);
    let Err(Error::Output { error, .. }) = all.finish(&all.ranks(), finish, Empty::Error) else {
        panic!("there is no variance of one element over none")
    };
    assert!(matches!(*error, Error::TooFew { .. }), "{error}");
}

#[test]
fn what_has_no_result_may_be_no_error() {
    let rows = [(2, 1.0), (5, f64::NAN), (2, 4.0), (9, 3.0)];
    let finish = Finish { ddof: 1, ..Finish::default() };
    let all = groups(Op::Var, Nan::Ignore, &rows, 2);
    let (columns, gaps) = all.finish(&all.ranks(), finish, Empty::Nan).unwrap();
    // Ranks are 3, 4 and 8 here.
    assert_eq!(format!("{:?}", one(Ok(columns)).unwrap()), "F64([4.5, NaN, NaN])");
    assert!(gaps.is_empty(), "{gaps:?}");
    let (_, gaps) = all.finish(&all.ranks(), finish, Empty::None).unwrap();
    assert_eq!(gaps, [1, 2]);
    let all = groups(Op::Max, Nan::Ignore, &rows, 1);
    let (columns, gaps) = all.finish(&all.ranks(), finish, Empty::None).unwrap();
    assert_eq!(gaps, [1]);
    assert_eq!(one(Ok(columns)).unwrap().get(0), Value::F64(4.0));
}

#[test]
fn an_overflow_names_the_type_and_the_first_group() {
    let rows: Vec<(u64, u64)> = (0..40_000)
        .map(|k| ((k % 20_000) ^ 1, if k % 20_000 < 17_000 { 1 } else { u64::MAX }))
        .collect();
    for op in [Op::Sum, Op::Sumsq] {
        let Err(Error::Output { output, error }) = found(op, Nan::default(), &rows, 3).1 else {
            panic!("{op} is beyond 64 bits")
        };
        assert_eq!(output, At::Group("17000".into()));
        assert!(matches!(*error, Error::Overflow { dtype: DType::U64, .. }), "{error}");
    }
}

#[test]
fn other_reductions_are_none_of_these() {
    for (op, dtype) in [
        (Op::Prod, DType::F64),
        (Op::Prod, DType::I32),
        (Op::Stats, DType::F32),
        (Op::Sum, DType::Complex64),
    ] {
        assert!(PartialsByKey::new(op, dtype, Policy::default()).is_none(), "{op} of {dtype}");
    }
}
