//! Stats of rows, columns and segments in one pass: every column of every output against the oracle, and to the last bit the processor's. Rows of a lane, of
//! some lanes, of a warp and of several, wherever they begin; segments of several lengths, empty ones and long ones; wide and narrow columns, in one run and in
//! several.

use std::collections::BTreeSet;

use warpfold::kernel::{DeviceSegments, Machine, ReduceBatched};
use warpfold::partial::{Finish, Output, Summary};
use warpfold::{Columns, Complex, DType, Layout, Nan, Op, Overflow, Policy, Value};

use crate::compare::same;
use crate::data::{Contents, Random, array};
use crate::sample::Sample;
use crate::{SCALE, machine, truth};

/// Rows, columns, the axis that is folded, and the multiprocessors of the machine.
const SHAPES: &[([usize; 2], i64, u32)] = &[
    ([70, 1], 1, 2),
    ([90, 3], 1, 2),
    ([70, 16], 1, 2),
    ([40, 31], 1, 2),
    ([70, 40], 1, 2),
    ([30, 131], 1, 2),
    ([16, 512], 1, 1),
    ([12, 700], 1, 1),
    ([8, 2048], 1, 1),
    ([4, 4099], 1, 1),
    ([1, 900], 1, 2),
    ([3, 300], 0, 2),
    ([40, 70], 0, 1),
    ([150, 20], 0, 2),
    ([900, 4], 0, 2),
    ([1500, 3], 0, 1),
    ([700, 1], 0, 1),
];

/// Where segments of an array of 2002 elements begin and end.
const OFFSETS: [u64; 12] = [0, 1, 1, 4, 5, 8, 40, 41, 300, 300, 1900, 2002];

/// An output's stats, `None` where there is none.
fn summary(columns: &Columns, gaps: &[Vec<u64>], dtype: DType, at: usize) -> Summary {
    let found = |name: &str| {
        let of = |((column, values), gaps): (&(&str, warpfold::Column), &Vec<u64>)| {
            (*column == name).then(|| (!gaps.contains(&(at as u64))).then(|| values.get(at)))
        };
        let is_there = ["count", "nan_count"].contains(&name)
            || Op::of_stats(dtype).any(|op| op.name() == name);
        let column = columns.iter().zip(gaps).find_map(of);
        assert_eq!(column.is_some(), is_there, "{name} of {dtype}");
        column.flatten()
    };
    let number = |name: &str| match found(name) {
        Some(Value::U64(number)) => Some(number),
        None => None,
        Some(other) => panic!("{name} is {other:?}"),
    };
    let always = |name: &str| found(name).expect("what every output has");
    Summary {
        count: number("count").expect("every output has a count"),
        nan_count: number("nan_count").expect("every output has a count"),
        sum: always("sum"),
        mean: found("mean"),
        var: found("var"),
        std: found("std"),
        min: found("min"),
        max: found("max"),
        argmin: number("argmin"),
        argmax: number("argmax"),
        l1: always("l1"),
        l2: always("l2"),
    }
}

/// Each output of what was begun, whose elements are these. Returns the way that the kernel goes.
fn check<'a, M: Machine + 'a, T: Sample>(
    begun: ReduceBatched<'a, M, T>,
    inputs: &[Vec<T>],
    (nan, ddof): (Nan, u64),
    what: &str,
) -> &'static str {
    // Sums of integers of 64 bits may not fit.
    let overflow = Overflow::Wrap;
    let finish = Finish { ddof, overflow, ..Finish::default() };
    let policy = Policy { nan, overflow, ..Policy::default() };
    let begun = begun.policy(policy);
    let plans = begun.plans(Op::Stats).unwrap();
    assert_eq!(plans.len(), 1, "{what}: {plans:?}");
    let (columns, gaps) = begun.columns_and_gaps(Op::Stats, finish).unwrap();
    for (at, input) in inputs.iter().enumerate() {
        let found = Ok(Output::Summary(Box::new(summary(&columns, &gaps, T::DTYPE, at))));
        let partial = warpfold::reduce(input).policy(policy).partial(Op::Stats).unwrap();
        let expected = partial.finish(Op::Stats, finish);
        let what = format!("output {at} of {what}, {policy:?}, ddof {ddof}, {}", T::DTYPE);
        assert!(same(&found, &expected), "{what}: kernel {found:?}, processor {expected:?}");
        truth::check_output(at, &found, Op::Stats, nan, input, finish, &what);
    }
    if T::DTYPE.is_complex() {
        [Op::Sum, Op::Mean, Op::Var, Op::Std, Op::L1, Op::L2].into_iter().for_each(|op| {
            let (one, left_out) = begun.columns_and_gaps(op, finish).unwrap();
            let at = columns.iter().position(|(name, _)| *name == op.name());
            let at = at.expect("complex numbers have these");
            assert_eq!(left_out[0], gaps[at], "{op} of {what}");
            for output in (0..inputs.len()).filter(|&output| !gaps[at].contains(&(output as u64))) {
                let (alone, beside) = (one[0].1.get(output), columns[at].1.get(output));
                assert_eq!(format!("{alone:?}"), format!("{beside:?}"), "{op} {output} of {what}");
            }
        });
    }
    plans[0].way.name()
}

fn shapes<T: Sample>() {
    let mut random = Random(T::DTYPE as u64 + 77);
    let mut ways = BTreeSet::new();
    for (case, &([rows, columns], axis, multiprocessors)) in SHAPES.iter().enumerate() {
        for kind in [
            Contents::Plain,
            [Contents::Specials, Contents::Zeros][case % 2],
            [Contents::Wide, Contents::Ties, Contents::Lowest][case % 3],
        ] {
            // Rows of a lane begin at vectors, or are walked as segments.
            let from =
                if axis == 1 && columns * size_of::<T>() > 128 { [0, 1, 3][case % 3] } else { 0 };
            let memory = array::<T>(kind, from + rows * columns, &mut random);
            let x = &memory[from..];
            let Some(device) = machine(multiprocessors, random.next()) else { return };
            let buffer = device.upload(&memory).unwrap();
            let layout = Layout::c(&[rows as u64, columns as u64]).unwrap();
            let inputs: Vec<Vec<T>> = match axis {
                1 => x.chunks_exact(columns).map(<[T]>::to_vec).collect(),
                _ => (0..columns)
                    .map(|k| x.iter().skip(k).step_by(columns).copied().collect())
                    .collect(),
            };
            let ignores = T::DTYPE.is_float() && (case + kind as usize) % 2 == 1;
            let nan = if ignores { Nan::Ignore } else { Nan::Propagate };
            let ddof = (case % 3) as u64;
            let begun = device.reduce_axes(buffer.slice(from..), &layout, &[axis]).unwrap();
            let what = format!("{rows} by {columns}, axis {axis}, {kind:?} from {from}");
            ways.insert(check(begun, &inputs, (nan, ddof), &what));
        }
    }
    // A large machine shares out other rows otherwise.
    assert!(SCALE > 1 || ways.len() == 3, "{ways:?}");
}

fn segments<T: Sample>() {
    let mut random = Random(T::DTYPE as u64 + 177);
    for kind in
        [Contents::Plain, Contents::Specials, Contents::Ties, Contents::AllNan, Contents::Lowest]
    {
        for nan in [Nan::Propagate, Nan::Ignore] {
            if nan == Nan::Ignore && !T::DTYPE.is_float() {
                continue;
            }
            // The array begins and ends within vectors of memory.
            let memory = array::<T>(kind, 2003, &mut random);
            let x = &memory[1..];
            let Some(device) = machine(2, random.next()) else { return };
            let (buffer, offsets) =
                (device.upload(&memory).unwrap(), device.upload(&OFFSETS).unwrap());
            let cut = OFFSETS.windows(2);
            let inputs: Vec<Vec<T>> =
                cut.map(|ends| x[ends[0] as usize..ends[1] as usize].to_vec()).collect();
            let begun = device.reduce_segments(buffer.slice(1..), &offsets);
            check(begun, &inputs, (nan, 1), &format!("{kind:?}"));
        }
    }
}

#[test]
fn stats_of_parts_of_f16() {
    shapes::<warpfold::f16>();
    segments::<warpfold::f16>();
}

#[test]
fn stats_of_parts_of_bf16() {
    shapes::<warpfold::bf16>();
    segments::<warpfold::bf16>();
}

#[test]
fn stats_of_parts_of_f32() {
    shapes::<f32>();
    segments::<f32>();
}

#[test]
fn stats_of_parts_of_f64() {
    shapes::<f64>();
    segments::<f64>();
}

#[test]
fn stats_of_parts_of_complex64() {
    shapes::<Complex<f32>>();
    segments::<Complex<f32>>();
    let ends = [f32::MIN_POSITIVE, f32::MAX].map(f64::from);
    awkward(|re, im| Complex::new(re as f32, im as f32), ends);
}

#[test]
fn stats_of_parts_of_complex128() {
    shapes::<Complex<f64>>();
    segments::<Complex<f64>>();
    awkward(Complex::new, [f64::MIN_POSITIVE, f64::MAX]);
}

/// Numbers of which sums cancel, squares leave the range or lose it, roots are just beside a number with fewer digits, or parts differ by far; rows that
/// are constant; and those among numbers that are not so.
fn awkward<T: Sample>(of: fn(f64, f64) -> T, [least, most]: [f64; 2]) {
    let Some(device) = machine(1, 23) else { return };
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    let odd = [
        vec![(-0.0, -0.0)],
        vec![(-0.0, 1.0), (-0.0, -1.0)],
        vec![(0.1, 0.7)],
        vec![(3.0, 4.0), (-3.0, -4.0)],
        vec![(1.0, least), (least, 1.0)],
        vec![(least / 4.0, -least / 2.0), (least, least)],
        vec![(1e30, 1.0), (-1e30, 1e-30), (1.0, 1e30)],
        vec![(1.0, 1e-12), (1e9, -1e-9), (-1e9, 3.0)],
        vec![(most, -most), (most, most)],
        vec![(most, 1.0), (-most, 1.0)],
        vec![(infinity, 1.0), (2.0, 3.0)],
        vec![(infinity, 1.0), (-infinity, 3.0)],
        vec![(1.0, nan), (2.0, 3.0), (nan, nan)],
        vec![(infinity, nan), (0.5, 0.25)],
        vec![(nan, 0.0)],
        vec![(-1e-20, 1e-20), (1e-25, 0.0)],
    ];
    for length in [1, 2, 5, 16, 33, 300] {
        for is_among_others in [false, true] {
            let inputs: Vec<Vec<T>> = odd
                .iter()
                .map(|odd| {
                    let mut random = Random(length as u64);
                    let unit = |random: &mut Random| (random.next() >> 40) as f64 / 8.0 - 1e6;
                    let mut element = |k: usize| {
                        let (re, im) = odd[k / 3 % odd.len()];
                        match !is_among_others || k.is_multiple_of(17) {
                            true => of(re, im),
                            false => of(unit(&mut random), unit(&mut random)),
                        }
                    };
                    (0..length).map(&mut element).collect()
                })
                .collect();
            let rows: Vec<T> = inputs.concat();
            let columns: Vec<T> =
                (0..rows.len()).map(|k| inputs[k % inputs.len()][k / inputs.len()]).collect();
            for (at, nan) in [Nan::Propagate, Nan::Ignore].into_iter().enumerate() {
                let shapes =
                    [([inputs.len(), length], 1, &rows), ([length, inputs.len()], 0, &columns)];
                for (shape, axis, x) in shapes {
                    let layout = Layout::c(&shape.map(|length| length as u64)).unwrap();
                    let x = device.upload(x).unwrap();
                    let begun = device.reduce_axes(x.view(), &layout, &[axis]).unwrap();
                    let what = format!("awkward rows of {length}, axis {axis}, {is_among_others}");
                    check(begun, &inputs, (nan, at as u64), &what);
                }
            }
        }
    }
}

/// Rows and segments of an array that begins within a vector.
#[test]
fn stats_of_complex_numbers_begin_anywhere() {
    let Some(device) = machine(2, 29) else { return };
    let mut random = Random(31);
    let x = array::<Complex<f32>>(Contents::Plain, 1001, &mut random);
    let buffer = device.upload(&x).unwrap();
    for (from, length) in [(1, 4), (1, 20), (1, 250), (0, 1001)] {
        let (offsets, inputs): (Vec<u64>, Vec<_>) = (0..)
            .zip(x[from..].chunks_exact(length))
            .map(|(k, row)| (k * length as u64, row.to_vec()))
            .unzip();
        let n = inputs.len() * length;
        let offsets: Vec<u64> = offsets.into_iter().chain([n as u64]).collect();
        let offsets = device.upload(&offsets).unwrap();
        let what = format!("rows of {length} from {from}");
        let view = || buffer.slice(from..from + n);
        let rows = device.reduce_segments(view(), DeviceSegments::Every(length as u64));
        check(rows, &inputs, (Nan::Propagate, 0), &what);
        check(device.reduce_segments(view(), &offsets), &inputs, (Nan::Ignore, 1), &what);
    }
}

#[test]
fn stats_of_parts_of_integers_of_16_bits() {
    shapes::<i16>();
    segments::<u16>();
    shapes::<u16>();
    segments::<i16>();
}

#[test]
fn stats_of_parts_of_integers_of_32_bits() {
    shapes::<i32>();
    segments::<u32>();
    shapes::<u32>();
    segments::<i32>();
}

#[test]
fn stats_of_parts_of_integers_of_64_bits() {
    shapes::<i64>();
    segments::<u64>();
    shapes::<u64>();
    segments::<i64>();
}

/// A sum that 64 bits do not hold is an error of the sum, and comes before what has no elements.
#[test]
fn a_sum_of_stats_that_is_too_large_is_an_error() {
    let Some(device) = machine(2, 11) else { return };
    let x = device.upload(&[i64::MAX, 1, -5, i64::MAX, 1, 2]).unwrap();
    let offsets = device.upload(&[0u64, 0, 3, 6]).unwrap();
    let stats = device.reduce_segments(&x, &offsets);
    assert_eq!(stats.plans(Op::Stats).unwrap().len(), 1);
    let error = stats.columns(Op::Stats, Finish::default()).unwrap_err().to_string();
    assert!(error.contains("segment 2: sum of i64"), "{error}");
    let wrapped = device.reduce_segments(&x, &offsets).overflow(Overflow::Wrap);
    let (columns, gaps) = wrapped.columns_and_gaps(Op::Stats, Finish::default()).unwrap();
    let sums = columns.iter().find(|(name, _)| *name == "sum").unwrap();
    assert_eq!(sums.1.get(2), Value::I64(i64::MIN + 2));
    assert_eq!(gaps.iter().filter(|gaps| **gaps == [0]).count(), 7);
}

#[test]
fn what_kernels_do_not_fold_in_one_pass_is_folded_by_columns() {
    let Some(device) = machine(2, 9) else { return };
    let integers = device.upload(&[3i8; 64]).unwrap();
    let plans = device.reduce_segments(&integers, DeviceSegments::Every(8)).plans(Op::Stats);
    assert_eq!(plans.unwrap().len(), 10);
    let floats = device.upload(&[3f32; 64]).unwrap();
    let layout = Layout::c(&[2, 2, 4, 4]).unwrap();
    let apart = device.reduce_axes(floats.view(), &layout, &[0, 2]).unwrap();
    assert_eq!(apart.plans(Op::Stats).unwrap().len(), 10);
    let complex = device.upload(&[Complex::new(3f32, 4.0); 64]).unwrap();
    let apart = device.reduce_axes(complex.view(), &layout, &[0, 2]).unwrap();
    assert_eq!(apart.plans(Op::Stats).unwrap().len(), 6);
    let rows = device.reduce_segments(&floats, DeviceSegments::Every(8));
    assert!(rows.on_device::<f32>(Op::Stats).is_err());
}
