//! Arrays of every type, with nulls everywhere, sliced, in chunks: against sums of integers that no code of this project has made.

use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, DictionaryArray, Float64Array, Int32Array,
    PrimitiveArray,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields as Columns, TimeUnit};
use half::f16;
use warpfold_arrow::{Cell, ColumnReducer, Error, Fields, reduce};
use warpfold_exact::partial::Finish;
use warpfold_num::random::Words;
use warpfold_num::{Op, Policy, Value};

/// Which of `n` rows hold values: none missing, all, every other, few, long runs, and bits by chance.
fn validities(n: usize) -> Vec<Vec<bool>> {
    let mut bits = Words(7);
    vec![
        vec![true; n],
        vec![false; n],
        (0..n).map(|k| k % 2 == 1).collect(),
        (0..n).map(|k| k % 997 == 5).collect(),
        (0..n).map(|k| k / 5000 % 2 == 0).collect(),
        (0..n).map(|_| bits.next().is_multiple_of(3)).collect(),
    ]
}

/// Chunks of an array: sliced at odd places, an empty one among them.
fn chunks(array: &ArrayRef) -> Vec<ArrayRef> {
    let n = array.len();
    let cuts = [0, n.min(3), n.min(3), n / 2, n.saturating_sub(1).max(n / 2), n];
    cuts.windows(2).map(|cut| array.slice(cut[0], cut[1] - cut[0])).collect()
}

fn value(fields: &Fields) -> Value {
    match fields.one() {
        Some(Cell::Value(value)) => *value,
        other => panic!("no plain value: {other:?}"),
    }
}

/// Checks one type: values that are `k / unit` for the integers of the generator, and `poison` in the slots of nulls.
fn check<T: ArrowPrimitiveType>(
    poison: T::Native,
    unit: f64,
    make: impl Fn(i64) -> (T::Native, i64),
    element: impl Fn(T::Native) -> Value,
    sum: impl Fn(i128) -> Value,
    mean: impl Fn(i128, usize) -> Value,
) where
    PrimitiveArray<T>: Array,
{
    const N: usize = 23_011;
    let mut bits = Words(unit.to_bits());
    let made: Vec<(T::Native, i64)> = (0..N).map(|_| make(bits.next() as i64)).collect();
    for valid in validities(N) {
        let values =
            made.iter().zip(&valid).map(|(&(value, _), &is)| if is { value } else { poison });
        let values: ScalarBuffer<T::Native> = values.collect::<Vec<_>>().into();
        let array = PrimitiveArray::<T>::new(values, Some(NullBuffer::from(valid.clone())));
        // Rows that a slice leaves out count nowhere.
        let array: ArrayRef = Arc::new(array.slice(2, N - 5));
        let rows: Vec<(usize, T::Native, i64)> = (2..N - 3)
            .filter(|&row| valid[row])
            .map(|row| (row - 2, made[row].0, made[row].1))
            .collect();
        for arrays in [vec![array.clone()], chunks(&array)] {
            let what = format!("{} {} of {N}", T::DATA_TYPE, rows.len());
            let of = |op| reduce(op, &arrays);
            let total: i128 = rows.iter().map(|row| i128::from(row.2)).sum();
            assert_eq!(value(&of(Op::Sum).unwrap()), sum(total), "{what}");
            let nonzero = rows.iter().filter(|row| row.2 != 0).count();
            assert_eq!(value(&of(Op::Count).unwrap()), Value::U64(nonzero as u64), "{what}");
            assert_eq!(value(&of(Op::Any).unwrap()), Value::Bool(nonzero > 0), "{what}");
            assert_eq!(value(&of(Op::All).unwrap()), Value::Bool(nonzero == rows.len()), "{what}");
            let (Some(least), Some(most)) = (
                rows.iter().min_by_key(|r| (r.2, r.0)),
                rows.iter().max_by_key(|r| (r.2, usize::MAX - r.0)),
            ) else {
                for op in [Op::Min, Op::ArgMax, Op::Mean, Op::Var, Op::MinMax] {
                    let error = of(op).unwrap_err().to_string();
                    assert!(error.contains("empty"), "{error}");
                }
                continue;
            };
            assert_eq!(value(&of(Op::Mean).unwrap()), mean(total, rows.len()), "{what}");
            assert_eq!(value(&of(Op::Min).unwrap()), element(least.1), "{what}");
            assert_eq!(value(&of(Op::Max).unwrap()), element(most.1), "{what}");
            assert_eq!(value(&of(Op::ArgMin).unwrap()), Value::U64(least.0 as u64), "{what}");
            assert_eq!(value(&of(Op::ArgMax).unwrap()), Value::U64(most.0 as u64), "{what}");
            let stats = of(Op::Stats).unwrap();
            let field = |name: &str| stats.get(name).cloned();
            assert_eq!(field("count"), Some(Cell::Value(Value::U64(rows.len() as u64))), "{what}");
            assert_eq!(field("sum"), Some(Cell::Value(sum(total))), "{what}");
            assert_eq!(field("min"), Some(Cell::Value(element(least.1))), "{what}");
            assert_eq!(field("argmin"), Some(Cell::Value(Value::U64(least.0 as u64))), "{what}");
            assert_eq!(field("argmax"), Some(Cell::Value(Value::U64(most.0 as u64))), "{what}");
        }
    }
}

#[test]
fn integers_of_every_width() {
    let f64_mean = |sum: i128, n: usize| Value::F64(sum as f64 / n as f64);
    let signed = |sum: i128| Value::I64(sum as i64);
    let unsigned = |sum: i128| Value::U64(sum as u64);
    check::<Int8Type>(
        i8::MIN,
        1.0,
        |k| (k as i8 / 2, (k as i8 / 2).into()),
        Value::I8,
        signed,
        f64_mean,
    );
    check::<Int16Type>(
        i16::MIN,
        2.0,
        |k| (k as i16 / 2, (k as i16 / 2).into()),
        Value::I16,
        signed,
        f64_mean,
    );
    check::<Int32Type>(
        i32::MAX,
        3.0,
        |k| (k as i32 / 2, (k as i32 / 2).into()),
        Value::I32,
        signed,
        f64_mean,
    );
    check::<Int64Type>(i64::MIN, 4.0, |k| (k >> 24, k >> 24), Value::I64, signed, f64_mean);
    check::<UInt8Type>(
        u8::MAX,
        5.0,
        |k| (k as u8 / 2, (k as u8 / 2).into()),
        Value::U8,
        unsigned,
        f64_mean,
    );
    check::<UInt16Type>(
        u16::MAX,
        6.0,
        |k| (k as u16 / 2, (k as u16 / 2).into()),
        Value::U16,
        unsigned,
        f64_mean,
    );
    check::<UInt32Type>(
        u32::MAX,
        7.0,
        |k| (k as u32 / 2, (k as u32 / 2).into()),
        Value::U32,
        unsigned,
        f64_mean,
    );
    check::<UInt64Type>(
        u64::MAX,
        8.0,
        |k| ((k as u64) >> 24, ((k as u64) >> 24) as i64),
        Value::U64,
        unsigned,
        f64_mean,
    );
}

#[test]
fn floats_of_every_width() {
    // Integers over a power of two: their sum is an integer of 128 bits, which Rust converts with one rounding. The mean of so few bits is one
    // division of an exact f64.
    check::<Float64Type>(
        f64::NAN,
        1048576.0,
        |k| ((k >> 20) as f64 / 1048576.0, k >> 20),
        Value::F64,
        |sum| Value::F64(sum as f64 / 1048576.0),
        |sum, n| Value::F64(quotient(sum, n as i128 * 1048576)),
    );
    check::<Float32Type>(
        f32::NAN,
        1024.0,
        |k| ((k >> 42) as f32 / 1024.0, k >> 42),
        Value::F32,
        |sum| Value::F32(sum as f32 / 1024.0),
        |sum, n| Value::F32(quotient32(sum, n as i128 * 1024)),
    );
    check::<Float16Type>(
        f16::NAN,
        8.0,
        |k| (f16::from_f32((k >> 54) as f32 / 8.0), k >> 54),
        Value::F16,
        |sum| Value::F32(sum as f32 / 8.0),
        |sum, n| Value::F32(quotient32(sum, n as i128 * 8)),
    );
}

/// The quotient with one rounding: 60 bits of it and whether anything is left, as an integer that converts with one rounding.
fn bits_of_quotient(n: i128, d: i128) -> (i128, i32) {
    let shift = (n.unsigned_abs().leading_zeros() as i32 - 2).min(100);
    let n = n << shift;
    let quotient = n / d;
    // A sticky bit below all others.
    (quotient * 2 + if n % d != 0 { n.signum() } else { 0 }, shift + 1)
}

fn quotient(n: i128, d: i128) -> f64 {
    let (bits, shift) = bits_of_quotient(n, d);
    bits as f64 * 2f64.powi(-shift)
}

fn quotient32(n: i128, d: i128) -> f32 {
    let (bits, shift) = bits_of_quotient(n, d);
    (f64::from(bits as f32) * 2f64.powi(-shift)) as f32
}

#[test]
fn booleans_in_bits() {
    let bits: Vec<Option<bool>> =
        (0..200_000).map(|k| (k % 7 != 0).then_some(k % 3 == 0)).collect();
    let array: ArrayRef = Arc::new(BooleanArray::from(bits.clone()).slice(5, 199_990));
    let kept = &bits[5..199_995];
    let trues = kept.iter().filter(|bit| **bit == Some(true)).count() as u64;
    assert_eq!(value(&reduce(Op::Sum, std::slice::from_ref(&array)).unwrap()), Value::U64(trues));
    assert_eq!(value(&reduce(Op::All, std::slice::from_ref(&array)).unwrap()), Value::Bool(false));
    let first = kept.iter().position(|bit| *bit == Some(true)).unwrap() as u64;
    assert_eq!(value(&reduce(Op::ArgMax, &chunks(&array)).unwrap()), Value::U64(first));
}

#[test]
fn decimals_are_exact_and_checked() {
    let most = 10i128.pow(38) - 1;
    let array = |values: Vec<Option<i128>>| -> ArrayRef {
        Arc::new(
            PrimitiveArray::<Decimal128Type>::from(values).with_precision_and_scale(38, 2).unwrap(),
        )
    };
    let cents = array(vec![Some(10), None, Some(20), Some(-5), None]);
    let text = |op, array: &ArrayRef| {
        reduce(op, std::slice::from_ref(array)).unwrap().one().unwrap().to_string()
    };
    assert_eq!(text(Op::Sum, &cents), "0.25");
    assert_eq!(text(Op::Min, &cents), "-0.05");
    assert_eq!(text(Op::ArgMin, &cents), "3");
    assert_eq!(text(Op::Count, &cents), "3");
    // Sums pass beyond the type on the way, and only the whole must fit.
    assert_eq!(
        text(Op::Sum, &array(vec![Some(most), Some(most), Some(-most)])),
        format!("{}.99", "9".repeat(36))
    );
    let error = reduce(Op::Sum, &[array(vec![Some(most), Some(1)])]).unwrap_err();
    assert!(
        matches!(error, Error::Overflow { .. }) && error.to_string().contains("38 digits"),
        "{error}"
    );
    // Means: n divides a power of ten, so that the exact mean is a decimal, which Rust reads with one rounding.
    let mut bits = Words(3);
    for n in [1usize, 2, 4, 5, 8, 10, 16, 1000] {
        let values: Vec<i128> =
            (0..n).map(|_| i128::from(bits.next() as i64) * 1_234_567_891).collect();
        let sum: i128 = values.iter().sum();
        let exact = format!("{}e-8", sum * (1_000_000 / n as i128));
        assert_eq!(1_000_000 % n, 0);
        let mean = reduce(Op::Mean, &[array(values.into_iter().map(Some).collect())]).unwrap();
        assert_eq!(value(&mean), Value::F64(exact.parse().unwrap()), "{n}");
    }
    let narrow: ArrayRef = Arc::new(
        PrimitiveArray::<Decimal64Type>::from(vec![Some(125), None])
            .with_precision_and_scale(9, 2)
            .unwrap(),
    );
    assert_eq!(text(Op::Sum, &narrow), "1.25");
    let error = reduce(Op::Var, &[cents]).unwrap_err().to_string();
    assert!(error.contains("cast the column to float64"), "{error}");
}

#[test]
fn times_have_extremes_and_means_and_no_sums() {
    let stamps: ArrayRef = Arc::new(
        PrimitiveArray::<TimestampMillisecondType>::from(vec![
            Some(1_700_000_000_123),
            None,
            Some(1_700_000_000_126),
        ])
        .with_timezone("UTC"),
    );
    let text = |op, array: &ArrayRef| {
        reduce(op, std::slice::from_ref(array)).unwrap().one().unwrap().to_string()
    };
    assert_eq!(text(Op::Min, &stamps), "2023-11-14T22:13:20.123Z");
    // 124.5 is between two ticks: the even one.
    assert_eq!(text(Op::Mean, &stamps), "2023-11-14T22:13:20.124Z");
    assert_eq!(text(Op::ArgMax, &stamps), "2");
    assert_eq!(text(Op::Count, &stamps), "2");
    let error = reduce(Op::Sum, &[stamps]).unwrap_err().to_string();
    assert!(error.contains("Timestamp") && error.contains("cast the column to int64"), "{error}");
    let means = [
        (vec![-3, -2], -2),
        (vec![-1, -2], -2),
        (vec![1, 2], 2),
        (vec![0, 1], 0),
        (vec![i64::MAX, i64::MAX], i64::MAX),
        (vec![-5, -5, -6], -5),
    ];
    for (ticks, expected) in means {
        let array: ArrayRef =
            Arc::new(PrimitiveArray::<DurationNanosecondType>::from(ticks.clone()));
        let mean = reduce(Op::Mean, &[array]).unwrap();
        assert_eq!(
            mean.one(),
            Some(&Cell::Time(expected, DataType::Duration(TimeUnit::Nanosecond))),
            "{ticks:?}"
        );
    }
    let spans: ArrayRef =
        Arc::new(PrimitiveArray::<DurationSecondType>::from(vec![Some(40), None, Some(2)]));
    assert_eq!(text(Op::Sum, &spans), "42s");
    let days: ArrayRef = Arc::new(PrimitiveArray::<Date32Type>::from(vec![
        Some(19_782),
        None,
        Some(-1),
        Some(11_016),
    ]));
    assert_eq!(
        (text(Op::Max, &days), text(Op::Min, &days)),
        ("2024-02-29".into(), "1969-12-31".into())
    );
    assert_eq!(text(Op::ArgMin, &days), "2");
    let stats = reduce(Op::Stats, &[days]).unwrap();
    assert_eq!(stats.get("mean").unwrap().to_string(), "1998-02-09");
    assert_eq!(stats.get("sum"), None);
}

#[test]
fn dictionaries_are_what_they_stand_for() {
    let keys = Int32Array::from(vec![Some(1), None, Some(0), Some(2), Some(1)]);
    let words = Float64Array::from(vec![Some(0.25), Some(4.0), None]);
    let array: ArrayRef = Arc::new(DictionaryArray::new(keys, Arc::new(words)));
    assert_eq!(value(&reduce(Op::Sum, std::slice::from_ref(&array)).unwrap()), Value::F64(8.25));
    assert_eq!(value(&reduce(Op::ArgMin, &[array.slice(1, 4)]).unwrap()), Value::U64(1));
}

#[test]
fn products_have_the_same_bits_in_any_chunks() {
    let mut bits = Words(11);
    let values: Vec<Option<f64>> = (0..50_000)
        .map(|k| (k % 5 != 0).then(|| 1.0 + (bits.next() >> 40) as f64 * 1e-9))
        .collect();
    let dense: ArrayRef =
        Arc::new(Float64Array::from(values.iter().copied().flatten().collect::<Vec<f64>>()));
    let array: ArrayRef = Arc::new(Float64Array::from(values));
    let whole = value(&reduce(Op::Prod, &[dense]).unwrap());
    assert_eq!(value(&reduce(Op::Prod, std::slice::from_ref(&array)).unwrap()), whole);
    assert_eq!(value(&reduce(Op::Prod, &chunks(&array)).unwrap()), whole);
}

#[test]
fn folds_merge_and_count_from_their_rows() {
    let array: ArrayRef =
        Arc::new(Float64Array::from(vec![Some(1e16), None, Some(1.0), Some(-1e16), None]));
    let of = |start: usize, rows, op| {
        let mut fold = ColumnReducer::new(op, &DataType::Float64, Policy::default())
            .unwrap()
            .starting_at(start as u64);
        fold.push(&array.slice(start, rows)).unwrap();
        fold
    };
    let mut all = of(3, 2, Op::Sum);
    all.merge(of(0, 3, Op::Sum)).unwrap();
    assert_eq!(all.values(), 3);
    assert_eq!(value(&all.finish(Finish::default()).unwrap()), Value::F64(1.0));
    let mut all = of(3, 2, Op::ArgMin);
    all.merge(of(0, 3, Op::ArgMin)).unwrap();
    assert_eq!(value(&all.finish(Finish::default()).unwrap()), Value::U64(3));
}

#[test]
fn what_is_no_number_is_refused_in_a_line() {
    let item = || Arc::new(Field::new("item", DataType::Int32, true));
    for (dtype, word) in [
        (DataType::Utf8, "keys of groups"),
        (DataType::LargeUtf8, "keys of groups"),
        (DataType::List(item()), "nested"),
        (DataType::Struct(Columns::from(vec![item().as_ref().clone()])), "nested"),
        (DataType::Null, "null"),
        (DataType::Decimal256(50, 2), "decimal128"),
        (DataType::Binary, "choose another"),
    ] {
        let error = ColumnReducer::new(Op::Sum, &dtype, Policy::default()).unwrap_err().to_string();
        assert!(error.contains(word) && !error.contains('\n'), "{error}");
    }
    let mut fold = ColumnReducer::new(Op::Sum, &DataType::Float64, Policy::default()).unwrap();
    let error = fold.push(&Int32Array::from(vec![1])).unwrap_err().to_string();
    assert!(error.contains("Int32") && error.contains("Float64"), "{error}");
}
