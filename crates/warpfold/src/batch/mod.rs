//! The builder for many reductions at once: one output for each row, segment or group.

mod arrange;
mod columns;
mod ordered;
mod start;
mod values;

pub(crate) use arrange::Plain;
pub use arrange::{Arrange, ByAxes, ByGroups, ByNumbers, BySegments};
pub use columns::Columns;
pub(crate) use columns::columns;

use std::sync::Arc;

use crate::cpu;
use crate::cpu::batch::{Leaves, Many, Out, Reader, Source};
use crate::element::Element;
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
    let arrange = ByAxes::new(&folding);
    Ok(ReduceMany::new(x.memory(), How::Loops(form, folding), arrange))
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
/// Offsets are looked at here, by all threads; [`Policy::reduce_segments`] takes no more than it is allowed.
///
/// # Errors
/// [`Error::Segments`](crate::Error::Segments): these are no segments of the slice.
pub fn reduce_segments<'a, T: Element>(
    x: &'a [T],
    segments: Segments<'a>,
) -> Result<ReduceMany<'a, T, BySegments>> {
    Policy::default().reduce_segments(x, segments)
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
/// Keys are looked at here, by all threads; [`Policy::reduce_by_key`] takes no more than it is allowed.
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element.
pub fn reduce_by_key<'a, K: Key, T: Element>(
    keys: &'a [K],
    x: &'a [T],
) -> Result<ReduceMany<'a, T, ByGroups<K>>> {
    Policy::default().reduce_by_key(keys, x)
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
/// Keys are numbered here, by all threads; [`Policy::group_by`] takes no more than it is allowed.
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or more than 2^32 different ones.
pub fn group_by<'a, K: Key, T: Element>(
    keys: &[K],
    x: &'a [T],
) -> Result<ReduceMany<'a, T, ByGroups<K>>> {
    Policy::default().group_by(keys, x)
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
/// Keys are looked at here, by all threads; [`Policy::group_dense`] takes no more than it is allowed.
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or one is not below `groups`.
pub fn group_dense<'a, K: Key, T: Element>(
    keys: &'a [K],
    groups: u64,
    x: &'a [T],
) -> Result<ReduceMany<'a, T, ByNumbers>> {
    Policy::default().group_dense(keys, groups, x)
}

/// How an array is parted.
#[derive(Debug)]
enum How<'a> {
    Loops(Form, Folding),
    Segments(Bounds<'a>),
    Groups { numbers: Box<dyn Numbered + 'a>, groups: u64, keys: KeysKind },
}

impl How<'_> {
    fn partition(&self, n: usize) -> Partition {
        match self {
            How::Loops(form, _) => Partition::Axes(form.clone()),
            How::Segments(bounds) => Partition::Segments {
                elements: bounds.elements(),
                segments: bounds.count(),
                bounds: match bounds {
                    Bounds::Every { length, .. } => BoundsKind::Every(*length),
                    Bounds::Offsets32(_) => BoundsKind::Offsets32,
                    Bounds::Offsets64(_) => BoundsKind::Offsets64,
                },
            },
            How::Groups { groups, keys, .. } => {
                Partition::Groups { elements: n as u64, groups: *groups, keys: *keys }
            }
        }
    }

    fn source<'s, T>(&'s self, x: &'s [T]) -> Source<'s, T> {
        match self {
            How::Loops(form, _) => Source::Loops(x, form),
            How::Segments(bounds) => Source::Segments(x, bounds),
            How::Groups { numbers, groups, .. } => Source::Groups(x, &**numbers, *groups),
        }
    }

    /// Indices in the whole array, from those of elements among their outputs' inputs.
    fn flat(&self, n: usize, mut places: Vec<u64>) -> Vec<u64> {
        match self {
            How::Loops(_, folding) => {
                for (output, place) in (0u64..).zip(&mut places) {
                    *place = folding.flat(output, *place);
                }
            }
            How::Segments(bounds) => {
                for (segment, place) in places.iter_mut().enumerate() {
                    *place += bounds.range(segment).start as u64;
                }
            }
            How::Groups { numbers, .. } => return group::nth_of_each(&**numbers, n, &places),
        }
        places
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
    x: &'a [T],
    how: Arc<How<'a>>,
    policy: Policy,
    indices: Indices,
    arrange: A,
}

/// From where indices count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Indices {
    /// From the start of each input.
    OfInput,
    /// From the start of the array.
    OfArray,
}

impl<'a, T: Element, A: Arrange> ReduceMany<'a, T, A> {
    fn new(x: &'a [T], how: How<'a>, arrange: A) -> Self {
        let (how, policy) = (Arc::new(how), Policy::default());
        ReduceMany { x, how, policy, indices: Indices::OfInput, arrange }
    }

    policy_methods!("NaN propagates (the default) or is ignored.");

    /// Indices (argmin, argmax) count from the start of the whole array, its elements in C order, and not from the start of each input.
    pub fn flat_indices(mut self) -> Self {
        self.indices = Indices::OfArray;
        self
    }

    /// How a reduction would run here.
    pub fn plan(&self, op: Op) -> BatchPlan {
        let partition = self.how.partition(self.x.len());
        let batch = Batch { op, dtype: T::DTYPE, partition, policy: self.policy };
        plan::choose_batch(batch, cpu::facts())
    }

    /// Folds every input and arranges what is read of each.
    fn run<S: Leaves<T>, D: Reader<T, S>>(
        &self,
        op: Op,
        reader: &D,
        fold: fn(&Many<'_, T>, &Out<'_, T, S>),
    ) -> Result<A::Of<D::Result>> {
        Ok(self.arrange.arrange(self.folded(op, reader, fold)?))
    }

    fn folded<S: Leaves<T>, D: Reader<T, S>>(
        &self,
        op: Op,
        reader: &D,
        fold: fn(&Many<'_, T>, &Out<'_, T, S>),
    ) -> Result<Vec<D::Result>> {
        cpu::check::<T>(op)?;
        let plan = self.plan(op);
        let many = Many { plan: &plan, source: self.how.source(self.x) };
        many.read(reader, &|output| self.arrange.at(output), fold)
    }
}

/// A reader of three functions.
struct Read<F, G, H> {
    small: F,
    partial: G,
    single: H,
}

impl<T, S, R, F, G, H> Reader<T, S> for Read<F, G, H>
where
    T: Element,
    R: Copy + Send,
    F: Fn(&S, u64) -> Option<R> + Sync,
    G: Fn(&Partial<T>) -> Result<R> + Sync,
    H: Fn(T) -> Option<R> + Sync,
{
    type Result = R;

    #[inline(always)]
    fn small(&self, small: &S, count: u64) -> Option<R> {
        (self.small)(small, count)
    }

    fn partial(&self, partial: &Partial<T>) -> Result<R> {
        (self.partial)(partial)
    }

    #[inline(always)]
    fn single(&self, x: T) -> Option<R> {
        (self.single)(x)
    }
}

impl<T: Element, K: Key> ReduceMany<'_, T, ByGroups<K>> {
    /// The keys, in the order of the outputs.
    pub fn keys(&self) -> &[K] {
        self.arrange.keys()
    }
}

impl<T: Element> ReduceMany<'_, T, ByAxes> {
    /// The shape of the result.
    pub fn shape(&self) -> &[u64] {
        self.arrange.shape()
    }

    /// Folded axes stay in the result's shape, with length 1.
    pub fn keepdims(mut self) -> Self {
        self.arrange.keepdims();
        self
    }
}
