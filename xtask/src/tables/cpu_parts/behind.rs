//! Where another library is faster.

use super::cells::{Cell, peer};
use crate::tables::Table;

/// Cells that are listed; the others are counted.
const LISTED: usize = 12;

/// In how many cells the fastest peer is faster, and the worst of them.
pub(super) fn summary(cells: &[Cell<'_>]) -> String {
    let contested = cells.iter().filter(|cell| peer(cell.row).is_some()).count();
    let behind = behind(cells);
    let measured = format!("- A peer was measured in {contested} of {} cells.", cells.len());
    match (contested, behind.len()) {
        (0, _) => format!("{measured}\n"),
        (_, 0) => format!("{measured} warpfold is ahead of the fastest in all of them.\n"),
        (_, all) => {
            let shown = if all > LISTED { ", the worst first" } else { "" };
            let list = list(&behind);
            format!(
                "{measured} The fastest is ahead of warpfold in {all} of them{shown}:\n\n{list}"
            )
        }
    }
}

/// Cells and how many times as long as the fastest peer they take, the worst first.
fn behind<'c, 'r>(cells: &'c [Cell<'r>]) -> Vec<(f64, &'c Cell<'r>)> {
    let measured = cells.iter().filter(|cell| cell.row.wrong.is_none());
    let ratios = measured
        .filter_map(|cell| Some((cell.row.microseconds / peer(cell.row)?.microseconds, cell)));
    let mut behind: Vec<_> = ratios.filter(|(ratio, _)| *ratio > 1.0).collect();
    behind.sort_by(|a, b| b.0.total_cmp(&a.0));
    behind
}

fn list(behind: &[(f64, &Cell<'_>)]) -> String {
    let head = ["reduction", "cut", "time by the peer's", "the peer's call"];
    let mut table = Table::new(head.map(String::from));
    for (ratio, cell) in behind.iter().take(LISTED) {
        let call = peer(cell.row).map_or(String::new(), |peer| format!("`{}`", peer.call));
        let reduction = format!("{} of {}", cell.reduction, cell.dtype);
        table.lines.push(vec![reduction, cell.cut.clone(), format!("{ratio:.2}"), call]);
    }
    let others = behind.get(LISTED).map_or(String::new(), |(ratio, _)| {
        format!(
            "\nIn the other {} the time is at most {ratio:.2} of the peer's.\n",
            behind.len() - LISTED
        )
    });
    table.markdown() + &others
}
