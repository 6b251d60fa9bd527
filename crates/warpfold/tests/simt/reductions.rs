//! One test a type.

use warpfold::plan::{CudaFacts, Shape};
use warpfold::simt::{Device, Settings};
use warpfold::{DType, with_element};

use crate::check::{check, check_dot, check_exact};
use crate::data::{Contents, Random, array};
use crate::sample::Sample;

/// Few multiprocessors, so that grids stay small.
const FACTS: CudaFacts = CudaFacts { compute: 90, multiprocessors: 3 };

/// One block of a warp; few blocks of two warps; many, of which the last has to fold more states than it has lanes; the
/// largest block.
const SHAPES: [Shape; 4] = [
    Shape { block: 32, per_multiprocessor: 1, vectors: 1, alone: u32::MAX },
    Shape { block: 64, per_multiprocessor: 1, vectors: 1, alone: 0 },
    Shape { block: 32, per_multiprocessor: 13, vectors: 1, alone: 0 },
    Shape { block: 512, per_multiprocessor: 1, vectors: 2, alone: 0 },
];

/// Lengths around vectors, warps and the blocks of the shapes, in elements and in vectors.
fn lengths(size: usize) -> Vec<usize> {
    let pack = 16 / size;
    let mut all = vec![0, 1, 31, 32, 33, 63, 64, 65, 129, pack + 1];
    all.extend([32 * pack, 64 * pack - 1, 64 * pack + 1, 129 * pack]);
    all.sort_unstable();
    all.dedup();
    all
}

fn device(compute: u32, seed: u64) -> Device {
    Device::with(CudaFacts { compute, ..FACTS }, Settings { seed, ..Settings::default() })
}

/// Every reduction at every length in two shapes, each time under another seed, alignment and kind of content; then one of some size
/// in all shapes.
fn every_kernel<T: Sample>(compute: u32) {
    let mut random = Random(T::DTYPE as u64 + 1);
    let long = 20_000 / size_of::<T>() * 4 + 3;
    let arrays = Contents::ALL.map(|kind| (kind, array::<T>(kind, long + 17, &mut random)));
    let short = lengths(size_of::<T>());
    let turns = (0..2).flat_map(|turn| short.iter().zip(turn..));
    let cases = turns.map(|(&n, k)| (n, k, SHAPES[k % 4]));
    let cases = cases.chain(SHAPES.iter().enumerate().skip(1).map(|(k, shape)| (long, k, *shape)));
    for (n, k, shape) in cases {
        let (kind, x) = &arrays[if n == long { k % 2 * 3 } else { (k + n) % arrays.len() }];
        let (i, j) = (random.below(17) as usize, random.below(17) as usize);
        // Seed 0 is the schedule that starts blocks in their order.
        let seed = if k % 5 == 0 { 0 } else { random.next() };
        let device = device(compute, seed);
        let buffer = device.upload(x).unwrap();
        let what = format!("{kind:?} from {i} and {j}, seed {seed}");
        check(&device, &x[i..i + n], buffer.slice(i..i + n), Some(shape), &what);
        let j = if k % 3 == 0 { i } else { j };
        let views = (buffer.slice(i..i + n), buffer.slice(j..j + n));
        check_dot(&device, &x[i..i + n], &x[j..j + n], views, false, &what);
    }
}

/// Exact folds, whose data matters: of one scale and of none.
fn exact<T: Sample>() {
    let mut random = Random(T::DTYPE as u64 + 100);
    let long = 9_000 / size_of::<T>() * 4 + 3;
    let kinds = [Contents::Plain, Contents::Wide, Contents::Specials, Contents::Zeros];
    let arrays = kinds.map(|kind| (kind, array::<T>(kind, long + 17, &mut random)));
    let pack = 16 / size_of::<T>();
    let lengths = [0, 1, 2, 33, 32 * pack, 129 * pack + 1, long];
    for (case, n) in lengths.iter().flat_map(|&n| [n; 2]).enumerate() {
        let (kind, x) = &arrays[case % 4];
        let shape = SHAPES[case / 2 % 4];
        let (i, j) = (random.below(17) as usize, random.below(17) as usize);
        let seed = random.next();
        let device = device(90, seed);
        let buffer = device.upload(x).unwrap();
        let what = format!("{kind:?} from {i} and {j}, seed {seed}");
        check_exact(&device, &x[i..i + n], buffer.slice(i..i + n), Some(shape), &what);
        let j = if case % 3 == 0 { i } else { j };
        let views = (buffer.slice(i..i + n), buffer.slice(j..j + n));
        check_dot(&device, &x[i..i + n], &x[j..j + n], views, *kind == Contents::Wide, &what);
    }
}

#[test]
fn launches_of_any_shape() {
    assert_eq!(crate::launches::mismatches(&device(90, 0), 90, 2000, 1), 0);
}

#[test]
fn exact_f16() {
    exact::<warpfold::f16>();
}

#[test]
fn exact_bf16() {
    exact::<warpfold::bf16>();
}

#[test]
fn exact_f32() {
    exact::<f32>();
}

#[test]
fn exact_f64() {
    exact::<f64>();
}

#[test]
fn exact_complex64() {
    exact::<warpfold::Complex<f32>>();
}

#[test]
fn exact_complex128() {
    exact::<warpfold::Complex<f64>>();
}

macro_rules! for_each_type {
    ($($name:ident: $dtype:ident $($compute:literal)+;)+) => {$(
        #[test]
        fn $name() {
            $(with_element!(DType::$dtype, T => every_kernel::<T>($compute));)+
        }
    )+};
}
// Types that have builds of their own for newer devices are run for older ones too.
for_each_type! {
    bool_: Bool 70 90;
    i8_: I8 70 90;
    i16_: I16 70 90;
    i32_: I32 90;
    i64_: I64 90;
    u8_: U8 70 90;
    u16_: U16 70 90;
    u32_: U32 90;
    u64_: U64 90;
    f16_: F16 70 90;
    bf16_: BF16 70 90;
    f32_: F32 70 90;
    f64_: F64 90;
    complex64: Complex64 90;
    complex128: Complex128 90;
}
