//! Worlds of which a rank fails, does not come or computes something else: all end, each with a line that names it, and nothing is printed.

use std::time::{Duration, Instant};

use crate::program::Folder;
use crate::world::{outcomes, start, text, world};

#[test]
fn a_rank_that_fails_is_named_by_all() {
    let folder = Folder::new();
    let here = folder.file("x.bin", [0; 64]);
    let args =
        |path: &str, op: &str| ["--world", op, path, "--dtype", "f64"].map(String::from).to_vec();
    let found = outcomes(start(
        &[args(&here, "sum"), args("missing.bin", "sum"), args(&here, "sum")],
        3,
        60,
    ));
    for rank in &found {
        assert_eq!((rank.status.code(), rank.stdout.len()), (Some(1), 0), "{}", text(&rank.stderr));
    }
    assert!(text(&found[1].stderr).starts_with("warpfold: missing.bin: "));
    for rank in [&found[0], &found[2]] {
        assert!(text(&rank.stderr).starts_with("warpfold: rank 1 failed: missing.bin: "));
    }
    let found =
        outcomes(start(&[args(&here, "sum"), args(&here, "sum"), args(&here, "max")], 3, 60));
    for rank in &found {
        let said = text(&rank.stderr);
        assert!(said.contains("rank 2 differs from rank 0: it computes \"max of f64"), "{said}");
        assert_eq!((rank.status.code(), rank.stdout.len()), (Some(1), 0));
    }
    let shorter = folder.file("y.bin", [0; 56]);
    let found = outcomes(start(&[args(&here, "sum"), args(&shorter, "sum")], 2, 60));
    for rank in &found {
        let said = text(&rank.stderr);
        assert!(
            said.contains("rank 1 differs from rank 0") && said.contains("of 7 elements"),
            "{said}"
        );
    }
}

#[test]
fn a_result_that_does_not_exist_is_told_once() {
    let folder = Folder::new();
    let none = folder.file("none.bin", []);
    let found = world(&["mean", &none, "--dtype", "f32"], 3);
    assert!(text(&found[0].stderr).contains("mean of an empty input has no value"));
    for rank in &found {
        assert_eq!((rank.status.code(), rank.stdout.len()), (Some(1), 0));
    }
    assert!(found[1..].iter().all(|rank| rank.stderr.is_empty()));
}

#[test]
fn ranks_that_do_not_come_or_are_killed_are_named_in_time() {
    let folder = Folder::new();
    let here = folder.file("x.bin", [0; 64]);
    let args: Vec<String> =
        ["sum", &here, "--dtype", "f64", "--world=tcp"].map(String::from).to_vec();
    let begun = Instant::now();
    let mut ranks = start(&vec![args.clone(); 3], 4, 3);
    let found = outcomes(std::mem::take(&mut ranks));
    for rank in &found {
        let said = text(&rank.stderr);
        assert!(said.contains("rank 3 of 4 is lost: it did not come within 3s"), "{said}");
        assert_eq!((rank.status.code(), rank.stdout.len()), (Some(1), 0));
    }
    let mut ranks = start(&vec![args; 2], 3, 3);
    ranks[1].kill().expect("it is ours");
    let found = outcomes(ranks);
    let said = text(&found[0].stderr);
    assert!(said.contains("rank 1 of 3 is lost") || said.contains("rank 2 of 3 is lost"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(40));
}

/// What ranks read is part of what they compute: else they would print a mixture.
#[test]
fn ranks_that_read_otherwise_are_refused() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "a,b\n1,2\n3,4\n");
    let other = folder.file("u.csv", "a,b\n1,2\n3,5\n");
    let cases: [[&[&str]; 2]; 6] = [
        [&["--column", "a"], &["--column", "b"]],
        [&["--column", "b", "--missing", "skip"], &["--column", "b", "--missing", "nan"]],
        [&["--column", "a", "--by", "b"], &["--column", "b", "--by", "b"]],
        [&["--map", "x", "--column", "a"], &["--map", "x", "--column", "b"]],
        [&["--random", "100", "--seed", "1"], &["--random", "100", "--seed", "2"]],
        [&["--random", "100", "--dist", "normal"], &["--random", "100"]],
    ];
    let refused = |ranks: [Vec<String>; 2]| {
        for rank in outcomes(start(&ranks, 2, 60)) {
            let said = text(&rank.stderr);
            assert!(said.contains("rank 1 differs from rank 0"), "{ranks:?}: {said}");
            assert_eq!((rank.status.code(), rank.stdout.len()), (Some(1), 0), "{ranks:?}");
        }
    };
    for case in cases {
        refused(case.map(|options| {
            let inputs: &[&str] = if options[0] == "--random" { &[] } else { &[&table] };
            ["--world", "sum"].iter().chain(inputs).chain(options).map(|&one| one.into()).collect()
        }));
    }
    let files = |paths: [&str; 2]| {
        let options = ["--world", "sum", paths[0], paths[1], "--column", "a"];
        options.map(String::from).to_vec()
    };
    refused([files([&table, &other]), files([&other, &table])]);
}
