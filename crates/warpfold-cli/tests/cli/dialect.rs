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
    // Lines that end in a carriage return are lines: no comment takes in what follows, and no row the rows that follow.
    for delimiter in [",", "space"] {
        let options = ["--comment", "#", "--delimiter", delimiter];
        let args = [&["sum"][..], &options].concat();
        assert_eq!(both("1\r#2\r\r\n3\r", &args).value(), "4.0");
    }
    assert_eq!(
        both("1 2\r3 4\r", &["sum", "--column", "1", "--delimiter", "space"]).value(),
        "4.0"
    );
    both("1\rx\r", &["sum"]).fails(1, &["line 2, column 1"]);
    // What is passed over is counted.
    both("\n1\n\n\nx\n", &["sum"]).fails(1, &["line 5, column 1"]);
    both("#\n1\n#\n\n#\nx", &["sum", "--comment", "#"]).fails(1, &["line 6, column 1"]);
    both("\n\"a\nb\"\n\n1\nx\n", &["sum", "--header", "yes"]).fails(1, &["line 6, column 1"]);
    both("1\n\n\"1\"2", &["sum"]).fails(1, &["line 3: text follows"]);
    both("1\n\n\"1", &["sum"]).fails(1, &["line 3: a quote opens"]);
}

#[test]
fn missing_cells_are_errors_nans_or_left_out() {
    let text = "k,v\n1,5\n1,NA\n2,\n2,7\n,8\n";
    both(text, &["sum", "--column", "v"]).fails(1, &["line 3, column 2", "--missing"]);
    assert_eq!(both(text, &["sum", "--column", "v", "--missing", "skip"]).kept(), "20.0");
    assert_eq!(both(text, &["sum", "--column", "v", "--missing", "nan"]).kept(), "NaN");
    assert_eq!(
        both(text, &["sum", "--column", "v", "--missing", "nan", "--nan", "ignore"]).kept(),
        "20.0"
    );
    both(text, &["sum", "--column", "v", "--missing", "nan", "--dtype", "i64"])
        .fails(2, &["--missing nan", "i64"]);
    assert_eq!(both("1,2\nNA,3\n4,5\n", &["sum", "--missing", "skip"]).kept(), "12.0");
    let folder = Folder::new();
    let path = folder.file("x.csv", text);
    let by_key = ["sum", &path, "--column", "v", "--by", "k", "--missing", "skip"];
    assert_eq!(run(by_key).kept(), "1 5.0\n2 7.0");
    // Of integers nan is no advice.
    let found = run(["sum", &path, "--column", "v", "--dtype", "i64"]);
    found.fails(1, &["--missing skip"]);
    assert!(!found.err.contains("nan"), "{found:?}");
}

/// Values, of which `None` is missing, as the column `v` of a text, beside a column that is never missing.
fn column(values: &[Option<i64>]) -> String {
    let cell = |value: &Option<i64>| value.map_or_else(|| "NA".into(), |value| value.to_string());
    let rows = values.iter().enumerate().map(|(at, value)| format!("{at},{}\n", cell(value)));
    "k,v\n".to_string() + &rows.collect::<String>()
}

/// Some values, every few of which are missing.
fn values(n: i64, salt: i64) -> Vec<Option<i64>> {
    let value = |at: i64| (at * at * 7 + at * salt) % 101 - 50;
    (0..n).map(|at| ((at * salt) % 5 > 1 || at % 11 == 3).then(|| value(at))).collect()
}

#[test]
fn indices_count_the_rows_that_are_left_out() {
    let skip = ["--column", "v", "--missing", "skip"];
    let args = |op: &'static str| [&[op][..], &skip].concat();
    for (n, salt) in [(1, 2), (9, 3), (200, 7), (3000, 13)] {
        let values = values(n, salt);
        let text = column(&values);
        let kept = values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?)));
        let Some(least) = kept.clone().min_by_key(|&(at, value)| (value, at)) else { continue };
        let most = kept.clone().min_by_key(|&(at, value)| (-value, at)).expect("not empty");
        assert_eq!(both(&text, &args("argmin")).kept(), least.0.to_string());
        assert_eq!(both(&text, &args("argmax")).kept(), most.0.to_string());
        let stats = both(&text, &args("stats"));
        let number = |name: &str| {
            let line = stats.out.lines().find(|line| line.split(' ').next() == Some(name));
            line.and_then(|line| line.split_whitespace().last()).expect("a line").to_string()
        };
        assert_eq!(number("count"), kept.clone().count().to_string());
        assert_eq!((number("argmin"), number("argmax")), (least.0.to_string(), most.0.to_string()));
        assert_eq!(
            number("sum"),
            format!("{:?}", kept.map(|(_, value)| value as f64).sum::<f64>())
        );
    }
    // Cells of all columns are counted, row by row, and files one after another.
    assert_eq!(both("1,2\nNA,9\n3,4\n", &["argmax", "--missing", "skip"]).kept(), "5");
    let folder = Folder::new();
    let [x, y] = [folder.file("x.csv", "NA\n1\nNA\n"), folder.file("y.csv", "NA\n0\n5\n")];
    assert_eq!(run(["argmax", &x, &y, "--missing", "skip"]).kept(), "5");
    assert_eq!(run(["argmin", &x, &y, "--missing", "skip"]).kept(), "4");
    both("NA\nNA\n", &["argmax", "--missing", "skip"]).fails(1, &["empty"]);
}

#[test]
fn pairs_lose_both_elements() {
    let folder = Folder::new();
    // More than a piece of 16 MiB, so that gaps reach over its end.
    for (n, by) in [(1, 3), (50, 3), (4000, 7), (2_100_100, 13)] {
        let (a, b) = (values(n, by), values(n, by + 4));
        let (x, y) = (folder.file("x.csv", column(&a)), folder.file("y.csv", column(&b)));
        let products = a.iter().zip(&b).filter_map(|(a, b)| Some((*a)? * (*b)?));
        let expected = products.clone().sum::<i64>().to_string();
        let skip = ["--column", "v", "--missing", "skip", "--dtype", "i64"];
        let found = run(["dot", &x, &y, "--format", "json"].iter().chain(&skip));
        let json: serde_json::Value = serde_json::from_str(found.kept()).expect("JSON");
        assert_eq!(json["value"].to_string(), expected, "{n}");
        assert_eq!(json["n"], products.count(), "{n}");
        let left_out = a.iter().filter(|value| value.is_none()).count();
        assert_eq!(
            (&json["text"][0]["rows"], &json["text"][0]["rows_left_out"]),
            (&n.into(), &left_out.into())
        );
    }
    let [x, y] = [folder.file("x.csv", "1\nNA\n3\n"), folder.file("y.csv", "1\n2\n")];
    run(["dot", &x, &y, "--missing", "skip"]).fails(1, &["ends after 2 elements"]);
    // What is left out takes no part: neither infinity times zero nor NaN.
    let [x, y] = [folder.file("x.csv", "1\nNA\n3\n"), folder.file("y.csv", "1\ninf\n2\n")];
    assert_eq!(run(["dot", &x, &y, "--missing", "skip"]).kept(), "7.0");
}

#[test]
fn keys_of_another_file_and_segments_lose_the_rows() {
    let folder = Folder::new();
    let x = folder.file("x.csv", "5\nNA\n7\n1\nNA\n9\n");
    let skip = |args: &[&str]| {
        let all: Vec<&str> = args.iter().copied().chain(["--missing", "skip"]).collect();
        run(all)
    };
    let k = folder.file("k.csv", "1\n1\n2\n2\n1\nNA\n");
    assert_eq!(skip(&["sum", &x, "--by", &k]).kept(), "1 5.0\n2 8.0");
    assert_eq!(skip(&["argmin", &x, "--by", &k, "--flat"]).kept(), "1 0\n2 3");
    skip(&["argmin", &x, "--by", &k]).fails(2, &["--flat"]);
    let header = crate::arrays::npy_header(1, &crate::arrays::dictionary("|u1", false, "(6,)"), 64);
    let npy = folder.file("k.npy", [header, vec![1, 1, 2, 2, 1, 2]].concat());
    assert_eq!(skip(&["sum", &x, "--by", &npy]).kept(), "1 5.0\n2 17.0");
    assert_eq!(skip(&["argmax", &x, "--by", &npy, "--flat"]).kept(), "1 0\n2 5");
    let short = folder.file("short.csv", "1\n1\n2\n");
    skip(&["sum", &x, "--by", &short]).fails(1, &["6 elements by 3 keys"]);
    // Segments are of rows of data.
    assert_eq!(skip(&["sum", &x, "--every", "2"]).kept(), "0 5.0\n1 8.0\n2 9.0");
    assert_eq!(skip(&["argmax", &x, "--every", "2"]).kept(), "0 0\n1 0\n2 1");
    assert_eq!(skip(&["argmax", &x, "--every", "2", "--flat"]).kept(), "0 0\n1 2\n2 5");
    assert_eq!(skip(&["argmax", &x, "--every", "2", "--device", "simt"]).kept(), "0 0\n1 0\n2 1");
    skip(&["sum", &x, "--every", "4"]).fails(1, &["6 elements"]);
    let offsets = folder.file("o.txt", "1 3 6");
    // The first row is in no segment, which a note says.
    assert_eq!(skip(&["count", &x, "--segments", &offsets]).out, "0 1\n1 2\n");
    assert_eq!(skip(&["argmin", &x, "--segments", &offsets]).out, "0 1\n1 0\n");
    let lengths = folder.file("l.txt", "2 4");
    assert_eq!(skip(&["argmin", &x, "--lengths", &lengths]).kept(), "0 0\n1 1");
    assert_eq!(skip(&["argmin", &x, "--axis", "0"]).kept(), "3");
    let text = folder.file("t.csv", "k,v\n1,5\n1,NA\nNA,9\n2,7\n2,8\n");
    assert_eq!(skip(&["argmax", &text, "--column", "v", "--by", "k", "--flat"]).kept(), "1 0\n2 4");
}

#[test]
fn json_says_which_rows_were_taken() {
    let folder = Folder::new();
    let path = folder.file("x.csv", "k,v\n1,5\n1,NA\n2,7\n");
    let json = |args: &[&str]| -> serde_json::Value {
        let args: Vec<&str> = args.iter().copied().chain(["--format", "json"]).collect();
        serde_json::from_str(run(args).kept()).expect("JSON")
    };
    let text = |found: &serde_json::Value| {
        let one = &found["text"][0];
        let keys = ["header", "header_line", "rows", "rows_left_out", "cells_as_nan"];
        assert_eq!((&one["cells_left_out"], &one["cells_as_infinity"]), (&0.into(), &0.into()));
        keys.map(|key| one[key].to_string()).join(" ")
    };
    let column = ["sum", &path, "--column", "v"];
    let skipped = json(&[&column[..], &["--missing", "skip"]].concat());
    assert_eq!(text(&skipped), r#""names" 1 3 1 0"#);
    assert_eq!(text(&json(&[&column[..], &["--missing", "nan"]].concat())), r#""names" 1 3 0 1"#);
    let keyed = json(&[&column[..], &["--missing", "skip", "--by", "k"]].concat());
    assert_eq!(text(&keyed), r#""names" 1 3 1 0"#);
    let plain = folder.file("y.txt", "1 2\n3\n");
    assert_eq!(text(&json(&["sum", &plain])), r#""none" null 2 0 0"#);
    let keys = folder.file("k.csv", "key\n1\n1\n2\n");
    let both = json(&["sum", &plain, "--by", &keys]);
    assert_eq!(both["text"][1]["header"], "names");
    assert_eq!(json(&["sum", "--random", "9"]).get("text"), None);
    let said = run([&column[..], &["--missing", "skip", "--verbose"]].concat());
    assert!(said.err.contains("names in line 1, 3 rows of data\n"), "{said:?}");
    assert!(said.err.contains("1 of 3 rows left out"), "{said:?}");
}

/// Keys, offsets and lengths are written as the values are.
#[test]
fn the_dialect_is_that_of_every_text() {
    let folder = Folder::new();
    let x = folder.file("x.npy", {
        let dictionary = crate::arrays::dictionary("|u1", false, "(4,)");
        [crate::arrays::npy_header(1, &dictionary, 64), vec![1, 2, 3, 4]].concat()
    });
    let keys = folder.file("k.csv", "; keys\n7\n8\n; more\n7\n8\n");
    let by = |more: &[&str]| run(["sum", &x, "--by", &keys].iter().chain(more));
    assert_eq!(by(&["--comment", ";"]).value(), "7 4\n8 6");
    by(&[]).fails(1, &["k.csv", "line 1"]);
    let offsets = folder.file("o.csv", "name\n# of none\n0\n1\n4\n");
    let segments = |more: &[&str]| run(["sum", &x, "--segments", &offsets].iter().chain(more));
    assert_eq!(segments(&["--comment", "#"]).value(), "0 1\n1 9");
    segments(&["--comment", "#", "--header", "no"]).fails(1, &["o.csv", "line 1"]);
    // A length that is missing would shift all that follow.
    let lengths = folder.file("l.csv", "1\nNA\n3\n");
    run(["sum", &x, "--lengths", &lengths, "--missing", "skip"]).fails(1, &["l.csv", "line 2"]);
    run(["sum", &x, "--comment", "#"]).fails(2, &["no input is text"]);
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
        let text = text.replace("\\n", "\n").replace("\\r", "\r").replace("\\0", "\0");
        let run = both(text, &args);
        match found.strip_prefix("error: ") {
            Some(words) => run.fails(1, &[words]),
            None => assert_eq!(run.kept(), found, "{row}"),
        }
        checked += 1;
    }
    assert!(checked >= 15, "{checked} rows");
}

/// Whatever the reduction, one line says how much was left out: of rows, or of cells where each column has its own.
#[test]
fn what_is_left_out_is_told() {
    let folder = Folder::new();
    let path = folder.file("x.csv", "k,a,b\n1,5,\n1,NA,2\n2,7,3\n");
    let rows = |gone: u64| {
        format!(
            "note: {path}: {gone} of 3 rows left out, as a cell is missing in one of the columns that are used\n"
        )
    };
    let cells = |gone: u64| format!("note: {path}: missing cells left out: {gone}, in 3 rows\n");
    for (args, told) in [
        (&["sum", "--column", "a"][..], rows(1)),
        (&["sum", "--column", "a", "--by", "k"], rows(1)),
        (&["sum", "--column", "a", "--every", "3"], rows(1)),
        (&["sum", "--map", "a * b"], rows(2)),
        (&["sum", "--map", "a * b", "--by", "k"], rows(2)),
        (&["sum", "--column", "a", "--column", "b"], cells(2)),
        (&["sum", "--column", "a", "--column", "b", "--by", "k"], cells(2)),
        (&["dot", "--column", "a", "--column", "b"], cells(2)),
        (&["sum", "--column", "k"], String::new()),
    ] {
        let found = run([args[0], &path, "--missing", "skip"].iter().chain(&args[1..]));
        assert_eq!((found.code, found.err), (Some(0), told), "{args:?}");
    }
    // The table of all columns counts them itself.
    let table = run([&path]);
    assert_eq!((table.code, table.err.as_str()), (Some(0), ""), "{table:?}");
}
