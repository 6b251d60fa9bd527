//! Fields of records in `.npy` files, and arrays of `.npz` files, as columns and as keys.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;

use crate::arrays::{dictionary, npy_header};
use crate::program::{Folder, run, run_with_stdin};

const FIELDS: &str = "[('shop', '|u1'), ('', '|V3'), ('price', '<f8'), ('name', '<U2'), ('pair', '>i2', (2,)), ('in', [('x', '<f4')])]";

/// A record of each price: shops in turn, and two integers that follow from its place.
pub(crate) fn records(prices: &[f64]) -> Vec<u8> {
    let n = prices.len();
    let text = format!("{{'descr': {FIELDS}, 'fortran_order': False, 'shape': ({n},), }}");
    let mut bytes = npy_header(1, &text, 64);
    for (k, price) in prices.iter().enumerate() {
        bytes.extend([k as u8 % 2, 0xff, 0xff, 0xff]);
        bytes.extend(price.to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend([k as i16, -(k as i16)].map(i16::to_be_bytes).as_flattened());
        bytes.extend([0; 4]);
    }
    bytes
}

#[test]
fn a_field_is_a_column() {
    let folder = Folder::new();
    // More than are taken apart at once.
    let prices: Vec<f64> = (0..5000).map(|k| f64::from(k % 97) - 0.5).collect();
    let file = folder.file("r.npy", records(&prices));
    let sum: f64 = prices.iter().sum();
    for column in ["price", "2"] {
        assert_eq!(run(["sum", &file, "--column", column]).value(), format!("{sum:?}"));
    }
    assert_eq!(run(["sum", &file, &file, "--column", "shop"]).value(), "5000");
    assert_eq!(run(["minmax", &file, "--column", "pair"]).value(), "-4999 4999");
    assert_eq!(run(["max", &file, "--column", "pair", "--axis", "0"]).value(), "4999\n0");
    let of = |shop: usize| prices.iter().skip(shop).step_by(2).sum::<f64>();
    let by_shop = format!("0 {:?}\n1 {:?}", of(0), of(1));
    assert_eq!(run(["sum", &file, "--column", "price", "--by", "shop"]).value(), by_shop);
    // Words and nested records are no numbers.
    let all = run(["max", &file, "--column", "*"]);
    assert_eq!((all.code, &all.out[..]), (Some(0), "shop 1\nprice 95.5\npair 4999\n"), "{all:?}");
    assert!(all.err.starts_with("left out: column name: holds elements of \"<U2\""), "{all:?}");
    let piped = ["sum", "-", "--input", "npy", "--column", "price"];
    assert_eq!(run_with_stdin(&piped, &records(&prices)).value(), format!("{sum:?}"));
}

#[test]
fn what_is_no_field_is_refused() {
    let folder = Folder::new();
    let bytes = records(&[1.0, 2.0, 4.0]);
    let file = folder.file("r.npy", &bytes[..]);
    run(["sum", &file])
        .fails(1, &["records of the fields shop, price, name, pair, in", "--column"]);
    run(["sum", &file, "--column", "prise"])
        .fails(1, &["no field \"prise\"", "did you mean \"price\"?", "shop, price"]);
    run(["sum", &file, "--column", "9"]).fails(1, &["no field 9"]);
    run(["sum", &file, "--column", "name"]).fails(1, &["<U2", "does not reduce"]);
    run(["sum", &file, "--column", "in"]).fails(1, &["a structured type", "does not reduce"]);
    run(["sum", &file, "--column", "price", "--by", "shops"]).fails(1, &["shops", "no such file"]);
    for cut in 1..=28 {
        let short = folder.file("short.npy", &bytes[..bytes.len() - cut]);
        run(["sum", &short, "--column", "in"]).fails(1, &["a structured type"]);
        run(["sum", &short, "--column", "pair"]).fails(1, &["truncated"]);
        run(["sum", &short, "--column", "shop"]).fails(1, &["truncated"]);
    }
    let long = folder.file("long.npy", [&bytes[..], &[7]].concat());
    run(["sum", &long, "--column", "price"]).fails(1, &["goes on after"]);
    let plain = npy_header(1, &dictionary("<f8", false, "(1,)"), 64);
    let plain = folder.file("plain.npy", [&plain[..], &1f64.to_le_bytes()].concat());
    run(["sum", &plain, "--column", "price"]).fails(1, &["is one array, which has no columns"]);
}

pub(crate) fn array(descr: &str, bytes: &[u8], n: usize) -> Vec<u8> {
    [&npy_header(1, &dictionary(descr, false, &format!("({n},)")), 64)[..], bytes].concat()
}

pub(crate) fn archive(arrays: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// What one file has and another has not is never left out in silence.
#[test]
fn archives_that_differ_are_refused() {
    let folder = Folder::new();
    let x = array("<f8", [1f64, 2.0, 4.0].map(f64::to_le_bytes).as_flattened(), 3);
    let k = array("<i2", [7i16, -1, 7].map(i16::to_le_bytes).as_flattened(), 3);
    let wide = array("<i4", [7i32, -1, 7].map(i32::to_le_bytes).as_flattened(), 3);
    let words = array("<U1", &[65, 0, 0, 0].repeat(3), 3);
    let file = |name: &str, arrays: &[(&str, &[u8])]| folder.file(name, archive(arrays));
    let one = file("one.npz", &[("x.npy", &x), ("k.npy", &k)]);
    let more = file("more.npz", &[("x.npy", &x), ("k.npy", &k), ("y.npy", &x)]);
    let wider = file("wider.npz", &[("x.npy", &x), ("k.npy", &wide)]);
    let worded = file("worded.npz", &[("k.npy", &words), ("x.npy", &x)]);
    run(["sum", &one, &more, "--column", "*"]).fails(1, &["more.npz", "other columns"]);
    run(["sum", &one, &worded, "--column", "*"]).fails(1, &["column k", "none in another"]);
    run(["sum", &one, &wider, "--column", "x", "--by", "k"])
        .fails(1, &["wider.npz", "i32, and i16"]);
    run(["sum", &one, "--column", "x", "--column", "1"]).fails(2, &["column x is asked for twice"]);
    let alone = folder.file("x.npy", &x);
    run(["sum", &alone, "--column", "*"]).fails(1, &["is one array, which has no columns"]);
    let fields = records(&[1.0, 2.0, 4.0]);
    let piped = ["sum", "-", "--input", "npy", "--column", "price", "--column", "shop"];
    assert_eq!(run_with_stdin(&piped, &fields).value(), "price 7.0\nshop 1");
}

#[test]
fn an_array_of_an_archive_is_the_keys_of_another() {
    let folder = Folder::new();
    let x = array("<f8", [1f64, 2.0, 4.0].map(f64::to_le_bytes).as_flattened(), 3);
    let k = array("<i2", [7i16, -1, 7].map(i16::to_le_bytes).as_flattened(), 3);
    let file = folder.file("a.npz", archive(&[("x.npy", &x), ("k.npy", &k)]));
    let sum = |more: &[&str]| run([&["sum", &file, "--column", "x"], more].concat());
    assert_eq!(sum(&["--by", "k"]).value(), "-1 2.0\n7 5.0");
    let both = run(["sum", &file, &file, "--column", "x", "--by", "k"]);
    assert_eq!(both.value(), "-1 4.0\n7 10.0");
    // Each array apart, of its own type; and statistics of all.
    let each = run(["sum", &file, "--column", "k", "--column", "x"]);
    assert_eq!(each.value(), "k 13\nx 7.0");
    let all = run(["max", &file, &file, "--column", "*", "--format", "csv"]);
    assert_eq!(all.value(), "column,max\nx,4.0\nk,7");
    let stats = run([&file, "--format", "csv"]);
    assert!(stats.value().contains("\nx,3,0,7.0,"), "{stats:?}");
    let none = ["var", &file, "--column", "1", "--column", "2", "--ddof", "3"];
    run(none).fails(1, &["column x: var with ddof = 3"]);
    assert_eq!(run([&none[..], &["--empty", "none"]].concat()).value(), "x -\nk -");
    run(["sum", &file, "--column", "*", "--by", "k"]).fails(2, &["one by one", "keys"]);
    run(["sum", &file, "--column", "k", "--column", "y"]).fails(1, &["no array \"y\""]);
    sum(&["--by", "x"]).fails(1, &["keys", "f64"]);
    sum(&["--by", "none"]).fails(1, &["none", "no such file"]);
    run(["sum", &file, "--column", "0"]).fails(1, &["arrays are counted from 1", "x, k"]);
}
