//! [`Explanation`]: everything there is to say of one launch, as a plain value.

use std::collections::BTreeMap;

use serde::Serialize;
use warpfold_ladder::model::Device;
use warpfold_simt::Counters;

use super::recorder::Recorder;
use super::source::{self, File, Instruction};
use super::steps::{self, Step};
use super::subject::Subject;
use super::timed::Timed;
use super::verdict::{self, Verdict};
use crate::predict::Predicted;

/// A launch, explained.
#[derive(Debug, Serialize)]
pub(crate) struct Explanation {
    pub(crate) kernel: String,
    /// What else is to be said of it; empty where there is nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) note: String,
    /// What to change next and what that would gain on a GPU, in one sentence; empty where the model knows no such kernel.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) next: String,
    /// The predicted time on that GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) predicted: Option<Predicted>,
    /// What can be predicted of it.
    #[serde(skip)]
    pub(crate) timed: Option<Timed>,
    /// The PTX module, with the compute capability it is built for.
    pub(crate) module: String,
    pub(crate) dtype: &'static str,
    /// Elements of each array.
    pub(crate) n: u64,
    /// Bytes of the arrays.
    pub(crate) array_bytes: u64,
    pub(crate) grid: u64,
    pub(crate) block: u64,
    /// The seed of the schedule.
    pub(crate) seed: u64,
    /// Warps of the launch.
    pub(crate) warps: u64,
    /// Counts of the whole launch, by name.
    pub(crate) counts: BTreeMap<&'static str, u64>,
    /// Warp instructions by kind.
    pub(crate) classes: BTreeMap<&'static str, u64>,
    /// The longest chain of operations that fold two values read from memory: the steps S.
    pub(crate) longest_chain: u64,
    /// One sentence a cost.
    pub(crate) verdicts: Vec<Verdict>,
    /// The CUDA sources, with what their lines cost in the whole launch.
    pub(crate) files: Vec<File>,
    /// The PTX, likewise.
    pub(crate) instructions: Vec<Instruction>,
    /// The block whose steps follow: the one that did most.
    #[serde(rename = "told_block")]
    pub(crate) shown_block: u32,
    /// Steps of that block that were left out at the end, because there are too many to look at.
    pub(crate) steps_left_out: usize,
    /// What that block did, step by step.
    pub(crate) steps: Vec<Step>,
}

/// Steps that are shown at most.
const MOST_STEPS: usize = 3000;

impl Explanation {
    pub(crate) fn new(
        subject: &Subject,
        seed: u64,
        counters: &Counters,
        recorder: Recorder,
    ) -> Explanation {
        let (files, instructions) = source::annotated(subject, counters);
        let (shown_block, events) = recorder.busiest();
        let mut steps = steps::merged(subject, counters, events);
        let steps_left_out = steps.len().saturating_sub(MOST_STEPS);
        steps.truncate(MOST_STEPS);
        let classes = counters.classes.iter().map(|(class, count)| (class.name(), *count));
        Explanation {
            kernel: subject.name.clone(),
            note: subject.note.clone(),
            next: String::new(),
            predicted: None,
            timed: subject.timed,
            module: subject.module.clone(),
            dtype: subject.dtype.name(),
            n: subject.n,
            array_bytes: subject.array_bytes(),
            grid: subject.launch.grid.count(),
            block: subject.launch.block.count(),
            seed,
            warps: counters.warps,
            counts: counters.total.named().collect(),
            classes: classes.collect(),
            longest_chain: counters.longest_chain,
            verdicts: verdict::all(subject, counters),
            files,
            instructions,
            shown_block,
            steps_left_out,
            steps,
        }
    }

    /// Adds what is predicted for a GPU.
    pub(crate) fn predict(&mut self, device: &'static Device) {
        if let Some(timed) = self.timed {
            self.next = timed.next(device);
            self.predicted = Some(timed.predicted(&self.kernel, device));
        }
    }

    /// What was run, in a line.
    pub(crate) fn title(&self) -> String {
        let blocks = if self.grid == 1 { "block" } else { "blocks" };
        format!(
            "{} over {} {}: {} {blocks} of {} threads",
            self.kernel, self.n, self.dtype, self.grid, self.block
        )
    }
}
