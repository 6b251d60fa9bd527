//! `warpfold bench segments`: rows that were verified and timed, printed and kept.

use serde_json::Value;

use crate::program::{Folder, run};

#[test]
fn rows_are_printed_and_kept() {
    let folder = Folder::new();
    let file = folder.at("report.json");
    let filter = r"(exact/every 16|fast/2\^8 any keys, Zipf)$";
    let kept = ["--export", file.to_str().expect("UTF-8")];
    let args = ["bench", "segments", "--n", "2^13", "--filter", filter, "--format", "csv"];
    let found = run(args.iter().chain(&kept));
    let lines: Vec<_> = found.value().lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("case,parts,elements,bytes,time_us,"), "{}", lines[0]);
    // Cells that a program reads as numbers.
    for number in lines[1].split(',').skip(1).take(8) {
        assert!(number.parse::<f64>().is_ok(), "{}", lines[1]);
    }
    assert!(lines[1].starts_with("sum/f32/exact/every 16,512,"), "{}", lines[1]);
    assert!(lines[2].starts_with("\"sum/f32/fast/2^8 any keys, Zipf\",256,"), "{}", lines[2]);

    let text = std::fs::read_to_string(file).expect("kept");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let row = &report["rows"][0];
    assert_eq!((&row["name"], &row["wrong"]), (&"sum/f32/exact/every 16".into(), &Value::Null));
    // Elements and results; segments of one length have no offsets.
    assert_eq!((&row["elements"], &row["bytes"]), (&8192.into(), &(4 * (8192 + 512)).into()));
    assert!(row["microseconds"].as_f64() > Some(0.0) && row["baseline"].as_f64() > Some(0.0));
    assert_eq!(report["rows"][1]["bytes"], 4 * (8192 + 8192 + 256));
}

#[test]
fn text_says_how_much_is_read_by_how_many() {
    let args = ["bench", "segments", "--n", "2^13", "--time", "1", "--filter", "exact/every 16$"];
    let found = run(args.iter().copied().chain(["--threads", "1"]));
    for word in ["32KiB", "8192 elements of f32", "; 1 thread."] {
        assert!(found.out.contains(word), "{}", found.out);
    }
}

#[test]
fn a_folder_that_is_not_there_is_not_made() {
    let folder = Folder::new();
    let file = folder.at("reslts/report.json").display().to_string();
    for bench in ["cpu", "segments"] {
        // Before anything is measured, which would take minutes.
        run(["bench", bench, "--export", &file]).fails(1, &["cannot write", "reslts", "make it"]);
    }
    assert!(folder.names().is_empty());
}

#[test]
fn nothing_to_measure_is_refused_with_what_there_is() {
    let segments = |more: &[&str]| run(["bench", "segments", "--n", "2^14"].iter().chain(more));
    segments(&["--filter", "evry"])
        .fails(2, &["--filter evry", "sum / f32 / exact, fast / every 1, every 3,"]);
    segments(&["--ops", "dot"]).fails(2, &["--ops dot", "two arrays"]);
    segments(&["--ops", "max", "--dtypes", "complex64"]).fails(2, &["complex64", "no order"]);
    segments(&["--ops", "sum,,max"]).fails(2, &["\"\"", "a name is missing"]);
    segments(&["--device", "simt"]).fails(2, &["--device simt", "--device cpu, cuda or cuda:N"]);
    run(["bench"]).fails(2, &["cpu, cuda and segments", "warpfold bench --help"]);
    run(["bench", "cpu", "--filter", "evry"])
        .fails(2, &["--filter evry", "sum/", "natural", "256MiB"]);
}

#[test]
fn sizes_that_make_no_sense() {
    for n in ["0", "100", "2^32", "1e18"] {
        run(["bench", "segments", "--n", n]).fails(2, &["--n", "2^13 to 2^31"]);
    }
    run(["bench", "segments", "--filter", "("]).fails(2, &["--filter"]);
}
