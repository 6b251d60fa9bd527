//! The table of whether a row's result depends on its batch, beside torch's and CUB's of the same session.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::Table;
use crate::Outcome;

/// What `python/bench/batches.py` found on one device.
#[derive(Deserialize)]
pub(super) struct Batches {
    gpu: String,
    versions: Versions,
    /// Every size of a batch up to this one.
    batches: u64,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Versions {
    torch: String,
    cub: Option<String>,
}

#[derive(Deserialize)]
struct Row {
    op: String,
    dtype: String,
    length: u64,
    warpfold: BatchRow,
    torch: BatchRow,
    cub: Option<BatchRow>,
}

/// The sizes in which a row had other bits than alone, and how many of a sample are the exact value rounded once.
#[derive(Deserialize)]
struct BatchRow {
    sizes: u64,
    right: String,
}

impl Batches {
    pub(super) fn load(file: &Path) -> Outcome<Batches> {
        let wrong = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
        let text = fs::read_to_string(file).map_err(|e| wrong(&e))?;
        serde_json::from_str(&text).map_err(|e| wrong(&e))
    }

    /// A line a reduction and length.
    pub(super) fn table(&self) -> String {
        let head = ["rows", "this: sizes that differ", "correctly rounded"];
        let peers = [
            Some(format!("torch {}", self.versions.torch)),
            self.versions.cub.as_ref().map(|cub| format!("CUB {cub}")),
        ];
        let peers: Vec<String> = peers.into_iter().flatten().collect();
        let theirs = peers
            .iter()
            .flat_map(|peer| [format!("{peer}: sizes that differ"), "correctly rounded".into()]);
        let mut table = Table::new(head.map(String::from).into_iter().chain(theirs));
        for Row { op, dtype, length, warpfold, torch, cub } in &self.rows {
            let none = BatchRow { sizes: 0, right: String::new() };
            let all = [Some(warpfold), Some(torch), cub.as_ref()];
            let found = all.iter().take(1 + peers.len()).map(|found| found.unwrap_or(&none));
            let cells = found.flat_map(|found| match found.right.is_empty() {
                true => [String::new(), String::new()],
                false => [found.sizes.to_string(), found.right.clone()],
            });
            table
                .lines
                .push([format!("{op} of {length} {dtype}")].into_iter().chain(cells).collect());
        }
        format!("{}, batches of 1 to {} rows:\n\n{}", self.gpu, self.batches, table.markdown())
    }
}
