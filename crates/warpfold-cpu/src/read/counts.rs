//! Any, all and counts, from how many elements are nonzero.

use warpfold_exact::partial::Output;
use warpfold_num::element::{Element, Ordered};
use warpfold_num::with_element;

use super::one;
use crate::Op;
use crate::batch::{Lone, Read, Tally};

/// How many.
pub(crate) struct CountTrue;

/// Whether any or all are, as the reduction says.
pub(crate) struct Whether(pub(crate) Op);

#[inline(always)]
fn is_nonzero<T: Element>(x: T) -> bool {
    T::as_parts(&[x]).iter().any(|part| part.magnitude() != Default::default())
}

impl Read<Tally> for CountTrue {
    type Result = u64;

    #[inline(always)]
    fn small(&self, count: &Tally, _: u64) -> Option<u64> {
        Some(count.0)
    }

    fn finished(&self, output: Output) -> u64 {
        one(output)
    }

    fn lone(&self, inputs: Lone<'_, u64>) {
        with_element!(inputs.dtype(), T => inputs.each(|x: T| u64::from(is_nonzero(x))));
    }
}

impl Read<Tally> for Whether {
    type Result = bool;

    #[inline(always)]
    fn small(&self, count: &Tally, of: u64) -> Option<bool> {
        Some(if self.0 == Op::Any { count.0 > 0 } else { count.0 == of })
    }

    fn finished(&self, output: Output) -> bool {
        one(output)
    }

    fn lone(&self, inputs: Lone<'_, bool>) {
        with_element!(inputs.dtype(), T => inputs.each(|x: T| is_nonzero(x)));
    }
}
