//! The thesis's table 3.1 with its statistical errors, its three figures, and its pair of kernels.

use warpfold_ladder::replay::machines::{G80, RTX_3070};
use warpfold_ladder::replay::{FIGURES, Quantity};
use warpfold_ladder::{Divergence, Row};

use super::beside::{Beside, digits, percent, printed, share_of, times};
use crate::sheet::Sheet;
use crate::sweep;

pub(super) fn sheets(beside: &Beside<'_>) -> Vec<Sheet> {
    let mut all = vec![table(beside)];
    for (found, (name, what, says)) in beside.found.sweeps.iter().zip(FIGURES) {
        for mut sheet in sweep::sheets(found) {
            sheet.title = format!("{name}: {}", sheet.title);
            sheet
                .above
                .insert(0, format!("Published, as a picture: {what}. The text says: {says}."));
            all.push(sheet);
        }
    }
    all.extend(beside.found.divergence.as_ref().map(pair));
    all
}

/// Rates over the mean time, as the thesis has them.
fn mean(row: Option<&Row>) -> Option<(f64, f64)> {
    let (row, time) = (row?, row?.time?);
    Some((row.bytes_per_second? * time.median / time.mean, time.standard_error / time.mean))
}

fn table(beside: &Beside<'_>) -> Sheet {
    let paper = beside.paper;
    let mut sheet = Sheet::new(
        format!("{}, table 3.1", paper.title),
        [
            "optimization",
            "rung",
            "G80 GB/s",
            "of 86.4",
            "gain",
            "RTX 3070 GB/s",
            "of 448",
            "gain ",
            "here GB/s",
            "of peak",
            "gain here",
            "slots",
            "verified",
        ],
    );
    let rate = |line: &warpfold_ladder::replay::Line, machine| {
        let is_it = |figure: &&warpfold_ladder::replay::Figure| {
            figure.quantity == Quantity::Gigabytes && std::ptr::eq(figure.machine, machine)
        };
        line.figures.iter().find(is_it).map(|figure| figure.printed.value())
    };
    let mut before: [Option<f64>; 3] = [None; 3];
    for line in paper.lines {
        let row = beside.row(line);
        let here = mean(row);
        let now = [rate(line, &G80), rate(line, &RTX_3070), here.map(|(rate, _)| rate)];
        let gain = |k: usize| {
            before[k].zip(now[k]).map_or_else(String::new, |(before, now)| times(now / before))
        };
        let error = printed(paper, line, &RTX_3070, Quantity::PercentOfError);
        sheet.line([
            line.label.to_owned(),
            line.does.rung().unwrap_or_default().to_owned(),
            printed(paper, line, &G80, Quantity::Gigabytes),
            share_of(line, &G80),
            gain(0),
            format!("{} ± {error} %", printed(paper, line, &RTX_3070, Quantity::Gigabytes)),
            share_of(line, &RTX_3070),
            gain(1),
            here.map_or_else(String::new, |(rate, error)| {
                format!("{} ± {:.2} %", digits(rate / 1e9), 100.0 * error)
            }),
            here.zip(beside.peak())
                .map_or_else(String::new, |((rate, _), (peak, _))| percent(rate / peak)),
            gain(2),
            Beside::slots(row),
            Beside::verified(row),
        ]);
        before = now;
    }
    let runs = beside.main().rungs.iter().find_map(|row| row.time).map(|time| time.runs);
    if let Some(runs) = runs {
        sheet.below.push(format!("here: the mean of {runs} runs, ± its standard error"));
    }
    sheet
}

fn pair(found: &Divergence) -> Sheet {
    let mut sheet = Sheet::new(
        format!("Section 3.2: four branches of {} rounds", found.rounds),
        [
            "kernel",
            "µs",
            "warp instructions",
            "of the busiest warp",
            "branches that split a warp",
            "verified",
        ],
    );
    for kernel in &found.kernels {
        let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
        sheet.line([
            kernel.name.clone(),
            kernel.time.map_or_else(String::new, |time| {
                format!("{:.2} ± {:.2}", time.mean, time.standard_error)
            }),
            count(kernel.warp_instructions),
            count(kernel.longest_warp),
            count(kernel.divergent_branches),
            if kernel.verified { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    sheet.below.push(
        "both execute the same instructions, one lane at a time; in the second, four warps do so side by side".into(),
    );
    sheet
}
