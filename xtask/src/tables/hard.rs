//! The table of hard sums: who errs by how much.

use std::path::Path;
use std::{fs, io};

use serde::Deserialize;

use super::Table;

/// What `bench/peers/cuda/hard_sums.py` writes.
#[derive(Deserialize)]
pub(super) struct HardSums {
    sums: Vec<HardSum>,
}

#[derive(Deserialize)]
struct HardSum {
    name: String,
    why: String,
    source: String,
    #[serde(rename = "type")]
    dtype: String,
    results: Vec<Contestant>,
}

#[derive(Deserialize)]
struct Contestant {
    who: String,
    ulps: f64,
}

impl HardSums {
    pub(super) fn load(file: &Path) -> io::Result<HardSums> {
        Ok(serde_json::from_str(&fs::read_to_string(file)?)?)
    }
}

/// What each sum is, then the errors of all.
pub(super) fn errors(found: &HardSums) -> String {
    let mut what = Table::new(["sum", "of", "what makes it hard", "seen in"].map(str::to_owned));
    let everyone = found.sums.first().map_or(&[][..], |sum| &sum.results);
    let head = ["error in units of the last place"].into_iter();
    let mut table = Table::new(head.chain(everyone.iter().map(|c| &*c.who)).map(str::to_owned));
    for sum in &found.sums {
        let HardSum { name, why, source, dtype, results } = sum;
        what.lines.push(vec![name.clone(), dtype.clone(), why.clone(), source.clone()]);
        let errors = results.iter().map(|contestant| ulps(contestant.ulps));
        table.lines.push([name.clone()].into_iter().chain(errors).collect());
    }
    format!("{}\n{}", what.markdown(), table.markdown())
}

fn ulps(error: f64) -> String {
    match error {
        0.0 => "**0**".into(),
        small if small < 1e4 => format!("{small:.0}"),
        large => format!("{large:.0e}"),
    }
}
