//! Parameters of kernels, 64 bits each, numbers that they take for a choice, and constants, as the device code has them. Made by `cargo xtask kernels`.

use crate::manifest::{arguments, codes, constant};

arguments! { "walk/array.cuh": Arguments { x, y, n, workspace, record, value, done, stamp, options } }

arguments! { "entry/groups.cu": BoundArguments { keys, shift, n, groups, starts } }

arguments! { "walk/columns.cuh": ColumnArguments { x, width, rows, batches, row_pitch, batch_pitch, elements, runs, columns, states, out, faults, inputs, options } }

arguments! { "entry/groups.cu": DigitArguments { keys, bytes, base, n, shift, bits, run, table, limit, beyond } }

arguments! { "entry/segment_fallback.cu": FallbackColumnArguments { x, rows, row_pitch, batch_pitch, columns, outputs, out, faults, options } }

arguments! { "entry/lengths.cu": LengthArguments { offsets, bounds, segments, n, out, faults } }

arguments! { "walk/map_array.cuh": MapArguments { n, workspace, record, counts } }

arguments! { "walk/map_columns.cuh": MapColumnArguments { width, rows, out, counts, faults, options, batches, runs, lanes, share, is_apart, workspace } }

arguments! { "walk/map_rows.cuh": MapRowArguments { rows, length, out, counts, faults, options, lanes } }

arguments! { "walk/map_segments.cuh": MapSegmentArguments { segments, n, out, counts, faults, options, workspace, offsets, bytes } }

arguments! { "entry/segment_moments.cu": MomentArguments { x, n, offsets, bounds, length, segments, out, loops, faults, options, kept, folded, first_output, inputs, all, moment, ddof, size } }

arguments! { "entry/operator_fold.cu": OperatorArguments { n, tile, span, field, room, states, faults } }

arguments! { "entry/operator_join.cu": OperatorJoinArguments { count, states, out, faults } }

arguments! { "entry/operator_rows.cu": OperatorRowArguments { rows, length, tile, field, room, states, faults } }

arguments! { "entry/operator_short_rows.cu": OperatorShortRowArguments { rows, length, states, faults } }

arguments! { "entry/rank_sums.cu": RankSumArguments { rows, pitch, ranks, columns, own, own_rank, out } }

arguments! { "entry/groups.cu": RunArguments { keys, n, share, counts, starts, labels, bytes, base, runs } }

arguments! { "entry/groups.cu": ScanArguments { table, rows, columns, totals } }

arguments! { "sort/scatter.cuh": ScatterArguments { keys, bytes, base, n, shift, bits, run, table, totals, values, width, keys_out, values_out } }

arguments! { "walk/parts.cuh": SegmentArguments { x, n, offsets, bounds, length, segments, out, workspace, faults, options } }

arguments! { "entry/strided.cu": StridedArguments { x, outputs, inputs, loops, kept, folded, first_output, lanes, runs, states, out, faults, options } }

arguments! { "entry/tables.cu": TableArguments { keys, key_bytes, limit, values, kind, n, share, width_bits, ranges, starts, groups, out, slots, faults, options } }

arguments! { "entry/segment_products.cu": TreeArguments { x, n, offsets, bounds, length, segments, out, loops, faults, options, kept, folded, first_output, inputs, lanes, pieces, span, states } }

arguments! { "entry/segment_products.cu": TreeColumnArguments { x, width, rows, batches, row_pitch, batch_pitch, out, options, pieces, span, states } }

arguments! { "entry/segment_products.cu": TreeJoinArguments { states, outputs, pieces, out, options, group } }

arguments! { "entry/segment_products.cu": TreeRowArguments { x, rows, length, out, options } }

arguments! { "entry/segment_products.cu": TreeSegmentArguments { x, n, offsets, bounds, length, segments, out, faults, options } }

codes! { "acc/finish_integers.cuh": Step { Mean, Var, Std, L2, L1, LargestComplex, Sumsq, Sum, FastMean, FastL1, FastL2, FastSumsq, FastVar, FastStd, Any, All, Product, ComplexProduct, IntegerProduct, LargestInteger, LargestHalf, LargestBrain, LargestFloat, IntegerSumsq } }

codes! { "entry/segment_moments.cu": Moment { Sum, L1, Mean, L2, Var, Std, Sumsq } }

codes! { "walk/tables.cuh": TableKind { F32, F16, BF16, U8, U16, U32, I8, I16, I32 } }

constant! { "walk/tree_block.cuh": TREE_RUN = 32 }

constant! { "walk/tree_block.cuh": TREE_BLOCK = 1024 }

constant! { "walk/tree_parts.cuh": TREE_WARPS = 4 }

constant! { "walk/tree_columns.cuh": TREE_PIECE_LEVELS = 12 }

constant! { "walk/tree_rows.cuh": TREE_SHORT_ROW_BYTES = 256 }

constant! { "walk/tree_rows.cuh": TREE_LONGEST_ROW_BYTES = 4096 }
