//! The executable form: operations with every name, type and modifier resolved.

use crate::alu::convert::Conversion;
use crate::alu::integer::Extended;
use crate::alu::soft::{Manner, Operation};
use crate::alu::{Binary, Compare, Ternary, Unary};
use crate::class::Class;
use crate::ptx::{Sense, Space, Type};

/// Index of a 32-lane register. Immediates and special registers have slots of their own.
pub(crate) type Slot = u32;
/// Index of a predicate register.
pub(crate) type PredicateSlot = u32;
/// Index of an instruction.
pub(crate) type Pc = u32;

/// Where every path of a kernel ends: the post-dominator of the last instructions.
pub(crate) const EXIT: Pc = Pc::MAX;

/// A predicate with the sense it is taken in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub(crate) slot: PredicateSlot,
    pub(crate) sense: Sense,
}

/// A decoded instruction.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) op: Op,
    pub(crate) guard: Option<Condition>,
    pub(crate) class: Class,
    /// Index into the kernel's sites: its line and its place in the CUDA source.
    pub(crate) site: u32,
    /// The innermost loop it stands in.
    pub(crate) innermost: Option<u32>,
    /// Whether it is work, as reductions count it.
    pub(crate) combines: Combines,
}

/// Whether an instruction folds two values into one: what a reduction's work is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combines {
    /// Copies, converts, compares.
    No,
    /// Adds, multiplies, takes the lesser, …
    Yes,
}

/// An address in a register, plus a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Slot,
    pub(crate) offset: i64,
}

/// The strength of a memory access, from weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Ordinary. `volatile` too: it keeps the compiler honest, and orders nothing between threads.
    Weak,
    /// `.relaxed`
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    Both,
}

impl Strength {
    pub(crate) fn releases(self) -> bool {
        matches!(self, Strength::Release | Strength::Both)
    }
}

/// Who a fence or an atomic orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// `.cta`: the block.
    Block,
    /// `.cluster`, `.gpu`, `.sys`: every block of the launch.
    Device,
}

/// What `ld` and `st` share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) ty: Type,
    /// Elements: 1, 2 or 4.
    pub(crate) count: u32,
    pub(crate) address: Address,
    pub(crate) strength: Strength,
    pub(crate) scope: Scope,
    /// Width of the registers: a narrower signed value is extended to it.
    pub(crate) register_bits: u32,
}

impl Access {
    /// Bytes one lane moves.
    pub(crate) fn bytes(&self) -> u32 {
        self.ty.bytes() * self.count
    }
}

/// A read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicFunction {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Increment,
    Decrement,
    Exchange,
    CompareAndSwap,
}

/// What `shfl` shifts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What a vote returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// An operation that waits for the lanes that its mask names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WarpOp {
    /// `bar.warp.sync`
    Barrier,
    Shuffle {
        mode: Shuffle,
        to: Slot,
        valid: Option<PredicateSlot>,
        value: Slot,
        by: Slot,
        clamp: Slot,
    },
    Vote {
        mode: Vote,
        to: VoteResult,
        condition: Condition,
    },
    MatchAny {
        to: Slot,
        value: Slot,
        bits: u32,
    },
    MatchAll {
        to: Slot,
        all: Option<PredicateSlot>,
        value: Slot,
        bits: u32,
    },
    Reduce {
        function: AtomicFunction,
        ty: Type,
        to: Slot,
        value: Slot,
    },
    Elect {
        to: Option<Slot>,
        leader: PredicateSlot,
    },
}

/// Where a vote's result goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum VoteResult {
    Register(Slot),
    Predicate(PredicateSlot),
}

/// What a block barrier does on arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BarrierKind {
    /// `bar.sync`
    Sync,
    /// `barrier.cluster.wait`, in a cluster of one block.
    Cluster,
    /// `bar.arrive`: counts itself in and goes on.
    Arrive,
    /// `bar.red.popc`
    Count { to: Slot, condition: Condition },
    /// `bar.red.and`
    All { to: PredicateSlot, condition: Condition },
    /// `bar.red.or`
    Any { to: PredicateSlot, condition: Condition },
}

/// Whether every lane of a warp must come to a barrier together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alignment {
    /// `bar.sync`, `barrier.sync.aligned`: the whole warp, at one instruction.
    Aligned,
    /// `barrier.sync`: lane by lane.
    Free,
}

/// An operation on an mbarrier object in shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MbarrierOp {
    Init {
        count: Slot,
    },
    Invalidate,
    Arrive {
        state: Option<Slot>,
        count: Option<Slot>,
        expect: Option<Slot>,
        drop: bool,
    },
    ExpectBytes {
        bytes: Slot,
    },
    CompleteBytes {
        bytes: Slot,
    },
    /// `test_wait` and `try_wait`, by phase parity.
    WaitParity {
        done: PredicateSlot,
        parity: Slot,
    },
    /// `test_wait` and `try_wait`, by the state an arrival returned.
    WaitState {
        done: PredicateSlot,
        state: Slot,
    },
}

/// Combination of a comparison with a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
}

impl Logic {
    pub(crate) fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Logic::And => a & b,
            Logic::Or => a | b,
            Logic::Xor => a ^ b,
        }
    }
}

/// An operation.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Copy {
        to: Slot,
        from: Slot,
    },
    Unary {
        f: Unary,
        to: Slot,
        a: Slot,
    },
    Binary {
        f: Binary,
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Ternary {
        f: Ternary,
        to: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
    },
    /// Two functions in turn: `to = g(f(a, b), c)`, as `mad` is.
    MultiplyAdd {
        multiply: Binary,
        add: Binary,
        to: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
    },
    /// An f32 operation on the host, its operands and result flushed and clamped.
    Flushed {
        f: Binary,
        saturate: bool,
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Soft {
        operation: Operation,
        manner: Manner,
        packed: bool,
        to: Slot,
        operands: [Slot; 3],
    },
    /// `min` and `max` of the half types, packed or not.
    HalfExtreme {
        greatest: bool,
        rule: crate::alu::float::NanRule,
        ty: Type,
        flush: bool,
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Extended {
        kind: Extended,
        ty: Type,
        takes_carry: bool,
        writes_carry: bool,
        to: Slot,
        operands: [Slot; 3],
    },
    Insert {
        bits: u32,
        to: Slot,
        operands: [Slot; 4],
    },
    Logic3 {
        table: u8,
        to: Slot,
        operands: [Slot; 3],
    },
    Convert {
        conversion: Conversion,
        to: Slot,
        a: Slot,
    },
    /// `cvt.rn.f16x2.f32 d, a, b`: `a` to the upper half, `b` to the lower.
    ConvertPair {
        conversion: Conversion,
        to: Slot,
        upper: Slot,
        lower: Slot,
    },
    Compare {
        f: Compare,
        with: Option<(Logic, Condition)>,
        to: Option<PredicateSlot>,
        opposite: Option<PredicateSlot>,
        a: Slot,
        b: Slot,
    },
    /// `set`: all ones, or 1.0, where the comparison holds.
    Set {
        f: Compare,
        with: Option<(Logic, Condition)>,
        truth: u64,
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Select {
        to: Slot,
        a: Slot,
        b: Slot,
        condition: Condition,
    },
    /// `slct`: `a` where `c` is not negative. A NaN is not.
    SelectBySign {
        to: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
        float: bool,
    },
    PredicateLogic {
        logic: Logic,
        to: PredicateSlot,
        a: Condition,
        b: Condition,
    },
    PredicateCopy {
        to: PredicateSlot,
        from: Condition,
    },
    PredicateSet {
        to: PredicateSlot,
        value: u32,
    },
    /// `mov.b64 d, {a, b}`: parts from the lowest.
    Pack {
        to: Slot,
        parts: Vec<Slot>,
        part_bits: u32,
    },
    Unpack {
        to: Vec<Option<Slot>>,
        from: Slot,
        part_bits: u32,
    },
    Clock {
        to: Slot,
    },
    ActiveMask {
        to: Slot,
    },
    IsSpace {
        space: Space,
        to: PredicateSlot,
        a: Slot,
    },
    ToGeneric {
        space: Space,
        to: Slot,
        a: Slot,
    },
    FromGeneric {
        space: Space,
        to: Slot,
        a: Slot,
    },
    Load {
        access: Access,
        to: [Option<Slot>; 4],
    },
    Store {
        access: Access,
        from: [Slot; 4],
    },
    Atomic {
        function: AtomicFunction,
        access: Access,
        to: Option<Slot>,
        b: Slot,
        c: Slot,
    },
    Fence {
        scope: Scope,
    },
    Warp {
        op: WarpOp,
        mask: Slot,
    },
    Barrier {
        kind: BarrierKind,
        alignment: Alignment,
        id: Slot,
        count: Option<Slot>,
    },
    Mbarrier {
        op: MbarrierOp,
        address: Address,
    },
    /// `cp.async.bulk` from global to shared memory, completing on an mbarrier.
    BulkLoad {
        to: Address,
        from: Address,
        bytes: Slot,
        mbarrier: Address,
    },
    /// `cp.async.bulk` from shared to global memory.
    BulkStore {
        to: Address,
        from: Address,
        bytes: Slot,
    },
    /// `cp.async.bulk.wait_group`, `commit_group`: stores are done when issued, so nothing waits.
    Nothing,
    Branch {
        target: Pc,
        reconverge: Pc,
    },
    Table {
        index: Slot,
        targets: Vec<Pc>,
        reconverge: Pc,
    },
    Exit,
    Trap,
}
