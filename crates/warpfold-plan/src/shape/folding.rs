//! [`Folding`]: which axes of an array are folded, and the shape that is left.

use super::layout::Shape;
use super::{Axis, Form, Layout};
use crate::{Error, Result};

/// A layout and the axes of it that a reduction folds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Folding {
    layout: Layout,
    folded: Vec<bool>,
}

impl Folding {
    /// Folds some axes: counted from 0, or from the last as -1. No axes fold nothing: every element is an output.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no such axis or one is named twice.
    pub fn of(layout: Layout, axes: &[i64]) -> Result<Self> {
        let n = layout.axes().len();
        let mut folded = vec![false; n];
        for &axis in axes {
            let at = if axis < 0 { axis + n as i64 } else { axis };
            let slot = usize::try_from(at).ok().and_then(|at| folded.get_mut(at));
            let obstacle = match slot {
                Some(slot) if !*slot => {
                    *slot = true;
                    continue;
                }
                Some(_) => format!("axis {axis} is named twice"),
                None => format!("there is no axis {axis}"),
            };
            return Err(Error::Shape {
                requested: format!("axes {axes:?} of an array of shape {}", Shape(&layout.shape())),
                obstacle,
                remedy: "name each axis once: from 0 as the first, or from -1 as the last",
            });
        }
        Ok(Folding { layout, folded })
    }

    /// Where the elements lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether each axis is folded.
    pub fn folded(&self) -> &[bool] {
        &self.folded
    }

    /// The shape of the result: the axes that are kept.
    pub fn shape(&self) -> Vec<u64> {
        self.axes(false).map(|axis| axis.length).collect()
    }

    /// The shape of the result if folded axes stay, with length 1.
    pub fn shape_kept(&self) -> Vec<u64> {
        let axes = self.layout.axes().iter().zip(&self.folded);
        axes.map(|(axis, &folded)| if folded { 1 } else { axis.length }).collect()
    }

    /// Outputs.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are more than 64 bits count (axes without elements beside very long ones).
    pub fn outputs(&self) -> Result<u64> {
        self.count(false)
    }

    /// Elements that are folded into each output.
    ///
    /// # Errors
    /// As [`outputs`](Self::outputs).
    pub fn inputs(&self) -> Result<u64> {
        self.count(true)
    }

    fn count(&self, folded: bool) -> Result<u64> {
        let lengths = || self.axes(folded).map(|axis| axis.length);
        if lengths().any(|length| length == 0) {
            return Ok(0);
        }
        lengths().try_fold(1u64, u64::checked_mul).ok_or_else(|| Error::Shape {
            requested: format!("a reduction of an array of shape {}", Shape(&self.layout.shape())),
            obstacle: "64 bits do not count its outputs".into(),
            remedy: "check the shape",
        })
    }

    /// The axes that are folded, or kept.
    pub(super) fn axes(&self, folded: bool) -> impl DoubleEndedIterator<Item = Axis> + '_ {
        let axes = self.layout.axes().iter().zip(&self.folded);
        axes.filter(move |&(_, &is)| is == folded).map(|(&axis, _)| axis)
    }

    /// The loops of the reduction.
    ///
    /// # Errors
    /// As [`outputs`](Self::outputs).
    pub fn form(&self) -> Result<Form> {
        Form::new(self)
    }

    /// The index within the whole array, in C order, of the element that stands at `position` among those folded into an output.
    pub fn flat(&self, output: u64, position: u64) -> u64 {
        let (mut flat, mut stride) = (0u64, 1u64);
        let (mut output, mut position) = (output, position);
        for (axis, &folded) in self.layout.axes().iter().zip(&self.folded).rev() {
            let of = if folded { &mut position } else { &mut output };
            let length = axis.length.max(1);
            flat = flat.wrapping_add((*of % length).wrapping_mul(stride));
            *of /= length;
            stride = stride.wrapping_mul(length);
        }
        flat
    }
}
