//! Random expressions: tiles, with and without a mask and held behind one another, against plain Rust, one element and one operation at a time.

use proptest::prelude::*;
use warpfold_expr::math::double;
use warpfold_expr::{Expr, Held, Program, Slice, TILE, Tiles};
use warpfold_num::DType;

/// An expression of x, y and constants.
#[derive(Debug, Clone)]
enum Tree {
    X,
    Y,
    Constant(f64),
    Call(&'static str, fn(f64) -> f64, Box<Tree>),
    Sign(&'static str, fn(f64, f64) -> f64, Box<Tree>, Box<Tree>),
    Less(Box<Tree>, Box<Tree>, Box<Tree>, Box<Tree>),
    Fma(Box<Tree>, Box<Tree>, Box<Tree>),
}

impl Tree {
    fn text(&self) -> String {
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

    fn value(&self, x: f64, y: f64) -> f64 {
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

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        3 => Just(Tree::X),
        3 => Just(Tree::Y),
        1 => (-100..100i32).prop_map(|k| Tree::Constant(f64::from(k) / 8.0)),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        let call = prop_oneof![
            Just(("abs", f64::abs as fn(f64) -> f64)),
            Just(("sqrt", f64::sqrt as fn(f64) -> f64)),
            Just(("floor", f64::floor as fn(f64) -> f64)),
            Just(("round", f64::round_ties_even as fn(f64) -> f64)),
            Just(("-", (|x| -x) as fn(f64) -> f64)),
            Just(("exp", double::exp as fn(f64) -> f64)),
            Just(("log1p", double::log1p as fn(f64) -> f64)),
            Just(("sin", double::sin as fn(f64) -> f64)),
            Just(("tanh", double::tanh as fn(f64) -> f64)),
        ];
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

/// Bits, those of NaN as one.
fn bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

proptest! {
    #[test]
    fn tiles_are_plain_rust(
        trees in proptest::collection::vec(tree(), 1..4),
        seeds in proptest::collection::vec((any::<f64>(), -4.0..4.0f64), 1..40),
    ) {
        let n = 2 * TILE + 77;
        let (x, y): (Vec<f64>, Vec<f64>) = seeds.iter().copied().cycle().take(n).unzip();
        let x: Vec<f64> = x.iter().enumerate().map(|(k, x)| if k % 3 == 0 { *x } else { y[k] * k as f64 }).collect();
        let texts: Vec<String> = ["y < 1".to_string()].into_iter().chain(trees.iter().map(Tree::text)).collect();
        let exprs: Vec<Expr> = texts.iter().map(|text| Expr::parse(text).expect("it is an expression")).collect();
        let types = [("x", DType::F64), ("y", DType::F64)];
        let program = Program::new(&exprs.iter().collect::<Vec<_>>(), &types).expect("they suit");
        let inputs = [Slice::F64(&x), Slice::F64(&y)];
        for is_masked in [false, true] {
            let held = Held { capacity: n + TILE, leaves_out: is_masked };
            let mut tiles = Tiles::holding(&program, true, held);
            let mut count = 0;
            for first in (0..n).step_by(TILE) {
                let length = TILE.min(n - first);
                tiles.move_to(count);
                tiles.run(&inputs, first, length).expect("floats have values");
                let mask: Vec<u8> = y[first..first + length].iter().map(|y| u8::from(*y < 1.0)).collect();
                count += if is_masked { tiles.leave_out(&inputs, first, &mask) } else { length };
            }
            let kept = x.iter().zip(&y).filter(|(_, y)| !is_masked || **y < 1.0);
            let kept: Vec<(f64, f64)> = kept.map(|(x, y)| (*x, *y)).collect();
            prop_assert_eq!(kept.len(), count);
            for (tree, root) in trees.iter().zip(&program.roots()[1..]) {
                let found: &[f64] = match (tiles.all_bytes(root.value), tiles.input(root.value)) {
                    (Some(bytes), _) => bytemuck::cast_slice(bytes),
                    (None, Some(0)) => &x,
                    _ => &y,
                };
                for (&(x, y), found) in kept.iter().zip(found) {
                    prop_assert_eq!(bits(tree.value(x, y)), bits(*found), "{} of {:e}, {:e}", tree.text(), x, y);
                }
            }
        }
    }
}
