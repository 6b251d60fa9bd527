//! Tables of maps on GPUs: beside their peers, and of rows.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Table;
use crate::Outcome;

/// What the example `cuda_maps` and the peers of `bench/peers/cuda` measured on one machine: a line of JSON each.
pub(super) struct DeviceMaps {
    gpu: String,
    whole: Vec<Value>,
    rows: Vec<Value>,
    peers: Vec<Value>,
}

/// The columns of peers, and how their lines begin to name them.
const PEERS: [&str; 3] = ["CUB", "torch.compile", "torch"];

impl DeviceMaps {
    /// From the file of whole arrays and those beside it.
    pub(super) fn load(file: &Path) -> Outcome<DeviceMaps> {
        let whole = lines(file)?;
        let rows = lines(&file.with_file_name("maps-rows.jsonl"))?;
        let peers = lines(&file.with_file_name("maps-peers.jsonl"))?;
        let gpu = whole.iter().find_map(|line| line["gpu"].as_str()).unwrap_or_default().into();
        Ok(DeviceMaps { gpu, whole, rows, peers })
    }

    /// Percent of the rate of reading alone, of maps that peers were measured with.
    pub(super) fn peers(&self) -> String {
        let head = ["map", "type", "this", "asked"].into_iter().chain(PEERS);
        let mut table = Table::new(head.map(str::to_owned));
        for line in &self.whole {
            let is_same = |peer: &&Value| {
                peer["map"] == line["map"]
                    && peer["dtype"] == line["dtype"]
                    && line["where"].is_null()
            };
            let same: Vec<&Value> = self.peers.iter().filter(is_same).collect();
            if line["map"].is_null() || same.is_empty() {
                continue;
            }
            let of = |name: &str| {
                let is_named = |peer: &&&Value| match peer["peer"].as_str() {
                    Some(peer) if name == "CUB" => peer.starts_with("CUB"),
                    peer => peer == Some(name),
                };
                same.iter().find(is_named).map_or(String::new(), |peer| percent(&peer["percent"]))
            };
            let own = [&line["percent"], &line["asked_percent"]].map(percent);
            let names = [&line["map"], &line["dtype"]].map(text);
            table.lines.push(names.into_iter().chain(own).chain(PEERS.map(of)).collect());
        }
        format!("{}, percent of the rate of reading alone.\n\n{}", self.gpu, table.markdown())
    }

    /// The same of rows, by their lengths.
    pub(super) fn rows(&self) -> String {
        let measured: Vec<&Value> =
            self.rows.iter().filter(|line| line["rows"].is_string()).collect();
        let mut lengths: Vec<u64> =
            measured.iter().filter_map(|line| line["length"].as_u64()).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let head = ["rows of", "map"].map(str::to_owned).into_iter();
        let mut table = Table::new(head.chain(lengths.iter().map(u64::to_string)));
        let mut done: Vec<[&Value; 2]> = Vec::new();
        for line in &measured {
            let names = [&line["dtype"], &line["rows"]];
            if done.contains(&names) {
                continue;
            }
            done.push(names);
            let of_length = |length: &u64| {
                let is_it = |other: &&&Value| {
                    [&other["dtype"], &other["rows"]] == names && other["length"] == *length
                };
                measured.iter().find(is_it).map_or(String::new(), |line| percent(&line["percent"]))
            };
            let cells = names.map(text).into_iter().chain(lengths.iter().map(of_length));
            table.lines.push(cells.collect());
        }
        let right = measured.iter().filter(|line| line["has_bits_of_processor"] == true).count();
        let all = measured.len();
        format!(
            "{}, percent of the rate of reading alone; {right} of {all} have the processor's bits.\n\n{}",
            self.gpu,
            table.markdown()
        )
    }
}

fn lines(file: &Path) -> Outcome<Vec<Value>> {
    let wrong = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let text = fs::read_to_string(file).map_err(|e| wrong(&e))?;
    text.lines().map(|line| serde_json::from_str(line).map_err(|e| wrong(&e))).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A share without its fraction; nothing where there is none.
fn percent(value: &Value) -> String {
    value.as_f64().map_or(String::new(), |percent| format!("{percent:.0} %"))
}
