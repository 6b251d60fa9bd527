//! Sums, means, moments, extremes and counts of every kind of parts, beside the exact partial of each input alone.

use std::sync::Arc;

use warpfold_num::random::Words;
use warpfold_num::{Complex, Element, Empty, Nan, Op, Policy, bf16, f16};
use warpfold_plan::segment::Segments;

use crate::sources::{Source, alone, sources};

const OPS: [Op; 12] = [
    Op::Sum,
    Op::Mean,
    Op::L1,
    Op::Var,
    Op::Std,
    Op::L2,
    Op::Min,
    Op::Max,
    Op::ArgMin,
    Op::ArgMax,
    Op::Count,
    Op::MinMax,
];

/// Segments of a few elements or of none, as groups of many keys are.
fn few<T: Element>(make: &mut dyn FnMut() -> T) -> Source<T> {
    let (mut words, mut offsets) = (Words(5), vec![0u64]);
    for k in 0..1500 {
        let most = if k < 1000 { 5 } else { 7 };
        offsets.push(offsets[k] + words.next() % most);
    }
    let x: Vec<T> = (0..offsets[1500]).map(|_| make()).collect();
    let inputs =
        offsets.windows(2).map(|ends| x[ends[0] as usize..ends[1] as usize].to_vec()).collect();
    let offsets: &'static [u64] = offsets.leak();
    let parts =
        warpfold_cpu::segments(Segments::offsets(offsets), x.len() as u64, Policy::default());
    let parts = Arc::new(parts.expect("offsets"));
    Source { name: "few".into(), parts, x, inputs }
}

fn check<T: Element>(source: &Source<T>, nan: Nan, what: &str) {
    let policy = Policy { nan, ..Policy::default() };
    for op in OPS.into_iter().filter(|op| !(op.is_ordered() && T::DTYPE.is_complex())) {
        let name = format!("{op} of {} {what} {nan:?}: {}", T::DTYPE, source.name);
        let (columns, gaps) =
            source.columns_and_gaps(op, policy, Empty::None).expect("gaps are no error");
        let each: &[Op] = if op == Op::MinMax { &[Op::Min, Op::Max] } else { &[op] };
        for (&op, ((_, column), gaps)) in each.iter().zip(columns.iter().zip(&gaps)) {
            for (k, x) in source.inputs.iter().enumerate() {
                match alone(op, policy, x) {
                    Some(expected) => {
                        assert_eq!(
                            column.get(k).to_string(),
                            expected,
                            "{name}, output {k}: {x:?}"
                        );
                        assert!(gaps.binary_search(&(k as u64)).is_err(), "{name}, output {k}");
                    }
                    None => {
                        assert!(gaps.binary_search(&(k as u64)).is_ok(), "{name}, output {k}")
                    }
                }
            }
        }
    }
}

fn agree<T: Element>(what: &str, of: impl Fn(u64) -> T) {
    let mut words = Words(17);
    let mut make = || of(words.next());
    let short = |source: &Source<T>| source.x.len() < 5000;
    for source in sources(&mut make).into_iter().filter(short).chain([few(&mut make)]) {
        check(&source, Nan::Propagate, what);
        if T::DTYPE.is_float() {
            check(&source, Nan::Ignore, what);
        }
    }
}

/// Numbers near one, some of them alike; of many exponents, to those at which sums of f16 are widest; and what is no number.
fn number(word: u64, data: usize) -> f64 {
    let x = (word >> 40) as f64 / (1u64 << 24) as f64 - 0.5;
    match (data, word % 64) {
        (1, power) => x * 2f64.powi(power as i32 / 2 - 16),
        (2, 0..12) => f64::NAN,
        (2, 12 | 13) => f64::INFINITY,
        (2, 14) => f64::NEG_INFINITY,
        (2, 15..30) => -0.0,
        (2, 30) => 60_000.0,
        (0, few) if few < 30 => (few / 4) as f64,
        _ => x,
    }
}

#[test]
fn floats() {
    for (data, what) in ["near one", "of many exponents", "with NaNs"].into_iter().enumerate() {
        agree(what, |word| f16::from_f64(number(word, data)));
        agree(what, |word| bf16::from_f64(number(word, data)));
        agree(what, |word| number(word, data) as f32);
        agree(what, |word| number(word, data));
        agree(what, |word| {
            Complex::new(number(word, data) as f32, number(word.rotate_left(32), data) as f32)
        });
    }
    agree("of any bits", |word| f32::from_bits((word >> 32) as u32));
    agree("of any bits", |word| f64::from_bits(word & !(1 << 62)));
}

#[test]
fn integers() {
    agree("of any bits", |word| word as i8);
    agree("of any bits", |word| word as u16);
    agree("of any bits", |word| word as i32);
    agree("few", |word| (word % 5) as i64 - 2);
    agree("below 2^50", |word| (word >> 14) as i64 - (1 << 49));
    agree("truth", |word| word % 3 > 0);
}
