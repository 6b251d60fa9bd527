//! [`MapParts`]: how the arrays of a map are parted on a machine.

use super::given::Given;
use crate::error::At;
use crate::group::check_lengths;
use crate::kernel::array::{AnyBuffer, AnyView};
use crate::kernel::executor::Executor;
use crate::kernel::groups::{AnyGroups, Labels};
use crate::shape::{Folding, Layout};
use crate::{Column, DType, Error, Result};

/// How arrays of one length are parted: a result for each part.
#[derive(Clone)]
pub struct MapParts<'a> {
    pub(super) bounds: PartBounds<'a>,
    /// Where the elements stand in the arrays, if not in their order.
    pub(super) order: Option<AnyView<'a>>,
    names: Names<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum PartBounds<'a> {
    /// Parts of one length, `inner` of which lie side by side, so that the elements of each are so many apart: one by one of rows. How many they are,
    /// where the arrays' length does not say.
    Every { length: u64, inner: u64, outputs: Option<u64> },
    /// One more offset than parts.
    Offsets(AnyView<'a>),
}

/// What parts are called.
#[derive(Clone)]
enum Names<'a> {
    Segments,
    /// Indices of the axes that are kept.
    Indices(Vec<u64>),
    Groups(&'a MapGroups),
}

impl<'a> MapParts<'a> {
    /// Rows, or segments of one length, one after another; they are the whole arrays.
    pub fn rows(length: u64) -> Self {
        let bounds = PartBounds::Every { length, inner: 1, outputs: None };
        MapParts { bounds, order: None, names: Names::Segments }
    }

    /// Segments, by one more offset than segments, `u32` or `u64`. Whether they are offsets is checked by the kernel.
    ///
    /// # Errors
    /// [`Error::Segments`] for offsets of another type, or none.
    pub fn segments(offsets: AnyView<'a>) -> Result<Self> {
        let refused = |obstacle: String, remedy| Error::Segments {
            requested: "segments of mapped values on a device".into(),
            obstacle,
            remedy,
        };
        if !matches!(offsets.dtype, DType::U32 | DType::U64) {
            let obstacle = format!("their offsets are {}", offsets.dtype);
            return Err(refused(obstacle, "give offsets as u32 or u64"));
        }
        if offsets.is_empty() {
            let remedy = "give one offset more than segments: [0] for none";
            return Err(refused("there are no offsets".into(), remedy));
        }
        Ok(MapParts { bounds: PartBounds::Offsets(offsets), order: None, names: Names::Segments })
    }

    /// Some axes of arrays of a shape, in C order, that lie side by side; they count from 0 or from the last as -1.
    ///
    /// # Errors
    /// [`Error::Shape`]: no such axis, or one named twice; [`Error::Map`] for axes with others between them.
    pub fn axes(shape: &[u64], axes: &[i64]) -> Result<Self> {
        let folding = Folding::of(Layout::c(shape)?, axes)?;
        let form = folding.form()?;
        let inner = match &form.folded[..] {
            _ if form.inputs < 2 || form.outputs == 0 => 1,
            [one] => one.stride,
            _ => {
                return Err(Error::Map {
                    requested: "a map of axes on a device".into(),
                    obstacle:
                        "there are others between them, and kernels fold elements at one distance"
                            .into(),
                    remedy:
                        "reduce on the processor, or bring the axes together in a copy of the array"
                            .into(),
                });
            }
        };
        let bounds = PartBounds::Every { length: form.inputs, inner, outputs: Some(form.outputs) };
        Ok(MapParts { bounds, order: None, names: Names::Indices(folding.shape()) })
    }

    /// How many parts arrays of so many elements have.
    ///
    /// # Errors
    /// [`Error::Segments`] for rows that do not fill them, [`Error::Keys`] where there is not one key for each element, [`Error::Map`] for arrays of
    /// another shape.
    pub(super) fn outputs(&self, n: u64) -> Result<u64> {
        if let Names::Groups(groups) = self.names {
            check_lengths(groups.keys, n as usize)?;
        }
        match self.bounds {
            PartBounds::Offsets(offsets) => Ok(offsets.len as u64 - 1),
            PartBounds::Every { length, outputs: Some(outputs), .. } if outputs * length == n => {
                Ok(outputs)
            }
            PartBounds::Every { length, outputs: Some(outputs), .. } => Err(Error::Map {
                requested: "map".into(),
                obstacle: format!(
                    "the parts are of {} elements, and the arrays have {n}",
                    outputs * length
                ),
                remedy: "part arrays of one length".into(),
            }),
            PartBounds::Every { length, outputs: None, .. } => {
                if n > 0 && n.checked_rem(length) != Some(0) {
                    return Err(Error::Segments {
                        requested: format!("rows of {n} elements on a device"),
                        obstacle: format!("their length {length} does not divide it"),
                        remedy: "take a length that divides the array",
                    });
                }
                Ok(n.checked_div(length).unwrap_or(0))
            }
        }
    }

    /// What a part is called.
    pub(super) fn name(&self, output: u64) -> At {
        match &self.names {
            Names::Segments => At::Segment(output),
            Names::Groups(groups) => groups.labels.name(output),
            Names::Indices(shape) => {
                let (mut rest, mut indices) = (output, vec![0; shape.len()]);
                for (index, &length) in indices.iter_mut().zip(shape).rev() {
                    *index = rest % length.max(1);
                    rest /= length.max(1);
                }
                At::Indices(indices)
            }
        }
    }

    /// What must be done before offsets and order are read, and whose memory they lie in, as inputs'.
    pub(super) fn views(&self) -> Vec<Given<'a>> {
        let offsets = match self.bounds {
            PartBounds::Offsets(offsets) => Some(offsets),
            PartBounds::Every { .. } => None,
        };
        [offsets, self.order].into_iter().flatten().map(Given::from).collect()
    }
}

/// Elements brought together by keys in a machine's memory: where those of each key stand, 4 or 8 bytes an element. Any number of maps share it.
pub struct MapGroups {
    /// Elements by their indices in the order of groups; `None` where they stand in that order.
    order: Option<AnyBuffer>,
    offsets: AnyBuffer,
    labels: Labels,
    keys: usize,
}

impl MapGroups {
    /// By keys in any order: groups by ascending keys.
    ///
    /// # Errors
    /// As [`AnyGroups::by`].
    pub fn by<'k>(machine: &dyn Executor, keys: impl Into<AnyView<'k>>) -> Result<Self> {
        let keys = keys.into();
        let indices = indices(machine, keys.len)?;
        Ok(Self::of(AnyGroups::by(machine, keys, indices.view())?, keys))
    }

    /// By keys that are numbers of groups from 0 to below `groups`: every number has a group, if an empty one.
    ///
    /// # Errors
    /// As [`AnyGroups::dense`].
    pub fn dense<'k>(
        machine: &dyn Executor,
        keys: impl Into<AnyView<'k>>,
        groups: u64,
    ) -> Result<Self> {
        let keys = keys.into();
        let indices = indices(machine, keys.len)?;
        Ok(Self::of(AnyGroups::dense(machine, keys, groups, indices.view())?, keys))
    }

    /// By keys that come in runs, each of which is a group.
    ///
    /// # Errors
    /// As [`AnyGroups::runs`].
    pub fn runs<'k>(machine: &dyn Executor, keys: impl Into<AnyView<'k>>) -> Result<Self> {
        let keys = keys.into();
        Ok(Self::of(AnyGroups::runs(machine, keys, keys)?, keys))
    }

    fn of(groups: AnyGroups<'_>, keys: AnyView<'_>) -> Self {
        let (order, offsets, labels) = groups.into_parts();
        MapGroups { order, offsets, labels, keys: keys.len }
    }

    /// The keys, one a group; `None` of groups that are called by their numbers.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn keys(&self) -> Result<Option<Column>> {
        self.labels.keys()
    }

    /// The parts of arrays that have an element for each key.
    pub fn parts(&self) -> MapParts<'_> {
        MapParts {
            bounds: PartBounds::Offsets(self.offsets.view()),
            order: self.order.as_ref().map(AnyBuffer::view),
            names: Names::Groups(self),
        }
    }
}

/// The indices of so many elements, in a machine's memory.
fn indices(machine: &dyn Executor, n: usize) -> Result<AnyBuffer> {
    match u32::try_from(n) {
        Ok(n) => {
            let all: Vec<u32> = (0..n).collect();
            AnyBuffer::upload(machine, DType::U32, bytemuck::cast_slice(&all))
        }
        Err(_) => {
            let all: Vec<u64> = (0..n as u64).collect();
            AnyBuffer::upload(machine, DType::U64, bytemuck::cast_slice(&all))
        }
    }
}
