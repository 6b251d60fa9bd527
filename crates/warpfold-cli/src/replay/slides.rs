//! What the slides' program prints, its two launches, and their exercise.

use warpfold_ladder::Ladder;

use super::beside::Beside;
use crate::sheet::Sheet;

pub(super) fn sheets(beside: &Beside<'_>) -> Vec<Sheet> {
    let mut all = vec![printed(beside), launches(beside)];
    all.extend(beside.found.ladders.iter().find(|l| l.op == warpfold::Op::Max).map(maximum));
    all
}

/// Its lines, which are the same number four times.
fn printed(beside: &Beside<'_>) -> Sheet {
    let n = beside.main().n;
    let mut sheet = Sheet::new(
        beside.paper.title,
        ["printed", "rung", "published", "here", "here ms", "GB/s", "of peak", "slots", "verified"],
    );
    let published = beside.paper.experiment.n.to_string();
    let empty = String::new;
    sheet.line([
        "size".into(),
        empty(),
        published.clone(),
        n.to_string(),
        empty(),
        empty(),
        empty(),
        empty(),
        empty(),
    ]);
    let says = ["Serial results", "Device sum global", "Device sum shared (its exercise)"];
    for (says, line) in says.into_iter().zip(beside.paper.lines) {
        let row = beside.row(line);
        sheet.line([
            says.to_owned(),
            line.does.rung().unwrap_or_default().to_owned(),
            published.clone(),
            row.and_then(|row| row.value.clone()).unwrap_or_default(),
            Beside::milliseconds(row),
            Beside::rate(row),
            beside.share(row),
            Beside::slots(row),
            Beside::verified(row),
        ]);
    }
    sheet
}

/// The launches of its kernels.
fn launches(beside: &Beside<'_>) -> Sheet {
    let mut sheet = Sheet::new("Launches", ["kernel", "launch", "published", "here", "elements"]);
    let published = ["<<<1024, 1024>>>", "<<<1, 1024>>>"];
    for line in beside.paper.lines {
        let Some(row) = beside.row(line) else { continue };
        for (k, launch) in row.launches.iter().enumerate() {
            sheet.line([
                if k == 0 { line.label.to_owned() } else { String::new() },
                (k + 1).to_string(),
                published.get(k).copied().unwrap_or_default().to_owned(),
                format!("<<<{}, {}>>>", launch.grid, launch.block),
                launch.n.to_string(),
            ]);
        }
    }
    sheet
}

/// The exercise: the maximum of other numbers than ones.
fn maximum(ladder: &Ladder) -> Sheet {
    let title = format!("Exercise: the maximum of {} {}", ladder.n, ladder.dtype);
    let mut sheet =
        Sheet::new(title, ["rung", "result", "right", "here ms", "GB/s", "slots", "verified"]);
    for row in &ladder.rungs {
        sheet.line([
            row.name.clone(),
            row.value.clone().unwrap_or_default(),
            row.exact.clone().unwrap_or_default(),
            Beside::milliseconds(Some(row)),
            Beside::rate(Some(row)),
            Beside::slots(Some(row)),
            Beside::verified(Some(row)),
        ]);
    }
    sheet
}
