//! [`ReduceDense`]: one reduction by keys that are numbers of groups.

use super::dense::bounds;
use super::tables::DenseTables;
use crate::Columns;
use crate::group::{self, Key};
use crate::kernel::{Buffer, Machine, View};
use crate::partial::Finish;
use crate::plan::CudaTablePlan;
use crate::policy_methods;
use crate::{Element, Op, Ordered, Policy, Result};

/// One reduction by keys on a machine being set up: choose, then call it. Made by [`Machine::reduce_dense`].
#[must_use = "call a reduction, such as .sum()"]
pub struct ReduceDense<'a, M: Machine, K, T> {
    machine: &'a M,
    keys: View<'a, M, K>,
    groups: u64,
    values: View<'a, M, T>,
    policy: Policy,
}

impl<'a, M: Machine, K: Key + Ordered, T: Element> ReduceDense<'a, M, K, T> {
    pub(in crate::kernel) fn new(
        machine: &'a M,
        keys: View<'a, M, K>,
        groups: u64,
        values: View<'a, M, T>,
    ) -> Self {
        ReduceDense { machine, keys, groups, values, policy: Policy::default() }
    }

    policy_methods!("NaN propagates (the default) or is ignored.");

    /// How tables in shared memory would do a reduction; `None` if they do not, and values are brought together first: [`Machine::group_dense`].
    pub fn plan(&self, op: Op) -> Option<CudaTablePlan> {
        let types = [<K as Key>::DTYPE, T::DTYPE];
        let [greatest, _] = bounds::<K>(self.groups);
        let n = self.keys.len as u64;
        CudaTablePlan::new(op, n, types, [self.groups, greatest], self.machine.facts())
    }

    /// What [`on_device`](Self::on_device) runs where tables do it, as launches that were not run yet.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, or there are too many groups; [`Error::Device`](crate::Error::Device): out of memory.
    pub fn tables(&self, op: Op) -> Result<Option<DenseTables<'a, M, K>>> {
        let ReduceDense { machine, keys, groups, values, policy } = *self;
        group::check_lengths(keys.len, values.len)?;
        group::check_groups(keys.len, groups)?;
        let [_, limit] = bounds::<K>(groups);
        let tables = self
            .plan(op)
            .map(|plan| DenseTables::new(machine, keys, values, limit, plan, policy.nan));
        tables.transpose()
    }

    /// The results of `op`, left in the machine's memory, in the order of groups; of a group without elements what nothing reduces to.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, or one is not below the number of groups; else as
    /// [`ReduceMany::on_device`](crate::kernel::ReduceMany::on_device).
    ///
    /// # Panics
    /// If `R` is not the type of the results.
    pub fn on_device<R: Element>(&self, op: Op) -> Result<Buffer<M, R>> {
        if let Some(tables) = self.tables(op)?
            && let Some(results) = tables.run()?
        {
            return Ok(results);
        }
        let ReduceDense { machine, keys, groups, values, policy } = *self;
        machine.group_dense(keys, groups, values)?.reduce().policy(policy).on_device(op)
    }

    /// The results of any reduction that kernels do, by name, copied to the host, and how they were found.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device); [`Error::Unsupported`](crate::Error::Unsupported) for what kernels do not do.
    pub fn columns(&self, op: Op, finish: Finish) -> Result<(Columns, String)> {
        let rounds = |plan: CudaTablePlan| finish.round_to.is_none_or(|to| to == plan.output());
        if self.plan(op).is_some_and(rounds)
            && let Some(tables) = self.tables(op)?
        {
            let plan = tables.plan().clone();
            let column = tables.column()?;
            if let Some(column) = column {
                return Ok((vec![(op.name(), column)], plan.to_string()));
            }
        }
        let ReduceDense { machine, keys, groups, values, policy } = *self;
        let groups = machine.group_dense(keys, groups, values)?;
        let many = groups.reduce().policy(policy);
        let columns = many.columns(op, finish)?;
        let plans = many.plans(op)?.iter().map(ToString::to_string).collect::<Vec<_>>();
        Ok((columns, format!("{}; then {}", groups.plan(), plans.join("; then "))))
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
