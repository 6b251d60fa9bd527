//! Maps whose values are made of the inputs while they are folded, of arrays that are many blocks long, against one element after the other.

use warpfold_engine::HostArray;
use warpfold_engine::map;
use warpfold_engine::map::{Expr, Expressions, Map};
use warpfold_exact::Exact;
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{DType, Error, Op, Policy, Value};

/// More than four blocks of f32.
const N: usize = 150_001;

/// From -1 to 1, some a hundred times as large, some zero.
fn numbers(seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    };
    let mut number = |k: usize| match k % 1000 {
        3 => 0.0,
        size => (next() as f64 / (1u64 << 52) as f64 - 1.0) * if size == 7 { 100.0 } else { 1.0 },
    };
    (0..N).map(&mut number).collect()
}

fn folded(op: Op, value: Expr, arrays: &[(&str, HostArray<'_>)], threads: usize) -> Value {
    let types: Vec<(&str, DType)> = arrays.iter().map(|(name, x)| (*name, x.dtype())).collect();
    let inputs: Vec<HostArray<'_>> = arrays.iter().map(|(_, array)| *array).collect();
    let policy = Policy { threads: Some(threads), ..Policy::default() };
    let map = Map::new(op, &Expressions::of(value), &types, policy).expect("it suits the types");
    let folded = map.fold(&inputs, 0).expect("every element has a value");
    match map.finish(&folded, Finish::default()) {
        Ok(Output::One(value)) => value,
        other => panic!("{other:?}"),
    }
}

macro_rules! check {
    ($ty:ident, $x:expr, $y:expr) => {{
        let x: Vec<$ty> = $x.iter().map(|&x| x as $ty).collect();
        let y: Vec<$ty> = $y.iter().map(|&x| x as $ty).collect();
        let arrays = [("x", HostArray::of(&x)), ("y", HostArray::of(&y))];
        let text = |text: &str| Expr::parse(text).expect("it is one");
        let cases: [(Expr, fn($ty, $ty) -> $ty); 5] = [
            (text("abs(x - y)"), |x, y| (x - y).abs()),
            (map!(|x: $ty, y: $ty| abs(x - y)).expect("it is one"), |x, y| (x - y).abs()),
            (text("x - y"), |x, y| x - y),
            (text("abs(x)"), |x, _| x.abs()),
            (map!(|x: $ty, y: $ty| x * x - y / 3).expect("it is one"), |x, y| x * x - y / 3.0),
        ];
        for (expr, of) in cases {
            let values: Vec<$ty> = x.iter().zip(&y).map(|(&x, &y)| of(x, y)).collect();
            let mut sum = Exact::<$ty>::new();
            values.iter().for_each(|&value| sum.add(value));
            let greatest =
                values.iter().fold(values[0], |a, &b| if b > a || b.is_nan() { b } else { a });
            let place =
                values.iter().position(|&x| x == greatest || x.is_nan() && greatest.is_nan());
            let arrays = &arrays[..expr.names().len()];
            for threads in [1, 2] {
                let value = folded(Op::Sum, expr.clone(), arrays, threads);
                assert_eq!(value, sum.round().into(), "{}", expr.text());
                let found = folded(Op::ArgMax, expr.clone(), arrays, threads);
                assert_eq!(found, (place.expect("it is there") as u64).into(), "{}", expr.text());
            }
        }
    }};
}

#[test]
fn values_are_those_of_each_element() {
    let (mut x, y) = (numbers(1), numbers(2));
    check!(f64, x, y);
    check!(f32, x, y);
    // Far outside what came before, and what is not finite.
    x[90_000] = 2f64.powi(60);
    x[140_000] = -2f64.powi(-90);
    check!(f64, x, y);
    check!(f32, x, y);
    x[99_999] = f64::INFINITY;
    check!(f64, x, y);
    check!(f32, x, y);
}

#[test]
fn bad_weights_are_named_in_long_arrays() {
    let (x, mut w) = (numbers(1), vec![0.5f64; N]);
    for (index, weight) in [(N - 1, -0.5), (90_000, f64::NAN), (70_001, -1e-300)] {
        w[index] = weight;
        let mean = "mean(x, weights=w)".parse().expect("it is a reduction");
        let policy = Policy { threads: Some(1), ..Policy::default() };
        let map = Map::all(&[mean], None, &[("x", DType::F64), ("w", DType::F64)], policy);
        let map = map.expect("it suits the types");
        match map.fold(&[HostArray::of(&x), HostArray::of(&w)], 0) {
            Err(Error::Map { requested, .. }) => {
                assert_eq!(requested, format!("the weight at index {index}"));
            }
            other => panic!("{other:?}"),
        }
    }
}
