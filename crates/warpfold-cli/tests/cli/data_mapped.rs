//! Expressions of columns of Parquet and Arrow files. Expected values are Python's, by `fractions` of what pyarrow reads of the fixtures.

use crate::data::with::{ORDERS, of};
use crate::program::{Folder, run};

#[test]
fn expressions_name_columns() {
    for name in [ORDERS, "empty-groups.parquet", "lz4.feather", "polars.arrow", "stream.arrows"] {
        for threads in ["1", "2"] {
            let found = of(
                name,
                &["sum", "--map", "price * f64(count)", "--where", "flag", "--threads", threads],
            );
            assert_eq!(found.kept(), "21462666.75", "{name}");
            let note = "note: 314 of 1000 rows left out, as one of price, count, flag is null";
            assert!(found.err.contains(note), "{}", found.err);
        }
    }
    let large = of(ORDERS, &["l1", "--column", "price", "--where", "big >= 18446744073709551115"]);
    assert_eq!(large.kept(), "1.0000000000013392e16");
    // Indices count all rows, and integers are what they are.
    assert_eq!(of(ORDERS, &["argmax", "--map", "abs(price)"]).kept(), "1");
    assert_eq!(of(ORDERS, &["max", "--map", "big - 5"]).kept(), "18446744073709551610");
    // x is the column that --column chooses.
    assert_eq!(of(ORDERS, &["sum", "--map", "1", "--column", "price"]).kept(), "857");
    assert_eq!(of(ORDERS, &["max", "--map", "x + 1", "--column", "count"]).kept(), "2498");
}

#[test]
fn expressions_by_keys() {
    let each = of(
        ORDERS,
        &[
            "stats",
            "--of",
            "n = count(price > 50)",
            "--of",
            "mean(price, weights=f64(count))",
            "--where",
            "count > 100",
            "--by",
            "day",
            "--format",
            "csv",
        ],
    );
    assert_eq!(
        each.kept(),
        "key,n,\"mean(price, weights=f64(count))\"\n2024-02-28,0,28.5389385757678\n2024-02-29,68,50.00727696689876\n2024-03-01,171,79.5351591575115\n2024-03-02,171,110.20875064042177"
    );
    let flat = of(ORDERS, &["argmax", "--map", "abs(price)", "--by", "flag", "--flat"]);
    assert_eq!(flat.kept(), "false 1\ntrue 999");
    of(ORDERS, &["argmax", "--map", "abs(price)", "--by", "flag"]).fails(2, &["add --flat"]);
    // A key that no row of the condition has, and what may stand for it.
    let none = ["max", "--column", "price", "--where", "count > 2490", "--by", "shop"];
    of(ORDERS, &none).fails(1, &["group shop 0", "--empty"]);
    let some = of(ORDERS, &[&none[..], &["--empty", "none"]].concat());
    assert_eq!(some.kept(), "shop 0 -\nshop 1 -\nshop 2 -\nshop 3 124.875\n- -");
    let folder = Folder::new();
    let out = folder.at("m.parquet").to_string_lossy().into_owned();
    of(ORDERS, &["sum", "--map", "price", "--by", "day", "--by", "flag", "--out", &out]).kept();
    assert_eq!(run(["count", &out, "--map", "sum"]).kept(), "8");
}

#[test]
fn names_of_folders_are_in_expressions() {
    let hive = |options: &[&str]| of("hive", options);
    let of_2021 = hive(&["sum", "--column", "count", "--where", "year == 2021"]);
    assert_eq!(of_2021.kept(), "699100");
    let by_region = hive(&["sum", "--map", "count", "--where", "year == 2021", "--by", "region"]);
    assert_eq!(by_region.kept(), "north/é 344934\nsouth 347040\n- 7126");
    hive(&["sum", "--map", "count", "--where", "region > 3"]).fails(2, &["column region is Utf8"]);
}

#[test]
fn what_no_expression_takes_is_refused() {
    of(ORDERS, &["sum", "--map", "prise"]).fails(1, &["did you mean price?"]);
    of(ORDERS, &["sum", "--map", "shop * 2"]).fails(2, &["column shop is", "--by"]);
    of(ORDERS, &["sum", "--map", "cost"]).fails(2, &["Decimal128", "numbers"]);
    of(ORDERS, &["sum", "--map", "price * count"]).fails(2, &["f64(count)"]);
    of(ORDERS, &["sum", "--where", "flag"]).fails(2, &["11 columns", "--column"]);
    of(ORDERS, &["sum", "--map", "price", "--column", "count"]).fails(2, &["which no expression"]);
    of(ORDERS, &["sum", "--map", "x", "--column", "*"]).fails(2, &["--column", "--of"]);
    let folder = Folder::new();
    let y = folder.file("y.npy", [1]);
    let with = format!("y={y}");
    of(ORDERS, &["sum", "--map", "price * y", "--with", &with]).fails(2, &["--with"]);
    of(ORDERS, &["sum", "--column", "price", "--weights", &y]).fails(2, &["y.npy", "name one"]);
}

/// x is a column where any file has one, whatever the order of the files.
#[test]
fn x_is_a_column_before_it_is_another() {
    let folder = Folder::new();
    let csv = folder.file("t.csv", "k,v,x\n1,3,100\n2,4,200\n");
    let file = |name: &str, op: &str, column: &str| {
        let out = folder.at(name).to_string_lossy().into_owned();
        run([op, &csv, "--column", column, "--by", "k", "--out", &out]).value();
        out
    };
    let (one, two) = (file("one.parquet", "sum", "v"), folder.at("two.parquet"));
    let two = two.to_string_lossy().into_owned();
    run(["stats", &csv, "--of", "sum = sum(v)", "--of", "x = sum(x)", "--by", "k", "--out", &two])
        .value();
    assert_eq!(run(["sum", &two, "--map", "x"]).value(), "300.0");
    run(["sum", &one, &two, "--map", "x"]).fails(1, &["no column x"]);
    run(["sum", &two, &one, "--map", "x"]).fails(1, &["no column x"]);
}

#[test]
fn columns_named_by_numbers_are_told_from_places() {
    let folder = Folder::new();
    let csv = folder.file("t.csv", "k,v\n1,3\n2,4\n");
    let out = folder.at("t.parquet").to_string_lossy().into_owned();
    let of = ["--of", "a = sum(v)", "--of", "2 = sum(v * 10)", "--of", "9 = sum(v * 100)"];
    run([&["stats", &csv], &of[..], &["--by", "k", "--out", &out]].concat()).value();
    run(["sum", &out, "--column", "2"]).fails(2, &["place of column a", "'(\"2\")'"]);
    assert_eq!(run(["sum", &out, "--column", "(\"2\")"]).value(), "70.0");
    run(["sum", &out, "--column", "9"]).fails(1, &["no column 9 among 4", "'(\"9\")'"]);
    // What has no results has the names that it has with results.
    let none =
        ["minmax", &out, "--column", "a", "--by", "key", "--where", "a > 9", "--empty", "none"];
    assert_eq!(run([&none[..], &["--format", "csv"]].concat()).value(), "key,min,max\n1,,\n2,,");
}

/// A product of two integers without a sign is beyond 128 bits with one.
#[test]
fn errors_have_the_exact_value() {
    of(ORDERS, &["max", "--map", "big * big"])
        .fails(1, &["u64 does not hold 340282366920938463426481119284349108225"]);
}
