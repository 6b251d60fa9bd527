//! Groups by one key, which is a word, a number or a time.

use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, Float64Array, PrimitiveArray, StringArray, UInt64Array};
use arrow_schema::DataType;
use warpfold_arrow::Groups;
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
