//! Standard streams that are full, closed, of the wrong direction, or left by their reader.

#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;

use crate::program::{Folder, command, shell};

/// Where a message can go that nobody will read.
const DEAF: [&str; 3] = ["2>&-", "2</dev/null", "2>/dev/full"];

fn deaf() -> impl Iterator<Item = &'static str> {
    DEAF.into_iter().filter(|deaf| cfg!(target_os = "linux") || !deaf.contains("full"))
}

#[test]
fn messages_that_cannot_be_written_change_nothing() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "a,b\n1,2\n3,4\n");
    let expected = shell("warpfold sum --random 5").value().to_string();
    for deaf in deaf() {
        let found = shell(&format!("warpfold sum --random 5 --verbose {deaf}"));
        assert_eq!((found.code, found.out.trim_end()), (Some(0), expected.as_str()), "{deaf}");
        let found = shell(&format!("warpfold max '{table}' --column a --by b --verbose {deaf}"));
        assert_eq!((found.code, found.out.as_str()), (Some(0), "2 1.0\n4 3.0\n"), "{deaf}");
        for (arguments, code) in [("sum no-such.npy", 1), ("summ x", 2), ("sum x --out y.txt", 2)] {
            let found = shell(&format!("warpfold {arguments} {deaf}"));
            assert_eq!((found.code, found.out.as_str()), (Some(code), ""), "{arguments} {deaf}");
        }
    }
}

#[test]
fn standard_output_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "a,b\n1,2\n3,4\n");
    let sum = "sum --random 5".to_string();
    let many = format!("sum '{table}' --column a --by b");
    for arguments in [&sum, &many, &"--help".into(), &"devices".into(), &"man".into()] {
        shell(&format!("warpfold {arguments} >&-"))
            .fails(1, &["cannot write standard output: it is closed"]);
        shell(&format!("warpfold {arguments} 1</dev/null"))
            .fails(1, &["cannot write standard output: Bad file descriptor"]);
    }
    if cfg!(target_os = "linux") {
        for format in ["text", "csv", "json"] {
            for arguments in [&sum, &many] {
                shell(&format!("warpfold {arguments} --format {format} >/dev/full"))
                    .fails(1, &["cannot write standard output: No space left"]);
            }
        }
    }
}

#[test]
fn standard_input_that_cannot_be_read_is_an_error() {
    for kind in ["--dtype f64", "--input npy", "--input text"] {
        shell(&format!("warpfold sum - {kind} <&-"))
            .fails(1, &["standard input: cannot be read: it is closed"]);
        shell(&format!("warpfold sum - {kind} 0>/dev/null"))
            .fails(1, &["standard input: cannot be read: Bad file descriptor"]);
    }
    // Standard input that is empty is another thing, however it was opened.
    assert_eq!(shell("warpfold sum - --dtype f64 </dev/null").value(), "0.0");
    assert_eq!(shell("warpfold sum - --dtype f64 0<>/dev/null").value(), "0.0");
    // Nor does it matter where it is not read.
    assert_eq!(shell("warpfold count --random 5 --dtype f64 <&-").value(), "5");
}

#[test]
fn a_reader_that_leaves_ends_the_program_as_it_ends_others() {
    let folder = Folder::new();
    let values = folder.file("x.txt", "1\n".repeat(400_000));
    let many = ["sum", &values, "--every", "2"];
    let quits = |arguments: &[&str], lines: usize| {
        let (out, stdout) = std::io::pipe().expect("a pipe");
        let out = BufReader::new(out);
        // A reader who wants nothing is gone before the program starts.
        let mut out = (lines > 0).then_some(out);
        let child = command().args(arguments).stdout(stdout).spawn().expect("the program starts");
        for _ in 0..lines {
            let out = out.as_mut().expect("kept");
            assert!(out.read_line(&mut String::new()).expect("a line") > 0, "{arguments:?}");
        }
        drop(out);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.signal(), Some(13), "{arguments:?}: {output:?}");
        assert_eq!(output.stderr, b"", "{arguments:?}");
    };
    quits(&["sum", &values], 0);
    quits(&["--help"], 0);
    quits(&[&many[..], &["--format", "csv"]].concat(), 1);
    quits(&[&many[..], &["--format", "json"]].concat(), 0);
}
