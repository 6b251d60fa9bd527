//! How a GPU adds values by keys that are numbers of groups: in tables of fixed-point integers in shared memory (`tables.cuh`).

use std::fmt;

use super::{CudaFacts, CudaGroupPlan, GroupWay};
use crate::{DType, Op};

/// Groups of a table at most, and at least, to the power of two.
const WIDTH_BITS: [u32; 2] = [5, 12];
/// Elements that a block is worth.
const LEAST_SHARE: u64 = 16 << 10;
/// Elements that are loaded together: shares are multiples of it.
const AT_ONCE: u64 = 4;
/// Limbs of a sum of floats, and of integers (`tables.cuh`).
const LIMBS: [u64; 2] = [12, 3];

/// How a GPU will add values by keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CudaTablePlan {
    /// What is added: sum, or l1 of floats.
    pub op: Op,
    /// The sort that brings elements of one table together; of no bits where one table holds all groups.
    pub sort: CudaGroupPlan,
    /// Groups.
    pub groups: u64,
    /// Groups of a table, to the power of two.
    pub width_bits: u32,
    /// Blocks.
    pub grid: u32,
    /// Elements of a block.
    pub share: u64,
}

impl CudaTablePlan {
    /// The plan for keys below `groups`, the greatest of which is `greatest`; `None` if tables do not do this.
    pub fn new(
        op: Op,
        elements: u64,
        [keys, values]: [DType; 2],
        [groups, greatest]: [u64; 2],
        gpu: CudaFacts,
    ) -> Option<Self> {
        // Sums of so many integers of 32 bits fit into 64.
        let narrow =
            values.size() < 4 || (values.size() == 4 && (values.is_float() || elements <= 1 << 32));
        let does = op == Op::Sum || (op == Op::L1 && values.is_float());
        // Kernels know keys by 32 bits, of which all ones stand for more.
        if !does || !narrow || elements == 0 || groups == 0 || groups > u32::MAX.into() {
            return None;
        }
        let way = GroupWay::Dense(groups);
        let sort = CudaGroupPlan::new(elements, [keys, values], way, greatest, gpu);
        let shared_bytes = gpu.shared_bytes();
        let [least, most] = WIDTH_BITS;
        let width_bits = (least..=most.min(sort.bits.max(least)))
            .rev()
            .find(|&bits| table_bytes(values, bits) <= shared_bytes)?;
        let sort = sort.from_bit(width_bits);
        let blocks = elements.div_ceil(LEAST_SHARE).min(gpu.multiprocessors.into()).max(1);
        let share = elements.div_ceil(blocks).next_multiple_of(AT_ONCE);
        let grid = elements.div_ceil(share) as u32;
        Some(CudaTablePlan { op, sort, groups, width_bits, grid, share })
    }

    /// Tables that all groups take which keys can name.
    pub fn ranges(&self) -> u64 {
        if self.sort.passes() > 0 { self.groups.div_ceil(1 << self.width_bits) } else { 1 }
    }

    /// Limbs of a sum, of 4 bytes each.
    pub fn limbs(&self) -> u64 {
        LIMBS[usize::from(!self.sort.values.is_float())]
    }

    /// Bytes of shared memory of a block.
    pub fn table_bytes(&self) -> u64 {
        table_bytes(self.sort.values, self.width_bits)
    }

    /// The element type of the results.
    pub fn output(&self) -> DType {
        match self.sort.values {
            values if values.is_float() => DType::F32,
            DType::I8 | DType::I16 | DType::I32 => DType::I64,
            _ => DType::U64,
        }
    }

    /// Bytes of the tables that blocks leave each other, two a block.
    pub fn slot_bytes(&self) -> u64 {
        if self.grid > 1 { 2 * u64::from(self.grid) * self.table_bytes() } else { 0 }
    }

    /// Bytes of memory beside keys, values and results that are taken at once.
    pub fn workspace(&self) -> u64 {
        let starts = if self.sort.passes() > 0 {
            self.sort.workspace() + 8 * (self.ranges() + 1)
        } else {
            0
        };
        starts + self.slot_bytes() + 16
    }
}

/// Bytes of a table: limbs of 4 bytes, then a bit for each of three specials of floats (`tables.cuh`).
fn table_bytes(values: DType, width_bits: u32) -> u64 {
    let width = 1 << width_bits;
    let [of_floats, of_integers] = LIMBS;
    if values.is_float() { of_floats * 4 * width + 3 * width / 8 } else { of_integers * 4 * width }
}

impl fmt::Display for CudaTablePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CudaTablePlan { op, sort, groups, grid, .. } = self;
        if sort.passes() > 0 {
            write!(f, "{sort}; then ")?;
        } else {
            write!(f, "{} values of {} by keys of {}: ", sort.elements, sort.values, sort.keys)?;
        }
        write!(
            f,
            "{op} of {groups} groups as fixed-point integers in tables of {} in shared memory, {} bytes each, {grid} blocks, {} bytes of workspace",
            1u64 << self.width_bits,
            self.table_bytes(),
            self.workspace()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(op: Op, values: DType, groups: u64, compute: u32) -> Option<CudaTablePlan> {
        let gpu = CudaFacts { compute, multiprocessors: 132 };
        let types = [DType::U32, values];
        CudaTablePlan::new(op, 1 << 28, types, [groups, groups.saturating_sub(1)], gpu)
    }

    #[test]
    fn groups_that_a_table_has_room_for_are_not_sorted() {
        for (groups, width_bits, passes) in [
            (1, 5, 0),
            (256, 8, 0),
            (4096, 12, 0),
            (4097, 12, 1),
            (1 << 20, 12, 1),
            (1 << 26, 12, 2),
        ] {
            let plan = plan(Op::Sum, DType::F32, groups, 90).unwrap();
            assert_eq!((plan.width_bits, plan.sort.passes()), (width_bits, passes), "{plan}");
            assert!(plan.ranges() << width_bits >= groups && (plan.ranges() > 1) == (passes > 0));
            assert!(plan.share * u64::from(plan.grid) >= 1 << 28);
            assert_eq!(plan.share % AT_ONCE, 0);
        }
        let by_upper_bits = plan(Op::Sum, DType::F32, 1 << 20, 90).unwrap().sort;
        assert_eq!(by_upper_bits.digits().next(), Some(12..20));
    }

    #[test]
    fn tables_fit_into_the_shared_memory_of_every_gpu() {
        for (compute, width_bits) in [(70, 10), (75, 10), (80, 11), (86, 11), (90, 12), (121, 11)] {
            let plan = plan(Op::Sum, DType::F32, 1 << 20, compute).unwrap();
            assert_eq!(plan.width_bits, width_bits, "{compute}");
            let gpu = CudaFacts { compute, multiprocessors: 132 };
            assert!(plan.table_bytes() <= gpu.shared_bytes());
        }
        assert_eq!(plan(Op::Sum, DType::U8, 1 << 20, 70).unwrap().width_bits, 12);
    }

    #[test]
    fn only_what_tables_do_is_planned() {
        let does = |op, values| plan(op, values, 1000, 90).is_some();
        assert!(
            does(Op::Sum, DType::Bool) && does(Op::Sum, DType::F16) && does(Op::L1, DType::BF16)
        );
        assert!(
            !does(Op::Sum, DType::F64) && !does(Op::Sum, DType::I64) && !does(Op::L1, DType::I8)
        );
        assert!(!does(Op::Max, DType::F32) && !does(Op::Sum, DType::Complex64));
        assert!(plan(Op::Sum, DType::F32, 0, 90).is_none());
        assert!(plan(Op::Sum, DType::F32, 1 << 32, 90).is_none());
        assert!(plan(Op::Sum, DType::F32, (1 << 32) - 1, 90).is_some());
    }
}
