//! The guide's lines of keys and values, its comparison matrix and its second table: counted, where it has marks.

use warpfold_ladder::Row;
use warpfold_ladder::replay::{ASPECTS, COLUMNS, MATRIX, Mark};

use super::beside::{Beside, digits};
use crate::sheet::Sheet;

pub(super) fn sheets(beside: &Beside<'_>) -> Vec<Sheet> {
    vec![versions(beside), lines(beside), matrix(beside), aspects(beside)]
}

fn versions(beside: &Beside<'_>) -> Sheet {
    let mut sheet = Sheet::new(
        beside.paper.title,
        [
            "version",
            "rung",
            "launches",
            "here ms",
            "GB/s",
            "of peak",
            "slots",
            "registers",
            "verified",
        ],
    );
    for line in beside.paper.lines {
        let row = beside.row(line);
        let rung = line.does.rung().unwrap_or_default();
        let registers = beside.found.registers.get(rung);
        sheet.line([
            line.label.to_owned(),
            rung.to_owned(),
            row.map_or_else(String::new, |row| row.launches.len().to_string()),
            Beside::milliseconds(row),
            Beside::rate(row),
            beside.share(row),
            Beside::slots(row),
            registers.map_or_else(String::new, u32::to_string),
            Beside::verified(row),
        ]);
    }
    sheet
}

/// As its benchmark prints them.
fn lines(beside: &Beside<'_>) -> Sheet {
    let ladder = beside.main();
    let line = |(k, line): (usize, &warpfold_ladder::replay::Line)| {
        let row = beside.row(line)?;
        let mut text = format!(
            "op=reduce version=v{k} rung={} n={} block={} verified={}",
            row.name,
            row.n,
            ladder.block,
            row.verified.unwrap_or(false)
        );
        if let (Some(time), Some(rate)) = (row.time, row.bytes_per_second) {
            text += &format!(
                " runs={} time_ms={:.6} gbps={:.2}",
                time.runs,
                time.median / 1e3,
                rate / 1e9
            );
        }
        if let Some(count) = row.counts.as_ref().and_then(|counts| counts.get("warp_instructions"))
        {
            text += &format!(" warp_instructions={count}");
        }
        Some(text)
    };
    Sheet {
        title: format!("fastcuda_bench reduce all n={}", ladder.n),
        above: vec![
            beside.paper.lines.iter().enumerate().filter_map(line).collect::<Vec<_>>().join("\n"),
        ],
        ..Sheet::default()
    }
}

/// A count of a row for each warp.
fn a_warp(row: &Row, name: &str) -> Option<f64> {
    let counts = row.counts.as_ref()?;
    Some(*counts.get(name)? as f64 / (*counts.get("warps")?).max(1) as f64)
}

fn counted<'a>(beside: &'a Beside<'_>, rung: &str) -> Option<&'a Row> {
    beside.found.counted.as_ref()?.row(rung)
}

/// Elements that a thread of the first launch takes.
fn elements_a_thread(row: &Row) -> Option<u64> {
    let first = row.launches.first()?;
    Some(first.n.div_ceil(u64::from(first.grid) * u64::from(first.block)))
}

fn matrix(beside: &Beside<'_>) -> Sheet {
    let mut sheet = Sheet::new("Comparison matrix, counted", ["version"; 8]);
    sheet.head = std::iter::once("version").chain(COLUMNS).map(str::to_owned).collect();
    for (line, marks) in beside.paper.lines.iter().zip(MATRIX) {
        let row = line.does.rung().and_then(|rung| counted(beside, rung));
        let counts: [String; 7] =
            std::array::from_fn(|column| row.and_then(|row| cell(row, column)).unwrap_or_default());
        let mark = |mark: Mark| match mark {
            Mark::Yes => "✓".to_owned(),
            Mark::Problem => "✗".to_owned(),
            Mark::No => "—".to_owned(),
            Mark::Times(times) => format!("✓ ({times}×)"),
        };
        let name = line.label.split(' ').next().unwrap_or_default().to_owned();
        let cells = marks
            .into_iter()
            .zip(counts)
            .map(|(m, count)| format!("{}  {count}", mark(m)).trim_end().to_owned());
        sheet.lines.push(std::iter::once(name).chain(cells).collect());
    }
    sheet.above.push(
        "Marks as the guide's sections state them (✓ addressed or used, ✗ problem present, — not applicable); beside each what the simulator counts: \
         branches that split a warp and bank conflicts, a warp each; elements that a thread adds before the tree; block barriers a warp, twice, for both kinds of \
         unrolling; elements a thread; exchanges of registers a warp."
            .into(),
    );
    sheet
}

/// What stands beside a mark.
fn cell(row: &Row, column: usize) -> Option<String> {
    let fixed = |value: f64| format!("{value:.2}");
    Some(match column {
        0 => fixed(a_warp(row, "divergent_branches")?),
        1 => fixed(a_warp(row, "bank_conflicts")?),
        2 | 5 => elements_a_thread(row)?.to_string(),
        3 | 4 => fixed(a_warp(row, "block_barriers")?),
        _ => fixed(a_warp(row, "warp_exchanges")?),
    })
}

/// Its second table: shared memory against shuffles.
fn aspects(beside: &Beside<'_>) -> Sheet {
    let mut sheet = Sheet::new(
        "Why V7 is different, counted",
        ["aspect", "V0–V6, published", "V0–V6, counted", "V7, published", "V7, counted"],
    );
    let rungs: Vec<&str> = beside.paper.lines.iter().filter_map(|line| line.does.rung()).collect();
    let (shared, shuffle) = rungs.split_at(rungs.len() - 1);
    for (k, (aspect, before, after)) in ASPECTS.into_iter().enumerate() {
        let figure = |rung: &&str| -> Option<f64> {
            let row = || counted(beside, rung);
            match k {
                0 => a_warp(row()?, "warp_exchanges"),
                1 => {
                    let row = row()?;
                    Some(
                        a_warp(row, "shared_load_wavefronts")?
                            + a_warp(row, "shared_store_wavefronts")?,
                    )
                }
                2 => a_warp(row()?, "block_barriers"),
                _ => beside.found.registers.get(*rung).map(|count| f64::from(*count)),
            }
        };
        let span = |rungs: &[&str]| {
            let figures: Vec<f64> = rungs.iter().filter_map(figure).collect();
            let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
            let most = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            match figures.len() {
                0 => String::new(),
                _ if least == most => digits(least),
                _ => format!("{} to {}", digits(least), digits(most)),
            }
        };
        let unit = [
            "exchanges a warp",
            "wavefronts a warp",
            "block barriers a warp",
            "registers a thread",
        ][k];
        let with_unit =
            |text: String| if text.is_empty() { text } else { format!("{text} {unit}") };
        sheet.line([
            aspect.to_owned(),
            before.to_owned(),
            with_unit(span(shared)),
            after.to_owned(),
            with_unit(span(shuffle)),
        ]);
    }
    if beside.found.registers.is_empty() {
        sheet.below.push(
            "registers are what a driver says of its own machine code: there is none here".into(),
        );
    }
    sheet
}
