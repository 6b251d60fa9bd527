//! Expressions of columns some of whose values are missing, whatever shares their rows came in: beside the rows that have all values alone, and by keys
//! beside the rows of each key alone.

mod random;

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use random::Random;
use warpfold_arrow::{Cell, Keys, Mapped, MappedGroups, MappedResults};
use warpfold_engine::map::{HostArray, Map, Reduction};
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{DType, Empty, Policy, Value};

/// A row: a key, a float, an integer, a condition.
#[derive(Clone)]
struct Row(Option<String>, Option<f64>, Option<i32>, Option<bool>);

fn rows(n: usize, seed: u64) -> Vec<Row> {
    let mut random = Random(seed);
    let mut row = || {
        let key = ["a", "b", "c", "none", ""][random.below(5) as usize];
        // The key "none" has no row in which all columns have a value.
        let x = (key != "none" && random.below(7) > 0).then(|| {
            let digits = random.below(1 << 20) as f64 / 1024.0 - 300.0;
            match random.below(40) {
                0 => digits * 1e200,
                1 => digits * 1e-200,
                _ => digits,
            }
        });
        let w = (random.below(9) > 0).then(|| random.below(7) as i32 - 1);
        let ok = (random.below(9) > 0).then(|| random.below(3) > 0);
        Row(Some(key.to_string()).filter(|key| !key.is_empty()), x, w, ok)
    };
    (0..n).map(|_| row()).collect()
}

/// What lies under a null means nothing: numbers that have no square, no quotient and no order.
fn arrays(rows: &[Row]) -> (ArrayRef, [ArrayRef; 3]) {
    fn nulls<T>(rows: &[Row], of: impl Fn(&Row) -> Option<T>) -> Option<NullBuffer> {
        Some(NullBuffer::from(rows.iter().map(|row| of(row).is_some()).collect::<Vec<_>>()))
    }
    let keys = rows.iter().map(|row| row.0.clone()).collect::<StringArray>();
    let x: Vec<f64> = rows.iter().map(|row| row.1.unwrap_or(f64::NAN)).collect();
    let beneath = |at: usize| if at.is_multiple_of(2) { 0 } else { i32::MIN };
    let w = rows.iter().enumerate().map(|(at, row)| row.2.unwrap_or(beneath(at)));
    let ok = rows.iter().map(|row| row.3.unwrap_or(true)).collect::<Vec<_>>();
    let x = Float64Array::new(x.into(), nulls(rows, |row| row.1));
    let w = Int32Array::new(w.collect::<Vec<_>>().into(), nulls(rows, |row| row.2));
    let ok = BooleanArray::new(ok.into(), nulls(rows, |row| row.3));
    (Arc::new(keys), [Arc::new(x), Arc::new(w), Arc::new(ok)])
}

const TYPES: [DataType; 3] = [DataType::Float64, DataType::Int32, DataType::Boolean];
const INPUTS: [(&str, DType); 3] = [("x", DType::F64), ("w", DType::I32), ("ok", DType::Bool)];

/// Reductions, and the condition on which rows count.
const WANTED: [(&str, Option<&str>); 12] = [
    ("sum(x * f64(w))", None),
    ("mean(x)", Some("w > 0 and ok")),
    ("var(x)", Some("ok")),
    ("n = count(x > 0)", None),
    ("mean(x, weights=f64(w * w))", Some("x < 1e9")),
    ("argmax(abs(x))", Some("ok or w < 3")),
    ("argmin(w)", None),
    ("prod(1 + x * 1e-6)", Some("abs(x) < 1e6 and w < 5")),
    ("max(w)", Some("ok")),
    // Of what lies under nulls these would be errors.
    ("sum(60 // (w + 2))", Some("60 // (w + 2) > 12 and (w + 9223372036854775800) > 3")),
    ("min(i64(w) * 4611686018427387904 // 4611686018427387904)", Some("w == 0 or w == 1")),
    ("sum(x)", Some("60 // (w + 2) != 30")),
];

fn map((reduction, keep): (&str, Option<&str>)) -> Map {
    let reduction: Reduction = reduction.parse().expect("it is a reduction");
    Map::all(&[reduction], keep, &INPUTS, Policy::default()).expect("the types suit it")
}

/// The result of rows, pushed in shares that are folded apart.
fn mapped(wanted: (&str, Option<&str>), rows: &[Row], random: &mut Random) -> String {
    let start = |row: usize| {
        Mapped::new(map(wanted), &TYPES).expect("columns of numbers").starting_at(row as u64)
    };
    let (mut all, mut share, mut at) = (start(0), start(0), 0);
    while at < rows.len() {
        let n = (1 + random.below(400) as usize).min(rows.len() - at);
        share.push(&arrays(&rows[at..at + n]).1).expect("arrays of these types");
        at += n;
        if random.below(3) == 0 {
            all.merge(&std::mem::replace(&mut share, start(at)));
        }
    }
    all.merge(&share);
    assert_eq!(all.rows(), rows.len() as u64);
    assert_eq!(all.values(), rows.iter().filter(|row| has_all(row)).count() as u64);
    match all.map().finish(all.folded(), Finish::default()) {
        Ok(Output::One(value)) => format!("{value:?}"),
        other => format!("{other:?}"),
    }
}

fn has_all(row: &Row) -> bool {
    row.1.is_some() && row.2.is_some() && row.3.is_some()
}

/// The result of the rows that have all values, as arrays without a gap; indices among all rows.
fn alone(wanted: (&str, Option<&str>), rows: &[Row]) -> String {
    let kept: Vec<(usize, &Row)> =
        rows.iter().enumerate().filter(|(_, row)| has_all(row)).collect();
    let x: Vec<f64> = kept.iter().filter_map(|(_, row)| row.1).collect();
    let w: Vec<i32> = kept.iter().filter_map(|(_, row)| row.2).collect();
    let ok: Vec<bool> = kept.iter().filter_map(|(_, row)| row.3).collect();
    let map = map(wanted);
    let inputs = [HostArray::of(&x), HostArray::of(&w), HostArray::of(&ok)];
    let folded = map.fold(&inputs, 0).expect("values of these expressions");
    match map.finish(&folded, Finish::default()) {
        Ok(Output::One(Value::U64(index))) if wanted.0.starts_with("arg") => {
            format!("{:?}", Value::U64(kept[index as usize].0 as u64))
        }
        Ok(Output::One(value)) => format!("{value:?}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn rows_that_lack_a_value_are_left_out_of_every_reduction() {
    let mut random = Random(5);
    for n in [0, 1, 70, 3000, 70_000] {
        let rows = rows(n, n as u64);
        for wanted in WANTED {
            // Where a row is gone, others multiply along other branches of the tree.
            if !wanted.0.starts_with("prod") {
                assert_eq!(
                    mapped(wanted, &rows, &mut random),
                    alone(wanted, &rows),
                    "{wanted:?} of {n}"
                );
            }
        }
    }
}

/// A row that lacks a value has a place in the tree of products, as one that a condition leaves out.
#[test]
fn products_have_the_bits_of_a_condition() {
    let rows = rows(5000, 11);
    let x: Vec<f64> = rows.iter().map(|row| row.1.unwrap_or(f64::NAN)).collect();
    let w: Vec<i32> = rows.iter().map(|row| row.2.unwrap_or(i32::MAX)).collect();
    let ok: Vec<bool> = rows.iter().map(|row| row.3 == Some(true)).collect();
    let keep: Vec<bool> = rows.iter().map(has_all).collect();
    let wanted = WANTED[7];
    let inputs = [INPUTS[0], INPUTS[1], INPUTS[2], ("keep", DType::Bool)];
    let condition = format!("{} and keep", wanted.1.expect("it has a condition"));
    let reduction: Reduction = wanted.0.parse().unwrap();
    let map = Map::all(&[reduction], Some(&condition), &inputs, Policy::default()).unwrap();
    let arrays = [HostArray::of(&x), HostArray::of(&w), HostArray::of(&ok), HostArray::of(&keep)];
    let Ok(Output::One(expected)) = map.finish(&map.fold(&arrays, 0).unwrap(), Finish::default())
    else {
        panic!("a product of floats is a float")
    };
    for seed in 0..4 {
        assert_eq!(mapped(wanted, &rows, &mut Random(seed)), format!("{expected:?}"));
    }
}

fn by_keys(
    wanted: (&str, Option<&str>),
    rows: &[Row],
    random: &mut Random,
    empty: Empty,
) -> warpfold_arrow::Result<MappedResults> {
    let start = || MappedGroups::new(map(wanted), &TYPES, &[DataType::Utf8]);
    let (mut all, mut share, mut at) = (start()?, start()?, 0);
    while at < rows.len() {
        let n = (1 + random.below(400) as usize).min(rows.len() - at);
        let (keys, columns) = arrays(&rows[at..at + n]);
        share.push(&[keys], &columns)?;
        at += n;
        if random.below(3) == 0 {
            all.merge(std::mem::replace(&mut share, start()?))?;
        }
    }
    all.merge(share)?;
    all.finish(Finish::default(), empty)
}

#[test]
fn groups_are_the_rows_of_each_key_alone() {
    let mut random = Random(3);
    for n in [0, 40, 3000, 20_000] {
        let rows = rows(n, 7 + n as u64);
        for wanted in WANTED {
            let found = by_keys(wanted, &rows, &mut random, Empty::None).unwrap();
            let [Keys::Words(keys)] = &found.keys[..] else { panic!("one column of words") };
            let [(_, columns)] = &found.columns[..] else { panic!("one reduction") };
            let mut expected: Vec<Option<String>> =
                rows.iter().filter(|row| has_all(row)).map(|row| row.0.clone()).collect();
            expected.sort_by_key(|key| (key.is_none(), key.clone()));
            expected.dedup();
            assert_eq!(*keys, expected, "{wanted:?} of {n}");
            for (k, key) in keys.iter().enumerate() {
                let of_key = rows.iter().enumerate().filter(|(_, row)| row.0 == *key);
                let (at, of_key): (Vec<usize>, Vec<Row>) =
                    of_key.map(|(at, row)| (at, row.clone())).unzip();
                let alone = mapped(wanted, &of_key, &mut random);
                let cell = match &columns[0].1[k] {
                    Some(Cell::Value(Value::U64(row))) if wanted.0.starts_with("arg") => {
                        // Those of groups count all rows.
                        let place = at.iter().position(|&at| at as u64 == *row);
                        format!("{:?}", Value::U64(place.expect("a row of the key") as u64))
                    }
                    Some(Cell::Value(value)) => format!("{value:?}"),
                    Some(cell) => panic!("{cell} is no number"),
                    None => {
                        assert!(alone.contains("Empty"), "{alone}");
                        continue;
                    }
                };
                assert_eq!(cell, alone, "{wanted:?} of {key:?}");
            }
        }
    }
}

#[test]
fn a_group_without_a_result_is_named() {
    let rows: Vec<Row> = ["b", "a", "b"]
        .iter()
        .zip([1.0, 2.0, 3.0])
        .map(|(key, x)| Row(Some(key.to_string()), Some(x), Some(1), Some(true)))
        .collect();
    let max = ("max(x)", Some("x > 2"));
    let error = by_keys(max, &rows, &mut Random(1), Empty::Error).unwrap_err().to_string();
    assert!(error.contains("group a"), "{error}");
    let found = by_keys(max, &rows, &mut Random(1), Empty::None).unwrap();
    assert_eq!(found.columns[0].1[0].1, [None, Some(Cell::Value(Value::F64(3.0)))]);
}

#[test]
fn arrays_of_other_types_and_lengths_are_refused() {
    let mut fold = Mapped::new(map(WANTED[0]), &TYPES).unwrap();
    let (keys, [x, w, ok]) = arrays(&rows(10, 1));
    let error = |pushed: warpfold_arrow::Result<()>| pushed.unwrap_err().to_string();
    let of_types = error(fold.push(&[x.clone(), w.clone(), w.clone()]));
    assert!(of_types.contains("Int32") && of_types.contains("Boolean"), "{of_types}");
    let few = error(fold.push(&[x.clone(), w.clone()]));
    assert!(few.contains("3 arrays are read"), "{few}");
    let short = error(fold.push(&[x.clone(), w.slice(0, 9), ok.clone()]));
    assert!(short.contains("[10, 9, 10]"), "{short}");
    let floats = [DataType::Float64, DataType::Int64, DataType::Boolean];
    let other = Mapped::new(map(WANTED[0]), &floats).unwrap_err().to_string();
    assert!(other.contains("Int64") && other.contains("I32"), "{other}");
    let words = [DataType::Float64, DataType::Utf8, DataType::Boolean];
    assert!(MappedGroups::new(map(WANTED[0]), &words, &[DataType::Utf8]).is_err());
    let mut groups = MappedGroups::new(map(WANTED[0]), &TYPES, &[DataType::Utf8]).unwrap();
    let short = error(groups.push(&[keys.slice(0, 4)], &[x, w, ok]));
    assert!(short.contains("4 keys for 10 values"), "{short}");
    assert_eq!(groups.rows(), 0);
}

/// Nothing is asked of a condition but what it says itself: nulls take none of its inputs, depth or length.
#[test]
fn conditions_may_be_as_long_as_they_may_be_elsewhere() {
    let names: Vec<String> = (0..8).map(|k| format!("v{k}")).collect();
    let inputs: Vec<(&str, DType)> = names.iter().map(|name| (&name[..], DType::F64)).collect();
    let keep = format!("{}{} > 0{}", "(".repeat(60), names.join(" + "), ")".repeat(60));
    let map = Map::all(&["sum(v0)".parse().unwrap()], Some(&keep), &inputs, Policy::default());
    let mut fold = Mapped::new(map.unwrap(), &[const { DataType::Float64 }; 8]).unwrap();
    let column: ArrayRef =
        Arc::new(Float64Array::from(vec![Some(1.0), None, Some(-3.0), Some(4.5)]));
    fold.push(&std::array::from_fn::<_, 8, _>(|_| column.clone())).unwrap();
    let found = fold.map().finish(fold.folded(), Finish::default());
    assert_eq!(found, Ok(Output::One(Value::F64(5.5))));
}
