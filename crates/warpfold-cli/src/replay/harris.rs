//! The deck's table: time, bandwidth, and speed-up by step and altogether.

use warpfold_ladder::replay::{Does, Printed, Quantity, machines::G80};

use super::beside::{Beside, printed, share_of, times};
use crate::sheet::Sheet;

pub(super) fn sheets(beside: &Beside<'_>) -> Vec<Sheet> {
    let paper = beside.paper;
    let mut sheet = Sheet::new(
        paper.title,
        [
            "kernel",
            "rung",
            "G80 ms",
            "GB/s",
            "of 86.4 GB/s",
            "step",
            "cumulative",
            "here ms",
            "GB/s here",
            "of peak",
            "step here",
            "cumulative here",
            "slots",
            "verified",
        ],
    );
    let there = |line: &warpfold_ladder::replay::Line| {
        let is_time =
            |figure: &&warpfold_ladder::replay::Figure| figure.quantity == Quantity::Milliseconds;
        line.figures.iter().find(is_time).map(|figure| Printed::value(figure.printed))
    };
    let (mut before, mut first): ([Option<f64>; 2], [Option<f64>; 2]) = ([None; 2], [None; 2]);
    for line in paper.lines {
        let row = beside.row(line);
        let apart = matches!(line.does, Does::RungAt(..));
        let here = row.and_then(|row| row.time).map(|time| time.median / 1e3).filter(|_| !apart);
        let now = [there(line), here];
        let quotient = |of: [Option<f64>; 2], k: usize| {
            of[k].zip(now[k]).map_or_else(String::new, |(before, now)| times(before / now))
        };
        let (steps, totals) =
            ([0, 1].map(|k| quotient(before, k)), [0, 1].map(|k| quotient(first, k)));
        let ([step, step_here], [total, total_here]) = (steps, totals);
        sheet.line([
            line.label.to_owned(),
            line.does.rung().unwrap_or_default().to_owned(),
            printed(paper, line, &G80, Quantity::Milliseconds),
            printed(paper, line, &G80, Quantity::Gigabytes),
            share_of(line, &G80),
            step,
            total,
            Beside::milliseconds(row),
            Beside::rate(row),
            beside.share(row),
            step_here,
            total_here,
            Beside::slots(row),
            Beside::verified(row),
        ]);
        before = now;
        first = [0, 1].map(|k| first[k].or(now[k]));
    }
    vec![sheet]
}
