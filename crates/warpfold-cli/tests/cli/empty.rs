//! `--empty`: what stands for results that do not exist is the same of one column and of several.

use crate::program::{Folder, Run, run};

/// Values of two keys; `b` has none for the second.
const GAPS: &str = "k,a,b,c\n1,1,2,\n1,2,,\n2,3,,\n";

fn max(path: &str, more: &[&str]) -> Run {
    run([&["max", path, "--missing", "skip", "--format", "csv"], more].concat())
}

#[test]
fn a_column_that_has_no_result_has_what_stands_for_it() {
    let folder = Folder::new();
    let path = folder.file("gaps.csv", GAPS);
    let columns = ["--column", "a", "--column", "c"];
    for columns in [&columns[..], &["--column", "*"]] {
        max(&path, columns).fails(1, &["column c", "empty"]);
        let none = max(&path, &[columns, &["--empty", "none"]].concat());
        let nan = max(&path, &[columns, &["--empty", "nan"]].concat());
        assert!(none.kept().contains("a,3.0\n") && none.kept().ends_with("c,"), "{none:?}");
        assert!(nan.kept().contains("a,3.0\n") && nan.kept().ends_with("c,NaN"), "{nan:?}");
    }
    let of = |op: &str, empty: &str, more: &[&str]| {
        let args = [op, &path, "--missing", "skip", "--format", "csv", "--empty", empty];
        run([&args[..], &columns, more].concat())
    };
    assert_eq!(of("minmax", "none", &[]).kept(), "column,min,max\na,1.0,3.0\nc,,");
    assert_eq!(of("minmax", "nan", &[]).kept(), "column,min,max\na,1.0,3.0\nc,NaN,NaN");
    assert_eq!(of("argmax", "none", &[]).kept(), "column,argmax\na,2\nc,");
    assert_eq!(of("var", "nan", &["--ddof", "3"]).kept(), "column,var\na,NaN\nc,NaN");
    assert_eq!(of("var", "none", &["--ddof", "3"]).kept(), "column,var\na,\nc,");
    // The sum of nothing exists, and what has no NaN has none.
    assert_eq!(of("sum", "none", &[]).kept(), "column,sum\na,6.0\nc,0.0");
    of("argmax", "nan", &[]).fails(2, &["--empty nan", "argmax are indices", "--empty none"]);
    of("max", "nan", &["--dtype", "i64"]).fails(1, &["column c"]);
}

#[test]
fn a_column_by_keys_has_what_stands_for_its_results_alone() {
    let folder = Folder::new();
    let path = folder.file("gaps.csv", GAPS);
    let of = |op: &str, more: &[&str]| {
        let args = [op, &path, "--missing", "skip", "--by", "k", "--format", "csv"];
        let columns = ["--column", "a", "--column", "b"];
        run([&args[..], &columns, more].concat())
    };
    let ddof = |empty| of("var", &["--ddof", "1", "--empty", empty]);
    assert_eq!(ddof("nan").kept(), "k,a,b\n1,0.5,NaN\n2,NaN,NaN");
    assert_eq!(ddof("none").kept(), "k,a,b\n1,0.5,\n2,,");
    of("var", &["--ddof", "1"]).fails(1, &["column a", "group 2"]);
    // A key that a column has no value for has an empty cell, unless NaN is to stand there.
    assert_eq!(of("max", &[]).kept(), "k,a,b\n1,2.0,2.0\n2,3.0,");
    assert_eq!(of("max", &["--empty", "nan"]).kept(), "k,a,b\n1,2.0,2.0\n2,3.0,NaN");
    assert_eq!(of("max", &["--empty", "none"]).kept(), "k,a,b\n1,2.0,2.0\n2,3.0,");
    let minmax = of("minmax", &["--empty", "nan"]);
    assert!(minmax.kept().ends_with("\n2,3.0,3.0,NaN,NaN"), "{minmax:?}");
    let indices = of("argmax", &["--empty", "none", "--flat"]);
    assert_eq!(indices.kept(), "k,a,b\n1,1,0\n2,2,");
}

#[test]
fn a_single_result_that_does_not_exist_is_an_error() {
    let folder = Folder::new();
    let path = folder.file("gaps.csv", GAPS);
    for empty in ["nan", "none"] {
        max(&path, &["--column", "c", "--empty", empty])
            .fails(2, &["--empty", "one of many", "several columns"]);
    }
    let out = folder.at("m.npz");
    let columns = ["--column", "a", "--column", "c"];
    let kept = ["--empty", "none", "--out", out.to_str().expect("UTF-8")];
    let found = max(&path, &[&columns[..], &kept].concat());
    assert_eq!((found.code, found.out.as_str()), (Some(1), ""), "{found:?}");
    assert!(found.err.contains("max of c has no value") && found.err.contains("--empty nan"));
}
