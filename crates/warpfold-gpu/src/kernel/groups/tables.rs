//! [`AnyDenseTables`]: sums by keys that are numbers of groups, in tables in shared memory, as launches and the memory that they need.

use warpfold_kernels::arguments::{TableArguments, TableKind};

use super::GivenKeys;
use super::dense::{beyond, starts};
use super::sort::{Sort, launch};
use crate::kernel::{AnyBuffer, AnyView, BatchedLaunch, Executor, Memory, Ready};
use crate::plan::CudaTablePlan;
use crate::{DType, Nan, Result};

/// Threads of a block that fills a table (`tables.cuh`).
const TABLE_THREADS: u32 = 1024;
/// Warps of a block that adds two tables or few, and that adds those of all blocks.
const JOIN_WARPS: [u32; 2] = [2, 8];
/// Groups that a block adds the tables of.
const JOINED: u64 = 32;
/// What the kernels know of the policy, and of the reduction.
const ABSOLUTE: u64 = 1;
const IGNORE_NAN: u64 = 2;
/// A word of the fault record while there is no fault.
const NONE: u64 = u64::MAX;

/// Sums by keys that have their memory and were not run yet.
pub struct AnyDenseTables<'a> {
    machine: &'a dyn Executor,
    keys: AnyView<'a>,
    after: [Ready<'a>; 2],
    filled: Filled,
}

impl<'a> AnyDenseTables<'a> {
    pub(super) fn new(
        machine: &'a dyn Executor,
        [keys, values]: [AnyView<'a>; 2],
        limit: u64,
        plan: CudaTablePlan,
        nan: Nan,
    ) -> Result<Self> {
        let after = [keys.ready, values.ready];
        let filled = Filled::new(machine, [keys, values], limit, plan, nan)?;
        Ok(AnyDenseTables { machine, keys, after, filled })
    }

    /// How it will run.
    pub fn plan(&self) -> &CudaTablePlan {
        &self.filled.plan
    }

    /// What does it, in order; the same launches again do it again, of the same keys: a group that has lost its elements keeps its result. Keys and values must be there.
    pub fn launches(&self) -> &[BatchedLaunch] {
        &self.filled.launches
    }

    /// Runs it.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn run(self) -> Result<Option<AnyBuffer>> {
        self.machine.run_batched(self.launches(), &self.after)?;
        self.finish()
    }

    /// The results, once the launches have run, of the type of the plan's [`output`](CudaTablePlan::output). `None` if a group's numbers are so large and so many (2^18 of the
    /// greatest f32) that a table cannot hold their sum.
    ///
    /// # Errors
    /// [`Error::Keys`](crate::Error::Keys) with the first key that is not below the number of groups; [`Error::Device`](crate::Error::Device).
    pub fn finish(self) -> Result<Option<AnyBuffer>> {
        let filled = self.ended()?;
        Ok(filled.map(|filled| {
            AnyBuffer::new(filled.out, filled.plan.output(), filled.plan.groups as usize)
        }))
    }

    /// The sums of the launches, unless a table could not hold one.
    fn ended(self) -> Result<Option<Filled>> {
        let AnyDenseTables { machine, keys, filled, .. } = self;
        let [mut bad, lost] = filled.faults()?;
        if let Some(at) = filled.sort.as_ref().map_or(Ok(None), Sort::beyond)? {
            bad = at;
        }
        if bad != NONE {
            return Err(beyond(machine, keys, filled.plan.groups, bad as usize)?);
        }
        Ok((lost == NONE).then_some(filled))
    }
}

/// The launches and their memory.
struct Filled {
    plan: CudaTablePlan,
    sort: Option<Sort>,
    launches: Vec<BatchedLaunch>,
    out: Memory,
    /// The first key that is no group's number; whether a table could not hold a sum.
    faults: Memory,
    /// Held as long as launches may run.
    _kept_alive: Vec<Memory>,
}

impl Filled {
    fn new(
        machine: &dyn Executor,
        [keys, values]: [AnyView<'_>; 2],
        limit: u64,
        plan: CudaTablePlan,
        nan: Nan,
    ) -> Result<Self> {
        let n = plan.sort.elements;
        let mut launches = Vec::new();
        let mut kept_alive = Vec::new();
        let (mut sort, mut first, mut given) = (None, 0, GivenKeys::of(keys, 0));
        let mut at = values.address;
        if plan.sort.passes() > 0 {
            let sorted = Sort::new(machine, &plan.sort, given, at, Some(limit))?;
            launches.extend(sorted.launches.iter().cloned());
            let (ordinals, moved) = sorted.last().expect("a pass leaves what it sorted");
            let found = machine.unwritten(8 * (plan.ranges() as usize + 1))?;
            first = found.address();
            launches.push(starts(machine, [ordinals, n], plan.width_bits, plan.ranges(), first));
            kept_alive.push(found);
            given = GivenKeys { address: ordinals, bytes: plan.sort.ordinal_bytes(), base: 0 };
            at = moved;
            sort = Some(sorted);
        }
        let out = machine.zeros(plan.groups as usize * plan.output().size())?;
        let faults = machine.copy_of(&[0xff; 16])?;
        let slots = machine.unwritten(plan.slot_bytes() as usize)?;
        let magnitudes = if plan.op == crate::Op::L1 { ABSOLUTE } else { 0 };
        let options = magnitudes | if nan == Nan::Ignore { IGNORE_NAN } else { 0 };
        let ranges = plan.ranges();
        let arguments = TableArguments {
            keys: given.address,
            key_bytes: given.bytes,
            limit,
            values: at,
            kind: kind(values.dtype) as u64,
            n,
            share: plan.share,
            width_bits: plan.width_bits.into(),
            ranges,
            starts: first,
            groups: plan.groups,
            out: out.address(),
            slots: slots.address(),
            faults: faults.address(),
            options,
        };
        let words: Vec<u64> = arguments.words().into();
        let entry = if values.dtype.is_float() { "tables_floats" } else { "tables_integers" };
        let fill = launch("tables", entry, plan.grid, words.clone());
        let shared_bytes = plan.table_bytes() as u32;
        launches.push(BatchedLaunch { block: TABLE_THREADS, shared_bytes, ..fill });
        if plan.grid > 1 {
            let grid = u64::from(plan.grid) * ((1 << plan.width_bits) / JOINED);
            let join = launch("tables", &format!("{entry}_join"), grid as u32, words);
            let warps = JOIN_WARPS[usize::from(ranges == 1)];
            let shared_bytes = warps * 8 * 32 * (plan.limbs() as u32 + 1);
            launches.push(BatchedLaunch { block: 32 * warps, shared_bytes, ..join });
        }
        kept_alive.push(slots);
        Ok(Filled { plan, sort, launches, out, faults, _kept_alive: kept_alive })
    }

    fn faults(&self) -> Result<[u64; 2]> {
        let mut words = [0u64; 2];
        self.faults.read(bytemuck::cast_slice_mut(&mut words))?;
        Ok(words.map(u64::from_le))
    }
}

/// How values lie in memory.
fn kind(values: DType) -> TableKind {
    match values {
        DType::F32 => TableKind::F32,
        DType::F16 => TableKind::F16,
        DType::BF16 => TableKind::BF16,
        DType::Bool | DType::U8 => TableKind::U8,
        DType::U16 => TableKind::U16,
        DType::U32 => TableKind::U32,
        DType::I8 => TableKind::I8,
        DType::I16 => TableKind::I16,
        DType::I32 => TableKind::I32,
        other => unreachable!("no plan of tables for {other}"),
    }
}
