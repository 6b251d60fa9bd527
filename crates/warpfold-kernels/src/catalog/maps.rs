//! Templates of kernels that fold what an expression makes of their inputs.

use super::{BASE, Plain};

/// Templates of folds of mapped values (`walk/map_array.cuh`), each with the types of values that it is compiled for: not kernels until the
/// code of a map stands in the place of their pseudo-instructions.
pub const MAPS: &[MapFold] = &[
    MapFold::of("sum", "entry/map_sum.cu", "Sum", &["f32", "f64"]),
    MapFold::of("moments", "entry/map_moments.cu", "Moments", &["f32", "f64"]),
    MapFold::of("dot", "entry/map_dot.cu", "Dot", &["f32", "f64"]),
    MapFold::of("weighted", "entry/map_weighted.cu", "Weighted", &["f32", "f64"]),
    MapFold::of("pairs", "entry/map_pairs.cu", "Pairs", &["f32"]),
    MapFold::of("square_dot", "entry/map_pairs.cu", "SquareDot", &["f64"]),
    MapFold::of("sum", "entry/map_integers.cu", "Sum", &["i64", "u64"]),
    MapFold::of("moments", "entry/map_integers.cu", "Moments", &["i64", "u64"]),
    MapFold::of("dot", "entry/map_integers.cu", "Dot", &["i64", "u64"]),
    MapFold::of("prod", "entry/map_integers.cu", "Prod", &["i64", "u64"]),
    MapFold::of("values", "entry/map_values.cu", "Values", &["f32", "f64"]),
    MapFold::of("min", "entry/map_extremes.cu", "Min", &["f32", "f64", "i64", "u64"]),
    MapFold::of("max", "entry/map_extremes.cu", "Max", &["f32", "f64", "i64", "u64"]),
    MapFold::of("count", "entry/map_count.cu", "Count", &["bool"]),
    MapFold::of("row_terms", "entry/map_rows.cu", "RowTerms", &["f32"]),
    MapFold::of("row_total", "entry/map_rows.cu", "RowTotal", &["f64"]),
    MapFold::of("row_norm", "entry/map_rows.cu", "RowNorm", &["f64"]),
    MapFold::of("row_spread", "entry/map_rows.cu", "RowSpread", &["f32", "f64"]),
    MapFold::of("row_extreme", "entry/map_rows.cu", "RowExtreme", &["f32", "f64"]),
    MapFold::of("column_terms", "entry/map_columns.cu", "ColumnTerms", &["f32"]),
    MapFold::of("column_total", "entry/map_columns.cu", "ColumnTotal", &["f64"]),
    MapFold::of("column_norm", "entry/map_columns.cu", "ColumnNorm", &["f64"]),
    MapFold::of("column_spread", "entry/map_columns.cu", "ColumnSpread", &["f32", "f64"]),
    MapFold::of("column_extreme", "entry/map_columns.cu", "ColumnExtreme", &["f32", "f64"]),
    MapFold::of("segment_terms", "entry/map_segments.cu", "SegmentTerms", &["f32"]),
    MapFold::of("segment_total", "entry/map_segments.cu", "SegmentTotal", &["f64"]),
    MapFold::of("segment_norm", "entry/map_segments.cu", "SegmentNorm", &["f64"]),
    MapFold::of("segment_spread", "entry/map_segments.cu", "SegmentSpread", &["f32", "f64"]),
    MapFold::of("segment_extreme", "entry/map_segments.cu", "SegmentExtreme", &["f32", "f64"]),
];

/// A template of folds by operators of one's own (`walk/operator.cuh`): of an array, to states of spans.
pub const OPERATOR_FOLD: Plain =
    Plain { name: "operator_fold", source: "entry/operator_fold.cu", entries: &["operator_fold"] };
/// The same of states of spans, to one.
pub const OPERATOR_JOIN: Plain =
    Plain { name: "operator_join", source: "entry/operator_join.cu", entries: &["operator_join"] };

/// The same of rows of an array.
pub const OPERATOR_ROWS: Plain =
    Plain { name: "operator_rows", source: "entry/operator_rows.cu", entries: &["operator_rows"] };
/// The same of rows of one block of the tree at most.
pub const OPERATOR_SHORT_ROWS: Plain = Plain {
    name: "operator_short_rows",
    source: "entry/operator_short_rows.cu",
    entries: &["operator_short_rows"],
};

/// Whether a module, by its name, is a template.
pub fn is_template(module: &str) -> bool {
    module.starts_with("map_") || module.starts_with("operator_")
}

/// Parameters of such a template, but for the last one, before all others: the inputs.
pub const MAP_INPUTS: usize = 8;

/// A template of folds of mapped values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapFold {
    /// Its name, part of its entries' names.
    pub name: &'static str,
    /// The file below `cuda/`.
    pub source: &'static str,
    /// The C++ template, over the type of the values.
    pub template: &'static str,
    /// The types of the values.
    pub types: &'static [&'static str],
}

impl MapFold {
    const fn of(
        name: &'static str,
        source: &'static str,
        template: &'static str,
        types: &'static [&'static str],
    ) -> Self {
        MapFold { name, source, template, types }
    }

    /// The entry's name for a type of values, `map_sum_f32`.
    pub fn entry(&self, ty: &str) -> String {
        format!("map_{}_{ty}", self.name)
    }

    /// The module's name, which is the file's: `map_sum_f32.sm70`.
    pub fn module(&self, ty: &str) -> String {
        format!("{}.sm{BASE}", self.entry(ty))
    }
}
