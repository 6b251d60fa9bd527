//! [`AnyDenseSort`]: values sorted by keys that are numbers of groups, as launches and the memory that they need.

use warpfold_kernels::arguments::BoundArguments;

use super::keys::{bounds, check, outside};
use super::sort::{Sort, launch};
use super::{AnyGroups, GivenKeys, Labels, Values, uploaded};
use crate::group;
use crate::kernel::{AnyBuffer, AnyReduce, AnyView, BatchedLaunch, Executor};
use crate::partial::{Finish, Output};
use crate::plan::{CudaGroupPlan, GroupWay, THREADS};
use crate::{DType, Error, Op, Result};

/// Blocks of a multiprocessor that look for bounds.
const PER_MULTIPROCESSOR: u32 = 8;

/// A sort by dense keys that has its memory and was not run yet.
pub struct AnyDenseSort<'a> {
    machine: &'a dyn Executor,
    keys: AnyView<'a>,
    values: AnyView<'a>,
    numbered: Numbered,
}

impl<'a> AnyDenseSort<'a> {
    /// Of keys that are numbers of groups from 0 to below `groups`.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys): there is not one key for each value, keys are no integers, or there are too many groups;
    /// [`Error::Device`](crate::Error::Device).
    pub fn new(
        machine: &'a dyn Executor,
        keys: AnyView<'a>,
        groups: u64,
        values: AnyView<'a>,
    ) -> Result<Self> {
        check(machine, keys, values)?;
        let bounds = bounds(keys.dtype, groups);
        let numbered = Numbered::new(machine, [keys, values], groups, bounds)?;
        Ok(AnyDenseSort { machine, keys, values, numbered })
    }

    /// How it will run.
    pub fn plan(&self) -> &CudaGroupPlan {
        &self.numbered.plan
    }

    /// What does it, in order; the same launches again do it again. Keys and values must be there.
    pub fn launches(&self) -> &[BatchedLaunch] {
        &self.numbered.launches
    }

    /// Runs it.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn run(self) -> Result<AnyGroups<'a>> {
        self.machine.run_batched(self.launches(), &[self.keys.ready, self.values.ready])?;
        self.finish()
    }

    /// The groups, once the launches have run; memory that is no longer needed is given back.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys) with the first key that is not below the number of groups; [`Error::Device`](crate::Error::Device).
    pub fn finish(self) -> Result<AnyGroups<'a>> {
        let AnyDenseSort { machine, keys, values, numbered } = self;
        let Numbered { groups, plan, sort, offsets, .. } = numbered;
        if let Some(at) = sort.beyond()? {
            return Err(beyond(machine, keys, groups, at as usize)?);
        }
        let values = Values::of(values, sort.into_values());
        Ok(AnyGroups { machine, values, offsets, labels: Labels::Numbers(groups), plan })
    }
}

/// A launch that finds where ordinals (an address and how many) without their lowest bits begin to be each number up to one, sorted as they are.
pub(super) fn starts(
    machine: &dyn Executor,
    [ordinals, n]: [u64; 2],
    shift: u32,
    numbers: u64,
    to: u64,
) -> BatchedLaunch {
    let most = machine.facts().multiprocessors.saturating_mul(PER_MULTIPROCESSOR);
    let grid = (numbers + 1).div_ceil(THREADS.into()).min(most.into()) as u32;
    let arguments =
        BoundArguments { keys: ordinals, shift: shift.into(), n, groups: numbers, starts: to };
    launch("groups", "groups_bounds", grid, arguments.words().into())
}

/// What says that the key at an index is no group's number.
pub(super) fn beyond(
    machine: &dyn Executor,
    keys: AnyView<'_>,
    groups: u64,
    index: usize,
) -> Result<Error> {
    let one = AnyReduce::new(machine, keys.slice(index..index + 1));
    match one.output(Op::Min, Finish::default())? {
        Output::One(key) => Ok(outside(keys, groups, index, key)),
        other => unreachable!("a minimum is one number, not {other:?}"),
    }
}

/// The sort.
struct Numbered {
    groups: u64,
    plan: CudaGroupPlan,
    sort: Sort,
    launches: Vec<BatchedLaunch>,
    offsets: AnyBuffer,
}

impl Numbered {
    /// Of `[keys, values]`, keys reaching up to `greatest` and being refused from `limit` on.
    fn new(
        machine: &dyn Executor,
        [keys, values]: [AnyView<'_>; 2],
        groups: u64,
        [greatest, limit]: [u64; 2],
    ) -> Result<Self> {
        group::check_lengths(keys.len, values.len)?;
        group::check_groups(keys.len, groups)?;
        let n = keys.len as u64;
        let (types, way) = ([keys.dtype, values.dtype], GroupWay::Dense(groups));
        let plan = CudaGroupPlan::new(n, types, way, greatest, machine.facts());
        let given = GivenKeys::of(keys, 0);
        let sort = Sort::new(machine, &plan, given, values.address, Some(limit))?;
        let mut launches = sort.launches.clone();
        let offsets = match sort.last().filter(|_| n > 0) {
            Some((ordinals, _)) => {
                let len = groups as usize + 1;
                let offsets = AnyBuffer::new(machine.unwritten(8 * len)?, DType::U64, len);
                launches.push(starts(machine, [ordinals, n], 0, groups, offsets.address()));
                offsets
            }
            None if n == 0 => {
                let len = groups as usize + 1;
                AnyBuffer::new(machine.zeros(8 * len)?, DType::U64, len)
            }
            // Of one group, or of none, which the first key is refused for.
            None => uploaded(machine, &[0, n])?,
        };
        Ok(Numbered { groups, plan, sort, launches, offsets })
    }
}
