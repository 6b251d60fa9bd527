//! Columns of Parquet and Arrow files by ranks: what one process prints, to the letter, of every kind of file, column and reduction.

use std::fs;

use crate::data::with::{ORDERS, fixture};
use crate::program::{Folder, run};
use crate::world::{agrees, outcomes, start, text, world};

/// Row groups, batches of files, streams as a whole, and several files of different kinds.
#[test]
fn row_groups_and_batches_are_shared_out() {
    let parts = fixture("parts");
    let one = fixture("parts/part-0.parquet");
    let of = |names: &[&str]| names.iter().map(|name| fixture(name)).collect::<Vec<_>>();
    let inputs = [
        of(&[ORDERS]),
        of(&["empty-groups.parquet"]),
        of(&["lz4.feather"]),
        of(&["polars.arrow"]),
        of(&["stream.arrows"]),
        vec![parts],
        [vec![one], of(&["lz4.feather", "stream.arrows", ORDERS])].concat(),
    ];
    for (k, inputs) in inputs.iter().enumerate() {
        for (at, op) in
            ["sum", "var", "argmin", "argmax", "stats", "prod", "max", "l2"].iter().enumerate()
        {
            let column = if (at + k) % 2 == 0 { "price" } else { "count" };
            // A product of counts overflows, whoever multiplies.
            let column = if *op == "prod" { "price" } else { column };
            let mut args = vec![*op];
            args.extend(inputs.iter().map(String::as_str));
            args.extend(["--column", column]);
            agrees(&args, [2, 3, 7][(at + k) % 3]);
        }
    }
}

/// Decimals, times, booleans, and integers whose extremes statistics know; several columns, and two multiplied.
#[test]
fn columns_of_every_kind_are_merged() {
    for name in [ORDERS, "lz4.feather"] {
        let path = fixture(name);
        for (op, column) in [
            ("sum", "cost"),
            ("stats", "cost"),
            ("argmax", "cost"),
            ("mean", "cost"),
            ("count", "cost"),
            ("minmax", "day"),
            ("argmax", "day"),
            ("mean", "at"),
            ("count", "at"),
            ("stats", "at"),
            ("count", "day"),
            ("any", "flag"),
            ("minmax", "count"),
            ("sum", "half"),
        ] {
            agrees(&[op, &path, "--column", column], 3);
        }
        agrees(&["max", &path, "--column", "*"], 3);
        agrees(&["max", &path, "--column", "price", "--column", "day", "--column", "cost"], 4);
        agrees(&["dot", &path, "--column", "price", "--column", "count"], 3);
        agrees(&["dot", &path, "--column", "count", "--column", "count"], 2);
    }
    agrees(&["sum", &fixture(ORDERS), "--column", "big", "--as", "f64"], 3);
}

/// A product's bits depend on which elements are multiplied first: rows are numbered through all shares. Files of 100 numbers between 0 and 1.
#[test]
fn bits_are_those_of_one_process() {
    let folder = Folder::new();
    let path = |k: usize| folder.at(&format!("{k}.parquet")).to_str().expect("UTF-8").to_string();
    let paths: Vec<String> = (0..5).map(path).collect();
    for (k, path) in paths.iter().enumerate() {
        let seed = k.to_string();
        let args = ["max", "--random", "100", "--seed", &seed, "--every", "1", "--out", path];
        run([&args[..], &["--dtype", "f64"]].concat()).kept();
    }
    for op in ["prod", "l2", "std", "mean"] {
        let args = ["--column", "max", "--format", "json"];
        let args: Vec<&str> =
            [op].into_iter().chain(paths.iter().map(String::as_str)).chain(args).collect();
        let bits = |text: &str| -> String {
            let json: serde_json::Value = serde_json::from_str(text).expect("JSON");
            assert!(json["value"].as_f64().is_some_and(|value| value > 1e-300), "{text}");
            format!("{} of {}", json["bits"], json["n"])
        };
        let alone = bits(run(args.clone()).kept());
        for size in [1, 2, 3, 4, 7] {
            assert_eq!(bits(&text(&world(&args, size)[0].stdout)), alone, "{op} by {size}");
        }
    }
}

#[test]
fn groups_by_keys_are_rank_0_s() {
    let args = ["sum", &fixture(ORDERS), "--column", "count", "--by", "shop"];
    let (alone, found) = (run(args), world(&args, 3));
    assert_eq!(text(&found[0].stdout), alone.kept());
    let said = text(&found[0].stderr);
    let what = "--world does not share out columns of Parquet and Arrow files by keys; rank 0 does all of it";
    assert!(said.starts_with(&format!("warpfold: {what}")), "{said}");
    assert!(found[1..].iter().all(|rank| rank.stdout.is_empty() && rank.stderr.is_empty()));
}

#[test]
fn what_is_wrong_with_files_is_told_once_and_named_by_all() {
    let folder = Folder::new();
    let path = fixture(ORDERS);
    // Each rank finds the same wrong, and rank 0 says what one process says.
    for args in [
        vec!["sum", &path, "--column", "none"],
        vec!["sum", &path, "--column", "shop"],
        vec!["sum", &path],
        vec!["sum", "none.parquet", "--column", "price"],
        vec!["sum", &path, "--column", "price", "--device", "simt"],
    ] {
        let (alone, found) = (run(&args), world(&args, 3));
        assert_eq!(text(&found[0].stderr), alone.err.trim(), "{args:?}");
        for rank in &found {
            assert_eq!((rank.status.code(), rank.stdout.len()), (alone.code, 0), "{args:?}");
        }
        assert!(found[1..].iter().all(|rank| rank.stderr.is_empty()), "{args:?}");
    }
    // A row group that one rank alone reads is damaged: the first, of four.
    let mut bytes = fs::read(&path).expect("a fixture");
    bytes[60..2000].fill(0xa5);
    let damaged = folder.file("x.parquet", &bytes);
    let args = ["sum", &damaged, "--column", "price"];
    run(args).fails(1, &["x.parquet"]);
    let found = world(&args, 4);
    assert!(text(&found[0].stderr).contains("x.parquet: cannot be decoded"));
    for rank in &found[1..] {
        let said = text(&rank.stderr);
        assert!(said.starts_with("warpfold: rank 0 failed: "), "{said}");
    }
    assert!(found.iter().all(|rank| rank.status.code() == Some(1) && rank.stdout.is_empty()));
    // Another file of the same name.
    fs::create_dir(folder.at("other")).expect("a folder");
    fs::copy(fixture("parts/part-0.parquet"), folder.at("other/x.parquet")).expect("a copy");
    fs::copy(&path, folder.at("x.parquet")).expect("a copy");
    let args = |name: &str| {
        let path = folder.at(name).to_str().expect("UTF-8").to_string();
        ["sum", &path, "--column", "price", "--world"].map(String::from).to_vec()
    };
    for rank in outcomes(start(&[args("x.parquet"), args("other/x.parquet")], 2, 60)) {
        let said = text(&rank.stderr);
        assert!(said.contains("rank 1 differs from rank 0") && said.contains("250 rows"), "{said}");
    }
}

/// Copies of a folder that have as many rows, in files of other lengths: without looking, ranks would read rows twice.
#[test]
fn files_that_are_cut_elsewhere_are_refused() {
    let folder = Folder::new();
    let (orders, part) = (fixture(ORDERS), fixture("parts/part-0.parquet"));
    let ranks = [("one", [&orders, &part]), ("two", [&part, &orders])].map(|(name, files)| {
        let sales = folder.at(name).join("sales");
        fs::create_dir_all(&sales).expect("a folder");
        for (file, to) in files.iter().zip(["a.parquet", "b.parquet"]) {
            fs::copy(file, sales.join(to)).expect("a copy");
        }
        ["sum", sales.to_str().expect("UTF-8"), "--column", "price", "--world"].map(String::from)
    });
    let [one, two] = ranks.map(Vec::from);
    for rank in outcomes(start(&[one.clone(), two], 2, 60)) {
        let said = text(&rank.stderr);
        assert!(said.contains("rank 1 differs from rank 0"), "{said}");
        assert_eq!((rank.status.code(), rank.stdout.len()), (Some(1), 0));
    }
    let same = outcomes(start(&[one.clone(), one], 2, 60));
    assert!(same.iter().all(|rank| rank.status.success()), "{same:?}");
}

/// `--verbose` says which rank reads how many row groups, and results go to files.
#[test]
fn who_reads_what_is_said() {
    let folder = Folder::new();
    let path = fixture(ORDERS);
    let out = folder.at("x.json").to_str().expect("UTF-8").to_string();
    let args = ["max", &path, "--column", "price", "--verbose", "--out", &out];
    let found = world(&args, 2);
    for (rank, groups) in
        found.iter().zip([2, 2]).enumerate().map(|(k, both)| ((k, both.0), both.1))
    {
        let said = text(&rank.1.stderr);
        let expected = format!("rank {} of 2: ", rank.0);
        assert!(said.contains(&expected) && said.contains("price of f64"), "{said}");
        assert!(said.contains(&format!("; {groups} row groups or batches")), "{said}");
        assert!(!said.contains("rows: "), "{said}");
    }
    assert!(fs::read_to_string(out).expect("rank 0 writes it").contains("\"n\":857"));
}
