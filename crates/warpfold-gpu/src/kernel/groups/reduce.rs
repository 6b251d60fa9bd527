//! [`AnyReduceDense`]: one reduction by keys that are numbers of groups.

use super::AnyGroups;
use super::keys::{bounds, check};
use super::tables::AnyDenseTables;
use crate::Columns;
use crate::group;
use crate::kernel::{AnyBuffer, AnyView, Executor};
use crate::partial::Finish;
use crate::plan::CudaTablePlan;
use crate::{Op, Policy, Result};

/// One reduction by keys on a machine being set up, whatever the types of keys and values: choose, then call for its columns.
#[derive(Clone, Copy)]
#[must_use = "call for the columns of a reduction"]
pub struct AnyReduceDense<'a> {
    machine: &'a dyn Executor,
    keys: AnyView<'a>,
    groups: u64,
    values: AnyView<'a>,
    policy: Policy,
}

impl<'a> AnyReduceDense<'a> {
    /// By keys that are numbers of groups from 0 to below `groups`.
    pub fn new(
        machine: &'a dyn Executor,
        keys: AnyView<'a>,
        groups: u64,
        values: AnyView<'a>,
    ) -> Self {
        AnyReduceDense { machine, keys, groups, values, policy: Policy::default() }
    }

    /// All choices.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The choices so far.
    pub(in crate::kernel) fn policy_mut(&mut self) -> &mut Policy {
        &mut self.policy
    }

    /// How tables in shared memory would do a reduction; `None` if they do not, and values are brought together first: [`AnyGroups::dense`].
    pub fn plan(&self, op: Op) -> Option<CudaTablePlan> {
        let types = [self.keys.dtype, self.values.dtype];
        let [greatest, _] = bounds(self.keys.dtype, self.groups);
        let n = self.keys.len as u64;
        CudaTablePlan::new(op, n, types, [self.groups, greatest], self.machine.facts())
    }

    /// What [`on_device`](Self::on_device) runs where tables do it, as launches that were not run yet.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, or there are too many groups; [`Error::Device`](crate::Error::Device): out of memory.
    pub fn tables(&self, op: Op) -> Result<Option<AnyDenseTables<'a>>> {
        let AnyReduceDense { machine, keys, groups, values, policy } = *self;
        check(machine, keys, values)?;
        group::check_groups(keys.len, groups)?;
        let [_, limit] = bounds(keys.dtype, groups);
        let tables = self
            .plan(op)
            .map(|plan| AnyDenseTables::new(machine, [keys, values], limit, plan, policy.nan));
        tables.transpose()
    }

    /// The results of `op`, kept in the machine's memory, in the order of groups; of a group without elements what nothing reduces to.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, or one is not below the number of groups; else as
    /// [`AnyReduceBatched::on_device`](crate::kernel::AnyReduceBatched::on_device).
    pub fn on_device(&self, op: Op) -> Result<AnyBuffer> {
        if let Some(tables) = self.tables(op)?
            && let Some(results) = tables.run()?
        {
            return Ok(results);
        }
        let AnyReduceDense { machine, keys, groups, values, policy } = *self;
        AnyGroups::dense(machine, keys, groups, values)?.reduce().policy(policy).on_device(op)
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
            if let Some(results) = tables.run()? {
                return Ok((vec![(op.name(), results.column()?)], plan.to_string()));
            }
        }
        let AnyReduceDense { machine, keys, groups, values, policy } = *self;
        let groups = AnyGroups::dense(machine, keys, groups, values)?;
        let batched = groups.reduce().policy(policy);
        let columns = batched.columns(op, finish)?;
        let plans = batched.plans(op)?.iter().map(ToString::to_string).collect::<Vec<_>>();
        Ok((columns, format!("{}; then {}", groups.plan(), plans.join("; then "))))
    }
}
