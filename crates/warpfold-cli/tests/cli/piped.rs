//! What is read more than once comes on standard input and on pipes as well: keys, all columns, several columns of an expression. The results are those of a file.

use std::io::Write;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::program::{Folder, Run, run, run_with_stdin};

const SALES: &str = "shop,day,price,qty\nsouth,7,1.5,2\nnorth,8,4,3\nsouth,8,2,\n\u{e9}t\u{e9},7,1e16,1\nsouth,7,1,1\n";

/// What a file and standard input give.
fn both(folder: &Folder, args: &[&str]) -> (Run, Run) {
    let path = folder.file("sales.csv", SALES);
    let of_file: Vec<&str> =
        args.iter().map(|arg| if *arg == "-" { &path } else { *arg }).collect();
    (run(of_file), run_with_stdin(args, SALES.as_bytes()))
}

/// What a pipe with a name gives, as shells make them for `<(…)`.
fn named_pipe(folder: &Folder, args: &[&str]) -> Run {
    let fifo = folder.at("pipe.csv");
    if !fifo.exists() {
        assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    }
    let path = fifo.display().to_string();
    let of_pipe: Vec<&str> =
        args.iter().map(|arg| if *arg == "-" { &path } else { *arg }).collect();
    // It waits for whoever reads, and is written once.
    let writer = std::thread::spawn(move || std::fs::write(fifo, SALES));
    let run = run(of_pipe);
    assert!(writer.join().expect("it does not panic").is_ok(), "{args:?}");
    run
}

#[test]
fn standard_input_and_pipes_are_what_a_file_is() {
    let folder = Folder::new();
    for args in [
        &["sum", "-", "--column", "price", "--by", "shop"][..],
        &["sum", "-", "--column", "price", "--by", "day", "--by", "shop", "--format", "csv"],
        &["sum", "-", "--column", "3", "--by", "2"],
        &[
            "minmax",
            "-",
            "--column",
            "price",
            "--column",
            "qty",
            "--by",
            "shop",
            "--missing",
            "skip",
        ],
        &["sum", "-", "--column", "*", "--by", "shop", "--missing", "skip"],
        &["mean", "-", "--column", "*", "--missing", "skip"],
        &["sum", "-", "--map", "price * day", "--where", "price < 100"],
        &["sum", "-", "--map", "price * day", "--by", "shop"],
        &["-"],
        &["-", "--format", "csv"],
    ] {
        let (file, standard) = both(&folder, args);
        assert_eq!((file.code, file.out.is_empty()), (Some(0), false), "{args:?}: {file:?}");
        let path = folder.at("sales.csv");
        let err = |run: &Run| run.err.replace(path.to_str().expect("UTF-8"), "standard input");
        assert_eq!((&standard.out, err(&standard)), (&file.out, err(&file)), "{args:?}");
        assert_eq!(standard.code, Some(0));
        let piped = named_pipe(&folder, args);
        assert_eq!((piped.code, &piped.out), (Some(0), &file.out), "{args:?}: {piped:?}");
    }
    let found =
        run_with_stdin(&["sum", "-", "--column", "price", "--by", "shop"], SALES.as_bytes());
    assert_eq!(found.value(), "north 4.0\nsouth 4.5\n\u{e9}t\u{e9} 1e16");
}

/// Compressed as a file may be, by its first bytes.
#[test]
fn compressed_text_is_unpacked() {
    let gzip = gzip(SALES.as_bytes());
    for packed in [&gzip, &compress_to_vec(SALES.as_bytes(), CompressionLevel::Fastest)] {
        let of = |args: &[&str]| run_with_stdin(args, packed);
        let by_shop = of(&["sum", "-", "--column", "price", "--by", "shop"]);
        assert_eq!(by_shop.value(), "north 4.0\nsouth 4.5\n\u{e9}t\u{e9} 1e16");
        assert_eq!(of(&["max", "-", "--column", "day"]).value(), "8.0");
        assert!(of(&["-"]).out.contains("price"));
    }
    let cut = &gzip[..gzip.len() - 5];
    run_with_stdin(&["max", "-", "--column", "day"], cut)
        .fails(1, &["standard input: cannot be read", "gzip data are damaged"]);
    // Shorter than what tells.
    assert_eq!(run_with_stdin(&["sum", "-", "--input", "text"], b"7").value(), "7.0");
    assert_eq!(run_with_stdin(&["sum", "-", "--input", "text"], b"").value(), "0.0");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(bytes).expect("a vector takes every byte");
    out.finish().expect("a vector takes every byte")
}

#[test]
fn what_is_wrong_with_it_is_said() {
    let stdin = |args: &[&str], text: &str| run_with_stdin(args, text.as_bytes());
    let by = ["sum", "-", "--column", "x", "--by", "k"];
    stdin(&by, "k,x\n1,a\n").fails(1, &["standard input: line 2, column 2", "\"a\" is no f64"]);
    stdin(&by, "k,x\n1.5,2\n").fails(1, &["standard input: line 2, column 1", "\"1.5\" is no key"]);
    stdin(&by, "a,x\n1,2\n").fails(1, &["standard input", "no column is called \"k\""]);
    stdin(&["-"], "").fails(1, &["standard input is empty"]);
    // What says that it is no text is not taken for one.
    stdin(&["sum", "-"], "1\n").fails(2, &["standard input", "--dtype", "--input text"]);
}
