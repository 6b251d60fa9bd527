//! `warpfold ladder`: what is found, in every format, and what is refused.

use std::collections::HashMap;

use crate::program::{Folder, run};

fn json(args: &[&str]) -> serde_json::Value {
    let run = run(["ladder", "--format", "json", "--device", "simt"].iter().chain(args));
    serde_json::from_str(run.value()).expect("one object")
}

#[test]
fn every_rung_is_verified_and_counted() {
    for (dtype, op) in [("f32", "sum"), ("i64", "min"), ("i32", "prod")] {
        let found = json(&["--n", "5000", "--type", dtype, "--op", op, "--block", "64"]);
        assert_eq!((&found["n"], &found["device"]["kind"]), (&5000.into(), &"simt".into()));
        let rungs = found["rungs"].as_array().expect("rungs");
        assert_eq!(rungs.len(), 20);
        for rung in rungs {
            assert_eq!(rung["verified"], true, "{rung}");
            assert!(rung["time"]["mean"].is_null() || rung["launches"] == serde_json::json!([]));
            let kernel = rung["launches"].as_array().is_some_and(|all| !all.is_empty());
            assert_eq!(kernel, rung["name"].as_str().unwrap().as_bytes()[0].is_ascii_digit());
            let counted = rung["counts"]["warp_instructions"].as_u64();
            assert_eq!(
                counted.is_some(),
                kernel || rung["name"].as_str().unwrap().starts_with("lib")
            );
        }
        let interleaved = rungs.iter().find(|rung| rung["name"] == "06_interleaved").unwrap();
        let complexity = &interleaved["complexity"];
        assert_eq!(
            (&complexity["work"], &complexity["work_counted"]),
            (&4999.0.into(), &4999.into())
        );
        assert_eq!(complexity["steps_counted"], 13);
    }
}

#[test]
fn costs_fall_as_their_rungs_promise() {
    let found = json(&["--n", "16384"]);
    let counts: HashMap<&str, &serde_json::Value> = found["rungs"]
        .as_array()
        .expect("rungs")
        .iter()
        .map(|rung| (rung["name"].as_str().unwrap(), &rung["counts"]))
        .collect();
    let count = |rung: &str, name: &str| counts[rung][name].as_u64().expect("a count");
    for (worse, better, cost) in [
        ("01_atomic", "02_vector_atomic", "atomics"),
        ("03_global_interleaved", "04_global_sequential", "global_load_sectors"),
        ("04_global_sequential", "06_interleaved", "global_load_sectors"),
        ("06_interleaved", "07_strided_index", "divergent_branches"),
        ("07_strided_index", "08_sequential", "bank_conflicts"),
        ("08_sequential", "09_add_on_load", "block_barriers"),
        ("09_add_on_load", "10_unroll_last_warp", "block_barriers"),
        ("10_unroll_last_warp", "11_unrolled", "warp_instructions"),
        ("11_unrolled", "12_cascade", "block_barriers"),
        ("12_cascade", "13_shuffle", "shared_bytes_read"),
        ("13_shuffle", "14_vector_grid", "global_load_requests"),
        ("15_single_pass", "16_bulk_copy", "global_load_requests"),
    ] {
        let (before, after) = (count(worse, cost), count(better, cost));
        assert!(after < before, "{cost}: {before} in {worse}, {after} in {better}");
    }
}

#[test]
fn tables_have_a_row_a_rung() {
    let table = |format| run(["ladder", "--device", "simt", "--n", "999", "--format", format]);
    let text = table("text");
    let lines: Vec<&str> = text.value().lines().collect();
    assert!(lines[0].starts_with("sum of 999 f32"), "{}", lines[0]);
    assert!(lines[2].starts_with("rung") && lines[2].ends_with("W/P + S"), "{}", lines[2]);
    for part in ["16_bulk_copy", "library_exact", "horrific_kernel", "P = 16896"] {
        assert!(text.out.contains(part), "{part} is missing in\n{}", text.out);
    }
    let markdown = table("markdown");
    assert_eq!(markdown.value().lines().filter(|line| line.starts_with("| ")).count(), 22);
    let csv = table("csv");
    let mut rows = csv.value().lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next().expect("a header");
    assert_eq!(names[..4], ["rung", "n", "launches", "verified"]);
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), 20);
    assert!(rows.iter().all(|row| row.len() == names.len() && row[3] == "true"), "{rows:?}");
}

#[test]
fn one_rung_and_the_demonstration_stand_alone() {
    let found = json(&["--rung", "interleaved", "--rung", "8", "--n", "100"]);
    let names: Vec<_> = found["rungs"].as_array().unwrap().iter().map(|r| &r["name"]).collect();
    assert_eq!(names, ["06_interleaved", "08_sequential"]);
    assert!(found["divergence"].is_null());
    let found = json(&["--rung", "divergence"]);
    assert_eq!(found["rungs"], serde_json::json!([]));
    let kernels = found["divergence"]["kernels"].as_array().expect("a pair");
    let longest = |k: usize| kernels[k]["longest_warp"].as_f64().expect("a count");
    assert!(kernels.iter().all(|kernel| kernel["verified"] == true));
    assert!(longest(0) > 2.5 * longest(1), "{found}");
}

#[test]
fn a_rung_says_what_it_cannot_do() {
    let found = json(&[
        "--type",
        "complex128",
        "--op",
        "prod",
        "--n",
        "300",
        "--rung",
        "01",
        "--rung",
        "3",
    ]);
    assert!(found["rungs"][0]["verified"].is_null());
    let obstacle = found["rungs"][0]["obstacle"].as_str().expect("words");
    assert!(obstacle.contains("not on this type") && obstacle.contains("16 bytes"), "{obstacle}");
    assert_eq!(found["rungs"][1]["verified"], true);
    let found =
        json(&["--block", "96", "--n", "1000", "--rung", "10", "--rung", "11", "--rung", "5"]);
    assert_eq!(found["rungs"][1]["verified"], true);
    assert!(found["rungs"][2]["obstacle"].as_str().unwrap().contains("96"));
    assert_eq!(
        (&found["rungs"][0]["n"], &found["rungs"][0]["verified"]),
        (&1000.into(), &true.into())
    );
}

#[test]
fn the_processor_times_what_it_has() {
    let run = run(["ladder", "--device", "cpu", "--n", "1e5", "--runs", "4", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(run.value()).expect("one object");
    let rungs = found["rungs"].as_array().expect("rungs");
    let names: Vec<_> = rungs.iter().map(|rung| rung["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["host_serial", "host_tree", "library", "library_exact"]);
    for rung in rungs {
        assert_eq!((&rung["verified"], &rung["time"]["runs"]), (&true.into(), &4.into()), "{rung}");
        assert!(
            rung["time"]["median"].as_f64() > Some(0.0) && !rung["relative"]["library"].is_null()
        );
    }
}

#[test]
fn peers_stand_beside_and_files_are_written() {
    let folder = Folder::new();
    let line = r#"{"peer":"cub 300001","op":"sum","type":"i32","n":1000,"us":4.0,"gb_s":1.0}"#;
    let peers = folder.file("peers.jsonl", format!("{line}\n"));
    let file = folder.at("ladder.json");
    let arguments =
        ["ladder", "--device", "cpu", "--n", "1000", "--type", "i32", "--format", "csv"];
    let reported = run(arguments.iter().copied().chain([
        "--peers",
        &peers,
        "--export",
        file.to_str().unwrap(),
    ]));
    assert!(reported.value().contains("of_cub"));
    let kept: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(file).expect("written")).expect("JSON");
    assert!(kept["rungs"][0]["relative"]["cub 300001"].as_f64() > Some(0.0), "{kept}");
    let bad = folder.file("bad.jsonl", "none");
    run(["ladder", "--device", "simt", "--peers", &bad]).fails(2, &["bad.jsonl", "JSON"]);
}

#[test]
fn every_cell_can_be_verified() {
    let arguments = ["ladder", "--verify-all", "--device", "simt", "--n", "1000", "--sample", "60"];
    let reported = run(arguments.iter().copied().chain(["--seed", "3", "--format", "json"]));
    let found: serde_json::Value = serde_json::from_str(reported.value()).expect("one object");
    assert_eq!((&found["cells"], &found["wrong"]), (&60.into(), &serde_json::json!([])));
    assert_eq!(found["right"].as_u64().unwrap() + found["lacking"].as_u64().unwrap(), 60);
    let narrow = ["--rung", "9", "--type", "f64", "--op", "max", "--block", "64", "--n", "130"];
    let reported = run(["ladder", "--verify-all", "--device", "simt"].iter().chain(&narrow));
    // 0, 1, 2, 31, 32, 33, 63, 64, 65, 129.
    assert!(reported.value().starts_with("10 cells: 10 right, 0 wrong"), "{}", reported.out);
}

#[test]
fn what_makes_no_sense_is_refused_in_a_line() {
    let fails = |args: &[&str], words: &[&str]| {
        run(["ladder", "--device", "simt"].iter().chain(args)).fails(2, words);
    };
    fails(
        &["--rung", "intreleaved"],
        &["intreleaved", "did you mean \"06_interleaved\"", "divergence"],
    );
    fails(&["--type", "f23"], &["f23", "did you mean \"f32\"", "complex128"]);
    fails(&["--type", "u8"], &["u8", "i32"]);
    fails(&["--op", "mean"], &["mean", "prod"]);
    fails(&["--op", "min", "--type", "complex64"], &["min", "complex64", "no order"]);
    fails(&["--block", "100"], &["100", "96", "128"]);
    fails(&["--block", "0"], &["0", "32"]);
    fails(&["--block", "2048"], &["2048", "1024"]);
    fails(&["--n", "1e15"], &["1000000000000000", "arrays may take", "fewer"]);
    fails(&["--n", "-1"], &["-1"]);
    fails(&["--hot", "--cold"], &["--hot", "--cold"]);
    fails(&["--runs", "0"], &["0"]);
    fails(&["--sample", "3"], &["--verify-all"]);
    fails(&["--verify-all", "--block", "96"], &["nothing"]);
    run(["ladder", "--device", "cpu", "--rung", "8"]).fails(2, &["08_sequential", "simt"]);
    run(["ladder", "--device", "cpu", "--verify-all"]).fails(2, &["--verify-all", "simt"]);
}
