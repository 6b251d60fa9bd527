//! The table of maps beside flat reductions.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::Table;
use crate::Outcome;

/// What the engine's example `maps` measured on one machine.
#[derive(Deserialize)]
pub(super) struct Maps {
    date: String,
    machine: String,
    cores: u32,
    isa: String,
    load: String,
    command: String,
    rows: Vec<Row>,
}

/// One cell of one element type. What is asked is 0 where nothing is.
#[derive(Deserialize)]
struct Row {
    cell: String,
    dtype: String,
    mapped_gb_s: f64,
    flat_gb_s: f64,
    percent: f64,
    asked_percent: f64,
    asked_gb_s: f64,
}

impl Maps {
    pub(super) fn load(path: &Path) -> Outcome<Maps> {
        let wrong = |e: String| format!("{}: {e}", path.display());
        let text = fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
        serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))
    }

    /// Rates and percents of each type, beside what is asked.
    pub(super) fn table(&self) -> String {
        let head = ["GB/s of input", "f32", "flat", "of flat", "f64", "flat", "of flat", "asked"];
        let mut table = Table::new(head.map(str::to_owned));
        for narrow in self.rows.iter().filter(|row| row.dtype == "f32") {
            let of_cell = |row: &&Row| row.cell == narrow.cell && row.dtype == "f64";
            let wide = self.rows.iter().find(of_cell);
            let cells = |row: &Row| {
                [
                    format!("{:.2}", row.mapped_gb_s),
                    format!("{:.1}", row.flat_gb_s),
                    format!("{:.0} %", row.percent),
                ]
            };
            let requested = match (narrow.asked_percent, narrow.asked_gb_s) {
                (percent, _) if percent > 0.0 => format!("{percent} %"),
                (_, rate) if rate > 0.0 => format!("{rate} GB/s"),
                _ => String::new(),
            };
            let wide = wide.map_or([const { String::new() }; 3], cells);
            let all = [narrow.cell.clone()]
                .into_iter()
                .chain(cells(narrow))
                .chain(wide)
                .chain([requested]);
            table.lines.push(all.collect());
        }
        let Maps { date, machine, cores, isa, load, command, .. } = self;
        let table = table.markdown();
        format!("{cores} cores of an {machine}, {isa}, {date}, load {load}: `{command}`\n\n{table}")
    }
}
