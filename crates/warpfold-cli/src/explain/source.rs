//! What each line cost: of the PTX, and of the CUDA sources it came from.

use std::collections::BTreeMap;

use serde::Serialize;
use warpfold_simt::{Counters, Counts};

use super::subject::Subject;

/// A source file of which some lines were run.
#[derive(Debug, Serialize)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) lines: Vec<Line>,
}

/// A line of a source file.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    /// From one.
    pub(crate) number: u32,
    pub(crate) text: String,
    /// What its instructions cost; none for a line that has none that ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<Cost>,
}

/// An instruction of the PTX.
#[derive(Debug, Serialize)]
pub(crate) struct Instruction {
    /// Its line in the PTX.
    pub(crate) line: u32,
    pub(crate) text: String,
    /// The source line: which of the explanation's files, and the line's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<(usize, u32)>,
    pub(crate) cost: Cost,
}

/// The counts that are shown beside a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Cost {
    pub(crate) warp_instructions: u64,
    pub(crate) lanes: u64,
    pub(crate) divergent_branches: u64,
    pub(crate) shared_wavefronts: u64,
    pub(crate) bank_conflicts: u64,
    pub(crate) global_requests: u64,
    pub(crate) global_sectors: u64,
    pub(crate) barriers: u64,
    pub(crate) atomics: u64,
}

impl Cost {
    fn of(counts: &Counts) -> Cost {
        Cost {
            warp_instructions: counts.warp_instructions,
            lanes: counts.predicated_on_lanes,
            divergent_branches: counts.divergent_branches,
            shared_wavefronts: counts.shared_wavefronts(),
            bank_conflicts: counts.bank_conflicts(),
            global_requests: counts.global_load_requests + counts.global_store_requests,
            global_sectors: counts.global_load_sectors + counts.global_store_sectors,
            barriers: counts.block_barriers,
            atomics: counts.atomics,
        }
    }

    /// Lanes that worked, of those that could have.
    pub(crate) fn efficiency(&self) -> f64 {
        self.lanes as f64 / (32 * self.warp_instructions).max(1) as f64
    }

    /// What there is besides instructions and lanes, in words.
    pub(crate) fn remarks(&self) -> String {
        let mut remarks = Vec::new();
        let mut add = |count: u64, one: &str, many: &str| match count {
            0 => {}
            1 => remarks.push(format!("1 {one}")),
            count => remarks.push(format!("{count} {many}")),
        };
        add(self.divergent_branches, "divergent branch", "divergent branches");
        add(self.global_requests, "global request", "global requests");
        add(self.global_sectors, "sector", "sectors");
        add(self.shared_wavefronts, "shared wavefront", "shared wavefronts");
        add(self.bank_conflicts, "bank conflict", "bank conflicts");
        add(self.barriers, "barrier arrival", "barrier arrivals");
        add(self.atomics, "atomic", "atomics");
        remarks.join(", ")
    }
}

/// The files whose lines ran, in the order in which they are first met, with every line that ran and a few around; and the instructions.
pub(crate) fn annotated(subject: &Subject, counters: &Counters) -> (Vec<File>, Vec<Instruction>) {
    let mut names: Vec<String> = Vec::new();
    let mut lines: Vec<BTreeMap<u32, Counts>> = Vec::new();
    let mut instructions = Vec::new();
    for line in &counters.lines {
        let source = line.site.location.as_ref().zip(line.site.file.as_ref());
        let source = source.map(|(location, file)| {
            let at = names.iter().position(|name| name == file).unwrap_or_else(|| {
                names.push(file.clone());
                lines.push(BTreeMap::new());
                names.len() - 1
            });
            let number = location.line as u32;
            *lines[at].entry(number).or_default() += &line.counts;
            (at, number)
        });
        instructions.push(Instruction {
            line: line.site.line.0,
            text: line.site.text.clone(),
            source,
            cost: Cost::of(&line.counts),
        });
    }
    let files = names.into_iter().zip(lines).map(|(name, counts)| {
        let text = subject.sources.iter().find(|(file, _)| *file == name);
        let text = text.map_or("", |(_, text)| text.as_str());
        File { lines: shown(text, &counts), name }
    });
    (files.collect(), instructions)
}

/// Lines shown before and after one that ran.
const AROUND: u32 = 2;

fn shown(text: &str, counts: &BTreeMap<u32, Counts>) -> Vec<Line> {
    let ran = |number: u32| counts.get(&number).filter(|counts| counts.warp_instructions > 0);
    let near = |number: u32| {
        (number.saturating_sub(AROUND)..=number + AROUND).any(|line| ran(line).is_some())
    };
    let numbered = text.lines().zip(1..);
    numbered
        .filter(|(_, number)| near(*number))
        .map(|(text, number)| Line {
            number,
            text: text.to_owned(),
            cost: ran(number).map(Cost::of),
        })
        .collect()
}
