//! [`Machine`]: what the kernels run on, as the rest of the library sees it.

use super::buffer::{Buffer, View};
use super::groups::{DenseSort, Groups, ReduceDense};
use super::many::{DeviceSegments, ManyLaunch, ReduceMany};
use super::record::RECORD_WORDS;
use super::reduce::Reduce;
use crate::element::{Element, Ordered};
use crate::group::Key;
use crate::plan::{self, CudaFacts, CudaPlan, Problem};
use crate::shape::Layout;
use crate::{Error, Result};

/// Something that runs the kernels: a GPU by its driver, or the simulator. It gives memory and runs launches; what a launch means
/// is the same for all.
pub trait Machine: Clone + Sized {
    /// An allocation, freed when dropped.
    type Memory: Memory;
    /// What orders work on arrays of other libraries.
    type Stream;

    /// What the planner knows of it.
    fn facts(&self) -> CudaFacts;

    /// The plan for a problem.
    ///
    /// # Errors
    /// As [`plan::choose_cuda`].
    fn plan(&self, problem: Problem) -> Result<CudaPlan> {
        plan::choose_cuda(problem, self.facts())
    }

    /// A copy of host memory.
    ///
    /// # Errors
    /// [`Error::Device`]: out of memory, with the sizes.
    fn copy_of(&self, bytes: &[u8]) -> Result<Self::Memory>;

    /// So many bytes of zeros.
    ///
    /// # Errors
    /// [`Error::Device`]: out of memory, with the sizes.
    fn zeros(&self, bytes: usize) -> Result<Self::Memory>;

    /// So many bytes that nobody has written.
    ///
    /// # Errors
    /// [`Error::Device`]: out of memory, with the sizes.
    fn unwritten(&self, bytes: usize) -> Result<Self::Memory>;

    /// Runs launches one after another, once what the streams were given so far is done, and waits for the last.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn run_many(&self, launches: &[ManyLaunch], after: &[&Self::Stream]) -> Result<()>;

    /// Runs a plan over the arrays and waits for its record.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn run<T: Element>(
        &self,
        plan: &CudaPlan,
        x: View<'_, Self, T>,
        y: Option<View<'_, Self, T>>,
    ) -> Result<[u64; RECORD_WORDS]>;

    /// Runs plans on several machines at once, and waits for all their records.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn run_all<T: Element>(jobs: &[Job<'_, Self, T>]) -> Result<Vec<[u64; RECORD_WORDS]>> {
        jobs.iter().map(|job| job.machine.run(&job.plan, job.x, job.y)).collect()
    }

    /// Copies a slice to the machine.
    ///
    /// # Errors
    /// [`Error::Device`]: out of memory, with the sizes.
    fn upload<T: Element>(&self, x: &[T]) -> Result<Buffer<Self, T>> {
        Ok(Buffer::new(self.copy_of(bytemuck::cast_slice(x))?, x.len()))
    }

    /// Starts a reduction of an array in the machine's memory; see [`Reduce`].
    fn reduce<'a, T: Element>(&'a self, x: impl Into<View<'a, Self, T>>) -> Reduce<'a, Self, T> {
        Reduce::new(self, x.into(), None)
    }

    /// Starts reductions of the segments of an array in the machine's memory; see [`ReduceMany`].
    fn reduce_segments<'a, T: Element>(
        &'a self,
        x: impl Into<View<'a, Self, T>>,
        segments: impl Into<DeviceSegments<'a, Self>>,
    ) -> ReduceMany<'a, Self, T> {
        ReduceMany::segments(self, x.into(), segments.into())
    }

    /// Starts reductions over some axes, counted from 0 or from the last as -1, of an array in the machine's memory; see [`ReduceMany`].
    ///
    /// # Errors
    /// [`Error::Shape`]: no such axis, or one named twice, or a layout that reaches beyond the memory.
    fn reduce_axes<'a, T: Element>(
        &'a self,
        x: impl Into<View<'a, Self, T>>,
        layout: &Layout,
        axes: &[i64],
    ) -> Result<ReduceMany<'a, Self, T>> {
        ReduceMany::axes(self, x.into(), layout, axes)
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
    /// [`Error::Keys`]: there is not one key for each value; [`Error::Device`].
    fn group_by<'a, K: Key + Ordered, T: Element>(
        &'a self,
        keys: impl Into<View<'a, Self, K>>,
        values: impl Into<View<'a, Self, T>>,
    ) -> Result<Groups<'a, Self, K, T>> {
        Groups::by(self, keys.into(), values.into())
    }

    /// Brings values of equal keys together, keys being numbers of groups from 0 to below `groups`; every number has a group, if an empty one.
    ///
    /// # Errors
    /// [`Error::Keys`]: there is not one key for each value, or one is not below `groups`; [`Error::Device`].
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
    /// [`Error::Keys`]: there is not one key for each value, or there are too many groups; [`Error::Device`]: out of memory.
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
    /// [`Error::Keys`]: there is not one key for each value; [`Error::Device`].
    fn reduce_by_key<'a, K: Key + Ordered, T: Element>(
        &'a self,
        keys: impl Into<View<'a, Self, K>>,
        values: impl Into<View<'a, Self, T>>,
    ) -> Result<Groups<'a, Self, K, T>> {
        Groups::runs(self, keys.into(), values.into())
    }

    /// Starts a reduction of two arrays of one length: dot.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`].
    fn reduce_two<'a, T: Element>(
        &'a self,
        x: impl Into<View<'a, Self, T>>,
        y: impl Into<View<'a, Self, T>>,
    ) -> Result<Reduce<'a, Self, T>> {
        let (x, y) = (x.into(), y.into());
        if x.len() != y.len() {
            return Err(Error::LengthMismatch { left: x.len() as u64, right: y.len() as u64 });
        }
        Ok(Reduce::new(self, x, Some(y)))
    }
}

/// A plan, the machine that is to run it, and its arrays, which lie there.
pub struct Job<'a, M: Machine, T> {
    /// Who runs it.
    pub machine: &'a M,
    /// How.
    pub plan: CudaPlan,
    /// The array.
    pub x: View<'a, M, T>,
    /// The other array of a dot product.
    pub y: Option<View<'a, M, T>>,
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

            /// Starts reductions of the segments of an array in its memory; see [`ReduceMany`]($crate::kernel::ReduceMany).
            pub fn reduce_segments<'a, T: $crate::Element>(
                &'a self,
                x: impl Into<$crate::kernel::View<'a, $machine, T>>,
                segments: impl Into<$crate::kernel::DeviceSegments<'a, $machine>>,
            ) -> $crate::kernel::ReduceMany<'a, $machine, T> {
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

/// Bytes of a machine.
pub trait Memory {
    /// The address that kernels know it by.
    fn address(&self) -> u64;

    /// Copies all of it to the host.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn read(&self, bytes: &mut [u8]) -> Result<()>;

    /// Copies host memory to a part of it, from byte `first` on.
    ///
    /// # Errors
    /// [`Error::Device`].
    fn write(&mut self, first: usize, bytes: &[u8]) -> Result<()>;
}
