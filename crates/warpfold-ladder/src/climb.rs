//! The climb: each rung is run, judged, counted or timed, and put beside the others.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use warpfold::kernel::Executor as _;
use warpfold::partial::Output;
use warpfold::plan::CudaFacts;
use warpfold::{Accuracy, Error, Op, Result};
use warpfold_kernels::ladder as kernels;
use warpfold_simt::{Class, Counters, Counts};

use crate::arrays::{Inputs, Workspace};
use crate::found::{Complexity, Device, DeviceKind, Ladder, Peak, Row, SCHEMA, Times};
use crate::host::{self, Runs};
use crate::number::Number;
use crate::plan::{Case, Plan};
use crate::rung::{Host, Rung, Way, natural_data, rungs};
use crate::target::{Simulator, Target, policy};
use crate::truth::{Truth, Verdict};
use warpfold_lab::array::{Buffer, Data, fill};
use warpfold_lab::cuda::report::{Peer, Temperature};

/// What to climb.
#[derive(Debug, Clone)]
pub struct Options {
    /// Operation, element type, elements, threads of a block.
    pub case: Case,
    /// The rungs, from the lowest up.
    pub rungs: Vec<&'static Rung>,
    /// What the array holds.
    pub data: Data,
    /// The array's seed.
    pub seed: u64,
    /// How often to run what is timed.
    pub runs: Runs,
    /// Where the array is when it is timed.
    pub temperature: Temperature,
    /// Copies of the array, in turns: more than a cache holds, for cold ones.
    pub copies: usize,
    /// Blocks of rungs that stride over the array, in place of as many as fill the machine; others have none then.
    pub grid: Option<u32>,
    /// The fastest reading, if it was measured.
    pub peak: Option<Peak>,
    /// How times are measured, in words, if they are.
    pub method: Option<String>,
    /// Other libraries' figures.
    pub peers: Vec<Peer>,
    /// The revision of the sources, to be kept in the report.
    pub revision: Option<String>,
}

impl Options {
    /// Every rung over its natural data, nothing beside it.
    pub fn new(case: Case) -> Options {
        Options {
            case,
            rungs: rungs().iter().collect(),
            data: natural_data(case.op, case.dtype),
            seed: 1,
            runs: Runs::Within(Duration::from_secs(1), 100),
            temperature: Temperature::Cold,
            copies: 1,
            grid: None,
            peak: None,
            method: None,
            peers: Vec::new(),
            revision: None,
        }
    }
}

/// Is told of the climb as it goes; `()` listens to nothing.
pub trait Observer {
    /// A rung is next.
    fn next(&mut self, rung: &Rung) {
        let _ = rung;
    }

    /// It is done.
    fn row(&mut self, row: &Row) {
        let _ = row;
    }
}

impl Observer for () {}

/// Bytes of a target's memory that a climb takes: the copies of the array, and what the most demanding rung needs besides.
pub fn bytes(options: &Options, facts: CudaFacts) -> u128 {
    let case = options.case;
    let array = u128::from(case.n) * case.dtype.size() as u128;
    let besides = options.rungs.iter().filter_map(|rung| match rung.way {
        Way::Kernel(kernel) => {
            let plan = Plan::on_grid(kernel, case, facts, options.grid);
            Some(plan.ok()?.bytes(case.dtype))
        }
        _ => None,
    });
    array * options.copies.max(1) as u128 + besides.max().unwrap_or(0)
}

/// Climbs on this computer alone, where kernels do not run.
///
/// # Errors
/// [`Error::Device`]: the array does not fit.
pub fn climb_cpu<T: Number>(options: &Options, observer: &mut dyn Observer) -> Result<Ladder> {
    ascend::<T, Simulator>(None, options, observer)
}

/// Climbs.
///
/// # Errors
/// [`Error::Device`]: the arrays do not fit, say. What goes wrong with a single rung is in its row.
pub fn climb<T: Number, G: Target>(
    target: &mut G,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Ladder> {
    ascend::<T, G>(Some(target), options, observer)
}

fn ascend<T: Number, G: Target>(
    target: Option<&mut G>,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Ladder> {
    let Case { op, dtype, n, block } = options.case;
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let buffer = array::<T>(options)?;
    let x = &buffer.as_slice::<T>()[..n as usize];
    let device = target.as_ref().map_or_else(here, |target| target.device());
    let ground = match target {
        Some(target) => {
            let inputs = Inputs::new(target, x, options.copies)?;
            Some(Ground { target, inputs })
        }
        None => None,
    };
    let truth = Truth::of(op, x);
    let mut climber = Climber { ground, options, x, truth, processors: device.processors };
    let mut rungs: Vec<Row> = Vec::new();
    for rung in &options.rungs {
        observer.next(rung);
        let mut row = climber.row(rung);
        // Beside the last one that folded as much.
        let alike = rungs.iter().rev().filter(|before| before.n == row.n);
        let before = alike.filter_map(|before| before.time).next();
        row.speedup = row.time.zip(before).map(|(time, before)| before.median / time.median);
        observer.row(&row);
        rungs.push(row);
    }
    compare(&mut rungs, options);
    Ok(Ladder {
        schema: SCHEMA,
        warpfold: crate::VERSION.to_owned(),
        revision: options.revision.clone(),
        date,
        device,
        op,
        dtype,
        n,
        block,
        data: options.data,
        seed: options.seed,
        temperature: options.temperature,
        method: options.method.clone(),
        peak: options.peak.clone(),
        divergence: None,
        rungs,
    })
}

/// The array, on the host.
fn array<T: Number>(options: &Options) -> Result<Buffer> {
    let bytes = options.case.n.saturating_mul(size_of::<T>() as u64);
    let mut buffer = Buffer::new(bytes).map_err(|error| Error::Device {
        requested: format!("{bytes} bytes of memory for the array"),
        obstacle: error.to_string(),
        remedy: "take fewer elements",
    })?;
    if options.case.n > 0 {
        fill::<T>(&mut buffer, options.data, options.seed);
    }
    Ok(buffer)
}

/// This computer.
pub(super) fn here() -> Device {
    let machine = warpfold_lab::machine::Machine::here();
    let processors = machine.cores as u64;
    Device {
        kind: DeviceKind::Cpu,
        name: machine.cpu,
        multiprocessors: None,
        processors,
        paper_peak: None,
        clock: None,
    }
}

/// A machine with the array in its memory.
struct Ground<'a, T: Number, G: Target> {
    target: &'a mut G,
    inputs: Inputs<G, T>,
}

/// Everything that rows are made from.
struct Climber<'a, T: Number, G: Target> {
    /// None where kernels do not run.
    ground: Option<Ground<'a, T, G>>,
    options: &'a Options,
    x: &'a [T],
    truth: Truth<T>,
    processors: u64,
}

/// What a rung left: its value and how it is judged, what it took, what it cost.
struct Outcome<T> {
    value: T,
    verdict: Verdict,
    time: Option<Times>,
    counters: Vec<Counters>,
}

impl<T: Number, G: Target> Climber<'_, T, G> {
    fn row(&mut self, rung: &Rung) -> Row {
        let case = self.options.case;
        let n = rung.folds(case.n);
        let mut row = Row {
            name: rung.name.to_owned(),
            idea: rung.idea.to_owned(),
            mends: rung.mends.to_owned(),
            verified: None,
            obstacle: None,
            n,
            launches: Vec::new(),
            value: None,
            exact: None,
            error: None,
            bound: None,
            time: None,
            bytes_per_second: None,
            of_peak: None,
            speedup: None,
            relative: BTreeMap::new(),
            complexity: None,
            counts: None,
        };
        let mut known = None;
        let (mut formulas, mut processors) = (None, self.processors);
        let outcome = match rung.way {
            Way::Host(host) => {
                known = Some(host::complexity(host, n));
                (formulas, processors) = (Some(host::formulas(host)), 1);
                Ok(self.host(host))
            }
            Way::Kernel(kernel) => match self.plan(kernel) {
                Err(why) => {
                    row.obstacle = Some(why);
                    return row;
                }
                Ok(plan) => {
                    row.launches = plan.passes.clone();
                    known = Some([plan.work, plan.steps]);
                    formulas = Some([kernel.work.to_string(), kernel.steps.to_string()]);
                    self.kernel(kernel, &plan)
                }
            },
            Way::Library(accuracy) => self.library(accuracy),
        };
        match outcome {
            Err(
                error @ (Error::Undefined { .. } | Error::Unsupported { .. } | Error::Empty { .. }),
            ) => {
                row.obstacle = Some(error.to_string());
            }
            Err(error) => {
                row.verified = Some(false);
                row.obstacle = Some(error.to_string());
            }
            Ok(outcome) => {
                self.fill(&mut row, &outcome);
                let counted = total(&outcome.counters);
                row.complexity = Complexity::new(formulas, known, counted, processors);
            }
        }
        row
    }

    fn fill(&self, row: &mut Row, outcome: &Outcome<T>) {
        let Verdict { verified, exact, error, bound } = outcome.verdict.clone();
        row.verified = Some(verified);
        row.value = Some(outcome.value.to_string());
        row.exact = Some(exact);
        row.error = Some(error).filter(|error| error.is_finite());
        row.bound = Some(bound);
        // Wrong results are not timed, so there is no time to show.
        row.time = outcome.time;
        let bytes = row.n as f64 * size_of::<T>() as f64;
        row.bytes_per_second = row.time.map(|time| bytes / time.median * 1e6);
        let peak = self.options.peak.as_ref();
        row.of_peak =
            row.bytes_per_second.zip(peak).map(|(rate, peak)| rate / peak.bytes_per_second);
        row.counts = (!outcome.counters.is_empty()).then(|| counts(&outcome.counters));
    }

    fn host(&self, host: Host) -> Outcome<T> {
        let op = self.options.case.op;
        let value = host::fold(host, op, self.x);
        let [_, steps] = host::complexity(host, self.x.len() as u64);
        let verdict = self.truth.judge(value, steps);
        let time = verdict
            .verified
            .then(|| host::time(self.options.runs, || host::fold(host, op, self.x)));
        Outcome { value, verdict, time, counters: Vec::new() }
    }

    fn plan(&self, kernel: &kernels::Rung) -> std::result::Result<Plan, String> {
        let ground = self.ground.as_ref().ok_or("it runs on a GPU or in the simulator")?;
        let facts = ground.target.machine().facts();
        Plan::on_grid(kernel, self.options.case, facts, self.options.grid)
    }

    fn kernel(&mut self, kernel: &kernels::Rung, plan: &Plan) -> Result<Outcome<T>> {
        let op = self.options.case.op;
        let Some(Ground { target, inputs }) = &mut self.ground else {
            unreachable!("what has a plan has a machine")
        };
        // Atomics fold into their slot: there are so many that a run finds the identity there, but for runs without end.
        let slots = if kernel.finish == kernels::Finish::Atomic { 1 << 12 } else { 1 };
        let workspace = Workspace::new(*target, std::iter::once(plan), op, slots)?;
        // SAFETY: the launches are the plan's, over arrays made for it, of its element type; all of them belong to this climb.
        let counters = unsafe { target.run(&workspace.launches(plan, inputs, 0))? };
        let value = workspace.result()?;
        let verdict = match self.x.len() as u64 == plan.n {
            true => self.truth.judge(value, plan.steps),
            false => Truth::of(op, &self.x[..plan.n as usize]).judge(value, plan.steps),
        };
        let mut time = None;
        if verdict.verified {
            let launches = |k| workspace.launches(plan, inputs, k);
            // SAFETY: as above; runs that share arrays run one after another.
            time = unsafe { target.time(&launches, self.options.runs)? };
        }
        Ok(Outcome { value, verdict, time, counters })
    }

    fn library(&mut self, accuracy: Accuracy) -> Result<Outcome<T>> {
        let Case { op, n, .. } = self.options.case;
        let (output, counters) = match &mut self.ground {
            Some(Ground { target, inputs }) => target.library(inputs.view(0, n), op, accuracy)?,
            None => (warpfold_lab::cpu::reduce(op, policy(accuracy), self.x)?, Vec::new()),
        };
        let value = match output {
            Output::One(value) => T::of_value(value),
            _ => None,
        };
        let value = value.ok_or_else(|| Error::Device {
            requested: format!("{op} of {n} {}", T::DTYPE),
            obstacle: format!("the library gave {output:?}"),
            remedy: "report it",
        })?;
        let verdict = match accuracy == Accuracy::Fast && op == Op::Sum {
            // Its plan is its own: whatever the order, an element passes through fewer than n additions.
            true => self.truth.judge(value, n as f64),
            false => self.truth.judge_rounded(value),
        };
        let runs = self.options.runs;
        let time = match &mut self.ground {
            _ if !verdict.verified => None,
            Some(Ground { target, inputs }) => {
                target.time_library(&|k| inputs.view(k, n), op, accuracy, runs)?
            }
            None => {
                Some(host::time(runs, || warpfold_lab::cpu::reduce(op, policy(accuracy), self.x)))
            }
        };
        Ok(Outcome { value, verdict, time, counters })
    }
}

/// Work and steps of all launches, where they were counted.
fn total(counters: &[Counters]) -> Option<[u64; 2]> {
    let work = counters.iter().map(|c| c.total.combinations).sum();
    let steps = counters.iter().map(|c| c.longest_chain).sum();
    (work > 0).then_some([work, steps])
}

/// The counts of all launches, by name.
fn counts(counters: &[Counters]) -> BTreeMap<String, u64> {
    let mut total = Counts::default();
    counters.iter().for_each(|c| total += &c.total);
    let mut named: BTreeMap<String, u64> =
        total.named().map(|(name, count)| (name.to_owned(), count)).collect();
    named.insert("bank_conflicts".to_owned(), total.bank_conflicts());
    let class = |class| counters.iter().filter_map(|c| c.classes.get(&class)).sum::<u64>();
    named.insert("warp_exchanges".to_owned(), class(Class::WarpExchange));
    named.insert("blocks".to_owned(), counters.iter().map(|c| c.blocks).sum());
    named.insert("warps".to_owned(), counters.iter().map(|c| c.warps).sum());
    named
}

/// Rates beside those of the library and of others.
fn compare(rungs: &mut [Row], options: &Options) {
    let Case { op, dtype, n, .. } = options.case;
    let mut references: Vec<(String, f64)> = Vec::new();
    let ours = rungs.iter().find(|row| row.name == "library").and_then(|row| row.bytes_per_second);
    references.extend(ours.map(|rate| ("library".to_owned(), rate)));
    let same = |peer: &&Peer| (&*peer.op, &*peer.dtype, peer.n) == (op.name(), dtype.name(), n);
    // Others are measured cold.
    if options.temperature == Temperature::Cold {
        references
            .extend(options.peers.iter().filter(same).map(|p| (p.peer.clone(), p.gb_s * 1e9)));
    }
    for row in rungs {
        let Some(rate) = row.bytes_per_second else { continue };
        row.relative = references.iter().map(|(name, of)| (name.clone(), rate / of)).collect();
    }
}
