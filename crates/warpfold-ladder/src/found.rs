//! What was found: a row a rung, as plain values that are written to files and read by reports.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warpfold::{DType, Op};

use crate::{Case, Pass};
use warpfold_lab::array::Data;
use warpfold_lab::cuda::report::Temperature;

/// The layout of the file; a reader refuses others.
pub const SCHEMA: u32 = 1;

/// One climb: every rung asked for, over one array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ladder {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The library's version.
    pub warpfold: String,
    /// The revision of the sources, if the caller knew it.
    pub revision: Option<String>,
    /// When it began, in UTC (RFC 3339).
    pub date: String,
    /// Where it ran.
    pub device: Device,
    /// The operation.
    pub op: Op,
    /// The element type.
    pub dtype: DType,
    /// Elements.
    pub n: u64,
    /// Threads of a block, as asked for.
    pub block: u32,
    /// What the array holds.
    pub data: Data,
    /// The array's seed.
    pub seed: u64,
    /// Where the array was when it was timed.
    pub temperature: Temperature,
    /// How times were measured, in words; none where only counts are.
    pub method: Option<String>,
    /// The fastest reading, in bytes per second, and how; none where nothing is timed.
    pub peak: Option<Peak>,
    /// The demonstration beside the ladder, where it was asked for.
    pub divergence: Option<Divergence>,
    /// What was found, from the lowest rung up.
    pub rungs: Vec<Row>,
}

/// Where rungs ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Which of the three.
    pub kind: DeviceKind,
    /// What it is called.
    pub name: String,
    /// Multiprocessors, of a GPU or the simulated one.
    pub multiprocessors: Option<u32>,
    /// Lanes that work at once: the P of Brent's bound.
    pub processors: u64,
    /// Bytes per second that its memory moves on paper, by width and clock, where they are known.
    #[serde(default)]
    pub paper_peak: Option<f64>,
    /// The highest clock of its multiprocessors in MHz, where it is known.
    #[serde(default)]
    pub clock: Option<u32>,
}

/// What rungs can run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A GPU.
    Cuda,
    /// The simulator.
    Simt,
    /// This computer alone.
    Cpu,
}

/// The fastest reading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// The kernel and its launch.
    pub how: String,
}

/// What was found of one rung.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The rung.
    pub name: String,
    /// What it does.
    pub idea: String,
    /// What it is better at than the rung before.
    pub mends: String,
    /// Whether the result was right; none where it did not run.
    pub verified: Option<bool>,
    /// Why it did not run, or what stopped it.
    pub obstacle: Option<String>,
    /// Elements that it folded: fewer than asked for where one block is all there is.
    pub n: u64,
    /// Its launches, in order; none on the host and of the library.
    pub launches: Vec<Pass>,
    /// The result.
    pub value: Option<String>,
    /// What is right, to about 16 digits.
    pub exact: Option<String>,
    /// The distance between them; none if it is infinite.
    pub error: Option<f64>,
    /// The distance that rounding can account for.
    pub bound: Option<f64>,
    /// How long it takes.
    pub time: Option<Times>,
    /// Bytes of the array over the median time.
    pub bytes_per_second: Option<f64>,
    /// The rate as a fraction of the peak.
    pub of_peak: Option<f64>,
    /// How many times as fast as the last rung before that folded as many elements.
    pub speedup: Option<f64>,
    /// The rate as a fraction of each reference's.
    pub relative: BTreeMap<String, f64>,
    /// Work and steps.
    pub complexity: Option<Complexity>,
    /// The simulator's counts, of all launches together.
    pub counts: Option<BTreeMap<String, u64>>,
}

/// Microseconds of one reduction, all its launches together, over several runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Runs.
    pub runs: u32,
    /// The mean.
    pub mean: f64,
    /// Half of the runs were faster. The rate stands on it.
    pub median: f64,
    /// Of the mean: the deviation of a run over the root of their number; 0 for a single run.
    pub standard_error: f64,
    /// The fastest run.
    pub fastest: f64,
}

impl Times {
    /// Statistics of runs in microseconds.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(mut runs: Vec<f64>) -> Times {
        assert!(!runs.is_empty(), "times need at least one run");
        runs.sort_by(f64::total_cmp);
        let count = runs.len() as f64;
        let mean = runs.iter().sum::<f64>() / count;
        let squares: f64 = runs.iter().map(|run| (run - mean).powi(2)).sum();
        let deviation = if runs.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        let (low, high) = (runs[(runs.len() - 1) / 2], runs[runs.len() / 2]);
        Times {
            runs: runs.len() as u32,
            mean,
            median: (low + high) / 2.0,
            standard_error: deviation / count.sqrt(),
            fastest: runs[0],
        }
    }
}

/// Work W, steps S, and what follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Complexity {
    /// Operations of a launch that fold two values, as a formula of its elements n, blocks G, threads of a block B, and elements in 16 bytes V.
    pub work_formula: Option<String>,
    /// The longest chain of them in a launch, likewise.
    pub steps_formula: Option<String>,
    /// W of all launches by the formula.
    pub work: Option<f64>,
    /// S of all launches by the formula.
    pub steps: Option<f64>,
    /// W as the simulator counted it, in operations of the hardware: of complex numbers several an operation, and with those of lanes that fold
    /// along though nobody asks for it.
    pub work_counted: Option<u64>,
    /// S as the simulator counted it.
    pub steps_counted: Option<u64>,
    /// W/S, of what was counted if it was, else by the formulas.
    pub parallelism: f64,
    /// Brent's bound on the time of P processors, W/P + S, in steps.
    pub brent: f64,
}

impl Complexity {
    /// From formulas, counts, or both.
    pub(super) fn new(
        formulas: Option<[String; 2]>,
        predicted: Option<[f64; 2]>,
        counted: Option<[u64; 2]>,
        processors: u64,
    ) -> Option<Complexity> {
        let [work, steps] = counted.map(|c| c.map(|count| count as f64)).or(predicted)?;
        let [work_formula, steps_formula] =
            formulas.map_or([None, None], |formulas| formulas.map(Some));
        Some(Complexity {
            work_formula,
            steps_formula,
            work: predicted.map(|p| p[0]),
            steps: predicted.map(|p| p[1]),
            work_counted: counted.map(|c| c[0]),
            steps_counted: counted.map(|c| c[1]),
            parallelism: work / steps.max(1.0),
            brent: work / processors as f64 + steps,
        })
    }
}

impl Ladder {
    /// What was asked for.
    pub fn case(&self) -> Case {
        let Ladder { op, dtype, n, block, .. } = *self;
        Case { op, dtype, n, block }
    }

    /// The row of a rung.
    pub fn row(&self, rung: &str) -> Option<&Row> {
        self.rungs.iter().find(|row| row.name == rung)
    }
}

impl Row {
    /// Whether it ran and was wrong, or was stopped.
    pub fn failed(&self) -> bool {
        self.verified == Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_moments_that_one_computes_by_hand() {
        let times = Times::of(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!((times.mean, times.median, times.fastest, times.runs), (2.5, 2.5, 1.0, 4));
        assert!((times.standard_error - (5.0f64 / 3.0).sqrt() / 2.0).abs() < 1e-15);
        let one = Times::of(vec![7.0]);
        assert_eq!((one.mean, one.median, one.standard_error), (7.0, 7.0, 0.0));
    }

    #[test]
    fn brents_bound_prefers_what_was_counted() {
        let found = Complexity::new(None, Some([100.0, 10.0]), Some([200, 20]), 10).unwrap();
        assert_eq!((found.parallelism, found.brent), (10.0, 40.0));
        let formula = Complexity::new(None, Some([100.0, 10.0]), None, 10).unwrap();
        assert_eq!((formula.parallelism, formula.brent), (10.0, 20.0));
        assert_eq!(Complexity::new(None, None, None, 1), None);
    }
}

/// What was found of the demonstration beside the ladder: four branches in one warp, and in four.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Divergence {
    /// Where it ran.
    pub device: Device,
    /// Steps of each branch.
    pub rounds: u64,
    /// The kernel whose four branches are in one warp, and the one whose are in four.
    pub kernels: Vec<Branching>,
}

/// What was found of one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Branching {
    /// Its name.
    pub name: String,
    /// Whether the four results are right.
    pub verified: bool,
    /// How long it takes.
    pub time: Option<Times>,
    /// Branches that split their warp, as the simulator counted them.
    pub divergent_branches: Option<u64>,
    /// Warp instructions, likewise; of four warps together they are what one warp would have gone through alone.
    pub warp_instructions: Option<u64>,
    /// Warp instructions of the busiest warp: what the kernel takes the time of.
    pub longest_warp: Option<u64>,
}
