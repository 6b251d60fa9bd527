//! Columns of Parquet and Arrow files that are refused: by options, damaged, or changed while they are read.

use std::fs;

use crate::data::with::{ORDERS, fixture};
use crate::program::{Folder, run};

#[test]
fn refusals_are_clear() {
    let folder = Folder::new();
    let csv = folder.file("x.csv", "1\n");
    let path = fixture(ORDERS);
    let with = |options: &[&str]| run(["sum", &path, "--column", "price"].iter().chain(options));
    for options in
        [&["--axis", "0"][..], &["--every", "2"], &["--segments", "o.npy"], &["--lengths", "l.npy"]]
    {
        with(options).fails(2, &["neither axes nor segments", "--by"]);
    }
    with(&["--by", "shop", "--groups", "3"]).fails(2, &["--groups", "leave them out"]);
    with(&["--by", "shop", "--sorted"]).fails(2, &["--sorted", "leave them out"]);
    with(&["--dtype", "f32"]).fails(2, &["--dtype f32", "leave it out"]);
    with(&["--device", "simt"]).fails(2, &["CPU", "--device simt"]);
    with(&["--missing", "skip"]).fails(2, &["for text", "leave them out"]);
    with(&["--by", "shop", "--flat"]).fails(2, &["--flat", "argmin"]);
    with(&["--by", "price"]).fails(2, &["Float64", "no keys"]);
    with(&["--by", "nothing"]).fails(1, &["no column nothing", "price, count"]);
    run(["sum", &path, &csv, "--column", "price"]).fails(2, &["x.csv", "reduce them apart"]);
    run(["sum", &path, "none.csv", "--column", "price"]).fails(1, &["none.csv", "no such file"]);
    run(["sum", &path, "--column", "price,cost"]).fails(1, &["say --column price --column cost"]);
    run(["argmin", &path, "--column", "price", "--by", "shop"]).fails(2, &["--flat"]);
    run(["sum", &path]).fails(2, &["11 columns", "price, count", "--column"]);
    run(["sum", &path, "--column", "99"]).fails(1, &["no column 99", "11"]);
    run(["sum", &path, "--column", "prise"]).fails(1, &["no column prise", "price, count"]);
    run(["sum", &path, "--column", "parts"]).fails(2, &["nested", "flatten it"]);
    run(["sum", &path, "--column", "shop"]).fails(2, &["strings", "keys"]);
    run(["sum", &path, "--column", "at"]).fails(2, &["times have min"]);
    run(["dot", &path, "--column", "price"]).fails(2, &["two columns"]);
    run(["sum", &path, "--column", "price", "--out", &path])
        .fails(2, &["is an input", "name another file"]);
    // No file of columns, but one by its name.
    let no = folder.file("no.parquet", "PAR1 and nothing else");
    run(["sum", &no, "--column", "a"]).fails(1, &["no.parquet", "no whole Parquet file"]);
}

#[test]
fn damaged_data_are_a_line() {
    let folder = Folder::new();
    for name in [ORDERS, "lz4.feather"] {
        let bytes = fs::read(fixture(name)).unwrap();
        for k in 0..60 {
            let mut damaged = bytes.clone();
            match k {
                0..20 => damaged.truncate(bytes.len() * k / 20),
                _ => damaged[bytes.len() - 1 - (k * k * 7) % (bytes.len() / 2)] ^= 1 << (k % 8),
            }
            let path = folder.file(name, &damaged);
            let found = run(["sum", &path, "--column", "price"]);
            if found.code != Some(0) {
                found.fails(1, &[name]);
            }
        }
    }
}

/// Files are opened once for their footers and again for their row groups: what happens between is seen.
#[cfg(target_os = "linux")]
#[test]
fn data_that_change() {
    use crate::faults::preload::Preload;
    use crate::program::{command, finish};

    let Some(preload) = Preload::build() else { return };
    for change in ["cut", "grown", "written", "replaced", "removed"] {
        for stage in ["at-first-read", "at-later-read"] {
            for name in [ORDERS, "polars.arrow", "stream.arrows"] {
                let folder = Folder::new();
                let path = folder.file(&format!("input.{name}"), fs::read(fixture(name)).unwrap());
                let mut command = command();
                command.args(["sum", &path, "--column", "price"]).env("LD_PRELOAD", preload.path());
                command
                    .env("WARPFOLD_FAULT", format!("{stage},{change}"))
                    .env("WARPFOLD_FOLDER", folder.path());
                finish(&mut command).fails(1, &[name, "changed while it was read"]);
            }
        }
    }
}
