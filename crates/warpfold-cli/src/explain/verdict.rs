//! One sentence a cost: what was counted, and whether it could be less.

use serde::Serialize;
use warpfold_simt::{Class, Counters};

use super::subject::Subject;

/// What is to be said of one cost.
#[derive(Debug, Serialize)]
pub(crate) struct Verdict {
    /// Which cost.
    pub(crate) cost: &'static str,
    pub(crate) grade: Grade,
    pub(crate) sentence: String,
}

/// How near to the least possible it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Grade {
    /// At it, or as good as.
    Good,
    /// Something is lost.
    Fair,
    /// Most is lost.
    Poor,
}

impl Grade {
    /// By the part of the cost that was needed.
    fn of(needed: f64) -> Grade {
        match needed {
            _ if needed >= 0.9 => Grade::Good,
            _ if needed >= 0.5 => Grade::Fair,
            _ => Grade::Poor,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Grade::Good => "good",
            Grade::Fair => "fair",
            Grade::Poor => "poor",
        }
    }
}

fn part(some: u64, all: u64) -> f64 {
    if all == 0 { 1.0 } else { some as f64 / all as f64 }
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// `1 barrier`, `2 barriers`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    match (count, one.strip_suffix('h')) {
        (1, _) => format!("1 {one}"),
        (_, Some(_)) => format!("{count} {one}es"),
        _ => format!("{count} {one}s"),
    }
}

/// The verdicts on a launch.
pub(crate) fn all(subject: &Subject, counters: &Counters) -> Vec<Verdict> {
    vec![
        lanes(counters),
        divergence(counters),
        loads(subject, counters),
        stores(counters),
        shared(counters),
        barriers(counters),
        exchanges(counters),
        atomics(counters),
        work(counters),
    ]
}

fn lanes(counters: &Counters) -> Verdict {
    let total = &counters.total;
    let slots = 32 * total.warp_instructions;
    let (working, off) =
        (total.predicated_on_lanes, total.active_lanes - total.predicated_on_lanes);
    let used = part(working, slots);
    let sentence = format!(
        "{} of the lanes work: of {slots} lane slots in {} warp instructions, {} stay idle because their warp has split or their thread has ended, and {off} because a guard holds them back.",
        percent(used),
        total.warp_instructions,
        slots - total.active_lanes,
    );
    Verdict { cost: "idle lanes", grade: Grade::of(used), sentence }
}

fn divergence(counters: &Counters) -> Verdict {
    let branches = counters.classes.get(&Class::Control).copied().unwrap_or(0);
    let divergent = counters.total.divergent_branches;
    let sentence = match divergent {
        0 => format!(
            "No warp splits: in each of {} all lanes go one way.",
            counted(branches, "branch")
        ),
        _ => format!(
            "{divergent} of {} split their warp, whose lanes then go both ways one after the other.",
            counted(branches, "branch")
        ),
    };
    let grade = Grade::of(1.0 - part(divergent, branches.max(1)));
    Verdict { cost: "divergence", grade, sentence }
}

fn loads(subject: &Subject, counters: &Counters) -> Verdict {
    let total = &counters.total;
    let moved = 32 * total.global_load_sectors;
    let used = part(total.global_bytes_read, moved);
    let bytes = subject.array_bytes();
    let sentence = match total.global_load_requests {
        0 => "Nothing is read from global memory.".to_owned(),
        requests => format!(
            "{} touch {} ({:.1} each): {} of the bytes moved are used, and {} bytes are read of arrays of {bytes}.",
            counted(requests, "load request"),
            counted(total.global_load_sectors, "sector"),
            total.global_load_sectors as f64 / requests as f64,
            percent(used.min(1.0)),
            total.global_bytes_read,
        ),
    };
    Verdict { cost: "global loads", grade: Grade::of(used), sentence }
}

/// Bytes of the largest state that a block leaves.
const STATE_BYTES: u64 = 64;

fn stores(counters: &Counters) -> Verdict {
    let total = &counters.total;
    let sentence = match total.global_store_requests {
        0 => "Nothing is written to global memory by stores.".to_owned(),
        requests => format!(
            "{} write {} bytes to {}: results and what blocks leave for each other.",
            counted(requests, "store request"),
            total.global_bytes_written,
            counted(total.global_store_sectors, "sector"),
        ),
    };
    // A state a block and a result are as good as nothing, however they fill sectors.
    let needless = total.global_bytes_written.saturating_sub(STATE_BYTES * (counters.blocks + 1));
    let grade = Grade::of(1.0 - part(needless, total.global_bytes_read.max(1)));
    Verdict { cost: "global stores", grade, sentence }
}

fn shared(counters: &Counters) -> Verdict {
    let total = &counters.total;
    let taken = total.shared_wavefronts();
    let conflicts = total.bank_conflicts();
    let ideal = taken - conflicts;
    let sentence = match (taken, conflicts) {
        (0, _) => "Shared memory is not used.".to_owned(),
        (_, 0) => format!(
            "{} of shared memory, none of them a bank conflict.",
            counted(taken, "wavefront")
        ),
        (_, conflicts) => format!(
            "{} of shared memory where {ideal} would do: {} of lanes that want different words of one bank, or change the same one.",
            counted(taken, "wavefront"),
            counted(conflicts, "conflict"),
        ),
    };
    Verdict { cost: "bank conflicts", grade: Grade::of(part(ideal, taken)), sentence }
}

fn barriers(counters: &Counters) -> Verdict {
    let arrivals = counters.total.block_barriers;
    let each = arrivals as f64 / counters.warps.max(1) as f64;
    let sentence = match arrivals {
        0 => "No barrier: no warp waits for another.".to_owned(),
        _ => format!(
            "{each:.1} block barriers a warp ({arrivals} arrivals): so often a warp may have to wait for the slowest of its block."
        ),
    };
    let grade = match each {
        _ if each <= 3.0 => Grade::Good,
        _ if each <= 8.0 => Grade::Fair,
        _ => Grade::Poor,
    };
    Verdict { cost: "barriers", grade, sentence }
}

fn exchanges(counters: &Counters) -> Verdict {
    let count = counters.classes.get(&Class::WarpExchange).copied().unwrap_or(0);
    let sentence = match count {
        0 => "No shuffles: warps do not exchange registers.".to_owned(),
        _ => format!(
            "{} of registers within warps ({:.1} a warp), which need no memory and no barrier.",
            counted(count, "exchange"),
            count as f64 / counters.warps.max(1) as f64
        ),
    };
    Verdict { cost: "warp exchanges", grade: Grade::Good, sentence }
}

fn atomics(counters: &Counters) -> Verdict {
    let (all, met) = (counters.total.atomics, counters.total.atomic_collisions);
    let sentence = match (all, met) {
        (0, _) => "No atomics.".to_owned(),
        (_, 0) => format!(
            "{}, {:.1} a block; no two lanes of a warp meet at an address.",
            counted(all, "atomic"),
            all as f64 / counters.blocks.max(1) as f64
        ),
        _ => format!(
            "{}, of which {met} meet another lane of their warp at the same address and wait for it.",
            counted(all, "atomic")
        ),
    };
    let grade = match all {
        _ if all <= counters.blocks => Grade::Good,
        _ => Grade::of(1.0 - part(all, counters.warps * 32)),
    };
    Verdict { cost: "atomics", grade, sentence }
}

fn work(counters: &Counters) -> Verdict {
    let (work, steps) = (counters.total.combinations, counters.longest_chain);
    let threads = counters.warps * 32;
    let sentence = match steps {
        0 => "Nothing is folded: there is less than two of data.".to_owned(),
        _ => format!(
            "Work W = {work} operations that fold two values, the longest chain of them S = {steps}: parallelism W/S = {:.1}, and with {threads} threads Brent's bound is W/P + S = {:.1} steps.",
            work as f64 / steps as f64,
            work as f64 / threads.max(1) as f64 + steps as f64
        ),
    };
    Verdict { cost: "work and steps", grade: Grade::Good, sentence }
}

#[cfg(test)]
mod tests {
    use warpfold_simt::Counts;

    use super::*;

    #[test]
    fn atomics_of_shared_memory_are_no_conflicts_by_themselves() {
        let of = |taken, ideal| {
            let total = Counts {
                shared_load_wavefronts: 2,
                shared_load_ideal: 2,
                shared_atomic_wavefronts: taken,
                shared_atomic_ideal: ideal,
                ..Counts::default()
            };
            shared(&Counters { total, ..Counters::default() })
        };
        let alone = of(8, 8);
        assert_eq!(alone.grade, Grade::Good, "{}", alone.sentence);
        assert!(alone.sentence.contains("none of them a bank conflict"), "{}", alone.sentence);
        let crowded = of(30, 8);
        assert_eq!(crowded.grade, Grade::Poor, "{}", crowded.sentence);
        assert!(crowded.sentence.contains("where 10 would do"), "{}", crowded.sentence);
    }
}
