//! Operators as text beside the same ones in Rust: the same bits.

use warpfold::custom::{Operator, fold};
use warpfold::map::HostArray;
use warpfold::random::word;
use warpfold::{DType, Policy, Value};
use warpfold_engine::operator::{self as text, Written};

use crate::operators::{Best, Matrices, MaxPlus, Moments, PRIME, Rotations, Welford};

/// Moments by merges alone, as a text has them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Merges;

impl Operator for Merges {
    type Element = f64;
    type State = Moments;
    type Output = Moments;

    fn lift(&self, x: f64, index: u64) -> Moments {
        Welford.lift(x, index)
    }

    fn merge(&self, a: Moments, b: Moments) -> Moments {
        Welford.merge(a, b)
    }

    fn finish(&self, all: Moments) -> Moments {
        all
    }

    fn is_same(&self, a: &Moments, b: &Moments) -> bool {
        Welford.is_same(a, b)
    }
}

const SIZES: [usize; 6] = [1, 33, 1025, 8192, 65_537, 100_003];

fn numbers(n: usize) -> impl Iterator<Item = u64> {
    (0..n as u64).map(|at| word(3, at) >> 33)
}

fn fractions(n: usize, salt: u64) -> Vec<f64> {
    (0..n as u64).map(|at| word(salt, at) as f64 / u64::MAX as f64 * 3.0 - 1.0).collect()
}

/// What a text's operator makes of arrays, by their names.
fn found(written: &Written<'_>, inputs: &[(&str, HostArray<'_>)]) -> Vec<Value> {
    let types: Vec<(&str, DType)> =
        inputs.iter().map(|(name, array)| (*name, array.dtype())).collect();
    let operator = text::Operator::parse(written).and_then(|operator| operator.typed(&types));
    let operator = operator.unwrap_or_else(|error| panic!("{error}"));
    let arrays: Vec<HostArray<'_>> = inputs.iter().map(|(_, array)| *array).collect();
    text::fold(&operator, &arrays, Policy::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn moments() {
    let written = Written::new(
        "n: f64, mean: f64, squares: f64",
        "1, x, 0",
        "a.n + b.n,
         a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)),
         a.squares + b.squares + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * b.n / (a.n + b.n))",
    );
    for n in SIZES {
        let x = fractions(n, 1);
        let Moments { n: count, mean, squares } = fold(&x, Merges).expect("there are some");
        let wanted = [count, mean, squares].map(Value::F64);
        assert_eq!(found(&written, &[("x", HostArray::of(&x))]), wanted, "{n}");
    }
}

#[test]
fn sums_of_consecutive_elements() {
    let written = Written {
        finish: Some("anywhere"),
        ..Written::new(
            "all: i64, left: i64, right: i64, anywhere: i64",
            "x, x, x, x",
            "a.all + b.all, max(a.left, a.all + b.left), max(b.right, b.all + a.right), max(max(a.anywhere, b.anywhere), a.right + b.left)",
        )
    };
    for n in SIZES {
        let x: Vec<i64> = numbers(n).map(|k| (k % 1001) as i64 - 500).collect();
        let wanted = fold(&x, MaxPlus).map(Value::I64);
        assert_eq!(Some(found(&written, &[("x", HostArray::of(&x))])[0]), wanted, "{n}");
    }
}

#[test]
fn matrices_and_rotations() {
    let cell = |i: usize, j: usize| format!("(a.m{i}0 * b.m0{j} + a.m{i}1 * b.m1{j}) % {PRIME}");
    let merge = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| cell(i, j)).join(", ");
    let matrices = Written::new("m00: u64, m01: u64, m10: u64, m11: u64", "p, q, r, s", &merge);
    let rotations = Written {
        tolerance: 1e-6,
        ..Written::new(
            "a: f64, b: f64, c: f64, d: f64",
            "p, q, r, s",
            "a.a * b.a - a.b * b.b - a.c * b.c - a.d * b.d,
             a.a * b.b + a.b * b.a + a.c * b.d - a.d * b.c,
             a.a * b.c - a.b * b.d + a.c * b.a + a.d * b.b,
             a.a * b.d + a.b * b.c - a.c * b.b + a.d * b.a",
        )
    };
    for n in SIZES {
        let x: Vec<[u64; 4]> =
            numbers(n).map(|k| [k % PRIME, 1, k % 17, (k / 3) % PRIME]).collect();
        let [p, q, r, s] = [0, 1, 2, 3].map(|k| x.iter().map(|x| x[k]).collect::<Vec<u64>>());
        let inputs = [("p", &p), ("q", &q), ("r", &r), ("s", &s)];
        let inputs = inputs.map(|(name, array)| (name, HostArray::of(array)));
        let elements: Vec<_> = x.iter().map(|[p, q, r, s]| [[*p, *q], [*r, *s]]).collect();
        let wanted = fold(&elements, Matrices).expect("there are some");
        let wanted = [wanted[0][0], wanted[0][1], wanted[1][0], wanted[1][1]].map(Value::U64);
        assert_eq!(found(&matrices, &inputs), wanted, "{n}");

        // Of length 1, so that products neither grow nor vanish.
        let turns: Vec<[f64; 4]> = fractions(n, 2)
            .into_iter()
            .map(|t| [t.cos(), t.sin() * 0.6, t.sin() * 0.8 * t.cos(), t.sin() * 0.8 * t.sin()])
            .collect();
        let [p, q, r, s] = [0, 1, 2, 3].map(|k| turns.iter().map(|x| x[k]).collect::<Vec<f64>>());
        let inputs = [("p", &p), ("q", &q), ("r", &r), ("s", &s)];
        let inputs = inputs.map(|(name, array)| (name, HostArray::of(array)));
        let wanted = fold(&turns, Rotations).expect("there are some").map(Value::F64);
        assert_eq!(found(&rotations, &inputs), wanted, "{n}");
    }
}

#[test]
fn the_first_of_the_largest() {
    let written = Written::new(
        "key: i64, index: u64, payload: u64",
        "key, index, payload",
        "max(a.key, b.key), select(b.key > a.key, b.index, a.index), select(b.key > a.key, b.payload, a.payload)",
    );
    for n in SIZES {
        let x: Vec<(i32, u16)> = numbers(n).map(|k| ((k % 997) as i32, (k / 7) as u16)).collect();
        let (keys, payloads): (Vec<i32>, Vec<u16>) = x.iter().copied().unzip();
        let inputs = [("key", HostArray::of(&keys)), ("payload", HostArray::of(&payloads))];
        let best = fold(&x, Best).expect("there are some");
        let wanted =
            [Value::I64(best.key.into()), Value::U64(best.index), Value::U64(best.payload.into())];
        assert_eq!(found(&written, &inputs), wanted, "{n}");
    }
}
