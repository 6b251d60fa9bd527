//! A launch as a value: which kernel, over which grid, with what.

use crate::memory::Buffer;

/// Lengths along x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimensions {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl Dimensions {
    /// The product of the three.
    pub fn count(self) -> u64 {
        u64::from(self.x) * u64::from(self.y) * u64::from(self.z)
    }

    /// The coordinates of element `index`, x fastest.
    pub fn coordinates(self, index: u64) -> [u32; 3] {
        let (x, y) = (u64::from(self.x.max(1)), u64::from(self.y.max(1)));
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }
}

impl From<u32> for Dimensions {
    fn from(x: u32) -> Dimensions {
        Dimensions { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dimensions {
    fn from((x, y): (u32, u32)) -> Dimensions {
        Dimensions { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dimensions {
    fn from((x, y, z): (u32, u32, u32)) -> Dimensions {
        Dimensions { x, y, z }
    }
}

/// One argument of a kernel, as the bytes it is passed by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument(pub(crate) Vec<u8>);

impl Argument {
    /// A structure passed by value, laid out as the device does.
    pub fn bytes(bytes: Vec<u8>) -> Argument {
        Argument(bytes)
    }
}

impl From<Buffer> for Argument {
    fn from(buffer: Buffer) -> Argument {
        Argument(buffer.address().to_le_bytes().to_vec())
    }
}

macro_rules! arguments {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Argument {
            fn from(value: $ty) -> Argument {
                Argument(value.to_le_bytes().to_vec())
            }
        }
    )*};
}

arguments!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// A kernel launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel's name in its program.
    pub kernel: String,
    /// Blocks.
    pub grid: Dimensions,
    /// Threads of a block.
    pub block: Dimensions,
    /// Bytes of dynamically sized shared memory.
    pub shared_bytes: u32,
    /// What the kernel takes, in order.
    pub arguments: Vec<Argument>,
}

/// Whether to do something that costs time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Do it.
    On,
    /// Leave it.
    Off,
}

/// How a launch is run. None of this changes what a right kernel computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Decides the order of blocks and how warps take turns. The same seed gives the same run.
    pub seed: u64,
    /// Most warp instructions before the run is taken for endless.
    pub budget: u64,
    /// Host threads, for kernels whose blocks do not communicate. Results do not depend on it.
    pub threads: usize,
    /// Blocks that run at once where blocks communicate; a grid-wide barrier needs all of them.
    pub resident_blocks: u32,
    /// Most bytes of shared memory a block may have, static and dynamic.
    pub most_shared_bytes: u32,
    /// The race detector.
    pub races: Detail,
    /// Faults on reads of memory that was never written.
    pub uninitialised: Detail,
    /// Counts combinations and the longest chain of them (the work W and steps S).
    pub chains: Detail,
}

impl Default for Settings {
    /// Seed 0, 2^30 warp instructions (some minutes), every core, 8 resident blocks, an H200's 227 KiB of shared
    /// memory, all checks on, chains off.
    fn default() -> Settings {
        Settings {
            seed: 0,
            budget: 1 << 30,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get()),
            resident_blocks: 8,
            most_shared_bytes: 227 << 10,
            races: Detail::On,
            uninitialised: Detail::On,
            chains: Detail::Off,
        }
    }
}
