//! The table of reductions of rows and columns on GPUs, beside torch's and CUB's of the same session.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Table;
use crate::Outcome;

/// What the example `cuda_parts`, `bench/peers/cuda/parts_torch.py` and `parts_cub.cu` found on one device.
pub(super) struct Parts {
    device: String,
    ours: Vec<Row>,
    /// Torch's, and CUB's where that was measured.
    peers: Vec<Vec<Row>>,
}

/// A line of theirs.
#[derive(Deserialize)]
struct Row {
    library: String,
    op: String,
    dtype: String,
    shape: [u64; 2],
    axis: usize,
    /// None where the library has no such reduction.
    gb_per_s: Option<f64>,
}

impl Row {
    fn is_of(&self, other: &Row) -> bool {
        let key = |row: &Row| (row.shape, row.axis);
        self.op == other.op && self.dtype == other.dtype && key(self) == key(other)
    }

    /// How it cuts the array: the length of rows, or rows and columns of what is folded along them.
    fn cut(&self) -> String {
        let [rows, columns] = self.shape;
        match self.axis {
            1 if rows == 1 => "all".into(),
            1 => format!("rows of {columns}"),
            _ if columns < rows => format!("{columns} columns"),
            _ => format!("columns of {rows}"),
        }
    }
}

impl Parts {
    /// Those of every device with both files.
    pub(super) fn load(folder: &Path) -> Outcome<Vec<Parts>> {
        let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut peers: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        peers.retain(|path| path.to_string_lossy().ends_with("-torch.jsonl"));
        peers.sort();
        let parts = |peer: &std::path::PathBuf| {
            let of =
                |name: &str| PathBuf::from(peer.to_string_lossy().replace("-torch.jsonl", name));
            let cub = of("-cub.jsonl");
            let peers = [peer.clone(), cub].into_iter().filter(|file| file.is_file());
            let peers = peers.map(|file| rows(&file)).collect::<Outcome<_>>()?;
            let stem = of("");
            let device = stem.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            Ok(Parts { device, ours: rows(&of(".jsonl"))?, peers })
        };
        peers.iter().map(parts).collect()
    }
}

fn rows(file: &Path) -> Outcome<Vec<Row>> {
    let wrong = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let text = fs::read_to_string(file).map_err(|e| wrong(&e))?;
    text.lines().map(|line| serde_json::from_str(line).map_err(|e| wrong(&e))).collect()
}

/// GB/s of this library and of its peers, a line a reduction and type, a column a shape.
pub(super) fn speeds(parts: &Parts) -> String {
    let Parts { device, ours, peers } = parts;
    let mut cuts: Vec<String> = Vec::new();
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for row in ours {
        let name = format!("{} {}", row.op, row.dtype);
        let cut = row.cut();
        let column = cuts.iter().position(|known| *known == cut).unwrap_or_else(|| {
            cuts.push(cut);
            cuts.len() - 1
        });
        if lines.last().is_none_or(|(last, _)| *last != name) {
            lines.push((name, Vec::new()));
        }
        let (_, cells) = lines.last_mut().expect("one was pushed");
        cells.resize(column + 1, String::new());
        let theirs = peers
            .iter()
            .map(|peer| peer.iter().find(|theirs| theirs.is_of(row)).and_then(|row| row.gb_per_s));
        let cell = |speed: Option<f64>| speed.map_or("–".into(), |speed| format!("{speed:.0}"));
        let all: Vec<String> = std::iter::once(row.gb_per_s).chain(theirs).map(cell).collect();
        cells[column] = all.join(" / ");
    }
    let named = peers.iter().filter_map(|peer| peer.first()).map(|row| row.library.as_str());
    let named: Vec<&str> = std::iter::once("this").chain(named).collect();
    let head = format!("{device}: GB/s, {}", named.join(" / "));
    let mut table = Table::new([head].into_iter().chain(cuts));
    for (name, cells) in lines {
        table.lines.push([name].into_iter().chain(cells).collect());
    }
    let slowest = ours.iter().filter(|row| row.gb_per_s.is_some());
    let slowest = slowest.min_by(|a, b| a.gb_per_s.partial_cmp(&b.gb_per_s).expect("numbers"));
    let slowest = slowest.map_or(String::new(), |row| {
        let speed = row.gb_per_s.expect("it has one");
        format!("\nThe slowest cell: {} of {}, {}: {speed:.0}.\n", row.op, row.dtype, row.cut())
    });
    table.markdown() + &slowest
}
