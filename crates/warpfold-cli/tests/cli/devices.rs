//! Devices: what is listed, what is taken, and what is said where there is none. GPUs are hidden here, so that every machine is like one
//! without; on one that has no driver either, that is what is said.

use std::process::Command;

use crate::program::{Folder, Run, command, finish};

/// The program on a machine without a GPU and with a configuration folder of the test's own.
fn hidden(folder: &Folder) -> Command {
    let mut command = command();
    command.env("CUDA_VISIBLE_DEVICES", "-1").env("XDG_CONFIG_HOME", folder.path());
    command
}

fn run(folder: &Folder, args: &[&str]) -> Run {
    finish(hidden(folder).args(args))
}

/// What must be said of any obstacle.
const OBSTACLE: &[&str] = &["NVIDIA", "CPU"];

#[test]
fn the_list_has_the_processor_and_says_why_there_is_no_gpu() {
    let folder = Folder::new();
    let text = run(&folder, &["devices"]);
    let lines: Vec<_> = text.value().lines().collect();
    let [cpu, cuda] = lines[..] else { panic!("{lines:?}") };
    assert!(cpu.starts_with("cpu ") && cpu.contains("cores") && cpu.contains("caches"), "{cpu}");
    assert!(cpu.contains("baseline") || cpu.contains("avx"), "{cpu}");
    assert!(cuda.starts_with("cuda ") && OBSTACLE.iter().all(|w| cuda.contains(w)), "{cuda}");
    let json = run(&folder, &["devices", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(json.value()).unwrap();
    assert!(found["cpu"]["cores"].as_u64().unwrap() > 0 && found["cpu"]["isa"].is_string());
    assert_eq!(found["gpus"], serde_json::json!([]));
    assert!(cuda.contains(found["obstacle"].as_str().unwrap()));
    run(&folder, &["devices", "--format", "xml"]).fails(2, &["text", "json"]);
}

#[test]
fn a_gpu_asked_for_by_name_is_never_replaced() {
    let folder = Folder::new();
    for device in ["cuda", "cuda:0", "CUDA:7"] {
        for op in ["sum", "max", "stats"] {
            run(&folder, &[op, "--random", "100", "--device", device]).fails(2, OBSTACLE);
        }
        let pair = ["dot", "--random", "100", "--dtype", "i32", "--device", device];
        run(&folder, &pair).fails(2, OBSTACLE);
    }
}

#[test]
fn auto_takes_the_processor_and_says_why() {
    let folder = Folder::new();
    let quiet = run(&folder, &["sum", "--random", "1000", "--device", "auto"]);
    let cpu = run(&folder, &["sum", "--random", "1000", "--device", "cpu"]);
    assert_eq!(quiet.value(), cpu.value());
    let reported = run(&folder, &["sum", "--random", "1000", "--verbose"]);
    assert_eq!((reported.code, &reported.out), (Some(0), &cpu.out));
    let line = reported.err.lines().find(|line| line.starts_with("device: ")).expect("a reason");
    for word in ["auto takes cpu", "host memory", "no tuning file", "NVIDIA"] {
        assert!(line.contains(word), "{word:?} is missing in: {line}");
    }
    let json = run(&folder, &["sum", "--random", "1000", "--format", "json"]);
    assert!(json.value().contains("\"device\":\"cpu\""));
    let arguments = run(&folder, &["sum", "--random", "1000", "--verbose", "--device", "cpu"]);
    assert!(!arguments.err.contains("device:"), "{}", arguments.err);
}

#[test]
fn bad_devices() {
    let folder = Folder::new();
    for device in ["gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:123456", "nvidia", ""] {
        let wrong = run(&folder, &["sum", "--random", "10", "--device", device]);
        wrong.fails(2, &["--device", "auto, cpu, cuda, cuda:N and simt"]);
    }
}

#[test]
fn nothing_is_tuned_or_measured_without_a_gpu() {
    let folder = Folder::new();
    run(&folder, &["tune"]).fails(2, OBSTACLE);
    run(&folder, &["tune", "--device", "cuda:1"]).fails(2, OBSTACLE);
    run(&folder, &["tune", "--device", "cpu"]).fails(2, &["--device", "cuda"]);
    run(&folder, &["bench", "cuda"]).fails(2, OBSTACLE);
    let segments = ["bench", "segments", "--device", "cuda"];
    run(&folder, &[&segments[..], &["--export", "segments.json"]].concat()).fails(2, OBSTACLE);
    run(&folder, &[&segments[..], &["--n", "5"]].concat()).fails(2, &["--n 5", "2^24"]);
    run(&folder, &[&segments[..], &["--threads", "2"]].concat()).fails(2, &["--threads"]);
    run(&folder, &["bench", "segments", "--peers", "p"]).fails(2, &["--peers"]);
    assert!(folder.names().is_empty(), "nothing is written");
}

/// A measurement of a fast link, as `warpfold tune` writes it.
const FAST: &str = r#"{"schema": 1, "warpfold": "0.1.0", "date": "2026-01-01T00:00:00Z", "gpus": [{
    "name": "A fast GPU", "facts": {"compute": 90, "multiprocessors": 132}, "driver": 13000,
    "link": {"gpu": 5e10, "cpu": 1e10, "open": 0.0}, "rows": []}]}"#;

#[test]
fn auto_weighs_what_was_measured_and_falls_back() {
    let folder = Folder::new();
    let file = folder.file("tuning.json", FAST);
    let args = ["sum", "--random", "1e6", "--verbose", "--tuning", &file];
    let reported = run(&folder, &args);
    assert_eq!(reported.code, Some(0), "{reported:?}");
    for word in ["auto takes cpu", "50.0 GB/s over the link", "10.0 GB/s on the processor", "but"] {
        assert!(reported.err.contains(word), "{word:?} is missing in: {}", reported.err);
    }
    let slow = folder.file("slow.json", FAST.replace("5e10", "5e9"));
    let reported = run(&folder, &["sum", "--random", "1e6", "--verbose", "--tuning", &slow]);
    assert!(reported.err.contains("5.0 GB/s over the link"), "{}", reported.err);
}

#[test]
fn a_wrong_tuning_file_is_a_warning_and_an_error_if_it_was_named() {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("warpfold")).unwrap();
    let path = folder.file("warpfold/tuning.json", FAST);
    let args = ["sum", "--random", "1000"];
    let value = run(&folder, &args).value().to_string();
    let huge = "x".repeat(2 << 20);
    let shape = |block: u32, per: u32| {
        let row = format!(
            "\"rows\": [{{\"fold\": \"sum\", \"dtype\": \"f32\", \"from\": 0, \"below\": 9, \"bytes\": 1, \"microseconds\": 1.0, \
             \"rule_microseconds\": 1.0, \"shape\": {{\"block\": {block}, \"per_multiprocessor\": {per}, \"packs\": 2, \"alone\": 0}}}}]"
        );
        FAST.replace("\"rows\": []", &row)
    };
    assert_eq!(shape(512, 2).matches("block").count(), 1);
    for (text, words) in [
        (String::new(), vec!["no tuning"]),
        ("{\"schema\": 99}".into(), vec!["version 99", "reads 1"]),
        (FAST.replace("\"date\"", "\"day\""), vec!["no tuning"]),
        (FAST.replace("5e10", "-1"), vec!["A fast GPU", "rates"]),
        (FAST.replace("5e10", "1e999"), vec!["no tuning"]),
        (shape(1024, 2), vec!["sum_f32", "not 1024"]),
        (shape(512, 4_000_000), vec!["4000000"]),
        ("[".repeat(100_000), vec!["no tuning"]),
        ("\u{feff}".to_owned() + FAST, vec!["no tuning"]),
        (huge, vec!["more than"]),
    ] {
        std::fs::write(&path, &text).unwrap();
        let words: Vec<&str> = [vec![path.as_str(), "--tuning none"], words].concat();
        let warned = run(&folder, &args);
        assert_eq!((warned.code, warned.out.trim_end()), (Some(0), value.as_str()));
        assert!(warned.err.starts_with("warpfold: warning: ") && warned.err.lines().count() == 1);
        assert!(words.iter().all(|word| warned.err.contains(word)), "{words:?}: {}", warned.err);
        run(&folder, &["sum", "--random", "1000", "--tuning", &path]).fails(2, &words);
        let ignored = run(&folder, &["sum", "--random", "1000", "--tuning", "none"]);
        assert_eq!(ignored.value(), value);
        // A device that is named does not depend on what was measured.
        assert_eq!(run(&folder, &["sum", "--random", "1000", "--device", "cpu"]).value(), value);
    }
    std::fs::write(&path, [0xff, 0xfe, 0]).unwrap();
    assert!(run(&folder, &args).err.contains("no text"));
    run(&folder, &[&args[..], &["--tuning", &path]].concat()).fails(2, &[&path, "no text"]);
    // A folder in its place, or a file where its folder should be.
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(run(&folder, &args).err.contains("warning") && run(&folder, &args).code == Some(0));
    std::fs::remove_dir_all(folder.at("warpfold")).unwrap();
    folder.file("warpfold", "");
    assert_eq!(run(&folder, &args).out.trim_end(), value);
    run(&folder, &["sum", "--random", "1", "--tuning", "missing.json"])
        .fails(2, &["missing.json", "o such file"]);
    let directory = folder.path().to_str().unwrap();
    run(&folder, &["sum", "--random", "1", "--tuning", directory]).fails(2, &["no file"]);
}

#[test]
fn relative_configuration_folders_do_not_count() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.at("here/warpfold")).unwrap();
    folder.file("here/warpfold/tuning.json", "wrong");
    let mut command = hidden(&folder);
    command.current_dir(folder.path()).env("XDG_CONFIG_HOME", "here").env_remove("HOME");
    assert_eq!(finish(command.args(["sum", "--random", "10"])).code, Some(0));
}
