//! Signals at every stage: the first ends the program at once, by its own exit code, and nothing is left behind.

#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Folder, command, shell};

/// What is asked is a tenth of a second; a machine that is busy with other tests takes longer, and what does not listen takes for ever.
const SOON: Duration = Duration::from_secs(3);

/// Each signal, its exit code and its last words.
const SIGNALS: [(&str, i32, &str); 4] = [
    ("INT", 130, "warpfold: interrupted\n"),
    ("TERM", 143, "warpfold: terminated\n"),
    ("QUIT", 131, "warpfold: quit\n"),
    ("HUP", 129, "warpfold: the terminal was closed\n"),
];

fn send(child: &Child, signal: &str) {
    let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
}

/// Sends a signal, waits for the end, and returns its code and what standard error still holds.
fn end(mut child: Child, signal: &str) -> (Option<i32>, String) {
    let start = Instant::now();
    send(&child, signal);
    let status = child.wait().expect("it ends");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    let mut err = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut err).expect("UTF-8");
    (status.code(), err)
}

/// Starts the program on an input, waits until it reads, and expects each signal to end it.
fn ended(stdin: impl Fn() -> Stdio) {
    for (signal, code, words) in SIGNALS {
        let folder = Folder::new();
        let out = folder.at("result.json");
        let mut child = command()
            .args(["sum", "-", "--dtype", "u8", "--verbose", "--out"])
            .arg(&out)
            .stdin(stdin())
            .spawn()
            .expect("the program starts");
        let mut err = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        err.read_line(&mut line).expect("a line");
        assert!(line.starts_with("input: standard input"), "{line}");
        child.stderr = Some(err.into_inner());
        assert_eq!(end(child, signal), (Some(code), words.into()));
        assert_eq!(folder.names(), [""; 0]);
    }
}

#[test]
fn while_data_come_without_end() {
    ended(|| File::open("/dev/zero").expect("an endless file").into());
}

#[test]
fn while_waiting_for_data() {
    // Nobody writes to this pipe, and nobody closes it.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    ended(|| reader.try_clone().expect("a descriptor").into());
    drop(writer);
}

/// Starts the program, and tells that it listens by the handler that the system shows, where it does.
fn started(arguments: &[&str]) -> Child {
    let child = command().args(arguments).spawn().expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let start = Instant::now();
    while start.elapsed() < SOON {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // SIGTERM is registered before SIGHUP, which is number 1.
        if caught.is_some_and(|mask| mask & 1 == 1) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(100));
    child
}

#[test]
fn while_a_pipe_opens_or_a_long_computation_runs() {
    let folder = Folder::new();
    let fifo = folder.at("fifo.npy");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    let fifo = fifo.to_str().expect("UTF-8");
    for arguments in [
        &["sum", fifo][..],
        &["sum", fifo, "--input", "raw", "--dtype", "f64"],
        &["sum", fifo, "--input", "text"],
        &["sum", "--random", "1e12"],
        &["sum", "--random", "1e7", "--every", "1", "--device", "simt"],
        &["bench", "cpu"],
    ] {
        for (signal, code, words) in &SIGNALS[..2] {
            let (found, err) = end(started(arguments), signal);
            assert_eq!(found, Some(*code), "{arguments:?}: {err}");
            assert!(err.ends_with(words), "{arguments:?}: {err}");
        }
    }
}

#[test]
fn while_nobody_reads_the_results() {
    let folder = Folder::new();
    let values = folder.file("x", [1; 200_000]);
    for format in ["csv", "json"] {
        let child = started(&["sum", &values, "--dtype", "u8", "--every", "1", "--format", format]);
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(end(child, "INT"), (Some(130), SIGNALS[0].2.into()), "{format}");
    }
}

#[test]
fn while_a_result_file_is_written_and_replaced() {
    let folder = Folder::new();
    let values = folder.file("x", vec![1; 1 << 20]);
    let out = folder.at("r.csv");
    let path = out.to_str().expect("UTF-8");
    let arguments = ["sum", &values, "--dtype", "u8", "--every", "1", "--out", path];
    let whole = || {
        assert_eq!(command().args(arguments).output().expect("it runs").status.code(), Some(0));
        std::fs::read(&out).expect("a file")
    };
    let start = Instant::now();
    let expected = whole();
    let time = start.elapsed();
    for (k, replaced) in (0..16).zip([false, true].into_iter().cycle()) {
        match replaced {
            true => std::fs::write(&out, "old").expect("writable"),
            false => std::fs::remove_file(&out).unwrap_or_default(),
        }
        let mut child = command().args(arguments).spawn().expect("the program starts");
        std::thread::sleep(time * k / 14);
        send(&child, SIGNALS[k as usize % 2].0);
        child.wait().expect("it ends");
        match std::fs::read(&out) {
            Ok(found) if replaced => assert!(found == b"old" || found == expected),
            Ok(found) => assert!(found == expected),
            Err(_) => assert!(!replaced),
        }
        assert!(
            folder.names().iter().all(|name| name == "x" || name == "r.csv"),
            "{:?}",
            folder.names()
        );
    }
}

#[test]
fn a_limit_on_file_sizes_is_an_error() {
    let folder = Folder::new();
    let values = folder.file("x", [1; 20_000]);
    let at = folder.path().display();
    let many = format!("warpfold sum '{values}' --dtype u8 --every 1");
    for extension in ["csv", "json", "npy", "npz"] {
        shell(&format!("ulimit -f 8; {many} --out '{at}/r.{extension}'"))
            .fails(1, &["cannot write", &format!("r.{extension}"), "File too large"]);
        assert_eq!(folder.names(), ["x"]);
    }
    let found = shell(&format!("ulimit -f 8; {many} --format csv >'{at}/printed'"));
    found.fails(1, &["cannot write standard output: File too large"]);
}
