//! `warpfold replay`: each document's experiment, in its own tables, without a GPU.

use crate::program::{Folder, run};

fn replayed(document: &str, format: &str) -> String {
    let run = run(["replay", document, "--device", "simt", "--format", format]);
    run.value().to_owned() + "\n"
}

fn json(document: &str) -> serde_json::Value {
    serde_json::from_str(&replayed(document, "json")).expect("one object")
}

/// Everything that was run, of every ladder, was right.
#[track_caller]
fn all_right(found: &serde_json::Value) {
    let ladders = found["ladders"].as_array().expect("ladders");
    for row in ladders.iter().flat_map(|ladder| ladder["rungs"].as_array().expect("rungs")) {
        assert_eq!(row["verified"], true, "{row}");
    }
}

#[test]
fn the_blog_has_its_table_with_its_errors_marked() {
    let text = replayed("blog", "text");
    for part in [
        "everything ran once in the simulator, over 65536 elements",
        "relative to jnp.sum",
        "24.7 % (!)",
        "331, 335 (!)",
        "0.136 (!)",
        "0.1434",
        "jnp.sum, torch and CUB run on a GPU",
        "float4 and N counts floats",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    assert!(!text.contains("  NO\n"), "{text}");
    let found = json("blog");
    all_right(&found);
    assert_eq!((&found["document"], &found["simulated"]), (&"blog".into(), &65536.into()));
    let errors = found["errors"].as_array().expect("errors");
    assert!(errors.iter().any(|error| error["printed"] == "24.7"), "{errors:?}");
    let published = found["published"].as_array().expect("published");
    let of_rung = |rung: &str| published.iter().filter(|figure| figure["rung"] == rung).count();
    assert_eq!((of_rung("01_atomic"), of_rung("08_sequential")), (1, 3));
}

#[test]
fn the_lesson_runs_bytes_in_blocks_of_512_and_counts_what_leaves_the_block() {
    let found = json("lesson");
    all_right(&found);
    let ladder = &found["ladders"][0];
    assert_eq!((&ladder["block"], &ladder["data"]), (&512.into(), &"bytes".into()));
    assert!(replayed("lesson", "markdown").contains("| sectors an element |"));
}

#[test]
fn the_slides_print_their_number_and_solve_their_exercise() {
    let text = replayed("slides", "text");
    for part in [
        "Serial results",
        "<<<64, 1024>>>",
        "<<<1024, 1024>>>",
        "Exercise: the maximum of 65536 i32",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    let found = json("slides");
    all_right(&found);
    let [sum, max] = [0, 1].map(|k| &found["ladders"][k]);
    assert_eq!((&sum["op"], &max["op"]), (&"sum".into(), &"max".into()));
    let of = |rung: &str| {
        let rows = sum["rungs"].as_array().expect("rungs");
        rows.iter().find(|row| row["name"] == rung).expect("the rung")["value"].clone()
    };
    assert_eq!(of("08_sequential"), "65536", "as many ones");
    assert_eq!(of("host_serial"), of("04_global_sequential"));
}

#[test]
fn the_thesis_has_its_table_three_figures_and_the_pair() {
    let text = replayed("thesis", "text");
    for part in [
        "127.1 ± 1.0 %",
        "figure 4.1",
        "figure 4.2",
        "figure 4.3",
        "complex128",
        "horrific_kernel",
        "1.3e8",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    let found = json("thesis");
    all_right(&found);
    let over: Vec<&str> = found["sweeps"]
        .as_array()
        .expect("sweeps")
        .iter()
        .filter_map(|s| s["over"].as_str())
        .collect();
    assert_eq!(over, ["block", "size", "type"]);
    let kernels = found["divergence"]["kernels"].as_array().expect("the pair");
    let longest = |k: usize| kernels[k]["longest_warp"].as_u64().expect("a count");
    assert!(longest(0) > 2 * longest(1), "{kernels:?}");
}

#[test]
fn the_guides_matrix_is_counted() {
    let text = replayed("guide", "text");
    for part in [
        "op=reduce version=v7 rung=13_shuffle n=65536",
        "Comparison matrix, counted",
        "✓ (8×)  8",
        "6 barriers",
    ] {
        assert!(
            text.contains(part) || part == "6 barriers" && text.contains("6.000 barriers"),
            "{part:?} is missing in\n{text}"
        );
    }
    // The marks hold: V0 splits its warps in every step, V1 conflicts, V2 does neither, V7 exchanges registers.
    let csv = replayed("guide", "csv");
    let cells = |version: &str| -> Vec<String> {
        let line = csv
            .lines()
            .find(|line| line.starts_with(&format!("\"Comparison matrix, counted\",{version},")));
        line.unwrap_or_else(|| panic!("{version} is missing in\n{csv}"))
            .split(',')
            .skip(3)
            .map(str::to_owned)
            .collect()
    };
    let count = |version: &str, column: usize| -> f64 {
        cells(version)[column].split("  ").nth(1).expect("a count").parse().expect("a number")
    };
    assert!(count("V0", 0) > 4.0 * count("V1", 0), "divergence");
    assert!(count("V1", 1) > 0.0 && count("V2", 1) == 0.0, "bank conflicts");
    assert!(count("V3", 3) >= count("V4", 3) + 6.0, "six barriers, not five");
    assert!(count("V6", 6) == 0.0 && count("V7", 6) > 5.0, "shuffles");
}

#[test]
fn harris_has_steps_and_cumulative_speed_ups() {
    let text = replayed("harris", "text");
    for part in ["8.054", "2.33×", "30.05×", "62.671", "Kernel 7 on 32 M elements"] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    all_right(&json("harris"));
}

#[test]
fn a_replay_is_kept_in_a_file_and_what_cannot_be_is_said() {
    let folder = Folder::new();
    let file = folder.at("harris.json");
    let path = file.to_str().expect("UTF-8");
    run(["replay", "harris", "--device", "simt", "--export", path]).value();
    let kept: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    assert_eq!((&kept["document"], &kept["schema"]), (&"harris".into(), &1.into()));

    let fails = |args: &[&str], words: &[&str]| run(["replay"].iter().chain(args)).fails(2, words);
    fails(&["blogg"], &["blogg", "blog"]);
    fails(&["blog", "--device", "cpu"], &["--device cpu", "simt"]);
    fails(&["blog", "--peers", "/no/such/file"], &["--peers", "/no/such/file"]);
    run(["replay", "blog", "--export", "/no/such/folder/x.json"])
        .fails(1, &["/no/such/folder/x.json"]);
}
