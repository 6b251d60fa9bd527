//! Columns of Parquet and Arrow files that are chosen two at a time, or all: dot products, and the shape of what is printed.

#![cfg(feature = "parquet")]

use crate::data::with::{ORDERS, fixture, of};
use crate::program::{Folder, run};

#[test]
fn dot_of_two_columns() {
    for name in [ORDERS, "polars.parquet", "lz4.feather", "polars.arrow", "stream.arrows"] {
        let path = fixture(name);
        let dot = |x: &str, y: &str| run(["dot", &path, "--column", x, "--column", y]);
        let twice = dot("price", "price");
        assert_eq!(twice.kept(), run(["sumsq", &path, "--column", "price"]).kept(), "{name}");
        // Python's fraction of the formulas, rounded.
        assert_eq!(dot("price", "count").kept(), "-4.96999999993592e18", "{name}");
        assert_eq!(dot("count", "price").kept(), "-4.96999999993592e18", "{name}");
        assert_eq!(dot("flag", "flag").kept(), "334");
        // Every integer of big is more than an f64 holds.
        dot("price", "big").fails(1, &["is no f64", "cast them to one type"]);
        dot("price", "cost").fails(2, &["Decimal", "cast this one"]);
        dot("price", "shop").fails(2, &["Utf8", "two columns"]);
        dot("prise", "count").fails(1, &["did you mean price?"]);
    }
    let json = of(ORDERS, &["dot", "--column", "price", "--column", "count", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(json.kept()).expect("JSON");
    assert_eq!((&json["dtype"], &json["reduction"]), (&"f64".into(), &"dot".into()));
    assert_eq!(json["n"], 686);
    // Parts are one table, and threads change nothing.
    let parts = fixture("parts");
    let of_parts = |threads: &str| {
        run(["dot", &parts, "--column", "price", "--column", "count", "--threads", threads])
    };
    assert_eq!(of_parts("1").kept(), "-4.96999999993592e18");
    assert_eq!(of_parts("2").kept(), "-4.96999999993592e18");
    of(ORDERS, &["dot", "--column", "price", "--column", "count", "--by", "shop"])
        .fails(2, &["dot by keys"]);
    of(ORDERS, &["dot", "--column", "*"]).fails(2, &["two columns"]);
}

/// As of texts: the shape is that of the options.
#[test]
fn all_columns_are_a_table_of_one_as_well() {
    let folder = Folder::new();
    let (csv, path) = (folder.file("x.csv", "k,a\n1,2\n2,3\n"), folder.at("x.parquet"));
    let path = path.to_str().expect("UTF-8");
    run(["sum", &csv, "--column", "a", "--by", "k", "--out", path]);
    assert_eq!(
        run(["max", path, "--column", "*", "--by", "key"]).out,
        "key  sum\n1    2.0\n2    3.0\n"
    );
    let only = folder.at("y.arrow");
    let only = only.to_str().expect("UTF-8");
    run(["sum", &csv, "--column", "a", "--out", only]);
    assert_eq!(run(["sum", only, "--column", "*"]).out, "sum 5.0\n");
    assert_eq!(run(["sum", only]).out, "5.0\n");
    assert!(run([only]).out.starts_with("column  count  nan_count"));
}
