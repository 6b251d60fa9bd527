//! Reports as files have them, and the tables made of them.

use serde_json::{Value, json};
use warpfold_lab::segments::Report;

use super::{cut, keys, speeds};

/// A row of 10^9 bytes that ran for so many milliseconds, with the flat reduction at 10 GB/s.
fn row(name: &str, milliseconds: f64, target: Option<f64>, peer: Option<f64>) -> Value {
    let peer = peer.map(|milliseconds| {
        json!({"library": "Other 1", "call": "other(x)", "microseconds": 1e3 * milliseconds, "bytes_per_second": 0.0, "ulps": null})
    });
    json!({
        "name": name, "elements": 250_000_000, "segments": 1, "bytes": 1_000_000_000, "input_bytes": 1_000_000_000,
        "microseconds": 1e3 * milliseconds, "spread": 0.0, "bytes_per_second": 0.0, "baseline": 10e9, "target": target,
        "plan": "", "wrong": null, "peers": Vec::from_iter(peer)
    })
}

fn report(rows: Vec<Value>) -> Report {
    let machine = json!({
        "cpu": "A CPU", "cores": 2, "isa": "avx2", "caches": [1024], "memory": 1, "os": "linux", "rustc": "rustc", "profile": "release"
    });
    let report = json!({
        "schema": 1, "warpfold": "0", "revision": null, "date": "2026-11-27T00:00:00Z", "machine": machine, "slug": "a",
        "n": 1 << 23, "baseline": "flat", "rows": rows
    });
    serde_json::from_value(report).expect("a report")
}

#[test]
fn cuts_are_named_by_their_shapes() {
    for (case, name) in [
        ("every 64", "every 64"),
        ("[2097152, 4] axis 1", "[n/4, 4] axis 1 (rows of 4)"),
        ("[2097152, 4] axis 0", "[n/4, 4] axis 0 (4 long columns)"),
        ("[4, 2097152] axis 0", "[4, n/4] axis 0 (columns of 4)"),
        ("[4, 2097152] axis 1", "[4, n/4] axis 1 (4 long rows)"),
        ("[2896, 2896] axis 1", "[√n, √n] axis 1 (rows)"),
        ("[2048, 4096] axis 0", "[2048, n/2048] axis 0 (columns of 2048)"),
        ("[64, 3, 32, 1365] axis 2", "[64, 3, 32, n/6144] axis 2"),
        ("2^8 any keys, Zipf", "2^8 keys, Zipf"),
        ("2^8 dense keys, Zipf", "2^8 dense keys, Zipf"),
    ] {
        assert_eq!(cut::name(case), name);
    }
}

#[test]
fn a_type_has_a_table_and_what_is_missing_an_empty_cell() {
    let text = speeds(&report(vec![
        row("sum/f32/exact/every 64", 100.0, Some(0.8), Some(500.0)),
        row("max/f32/exact/every 3", 200.0, None, None),
        row("sum/f64/exact/every 64", 50.0, Some(0.8), None),
    ]));
    let lines = [
        "| f32: GB/s (of flat) / peer | sum | max |",
        "| every 64 | 10.0 (100 % ✓) / 2.00 |  |",
        "| every 3 |  | 5.00 (50 %) / – |",
        "| f64: GB/s (of flat) / peer | sum |",
        "| every 64 | 20.0 (200 % ✓) / – |",
        "- 2 of the 2 cells that have an aim meet it (✓).",
        "- A peer was measured in 1 of 3 cells. warpfold is ahead of the fastest in all of them.",
    ];
    for line in lines {
        assert!(text.lines().any(|found| found == line), "{line}\n\n{text}");
    }
}

#[test]
fn of_rows_with_one_name_the_first_counts_everywhere() {
    let name = "sum/f64/exact/[1024, 1024] axis 0";
    let twice = vec![row(name, 100.0, Some(0.6), Some(50.0)), row(name, 400.0, Some(0.6), None)];
    let once = speeds(&report(twice[..1].to_vec()));
    assert!(once.contains("- 1 of the 1 cells") && once.contains("in 1 of 1 cells"), "{once}");
    assert_eq!(speeds(&report(twice)), once);
}

#[test]
fn what_misses_its_aim_by_little_is_not_shown_as_it() {
    let text = speeds(&report(vec![row("sum/f32/exact/every 64", 125.01, Some(0.8), None)]));
    assert!(text.contains("| every 64 | 8.00 (79.9 %) / – |"), "{text}");
    assert!(text.contains("sum of f32, every 64: 79.9 % of flat where 80 % is the aim."), "{text}");
}

#[test]
fn the_worst_beside_peers_are_listed_and_the_others_counted() {
    let rows = |count: u32| {
        let row =
            |k| row(&format!("sum/f32/exact/every {k}"), f64::from(100 + k), None, Some(100.0));
        report((1..=count).map(row).collect())
    };
    let text = keys(&rows(14));
    assert!(text.contains("is ahead of warpfold in 14 of them, the worst first:"), "{text}");
    let list: Vec<_> = text.lines().filter(|line| line.starts_with("| sum of")).collect();
    assert_eq!(list.len(), 12);
    assert_eq!(list[0], "| sum of f32 | every 14 | 1.14 | `other(x)` |");
    assert!(text.contains("In the other 2 the time is at most 1.02 of the peer's."), "{text}");
    assert!(!keys(&rows(12)).contains("In the other"));
}
