//! The table of segments and axes on GPUs, in Markdown.

use warpfold::Accuracy;
use warpfold_lab::cuda::segments::{Report, Row};
use warpfold_lab::cuda::table::head;
use warpfold_lab::table::{gigabytes, percent};

use super::Table;

/// GB/s and percent of the ceiling, cuts against accuracies, beside what was aimed at and other libraries.
pub(super) fn cuts(report: &Report) -> String {
    let mut libraries: Vec<&str> = Vec::new();
    let mut shapes: Vec<&str> = Vec::new();
    for peer in &report.peers {
        if !libraries.contains(&&*peer.peer) {
            libraries.push(&peer.peer);
        }
    }
    for row in &report.rows {
        if !shapes.contains(&&*row.shape) {
            shapes.push(&row.shape);
        }
    }
    let ours = ["sum of f32, GB/s", "outputs", "fast", "aim", "exact", "aim"].map(str::to_owned);
    let mut table = Table::new(ours.into_iter().chain(libraries.iter().map(|&l| l.to_owned())));
    for shape in shapes {
        let of = |accuracy| {
            report.rows.iter().find(move |row| row.shape == shape && row.accuracy == accuracy)
        };
        let rows = [Accuracy::Fast, Accuracy::Exact].map(of);
        let known = rows.into_iter().flatten().next();
        let mut line =
            vec![shape.to_owned(), known.map_or(String::new(), |r| r.outputs.to_string())];
        for row in rows {
            line.push(row.map_or(String::new(), rate));
            line.push(row.and_then(|row| row.aim).map_or(String::new(), percent));
        }
        line.extend(libraries.iter().map(|&library| {
            let theirs = known.and_then(|row| report.peers_of(row).find(|p| p.peer == library));
            theirs.map_or(String::new(), |peer| gigabytes(peer.gb_s * 1e9))
        }));
        table.lines.push(line);
    }
    let (device, header) = (&report.device, &report.header);
    let revision = header.revision.as_ref().map_or(String::new(), |r| format!(", revision {r}"));
    format!("{}{revision}:\n\n{}", head(device, header), table.markdown())
}

fn rate(row: &Row) -> String {
    format!("{} ({})", gigabytes(row.bytes_per_second), percent(row.of_ceiling))
}
