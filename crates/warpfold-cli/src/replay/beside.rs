//! [`Beside`]: a replay beside its document: the cells that the documents' tables have in common.

use warpfold_ladder::replay::{Figure, Line, Machine, Paper, Quantity, Replay, audit};
use warpfold_ladder::{Ladder, Row};

use crate::sheet::Sheet;

/// What was found, and what was published.
pub(crate) struct Beside<'a> {
    pub(crate) found: &'a Replay,
    pub(crate) paper: &'static Paper,
}

impl Beside<'_> {
    /// What the document ran, and what runs here in its place.
    pub(super) fn introduce(&self, sheet: &mut Sheet) {
        let Beside { found, paper } = self;
        let mut above = vec![format!("{}. {}.", paper.by, paper.ran())];
        above.push(match (found.simulated, self.peak()) {
            (_, None) => {
                let n = self.main().n;
                let n = if found.simulated.is_some() { format!(", over {n} elements") } else { String::new() };
                format!(
                    "There is no GPU here: everything ran once in the simulator{n}. It counts what the kernels do and times nothing; --predict rtx3090 predicts how long they take on such a GPU. \
                     Slots are lane slots of instructions for each element."
                )
            }
            (_, Some((peak, what))) => {
                format!("Here: {}, {:.0} GB/s ({what}).", found.device.name, peak / 1e9)
            }
        });
        sheet.above.splice(0..0, above);
    }

    /// The document's rungs.
    pub(super) fn main(&self) -> &Ladder {
        &self.found.ladders[0]
    }

    /// The row of a line, of the climb over as many elements as it has.
    pub(super) fn row(&self, line: &Line) -> Option<&Row> {
        let n = warpfold_ladder::replay::elements(self.paper, line);
        let rung = line.does.rung()?;
        let over = |ladder: &&Ladder| n == self.paper.experiment.n || ladder.n == n;
        let ladders = || self.found.ladders.iter().filter(over);
        ladders().find_map(|ladder| ladder.row(rung)).or_else(|| self.main().row(rung))
    }

    /// Bytes per second that this machine's memory moves at most, and how that is known.
    pub(super) fn peak(&self) -> Option<(f64, &'static str)> {
        let measured = self.main().peak.as_ref().map(|peak| peak.bytes_per_second);
        match self.found.device.paper_peak.filter(|_| measured.is_some()) {
            Some(peak) => Some((peak, "by the width and clock of its memory")),
            None => measured.map(|peak| (peak, "the fastest reading of this run")),
        }
    }

    /// A rate in GB/s.
    pub(super) fn rate(row: Option<&Row>) -> String {
        row.and_then(|row| row.bytes_per_second).map_or_else(String::new, |rate| digits(rate / 1e9))
    }

    /// The same in percent of this machine's peak.
    pub(super) fn share(&self, row: Option<&Row>) -> String {
        let rate = row.and_then(|row| row.bytes_per_second);
        rate.zip(self.peak()).map_or_else(String::new, |(rate, (peak, _))| percent(rate / peak))
    }

    /// The time in milliseconds.
    pub(super) fn milliseconds(row: Option<&Row>) -> String {
        row.and_then(|row| row.time).map_or_else(String::new, |time| digits(time.median / 1e3))
    }

    /// Lane slots of instructions for each element, where they were counted.
    pub(super) fn slots(row: Option<&Row>) -> String {
        let slots = row.and_then(|row| {
            let count = row.counts.as_ref()?.get("warp_instructions")?;
            Some(32.0 * *count as f64 / row.n.max(1) as f64)
        });
        slots.map_or_else(String::new, digits)
    }

    /// Whether the result was right, and why there is none.
    pub(super) fn verified(row: Option<&Row>) -> String {
        match row {
            None => String::new(),
            Some(Row { verified: Some(true), .. }) => "yes".into(),
            Some(Row { verified: Some(false), .. }) => "NO".into(),
            Some(Row { obstacle, .. }) => obstacle.clone().unwrap_or_default(),
        }
    }
}

/// The figure of a line on a machine, as printed, with a mark if it cannot be right.
pub(super) fn printed(paper: &Paper, line: &Line, machine: &Machine, quantity: Quantity) -> String {
    let of = |figure: &&Figure| figure.quantity == quantity && figure.machine == machine;
    let figures: Vec<&Figure> = line.figures.iter().filter(of).collect();
    let found = audit(paper);
    let wrong = |figure: &Figure| {
        found
            .iter()
            .any(|f| f.of == line.label && f.printed == figure.printed && f.place == figure.place)
    };
    let one = |figure: &&Figure| {
        let mark = if wrong(figure) { " (!)" } else { "" };
        format!("{}{mark}", figure.printed.0)
    };
    figures.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Its rate in percent of the machine's peak.
pub(super) fn share_of(line: &Line, machine: &Machine) -> String {
    let rate = line
        .figures
        .iter()
        .find(|figure| figure.quantity == Quantity::Gigabytes && figure.machine == machine);
    rate.map_or_else(String::new, |rate| percent(rate.printed.value() * 1e9 / machine.peak))
}

/// Percent with a digit after the point.
pub(super) fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// A quotient.
pub(super) fn times(quotient: f64) -> String {
    format!("{quotient:.2}×")
}

/// About four digits.
pub(super) fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        ..0.001 => format!("{value:.2e}"),
        ..1.0 => format!("{value:.4}"),
        ..10.0 => format!("{value:.3}"),
        ..100.0 => format!("{value:.2}"),
        ..1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
