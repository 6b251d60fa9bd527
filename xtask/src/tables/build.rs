//! The table of what a first build costs.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::Table;
use crate::Outcome;

/// What `bench/build/first-run.sh` measured on one machine.
#[derive(Deserialize)]
pub(super) struct Builds {
    date: String,
    machine: String,
    cores: u32,
    rust: String,
    rows: Vec<Build>,
}

/// One build. What is asked is 0 where nothing is.
#[derive(Deserialize)]
struct Build {
    what: String,
    cpu_seconds: f64,
    asked_cpu_seconds: f64,
    wall_seconds: f64,
    asked_wall_seconds: f64,
    load_before: f64,
    bytes: u64,
    asked_bytes: u64,
}

impl Builds {
    pub(super) fn load(path: &Path) -> Outcome<Builds> {
        let wrong = |e: String| format!("{}: {e}", path.display());
        let text = fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
        serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))
    }

    /// Seconds and sizes, each beside what is asked.
    pub(super) fn table(&self) -> String {
        let head = ["build", "CPU s", "wall s", "load before", "program, MB"];
        let mut table = Table::new(head.map(str::to_owned));
        let beside = |found: String, requested: f64| match requested > 0.0 {
            true => format!("{found} (asked: {requested})"),
            false => found,
        };
        for row in &self.rows {
            let size = match row.bytes {
                0 => String::new(),
                bytes => beside(format!("{:.1}", bytes as f64 / 1e6), row.asked_bytes as f64 / 1e6),
            };
            table.lines.push(vec![
                row.what.clone(),
                beside(format!("{:.1}", row.cpu_seconds), row.asked_cpu_seconds),
                beside(format!("{:.1}", row.wall_seconds), row.asked_wall_seconds),
                format!("{:.1}", row.load_before),
                size,
            ]);
        }
        let Builds { date, machine, cores, rust, .. } = self;
        format!("{cores} cores of an {machine}, {rust}, {date}:\n\n{}", table.markdown())
    }
}
