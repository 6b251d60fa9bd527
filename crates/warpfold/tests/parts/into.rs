//! Results in memory of the caller's are those of new memory.

use warpfold::partial::Finish;
use warpfold::random::Words;
use warpfold::{
    Column, DType, Element, Error, Op, OutputArray, OutputShape, ReduceBatched, Segments, View,
    group_by, group_dense, reduce_axes, reduce_segments, with_element,
};

/// Small whole numbers, and of floats fractions that few of them have exactly.
fn elements<T: Element>(n: usize) -> Vec<T> {
    let mut words = Words(7);
    let values = (0..n).map(|_| match T::DTYPE {
        DType::Bool => u64::from(words.below(3) == 0),
        _ => words.below(5),
    });
    values.map(number::<T>).collect()
}

fn number<T: Element>(value: u64) -> T {
    let column = match T::DTYPE {
        DType::Bool => Column::Bool(vec![value != 0]),
        DType::I8 => Column::I8(vec![value as i8]),
        DType::I16 => Column::I16(vec![value as i16]),
        DType::I32 => Column::I32(vec![value as i32]),
        DType::I64 => Column::I64(vec![value as i64]),
        DType::U8 => Column::U8(vec![value as u8]),
        DType::U16 => Column::U16(vec![value as u16]),
        DType::U32 => Column::U32(vec![value as u32]),
        DType::U64 => Column::U64(vec![value]),
        DType::F16 => Column::F16(vec![warpfold::f16::from_f64(value as f64 / 4.0 - 0.3)]),
        DType::BF16 => Column::BF16(vec![warpfold::bf16::from_f64(value as f64 / 4.0 - 0.3)]),
        DType::F32 => Column::F32(vec![value as f32 / 4.0 - 0.3]),
        DType::F64 => Column::F64(vec![value as f64 / 4.0 - 0.3]),
        DType::Complex64 => {
            let of = |value: f32| warpfold::Complex::new(value, 0.1 - value);
            Column::Complex64(vec![of(value as f32 / 4.0)])
        }
        DType::Complex128 => {
            let of = |value: f64| warpfold::Complex::new(value, 0.1 - value);
            Column::Complex128(vec![of(value as f64 / 4.0)])
        }
    };
    column.typed::<T>().expect("a column of the type")[0]
}

/// Writes other numbers over all of them.
fn spoil(column: &mut Column) {
    match column {
        Column::Bool(all) => all.iter_mut().for_each(|value| *value = !*value),
        _ => with_element!(column.dtype().unwrap(), R => {
            column.slice_mut::<R>().unwrap().fill(number::<R>(3));
        }),
    }
}

fn check<T: Element, A: OutputShape>(many: &ReduceBatched<'_, T, A>, what: &str) {
    let several = [Op::Dot, Op::MinMax, Op::Stats];
    for &op in Op::ALL.iter().filter(|op| !several.contains(op)) {
        if T::DTYPE.is_complex() && op.is_ordered() {
            continue;
        }
        let what = format!("{op} of {} {what}", T::DTYPE);
        // As some parts of keys have no elements, results that are not there are NaN or left out.
        let wanted = match many.columns(op, Finish::default()) {
            Ok(columns) => columns.into_iter().next().unwrap().1,
            Err(Error::Output { .. }) => continue,
            Err(other) => panic!("{what}: {other}"),
        };
        let mut found = wanted.clone();
        spoil(&mut found);
        let mut out = OutputArray::of_column(&mut found).expect("an element type");
        many.column_into(op, Finish::default(), &mut out).expect(&what);
        assert_eq!(format!("{found:?}"), format!("{wanted:?}"), "{what}");
    }
}

#[test]
fn every_reduction_of_every_type_writes_what_it_returns() {
    const N: usize = 2 * 3 * 31 * 32;
    for &dtype in DType::ALL {
        with_element!(dtype, T => {
            let x = elements::<T>(N);
            for [rows, columns] in [[N / 4, 4], [4, N / 4], [N / 64, 64], [3, N / 3]] {
                let view = View::new(&x, &[rows as u64, columns as u64]).unwrap();
                for axis in [0, 1] {
                    let many = reduce_axes(&view, &[axis]).unwrap();
                    check(&many, &format!("[{rows}, {columns}] axis {axis}"));
                    check(&many.flat_indices(), &format!("[{rows}, {columns}] axis {axis}, flat"));
                }
            }
            for length in [1, 3, 31] {
                let many = reduce_segments(&x, Segments::every(length)).unwrap();
                check(&many.or_nan(), &format!("every {length}"));
            }
            let offsets = [0u64, 1, 1, 40, 41, 700, N as u64];
            let many = reduce_segments(&x, Segments::offsets(&offsets)).unwrap();
            check(&many.or_nan(), "offsets");
            let keys: Vec<u32> = (0..N as u32).map(|k| k * 7 % 50).collect();
            check(&group_by(&keys, &x).unwrap(), "keys");
            check(&group_dense(&keys, 60, &x).unwrap().or_none(), "dense keys");
        });
    }
}

#[test]
fn named_reductions_write_into_slices() {
    let x = [1.0f32, 2.0, 3.0, 4.0, -5.0, 6.0];
    let view = View::new(&x, &[2, 3]).unwrap();
    let rows = reduce_axes(&view, &[1]).unwrap();
    let mut out = [0.0f32; 2];
    rows.mean_into(&mut out).unwrap();
    assert_eq!(out.to_vec(), rows.mean().unwrap().values);
    rows.var_into(1, &mut out).unwrap();
    assert_eq!(out.to_vec(), rows.var(1).unwrap().values);
    rows.std_into(0, &mut out).unwrap();
    assert_eq!(out.to_vec(), rows.std(0).unwrap().values);
    rows.l1_into(&mut out).unwrap();
    assert_eq!(out, [6.0, 15.0]);
    rows.min_into(&mut out).unwrap();
    assert_eq!(out, [1.0, -5.0]);
    let mut places = [9u64; 2];
    rows.clone().flat_indices().argmax_into(&mut places).unwrap();
    assert_eq!(places, [2, 5]);
    let mut any = [false; 2];
    rows.any_into(&mut any).unwrap();
    assert_eq!(any, [true; 2]);
}

#[test]
fn memory_of_another_length_is_refused() {
    let many = reduce_segments(&[1u8, 2, 3], Segments::every(1)).unwrap();
    for length in [0, 2, 4] {
        let mut out = vec![7u64; length];
        let error = many.sum_into(&mut out).unwrap_err().to_string();
        assert!(error.contains("there are 3 results of u64"), "{error}");
        assert!(out.iter().all(|&value| value == 7));
    }
}

#[test]
fn a_reduction_that_fails_leaves_numbers() {
    let x = [true, false, true, true];
    let many = reduce_segments(&x, Segments::offsets(&[0u32, 2, 2, 4])).unwrap();
    let mut out = [true; 3];
    assert!(matches!(many.min_into(&mut out), Err(Error::Output { .. })));
    assert_eq!(out, [false; 3]);
    let many = reduce_segments(&[i64::MAX, 1, 5, 6], Segments::every(2)).unwrap();
    let mut out = [1i64; 2];
    assert!(matches!(many.sum_into(&mut out), Err(Error::Output { .. })));
    assert_eq!(out, [0; 2]);
}
