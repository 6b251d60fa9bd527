//! Products of floats on a machine: the bits of the processor's, as partials that merge with those of other machines.

#[allow(unused_imports, reason = "one of two machines has its methods itself")]
use warpfold::kernel::Machine as _;
use warpfold::partial::{Finish, Partial};
use warpfold::plan::Shape;
use warpfold::{
    Complex, Element, Layout, Nan, Op, Policy, Segments, View, bf16, f16, reduce, reduce_axes,
    reduce_segments,
};

use crate::data::{Contents, Random, array};
use crate::on_device::difference;
use crate::{SCALE, machine};

const NANS: [Nan; 2] = [Nan::Propagate, Nan::Ignore];

macro_rules! of_floats {
    ($test:ident) => {
        $test::<f16>();
        $test::<bf16>();
        $test::<f32>();
        $test::<f64>();
        $test::<Complex<f32>>();
        $test::<Complex<f64>>();
    };
}

/// That a machine's products of parts have the bits of the processor's.
macro_rules! same {
    ($there:expr, $here:expr, $($what:tt)+) => {{
        let [there, here] = [
            text($there.columns(Op::Prod, Finish::default())),
            text($here.columns(Op::Prod, Finish::default())),
        ];
        assert_eq!(there, here, $($what)+);
    }};
}

/// The processor's partial of elements that begin at an index.
fn expected<T: Element>(x: &[T], nan: Nan, first: u64) -> Partial<T> {
    let request = warpfold_engine::Request::new(Op::Prod, warpfold_engine::HostArray::of(x));
    let request = request.policy(Policy { nan, ..Policy::default() }).starting_at(first);
    warpfold_engine::reduce(&request).unwrap().typed().unwrap()
}

/// Lengths about the boundaries of runs, blocks and tiles.
fn lengths() -> impl Iterator<Item = usize> {
    let about = |n: usize| [n - 1, n, n + 1];
    (0..=70)
        .chain([96, 1024, 1056, 2048, 8192, 9 * 1024, 16_384, 20_001].into_iter().flat_map(about))
}

fn lengths_of<T: Element>() {
    let Some(machine) = machine(2, 5) else { return };
    let mut random = Random(11);
    for kind in [Contents::Plain, Contents::Wide, Contents::Specials, Contents::Zeros] {
        let x = array::<T>(kind, 20_100, &mut random);
        let on = machine.upload(&x).unwrap();
        for (n, nan) in lengths().flat_map(|n| NANS.map(|nan| (n, nan))) {
            // Long ones take a simulator long; each kind has some, and each type others.
            let is_left_out = match (kind, nan) {
                (Contents::Wide, Nan::Propagate) => {
                    SCALE == 1 && n > 70 && n % 3 != T::DTYPE as usize % 3
                }
                (Contents::Specials, _) => n > 70 && n % 1024 != 1 || n > 10_000,
                _ => n > 70,
            };
            if is_left_out {
                continue;
            }
            let reduce = machine.reduce(on.slice(..n)).nan(nan);
            let found = reduce.partial(Op::Prod).unwrap();
            let wanted = expected(&x[..n], nan, 0);
            let what = format!("{n} {} {kind:?} {nan:?}", T::DTYPE);
            assert_eq!(found.to_bytes(), wanted.to_bytes(), "{what}: {found:?} {wanted:?}");
            let output = reduce.output(Op::Prod, Finish::default());
            assert_eq!(
                difference(&machine, &reduce, Op::Prod, Finish::default(), &output),
                None,
                "{what}, left"
            );
        }
    }
}

#[test]
fn products_of_all_lengths_have_the_bits_of_the_processor() {
    of_floats!(lengths_of);
}

fn shapes_of<T: Element>() {
    let Some(machine) = machine(4, 6) else { return };
    let mut random = Random(12);
    let x = array::<T>(Contents::Wide, 70_000, &mut random);
    let on = machine.upload(&x).unwrap();
    for (block, per_multiprocessor, vectors) in
        [(32, 1, 1), (64, 3, 8), (96, 2, 1), (128, 7, 4), (512, 1, 64)]
    {
        let shape = Shape { block, per_multiprocessor, vectors, alone: 0 };
        // Where whole blocks begin and end, and within one run and one block; not aligned to vectors; across the ends of sets of spans, and of sets of these.
        for (from, to, first) in [
            (0, 70_000, 0),
            (1, 40_000, 1),
            (3, 30_000, 999),
            (7, 20, 40),
            (0, 100, 1000),
            (5, 9000, 32_700),
            (0, 65_536, 8192),
            (0, 12_000, 125_000),
            (5, 9000, 16_773_000),
        ] {
            let found = machine.reduce(on.slice(from..to)).shape(shape).starting_at(first);
            let found = found.partial(Op::Prod).unwrap();
            let wanted = expected(&x[from..to], Nan::Propagate, first);
            assert_eq!(
                found.to_bytes(),
                wanted.to_bytes(),
                "{} {from}..{to} from {first}, {shape:?}",
                T::DTYPE
            );
        }
    }
}

#[test]
fn no_shape_of_a_launch_shows_in_products() {
    of_floats!(shapes_of);
}

/// So many spans that whole sets of them are joined.
#[test]
fn products_of_many_spans_have_the_bits_of_the_processor() {
    let Some(machine) = machine(4, 16) else { return };
    let x = array::<f32>(Contents::Wide, (1 << 17) + 70_000, &mut Random(16));
    let on = machine.upload(&x).unwrap();
    let shape = Shape { block: 128, per_multiprocessor: 4, vectors: 1, alone: 0 };
    for first in [0, 60 << 10] {
        let found = machine.reduce(on.slice(..)).shape(shape).starting_at(first);
        let found = found.partial(Op::Prod).unwrap();
        let wanted = expected(&x, Nan::Propagate, first);
        assert_eq!(found.to_bytes(), wanted.to_bytes(), "from {first}");
    }
}

fn pieces_of<T: Element>() {
    let Some(machine) = machine(1, 7) else { return };
    let mut random = Random(13);
    let x = array::<T>(Contents::Plain, 5000, &mut random);
    let on = machine.upload(&x).unwrap();
    let cuts = [0, 5, 40, 1000, 1030, 2048, 4097, 5000];
    let mut merged = expected::<T>(&[], Nan::Propagate, 0);
    // By turns of the machine and of the processor, and out of order.
    for k in [3, 0, 6, 1, 5, 2, 4] {
        let (from, to) = (cuts[k], cuts[k + 1]);
        let piece = match k % 2 {
            0 => machine
                .reduce(on.slice(from..to))
                .starting_at(from as u64)
                .partial(Op::Prod)
                .unwrap(),
            _ => expected(&x[from..to], Nan::Propagate, from as u64),
        };
        merged.merge(&piece);
    }
    let whole = reduce(&x).partial(Op::Prod).unwrap();
    assert_eq!(merged.to_bytes(), whole.to_bytes(), "{}", T::DTYPE);
}

#[test]
fn pieces_of_machines_and_of_the_processor_are_one_product() {
    of_floats!(pieces_of);
}

/// Rows and columns of views in which the order of memory is not that of indices, and segments of unlike lengths.
fn parts_of<T: Element>() {
    let Some(machine) = machine(2, 8) else { return };
    let mut random = Random(14);
    for kind in [Contents::Wide, Contents::Specials] {
        let x = array::<T>(kind, 12_000, &mut random);
        let on = machine.upload(&x).unwrap();
        for (shape, axes) in [
            (&[3000, 4][..], &[1][..]),
            (&[170, 70], &[1]),
            (&[170, 70], &[0]),
            (&[9, 1300], &[1]),
            (&[9, 1300], &[0]),
            (&[3, 4, 1000], &[0, 2]),
            (&[40, 20, 15], &[0, 1]),
            (&[2, 5500], &[0]),
            (&[2, 6000], &[1]),
        ] {
            let nan = NANS[(shape.iter().sum::<u64>() % 2) as usize];
            let layouts = [Layout::c(shape).unwrap(), Layout::fortran(shape).unwrap()];
            // A simulator, which is slow, runs one of them for each type and kind.
            let turn = (T::DTYPE as usize + kind as usize) % 2;
            let is_left_out = |k: usize| SCALE == 1 && k != turn;
            let layouts = layouts.into_iter().enumerate().filter(|(k, _)| !is_left_out(*k));
            for (_, layout) in layouts {
                let here = View::of(&x, layout.clone()).unwrap();
                let here = reduce_axes(&here, axes).unwrap().nan(nan);
                let there = machine.reduce_axes(&on, &layout, axes).unwrap().nan(nan);
                same!(there, here, "{shape:?} {axes:?} of {} {kind:?}", T::DTYPE);
            }
        }
        let lengths = [0, 1, 31, 32, 33, 64, 1023, 1024, 1025, 5, 3000, 2048, 0, 100];
        let offsets: Vec<u32> = std::iter::once(0)
            .chain(lengths.iter().scan(3, |at, length| {
                *at += length;
                Some(*at)
            }))
            .collect();
        let there = machine.upload(&offsets).unwrap();
        let there = machine.reduce_segments(&on, &there);
        let here: Vec<usize> = offsets.iter().map(|&at| at as usize).collect();
        let here = reduce_segments(&x, Segments::offsets(&here)).unwrap();
        same!(there, here, "segments of {} {kind:?}", T::DTYPE);
    }
}

/// Few long outputs, which are cut into pieces.
fn long_parts_of<T: Element>() {
    let Some(machine) = machine(2, 9) else { return };
    let x = array::<T>(Contents::Plain, 3 * 17_000, &mut Random(15));
    let on = machine.upload(&x).unwrap();
    for (shape, axis) in [([3, 17_000], 1), ([17_000, 3], 0)] {
        let layout = Layout::c(&shape).unwrap();
        let here = View::of(&x, layout.clone()).unwrap();
        let here = reduce_axes(&here, &[axis]).unwrap();
        let there = machine.reduce_axes(&on, &layout, &[axis]).unwrap();
        same!(there, here, "{shape:?} of {}", T::DTYPE);
    }
}

#[test]
fn products_of_few_long_parts_have_the_bits_of_the_processor() {
    of_floats!(long_parts_of);
}

/// Rows that warps take some of, of less than a run and of some, wherever they begin.
fn rows_of<T: Element>() {
    let Some(machine) = machine(2, 13) else { return };
    let mut random = Random(20);
    for (case, (rows, length)) in [
        (700, 1),
        (1300, 2),
        (257, 3),
        (900, 4),
        (100, 7),
        (130, 16),
        (65, 31),
        (70, 32),
        (40, 33),
        (33, 64),
        (40, 100),
        (15, 257),
        (9, 1001),
        (6, 1024),
    ]
    .into_iter()
    .enumerate()
    {
        for kind in [Contents::Wide, Contents::Specials, Contents::Zeros, Contents::Ties] {
            let from = (kind as usize + case) % 3;
            let x = array::<T>(kind, from + rows * length, &mut random);
            let on = machine.upload(&x).unwrap();
            let layout = Layout::c(&[rows as u64, length as u64]).unwrap();
            let nan = NANS[(case / 2 + kind as usize) % 2];
            let here = View::of(&x[from..], layout.clone()).unwrap();
            let here = reduce_axes(&here, &[1]).unwrap().nan(nan);
            let there = machine.reduce_axes(on.slice(from..), &layout, &[1]).unwrap().nan(nan);
            let launches = there.launches(Op::Prod, 4096, 4096, 4096).unwrap();
            let is_short = length * size_of::<T>() <= 4096;
            assert_eq!(launches[0].entry.ends_with("rows"), is_short, "{launches:?}");
            same!(there, here, "{rows} of {length} {} {kind:?} from {from} {nan:?}", T::DTYPE);
        }
    }
}

#[test]
fn products_of_short_rows_have_the_bits_of_the_processor() {
    of_floats!(rows_of);
}

/// Segments by offsets that warps take some of: short ones, which are a lane's each, and others of some runs, with some that are not staged; from any element on, and so
/// few that a warp takes one.
fn offsets_of<T: Element>() {
    let Some(machine) = machine(2, 14) else { return };
    let mut random = Random(21);
    for (case, (most, segments)) in
        [(3, 900), (70, 150), (70, 7), (300, 40), (1100, 12)].into_iter().enumerate()
    {
        for kind in [Contents::Wide, Contents::Specials, Contents::Zeros, Contents::Ties] {
            // A simulator, which is slow, runs some of the larger ones.
            if SCALE == 1 && most > 3 && (kind as usize + T::DTYPE as usize + case) % 4 > 1 {
                continue;
            }
            let mut ends = vec![(kind as u64 + case as u64) % 3];
            for _ in 0..segments {
                ends.push(ends[ends.len() - 1] + random.next() % (most + 1));
            }
            let n = ends[segments];
            let x = array::<T>(kind, n as usize, &mut random);
            let nan = NANS[(case / 2 + kind as usize) % 2];
            let (on, offsets) = (machine.upload(&x).unwrap(), machine.upload(&ends).unwrap());
            let there = machine.reduce_segments(&on, &offsets).nan(nan);
            let launches = there.launches(Op::Prod, 4096, 4096, 4096).unwrap();
            let is_short = n / segments as u64 * size_of::<T>() as u64 <= 4096;
            assert_eq!(launches[0].entry.ends_with("_offsets"), is_short, "{launches:?}");
            let here = reduce_segments(&x, Segments::offsets(&ends)).unwrap().nan(nan);
            same!(there, here, "{segments} of up to {most} {} {kind:?} {nan:?}", T::DTYPE);
        }
    }
}

#[test]
fn products_of_short_segments_have_the_bits_of_the_processor() {
    of_floats!(offsets_of);
}

/// Rows and segments of complex numbers that begin at the imaginary part of another one's, where a warp can read no vectors.
#[test]
fn products_of_complex_numbers_at_any_part_have_the_bits_of_the_processor() {
    let Some(machine) = machine(2, 15) else { return };
    let parts = array::<f32>(Contents::Wide, 1201, &mut Random(22));
    let x: Vec<Complex<f32>> =
        parts[1..].chunks_exact(2).map(|part| Complex::new(part[0], part[1])).collect();
    let on = machine.upload(&parts).unwrap();
    // SAFETY: the array has as many numbers from its second part on, and outlives the view; numbers may begin at any of their parts.
    let there =
        unsafe { warpfold::kernel::View::<_, Complex<f32>>::from_raw(on.address() + 4, x.len()) };
    for length in [4, 60] {
        let layout = Layout::c(&[600 / length, length]).unwrap();
        let there = machine.reduce_axes(there, &layout, &[1]).unwrap();
        let launches = there.launches(Op::Prod, 4096, 4096, 4096).unwrap();
        assert_eq!(launches[0].entry, "segment_products_complex64", "{launches:?}");
        let here = reduce_axes(&View::of(&x, layout).unwrap(), &[1]).unwrap();
        same!(there, here, "rows of {length}");
    }
    let ends = [0u64, 3, 3, 40, 600];
    let offsets = machine.upload(&ends).unwrap();
    let there = machine.reduce_segments(there, &offsets);
    let launches = there.launches(Op::Prod, 4096, 4096, 4096).unwrap();
    assert_eq!(launches[0].entry, "segment_products_complex64", "{launches:?}");
    let here = reduce_segments(&x, Segments::offsets(&ends)).unwrap();
    same!(there, here, "segments");
}

/// Columns that lanes have of their own: one matrix and several, rows that are whole words and others, in one piece and in several, backward.
fn columns_of<T: Element>() {
    let Some(machine) = machine(2, 10) else { return };
    let mut random = Random(17);
    let shapes: [(&[u64], i64); 7] = [
        (&[3, 33], 0),
        (&[4, 90], 0),
        (&[63, 41], 0),
        (&[3, 70, 13], 1),
        (&[2, 35, 24], 1),
        (&[1060, 33], 0),
        (&[2100, 40], 0),
    ];
    for (case, (shape, axis)) in shapes.into_iter().enumerate() {
        let n = shape.iter().product::<u64>() as usize;
        let contents =
            [Contents::Wide, Contents::Plain, Contents::Specials, Contents::Zeros, Contents::Ties];
        for (kind, is_backward) in contents.into_iter().zip([false, true, false, false, true]) {
            // A simulator, which is slow, runs some of the larger ones.
            if SCALE == 1 && n > 5000 && (kind as usize + T::DTYPE as usize + case) % 5 > 1 {
                continue;
            }
            let from = (kind as usize + case) % 2;
            let x = array::<T>(kind, from + n, &mut random);
            let on = machine.upload(&x).unwrap();
            let mut layout = Layout::c(shape).unwrap();
            if is_backward {
                let axes: Vec<(u64, i64)> =
                    layout.axes().iter().map(|axis| (axis.length, axis.stride)).collect();
                let (length, stride) = axes[axis as usize];
                let start = (length - 1) * stride as u64;
                let strides: Vec<i64> = (0..axes.len())
                    .map(|k| if k == axis as usize { -stride } else { axes[k].1 })
                    .collect();
                layout = Layout::strided(shape, &strides, start).unwrap();
            }
            let nan = NANS[case % 2];
            let here = View::of(&x[from..], layout.clone()).unwrap();
            let here = reduce_axes(&here, &[axis]).unwrap().nan(nan);
            let there = machine.reduce_axes(on.slice(from..), &layout, &[axis]).unwrap().nan(nan);
            let launches = there.launches(Op::Prod, 4096, 4096, 4096).unwrap();
            assert!(launches[0].entry.ends_with("columns"), "{launches:?}");
            same!(there, here, "{shape:?} {axis} of {} {kind:?} from {from}", T::DTYPE);
        }
    }
}

#[test]
fn products_of_columns_have_the_bits_of_the_processor() {
    of_floats!(columns_of);
}

/// So many pieces of each column that they are joined in groups.
#[test]
fn products_of_columns_of_many_pieces_have_the_bits_of_the_processor() {
    let Some(machine) = machine(4, 11) else { return };
    let (rows, columns) = (66 * 1024 + 5, 16);
    let x = array::<f32>(Contents::Plain, rows * columns, &mut Random(18));
    let on = machine.upload(&x).unwrap();
    let layout = Layout::c(&[rows as u64, columns as u64]).unwrap();
    let there = machine.reduce_axes(&on, &layout, &[0]).unwrap();
    let launches = there.launches(Op::Prod, 4096, 4096, 4096).unwrap().len();
    assert!(SCALE > 1 || launches == 3, "{launches} launches");
    let here = View::of(&x, layout).unwrap();
    let here = reduce_axes(&here, &[0]).unwrap();
    same!(there, here, "{rows} rows of {columns}");
}

/// Results at both ends of a type's range, and in the middle between two of its numbers.
#[test]
fn products_at_ends_and_ties_have_the_bits_of_the_processor() {
    let Some(machine) = machine(2, 12) else { return };
    let mut random = Random(19);
    let n = 2000;
    let mut numbers = |of: fn(u64, i32) -> f64, range: i32| -> Vec<f64> {
        let sizes = (0..n).map(|_| (random.next() % (2 * range as u64)) as i32 - range);
        let sizes: Vec<i32> = sizes.collect();
        let first = (0..n).map(|_| of(random.next(), 0)).collect::<Vec<_>>();
        let others = sizes.iter().map(|&size| of(1 << 63 | 1 << 62, size)).collect::<Vec<_>>();
        let last = sizes.iter().map(|&size| of(u64::MAX << 40, size / 8)).collect::<Vec<_>>();
        [first, others, last].concat()
    };
    // A mantissa of the upper bits, the first of which is set, and an exponent.
    let of_f32 = |bits: u64, size: i32| ((bits >> 40 | 1 << 23) as f64) * 2f64.powi(size - 23);
    let of_f64 = |bits: u64, size: i32| ((bits >> 11 | 1 << 52) as f64) * 2f64.powi(size - 52);
    let layout = Layout::c(&[3, n]).unwrap();
    let narrow: Vec<f32> = numbers(of_f32, 125).iter().map(|&x| x as f32).collect();
    let narrow: Vec<f32> =
        narrow.iter().zip(0..).map(|(&x, k)| if k % 3 == 0 { -x } else { x }).collect();
    let wide = numbers(of_f64, 980);
    let f32s = machine.upload(&narrow).unwrap();
    let f64s = machine.upload(&wide).unwrap();
    for axis in [0, 1] {
        let layout = if axis == 0 { layout.clone() } else { Layout::c(&[n, 3]).unwrap() };
        let here = reduce_axes(&View::of(&narrow, layout.clone()).unwrap(), &[axis]).unwrap();
        let there = machine.reduce_axes(&f32s, &layout, &[axis]).unwrap();
        same!(there, here, "f32, axis {axis}");
        let here = reduce_axes(&View::of(&wide, layout.clone()).unwrap(), &[axis]).unwrap();
        let there = machine.reduce_axes(&f64s, &layout, &[axis]).unwrap();
        same!(there, here, "f64, axis {axis}");
    }
}

/// Columns as text, in which NaNs are themselves and values have all their digits.
fn text(columns: warpfold::Result<warpfold::Columns>) -> Vec<String> {
    let (_, column) = columns.unwrap().into_iter().next().unwrap();
    (0..column.len()).map(|at| format!("{:?}", column.get(at))).collect()
}

#[test]
fn products_of_parts_have_the_bits_of_the_processor() {
    of_floats!(parts_of);
}
