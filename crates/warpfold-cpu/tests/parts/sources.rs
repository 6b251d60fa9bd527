//! One array in every kind of parts, and the inputs that each has.

use std::sync::Arc;

use warpfold_cpu::columns_and_gaps;
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::random::Words;
use warpfold_num::{Column, Element, Empty, Isa, Op, Policy, Result};
use warpfold_plan::segment::Segments;
use warpfold_plan::shape::{Folding, Layout};
use warpfold_plan::{HostArray, Parts, Request};

/// Rows and columns of an array, so that there are outputs of few and of many elements, and few and many of them.
const SHAPES: [(u64, u64); 17] = [
    (300, 2),
    (300, 3),
    (4, 600),
    (300, 4),
    (64, 70),
    (16, 33),
    (35, 17),
    (33, 64),
    (90, 31),
    (3, 1030),
    (1100, 9),
    (1100, 2),
    (3100, 3),
    (2100, 4),
    (2100, 5),
    (3, 1100),
    (40, 0),
];

/// An array in parts, and the elements of each.
pub(crate) struct Source<T> {
    pub(crate) name: String,
    pub(crate) parts: Arc<Parts<'static>>,
    pub(crate) x: Vec<T>,
    pub(crate) inputs: Vec<Vec<T>>,
}

/// Elements in every kind of parts.
pub(crate) fn sources<T: Element>(make: &mut dyn FnMut() -> T) -> Vec<Source<T>> {
    let mut all = Vec::new();
    for (rows, length) in SHAPES {
        let x: Vec<T> = (0..rows * length).map(|_| make()).collect();
        all.extend([0, 1].map(|axis| of_axis((rows, length), axis, x.clone())));
    }
    // A folded axis between kept ones, and kept ones between folded.
    for (axes, shape) in [(&[1][..], [7, 40, 33]), (&[0, 2], [35, 6, 33]), (&[0], [66, 5, 7])] {
        let x: Vec<T> = (0..shape.iter().product()).map(|_| make()).collect();
        let folding =
            Folding::of(Layout::c(&shape.map(|n: usize| n as u64)).expect("a shape"), axes)
                .expect("axes");
        let form = folding.form().expect("a shape in memory");
        let mut inputs = vec![Vec::new(); form.outputs as usize];
        for (at, &x) in x.iter().enumerate() {
            let index = [at / (shape[1] * shape[2]), at / shape[2] % shape[1], at % shape[2]];
            let kept = (0..3).filter(|axis| !axes.contains(&(*axis as i64)));
            inputs[kept.fold(0, |output, axis| output * shape[axis] + index[axis])].push(x);
        }
        let name = format!("{shape:?}, axes {axes:?}");
        all.push(Source { name, parts: Arc::new(Parts::Axes(form, folding)), x, inputs });
    }
    // Memory that is walked backwards, with gaps.
    for (strides, start) in [([-60, 1], 1099 * 60), ([60, -1], 59), ([-60, -1], 1100 * 60 - 1)] {
        let x: Vec<T> = (0..1100 * 60).map(|_| make()).collect();
        let element =
            |i: u64, k: u64| x[(start + strides[0] * i as i64 + strides[1] * k as i64) as usize];
        for axis in [0, 1] {
            let layout =
                Layout::strided(&[1100, 20], &strides, start as u64).expect("within memory");
            let folding = Folding::of(layout, &[axis]).expect("an axis");
            let form = folding.form().expect("a shape in memory");
            let inputs = match axis {
                0 => (0..20).map(|k| (0..1100).map(|i| element(i, k)).collect()).collect(),
                _ => (0..1100).map(|i| (0..20).map(|k| element(i, k)).collect()).collect(),
            };
            let name = format!("strides {strides:?}, axis {axis}");
            let parts = Arc::new(Parts::Axes(form, folding));
            all.push(Source { name, parts, x: x.clone(), inputs });
        }
    }
    // A few columns whose rows have gaps now and then.
    let x: Vec<T> = (0..30 * 150).map(|_| make()).collect();
    let layout = Layout::strided(&[30, 45, 3], &[150, 3, 1], 0).expect("within memory");
    let folding = Folding::of(layout, &[0, 1]).expect("axes");
    let rows = || (0..30).flat_map(|i| (0..45).map(move |k| 150 * i + 3 * k));
    let inputs = (0..3).map(|column| rows().map(|row| x[row + column]).collect()).collect();
    let form = folding.form().expect("a shape in memory");
    let parts = Arc::new(Parts::Axes(form, folding));
    all.push(Source { name: "3 columns with gaps".into(), parts, x: x.clone(), inputs });
    let mut words = Words(11);
    let mut length = || [0, 1, 2, 5, 31, 33, 100, 2050][(words.next() % 64).min(7) as usize];
    all.push(of_segments((0..300).map(|_| length()), make));
    all.push(of_groups(300, 5000, make));
    all
}

/// Segments of these lengths.
pub(crate) fn of_segments<T: Element>(
    lengths: impl Iterator<Item = u64>,
    make: &mut dyn FnMut() -> T,
) -> Source<T> {
    let mut offsets = vec![0u64];
    lengths.for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
    let x: Vec<T> = (0..offsets[offsets.len() - 1]).map(|_| make()).collect();
    let inputs =
        offsets.windows(2).map(|ends| x[ends[0] as usize..ends[1] as usize].to_vec()).collect();
    let offsets: &'static [u64] = offsets.leak();
    let parts =
        warpfold_cpu::segments(Segments::offsets(offsets), x.len() as u64, Policy::default());
    let parts = Arc::new(parts.expect("offsets"));
    Source { name: "segments".into(), parts, x, inputs }
}

/// So many elements in groups by chance, and in none.
pub(crate) fn of_groups<T: Element>(groups: u64, n: u64, make: &mut dyn FnMut() -> T) -> Source<T> {
    let mut words = Words(12);
    let keys: Vec<u32> = (0..n).map(|_| (words.next() % groups) as u32).collect();
    let x: Vec<T> = keys.iter().map(|_| make()).collect();
    let mut inputs = vec![Vec::new(); groups as usize];
    keys.iter().zip(&x).for_each(|(&key, &x)| inputs[key as usize].push(x));
    let keys: &'static [u32] = keys.leak();
    let parts = warpfold_cpu::group_dense(keys, groups, x.len(), Policy::default()).expect("keys");
    Source { name: format!("{groups} groups of {n}"), parts: Arc::new(parts), x, inputs }
}

/// The columns or the rows of an array.
pub(crate) fn of_axis<T: Element>((rows, length): (u64, u64), axis: i64, x: Vec<T>) -> Source<T> {
    let folding = Folding::of(Layout::c(&[rows, length]).expect("a shape"), &[axis]);
    let folding = folding.expect("an axis");
    let form = folding.form().expect("a shape in memory");
    let length = length as usize;
    let inputs = match axis {
        1 => (0..rows as usize).map(|k| x[k * length..][..length].to_vec()).collect(),
        _ => {
            let column = |k| x.iter().skip(k).step_by(length).copied().collect();
            (0..length).map(column).collect()
        }
    };
    let name = format!("{rows} by {length}, axis {axis}");
    Source { name, parts: Arc::new(Parts::Axes(form, folding)), x, inputs }
}

/// Columns by their names, and the gaps of each.
type Found = Result<(Vec<(&'static str, Column)>, Vec<Vec<u64>>)>;

impl<T: Element> Source<T> {
    /// The columns of a reduction by each instruction set, which are the same.
    pub(crate) fn columns(&self, op: Op, policy: Policy) -> Result<Vec<(&'static str, Column)>> {
        self.columns_and_gaps(op, policy, Empty::Error).map(|(columns, _)| columns)
    }

    /// The same, and the outputs that have no result, where that is no error.
    pub(crate) fn columns_and_gaps(&self, op: Op, policy: Policy, empty: Empty) -> Found {
        let by = |isa, threads| {
            let policy = Policy { isa: Some(isa), threads: Some(threads), ..policy };
            let request = Request::new(op, HostArray::of(&self.x)).parts(self.parts.clone());
            columns_and_gaps(&request.policy(policy).empty(empty), Finish::default())
        };
        let found = by(Isa::Avx512, 3);
        for (isa, threads) in [(Isa::Avx2, 1), (Isa::Baseline, 2)] {
            let other = by(isa, threads);
            // As text, in which a NaN is itself.
            assert_eq!(format!("{other:?}"), format!("{found:?}"), "{op} of {}, {isa}", self.name);
        }
        found
    }
}

/// The result of one array alone, as text; `None` where there is none.
pub(crate) fn alone<T: Element>(op: Op, policy: Policy, x: &[T]) -> Option<String> {
    let partial = warpfold_cpu::reduce(&Request::new(op, HostArray::of(x)).policy(policy));
    match partial.and_then(|partial| partial.finish(op, Finish::default())) {
        Ok(Output::One(value)) => Some(value.to_string()),
        Ok(other) => panic!("{op} is one number, not {other:?}"),
        Err(_) => None,
    }
}
