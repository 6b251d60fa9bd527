//! The lesson's four versions, and the one figure that it prints.

use warpfold_ladder::replay::RATIO;

use super::beside::{Beside, times};
use crate::sheet::Sheet;

pub(super) fn sheets(beside: &Beside<'_>) -> Vec<Sheet> {
    let paper = beside.paper;
    let mut sheet = Sheet::new(
        paper.title,
        [
            "version",
            "rung",
            "here ms",
            "GB/s",
            "of peak",
            "times V3",
            "slots",
            "sectors an element",
            "verified",
        ],
    );
    let time = |label: &str| {
        let line = paper.lines.iter().find(|line| line.label.starts_with(label))?;
        Some(beside.row(line)?.time?.median)
    };
    for line in paper.lines {
        let row = beside.row(line);
        let own = row.and_then(|row| row.time).map(|time| time.median);
        let sectors = row.and_then(|row| {
            let counts = row.counts.as_ref()?;
            let moved = counts.get("global_load_sectors")? + counts.get("global_store_sectors")?;
            Some(format!("{:.3}", moved as f64 / row.n.max(1) as f64))
        });
        sheet.line([
            line.label.to_owned(),
            line.does.rung().unwrap_or_default().to_owned(),
            Beside::milliseconds(row),
            Beside::rate(row),
            beside.share(row),
            own.zip(time("V3")).map_or_else(String::new, |(own, v3)| times(v3 / own)),
            Beside::slots(row),
            sectors.unwrap_or_default(),
            Beside::verified(row),
        ]);
    }
    let here = time("V3").zip(time("V2")).map(|(v3, v2)| format!("; here {}", times(v3 / v2)));
    sheet.below.push(format!(
        "published: V2 runs about {} times as fast as V3, on a machine that is not named, where V3 computes something else{}",
        RATIO.0,
        here.unwrap_or_default()
    ));
    vec![sheet]
}
