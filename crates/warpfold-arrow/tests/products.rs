//! Products of floats by keys, of columns with nulls: rows without a value keep their places, as elements that a mask leaves out do. Beside exact products of
//! integers, and beside a condition on the rows of each key by themselves.

mod random;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, Int16Array, StringArray};
use num_bigint::BigUint;
use random::Random;
use warpfold_arrow::{Cell, Groups};
use warpfold_engine::map::{Expressions, Map};
use warpfold_engine::{HostArray, Request};
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{DType, Op, Policy, Value};

type Rows = Vec<(Option<&'static str>, Option<i16>, Option<f64>)>;

/// Near one by powers of two, so that products come near the middle of two floats; some are missing.
fn rows(n: usize, random: &mut Random) -> Rows {
    let words = [Some("a"), Some("b"), None, Some("c d")];
    let row = |_| {
        let value = match random.below(3) {
            0 => {
                1.0 + [1.0, -1.0][random.below(2) as usize]
                    * 0.5f64.powi(random.below(30) as i32 + 22)
            }
            _ => 1.0 + random.below(8) as f64 / 64.0,
        };
        let is_there = random.below(4) > 0;
        let number = Some(random.below(3) as i16 - 1).filter(|&number| number < 1);
        (words[random.below(4) as usize], number, is_there.then_some(value))
    };
    (0..n).map(row).collect()
}

fn group(keys: &[ArrayRef], values: &ArrayRef, cuts: &[usize]) -> Vec<(Vec<Option<String>>, u64)> {
    let types: Vec<_> = keys.iter().map(|keys| keys.data_type().clone()).collect();
    let mut all: Option<Groups> = None;
    let mut held = 0;
    for ends in cuts.windows(2) {
        let (start, n) = (ends[0], ends[1] - ends[0]);
        let one = Groups::new(Op::Prod, values.data_type(), &types, Policy::default()).unwrap();
        let mut one = one.starting_at(start as u64);
        let keys: Vec<ArrayRef> = keys.iter().map(|keys| keys.slice(start, n)).collect();
        one.push(&keys, &values.slice(start, n)).unwrap();
        held += one.values();
        match &mut all {
            Some(all) => all.merge(one).unwrap(),
            None => all = Some(one),
        }
    }
    let all = all.unwrap();
    let there = (values.len() - values.null_count()) as u64;
    assert_eq!((all.values(), held, all.rows()), (there, there, values.len() as u64));
    let found = all.finish(Finish::default()).unwrap();
    assert!(found.columns.iter().all(|(name, _)| *name == "prod"));
    let Some((_, cells)) = found.columns.first() else { return Vec::new() };
    let bits = |cell: &Option<Cell>| match cell {
        Some(Cell::Value(Value::F64(value))) => value.to_bits(),
        Some(Cell::Value(Value::F32(value))) => value.to_bits().into(),
        other => panic!("no float: {other:?}"),
    };
    let row = |at: usize| found.keys.iter().map(|keys| keys.text(at)).collect();
    assert!(found.keys.iter().all(|keys| keys.len() == cells.len()));
    (0..cells.len()).map(|at| (row(at), bits(&cells[at]))).collect()
}

/// The product of what is there, by the places of all, as a condition has it.
fn masked(values: &[Option<f64>], dtype: DType) -> u64 {
    let mask: Vec<bool> = values.iter().map(Option::is_some).collect();
    // What lies in the slots of nulls is not read.
    let wide: Vec<f64> = values.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
    let narrow: Vec<f32> = wide.iter().map(|&value| value as f32).collect();
    let x = if dtype == DType::F64 { HostArray::of(&wide[..]) } else { HostArray::of(&narrow[..]) };
    let expressions = Expressions::value("x").unwrap().keep("m").unwrap();
    let inputs = [("x", dtype), ("m", DType::Bool)];
    let map = Map::new(Op::Prod, &expressions, &inputs, Policy::default()).unwrap();
    let folded = map.fold(&[x, HostArray::of(&mask[..])], 0).unwrap();
    match map.finish(&folded, Finish::default()).unwrap() {
        Output::One(Value::F64(value)) => value.to_bits(),
        Output::One(Value::F32(value)) => value.to_bits().into(),
        other => panic!("no float: {other:?}"),
    }
}

/// The product of what is there, as if nothing else were.
fn closed(values: &[Option<f64>]) -> u64 {
    let values: Vec<f64> = values.iter().flatten().copied().collect();
    let request = Request::new(Op::Prod, HostArray::of(&values[..]));
    let partial = warpfold_engine::reduce(&request).unwrap();
    match partial.finish(Op::Prod, Finish::default()).unwrap() {
        Output::One(Value::F64(value)) => value.to_bits(),
        other => panic!("no float: {other:?}"),
    }
}

/// Fails unless a float is within an ulp of the exact product of floats near one.
fn check_exact(values: &[Option<f64>], bits: u64) {
    let there = || values.iter().flatten();
    // Each is an integer of 2^-52.
    let exact =
        there().fold(BigUint::from(1u32), |all, &value| all * ((value * 2f64.powi(52)) as u64));
    let found = f64::from_bits(bits);
    let ulp = found.next_up() - found;
    // Both in units of 2^-52 to the power of how many there are.
    let shift = 52 * there().count();
    let scaled = |x: f64| {
        let (mantissa, exponent) =
            (x.to_bits() & ((1 << 52) - 1) | 1 << 52, (x.to_bits() >> 52) as i64 - 1075);
        let up = shift as i64 + exponent;
        if up >= 0 {
            BigUint::from(mantissa) << up as usize
        } else {
            BigUint::from(mantissa) >> -up as usize
        }
    };
    assert!(scaled(found - ulp) <= exact && exact <= scaled(found + ulp), "{found}");
}

#[test]
fn rows_without_a_value_keep_their_places() {
    let mut random = Random(3);
    for round in 0..60 {
        let n = [1500, 40, 300][round % 3];
        let rows = rows(n, &mut random);
        let words: ArrayRef = Arc::new(rows.iter().map(|row| row.0).collect::<StringArray>());
        let numbers: ArrayRef = Arc::new(rows.iter().map(|row| row.1).collect::<Int16Array>());
        let wide: ArrayRef = Arc::new(rows.iter().map(|row| row.2).collect::<Float64Array>());
        let narrow: ArrayRef =
            Arc::new(rows.iter().map(|row| row.2.map(|x| x as f32)).collect::<Float32Array>());
        let mut by_word: BTreeMap<_, Vec<Option<f64>>> = BTreeMap::new();
        let mut by_both: BTreeMap<_, Vec<Option<f64>>> = BTreeMap::new();
        for &(word, number, value) in &rows {
            by_word.entry((word.is_none(), word)).or_default().push(value);
            let key = (word.is_none(), word, number.is_none(), number);
            by_both.entry(key).or_default().push(value);
        }
        let cuts = [0, n / 7, n / 7, n / 2, n - 1, n];
        let has_value = |values: &[Option<f64>]| values.iter().any(Option::is_some);
        for (values, dtype) in [(&wide, DType::F64), (&narrow, DType::F32)] {
            let expected: Vec<_> = by_word
                .iter()
                .filter(|(_, values)| has_value(values))
                .map(|((_, word), values)| (vec![word.map(str::to_string)], masked(values, dtype)))
                .collect();
            for cuts in [&cuts[..], &[0, n]] {
                assert_eq!(group(std::slice::from_ref(&words), values, cuts), expected, "{round}");
            }
        }
        let expected: Vec<_> = by_both
            .iter()
            .filter(|(_, values)| has_value(values))
            .map(|((_, word, _, number), values)| {
                let keys = vec![word.map(str::to_string), number.map(|number| number.to_string())];
                (keys, masked(values, DType::F64))
            })
            .collect();
        assert_eq!(group(&[words.clone(), numbers.clone()], &wide, &cuts), expected, "{round}");
        for values in by_both.values().chain(by_word.values()) {
            check_exact(values, masked(values, DType::F64));
        }
    }
}

/// A product so near the middle of two floats that its bits tell where in the tree its factors stand: found by trying.
#[test]
fn bits_tell_the_places() {
    let mut values = vec![Some(1.0); 40];
    values[3] = None;
    let tiny = |power: i32| 0.5f64.powi(power);
    let factors = [
        1.0 + tiny(52),
        1.0 - tiny(51),
        1.0 + tiny(27),
        1.0 + tiny(26),
        1.0 - tiny(27),
        1.0 - tiny(26),
    ];
    for (value, factor) in values[32..].iter_mut().zip(factors) {
        *value = Some(factor);
    }
    let expected = masked(&values, DType::F64);
    assert_ne!(expected, closed(&values));
    check_exact(&values, expected);
    // Rows of another key lie between, and rows without a key are a group of their own.
    for key in [Some("a"), None] {
        let keys = (0..120).map(|row| if row % 3 == 1 { key } else { Some("b") });
        let keys: ArrayRef = Arc::new(keys.collect::<StringArray>());
        let all = (0..120).map(|row| if row % 3 == 1 { values[row / 3] } else { Some(1.0) });
        let all: ArrayRef = Arc::new(all.collect::<Float64Array>());
        for cuts in [&[0, 120][..], &[0, 11, 50, 99, 120]] {
            let found = group(std::slice::from_ref(&keys), &all, cuts);
            let word = vec![key.map(str::to_string)];
            assert!(found.contains(&(word, expected)), "{found:?}");
        }
    }
}

#[test]
fn groups_without_a_value_are_none() {
    let words: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None, Some("a")]));
    let values: ArrayRef = Arc::new(Float64Array::from(vec![Some(2.0), None, None, Some(4.0)]));
    let found = group(std::slice::from_ref(&words), &values, &[0, 2, 4]);
    assert_eq!(found, [(vec![Some("a".to_string())], 8f64.to_bits())]);
    let none: ArrayRef = Arc::new(Float64Array::from(vec![None; 4]));
    assert_eq!(group(&[words], &none, &[0, 4]), []);
}
