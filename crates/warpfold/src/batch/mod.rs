//! The builder for many reductions at once: one output for each row, segment or group.

mod into;
mod ordered;
mod output_shape;
mod start;
mod values;

pub use into::Complete;
pub use output_shape::{ByAxes, ByGroups, ByNumbers, BySegments, OrNone, OutputShape};
pub use start::UnderPolicy;
pub use warpfold_engine::{Columns, OutputArray};

use std::sync::Arc;

use warpfold_engine::{self as engine, HostArray, Indices, Parts, Request};

use crate::element::{Element, Scalar};
use crate::group::Key;
use crate::input::Input;
use crate::partial::{Finish, Partial};
use crate::plan::BatchPlan;
use crate::segment::Segments;
use crate::shape::Folding;
use crate::{Empty, Error, Op, Policy, Result, policy_methods};

/// Starts reductions over some axes of an array, counted from 0 or from the last as -1; the others are kept. An array is a [`View`](crate::View) or
/// another [`Input`].
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
pub fn reduce_axes<'a, X: Input<'a>>(
    x: X,
    axes: &[i64],
) -> Result<ReduceBatched<'a, X::Element, ByAxes>> {
    let x = x.view()?;
    let folding = Folding::of(x.layout().clone(), axes)?;
    let form = folding.form()?;
    let output_shape = ByAxes::new(&folding);
    Ok(ReduceBatched::new(x.memory(), Arc::new(Parts::Axes(form, folding)), output_shape))
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
/// Offsets are looked at here, by all threads; [`UnderPolicy::reduce_segments`] takes no more than it is allowed.
///
/// # Errors
/// [`Error::Segments`](crate::Error::Segments): these are no segments of the slice.
pub fn reduce_segments<'a, T: Element>(
    x: &'a [T],
    segments: Segments<'a>,
) -> Result<ReduceBatched<'a, T, BySegments>> {
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
/// Keys are looked at here, by all threads; [`UnderPolicy::reduce_by_key`] takes no more than it is allowed.
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element.
pub fn reduce_by_key<'a, K: Key, T: Element>(
    keys: &'a [K],
    x: &'a [T],
) -> Result<ReduceBatched<'a, T, ByGroups<K>>> {
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
/// Keys are numbered here, by all threads; [`UnderPolicy::group_by`] takes no more than it is allowed.
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or more than 2^32 different ones.
pub fn group_by<'a, K: Key, T: Element>(
    keys: &[K],
    x: &'a [T],
) -> Result<ReduceBatched<'a, T, ByGroups<K>>> {
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
/// Keys are looked at here, by all threads; [`UnderPolicy::group_dense`] takes no more than it is allowed.
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or one is not below `groups`.
pub fn group_dense<'a, K: Key, T: Element>(
    keys: &'a [K],
    groups: u64,
    x: &'a [T],
) -> Result<ReduceBatched<'a, T, ByNumbers>> {
    Policy::default().group_dense(keys, groups, x)
}

/// Many reductions of one array being set up: choose, then call the reduction. Each output is computed as if it were reduced separately.
///
/// # Errors
/// Every reduction: [`Error::Output`](crate::Error::Output) with the first output that has no value, such as the minimum of an empty
/// segment; [`Error::Shape`](crate::Error::Shape) if there is no memory for so many outputs.
#[derive(Debug, Clone)]
#[must_use = "call a reduction, such as .sum()"]
pub struct ReduceBatched<'a, T, A> {
    x: &'a [T],
    parts: Arc<Parts<'a>>,
    policy: Policy,
    indices: Indices,
    empty: Empty,
    output_shape: A,
}

impl<'a, T: Element, A: OutputShape> ReduceBatched<'a, T, A> {
    fn new(x: &'a [T], parts: Arc<Parts<'a>>, output_shape: A) -> Self {
        let (policy, indices, empty) = (Policy::default(), Indices::OfInput, Empty::Error);
        ReduceBatched { x, parts, policy, indices, empty, output_shape }
    }

    policy_methods!("NaN propagates (the default) or is ignored.");

    /// Indices (argmin, argmax) count from the start of the whole array, its elements in C order, and not from the start of each input.
    pub fn flat_indices(mut self) -> Self {
        self.indices = Indices::OfArray;
        self
    }

    /// An output without a value, such as the mean of an empty segment, is NaN where its type has one, and not an error for all.
    ///
    /// ```
    /// use warpfold::{Segments, reduce_segments};
    /// let many = reduce_segments(&[1.0f64, 3.0], Segments::offsets(&[0u32, 2, 2]))?;
    /// assert!(many.mean().is_err());
    /// let means = many.or_nan().mean()?;
    /// assert!(means[0] == 2.0 && means[1].is_nan());
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn or_nan(mut self) -> Self {
        self.empty = Empty::Nan;
        self
    }

    /// Every output is an [`Option`], `None` where it has no value, such as the minimum of an empty segment.
    ///
    /// ```
    /// use warpfold::group_dense;
    /// let sales = group_dense(&[2usize, 0, 2], 3, &[5u8, 7, 6])?;
    /// assert_eq!(sales.or_none().max()?, [Some(7), None, Some(6)]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn or_none(self) -> ReduceBatched<'a, T, OrNone<A>> {
        let ReduceBatched { x, parts, policy, indices, output_shape, .. } = self;
        ReduceBatched {
            x,
            parts,
            policy,
            indices,
            empty: Empty::None,
            output_shape: OrNone(output_shape),
        }
    }

    /// How a reduction would run here.
    pub fn plan(&self, op: Op) -> BatchPlan {
        let plan = engine::plan_parts(&self.request(op));
        plan.unwrap_or_else(|| unreachable!("parts of an array are more than a whole one"))
    }

    fn request(&self, op: Op) -> Request<'a> {
        Request::new(op, HostArray::of(self.x))
            .parts(Arc::clone(&self.parts))
            .policy(self.policy)
            .indices(self.indices)
            .empty(self.empty)
    }

    /// The results of any reduction, by name, in the outputs' order; what integers that overflow do is the policy's to say. Of stats, a mean,
    /// variance or deviation that does not exist is NaN. After [`or_none`](Self::or_none), outputs that have no value hold any.
    ///
    /// ```
    /// use warpfold::{Column, Op, Segments, partial::Finish, reduce_segments};
    /// let many = reduce_segments(&[1u8, 2, 3], Segments::every(1))?;
    /// assert_eq!(many.columns(Op::Sum, Finish::default())?, [("sum", Column::U64(vec![1, 2, 3]))]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// As the reduction's own method; [`Error::Unsupported`](crate::Error::Unsupported) for a rounding that the result does not have.
    pub fn columns(&self, op: Op, finish: Finish) -> Result<Columns> {
        engine::columns(&self.request(op), finish)
    }

    /// The results of a reduction that has one number for each output, into memory of the caller's whose type is known at run time; after
    /// [`or_none`](Self::or_none), the outputs that have no value. If the reduction fails, what the memory holds means nothing.
    ///
    /// ```
    /// use warpfold::{Op, OutputArray, Segments, partial::Finish, reduce_segments};
    /// let many = reduce_segments(&[1u8, 2, 3], Segments::every(1))?;
    /// let mut sums = [0u64; 3];
    /// let mut out = OutputArray::of(&mut sums).expect("u64 is an element type");
    /// many.column_into(Op::Sum, Finish::default(), &mut out)?;
    /// assert_eq!(sums, [1, 2, 3]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`columns`](Self::columns); [`Error::Shape`](crate::Error::Shape) unless the memory is for as many results of their type as there are outputs.
    pub fn column_into(
        &self,
        op: Op,
        finish: Finish,
        out: &mut OutputArray<'_>,
    ) -> Result<Vec<u64>> {
        engine::columns_into(&self.request(op), finish, out)
    }

    /// The results of a [map](mod@crate::map) of several arrays that are parted as this one is, by the name of each of its reductions; this array's
    /// own elements are read if it is among them. The policy is the map's.
    ///
    /// ```
    /// use warpfold::map::{HostArray, Map};
    /// use warpfold::{Column, DType, Policy, Segments, partial::Finish, reduce_segments};
    ///
    /// let (x, y) = ([1.0f64, 5.0, 2.0, 8.0], [4.0f64, 3.0, 2.0, 7.5]);
    /// let map = Map::all(&["rmse(x, y)".parse()?], None, &[("x", DType::F64), ("y", DType::F64)], Policy::default())?;
    /// let rows = reduce_segments(&x, Segments::every(2))?;
    /// let found = rows.mapped(&map, &[HostArray::of(&x), HostArray::of(&y)], Finish::default())?;
    /// assert_eq!(found[0].1, [("rmse", Column::F64(vec![6.5f64.sqrt(), 0.125f64.sqrt()]))]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// Of rows, which are the last axis of arrays in C order or segments of one length, an input may have one value for each column or row:
    ///
    /// ```
    /// use warpfold::map::{HostArray, Map, Operand};
    /// use warpfold::{Column, DType, Policy, View, partial::Finish, reduce_axes};
    ///
    /// let (x, w) = ([1.0f64, 5.0, 2.0, 8.0], [2.0f64, 0.5]);
    /// let map = Map::all(&["sum((x * w)**2)".parse()?], None, &[("x", DType::F64), ("w", DType::F64)], Policy::default())?;
    /// let rows = reduce_axes(&View::new(&x, &[2, 2])?, &[1])?;
    /// let found = rows.mapped(&map, &[HostArray::of(&x).into(), Operand::of_columns(&w)], Finish::default())?;
    /// assert_eq!(found[0].1, [("sum", Column::F64(vec![10.25, 32.0]))]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Map`](crate::Error::Map) for arrays that are not of this one's length, or that the map was not made for.
    pub fn mapped<'i, I: Copy + Into<crate::map::Operand<'i>>>(
        &self,
        map: &crate::map::Map,
        inputs: &[I],
        finish: Finish,
    ) -> Result<Vec<(String, Columns)>> {
        if self.empty != Empty::Error {
            return Err(Error::Map {
                requested: "a map of parts".into(),
                obstacle: "an output without a result is an error here".into(),
                remedy: "leave out or_nan and or_none".into(),
            });
        }
        let inputs: Vec<_> = inputs.iter().map(|&input| input.into()).collect();
        map.columns_of(&inputs, &self.parts, self.indices, finish)
    }

    /// The results of a reduction that has one number, arranged.
    fn values<R: Scalar>(&self, op: Op, finish: Finish) -> Result<A::Of<R>> {
        let ([column], gaps) = typed_columns(&self.request(op), finish)?;
        Ok(self.output_shape.output_shape(column, &gaps))
    }

    /// The partials of a reduction, exact and ready to be merged; large, for float sums: up to kilobytes each.
    ///
    /// # Errors
    /// [`Error::Undefined`](crate::Error::Undefined) where the contract knows no such reduction for the type.
    pub fn partials(&self, op: Op) -> Result<A::Of<Partial<T>>> {
        let partials = engine::partials(&self.request(op))?;
        Ok(self
            .output_shape
            .output_shape(partials.into_iter().map(crate::reduce::typed).collect(), &[]))
    }
}

impl<T: Element, K: Key> ReduceBatched<'_, T, ByGroups<K>> {
    /// The keys, in the order of the outputs.
    pub fn keys(&self) -> &[K] {
        self.output_shape.keys()
    }
}

impl<T: Element> ReduceBatched<'_, T, ByAxes> {
    /// The shape of the result.
    pub fn shape(&self) -> &[u64] {
        self.output_shape.shape()
    }

    /// Folded axes stay in the result's shape, with length 1.
    pub fn keepdims(mut self) -> Self {
        self.output_shape.keepdims();
        self
    }
}

/// The numbers of a reduction that has so many for each output, and which outputs have none. It knows neither the elements' type nor how outputs are
/// arranged, so that a program compiles it once for each type of results.
fn typed_columns<R: Scalar, const N: usize>(
    request: &Request<'_>,
    finish: Finish,
) -> Result<([Vec<R>; N], Vec<u64>)> {
    let (columns, mut gaps) = engine::columns_and_gaps(request, finish)?;
    let mut columns = columns.into_iter();
    let typed = std::array::from_fn(|_| {
        let column = columns.next().and_then(|(_, column)| column.typed());
        column.unwrap_or_else(|| unreachable!("a reduction has the contract's results"))
    });
    Ok((typed, gaps.swap_remove(0)))
}
