//! [`DenseSort`]: values sorted by keys that are numbers of groups, as launches and the memory that they need.

use super::sort::{Sort, launch};
use super::{GivenKeys, Groups, Labels, Values};
use crate::group::{self, Key};
use crate::kernel::many::ManyLaunch;
use crate::kernel::{Buffer, Machine, Untyped, View};
use crate::plan::{CudaGroupPlan, GroupWay, THREADS};
use crate::{Element, Error, Ordered, Result};

/// Blocks of a multiprocessor that look for bounds.
const PER_MULTIPROCESSOR: u32 = 8;

/// A sort by dense keys that has its memory and was not run yet.
pub struct DenseSort<'a, M: Machine, K, T> {
    machine: &'a M,
    keys: View<'a, M, K>,
    values: View<'a, M, T>,
    numbered: Numbered<M>,
}

impl<'a, M: Machine, K: Key + Ordered, T: Element> DenseSort<'a, M, K, T> {
    pub(in crate::kernel) fn new(
        machine: &'a M,
        keys: View<'a, M, K>,
        groups: u64,
        values: View<'a, M, T>,
    ) -> Result<Self> {
        let untyped = [keys.untyped(), values.untyped()];
        let numbered = Numbered::new(machine, untyped, groups, bounds::<K>(groups))?;
        Ok(DenseSort { machine, keys, values, numbered })
    }

    /// How it will run.
    pub fn plan(&self) -> &CudaGroupPlan {
        &self.numbered.plan
    }

    /// What does it, in order; the same launches again do it again. Keys and values must be there.
    pub fn launches(&self) -> &[ManyLaunch] {
        &self.numbered.launches
    }

    /// Runs it.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn run(self) -> Result<Groups<'a, M, u64, T>> {
        let after: Vec<_> = [self.keys.ready, self.values.ready].into_iter().flatten().collect();
        self.machine.run_many(self.launches(), &after)?;
        self.finish()
    }

    /// The groups, once the launches have run; memory that is no longer needed is given back.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys) with the first key that is not below the number of groups; [`Error::Device`](crate::Error::Device).
    pub fn finish(self) -> Result<Groups<'a, M, u64, T>> {
        let DenseSort { machine, keys, values, numbered } = self;
        let Numbered { groups, plan, sort, offsets, .. } = numbered;
        if let Some(at) = sort.beyond()? {
            return Err(beyond(machine, keys, groups, at as usize)?);
        }
        let values = Values::of(values, sort.into_values());
        Ok(Groups { machine, values, offsets, labels: Labels::Numbers(groups), plan })
    }
}

/// The greatest key that numbers of groups reach, and the first that is none's.
pub(super) fn bounds<K: Key>(groups: u64) -> [u64; 2] {
    // What the keys' type cannot hold needs no bits.
    let greatest = groups.saturating_sub(1);
    let greatest = K::from_id(greatest).map_or_else(|| most::<K>(), |_| greatest);
    // Negative keys look greater than all that are not.
    [greatest, groups.min(most::<K>().saturating_add(1))]
}

/// A launch that finds where ordinals (an address and how many) without their lowest bits begin to be each number up to one, sorted as they are.
pub(super) fn starts<M: Machine>(
    machine: &M,
    [ordinals, n]: [u64; 2],
    shift: u32,
    numbers: u64,
    to: u64,
) -> ManyLaunch {
    let most = machine.facts().multiprocessors.saturating_mul(PER_MULTIPROCESSOR);
    let grid = (numbers + 1).div_ceil(THREADS.into()).min(most.into()) as u32;
    launch("groups", "groups_bounds", grid, vec![ordinals, shift.into(), n, numbers, to])
}

/// What says that the key at a place is no group's number.
pub(super) fn beyond<M: Machine, K: Key + Ordered>(
    machine: &M,
    keys: View<'_, M, K>,
    groups: u64,
    place: usize,
) -> Result<Error> {
    let key = machine.reduce(keys.slice(place..place + 1)).min()?;
    Ok(group::outside(keys.len, groups, place, key))
}

/// The sort, whatever the types of keys and values.
struct Numbered<M: Machine> {
    groups: u64,
    plan: CudaGroupPlan,
    sort: Sort<M>,
    launches: Vec<ManyLaunch>,
    offsets: Buffer<M, u64>,
}

impl<M: Machine> Numbered<M> {
    /// Of `[keys, values]`, keys reaching up to `greatest` and being refused from `limit` on.
    fn new(
        machine: &M,
        [keys, values]: [Untyped<'_, M>; 2],
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
                let offsets = Buffer::new(machine.unwritten(8 * len)?, len);
                launches.push(starts(machine, [ordinals, n], 0, groups, offsets.address()));
                offsets
            }
            None if n == 0 => {
                let len = groups as usize + 1;
                Buffer::new(machine.zeros(8 * len)?, len)
            }
            // Of one group, or of none, which the first key is refused for.
            None => machine.upload(&[0, n])?,
        };
        Ok(Numbered { groups, plan, sort, launches, offsets })
    }
}

/// The greatest number that the type of keys holds.
fn most<K: Key>() -> u64 {
    let bits = 8 * size_of::<K>() as u32;
    let all = u64::MAX >> (u64::BITS - bits);
    // Signed types have half as many.
    let ids = [all, all >> 1];
    ids.into_iter().find(|&id| K::from_id(id).is_some()).unwrap_or(1)
}
