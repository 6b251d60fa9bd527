//! Several results of one reading, and those that are ratios and roots of exact sums, against exact integers.

use num_bigint::{BigInt, Sign};
use warpfold_engine::HostArray;
use warpfold_engine::map::{Expressions, Map, Measure, Reduction, Results};
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{DType, Element, Error, Nan, Op, Policy, Result, Value};

/// Results of reductions of arrays called x and y.
fn several<T: Element, U: Element>(
    texts: &[&str],
    keep: Option<&str>,
    policy: Policy,
    x: &[T],
    y: &[U],
) -> Result<Results> {
    let reductions = texts.iter().map(|text| text.parse()).collect::<Result<Vec<Reduction>>>()?;
    let map = Map::all(&reductions, keep, &[("x", T::DTYPE), ("y", U::DTYPE)], policy)?;
    let folded = map.fold(&[HostArray::of(x), HostArray::of(y)], 0)?;
    Ok(map.results(&folded, Finish::default()))
}

fn one<T: Element, U: Element>(text: &str, x: &[T], y: &[U]) -> Result<Value> {
    match several(&[text], None, Policy::default(), x, y)?[0].clone()? {
        Output::One(value) => Ok(value),
        other => panic!("{text}: {other:?}"),
    }
}

fn double<T: Element, U: Element>(text: &str, x: &[T], y: &[U]) -> f64 {
    match one(text, x, y) {
        Ok(Value::F64(value)) => value,
        other => panic!("{text}: {other:?}"),
    }
}

/// Numbers from a counter, from -1 to 1 times powers of two.
fn numbers(n: usize, seed: u64, spread: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    };
    (0..n)
        .map(|_| {
            let unit = next() as f64 / (1u64 << 52) as f64 - 1.0;
            unit * 2f64.powi((next() % spread) as i32 - (spread / 2) as i32)
        })
        .collect()
}

/// A float as an integer of units of 2^-1074.
fn units(x: f64) -> BigInt {
    let bits = x.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    (BigInt::from(significand) * if x < 0.0 { -1 } else { 1 }) << (exponent.max(1) - 1)
}

/// Whether `y` is the number nearest to the quotient (or its root) times 2^unit: no half of the distance to a neighbour away.
fn is_nearest(y: f64, n: &BigInt, d: &BigInt, unit: i64, is_root: bool) -> bool {
    // Twice y less and plus half an ulp are sums of neighbours; compare n/d·2^unit with their squares or themselves.
    let edge = |neighbour: f64| -> (BigInt, i64) { (units(y) + units(neighbour), -1075) };
    let compare = |(edge, of_edge): (BigInt, i64)| {
        let (left, of_left) =
            if is_root { (&edge * &edge * d, 2 * of_edge) } else { (edge * d, of_edge) };
        let low = of_left.min(unit);
        (left << (of_left - low)).cmp(&(n.clone() << (unit - low)))
    };
    let below = compare(edge(y.next_down()));
    let above = compare(edge(y.next_up()));
    below.is_le() && above.is_ge()
}

#[test]
fn several_results_are_those_of_each_alone() {
    let (x, y) = (numbers(70_001, 1, 40), numbers(70_001, 2, 40));
    let texts = [
        "sum(abs(x - y))",
        "max(abs(x - y))",
        "far = count(abs(x - y) > 3)",
        "mean(x * y)",
        "var(x)",
        "std(x)",
        "argmax(y)",
        "mean(x, weights=abs(y))",
        "count(x > 0)",
        "count(x > 0.25)",
        "any(x > 1e6)",
        "all(x < 1e12)",
        "count(y > 1)",
        "count(y < x)",
        "count(isnan(x))",
        "count(x == y)",
        "count(x)",
        "minmax(y)",
        "prod(1 + x * 0)",
    ];
    for keep in [None, Some("x + y > 0.001")] {
        for threads in [1, 2] {
            let policy = Policy { threads: Some(threads), ..Policy::default() };
            let all = several(&texts, keep, policy, &x, &y).expect("they are reductions");
            assert_eq!(all.len(), texts.len());
            for (text, (name, found)) in texts.iter().zip(all.iter()) {
                let alone = several(&[text], keep, policy, &x, &y).expect("it is a reduction");
                assert_eq!(found, &alone[0], "{text}");
                assert_eq!(name, text.split(" = ").next().expect("it has a name"));
            }
            assert_eq!(all.get("far"), Some(&all[2]));
            let plain = x.iter().zip(&y).filter(|(x, y)| keep.is_none() || *x + *y > 0.001);
            let far = plain.filter(|(x, y)| (*x - *y).abs() > 3.0).count() as u64;
            assert_eq!(all[2], Ok(Output::One(Value::U64(far))));
        }
    }
    // One result without a value leaves the others.
    let none = several(&["sum(x)", "max(x)"], Some("false"), Policy::default(), &x, &y);
    let none = none.expect("they are reductions");
    assert_eq!(none[0], Ok(Output::One(Value::F64(0.0))));
    assert_eq!(none[1], Err(Error::Empty { op: Op::Max, ignored: false }));
}

#[test]
fn rmse_and_cosine_are_rounded_once() {
    for (seed, spread) in [(1, 2), (2, 80), (3, 1000)] {
        let (x, y) = (numbers(3001, seed, spread), numbers(3001, seed + 50, spread));
        let sum = |of: &dyn Fn(BigInt, BigInt) -> BigInt| -> BigInt {
            x.iter().zip(&y).map(|(&x, &y)| of(units(x), units(y))).sum()
        };
        let squares = sum(&|x, y| (&x - &y) * (x - y));
        let found = double("rmse(x, y)", &x, &y);
        assert!(is_nearest(found, &squares, &BigInt::from(3001), -2148, true), "{found:e}");
        let (xx, xy, yy) = (sum(&|x, _| &x * &x), sum(&|x, y| x * y), sum(&|_, y| &y * &y));
        let found = double("cosine(x, y)", &x, &y);
        assert_eq!(found < 0.0, xy.sign() == Sign::Minus);
        assert!(is_nearest(found.abs(), &(&xy * &xy), &(xx * yy), 0, true), "{found:e}");
    }
    assert_eq!(one("rmse(x, y)", &[3i32, -4], &[0i64, 0]), Ok(Value::F64(12.5f64.sqrt())));
    assert_eq!(one("rmse(x, y)", &[3f32, 0.0], &[0f32, 0.0]), Ok(Value::F32(4.5f32.sqrt())));
    assert_eq!(double("cosine(x, y)", &[1e200, 0.0], &[1e-200, 0.0]), 1.0);
    assert!(double("cosine(x, y)", &[0.0], &[1.0]).is_nan());
    // Differences of infinities are told from differences with one.
    const INF: f64 = f64::INFINITY;
    assert!(double("rmse(x, y)", &[INF, 1.0], &[INF, 2.0]).is_nan());
    assert_eq!(double("rmse(x, y)", &[INF, 1.0], &[2.0, INF]), INF);
    assert_eq!(double("rmse(x, y)", &[INF, 1.0], &[-INF, 1.0]), INF);
    assert!(double("rmse(x, y)", &[f64::NAN], &[1.0]).is_nan());
    let error = one::<f64, f64>("rmse(x, y)", &[], &[]).expect_err("there is no mean");
    assert_eq!(error.to_string(), "rmse: no element is there; give one at least");
    let ignore = Policy { nan: Nan::Ignore, ..Policy::default() };
    let found =
        several(&["rmse(x, y)"], None, ignore, &[1.0, f64::NAN, 2.0], &[f64::NAN, 1.0, 5.0]);
    assert_eq!(found.expect("a reduction")[0], Ok(Output::One(Value::F64(3.0))));
}

/// Whether a weighted variance, or its root, is the nearest to that of exact integers.
fn check_variance(text: &str, x: &[f64], w: &[f64], ddof: u64, is_root: bool) {
    let found = double(text, x, w);
    let sum = |of: &dyn Fn(BigInt, BigInt) -> BigInt| -> BigInt {
        x.iter().zip(w).map(|(&x, &w)| of(units(x), units(w))).sum()
    };
    let (w0, w1) = (sum(&|_, w| w), sum(&|x, w| w * x));
    let w2 = sum(&|x, w| w * &x * x);
    let numerator = &w2 * &w0 - &w1 * &w1;
    let denominator: BigInt = &w0 * (&w0 - (BigInt::from(ddof) << 1074));
    assert!(is_nearest(found, &numerator, &denominator, -2148, is_root), "{text}: {found:e}");
}

#[test]
fn weighted_variances_are_rounded_once() {
    for (seed, spread) in [(1, 2), (2, 60), (3, 700)] {
        let x = numbers(2500, seed, spread);
        let w: Vec<f64> = numbers(2500, seed + 9, 30).iter().map(|w| w.abs()).collect();
        check_variance("var(x, weights=y)", &x, &w, 0, false);
        check_variance("std(x, weights=y)", &x, &w, 0, true);
        check_variance("var(x, weights=y, ddof=1)", &x, &w, 1, false);
    }
    // Squares that no f64 holds, or whose lower halves none holds.
    let x = [1e200, -3e200, 1e-170, 5e-324, 2e160, 0.0, -1e-200, 1.0];
    let w = [0.5, 1.0, 3.0, 2.0, 1e-300, 7.0, 1e100, 0.0];
    check_variance("var(x, weights=y)", &x, &w, 0, false);
    check_variance("var(x, weights=y)", &x[2..4], &w[2..4], 0, false);
    // f32, whose squares fit f64; integers, by hand: mean 7/4, squares 13/4 - 49/16.
    let x = [1.5f32, 2.5, -7.25];
    let w = [1f32, 2.0, 0.5];
    let (n, mean) = (3.5f64, (1.5 + 5.0 - 3.625) / 3.5);
    let expected = (2.25 + 12.5 + 26.28125) / n - mean * mean;
    assert_eq!(one("var(x, weights=y)", &x, &w), Ok(Value::F32(expected as f32)));
    assert_eq!(one("var(x, weights=y)", &[1u8, 2], &[1u16, 3]), Ok(Value::F64(3.0 / 16.0)));
    let far = [i64::MAX, i64::MIN, 0];
    let found = double("var(x, weights=y)", &far, &[i64::MAX, 1, 5]);
    let [a, b] = [i64::MAX, i64::MIN].map(BigInt::from);
    let (w0, w1) = (&a + 6, &a * &a + &b);
    let numerator = (&a * &a * &a + &b * &b) * &w0 - &w1 * &w1;
    assert!(is_nearest(found, &numerator, &(&w0 * &w0), 0, false));
    let error = |w: &[f64], text: &str| one(text, &[1.0, 2.0], w).expect_err("it has no value");
    assert_eq!(
        error(&[0.0, 0.0], "var(x, weights=y)"),
        Error::Empty { op: Op::Var, ignored: false }
    );
    assert_eq!(
        error(&[0.5, 0.5], "std(x, weights=y, ddof=1)"),
        Error::TooFew { op: Op::Std, n: 1, ddof: 1 }
    );
    assert!(error(&[1.0, -1.0], "var(x, weights=y)").to_string().contains("index 1: it is -1"));
    assert!(double("var(x, weights=y)", &[f64::INFINITY, 1.0], &[1.0, 1.0]).is_nan());
    assert!(double("var(x, weights=y)", &[f64::INFINITY, 1.0], &[0.0, 1.0]).is_nan());
    let ignore = Policy { nan: Nan::Ignore, ..Policy::default() };
    let found = several(&["var(x, weights=y)"], None, ignore, &[1.0, f64::NAN, 3.0], &[1.0; 3]);
    assert_eq!(found.expect("a reduction")[0], Ok(Output::One(Value::F64(1.0))));
    // The same by the options of one reduction, with a condition.
    let expressions = Expressions::value("x").and_then(|all| all.keep("x < 5")?.weights("y"));
    let types = [("x", DType::F64), ("y", DType::F64)];
    let map = Map::new(Op::Std, &expressions.unwrap(), &types, Policy::default()).unwrap();
    let folded = map.fold(&[HostArray::of(&[1.0, 9.0, 3.0]), HostArray::of(&[1.0, 1.0, 1.0])], 0);
    assert_eq!(map.finish(&folded.unwrap(), Finish::default()), Ok(Output::One(1f64.into())));
}

#[test]
fn logsumexp_is_the_same_in_any_order() {
    let close = |found: f64, expected: f64| {
        let most = 2f64.powi(-51) * expected.abs().max(1.0);
        assert!((found - expected).abs() <= most, "{found:e}, expected {expected:e}");
    };
    let of = |x: &[f64]| double("logsumexp(x)", x, x);
    close(of(&[0.0, 0.0]), std::f64::consts::LN_2);
    close(of(&[-1000.0]), -1000.0);
    close(of(&[1000.0, 1000.0, -1e9]), 1000.0 + std::f64::consts::LN_2);
    close(of(&[255.9, 256.1]), 256.1 + (1.0 + (-0.2f64).exp()).ln());
    close(of(&[1e300, -1e300, 5.0]), 1e300);
    close(of(&[3.0e15, 3.0e15 - 1.0]), 3.0e15 + (-1f64).exp().ln_1p());
    assert_eq!(of(&[f64::NEG_INFINITY, f64::NEG_INFINITY]), f64::NEG_INFINITY);
    assert_eq!(of(&[]), f64::NEG_INFINITY);
    assert_eq!(of(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]), f64::INFINITY);
    assert!(of(&[f64::INFINITY, f64::NAN]).is_nan());
    // Rows with masked scores, as attention has them; the sum of exact halves of terms in order of size is the reference.
    for spread in [2, 12, 22] {
        let mut x = numbers(30_000, spread, spread);
        x.iter_mut().step_by(7).for_each(|x| *x = -1e9);
        let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut terms: Vec<f64> = x.iter().map(|x| (x - most).exp()).collect();
        terms.sort_by(f64::total_cmp);
        let found = of(&x);
        // Of the reference's sum n - 1 roundings (Higham, 4.4), of each term that of its exponent and its own ulp; and an ulp of each logarithm.
        let bound = (x.len() + 4) as f64 * 2f64.powi(-53) + 2f64.powi(-51) * found.abs();
        assert!((found - (most + terms.iter().sum::<f64>().ln())).abs() <= bound);
        let backwards: Vec<f64> = x.iter().rev().copied().collect();
        assert_eq!(of(&backwards).to_bits(), found.to_bits());
        let map = Map::all(
            &["logsumexp(x)".parse().unwrap()],
            None,
            &[("x", DType::F64)],
            Policy::default(),
        );
        let map = map.unwrap();
        let mut folded = map.empty();
        for piece in x.chunks(777).rev() {
            folded.merge(&map.fold(&[HostArray::of(piece)], 0).unwrap());
        }
        assert_eq!(map.results(&folded, Finish::default())[0], Ok(Output::One(found.into())));
    }
    let narrow = one("logsumexp(x)", &[0.01f32, -90.0], &[0f32; 2]);
    assert_eq!(narrow, Ok(Value::F32(0.01)));
}

#[test]
fn an_initial_value_is_one_element_more() {
    let with = |op, text: &str, initial: Value, x: &[f64]| {
        let expressions = Expressions::value(text)?.initial(initial);
        let map = Map::new(op, &expressions, &[("x", DType::F64)], Policy::default())?;
        map.finish(&map.fold(&[HostArray::of(x)], 0)?, Finish::default())
    };
    let value = |x: f64| Ok(Output::One(Value::F64(x)));
    assert_eq!(with(Op::Sum, "x + 1", Value::F64(0.25), &[1.0, 2.0]), value(5.25));
    assert_eq!(with(Op::Sum, "x * x", Value::F64(-1e16), &[1e8, 1.0]), value(1.0));
    assert_eq!(with(Op::Prod, "x", Value::F64(-3.0), &[2.0, 4.0]), value(-24.0));
    assert_eq!(with(Op::Max, "x", Value::F64(7.0), &[]), value(7.0));
    assert_eq!(with(Op::Min, "x", Value::F64(-0.0), &[0.0]), value(-0.0));
    assert!(with(Op::Mean, "x", Value::F64(0.0), &[1.0]).is_err());
    assert!(with(Op::Sum, "x", Value::I64(0), &[1.0]).is_err());
}

#[test]
fn what_is_no_reduction_is_refused_in_a_line() {
    let refused = |text: &str| match text.parse::<Reduction>() {
        Err(error) => error.to_string(),
        Ok(reduction) => panic!("{reduction:?}"),
    };
    assert!(refused("x + 1").starts_with("x + 1: this is no reduction of an expression; say"));
    assert!(refused("add(x)").contains("`add` is no reduction; there are sum, mean"));
    assert!(refused("cosine(x)").contains("cosine takes two expressions, and here is one"));
    assert!(refused("sum(x, y)").contains("`y` is one expression more than it takes"));
    assert!(refused("sum(x, ddof=1)").contains("sum has no ddof"));
    assert!(refused("var(x, ddof=-1)").contains("ddof is `-1`"));
    assert!(refused("a\nb(x)").contains("`a\\nb` is no reduction"));
    assert!(!refused("sum(x, a\nb)").contains('\n'));
    assert!(!refused(&format!("var(x, ddof={})", "\n1".repeat(99))).contains('\n'));
    assert!(refused("dot(x, y)").contains("`dot` is no reduction"));
    assert!(refused("sum(x").contains("this is no reduction"));
    assert!(refused(&format!("sum({})", "x+".repeat(9000))).contains("10000 are read"));
    let typed = |text: &str| one(text, &[1.0f32], &[1i64]).expect_err("types differ").to_string();
    assert!(typed("rmse(x, y)").contains("`x` is f32 and `y` is i64"));
    assert!(typed("var(x, weights=y)").starts_with("weights: `y` is i64 and `x` is f32"));
    assert!(typed("argmax(x, weights=x)").contains("take sum, mean, var or std"));
    assert!(typed("cosine(x * x, x)").contains("say `rounded(x * x)`"));
    let none = Map::all(&[], None, &[], Policy::default()).expect_err("nothing is asked for");
    assert!(none.to_string().contains("name a reduction"));
    let quoted: Reduction = "sum(\"a, b\" * 2)".parse().expect("a name in quotes has a comma");
    assert_eq!(Map::names(&[quoted], Some("c > 0")).unwrap(), ["a, b", "c"]);
    let built = Reduction::new(Measure::Rmse, "x, y").expect("it is a reduction");
    assert_eq!(built.name(), "rmse(x, y)");
}

/// What logsumexp and weighted variances leave out of their own sums, other results of the same values keep.
#[test]
fn results_of_shared_values_do_not_touch_one_another() {
    let far = [300.0, 1.0, f64::NAN, -2000.0];
    let small = [1e-150, 3e-150, 1e300, 2.0];
    let weights = [1.0, 1e-300, 3.0, 2e200];
    for (texts, x) in [
        (&["sum(exp(x))", "logsumexp(x)", "max(exp(x))"][..], &far[..2]),
        (&["sum(exp(x))", "logsumexp(x)"], &far[..]),
        (&["logsumexp(x)", "sum(exp(x))"], &[1.0, -2000.0, 700.0]),
        (&["max(rounded(x*x))", "var(x, weights=y)", "std(x, weights=abs(y) + 1)"], &small[..2]),
        (&["var(x, weights=y)", "var(x, weights=y * 0.5)", "min(rounded(x*x))"], &small[..]),
    ] {
        let y = &weights[..x.len()];
        for keep in [None, Some("x == x")] {
            let all = several(texts, keep, Policy::default(), x, y).expect("they are reductions");
            for (k, text) in texts.iter().enumerate() {
                let alone = several(&[text], keep, Policy::default(), x, y).expect("it is one");
                assert_eq!(format!("{:?}", all[k]), format!("{:?}", alone[0]), "{text} of {x:?}");
            }
        }
    }
}

/// Weights of one are no weights: infinities count where NaNs are ignored, and fast sums take nothing from a variance.
#[test]
fn variances_with_weights_of_one_are_those_without() {
    let cases: [&[f64]; 4] =
        [&[1.0, f64::INFINITY, 2.0, f64::NAN], &[0.1; 17], &[0.7; 3000], &[1.0, -5.0, 1e9]];
    for x in cases {
        let ones = vec![1.0; x.len()];
        for nan in [Nan::Propagate, Nan::Ignore] {
            for accuracy in [warpfold_num::Accuracy::Exact, warpfold_num::Accuracy::Fast] {
                let policy = Policy { nan, accuracy, ..Policy::default() };
                let weighted = several(&["var(x, weights=y)"], None, policy, x, &ones);
                let exact = Policy { accuracy: warpfold_num::Accuracy::Exact, ..policy };
                let plain = several(&["var(x)"], None, exact, x, &ones);
                let value = |found: Result<Results>| format!("{:?}", found.expect("it is one")[0]);
                assert_eq!(value(weighted), value(plain), "{policy:?} of {x:?}");
            }
        }
    }
}

/// An input is known by a number of one byte: more are refused, and none stands for another.
#[test]
fn more_inputs_than_a_reading_takes_are_refused() {
    let names: Vec<String> = (0..300).map(|k| format!("c{k}")).collect();
    let inputs: Vec<(&str, DType)> = names.iter().map(|name| (&**name, DType::F64)).collect();
    let sums = |of: std::ops::Range<usize>| -> Vec<Reduction> {
        let sum = |k: usize| {
            let terms: Vec<String> = (k * 8..k * 8 + 8).map(|k| format!("c{k}")).collect();
            format!("sum({})", terms.join(" + ")).parse().expect("it is a reduction")
        };
        of.map(sum).collect()
    };
    let x: Vec<Vec<f64>> = (0..300).map(|k| vec![f64::from(k)]).collect();
    let arrays: Vec<HostArray<'_>> = x.iter().map(|x| HostArray::of(x)).collect();
    let map = Map::all(&sums(0..32), None, &inputs, Policy::default()).expect("256 inputs");
    let results = map.results(&map.fold(&arrays, 0).expect("one element"), Finish::default());
    assert_eq!(results[31], Ok(Output::One(Value::F64((248..256).sum::<i32>().into()))));
    let error = Map::all(&sums(0..34), None, &inputs, Policy::default()).expect_err("too many");
    assert!(error.to_string().contains("256"), "{error}");
}

#[test]
fn options_that_are_there_twice_are_refused() {
    for text in ["var(x, ddof=1, ddof=0)", "mean(x, weights=y, weights=x)"] {
        let error = text.parse::<Reduction>().expect_err("which one is meant?").to_string();
        assert!(error.contains("twice"), "{error}");
    }
}

#[test]
fn corrections_are_those_of_variances() {
    let expressions = Expressions::value("x * y").expect("it is an expression");
    let inputs = [("x", DType::F64), ("y", DType::F64)];
    let map = Map::new(Op::Sum, &expressions, &inputs, Policy::default()).expect("a sum");
    let folded = map.fold(&[HostArray::of(&[1.0]), HostArray::of(&[2.0])], 0).expect("one pair");
    assert!(matches!(map.finish_corrected(&folded, 0.5, None), Err(Error::Map { .. })));
}
