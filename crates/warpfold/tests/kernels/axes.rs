//! Axes on a machine: rows, columns, wide and narrow, middle axes, runs of rows, every alignment.

use warpfold::kernel::Machine as _;
use warpfold::partial::{Finish, Output};
use warpfold::{
    Accuracy, DType, Element, Error, Layout, Nan, Op, Policy, Value, View, reduce_axes,
    with_element,
};

use crate::compare::{near, same};
use crate::data::{Contents, Random, array};
use crate::sample::Sample;
use crate::{SCALE, bound, machine, truth};

/// Sets of reductions that cases take in turn, another one for each type: what all of them would take is slow in a simulator.
const FAST: &[&[Op]] = &[
    &[Op::Sum, Op::Mean, Op::Min, Op::Linf, Op::Count, Op::L1],
    &[Op::Sum, Op::Mean, Op::Max, Op::All, Op::Count, Op::L1],
];
const ALL: &[&[Op]] = &[&[
    Op::Sum,
    Op::Mean,
    Op::Min,
    Op::Max,
    Op::ArgMin,
    Op::ArgMax,
    Op::Linf,
    Op::Any,
    Op::All,
    Op::Count,
    Op::L1,
    Op::Prod,
]];
const SUMS: &[&[Op]] = &[&[Op::Sum], &[Op::L1]];
const SPREAD: &[&[Op]] = &[&[Op::L2], &[Op::Var], &[Op::Sumsq], &[Op::Std]];
const EXACT: &[&[Op]] = &[&[Op::Sum, Op::Mean, Op::L1, Op::L2, Op::Sumsq, Op::Var, Op::Std]];

/// Shapes, and the axis that is folded: of few columns and many, of few rows and many, with and without whole vectors.
const CASES: &[(&[u64], i64)] = &[
    (&[40, 70], 1),
    (&[70, 40], 0),
    (&[3, 1001], 0),
    (&[700, 4], 0),
    (&[2000, 3], 0),
    (&[300, 1], 0),
    (&[5, 96, 37], 1),
    (&[4, 3, 256], 1),
    (&[2, 600, 5], 1),
    (&[1, 128], 0),
    // Rows of a lane, of some lanes, of a warp, with and without whole vectors, with a last tile that is not.
    (&[4101, 1], 1),
    (&[2049, 2], 1),
    (&[1030, 3], 1),
    (&[999, 4], 1),
    (&[555, 12], 1),
    (&[700, 16], 1),
    (&[333, 31], 1),
    (&[260, 32], 1),
    (&[700, 33], 1),
    (&[301, 70], 1),
    (&[67, 200], 1),
    (&[71, 341], 1),
    // Shares that end with a tile, inside the only segment.
    (&[4092], 0),
    (&[1, 4095], 1),
    (&[8184], 0),
    (&[8190], 0),
    // Few rows of many columns, and no more than one lane's.
    (&[3, 2000], 0),
    (&[2, 5, 130], 1),
    // Columns of many matrices in one line: narrower than what a warp takes, wider, and in two runs.
    (&[66, 9, 45], 1),
    (&[33, 9, 131], 1),
    (&[25, 70, 131], 1),
];

/// More of them, for machines that are fast enough.
const LARGE: &[(&[u64], i64)] = &[
    (&[3000, 5000], 1),
    (&[5000, 3000], 0),
    (&[1_000_003, 4], 0),
    (&[1_000_003, 3], 0),
    (&[3, 1_000_003], 0),
    (&[64, 3, 20_001], 1),
    (&[50, 700, 341], 1),
    (&[5000, 9, 45], 1),
];

/// A layout in memory from some element on, and the axes that are folded.
struct Case {
    layout: Layout,
    axes: Vec<i64>,
    from: usize,
}

/// Arrays in C order, of which one axis is folded.
fn matrices() -> Vec<Case> {
    let large = if SCALE > 1 { LARGE } else { &[] };
    let cases = CASES.iter().chain(large).enumerate();
    let case = |(k, &(shape, axis)): (usize, &(&[u64], i64))| {
        let from = [0, 1, 4, 16][k % 4];
        Case { layout: Layout::c(shape).unwrap(), axes: vec![axis], from }
    };
    cases.map(case).collect()
}

/// Views that are neither rows nor columns: axes that do not merge, permuted, backward and repeated ones, and none at all.
fn views() -> Vec<Case> {
    let case = |layout: Layout, axes: &[i64]| Case { layout, axes: axes.to_vec(), from: 1 };
    let c = |shape: &[u64]| Layout::c(shape).unwrap();
    let strided =
        |shape: &[u64], strides: &[i64], start| Layout::strided(shape, strides, start).unwrap();
    let permuted = c(&[4, 3, 5, 6]).permuted(&[2, 0, 3, 1]).unwrap();
    vec![
        case(permuted.clone(), &[1]),
        case(permuted.clone(), &[0, 2]),
        case(permuted.clone(), &[1, 3]),
        case(permuted, &[]),
        case(c(&[7, 8, 9]), &[0, 2]),
        case(c(&[2, 300, 3]), &[0, 2]),
        case(c(&[700, 2, 3]), &[0, 2]),
        case(strided(&[6, 40], &[-80, 2], 400), &[1]),
        case(strided(&[6, 40], &[80, -2], 78), &[0, 1]),
        case(strided(&[5, 3, 20], &[0, 20, -1], 19), &[0]),
        case(strided(&[5, 3, 20], &[0, 20, -1], 19), &[0, 2]),
        case(strided(&[90, 4], &[-1, 0], 89), &[0]),
        case(strided(&[66, 9, 45], &[0, 45, 1], 0), &[1]),
        case(Layout::fortran(&[3, 4, 5]).unwrap(), &[1]),
    ]
}

/// In a simulator, which is slow, one case in so many, others for each type; everywhere else all of them.
fn some(cases: Vec<Case>, one_in: usize, dtype: DType) -> Vec<Case> {
    let is_taken = |k: usize| SCALE > 1 || k % one_in == dtype as usize % one_in;
    cases.into_iter().enumerate().filter(|(k, _)| is_taken(*k)).map(|(_, case)| case).collect()
}

/// The elements of an output of an array in C order, one axis of which is folded.
fn along<T: Copy>(x: &[T], shape: &[u64], axis: usize, output: usize) -> Vec<T> {
    let inner = shape[axis + 1..].iter().product::<u64>() as usize;
    let length = shape[axis] as usize;
    let first = output / inner * length * inner + output % inner;
    (0..length).map(|k| x[first + k * inner]).collect()
}

fn check<T: Sample>(exact: bool, cases: Vec<Case>, ops: &[&[Op]]) {
    let mut random = Random(T::DTYPE as u64 + 31);
    for (case, Case { layout, axes, from }) in cases.into_iter().enumerate() {
        let shape = layout.shape();
        let kind = match exact {
            true => [Contents::Plain, Contents::Wide, Contents::Specials][case % 3],
            false => [Contents::Plain, Contents::Ties, Contents::Specials][case % 3],
        };
        let n = layout.extent().unwrap().end as usize;
        let memory = array::<T>(kind, n + from, &mut random);
        let Some(device) = machine(2, random.next()) else { return };
        let buffer = device.upload(&memory).unwrap();
        let view = View::of(&memory[from..], layout.clone()).unwrap();
        let outputs = reduce_axes(&view, &axes).unwrap().shape().iter().product::<u64>().max(1);
        let folded = layout.elements() / outputs;
        for &op in ops[(case + T::DTYPE as usize / 2) % ops.len()] {
            let accuracy = if exact { Accuracy::Exact } else { Accuracy::Fast };
            let policy = Policy { accuracy, ..Policy::default() };
            let reduce =
                device.reduce_axes(buffer.slice(from..), &layout, &axes).unwrap().policy(policy);
            let plan = reduce.plan(op).unwrap();
            let found: Result<Vec<Value>, Error> = with_element!(plan.output(), R => {
                let values = reduce.on_device::<R>(op).and_then(|values| values.download());
                values.map(|values| R::as_parts(&values).iter().map(|&part| part.into()).collect())
            });
            let outputs = reduce_axes(&view, &axes).unwrap().columns(op, Finish::default());
            let (found, expected) = match (found, outputs) {
                (Ok(found), Ok(columns)) => (found, columns.into_iter().next().unwrap().1),
                // Integers of their whole range overflow.
                (
                    Err(Error::Output { output: found, .. }),
                    Err(Error::Output { output, error }),
                ) => {
                    assert_eq!(found, output, "{plan}");
                    assert!(matches!(*error, Error::Overflow { .. }), "{plan}: {error}");
                    continue;
                }
                (found, outputs) => panic!("{plan}: kernel {found:?}, cpu {outputs:?}"),
            };
            assert_eq!(found.len(), expected.len());
            let rounds = T::DTYPE.is_float() && matches!(op, Op::Sum | Op::Mean | Op::L1) && !exact;
            let tolerance = if rounds { bound::of_each(op, &memory, folded) } else { 0.0 };
            for (at, found) in found.into_iter().enumerate() {
                let expected = expected.get(at);
                let (found, expected) = (Ok(Output::One(found)), Ok(Output::One(expected)));
                let agree = match rounds {
                    true => near(&found, &expected, tolerance),
                    false => same(&found, &expected),
                };
                if let ([axis], false) = (&axes[..], rounds)
                    && layout == Layout::c(&shape).unwrap()
                {
                    let x = along(&memory[from..], &shape, *axis as usize, at);
                    let what = format!("{plan}: {shape:?}, output {at}, {kind:?}");
                    truth::check_output(
                        at,
                        &found,
                        op,
                        Nan::Propagate,
                        &x,
                        Finish::default(),
                        &what,
                    );
                }
                assert!(
                    agree,
                    "{plan}: {shape:?}, output {at}, {kind:?}: kernel {found:?}, cpu {expected:?}"
                );
            }
        }
    }
}

macro_rules! for_each_type {
    ($($name:ident $views:ident: $dtype:ident;)+) => {$(
        #[test]
        fn $name() {
            let cases = some(matrices(), 2, DType::$dtype);
            with_element!(DType::$dtype, T => check::<T>(false, cases, FAST));
        }

        #[test]
        fn $views() {
            with_element!(DType::$dtype, T => check::<T>(false, views(), ALL));
        }
    )+};
}
for_each_type! {
    i8_ views_i8: I8;
    i32_ views_i32: I32;
    u32_ views_u32: U32;
    i64_ views_i64: I64;
    f16_ views_f16: F16;
    bf16_ views_bf16: BF16;
    f32_ views_f32: F32;
    f64_ views_f64: F64;
}

macro_rules! exactly {
    ($($name:ident $spread:ident $views:ident: $dtype:ident;)+) => {$(
        #[test]
        fn $spread() {
            // What kernels of pairs miss is slow in a simulator.
            let cases = some(matrices(), 4, DType::$dtype);
            with_element!(DType::$dtype, T => check::<T>(true, cases, SPREAD));
        }

        #[test]
        fn $name() {
            let cases = some(matrices(), 2, DType::$dtype);
            with_element!(DType::$dtype, T => check::<T>(true, cases, SUMS));
        }

        #[test]
        fn $views() {
            with_element!(DType::$dtype, T => check::<T>(true, views(), EXACT));
        }
    )+};
}
exactly! {
    exact_f16 exact_spread_f16 exact_views_f16: F16;
    exact_bf16 exact_spread_bf16 exact_views_bf16: BF16;
    exact_f32 exact_spread_f32 exact_views_f32: F32;
    exact_f64 exact_spread_f64 exact_views_f64: F64;
}
