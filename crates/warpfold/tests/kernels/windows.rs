//! Rows and columns whose sums lie in windows of exponents, or do not: of many scales, with zeros, with numbers that no window holds together, with special
//! values; rows in a lane, in a warp, in several warps, wherever they begin; columns of vectors, narrow ones that lanes share, more rows than a window has
//! room for.

use warpfold::kernel::Machine;
use warpfold::partial::{Finish, Output};
use warpfold::{Element, Layout, Nan, Op, Policy, Value, View, bf16, f16, reduce_axes};

use crate::compare::same;
use crate::data::Random;
use crate::machine;

#[derive(Debug, Clone, Copy)]
enum Spread {
    /// Each output of a scale of its own.
    Scales,
    /// One scale for 64 outputs that lie side by side.
    Neighbours,
    /// The same with zeros of either sign.
    Zeros,
    /// Each number of a scale of its own.
    Apart,
    /// One scale, but for numbers below the least normal one, infinities and NaNs.
    Specials,
}

/// Rows, their lengths, and the axis that is folded. Rows of a lane, of some lanes, of a warp, and of several on a machine of two multiprocessors; then
/// columns.
const SHAPES: &[([u64; 2], i64)] = &[
    ([90, 60], 1),
    ([70, 131], 1),
    ([30, 520], 1),
    ([9, 1500], 1),
    ([3, 2048], 1),
    ([2, 4099], 1),
    ([200, 4], 1),
    ([90, 26], 1),
    ([3, 520], 0),
    ([70, 264], 0),
    ([300, 24], 0),
    ([1501, 8], 0),
];

/// The exponents of a type's numbers: of all, and of its least normal one.
struct Range {
    scales: i64,
    least: i64,
}

fn number(kind: Spread, range: &Range, output: usize, random: &mut Random) -> f64 {
    let bits = random.next();
    let unit = (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let scale =
        |seed: u64| 2f64.powi((seed % (2 * range.scales as u64)) as i32 - range.scales as i32);
    let of_output = scale((output as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
    let of_neighbours = scale((output as u64 / 64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
    match kind {
        Spread::Scales => unit * of_output,
        Spread::Neighbours => unit * of_neighbours,
        Spread::Zeros if !bits.is_multiple_of(3) => 0.0f64.copysign(unit),
        Spread::Zeros => unit * of_output,
        Spread::Apart => unit * scale(random.next()),
        Spread::Specials => match (bits % 300, output % 4) {
            (0, 1) => f64::INFINITY,
            (0, 2) => f64::NAN,
            (0, 3) => f64::NEG_INFINITY,
            (1..30, _) => unit * 2f64.powi(range.least as i32),
            _ => unit,
        },
    }
}

fn check<T: Element>(range: &Range, of: impl Fn(f64) -> T) {
    let mut random = Random(T::DTYPE as u64 + 71);
    for (case, &([rows, length], axis)) in SHAPES.iter().enumerate() {
        for kind in
            [Spread::Scales, Spread::Neighbours, Spread::Zeros, Spread::Apart, Spread::Specials]
        {
            let from = if axis == 0 { 8 } else { [0, 1, 8, 3][(case + kind as usize) % 4] };
            let all = from..from + (rows * length) as usize;
            let output = |k: usize| match axis {
                0 => k.saturating_sub(from) % length as usize,
                _ => k.saturating_sub(from) / length as usize,
            };
            let memory: Vec<T> =
                (0..all.end).map(|k| of(number(kind, range, output(k), &mut random))).collect();
            let Some(device) = machine(2, random.next()) else { return };
            let buffer = device.upload(&memory).unwrap();
            let layout = Layout::c(&[rows, length]).unwrap();
            let view = View::of(&memory[from..], layout.clone()).unwrap();
            let ops = match case % 2 {
                0 => [Op::Sum, Op::L2, Op::Var],
                _ => [Op::L1, Op::Sumsq, Op::Std],
            };
            for op in ops {
                let nan = if op == Op::L1 { Nan::Ignore } else { Nan::Propagate };
                let policy = Policy { nan, ..Policy::default() };
                let reduce = device.reduce_axes(buffer.slice(from..), &layout, &[axis]).unwrap();
                let reduce = reduce.policy(policy);
                let plan = reduce.plan(op).unwrap();
                let found = reduce.on_device::<f32>(op).unwrap().download().unwrap();
                let cpu = reduce_axes(&view, &[axis]).unwrap().policy(policy);
                let expected = cpu.columns(op, Finish::default()).unwrap().remove(0).1;
                for (at, found) in found.into_iter().enumerate() {
                    let (found, expected) =
                        (Ok(Output::One(Value::F32(found))), Ok(Output::One(expected.get(at))));
                    assert!(
                        same(&found, &expected),
                        "{plan}: output {at}, {kind:?} from {from}: kernel {found:?}, cpu {expected:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn parts_of_f16() {
    check(&Range { scales: 14, least: -14 }, f16::from_f64);
}

#[test]
fn parts_of_bf16() {
    check(&Range { scales: 120, least: -126 }, bf16::from_f64);
}

#[test]
fn parts_of_f32() {
    check(&Range { scales: 120, least: -126 }, |x| x as f32);
}

/// More rows in one run than a window's sums are kept for, so that they go to the states once before the end: on a machine that has as many warps as there are
/// tiles of columns.
fn check_long<T: Element>(of: impl Fn(f64) -> T) {
    let (rows, columns) = (1100, 32 * 32 * (16 / size_of::<T>() as u64));
    let mut random = Random(17);
    let memory: Vec<T> = (0..rows * columns)
        .map(|_| of((random.next() >> 11) as f64 / (1u64 << 53) as f64 + 1.0))
        .collect();
    let Some(device) = machine(1, 5) else { return };
    let (buffer, layout) = (device.upload(&memory).unwrap(), Layout::c(&[rows, columns]).unwrap());
    let view = View::of(&memory, layout.clone()).unwrap();
    for op in [Op::Sum, Op::Var] {
        let found = device.reduce_axes(buffer.view(), &layout, &[0]).unwrap();
        let found = found.on_device::<f32>(op).unwrap().download().unwrap();
        let cpu = reduce_axes(&view, &[0]).unwrap();
        let expected = cpu.columns(op, Finish::default()).unwrap().remove(0).1;
        for (at, found) in found.into_iter().enumerate() {
            assert_eq!(Value::F32(found), expected.get(at), "{op}: output {at}");
        }
    }
}

#[test]
fn long_columns() {
    check_long(bf16::from_f64);
    check_long(|x| x as f32);
}
