//! Several machines as one: arrays whose consecutive ranges lie on them, and reductions that all of them take part in.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};

use warpfold_cpu::awake::AwakeThreads;

use super::array::AnyView;
use super::executor::Executor;
use super::joined::Joined;
use super::record::{self, Outcome};
use crate::plan::{CudaPlan, Problem};
use crate::{Op, Policy, Result};

/// An array in the memories of several machines: each has one range of it, in the order of the array.
pub(super) trait Ranges {
    /// How many ranges there are, one at least.
    fn count(&self) -> usize;

    /// A range, and the machine that has it.
    fn range(&self, k: usize) -> (&dyn Executor, AnyView<'_>);
}

/// Threads that start machines and wait for them: to start one takes microseconds, and no machine should begin later for another.
static THREADS: LazyLock<AwakeThreads> = LazyLock::new(AwakeThreads::new);

/// A machine's share of an array.
#[derive(Clone, Copy)]
struct Share {
    /// Its number among the ranges.
    k: usize,
    /// The index of its first element.
    first: u64,
    n: u64,
}

/// The arrays of a reduction that several machines take part in.
#[derive(Clone, Copy)]
pub(super) struct Sharded<'a> {
    pub(super) x: &'a (dyn Ranges + Sync),
    pub(super) y: Option<&'a (dyn Ranges + Sync)>,
}

impl<'a> Sharded<'a> {
    /// The first machine and its ranges.
    pub(super) fn first(self) -> (&'a dyn Executor, AnyView<'a>, Option<AnyView<'a>>) {
        let (machine, x) = self.x.range(0);
        (machine, x, self.y.map(|y| y.range(0).1))
    }

    pub(super) fn is_empty(self) -> bool {
        (0..self.x.count()).all(|k| self.x.range(k).1.is_empty())
    }

    /// Runs the reduction on all machines that have elements, at once, and joins what they leave.
    ///
    /// # Errors
    /// As [`AnyReduce::plan`](super::AnyReduce::plan).
    pub(super) fn run(
        self,
        op: Op,
        policy: Policy,
        first: u64,
        shaped: impl Fn(&dyn Executor, Problem) -> Result<CudaPlan> + Sync,
    ) -> Result<Outcome> {
        let dtype = self.x.range(0).1.dtype;
        let lengths = || (0..self.x.count()).map(|k| self.x.range(k).1.len() as u64);
        let firsts = lengths().scan(first, |next, n| {
            *next += n;
            Some(*next - n)
        });
        let shares = firsts.zip(lengths()).enumerate().map(|(k, (first, n))| Share { k, first, n });
        let mut shares: Vec<Share> = shares.filter(|share| share.n > 0).collect();
        if shares.is_empty() {
            // Of an array without elements, the first machine says what comes of it.
            shares.push(Share { k: 0, first, n: 0 });
        }
        let begin = |share: Share| {
            let (machine, x) = self.x.range(share.k);
            let problem = Problem { op, dtype, n: share.n, policy };
            let plan = shaped(machine, problem)?.starting_at(share.first);
            let begun = machine.begin(&plan, x, self.y.map(|y| y.range(share.k).1))?;
            Ok((plan, begun))
        };
        let outcomes = shares.iter().map(|_| OnceLock::new());
        let outcomes: Vec<OnceLock<Result<Outcome>>> = outcomes.collect();
        let taken: Vec<AtomicBool> = shares.iter().map(|_| AtomicBool::new(false)).collect();
        // Each thread begins with a machine of its own, whose driver then finds the thread as it was. One that is alone starts all before it waits for the first.
        let work = |number: usize| {
            let mut begun = Vec::new();
            for at in (0..shares.len()).map(|k| (number + k) % shares.len()) {
                if !taken[at].swap(true, Ordering::Relaxed) {
                    begun.push((at, begin(shares[at])));
                }
            }
            for (at, begun) in begun {
                let record = begun.and_then(|(plan, begun)| Ok((begun.wait(&plan)?, plan)));
                let outcome = record.map(|(record, plan)| record::read(&plan, &record));
                let _ = outcomes[at].set(outcome);
            }
        };
        THREADS.share(shares.len(), &work);
        let mut joined = Joined::default();
        for (share, outcome) in shares.iter().zip(outcomes) {
            joined.push(
                outcome.into_inner().expect("whoever takes a share waits for it")?,
                share.first,
            );
        }
        Ok(joined.outcome().expect("one job at least"))
    }
}
