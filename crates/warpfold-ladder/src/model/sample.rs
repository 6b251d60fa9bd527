//! [`Sample`]: what a block of a launch asks for and waits for, from two or three blocks that are simulated in place of all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use warpfold_kernels::ladder::Grid;
use warpfold_simt::{
    Argument, Class, Counters, Detail, Dimensions, Launch, Memory, Program, Settings,
};

use super::code::{Code, Pipe};
use super::device::Device;
use super::path::Paths;
use crate::plan::{Addresses, Case, Pass, Plan};
use crate::{Number, with_number};

/// What a block asks of its multiprocessor and of the device.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Demand {
    /// Warp instructions.
    pub issues: f64,
    /// Of those, by pipe.
    pub alu: f64,
    /// See `alu`.
    pub add: f64,
    /// See `alu`.
    pub fma: f64,
    /// See `alu`.
    pub imad: f64,
    /// See `alu`.
    pub f64: f64,
    /// See `alu`.
    pub xu: f64,
    /// Wavefronts of shared memory and of the first cache.
    pub wavefronts: f64,
    /// Bytes between the multiprocessor and L2.
    pub l2_bytes: f64,
    /// Bytes of memory.
    pub memory_bytes: f64,
    /// Atomic operations at one address.
    pub atomics: f64,
    /// Arrivals of warps at barriers.
    pub barriers: f64,
    /// Clocks that its first warp waits when it is alone.
    pub path: f64,
    /// Clocks that the last block of a grid takes longer than another: it folds what all have left, and finishes.
    pub last: f64,
}

impl Demand {
    pub(super) fn combine(self, other: Demand, of: impl Fn(f64, f64) -> f64) -> Demand {
        Demand {
            issues: of(self.issues, other.issues),
            alu: of(self.alu, other.alu),
            add: of(self.add, other.add),
            fma: of(self.fma, other.fma),
            imad: of(self.imad, other.imad),
            f64: of(self.f64, other.f64),
            xu: of(self.xu, other.xu),
            wavefronts: of(self.wavefronts, other.wavefronts),
            l2_bytes: of(self.l2_bytes, other.l2_bytes),
            memory_bytes: of(self.memory_bytes, other.memory_bytes),
            atomics: of(self.atomics, other.atomics),
            barriers: of(self.barriers, other.barriers),
            path: of(self.path, other.path),
            last: of(self.last, other.last),
        }
    }
}

/// What was sampled of a launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Of each block.
    pub block: Demand,
    /// What a block asks for once, however many elements it folds, as far as that is known: it begins, and its warps meet and fold what each has.
    pub once: Demand,
    /// Clocks that the block that finishes last takes besides.
    pub tail: f64,
    /// Who goes on without waiting for others.
    pub alone: Alone,
}

/// Who goes on without waiting for others while a block folds its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alone {
    /// A block: its warps meet at barriers all the time.
    Block,
    /// A warp: it meets the others once it has folded all its elements.
    Warp,
}

impl Sample {
    /// From one block that is alone.
    pub(super) fn alone(one: Demand) -> Sample {
        Sample { block: one, once: Demand::default(), tail: 0.0, alone: Alone::Block }
    }

    /// From two blocks and from three, one of which is the last and folds what all have left: the difference is one that is not.
    pub(super) fn of(two: Demand, three: Demand) -> Sample {
        let block = three.combine(two, |three, two| (three - two).max(0.0));
        let block = Demand { path: three.path, last: 0.0, ..block };
        Sample { block, once: Demand::default(), tail: three.last, alone: Alone::Block }
    }

    /// Of blocks of `each` elements, by the line through those of two lengths.
    pub(super) fn line(a: Sample, b: Sample, [short, long]: [u64; 2], each: u64) -> Sample {
        let scale = (each as f64 - long as f64) / (long - short) as f64;
        let block = a.block.combine(b.block, |a, b| (b + (b - a) * scale).max(0.0));
        let once = once(&a, &b, [short, long]);
        Sample { block, once, tail: b.tail, alone: alone(&a, &b) }
    }
}

/// What the line through blocks of two lengths is at no elements; nothing where warps meet for each.
pub(super) fn once(a: &Sample, b: &Sample, [short, long]: [u64; 2]) -> Demand {
    if alone(a, b) == Alone::Block {
        return Demand::default();
    }
    let scale = short as f64 / (long - short) as f64;
    a.block.combine(b.block, |a, b| (a - (b - a) * scale).clamp(0.0, a))
}

/// Whether more elements bring more barriers.
pub(super) fn alone(short: &Sample, long: &Sample) -> Alone {
    if long.block.barriers > short.block.barriers { Alone::Block } else { Alone::Warp }
}

/// Elements a thread of a block, at most, of the blocks that are simulated; longer loops follow the line through two lengths.
pub(super) const LENGTHS: [u64; 2] = [64, 128];

/// Simulated blocks of one device, each combination once: sizes of grids share them.
pub(super) struct Simulations<'a> {
    device: &'a Device,
    kernels: HashMap<String, (Program, Code)>,
    found: HashMap<Key, Demand>,
}

/// What a simulation depends on: the entry (which names operation and type), whether it is the only launch, threads and shared memory of a block, blocks, elements, whether
/// they come from memory.
type Key = (String, bool, [u32; 3], u64, bool);

/// A launch to sample: the kernel's grid, the pass, and whether its array comes from memory.
#[derive(Clone, Copy)]
struct Sampled<'p> {
    plan: &'p Plan,
    pass: Pass,
    case: Case,
    cold: bool,
}

impl<'a> Simulations<'a> {
    pub(super) fn new(device: &'a Device) -> Simulations<'a> {
        Simulations { device, kernels: HashMap::new(), found: HashMap::new() }
    }

    /// Samples a launch of a plan; `cold` says whether its array comes from memory.
    ///
    /// # Errors
    /// What the simulator says.
    pub(super) fn sample(
        &mut self,
        plan: &Plan,
        at: usize,
        case: Case,
        grid: Grid,
        cold: bool,
    ) -> Result<Sample, String> {
        let pass = plan.passes[at];
        let blocks = u64::from(pass.grid);
        let each = match grid {
            Grid::Elements { each } => u64::from(each) * u64::from(pass.block),
            _ => pass.n.div_ceil(blocks.max(1)),
        };
        let [short, long] = LENGTHS.map(|length| length * u64::from(pass.block));
        let launch = Sampled { plan, pass, case, cold };
        let mut of = |each: u64| self.of_blocks(launch, each, blocks);
        if let Grid::Elements { .. } | Grid::OneBlock { .. } = grid {
            return of(each);
        }
        if each <= long {
            let (whole, twice) = (of(each)?, of(2 * each)?);
            let once = once(&whole, &twice, [each, 2 * each]);
            return Ok(Sample { once, alone: alone(&of(short)?, &of(long)?), ..whole });
        }
        Ok(Sample::line(of(short)?, of(long)?, [short, long], each))
    }

    /// One block where there is no other, else two and three: the difference is one that is not the last.
    fn of_blocks(&mut self, launch: Sampled<'_>, each: u64, blocks: u64) -> Result<Sample, String> {
        let mut of = |grid: u32| {
            self.demand(launch, grid, (each * u64::from(grid)).min(launch.pass.n.max(each)))
        };
        match blocks {
            0 | 1 => Ok(Sample::alone(of(1)?)),
            _ => Ok(Sample::of(of(2)?, of(3)?)),
        }
    }

    /// So many blocks over so many elements: what they ask for together, and the shortest path.
    fn demand(&mut self, launch: Sampled<'_>, grid: u32, n: u64) -> Result<Demand, String> {
        let Sampled { plan, pass, cold, .. } = launch;
        let shape = [pass.block, pass.shared_bytes, grid];
        let key = (plan.entry.clone(), plan.passes.len() == 1, shape, n, cold);
        if let Some(found) = self.found.get(&key) {
            return Ok(*found);
        }
        let (program, code) = match self.kernels.entry(plan.entry.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(load(plan)?),
        };
        let found = simulate(launch, self.device, (program, code), grid, n)?;
        self.found.insert(key, found);
        Ok(found)
    }
}

/// A plan's kernel, for the simulator and as machine code.
fn load(plan: &Plan) -> Result<(Program, Code), String> {
    let module = warpfold_kernels::find(&plan.module)
        .ok_or_else(|| format!("{} is not embedded", plan.module))?;
    let ptx = module.ptx();
    let program = Program::load(&ptx).map_err(|error| error.to_string())?;
    let kernel = program.kernel(&plan.entry).ok_or_else(|| format!("no kernel {}", plan.entry))?;
    let code = Code::new(kernel, &ptx);
    Ok((program, code))
}

fn simulate(
    launch: Sampled<'_>,
    device: &Device,
    (program, code): (&Program, &Code),
    grid: u32,
    n: u64,
) -> Result<Demand, String> {
    let Sampled { plan, pass, case, cold } = launch;
    let size = case.dtype.size() as u64;
    let identity: Vec<u8> = with_number!(case.dtype, T => number_bytes::<T>(T::identity(case.op)));
    let mut memory = Memory::new();
    let input = memory.upload_bytes(&identity.repeat(n as usize));
    let scratch = u64::from(grid) * u64::from(pass.block);
    let work = memory.allocate(scratch * size).address();
    let own = work..work + scratch * size;
    let addresses = Addresses {
        input: input.address(),
        result: memory.upload_bytes(&identity).address(),
        partials: [0; 2].map(|_| memory.allocate(u64::from(grid) * size).address()),
        scratch: work,
        ticket: memory.upload(&[0u32]).address(),
    };
    let parameters = [
        addresses.input,
        if plan.passes.len() == 1 { addresses.result } else { addresses.partials[0] },
        n,
        addresses.scratch,
        addresses.ticket,
    ];
    let launch = Launch {
        kernel: plan.entry.clone(),
        grid: Dimensions::from(grid),
        block: Dimensions::from(pass.block),
        shared_bytes: pass.shared_bytes,
        arguments: parameters.into_iter().map(Argument::from).collect(),
    };
    let from_memory = if cold { input.address()..input.address() + n * size } else { 0..0 };
    let mut paths = Paths::new(code, device, case.dtype, pass.block, from_memory, own);
    let settings =
        Settings { races: Detail::Off, uninitialised: Detail::Off, ..Settings::default() };
    let counters = launch
        .run_observed(program, &mut memory, &settings, &mut paths)
        .map_err(|fault| fault.to_string())?;
    let path = paths.waits().into_iter().fold(f64::INFINITY, f64::min);
    let read = if cold { (n * size) as f64 } else { 0.0 };
    Ok(Demand {
        path,
        last: paths.last(),
        atomics: paths.most_contended(),
        memory_bytes: read,
        ..demand(code, &counters)
    })
}

fn number_bytes<T: Number>(value: T) -> Vec<u8> {
    bytemuck::bytes_of(&value).to_vec()
}

/// What was counted, as machine code.
pub(super) fn demand(code: &Code, counters: &Counters) -> Demand {
    let mut of = Demand::default();
    for (machine, count) in code.issued(counters) {
        for &(pipe, slots) in &machine.slots {
            let slots = slots * count;
            of.issues += slots;
            match pipe {
                Pipe::Alu => of.alu += slots,
                Pipe::Add => of.add += slots,
                Pipe::Fma => of.fma += slots,
                Pipe::Imad => of.imad += slots,
                Pipe::F64 => of.f64 += slots,
                Pipe::Xu => of.xu += slots,
                Pipe::Lsu | Pipe::Control => {}
            }
        }
    }
    let total = &counters.total;
    let sectors = (total.global_load_sectors + total.global_store_sectors) as f64;
    let shuffles = counters.classes.get(&Class::WarpExchange).copied().unwrap_or(0) as f64;
    let requests = (total.global_load_requests + total.global_store_requests) as f64;
    of.wavefronts = total.shared_wavefronts() as f64 + shuffles + requests.max(sectors / 4.0);
    of.l2_bytes = sectors * 32.0 + total.bulk_bytes as f64;
    of.barriers = total.block_barriers as f64;
    of
}
