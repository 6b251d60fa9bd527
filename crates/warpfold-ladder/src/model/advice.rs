//! [`Advice`]: what to change next, and what it would gain.

use warpfold_lab::cuda::report::Temperature;

use super::device::Device;
use super::predict::{Limit, Prediction, predict_by};
use super::sample::Simulations;
use crate::plan::Case;
use crate::rung::{Rung, Way, rungs};
use crate::sweep::{grids, strides};

/// What to change, and the time that it would leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The time as it is.
    pub now: Prediction,
    /// The best change: another size of block, other elements a thread, or the next rung that is faster; none where no change gains 2 %.
    pub change: Option<(Change, Prediction)>,
    /// The device's name.
    pub device: &'static str,
}

/// A change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// So many threads of a block.
    Block(u32),
    /// So many elements of a thread.
    Items(u64),
    /// Another rung.
    Rung(&'static Rung),
}

/// Blocks that are tried.
const BLOCKS: [u32; 5] = [64, 128, 256, 512, 1024];

impl Advice {
    /// Compares a rung with the next above it that is faster, with other sizes of block, and with other numbers of elements a thread.
    ///
    /// # Errors
    /// Why the rung cannot be predicted.
    pub fn new(rung: &'static Rung, case: Case, device: &'static Device) -> Result<Advice, String> {
        let mut simulations = Simulations::new(device);
        let mut of = |rung: &Rung, case, grid| {
            predict_by(&mut simulations, rung, case, device, Temperature::Cold, grid)
        };
        let now = of(rung, case, None)?;
        let mut found = Vec::new();
        for block in BLOCKS.into_iter().filter(|block| *block != case.block) {
            found.push((Change::Block(block), of(rung, Case { block, ..case }, None)));
        }
        for grid in if strides(rung) { grids(case) } else { Vec::new() } {
            let then = of(rung, case, Some(grid));
            let items = then.as_ref().map_or(0, |then| then.items);
            found.push((Change::Items(items), then));
        }
        let faster = |then: &Prediction| then.microseconds < 0.98 * now.microseconds;
        // The next step that helps, not the last of all: one idea at a time.
        for next in rungs().iter().filter(|next| next.number() > rung.number()) {
            if !matches!(next.way, Way::Kernel(_)) || next.folds(case.n) != case.n {
                continue;
            }
            let then = of(next, case, None);
            if then.as_ref().is_ok_and(faster) {
                found.push((Change::Rung(next), then));
                break;
            }
        }
        let there = found.into_iter().filter_map(|(change, then)| Some((change, then.ok()?)));
        let best = there
            .filter(|(_, then)| faster(then))
            .min_by(|a, b| a.1.microseconds.total_cmp(&b.1.microseconds));
        Ok(Advice { now, change: best, device: device.name })
    }

    /// In one sentence.
    pub fn sentence(&self) -> String {
        let Prediction { microseconds, .. } = self.now;
        let now = self.now.sentence(self.device);
        let Some((change, then)) = &self.change else {
            return format!(
                "{now}; no other size of block, number of elements a thread, nor higher rung would gain 2 %."
            );
        };
        let what = match change {
            Change::Block(block) => format!("blocks of {block} threads"),
            Change::Items(items) => format!("{items} elements a thread"),
            Change::Rung(rung) => rung.name.to_owned(),
        };
        format!(
            "{now}; next, take {what}: {} µs, {:.2} times as fast.",
            figure(then.microseconds),
            microseconds / then.microseconds
        )
    }
}

impl Prediction {
    /// The time and what binds, without a full stop.
    pub fn sentence(&self, device: &str) -> String {
        let limit = self.binding();
        let share = 100.0 * self.share(limit);
        format!(
            "Predicted on the {device}: {} µs, {} by {} ({share:.0} % of the time)",
            figure(self.microseconds),
            if limit == Limit::Latency { "held up" } else { "bound" },
            limit.name()
        )
    }

    /// What a kernel whose plan chooses blocks and elements by itself could still gain, and by what.
    pub fn headroom(&self) -> String {
        let limit = self.binding();
        let most = 1.0 / self.share(limit).min(1.0);
        let what = match limit {
            Limit::Launching => "take a larger array or fewer launches",
            Limit::Starting => "start fewer blocks",
            Limit::Issuing | Limit::Arithmetic => "take fewer instructions for each element",
            Limit::Shared => "go through shared memory less often",
            Limit::L2 | Limit::Memory => "read fewer bytes, as of a narrower type",
            Limit::Atomics => "update one address less often",
            Limit::Latency => "have more loads under way",
        };
        format!("next, {what}: all else together would make it {most:.2} times as fast at most.")
    }
}

fn figure(x: f64) -> String {
    if x < 100.0 { format!("{x:.1}") } else { format!("{x:.0}") }
}
