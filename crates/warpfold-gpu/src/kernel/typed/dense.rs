//! Reductions by keys that are numbers of groups, with the types of both.

use std::marker::PhantomData;

use super::buffer::{Buffer, View};
use super::groups::Groups;
use super::machine::Machine;
use crate::group::Key;
use crate::kernel::{AnyDenseSort, AnyDenseTables, AnyReduceDense, BatchedLaunch};
use crate::partial::Finish;
use crate::plan::{CudaGroupPlan, CudaTablePlan};
use crate::{Columns, Element, Op, Ordered, Result};

/// One reduction by keys on a machine being set up: choose, then call it. Made by [`Machine::reduce_dense`].
#[must_use = "call a reduction, such as .sum()"]
pub struct ReduceDense<'a, M: Machine, K, T> {
    reduce: AnyReduceDense<'a>,
    of: PhantomData<(&'a M, K, T)>,
}

impl<'a, M: Machine, K: Key + Ordered, T: Element> ReduceDense<'a, M, K, T> {
    pub(super) fn new(
        machine: &'a M,
        keys: View<'a, M, K>,
        groups: u64,
        values: View<'a, M, T>,
    ) -> Self {
        let reduce = AnyReduceDense::new(machine, keys.untyped(), groups, values.untyped());
        ReduceDense { reduce, of: PhantomData }
    }

    super::policy_methods!(reduce);

    /// At most so many threads; the default takes what the machine offers.
    pub fn threads(mut self, threads: usize) -> Self {
        self.reduce.policy_mut().threads = Some(threads);
        self
    }

    /// How tables in shared memory would do a reduction; `None` if they do not, and values are brought together first: [`Machine::group_dense`].
    pub fn plan(&self, op: Op) -> Option<CudaTablePlan> {
        self.reduce.plan(op)
    }

    /// What [`on_device`](Self::on_device) runs where tables do it, as launches that were not run yet.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, or there are too many groups; [`Error::Device`](crate::Error::Device): out of memory.
    pub fn tables(&self, op: Op) -> Result<Option<DenseTables<'a, M, K>>> {
        let tables = self.reduce.tables(op)?;
        Ok(tables.map(|tables| DenseTables { tables, of: PhantomData }))
    }

    /// The results of `op`, kept in the machine's memory, in the order of groups; of a group without elements what nothing reduces to.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, or one is not below the number of groups; else as
    /// [`ReduceBatched::on_device`](crate::kernel::ReduceBatched::on_device).
    ///
    /// # Panics
    /// If `R` is not the type of the results.
    pub fn on_device<R: Element>(&self, op: Op) -> Result<Buffer<M, R>> {
        Ok(Buffer::new(self.reduce.on_device(op)?))
    }

    /// The results of any reduction that kernels do, by name, copied to the host, and how they were found.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device); [`Error::Unsupported`](crate::Error::Unsupported) for what kernels do not do.
    pub fn columns(&self, op: Op, finish: Finish) -> Result<(Columns, String)> {
        self.reduce.columns(op, finish)
    }

    /// The sums: of integers checked.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn sum(&self) -> Result<Vec<T::Sum>>
    where
        T::Sum: Element,
    {
        self.on_device(Op::Sum)?.download()
    }

    /// The sums of magnitudes.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn l1(&self) -> Result<Vec<T::Round>> {
        self.on_device(Op::L1)?.download()
    }
}

/// A sort by dense keys that has its memory and was not run yet.
pub struct DenseSort<'a, M: Machine, K, T> {
    sort: AnyDenseSort<'a>,
    of: PhantomData<(&'a M, K, T)>,
}

impl<'a, M: Machine, K: Key + Ordered, T: Element> DenseSort<'a, M, K, T> {
    pub(super) fn new(
        machine: &'a M,
        keys: View<'a, M, K>,
        groups: u64,
        values: View<'a, M, T>,
    ) -> Result<Self> {
        let sort = AnyDenseSort::new(machine, keys.untyped(), groups, values.untyped())?;
        Ok(DenseSort { sort, of: PhantomData })
    }

    /// How it will run.
    pub fn plan(&self) -> &CudaGroupPlan {
        self.sort.plan()
    }

    /// What does it, in order; the same launches again do it again. Keys and values must be there.
    pub fn launches(&self) -> &[BatchedLaunch] {
        self.sort.launches()
    }

    /// Runs it.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn run(self) -> Result<Groups<'a, M, u64, T>> {
        Ok(Groups::new(self.sort.run()?))
    }

    /// The groups, once the launches have run; memory that is no longer needed is given back.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys) with the first key that is not below the number of groups; [`Error::Device`](crate::Error::Device).
    pub fn finish(self) -> Result<Groups<'a, M, u64, T>> {
        Ok(Groups::new(self.sort.finish()?))
    }
}

/// Sums by keys that have their memory and were not run yet.
pub struct DenseTables<'a, M: Machine, K> {
    tables: AnyDenseTables<'a>,
    of: PhantomData<(&'a M, K)>,
}

impl<M: Machine, K: Key + Ordered> DenseTables<'_, M, K> {
    /// How it will run.
    pub fn plan(&self) -> &CudaTablePlan {
        self.tables.plan()
    }

    /// What does it, in order; the same launches again do it again, of the same keys: a group that has lost its elements keeps its result. Keys and values must be there.
    pub fn launches(&self) -> &[BatchedLaunch] {
        self.tables.launches()
    }

    /// Runs it.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    ///
    /// # Panics
    /// As [`finish`](Self::finish).
    pub fn run<R: Element>(self) -> Result<Option<Buffer<M, R>>> {
        Ok(self.tables.run()?.map(Buffer::new))
    }

    /// The results, once the launches have run; `R` is the type of the plan's [`output`](CudaTablePlan::output). `None` if a group's numbers are so large and so many (2^18 of the
    /// greatest f32) that a table cannot hold their sum.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys) with the first key that is not below the number of groups; [`Error::Device`](crate::Error::Device).
    ///
    /// # Panics
    /// If `R` is another type.
    pub fn finish<R: Element>(self) -> Result<Option<Buffer<M, R>>> {
        Ok(self.tables.finish()?.map(Buffer::new))
    }
}
