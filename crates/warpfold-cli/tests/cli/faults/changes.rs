//! Files that change while they are read: every kind of reader, at every stage.

use super::cells::{Cell, to_file};

/// What happens to a file, and the library's word for it.
const CHANGES: [(&str, &str); 5] = [
    ("file shortened", "cut"),
    ("file grown", "grown"),
    ("file written to", "written"),
    ("another file takes its place", "replaced"),
    ("file removed", "removed"),
];

/// Readers of streams.
const READERS: [&str; 7] = [
    "input.raw --dtype u8",
    "input.txt --dtype u8",
    "input.csv --dtype u8",
    "- --dtype u8 <input.raw",
    "- --input text --dtype u8 <input.txt",
    "- --input text --delimiter , --dtype u8 <input.csv",
    "- --input npy <input.npy",
];

/// Stages of reading a stream.
const STAGES: [(&str, &str); 3] = [
    ("before the first read", "at-first-read"),
    ("between reads", "read-short,at-later-read"),
    ("after the last read", "at-end"),
];

/// Stages of a map.
const MAP_STAGES: [(&str, &str); 2] =
    [("once it is mapped", "at-map"), ("once it was folded", "at-check")];

pub(super) fn changes(cells: &mut Vec<Cell>) {
    let mut add = |(fault, change): (&'static str, &str), stage: (&'static str, &str), script| {
        let preload = Some(format!("{},{change}", stage.1));
        cells.push(Cell { fault, stage: stage.0, script, preload, signal: None });
    };
    let sum = |input: &str| format!("warpfold sum {input}");
    for reader in READERS {
        for change in CHANGES {
            for stage in STAGES {
                // Whoever has a file open keeps it, at whatever stage another takes its name.
                if stage == STAGES[1] || !["replaced", "removed"].contains(&change.1) {
                    add(change, stage, sum(reader));
                }
            }
        }
    }
    for change in &CHANGES[..3] {
        for (stage, faults) in STAGES {
            let faults = format!("no-maps-of-files,{faults}");
            let stage = match stage {
                "before the first read" => "no map, before the first read",
                "between reads" => "no map, between reads",
                _ => "no map, after the last read",
            };
            add(*change, (stage, &faults), sum("input.npy"));
        }
    }
    // One page; several of them, of which some are gone; and elements that are copied out of the map.
    for file in ["input.npy", "input.pages.npy", "input.swapped.npy"] {
        for change in CHANGES {
            for stage in MAP_STAGES {
                add(change, stage, sum(file));
            }
        }
    }
    for change in &CHANGES[..3] {
        for (input, stage) in [
            ("input.raw", STAGES[1]),
            ("input.txt", STAGES[1]),
            ("-", STAGES[1]),
            ("input.npy", MAP_STAGES[0]),
            ("input.npy", MAP_STAGES[1]),
        ] {
            let script = match input {
                "-" => to_file("-") + " <input.raw",
                "input.npy" => to_file(input).replace(" --dtype u8", ""),
                input => to_file(input),
            };
            add(*change, stage, script);
        }
        // One key for all, and a segment of all.
        for (parts, stage) in [
            ("--by input.keys.npy", ("of the keys, once they are mapped", "of-keys,at-map")),
            ("--by input.keys.npy", ("of the keys, once it was folded", "of-keys,at-check")),
            (
                "--by input.keys.txt",
                ("of the keys, between reads", "of-keys,read-short,at-later-read"),
            ),
            (
                "--lengths input.keys.length.txt",
                ("of the lengths, between reads", "of-keys,read-short,at-later-read"),
            ),
        ] {
            add(*change, stage, sum(&format!("input.npy {parts}")));
        }
    }
}
