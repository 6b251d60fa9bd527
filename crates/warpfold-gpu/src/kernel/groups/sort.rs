//! [`Sort`]: the launches of a stable radix sort of values by keys, and the memory that they need.

use warpfold_kernels::arguments::{DigitArguments, ScanArguments, ScatterArguments};

use super::GivenKeys;
use super::scatter::Scatter;
use crate::Result;
use crate::kernel::{BatchedLaunch, Code, Executor, Memory};
use crate::plan::{CudaGroupPlan, DIGITS, THREADS};

/// Threads of a block that counts digits (`groups.cu`).
const COUNT_THREADS: u32 = 1024;
/// Keys that all are below a number, or the first that is not: what a sort reports.
const NONE: u64 = u64::MAX;

/// A sort that has memory of its own, to be run.
pub(super) struct Sort {
    /// What does it, in order; the same again does it again.
    pub(super) launches: Vec<BatchedLaunch>,
    /// Ordinals and values, the last pass's last.
    sides: Vec<(Memory, Memory)>,
    /// Sums of the last pass's digits, then what was beyond the limit.
    totals: Memory,
    /// Held as long as launches may run.
    _table: Memory,
}

impl Sort {
    /// Sorts `values` (an address) by keys; keys not below `limit`, if there is one, are reported.
    pub(super) fn new(
        machine: &dyn Executor,
        plan: &CudaGroupPlan,
        keys: GivenKeys,
        values: u64,
        limit: Option<u64>,
    ) -> Result<Self> {
        let n = plan.elements;
        let width = plan.values.size() as u64;
        let unwritten = |bytes: u64| machine.unwritten(bytes as usize);
        let sides = (0..plan.passes().min(2))
            .map(|_| Ok((unwritten(n * plan.ordinal_bytes())?, unwritten(n * width)?)))
            .collect::<Result<Vec<_>>>()?;
        let table = unwritten(plan.table_bytes())?;
        let totals = unwritten(8 * (DIGITS + 1))?;
        let (mut launches, mut given, mut values) = (Vec::new(), keys, values);
        let beyond = table.address() + 8 * DIGITS * u64::from(plan.grid);
        let mut limit = limit;
        let mut count = |keys: GivenKeys, shift: u32, bits: u32| {
            let limit = limit.take();
            let (below, fault) = limit.map_or((NONE, 0), |limit| (limit, beyond));
            let GivenKeys { address, bytes, base } = keys;
            let digit = DigitArguments {
                keys: address,
                bytes,
                base,
                n,
                shift: shift.into(),
                bits: bits.into(),
                run: plan.run,
                table: table.address(),
                limit: below,
                beyond: fault,
            };
            let scan = ScanArguments {
                table: table.address(),
                rows: DIGITS,
                columns: plan.grid.into(),
                totals: totals.address(),
            };
            let rows = DIGITS as u32 + u32::from(limit.is_some());
            let count = launch("groups", "groups_digits", plan.grid, digit.words().into());
            let count = BatchedLaunch { block: COUNT_THREADS, ..count };
            ([count, launch("groups", "groups_scan", rows, scan.words().into())], digit)
        };
        if plan.passes() == 0 && n > 0 {
            launches.extend(count(given, 0, 0).0);
        }
        for (pass, bits) in plan.digits().enumerate().take_while(|_| n > 0) {
            let (counting, digit) = count(given, bits.start, bits.len() as u32);
            launches.extend(counting);
            let (keys_out, values_out) = &sides[pass % 2];
            let (to, sorted) = (keys_out.address(), values_out.address());
            let DigitArguments { keys, bytes, base, n, shift, bits, run, table, .. } = digit;
            let totals = totals.address();
            let arguments = ScatterArguments {
                keys,
                bytes,
                base,
                n,
                shift,
                bits,
                run,
                table,
                totals,
                values,
                width,
                keys_out: to,
                values_out: sorted,
            };
            let words = arguments.words().into();
            let Scatter { module, entry, block, shared_bytes } =
                Scatter::new(plan, machine.facts());
            let scatter = launch(module, entry, plan.grid, words);
            launches.push(BatchedLaunch { block, shared_bytes, ..scatter });
            given = GivenKeys { address: to, bytes: plan.ordinal_bytes(), base: 0 };
            values = sorted;
        }
        let mut sides = sides;
        if plan.passes() % 2 == 1 && sides.len() == 2 {
            sides.swap(0, 1);
        }
        Ok(Sort { launches, sides, totals, _table: table })
    }

    /// The addresses of ordinals and values as the last pass leaves them; `None` if there was nothing to sort by.
    pub(super) fn last(&self) -> Option<(u64, u64)> {
        self.sides.last().map(|(keys, values)| (keys.address(), values.address()))
    }

    /// The index of the first key that was not below the limit, once the launches have run.
    pub(super) fn beyond(&self) -> Result<Option<u64>> {
        if self.launches.is_empty() {
            return Ok(None);
        }
        let mut words = [0u64; DIGITS as usize + 1];
        self.totals.read(bytemuck::cast_slice_mut(&mut words))?;
        let first = u64::from_le(words[DIGITS as usize]);
        Ok((first != NONE).then_some(first))
    }

    /// The sorted values; everything else is given back.
    pub(super) fn into_values(mut self) -> Option<Memory> {
        self.sides.pop().map(|(_, values)| values)
    }
}

/// A launch of a kernel for groups.
pub(super) fn launch(module: &str, entry: &str, grid: u32, words: Vec<u64>) -> BatchedLaunch {
    let (code, entry) = (Code::Shipped(module.to_owned()), entry.to_owned());
    BatchedLaunch { code, entry, grid, block: THREADS, shared_bytes: 0, words }
}
