//! Several files as one array, by keys and segments: what one file of all rows gives, to the last bit.

use super::{floats, integers, npy};
use crate::program::{Folder, Run, run};

/// Rows of a CSV, and where it is cut into files.
const ROWS: [&str; 7] = [
    "south,7,1e300",
    "north,3,0.1",
    "south,3,-1e300",
    "east,7,0.2",
    "south,7,3.25",
    "north,3,NA",
    "east,5,0.3",
];

/// The rows in files of so many each, and in one file.
fn parted(folder: &Folder, cuts: &[usize]) -> (Vec<String>, String) {
    let text = |rows: &[&str]| format!("shop,day,price\n{}\n", rows.join("\n"));
    let mut rest = &ROWS[..];
    let file = |(k, &rows): (usize, &usize)| {
        let (some, others) = rest.split_at(rows);
        rest = others;
        folder.file(&format!("part{k}.csv"), text(some))
    };
    let files = cuts.iter().enumerate().map(file).collect();
    (files, folder.file("all.csv", text(&ROWS)))
}

fn both(files: &[String], all: &str, options: &[&str]) -> (Run, Run) {
    let (op, more) = options.split_first().expect("an operation");
    let of = |inputs: Vec<&str>| run([&[*op][..], &inputs, more].concat());
    (of(files.iter().map(String::as_str).collect()), of(vec![all]))
}

#[test]
fn keys_of_several_texts_are_those_of_one() {
    let folder = Folder::new();
    let skip = ["--missing", "skip", "--header", "yes", "--format", "csv"];
    for cuts in [&[3, 4][..], &[1, 1, 5], &[0, 6, 1]] {
        let (files, all) = parted(&folder, cuts);
        for options in [
            &["sum", "--column", "price", "--by", "shop"][..],
            &["var", "--column", "price", "--by", "shop", "--empty", "none"],
            &["prod", "--column", "price", "--by", "shop"],
            &["argmax", "--column", "price", "--by", "shop", "--flat"],
            &["mean", "--column", "3", "--by", "2"],
            &["max", "--column", "price", "--by", "day", "--by", "shop"],
            &["sum", "--column", "price", "--column", "day", "--by", "shop"],
            &["sum", "--column", "*", "--by", "shop"],
            &["sum", "--map", "price * day", "--where", "day > 3", "--by", "shop"],
            &["sum", "--column", "price", "--every", "7"],
        ] {
            let (files, all) = both(&files, &all, &[options, &skip].concat());
            assert_eq!(files.kept(), all.kept(), "{options:?} of files of {cuts:?} rows");
        }
    }
    let (files, _) = parted(&folder, &[3, 4]);
    let options = ["--column", "price", "--by", "shop", "--missing", "skip"];
    let found = run([&["sum", &files[0], &files[1]][..], &options].concat());
    assert_eq!(found.kept(), "east 0.5\nnorth 0.1\nsouth 3.25");
}

#[cfg(feature = "parquet")]
#[test]
fn patterns_that_no_shell_expands_are_expanded() {
    let folder = Folder::new();
    parted(&folder, &[3, 4]);
    let at = |pattern: &str| folder.at(pattern).to_string_lossy().into_owned();
    let options = ["--column", "day", "--by", "shop"];
    let sum = |pattern: &str| run([&["sum", &at(pattern)][..], &options].concat());
    assert_eq!(sum("part*.csv").value(), "east 12.0\nnorth 6.0\nsouth 17.0");
    assert_eq!(sum("part[0-9].csv").value(), "east 12.0\nnorth 6.0\nsouth 17.0");
    sum("none*.csv").fails(1, &["no file matches"]);
}

#[test]
fn keys_are_words_or_integers_over_all_files() {
    let folder = Folder::new();
    let a = folder.file("a.csv", "k,v\n7,1\n07,2\n");
    let b = folder.file("b.csv", "v,k\n4,7\n8,x\n");
    let sum = |files: &[&str]| run([&["sum"], files, &["--column", "v", "--by", "k"]].concat());
    assert_eq!(sum(&[&a]).value(), "7 3.0");
    // A word in one of them makes words of all.
    assert_eq!(sum(&[&a, &b]).value(), "07 2.0\n7 5.0\nx 8.0");
    assert_eq!(sum(&[&b, &a]).value(), "07 2.0\n7 5.0\nx 8.0");
    let wide = folder.file("wide.csv", "k,v\n18446744073709551615,4\n");
    assert_eq!(sum(&[&a, &wide]).value(), "7 3.0\n18446744073709551615 4.0");
}

#[test]
fn files_that_do_not_go_together_are_refused() {
    let folder = Folder::new();
    let a = folder.file("a.csv", "k,v\nx,1\ny,2\n");
    let other = folder.file("other.csv", "key,v\nx,1\n");
    run(["sum", &a, &other, "--column", "v", "--by", "k"])
        .fails(1, &["other.csv", "no column is called", "key, v"]);
    let words = folder.file("words.csv", "k,v\nx,one\n");
    let column = ["--column", "v", "--by", "k"];
    run([&["sum", &a, &words][..], &column].concat()).fails(1, &["words.csv", "line 2", "one"]);
    // A table of all columns has the same ones of all files.
    run(["sum", &a, &words, "--column", "*", "--by", "k"])
        .fails(1, &["column v holds numbers in one input and none in another"]);
    let x = folder.file("x.npy", floats(&[1.0, 2.0]));
    run(["sum", &a, &x, "--by", "k"]).fails(2, &["a.csv", "x.npy", "reduce them apart"]);
    let k = folder.file("k.npy", integers(&[1, 2]));
    run(["sum", &k, &x, "--by", &k]).fails(1, &["f32", "i32"]);
    // Of files one after another there is one axis.
    run(["sum", &x, &x, "--axis", "0"]).fails(2, &["not 2", "numpy.concatenate"]);
    run(["sum", &x, &x, "--map", "x * x", "--axis", "0"]).fails(2, &["not 2", "numpy.concatenate"]);
}

#[test]
fn arrays_are_one_by_keys_and_segments_of_all() {
    let folder = Folder::new();
    // Two axes, columns first in memory: elements count as NumPy numbers them.
    let columns = [1f32, 4.0, 2.0, 5.0, 3.0, 6.0].map(f32::to_le_bytes).concat();
    let a = folder.file("a.npy", npy("<f4", true, "(2, 3)", &columns));
    let b = folder.file("b.npy", floats(&[7.0, 8.0]));
    let keys = folder.file("k.npy", integers(&[1, 1, 2, 2, 2, 1, 9, 1]));
    assert_eq!(run(["sum", &a, &b, "--by", &keys]).value(), "1 17.0\n2 12.0\n9 7.0");
    assert_eq!(run(["sum", &a, &b, "--every", "4"]).value(), "0 10.0\n1 26.0");
    let offsets = folder.file("o.npy", integers(&[0, 5, 8]));
    assert_eq!(run(["sum", &a, &b, "--segments", &offsets]).value(), "0 15.0\n1 21.0");
    let squares = run(["sum", &a, &b, "--map", "x * x", "--every", "4"]);
    assert_eq!(squares.value(), "0 30.0\n1 174.0");
    run(["sum", &a, "--by", &keys]).fails(1, &["6 elements by 8 keys"]);
}
