//! Numbers as text: layouts, headers, columns, comments, and where errors say they are.

use warpfold::DType;

use crate::arrays::Array;
use crate::program::{Folder, Run, run, run_with_stdin};

fn text(name: &str, content: impl AsRef<[u8]>, args: &[&str]) -> Run {
    let folder = Folder::new();
    let path = folder.file(name, content);
    run([args[0], &path].iter().chain(&args[1..]))
}

#[test]
fn every_type_in_every_layout() {
    for &dtype in DType::ALL {
        let array = Array::sample(dtype, 240);
        let words: Vec<String> = array
            .values
            .iter()
            .map(
                |(re, im)| if dtype.is_complex() { format!("{re}{im:+}i") } else { re.to_string() },
            )
            .collect();
        for (op, expected) in array.expectations() {
            for (name, separator) in
                [("x.txt", "\n"), ("x.txt", " "), ("x.csv", ","), ("x.tsv", "\t"), ("x.csv", "\n")]
            {
                let found = text(name, words.join(separator), &[op, "--dtype", dtype.name()]);
                assert_eq!(found.value(), expected, "{op} {dtype} {name} {separator:?}");
            }
            let args = [op, "-", "--input", "text", "--dtype", dtype.name()];
            assert_eq!(
                run_with_stdin(&args, words.join("\r\n").as_bytes()).value(),
                expected,
                "{op} {dtype}"
            );
        }
    }
}

#[test]
fn columns_by_name_and_number() {
    let csv = "id,price,\"the, name\"\n1,2.5,x\n2,\"3.5\",\"a \"\"b\"\"\nc\"\n";
    for column in ["price", "2"] {
        assert_eq!(text("x.csv", csv, &["sum", "--column", column]).value(), "6.0");
    }
    assert_eq!(text("x.csv", csv, &["sum", "--column", "id", "--dtype", "u8"]).value(), "3");
    text("x.csv", csv, &["sum", "--column", "prize"]).fails(1, &["\"prize\"", "id, price"]);
    text("x.csv", csv, &["sum", "--column", "4"]).fails(1, &["line 1", "column 4", "has 3"]);
    text("x.csv", csv, &["sum", "--column", "the, name"])
        .fails(1, &["x.csv", "line 2, column 3", "\"x\""]);
    text("x.csv", "a,a\n1,2\n", &["sum", "--column", "a"]).fails(1, &["two columns", "--column 1"]);
    // Years as names are no data when they are asked for by name.
    text("x.csv", "id,2020\n7,1\n8,2\n", &["sum", "--column", "2"])
        .fails(1, &["line 1, column 1", "--header yes"]);
    let as_data = ["sum", "--column", "2", "--header", "no"];
    assert_eq!(text("x.csv", "id,2020\n7,1\n8,2\n", &as_data).value(), "2023.0");
    assert_eq!(text("x.csv", "ann,5\nbob,6\n", &["sum", "--column", "2"]).value(), "11.0");
    text("x.csv", "1\n", &["sum", "--column", "-1"]).fails(2, &["counted from 1"]);
    assert_eq!(text("x.txt", "a b\n1 2\n3 4\n", &["sum", "--column", "b"]).value(), "6.0");
    assert_eq!(text("x.txt", "1 2\n3 4\n", &["sum", "--column", "1"]).value(), "4.0");
}

#[test]
fn headers_are_lines_of_names() {
    assert_eq!(text("x.csv", "a,b\n1,2\n", &["sum"]).value(), "3.0");
    assert_eq!(text("x.csv", "1,2\n3,4\n", &["sum"]).value(), "10.0");
    let names = ["sum", "--dtype", "c64", "--header", "yes"];
    assert_eq!(text("x.tsv", "i\tj\n1\t2\n", &names).value(), "3.0+0.0i");
    // One number makes it data, and then the rest must be numbers too.
    text("x.csv", "a,1\n2,3\n", &["sum"]).fails(1, &["line 1, column 1", "\"a\""]);
    // Nor is a wrong number a name.
    text("x.csv", "1 2,3;4\n", &["sum"]).fails(1, &["line 1, column 1", "\"1 2\""]);
    text("x.csv", "12:00,5 kg\n5,6\n", &["sum"]).fails(1, &["line 1, column 1", "\"12:00\""]);
    // The same holds of every layout, and of standard input.
    assert_eq!(text("x.txt", "x\n1\n", &["sum"]).value(), "1.0");
    assert_eq!(run_with_stdin(&["sum", "-", "--input", "text"], b"x\n1\n").value(), "1.0");
    text("x.txt", "x\n1\n", &["sum", "--header", "no"])
        .fails(1, &["line 1, column 1", "\"x\"", "f64"]);
}

#[test]
fn comments_blank_lines_marks_and_line_ends() {
    let hash = ["sum", "--comment", "#"];
    assert_eq!(text("x.txt", "# a comment\n1 2\n\n  \n# 5\n3\n", &hash).value(), "6.0");
    assert_eq!(text("x.csv", "\u{feff}a\r\n# no\r\n1\r\n\r\n2", &hash).value(), "3.0");
    assert_eq!(text("x.txt", "\u{feff}1", &["sum"]).value(), "1.0");
    assert_eq!(text("x.csv", " 1 ,\t2\n", &["sum"]).value(), "3.0");
    assert_eq!(text("x.txt", "", &["sum"]).value(), "0.0");
    text("x.csv", "a\n", &["mean"]).fails(1, &["no row of numbers follows"]);
}

#[test]
fn errors_say_file_line_column_and_text() {
    text("x.csv", "1,2\n3,four\n", &["sum"])
        .fails(1, &["x.csv", "line 2, column 2", "\"four\" is no f64"]);
    text("x.txt", "1 2\n\n# x\n3 4 5e\n", &["sum", "--comment", "#"])
        .fails(1, &["line 4, column 3", "\"5e\""]);
    text("x.csv", "1,\n", &["sum"]).fails(1, &["line 1, column 2", "\"\"", "fill"]);
    text("x.csv", "1,2\n3\n", &["sum"]).fails(1, &["line 2 has 1 columns", "2"]);
    text("x.txt", "1\n300\n", &["sum", "--dtype", "u8"])
        .fails(1, &["line 2, column 1", "\"300\"", "u8", "0 to 255"]);
    text("x.txt", "-1\n", &["sum", "--dtype", "u64"]).fails(1, &["does not fit"]);
    text("x.txt", "9223372036854775808", &["sum", "--dtype", "i64"])
        .fails(1, &["does not fit in i64"]);
    text("x.txt", "1.5\n", &["sum", "--dtype", "i32"]).fails(1, &["\"1.5\" is no i32"]);
    text("x.txt", "2\n", &["any", "--dtype", "bool"]).fails(1, &["true, false, 1 or 0"]);
    text("x.txt", b"\xff\xfe1\0\n\0", &["sum"]).fails(1, &["UTF-16", "iconv"]);
    text("x.csv", b"1,\x80\n", &["sum"]).fails(1, &["line 1, column 2"]);
    text("x.txt", "x".repeat(1000), &["sum", "--header", "no"]).fails(1, &["…"]);
    let unclosed = format!("1\n\"{}", "2\n".repeat(10 << 20));
    text("x.csv", unclosed, &["sum"]).fails(1, &["line 2 is longer than"]);
    text("x.txt", "7".repeat(20 << 20), &["sum"]).fails(1, &["line 1 is longer than"]);
}

/// However many files there are, one is open at a time, and memory is that of one.
#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_files() {
    use crate::program::{Folder, shell};

    let folder = Folder::new();
    for k in 0..10_000 {
        folder.file(&format!("{k:05}.csv"), format!("id,x\n{k},0.5\n"));
    }
    let at = folder.path().display();
    let sum = shell(&format!(
        "ulimit -n 64; ulimit -v 1000000; cd '{at}'; warpfold sum *.csv --column id --threads 2"
    ));
    assert_eq!(sum.value(), "49995000.0");
    let both =
        shell(&format!("ulimit -n 64; cd '{at}'; warpfold sum *.csv --column '*' --threads 2"));
    assert_eq!(both.value(), "id 49995000.0\nx 5000.0");
}

#[test]
fn floats_are_rounded_once_and_may_overflow() {
    let beyond = text("x.txt", "1e400", &["sum"]);
    assert!(beyond.out == "inf\n" && beyond.err.contains("x.txt: line 1, column 1"), "{beyond:?}");
    assert_eq!(text("x.txt", "nan", &["max"]).value(), "NaN");
    assert_eq!(text("x.txt", "-Infinity 1", &["min"]).value(), "-inf");
    // Just above halfway between two f16: through f64 it would look like halfway.
    let above = "1.00048828125000000000000000000001";
    assert_eq!(text("x.txt", above, &["max", "--dtype", "f16"]).value(), "1.001");
}

#[test]
fn one_line_may_be_longer_than_memory_is_meant_to_be() {
    // 24 MB in one line, and more elements than one piece holds.
    let n = 4_000_000u64;
    let mut line = String::new();
    for i in 0..n {
        line.push_str(&(i % 90_000 + 10_000).to_string());
        line.push(' ');
    }
    let sum: u64 = (0..n).map(|i| i % 90_000 + 10_000).sum();
    assert_eq!(
        run_with_stdin(&["sum", "-", "--input", "text"], line.as_bytes()).value(),
        format!("{sum}.0")
    );
    line.push('x');
    let failed = run_with_stdin(&["sum", "-", "--input", "text"], line.as_bytes());
    failed.fails(1, &["standard input", "line 1, column 4000001", "\"x\""]);
}

/// Tables with numbered rows have years for names, and nothing above the numbers: what a row of data would be too.
#[test]
fn a_first_row_that_may_be_names_is_never_added_in_silence() {
    let pandas = ",2020,2021\n0,5,6\n1,7,8\n";
    for args in [
        &["sum", "--column", "2"][..],
        &["sum", "--column", "2", "--missing", "skip"],
        &["sum", "--missing", "skip"],
        &["argmax", "--column", "2", "--missing", "nan"],
    ] {
        text("x.csv", pandas, args).fails(1, &["line 1, column 1", "--header"]);
    }
    assert_eq!(text("x.csv", pandas, &["sum", "--column", "2", "--header", "yes"]).value(), "12.0");
    text("x.csv", "#id,2020\n7,1\n", &["sum", "--column", "2"]).fails(1, &["line 1, column 1"]);
    let gaps = "1,2\n,3\n4,5\n";
    assert_eq!(text("x.csv", gaps, &["sum", "--column", "2", "--missing", "skip"]).kept(), "10.0");
}

#[test]
fn a_column_of_words_is_not_shifted_by_a_short_row() {
    text("x.txt", "1 2 3\n4   6\n7 8 9\n", &["sum", "--column", "2"]).fails(1, &["line 2"]);
    assert_eq!(text("x.txt", "1 2 3\n4 5 6\n", &["sum", "--column", "2"]).value(), "7.0");
    assert_eq!(text("x.txt", "1 2 3\n4   6\n7 8 9\n", &["sum"]).value(), "40.0");
}

/// What the first row shows does not depend on how much is left out before it.
#[test]
fn a_long_comment_hides_no_layout() {
    let rows = "1\t\t3\n4\t5\t6\n";
    for before in [0, 10, 4091, 4096, 4991, 20_000] {
        let comments = ["#", &"x".repeat(before), "\n", &"#\n".repeat(before / 7)].concat();
        let args = ["sum", "--comment", "#", "--column", "2", "--missing", "skip"];
        assert_eq!(text("x.txt", comments + rows, &args).kept(), "5.0", "{before}");
    }
}

/// The formatter pads to 65,535 characters at most.
#[test]
fn a_name_of_any_length_is_shown() {
    let rows = |name: &str| format!("{name},b\n1,2\n3,4\n");
    for length in [65_535, 65_536, 70_000] {
        let name = "a".repeat(length);
        let stats = text("x.csv", rows(&name), &["stats", "--column", "*"]);
        assert!(stats.value().contains(&name), "{length}");
        let several = text("x.csv", rows(&name), &["minmax", "--column", "*"]);
        assert!(several.value().contains(&name), "{length}");
        let of = format!("{name}=sum(b)");
        assert_eq!(
            text("x.csv", rows("a"), &["stats", "--of", &of]).value(),
            format!("{name} 6.0")
        );
    }
}

/// Comments are no row, however many there are; a row that has no end is refused where it began.
#[test]
fn only_a_row_may_be_too_long() {
    let comment = format!("# {}\n", "x".repeat(1 << 16));
    let comments = comment.repeat(300);
    let args = ["sum", "--comment", "#"];
    assert_eq!(text("x.csv", format!("1,2\n{comments}3,4\n"), &args).value(), "10.0");
    let long = format!("# {}\n", "x".repeat(17 << 20));
    assert_eq!(text("x.csv", format!("1,2\n{long}3,4\n"), &args).value(), "10.0");
    let lines = "x\n".repeat(9 << 20);
    let open = format!("1,2\n# 2\n{comments}3,\"4\n{lines}");
    text("x.csv", open, &args).fails(1, &["line 303", "16777216 bytes"]);
}

/// Only what a line begins with makes it a comment, however long the line is.
#[test]
fn blanks_before_a_mark_make_no_comment() {
    let blanks = " ".repeat((1 << 17) + 5);
    for before in ["", &blanks] {
        let args = ["sum", "--comment", "#"];
        text("x.txt", format!("1 2\n{before} # 3\n"), &args).fails(1, &["line 2", "\"#\""]);
        assert_eq!(text("x.txt", format!("1 2\n#{before} # 3\n4"), &args).value(), "7.0");
    }
}

/// Files of other separators are told so.
#[test]
fn what_separates_the_fields_is_named() {
    for (mark, said) in
        [(";", "--delimiter ';'"), ("\t", "--delimiter tab"), ("|", "--delimiter '|'")]
    {
        let table = format!("x{mark}y\n1{mark}2\n");
        text("x.csv", &table, &["sum", "--column", "y"]).fails(1, &["no column", said]);
        text("x.csv", &table[4..], &["sum"]).fails(1, &["line 1", said]);
    }
}
