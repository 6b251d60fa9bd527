//! How a GPU brings the elements of equal keys together: by a radix sort of as many bits as the keys need, or not at all where they lie in runs.

use std::fmt;
use std::ops::Range;

use super::CudaFacts;
use crate::DType;

/// Bits of a digit at most: a pass orders by one digit.
const DIGIT_BITS: u32 = 8;
/// Digits that are counted, whatever the bits.
pub const DIGITS: u64 = 1 << DIGIT_BITS;
/// Threads of a block (`sort.cuh`).
pub const THREADS: u32 = 256;
/// Elements of the largest tile (`sort_wide.cu`; the others have two and eight in it): runs of blocks are whole tiles.
const TILE: u64 = 8192;
/// Elements that a warp looks at together where runs of equal keys are found (`groups.cu`).
const STEP: u64 = 128;
/// Blocks of a multiprocessor: what the kernels are compiled for.
const PER_MULTIPROCESSOR: u64 = 2;

/// How elements of equal keys come together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum GroupWay {
    /// They lie together.
    Runs,
    /// Sorted by keys that are numbers below this.
    Dense(u64),
    /// Sorted by what keys are more than the least one.
    Ranks,
}

/// How a GPU will group values by keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CudaGroupPlan {
    /// Elements.
    pub elements: u64,
    /// The type of the keys.
    pub keys: DType,
    /// The type of the values.
    pub values: DType,
    /// How elements of equal keys come together.
    pub way: GroupWay,
    /// Bits of the ordinals.
    pub bits: u32,
    /// The lowest bit that is sorted by, and all above it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub from: u32,
    /// Blocks.
    pub grid: u32,
    /// Elements of a block, one after another.
    pub run: u64,
}

impl CudaGroupPlan {
    /// The plan for keys whose ordinals (numbers, or what they are more than the least) reach up to `greatest`.
    pub fn new(
        elements: u64,
        [keys, values]: [DType; 2],
        way: GroupWay,
        greatest: u64,
        gpu: CudaFacts,
    ) -> Self {
        let bits = match way {
            GroupWay::Runs => 0,
            GroupWay::Dense(_) | GroupWay::Ranks => u64::BITS - greatest.leading_zeros(),
        };
        let tiles = elements.div_ceil(TILE).max(1);
        let blocks = (u64::from(gpu.multiprocessors) * PER_MULTIPROCESSOR).clamp(1, tiles);
        // A block counts its run in 32 bits.
        let run = tiles.div_ceil(blocks).min(u64::from(u32::MAX) / TILE) * TILE;
        let grid = elements.div_ceil(run).max(1) as u32;
        CudaGroupPlan { elements, keys, values, way, bits, from: 0, grid, run }
    }

    /// The same of ordinals that differ in bits below this one brought together, not sorted.
    pub fn from_bit(self, from: u32) -> Self {
        CudaGroupPlan { from: from.min(self.bits), ..self }
    }

    /// Passes of the sort.
    pub fn passes(&self) -> u32 {
        (self.bits - self.from).div_ceil(DIGIT_BITS)
    }

    /// The bits of each pass, lowest first: of as few as there can be, so that digits have long stretches of the result.
    pub fn digits(&self) -> impl Iterator<Item = Range<u32>> + use<> {
        let (from, bits, passes) = (self.from, self.bits - self.from, self.passes());
        (0..passes).map(move |pass| from + bits * pass / passes..from + bits * (pass + 1) / passes)
    }

    /// Bytes of an ordinal between passes.
    pub fn ordinal_bytes(&self) -> u64 {
        if self.bits <= 32 { 4 } else { 8 }
    }

    /// Bytes of the table of digits and runs.
    pub fn table_bytes(&self) -> u64 {
        8 * u64::from(self.grid) * (DIGITS + 1)
    }

    /// Bytes of memory beside keys and values that are taken at once while they are sorted, and given back but for one copy of the values.
    pub fn workspace(&self) -> u64 {
        let each = self.ordinal_bytes() + self.values.size() as u64;
        let copies = u64::from(self.passes().min(2)) * self.elements.saturating_mul(each);
        let sort =
            if self.way == GroupWay::Runs { 0 } else { self.table_bytes() + 8 * (DIGITS + 1) };
        let runs = if let GroupWay::Dense(_) = self.way { 0 } else { 8 * (self.warps() + 1) };
        copies + sort + runs
    }

    /// Blocks that look for runs of equal keys: smaller ones than a sort's.
    pub fn walkers(&self) -> u32 {
        2 * self.grid
    }

    /// Warps of them.
    pub fn warps(&self) -> u64 {
        u64::from(self.walkers()) * u64::from(THREADS / 32)
    }

    /// Elements of each of them.
    pub fn share(&self) -> u64 {
        self.elements.div_ceil(self.warps()).next_multiple_of(STEP)
    }
}

impl fmt::Display for CudaGroupPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CudaGroupPlan { elements, keys, values, grid, run, .. } = self;
        write!(f, "{elements} values of {values} by keys of {keys}: ")?;
        let bits = match self.from {
            0 => format!("{} bits", self.bits),
            from => format!("the upper {} of {} bits", self.bits - from, self.bits),
        };
        match self.way {
            GroupWay::Runs => write!(f, "runs of equal keys are segments, and nothing is sorted")?,
            GroupWay::Dense(groups) => {
                write!(f, "sorted by {bits}, as keys are below {groups}")?;
            }
            GroupWay::Ranks => {
                write!(f, "sorted by {bits}, in which keys differ from the least")?;
            }
        }
        if self.passes() > 0 {
            let passes = if self.passes() == 1 { "pass" } else { "passes" };
            let blocks = if *grid == 1 { "block" } else { "blocks" };
            write!(
                f,
                ", in {} {passes} over ordinals of {} bytes, {grid} {blocks} of {run} elements",
                self.passes(),
                self.ordinal_bytes()
            )?;
        }
        write!(f, ", {} bytes of workspace", self.workspace())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H200: CudaFacts = CudaFacts { compute: 90, multiprocessors: 132 };

    fn dense(elements: u64, groups: u64) -> CudaGroupPlan {
        let way = GroupWay::Dense(groups);
        CudaGroupPlan::new(elements, [DType::U32, DType::F32], way, groups.saturating_sub(1), H200)
    }

    #[test]
    fn only_bits_that_keys_need_are_sorted_by() {
        for (groups, bits) in
            [(0, 0), (1, 0), (2, 1), (256, 8), (257, 9), (1 << 20, 20), (1 << 32, 32)]
        {
            let plan = dense(1 << 28, groups);
            assert_eq!(plan.bits, bits, "{groups}");
            assert_eq!(plan.passes(), bits.div_ceil(8));
            let digits: Vec<_> = plan.digits().collect();
            assert!(digits.iter().all(|digit| digit.len() <= 8 && !digit.is_empty()));
            assert!(digits.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!(digits.last().map_or(0, |digit| digit.end), bits);
        }
        let ranks = |greatest| {
            let types = [DType::I64, DType::F64];
            CudaGroupPlan::new(1000, types, GroupWay::Ranks, greatest, H200).ordinal_bytes()
        };
        assert_eq!([ranks(u64::from(u32::MAX)), ranks(1 << 32), ranks(u64::MAX)], [4, 8, 8]);
    }

    #[test]
    fn blocks_have_whole_tiles_and_all_elements() {
        for elements in [0, 1, 8192, 8193, 1 << 28, (1 << 32) + 7, 1 << 45] {
            let plan = dense(elements, 1 << 20);
            assert_eq!(plan.run % TILE, 0);
            assert!(plan.run <= u64::from(u32::MAX));
            assert!(plan.run * u64::from(plan.grid) >= elements, "{elements}");
            assert!(plan.share() * plan.warps() >= elements, "{elements}");
        }
        let plan = dense(1 << 28, 1 << 20);
        assert!((260..=264).contains(&plan.grid), "{plan}");
        let copies = 2 * (8 << 28);
        assert!((copies..copies + (2 << 20)).contains(&plan.workspace()), "{plan}");
    }
}
