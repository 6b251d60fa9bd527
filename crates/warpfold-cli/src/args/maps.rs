//! Options that say what is reduced, where that is not the elements as they are.

use std::path::PathBuf;

use clap::Args;
use warpfold::map;

/// An expression of inputs, a condition, weights.
#[derive(Debug, Args)]
#[command(next_help_heading = "Map")]
pub(crate) struct Maps {
    /// Reduce an expression of the inputs: x is the inputs themselves, other names are columns of text, Parquet and Arrow files, or given by --with
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) map: Option<String>,

    /// Leave out the elements for which a condition does not hold, such as 'qty > 3'
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    pub(crate) keep: Option<String>,

    /// Weigh the elements of a sum, mean, variance or deviation, by a file or by an expression
    #[arg(long, value_name = "FILE|EXPR", allow_hyphen_values = true)]
    pub(crate) weights: Option<String>,

    /// With stats: print this result, such as 'far = count(x > 3)' (repeat for several, which share one reading)
    #[arg(long, value_name = "[NAME=]RESULT", value_parser = reduction, allow_hyphen_values = true, conflicts_with_all = ["map", "weights"])]
    pub(crate) of: Vec<map::Reduction>,

    /// With stats: fold by an operator of one's own, a TOML file of its texts: state, lift, merge, and finish, identity, commutative, tolerance
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["map", "keep", "weights", "of"])]
    pub(crate) operator: Option<PathBuf>,

    /// Another input of the same length, by a name for expressions (repeat for several)
    #[arg(long, value_name = "NAME=FILE", value_parser = named)]
    pub(crate) with: Vec<(String, PathBuf)>,
}

/// Parses `NAME=REDUCTION(EXPR)`.
fn reduction(text: &str) -> Result<map::Reduction, String> {
    text.parse().map_err(|error: warpfold::Error| error.to_string())
}

/// Parses `NAME=FILE`.
fn named(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.into(), file.into()))
        }
        _ => Err("an input is given a name as in --with y=y.npy".into()),
    }
}

impl Maps {
    /// Whether anything but the elements as they are is reduced.
    pub(crate) fn any(&self) -> bool {
        let Maps { map, keep, weights, of, operator, with } = self;
        let is_expression = map.is_some() || keep.is_some() || weights.is_some();
        is_expression || !of.is_empty() || operator.is_some() || !with.is_empty()
    }
}
