//! Many reductions at once on a machine: of the segments or the axes of an array in its memory.

mod columns;
mod faults;
mod gaps;
mod launch;
mod request;
mod stats;

use faults::Faults;
pub use faults::is_faulted;
pub use launch::{BatchedLaunch, Code};
use request::{BatchedRequest, Undefined};

use super::array::{AnyBuffer, AnyView};
use super::executor::Executor;
use crate::error::At;
use crate::plan::{BoundsKind, CudaBatchPlan};
use crate::shape::{Folding, Form, Layout};
use crate::{DType, Error, Op, Policy, Result};

/// How an array in a machine's memory is cut into segments.
#[derive(Clone, Copy)]
pub enum AnySegments<'a> {
    /// Segments of one length, one after another; they are the whole array.
    Every(u64),
    /// One more offset than segments, `u32` or `u64`. Whether they are offsets is checked by the kernel.
    Offsets(AnyView<'a>),
}

impl AnySegments<'_> {
    /// How many segments there are, how they are known, and at which address.
    fn known(&self, n: u64) -> Result<(u64, BoundsKind, u64)> {
        let requested = || format!("segments of {n} elements on a device");
        match self {
            AnySegments::Every(length) => {
                let fits = n == 0 || n.checked_rem(*length) == Some(0);
                if !fits {
                    return Err(Error::Segments {
                        requested: requested(),
                        obstacle: format!("their length {length} does not divide it"),
                        remedy: "take a length that divides the array, or give offsets",
                    });
                }
                Ok((n.checked_div(*length).unwrap_or(0), BoundsKind::Every(*length), 0))
            }
            AnySegments::Offsets(view) => {
                let Some(segments) = (view.len as u64).checked_sub(1) else {
                    return Err(Error::Segments {
                        requested: requested(),
                        obstacle: "there are no offsets".into(),
                        remedy: "give one offset more than segments: [0] for none",
                    });
                };
                let kind = match view.dtype {
                    DType::U32 => BoundsKind::Offsets32,
                    DType::U64 => BoundsKind::Offsets64,
                    other => {
                        return Err(Error::Segments {
                            requested: requested(),
                            obstacle: format!("their offsets are {other}"),
                            remedy: "give offsets as u32 or u64",
                        });
                    }
                };
                Ok((segments, kind, view.address))
            }
        }
    }
}

/// How an array is parted into the inputs of many reductions.
enum Parts<'a> {
    Segments(AnySegments<'a>),
    Axes { form: Form, shape: Vec<u64> },
}

/// Many reductions of one array on a machine being set up, whatever the element type: choose, then call for the columns.
#[must_use = "call for the columns of a reduction"]
pub struct AnyReduceBatched<'a> {
    machine: &'a dyn Executor,
    x: AnyView<'a>,
    parts: Parts<'a>,
    policy: Policy,
    grid: Option<u32>,
    round_to: Option<DType>,
    ddof: u64,
    /// Where the plan's tables are, if not in the workspace.
    tables: Option<u64>,
    /// What segments are called, if not by their numbers.
    name: Option<Name<'a>>,
}

/// What a segment is called.
type Name<'a> = Box<dyn Fn(u64) -> At + Sync + 'a>;

impl<'a> AnyReduceBatched<'a> {
    fn new(machine: &'a dyn Executor, x: AnyView<'a>, parts: Parts<'a>) -> Self {
        let policy = Policy::default();
        AnyReduceBatched {
            machine,
            x,
            parts,
            policy,
            grid: None,
            round_to: None,
            ddof: 0,
            tables: None,
            name: None,
        }
    }

    /// Of the segments of an array.
    pub fn segments(machine: &'a dyn Executor, x: AnyView<'a>, segments: AnySegments<'a>) -> Self {
        AnyReduceBatched::new(machine, x, Parts::Segments(segments))
    }

    /// Segments that errors call by other names.
    pub(super) fn named(mut self, name: impl Fn(u64) -> At + Sync + 'a) -> Self {
        self.name = Some(Box::new(name));
        self
    }

    /// Of some axes of an array whose elements lie in `x` as the layout says; axes count from 0 or from the last as -1.
    ///
    /// # Errors
    /// [`Error::Shape`]: no such axis, or one named twice, or a layout that reaches beyond the memory.
    pub fn axes(
        machine: &'a dyn Executor,
        x: AnyView<'a>,
        layout: &Layout,
        axes: &[i64],
    ) -> Result<Self> {
        let extent = layout.extent()?;
        if extent.end > x.len as u64 {
            return Err(Error::Shape {
                requested: format!(
                    "an array of shape {:?} in {} elements of a device",
                    layout.shape(),
                    x.len
                ),
                obstacle: format!("its last element would be number {}", extent.end - 1),
                remedy: "check the shape and the strides",
            });
        }
        let folding = Folding::of(layout.clone(), axes)?;
        let (form, shape) = (folding.form()?, folding.shape());
        Ok(AnyReduceBatched::new(machine, x, Parts::Axes { form, shape }))
    }

    /// All choices.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The choices so far.
    pub(super) fn policy_mut(&mut self) -> &mut Policy {
        &mut self.policy
    }

    /// The delta degrees of freedom of var and std that stay on the device.
    pub fn ddof(mut self, ddof: u64) -> Self {
        self.ddof = ddof;
        self
    }

    /// The type of results of floats that stay on the device: their accumulator's, which they have anyway, or that of elements of 16 bits.
    pub fn round_to(mut self, dtype: DType) -> Self {
        self.round_to = Some(dtype);
        self
    }

    /// The address of the plan's [`tables`](CudaBatchPlan::tables), for [`launches`](Self::launches) of which many share them: nothing is written there.
    pub fn tables_at(mut self, address: u64) -> Self {
        self.tables = Some(address);
        self
    }

    /// So many blocks, and not as many as the plan would take: for measuring. The last bits of fast sums depend on it.
    pub fn grid(mut self, blocks: u32) -> Self {
        self.grid = Some(blocks);
        self
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.x.dtype
    }

    /// How a reduction would run.
    ///
    /// # Errors
    /// As [`choose_cuda_batch`](crate::plan::choose_cuda_batch); [`Error::Segments`] if these are no segments of the array.
    pub fn plan(&self, op: Op) -> Result<CudaBatchPlan> {
        self.requested().plan(op)
    }

    /// What is asked.
    fn requested(&self) -> BatchedRequest<'_> {
        let AnyReduceBatched { machine, x, parts, policy, grid, round_to, tables, name, .. } = self;
        BatchedRequest {
            machine: *machine,
            x: *x,
            parts,
            policy: *policy,
            grid: *grid,
            round_to: *round_to,
            tables: *tables,
            name: name.as_deref(),
            undefined: Undefined::Fails,
        }
    }

    /// Launches that do `op`, results going to `out`, of the plan's [`result_bytes`](CudaBatchPlan::result_bytes). Everything is an address in the machine's memory; `faults` is of
    /// [`FAULT_BYTES`](Self::FAULT_BYTES), all ones, `workspace` of the plan's bytes, zero before its first use but for its last words, which are the
    /// plan's [`tables`](CudaBatchPlan::tables) unless these are [elsewhere](Self::tables_at).
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn launches(
        &self,
        op: Op,
        out: u64,
        workspace: u64,
        faults: u64,
    ) -> Result<Vec<BatchedLaunch>> {
        let requested = self.requested();
        requested.launches(&requested.plan(op)?, self.ddof, [out, workspace, faults])
    }

    /// Bytes of the words in which a launch says what was wrong.
    pub const FAULT_BYTES: usize = Faults::BYTES;

    /// The results of `op`, kept in the machine's memory, of the type of the plan's [`output`](CudaBatchPlan::output).
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`Error::Output`] with the first segment that has no result, [`Error::Segments`] for offsets that are none,
    /// [`Error::Device`].
    pub fn on_device(&self, op: Op) -> Result<AnyBuffer> {
        self.result_buffer(op, self.ddof)
    }

    /// The same with other delta degrees of freedom.
    pub(super) fn result_buffer(&self, op: Op, ddof: u64) -> Result<AnyBuffer> {
        self.requested().result_buffer(op, ddof)
    }
}
