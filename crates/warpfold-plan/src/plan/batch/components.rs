//! [`Components`]: reductions of complex numbers that are reductions of the real numbers they consist of.

use super::{Batch, BoundsKind, Partition};
use crate::shape::{Form, Loop, PartLoop};
use crate::{DType, Nan, Op};

/// What the elements that kernels see are of those that were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Components {
    /// These themselves.
    Whole,
    /// Real and imaginary parts, each with an output of its own, neighbours.
    Apart,
    /// Real and imaginary parts, folded into one output.
    Together,
}

impl Batch {
    /// The same asked of parts, where that gives the same: not where an element goes for one of its parts, nor where bounds count elements.
    pub(super) fn of_parts(self) -> (Batch, Components) {
        let (components, which) = match self.op {
            Op::Sum | Op::Mean => (Components::Apart, PartLoop::Kept),
            op if op.is_of_squares() && !op.is_spread() => (Components::Together, PartLoop::Folded),
            _ => return (self, Components::Whole),
        };
        let dtype = match self.dtype {
            DType::Complex64 => DType::F32,
            DType::Complex128 => DType::F64,
            _ => return (self, Components::Whole),
        };
        if self.policy.nan == Nan::Ignore {
            return (self, Components::Whole);
        }
        let form = match &self.partition {
            Partition::Axes(form) => form.of_parts(which),
            Partition::Segments { segments, bounds: BoundsKind::Every(length), .. } => {
                rows(*segments, *length).of_parts(which)
            }
            _ => return (self, Components::Whole),
        };
        (Batch { dtype, partition: Partition::Axes(form), ..self }, components)
    }
}

/// Rows of one length as loops.
fn rows(outputs: u64, inputs: u64) -> Form {
    let axis = |length: u64, stride: u64, is_walked: bool| match is_walked && length > 1 {
        true => vec![Loop { length, stride, position: 1 }],
        false => Vec::new(),
    };
    let is_walked = outputs > 0 && inputs > 0;
    Form {
        outputs,
        inputs,
        start: 0,
        first_output: 0,
        first_index: 0,
        kept: axis(outputs, inputs, is_walked),
        folded: axis(inputs, 1, is_walked),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Folding, Layout};

    #[test]
    fn rows_are_a_matrix() {
        for (outputs, inputs) in [(5, 7), (1, 3), (4, 1), (3, 0), (0, 3), (1, 1)] {
            let matrix = Folding::of(Layout::c(&[outputs, inputs]).unwrap(), &[1]).unwrap();
            assert_eq!(rows(outputs, inputs), matrix.form().unwrap(), "{outputs} rows of {inputs}");
        }
    }
}
