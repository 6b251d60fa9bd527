//! Every length, alignment and shape on a GPU, and what only a GPU is fast enough for.

use warpfold::cuda::Gpu;
use warpfold::plan::Shape;
use warpfold::{DType, with_element};

use crate::check::{check, check_dot, check_exact};
use crate::data::{Contents, Random, array};
use crate::sample::Sample;

/// Lengths around vectors, warps, blocks and whole grids of the shapes below.
fn lengths(size: usize) -> Vec<usize> {
    let pack = 16 / size;
    let mut all: Vec<usize> = (0..=2 * pack + 1).collect();
    for vectors in [31, 32, 33, 511, 512, 513, 2047, 2048, 2049, 4 * 512 * 3 + 7] {
        all.extend([vectors * pack - 1, vectors * pack, vectors * pack + 1]);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// One block of a warp, few blocks, many small ones, the largest.
const SHAPES: &[Option<Shape>] = &[
    None,
    Some(Shape { block: 32, per_multiprocessor: 1, vectors: 1, alone: 0 }),
    Some(Shape { block: 96, per_multiprocessor: 32, vectors: 1, alone: 0 }),
    Some(Shape { block: 512, per_multiprocessor: 2, vectors: 4, alone: 0 }),
];

fn every_length<T: Sample>(gpu: &Gpu) {
    let lengths = lengths(size_of::<T>());
    let longest = lengths.last().unwrap() + 64;
    let mut random = Random(T::DTYPE as u64 + 1);
    for kind in Contents::ALL {
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
                false,
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

/// Exact folds over data of one scale and of none, in many shapes.
fn exact<T: Sample>(gpu: &Gpu) {
    let mut random = Random(T::DTYPE as u64 + 1000);
    let lengths = lengths(size_of::<T>());
    let longest = lengths[lengths.len() - 1] + 40;
    for kind in [Contents::Plain, Contents::Wide, Contents::Specials, Contents::Zeros] {
        let x = array::<T>(kind, longest, &mut random);
        let buffer = gpu.upload(&x).unwrap();
        for (k, &n) in lengths.iter().enumerate() {
            let (i, j) = (random.below(33) as usize, random.below(33) as usize);
            let what = format!("{kind:?} from {i}");
            let shape = SHAPES[k % SHAPES.len()];
            check_exact(gpu, &x[i..i + n], buffer.slice(i..i + n), shape, &what);
            let j = if k % 3 == 0 { i } else { j };
            let views = (buffer.slice(i..i + n), buffer.slice(j..j + n));
            check_dot(gpu, &x[i..i + n], &x[j..j + n], views, kind == Contents::Wide, &what);
        }
    }
    // Launches of any shape, over an array that fills none of them evenly.
    let x = array::<T>(Contents::Wide, 100_003, &mut random);
    let buffer = gpu.upload(&x).unwrap();
    for _ in 0..40 {
        let shape = Shape {
            block: 32 * (1 + random.below(16) as u32),
            per_multiprocessor: 1 + random.below(32) as u32,
            vectors: 1 + random.below(8) as u32,
            alone: 0,
        };
        check_exact(gpu, &x, (&buffer).into(), Some(shape), "any shape");
    }
}

#[test]
fn exact_sums_have_the_bits_of_the_cpu() {
    let Some(gpu) = crate::gpu() else { return };
    for dtype in DType::ALL.iter().filter(|dtype| dtype.is_float()) {
        with_element!(*dtype, T => exact::<T>(&gpu));
    }
}

/// Every kernel at least once in one block and in several, over arrays that begin and end within vectors: short, for tools that
/// watch every access.
fn each_kernel<T: Sample>(gpu: &Gpu) {
    let mut random = Random(7);
    let n = 3 * 512 * 16 / size_of::<T>() + 5;
    let x = array::<T>(Contents::Specials, n + 3, &mut random);
    let buffer = gpu.upload(&x).unwrap();
    for shape in [None, Some(Shape { block: 128, per_multiprocessor: 1, vectors: 2, alone: 0 })] {
        check(gpu, &x[1..n], buffer.slice(1..n), shape, "each kernel");
        check_exact(gpu, &x[1..n], buffer.slice(1..n), shape, "each kernel");
    }
    for first in [1, 2] {
        let views = (buffer.slice(1..n), buffer.slice(first..first + n - 1));
        check_dot(gpu, &x[1..n], &x[first..first + n - 1], views, false, "each kernel");
    }
}

#[test]
fn sanitizer_each_kernel() {
    let Some(gpu) = crate::gpu() else { return };
    for &dtype in DType::ALL {
        with_element!(dtype, T => each_kernel::<T>(&gpu));
    }
}

fn large<T: Sample>(gpu: &Gpu) {
    let mut random = Random(99);
    let n = (40 << 20) / size_of::<T>() + 3;
    let mut x = array::<T>(Contents::Plain, n, &mut random);
    let ties = array::<T>(Contents::Ties, 1000, &mut random);
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
                warpfold::with_element!(warpfold::DType::$dtype, T => super::every_length::<T>(&gpu));
            }

            #[test]
            fn large_arrays() {
                let Some(gpu) = crate::gpu() else { return };
                warpfold::with_element!(warpfold::DType::$dtype, T => super::large::<T>(&gpu));
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
