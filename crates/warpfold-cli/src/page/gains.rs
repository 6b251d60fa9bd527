//! What each step up the ladder gains: published on machines of their time, here, and why the two differ, from counters.

use warpfold_ladder::replay::{Machine, PAPERS, Quantity, machines};
use warpfold_ladder::{Ladder, Row};

/// A step from one rung to the next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gain {
    pub(crate) from: String,
    pub(crate) to: String,
    /// What was published, by machine.
    pub(crate) published: Vec<(&'static str, f64)>,
    /// What it is here.
    pub(crate) here: Option<f64>,
    pub(crate) fate: Fate,
    /// Why, in sentences.
    pub(crate) why: String,
}

/// What became of a published gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing is known: nobody published it, or nothing is timed here.
    Unknown,
    /// It is about what it was.
    Kept,
    /// There is less of it.
    Shrunk,
    /// It is gone.
    Gone,
    /// There is more of it.
    Grown,
}

impl Fate {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Fate::Unknown => "",
            Fate::Kept => "kept",
            Fate::Shrunk => "smaller",
            Fate::Gone => "gone",
            Fate::Grown => "larger",
        }
    }
}

/// Every step of the ladder; `counted` is the same rungs in the simulator.
pub(crate) fn gains(ladder: &Ladder, counted: &Ladder) -> Vec<Gain> {
    // What folds less than was asked for is no step of it.
    let is_step =
        |row: &&Row| row.name.starts_with(|c: char| c.is_ascii_digit()) && row.n == counted.n;
    let kernels: Vec<&Row> = counted.rungs.iter().filter(is_step).collect();
    kernels.windows(2).map(|pair| gain(ladder, pair[0], pair[1])).collect()
}

fn gain(ladder: &Ladder, from: &Row, to: &Row) -> Gain {
    let timed = [from, to].map(|row| ladder.row(&row.name));
    let whole = timed.iter().all(|row| row.is_some_and(|row| row.n == ladder.n));
    let rates = timed.map(|row| row.and_then(|row| row.bytes_per_second));
    let here = rates[0].zip(rates[1]).filter(|_| whole).map(|(before, after)| after / before);
    let published = published(&from.name, &to.name);
    let fate = fate(&published, here);
    let mut why = change(from, to);
    if let (Fate::Shrunk | Fate::Gone, Some(row)) = (fate, timed[1]) {
        why += " ";
        why += &limit(ladder, row, to);
    }
    Gain { from: from.name.clone(), to: to.name.clone(), published, here, fate, why }
}

/// Gains of a step, by machine: where one document has both rungs on one.
fn published(from: &str, to: &str) -> Vec<(&'static str, f64)> {
    let all: [&Machine; 3] = [&machines::G80, &machines::RTX_3070, &machines::RTX_3090];
    let rate = |machine: &Machine, rung: &str, paper: usize| {
        let line = PAPERS[paper].lines.iter().find(|line| line.does.rung() == Some(rung))?;
        let is_it = |f: &&warpfold_ladder::replay::Figure| {
            f.quantity == Quantity::Gigabytes && f.machine == machine
        };
        line.figures.iter().find(is_it).map(|figure| figure.printed.value())
    };
    let of = |machine: &'static Machine| {
        // Harris's own figures before those that quote him: the last document first.
        (0..PAPERS.len()).rev().find_map(|paper| {
            let gain = rate(machine, to, paper)? / rate(machine, from, paper)?;
            Some((machine.name, gain))
        })
    };
    all.into_iter().filter_map(of).collect()
}

fn fate(published: &[(&str, f64)], here: Option<f64>) -> Fate {
    let most = published.iter().map(|(_, gain)| *gain).fold(0.0, f64::max);
    let Some(here) = here.filter(|_| most > 0.0) else { return Fate::Unknown };
    match (here - 1.0) / (most - 1.0).max(0.05) {
        ..0.25 => Fate::Gone,
        ..0.7 => Fate::Shrunk,
        ..1.4 => Fate::Kept,
        _ => Fate::Grown,
    }
}

/// A count of a row for each element.
fn each(row: &Row, name: &str) -> Option<f64> {
    Some(*row.counts.as_ref()?.get(name)? as f64 / row.n.max(1) as f64)
}

/// What is counted, and how it is called.
const COUNTS: [(&str, &str, f64); 8] = [
    ("warp_instructions", "lane slots of instructions", 32.0),
    ("divergent_branches", "branches that split a warp", 1.0),
    ("bank_conflicts", "bank conflicts", 1.0),
    ("block_barriers", "barriers", 1.0),
    ("global_load_requests", "load requests", 1.0),
    ("global_load_sectors", "sectors read", 1.0),
    ("bulk_bytes", "bytes copied in bulk", 1.0),
    ("atomics", "atomics", 1.0),
];

/// What the counters say of a step: whatever changes by more than a tenth.
fn change(from: &Row, to: &Row) -> String {
    let mut parts = Vec::new();
    for (name, what, unit) in COUNTS {
        let [Some(before), Some(after)] = [from, to].map(|row| each(row, name)) else { continue };
        let (before, after) = (1000.0 * unit * before, 1000.0 * unit * after);
        // Less than one in a thousand elements is next to nothing.
        if before.max(after) < 1.0 || (after / before - 1.0).abs() < 0.1 {
            continue;
        }
        let verb = if after > before { "rise" } else { "fall" };
        parts.push(format!("{what} {verb} from {} to {}", figure(before), figure(after)));
    }
    match parts.split_last() {
        None => "The counters hardly change.".to_owned(),
        Some((last, [])) => format!("Per thousand elements, {last}."),
        Some((last, rest)) => format!("Per thousand elements, {}, and {last}.", rest.join(", ")),
    }
}

/// What the rung waits for on this machine, if not for what the step removes.
fn limit(ladder: &Ladder, row: &Row, counted: &Row) -> String {
    let memory = row.of_peak.unwrap_or(0.0);
    let issue = issuing(ladder, row, counted);
    let percent = |part: f64| format!("{:.0} %", 100.0 * part);
    if memory > 0.85 {
        return format!(
            "That still happens, but memory is the limit here: the rung reads at {} of the fastest reading, and cannot gain more.",
            percent(memory)
        );
    }
    match issue {
        Some(issue) if issue < 0.5 => format!(
            "That still happens, but it is not what the rung waits for here: issuing all its instructions takes {} of its time, and reading, at the \
             fastest, {}. The rest is latency: barriers, and too few loads under way.",
            percent(issue),
            percent(memory)
        ),
        Some(issue) => format!(
            "Issuing its instructions takes {} of its time on this machine, and reading, at the fastest, {}.",
            percent(issue.min(1.0)),
            percent(memory)
        ),
        None => format!("It reads at {} of the fastest reading.", percent(memory)),
    }
}

/// The part of a rung's time in which its instructions would be issued, if all schedulers issued one a cycle: four a multiprocessor, since Volta.
fn issuing(ladder: &Ladder, row: &Row, counted: &Row) -> Option<f64> {
    let device = &ladder.device;
    let cycles = f64::from(device.clock?) * row.time?.median;
    let slots = cycles * 4.0 * f64::from(device.multiprocessors?);
    Some(each(counted, "warp_instructions")? * row.n as f64 / slots)
}

fn figure(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        ..10.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_gains_are_quotients_of_one_documents_figures() {
        let gains = published("06_interleaved", "07_strided_index");
        let of =
            |name: &str| gains.iter().find(|(machine, _)| *machine == name).map(|(_, gain)| *gain);
        assert!((of("G80").unwrap() - 4.854 / 2.083).abs() < 1e-12);
        assert!((of("RTX 3070").unwrap() - 176.0 / 127.1).abs() < 1e-12);
        assert!((of("RTX 3090").unwrap() - 317.0 / 223.0).abs() < 1e-12);
        assert!(published("13_shuffle", "14_vector_grid").is_empty());
    }

    #[test]
    fn a_gain_is_judged_by_the_largest_that_was_published() {
        let published = [("G80", 1.41), ("RTX 3070", 1.1)];
        let of = |here| fate(&published, Some(here));
        assert_eq!(
            [of(0.98), of(1.02), of(1.2), of(1.4), of(2.0)],
            [Fate::Gone, Fate::Gone, Fate::Shrunk, Fate::Kept, Fate::Grown]
        );
        assert_eq!((fate(&published, None), fate(&[], Some(2.0))), (Fate::Unknown, Fate::Unknown));
    }
}
