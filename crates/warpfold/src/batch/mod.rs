//! The builder for many reductions at once: one output for each row, segment or group.

mod arrange;
mod ordered;
mod values;

pub use arrange::{Arrange, ByAxes, ByGroups, ByNumbers, BySegments};

use std::borrow::Cow;
use std::sync::Arc;

use crate::cpu::{self, batch::Source};
use crate::element::Element;
use crate::error::At;
use crate::group::{self, Key, Numbered};
use crate::partial::Partial;
use crate::plan::{self, Batch, BatchPlan, BoundsKind, KeysKind, Partition};
use crate::policy::policy_methods;
use crate::segment::{Bounds, Segments};
use crate::shape::{Folding, Form, View};
use crate::{Op, Policy, Result};

/// Starts reductions over some axes of an array, counted from 0 or from the last as -1; the others are kept.
///
/// ```
/// use warpfold::{View, reduce_axes};
/// let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let rows = View::new(&x, &[2, 3])?;
/// assert_eq!(reduce_axes(&rows, &[1])?.sum()?.values, [6.0, 15.0]);
/// assert_eq!(reduce_axes(&rows, &[0])?.max()?.values, [4.0, 5.0, 6.0]);
/// assert_eq!(reduce_axes(&rows, &[0])?.keepdims().mean()?.shape, [1, 3]);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape): no such axis, or one named twice.
pub fn reduce_axes<'a, T: Element>(
    x: &View<'a, T>,
    axes: &[i64],
) -> Result<ReduceMany<'a, T, ByAxes>> {
    let folding = Folding::of(x.layout().clone(), axes)?;
    let form = folding.form()?;
    let input = Parted::Loops(x.memory(), form);
    Ok(ReduceMany { input, policy: Policy::default(), arrange: ByAxes::new(folding) })
}

/// Starts reductions of the segments of a slice.
///
/// ```
/// use warpfold::{Segments, reduce_segments};
/// let x = [0.5f32, 0.25, 8.0];
/// assert_eq!(reduce_segments(&x, Segments::offsets(&[0u32, 2, 2, 3]))?.sum()?, [0.75, 0.0, 8.0]);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Segments`](crate::Error::Segments): these are no segments of the slice.
pub fn reduce_segments<'a, T: Element>(
    x: &'a [T],
    segments: Segments<'a>,
) -> Result<ReduceMany<'a, T, BySegments>> {
    let bounds = segments.check(x.len() as u64)?;
    let input = Parted::Segments(x, bounds);
    Ok(ReduceMany { input, policy: Policy::default(), arrange: BySegments::new() })
}

/// Starts reductions of the runs of equal keys, one entry a run: for keys that are sorted, one a key. Keys that come again later begin
/// another run.
///
/// ```
/// use warpfold::reduce_by_key;
/// let sums = reduce_by_key(&[1u8, 1, 7, 7, 7], &[0.5f32, 0.25, 1.0, 1.0, 1.0])?.sum()?;
/// assert_eq!((sums.keys, sums.values), (vec![1, 7], vec![0.75, 3.0]));
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element.
pub fn reduce_by_key<'a, K: Key, T: Element>(
    keys: &'a [K],
    x: &'a [T],
) -> Result<ReduceMany<'a, T, ByGroups<K>>> {
    group::check_lengths(keys.len(), x.len())?;
    let (offsets, keys) = group::runs(keys);
    let input = Parted::Segments(x, Bounds::Offsets64(Cow::Owned(offsets)));
    Ok(ReduceMany { input, policy: Policy::default(), arrange: ByGroups::new(keys) })
}

/// Starts reductions of the elements of equal keys, in any order: one entry a key, keys ascending.
///
/// ```
/// use warpfold::group_by;
/// let sums = group_by(&[7i64, -1, 7], &[1u8, 2, 3])?.sum()?;
/// assert_eq!((sums.keys, sums.values), (vec![-1, 7], vec![2, 4]));
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or more than 2^32 different ones.
pub fn group_by<'a, K: Key, T: Element>(
    keys: &[K],
    x: &'a [T],
) -> Result<ReduceMany<'a, T, ByGroups<K>>> {
    group::check_lengths(keys.len(), x.len())?;
    let (numbers, keys) = group::Given::number(keys)?;
    let numbers = Numbers { numbers: Arc::new(numbers), groups: keys.len() as u64 };
    let input = Parted::Groups(x, numbers, KeysKind::Numbered);
    Ok(ReduceMany { input, policy: Policy::default(), arrange: ByGroups::new(keys) })
}

/// Starts reductions of the elements of equal keys that are numbers of groups, from 0 to below `groups`: one entry for each number, those
/// that no element has as well.
///
/// ```
/// use warpfold::group_dense;
/// let sums = group_dense(&[2u32, 0, 2], 4, &[0.5f64, 1.0, 0.25])?.sum()?;
/// assert_eq!(sums, [1.0, 0.0, 0.75, 0.0]);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or one is not below `groups`.
pub fn group_dense<'a, K: Key, T: Element>(
    keys: &'a [K],
    groups: u64,
    x: &'a [T],
) -> Result<ReduceMany<'a, T, ByNumbers>> {
    group::check_lengths(keys.len(), x.len())?;
    let numbers = Numbers { numbers: Arc::new(group::Dense::check(keys, groups)?), groups };
    let input = Parted::Groups(x, numbers, KeysKind::Dense);
    Ok(ReduceMany { input, policy: Policy::default(), arrange: ByNumbers::new() })
}

/// An array and how it is parted.
#[derive(Debug, Clone)]
enum Parted<'a, T> {
    Loops(&'a [T], Form),
    Segments(&'a [T], Bounds<'a>),
    Groups(&'a [T], Numbers<'a>, KeysKind),
}

/// A group's number for each element.
#[derive(Debug, Clone)]
struct Numbers<'a> {
    numbers: Arc<dyn Numbered + 'a>,
    groups: u64,
}

impl<T> Parted<'_, T> {
    fn partition(&self) -> Partition {
        match self {
            Parted::Loops(_, form) => Partition::Axes(form.clone()),
            Parted::Segments(_, bounds) => Partition::Segments {
                elements: bounds.elements(),
                segments: bounds.count(),
                bounds: match bounds {
                    Bounds::Every { length, .. } => BoundsKind::Every(*length),
                    Bounds::Offsets32(_) => BoundsKind::Offsets32,
                    Bounds::Offsets64(_) => BoundsKind::Offsets64,
                },
            },
            Parted::Groups(x, Numbers { groups, .. }, keys) => {
                Partition::Groups { elements: x.len() as u64, groups: *groups, keys: *keys }
            }
        }
    }

    fn source(&self) -> Source<'_, T> {
        match self {
            Parted::Loops(x, form) => Source::Loops(x, form),
            Parted::Segments(x, bounds) => Source::Segments(x, bounds),
            Parted::Groups(x, Numbers { numbers, groups }, _) => {
                Source::Groups(x, &**numbers, *groups)
            }
        }
    }
}

/// Many reductions of one array being set up: choose, then call the reduction. Each output keeps the rules of a reduction of its input alone.
///
/// # Errors
/// Every reduction: [`Error::Output`](crate::Error::Output) with the first output that has no value, such as the minimum of an empty
/// segment; [`Error::Shape`](crate::Error::Shape) if there is no memory for so many outputs.
#[derive(Debug, Clone)]
#[must_use = "call a reduction, such as .sum()"]
pub struct ReduceMany<'a, T, A> {
    input: Parted<'a, T>,
    policy: Policy,
    arrange: A,
}

impl<T: Element, A: Arrange> ReduceMany<'_, T, A> {
    policy_methods!("NaN propagates (the default) or is ignored.");

    /// How a reduction would run here.
    pub fn plan(&self, op: Op) -> BatchPlan {
        let partition = self.input.partition();
        let batch = Batch { op, dtype: T::DTYPE, partition, policy: self.policy };
        plan::choose_batch(batch, cpu::facts())
    }

    /// Folds every input and reads what each leaves.
    fn each<R: Send>(
        &self,
        op: Op,
        read: impl Fn(&Partial<T>) -> Result<R> + Sync,
    ) -> Result<A::Of<R>> {
        cpu::check::<T>(op)?;
        let at = |output| self.at(output);
        let values = cpu::batch::each(&self.plan(op), &self.input.source(), read, at)?;
        Ok(self.arrange.arrange(values))
    }

    fn at(&self, output: u64) -> At {
        self.arrange.at(output)
    }
}

impl<T: Element> ReduceMany<'_, T, ByAxes> {
    /// Folded axes stay in the result's shape, with length 1.
    pub fn keepdims(mut self) -> Self {
        self.arrange.keepdims();
        self
    }
}
