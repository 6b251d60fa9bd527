//! Bad usage and bad data: one line, the right exit code, no result.

use crate::arrays::{dictionary, npy_header};
use crate::packed::gzip;
use crate::program::{Folder, Run, run, run_with_stdin};

#[test]
fn usage() {
    run(["summ", "x"]).fails(2, &["\"summ\"", "did you mean \"sum\"?"]);
    run(["argmni", "x"]).fails(2, &["\"argmin\"?"]);
    run(["sum", "x", "--dtype", "f23"]).fails(2, &["\"f23\"", "\"f32\"?"]);
    run(["sum", "x", "--dtype", "flaot64"]).fails(2, &["\"float64\"?"]);
    run(["sum"]).fails(2, &["<INPUT>"]);
    run::<&str>([]).fails(2, &["<REDUCTION>", "--help"]);
    run(["sum", "x", "--nope"]).fails(2, &["--nope"]);
    run(["sum", "x", "--format", "jsn"]).fails(2, &["'json'"]);
    run(["sum", "x", "--accuracy", "fsat"]).fails(2, &["\"fast\"?"]);
    run(["sum", "x", "--device", "gpu"]).fails(2, &["auto", "cpu"]);
    run(["sum", "x", "--threads", "0"]).fails(2, &["--threads"]);
    run(["sum", "x", "--random", "5"]).fails(2, &["--random"]);
    run(["sum", "x", "--seed", "5"]).fails(2, &["--random"]);
    run(["sum", "--random", "1.5"]).fails(2, &["1e8"]);
    run(["sum", "x", "--as", "i32"]).fails(2, &["f16, bf16, f32, f64"]);
    run(["max", "x", "--as", "f64"])
        .fails(2, &["--as", "max", "sum, mean, var, std, l1, l2, sumsq, linf, prod and dot"]);
    run(["sum", "x", "--ddof", "1"]).fails(2, &["--ddof", "sum", "var, std and stats"]);
    run(["sum", "x", "--out", "y.txt"]).fails(2, &[".npy, .npz, .json or .csv"]);
    run(["dot", "x"]).fails(2, &["exactly two", "not 1"]);
    run(["dot", "x", "y", "z"]).fails(2, &["exactly two", "not 3"]);
    run(["dot", "-", "-", "--dtype", "f32"]).fails(2, &["standard input", "once"]);
    run_with_stdin(&["sum", "-"], b"").fails(2, &["--dtype"]);
    run(["dot", "x.csv", "--column", "a"]).fails(2, &["two columns of one"]);
    run(["dot", "x.csv", "y.csv", "--column", "a", "--column", "b"])
        .fails(2, &["two columns of one text", "joined first"]);
    run(["dot", "x.npz", "--column", "a", "--column", "b"]).fails(2, &["exactly two"]);
    run(["sum", "x.f32", "--column", "1", "--dtype", "f32"]).fails(2, &["--column", "text"]);
    run(["max", "--random", "5", "--dtype", "c64"]).fails(2, &["complex64", "no order"]);
}

#[test]
fn files() {
    let folder = Folder::new();
    run(["sum", "no-such.npy"]).fails(1, &["no-such.npy", "no such file"]);
    run(["sum", "no\nsuch.csv"]).fails(1, &["no\\nsuch.csv"]);
    let path = folder.path().to_str().unwrap();
    for kind in ["raw", "npy", "text"] {
        run(["sum", path, "--dtype", "f64", "--input", kind]).fails(1, &["directory"]);
    }
    let odd = folder.file("odd", [0; 10]);
    run(["sum", &odd, "--dtype", "f64"]).fails(1, &["10 bytes", "f64", "8 bytes each"]);
    run_with_stdin(&["sum", "-", "--dtype", "f64"], &[0; 10])
        .fails(1, &["standard input", "10 bytes"]);
    run([&"sum".to_string(), &odd]).fails(2, &["--dtype"]);
    let bools = folder.file("bools", [0, 1, 1, 7, 1]);
    run(["any", &bools, "--dtype", "bool"]).fails(1, &["element 3", "0x07", "bool"]);
    // The second of two inputs is the one that is named.
    let good = folder.file("good", [1, 0]);
    run(["any", &good, &bools, "--dtype", "bool"]).fails(1, &["bools", "element 3"]);
}

#[cfg(unix)]
#[test]
fn unreadable() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.file("x", [0; 8]);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything.
    if std::fs::read(&path).is_err() {
        run(["sum", &path, "--dtype", "f64"]).fails(1, &["cannot be read", "ermission denied"]);
    }
}

/// What is nearly a name is answered with it, words where numbers should be with what chooses, and each failure of a column with its own code.
#[test]
fn columns() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "shop,price\nsouth,1\nnorth,2\n");
    for args in [
        &["--column", "prize"][..],
        &["--map", "prize * 2"],
        &["--column", "price", "--by", "shpo"],
    ] {
        let near = if args.contains(&"--by") {
            "did you mean \"shop\"?"
        } else {
            "did you mean \"price\"?"
        };
        run(["sum", &path].iter().chain(args))
            .fails(1, &["no column is called", near, "shop, price"]);
    }
    run(["sum", &path, "--column", "when"]).fails(1, &["\"when\"; the first line has shop, price"]);
    run(["sum", &path]).fails(1, &["line 2, column 1", "\"south\" is no f64", "--column"]);
    let one = folder.file("o.txt", "1\ntwo\n");
    run(["sum", &one]).fails(1, &["\"two\" is no f64; correct it, or check --dtype"]);
    let flags = folder.file("f.csv", "a,b\ntrue,false\n");
    for columns in [&["--column", "a"][..], &["--column", "a", "--column", "b"]] {
        let args = ["l1", &flags, "--dtype", "complex64", "--missing", "skip"];
        run(["max", &flags, "--dtype", "complex64"].iter().chain(columns)).fails(2, &["no order"]);
        run(args.iter().chain(columns)).fails(1, &["no complex64"]);
    }
    let zero = folder.file("w.csv", "k,w,x\n1,0,5\n2,0,7\n");
    for op in ["mean", "var"] {
        let args = [op, &zero, "--map", "x", "--weights", "w"];
        run(args).fails(1, &["the weights of 2 elements sum to zero", op, "above 0"]);
        run(args.iter().chain(&["--where", "x > 1"]))
            .fails(1, &["kept none with a weight above 0"]);
    }
}

/// A text of named columns beside an array is not one array without a word.
#[test]
fn texts_beside_arrays() {
    let folder = Folder::new();
    let array = folder.file(
        "x.npy",
        [
            npy_header(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 64),
            [1f64, 2.0].map(f64::to_le_bytes).concat(),
        ]
        .concat(),
    );
    let (named, plain) = (folder.file("t.csv", "a,b\n1,2\n"), folder.file("p.csv", "1,2\n"));
    let one = folder.file("o.csv", "a\n4\n");
    for inputs in [[&named, &array], [&array, &named]] {
        run(["sum"].into_iter().chain(inputs.map(String::as_str)))
            .fails(2, &["t.csv has 2 columns with names", "x.npy", "apart"]);
        run(["sum", "--column", "a"].into_iter().chain(inputs.map(String::as_str)))
            .fails(2, &["x.npy has none", "apart"]);
    }
    assert_eq!(run(["sum", &plain, &array]).value(), "6.0");
    assert_eq!(run(["sum", &one, &array]).value(), "7.0");
    assert_eq!(run(["dot", &plain, &array]).value(), "5.0");
}

#[test]
fn no_value() {
    let folder = Folder::new();
    let empty = folder.file("empty", []);
    for op in ["min", "max", "minmax", "argmin", "argmax", "mean", "var", "std"] {
        run([op, &empty, "--dtype", "f32"]).fails(1, &[op, "empty"]);
    }
    let nans = folder.file("nans", f32::NAN.to_le_bytes());
    run(["max", &nans, "--dtype", "f32", "--nan", "ignore"]).fails(1, &["max", "NaN", "ignored"]);
    run(["var", &nans, "--dtype", "f32", "--ddof", "1"]).fails(1, &["ddof = 1"]);
}

#[test]
fn overflow_names_the_value_and_the_options() {
    let folder = Folder::new();
    let path = folder.file("x", [u64::MAX, 2].map(u64::to_le_bytes).concat());
    run(["sum", &path, "--dtype", "u64"])
        .fails(1, &["sum of u64", "18446744073709551617", "--as f64", "--overflow wrap"]);
    run(["dot", &path, &path, "--dtype", "u64"]).fails(1, &["dot of u64", "--overflow wrap"]);
    // What stats refuse is not recommended.
    for parts in [&[][..], &["--every", "2"]] {
        let stats = run(["stats", &path, "--dtype", "u64"].iter().chain(parts));
        assert!(!stats.err.contains("--as"), "{}", stats.err);
        stats.fails(1, &["18446744073709551617", "--overflow wrap"]);
    }
}

#[test]
fn lengths_of_dot() {
    let folder = Folder::new();
    let (a, b) = (folder.file("a", [0; 24]), folder.file("b", [0; 32]));
    run(["dot", &a, &b, "--dtype", "f64"]).fails(1, &["3 and 4 elements"]);
    run_with_stdin(&["dot", "-", &b, "--dtype", "f64"], &[0; 24])
        .fails(1, &["standard input", "after 3 elements", "b goes on"]);
    run_with_stdin(&["dot", &a, "-", "--dtype", "f64"], &[0; 32])
        .fails(1, &["a:", "after 3 elements"]);
}

fn npy(bytes: &[u8]) -> Run {
    let folder = Folder::new();
    let path = folder.file("x.npy", bytes);
    let file = run(["sum", &path]);
    // The same bytes from a pipe fail as well.
    let pipe = run_with_stdin(&["sum", "-", "--input", "npy"], bytes);
    assert_eq!((pipe.code, pipe.out.as_str()), (file.code, ""), "{pipe:?}");
    file
}

fn npy_with(descr: &str, shape: &str, data: usize) -> Run {
    let mut bytes = npy_header(1, &dictionary(descr, false, shape), 64);
    bytes.resize(bytes.len() + data, 0);
    npy(&bytes)
}

#[test]
fn headers_that_lie() {
    npy(b"").fails(1, &["no .npy file"]);
    npy(b"not a numpy file at all").fails(1, &["no .npy file", "--input"]);
    npy(b"\x93NUMPY\x01").fails(1, &["truncated"]);
    npy(b"\x93NUMPY\x01\x00\x76\x00{'descr'").fails(1, &["truncated"]);
    npy(b"\x93NUMPY\x04\x00\x00\x00\x00\x00").fails(1, &["version 4.0"]);
    npy(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}").fails(1, &["4294967295", "damaged"]);
    npy(&npy_header(1, "['descr']", 64)).fails(1, &["no dictionary"]);
    npy(&npy_header(1, "{'descr': '<f8', 'shape': (1,)}", 64))
        .fails(1, &["'fortran_order'".trim_matches('\''), "missing"]);
    npy(&npy_header(1, "{'descr': '<f8', 'fortran_order': 1, 'shape': (1,)}", 64))
        .fails(1, &["fortran_order is a number, not True or False"]);
    npy(&npy_header(1, "{'descr': ('<f8',), 'fortran_order': False, 'shape': (1,)}", 64))
        .fails(1, &["descr is a tuple, not a string"]);
    npy(&npy_header(1, "{1: '<f8'}", 64)).fails(1, &["a key is a number, not a string"]);
    npy(&npy_header(1, "{'descr': '<f8', 'fortran_order': False, 'shape': [1]}", 64))
        .fails(1, &["shape", "tuple"]);
    npy(&npy_header(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}", 64))
        .fails(1, &["unknown key"]);
    npy_with("|O", "(3,)", 24).fails(1, &["Python objects"]);
    npy_with("<U5", "(3,)", 60).fails(1, &["<U5", "f64"]);
    npy_with("<M8[ns]", "(3,)", 24).fails(1, &["<M8[ns]"]);
    npy_with("<f16", "(1,)", 16).fails(1, &["<f16"]);
    npy_with("|f8", "(1,)", 8).fails(1, &["byte order"]);
    npy_with("<V2", "(1,)", 2).fails(1, &["--dtype bf16"]);
    let structured = "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }";
    npy(&npy_header(1, structured, 64)).fails(1, &["truncated"]);
    let nested = "{'descr': [('a', [('b', '<f8')])], 'fortran_order': False, 'shape': (1,), }";
    npy(&npy_header(1, nested, 64)).fails(1, &["structured"]);
    let time = "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }";
    npy(&npy_header(1, time, 64)).fails(1, &["elements of \"<M8[ns]\", which"]);
    npy_with("<f8", "(4294967296, 4294967296)", 8).fails(1, &["overflows"]);
    npy_with("<f8", "(1152921504606846976,)", 8).fails(1, &["overflows"]);
    npy_with("<f8", "(1152921504606846975,)", 8).fails(1, &["truncated"]);
    npy_with("<f8", "(18446744073709551616,)", 8).fails(1, &["64 bits"]);
    npy_with("<f8", "(-1,)", 8).fails(1, &["damaged", "negative number", "sizes are not negative"]);
    npy_with("<f8", "(3,)", 23).fails(1, &["truncated", "24 bytes", "23"]);
    npy_with("<f8", "(3,)", 25).fails(1, &["goes on after the 24 bytes"]);
    npy_with("<f8", "(0,)", 1).fails(1, &["goes on"]);
    npy_with("<f8", "()", 0).fails(1, &["truncated"]);
}

/// What people type by habit, and what to say in its place.
#[test]
fn habits_are_met_with_advice() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "shop,price\nnorth,1\nsouth,2\n");
    run(["var", &table, "--column", "price", "--ddof", "-1"]).fails(2, &["--ddof", "from 0"]);
    let picture = folder.at("x.svg").display().to_string();
    run(["sum", &table, "--column", "price", "--by", "shop", "--plot", &picture])
        .fails(2, &["--plot=", "x.svg"]);
    let help = run(["help", "sum"]);
    assert_eq!((help.code, &help.out), (Some(0), &run(["sum", "--help"]).out), "{}", help.err);
    assert!(help.out.contains("--column"), "{}", help.out);
    // Words are compared by nobody.
    for condition in ["shop == north", "shop == \"north\"", "shop == 1"] {
        run(["sum", &table, "--column", "price", "--where", condition])
            .fails(1, &["--where", "words are keys", "--by"]);
    }
    run(["sum", &table, "--column", "price", "--where", "shop == 'north'"])
        .fails(2, &["--where", "no words"]);
}

/// Files that are something else than the program takes them for.
#[test]
fn files_of_other_kinds_are_refused_by_their_first_bytes() {
    let folder = Folder::new();
    let array = [&npy_header(1, &dictionary("<f8", false, "(2,)"), 64), &[0; 16][..]].concat();
    let raw = folder.file("x.bin", &array);
    for found in [
        run(["sum", &raw, "--dtype", "f64"]),
        run_with_stdin(&["sum", "-", "--dtype", "f64"], &array),
        run(["sum", &folder.file("x.bin.gz", gzip(&array)), "--dtype", "f64"]),
    ] {
        found.fails(1, &["begins as a .npy file does", "--input npy", "--input raw"]);
    }
    assert_eq!(run_with_stdin(&["sum", "-", "--input", "npy"], &array).value(), "0.0");
    let said = run(["count", &raw, "--dtype", "u8", "--input", "raw"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    run_with_stdin(&["-"], &array).fails(1, &["begins as a .npy array does", "--input npy"]);
    run_with_stdin(&["sum", "-", "--input", "text"], b"PK\x03\x04rest").fails(1, &["archive"]);
    run_with_stdin(&["sum", "-", "--input", "text"], b"PAR1\x15\x04rest").fails(1, &[".parquet"]);
    let named = run_with_stdin(&["sum", "-", "--column", "PAR1"], b"PAR1,PAR2\n1,2\n");
    assert_eq!(named.value(), "1.0");
    let latin = folder.file("l.csv", b"gr\xf6\xdfe,b\n1,2\n");
    run(["sum", &latin]).fails(1, &["not UTF-8", "iconv -f LATIN1"]);
    run(["sum", &latin, "--column", "größe"]).fails(1, &["no column", "iconv -f LATIN1"]);
    assert_eq!(run(["sum", &latin, "--column", "b"]).value(), "2.0");
    let ragged = folder.file("r.csv", "a,b\n1,2\n3\n");
    run(["sum", &ragged, "--column", "a"]).fails(1, &["line 3", "fill the cells"]);
    let ragged = folder.file("r.csv", "a,b\n1,2\n3,4,5\n");
    run(["sum", &ragged, "--column", "a"]).fails(1, &["line 3", "in quotes"]);
    let years = folder.file("y.csv", "region,2020,2021\n1,2,3\n");
    run(["sum", &years]).fails(1, &["years", "--header yes"]);
    run(["sum", &years, "--column", "2021"]).fails(1, &["--column 3"]);
    assert_eq!(run(["sum", &years, "--column", "3", "--header", "yes"]).value(), "3.0");
}
