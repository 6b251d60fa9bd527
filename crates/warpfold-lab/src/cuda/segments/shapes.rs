//! [`Shape`]: the ways to cut an array that are measured.

use std::borrow::Cow;

use warpfold::random::Words;
use warpfold::{Layout, Result};

/// Elements of the arrays, about.
pub const ELEMENTS: u64 = 1 << 28;

/// How an array is cut into the inputs of many reductions.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Segments of one length, as many as are whole.
    Every(u64),
    /// Segments of many lengths.
    Offsets {
        /// What they are like.
        name: &'static str,
        /// One more than segments.
        offsets: Vec<u64>,
    },
    /// An axis of an array.
    Axis {
        /// Shape and strides.
        layout: Layout,
        /// The axis that is folded.
        axis: usize,
    },
    /// Keys of 32 bits that number groups, of which there are 2 to the power of something.
    Groups {
        /// Of the number of groups.
        bits: u32,
        /// Whether the k-th most frequent key is 1/k as frequent as the first, and not all alike.
        is_zipf: bool,
        /// Whether values are brought together first, as several reductions share.
        sorted: bool,
    },
}

impl Shape {
    /// The name in results and of other libraries' figures: `every 16`, `Zipf`, `[4, 67108864] axis 0`.
    pub fn name(&self) -> Cow<'static, str> {
        match self {
            Shape::Every(length) => format!("every {length}").into(),
            Shape::Offsets { name, .. } => (*name).into(),
            Shape::Axis { layout, axis } => {
                let axes = layout.axes();
                let turned = axes.windows(2).any(|pair| pair[0].stride < pair[1].stride);
                let turned = if turned { " transposed" } else { "" };
                format!("{:?}{turned} axis {axis}", layout.shape()).into()
            }
            Shape::Groups { bits, is_zipf, sorted } => {
                let which = if *is_zipf { "Zipf" } else { "uniform" };
                let first = if *sorted { ", sorted first" } else { "" };
                format!("2^{bits} dense keys, {which}{first}").into()
            }
        }
    }

    /// Elements that are folded, of an array of `n`.
    pub fn elements(&self, n: u64) -> u64 {
        match self {
            Shape::Every(length) => n / length * length,
            Shape::Offsets { offsets, .. } => offsets[offsets.len() - 1] - offsets[0],
            Shape::Axis { layout, .. } => layout.elements(),
            Shape::Groups { .. } => n,
        }
    }

    /// Results, of an array of `n`.
    pub fn outputs(&self, n: u64) -> u64 {
        match self {
            Shape::Every(length) => n / length,
            Shape::Offsets { offsets, .. } => offsets.len() as u64 - 1,
            Shape::Axis { layout, axis } => layout.elements() / layout.shape()[*axis],
            Shape::Groups { bits, .. } => 1 << bits,
        }
    }

    /// Elements that an output folds; 0 of groups, which only the keys tell.
    pub fn inputs(&self, output: usize) -> u64 {
        match self {
            Shape::Every(length) => *length,
            Shape::Offsets { offsets, .. } => offsets[output + 1] - offsets[output],
            Shape::Axis { layout, axis } => layout.shape()[*axis],
            Shape::Groups { .. } => 0,
        }
    }

    /// Bytes of offsets or keys in device memory, of an array of `n`.
    pub fn bound_bytes(&self, n: u64) -> u64 {
        match self {
            Shape::Groups { .. } => 4 * n,
            Shape::Offsets { offsets, .. } => 8 * offsets.len() as u64,
            Shape::Every(_) | Shape::Axis { .. } => 0,
        }
    }
}

/// The shapes of about `n` elements.
///
/// # Errors
/// None, of `n` below 2^60.
pub fn shapes(n: u64) -> Result<Vec<Shape>> {
    let every = [1, 3, 16, 31, 256, 4096, 1 << 16, 1 << 24, n];
    let every = every.into_iter().enumerate().filter(|&(k, length)| k == 8 || length < n);
    let mut all: Vec<Shape> = every.map(|(_, length)| Shape::Every(length)).collect();
    // `bench/peers/cuda/segments.cu` makes the same numbers.
    let mut random = Words(7);
    let mut offsets = vec![0];
    while let Some(&end) = offsets.last().filter(|&&end| end < n) {
        offsets.push((end + random.next() % 65).min(n));
    }
    all.push(Shape::Offsets { name: "random up to 64", offsets });
    // Lengths by rank: the k-th longest of 2^16 has n / (k H) elements; shuffled.
    let count = (n / 4096).clamp(1, 1 << 16);
    let harmonic: f64 = (1..=count).map(|k| 1.0 / k as f64).sum();
    let mut lengths: Vec<u64> =
        (1..=count).map(|k| (n as f64 / (k as f64 * harmonic)) as u64).collect();
    for k in (1..lengths.len()).rev() {
        lengths.swap(k, (random.next() % (k as u64 + 1)) as usize);
    }
    all.push(Shape::Offsets { name: "Zipf", offsets: ends(lengths) });
    let tiny = (n / 256).min(1 << 20);
    let giant = (0..=tiny).map(|k| if k == tiny / 2 { n - 4 * tiny } else { 4 }).collect();
    all.push(Shape::Offsets { name: "one giant among tiny ones", offsets: ends(giant) });
    all.extend(axes(n)?);
    for bits in [8, 16, 20, 26] {
        all.extend([false, true].map(|is_zipf| Shape::Groups { bits, is_zipf, sorted: false }));
    }
    all.extend([8, 20, 26].map(|bits| Shape::Groups { bits, is_zipf: false, sorted: true }));
    Ok(all)
}

fn ends(lengths: Vec<u64>) -> Vec<u64> {
    let ends = lengths.into_iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

fn axes(n: u64) -> Result<Vec<Shape>> {
    let side = n.isqrt();
    let of = |layout: &Layout| {
        let axes = 0..layout.axes().len();
        let layout = layout.clone();
        axes.map(move |axis| Shape::Axis { layout: layout.clone(), axis })
    };
    let mut all = Vec::new();
    let four = [512, 3, 512, (n / (512 * 3 * 512)).max(1)];
    for shape in [&[side, side][..], &[n / 4, 4], &[4, n / 4], &[3, n / 3], &four] {
        all.extend(of(&Layout::c(shape)?));
    }
    for shape in [[side, side], [n / 4, 4]] {
        all.extend(of(&Layout::c(&shape)?.transposed()));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfold::plan::{Batch, BoundsKind, CudaFacts, Partition, choose_cuda_batch};
    use warpfold::{Accuracy, DType, Op, Policy};

    #[test]
    fn every_shape_is_within_the_array_and_has_a_plan() {
        const H200: CudaFacts = CudaFacts { compute: 90, multiprocessors: 132 };
        for n in [1 << 24, ELEMENTS] {
            let shapes = shapes(n).unwrap();
            let mut names: Vec<_> = shapes.iter().map(Shape::name).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), shapes.len());
            for shape in shapes {
                let (elements, segments) = (shape.elements(n), shape.outputs(n));
                assert!(elements <= n && elements > n - n / 32, "{}: {elements}", shape.name());
                if let Shape::Groups { .. } = &shape {
                    continue;
                }
                let inputs: u64 = match &shape {
                    Shape::Offsets { .. } => (0..segments as usize).map(|k| shape.inputs(k)).sum(),
                    _ => segments * shape.inputs(0),
                };
                assert_eq!(inputs, elements, "{}", shape.name());
                for accuracy in [Accuracy::Fast, Accuracy::Exact] {
                    let bounds = match &shape {
                        Shape::Every(length) => BoundsKind::Every(*length),
                        _ => BoundsKind::Offsets64,
                    };
                    let partition = match &shape {
                        Shape::Axis { layout, axis } => {
                            let folding =
                                warpfold::shape::Folding::of(layout.clone(), &[*axis as i64]);
                            Partition::Axes(folding.unwrap().form().unwrap())
                        }
                        _ => Partition::Segments { elements, segments, bounds },
                    };
                    let policy = Policy { accuracy, ..Policy::default() };
                    let batch = Batch { op: Op::Sum, dtype: DType::F32, partition, policy };
                    choose_cuda_batch(batch, H200)
                        .unwrap_or_else(|error| panic!("{}: {error}", shape.name()));
                }
            }
        }
    }
}
