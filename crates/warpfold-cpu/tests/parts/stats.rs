//! Everything that stats tells of each output, beside the reductions of each input alone.

use warpfold_num::random::Words;
use warpfold_num::{Complex, Element, Empty, Nan, Op, Policy, bf16, f16};

use crate::sources::{Source, alone, of_axis, of_groups, of_segments, sources};

/// Whether a part of an element is NaN.
fn is_nan<T: Element>(x: &T) -> bool {
    T::as_parts(std::slice::from_ref(x)).iter().any(|part| {
        #[allow(clippy::eq_op, reason = "of NaN alone it is not so")]
        let is_itself = part == part;
        !is_itself
    })
}

fn check<T: Element>(source: &Source<T>, nan: Nan, what: &str) {
    let policy = Policy { nan, ..Policy::default() };
    let name = format!("{} {what} {nan:?}: {}", T::DTYPE, source.name);
    let ops: Vec<Op> = Op::of_stats(T::DTYPE).collect();
    let expected: Vec<Vec<Option<String>>> = ops
        .iter()
        .map(|&op| source.inputs.iter().map(|x| alone(op, policy, x)).collect())
        .collect();
    // A variance of nothing is NaN; a minimum, or a sum that is too large, is an error.
    let fails = ops.iter().zip(&expected).any(|(op, all)| !op.divides() && all.contains(&None));
    assert_eq!(source.columns(Op::Stats, policy).is_err(), fails, "{name}");
    let Ok((columns, gaps)) = source.columns_and_gaps(Op::Stats, policy, Empty::None) else {
        assert!(expected[0].contains(&None), "{name}: no sum is too large");
        return;
    };
    assert_eq!(columns.len(), ops.len() + 2, "{name}");
    let texts = |column: usize| {
        (0..source.inputs.len()).map({
            let column = &columns[column].1;
            move |k| column.get(k).to_string()
        })
    };
    assert!(texts(0).eq(source.inputs.iter().map(|x| x.len().to_string())), "{name}: sizes");
    let nans = source.inputs.iter().map(|x| x.iter().filter(|x| is_nan(*x)).count().to_string());
    assert!(texts(1).eq(nans), "{name}: NaNs");
    for (at, (op, expected)) in ops.iter().zip(&expected).enumerate() {
        assert_eq!(columns[at + 2].0, op.name());
        let none: Vec<u64> =
            (0..).zip(expected).filter(|(_, x)| x.is_none()).map(|(k, _)| k).collect();
        assert_eq!(gaps[at + 2], none, "{op} of {name}: gaps");
        for (k, (found, expected)) in texts(at + 2).zip(expected).enumerate() {
            assert!(
                expected.as_ref().is_none_or(|expected| *expected == found),
                "{op} of {name}, output {k}: {found}, not {expected:?}"
            );
        }
    }
}

fn agree<T: Element>(what: &str, of: impl Fn(u64) -> T) {
    let mut words = Words(31);
    for source in sources(&mut || of(words.next())) {
        check(&source, Nan::Propagate, what);
        if T::DTYPE.is_float() {
            check(&source, Nan::Ignore, what);
        }
    }
}

fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

/// Now and then a zero of either sign, an infinity or NaN.
fn special(word: u64) -> f64 {
    match word % 211 {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2..20 => 0.0,
        20..40 => -0.0,
        _ => unit(word) - 0.5,
    }
}

#[test]
fn stats_of_floats() {
    agree("between 0 and 1", |word| f16::from_f64(unit(word)));
    agree("about 1000", |word| unit(word) as f32 + 1000.0);
    agree("special", |word| special(word) as f32);
    agree("of any bits", |word| f32::from_bits((word >> 32) as u32));
    agree("between 0 and 1", unit);
    agree("special", special);
}

/// Now and then far below all others, so that sums have more than 53 bits.
fn spread(word: u64, binades: u64) -> f64 {
    let low = if word.is_multiple_of(97) { (word >> 8) % binades } else { 0 };
    (unit(word) - 0.5) * 2f64.powi(-(low as i32))
}

#[test]
fn stats_of_floats_unlike_each_other() {
    agree("of two signs", |word| if word % 70 == 0 { -1000.0 } else { unit(word) as f32 + 999.0 });
    agree("of two signs", |word| bf16::from_f64(if word % 9 == 0 { 3.0 } else { -unit(word) }));
    agree("spread", |word| spread(word, 40) as f32);
    agree("spread", |word| spread(word, 90));
    agree("far below 1", |word| spread(word, 9) * 1e-160);
    agree("few", |word| f16::from_f64((word % 5) as f64 - 2.0));
    agree("few", |word| (word % 5) as f32 - 2.0);
    agree("few", |word| (word % 3) as f64 * -0.5);
}

#[test]
fn stats_of_integers_at_the_ends() {
    // Where all are as far out as can be, the first is the least and the greatest.
    agree("least", |_| i32::MIN);
    agree("greatest", |_| u32::MAX);
    agree("least", |_| i64::MIN >> 12);
    agree("either", |word| if word % 2 == 0 { i32::MIN } else { i32::MAX });
    agree("either", |word| if word % 64 == 0 { u64::MAX } else { 0 });
    agree("few", |word| (word % 5) as i64 - 2);
}

#[test]
fn stats_of_integers() {
    agree("of any bits", |word| (word >> 32) as i32);
    agree("of any bits", |word| word as u8);
    agree("small", |word| (word >> 20) as i64);
    agree("of any bits", |word| word as i64);
    agree("truths", |word| word % 3 == 0);
}

#[test]
fn stats_of_complex_numbers() {
    agree("special", |word| Complex::new(special(word) as f32, unit(word << 32) as f32));
    agree("special", |word| Complex::new(unit(word << 32), special(word)));
}

#[test]
fn stats_of_what_threads_share() {
    // Long columns, few and more, and rows of many tiles; extremes are there many times, in parts of every thread.
    for (shape, axis) in [((400_001, 3), 0), ((40_000, 33), 0), ((70, 20_000), 1)] {
        let mut words = Words(7);
        let mut small = || (words.next() >> 60) as i32 - 8;
        let x: Vec<i32> = (0..shape.0 * shape.1).map(|_| small()).collect();
        check(
            &of_axis(shape, axis, x.iter().map(|&x| x as f32).collect()),
            Nan::Propagate,
            "small",
        );
        check(
            &of_axis(shape, axis, x.iter().map(|&x| f64::from(x)).collect()),
            Nan::Propagate,
            "small",
        );
        check(&of_axis(shape, axis, x), Nan::Propagate, "small");
        let x: Vec<f16> =
            (0..shape.0 * shape.1).map(|_| f16::from_f64(unit(words.next()))).collect();
        check(&of_axis(shape, axis, x), Nan::Propagate, "between 0 and 1");
        let x: Vec<f32> = (0..shape.0 * shape.1).map(|_| spread(words.next(), 30) as f32).collect();
        check(&of_axis(shape, axis, x), Nan::Propagate, "spread");
    }
}

/// Rows and segments so long that each is an array of its own, and short segments beside them.
fn long<T: Element>(what: &str, of: impl Fn(u64) -> T) {
    let mut words = Words(9);
    let x: Vec<T> = (0..5 * 33_001).map(|_| of(words.next())).collect();
    for nan in [Nan::Propagate, Nan::Ignore] {
        if nan == Nan::Propagate || T::DTYPE.is_float() {
            check(&of_axis((5, 33_001), 1, x.clone()), nan, what);
            let lengths = [40_000, 0, 1, 90_000, 20, 70_001];
            check(&of_segments(lengths.into_iter(), &mut || of(words.next())), nan, what);
        }
    }
}

#[test]
fn stats_of_long_outputs() {
    long("between 0 and 1", |word| f16::from_f64(unit(word)));
    long("special", |word| special(word) as f32);
    long("spread", |word| spread(word, 90));
    long("of any bits", |word| (word >> 32) as i32);
    long("of any bits", |word| word as i64);
    long("unit", |word| Complex::new(unit(word) as f32, unit(word << 32) as f32));
    long("special", |word| Complex::new(special(word), unit(word << 32)));
}

/// Rows of one length and segments of several that lanes take side by side, more of them than there are lanes, and what memory ends with.
fn side_by_side<T: Element>(what: &str, of: impl Fn(u64) -> T) {
    let mut words = Words(5);
    for length in [1, 2, 4, 5, 8, 15, 16, 17, 31, 32, 40, 64, 100, 127, 128, 129] {
        for rows in [16, 37] {
            let x = (0..rows * length).map(|_| of(words.next())).collect();
            check(&of_axis((rows, length), 1, x), Nan::Propagate, what);
        }
    }
    // Of several lengths, with one now and then that is much longer, and many that are empty.
    for (most, seldom) in [(65, 1), (17, 3), (230, 1)] {
        let mut lengths = Words(6);
        let mut length = || {
            let word = lengths.next();
            if (word >> 40).is_multiple_of(seldom) { word % most } else { 0 }
        };
        let mut make = || of(words.next());
        check(&of_segments((0..300).map(|_| length()), &mut make), Nan::Propagate, what);
    }
}

#[test]
fn stats_of_rows_side_by_side() {
    side_by_side("between 0 and 1", |word| f16::from_f64(unit(word)));
    side_by_side("about 1000", |word| unit(word) as f32 + 1000.0);
    side_by_side("special", |word| special(word) as f32);
    side_by_side("spread", |word| spread(word, 40) as f32);
    side_by_side("between 0 and 1", unit);
    side_by_side("of any bits", |word| (word >> 32) as i32);
    side_by_side("few", |word| (word % 5) as u32);
    side_by_side("of any bits", |word| word as i64 >> 3);
    side_by_side("of any bits", |word| word as u16);
    side_by_side("special", |word| Complex::new(special(word) as f32, unit(word << 32) as f32));
}

#[test]
fn stats_of_few_long_groups_and_of_many_that_are_mostly_empty() {
    for (groups, n) in [(3, 20_000), (50, 3000), (20_000, 500)] {
        let mut words = Words(8);
        check(
            &of_groups(groups, n, &mut || special(words.next()) as f32),
            Nan::Propagate,
            "special",
        );
        check(&of_groups(groups, n, &mut || unit(words.next()) - 0.5), Nan::Propagate, "unit");
        check(&of_groups(groups, n, &mut || (words.next() >> 40) as i32), Nan::Propagate, "small");
        check(&of_groups(groups, n, &mut || words.next() as u8), Nan::Propagate, "of any bits");
    }
}
