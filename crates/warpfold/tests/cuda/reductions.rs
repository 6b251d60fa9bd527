//! The same array reduced on both, every way there is.

use warpfold::cuda::{Gpu, View};
use warpfold::partial::{Finish, Output};
use warpfold::plan::Shape;
use warpfold::{Accuracy, DType, Element, Error, Nan, Op, Policy, Result, Value, with_element};

use crate::compare::{near, same};
use crate::data::{Kind, Random, array};

/// What runs on CUDA, and whether it rounds on the way for floats.
const OPS: &[(Op, bool)] = &[
    (Op::Sum, true),
    (Op::Mean, true),
    (Op::Min, false),
    (Op::Max, false),
    (Op::MinMax, false),
    (Op::ArgMin, false),
    (Op::ArgMax, false),
    (Op::Count, false),
    (Op::Var, true),
    (Op::Std, true),
    (Op::L1, true),
    (Op::L2, true),
    (Op::Linf, false),
    (Op::Prod, true),
    (Op::Any, false),
    (Op::All, false),
];

/// Lengths around packs, warps, blocks and whole grids of the shapes below.
fn lengths(size: usize) -> Vec<usize> {
    let pack = 16 / size;
    let mut all: Vec<usize> = (0..=2 * pack + 1).collect();
    for packs in [31, 32, 33, 511, 512, 513, 2047, 2048, 2049, 4 * 512 * 3 + 7] {
        all.extend([packs * pack - 1, packs * pack, packs * pack + 1]);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// One block of a warp, few blocks, many small ones, the largest.
const SHAPES: &[Option<Shape>] = &[
    None,
    Some(Shape { block: 32, per_multiprocessor: 1, packs: 1, alone: 0 }),
    Some(Shape { block: 96, per_multiprocessor: 32, packs: 1, alone: 0 }),
    Some(Shape { block: 512, per_multiprocessor: 2, packs: 4, alone: 0 }),
];

/// The CPU's result. Norms that it folds in other ways are taken from exact sums and extremes of magnitudes.
fn reference<T: Element>(x: &[T], op: Op, policy: Policy) -> Result<Output> {
    match op {
        Op::L1 => return Ok(Output::One(l1(x, policy))),
        Op::Linf => return Ok(Output::One(linf(x, policy))),
        // The product of the same numbers in f32, which holds every f16: another kernel, the same result.
        Op::Prod if T::DTYPE == DType::F16 => {
            let wide: Vec<f32> = T::as_parts(x).iter().map(|p| number(*p) as f32).collect();
            let partial = warpfold::reduce(&wide).policy(policy).partial(op)?;
            return partial.finish(op, Finish::default());
        }
        _ => {}
    }
    let partial = warpfold::reduce(x).policy(policy).partial(op)?;
    partial.finish(op, Finish::default()).map_err(|error| match error {
        Error::Empty { .. } => Error::Empty { op, ignored: !x.is_empty() },
        other => other,
    })
}

fn kept<T: Element>(x: &[T], policy: Policy) -> Vec<T> {
    let is_nan = |x: &T| T::as_parts(&[*x]).iter().any(|p| warpfold::Real::is_nan(*p));
    x.iter().copied().filter(|x| policy.nan == Nan::Propagate || !is_nan(x)).collect()
}

/// A real number as f64, which holds every float and every integer of up to 53 bits.
fn number<R: warpfold::Ordered>(x: R) -> f64 {
    let mut one = warpfold::Exact::<R>::new();
    one.add(x);
    match one.round_as::<f64>().into() {
        Value::F64(x) => x,
        other => panic!("{other:?} is not an f64"),
    }
}

fn l1<T: Element>(x: &[T], policy: Policy) -> Value {
    let x = kept(x, policy);
    if !T::DTYPE.is_float() {
        // Magnitudes as u64, summed exactly.
        let magnitude = |p: &T::Part| with_magnitude(*p);
        let parts: Vec<u64> = T::as_parts(&x).iter().map(magnitude).collect();
        let mut sum = warpfold::Exact::<u64>::new();
        sum.extend(&parts);
        return sum.round_as::<f64>().into();
    }
    let parts: Vec<f64> = T::as_parts(&x).iter().map(|p| number(*p)).collect();
    let magnitudes: Vec<f64> = parts
        .chunks(T::PARTS)
        .map(|z| match z {
            [re, im] if re.is_nan() || im.is_nan() => f64::NAN,
            [re, im] => re.hypot(*im),
            _ => z[0].abs(),
        })
        .collect();
    let mut sum = warpfold::Exact::<f64>::new();
    sum.extend(&magnitudes);
    rounded::<T>(sum.round())
}

fn linf<T: Element>(x: &[T], policy: Policy) -> Value {
    let x = kept(x, policy);
    if !T::DTYPE.is_float() {
        return T::as_parts(&x).iter().map(|p| with_magnitude(*p)).max().unwrap_or(0).into();
    }
    let parts = T::as_parts(&x).iter().map(|p| number(*p).abs());
    rounded::<T>(parts.fold(0.0, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }))
}

/// In the float type of the results.
fn rounded<T: Element>(x: f64) -> Value {
    let mut one = warpfold::Exact::<f64>::new();
    one.add(x);
    match T::DTYPE {
        DType::F64 | DType::Complex128 => one.round_as::<f64>().into(),
        _ => one.round_as::<f32>().into(),
    }
}

fn with_magnitude<R: warpfold::Ordered>(x: R) -> u64 {
    match x.into() {
        Value::I8(x) => x.unsigned_abs().into(),
        Value::I16(x) => x.unsigned_abs().into(),
        Value::I32(x) => x.unsigned_abs().into(),
        Value::I64(x) => x.unsigned_abs(),
        Value::Bool(x) => x.into(),
        Value::U8(x) => x.into(),
        Value::U16(x) => x.into(),
        Value::U32(x) => x.into(),
        Value::U64(x) => x,
        other => panic!("{other:?} is no integer"),
    }
}

fn check<T: Element>(gpu: &Gpu, x: &[T], view: View<'_, T>, shape: Option<Shape>, what: &str) {
    for nan in [Nan::Propagate, Nan::Ignore] {
        if nan == Nan::Ignore && !T::DTYPE.is_float() {
            continue;
        }
        for &(op, rounds) in OPS {
            let real = matches!(
                op,
                Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax | Op::Linf | Op::Prod
            );
            if real && T::DTYPE.is_complex() {
                continue;
            }
            let policy = Policy { nan, ..Policy::default() };
            let cpu = reference(x, op, policy);
            let fast = Policy { accuracy: Accuracy::Fast, ..policy };
            let mut reduce = gpu.reduce(view).policy(fast);
            if let Some(shape) = shape {
                reduce = reduce.shape(shape);
            }
            let cuda = reduce.output(op, Finish::default());
            let agree = if rounds && T::DTYPE.is_float() {
                // Values are at most 1 in magnitude; a tree sum of n errs by far less than n units of 2^-24.
                let mean = if matches!(op, Op::Sum | Op::L1) { x.len().max(1) as f64 } else { 1.0 };
                let mean = if op == Op::L2 { mean * (x.len().max(1) as f64).sqrt() } else { mean };
                let unit =
                    if matches!(T::DTYPE, DType::F64 | DType::Complex128) { -48 } else { -20 };
                let tolerance = match (op, &cpu) {
                    // Both within one ulp, subnormal results too.
                    (Op::Prod, Ok(Output::One(Value::F64(x)))) => {
                        x.abs() * 2f64.powi(-51) + f64::from_bits(2)
                    }
                    (Op::Prod, Ok(Output::One(Value::F32(x)))) => {
                        f64::from(x.abs()) * 2f64.powi(-22) + 2f64.powi(-148)
                    }
                    _ => mean * 2f64.powi(unit),
                };
                near(&cuda, &cpu, tolerance)
            } else {
                same(&cuda, &cpu)
            };
            assert!(
                agree,
                "{op} of {} {} ({what}, {nan:?}, {shape:?}): cuda {cuda:?}, cpu {cpu:?}",
                x.len(),
                T::DTYPE
            );
        }
    }
}

/// Dot, of arrays aligned alike and not.
fn check_dot<T: Element>(
    gpu: &Gpu,
    x: &[T],
    y: &[T],
    views: (View<'_, T>, View<'_, T>),
    what: &str,
) {
    for nan in [Nan::Propagate, Nan::Ignore] {
        let keep = |x: &T| {
            nan == Nan::Propagate || !T::as_parts(&[*x]).iter().any(|p| warpfold::Real::is_nan(*p))
        };
        let mut exact = warpfold::Dot::<T>::new();
        for (x, y) in x.iter().zip(y).filter(|(x, y)| keep(x) && keep(y)) {
            exact.add(*x, *y);
        }
        let cpu = warpfold::Partial::Dot(Box::new(exact)).finish(Op::Dot, Finish::default());
        let policy = Policy { nan, accuracy: Accuracy::Fast, ..Policy::default() };
        let cuda = gpu
            .reduce_two(views.0, views.1)
            .unwrap()
            .policy(policy)
            .output(Op::Dot, Finish::default());
        let agree = if T::DTYPE.is_float() {
            let unit = if matches!(T::DTYPE, DType::F64 | DType::Complex128) { -48 } else { -20 };
            near(&cuda, &cpu, 2.0 * x.len().max(1) as f64 * 2f64.powi(unit))
        } else {
            same(&cuda, &cpu)
        };
        assert!(
            agree,
            "dot of {} {} ({what}, {nan:?}): cuda {cuda:?}, cpu {cpu:?}",
            x.len(),
            T::DTYPE
        );
    }
}

fn every_length<T: Element>(gpu: &Gpu) {
    let lengths = lengths(size_of::<T>());
    let longest = lengths.last().unwrap() + 64;
    let mut random = Random(T::DTYPE as u64 + 1);
    for kind in Kind::ALL {
        let x = array::<T>(kind, longest, &mut random);
        let buffer = gpu.upload(&x).unwrap();
        for (k, &n) in lengths.iter().enumerate() {
            let small = n < 200;
            for shape in
                SHAPES.iter().skip(if small { 0 } else { k % 2 }).step_by(if small { 3 } else { 2 })
            {
                let offset = random.below(33) as usize;
                let what = format!("{kind:?} from {offset}");
                check(gpu, &x[offset..offset + n], buffer.slice(offset..offset + n), *shape, &what);
            }
        }
        for (k, &n) in lengths.iter().enumerate() {
            let (i, j) = (k % 7, random.below(33) as usize);
            let (i, j) = if k % 3 == 0 { (i, i) } else { (i, j) };
            let views = (buffer.slice(i..i + n), buffer.slice(j..j + n));
            check_dot(
                gpu,
                &x[i..i + n],
                &x[j..j + n],
                views,
                &format!("{kind:?} from {i} and {j}"),
            );
        }
        for offset in 0..=16 {
            let n = 3 * 512 + 5;
            let what = format!("{kind:?} from {offset}");
            check(gpu, &x[offset..offset + n], buffer.slice(offset..offset + n), None, &what);
        }
    }
}

/// Every kernel at least once in one block and in several, over arrays that begin and end within packs: short, for tools that
/// watch every access.
fn each_kernel<T: Element>(gpu: &Gpu) {
    let mut random = Random(7);
    let n = 3 * 512 * 16 / size_of::<T>() + 5;
    let x = array::<T>(Kind::Specials, n + 3, &mut random);
    let buffer = gpu.upload(&x).unwrap();
    for shape in [None, Some(Shape { block: 128, per_multiprocessor: 1, packs: 2, alone: 0 })] {
        check(gpu, &x[1..n], buffer.slice(1..n), shape, "each kernel");
    }
    for first in [1, 2] {
        let views = (buffer.slice(1..n), buffer.slice(first..first + n - 1));
        check_dot(gpu, &x[1..n], &x[first..first + n - 1], views, "each kernel");
    }
}

#[test]
fn sanitizer_each_kernel() {
    let Some(gpu) = crate::gpu() else { return };
    for &dtype in DType::ALL {
        with_element!(dtype, T => each_kernel::<T>(&gpu));
    }
}

fn large<T: Element>(gpu: &Gpu) {
    let mut random = Random(99);
    let n = (40 << 20) / size_of::<T>() + 3;
    let mut x = array::<T>(Kind::Plain, n, &mut random);
    let ties = array::<T>(Kind::Ties, 1000, &mut random);
    x[n / 2..n / 2 + 1000].copy_from_slice(&ties);
    let buffer = gpu.upload(&x).unwrap();
    check(gpu, &x, buffer.view(), None, "large");
    check(gpu, &x[1..], buffer.slice(1..), None, "large from 1");
}

macro_rules! for_each_type {
    ($($name:ident: $dtype:ident;)+) => {$(
        mod $name {
            #[test]
            fn every_length_alignment_and_shape() {
                let Some(gpu) = crate::gpu() else { return };
                super::with_element!(super::DType::$dtype, T => super::every_length::<T>(&gpu));
            }

            #[test]
            fn large_arrays() {
                let Some(gpu) = crate::gpu() else { return };
                super::with_element!(super::DType::$dtype, T => super::large::<T>(&gpu));
            }
        }
    )+};
}
for_each_type! {
    bool_: Bool;
    i8_: I8;
    i16_: I16;
    i32_: I32;
    i64_: I64;
    u8_: U8;
    u16_: U16;
    u32_: U32;
    u64_: U64;
    f16_: F16;
    bf16_: BF16;
    f32_: F32;
    f64_: F64;
    complex64: Complex64;
    complex128: Complex128;
}

/// More than 2^32 elements: the planted ones stand beyond what 32 bits can index.
#[test]
fn more_than_two_to_the_32_elements() {
    let Some(gpu) = crate::gpu() else { return };
    let n = (1usize << 32) + 1000;
    let mut x = match gpu.alloc::<u8>(n) {
        Ok(buffer) => buffer,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let planted: Vec<u8> = (0..100).map(|k| 1 + k % 7).collect();
    x.write(n - 500, &planted).unwrap();
    let sum: u64 = planted.iter().map(|&b| u64::from(b)).sum();
    assert_eq!(gpu.reduce(&x).sum(), Ok(sum));
    assert_eq!(gpu.reduce(&x).count(), Ok(100));
    assert_eq!(gpu.reduce(&x).argmax(), Ok((n - 500 + 6) as u64));
    assert_eq!(gpu.reduce(x.slice(3..)).argmax(), Ok((n - 503 + 6) as u64));
    assert_eq!(gpu.reduce(&x).argmin(), Ok(0));
}

/// The sum of an i64 array overflows i64 only on the host's check, and 128 bits hold it.
#[test]
fn integer_overflow_is_judged_on_the_mathematical_sum() {
    let Some(gpu) = crate::gpu() else { return };
    let x = gpu.upload(&[i64::MAX, 1, -1]).unwrap();
    assert_eq!(gpu.reduce(&x).sum(), Ok(i64::MAX));
    assert!(matches!(gpu.reduce(x.slice(..2)).sum(), Err(warpfold::Error::Overflow { .. })));
    assert_eq!(gpu.reduce(x.slice(..2)).sum_wide(), Ok(1i128 << 63));
    let x = gpu.upload(&[u64::MAX; 3]).unwrap();
    assert_eq!(gpu.reduce(&x).sum_wide(), Ok(3 * u128::from(u64::MAX)));
}
