//! `--world`: several processes of the program as ranks over TCP, against one process without it.

use std::net::TcpListener;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use warpfold::{DType, Op};

use crate::arrays::Array;
use crate::program::{Folder, command, run};

/// Starts ranks; each has arguments of its own.
fn start(ranks: &[Vec<String>], size: usize, timeout: u64) -> Vec<Child> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address").to_string();
    drop(listener);
    let start = |(rank, args): (usize, &Vec<String>)| {
        let mut command = command();
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("WARPFOLD_RANK", rank.to_string()).env("WARPFOLD_TOKEN", "a secret of tests");
        command.env("WARPFOLD_WORLD_SIZE", size.to_string()).env("WARPFOLD_ADDRESS", &address);
        command.env("WARPFOLD_TIMEOUT", timeout.to_string());
        command.spawn().expect("the program starts")
    };
    ranks.iter().enumerate().map(start).collect()
}

fn outcomes(ranks: Vec<Child>) -> Vec<Output> {
    ranks.into_iter().map(|rank| rank.wait_with_output().expect("it ends")).collect()
}

fn world(args: &[&str], size: usize) -> Vec<Output> {
    let args: Vec<String> = args.iter().copied().chain(["--world"]).map(String::from).collect();
    outcomes(start(&vec![args; size], size, 60))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_string()
}

/// What a world prints is what one process prints, and rank 0 alone prints it.
fn agrees(args: &[&str], size: usize) {
    let alone = run(args);
    let found = world(args, size);
    assert_eq!(text(&found[0].stdout), alone.value(), "{args:?}: {}", text(&found[0].stderr));
    for rank in &found {
        assert!(rank.status.success() && rank.stderr.is_empty(), "{}", text(&rank.stderr));
    }
    assert!(found[1..].iter().all(|rank| rank.stdout.is_empty()), "rank 0 alone prints");
}

#[test]
fn worlds_print_what_one_process_prints() {
    let folder = Folder::new();
    for dtype in [DType::Bool, DType::I16, DType::BF16, DType::F64, DType::Complex64] {
        let bytes = Array::sample(dtype, 1000).bytes(false);
        let cut = 300 * dtype.size();
        let a = folder.file("a.bin", &bytes[..cut]);
        let b = folder.file("b.bin", &bytes[cut..]);
        for &op in Op::ALL.iter().filter(|&&op| op != Op::Dot) {
            let is_ordered = matches!(op, Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax);
            let overflows = op == Op::Prod && !dtype.is_float();
            if !(is_ordered && dtype.is_complex() || overflows) {
                agrees(&[op.name(), &a, &b, "--dtype", dtype.name()], 3);
            }
        }
    }
}

#[test]
fn empty_shares_texts_and_results_in_files() {
    let folder = Folder::new();
    let one = folder.file("one.bin", 1.5f64.to_le_bytes());
    let none = folder.file("none.bin", []);
    for op in ["sum", "var", "argmax", "prod", "stats"] {
        agrees(&[op, &none, &one, "--dtype", "f64"], 4);
    }
    let a = folder.file("a.csv", "x,y\n1e16,2\n1,3\n");
    let b = folder.file("b.csv", "x,y\n-1e16,nan\n0.5,7\n");
    agrees(&["sum", &a, &b, "--column", "x"], 2);
    agrees(&["argmin", &b, "--column", "x"], 3);
    let out = folder.at("sum.json");
    let found = world(&["sum", &a, &b, "--column", "x", "--out", &out.to_string_lossy()], 2);
    assert_eq!(text(&found[0].stdout), "1.5");
    assert!(out.exists());
}

/// What was found in texts is said of all of them, whichever rank read them.
#[test]
fn texts_of_all_ranks_are_in_the_report() {
    let folder = Folder::new();
    let names = ["a.csv", "b.csv", "c.csv"];
    let texts = ["x\n1\n2\n", "x\n3\n\n4\nNA\n", "#\n\nx\n5\nNA\nNA\n6\n"];
    let files = std::array::from_fn::<_, 3, _>(|k| folder.file(names[k], texts[k]));
    let [a, b, c] = files.each_ref().map(String::as_str);
    let args = ["sum", a, b, c, "--column", "x", "--comment", "#", "--missing", "skip", "--format"];
    let args: Vec<&str> = args.into_iter().chain(["json"]).collect();
    let parse = |text: &str| -> serde_json::Value {
        serde_json::from_str(text).expect("the report is JSON")
    };
    let alone = parse(run(&args).value());
    assert_eq!(alone["text"].as_array().expect("a list").len(), 3);
    for size in [1, 2, 4] {
        let found = world(&args, size);
        let report = parse(&text(&found[0].stdout));
        assert_eq!((&report["text"], &report["value"]), (&alone["text"], &alone["value"]));
    }
}

#[test]
fn products_of_several_pieces_are_those_of_one_process() {
    let folder = Folder::new();
    let x: Vec<u8> = (0..5u32 << 20)
        .flat_map(|i| (1.0 + f64::from(i.wrapping_mul(2_654_435_761)) * 1e-13).to_le_bytes())
        .collect();
    let path = folder.file("x.bin", x);
    agrees(&["prod", &path, "--dtype", "f64"], 3);
}

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

#[test]
fn what_ranks_do_not_share_out_is_refused() {
    let refused = |args: &[&str], words: &[&str]| run(args).fails(2, words);
    refused(&["sum", "--random", "10", "--world"], &["--world", "random numbers"]);
    refused(&["sum", "-", "--dtype", "f32", "--world"], &["--world", "standard input"]);
    refused(&["dot", "a", "b", "--dtype", "f32", "--world"], &["--world", "dot"]);
    refused(&["sum", "a.npy", "--axis", "0", "--world"], &["--world", "axes"]);
    refused(&["sum", "a.npy", "--device", "simt", "--world"], &["--world", "--device"]);
    let alone = run(["sum", "a.npy", "--world"]);
    alone.fails(1, &["no launcher has numbered this process"]);
}
