//! Random expressions of two numbers, as text and in plain Rust.
#![allow(unreachable_pub, reason = "several tests share it")]

use proptest::prelude::*;

/// An expression of x, y and constants.
#[derive(Debug, Clone)]
pub enum Tree {
    X,
    Y,
    Constant(f64),
    Call(&'static str, fn(f64) -> f64, Box<Tree>),
    Sign(&'static str, fn(f64, f64) -> f64, Box<Tree>, Box<Tree>),
    Less(Box<Tree>, Box<Tree>, Box<Tree>, Box<Tree>),
    Fma(Box<Tree>, Box<Tree>, Box<Tree>),
}

impl Tree {
    /// As it is parsed.
    pub fn text(&self) -> String {
        match self {
            Tree::X => "x".into(),
            Tree::Y => "y".into(),
            // As a value of its own type, which constants alone would not be.
            Tree::Constant(c) => format!("({c:?} + x * 0)"),
            Tree::Call(name, _, a) => format!("{name}({})", a.text()),
            Tree::Sign(sign, _, a, b) => format!("({} {sign} {})", a.text(), b.text()),
            Tree::Less(a, b, c, d) => {
                let [a, b, c, d] = [a, b, c, d].map(|tree| tree.text());
                format!("select({a} < {b}, {c}, {d})")
            }
            Tree::Fma(a, b, c) => {
                let [a, b, c] = [a, b, c].map(|tree| tree.text());
                format!("fma({a}, {b}, {c})")
            }
        }
    }

    /// In plain Rust.
    pub fn value(&self, x: f64, y: f64) -> f64 {
        match self {
            Tree::X => x,
            Tree::Y => y,
            Tree::Constant(c) => c + x * 0.0,
            Tree::Call(_, f, a) => f(a.value(x, y)),
            Tree::Sign(_, f, a, b) => f(a.value(x, y), b.value(x, y)),
            Tree::Less(a, b, c, d) => {
                let is_less = a.value(x, y) < b.value(x, y);
                if is_less { c.value(x, y) } else { d.value(x, y) }
            }
            Tree::Fma(a, b, c) => a.value(x, y).mul_add(b.value(x, y), c.value(x, y)),
        }
    }
}

/// A function of one number: its name in expressions, and in Rust.
pub type Call = (&'static str, fn(f64) -> f64);

/// Those that are rounded once wherever they run.
pub const ARITHMETIC: &[Call] = &[
    ("abs", f64::abs),
    ("sqrt", f64::sqrt),
    ("floor", f64::floor),
    ("round", f64::round_ties_even),
    ("-", |x| -x),
];

/// Random expressions, with calls of such functions.
pub fn tree(calls: Vec<Call>) -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        3 => Just(Tree::X),
        3 => Just(Tree::Y),
        1 => (-100..100i32).prop_map(|k| Tree::Constant(f64::from(k) / 8.0)),
    ];
    leaf.prop_recursive(5, 24, 4, move |inner| {
        let call = proptest::sample::select(calls.clone());
        let sign = prop_oneof![
            Just(("+", (|a, b| a + b) as fn(f64, f64) -> f64)),
            Just(("-", (|a, b| a - b) as fn(f64, f64) -> f64)),
            Just(("*", (|a, b| a * b) as fn(f64, f64) -> f64)),
            Just(("/", (|a, b| a / b) as fn(f64, f64) -> f64)),
        ];
        let one = inner.clone().prop_map(Box::new);
        prop_oneof![
            2 => (call, one.clone()).prop_map(|((name, f), a)| Tree::Call(name, f, a)),
            4 => (sign, one.clone(), one.clone()).prop_map(|((sign, f), a, b)| Tree::Sign(sign, f, a, b)),
            1 => (one.clone(), one.clone(), one.clone(), one.clone())
                .prop_map(|(a, b, c, d)| Tree::Less(a, b, c, d)),
            1 => (one.clone(), one.clone(), one).prop_map(|(a, b, c)| Tree::Fma(a, b, c)),
        ]
    })
}
