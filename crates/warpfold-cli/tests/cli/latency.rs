//! How long the program lives after its first signal, at every stage; `WARPFOLD_SIGNALS_RECORD=1` writes `results/signals.json`.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::arrays::{dictionary, npy_header};
use crate::program::{Folder, command};

/// What the program reads.
enum Feed {
    Nothing,
    Zeros,
    /// Some bytes, and others for ever after.
    Pipe(Vec<u8>, &'static [u8]),
}

/// When the signal is sent.
enum When {
    /// A while after the program listens.
    Busy,
    /// Once it has written so many bytes.
    Written(u64),
}

struct Stage {
    name: &'static str,
    arguments: Vec<String>,
    feed: Feed,
    when: When,
}

fn stages(folder: &Folder) -> Vec<Stage> {
    let fifo = folder.at("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    // Zeros without end, as far as this is concerned: 32 GiB that take no room.
    let elements: u64 = 1 << 32;
    let header =
        |elements: u64| npy_header(1, &dictionary("<f8", false, &format!("({elements},)")), 64);
    let sparse = folder.file("sparse.npy", header(elements));
    let file = fs::OpenOptions::new().write(true).open(&sparse).expect("it is there");
    file.set_len(header(elements).len() as u64 + 8 * elements).expect("sparse files");
    let stage = |name, arguments: &str, feed, when| {
        let arguments = arguments.split(' ').map(str::to_owned).collect();
        Stage { name, arguments, feed, when }
    };
    let at = |name: &str| folder.at(name).display().to_string();
    let many = |file: &str| format!("sum --random 2e7 --every 1 --out {}", at(file));
    let rows = |row: &'static str| Feed::Pipe(Vec::new(), row.as_bytes());
    vec![
        stage(
            "opening a pipe",
            &format!("sum {} --dtype u8", at("fifo")),
            Feed::Nothing,
            When::Busy,
        ),
        stage("reading raw elements", "sum - --dtype u8", Feed::Zeros, When::Busy),
        stage("reading words", "sum - --input text --delimiter space", rows("1 2 3\n"), When::Busy),
        stage("reading CSV", "sum - --input text --delimiter ,", rows("1,2,3\n"), When::Busy),
        stage(
            "reading .npy",
            "sum - --input npy",
            Feed::Pipe(header(1 << 40), &[0; 4096]),
            When::Busy,
        ),
        stage("taking an input into memory", "sum - --dtype u8 --every 2", Feed::Zeros, When::Busy),
        stage(
            "folding a mapped .npy",
            &format!("var {}", at("sparse.npy")),
            Feed::Nothing,
            When::Busy,
        ),
        stage(
            "folding segments of a mapped .npy",
            &format!("var {} --every 4096", at("sparse.npy")),
            Feed::Nothing,
            When::Busy,
        ),
        stage("folding random numbers", "sum --random 1e12", Feed::Nothing, When::Busy),
        stage("simulating a GPU", "sum --random 1e7 --device simt", Feed::Nothing, When::Busy),
        stage(
            "printing what nobody reads",
            "sum --random 1e5 --every 1 --format csv",
            Feed::Nothing,
            When::Busy,
        ),
        stage("writing a .csv", &many("r.csv"), Feed::Nothing, When::Written(1 << 20)),
        stage("writing a .json", &many("r.json"), Feed::Nothing, When::Written(1 << 20)),
        stage("writing a .npz", &many("r.npz"), Feed::Nothing, When::Written(1 << 12)),
    ]
}

fn started(stage: &Stage) -> Child {
    let mut command = command();
    command.args(&stage.arguments);
    match &stage.feed {
        Feed::Nothing => {}
        Feed::Zeros => drop(command.stdin(File::open("/dev/zero").expect("endless zeros"))),
        Feed::Pipe(..) => drop(command.stdin(Stdio::piped())),
    }
    let mut child = command.spawn().expect("the program starts");
    if let Feed::Pipe(head, rest) = &stage.feed {
        let mut pipe = child.stdin.take().expect("piped");
        let (head, rest) = (head.clone(), rest.repeat(4096));
        // It ends when the program does.
        std::thread::spawn(move || {
            let mut written = pipe.write_all(&head);
            while written.is_ok() {
                written = pipe.write_all(&rest);
            }
        });
    }
    child
}

/// Waits until the stage is reached; false if the program has ended before.
fn reached(child: &mut Child, stage: &Stage) -> bool {
    let shown = |file: &str, name: &str, radix| {
        let path = format!("/proc/{}/{file}", child.id());
        let text = fs::read_to_string(path).unwrap_or_default();
        let value =
            text.lines().find_map(|line| line.strip_prefix(name).map(str::trim).map(str::to_owned));
        value.and_then(|value| u64::from_str_radix(&value, radix).ok()).unwrap_or(0)
    };
    let start = Instant::now();
    // SIGHUP, number 1, is the last that is listened to.
    while shown("status", "SigCgt:", 16) & 1 == 0 && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(2));
    }
    match stage.when {
        When::Busy => std::thread::sleep(Duration::from_millis(150)),
        When::Written(bytes) => {
            while shown("io", "wchar:", 10) < bytes && start.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
    child.try_wait().expect("a child").is_none()
}

/// Milliseconds from each signal to the end of the process.
fn times(stage: &Stage, folder: &Path, runs: usize) -> Vec<f64> {
    let mut times = Vec::new();
    for (signal, code) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)].into_iter().cycle().take(runs)
    {
        let before = names(folder);
        let mut child = started(stage);
        if !reached(&mut child, stage) {
            continue;
        }
        let sent = Instant::now();
        // SAFETY: the child has not been waited for, so that its number is its own; the call touches no memory.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        let status = child.wait().expect("it ends");
        times.push(sent.elapsed().as_secs_f64() * 1e3);
        assert_eq!(status.code(), Some(code), "{}", stage.name);
        assert_eq!(names(folder), before, "{}: something is left behind", stage.name);
    }
    times
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    names.sort();
    names
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/signals.json")
}

/// Written as it is measured, so that the tests beside it are not in the way: this one alone, in a run of its own.
#[test]
fn the_first_signal_ends_every_stage() {
    let record = std::env::var_os("WARPFOLD_SIGNALS_RECORD").is_some();
    let runs = if record { 20 } else { 2 };
    let folder = Folder::new();
    let mut rows = Vec::new();
    for stage in stages(&folder) {
        let mut times = times(&stage, folder.path(), runs);
        assert!(!times.is_empty(), "{}: it ended before the signal", stage.name);
        times.sort_by(f64::total_cmp);
        let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
        // A machine that is busy with other tests takes longer than a tenth of a second; what does not listen takes for ever.
        assert!(most < 3000.0, "{}: {most} ms", stage.name);
        let rounded = |time: f64| (time * 100.0).round() / 100.0;
        rows.push(serde_json::json!({
            "stage": stage.name, "runs": times.len(), "median_ms": rounded(median), "most_ms": rounded(most),
        }));
    }
    if record {
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let report = serde_json::json!({ "load": load.trim(), "signals": ["SIGINT", "SIGTERM"], "stages": rows });
        let text = serde_json::to_string_pretty(&report).expect("JSON") + "\n";
        fs::write(recorded(), text).expect("writable");
    }
}

#[test]
fn the_recorded_times_are_below_a_tenth_of_a_second() {
    let text = fs::read_to_string(recorded()).expect("results/signals.json is there");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let stages = report["stages"].as_array().expect("a list");
    assert!(stages.len() >= 14);
    for stage in stages {
        assert!(stage["runs"].as_u64() >= Some(10), "{stage}");
        assert!(stage["most_ms"].as_f64().is_some_and(|most| most < 100.0), "{stage}");
    }
}
