//! The tables of segments, axes and groups, in Markdown.

use warpfold::Accuracy;
use warpfold_lab::cuda::segments::{Report, Row};
use warpfold_lab::cuda::table::head;
use warpfold_lab::segments::{Peer, Report as CpuReport, Row as CpuRow};
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
    let has_aims = report.rows.iter().any(|row| row.aim.is_some());
    let ours = ["sum of f32, GB/s", "outputs", "fast", "aim", "exact", "aim"];
    let ours = ours.into_iter().filter(|&name| name != "aim" || has_aims);
    let mut table = Table::new(ours.chain(libraries.iter().copied()).map(str::to_owned));
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
            if has_aims {
                line.push(row.and_then(|row| row.aim).map_or(String::new(), percent));
            }
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

/// GB/s and percent of the flat sum on a processor, cases against accuracies, beside what was aimed at and what other libraries do.
pub(super) fn cases(report: &CpuReport) -> String {
    let (mut names, mut libraries): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for row in &report.rows {
        let (_, name) = accuracy_and_case(row);
        if !names.contains(&name) {
            names.push(name);
        }
        for peer in &row.peers {
            if !libraries.contains(&&*peer.library) {
                libraries.push(&peer.library);
            }
        }
    }
    let ours = ["sum of f32, GB/s", "results", "exact", "fast", "aim"].map(str::to_owned);
    let mut table = Table::new(ours.into_iter().chain(libraries.iter().map(|&l| l.to_owned())));
    for name in names {
        let of = |accuracy| {
            report.rows.iter().find(move |row| accuracy_and_case(row) == (accuracy, name))
        };
        let rows = [of("exact"), of("fast")];
        let Some(known) = rows.into_iter().flatten().next() else { continue };
        let mut line = vec![name.to_owned(), known.segments.to_string()];
        line.extend(rows.map(|row| row.map_or(String::new(), of_flat)));
        line.push(known.target.map_or(String::new(), percent));
        line.extend(libraries.iter().map(|&library| {
            let peers = rows.into_iter().flatten().flat_map(|row| &row.peers);
            let theirs = peers.filter(|peer| peer.library == library);
            let reported =
                |peer: &Peer| format!("{} `{}`", gigabytes(peer.bytes_per_second), peer.call);
            theirs.map(reported).collect::<Vec<_>>().join("<br>")
        }));
        table.lines.push(line);
    }
    let (machine, header) = (&report.machine, &report.header);
    let revision = header.revision.as_ref().map_or(String::new(), |r| format!(", revision {r}"));
    format!(
        "{}, {} cores, {} kernels, {} elements, {}{revision}:\n\n{}",
        machine.cpu,
        machine.cores,
        machine.isa,
        report.n,
        header.day(),
        table.markdown()
    )
}

/// Of a name such as `sum/f32/exact/every 16`.
fn accuracy_and_case(row: &CpuRow) -> (&str, &str) {
    let mut parts = row.name.splitn(4, '/').skip(2);
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

fn of_flat(row: &CpuRow) -> String {
    match &row.wrong {
        Some(wrong) => wrong.clone(),
        None => format!("{} ({})", gigabytes(row.bytes_per_second), percent(row.of_baseline())),
    }
}
