//! Groups by several keys, against maps of plain integers; keys of every kind, none among them, in arrays that are cut and merged.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Int64Array, LargeStringArray, PrimitiveArray,
    StringArray, StringViewArray, UInt8Array,
};
use warpfold_arrow::{Cell, Groups};
use warpfold_exact::partial::Finish;
use warpfold_num::{Op, Policy, Value};

const ROWS: usize = 3000;

/// A row: a word, a day, whether, a small number, and a value.
type Row = (Option<String>, Option<i32>, Option<bool>, Option<u8>, Option<i64>);

fn rows() -> Vec<Row> {
    let mut state = 1u64;
    let mut next = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..ROWS)
        .map(|_| {
            let mut some = |below: u64| Some(next(below)).filter(|&x| x > 0);
            (
                some(5).map(|x| format!("word {}", 9 - x)),
                some(4).map(|x| x as i32 * 400 - 800),
                some(3).map(|x| x == 1),
                some(4).map(|x| x as u8 * 80),
                some(50).map(|x| (x as i64 - 25) << 40),
            )
        })
        .collect()
}

/// Sorts as results are sorted: none last.
fn last<T>(key: Option<T>) -> (bool, Option<T>) {
    (key.is_none(), key)
}

fn text<T: ToString>(key: &Option<T>) -> String {
    key.as_ref().map_or("none".into(), T::to_string)
}

fn arrays(rows: &[Row]) -> Vec<ArrayRef> {
    vec![
        Arc::new(rows.iter().map(|row| row.0.as_deref()).collect::<StringArray>()),
        Arc::new(PrimitiveArray::<Date32Type>::from_iter(rows.iter().map(|row| row.1))),
        Arc::new(rows.iter().map(|row| row.2).collect::<BooleanArray>()),
        Arc::new(rows.iter().map(|row| row.3).collect::<UInt8Array>()),
        Arc::new(rows.iter().map(|row| row.4).collect::<Int64Array>()),
    ]
}

fn group(
    op: Op,
    keys: &[ArrayRef],
    values: &ArrayRef,
    cuts: &[usize],
) -> Vec<(Vec<String>, String)> {
    let types: Vec<_> = keys.iter().map(|keys| keys.data_type().clone()).collect();
    let mut all: Option<Groups> = None;
    for ends in cuts.windows(2) {
        let (start, n) = (ends[0], ends[1] - ends[0]);
        let one = Groups::new(op, values.data_type(), &types, Policy::default()).unwrap();
        let mut one = one.starting_at(start as u64);
        let keys: Vec<ArrayRef> = keys.iter().map(|keys| keys.slice(start, n)).collect();
        one.push(&keys, &values.slice(start, n)).unwrap();
        match &mut all {
            Some(all) => all.merge(one).unwrap(),
            None => all = Some(one),
        }
    }
    let found = all.unwrap().finish(Finish::default()).unwrap();
    let cells = &found.columns[0].1;
    let row = |at: usize| found.keys.iter().map(|keys| text(&keys.text(at))).collect();
    assert!(found.keys.iter().all(|keys| keys.len() == cells.len()));
    (0..cells.len()).map(|at| (row(at), text(&cells[at]))).collect()
}

#[test]
fn combinations_are_those_of_a_map() {
    let rows = rows();
    let columns = arrays(&rows);
    let date = |days: i32| Cell::Time(days.into(), arrow_schema::DataType::Date32).to_string();
    let mut sums: BTreeMap<_, i64> = BTreeMap::new();
    let mut least: BTreeMap<_, (i64, usize)> = BTreeMap::new();
    for (at, (word, day, flag, number, value)) in rows.iter().enumerate() {
        let Some(value) = value else { continue };
        let key = (last(word.clone()), last(*day), last(*flag), last(*number));
        *sums.entry(key.clone()).or_default() += value;
        let seen = least.entry(key).or_insert((*value, at));
        *seen = (*seen).min((*value, at));
    }
    let names = |((_, word), (_, day), (_, flag), (_, number)): &_| {
        let day: &Option<i32> = day;
        let (word, flag, number): (&Option<String>, &Option<bool>, &Option<u8>) =
            (word, flag, number);
        vec![text(word), text(&day.map(date)), text(flag), text(number)]
    };
    let expected: Vec<_> = sums.iter().map(|(key, sum)| (names(key), sum.to_string())).collect();
    assert!(
        expected.len() > 200 && expected.iter().any(|(keys, _)| keys.iter().all(|k| k == "none"))
    );
    for cuts in [&[0, ROWS][..], &[0, 1, 7, 1000, 1000, 2999, ROWS]] {
        assert_eq!(group(Op::Sum, &columns[..4], &columns[4], cuts), expected);
        let least: Vec<_> =
            least.iter().map(|(key, (_, at))| (names(key), at.to_string())).collect();
        assert_eq!(group(Op::ArgMin, &columns[..4], &columns[4], cuts), least);
    }
}

#[test]
fn one_key_of_any_form_is_the_same_beside_another() {
    let rows = rows();
    let columns = arrays(&rows);
    let words = || rows.iter().map(|row| row.0.as_deref());
    let forms: [ArrayRef; 3] = [
        Arc::new(words().collect::<LargeStringArray>()),
        Arc::new(words().collect::<StringViewArray>()),
        Arc::new(words().collect::<DictionaryArray<Int16Type>>()),
    ];
    let of = |words: &ArrayRef| {
        group(Op::Sum, &[columns[3].clone(), words.clone()], &columns[4], &[0, 1700, ROWS])
    };
    let expected = of(&columns[0]);
    assert!(expected.len() > 10);
    forms.iter().for_each(|form| assert_eq!(of(form), expected));
    // The same column twice gives its own groups.
    let twice = group(Op::Sum, &[columns[3].clone(), columns[3].clone()], &columns[4], &[0, ROWS]);
    let once = group(Op::Sum, &columns[3..4], &columns[4], &[0, ROWS]);
    let doubled =
        |(keys, sum): &(Vec<String>, String)| ([&keys[..], &keys[..]].concat(), sum.clone());
    assert_eq!(twice, once.iter().map(doubled).collect::<Vec<_>>());
}

#[test]
fn errors_name_all_keys() {
    let words: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None]));
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, false]));
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1, i64::MAX, i64::MAX]));
    let types = [words.data_type().clone(), flags.data_type().clone()];
    let run = |times: usize, n: usize| {
        let mut groups =
            Groups::new(Op::Sum, values.data_type(), &types, Policy::default()).unwrap();
        let slice = |array: &ArrayRef| array.slice(0, n);
        for _ in 0..times {
            groups.push(&[slice(&words), slice(&flags)], &slice(&values)).unwrap();
        }
        groups.finish(Finish::default())
    };
    assert_eq!(run(1, 3).unwrap().columns[0].1[1], Some(Cell::Value(Value::I64(i64::MAX))));
    let error = run(2, 2).unwrap_err().to_string();
    assert!(error.contains("b, false") && error.contains("18446744073709551614"), "{error}");
    let error = Groups::new(
        Op::Sum,
        values.data_type(),
        &[types[0].clone(), arrow_schema::DataType::Float64],
        Policy::default(),
    );
    assert!(error.unwrap_err().to_string().contains("cast it"));
    let mut groups = Groups::new(Op::Sum, values.data_type(), &types, Policy::default()).unwrap();
    assert!(groups.push(&[words.clone(), words.clone()], &values).is_err());
    assert!(groups.push(&[words.clone(), flags.slice(0, 2)], &values).is_err());
}
