//! Random expressions: tiles, with and without a mask and held behind one another, against plain Rust, one element and one operation at a time.

mod trees;

use proptest::prelude::*;
use warpfold_expr::math::double;
use warpfold_expr::{Buffering, Expr, Program, Slice, TILE, Tiles};
use warpfold_num::DType;

use trees::{ARITHMETIC, Call, Tree, tree};

/// Functions that are computed through polynomials.
const CALLS: &[Call] =
    &[("exp", double::exp), ("log1p", double::log1p), ("sin", double::sin), ("tanh", double::tanh)];

/// Bits, those of NaN as one.
fn bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

proptest! {
    #[test]
    fn tiles_are_plain_rust(
        trees in proptest::collection::vec(tree([ARITHMETIC, CALLS].concat()), 1..4),
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
            let held = Buffering { capacity: n + TILE, leaves_out: is_masked };
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
