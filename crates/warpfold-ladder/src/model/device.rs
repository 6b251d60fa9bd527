//! [`Device`]: what the model knows of a GPU, one row each, every number with its source.
//!
//! Sources, by the letters of each row's notes:
//! - (w) NVIDIA's white paper or data sheet of the GPU: multiprocessors, boost clock, memory's bandwidth, L2.
//! - (g) CUDA C++ Programming Guide, tables *Technical Specifications per Compute Capability* (threads, blocks, shared memory) and *Throughput of Native Arithmetic
//!   Instructions* (results a clock a multiprocessor).
//! - (l) W. Luo et al., *Benchmarking and Dissecting the Nvidia Hopper GPU Architecture*, 2024, arXiv:2402.13499: latencies of shared memory, L2 and memory on the RTX 4090, A100 and H100.
//! - (j) Z. Jia et al., *Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking*, 2018, arXiv:1804.06826: four cycles from an instruction to one that depends on it.
//! - (m) measured on an H200 by `bench/cuda/constants.cu` (`results/h200/constants.jsonl`): starts of blocks, atomics at one address, latencies of arithmetic, shared memory, shuffles, L2, barriers, branches and
//!   fences; by `bench/cuda/fetch.sh` (`results/h200/fetch.jsonl`): the part of L2's bytes that reading 24 MiB within a launch reaches, 9730 GB/s of 5120 bytes a clock; memory's latency by Little's law, of one load of 4 bytes in flight a thread (377 GB/s are 709 clocks a round, of which some 20 are the loop's). By the program: reading and a launch between
//!   events (`roofline_f32.json`), a launch behind others (`cuda.json`, limits).
//! - (v) V. Volkov, J. Demmel, *Benchmarking GPUs to Tune Dense Linear Algebra*, SC 2008: latencies of the 8800 GTX.
//!
//! Read again beside a second source: bandwidth of memory and L2 (5120 bytes a clock) of A100 and H100 and four clocks of arithmetic (Table 3 of doi:10.1016/j.ultsonch.2023.106546), latencies of L1, L2 and
//! memory of the RTX 4090 and the GH200 (github.com/markdewing/AI_kernels, `latency/README.md`: 40, 296, 636 and 40, 281, 690 clocks). Not read again, because only abstracts could be had: the tables of (l), (j)
//! and (v); and of (w) and (g) what the first of those does not repeat. One microbenchmark gives the RTX 4090's L2 1024 to 1536 bytes a clock in all (github.com/smallscientist1/cuda_microbenchmark); the row has what its
//! multiprocessors can take, 64 each, which matters for arrays in the cache alone.
//!
//! No number is fitted to a rung. Where a device has no figure of its own, it has that of its nearest relative, in clocks, and `assumed` says so.

/// A GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Device {
    /// As it is asked for.
    pub key: &'static str,
    /// In words.
    pub name: &'static str,
    /// Compute capability times ten (10 for the G80's 1.0).
    pub compute: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Their clock, in GHz.
    pub clock: f64,
    /// Warp instructions issued a clock.
    pub issue: f64,
    /// Lanes a clock: integers, f32, products of integers, f64, conversions and reciprocals.
    pub lanes: Lanes,
    /// Bytes a clock between a multiprocessor and L2, on paper.
    pub l2_bytes: f64,
    /// The part of them that reading reaches.
    pub l2_reached: f64,
    /// 10^9 bytes a second of memory, on paper.
    pub paper: f64,
    /// The part of them that reading reaches.
    pub reached: f64,
    /// Bytes of L2.
    pub l2: u64,
    /// Clocks until a result can be used.
    pub latency: Latency,
    /// What a multiprocessor holds.
    pub holds: Holds,
    /// Blocks a microsecond that the whole device starts.
    pub starts: f64,
    /// Atomic operations a nanosecond at one address.
    pub atomics: Atomics,
    /// Microseconds of a launch that does nothing, between two events; and of each further launch behind it.
    pub launch: [f64; 2],
    /// What is assumed, not measured or published; empty where nothing is.
    pub assumed: &'static str,
}

/// Results a clock and a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lanes {
    /// Integer additions, logic, comparisons.
    pub alu: f64,
    /// f32.
    pub fma: f64,
    /// Products of integers.
    pub imad: f64,
    /// f64.
    pub f64: f64,
    /// Conversions, reciprocals.
    pub xu: f64,
    /// Loads, stores, shuffles.
    pub lsu: f64,
}

/// Clocks until a result can be used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    /// Arithmetic.
    pub arithmetic: f64,
    /// f64 arithmetic.
    pub f64: f64,
    /// Conversions and reciprocals.
    pub xu: f64,
    /// Shared memory.
    pub shared: f64,
    /// Shuffles.
    pub shuffle: f64,
    /// The first cache.
    pub l1: f64,
    /// L2.
    pub l2: f64,
    /// Memory.
    pub memory: f64,
    /// A barrier of the block, beside the arrivals of its warps.
    pub barrier: f64,
    /// The arrival of a warp at a barrier; they arrive one after another.
    pub arrival: f64,
    /// From a comparison to the instruction behind a branch.
    pub branch: f64,
    /// An atomic operation's old value.
    pub atomic: f64,
    /// A fence of global memory.
    pub fence: f64,
}

/// What a multiprocessor holds at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Holds {
    /// Threads.
    pub threads: u32,
    /// Blocks.
    pub blocks: u32,
    /// Bytes of shared memory.
    pub shared: u32,
    /// Registers.
    pub registers: u32,
}

/// Atomic operations a nanosecond at one address.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Atomics {
    /// Integers, one lane of a warp.
    pub integer: f64,
    /// Integers of 64 bits, every lane.
    pub wide: f64,
    /// f32, every lane.
    pub f32: f64,
    /// f64, every lane.
    pub f64: f64,
}

const GA10X: Lanes = Lanes { alu: 64.0, fma: 128.0, imad: 64.0, f64: 2.0, xu: 16.0, lsu: 32.0 };
const GH100: Lanes = Lanes { f64: 64.0, ..GA10X };
const GA100: Lanes = Lanes { fma: 64.0, f64: 32.0, ..GA10X };

const HOPPER: Latency = Latency {
    arithmetic: 4.0,
    f64: 8.0,
    xu: 17.0,
    shared: 30.0,
    shuffle: 24.0,
    l1: 41.0,
    l2: 287.0,
    memory: 690.0,
    barrier: 12.0,
    arrival: 2.0,
    branch: 17.0,
    atomic: 521.0,
    fence: 265.0,
};

/// Every device, from the oldest.
pub const DEVICES: [Device; 7] = [
    Device {
        key: "g80",
        name: "GeForce 8800 GTX (G80)",
        compute: 10,
        multiprocessors: 16,
        clock: 1.35,
        issue: 0.25,
        lanes: Lanes { alu: 8.0, fma: 8.0, imad: 2.0, f64: 0.5, xu: 2.0, lsu: 8.0 },
        l2_bytes: 4.0,
        l2_reached: 1.0,
        paper: 86.4,
        reached: 0.85,
        l2: 0,
        latency: Latency {
            arithmetic: 24.0,
            f64: 96.0,
            xu: 48.0,
            shared: 36.0,
            shuffle: 36.0,
            l1: 510.0,
            l2: 510.0,
            memory: 510.0,
            barrier: 24.0,
            arrival: 4.0,
            branch: 24.0,
            atomic: 510.0,
            fence: 510.0,
        },
        holds: Holds { threads: 768, blocks: 8, shared: 16 << 10, registers: 8 << 10 },
        starts: 65.0,
        atomics: Atomics { integer: 0.1, wide: 0.02, f32: 0.02, f64: 0.02 },
        launch: [10.0, 7.0],
        assumed: "it has no shuffles, no f64 and no atomics of floats: those rungs could not run",
    },
    Device {
        key: "rtx3070",
        name: "GeForce RTX 3070",
        compute: 86,
        multiprocessors: 46,
        clock: 1.725,
        issue: 4.0,
        lanes: GA10X,
        l2_bytes: 64.0,
        l2_reached: 1.0,
        paper: 448.0,
        reached: 0.92,
        l2: 4 << 20,
        latency: Latency { shared: 29.0, l1: 38.0, l2: 262.0, memory: 466.0, ..HOPPER },
        holds: Holds { threads: 1536, blocks: 16, shared: 100 << 10, registers: 65536 },
        starts: 1451.0,
        atomics: Atomics { integer: 1.19, wide: 1.19, f32: 0.497, f64: 0.497 },
        launch: [4.2, 3.0],
        assumed: "latencies in clocks as on the A100; L2 delivers what multiprocessors can take; starts of blocks, atomics, barriers, branches and launches as on the H200, in clocks",
    },
    Device {
        key: "rtx3090",
        name: "GeForce RTX 3090",
        compute: 86,
        multiprocessors: 82,
        clock: 1.695,
        issue: 4.0,
        lanes: GA10X,
        l2_bytes: 64.0,
        l2_reached: 1.0,
        paper: 936.0,
        reached: 0.92,
        l2: 6 << 20,
        latency: Latency { shared: 29.0, l1: 38.0, l2: 262.0, memory: 466.0, ..HOPPER },
        holds: Holds { threads: 1536, blocks: 16, shared: 100 << 10, registers: 65536 },
        starts: 1426.0,
        atomics: Atomics { integer: 1.17, wide: 1.17, f32: 0.488, f64: 0.488 },
        launch: [4.2, 3.0],
        assumed: "latencies in clocks as on the A100; L2 delivers what multiprocessors can take; starts of blocks, atomics, barriers, branches and launches as on the H200, in clocks",
    },
    Device {
        key: "rtx4090",
        name: "GeForce RTX 4090",
        compute: 89,
        multiprocessors: 128,
        clock: 2.52,
        issue: 4.0,
        lanes: GA10X,
        l2_bytes: 64.0,
        l2_reached: 1.0,
        paper: 1008.0,
        reached: 0.92,
        l2: 72 << 20,
        latency: Latency { shared: 30.0, l1: 43.0, l2: 273.0, memory: 542.0, ..HOPPER },
        holds: Holds { threads: 1536, blocks: 24, shared: 100 << 10, registers: 65536 },
        starts: 2120.0,
        atomics: Atomics { integer: 1.74, wide: 1.74, f32: 0.726, f64: 0.726 },
        launch: [4.2, 3.0],
        assumed: "L2 delivers what multiprocessors can take; starts of blocks, atomics, barriers, branches and launches as on the H200, in clocks",
    },
    Device {
        key: "a100",
        name: "A100 (40 GB)",
        compute: 80,
        multiprocessors: 108,
        clock: 1.41,
        issue: 4.0,
        lanes: GA100,
        l2_bytes: 47.4,
        l2_reached: 0.96,
        paper: 1555.0,
        reached: 0.92,
        l2: 40 << 20,
        latency: Latency { shared: 29.0, l1: 38.0, l2: 262.0, memory: 466.0, ..HOPPER },
        holds: Holds { threads: 2048, blocks: 32, shared: 164 << 10, registers: 65536 },
        starts: 1186.0,
        atomics: Atomics { integer: 0.97, wide: 0.97, f32: 0.406, f64: 0.406 },
        launch: [4.2, 3.0],
        assumed: "what reading L2 reaches, starts of blocks, atomics, barriers, branches and launches as on the H200, in clocks",
    },
    Device {
        key: "h100",
        name: "H100 SXM (80 GB)",
        paper: 3352.0,
        l2: 50 << 20,
        assumed: "what reading L2 reaches, starts of blocks, atomics, latencies and launches as on the H200",
        ..H200
    },
    H200,
];

/// The device that results/h200 is of.
pub const H200: Device = Device {
    key: "h200",
    name: "H200",
    compute: 90,
    multiprocessors: 132,
    clock: 1.98,
    issue: 4.0,
    lanes: GH100,
    l2_bytes: 38.8,
    l2_reached: 0.96,
    paper: 4814.0,
    reached: 0.95,
    l2: 60 << 20,
    latency: HOPPER,
    holds: Holds { threads: 2048, blocks: 32, shared: 228 << 10, registers: 65536 },
    starts: 1663.0,
    atomics: Atomics { integer: 1.362, wide: 1.362, f32: 0.569, f64: 0.569 },
    launch: [4.18, 2.97],
    assumed: "",
};

impl Device {
    /// The device of a name: `rtx3090`, `RTX 3090`, `h200`.
    ///
    /// # Errors
    /// What there is.
    pub fn find(name: &str) -> Result<&'static Device, String> {
        let plain = |text: &str| {
            text.chars()
                .filter(char::is_ascii_alphanumeric)
                .collect::<String>()
                .to_ascii_lowercase()
        };
        DEVICES.iter().find(|device| device.key == plain(name)).ok_or_else(|| {
            let keys: Vec<&str> = DEVICES.iter().map(|device| device.key).collect();
            format!("the model knows no device {name:?}; it knows {}", keys.join(", "))
        })
    }

    /// The device that a driver calls so: `NVIDIA GeForce RTX 3090`.
    pub fn named(name: &str) -> Option<&'static Device> {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let name = letters.collect::<String>().to_ascii_lowercase();
        DEVICES.iter().find(|device| name.contains(device.key))
    }

    /// Bytes of memory that a multiprocessor's share of the bandwidth moves in a clock.
    pub fn memory_bytes(&self) -> f64 {
        self.paper * self.reached / f64::from(self.multiprocessors) / self.clock
    }

    /// 10^9 bytes a second that reading reaches.
    pub fn reading(&self) -> f64 {
        self.paper * self.reached
    }

    /// Blocks that a multiprocessor holds at once.
    pub fn resident(&self, block: u32, shared_bytes: u32, registers: u32) -> u32 {
        let Holds { threads, blocks, shared, registers: all } = self.holds;
        let warps = block.div_ceil(32).max(1);
        // A block's shared memory is handed out by 128 bytes, after a kilobyte for the system since compute capability 8.0.
        let own = if self.compute >= 80 { 1024 } else { 0 };
        let bytes = (shared_bytes + own).next_multiple_of(128).max(1);
        let by_registers = all / (registers.max(1).next_multiple_of(8) * 32 * warps);
        (threads / (warps * 32)).min(blocks).min(shared / bytes).min(by_registers).max(1)
    }
}
