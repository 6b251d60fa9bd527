//! From a problem and a machine to a plan: pure, so that any machine's plan can be printed on any other.

use super::{CpuFacts, Plan, Problem, tuning};

/// Chooses how to run a problem on a CPU.
///
/// The split into grains depends on the problem alone, so that results that depend on the split (fast sums, products)
/// do not depend on the number of threads.
pub fn choose(problem: Problem, cpu: CpuFacts) -> Plan {
    let grain = (tuning::GRAIN_BYTES / problem.dtype.size() as u64).max(1);
    let useful = problem.bytes() / tuning::BYTES_PER_THREAD + 1;
    // More than can run at once would only take turns.
    let allowed = problem.policy.threads.unwrap_or(cpu.threads).min(cpu.threads).max(1) as u64;
    let isa = problem.policy.isa.map_or(cpu.isa, |isa| isa.min(cpu.isa));
    Plan { problem, isa, threads: allowed.min(useful) as usize, grain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Isa;
    use crate::{DType, Op, Policy};

    fn plan(n: u64, threads: Option<usize>) -> Plan {
        let policy = Policy { threads, ..Policy::default() };
        let problem = Problem { op: Op::Sum, dtype: DType::F32, n, policy };
        choose(problem, CpuFacts { isa: Isa::Avx2, threads: 16 })
    }

    #[test]
    fn small_arrays_take_one_thread() {
        assert_eq!(plan(0, None).threads, 1);
        assert_eq!(plan(100_000, None).threads, 1);
    }

    #[test]
    fn large_arrays_take_all_threads_or_as_many_as_allowed() {
        assert_eq!(plan(1 << 30, None).threads, 16);
        assert_eq!(plan(1 << 30, Some(3)).threads, 3);
        assert_eq!(plan(1 << 30, Some(0)).threads, 1);
        assert_eq!(plan(1 << 30, Some(100)).threads, 16);
    }

    #[test]
    fn the_grain_does_not_depend_on_threads() {
        assert_eq!(plan(1 << 30, Some(1)).grain, plan(1 << 30, Some(7)).grain);
    }

    #[test]
    fn a_plan_prints_itself() {
        assert_eq!(
            plan(1 << 30, None).to_string(),
            "sum of 1073741824 f32 (4294967296 bytes) on cpu: 16 threads, avx2 kernels, 65536 elements at a time"
        );
    }
}
