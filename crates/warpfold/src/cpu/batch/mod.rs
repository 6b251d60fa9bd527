//! Many reductions at once: over axes, segments, groups.

mod sort;
mod source;

pub(crate) use source::Source;

use super::{Input, run};
use crate::element::Element;
use crate::error::At;
use crate::partial::Partial;
use crate::plan::{self, BatchPlan, Problem};
use crate::segment::Bounds;
use crate::{Error, Op, Policy, Result};

/// Folds every output to its partial and reads each.
pub(crate) fn each<T: Element, R: Send>(
    plan: &BatchPlan,
    source: &Source<'_, T>,
    read: impl Fn(&Partial<T>) -> Result<R> + Sync,
    at: impl Fn(u64) -> At,
) -> Result<Vec<R>> {
    if let &Source::Groups(x, numbers, groups) = source {
        let (sorted, offsets) = sort::by_group(x, numbers, groups as usize);
        let bounds = Bounds::Offsets64(offsets.into());
        return each(plan, &Source::Segments(&sorted, &bounds), read, at);
    }
    let mut out = Vec::new();
    let outputs = usize::try_from(plan.batch.outputs()).unwrap_or(usize::MAX);
    out.try_reserve_exact(outputs).map_err(|_| too_many::<T>(plan.batch.op, outputs))?;
    let mut copy = Vec::new();
    for output in 0..outputs {
        let x = source.input(output, &mut copy);
        let problem = Problem {
            op: plan.batch.op,
            dtype: T::DTYPE,
            n: x.len() as u64,
            policy: Policy { threads: Some(plan.threads), ..plan.batch.policy },
        };
        let partial = run(&plan::choose(problem, super::facts()), Input::One(x), 0)?;
        out.push(read(&partial).map_err(|error| explain(error, at(output as u64), x.len()))?);
    }
    Ok(out)
}

fn too_many<T: Element>(op: Op, outputs: usize) -> Error {
    Error::Shape {
        asked: format!("{op} of {} into {outputs} outputs", T::DTYPE),
        obstacle: "there is no memory for them".into(),
        remedy: "keep fewer axes or segments, or take them a part at a time",
    }
}

/// Says which output has no value, and that NaNs were ignored where that is why.
fn explain(error: Error, output: At, n: usize) -> Error {
    let error = match error {
        Error::Empty { op, .. } => Error::Empty { op, ignored: n > 0 },
        other => other,
    };
    Error::Output { output, error: Box::new(error) }
}
