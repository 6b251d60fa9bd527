//! `cargo xtask tables`: every figure of a document comes from a file in `results/`, between markers.
//!
//! A document says `<!-- table:NAME -->` and `<!-- /table -->`; what stands between is written by this task.

mod cpu;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use warpfold_lab::report::Report;

use crate::Outcome;

/// The documents that may have tables.
const DOCUMENTS: &[&str] = &["README.md", "METHODOLOGY.md"];

#[derive(Args)]
pub(crate) struct Tables {
    /// Compares with the documents as they are instead of writing, and fails if a table is stale
    #[arg(long)]
    check: bool,
}

/// Everything that tables are made of.
struct Results {
    /// CPU reports, in the order of their machines' names.
    cpu: Vec<Report>,
}

impl Tables {
    pub(crate) fn run(&self) -> Outcome {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let results = Results::read(&root.join("results"))?;
        let mut stale = Vec::new();
        for document in DOCUMENTS {
            let path = root.join(document);
            let old = fs::read_to_string(&path).map_err(|e| format!("{document}: {e}"))?;
            let new =
                fill(&old, |name| results.table(name)).map_err(|e| format!("{document}: {e}"))?;
            if new != old && self.check {
                stale.push(*document);
            } else if new != old {
                fs::write(&path, new).map_err(|e| format!("{document}: {e}"))?;
                println!("{document}: written");
            }
        }
        match stale.is_empty() {
            true => Ok(()),
            false => Err(format!("stale tables in {}; run: cargo xtask tables", stale.join(", "))),
        }
    }
}

impl Results {
    fn read(folder: &Path) -> Outcome<Self> {
        let mut files: Vec<PathBuf> = match fs::read_dir(folder) {
            Ok(entries) => entries.flatten().map(|entry| entry.path().join("cpu.json")).collect(),
            Err(_) => Vec::new(),
        };
        files.retain(|file| file.is_file());
        files.sort();
        let load =
            |file: &PathBuf| Report::load(file).map_err(|e| format!("{}: {e}", file.display()));
        Ok(Results { cpu: files.iter().map(load).collect::<Outcome<_>>()? })
    }

    /// The table of a name, for every machine.
    fn table(&self, name: &str) -> Option<String> {
        let of_report: fn(&Report) -> String = match name {
            "cpu-speed" => cpu::speed,
            "cpu-cache" => cpu::cache,
            "cpu-peers" => cpu::peers,
            "cpu-targets" => cpu::targets,
            "cpu-machines" => cpu::machine,
            _ => return None,
        };
        if self.cpu.is_empty() {
            return Some("No results yet: `bench/peers/cpu/run.sh` makes them.\n".into());
        }
        Some(self.cpu.iter().map(of_report).collect::<Vec<_>>().join("\n"))
    }
}

/// Puts tables between the markers of a document.
fn fill(document: &str, table: impl Fn(&str) -> Option<String>) -> Outcome<String> {
    const OPEN: &str = "<!-- table:";
    const CLOSE: &str = "<!-- /table -->";
    let mut parts = document.split(OPEN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->").ok_or("a table's marker does not end")?;
        let (_, after) = rest.split_once(CLOSE).ok_or_else(|| format!("{name} has no {CLOSE}"))?;
        let table = table(name).ok_or_else(|| format!("no table is called {name:?}"))?;
        out.push_str(&format!("{OPEN}{name} -->\n\n{table}\n{CLOSE}{after}"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_markers_is_replaced_and_the_rest_is_kept() {
        let old = "a\n<!-- table:x -->\nold\n<!-- /table -->\nb\n<!-- table:y --><!-- /table -->";
        let table = |name: &str| Some(format!("| {name} |\n"));
        let new = fill(old, table).unwrap();
        assert_eq!(
            new,
            "a\n<!-- table:x -->\n\n| x |\n\n<!-- /table -->\nb\n<!-- table:y -->\n\n| y |\n\n<!-- /table -->"
        );
        assert_eq!(fill(&new, table).unwrap(), new, "a second time changes nothing");
    }

    #[test]
    fn unknown_names_and_open_ends_are_errors() {
        assert!(fill("<!-- table:x --><!-- /table -->", |_| None).is_err());
        assert!(fill("<!-- table:x -->", |_| Some(String::new())).is_err());
        assert!(fill("<!-- table:x", |_| Some(String::new())).is_err());
    }
}
