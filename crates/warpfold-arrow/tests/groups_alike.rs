//! Every reduction of every kind of column by keys, whatever shares its rows came in, beside the reduction of each key's rows alone.

mod random;

use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float16Array, Float32Array, Float64Array, Int32Array,
    Int64Array, PrimitiveArray, StringArray, UInt8Array, UInt64Array, make_array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use half::f16;
use random::Random;
use warpfold_arrow::{Cell, Fields, Groups, check, reduce};
use warpfold_exact::partial::Finish;
use warpfold_num::{Op, Policy};

const ROWS: usize = 3000;

/// Columns of all kinds, some values of which are missing, and all of those under the key "none".
fn columns(random: &mut Random, keys: &[Option<String>]) -> Vec<ArrayRef> {
    let mut of = |below: u64| -> Vec<Option<i64>> {
        let value = |key: &Option<String>| {
            let is_there = key.as_deref() != Some("none") && random.below(6) > 0;
            let value = random.below(below) as i64 - (below / 2) as i64;
            is_there.then_some(value)
        };
        keys.iter().map(value).collect()
    };
    let near_one = |x: &Option<i64>| x.map(|x| 1.0 + x as f64 / 4096.0);
    let floats = of(900);
    let of_64 = of(1 << 31);
    let of_8: Vec<Option<u8>> = of(256).into_iter().map(|x| x.map(|x| (x + 128) as u8)).collect();
    let odd = |x: &Option<i64>| match x {
        Some(0) => Some(f64::NAN),
        Some(1) => Some(-0.0),
        Some(2) => Some(f64::INFINITY),
        Some(x) => Some(*x as f64 * 1e300),
        None => None,
    };
    let of_32 = of(7).into_iter().map(|x| x.map(|x| x as i32));
    let decimals = PrimitiveArray::<Decimal128Type>::from(
        of(50).into_iter().map(|x| x.map(i128::from)).collect::<Vec<_>>(),
    );
    let narrow: Vec<Option<i32>> = of(90).into_iter().map(|x| x.map(|x| x as i32)).collect();
    vec![
        Arc::new(floats.iter().map(near_one).collect::<Float64Array>()),
        Arc::new(floats.iter().map(|x| near_one(x).map(|x| x as f32)).collect::<Float32Array>()),
        Arc::new(
            of(30).iter().map(near_one).map(|x| x.map(f16::from_f64)).collect::<Float16Array>(),
        ),
        Arc::new(of(400).iter().map(odd).collect::<Float64Array>()),
        Arc::new(of_64.iter().copied().collect::<Int64Array>()),
        Arc::new(of_64.iter().map(|x| x.map(|x| x as u64 >> 40)).collect::<UInt64Array>()),
        Arc::new(of_8.into_iter().collect::<UInt8Array>()),
        Arc::new(of_32.collect::<Int32Array>()),
        Arc::new(of(2).iter().map(|x| x.map(|x| x == 0)).collect::<BooleanArray>()),
        Arc::new(decimals.with_precision_and_scale(30, 3).unwrap()),
        Arc::new(
            PrimitiveArray::<Decimal32Type>::from(narrow.clone())
                .with_precision_and_scale(9, -2)
                .unwrap(),
        ),
        Arc::new(PrimitiveArray::<Date32Type>::from(narrow)),
        Arc::new(PrimitiveArray::<TimestampMillisecondType>::from(of(1 << 30))),
        Arc::new(PrimitiveArray::<DurationSecondType>::from(of(1000))),
    ]
}

const OPS: [Op; 18] = [
    Op::Sum,
    Op::Mean,
    Op::Var,
    Op::Std,
    Op::L1,
    Op::L2,
    Op::Sumsq,
    Op::Linf,
    Op::Prod,
    Op::Min,
    Op::Max,
    Op::MinMax,
    Op::ArgMin,
    Op::ArgMax,
    Op::Any,
    Op::All,
    Op::Count,
    Op::Stats,
];

/// The rows of a key, or all rows of which the others are null, as indices count them.
fn rows_of(values: &ArrayRef, op: Op, is_of: &[bool]) -> ArrayRef {
    if op == Op::Prod {
        let mask = arrow_array::BooleanArray::from(is_of.to_vec());
        return arrow_select::filter::filter(values, &mask).unwrap();
    }
    let valid = BooleanBuffer::collect_bool(is_of.len(), |k| is_of[k] && values.is_valid(k));
    let data = values.to_data().into_builder().nulls(Some(NullBuffer::new(valid)));
    make_array(data.build().unwrap())
}

/// As text, as a NaN is itself; sums of floats in groups, as alone, are one number.
fn shown(cell: Option<&Cell>) -> String {
    format!("{cell:?}")
}

fn agree(op: Op, keys: &ArrayRef, names: &[Option<String>], values: &ArrayRef, cuts: &[usize]) {
    let new = || {
        let types = [keys.data_type().clone()];
        Groups::new(op, values.data_type(), &types, Policy::default()).unwrap()
    };
    let mut all = new();
    let mut shares: Vec<Groups> = cuts
        .windows(2)
        .map(|ends| {
            let (start, n) = (ends[0], ends[1] - ends[0]);
            let mut one = new().starting_at(start as u64);
            // In two arrays.
            for (start, n) in [(start, n / 2), (start + n / 2, n - n / 2)] {
                one.push(&[keys.slice(start, n)], &values.slice(start, n)).unwrap();
            }
            one
        })
        .collect();
    // Products of floats alone depend on the order of rows.
    let is_ordered = op == Op::Prod && values.data_type().is_floating();
    if !is_ordered {
        shares.reverse();
    }
    shares.into_iter().for_each(|one| all.merge(one).unwrap());
    let valued = (0..values.len()).filter(|&k| values.is_valid(k)).count();
    assert_eq!((all.rows(), all.values()), (ROWS as u64, valued as u64));
    let found = all.finish(Finish::default());
    let mut groups: Vec<Option<String>> = names.to_vec();
    groups.sort_by(|a, b| (a.is_none(), a).cmp(&(b.is_none(), b)));
    groups.dedup();
    let has_value = |group: &Option<String>| {
        (0..values.len()).any(|k| names[k] == *group && values.is_valid(k))
    };
    groups.retain(has_value);
    let expected: Result<Vec<Fields>, _> = groups
        .iter()
        .map(|group| {
            let is_of: Vec<bool> = names.iter().map(|name| name == group).collect();
            reduce(op, &[rows_of(values, op, &is_of)])
        })
        .collect();
    let what = format!("{op} of {}", values.data_type());
    let (found, expected) = match (found, expected) {
        (Ok(found), Ok(expected)) => (found, expected),
        (Err(found), Err(expected)) => {
            // A group's error has its key before it.
            let (found, expected) = (found.to_string(), expected.to_string());
            assert!(found.ends_with(&expected), "{what}: {found} and not {expected}");
            return;
        }
        (found, expected) => panic!("{what}: {found:?} and not {expected:?}"),
    };
    let texts: Vec<Option<String>> =
        (0..found.keys[0].len()).map(|k| found.keys[0].text(k)).collect();
    assert_eq!(texts, groups, "{what}");
    for (at, Fields(fields)) in expected.iter().enumerate() {
        assert_eq!(found.columns.len(), fields.len(), "{what}");
        for ((name, cells), (_, cell)) in found.columns.iter().zip(fields) {
            let of = format!("{name} of {what} under {:?}", groups[at]);
            // What does not exist is NaN in a column of floats.
            match (cell, &cells[at]) {
                (None, Some(Cell::Value(value))) => assert_eq!(value.to_string(), "NaN", "{of}"),
                (cell, found) => assert_eq!(shown(found.as_ref()), shown(cell.as_ref()), "{of}"),
            }
        }
    }
}

#[test]
fn groups_are_reduced_as_their_rows_alone() {
    let mut random = Random(11);
    let names = [Some("a"), Some("b"), None, Some("c d"), Some("none")];
    let names: Vec<Option<String>> =
        (0..ROWS).map(|_| names[random.below(5) as usize].map(String::from)).collect();
    let words: ArrayRef = Arc::new(StringArray::from(names.clone()));
    let mut cuts: Vec<usize> = (0..6).map(|_| random.below(ROWS as u64) as usize).collect();
    cuts.extend([0, ROWS]);
    cuts.sort_unstable();
    for values in columns(&mut random, &names) {
        for op in OPS.into_iter().filter(|&op| check(op, values.data_type()).is_ok()) {
            agree(op, &words, &names, &values, &cuts);
        }
    }
}

#[test]
fn keys_are_many_as_well() {
    let mut random = Random(5);
    let numbers: Vec<Option<i64>> =
        (0..ROWS).map(|_| Some(random.below(2000) as i64 - 1000).filter(|&key| key != 7)).collect();
    let names: Vec<Option<String>> =
        numbers.iter().map(|key| key.map(|key| format!("{key:+05}"))).collect();
    let keys: ArrayRef = Arc::new(StringArray::from(names.clone()));
    let cuts = [0, 1000, 1001, ROWS];
    for values in columns(&mut random, &names).into_iter().step_by(3) {
        for op in [Op::Prod, Op::ArgMax, Op::Stats, Op::Mean] {
            if check(op, values.data_type()).is_ok() {
                agree(op, &keys, &names, &values, &cuts);
            }
        }
    }
}
