//! `warpfold sweep` and `warpfold roofline`: tables, files and charts, without a GPU.

use crate::program::{Folder, run};

#[test]
fn every_sweep_has_its_places() {
    let lines = |args: &[&str]| -> Vec<String> {
        let all = ["sweep", "--device", "simt", "--rung", "08", "--rung", "15", "--format", "csv"];
        let run = run(all.iter().chain(args));
        run.value().lines().map(str::to_owned).collect()
    };
    let column = |lines: &[String], rung: &str, column: usize| -> Vec<String> {
        let of = lines.iter().filter(|line| line.starts_with(rung));
        of.map(|line| line.split(',').nth(column).expect("a cell").to_owned()).collect()
    };
    let blocks = lines(&["block", "--n", "3000"]);
    assert_eq!(column(&blocks, "08", 4), ["32", "64", "128", "256", "512", "1024"]);
    let sizes = lines(&["size", "--n", "2^10", "--type", "i64"]);
    assert_eq!(column(&sizes, "15", 2), ["16", "64", "256", "1024"]);
    assert!(
        sizes[1..].iter().all(|line| line.contains(",i64,") && line.contains(",true,")),
        "{sizes:?}"
    );
    let types = lines(&["type", "--n", "500", "--op", "prod"]);
    assert_eq!(column(&types, "08", 3), ["i32", "i64", "f32", "f64", "complex64", "complex128"]);
    let items = lines(&["items", "--n", "4096", "--block", "64"]);
    assert_eq!(
        (column(&items, "08", 5), column(&items, "15", 5)),
        (vec!["1".to_owned()], ["4", "8", "16", "32", "64"].map(str::to_owned).into())
    );
}

#[test]
fn files_hold_what_their_names_say() {
    let folder = Folder::new();
    let names = ["a.json", "a.csv", "a.svg"]
        .map(|name| folder.at(name).to_str().expect("UTF-8").to_owned());
    let mut args = vec!["sweep", "size", "--n", "2^12", "--device", "simt", "--rung", "13"];
    args.extend(names.iter().flat_map(|name| ["--export", name.as_str()]));
    let run = run(&args);
    assert!(
        run.value().contains("13_shuffle")
            && run.value().contains("it counts, and its time says nothing")
    );
    let [json, csv, svg] = names.map(|name| std::fs::read_to_string(name).expect("a file"));
    let found: serde_json::Value = serde_json::from_str(&json).expect("one object");
    assert_eq!((&found["over"], &found["schema"]), (&"size".into(), &1.into()));
    assert_eq!(csv.lines().count(), 1 + found["points"].as_array().expect("points").len());
    assert!(
        svg.starts_with("<svg")
            && svg.contains("Sum of f32 by elements")
            && svg.contains("prefers-color-scheme")
    );
    assert_eq!(folder.names(), ["a.csv", "a.json", "a.svg"], "and nothing else is left");
}

#[test]
fn what_cannot_be_swept_is_said() {
    let fails = |args: &[&str], words: &[&str]| run(["sweep"].iter().chain(args)).fails(2, words);
    fails(&["blocks"], &["blocks", "block"]);
    fails(&["size", "--rung", "sequental"], &["sequental", "08_sequential"]);
    fails(&["size", "--type", "f16"], &["f16", "f32"]);
    fails(&["size", "--block", "100"], &["100", "96", "128"]);
    fails(&["type", "--n", "1e15", "--device", "simt"], &["1000000000000000", "arrays may take"]);
    fails(&["size", "--export", "chart.png"], &["chart.png", ".svg"]);
    fails(&["size", "--cold", "--hot"], &["--cold", "--hot"]);
    fails(&["type", "--op", "max", "--type", "complex64"], &["complex64"]);
    run(["sweep", "size", "--export", "/no/such/folder/x.svg"])
        .fails(1, &["/no/such/folder/x.svg"]);
}

#[test]
fn the_processors_roofline_has_a_bound_and_its_rungs() {
    let run =
        |args: &[&str]| run(["roofline", "--device", "cpu", "--n", "2^12"].iter().chain(args));
    let text = run(&[]);
    for part in ["reading", "adding", "bound", "host_serial", "library_exact", "of the bound"] {
        assert!(text.value().contains(part), "{part:?} is missing in\n{}", text.value());
    }
    let json = run(&["--format", "json", "--type", "complex64", "--rung", "library"]);
    let found: serde_json::Value = serde_json::from_str(json.value()).expect("one object");
    assert!(found["read"]["bytes_per_second"].as_f64() > Some(1e8), "{found}");
    assert!(found["adds_per_second"].as_f64() > Some(1e6), "{found}");
    assert_eq!(found["ladder"]["rungs"][0]["verified"], true);
}

#[test]
fn a_roofline_needs_a_clock() {
    run(["roofline", "--device", "simt"]).fails(2, &["simt", "cpu"]);
    run(["roofline", "--n", "1e15", "--device", "cpu"]).fails(2, &["arrays may take"]);
}
