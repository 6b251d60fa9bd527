//! Files that change while they are read: an error, exit code 1, no result.

#![cfg(unix)]

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;

use crate::arrays::{dictionary, npy_header};
use crate::program::{Folder, Run, command};

/// Elements of the file; a few pages.
const LEN: usize = 100_000;

/// Reduces standard input and then the file, which changes once it has been opened and before it is read.
fn changed(path: &str, args: &[&str], start: &[u8], rest: &[u8], change: impl Fn(&Path)) -> Run {
    let mut child = command()
        .args(["sum", "-", path, "--verbose"])
        .args(args)
        .stdin(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(start).expect("the program reads");
    let mut err = BufReader::new(child.stderr.take().expect("piped"));
    for _ in 0..2 {
        let mut line = String::new();
        err.read_line(&mut line).expect("a line");
        assert!(line.starts_with("input: "), "{line}");
    }
    change(Path::new(path));
    stdin.write_all(rest).expect("the program reads");
    drop(stdin);
    let (mut out, mut said) = (String::new(), String::new());
    err.read_to_string(&mut said).expect("UTF-8");
    child.stdout.take().expect("piped").read_to_string(&mut out).expect("UTF-8");
    let code = child.wait().expect("it ends").code();
    // The choice of a header is said as well.
    let err = said.lines().last().map(|line| format!("{line}\n")).unwrap_or_default();
    Run { code, out, err }
}

fn cut(path: &Path, bytes: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

/// A file's name and bytes, how it is read, and what standard input gives before and after the change.
type Case<'a> = (&'a str, Vec<u8>, &'a [&'a str], &'a [u8], &'a [u8]);

/// Each kind of input, and what standard input gives before and after the change.
fn each(check: impl Fn(&str, &dyn Fn(&dyn Fn(&Path)) -> Run)) {
    let npy = |len: usize| {
        let header = npy_header(1, &dictionary("|u1", false, &format!("({len},)")), 64);
        [header, vec![1; len]].concat()
    };
    let one = npy(1);
    let (head, tail) = one.split_at(one.len() - 1);
    let cases: [Case<'_>; 3] = [
        ("x.bin", vec![1; LEN], &["--dtype", "u8"], b"", b"\x01"),
        ("x.txt", b"1\n".repeat(LEN), &["--input", "text"], b"", b"1\n"),
        ("x.npy", npy(LEN), &["--input", "npy"], head, tail),
    ];
    for (name, bytes, args, start, rest) in &cases {
        let run = |change: &dyn Fn(&Path)| {
            let folder = Folder::new();
            let path = folder.file(name, bytes);
            changed(&path, args, start, rest, change)
        };
        check(name, &run);
    }
}

#[test]
fn what_does_not_change_has_a_result() {
    each(|name, run| {
        let found = run(&|_| ());
        assert_eq!(found.code, Some(0), "{name}: {found:?}");
        assert!(found.out.starts_with("100001"), "{name}: {found:?}");
    });
}

#[test]
fn shortened_files() {
    for bytes in [0, 1, 4096, LEN as u64 - 8] {
        each(|name, run| {
            let found = run(&|path| cut(path, bytes));
            // A page of a map that is gone ends the program before it can compare.
            let is_gone = name == "x.npy" && found.err.contains("became shorter");
            found.fails(1, &[if is_gone { "SIGBUS" } else { "changed while it was read" }]);
        });
    }
}

#[test]
fn files_that_grow_or_are_written_to() {
    each(|_, run| {
        run(&|path| cut(path, 3 * LEN as u64)).fails(1, &["changed while it was read", "it had"]);
        let write = |path: &Path| {
            // Later than what wrote the file by more than the system's clock of files ticks.
            std::thread::sleep(std::time::Duration::from_millis(50));
            let mut file = OpenOptions::new().write(true).open(path).unwrap();
            file.write_all(b"2").unwrap();
        };
        run(&write).fails(1, &["changed while it was read", "written to"]);
    });
}

/// Mapped elements of eight bytes, folded where they lie: pages that are gone raise SIGBUS.
#[test]
fn shortened_maps() {
    let npy = |len: usize| {
        let header = npy_header(1, &dictionary("<f8", false, &format!("({len},)")), 64);
        [header, vec![0; 8 * len]].concat()
    };
    let one = npy(1);
    let (head, tail) = one.split_at(one.len() - 8);
    for bytes in [0, 4096, 8 * LEN as u64] {
        let folder = Folder::new();
        let path = folder.file("x.npy", npy(LEN));
        let found = changed(&path, &["--input", "npy"], head, tail, |path| cut(path, bytes));
        assert_eq!((found.code, found.out.as_str()), (Some(1), ""), "{bytes}: {found:?}");
        let is_told =
            ["changed while", "became shorter"].iter().any(|words| found.err.contains(words));
        assert!(is_told, "{bytes}: {found:?}");
    }
}
