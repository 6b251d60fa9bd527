//! Which published figures cannot be right: those that contradict each other, or the arithmetic that led to them.

use serde::Serialize;

use super::paper::{Does, Figure, Line, Paper, Printed, Quantity};

/// A figure that cannot be right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The line of the document's table, or what its prose says around the figure.
    pub of: &'static str,
    /// Where the figure stands.
    pub place: &'static str,
    /// The figure.
    pub printed: Printed,
    /// Its unit.
    pub unit: &'static str,
    /// What it should be, by the document's own other figures or by arithmetic.
    pub should_be: f64,
    /// How that is computed.
    pub by: String,
}

/// All such figures of a document.
pub fn audit(paper: &Paper) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        paper.lines.iter().flat_map(|line| of_line(paper, line)).collect();
    for claim in paper.claims {
        let should_be = (claim.computed)();
        if !claim.printed.may_be(should_be) {
            found.push(Finding {
                of: claim.says,
                place: claim.place,
                printed: claim.printed,
                unit: claim.unit,
                should_be,
                by: claim.by.to_owned(),
            });
        }
    }
    found
}

/// The unit of a quantity.
pub const fn unit(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Gigabytes => "GB/s",
        Quantity::Milliseconds => "ms",
        Quantity::PercentOfReference | Quantity::PercentOfError => "%",
    }
}

fn of_line(paper: &Paper, line: &Line) -> Vec<Finding> {
    let finding = |figure: &Figure, should_be: f64, by: String| Finding {
        of: line.label,
        place: figure.place,
        printed: figure.printed,
        unit: unit(figure.quantity),
        should_be,
        by,
    };
    let mut found = Vec::new();
    for (k, figure) in line.figures.iter().enumerate() {
        let same =
            |other: &&Figure| other.quantity == figure.quantity && other.machine == figure.machine;
        if let Some(first) = line.figures[..k].iter().find(same)
            && !figure.printed.may_be(first.printed.value())
        {
            let by = format!("the {} says so", first.place);
            found.push(finding(figure, first.printed.value(), by));
        }
        let Some(rate) = rate(line, figure) else { continue };
        match figure.quantity {
            Quantity::PercentOfReference => {
                if let Some(reference) = reference(paper, figure) {
                    let percent = rate / reference * 100.0;
                    if !figure.printed.may_be(percent) {
                        found.push(finding(figure, percent, format!("{rate} / {reference}")));
                    }
                }
            }
            Quantity::Milliseconds => {
                let bytes = (elements(paper, line) * paper.experiment.dtype.size() as u64) as f64;
                let milliseconds = bytes / rate / 1e6;
                if !figure.printed.may_be(milliseconds) {
                    let by = format!("{bytes} bytes at {rate} GB/s");
                    found.push(finding(figure, milliseconds, by));
                }
            }
            Quantity::Gigabytes | Quantity::PercentOfError => {}
        }
    }
    found
}

/// Elements that a line ran over.
pub fn elements(paper: &Paper, line: &Line) -> u64 {
    match line.does {
        Does::RungAt(_, n) => n,
        _ => paper.experiment.n,
    }
}

/// The line's first rate on the figure's machine, in GB/s.
fn rate(line: &Line, figure: &Figure) -> Option<f64> {
    let is_rate =
        |other: &&Figure| other.quantity == Quantity::Gigabytes && other.machine == figure.machine;
    line.figures.iter().find(is_rate).map(|rate| rate.printed.value())
}

/// The rate that the document compares with: that of its line of 100 %.
fn reference(paper: &Paper, figure: &Figure) -> Option<f64> {
    let whole = |figure: &Figure| {
        figure.quantity == Quantity::PercentOfReference && figure.printed.value() == 100.0
    };
    let line = paper.lines.iter().find(|line| line.figures.iter().any(whole))?;
    rate(line, figure)
}
