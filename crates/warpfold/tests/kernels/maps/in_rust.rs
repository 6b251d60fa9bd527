//! Bodies written in Rust: on the processor they have the bits that their texts have on a machine.

use warpfold::kernel::MapGrid;
use warpfold::map::Expr;
use warpfold::partial::Finish;
use warpfold::{Element, Op, Result, map, reduce_map};

use super::FLOATS;
use crate::compare::same;
use crate::data::{Contents, Random, array};
use crate::machine;

/// Compares reductions of a body, of the elements for which another holds, weighted by a third.
fn check<T: Element>(
    ops: &[Op],
    body: Result<Expr>,
    condition: Option<Result<Expr>>,
    weights: Option<Result<Expr>>,
    kinds: &[Contents],
) {
    let Some(machine) = machine(2, 3) else { return };
    let body = body.expect("it is an expression");
    let [condition, weights] =
        [condition, weights].map(|body| body.map(|body| body.expect("it is an expression")));
    let mut random = Random(7);
    for &kind in kinds {
        for n in [0, 1, 1025, 3000] {
            let (x, y) = (array::<T>(kind, n, &mut random), array::<T>(kind, n, &mut random));
            let (on, other) = (machine.upload(&x).unwrap(), machine.upload(&y).unwrap());
            for &op in ops {
                let mut here = reduce_map(&body, [("x", &x), ("y", &y)]);
                let mut there = machine
                    .map(body.text(), [("x", &on), ("y", &other)])
                    .grid(MapGrid { blocks: 2, threads: 64 });
                if let Some(condition) = &condition {
                    here = here.where_(condition);
                    there = there.where_(condition.text());
                }
                if let Some(weights) = &weights {
                    here = here.weights(weights);
                    there = there.weights(weights.text());
                }
                let here = here.output(op, Finish::default());
                let there = there.output(op, Finish::default());
                let text = body.text();
                assert!(
                    same(&there, &here),
                    "{op} of `{text}`, {kind:?}, {n} {}: {there:?}, and here {here:?}",
                    T::DTYPE
                );
            }
        }
    }
}

macro_rules! of {
    ($ty:ty, $ops:expr, $kinds:expr; |$x:ident, $y:ident| $($body:expr;)+) => { $(
        check::<$ty>($ops, map!(|$x: $ty, $y: $ty| $body), None, None, $kinds);
    )+ };
}

#[test]
fn bodies_have_the_bits_of_their_texts_on_a_machine() {
    const KINDS: &[Contents] = &[Contents::Plain, Contents::Specials, Contents::Zeros];
    of! { f32, &[Op::Sum, Op::Mean, Op::ArgMax, Op::Min], KINDS; |x, y|
        abs(x - y); x * y; 2.5 * x - y / 3; select((x > 0.25) & !(y > 0), sqrt(x), max(x, y));
        f32(f64(x) * f64(y)) + fma(x, y, 0.1);
    }
    of! { f64, FLOATS, KINDS; |x, y|
        rounded(abs(x) * 0.1 + y); floor(x * 8) - select(isnan(y), 0, y);
    }
    of! { i32, &[Op::Sum, Op::Count], &[Contents::Plain]; |x, y|
        x & y; f64(x) / f64(y); min(x, y) != 0;
    }
    let condition = || map!(|x: f32, y: f32| x > y || y == 0);
    let weights = || map!(|y: f32| abs(y));
    check::<f32>(FLOATS, map!(|x: f32, y: f32| x - y), Some(condition()), None, KINDS);
    let sums = &[Op::Sum, Op::Mean];
    check::<f32>(
        sums,
        map!(|x: f32| x + 0.5),
        Some(condition()),
        Some(weights()),
        &[Contents::Plain],
    );
}

#[test]
fn integers_without_a_value_are_told_with_their_index() {
    let mut x = vec![3i64; 5000];
    (x[4321], x[4999]) = (i64::MAX, i64::MIN);
    let sum = reduce_map(map!(|x: i64| x + 1), [("x", &x)]);
    let error = sum.sum().unwrap_err().to_string();
    assert!(
        error.starts_with("`x + 1` at index 4321: i64 does not hold 9223372036854775808; "),
        "{error}"
    );
    assert_eq!(sum.where_(map!(|x: i64| x == 3)).sum(), Ok((4 * 4998i64).into()));
}
