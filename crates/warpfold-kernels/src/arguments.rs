//! Parameters of kernels, 64 bits each, and numbers that they take for a choice, as the device code has them. Made by `cargo xtask kernels`.

/// Parameters that `walk/array.cuh` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct Arguments {
    pub x: u64,
    pub y: u64,
    pub n: u64,
    pub workspace: u64,
    pub record: u64,
    pub value: u64,
    pub done: u64,
    pub stamp: u64,
    pub options: u64,
}

impl Arguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 9] {
        let Arguments { x, y, n, workspace, record, value, done, stamp, options } = *self;
        [x, y, n, workspace, record, value, done, stamp, options]
    }
}

/// Parameters that `walk/parts.cuh` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct SegmentArguments {
    pub x: u64,
    pub n: u64,
    pub offsets: u64,
    pub bounds: u64,
    pub length: u64,
    pub segments: u64,
    pub out: u64,
    pub workspace: u64,
    pub faults: u64,
    pub options: u64,
}

impl SegmentArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 10] {
        let SegmentArguments { x, n, offsets, bounds, length, segments, out, workspace, faults, options } = *self;
        [x, n, offsets, bounds, length, segments, out, workspace, faults, options]
    }
}

/// Parameters that `entry/strided.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct StridedArguments {
    pub x: u64,
    pub outputs: u64,
    pub inputs: u64,
    pub loops: u64,
    pub kept: u64,
    pub folded: u64,
    pub first_output: u64,
    pub lanes: u64,
    pub runs: u64,
    pub states: u64,
    pub out: u64,
    pub faults: u64,
    pub options: u64,
}

impl StridedArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 13] {
        let StridedArguments { x, outputs, inputs, loops, kept, folded, first_output, lanes, runs, states, out, faults, options } = *self;
        [x, outputs, inputs, loops, kept, folded, first_output, lanes, runs, states, out, faults, options]
    }
}

/// Parameters that `entry/segment_moments.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct MomentArguments {
    pub x: u64,
    pub n: u64,
    pub offsets: u64,
    pub bounds: u64,
    pub length: u64,
    pub segments: u64,
    pub out: u64,
    pub loops: u64,
    pub faults: u64,
    pub options: u64,
    pub kept: u64,
    pub folded: u64,
    pub first_output: u64,
    pub inputs: u64,
    pub all: u64,
    pub moment: u64,
    pub ddof: u64,
    pub size: u64,
}

impl MomentArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 18] {
        let MomentArguments { x, n, offsets, bounds, length, segments, out, loops, faults, options, kept, folded, first_output, inputs, all, moment, ddof, size } = *self;
        [x, n, offsets, bounds, length, segments, out, loops, faults, options, kept, folded, first_output, inputs, all, moment, ddof, size]
    }
}

/// Parameters that `entry/segment_products.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct TreeArguments {
    pub x: u64,
    pub n: u64,
    pub offsets: u64,
    pub bounds: u64,
    pub length: u64,
    pub segments: u64,
    pub out: u64,
    pub loops: u64,
    pub faults: u64,
    pub options: u64,
    pub kept: u64,
    pub folded: u64,
    pub first_output: u64,
    pub inputs: u64,
    pub lanes: u64,
    pub pieces: u64,
    pub span: u64,
    pub states: u64,
}

impl TreeArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 18] {
        let TreeArguments { x, n, offsets, bounds, length, segments, out, loops, faults, options, kept, folded, first_output, inputs, lanes, pieces, span, states } = *self;
        [x, n, offsets, bounds, length, segments, out, loops, faults, options, kept, folded, first_output, inputs, lanes, pieces, span, states]
    }
}

/// Parameters that `entry/segment_products.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct TreeJoinArguments {
    pub states: u64,
    pub outputs: u64,
    pub pieces: u64,
    pub out: u64,
    pub options: u64,
}

impl TreeJoinArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 5] {
        let TreeJoinArguments { states, outputs, pieces, out, options } = *self;
        [states, outputs, pieces, out, options]
    }
}

/// Parameters that `entry/segment_fallback.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct FallbackColumnArguments {
    pub x: u64,
    pub rows: u64,
    pub row_pitch: u64,
    pub batch_pitch: u64,
    pub columns: u64,
    pub outputs: u64,
    pub out: u64,
    pub faults: u64,
    pub options: u64,
}

impl FallbackColumnArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 9] {
        let FallbackColumnArguments { x, rows, row_pitch, batch_pitch, columns, outputs, out, faults, options } = *self;
        [x, rows, row_pitch, batch_pitch, columns, outputs, out, faults, options]
    }
}

/// Parameters that `entry/lengths.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct LengthArguments {
    pub offsets: u64,
    pub bounds: u64,
    pub segments: u64,
    pub n: u64,
    pub out: u64,
    pub faults: u64,
}

impl LengthArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 6] {
        let LengthArguments { offsets, bounds, segments, n, out, faults } = *self;
        [offsets, bounds, segments, n, out, faults]
    }
}

/// Parameters that `entry/rank_sums.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct RankSumArguments {
    pub rows: u64,
    pub pitch: u64,
    pub ranks: u64,
    pub columns: u64,
    pub own: u64,
    pub own_rank: u64,
    pub out: u64,
}

impl RankSumArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 7] {
        let RankSumArguments { rows, pitch, ranks, columns, own, own_rank, out } = *self;
        [rows, pitch, ranks, columns, own, own_rank, out]
    }
}

/// Parameters that `entry/groups.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct DigitArguments {
    pub keys: u64,
    pub bytes: u64,
    pub base: u64,
    pub n: u64,
    pub shift: u64,
    pub bits: u64,
    pub run: u64,
    pub table: u64,
    pub limit: u64,
    pub beyond: u64,
}

impl DigitArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 10] {
        let DigitArguments { keys, bytes, base, n, shift, bits, run, table, limit, beyond } = *self;
        [keys, bytes, base, n, shift, bits, run, table, limit, beyond]
    }
}

/// Parameters that `entry/groups.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct ScanArguments {
    pub table: u64,
    pub rows: u64,
    pub columns: u64,
    pub totals: u64,
}

impl ScanArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 4] {
        let ScanArguments { table, rows, columns, totals } = *self;
        [table, rows, columns, totals]
    }
}

/// Parameters that `entry/groups.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct RunArguments {
    pub keys: u64,
    pub n: u64,
    pub share: u64,
    pub counts: u64,
    pub starts: u64,
    pub labels: u64,
    pub bytes: u64,
    pub base: u64,
    pub runs: u64,
}

impl RunArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 9] {
        let RunArguments { keys, n, share, counts, starts, labels, bytes, base, runs } = *self;
        [keys, n, share, counts, starts, labels, bytes, base, runs]
    }
}

/// Parameters that `entry/groups.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct BoundArguments {
    pub keys: u64,
    pub shift: u64,
    pub n: u64,
    pub groups: u64,
    pub starts: u64,
}

impl BoundArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 5] {
        let BoundArguments { keys, shift, n, groups, starts } = *self;
        [keys, shift, n, groups, starts]
    }
}

/// Parameters that `sort/scatter.cuh` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct ScatterArguments {
    pub keys: u64,
    pub bytes: u64,
    pub base: u64,
    pub n: u64,
    pub shift: u64,
    pub bits: u64,
    pub run: u64,
    pub table: u64,
    pub totals: u64,
    pub values: u64,
    pub width: u64,
    pub keys_out: u64,
    pub values_out: u64,
}

impl ScatterArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 13] {
        let ScatterArguments { keys, bytes, base, n, shift, bits, run, table, totals, values, width, keys_out, values_out } = *self;
        [keys, bytes, base, n, shift, bits, run, table, totals, values, width, keys_out, values_out]
    }
}

/// Parameters that `entry/tables.cu` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct TableArguments {
    pub keys: u64,
    pub key_bytes: u64,
    pub limit: u64,
    pub values: u64,
    pub kind: u64,
    pub n: u64,
    pub share: u64,
    pub width_bits: u64,
    pub ranges: u64,
    pub starts: u64,
    pub groups: u64,
    pub out: u64,
    pub slots: u64,
    pub faults: u64,
    pub options: u64,
}

impl TableArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 15] {
        let TableArguments { keys, key_bytes, limit, values, kind, n, share, width_bits, ranges, starts, groups, out, slots, faults, options } = *self;
        [keys, key_bytes, limit, values, kind, n, share, width_bits, ranges, starts, groups, out, slots, faults, options]
    }
}

/// Parameters that `walk/map_array.cuh` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct MapArguments {
    pub n: u64,
    pub workspace: u64,
    pub record: u64,
    pub counts: u64,
}

impl MapArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 4] {
        let MapArguments { n, workspace, record, counts } = *self;
        [n, workspace, record, counts]
    }
}

/// Parameters that `walk/map_rows.cuh` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct MapRowArguments {
    pub rows: u64,
    pub length: u64,
    pub out: u64,
    pub counts: u64,
    pub faults: u64,
    pub options: u64,
    pub lanes: u64,
}

impl MapRowArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 7] {
        let MapRowArguments { rows, length, out, counts, faults, options, lanes } = *self;
        [rows, length, out, counts, faults, options, lanes]
    }
}

/// Parameters that `walk/map_segments.cuh` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct MapSegmentArguments {
    pub segments: u64,
    pub n: u64,
    pub out: u64,
    pub counts: u64,
    pub faults: u64,
    pub options: u64,
    pub workspace: u64,
    pub offsets: u64,
    pub bytes: u64,
}

impl MapSegmentArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 9] {
        let MapSegmentArguments { segments, n, out, counts, faults, options, workspace, offsets, bytes } = *self;
        [segments, n, out, counts, faults, options, workspace, offsets, bytes]
    }
}

/// Parameters that `walk/map_columns.cuh` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct MapColumnArguments {
    pub width: u64,
    pub rows: u64,
    pub out: u64,
    pub counts: u64,
    pub faults: u64,
    pub options: u64,
    pub batches: u64,
    pub runs: u64,
    pub lanes: u64,
    pub share: u64,
    pub is_apart: u64,
    pub workspace: u64,
}

impl MapColumnArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 12] {
        let MapColumnArguments { width, rows, out, counts, faults, options, batches, runs, lanes, share, is_apart, workspace } = *self;
        [width, rows, out, counts, faults, options, batches, runs, lanes, share, is_apart, workspace]
    }
}

/// Parameters that `walk/columns.cuh` declares, which says what they are; pointers are addresses in the machine's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub struct ColumnArguments {
    pub x: u64,
    pub width: u64,
    pub rows: u64,
    pub batches: u64,
    pub row_pitch: u64,
    pub batch_pitch: u64,
    pub elements: u64,
    pub runs: u64,
    pub columns: u64,
    pub states: u64,
    pub out: u64,
    pub faults: u64,
    pub inputs: u64,
    pub options: u64,
}

impl ColumnArguments {
    /// One by one, in the kernel's order.
    pub const fn words(&self) -> [u64; 14] {
        let ColumnArguments { x, width, rows, batches, row_pitch, batch_pitch, elements, runs, columns, states, out, faults, inputs, options } = *self;
        [x, width, rows, batches, row_pitch, batch_pitch, elements, runs, columns, states, out, faults, inputs, options]
    }
}

/// `enum class Step` of `acc/finish_integers.cuh`, as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub enum Step {
    Mean,
    Var,
    Std,
    L2,
    L1,
    LargestComplex,
    Sumsq,
    Sum,
    FastMean,
    FastL1,
    FastL2,
    FastSumsq,
    FastVar,
    FastStd,
    Any,
    All,
    Product,
    ComplexProduct,
    IntegerProduct,
    LargestInteger,
    LargestHalf,
    LargestBrain,
    LargestFloat,
    IntegerSumsq,
}

/// `enum class Moment` of `entry/segment_moments.cu`, as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub enum Moment {
    Sum,
    L1,
    Mean,
    L2,
    Var,
    Std,
    Sumsq,
}

/// `enum Kind : u32` of `walk/tables.cuh`, as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the device code")]
pub enum TableKind {
    F32,
    F16,
    BF16,
    U8,
    U16,
    U32,
    I8,
    I16,
    I32,
}
