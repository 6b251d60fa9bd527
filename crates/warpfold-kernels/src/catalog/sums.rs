//! Modules of sums that are no folds: by keys, and over ranks.

use super::Plain;

/// Sums by keys in tables in shared memory.
pub const TABLES: Plain = Plain {
    name: "tables",
    source: "entry/tables.cu",
    entries: &["tables_floats", "tables_floats_join", "tables_integers", "tables_integers_join"],
};

/// Sums of tensors over ranks: columns of one element of each.
pub const RANK_SUMS: Plain = Plain {
    name: "rank_sums",
    source: "entry/rank_sums.cu",
    entries: &["rank_sums_f16", "rank_sums_bf16", "rank_sums_f32", "rank_sums_f64"],
};
