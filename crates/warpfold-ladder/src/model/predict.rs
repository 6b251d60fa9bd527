//! [`Prediction`]: how long launches take, and which limit binds.

use warpfold::plan::CudaFacts;

use super::device::{Atomics, Device};
use super::queue::interval;
use super::sample::{Alone, Demand, Sample, Simulations};
use crate::plan::{Case, Pass, Plan};
use crate::rung::{Rung, Way};
use warpfold_kernels::ladder::Finish;
use warpfold_lab::cuda::report::Temperature;

/// What can bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// Starting launches.
    Launching,
    /// Starting blocks.
    Starting,
    /// Issuing instructions.
    Issuing,
    /// A pipe for integers, f32, f64, conversions.
    Arithmetic,
    /// Shared memory and the first cache.
    Shared,
    /// L2.
    L2,
    /// Memory.
    Memory,
    /// Atomic operations at one address.
    Atomics,
    /// Waiting, with too little under way.
    Latency,
}

impl Limit {
    /// Every one.
    pub const ALL: [Limit; 9] = [
        Limit::Launching,
        Limit::Starting,
        Limit::Issuing,
        Limit::Arithmetic,
        Limit::Shared,
        Limit::L2,
        Limit::Memory,
        Limit::Atomics,
        Limit::Latency,
    ];

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Limit::Launching => "launches",
            Limit::Starting => "starting blocks",
            Limit::Issuing => "issuing instructions",
            Limit::Arithmetic => "an arithmetic pipe",
            Limit::Shared => "shared memory",
            Limit::L2 => "L2",
            Limit::Memory => "memory",
            Limit::Atomics => "atomics at one address",
            Limit::Latency => "latency",
        }
    }

    /// In one word, for tables.
    pub const fn word(self) -> &'static str {
        match self {
            Limit::Starting => "starts",
            Limit::Issuing => "issuing",
            Limit::Arithmetic => "arithmetic",
            Limit::Shared => "shared",
            Limit::Atomics => "atomics",
            Limit::Launching | Limit::L2 | Limit::Memory | Limit::Latency => self.name(),
        }
    }
}

/// How launches are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launching {
    /// Between two events: the first launch's cost is seen.
    Alone,
    /// Many calls one after another, divided by their number: each launch costs what a further one does.
    BackToBack,
}

/// The predicted time of a reduction.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Microseconds.
    pub microseconds: f64,
    /// Bytes of the array a second, in 10^9.
    pub gigabytes: f64,
    /// Microseconds that each limit would take alone, of all launches, in the order of [`Limit::ALL`].
    pub limits: Vec<(Limit, f64)>,
    /// Blocks that a multiprocessor holds in the first launch.
    pub resident: u32,
    /// Elements of a thread of the first launch, at most.
    pub items: u64,
}

impl Prediction {
    /// The limit that takes longest by itself.
    pub fn binding(&self) -> Limit {
        self.limits.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(Limit::Latency, |(l, _)| *l)
    }

    /// The part of the time that a limit would take alone.
    pub fn share(&self, limit: Limit) -> f64 {
        let found = self.limits.iter().find(|(l, _)| *l == limit);
        found.map_or(0.0, |(_, time)| time / self.microseconds)
    }
}

/// Bytes a clock that one multiprocessor reads of L2 at most: assumed, as for the RTX 3070, 3090 and 4090.
const PORT: f64 = 64.0;

/// Clocks that a block asks of each limit, on a device of which so many multiprocessors are used.
fn clocks(demand: &Demand, device: &Device, case: Case, used: f64) -> Vec<(Limit, f64)> {
    let lanes = device.lanes;
    let pipe = |slots: f64, lanes: f64| slots * 32.0 / lanes;
    // Before compute capability 7.0 there was one pipe for all integers.
    let shared = if device.compute >= 70 { lanes.alu + lanes.imad } else { lanes.alu };
    let arithmetic = [
        pipe(demand.alu, lanes.alu),
        pipe(demand.alu + demand.add + demand.imad, shared),
        pipe(demand.fma, lanes.fma),
        pipe(demand.imad, lanes.imad),
        pipe(demand.f64, lanes.f64),
        pipe(demand.xu, lanes.xu),
    ];
    // What the device has is shared by the multiprocessors that are used; each takes no more than its own way to L2 lets through.
    let most = PORT.max(device.l2_bytes);
    let share = f64::from(device.multiprocessors) / used;
    let l2 = (device.l2_bytes * device.l2_reached * share).min(most);
    let memory = device.memory_bytes() * share;
    let Atomics { integer, wide, f32, f64 } = device.atomics;
    let rate = match (case.dtype.is_float(), case.dtype.size()) {
        (true, 4 | 8) if case.dtype == warpfold::DType::F64 => f64,
        (true, _) => f32,
        (false, 4) => integer,
        (false, _) => wide,
    };
    vec![
        (Limit::Starting, used * device.clock * 1e3 / device.starts),
        (Limit::Issuing, demand.issues / device.issue),
        (Limit::Arithmetic, arithmetic.into_iter().fold(0.0, f64::max)),
        (Limit::Shared, demand.wavefronts * 32.0 / lanes.lsu),
        (Limit::L2, demand.l2_bytes / l2),
        (Limit::Memory, demand.memory_bytes / memory),
        (Limit::Atomics, demand.atomics * used * device.clock / rate),
    ]
}

/// Clocks of a multiprocessor's blocks, so many in all and resident, that ask for so much and wait for so long; and of a first warp, or block, alone.
fn phase(
    requested: &[(Limit, f64)],
    path: f64,
    alone: Alone,
    [per, resident]: [f64; 2],
    pass: Pass,
    device: &Device,
) -> (f64, f64) {
    let of = |limit| requested.iter().find(|(l, _)| *l == limit).map_or(0.0, |(_, clocks)| *clocks);
    // An instruction is issued to its pipe: the slower of both is one server.
    let servers = [
        of(Limit::Starting),
        of(Limit::Issuing).max(of(Limit::Arithmetic)),
        of(Limit::Shared),
        of(Limit::L2).max(of(Limit::Memory)),
        of(Limit::Atomics),
    ];
    let blocks = resident.min(per);
    let all_warps = f64::from(pass.block.div_ceil(32));
    let (warps, together) = match alone {
        Alone::Block => (1.0, all_warps),
        Alone::Warp => (all_warps, 1.0),
    };
    // A warp asks for its part of what the block asks for, and waits as long as the first.
    let each = servers.map(|clocks| clocks / warps);
    // Each scheduler issues for warps of its own: who has fewer warps than there are schedulers is not issued for by all.
    let schedulers = device.issue.max(1.0);
    let slower = schedulers / schedulers.min(together) - 1.0;
    let waits = path + slower * of(Limit::Issuing) / warps;
    let first = waits + each.iter().sum::<f64>();
    let clocks = per.max(1.0) * warps * interval(&each, waits, blocks.max(1.0) * warps);
    (clocks.max(first), first)
}

/// Microseconds of one launch, and of each limit of it alone.
fn launch(
    pass: Pass,
    sampled: &Sample,
    device: &Device,
    case: Case,
    resident_blocks: Option<u32>,
) -> (f64, Vec<(Limit, f64)>, u32) {
    // Every rung does with 32 registers a thread (kernels.lock), which is what a full multiprocessor has for each.
    let resident =
        resident_blocks.unwrap_or_else(|| device.resident(pass.block, pass.shared_bytes, 32));
    // Where there are fewer blocks than multiprocessors, each has one of its own.
    let used = f64::from(pass.grid.clamp(1, device.multiprocessors));
    let per = f64::from(pass.grid) / used;
    let requested = clocks(&sampled.block, device, case, used);
    // Blocks that all start at once fold their elements together, and then all meet their warps together: neither hides the other.
    let of_elements = sampled.block.combine(sampled.once, |all, once| (all - once).max(0.0));
    let parts = match per <= f64::from(resident) && sampled.once != Demand::default() {
        true => vec![(of_elements, sampled.alone), (sampled.once, Alone::Block)],
        false => vec![(sampled.block, sampled.alone)],
    };
    let (mut clocks_in_all, mut first) = (sampled.tail, 0.0);
    let starts = parts.len() - 1;
    for (number, (demand, alone)) in parts.into_iter().enumerate() {
        let mut requested = clocks(&demand, device, case, used);
        if number != starts {
            requested.retain(|(limit, _)| *limit != Limit::Starting);
        }
        let (clocks, alone) =
            phase(&requested, demand.path, alone, [per, f64::from(resident)], pass, device);
        clocks_in_all += clocks;
        first += alone;
    }
    let microseconds = |clocks: f64| clocks / device.clock / 1e3;
    let mut limits: Vec<(Limit, f64)> =
        requested.into_iter().map(|(limit, clocks)| (limit, microseconds(clocks * per))).collect();
    let waiting = first * (per / f64::from(resident)).max(1.0) + sampled.tail;
    limits.push((Limit::Latency, microseconds(waiting)));
    (microseconds(clocks_in_all), limits, resident)
}

/// Predicts how long a rung takes on a device.
///
/// # Errors
/// Why it cannot run there, or is no kernel.
pub fn predict(
    rung: &Rung,
    case: Case,
    device: &Device,
    temperature: Temperature,
    grid: Option<u32>,
) -> Result<Prediction, String> {
    predict_by(&mut Simulations::new(device), rung, case, device, temperature, grid)
}

/// As [`predict`], with blocks that have been simulated already.
pub(super) fn predict_by(
    simulations: &mut Simulations<'_>,
    rung: &Rung,
    case: Case,
    device: &Device,
    temperature: Temperature,
    grid: Option<u32>,
) -> Result<Prediction, String> {
    let Way::Kernel(kernel) = rung.way else {
        return Err(format!("{} is no kernel of the ladder", rung.name));
    };
    let facts =
        CudaFacts { compute: device.compute.max(70), multiprocessors: device.multiprocessors };
    let plan = Plan::on_grid(kernel, case, facts, grid)?;
    let bytes = plan.n * case.dtype.size() as u64;
    let mut sampled = Vec::new();
    for (at, &pass) in plan.passes.iter().enumerate() {
        let cold = at == 0 && (temperature == Temperature::Cold || bytes > device.l2);
        let mut found = simulations.sample(&plan, at, case, kernel.grid, cold)?;
        if kernel.finish == Finish::SinglePass {
            // The block that finishes goes through what all have left, a round of loads after the other.
            let rounds = pass.grid.div_ceil(pass.block).saturating_sub(1);
            found.tail += f64::from(rounds) * device.latency.l2;
        }
        sampled.push((pass, found, None));
    }
    Ok(together(&sampled, case, device, Launching::Alone, bytes))
}

/// Launches one after another: their times, and those of their limits, add up.
pub(super) fn together(
    launches: &[(Pass, Sample, Option<u32>)],
    case: Case,
    device: &Device,
    launching: Launching,
    bytes: u64,
) -> Prediction {
    let mut limits: Vec<(Limit, f64)> = Limit::ALL.map(|limit| (limit, 0.0)).to_vec();
    let (mut microseconds, mut resident) = (0.0, 0);
    for (pass, sampled, resident_blocks) in launches.iter().rev() {
        let (time, alone, found) = launch(*pass, sampled, device, case, *resident_blocks);
        microseconds += time;
        resident = found;
        for (limit, time) in alone {
            let all = limits.iter_mut().find(|(l, _)| *l == limit).expect("every limit is there");
            all.1 += time;
        }
    }
    let [first, further] = device.launch;
    let more = further * (launches.len() - 1) as f64;
    let launching = match launching {
        Launching::Alone => first,
        Launching::BackToBack => further,
    } + more;
    limits[0].1 = launching;
    microseconds += launching;
    let threads = |pass: Pass| u64::from(pass.grid) * u64::from(pass.block);
    let items = launches.first().map_or(0, |(pass, ..)| pass.n.div_ceil(threads(*pass).max(1)));
    let gigabytes = bytes as f64 / microseconds / 1e3;
    Prediction { microseconds, gigabytes, limits, resident, items }
}
