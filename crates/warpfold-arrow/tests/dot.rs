//! Dot products of two columns of any types, with nulls in either, in arrays that are cut and merged: against sums of plain integers.

use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int8Array,
    Int64Array, PrimitiveArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow_schema::DataType;
use half::f16;
use warpfold_arrow::{Cell, Dot};
use warpfold_exact::partial::Finish;
use warpfold_num::{DType, Policy, Value};

const N: usize = 1000;

/// Small integers, some of which are missing.
fn numbers(step: usize) -> Vec<Option<u8>> {
    (0..N).map(|k| (k % step > 0).then_some((k * step * 31 % 97) as u8)).collect()
}

/// The same in every type that holds them.
fn arrays(of: &[Option<u8>]) -> Vec<(ArrayRef, DType)> {
    let each = || of.iter().copied();
    let floats: PrimitiveArray<Float16Type> =
        each().map(|x| x.map(|x| f16::from_f32(x.into()))).collect();
    let codes: DictionaryArray<Int32Type> = {
        let values: ArrayRef = Arc::new(Int64Array::from_iter_values(0..97));
        let keys = each().map(|x| x.map(i32::from)).collect();
        DictionaryArray::try_new(keys, values).unwrap()
    };
    vec![
        (Arc::new(each().map(|x| x.map(|x| x as i8)).collect::<Int8Array>()), DType::I8),
        (Arc::new(each().collect::<UInt8Array>()), DType::U8),
        (Arc::new(each().map(|x| x.map(u32::from)).collect::<UInt32Array>()), DType::U32),
        (Arc::new(each().map(|x| x.map(i64::from)).collect::<Int64Array>()), DType::I64),
        (Arc::new(each().map(|x| x.map(u64::from)).collect::<UInt64Array>()), DType::U64),
        (Arc::new(floats), DType::F16),
        (Arc::new(each().map(|x| x.map(f32::from)).collect::<Float32Array>()), DType::F32),
        (Arc::new(each().map(|x| x.map(f64::from)).collect::<Float64Array>()), DType::F64),
        (Arc::new(codes), DType::I64),
    ]
}

fn dot(x: &ArrayRef, y: &ArrayRef, cuts: &[usize]) -> (DType, u64, Value) {
    let new = |start: usize| {
        let dot = Dot::new(x.data_type(), y.data_type(), Policy::default()).unwrap();
        dot.starting_at(start as u64)
    };
    let mut all = new(0);
    for ends in cuts.windows(2) {
        let (start, n) = (ends[0], ends[1] - ends[0]);
        let mut one = new(start);
        one.push(&x.slice(start, n), &y.slice(start, n)).unwrap();
        all.merge(one);
    }
    assert_eq!(all.rows(), x.len() as u64);
    let (dtype, n) = (all.dtype(), all.values());
    match all.finish(Finish::default()).unwrap().one() {
        Some(Cell::Value(value)) => (dtype, n, *value),
        other => panic!("no number: {other:?}"),
    }
}

#[test]
fn every_pair_of_types() {
    let (a, b) = (numbers(7), numbers(10));
    let pairs = || a.iter().zip(&b).filter_map(|(a, b)| Some((i64::from((*a)?), i64::from((*b)?))));
    let (n, sum) = (pairs().count() as u64, pairs().map(|(a, b)| a * b).sum::<i64>());
    assert!(n < 900 && sum > 1 << 20);
    let is_signed = |dtype| matches!(dtype, DType::I8 | DType::I64);
    for (x, dx) in arrays(&a) {
        for (y, dy) in arrays(&b) {
            let common = match () {
                () if dx == dy => dx,
                () if dx.is_float() || dy.is_float() => DType::F64,
                () if is_signed(dx) || is_signed(dy) => DType::I64,
                () => DType::U64,
            };
            let value = match common {
                DType::F16 | DType::F32 => Value::F32(sum as f32),
                DType::F64 => Value::F64(sum as f64),
                dtype if is_signed(dtype) => Value::I64(sum),
                _ => Value::U64(sum as u64),
            };
            for cuts in [&[0, N][..], &[0, 1, 1, 500, N]] {
                assert_eq!(dot(&x, &y, cuts), (common, n, value), "{dx} and {dy}");
            }
        }
    }
}

#[test]
fn sums_are_exact_and_rounded_once() {
    let x: ArrayRef = Arc::new(Float64Array::from(vec![Some(1e200), Some(0.1), None, Some(1e200)]));
    let y: ArrayRef = Arc::new(Int64Array::from(vec![Some(3), Some(10), Some(7), Some(-3)]));
    // Ten times the nearest f64 of 0.1 is a little above one, and rounds to it.
    assert_eq!(dot(&x, &y, &[0, 4]), (DType::F64, 3, Value::F64(1.0)));
    let flags: ArrayRef =
        Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(true)]));
    assert_eq!(dot(&flags, &flags, &[0, 2, 4]).1, 3);
    let none: ArrayRef = Arc::new(Int64Array::from(vec![None; 4]));
    assert_eq!(dot(&x, &none, &[0, 4]), (DType::F64, 0, Value::F64(0.0)));
}

#[test]
fn what_is_not_multiplied_is_said() {
    let refused =
        |x: &DataType, y: &DataType| Dot::new(x, y, Policy::default()).unwrap_err().to_string();
    assert!(
        refused(&DataType::Int8, &DataType::Utf8).contains("two columns of integers or floats")
    );
    assert!(refused(&DataType::Decimal128(9, 2), &DataType::Int8).contains("cast this one"));
    assert!(refused(&DataType::Boolean, &DataType::Int8).contains("booleans"));
    // 2^53 + 1 is no f64; what lies under a null is not looked at.
    let x: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None, Some(1.0)]));
    let big = (1i64 << 53) + 1;
    let y: ArrayRef = Arc::new(Int64Array::from(vec![1, big, big]));
    let mut dot =
        Dot::new(x.data_type(), y.data_type(), Policy::default()).unwrap().starting_at(10);
    dot.push(&x.slice(0, 2), &y.slice(0, 2)).unwrap();
    let error = dot.push(&x.slice(2, 1), &y.slice(2, 1)).unwrap_err().to_string();
    assert!(error.contains("row 12: 9007199254740993 is no f64"), "{error}");
    assert!(dot.push(&y, &y).unwrap_err().to_string().contains("follows arrays"));
    let [x, y]: [ArrayRef; 2] = [
        Arc::new(Int64Array::from(vec![i64::MAX, i64::MAX])),
        Arc::new(Int64Array::from(vec![2, 2])),
    ];
    let mut dot = Dot::new(x.data_type(), y.data_type(), Policy::default()).unwrap();
    dot.push(&x, &y).unwrap();
    assert!(
        dot.finish(Finish::default()).unwrap_err().to_string().contains("36893488147419103228")
    );
}
