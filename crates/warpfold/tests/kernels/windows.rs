//! Rows whose sums lie in windows of exponents, or do not: of many scales, with zeros, with numbers that no window holds together, with special values; in a lane,
//! in a warp, in several warps, wherever they begin.

use warpfold::kernel::Machine;
use warpfold::partial::{Finish, Output};
use warpfold::{Element, Layout, Nan, Op, Policy, Value, View, bf16, f16, reduce_axes};

use crate::compare::same;
use crate::data::Random;
use crate::machine;

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Each row of a scale of its own.
    Scales,
    /// The same with zeros of either sign.
    Zeros,
    /// Each number of a scale of its own.
    Apart,
    /// One scale, but for numbers below the least normal one, infinities and NaNs.
    Specials,
}

/// Rows and their lengths: of a lane, of some lanes, of a warp, and of several on a machine of two multiprocessors.
const SHAPES: &[[u64; 2]] = &[[90, 60], [70, 131], [30, 520], [9, 1500], [3, 2048], [2, 4099]];

/// The exponents of a type's numbers: of all, and of its least normal one.
struct Range {
    scales: i64,
    least: i64,
}

fn number(kind: Kind, range: &Range, row: usize, random: &mut Random) -> f64 {
    let bits = random.next();
    let unit = (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let scale =
        |seed: u64| 2f64.powi((seed % (2 * range.scales as u64)) as i32 - range.scales as i32);
    let of_row = scale((row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
    match kind {
        Kind::Scales => unit * of_row,
        Kind::Zeros if !bits.is_multiple_of(3) => 0.0f64.copysign(unit),
        Kind::Zeros => unit * of_row,
        Kind::Apart => unit * scale(random.next()),
        Kind::Specials => match (bits % 300, row % 4) {
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
    for (case, &[rows, length]) in SHAPES.iter().enumerate() {
        for kind in [Kind::Scales, Kind::Zeros, Kind::Apart, Kind::Specials] {
            let from = [0, 1, 8, 3][(case + kind as usize) % 4];
            let all = from..from + (rows * length) as usize;
            let row = |k: usize| k.saturating_sub(from) / length as usize;
            let memory: Vec<T> =
                (0..all.end).map(|k| of(number(kind, range, row(k), &mut random))).collect();
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
                let reduce = device.reduce_axes(buffer.slice(from..), &layout, &[1]).unwrap();
                let reduce = reduce.policy(policy);
                let plan = reduce.plan(op).unwrap();
                let found = reduce.on_device::<f32>(op).unwrap().download().unwrap();
                let cpu = reduce_axes(&view, &[1]).unwrap().policy(policy);
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
fn rows_of_f16() {
    check(&Range { scales: 14, least: -14 }, f16::from_f64);
}

#[test]
fn rows_of_bf16() {
    check(&Range { scales: 120, least: -126 }, bf16::from_f64);
}

#[test]
fn rows_of_f32() {
    check(&Range { scales: 120, least: -126 }, |x| x as f32);
}
