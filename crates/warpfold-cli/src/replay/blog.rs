//! The post's table, its roofline, and other libraries beside the rungs.

use warpfold_lab::cuda::report::Peer;
use warpfold_ladder::Row;
use warpfold_ladder::replay::{Does, Quantity, machines::RTX_3090};

use super::beside::{Beside, digits, percent, printed, share_of};
use crate::sheet::Sheet;

pub(super) fn sheets(beside: &Beside<'_>) -> Vec<Sheet> {
    vec![table(beside), roofline(beside)]
}

/// A library's figures by the beginning of its name.
fn peer<'a>(beside: &'a Beside<'_>, name: &str) -> Option<&'a Peer> {
    beside.found.peers.iter().find(|peer| peer.peer.starts_with(name))
}

fn table(beside: &Beside<'_>) -> Sheet {
    let paper = beside.paper;
    let jax = peer(beside, "jax").map(|peer| peer.gb_s * 1e9);
    let ours = beside.main().row("library").and_then(|row| row.bytes_per_second);
    let (reference, name) = match jax {
        Some(rate) => (Some(rate), "relative to jnp.sum here"),
        None => (ours, "relative to library here"),
    };
    let mut sheet = Sheet::new(
        paper.title,
        [
            "# kernel",
            "rung",
            "RTX 3090 GB/s",
            "of 936 GB/s",
            "relative to jnp.sum",
            "here GB/s",
            "of peak",
            name,
            "slots",
            "verified",
        ],
    );
    let relative = |rate: Option<f64>| {
        rate.zip(reference).map_or_else(String::new, |(rate, of)| percent(rate / of))
    };
    for line in paper.lines {
        let row = beside.row(line);
        let library = match line.does {
            Does::Library(name) => peer(beside, name),
            _ => None,
        };
        let rate = row.and_then(|row| row.bytes_per_second).or(library.map(|peer| peer.gb_s * 1e9));
        let there = printed(paper, line, &RTX_3090, Quantity::PercentOfReference);
        let there = match there.split_once(' ') {
            Some((figure, mark)) => format!("{figure} % {mark}"),
            None if there.is_empty() => there,
            None => there + " %",
        };
        sheet.line([
            line.label.to_owned(),
            line.does.rung().unwrap_or_default().to_owned(),
            printed(paper, line, &RTX_3090, Quantity::Gigabytes),
            share_of(line, &RTX_3090),
            there,
            rate.map_or_else(String::new, |rate| digits(rate / 1e9)),
            share(beside, rate),
            relative(rate),
            Beside::slots(row),
            Beside::verified(row),
        ]);
    }
    let others = beside.found.peers.iter().filter(|peer| !peer.peer.starts_with("jax"));
    let mut more: Vec<(String, Option<f64>, Option<&Row>)> =
        others.map(|peer| (peer.peer.clone(), Some(peer.gb_s * 1e9), None)).collect();
    for name in ["library", "library_exact"] {
        let row = beside.main().row(name);
        more.push((name.to_owned(), row.and_then(|row| row.bytes_per_second), row));
    }
    for (name, rate, row) in more {
        let empty = String::new;
        sheet.line([
            name,
            empty(),
            empty(),
            empty(),
            empty(),
            rate.map_or_else(String::new, |rate| digits(rate / 1e9)),
            share(beside, rate),
            relative(rate),
            Beside::slots(row),
            Beside::verified(row),
        ]);
    }
    sheet
}

fn share(beside: &Beside<'_>, rate: Option<f64>) -> String {
    rate.zip(beside.peak()).map_or_else(String::new, |(rate, (peak, _))| percent(rate / peak))
}

/// Its lower bound, as printed, computed anew, and for this machine.
fn roofline(beside: &Beside<'_>) -> Sheet {
    let mut sheet =
        Sheet::new("Roofline, in ms", ["bound", "RTX 3090, published", "computed anew", "here"]);
    let bytes = (4 * beside.main().n) as f64;
    let here = beside.peak().map(|(peak, _)| digits(bytes / peak * 1e3));
    for claim in beside.paper.claims.iter().filter(|claim| claim.unit == "ms") {
        let right = (claim.computed)();
        let mark = if claim.printed.may_be(right) { "" } else { " (!)" };
        let reads = claim.says.contains("reads") || claim.says.contains("minimum");
        sheet.line([
            claim.says.to_owned(),
            format!("{}{mark}", claim.printed.0),
            digits(right),
            here.clone().filter(|_| reads).unwrap_or_default(),
        ]);
    }
    sheet.below.push("`warpfold roofline` measures reading and additions of this machine.".into());
    sheet
}
