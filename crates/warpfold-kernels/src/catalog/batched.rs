//! Modules of many reductions at once: of segments, rows, columns and any views.

use super::BASE;

/// Every kind of element that one kernel of many reductions is for: bits of integers (and of floats, where only their order counts), or what floats are computed in.
const KINDS: &[&str] = &["8", "16", "32", "64", "half", "f32", "f64", "complex64", "complex128"];

/// Those of integers.
const INTEGER_KINDS: &[&str] = &["8", "16", "32", "64"];

/// Those whose stats are one pass.
const STATS_KINDS: &[&str] = &["16", "32", "64", "half", "f32", "f64", "complex64", "complex128"];

/// The folds of segments of an array: each a template of `segments.cu` (or, without one, a file of its own), and the kinds of element it is instantiated for.
pub const SEGMENT_FOLDS: &[(&str, &str, &[&str])] = &[
    ("totals", "Totals", KINDS),
    ("extremes", "Extreme", &["8", "16", "32", "64", "complex64", "complex128"]),
    ("arg_extremes", "ArgExtreme", &["8", "16", "32", "64"]),
    ("norms", "Norm", &["half", "f32", "f64"]),
    ("exact", "ExactTotal", &["half", "f32", "f64", "complex64", "complex128"]),
    ("exact_norms", "ExactNorm", &["half", "f32", "f64", "complex64"]),
    ("spread", "ExactSpread", &["half", "f32", "f64"]),
    ("fallback", "", &["f32", "f64"]),
    ("stats", "Stats", STATS_KINDS),
    ("squares", "SquareTotal", &["8", "16", "32", "64"]),
    ("norm1", "", &["complex64", "complex128"]),
    ("moments", "", &["f32", "f64", "complex64", "complex128"]),
    ("products", "Products", KINDS),
];

/// The folds of columns, and of rows in lanes: as [`SEGMENT_FOLDS`], of `columns.cu` and `rows.cu`, of stats `column_stats.cu`.
pub const COLUMN_FOLDS: &[(&str, &str, &[&str])] = &[
    ("totals", "Totals", &["16", "32", "64", "half", "f32", "f64"]),
    ("extremes", "Extreme", &["16", "32", "64"]),
    ("arg_extremes", "ArgExtreme", &["16", "32", "64"]),
    ("squares", "SquareTotal", &["16", "32", "64"]),
    ("exact", "ExactTotal", &["half", "f32", "f64"]),
    ("exact_norms", "ExactNorm", &["half", "f32", "f64"]),
    ("spread", "ExactSpread", &["half", "f32", "f64"]),
    ("stats", "Stats", STATS_KINDS),
];

/// The folds of any views, which take what the others do not: as [`SEGMENT_FOLDS`], of `strided.cu`.
pub const STRIDED_FOLDS: &[(&str, &str, &[&str])] = &[
    ("totals", "Totals", KINDS),
    ("extremes", "Extreme", &["8", "16", "32", "64", "complex64", "complex128"]),
    ("arg_extremes", "ArgExtreme", &["8", "16", "32", "64"]),
    ("norms", "Norm", &["half", "f32", "f64"]),
    ("exact", "ExactTotal", &["half", "f32", "f64", "complex64", "complex128"]),
    ("exact_norms", "ExactNorm", &["half", "f32", "f64", "complex64"]),
    ("spread", "ExactSpread", &["half", "f32", "f64"]),
    ("squares", "SquareTotal", &["8", "16", "32", "64"]),
    ("products", "Products", INTEGER_KINDS),
];

/// The C++ type of a kind of element; types that share one are told apart by an option.
const fn storage(kind: &str) -> &str {
    match kind.as_bytes() {
        b"8" => "u8",
        b"16" => "u16",
        b"32" => "u32",
        b"64" => "u64",
        _ => kind,
    }
}

/// One PTX file of segments, rows, columns or any views: a fold and a kind of element, for [`BASE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchedBuild {
    /// `segment`, `row`, `column` or `strided`.
    pub way: &'static str,
    /// The fold's name.
    pub fold: &'static str,
    /// The C++ template.
    pub template: &'static str,
    /// The kind of element.
    pub kind: &'static str,
    /// The C++ type.
    pub cpp: &'static str,
}

impl BatchedBuild {
    /// The module's name without the target, `segment_products_half`: its entry's, or what its entries' names begin with.
    pub fn entry(&self) -> String {
        format!("{}_{}_{}", self.way, self.fold, self.kind)
    }

    /// The file below `cuda/`.
    pub fn source(&self) -> &'static str {
        match (self.way, self.fold) {
            ("segment", "products") if !INTEGER_KINDS.contains(&self.kind) => {
                "entry/segment_products.cu"
            }
            ("column", "stats") => "entry/column_stats.cu",
            ("column", _) => "entry/columns.cu",
            ("row", _) => "entry/rows.cu",
            ("strided", _) => "entry/strided.cu",
            (_, "fallback") => "entry/segment_fallback.cu",
            (_, "moments") => "entry/segment_moments.cu",
            (_, "norm1") => "entry/segment_norm1.cu",
            (_, "exact" | "exact_norms") if matches!(self.kind, "half" | "f32") => {
                "entry/long_segments.cu"
            }
            (_, "squares") if self.kind != "8" => "entry/long_segments.cu",
            _ => "entry/segments.cu",
        }
    }

    /// The module's name, which is the file's.
    pub fn module(&self) -> String {
        format!("{}.sm{BASE}", self.entry())
    }
}

/// Every PTX file of segments, rows, columns and any views.
pub fn batched_builds() -> impl Iterator<Item = BatchedBuild> {
    let ways = [
        ("segment", SEGMENT_FOLDS),
        ("row", COLUMN_FOLDS),
        ("column", COLUMN_FOLDS),
        ("strided", STRIDED_FOLDS),
    ];
    ways.into_iter().flat_map(|(way, folds)| {
        folds.iter().flat_map(move |&(fold, template, kinds)| {
            let build = move |&kind| BatchedBuild { way, fold, template, kind, cpp: storage(kind) };
            kinds.iter().map(build)
        })
    })
}
