//! What other programs and libraries call reductions and options, and what is meant by that here.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What other libraries call a reduction, and how it is asked for here.
const REDUCTIONS: &[(&[&str], &str)] = &[
    (&["avg", "average", "nanmean"], "mean"),
    (&["total", "add", "nansum", "fsum"], "sum"),
    (&["len", "length", "size", "rows", "n"], "stats"),
    (&["amax", "nanmax", "maximum"], "max"),
    (&["amin", "nanmin", "minimum"], "min"),
    (&["ptp", "range", "extent"], "minmax"),
    (&["variance", "nanvar", "var_samp", "var_pop"], "var"),
    (&["stdev", "stddev", "nanstd", "sd", "stddev_samp", "stddev_pop"], "std"),
    (&["product", "nanprod", "multiply"], "prod"),
    (&["norm"], "l2"),
    (&["count_nonzero", "countif"], "count"),
    (&["nanargmax", "idxmax"], "argmax"),
    (&["nanargmin", "idxmin"], "argmin"),
    (&["describe", "summary"], "stats"),
    (&["inner"], "dot"),
];

/// What has no reduction, as it takes all elements in their order.
const ORDERED: &[&str] = &[
    "median",
    "nanmedian",
    "quantile",
    "percentile",
    "mode",
    "sort",
    "argsort",
    "cumsum",
    "cumprod",
    "diff",
    "first",
    "last",
    "nth",
    "iqr",
];

/// What has no reduction, as it takes elements by their values, which keys do.
const BY_VALUE: &[&str] = &[
    "nunique",
    "n_unique",
    "unique",
    "distinct",
    "count_distinct",
    "value_counts",
    "hist",
    "histogram",
];

/// Whether a name is a percentile, such as `p99`.
fn is_percentile(name: &str) -> bool {
    let number = name.strip_prefix(['p', 'q']).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// What to ask for in place of a name that other libraries have.
pub(super) fn reduction(name: &str) -> Option<String> {
    if BY_VALUE.contains(&name) {
        return Some(format!(
            "{name} is none, as it takes elements by their values; stats --by KEY has a row for each value of a column, with how many elements it has"
        ));
    }
    if ORDERED.contains(&name) || is_percentile(name) {
        return Some(format!(
            "{name} is none, as it takes elements in their order, and there is nothing like it here"
        ));
    }
    let (_, here) = REDUCTIONS.iter().find(|(names, _)| names.contains(&name))?;
    let how = match (name, *here) {
        (name, here) if name.starts_with("nan") => {
            format!("{here} with --nan ignore")
        }
        (_, "minmax") => "minmax, which has both ends".into(),
        ("var_samp" | "stddev_samp" | "variance" | "stdev" | "stddev" | "sd", here) => {
            format!("{here}, of a sample with --ddof 1")
        }
        ("len" | "length" | "size" | "rows" | "n", _) => {
            "stats, whose count is that of all elements (count is that of those that are not zero)"
                .into()
        }
        (_, here) => here.into(),
    };
    Some(format!("what other programs call {name} is {how}"))
}

/// Options of other programs, and those of reductions that are meant.
const OPTIONS: &[(&[&str], &str)] = &[
    (&["--group", "--groupby", "--group-by", "--group_by", "--key", "--keys"], "--by"),
    (&["--sep", "--separator", "--delim"], "--delimiter"),
    (&["--filter", "--query", "--condition"], "--where"),
    (&["--col", "--cols", "--columns", "--field", "--fields"], "--column"),
];

/// What is meant by an option that other programs have.
pub(crate) fn option(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return None };
    let (_, here) = OPTIONS.iter().find(|(names, _)| names.contains(&given.as_str()))?;
    Some(format!("there is no {given} here; give {here}; see warpfold --help"))
}
