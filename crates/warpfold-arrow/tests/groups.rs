//! Groups by one key, which is a word, a number or a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, PrimitiveArray, StringArray, UInt64Array,
};
use arrow_schema::DataType;
use warpfold_arrow::{Cell, Groups};
use warpfold_exact::partial::Finish;
use warpfold_num::{Op, Policy};

#[test]
fn groups_by_words_numbers_and_times() {
    let values: ArrayRef = Arc::new(Float64Array::from(vec![
        Some(1e16),
        Some(2.0),
        Some(1.0),
        None,
        Some(-1e16),
        Some(7.0),
        Some(0.5),
    ]));
    let words: ArrayRef = Arc::new(StringArray::from(vec![
        Some("b"),
        Some("a"),
        Some("b"),
        Some("c"),
        Some("b"),
        None,
        Some("a"),
    ]));
    let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![
        Some(u64::MAX),
        Some(3),
        Some(u64::MAX),
        Some(9),
        Some(u64::MAX),
        None,
        Some(3),
    ]));
    let days: ArrayRef = Arc::new(PrimitiveArray::<Date32Type>::from(vec![
        Some(1),
        Some(0),
        Some(1),
        Some(5),
        Some(1),
        None,
        Some(0),
    ]));
    let run = |op, keys: &ArrayRef, values: &ArrayRef| {
        let of = |start: usize, n: usize| {
            let mut groups =
                Groups::new(op, values.data_type(), &[keys.data_type().clone()], Policy::default())
                    .unwrap()
                    .starting_at(start as u64);
            groups.push(&[keys.slice(start, n)], &values.slice(start, n)).unwrap();
            groups
        };
        let mut all = of(0, 3);
        all.merge(of(3, 4)).unwrap();
        let found = all.finish(Finish::default()).unwrap();
        let [keys] = &found.keys[..] else { panic!("one key has one column") };
        let mut keys: Vec<Option<String>> = (0..keys.len()).map(|k| keys.text(k)).collect();
        let has_keyless = keys.pop_if(|key| key.is_none()).is_some();
        let keys: Vec<String> = keys.into_iter().map(|key| key.expect("none is last")).collect();
        let cells: Vec<String> = found.columns[0]
            .1
            .iter()
            .map(|cell| cell.as_ref().map_or("none".into(), |cell| cell.to_string()))
            .collect();
        (keys, cells, has_keyless)
    };
    let strings = |words: [&str; 2]| words.map(str::to_string).to_vec();
    for (keys, names, sums) in [
        (&words, ["a", "b"], ["2.5", "1"]),
        (&numbers, ["3", "18446744073709551615"], ["2.5", "1"]),
        (&days, ["1970-01-01", "1970-01-02"], ["2.5", "1"]),
    ] {
        let (found, cells, has_keyless) = run(Op::Sum, keys, &values);
        assert_eq!(found, strings(names));
        assert_eq!((&cells[..2], &cells[2][..], has_keyless), (&strings(sums)[..], "7", true));
        let (_, cells, _) = run(Op::ArgMin, keys, &values);
        assert_eq!(cells, ["6", "4", "5"]);
    }
    let cents: ArrayRef = Arc::new(
        PrimitiveArray::<Decimal128Type>::from(vec![
            Some(1),
            Some(2),
            Some(3),
            None,
            Some(-5),
            Some(7),
            Some(11),
        ])
        .with_precision_and_scale(20, 1)
        .unwrap(),
    );
    assert_eq!(run(Op::Sum, &words, &cents).1, ["1.3", "-0.1", "0.7"]);
    assert_eq!(run(Op::ArgMax, &numbers, &cents).1, ["6", "2", "5"]);
    let stamps: ArrayRef = Arc::new(PrimitiveArray::<TimestampSecondType>::from(vec![
        Some(10),
        Some(2),
        Some(21),
        None,
        Some(-5),
        Some(7),
        Some(3),
    ]));
    assert_eq!(
        run(Op::Mean, &words, &stamps).1,
        ["1970-01-01T00:00:02", "1970-01-01T00:00:09", "1970-01-01T00:00:07"]
    );
    // A word whose values are all null has no group.
    let (names, cells, _) = run(Op::Max, &words, &days);
    assert_eq!(
        (names, cells),
        (
            vec!["a".into(), "b".into(), "c".into()],
            vec!["1970-01-01".to_string(), "1970-01-02".into(), "1970-01-06".into()]
        )
    );
    let error = Groups::new(Op::Sum, &DataType::Int8, &[DataType::Float64], Policy::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("cast it"), "{error}");
}

/// A row's key, its word, and its value in sixty-fourths.
type Row = (Option<i64>, Option<String>, Option<i64>);

/// Whether there is none, which comes last; a number or a word.
type KeyPart<'r> = (bool, Option<i64>, Option<&'r str>);

/// Sums, means and extremes by a number, by a word and by both, of pieces that were taken in by some and merged in whatever order, beside exact sums of integers.
#[test]
fn groups_are_those_of_the_rows_in_any_order() {
    const N: i64 = 20_000;
    let row = |k: i64| -> Row {
        let mixed = k.wrapping_mul(0x2545_F491_4F6C_DD1D);
        let number = (mixed >> 40) % 700 * 1_000_003;
        let value = (mixed >> 20) % 1_000_000_007;
        let is = |n: i64| (mixed >> 9) % n == 0;
        (
            (!is(11)).then_some(number),
            (!is(13)).then(|| format!("w{}", number % 31)),
            (!is(5)).then_some(value),
        )
    };
    let rows: Vec<Row> = (0..N).map(row).collect();
    let arrays = |rows: &[Row]| -> [ArrayRef; 3] {
        let numbers: Int64Array = rows.iter().map(|row| row.0).collect();
        let words: StringArray = rows.iter().map(|row| row.1.as_deref()).collect();
        let values: Float64Array = rows.iter().map(|row| Some(row.2? as f64 / 64.0)).collect();
        [Arc::new(numbers), Arc::new(words), Arc::new(values)]
    };
    for which in [&[0][..], &[1], &[0, 1]] {
        let mut expected: BTreeMap<Vec<KeyPart<'_>>, (i128, i128, i64)> = BTreeMap::new();
        for (number, word, value) in &rows {
            let Some(value) = value else { continue };
            let part = |&at: &usize| match at {
                0 => (number.is_none(), *number, None),
                _ => (word.is_none(), None, word.as_deref()),
            };
            let of_key = expected.entry(which.iter().map(part).collect());
            let (sum, count, most) = of_key.or_insert((0, 0, i64::MIN));
            (*sum, *count, *most) = (*sum + i128::from(*value), *count + 1, *value.max(most));
        }
        for (op, pieces) in
            [(Op::Sum, 1), (Op::Sum, 7), (Op::Mean, 1), (Op::Mean, 40), (Op::Max, 7)]
        {
            let mut taken: Vec<Groups> = Vec::new();
            // Pieces go to three in turn, from the last one on.
            for (k, start) in (0..pieces).map(|piece| piece * N as usize / pieces).enumerate().rev()
            {
                let end = (k + 1) * N as usize / pieces;
                let [numbers, words, values] = arrays(&rows[start..end]);
                let keys: Vec<ArrayRef> =
                    which.iter().map(|&at| [&numbers, &words][at].clone()).collect();
                let types: Vec<DataType> =
                    keys.iter().map(|keys| keys.data_type().clone()).collect();
                if taken.len() < 3 {
                    taken.push(
                        Groups::new(op, &DataType::Float64, &types, Policy::default()).unwrap(),
                    );
                }
                let at = k % taken.len();
                taken[at].push(&keys, &values).unwrap();
            }
            let mut all = taken.pop().expect("there is a piece");
            taken.into_iter().for_each(|groups| all.merge(groups).unwrap());
            let kept = rows.iter().filter(|row| row.2.is_some()).count() as u64;
            assert_eq!(all.values(), kept);
            let found = all.finish(Finish::default()).unwrap();
            let cells = &found.columns[0].1;
            assert_eq!(cells.len(), expected.len());
            for (at, (key, (sum, count, most))) in expected.iter().enumerate() {
                for (keys, (_, number, word)) in found.keys.iter().zip(key) {
                    let text = number.map(|number| number.to_string()).or(word.map(str::to_string));
                    assert_eq!(keys.text(at), text);
                }
                // Both are below 2^53, so that one division rounds once.
                let exact = match op {
                    Op::Sum => *sum as f64 / 64.0,
                    Op::Mean => *sum as f64 / (64 * count) as f64,
                    _ => *most as f64 / 64.0,
                };
                assert_eq!(cells[at], Some(Cell::Value(exact.into())), "{op} of {key:?}");
            }
        }
    }
}
