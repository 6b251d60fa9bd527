//! Ctrl-C.

#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Folder, command};

/// Starts the program on an input that never ends, interrupts it, and expects a clean end.
fn interrupted(stdin: Stdio) {
    let folder = Folder::new();
    let out = folder.at("result.json");
    let mut child = command()
        .args(["sum", "-", "--dtype", "u8", "--verbose", "--out"])
        .arg(&out)
        .stdin(stdin)
        .spawn()
        .expect("the program starts");
    // It says what it reads once it listens.
    let mut err = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    err.read_line(&mut line).expect("a line");
    assert!(line.starts_with("input: standard input"), "{line}");
    std::thread::sleep(Duration::from_millis(100));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let start = Instant::now();
    let status = child.wait().expect("it ends");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(status.code(), Some(130));
    let (mut out, mut rest) = (String::new(), String::new());
    child.stdout.take().expect("piped").read_to_string(&mut out).expect("UTF-8");
    err.read_to_string(&mut rest).expect("UTF-8");
    assert_eq!((out.as_str(), rest.as_str()), ("", "warpfold: interrupted\n"));
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn while_data_come_without_end() {
    interrupted(File::open("/dev/zero").expect("an endless file").into());
}

#[test]
fn while_waiting_for_data() {
    // Nobody writes to this pipe, and nobody closes it: its other end is a process that sleeps.
    let mut sleeper =
        Command::new("sleep").arg("60").stdout(Stdio::piped()).spawn().expect("sleep runs");
    interrupted(sleeper.stdout.take().expect("piped").into());
    sleeper.kill().expect("it still sleeps");
    sleeper.wait().expect("it ends");
}
