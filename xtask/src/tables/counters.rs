//! The table of the simulator's counters beside the hardware's: how many launches agree, and by how much the others do not.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::Deserialize;

use super::Table;

/// What `bench/simt/counters.py` writes.
#[derive(Deserialize)]
pub(super) struct Counters {
    /// The counts that must agree to the last.
    must_be_equal: Vec<String>,
    results: Vec<Launch>,
}

#[derive(Deserialize)]
struct Launch {
    rung: Option<String>,
    many: Option<String>,
    #[serde(default)]
    kernel: String,
    /// Of launches that were compared.
    equal: Option<bool>,
    #[serde(default)]
    counts: BTreeMap<String, Pair>,
}

#[derive(Deserialize)]
struct Pair {
    hardware: u64,
    simulator: u64,
}

impl Counters {
    pub(super) fn load(file: &Path) -> io::Result<Counters> {
        Ok(serde_json::from_str(&fs::read_to_string(file)?)?)
    }

    /// The count that is the furthest off.
    fn worst<'a>(&self, launch: &'a Launch) -> Option<(&'a String, &'a Pair)> {
        let pairs = self.must_be_equal.iter().filter_map(|name| launch.counts.get_key_value(name));
        pairs.max_by(|(_, a), (_, b)| a.off().total_cmp(&b.off()))
    }

    /// By how much of the hardware's count the simulator's is off, where it is most so.
    fn off(&self, launch: &Launch) -> f64 {
        self.worst(launch).map_or(0.0, |(_, pair)| pair.off())
    }
}

impl Pair {
    fn off(&self) -> f64 {
        self.hardware.abs_diff(self.simulator) as f64 / self.hardware.max(1) as f64
    }
}

impl Launch {
    fn group(&self) -> &'static str {
        match (&self.rung, &self.many) {
            (Some(_), _) => "rungs of the ladder",
            (_, Some(_)) => "segments, axes, groups",
            _ if self.kernel.starts_with("exact_") => "whole arrays of floats, exactly",
            _ => "whole arrays, all else",
        }
    }
}

/// What Nsight Compute counts by a name.
fn plainly(name: &str) -> &'static str {
    match (name.contains("wavefronts"), name.contains("requests"), name.contains("_ld")) {
        (true, ..) => "wavefronts",
        (_, true, true) => "requests to read",
        (_, true, false) => "requests to write",
        (_, false, true) => "sectors read",
        (_, false, false) => "sectors written",
    }
}

/// Launches by what they fold.
pub(super) fn agreement(found: &Counters) -> String {
    let head = ["launches of", "compared", "equal", "within 2 %", "the furthest off"];
    let mut table = Table::new(head.map(str::to_owned));
    let mut groups: BTreeMap<&str, Vec<&Launch>> = BTreeMap::new();
    for launch in found.results.iter().filter(|launch| launch.equal.is_some()) {
        groups.entry(launch.group()).or_default().push(launch);
    }
    for (group, launches) in groups {
        let equal = launches.iter().filter(|launch| launch.equal == Some(true)).count();
        let near = launches.iter().filter(|launch| found.off(launch) <= 0.02).count();
        let furthest = launches.iter().max_by(|a, b| found.off(a).total_cmp(&found.off(b)));
        let reported = furthest.and_then(|launch| {
            let (name, Pair { hardware, simulator }) = found.worst(launch)?;
            let (kernel, what) = (&launch.kernel, plainly(name));
            (hardware != simulator)
                .then(|| format!("{simulator} {what} for {hardware}, `{kernel}`"))
        });
        let counts = [launches.len(), equal, near].map(|count| count.to_string());
        let [compared, equal, near] = counts;
        table.lines.push(vec![
            group.to_owned(),
            compared,
            equal,
            near,
            reported.unwrap_or_default(),
        ]);
    }
    table.markdown()
}
