//! Limbs that all warps of a block share, where a few lanes have all additions: carries wait for no lane that has nothing.

use std::ops::Range;

use warpfold::partial::{Finish, Output};
use warpfold::plan::Shape;
use warpfold::{Complex, Element, Op, Result};

use crate::compare::same;
use crate::machine;

/// Numbers of a row, two for each lane of a warp, and rows enough for limbs of one lane's columns to overflow, were they never settled. (Of f32 half as many rows of twice as
/// many numbers.)
const ROW: usize = 64;
const ROWS: usize = 8 * 4300;

/// Rows of ones, but for some lanes' numbers, of which no window of exponents holds both, and whose bits are all ones.
fn rows(lanes: Range<usize>) -> Vec<f64> {
    let most = 2.0 - f64::EPSILON;
    let number = |k: usize| match (lanes.contains(&(k % ROW / 2)), k % 2) {
        (false, _) => 1.0,
        (true, 0) => most,
        (true, _) => most * 2f64.powi(40),
    };
    (0..ROWS * ROW).map(number).collect()
}

/// The same of f32, four a lane.
fn narrow_rows(lanes: Range<usize>) -> Vec<f32> {
    let most = 2.0 - f32::EPSILON;
    let number = |k: usize| match (lanes.contains(&(k % (2 * ROW) / 4)), k % 2) {
        (false, _) => 1.0,
        (true, 0) => most,
        (true, _) => most * 2f32.powi(40),
    };
    (0..ROWS * ROW).map(number).collect()
}

/// One block does it all.
fn alone() -> Shape {
    Shape { block: 256, per_multiprocessor: 1, vectors: 1, alone: u32::MAX }
}

fn on_cpu<T: Element>(x: &[T], op: Op) -> Result<Output> {
    let partial = match op {
        Op::Dot => warpfold::reduce_pair(x, x).partial(op)?,
        _ => warpfold::reduce(x).partial(op)?,
    };
    partial.finish(op, Finish::default())
}

fn check<T: Element>(x: &[T], op: Op, what: &str) {
    let Some(device) = machine(1, 5) else { return };
    let buffer = device.upload(x).unwrap();
    let reduce = match op {
        Op::Dot => device.reduce_two(buffer.view(), buffer.view()).unwrap(),
        _ => device.reduce(buffer.view()),
    };
    let found = reduce.shape(alone()).output(op, Finish::default());
    let cpu = on_cpu(x, op);
    assert!(same(&found, &cpu), "{op} of {what}: {found:?}, cpu {cpu:?}");
}

#[test]
fn moments_of_some_lanes() {
    // One of either half of a warp, which begin numbers at even and at odd limbs, and all of a half.
    for lanes in [0..1, 16..17, 0..16] {
        check(&rows(lanes.clone()), Op::Var, &format!("lanes {lanes:?}"));
    }
}

#[test]
fn dot_of_a_lane() {
    check(&rows(0..1), Op::Dot, "lane 0");
}

#[test]
fn narrow_moments_of_some_lanes() {
    for lanes in [0..1, 31..32, 0..32] {
        check(&narrow_rows(lanes.clone()), Op::Var, &format!("lanes {lanes:?}"));
    }
}

#[test]
fn narrow_dot_of_a_lane() {
    check(&narrow_rows(7..8), Op::Dot, "lane 7");
}

#[test]
fn complex_sum_of_a_lane() {
    let x = rows(0..1);
    let x: Vec<_> = x.chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1])).collect();
    check(&x, Op::Sum, "lane 0");
}
