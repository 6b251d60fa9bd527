//! Operators as text beside the contract's tree, written down as its definition says, and the same arithmetic in Rust.

use warpfold_engine::HostArray;
use warpfold_engine::operator::{Operator, TypedOperator, Written, fold};
use warpfold_num::random::Words;
use warpfold_num::{DType, Policy, Value};

/// Runs of 32 leaves in order, 32 such runs in order, then aligned powers of two of those.
fn along<S: Copy>(leaves: &[S], merge: impl Fn(S, S) -> S + Copy) -> S {
    let in_order = |all: &[S]| all[1..].iter().fold(all[0], |left, &right| merge(left, right));
    let runs: Vec<S> = leaves.chunks(32).map(in_order).collect();
    let mut spans: Vec<S> = runs.chunks(32).map(in_order).collect();
    while spans.len() > 1 {
        spans = spans.chunks(2).map(in_order).collect();
    }
    spans[0]
}

fn typed(written: &Written<'_>, inputs: &[(&str, DType)]) -> TypedOperator {
    let operator = Operator::parse(written).unwrap_or_else(|error| panic!("{error}"));
    operator.typed(inputs).unwrap_or_else(|error| panic!("{error}"))
}

/// Around the sizes of runs, blocks, tiles and what a thread takes at once.
const SIZES: [usize; 9] = [1, 31, 33, 1023, 1025, 8192 + 77, 65_535, 65_537, 200_001];

fn numbers(n: usize) -> Vec<f64> {
    let mut words = Words(5);
    (0..n).map(|_| words.fraction() * 50.0 - 10.0).collect()
}

fn policies() -> [Policy; 2] {
    [
        Policy { threads: Some(1), ..Policy::default() },
        Policy { threads: Some(3), ..Policy::default() },
    ]
}

#[test]
fn moments_by_welford_have_the_bits_of_rust() {
    let written = Written {
        finish: Some("mean, m2 / n"),
        ..Written::new(
            "n: f64, mean: f64, m2: f64",
            "1, x, 0",
            "a.n + b.n,
             a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)),
             a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * b.n / (a.n + b.n))",
        )
    };
    let operator = typed(&written, &[("x", DType::F64)]);
    let merge = |[n, mean, m2]: [f64; 3], [m, other, others]: [f64; 3]| {
        let (all, apart) = (n + m, other - mean);
        [all, mean + apart * (m / all), m2 + others + apart * apart * (n * m / all)]
    };
    for n in SIZES {
        let x = numbers(n);
        let leaves: Vec<[f64; 3]> = x.iter().map(|&x| [1.0, x, 0.0]).collect();
        let [count, mean, m2] = along(&leaves, merge);
        for policy in policies() {
            let found = fold(&operator, &[HostArray::of(&x)], policy).expect("a mean");
            assert_eq!(found, [Value::F64(mean), Value::F64(m2 / count)], "{n}");
        }
    }
}

#[test]
fn running_log_sum_exp_has_the_bits_of_rust_and_is_near_the_sum() {
    let written = Written {
        finish: Some("most + log(s)"),
        ..Written::new(
            "most: f64, s: f64",
            "x, 1",
            "max(a.most, b.most), a.s * exp(a.most - max(a.most, b.most)) + b.s * exp(b.most - max(a.most, b.most))",
        )
    };
    let operator = typed(&written, &[("x", DType::F64)]);
    let exp = warpfold_expr::math::double::exp;
    let merge = |(most, s): (f64, f64), (other, more): (f64, f64)| {
        let all = most.max(other);
        (all, s * exp(most - all) + more * exp(other - all))
    };
    for n in SIZES {
        let x = numbers(n);
        let leaves: Vec<(f64, f64)> = x.iter().map(|&x| (x, 1.0)).collect();
        let (most, s) = along(&leaves, merge);
        let plain: f64 = x.iter().map(|x| (x - most).exp()).sum();
        assert!((s - plain).abs() <= 1e-12 * plain);
        for policy in policies() {
            let found = fold(&operator, &[HostArray::of(&x)], policy).expect("a sum");
            assert_eq!(found, [Value::F64(most + warpfold_expr::math::double::log(s))], "{n}");
        }
    }
}

#[test]
fn products_of_max_plus_matrices_are_those_of_rust() {
    // [[x, y], [y, x]] where + is max and * is +.
    let cell = |i: usize, j: usize| format!("max(a.m{i}0 + b.m0{j}, a.m{i}1 + b.m1{j})");
    let merge = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| cell(i, j)).join(", ");
    let written = Written {
        identity: Some("0, -inf, -inf, 0"),
        ..Written::new("m00: f64, m01: f64, m10: f64, m11: f64", "x, y, y, x", &merge)
    };
    let operator = typed(&written, &[("x", DType::F64), ("y", DType::F64)]);
    let times = |a: [f64; 4], b: [f64; 4]| {
        let cell = |i: usize, j: usize| (a[2 * i] + b[j]).max(a[2 * i + 1] + b[2 + j]);
        [cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1)]
    };
    for n in SIZES {
        let (x, y) = (numbers(n), numbers(n + 3)[3..].to_vec());
        let leaves: Vec<[f64; 4]> = x.iter().zip(&y).map(|(&x, &y)| [x, y, y, x]).collect();
        let wanted = along(&leaves, times).map(Value::F64);
        for policy in policies() {
            let found = fold(&operator, &[HostArray::of(&x), HostArray::of(&y)], policy);
            assert_eq!(found.expect("a matrix"), wanted, "{n}");
        }
    }
    let none: [f64; 0] = [];
    let found = fold(&operator, &[HostArray::of(&none), HostArray::of(&none)], Policy::default());
    assert_eq!(
        found.expect("the identity"),
        [0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0].map(Value::F64)
    );
}

#[test]
fn the_first_of_the_largest_brings_what_stands_beside_it() {
    let written = Written {
        finish: Some("at, beside"),
        ..Written::new(
            "most: f32, at: u64, beside: i64",
            "x, index, y",
            "max(a.most, b.most), select(b.most > a.most, b.at, a.at), select(b.most > a.most, b.beside, a.beside)",
        )
    };
    let operator = typed(&written, &[("x", DType::F32), ("y", DType::I16)]);
    for n in SIZES {
        let x: Vec<f32> = numbers(n).iter().map(|x| x.round() as f32).collect();
        let y: Vec<i16> = (0..n).map(|k| (k % 3000) as i16 - 70).collect();
        let most = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let at = x.iter().position(|&x| x == most).expect("it is there");
        for policy in policies() {
            let found = fold(&operator, &[HostArray::of(&x), HostArray::of(&y)], policy);
            assert_eq!(
                found.expect("a largest"),
                [Value::U64(at as u64), Value::I64(y[at].into())],
                "{n}"
            );
        }
    }
}

#[test]
fn what_has_no_result_is_refused() {
    let sum = Written::new("s: i64", "x", "a.s + b.s");
    let operator = typed(&sum, &[("x", DType::I64)]);
    let said = |arrays: &[HostArray<'_>]| {
        fold(&operator, arrays, Policy::default()).expect_err("it is refused").to_string()
    };
    let mut x = vec![1i64; 100_000];
    assert!(said(&[HostArray::of(&x[..0])]).contains("give an identity"));
    assert!(said(&[HostArray::of(&[1.0f64])]).contains("the arrays are of"));
    assert!(said(&[HostArray::of(&x), HostArray::of(&x)]).contains("the arrays are of"));
    x[70_000] = i64::MAX;
    assert!(said(&[HostArray::of(&x)]).starts_with("merge, `a.s + b.s`"));
    let both = typed(&Written { lift: "x + y", ..sum }, &[("x", DType::I64), ("y", DType::I64)]);
    let error = fold(&both, &[HostArray::of(&x), HostArray::of(&x[1..])], Policy::default());
    assert!(error.expect_err("lengths differ").to_string().contains("give arrays of one length"));
    let mean = typed(&Written::new("m: f64", "x", "(a.m + b.m) / 2"), &[("x", DType::F64)]);
    let error = fold(&mean, &[HostArray::of(&numbers(50))], Policy::default());
    assert!(error.expect_err("no law").to_string().contains("said to be associative, and is not"));
}

/// A law is not broken by what a fold never does: sums of numbers that do not stand one behind the other may overflow.
#[test]
fn laws_are_tried_on_what_a_fold_may_do() {
    let gap = Written::new(
        "first: u64, last: u64, most: u64",
        "x, x, 0",
        "a.first, b.last, max(max(a.most, b.most), b.first - a.last)",
    );
    let operator = typed(&gap, &[("x", DType::U64)]);
    let x: Vec<u64> = (0..10).map(|k| k * k).collect();
    let found = fold(&operator, &[HostArray::of(&x)], Policy::default()).expect("it ascends");
    assert_eq!(found[2], Value::U64(17));
    let sum = typed(&Written::new("s: i64", "x", "a.s + b.s"), &[("x", DType::I64)]);
    let x = [-5i64, i64::MAX, 3];
    let found = fold(&sum, &[HostArray::of(&x)], Policy::default());
    assert_eq!(found.expect("it fits from the left"), [Value::I64(i64::MAX - 2)]);
}

/// An identity that is none is refused, and so is what is none of numbers that are; infinities among the elements are no reason to.
#[test]
fn infinite_identities_are_told_from_infinite_elements() {
    let most = |identity| Written {
        identity: Some(identity),
        ..Written::new("most: f64", "x", "max(a.most, b.most)")
    };
    let of = |identity, x: &[f64]| {
        fold(&typed(&most(identity), &[("x", DType::F64)]), &[HostArray::of(x)], Policy::default())
    };
    for identity in ["inf", "nan"] {
        let error = of(identity, &numbers(50)).expect_err("no identity").to_string();
        assert!(error.contains("left as it is by its identity, and is not"), "{error}");
    }
    assert_eq!(
        of("-inf", &numbers(3)),
        Ok(vec![Value::F64(numbers(3)[0].max(numbers(3)[1]).max(numbers(3)[2]))])
    );
    let x = [1.0, f64::INFINITY, -2.0, f64::NEG_INFINITY];
    assert_eq!(of("-inf", &x), Ok(vec![Value::F64(f64::INFINITY)]));
    let sum = typed(&Written::new("s: f64", "x", "a.s + b.s"), &[("x", DType::F64)]);
    let found = fold(&sum, &[HostArray::of(&x)], Policy::default()).expect("laws hold");
    assert!(matches!(found[..], [Value::F64(found)] if found.is_nan()), "{found:?}");
}

/// The branch of a choice that is never taken fails for nothing.
#[test]
fn a_branch_that_is_never_taken_is_not_computed() {
    let merge = "select(true, max(a.s, b.s), a.s * b.s)";
    let operator = typed(&Written::new("s: i64", "x", merge), &[("x", DType::I64)]);
    let x = [i64::MAX - 1, i64::MAX, 3];
    assert_eq!(
        fold(&operator, &[HostArray::of(&x)], Policy::default()),
        Ok(vec![Value::I64(i64::MAX)])
    );
}

/// Sums of f32 are associative as far as f32 goes, unless nothing is let pass.
#[test]
fn f32_has_a_tolerance_of_its_own() {
    let x: Vec<f32> = numbers(1000).into_iter().map(|x| x as f32).collect();
    let of = |tolerance: f64| {
        let written = Written { tolerance, ..Written::new("s: f32", "x", "a.s + b.s") };
        fold(&typed(&written, &[("x", DType::F32)]), &[HostArray::of(&x)], Policy::default())
    };
    assert_eq!(of(1e-9).expect("near enough"), [Value::F32(along(&x, |a, b| a + b))]);
    assert!(of(0.0).unwrap_err().to_string().contains("associative"));
}

/// Whatever NaN an operation leaves, the result is the positive quiet one.
#[test]
fn a_result_that_is_no_number_is_the_one_nan() {
    let written =
        Written { finish: Some("s / (s - s)"), ..Written::new("s: f64", "x", "a.s + b.s") };
    let operator = typed(&written, &[("x", DType::F64)]);
    for x in [0.0, f64::from_bits(0xfff8_0000_0000_0001)] {
        let found = fold(&operator, &[HostArray::of(&[x])], Policy::default());
        let Ok([Value::F64(found)]) = found.as_deref() else { panic!("{found:?}") };
        assert_eq!(found.to_bits(), f64::NAN.to_bits(), "{x}");
    }
}
