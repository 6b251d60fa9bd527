//! Maps against exact arithmetic, element by element, and against loops of plain Rust.

use num_bigint::BigInt;
use proptest::prelude::*;
use warpfold_engine::map::{Expressions, Map};
use warpfold_engine::{HostArray, Request, output};
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{DType, Error, Nan, Op, Policy, Value};

/// The result of a map of two arrays called x and y.
fn mapped<T: warpfold_num::Element, U: warpfold_num::Element>(
    op: Op,
    value: &str,
    keep: Option<&str>,
    weights: Option<&str>,
    policy: Policy,
    x: &[T],
    y: &[U],
) -> Result<Output, Error> {
    let mut expressions = Expressions::value(value)?;
    if let Some(keep) = keep {
        expressions = expressions.keep(keep)?;
    }
    if let Some(weights) = weights {
        expressions = expressions.weights(weights)?;
    }
    let map = Map::new(op, &expressions, &[("x", T::DTYPE), ("y", U::DTYPE)], policy)?;
    let folded = map.fold(&[HostArray::of(x), HostArray::of(y)], 0)?;
    map.finish(&folded, Finish::default())
}

fn one<T: warpfold_num::Element, U: warpfold_num::Element>(
    op: Op,
    value: &str,
    x: &[T],
    y: &[U],
) -> Value {
    match mapped(op, value, None, None, Policy::default(), x, y) {
        Ok(Output::One(value)) => value,
        other => panic!("{value}: {other:?}"),
    }
}

/// Numbers of all magnitudes from a counter.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    };
    (0..n)
        .map(|_| (next() as f64 / (1u64 << 52) as f64 - 1.0) * 2f64.powi((next() % 60) as i32 - 30))
        .collect()
}

/// A float as an integer of units of 2^-1074.
fn exact(x: f64) -> BigInt {
    let (bits, sign) = (x.abs().to_bits(), if x < 0.0 { -1 } else { 1 });
    let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    (BigInt::from(significand) * sign) << (exponent.max(1) - 1)
}

/// The nearest f64 of so many units of 2^-1074.
fn nearest(units: &BigInt) -> f64 {
    let bits = units.magnitude().bits() as i64;
    let shift = (bits - 80).max(0);
    // Eighty bits with what was cut off stuck to the last: rounded once by way of two parts.
    let cut = units.magnitude() >> shift;
    let sticky = (&cut << shift) != *units.magnitude();
    let cut = u128::try_from(cut).expect("80 bits") | u128::from(sticky);
    let value = cut as f64;
    let scaled = value * 2f64.powi((shift - 1074 + 500) as i32) * 2f64.powi(-500);
    if units.sign() == num_bigint::Sign::Minus { -scaled } else { scaled }
}

#[test]
fn sums_of_mapped_values_are_exact() {
    for n in [0, 1, 5, 1023, 1024, 1025, 40_000, 600_001] {
        let (x, y) = (numbers(n, 1), numbers(n, 2));
        let expected: BigInt = x.iter().zip(&y).map(|(x, y)| exact((x - y).abs())).sum();
        assert_eq!(one(Op::Sum, "abs(x - y)", &x, &y), Value::F64(nearest(&expected)), "{n}");
        for threads in [1, 3] {
            let policy = Policy { threads: Some(threads), ..Policy::default() };
            let again = mapped(Op::Sum, "abs(x - y)", None, None, policy, &x, &y);
            assert_eq!(again, Ok(Output::One(Value::F64(nearest(&expected)))));
        }
    }
}

#[test]
fn a_product_at_the_top_is_not_rounded() {
    let x = [1e16, 1.0, -1e16];
    let y = [1.0 + f64::EPSILON, 3.0, 1.0];
    // 1e16 + 1e16 eps + 3 - 1e16.
    let exact = 1e16 * f64::EPSILON + 3.0;
    assert_eq!(one(Op::Sum, "x * y", &x, &y), Value::F64(exact));
    assert_eq!(one(Op::Sum, "(x * y)", &x, &y), Value::F64(exact));
    // Rounded, the first product is 1e16 + 2.
    assert_eq!(one(Op::Sum, "rounded(x * y)", &x, &y), Value::F64(5.0));
    // Means of products divide the exact sum.
    assert_eq!(
        one(Op::Mean, "x * y", &[1.0f64, 0.1], &[1.0, 0.1]),
        Value::F64((1.0 + 0.1f64 * 0.1) / 2.0)
    );
    // Integer products do not overflow on the way.
    let (a, b) = ([i64::MAX, i64::MIN + 1], [i64::MAX, i64::MAX]);
    assert_eq!(one(Op::Sum, "x * y", &a, &b), Value::I64(0));
    assert!(matches!(
        mapped(Op::Max, "x * y", None, None, Policy::default(), &a, &b),
        Err(Error::Map { .. })
    ));
    for op in [Op::Var, Op::L2, Op::ArgMax, Op::Count, Op::Prod, Op::Stats] {
        let error =
            mapped(op, "x * y", None, None, Policy::default(), &x, &y).expect_err("it is refused");
        assert!(error.to_string().contains("rounded(x * y)"), "{error}");
    }
    assert_eq!(one(Op::Max, "x * y", &x, &y), Value::F64(1e16 * (1.0 + f64::EPSILON)));
}

#[test]
fn what_a_mask_leaves_out_is_not_there() {
    let x = [f64::NAN, 2.0, -0.0, 7.0, f64::INFINITY, 4.0];
    let y = [0i64, 1, 1, 1, 0, i64::MIN];
    let kept = |op, value: &str, keep: &str| {
        mapped(op, value, Some(keep), None, Policy::default(), &x, &y)
    };
    assert_eq!(kept(Op::Sum, "x", "y == 1"), Ok(Output::One(Value::F64(9.0))));
    assert_eq!(kept(Op::Mean, "x", "y == 1"), Ok(Output::One(Value::F64(3.0))));
    assert_eq!(kept(Op::ArgMax, "x", "y != 0"), Ok(Output::One(Value::U64(3))));
    assert_eq!(kept(Op::ArgMin, "x", "y == 1"), Ok(Output::One(Value::U64(2))));
    assert_eq!(kept(Op::ArgMax, "x", "true"), Ok(Output::One(Value::U64(0))), "the first NaN");
    assert_eq!(kept(Op::Count, "x > 3", "y == 1"), Ok(Output::One(Value::U64(1))));
    // Neither is an operation without a value.
    assert_eq!(kept(Op::Sum, "abs(y)", "y > 0"), Ok(Output::One(Value::I64(3))));
    assert_eq!(kept(Op::Sum, "10 // y", "y > 0"), Ok(Output::One(Value::I64(30))));
    let error = kept(Op::Sum, "abs(y)", "y < 0").expect_err("i64 has no such magnitude");
    assert_eq!(
        error.to_string(),
        "`abs(y)` at index 5: i64 does not hold 9223372036854775808; compute with f64(…), or leave the element out by a condition"
    );
    let error = kept(Op::Sum, "10 // y", "true").expect_err("division by zero");
    assert!(error.to_string().starts_with("`10 // y` at index 0: the divisor is 0"), "{error}");
    assert_eq!(kept(Op::Max, "x", "false"), Err(Error::Empty { op: Op::Max, ignored: false }));
    let Ok(Output::Summary(stats)) = kept(Op::Stats, "x", "y == 1") else { panic!("stats") };
    assert_eq!((stats.count, stats.argmin, stats.argmax), (3, Some(2), Some(3)));
}

#[test]
fn weighted_means_are_rounded_once() {
    let (x, w) = (numbers(3001, 5), numbers(3001, 6).iter().map(|w| w.abs()).collect::<Vec<_>>());
    let found = mapped(Op::Mean, "x", None, Some("y"), Policy::default(), &x, &w);
    // Exact numerator and denominator, divided in 2200 bits.
    let numerator: BigInt = x.iter().zip(&w).map(|(x, w)| exact(*x) * exact(*w)).sum();
    let denominator: BigInt = w.iter().map(|w| exact(*w)).sum();
    let quotient: BigInt = (&numerator << 200) / denominator;
    assert_eq!(found, Ok(Output::One(Value::F64(nearest(&quotient) * 2f64.powi(-200)))));
    let with = |w: &[f64]| {
        mapped(Op::Mean, "x", None, Some("y"), Policy::default(), &[1.0, 5.0, f64::NAN], w)
    };
    assert!(matches!(with(&[1.0, -1.0, 1.0]), Err(Error::Map { .. })));
    assert!(matches!(with(&[1.0, f64::INFINITY, 1.0]), Err(Error::Map { .. })));
    assert!(matches!(with(&[1.0, 1.0, f64::NAN]), Err(Error::Map { .. })));
    assert!(matches!(with(&[1.0, 1.0, 1.0]), Ok(Output::One(Value::F64(mean))) if mean.is_nan()));
    let policy = Policy { nan: Nan::Ignore, ..Policy::default() };
    assert_eq!(
        mapped(Op::Mean, "x", None, Some("y"), policy, &[1.0, 5.0, f64::NAN], &[3.0, 1.0, 9.0]),
        Ok(Output::One(Value::F64(2.0)))
    );
    assert_eq!(
        mapped(Op::Mean, "x", None, Some("y"), policy, &[1.0, 5.0], &[0.0, 0.0]),
        Err(Error::Empty { op: Op::Mean, ignored: false })
    );
    // Whole numbers as weights.
    assert_eq!(
        mapped(Op::Mean, "x", None, Some("y"), policy, &[1u8, 2], &[1u64, 3]),
        Ok(Output::One(Value::F64(1.75)))
    );
}

#[test]
fn every_type_is_computed_in_its_own() {
    use warpfold_num::{bf16, f16};
    let h = [1.5, 2.0].map(f16::from_f32);
    let b = [0.5, 4.0].map(bf16::from_f32);
    assert_eq!(one(Op::Sum, "x + y", &h, &b), Value::F32(8.0));
    assert_eq!(one(Op::Max, "x * x", &[-7i8, 3], &[0i8, 0]), Value::I64(49));
    assert_eq!(one(Op::Sum, "x - y", &[7u32, 3], &[2u32, 3]), Value::U64(5));
    let error = mapped(Op::Sum, "x - y", None, None, Policy::default(), &[7u32, 3], &[2u32, 4])
        .expect_err("below zero");
    assert!(error.to_string().starts_with("`x - y` at index 1: u64 does not hold -1"), "{error}");
    assert_eq!(one(Op::Count, "x and not y", &[true, true], &[false, true]), Value::U64(1));
    assert_eq!(one(Op::Sum, "i64(x) + y", &[true, true], &[5i16, -9]), Value::I64(-2));
    assert_eq!(one(Op::Sum, "f64(x) / y", &[1i32, 3], &[4.0, 4.0]), Value::F64(1.0));
    for (value, column) in [("x + y", 1), ("abs(x) + y", 1), ("1 + (x > 0)", 1)] {
        let error = mapped(Op::Sum, value, None, None, Policy::default(), &[1.0f32], &[1i32])
            .expect_err("of two types");
        assert!(
            error.to_string().starts_with(&format!("map, column {column}: ")),
            "{value}: {error}"
        );
    }
    assert!(
        Map::new(
            Op::Sum,
            &Expressions::value("x").unwrap(),
            &[("x", DType::Complex64)],
            Policy::default()
        )
        .is_err()
    );
}

proptest! {
    /// A map of random operations against the same in plain Rust, one element after another.
    #[test]
    fn tiles_compute_what_rust_computes(
        x in proptest::collection::vec(any::<f32>(), 1..2500),
        seed in any::<u64>(),
    ) {
        let y: Vec<f32> = x.iter().enumerate().map(|(k, _)| f32::from_bits((seed >> (k % 33)) as u32)).collect();
        type Plain = fn(f32, f32) -> f32;
        let cases: [(&str, Plain); 7] = [
            ("x + y * 3", |x, y| x + y * 3.0),
            ("sqrt(abs(x)) / (y - 0.1)", |x, y| x.abs().sqrt() / (y - 0.1)),
            ("select(x < y, floor(x), -y)", |x, y| if x < y { x.floor() } else { -y }),
            ("fma(x, y, 2)", |x, y| x.mul_add(y, 2.0)),
            ("f32(f64(x) + f64(y))", |x, y| (f64::from(x) + f64::from(y)) as f32),
            ("f32(i64(x)) + round(y)", |x, y| (x as i64) as f32 + y.round_ties_even()),
            ("select(isnan(x) or x == y, 1, x - y)", |x, y| if x.is_nan() || x == y { 1.0 } else { x - y }),
        ];
        for (text, plain) in cases {
            // Where the bits of each element show: the index and value of the largest of a few.
            let values: Vec<f32> = x.iter().zip(&y).map(|(&x, &y)| plain(x, y)).collect();
            for op in [Op::Sum, Op::Max, Op::Min, Op::ArgMax] {
                let direct = warpfold_engine::output(&warpfold_engine::Request::new(op, HostArray::of(&values)), Finish::default());
                let found = mapped(op, text, None, None, Policy::default(), &x, &y);
                let bits = |output: Result<Output, Error>| match output {
                    Ok(Output::One(Value::F32(value))) => Ok(u64::from(value.to_bits())),
                    Ok(Output::One(Value::U64(index))) => Ok(index),
                    other => Err(format!("{other:?}")),
                };
                prop_assert_eq!(bits(found), bits(direct), "{} of {}", op, text);
            }
        }
    }

    /// No text makes the parser do anything but answer or refuse in one line.
    #[test]
    fn any_text_is_read_or_refused(text in "[-+*/%<>=!&|^~().,0-9a-zxy_ \u{e9}\u{2212}\"`]{0,60}") {
        match Expressions::value(&text) {
            Ok(expressions) => {
                let inputs: Vec<_> = expressions.names().into_iter().map(|name| (name, DType::F64)).collect();
                if let Err(error) = Map::new(Op::Sum, &expressions, &inputs, Policy::default()) {
                    prop_assert!(!error.to_string().contains('\n'));
                }
            }
            Err(error) => prop_assert!(error.to_string().starts_with("map, column ") && !error.to_string().contains('\n'), "{error}"),
        }
    }
}

#[test]
fn hostile_texts_are_refused_with_the_column() {
    let refused = |text: &str| Expressions::value(text).expect_err("it is refused").to_string();
    assert!(
        refused(&"x+".repeat(500_000))
            .starts_with("map, column 10001: the text has 1000000 characters")
    );
    assert!(
        refused(&format!("{}x{}", "(".repeat(300), ")".repeat(300)))
            .contains("more than 64 brackets")
    );
    assert!(refused(&"-".repeat(5000)).contains("more than 64"));
    assert!(refused(&format!("x{}", "+x".repeat(400))).contains("256 are allowed"));
    assert!(
        refused("abs(x) + sinh(y)")
            .starts_with("map, column 10: `sinh` is no function; nearest: `sin`")
    );
    assert_eq!(refused("sqr(x)"), "map, column 1: `sqr` is no function; nearest: `sqrt`");
    assert_eq!(
        refused("x \u{2212} y"),
        "map, column 3: `\u{2212}` has no meaning here; write the minus sign as -"
    );
    assert_eq!(
        refused("x +"),
        "map, column 4: the text ends where a value should stand; add a number, an input or a function"
    );
    assert!(refused("0 < x < 1").contains("cannot be chained"));
    assert!(refused("x = 1").contains("say == to compare"));
    assert!(refused("1.2.3").contains("`1.2.3` is no number"));
    assert!(refused("").contains("the text ends"));
    assert!(refused("a+b+c+d+e+f+g+h+i").contains("8 are allowed"));
}

/// What a condition drops leaves its leaf of a product's tree empty, as a one does: closing the gaps would multiply in another order.
#[test]
fn products_keep_the_places_of_what_is_left_out() {
    // From 1 - 2^-7 to 1 + 2^-7, so that no product is infinite.
    let x: Vec<f64> = (0..300_001u32)
        .map(|k| f64::from(k.wrapping_mul(2_654_435_761) >> 8) * 2f64.powi(-30) + 0.992_187_5)
        .collect();
    let ones: Vec<f64> = x.iter().map(|&x| if x >= 0.996 { x } else { 1.0 }).collect();
    let expressions = Expressions::value("x").unwrap().keep("x >= 0.996").unwrap();
    let map = Map::new(Op::Prod, &expressions, &[("x", DType::F64)], Policy::default()).unwrap();
    for n in (1..=40).map(|k| k * 997).chain([x.len()]) {
        let folded = map.fold(&[HostArray::of(&x[..n])], 0).unwrap();
        let request = Request::new(Op::Prod, HostArray::of(&ones[..n]));
        let expected = output(&request, Finish::default()).unwrap();
        let Output::One(Value::F64(product)) = expected else { panic!("{expected:?}") };
        assert!(product.is_normal(), "{product} of {n}");
        assert_eq!(map.finish(&folded, Finish::default()).unwrap(), expected, "{n}");
    }
}
