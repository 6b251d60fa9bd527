//! What a run costs, counted: for the whole kernel, for each PTX line, and for each step.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use crate::class::Class;

macro_rules! counts {
    ($($(#[$doc:meta])* $field:ident),* $(,)?) => {
        /// Counts of one line, one step or a whole kernel.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts { $($(#[$doc])* pub $field: u64),* }

        impl AddAssign<&Counts> for Counts {
            fn add_assign(&mut self, other: &Counts) {
                $(self.$field += other.$field;)*
            }
        }

        impl Counts {
            /// Each count with its name, in a fixed order.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($field), self.$field)),*].into_iter()
            }
        }
    };
}

counts! {
    /// Instructions issued, one a warp (one a path, where a warp is split).
    warp_instructions,
    /// Lanes on the path, summed over instructions.
    active_lanes,
    /// Lanes on the path whose guard held.
    predicated_on_lanes,
    /// Branches whose lanes went different ways.
    divergent_branches,
    /// Load requests to shared memory, one a warp instruction.
    shared_load_requests,
    /// Wavefronts those took.
    shared_load_wavefronts,
    /// Wavefronts they would have taken without bank conflicts.
    shared_load_ideal,
    /// Store requests to shared memory.
    shared_store_requests,
    /// Wavefronts those took.
    shared_store_wavefronts,
    /// Wavefronts they would have taken without bank conflicts.
    shared_store_ideal,
    /// Wavefronts that atomics of shared memory took.
    shared_atomic_wavefronts,
    /// Wavefronts they would have taken without bank conflicts.
    shared_atomic_ideal,
    /// Load requests to global memory.
    global_load_requests,
    /// 32-byte sectors those touched.
    global_load_sectors,
    /// Store requests to global memory.
    global_store_requests,
    /// 32-byte sectors those touched.
    global_store_sectors,
    /// Bytes that lanes read from global memory.
    global_bytes_read,
    /// Bytes that lanes wrote to global memory.
    global_bytes_written,
    /// Bytes that lanes read from shared memory.
    shared_bytes_read,
    /// Bytes that lanes wrote to shared memory.
    shared_bytes_written,
    /// Bytes that bulk copies moved.
    bulk_bytes,
    /// Times a warp arrived at a block barrier.
    block_barriers,
    /// Atomic operations, one a lane, and one more each time that another lane's makes a swap fail.
    atomics,
    /// Of those, the ones that met another lane of their warp at the same address.
    atomic_collisions,
    /// Operations that folded two values read from memory into one: the work W.
    combinations,
}

impl Counts {
    /// Wavefronts of shared memory: of loads, stores and atomics.
    pub fn shared_wavefronts(&self) -> u64 {
        self.shared_load_wavefronts + self.shared_store_wavefronts + self.shared_atomic_wavefronts
    }

    /// Those beyond the ideal.
    pub fn bank_conflicts(&self) -> u64 {
        let ideal = self.shared_load_ideal + self.shared_store_ideal + self.shared_atomic_ideal;
        self.shared_wavefronts() - ideal
    }
}

/// Counts of one line of PTX.
#[derive(Clone, Debug, PartialEq)]
pub struct LineCounts {
    /// Where it stands, and what it says.
    pub site: crate::Site,
    /// Its class.
    pub class: Class,
    /// What it cost.
    pub counts: Counts,
}

/// What a run cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Blocks run.
    pub blocks: u64,
    /// Warps run.
    pub warps: u64,
    /// The whole kernel.
    pub total: Counts,
    /// Warp instructions by class.
    pub classes: BTreeMap<Class, u64>,
    /// Each PTX instruction, in the order of the code; calls are inlined, so a line may come twice.
    pub lines: Vec<LineCounts>,
    /// For each loop (in the order of [`crate::Kernel::loop_headers`]) and each pass through it, from zero.
    pub loops: Vec<Vec<Counts>>,
    /// For each stretch between block barriers: before the first, before the second, …
    pub phases: Vec<Counts>,
    /// Instructions that the busiest warp issued, one after another, on all its paths: no launch takes less time than they do.
    pub longest_warp: u64,
    /// The longest chain of combinations, each waiting for the one before: the steps S. Zero unless
    /// [`crate::Settings::chains`] asks for it.
    pub longest_chain: u64,
}

/// Steps counted one by one; later ones are added to the last.
const MOST_STEPS: usize = 4096;

/// Counters of one worker, by index; merged and named at the end.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) blocks: u64,
    pub(crate) warps: u64,
    lines: Vec<Counts>,
    loops: Vec<Vec<Counts>>,
    phases: Vec<Counts>,
    pub(crate) longest_chain: u64,
    pub(crate) longest_warp: u64,
}

/// Where in the run an instruction was issued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) pc: u32,
    pub(crate) phase: u32,
    /// The innermost loop, and which pass through it.
    pub(crate) iteration: Option<(u32, u32)>,
}

fn at(list: &mut Vec<Counts>, index: u32) -> &mut Counts {
    let index = (index as usize).min(MOST_STEPS - 1);
    if index >= list.len() {
        list.resize(index + 1, Counts::default());
    }
    &mut list[index]
}

impl Tally {
    pub(crate) fn new(instructions: usize, loops: usize) -> Tally {
        Tally {
            blocks: 0,
            warps: 0,
            lines: vec![Counts::default(); instructions],
            loops: vec![Vec::new(); loops],
            phases: Vec::new(),
            longest_chain: 0,
            longest_warp: 0,
        }
    }

    /// Lets `change` add to the line, the phase and the loop pass.
    pub(crate) fn count(&mut self, step: Step, change: impl Fn(&mut Counts)) {
        change(&mut self.lines[step.pc as usize]);
        change(at(&mut self.phases, step.phase));
        if let Some((number, pass)) = step.iteration {
            change(at(&mut self.loops[number as usize], pass));
        }
    }

    pub(crate) fn merge(&mut self, other: &Tally) {
        fn add(mine: &mut Vec<Counts>, theirs: &[Counts]) {
            if mine.len() < theirs.len() {
                mine.resize(theirs.len(), Counts::default());
            }
            mine.iter_mut().zip(theirs).for_each(|(m, t)| *m += t);
        }
        self.blocks += other.blocks;
        self.warps += other.warps;
        self.longest_chain = self.longest_chain.max(other.longest_chain);
        self.longest_warp = self.longest_warp.max(other.longest_warp);
        add(&mut self.lines, &other.lines);
        add(&mut self.phases, &other.phases);
        self.loops.iter_mut().zip(&other.loops).for_each(|(m, t)| add(m, t));
    }

    pub(crate) fn finish(self, kernel: &crate::Kernel) -> Counters {
        let mut counters = Counters {
            blocks: self.blocks,
            warps: self.warps,
            loops: self.loops,
            phases: self.phases,
            longest_chain: self.longest_chain,
            longest_warp: self.longest_warp,
            ..Counters::default()
        };
        for ((counts, instruction), site) in
            self.lines.into_iter().zip(&kernel.code).zip(kernel.sites())
        {
            counters.total += &counts;
            *counters.classes.entry(instruction.class).or_default() += counts.warp_instructions;
            counters.lines.push(LineCounts {
                site: site.clone(),
                class: instruction.class,
                counts,
            });
        }
        counters.classes.retain(|_, count| *count > 0);
        counters
    }
}
