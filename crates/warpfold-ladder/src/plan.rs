//! [`Plan`]: how a rung folds an array, as a plain value: which launches, over what, with how much memory. Knows no device but by its facts.

use warpfold::plan::CudaFacts;
use warpfold::{DType, Op};
use warpfold_kernels::ladder::{Finish, Grid, Rung, Shared, Variables, Workspace};

/// Threads that a block may have on every device.
pub const MOST_THREADS: u32 = 1024;

/// What a rung is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// The operation.
    pub op: Op,
    /// The element type.
    pub dtype: DType,
    /// Elements.
    pub n: u64,
    /// Threads of a block.
    pub block: u32,
}

/// The launches of a kernel of the ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The PTX module.
    pub module: String,
    /// The entry.
    pub entry: String,
    /// Elements that are folded.
    pub n: u64,
    /// What runs, one after another.
    pub passes: Vec<Pass>,
    /// Elements that the two arrays of partial results need; passes take turns.
    pub partials: [u64; 2],
    /// Elements of memory to work in.
    pub scratch: u64,
    /// Operations that fold two values, and the longest chain of them, by the rung's formulas.
    pub work: f64,
    /// See `work`.
    pub steps: f64,
}

/// One launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Pass {
    /// Elements that it folds.
    pub n: u64,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
}

/// Where a plan's arrays are in the machine's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// The array.
    pub input: u64,
    /// One element; for atomics it holds the identity.
    pub result: u64,
    /// The arrays of partial results.
    pub partials: [u64; 2],
    /// The memory to work in.
    pub scratch: u64,
    /// 32 bits that are zero, and are so again afterwards.
    pub ticket: u64,
}

/// A launch with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch<'a> {
    /// The PTX module.
    pub module: &'a str,
    /// The entry.
    pub entry: &'a str,
    /// Its shape.
    pub pass: Pass,
    /// Its parameters, 64 bits each; of rungs: array, results, elements, memory to work in, ticket.
    pub parameters: Vec<u64>,
}

impl Plan {
    /// The launches that fold an array by a rung.
    ///
    /// # Errors
    /// Why the rung cannot: the operation or the size of block is not one of its, the device is too old, or there would be too many blocks.
    pub fn new(rung: &Rung, case: Case, facts: CudaFacts) -> Result<Plan, String> {
        Plan::on_grid(rung, case, facts, None)
    }

    /// As [`new`](Self::new), but with so many blocks in place of as many as fill the machine.
    ///
    /// # Errors
    /// As those of `new`; the grid of a rung whose threads take a fixed number of elements follows from theirs.
    pub fn on_grid(
        rung: &Rung,
        case: Case,
        facts: CudaFacts,
        grid: Option<u32>,
    ) -> Result<Plan, String> {
        if grid.is_some() && matches!(rung.grid, Grid::Elements { .. } | Grid::OneBlock { .. }) {
            return Err("its number of blocks follows from the number of elements".to_owned());
        }
        let Case { op, dtype, block, .. } = case;
        if let Some(lack) = &rung.lacks
            && (&*lack.op, &*lack.element) == (op.name(), dtype.name())
        {
            return Err(format!("not on this type, {}", lack.why));
        }
        if facts.compute < rung.target {
            let of = |compute: u32| format!("{}.{}", compute / 10, compute % 10);
            let (has, needs) = (of(facts.compute), of(rung.target));
            return Err(format!(
                "not on this device: its compute capability is {has}, and this needs {needs}"
            ));
        }
        if !rung.blocks.is_empty() && !rung.blocks.contains(&block) {
            return Err(format!("not in blocks of {block}: it is compiled for {:?}", rung.blocks));
        }
        let mut n = case.n;
        if let Grid::OneBlock { most } = rung.grid {
            n = n.min(most.into());
        }
        let mut plan = Plan {
            module: rung.module(),
            entry: rung.entry(op.name(), dtype.name(), block),
            n,
            passes: Vec::new(),
            partials: [0; 2],
            scratch: 0,
            work: 0.0,
            steps: 0.0,
        };
        let per_vector = (16 / dtype.size()) as f64;
        let mut remaining = n;
        loop {
            let last = plan.passes.len() == 1 && rung.finish == Finish::TwoLaunches;
            let mut pass = pass(rung, case, facts, remaining, last)?;
            if let Some(grid) = grid.filter(|_| plan.passes.is_empty()) {
                pass.grid = grid.max(1);
            }
            let v = Variables {
                n: remaining as f64,
                block: pass.block.into(),
                grid: pass.grid.into(),
                per_vector,
            };
            plan.work += rung.work.value(v);
            // Halves that are rounded up may take a step more than the logarithm of what is there.
            let rounded = if pass.block.is_power_of_two() { 0.0 } else { 1.0 };
            plan.steps += rung.steps.value(v) + rounded;
            plan.scratch = plan.scratch.max(match rung.memory {
                Workspace::None => 0,
                Workspace::ElementPerThread => u64::from(pass.grid) * u64::from(pass.block),
                Workspace::ElementPerBlock => pass.grid.into(),
            });
            let turn = plan.passes.len() % 2;
            plan.passes.push(pass);
            remaining = pass.grid.into();
            if remaining == 1 || matches!(rung.finish, Finish::Atomic | Finish::SinglePass) {
                return Ok(plan);
            }
            plan.partials[turn] = plan.partials[turn].max(remaining);
        }
    }

    /// Bytes that it needs besides the array.
    pub fn bytes(&self, dtype: DType) -> u128 {
        let elements = [self.partials[0], self.partials[1], self.scratch];
        elements.iter().map(|&elements| u128::from(elements)).sum::<u128>() * dtype.size() as u128
    }

    /// The launches over arrays at given places.
    pub fn launches(&self, at: Addresses) -> Vec<Launch<'_>> {
        let last = self.passes.len() - 1;
        let launch = |(k, &pass): (usize, &Pass)| {
            let from = if k == 0 { at.input } else { at.partials[(k - 1) % 2] };
            let to = if k == last { at.result } else { at.partials[k % 2] };
            let parameters = vec![from, to, pass.n, at.scratch, at.ticket];
            Launch { module: &self.module, entry: &self.entry, pass, parameters }
        };
        self.passes.iter().enumerate().map(launch).collect()
    }
}

/// The launch over so many elements; the last of two has one block.
fn pass(rung: &Rung, case: Case, facts: CudaFacts, n: u64, last: bool) -> Result<Pass, String> {
    let size = case.dtype.size() as u64;
    let mut block = case.block;
    let per_machine = |threads: u32, blocks: u32| {
        u64::from(facts.multiprocessors) * u64::from((threads / block).clamp(1, blocks))
    };
    let bytes = u128::from(n) * u128::from(size);
    let each_takes =
        |bytes_each: u64| bytes.div_ceil(bytes_each.into()).min(u64::MAX.into()) as u64;
    let grid = match rung.grid {
        Grid::Elements { each } => n.div_ceil(u64::from(each) * u64::from(block)),
        Grid::OneBlock { .. } => {
            block = (n.max(1) as u32).next_multiple_of(32);
            1
        }
        Grid::PerThread { threads, blocks, bytes } => {
            each_takes(u64::from(bytes) * u64::from(block)).min(per_machine(threads, blocks))
        }
        Grid::PerBlock { threads, blocks, bytes } => {
            each_takes(bytes.into()).min(per_machine(threads, blocks))
        }
    };
    let grid = if last { 1 } else { grid.max(1) };
    let most = i32::MAX as u64;
    if grid > most {
        return Err(format!(
            "not so many elements in blocks of {block}: {grid} blocks, and a launch has {most} at most"
        ));
    }
    let shared_bytes = match rung.shared {
        Shared::None => 0,
        Shared::ElementPerThread => block * size as u32,
        Shared::Bytes(bytes) => bytes,
    };
    Ok(Pass { n, grid: grid as u32, block, shared_bytes })
}

#[cfg(test)]
mod tests {
    use warpfold_kernels::ladder;

    use super::*;

    const H200: CudaFacts = CudaFacts { compute: 90, multiprocessors: 132 };

    fn plan(name: &str, n: u64, block: u32) -> Plan {
        let rung = ladder::rungs().iter().find(|rung| rung.name == name).unwrap();
        Plan::new(rung, Case { op: Op::Sum, dtype: DType::F32, n, block }, H200).unwrap()
    }

    #[test]
    fn recursion_ends_in_one_block_and_takes_turns() {
        let plan = plan("06_interleaved", 1 << 25, 256);
        let grids: Vec<u32> = plan.passes.iter().map(|pass| pass.grid).collect();
        assert_eq!(grids, [1 << 17, 512, 2, 1]);
        assert_eq!(plan.partials, [1 << 17, 512]);
        assert_eq!((plan.work, plan.steps), ((1 << 25) as f64 - 1.0, 25.0));
        let at = Addresses { input: 1, result: 2, partials: [3, 4], scratch: 5, ticket: 6 };
        let ends: Vec<_> =
            plan.launches(at).iter().map(|l| [l.parameters[0], l.parameters[1]]).collect();
        assert_eq!(ends, [[1, 3], [3, 4], [4, 3], [3, 2]]);
    }

    #[test]
    fn every_rung_has_at_least_one_block_and_no_pass_too_many() {
        for rung in ladder::rungs() {
            for n in [0, 1, 31, 1024, 1025, 1 << 20, 1 << 33] {
                for block in [32, 96, 1024] {
                    let case = Case { op: Op::Sum, dtype: DType::F64, n, block };
                    let Ok(plan) = Plan::new(rung, case, H200) else { continue };
                    assert!(plan.passes.iter().all(|pass| pass.grid > 0 && pass.block <= 1024));
                    assert_eq!(plan.passes[0].n, plan.n);
                    let all = plan.passes.len();
                    match rung.finish {
                        Finish::Atomic | Finish::SinglePass => assert_eq!(all, 1),
                        Finish::TwoLaunches => assert!(all <= 2 && plan.passes[all - 1].grid == 1),
                        Finish::Recursive => assert_eq!(plan.passes[all - 1].grid, 1),
                    }
                }
            }
        }
    }

    #[test]
    fn what_a_rung_cannot_do_is_said() {
        let refused = |name: &str, op, dtype, n, block, compute| {
            let rung = ladder::rungs().iter().find(|rung| rung.name == name).unwrap();
            let facts = CudaFacts { compute, ..H200 };
            Plan::new(rung, Case { op, dtype, n, block }, facts).unwrap_err()
        };
        let wrong = refused("01_atomic", Op::Prod, DType::Complex128, 1, 32, 90);
        assert!(wrong.contains("not on this type, as") && wrong.contains("16 bytes"), "{wrong}");
        let wrong = refused("11_unrolled", Op::Sum, DType::F32, 1, 96, 90);
        assert!(wrong.contains("96") && wrong.contains("128"), "{wrong}");
        let wrong = refused("16_bulk_copy", Op::Sum, DType::F32, 1, 32, 80);
        assert!(wrong.contains("8.0") && wrong.contains("9.0"), "{wrong}");
        assert!(
            refused("06_interleaved", Op::Sum, DType::F32, u64::MAX, 32, 90).contains("blocks")
        );
        assert_eq!(plan("05_one_block", 5000, 64).passes[0].block, 1024);
        assert_eq!(plan("05_one_block", 33, 1024).passes[0].block, 64);
    }
}
