//! Devices as drivers of all sorts tell them: a library that stands in for the driver's says what the test wants.
#![cfg(all(target_os = "linux", feature = "cuda"))]

use std::process::Command;
use std::sync::OnceLock;

use crate::program::{Folder, Run, command, finish};

/// Runs the program with the driver that stands in.
fn with_driver(says: &[(&str, &str)], args: &[&str]) -> Run {
    static DRIVER: OnceLock<Folder> = OnceLock::new();
    let folder = DRIVER.get_or_init(|| {
        let folder = Folder::new();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake_driver/lib.rs");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let built = Command::new(rustc)
            .args(["--edition", "2024", "--crate-type", "cdylib", source, "-o"])
            .arg(folder.at("libcuda.so"))
            .status();
        assert!(built.expect("rustc runs").success());
        folder
    });
    let mut command = command();
    command.env("LD_LIBRARY_PATH", folder.path()).env_remove("CUDA_VISIBLE_DEVICES");
    finish(command.envs(says.iter().copied()).args(args))
}

fn obstacle(says: &[(&str, &str)], words: &[&str]) {
    let listed = with_driver(says, &["devices"]);
    for word in words {
        assert!(listed.value().contains(word), "{word:?} is missing in: {}", listed.out);
    }
    let mut words = words.to_vec();
    words.push("CPU");
    with_driver(says, &["sum", "--random", "9", "--device", "cuda"]).fails(2, &words);
    with_driver(says, &["bench", "cuda"]).fails(2, &words);
    with_driver(says, &["tune"]).fails(2, &words);
    with_driver(says, &["ladder", "--device", "cuda"]).fails(2, &words);
}

#[test]
fn the_ladder_says_why_it_counts_in_place_of_timing() {
    let reported = with_driver(&[("FAKE_COUNT", "0")], &["ladder", "--n", "64", "--rung", "6"]);
    assert_eq!(reported.code, Some(0), "{reported:?}");
    assert!(
        reported.err.contains("in the simulator") && reported.err.contains("shows none"),
        "{}",
        reported.err
    );
    assert!(
        reported.out.contains("06_interleaved") && reported.out.contains("conflicts"),
        "{}",
        reported.out
    );
}

#[test]
fn a_driver_that_is_too_old_is_told_its_version() {
    obstacle(&[("FAKE_VERSION", "11040")], &["CUDA 11.4", "12.0", "525", "update"]);
}

#[test]
fn a_driver_that_fails_is_quoted() {
    obstacle(&[("FAKE_INIT", "100")], &["no device is detected", "CUDA_ERROR_OF_THE_TEST"]);
}

#[test]
fn a_driver_that_shows_no_gpu() {
    obstacle(&[("FAKE_COUNT", "0")], &["shows none", "CUDA_VISIBLE_DEVICES"]);
}

#[test]
fn gpus_are_listed_with_their_facts() {
    let says = [("FAKE_COUNT", "2")];
    let listed = with_driver(&says, &["devices"]);
    let lines: Vec<_> = listed.value().lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[2].starts_with("cuda:1  Fake GPU, 8 GiB of memory, 132 multiprocessors"));
    for word in ["capability 9.0", "50MiB", "1980 and 3201 MHz", "CUDA 13.0", "link unknown"] {
        assert!(lines[1].contains(word), "{word:?} is missing in: {}", lines[1]);
    }
    let json = with_driver(&says, &["devices", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(json.value()).unwrap();
    assert_eq!(found["gpus"][1]["device"], "cuda:1");
    assert_eq!(found["gpus"][0]["memory"], 8u64 << 30);
    assert!(found["obstacle"].is_null() && found["gpus"][0]["obstacle"].is_null());
    let reported = with_driver(&says, &["sum", "--random", "1000", "--verbose"]);
    assert!(
        reported.err.contains("auto takes cpu") && reported.err.contains("cuda:1 has"),
        "{}",
        reported.err
    );
}

#[test]
fn a_gpu_that_is_too_old_is_listed_and_told_why() {
    let listed = with_driver(&[("FAKE_COMPUTE", "61")], &["devices"]);
    let last = listed.value().lines().last().unwrap();
    for word in ["cannot be used", "6.1", "7.0"] {
        assert!(last.contains(word), "{last}");
    }
    let sum = ["sum", "--random", "9", "--dtype", "i32", "--device", "cuda"];
    with_driver(&[("FAKE_COMPUTE", "61")], &sum).fails(2, &["cuda:0, Fake GPU", "6.1", "7.0"]);
}

#[test]
fn a_number_that_no_gpu_has() {
    let sum = ["sum", "--random", "9", "--dtype", "i32", "--device", "cuda:7"];
    with_driver(&[], &sum).fails(2, &["GPU 7", "warpfold devices"]);
}
