//! `warpfold FILE`: statistics of every column, where the name is no command.

use std::process::Command;

use crate::program::{Folder, command, finish, run};

#[test]
fn every_column_of_a_text_has_its_row() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "id,name,price\n1,ann,0.1\n2,bob,\n3,eve,0.3\n4,joe,0.2\n");
    let shown = run([&path]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let lines: Vec<Vec<&str>> =
        shown.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines[0],
        ["column", "count", "missing", "nan_count", "mean", "std", "min", "max", "sum"]
    );
    assert_eq!(lines[1][..5], ["id", "4", "0", "0", "2.5"]);
    assert_eq!(lines[2], ["name", "-", "-", "-", "-", "-", "-", "-", "-"]);
    assert_eq!(lines[3][..5], ["price", "3", "1", "0", "0.2"]);
    assert_eq!(lines[3][6..], ["0.1", "0.3", "0.6"]);
    assert_eq!(shown.err, "column name: line 2, column 2: \"ann\" is no f64\n");
    // The root of the exact variance of the nearest f64 of these decimals is 0.0999999999999999898…
    let sample = run([&path, "--ddof", "1", "--format", "csv"]);
    assert!(
        sample.out.starts_with("column,count,missing,nan_count,mean,std,min,max,sum\n"),
        "{sample:?}"
    );
    assert!(
        sample.out.contains("\nprice,3,1,0,0.2,0.09999999999999999,0.1,0.3,0.6\n"),
        "{sample:?}"
    );
}

#[test]
fn arrays_and_chosen_columns_have_stats() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "a,b\n1,2\n3,4\n");
    assert_eq!(
        run([&path, "--column", "b"]).value(),
        run(["stats", &path, "--column", "b"]).value()
    );
    let raw = folder.file("x.i32", [1u8, 0, 0, 0, 2, 0, 0, 0]);
    let of = |args: &[&str]| run(args).value().to_string();
    assert_eq!(of(&[&raw, "--dtype", "i32"]), of(&["stats", &raw, "--dtype", "i32"]));
    let words = folder.file("w.txt", "1 2\n3 4\n");
    assert!(run([&words]).value().contains("\n1 "));
}

#[test]
fn commands_come_before_files_and_missing_files_are_suggested_for() {
    let folder = Folder::new();
    folder.file("sum", "1\n");
    folder.file("devices", "1\n");
    let within = |args: &[&str]| finish(within_folder(&folder).args(args));
    within(&["sum"]).fails(2, &["INPUT"]);
    assert_eq!(within(&["devices"]).code, Some(0));
    run(["summ", "x"]).fails(2, &["summ", "sum"]);
    run(["no-such.csv"]).fails(2, &["no-such.csv"]);
    // Of a name that is nearly one, the file is named.
    folder.file("sales.csv", "1\n");
    let near = within(&["sales.cvs"]);
    assert_eq!(
        near.err,
        "warpfold: sales.cvs: no such file, and no reduction; is it the file sales.csv?; see warpfold --help\n"
    );
    run(["no/such"]).fails(2, &["no/such: no such file", "check the name"]);
    assert_eq!(near.code, Some(2));
    within(&["sum", "sales.cs"]).fails(1, &["sales.cs: no such file; is it sales.csv?"]);
    within(&["sum", "other.npy"]).fails(1, &["other.npy: no such file; check the name"]);
    // Nothing at all is no table of nothing.
    for (name, text) in [("e.csv", ""), ("e.txt", "\n\n"), ("e.tsv", "\u{feff}")] {
        let empty = folder.file(name, text);
        run([&empty]).fails(1, &[name, "is empty", "no row"]);
        run([&empty, &empty]).fails(1, &["the files are empty"]);
    }
    let names = folder.file("n.csv", "a,b\n");
    assert!(run([&names, "--format", "csv"]).value().contains("\na,0,0,0,,,,,0.0\n"));
    // One column is read as several are.
    let words = folder.file("w.csv", "name\nann\n\"bob\"\n");
    assert_eq!(run([&words]).err, "column name: line 2, column 1: \"ann\" is no f64\n");
    let gaps = folder.file("g.csv", "x\n1\nNA\n3\n");
    assert!(run([&gaps, "--format", "csv"]).value().contains("\nx,2,1,0,2.0,1.0,1.0,3.0,4.0"));
    let mixed = folder.file("m.csv", "1,bob\n2,eve\n");
    run([&mixed]).fails(1, &["neither names nor numbers", "--header"]);
    let other = folder.file("o.csv", "a,b\n1,2\n");
    let more = folder.file("p.csv", "a,c\n1,2\n");
    run([&other, &more]).fails(1, &["p.csv", "other columns"]);
}

#[test]
fn result_files_say_what_they_cannot_hold() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "id,name\n1,ann\n2,bob\n");
    let [npz, npy] = ["o.npz", "o.npy"].map(|name| folder.at(name).display().to_string());
    let said = "column name: line 2, column 2: \"ann\" is no f64\n";
    for out in [&npz, &npy] {
        let found = run([&path, "--out", out]);
        let why = "count of name has no value, and NumPy's arrays have no empty cell; write .json or .csv";
        assert!(found.code == Some(1) && found.err.contains(why), "{found:?}");
    }
    // Of numbers alone there is an array of each statistic.
    let numbers = folder.file("n.csv", "a,b\n1,2\n3,5\n");
    run([&numbers, "--out", &npz]).value();
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&npz).unwrap()).expect("an archive");
    assert!(archive.by_name("missing.npy").is_ok() && archive.by_name("mean.npy").is_ok());
    let csv = folder.at("o.csv").display().to_string();
    assert_eq!(run([&path, "--out", &csv]).err, said);
}

fn within_folder(folder: &Folder) -> Command {
    let mut command = command();
    command.current_dir(folder.path());
    command
}
