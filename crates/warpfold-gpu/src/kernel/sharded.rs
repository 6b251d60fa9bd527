//! Several machines as one: arrays whose consecutive ranges lie on them, and reductions that all of them take part in.

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
        shaped: impl Fn(&dyn Executor, Problem) -> Result<CudaPlan>,
    ) -> Result<Outcome> {
        let dtype = self.x.range(0).1.dtype;
        let full = (0..self.x.count()).filter(|&k| !self.x.range(k).1.is_empty()).count();
        let mut running = Vec::with_capacity(full.max(1));
        let mut first = first;
        for k in 0..self.x.count() {
            let (machine, x) = self.x.range(k);
            let n = x.len() as u64;
            // Of an array without elements, the first machine says what comes of it.
            if n > 0 || (full == 0 && k == 0) {
                let plan = shaped(machine, Problem { op, dtype, n, policy })?.starting_at(first);
                let begun = machine.begin(&plan, x, self.y.map(|y| y.range(k).1))?;
                running.push((plan, begun, first));
            }
            first += n;
        }
        let mut joined = Joined::default();
        for (plan, begun, first) in running {
            joined.push(record::read(&plan, &begun.wait(&plan)?), first);
        }
        Ok(joined.outcome().expect("one job at least"))
    }
}
