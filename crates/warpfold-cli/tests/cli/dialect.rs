//! The dialect of text: what each option does, and the table of the documentation.

use crate::program::{Folder, Run, run, run_with_stdin};

/// A command with the text in a file and on standard input; both give the same.
#[track_caller]
fn both(content: impl AsRef<[u8]>, args: &[&str]) -> Run {
    let folder = Folder::new();
    let path = folder.file("x.csv", &content);
    let file = run([args[0], &path].iter().chain(&args[1..]));
    let comma: &[&str] = if args.contains(&"--delimiter") { &[] } else { &["--delimiter", ","] };
    let start = [args[0], "-", "--input", "text"];
    let args: Vec<&str> = start.iter().chain(comma).chain(&args[1..]).copied().collect();
    let piped = run_with_stdin(&args, content.as_ref());
    assert_eq!((piped.code, &piped.out), (file.code, &file.out), "{piped:?} {file:?}");
    file
}

#[test]
fn quotes_must_close() {
    both("a,b\n1,\"x\n2,y\n3,z\n", &["sum", "--column", "a"]).fails(1, &["line 2", "never closed"]);
    both("a,b\n1,\"x\ny\"\n2,\"y\n3,z\n", &["sum", "--column", "a"])
        .fails(1, &["line 4", "never closed"]);
    for open in ["\"", "\"1", "1\n\"", "1\n\"2", "1\n\"2\n", "1\n\"2\n\n"] {
        both(open, &["sum"]).fails(1, &["never closed"]);
    }
    for closed in ["\"1\"", "\"1\"\n", "\"1\"\r\n", "\"1\"\n\n", "1", "1\n"] {
        assert_eq!(both(closed, &["sum"]).value(), "1.0", "{closed:?}");
    }
    assert_eq!(both("1,\"a \"\"b\"\"\"", &["sum", "--column", "1"]).value(), "1.0");
}

#[test]
fn first_rows_that_are_neither_names_nor_numbers() {
    for first in
        ["NA", "−1", "+ 5", "nan(1)", "a\0", "\"\"", "#x", "1 2", "inf.", "j", "12:00", "1,5"]
    {
        let quoted = if first.starts_with('"') { first.into() } else { format!("\"{first}\"") };
        both(format!("{quoted}\n1\n"), &["sum"])
            .fails(1, &["line 1, column 1", "--header yes", "--header no"]);
        assert_eq!(both(format!("{quoted}\n1\n"), &["sum", "--header", "yes"]).value(), "1.0");
    }
    both(",,,\n1,2,3,4\n", &["sum"]).fails(1, &["line 1, column 1"]);
    both("j\n1\n", &["sum", "--dtype", "c128"]).fails(1, &["line 1, column 1"]);
    both("\0\n1\n", &["sum"]).fails(1, &["line 1, column 1"]);
    // Numbers that are no elements of the type are data, and wrong.
    both("1.5\n1\n", &["sum", "--dtype", "i32"]).fails(1, &["line 1", "is no i32"]);
    let said = both("a\n1\n", &["sum", "--verbose"]);
    assert!(said.err.contains("line 1 is taken for names"), "{said:?}");
    assert_eq!((said.code, said.out.as_str()), (Some(0), "1.0\n"));
}

#[test]
fn comments_are_data_unless_they_are_named() {
    let ids = "id,v\n#1,5\n#2,6\n";
    assert_eq!(both(ids, &["sum", "--column", "v"]).value(), "11.0");
    assert_eq!(both(ids, &["sum", "--column", "v", "--comment", "#"]).value(), "0.0");
    both("1\n# 2\n", &["sum"]).fails(1, &["line 2", "--comment '#'"]);
}

#[test]
fn missing_cells_are_errors_nans_or_left_out() {
    let text = "k,v\n1,5\n1,NA\n2,\n2,7\n,8\n";
    both(text, &["sum", "--column", "v"]).fails(1, &["line 3, column 2", "--missing"]);
    assert_eq!(both(text, &["sum", "--column", "v", "--missing", "skip"]).value(), "20.0");
    assert_eq!(both(text, &["sum", "--column", "v", "--missing", "nan"]).value(), "NaN");
    assert_eq!(
        both(text, &["sum", "--column", "v", "--missing", "nan", "--nan", "ignore"]).value(),
        "20.0"
    );
    both(text, &["sum", "--column", "v", "--missing", "nan", "--dtype", "i64"])
        .fails(2, &["--missing nan", "i64"]);
    both(text, &["argmax", "--column", "v", "--missing", "skip"])
        .fails(2, &["--missing skip", "indices"]);
    assert_eq!(both("1,2\nNA,3\n4,5\n", &["sum", "--missing", "skip"]).value(), "12.0");
    let folder = Folder::new();
    let path = folder.file("x.csv", text);
    let by_key = ["sum", &path, "--column", "v", "--by", "k", "--missing", "skip"];
    assert_eq!(run(by_key).value(), "1 5.0\n2 7.0");
    run(["sum", &path, "--column", "v", "--every", "2", "--missing", "skip"])
        .fails(2, &["--missing skip"]);
}

#[test]
fn keys_of_all_64_bits() {
    let folder = Folder::new();
    let path = folder.file("x.csv", "k,v\n18446744073709551615,5\n1,6\n");
    assert_eq!(
        run(["sum", &path, "--column", "v", "--by", "k"]).value(),
        "1 6.0\n18446744073709551615 5.0"
    );
    let path = folder.file("y.csv", "k,v\n18446744073709551615,5\n-1,6\n");
    run(["sum", &path, "--column", "v", "--by", "k"]).fails(1, &["neither i64 nor u64"]);
}

#[test]
fn marks_decimals_and_delimiters() {
    assert_eq!(both("\u{feff}a\n1\n", &["sum"]).value(), "1.0");
    for utf16 in [&b"\xff\xfe1\x00"[..], b"\xfe\xff\x001", b"1\x00\n\x002\x00", b"\x001\x00\n"] {
        both(utf16, &["sum"]).fails(1, &["UTF-16"]);
    }
    let folder = Folder::new();
    let path = folder.file("x.csv", "a;b\n1,5;2\n2,5;3\n");
    let european = ["--column", "a", "--decimal", ",", "--delimiter", ";"];
    assert_eq!(run(["sum", &path].iter().chain(&european)).value(), "4.0");
    run(["sum", &path, "--decimal", ","]).fails(2, &["--delimiter"]);
    let path = folder.file("y.csv", "1.5;2\n");
    run(["sum", &path, "--decimal", ",", "--delimiter", ";"]).fails(1, &["\"1.5\""]);
    run(["sum", "x.npy", "--decimal", ","]).fails(2, &["text"]);
}

#[test]
fn the_table_of_the_documentation_is_true() {
    let page = include_str!("../../../../docs/text.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let mut checked = 0;
    for row in rows {
        let cells: Vec<&str> =
            row.split(" | ").map(|cell| cell.trim_matches(['|', ' ', '`'])).collect();
        let [text, options, found] = cells[..] else { panic!("{row}") };
        let args: Vec<&str> = std::iter::once("sum").chain(options.split_whitespace()).collect();
        let text = text.replace("\\n", "\n").replace("\\0", "\0");
        let run = both(text, &args);
        match found.strip_prefix("error: ") {
            Some(words) => run.fails(1, &[words]),
            None => assert_eq!(run.value(), found, "{row}"),
        }
        checked += 1;
    }
    assert!(checked >= 15, "{checked} rows");
}
