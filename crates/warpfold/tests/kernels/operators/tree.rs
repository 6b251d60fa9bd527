//! The contract's tree, written down as its definition says, beside what a machine folds.

use warpfold::Value;
use warpfold::kernel::operator::fold;
use warpfold::map::HostArray;

use super::{WELFORD, doubles, of_arrays};
use crate::machine;

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

#[test]
fn moments_by_welford_are_those_of_the_tree() {
    let Some(machine) = machine(1, 3) else { return };
    let merge = |[n, mean, m2]: [f64; 3], [m, other, others]: [f64; 3]| {
        let (all, apart) = (n + m, other - mean);
        [all, mean + apart * (m / all), m2 + others + apart * apart * (n * m / all)]
    };
    let x = doubles(20);
    for n in [1, 33, 1025, 7 * 1024 + 5, 20_001] {
        let x = &x[..n];
        let leaves: Vec<[f64; 3]> = x.iter().map(|&x| [1.0, x, 0.0]).collect();
        let [count, mean, m2] = along(&leaves, merge);
        let operator = of_arrays(&WELFORD, &[HostArray::of(x)]);
        let on = machine.upload(x).expect("memory");
        let found = fold(&machine, &operator, &[on.view().untyped()]).expect("moments");
        assert_eq!(found, [Value::F64(mean), Value::F64(m2 / count)], "{n}");
    }
}
