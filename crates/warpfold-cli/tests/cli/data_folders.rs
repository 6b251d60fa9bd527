//! Names of folders as columns (`shop=x/`). Expected values are Python's, by `math.fsum` of the formulas in warpfold-arrow's `tests/fixtures/make.py`, which has
//! pyarrow write the folders.

use std::fs;

use crate::data::with::{fixture, of};
use crate::program::{Folder, run};

#[test]
fn folders_are_keys() {
    let hive = |options: &[&str]| of("hive", options);
    let regions = "north/é -9999999999973604.0\nsouth 1.0000000000026496e16\n- 482.75";
    let pattern = fixture("hive/*/*/*.parquet");
    for threads in ["1", "2"] {
        let by = ["sum", "--column", "price", "--by", "region", "--threads", threads];
        assert_eq!(hive(&by).kept(), regions);
        let found = run([&["sum", &pattern], &by[1..]].concat());
        assert_eq!(found.kept(), regions);
    }
    let years = hive(&["sum", "--column", "count", "--by", "year"]);
    assert_eq!(years.kept(), "2020 99100\n2021 699100");
    let both =
        hive(&["sum", "--column", "count", "--by", "region", "--by", "year", "--format", "csv"]);
    assert_eq!(
        both.kept(),
        "region,year,sum\nnorth/é,2020,48570\nnorth/é,2021,344934\nsouth,2020,49464\nsouth,2021,347040\n,2020,1066\n,2021,7126"
    );
    // Every value but one, which is zero.
    let counts = hive(&["count", "--column", "price", "--by", "region"]);
    assert_eq!(counts.kept(), "north/é 424\nsouth 424\n- 8");
    // Integers and strings keep their types in files that are written.
    let folder = Folder::new();
    let out = folder.at("m.parquet").to_string_lossy().into_owned();
    hive(&["sum", "--column", "count", "--by", "year", "--by", "region", "--out", &out]).kept();
    assert_eq!(run(["sum", &out, "--column", "year"]).kept(), (3 * (2020 + 2021)).to_string());
    run(["sum", &out, "--column", "region"]).fails(2, &["strings"]);
}

#[test]
fn folders_are_columns_where_they_are_named() {
    let hive = |options: &[&str]| of("hive", options);
    assert_eq!(hive(&["mean", "--column", "year"]).kept(), "2020.5");
    assert_eq!(hive(&["minmax", "--column", "year"]).kept(), "2020 2021");
    assert_eq!(
        hive(&["max", "--column", "year", "--by", "region"]).value(),
        "north/é 2021\nsouth 2021\n- 2021"
    );
    let dot = hive(&["dot", "--column", "count", "--column", "year"]);
    assert_eq!(dot.kept(), (99_100 * 2020 + 699_100 * 2021).to_string());
    hive(&["sum", "--column", "region"]).fails(2, &["strings"]);
    // All columns are those of the files.
    let all = hive(&["sum", "--column", "*"]);
    assert_eq!(all.kept(), "price 53375.125\ncount 798200");
    hive(&["sum"]).fails(2, &["2 columns: price, count", "by their folders region, year"]);
    hive(&["sum", "--column", "price", "--by", "regoin"]).fails(1, &["did you mean region?"]);
    hive(&["sum", "--column", "price", "--by", "shop"])
        .fails(1, &["no column shop", "price, count, region, year"]);
}

#[test]
fn a_files_own_column_comes_first() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name).to_string_lossy().into_owned();
    let part = |name: &str, from: &str| {
        fs::create_dir_all(folder.at(name)).unwrap();
        fs::copy(fixture(from), folder.at(&format!("{name}/x.parquet"))).unwrap();
    };
    part("t/shop=7", "parts/part-0.parquet");
    let own = run(["sum", &at("t"), "--column", "count", "--by", "shop"]);
    assert_eq!(
        own.kept(),
        of("parts/part-0.parquet", &["sum", "--column", "count", "--by", "shop"]).kept()
    );
    // Files in a row have a column of one type, wherever it comes from.
    part("u/day=1", "parts/part-0.parquet");
    part("u/day=x", "parts/part-1.parquet");
    let count = |rows: std::ops::Range<i64>| -> i64 {
        rows.filter(|k| k % 5 != 3).map(|k| k * 3 - 500).sum()
    };
    let days = run(["sum", &at("u"), "--column", "count", "--by", "day"]);
    assert_eq!(days.kept(), format!("1 {}\nx {}", count(0..250), count(250..500)));
    part("u/other=1", "parts/part-2.parquet");
    run(["sum", &at("u"), "--column", "count", "--by", "day"])
        .fails(1, &["other=1/x.parquet", "no column day"]);
    part("v/day=1/day=2", "parts/part-0.parquet");
    run(["sum", &at("v"), "--column", "count", "--by", "day"])
        .fails(1, &["two of its folders are called day=…", "rename one"]);
}

/// Arrow files have them too, batch by batch, and so has a column alone, of which nothing is read.
#[test]
fn folders_of_arrow_files() {
    let folder = Folder::new();
    for (name, from) in
        [("k=2", "lz4.feather"), ("k=10", "stream.arrows"), ("k=-1", "polars.arrow")]
    {
        fs::create_dir_all(folder.at(name)).unwrap();
        fs::copy(fixture(from), folder.at(&format!("{name}/{from}"))).unwrap();
    }
    let path = folder.path().to_string_lossy().into_owned();
    let found = run(["sum", &path, "--column", "count", "--by", "k"]);
    assert_eq!(found.kept(), "-1 798200\n2 798200\n10 798200");
    assert_eq!(run(["sum", &path, "--column", "k"]).kept(), "11000");
    assert_eq!(run(["argmax", &path, "--column", "k"]).kept(), "1000");
}

/// A folder of texts or arrays is its files as one, and names of folders are keys where no text has such a column.
#[test]
fn folders_of_texts_and_arrays() {
    let folder = Folder::new();
    let file = |name: &str, text: &str| {
        let path = folder.at(name);
        fs::create_dir_all(path.parent().expect("a folder")).unwrap();
        fs::write(path, text).unwrap();
    };
    file("t/shop=10/a.csv", "x,y\n1,2\n3,4\n");
    file("t/shop=9/b.csv", "x,y\n5,6\n,8\n");
    file("t/shop=10/_tmp.csv", "not,this\n");
    file("t/shop=10/_notes", "nor this");
    let path = |name: &str| folder.at(name).to_string_lossy().into_owned();
    let of = |op: &str, options: &[&str]| run([&[op, &path("t")], options].concat());
    assert_eq!(of("sum", &["--column", "y"]).value(), "20.0");
    assert_eq!(of("sum", &["--column", "y", "--by", "shop"]).value(), "9 14.0\n10 6.0");
    let skip = ["--missing", "skip"];
    let both = ["--column", "x", "--column", "y", "--by", "shop"];
    assert_eq!(
        of("max", &[&both[..], &skip].concat()).out,
        "shop    x    y\n9     5.0  8.0\n10    3.0  4.0\n"
    );
    let flat = ["--column", "x", "--by", "shop", "--flat"];
    assert_eq!(of("argmax", &[&flat[..], &skip].concat()).out, "9 2\n10 1\n");
    let csv = of("sum", &["--column", "y", "--by", "shop", "--by", "x", "--missing", "error"]);
    csv.fails(1, &["b.csv", "line 3"]);
    assert!(run([&path("t")[..], "--format", "csv"]).out.contains("\ny,4,0,0,5.0,"));
    of("sum", &["--map", "y * 2", "--by", "shop"]).fails(2, &["--by shop", "not of expressions"]);
    // Words, and rows without a key.
    file("u/day=mon/a.txt", "1\n2\n");
    file("u/day=a%2Fb/b.txt", "4\n");
    file("u/day=__HIVE_DEFAULT_PARTITION__/c.txt", "8\n16\n");
    let days = |options: &[&str]| run([&["sum", &path("u"), "--by", "day"], options].concat());
    days(&[]).fails(1, &["c.txt", "rows without day", "--missing skip"]);
    let found = days(&skip);
    assert_eq!(found.out, "a/b 4.0\nmon 3.0\n");
    assert!(found.err.contains("c.txt: 2 of 2 rows left out, as its folder"), "{found:?}");
    // A text's own column comes first.
    assert_eq!(
        of("sum", &["--column", "y", "--by", "x", "--missing", "skip"]).out,
        "1 2.0\n3 4.0\n5 6.0\n"
    );
    file("v/x=7/a.csv", "x,y\n1,2\n");
    assert_eq!(run(["sum", &path("v"), "--column", "y", "--by", "x"]).value(), "1 2.0");
    // Nothing to read, or nothing that says how.
    fs::create_dir(folder.at("w")).unwrap();
    for options in [&[][..], &["--dtype", "f64"]] {
        let found = run([&["sum", &path("w")], options].concat());
        found.fails(1, &["w: is a directory; name the files in it"]);
    }
}

/// Rows behind a link would be read twice, or for ever.
#[cfg(unix)]
#[test]
fn links_to_folders_are_refused() {
    let folder = Folder::new();
    fs::create_dir(folder.at("t")).expect("a folder");
    let x = folder.file("t/a.txt", "1\n2\n");
    let t = folder.at("t").to_string_lossy().into_owned();
    assert_eq!(run(["sum", &t]).value(), "3.0");
    folder.file("t/b.bz2", "");
    let found = run(["sum", &t]);
    assert_eq!(found.out, "3.0\n");
    assert!(found.err.contains("1 file left out") && found.err.contains("b.bz2"), "{found:?}");
    std::os::unix::fs::symlink(".", folder.at("t/loop")).expect("a link");
    run(["sum", &t]).fails(1, &["loop in it is a link to a folder"]);
    let other = folder.at("m=2");
    fs::create_dir_all(other.join("m=3")).expect("folders");
    fs::copy(&x, other.join("m=3/y.txt")).expect("a copy");
    let inner = other.join("m=3/y.txt").to_string_lossy().into_owned();
    run(["sum", &inner, "--by", "m"]).fails(2, &["two of its folders are called m"]);
}

/// A folder is its files of columns where it has some, and it is told that others are not read.
#[test]
fn texts_beside_files_of_columns_are_told_of() {
    let folder = Folder::new();
    let path = folder.at("sales");
    fs::create_dir(&path).unwrap();
    fs::copy(fixture("parts/part-0.parquet"), path.join("part-0.parquet")).unwrap();
    let name = path.to_string_lossy().into_owned();
    let sum = || run(["sum", &name, "--column", "count"]);
    let alone = sum();
    fs::write(path.join("more.csv"), "count\n5\n").unwrap();
    fs::write(path.join("_SUCCESS"), "").unwrap();
    let found = sum();
    assert_eq!(found.kept(), alone.kept());
    let note = "sales: 1 file left out whose names are of no Parquet or Arrow file, such as ";
    assert!(!alone.err.contains("whose names"), "{}", alone.err);
    assert!(found.err.contains(note) && found.err.contains("more.csv"), "{}", found.err);
}
