//! Variances, deviations and l2 of floats in parts on a machine: each as wide accumulators give it for its elements alone.

use warpfold::kernel::Machine as _;
use warpfold::partial::Partial;
use warpfold::{Element, Layout, Op, bf16, f16};

use crate::{SCALE, machine};

/// The moments of one input in wide accumulators.
fn exact<T: Element>(x: &[T]) -> warpfold_exact::Moments<T> {
    match warpfold::reduce(x).partial(Op::Var) {
        Ok(Partial::Moments(moments)) => *moments,
        other => panic!("a variance leaves moments, not {other:?}"),
    }
}

const COUNT: usize = 240;

/// Rows and their length.
const SHAPES: [(usize, usize); 4] = [(80, 3), (30, 8), (6, 40), (1, COUNT)];

fn agree<T>(what: &str, make: impl Fn(usize) -> T)
where
    T: Element<Round: Into<f64> + Element>,
{
    let x: Vec<T> = (0..COUNT).map(make).collect();
    let bits = |all: Vec<T::Round>| all.into_iter().map(|x| x.into().to_bits()).collect::<Vec<_>>();
    // In a simulator, where wide accumulators are slow, two of the shapes for each input, by its name.
    let (first, step) = if SCALE == 1 { (what.len() % 2, 2) } else { (0, 1) };
    for &(rows, length) in SHAPES.iter().skip(first).step_by(step) {
        let Some(device) = machine(2, length as u64) else { return };
        let buffer = device.upload(&x).unwrap();
        let layout = Layout::c(&[rows as u64, length as u64]).unwrap();
        let offsets: Vec<u64> = (0..=rows as u64).map(|row| row * length as u64).collect();
        let bounds = device.upload(&offsets).unwrap();
        let of_rows: Vec<Vec<T>> = x.chunks_exact(length).map(<[T]>::to_vec).collect();
        let of_columns: Vec<Vec<T>> =
            (0..length).map(|k| x.iter().skip(k).step_by(length).copied().collect()).collect();
        let ways = [
            ("rows", device.reduce_axes(buffer.view(), &layout, &[1]).unwrap(), &of_rows),
            ("columns", device.reduce_axes(buffer.view(), &layout, &[0]).unwrap(), &of_columns),
            ("segments", device.reduce_segments(buffer.view(), &bounds), &of_rows),
        ];
        for (how, batched, inputs) in ways {
            let what = format!("{how} of {what}, {rows} by {length}");
            let each = |of: &dyn Fn(warpfold_exact::Moments<T>) -> T::Round| {
                bits(inputs.iter().map(|x| of(exact(x))).collect())
            };
            assert_eq!(bits(batched.l2().unwrap()), each(&|m| m.l2()), "l2 of {what}");
            let (var, std) = (batched.var(0), batched.std(1));
            assert_eq!(bits(var.unwrap()), each(&|m| m.var(0).unwrap()), "var of {what}");
            match inputs[0].len() {
                1 => assert!(std.is_err(), "{what}"),
                _ => assert_eq!(bits(std.unwrap()), each(&|m| m.std(1).unwrap()), "std of {what}"),
            }
        }
    }
}

/// Numbers that look random, and are the same in every run.
fn noise(at: usize) -> u64 {
    warpfold::random::word(0, at as u64) >> 11
}

fn unit(at: usize) -> f64 {
    noise(at) as f64 / 2f64.powi(53)
}

#[test]
fn spread_of_even_numbers() {
    agree("f32", |at| unit(at) as f32);
    agree("f64", unit);
    agree("bf16", |at| bf16::from_f64(unit(at)));
}

#[test]
fn spread_of_few_bits_with_ties() {
    for bits in [1, 4, 11] {
        let whole = |at: usize| (noise(at) >> (53 - bits)) as f64;
        agree("f16", |at| f16::from_f64(whole(at) / 16.0));
        agree("whole f32", |at| whole(at) as f32);
        agree("whole f64", |at| whole(at) * 3.0);
    }
}

#[test]
fn spread_that_cancels() {
    agree("f32 far from zero", |at| 1e6 + unit(at) as f32);
    agree("f32 of two means", |at| if at % 2 == 0 { 1e6 } else { -1e-6 } + unit(at) as f32);
    agree("f64 far from zero", |at| 1.7e9 + unit(at));
    agree("f64 rows far from each other", |at| (at / 40) as f64 * 1e15 + unit(at));
    agree("constant f32", |_| 0.1f32);
    agree("constant f64", |_| 0.1f64);
    agree("zeros", |at| if at % 2 == 0 { 0.0f64 } else { -0.0 });
}

#[test]
fn spread_at_the_ends_of_the_range() {
    agree("subnormal f32", |at| f32::from_bits(noise(at) as u32 & 0x7f_ffff));
    agree("subnormal f64", |at| f64::from_bits(noise(at) & 0xf_ffff));
    agree("small f64", |at| unit(at) * 1e-160);
    agree("smaller f64", |at| if at % 3 == 0 { 0.0 } else { unit(at) * 1e-300 });
    agree("large f64", |at| unit(at) * 1e160);
    agree("largest f32", |at| if at % 2 == 0 { f32::MAX } else { -f32::MAX });
    agree("log-uniform f64", |at| 2f64.powf(unit(at) * 2000.0 - 1000.0));
    agree("log-uniform f32", |at| 2f64.powf(unit(at) * 250.0 - 125.0) as f32);
    agree("one large", |at| if at % 16 == 3 { 1e200 } else { unit(at) });
}

#[test]
fn spread_of_specials() {
    for odd in [f64::NAN, f64::INFINITY] {
        agree("odd f64", |at| if at % 17 == 1 { odd } else { unit(at) });
        agree("odd f32", |at| if at % 17 == 1 { odd as f32 } else { unit(at) as f32 });
        agree("odd f16", |at| f16::from_f64(if at % 17 == 1 { odd } else { unit(at) }));
    }
}
