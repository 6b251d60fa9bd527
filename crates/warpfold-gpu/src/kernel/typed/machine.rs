//! [`Machine`]: what the kernels run on, as typed code sees it.

use super::batched::{DeviceSegments, ReduceBatched};
use super::buffer::{Buffer, View};
use super::dense::{DenseSort, ReduceDense};
use super::groups::Groups;
use super::reduce::Reduce;
use crate::Result;
use crate::element::{Element, Ordered};
use crate::group::Key;
use crate::kernel::{AnyBuffer, AnyGroups, AnyMap, AnyView, Executor};
use crate::shape::Layout;

/// An [`Executor`] that typed arrays name as theirs: a GPU by its driver, or the simulator.
pub trait Machine: Executor + Clone + Sized {
    /// Copies a slice to the machine.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device): out of memory, with the sizes.
    fn upload<T: Element>(&self, x: &[T]) -> Result<Buffer<Self, T>> {
        Ok(Buffer::new(AnyBuffer::upload(self, T::DTYPE, bytemuck::cast_slice(x))?))
    }

    /// Starts a reduction of an array in the machine's memory; see [`Reduce`].
    fn reduce<'a, T: Element>(&'a self, x: impl Into<View<'a, Self, T>>) -> Reduce<'a, Self, T> {
        Reduce::one(self, x.into())
    }

    /// Starts reductions of the segments of an array in the machine's memory; see [`ReduceBatched`].
    fn reduce_segments<'a, T: Element>(
        &'a self,
        x: impl Into<View<'a, Self, T>>,
        segments: impl Into<DeviceSegments<'a, Self>>,
    ) -> ReduceBatched<'a, Self, T> {
        ReduceBatched::segments(self, x.into(), segments.into())
    }

    /// Starts reductions over some axes, counted from 0 or from the last as -1, of an array in the machine's memory; see [`ReduceBatched`].
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape): no such axis, or one named twice, or a layout that reaches beyond the memory.
    fn reduce_axes<'a, T: Element>(
        &'a self,
        x: impl Into<View<'a, Self, T>>,
        layout: &Layout,
        axes: &[i64],
    ) -> Result<ReduceBatched<'a, Self, T>> {
        ReduceBatched::axes(self, x.into(), layout, axes)
    }

    /// Brings values of equal keys together, keys in any order; groups by ascending keys, values of a group in the order in which they come. They are
    /// sorted by as many bits as keys differ in; [`Groups::plan`] says what that takes.
    ///
    /// ```
    /// # #[cfg(feature = "simt")] {
    /// let device = warpfold::simt::Device::new();
    /// let (keys, x) = (device.upload(&[7i64, -1, 7])?, device.upload(&[1.0f32, 2.0, 0.5])?);
    /// let groups = device.group_by(&keys, &x)?;
    /// assert_eq!(groups.keys()?, [-1, 7]);
    /// assert_eq!(groups.reduce().sum()?, [2.0, 1.5]);
    /// assert_eq!(groups.reduce().count()?, [1, 2]);
    /// # }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value; [`Error::Device`](crate::Error::Device).
    fn group_by<'a, K: Key + Ordered, T: Element>(
        &'a self,
        keys: impl Into<View<'a, Self, K>>,
        values: impl Into<View<'a, Self, T>>,
    ) -> Result<Groups<'a, Self, K, T>> {
        Ok(Groups::new(AnyGroups::by(self, keys.into().untyped(), values.into().untyped())?))
    }

    /// Brings values of equal keys together, keys being numbers of groups from 0 to below `groups`; every number has a group, if an empty one.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, or one is not below `groups`; [`Error::Device`](crate::Error::Device).
    fn group_dense<'a, K: Key + Ordered, T: Element>(
        &'a self,
        keys: impl Into<View<'a, Self, K>>,
        groups: u64,
        values: impl Into<View<'a, Self, T>>,
    ) -> Result<Groups<'a, Self, u64, T>> {
        self.sort_dense(keys, groups, values)?.run()
    }

    /// Starts one reduction by keys that are numbers of groups from 0 to below `groups`. Sums of what has up to 32 bits, and l1 of such floats, need no values brought together; several
    /// reductions of the same groups share what [`group_dense`](Self::group_dense) does.
    ///
    /// ```
    /// # #[cfg(feature = "simt")] {
    /// let device = warpfold::simt::Device::new();
    /// let (keys, x) = (device.upload(&[2u32, 0, 2])?, device.upload(&[0.1f32, 2.0, 1e9])?);
    /// assert_eq!(device.reduce_dense(&keys, 4, &x).sum()?, [2.0, 0.0, 1e9, 0.0]);
    /// # }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    fn reduce_dense<'a, K: Key + Ordered, T: Element>(
        &'a self,
        keys: impl Into<View<'a, Self, K>>,
        groups: u64,
        values: impl Into<View<'a, Self, T>>,
    ) -> ReduceDense<'a, Self, K, T> {
        ReduceDense::new(self, keys.into(), groups, values.into())
    }

    /// What [`group_dense`](Self::group_dense) runs, as launches that were not run yet.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, or there are too many groups; [`Error::Device`](crate::Error::Device): out of memory.
    fn sort_dense<'a, K: Key + Ordered, T: Element>(
        &'a self,
        keys: impl Into<View<'a, Self, K>>,
        groups: u64,
        values: impl Into<View<'a, Self, T>>,
    ) -> Result<DenseSort<'a, Self, K, T>> {
        DenseSort::new(self, keys.into(), groups, values.into())
    }

    /// Finds the runs of equal keys, each of which is a group; values stay where they are.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value; [`Error::Device`](crate::Error::Device).
    fn reduce_by_key<'a, K: Key + Ordered, T: Element>(
        &'a self,
        keys: impl Into<View<'a, Self, K>>,
        values: impl Into<View<'a, Self, T>>,
    ) -> Result<Groups<'a, Self, K, T>> {
        Ok(Groups::new(AnyGroups::runs(self, keys.into().untyped(), values.into().untyped())?))
    }

    /// Starts reductions of an expression of arrays by their names; see [`AnyMap`].
    ///
    /// ```
    /// # #[cfg(feature = "simt")] {
    /// let device = warpfold::simt::Device::new();
    /// let (x, y) = (device.upload(&[1.0f64, 5.0, 2.0])?, device.upload(&[4.0f64, 3.0, 2.0])?);
    /// let distance = device.map("abs(x - y)", [("x", &x), ("y", &y)]);
    /// assert_eq!(distance.sum()?, 5.0f64.into());
    /// assert_eq!(distance.where_("x != y").mean()?, 2.5f64.into());
    /// # }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    fn map<'a, V: Into<AnyView<'a>>>(
        &'a self,
        expression: &str,
        inputs: impl IntoIterator<Item = (&'a str, V)>,
    ) -> AnyMap<'a> {
        AnyMap::new(self, expression, inputs)
    }

    /// Starts a reduction of two arrays of one length: dot.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn reduce_two<'a, T: Element>(
        &'a self,
        x: impl Into<View<'a, Self, T>>,
        y: impl Into<View<'a, Self, T>>,
    ) -> Result<Reduce<'a, Self, T>> {
        Reduce::two(self, x.into(), y.into())
    }
}

/// The methods of a machine that start reductions, for those who do not name [`Machine`].
#[cfg(any(feature = "cuda", feature = "simt"))]
macro_rules! machine_methods {
    ($machine:ident) => {
        impl $machine {
            /// Starts a reduction of an array in its memory; see [`Reduce`]($crate::kernel::Reduce).
            pub fn reduce<'a, T: $crate::Element>(
                &'a self,
                x: impl Into<$crate::kernel::View<'a, $machine, T>>,
            ) -> $crate::kernel::Reduce<'a, $machine, T> {
                $crate::kernel::Machine::reduce(self, x)
            }

            /// Starts reductions of an expression of arrays by their names; see [`Machine::map`]($crate::kernel::Machine::map).
            pub fn map<'a, V: Into<$crate::kernel::AnyView<'a>>>(
                &'a self,
                expression: &str,
                inputs: impl IntoIterator<Item = (&'a str, V)>,
            ) -> $crate::kernel::AnyMap<'a> {
                $crate::kernel::Machine::map(self, expression, inputs)
            }

            /// Starts a reduction of two arrays of one length: dot.
            ///
            /// # Errors
            /// [`Error::LengthMismatch`]($crate::Error::LengthMismatch).
            pub fn reduce_two<'a, T: $crate::Element>(
                &'a self,
                x: impl Into<$crate::kernel::View<'a, $machine, T>>,
                y: impl Into<$crate::kernel::View<'a, $machine, T>>,
            ) -> $crate::Result<$crate::kernel::Reduce<'a, $machine, T>> {
                $crate::kernel::Machine::reduce_two(self, x, y)
            }

            /// Starts reductions of the segments of an array in its memory; see [`ReduceBatched`]($crate::kernel::ReduceBatched).
            pub fn reduce_segments<'a, T: $crate::Element>(
                &'a self,
                x: impl Into<$crate::kernel::View<'a, $machine, T>>,
                segments: impl Into<$crate::kernel::DeviceSegments<'a, $machine>>,
            ) -> $crate::kernel::ReduceBatched<'a, $machine, T> {
                $crate::kernel::Machine::reduce_segments(self, x, segments)
            }

            /// Brings values of equal keys together, keys in any order; see [`Machine::group_by`]($crate::kernel::Machine::group_by).
            ///
            /// # Errors
            /// As there.
            pub fn group_by<'a, K: $crate::Key + $crate::Ordered, T: $crate::Element>(
                &'a self,
                keys: impl Into<$crate::kernel::View<'a, $machine, K>>,
                values: impl Into<$crate::kernel::View<'a, $machine, T>>,
            ) -> $crate::Result<$crate::kernel::Groups<'a, $machine, K, T>> {
                $crate::kernel::Machine::group_by(self, keys, values)
            }

            /// Brings values of equal keys together, keys being numbers of groups; see [`Machine::group_dense`]($crate::kernel::Machine::group_dense).
            ///
            /// # Errors
            /// As there.
            pub fn group_dense<'a, K: $crate::Key + $crate::Ordered, T: $crate::Element>(
                &'a self,
                keys: impl Into<$crate::kernel::View<'a, $machine, K>>,
                groups: u64,
                values: impl Into<$crate::kernel::View<'a, $machine, T>>,
            ) -> $crate::Result<$crate::kernel::Groups<'a, $machine, u64, T>> {
                $crate::kernel::Machine::group_dense(self, keys, groups, values)
            }

            /// Starts one reduction by keys that are numbers of groups; see [`Machine::reduce_dense`]($crate::kernel::Machine::reduce_dense).
            pub fn reduce_dense<'a, K: $crate::Key + $crate::Ordered, T: $crate::Element>(
                &'a self,
                keys: impl Into<$crate::kernel::View<'a, $machine, K>>,
                groups: u64,
                values: impl Into<$crate::kernel::View<'a, $machine, T>>,
            ) -> $crate::kernel::ReduceDense<'a, $machine, K, T> {
                $crate::kernel::Machine::reduce_dense(self, keys, groups, values)
            }

            /// Takes the runs of equal keys for groups; see [`Machine::reduce_by_key`]($crate::kernel::Machine::reduce_by_key).
            ///
            /// # Errors
            /// As there.
            pub fn reduce_by_key<'a, K: $crate::Key + $crate::Ordered, T: $crate::Element>(
                &'a self,
                keys: impl Into<$crate::kernel::View<'a, $machine, K>>,
                values: impl Into<$crate::kernel::View<'a, $machine, T>>,
            ) -> $crate::Result<$crate::kernel::Groups<'a, $machine, K, T>> {
                $crate::kernel::Machine::reduce_by_key(self, keys, values)
            }
        }
    };
}
#[cfg(any(feature = "cuda", feature = "simt"))]
pub(crate) use machine_methods;
