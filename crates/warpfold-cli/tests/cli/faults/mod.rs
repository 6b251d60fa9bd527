//! Faults of the system at every stage of the program, and what comes of each: exit code, message, result file.
//!
//! `docs/faults.md` is the table that these runs make; `WARPFOLD_FAULTS_RECORD=1` writes it anew. Where there is no C compiler, faults that take a
//! preloaded library are left out of the comparison.

#![cfg(target_os = "linux")]

mod cells;
mod changes;
pub(crate) mod preload;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use cells::{Cell, Signal};
use preload::Preload;

use crate::program::Folder;

/// What stands in the result file before each run.
const BEFORE: &str = "before\n";

/// Where the table begins in the document.
const MARK: &str = "<!-- made by the tests of the program -->";

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/faults.md")
}

/// What came of a run.
struct Outcome {
    status: ExitStatus,
    out: String,
    err: String,
    /// What the result file holds.
    file: String,
    /// Files that nobody asked for.
    left: Vec<String>,
}

/// The folder of a run: inputs of each kind, all of the same sum, a pipe, and a result file from before.
fn folder() -> Folder {
    let folder = Folder::new();
    let values: Vec<u8> = (0..2000).map(|k| (k % 7) as u8).collect();
    folder.file("input.raw", &values);
    let text = values.iter().fold(String::new(), |text, value| text + &format!("{value}\n"));
    folder.file("input.txt", &text);
    folder.file("input.csv", &text);
    let npy = |descr, elements: usize, bytes: &[u8]| {
        let header = crate::arrays::dictionary(descr, false, &format!("({elements},)"));
        [&crate::arrays::npy_header(1, &header, 64), bytes].concat()
    };
    folder.file("input.npy", npy("|u1", 2000, &values));
    let swapped: Vec<u8> = values.iter().flat_map(|&value| [0, value]).collect();
    folder.file("input.swapped.npy", npy(">u2", 2000, &swapped));
    // The same sum, over several pages.
    let mut pages = values;
    pages.resize(20_000, 0);
    folder.file("input.pages.npy", npy("|u1", 20_000, &pages));
    folder.file("input.keys.npy", npy("|u1", 2000, &[0; 2000]));
    folder.file("input.keys.txt", "0\n".repeat(2000));
    folder.file("input.keys.length.txt", "2000\n0\n");
    fs::File::create(folder.at("input.big"))
        .and_then(|file| file.set_len(1 << 30))
        .expect("sparse");
    let mkfifo = Command::new("mkfifo").arg(folder.at("input.fifo")).status();
    assert!(mkfifo.expect("mkfifo runs").success());
    folder.file("result.csv", BEFORE);
    folder
}

fn command(cell: &Cell, folder: &Folder, preload: Option<&Preload>) -> Command {
    // The program takes the shell's place, so that it is what signals reach; faults are for it alone.
    let faults = match (preload, &cell.preload) {
        (Some(preload), Some(_)) => format!("LD_PRELOAD='{}' ", preload.path().display()),
        _ => String::new(),
    };
    let program = format!("{faults}exec '{}' ", env!("CARGO_BIN_EXE_warpfold"));
    let mut command = Command::new("sh");
    command.args(["-c", &cell.script.replace("warpfold ", &program)]).current_dir(folder.path());
    command.env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"));
    command.env_remove("CLICOLOR_FORCE").env_remove("RUST_BACKTRACE");
    command.env("WARPFOLD_FAULT", cell.preload.as_deref().unwrap_or_default());
    command.env("WARPFOLD_MARK", folder.at(".mark")).env("WARPFOLD_FOLDER", folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    crate::program::listen_to_signals(&mut command);
    command
}

fn run(cell: &Cell, preload: Option<&Preload>) -> Outcome {
    // On busy cores a program may be done before it is seen at a stage.
    let mut tries = (0..5).map(|_| try_to_run(cell, preload));
    tries.find_map(|outcome| outcome).expect("the program is seen at the stage")
}

/// `None` if the program ended before it was seen at the stage of the cell's signal.
fn try_to_run(cell: &Cell, preload: Option<&Preload>) -> Option<Outcome> {
    let folder = folder();
    let mut command = command(cell, &folder, preload);
    // A pipe that is open and stays empty, for who waits for data.
    let (empty, writer) = std::io::pipe().expect("a pipe");
    if cell.signal == Some(Signal::Waiting) {
        command.stdin(empty);
    }
    if cell.fault == cells::NO_READER {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        command.stdout(writer);
    }
    let mut child = command.spawn().expect("the program starts");
    let (signal, sent) = match cell.signal {
        None => (None, Instant::now()),
        Some(stage) => {
            if !wait_for(&mut child, stage, &folder.at(".mark")) {
                return None;
            }
            let kill = Command::new("kill").args([cell.fault, &child.id().to_string()]).status();
            assert!(kill.expect("kill runs").success());
            (Some(stage), Instant::now())
        }
    };
    let output = child.wait_with_output().expect("it ends");
    drop(writer);
    if signal.is_some() {
        assert!(sent.elapsed() < Duration::from_secs(3), "{}: {:?}", cell.name(), sent.elapsed());
    }
    let file = fs::read_to_string(folder.at("result.csv")).unwrap_or_default();
    let known = ["input.", "result.csv", "printed", ".mark"];
    let is_left = |name: &String| !known.iter().any(|known| name.starts_with(known));
    let left = folder.names().into_iter().filter(is_left).collect();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    Some(Outcome { status: output.status, out, err, file, left })
}

/// Waits until the program has come to a stage; false if it has ended before.
fn wait_for(child: &mut Child, stage: Signal, mark: &Path) -> bool {
    let start = Instant::now();
    let process = child.id();
    let has_come = || match stage {
        Signal::Stalled => mark.exists(),
        // Signals are listened to, the last of them SIGHUP, before anything is opened.
        _ => fs::read_to_string(format!("/proc/{process}/status"))
            .unwrap_or_default()
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask & 1 == 1),
    };
    while !has_come() {
        if child.try_wait().expect("a child").is_some() {
            return false;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "the stage is never reached");
        std::thread::sleep(Duration::from_millis(10));
    }
    if stage != Signal::Stalled {
        std::thread::sleep(Duration::from_millis(200));
    }
    true
}

/// A message in which sizes that depend on the machine are dots.
fn without_sizes(message: &str) -> String {
    let words: Vec<&str> = message.split(' ').collect();
    let is_size = |k: usize| words.get(k + 1) == Some(&"MiB") && words[k].parse::<u64>().is_ok();
    let shown = words.iter().enumerate().map(|(k, word)| if is_size(k) { "…" } else { *word });
    shown.collect::<Vec<_>>().join(" ")
}

/// The exit code as shells show it.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// A line of the table; panics where anything was lost without a word.
fn line(cell: &Cell, expected: &[Outcome; 2], preload: Option<&Preload>) -> String {
    let found = run(cell, preload);
    let name = cell.name();
    let shown = format!("{name}: {}\n{}", found.status, found.err);
    assert!(found.left.is_empty(), "{shown}\nleft behind: {:?}", found.left);
    let [whole, one] = expected;
    let file = match found.file.as_str() {
        BEFORE if !cell.script.contains("--out") => "–",
        BEFORE => "as before",
        file if file == whole.file => "new",
        _ => panic!("{shown}\na partial file of {} bytes", found.file.len()),
    };
    let result = if cell.writes_file() { whole } else { one };
    // One key or segment has the result of all behind its name.
    let out = found.out.strip_prefix("0 ").unwrap_or(&found.out);
    let has_result = (out == result.out || found.out == format!("0 {}1 0\n", result.out))
        && (file == "new") == cell.writes_file();
    let code = code(found.status);
    let message = found.err.lines().next().unwrap_or_default();
    match code {
        0 => assert!(has_result, "{shown}\nsilent: exit code 0 and no result: {:?}", found.out),
        // The reader of standard output has left, and everybody is used to hear nothing of it.
        141 => assert_eq!(message, "", "{shown}"),
        _ => {
            let spoken = message.starts_with("warpfold: ") && found.err.lines().count() == 1;
            assert!(spoken || cell.is_deaf(), "{shown}\nsilent, or more than a line");
        }
    }
    assert!(![101, 134, 135, 139].contains(&code), "{shown}\na crash");
    let message = match message.strip_prefix("warpfold: ") {
        Some(message) => format!("`{}`", without_sizes(message).replace('|', r"\|")),
        None => "–".to_owned(),
    };
    format!(
        "| {} | {} | `{}` | {code} | {message} | {file} |",
        cell.shown_fault(),
        cell.stage,
        cell.shown_script()
    )
}

#[test]
fn nothing_is_lost_in_silence() {
    let preload = Preload::build();
    let whole = run(&Cell::plain(&cells::to_file("input.raw")), None);
    let one = run(&Cell::plain(cells::ONE), None);
    for outcome in [&whole, &one] {
        assert_eq!((outcome.status.code(), outcome.err.as_str()), (Some(0), ""));
    }
    assert!(whole.file.starts_with("segment,sum\n0,0\n") && one.out == "5995\n");
    let expected = [whole, one];
    let cells = cells::all();
    let runs = cells.iter().filter(|cell| preload.is_some() || cell.preload.is_none());
    let lines: Vec<String> = runs.map(|cell| line(cell, &expected, preload.as_ref())).collect();
    let table = lines.join("\n");
    let path = document();
    let text = fs::read_to_string(&path).expect("the document is there");
    let (head, recorded) = text.split_once(MARK).expect("the document has a mark");
    if std::env::var_os("WARPFOLD_FAULTS_RECORD").is_some() {
        assert!(preload.is_some(), "the table takes a C compiler");
        let columns = "| fault | stage | command | exit code | message | result file |\n|---|---|---|---|---|---|";
        let count = format!("{} runs; silent: 0.", lines.len());
        fs::write(&path, format!("{head}{MARK}\n\n{count}\n\n{columns}\n{table}\n"))
            .expect("writable");
        return;
    }
    for line in &lines {
        assert!(
            recorded.contains(line.as_str()),
            "the table in docs/faults.md lacks this line; see its head:\n{line}"
        );
    }
    if preload.is_some() {
        assert_eq!(recorded.lines().filter(|line| line.starts_with('|')).count(), lines.len() + 2);
    }
}
