//! Many reductions of arrays so long that threads share the work of one output, with lengths that nothing divides: each output is the reduction of
//! its input alone, by a plain loop.

use warpfold::{Segments, View, reduce_axes, reduce_segments};

/// Rows, wide and narrow, and between other axes: a shape and the axis that is folded.
const CASES: &[(&[u64], i64)] = &[
    (&[600_003, 1], 0),
    (&[400_007, 3], 0),
    (&[300_011, 4], 0),
    (&[70_001, 17], 0),
    (&[2, 200_003, 3], 1),
    (&[3, 400_009], 0),
    (&[3, 400_009], 1),
    (&[1201, 1009], 0),
    (&[1009, 1201], 1),
    (&[7, 3, 60_013], 1),
    (&[1_200_007], 0),
];

/// Elements of either sign, with few that are equal.
fn elements(n: u64) -> Vec<i64> {
    (0..n).map(|k| (k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) as i64 - (1 << 30)).collect()
}

/// A sum, the least and where it stands, of every other so many elements.
fn of(x: &[i64], first: usize, step: usize, count: usize) -> (i64, i64, u64) {
    let all = (0..count).map(|k| x[first + k * step]);
    let (at, least) = all.clone().enumerate().min_by_key(|&(k, x)| (x, k)).expect("not empty");
    (all.sum(), least, at as u64)
}

#[test]
fn axes() {
    for &(shape, axis) in CASES {
        let x = elements(shape.iter().product());
        let floats: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        let rounded: Vec<i64> = floats.iter().map(|&x| x as i64).collect();
        let (view, view_f32) = (View::new(&x, shape).unwrap(), View::new(&floats, shape).unwrap());
        let inner: usize = shape[axis as usize + 1..].iter().product::<u64>() as usize;
        let (count, outer) = (
            shape[axis as usize] as usize,
            shape[..axis as usize].iter().product::<u64>() as usize,
        );
        for threads in [1, 2, 3, 8] {
            let many = reduce_axes(&view, &[axis]).unwrap().threads(threads);
            let (sums, least) = (many.sum().unwrap().values, many.min().unwrap().values);
            let places = many.argmin().unwrap().values;
            let many = reduce_axes(&view_f32, &[axis]).unwrap().threads(threads);
            let sums_f32 = many.sum().unwrap().values;
            for output in 0..outer * inner {
                let first = output / inner * count * inner + output % inner;
                let reported =
                    format!("{shape:?}, axis {axis}, {threads} threads, output {output}");
                let found = (sums[output], least[output], places[output]);
                assert_eq!(found, of(&x, first, inner, count), "{reported}");
                // Integers of 31 bits: their sum is exact in 64, and rounded once.
                assert_eq!(
                    sums_f32[output],
                    of(&rounded, first, inner, count).0 as f32,
                    "{reported}"
                );
            }
        }
    }
}

/// Columns whose rows are those of two loops apart, the first and the third axis of four: few turns of many rows, and many turns of few.
#[test]
fn axes_apart() {
    for shape in [[3u64, 2, 90_001, 3], [5003, 2, 33, 4], [50_021, 3, 2, 5], [701, 1, 2, 1031]] {
        let x = elements(shape.iter().product());
        let view = View::new(&x, &shape).unwrap();
        let [turns, outputs, rows, columns] = shape.map(|length| length as usize);
        for threads in [1, 2, 8] {
            let many = reduce_axes(&view, &[0, 2]).unwrap().threads(threads);
            let (sums, places) = (many.sum().unwrap().values, many.argmin().unwrap().values);
            for output in 0..outputs * columns {
                let first = output / columns * rows * columns + output % columns;
                let turn = |turn| of(&x, first + turn * outputs * rows * columns, columns, rows);
                let sum: i64 = (0..turns).map(|t| turn(t).0).sum();
                let (_, place) = (0..turns)
                    .map(|t| (turn(t).1, (t * rows) as u64 + turn(t).2))
                    .min()
                    .expect("not empty");
                let reported = format!("{shape:?}, {threads} threads, output {output}");
                assert_eq!((sums[output], places[output]), (sum, place), "{reported}");
            }
        }
    }
}

#[test]
fn segments() {
    let x = elements(1_500_007);
    for length in [1u64, 3, 17, 1000, 40_009, 700_001, 1_500_007] {
        let mut offsets: Vec<u64> =
            (0..).map(|k| k * length).take_while(|&k| k < x.len() as u64).collect();
        offsets.push(x.len() as u64);
        for threads in [1, 3] {
            let many = reduce_segments(&x, Segments::offsets(&offsets)).unwrap().threads(threads);
            let (sums, least) = (many.sum().unwrap(), many.min().unwrap());
            let places = many.argmin().unwrap();
            for (k, ends) in offsets.windows(2).enumerate() {
                let (first, count) = (ends[0] as usize, (ends[1] - ends[0]) as usize);
                let found = (sums[k], least[k], places[k]);
                assert_eq!(
                    found,
                    of(&x, first, 1, count),
                    "every {length}, {threads} threads, segment {k}"
                );
            }
        }
    }
}
