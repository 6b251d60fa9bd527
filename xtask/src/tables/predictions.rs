//! The tables of predictions: every one beside what was measured or published, and the devices that the model knows.

use std::path::Path;
use std::sync::LazyLock;

use warpfold_ladder::model::{DEVICES, Limit, Set, of_papers, of_results};

use super::Table;

/// Results of the H200 that the model is compared with: those it is judged by first, and then without fitting again.
const FILES: [&str; 7] = [
    "ladder_f32.json",
    "ladder_i32.json",
    "sweep_block.json",
    "sweep_items.json",
    "sweep_size.json",
    "sweep_type.json",
    "cuda.json",
];

static SETS: LazyLock<Result<Vec<Set>, String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/h200");
    Ok([of_results(&folder, &FILES)?, of_papers()?].concat())
});

fn percent(x: f64) -> String {
    format!("{:.1} %", 100.0 * x)
}

fn head(names: &[&str]) -> Table {
    Table::new(names.iter().map(|name| (*name).to_owned()))
}

/// The errors of each source.
pub(super) fn summary() -> String {
    let mut table = head(&["source", "predictions", "median error", "worst", "order"]);
    let sets = match &*SETS {
        Ok(sets) => sets,
        Err(error) => return error.clone(),
    };
    for set in sets {
        let [median, worst] = set.errors();
        let order = match set.source.contains(", ") {
            true if set.in_order() => "right",
            true => "wrong",
            false => "",
        };
        table.lines.push(vec![
            set.source.clone(),
            set.rows.len().to_string(),
            percent(median),
            percent(worst),
            order.to_owned(),
        ]);
    }
    table.markdown()
}

/// Every prediction.
pub(super) fn every() -> String {
    let sets = match &*SETS {
        Ok(sets) => sets,
        Err(error) => return error.clone(),
    };
    let of_set = |set: &Set| {
        let mut table =
            head(&["", "of", "measured µs", "predicted µs", "error", "binding", "share"]);
        for row in &set.rows {
            let limit = row.predicted.binding();
            table.lines.push(vec![
                row.name.clone(),
                row.of.clone(),
                format!("{:.1}", row.measured),
                format!("{:.1}", row.predicted.microseconds),
                format!("{:+.1} %", 100.0 * row.error()),
                limit.name().to_owned(),
                percent(row.predicted.share(limit)),
            ]);
        }
        format!("### {}\n\n{}", set.source, table.markdown())
    };
    sets.iter().map(of_set).collect::<Vec<_>>().join("\n")
}

/// The devices, a row each.
pub(super) fn devices() -> String {
    let mut table = head(&[
        "device",
        "multiprocessors",
        "GHz",
        "lanes a clock: logic, f32, products, f64, conversions",
        "memory GB/s, reached",
        "L2 bytes a clock, reached",
        "clocks: arithmetic, shared, L1, L2, memory",
        "blocks started a µs",
        "atomics a ns: integers, f32",
        "launch µs, further",
        "holds: threads, blocks, KiB",
        "assumed",
    ]);
    for d in &DEVICES {
        let (l, w, a) = (d.lanes, d.latency, d.atomics);
        table.lines.push(vec![
            format!("{} (`{}`)", d.name, d.key),
            d.multiprocessors.to_string(),
            d.clock.to_string(),
            format!("{}, {}, {}, {}, {}", l.alu, l.fma, l.imad, l.f64, l.xu),
            format!("{}, {:.0} %", d.paper, 100.0 * d.reached),
            format!("{}, {:.0} %", d.l2_bytes, 100.0 * d.l2_reached),
            format!("{}, {}, {}, {}, {}", w.arithmetic, w.shared, w.l1, w.l2, w.memory),
            d.starts.to_string(),
            format!("{}, {}", a.integer, a.f32),
            format!("{}, {}", d.launch[0], d.launch[1]),
            format!("{}, {}, {}", d.holds.threads, d.holds.blocks, d.holds.shared >> 10),
            d.assumed.to_owned(),
        ]);
    }
    table.markdown()
}

/// The limits of the rungs on the H200, in microseconds each alone.
pub(super) fn limits() -> String {
    let sets = match &*SETS {
        Ok(sets) => sets,
        Err(error) => return error.clone(),
    };
    let Some(set) = sets.first() else { return String::new() };
    let mut names = vec!["rung", "predicted µs"];
    names.extend(Limit::ALL.iter().map(|limit| limit.name()));
    let mut table = head(&names);
    for row in &set.rows {
        let mut line = vec![row.name.clone(), format!("{:.1}", row.predicted.microseconds)];
        line.extend(row.predicted.limits.iter().map(|(_, time)| format!("{time:.1}")));
        table.lines.push(line);
    }
    table.markdown()
}
