//! [`Advice`]: what to change next, and what it would gain.

use warpfold_lab::cuda::report::Temperature;

use super::device::Device;
use super::predict::{Limit, Prediction, predict};
use crate::plan::Case;
use crate::rung::{Rung, Way, rungs};

/// What to change, and the time that it would leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The time as it is.
    pub now: Prediction,
    /// The best change: another size of block, or the next rung that is faster; none where no change gains 2 %.
    pub change: Option<(Change, Prediction)>,
    /// The device's name.
    pub device: &'static str,
}

/// A change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// So many threads of a block.
    Block(u32),
    /// Another rung.
    Rung(&'static Rung),
}

/// Blocks that are tried.
const BLOCKS: [u32; 5] = [64, 128, 256, 512, 1024];

impl Advice {
    /// Compares a rung with the next above it that is faster, and with other sizes of block.
    ///
    /// # Errors
    /// Why the rung cannot be predicted.
    pub fn new(rung: &Rung, case: Case, device: &'static Device) -> Result<Advice, String> {
        let of = |rung: &Rung, case| predict(rung, case, device, Temperature::Cold, None);
        let now = of(rung, case)?;
        let other = |block: u32| Case { block, ..case };
        let blocks = BLOCKS.into_iter().filter(|block| *block != case.block);
        let blocks = blocks.filter_map(|b| Some((Change::Block(b), of(rung, other(b)).ok()?)));
        let above = rungs().iter().filter(|next| next.number() > rung.number());
        let above =
            above.filter(|next| matches!(next.way, Way::Kernel(_)) && next.folds(case.n) == case.n);
        // The next step that helps, not the last of all: one idea at a time.
        let next = above
            .filter_map(|next| Some((Change::Rung(next), of(next, case).ok()?)))
            .find(|(_, found)| found.microseconds < 0.98 * now.microseconds);
        let best = blocks
            .chain(next)
            .min_by(|a, b| a.1.microseconds.total_cmp(&b.1.microseconds))
            .filter(|(_, found)| found.microseconds < 0.98 * now.microseconds);
        Ok(Advice { now, change: best, device: device.name })
    }

    /// In one sentence.
    pub fn sentence(&self) -> String {
        let Prediction { microseconds, .. } = self.now;
        let limit = self.now.binding();
        let share = 100.0 * self.now.share(limit);
        let now = format!(
            "Predicted on the {}: {} µs, {} by {} ({share:.0} % of the time)",
            self.device,
            figure(microseconds),
            if limit == Limit::Latency { "held up" } else { "bound" },
            limit.name()
        );
        let Some((change, then)) = &self.change else {
            return format!(
                "{now}; neither another size of block nor a higher rung would gain 2 %."
            );
        };
        let what = match change {
            Change::Block(block) => format!("blocks of {block} threads"),
            Change::Rung(rung) => rung.name.to_owned(),
        };
        format!(
            "{now}; next, take {what}: {} µs, {:.2} times as fast.",
            figure(then.microseconds),
            microseconds / then.microseconds
        )
    }
}

fn figure(x: f64) -> String {
    if x < 100.0 { format!("{x:.1}") } else { format!("{x:.0}") }
}
