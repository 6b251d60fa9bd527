//! Several columns in one reading, as a table. Each column's results are those of the column alone, to the last digit.

use std::collections::BTreeMap;
use std::fs;

use crate::program::{Folder, Run, run, run_with_stdin};

/// A text with two keys and three columns of values, of which some are missing, and a column of words.
fn text(rows: u64, with_gaps: bool) -> String {
    let mut state = 5u64;
    let mut next = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = String::from("shop,day,a,note,b,c\n");
    for _ in 0..rows {
        let mut number = |scale: i32| match with_gaps && next(9) == 0 {
            true => ["", "NA"][next(2) as usize].to_string(),
            false => format!(
                "{}",
                (next(2_000_001) as f64 - 1e6) * 10f64.powi(next(9) as i32 - 4) * f64::from(scale)
            ),
        };
        let (a, b, c) = (number(1), number(-3), number(7));
        let shop = match with_gaps && next(30) == 0 {
            true => "".into(),
            false => ["north", "south", "\u{e9}t\u{e9}", "a b"][next(4) as usize].to_string(),
        };
        text += &format!("{shop},{},{a},word {},{b},{c}\n", next(3) + 7, next(5));
    }
    // A key of which only one column has a value.
    if with_gaps {
        text += "lone,7,,x,2.5,\n";
    }
    text
}

/// The rows of a CSV result by their first fields, which are keys.
fn rows(found: &Run, keys: usize) -> BTreeMap<Vec<String>, Vec<String>> {
    let lines = found.kept().lines().skip(1);
    let fields = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
    lines.map(fields).map(|mut row| (row.drain(..keys).collect(), row)).collect()
}

const OPS: [&str; 13] = [
    "sum", "mean", "var", "std", "prod", "min", "max", "minmax", "argmin", "count", "l1", "l2",
    "stats",
];

#[test]
fn each_column_by_keys_is_that_of_the_column_alone() {
    let folder = Folder::new();
    for with_gaps in [false, true] {
        let path = folder.file("t.csv", text(400, with_gaps));
        let skip: &[&str] = if with_gaps { &["--missing", "skip"] } else { &[] };
        for by in [&["shop"][..], &["day"], &["shop", "day"]] {
            let keys: Vec<&str> = by.iter().flat_map(|by| ["--by", by]).collect();
            let ops = if by == ["shop"] { &OPS[..] } else { &["sum", "minmax"] };
            for &op in ops {
                let flat: &[&str] =
                    if ["argmin", "stats"].contains(&op) { &["--flat"] } else { &[] };
                let of = |columns: &[&str]| {
                    let columns: Vec<&str> =
                        columns.iter().flat_map(|name| ["--column", name]).collect();
                    let all =
                        [&[op, &*path], &columns[..], &keys, skip, flat, &["--format", "csv"]];
                    rows(&run(all.concat()), by.len())
                };
                let together = of(&["c", "a", "b"]);
                let mut expected: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
                let mut width = 0;
                for name in ["c", "a", "b"] {
                    let alone = of(&[name]);
                    let fields = alone.values().next().expect("a group").len();
                    for (key, row) in alone {
                        let cells = expected.entry(key).or_default();
                        cells.resize(width, String::new());
                        cells.extend(row);
                    }
                    width += fields;
                }
                expected.values_mut().for_each(|cells| cells.resize(width, String::new()));
                assert_eq!(together, expected, "{op} by {by:?}, {skip:?}");
                assert_eq!(
                    together.contains_key(&vec!["lone".to_string()]),
                    with_gaps && by == ["shop"]
                );
            }
        }
    }
}

#[test]
fn columns_as_a_whole_are_those_of_each_alone() {
    let folder = Folder::new();
    let paths = [folder.file("t.csv", text(300, true)), folder.file("u.csv", text(20, true))];
    for op in OPS {
        let of = |columns: &[&str]| {
            let columns = columns.iter().flat_map(|name| ["--column", name]);
            let args = [op, &paths[0], &paths[1], "--missing", "skip", "--format", "csv"];
            run(args.into_iter().chain(columns)).kept().to_string()
        };
        let together = of(&["b", "6", "3"]);
        let names = ["b", "c", "a"];
        for (line, name) in together.lines().skip(1).zip(names) {
            let alone = of(&[name]);
            let mut alone = alone.lines();
            let fields: Vec<&str> = alone.next().expect("names").split(',').collect();
            let values: Vec<&str> = alone.next().expect("a row").split(',').collect();
            // Of one result there is more than the result: what was reduced, bits and times.
            let end = fields.iter().position(|field| field.starts_with("bits")).expect("bits");
            let expected = [&[name], &values[4..end]].concat().join(",");
            assert_eq!(line, expected, "{op} of {name}");
        }
    }
}

#[test]
fn all_numeric_columns() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "shop,a,note,b\nn,1,x,2\ns,3,y,0.5\nn,5,z,4\n");
    let table = run(["sum", &path, "--column", "*", "--by", "shop"]);
    assert_eq!(table.out, "shop    a    b\nn     6.0  6.0\ns     3.0  0.5\n");
    // What is left out is told.
    assert!(table.err.contains("left out: column note: line 2, column 3: \"x\" is no f64"));
    let table = run(["mean", &path, "--column", "*"]);
    assert_eq!(table.out, "a 3.0\nb 2.1666666666666665\n");
    // A column of numbers in which a word stands is an error, and not left out.
    let typo = folder.file("o.csv", "a,b\n1,2\n3,4x\n");
    run(["sum", &typo, "--column", "*"]).fails(1, &["line 3, column 2", "\"4x\" is no f64"]);
    let words = folder.file("w.csv", "a,b\nx,y\n");
    run(["sum", &words, "--column", "*"]).fails(1, &["no column", "numbers"]);
    let stdin = |args: &[&str]| run_with_stdin(args, b"a,b\n1,2\n3,4\n");
    let both = stdin(&["sum", "-", "--input", "text", "--column", "b", "--column", "1"]);
    assert_eq!(both.value(), "b 6.0\n1 4.0");
}

#[test]
fn dot_of_two_columns_is_that_of_two_files() {
    let folder = Folder::new();
    for (rows, with_gaps) in [(400, false), (400, true), (250_000, true)] {
        let path = folder.file("t.csv", text(rows, with_gaps));
        let skip: &[&str] = if with_gaps { &["--missing", "skip"] } else { &[] };
        let of = |inputs: &[&str]| {
            run(["dot"]
                .iter()
                .chain(inputs)
                .chain(skip)
                .chain(&["--header", "yes", "--format", "json"]))
        };
        let json =
            |run: &Run| -> serde_json::Value { serde_json::from_str(run.kept()).expect("JSON") };
        let together = json(&of(&[&path, "--column", "a", "--column", "b"]));
        // Each column in a file of its own, missing cells and all.
        let columns = ["a", "b"].map(|name| {
            let at = if name == "a" { 2 } else { 4 };
            let text = fs::read_to_string(&path).expect("a text");
            let cells: String = text
                .lines()
                .map(|line| format!("{},\n", line.split(',').nth(at).expect("a cell")))
                .collect();
            folder.file(&format!("{name}.csv"), cells)
        });
        let apart = json(&of(&[&columns[0], &columns[1], "--column", "1"]));
        for key in ["value", "n", "dtype", "result_dtype", "reduction"] {
            assert_eq!(together[key], apart[key], "{key} of {rows} rows");
        }
        assert!(!with_gaps || together["n"].as_u64() < Some(rows));
        let by_number = json(&of(&[&path, "--column", "3", "--column", "5"]));
        assert_eq!(by_number["value"], together["value"]);
        if !with_gaps {
            let product = run(["sum", &path, "--map", "a * b", "--format", "json"]);
            assert_eq!(json(&product)["value"], together["value"]);
        }
    }
    let stdin = |args: &[&str]| run_with_stdin(args, b"a,b\n1,2\n3,4\n");
    assert_eq!(
        stdin(&["dot", "-", "--column", "a", "--column", "b", "--dtype", "i64"]).value(),
        "14"
    );
    assert_eq!(
        stdin(&["dot", "-", "--column", "a", "--column", "b", "--device", "simt"]).value(),
        "14.0"
    );
    stdin(&["dot", "-", "--column", "a", "--column", "x"]).fails(1, &["no column is called \"x\""]);
    stdin(&["dot", "-", "--column", "*"]).fails(2, &["two columns of one text"]);
}

/// What is printed has the shape that the options ask for, whatever the file holds.
#[test]
fn all_columns_are_a_table_of_one_as_well() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "shop,a\nn,1\ns,3\n");
    assert_eq!(run(["sum", &path, "--column", "*"]).out, "a 4.0\n");
    assert_eq!(run(["sum", &path, "--column", "a"]).out, "4.0\n");
    let by = |column: &str| {
        run(["sum", &path, "--column", column, "--by", "shop", "--format", "csv"]).out
    };
    assert_eq!(
        (by("*").as_str(), by("a").as_str()),
        ("shop,a\nn,1.0\ns,3.0\n", "key,sum\nn,1.0\ns,3.0\n")
    );
}

#[test]
fn tables_in_every_format() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "n,a,b c,b.c\n2,1,2,0\n1,3,0.5,0\n2,5,4,0\n");
    let args = ["sum", &path, "--column", "a", "--column", "b c", "--column", "b.c", "--by", "n"];
    let with = |more: &[&str]| run(args.iter().copied().chain(more.iter().copied()));
    assert_eq!(with(&["--format", "csv"]).value(), "n,a,b c,b.c\n1,3.0,0.5,0.0\n2,6.0,6.0,0.0");
    let json: serde_json::Value =
        serde_json::from_str(with(&["--format", "json"]).value()).expect("JSON");
    assert_eq!(json["keys"]["n"], serde_json::json!([1, 2]));
    assert_eq!(json["columns"]["b c"], serde_json::json!([0.5, 6.0]));
    assert_eq!((&json["n"], &json["result_dtype"]["a"]), (&9.into(), &"f64".into()));
    let out = folder.at("t.npz");
    assert!(with(&["--out", out.to_str().expect("UTF-8")]).value().contains("2 results"));
    let mut archive = zip::ZipArchive::new(fs::File::open(&out).unwrap()).expect("an archive");
    let names: Vec<String> = (0..archive.len())
        .map(|k| archive.by_index(k).unwrap().name().unwrap().to_string())
        .collect();
    assert_eq!(names, ["n.npy", "a.npy", "b_c.npy", "b_c_.npy"]);
    // What a key has no value for is left empty, which NumPy cannot say.
    let gaps = folder.file("g.csv", "k,a,b\nx,1,\ny,,2\n");
    let args = ["sum", &gaps, "--column", "a", "--column", "b", "--by", "k", "--missing", "skip"];
    assert_eq!(run(args).kept(), "k    a    b\nx  1.0    -\ny    -  2.0");
    let npy = folder.at("g.npy");
    let failed = run(args.iter().copied().chain(["--out", npy.to_str().expect("UTF-8")]));
    // Behind what was left out.
    assert_eq!((failed.code, failed.err.lines().count()), (Some(1), 2), "{failed:?}");
    assert!(failed.err.contains("NumPy") && failed.err.contains(".csv"), "{failed:?}");
}

#[test]
fn words_are_keys() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "shop,x\nsouth,1\nnorth,2\n\"a, b\",4\nnorth,8\n");
    let sums = run(["sum", &path, "--column", "x", "--by", "shop"]);
    assert_eq!(sums.value(), "a, b 4.0\nnorth 10.0\nsouth 1.0");
    assert_eq!(
        run(["sum", &path, "--column", "x", "--by", "shop", "--format", "csv"]).value(),
        "key,sum\n\"a, b\",4.0\nnorth,10.0\nsouth,1.0"
    );
    // Integers stay integers as long as all are; dates are words, and their order is that of time.
    let path = folder.file("d.csv", "2024-03-01,5,1\n2023-12-31,7,2\n2024-03-01,10,4\n");
    let by = |key: &str| run(["sum", &path, "--column", "3", "--by", key]).value().to_string();
    assert_eq!(
        (by("1"), by("2")),
        ("2023-12-31 2.0\n2024-03-01 5.0".into(), "5 1.0\n7 2.0\n10 4.0".into())
    );
    // Each of several columns leaves out cells of its own, which are no rows.
    let gaps = folder.file("c.csv", "k,a,b\nx,1,\n,2,3\ny,,\nz,4,5\n");
    let args = ["sum", &gaps, "--column", "a", "--column", "b", "--missing", "skip"];
    let counts = |more: &[&str]| {
        let args = args.iter().chain(more).chain(&["--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(run(args).kept()).expect("JSON");
        let text = &json["text"][0];
        ["rows", "rows_left_out", "cells_left_out"].map(|key| text[key].as_u64().expect("a count"))
    };
    assert_eq!((counts(&[]), counts(&["--by", "k"])), ([4, 0, 3], [4, 1, 3]));
    let mixed = folder.file("m.csv", "k,x\n10,1\n9,2\n10a,4\n");
    assert_eq!(
        run(["sum", &mixed, "--column", "x", "--by", "k"]).value(),
        "10 1.0\n10a 4.0\n9 2.0"
    );
    // Numbers are keys among words, and none by themselves unless they are integers, in whatever order the rows lie.
    let rows = ["1.5,1", "10a,2", "7,4", "99999999999999999999,8", "-1,16"];
    let by_key = |rows: &[&str]| {
        let path = folder.file("o.csv", format!("k,x\n{}\n", rows.join("\n")));
        run(["sum", &path, "--column", "x", "--by", "k"])
    };
    let sorted = "-1 16.0\n1.5 1.0\n10a 2.0\n7 4.0\n99999999999999999999 8.0";
    let (mut all, mut numbers) = (rows.to_vec(), vec!["7,4", "1.5,1", "-3,2"]);
    for turn in 0..rows.len() {
        all.rotate_left(1);
        assert_eq!(by_key(&all).value(), sorted, "{turn}");
        numbers.rotate_left(1);
        by_key(&numbers).fails(1, &["\"1.5\" is no key", "integers or words", "another column"]);
    }
    by_key(&["18446744073709551615,1", "-1,2"]).fails(1, &["neither i64 nor u64"]);
    by_key(&["7,1", "NA,2"]).fails(1, &["line 3, column 1", "\"NA\" is no key", "--missing skip"]);
    let own = folder.file("own.txt", "key\n1.5\n2\n");
    let x = folder.file("x.txt", "1\n2\n4\n");
    run(["sum", &x, "--by", &own]).fails(1, &["own.txt", "line 2", "\"1.5\" is no key"]);
    let own = folder.file("own.txt", "1.5\nkey\n1.5\n");
    assert_eq!(run(["sum", &x, "--by", &own]).value(), "1.5 5.0\nkey 2.0");
    let keys = folder.file("k.txt", "red\ngreen\nred\n");
    assert_eq!(run(["sum", &x, "--by", &keys]).value(), "green 2.0\nred 5.0");
    assert_eq!(run(["sum", &x, "--by", &keys, "--sorted"]).value(), "red 1.0\ngreen 2.0\nred 4.0");
    run(["sum", &x, "--by", &keys, "--groups", "3"]).fails(2, &["--groups", "words"]);
    // A group that has no result is named by its word.
    run(["var", &x, "--by", &keys, "--ddof", "1"]).fails(1, &["group green"]);
    let gap = folder.file("g.csv", "k,x\na,1\n,2\n");
    run(["sum", &gap, "--column", "x", "--by", "k"])
        .fails(1, &["line 3, column 1", "no key", "--missing skip"]);
    assert_eq!(
        run(["sum", &gap, "--column", "x", "--by", "k", "--missing", "skip"]).kept(),
        "a 1.0"
    );
    let bytes = folder.file("b.csv", b"k,x\na,1\n\xff,2\n");
    run(["sum", &bytes, "--column", "x", "--by", "k"]).fails(1, &["line 3, column 1", "UTF-8"]);
}

#[test]
fn what_several_columns_are_not_for() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "k,a,b\n1,1,2\n2,3,4\n");
    let with =
        |more: &[&str]| run([&["sum", &*path, "--column", "a", "--column", "b"], more].concat());
    with(&["--every", "2"]).fails(2, &["segments", "run once for each column"]);
    with(&["--by", "k", "--sorted"]).fails(2, &["--sorted"]);
    with(&["--map", "a * b"]).fails(2, &["--column"]);
    with(&["--device", "simt"]).fails(2, &["--device"]);
    with(&["--column", "a"]).fails(2, &["a is asked for twice"]);
    with(&["--column", "d"]).fails(1, &["\"d\"", "k, a, b"]);
    run(["dot", &path, &path, "--column", "a", "--column", "b"]).fails(2, &["dot"]);
    let wide = folder.file("w.csv", "k,a,b\n1,1,9223372036854775807\n1,3,4\n");
    run(["sum", &wide, "--column", "a", "--column", "b", "--by", "k", "--dtype", "i64"])
        .fails(1, &["column b", "group 1", "9223372036854775811"]);
}

#[cfg(feature = "parquet")]
#[test]
fn several_columns_by_keys_are_those_of_each_alone() {
    use crate::data::with::{ORDERS, of};

    let names = ["price", "count", "cost", "half"];
    let every = |names: &[&'static str]| -> Vec<&str> {
        names.iter().flat_map(|name| ["--column", name]).collect()
    };
    let lines = |run: &Run| -> Vec<Vec<String>> {
        let fields = |line: &str| line.split(',').map(String::from).collect();
        run.kept().lines().map(fields).collect()
    };
    for file in [ORDERS, "polars.arrow"] {
        for by in [&["shop"][..], &["kind", "flag"], &["day"]] {
            for op in ["sum", "mean", "minmax"] {
                let keys: Vec<&str> = by.iter().flat_map(|by| ["--by", by]).collect();
                let of = |names: &[&'static str]| {
                    let args = [&[op], &every(names)[..], &keys, &["--format", "csv"]];
                    lines(&crate::data::with::of(file, &args.concat()))
                };
                let together = of(&names);
                let mut expected: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
                let mut width = 0;
                for name in names {
                    let alone = of(&[name]);
                    for row in &alone[1..] {
                        let cells = expected.entry(row[..by.len()].to_vec()).or_default();
                        cells.resize(width, String::new());
                        cells.extend_from_slice(&row[by.len()..]);
                    }
                    width += alone[0].len() - by.len();
                }
                expected.values_mut().for_each(|cells| cells.resize(width, String::new()));
                let found: BTreeMap<_, _> = together[1..]
                    .iter()
                    .map(|row| (row[..by.len()].to_vec(), row[by.len()..].to_vec()))
                    .collect();
                assert_eq!(found, expected, "{op} by {by:?} of {file}");
                assert_eq!(together.len() - 1, expected.len());
                assert_eq!(together[0][..by.len()], *by);
            }
        }
    }
    let all = of(ORDERS, &["mean", "--column", "*", "--by", "count", "--format", "csv"]);
    assert!(all.kept().starts_with("count,price,big,half,cost\n-500,"), "{all:?}");
    let folder = Folder::new();
    let out = folder.at("m.parquet");
    let out = out.to_str().expect("UTF-8");
    let args = ["sum", "--column", "price", "--column", "cost", "--by", "shop", "--out", out];
    assert!(of(ORDERS, &args).kept().contains("5 results"));
    assert_eq!(
        run(["max", out, "--column", "cost", "--by", "shop"]).kept(),
        of(ORDERS, &["sum", "--column", "cost", "--by", "shop"]).kept()
    );
    of(ORDERS, &["sum", "--column", "price", "--column", "1", "--by", "shop"])
        .fails(2, &["price", "asked for twice"]);
    of(ORDERS, &["sum", "--column", "*", "--by", "kind"])
        .fails(1, &["column big", "even", "9223372036854775558000"]);
}

#[test]
fn no_column_of_numbers_is_left_out_in_silence() {
    let folder = Folder::new();
    // A cell that is missing does not say what the others are.
    let gap = folder.file("gap.csv", "a,b,word\n1,,x\n2,3,y\n");
    run(["sum", &gap, "--column", "*"]).fails(1, &["line 2", "missing"]);
    let skipped = run(["sum", &gap, "--column", "*", "--missing", "skip", "--format", "json"]);
    let reported: serde_json::Value = serde_json::from_str(&skipped.out).unwrap();
    // Columns that are left out are not counted.
    assert_eq!(reported["n"], 3, "{reported}");
    assert!(skipped.err.contains("left out: column word") && skipped.err.lines().count() == 2);
    let nan = run(["sum", &gap, "--column", "*", "--missing", "nan", "--format", "csv"]);
    assert!(nan.out.contains("b,NaN") && !nan.out.contains("word"), "{nan:?}");
    // Another input has words where the first has numbers.
    let one = folder.file("one.csv", "a,b\n1,2\n");
    let two = folder.file("two.csv", "a,b\n1,x\n");
    let both = run(["sum", &one, &two, "--column", "*"]);
    both.fails(1, &["column b", "in another"]);
    run(["sum", &two, &one, "--column", "*"]).fails(1, &["column b", "in another"]);
}

#[test]
fn columns_of_one_name_have_numbers() {
    let folder = Folder::new();
    let twice = folder.file("twice.csv", "x,x,y\n1,2,3\n10,20,30\n");
    for columns in [&["1", "2"][..], &["*"]] {
        let columns: Vec<&str> = columns.iter().flat_map(|column| ["--column", *column]).collect();
        let all = run([&["sum", &*twice, "--format", "csv"][..], &columns].concat());
        let reported = all.value();
        assert!(
            reported.contains("x (column 1),11") && reported.contains("x (column 2),22"),
            "{all:?}"
        );
    }
    run(["sum", &twice, "--column", "2", "--column", "2"]).fails(2, &["asked for twice"]);
    run(["sum", &twice, "--column", "3", "--column", "y"]).fails(2, &["asked for twice"]);
}
