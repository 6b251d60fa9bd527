//! `--world`: several processes of the program as ranks over TCP, against one process without it.

use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use warpfold::{DType, Op};

use crate::arrays::{Array, dictionary, npy_header};
use crate::program::{Folder, command, run};

/// Starts ranks; each has arguments of its own.
pub(crate) fn start(ranks: &[Vec<String>], size: usize, timeout: u64) -> Vec<Child> {
    let start = |(mut command, args): (Command, &Vec<String>)| {
        command.args(args).spawn().expect("the program starts")
    };
    commands(size, timeout).into_iter().zip(ranks).map(start).collect()
}

/// A port that nothing listens at, below those that the system gives to who connects: one of these may be another's again before rank 0 listens.
fn free_port() -> u16 {
    const FIRST: u32 = 20_000;
    const COUNT: u32 = 12_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(211);
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let ports = std::iter::repeat_with(|| {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        (FIRST + start.wrapping_add(step) % COUNT) as u16
    });
    ports.take(COUNT as usize).find(is_free).expect("a free port")
}

/// The ranks of a world, ready to be given arguments.
pub(crate) fn commands(size: usize, timeout: u64) -> Vec<Command> {
    let address = format!("127.0.0.1:{}", free_port());
    let one = |rank: usize| {
        let mut command = command();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("WARPFOLD_RANK", rank.to_string()).env("WARPFOLD_TOKEN", "a secret of tests");
        command.env("WARPFOLD_WORLD_SIZE", size.to_string()).env("WARPFOLD_ADDRESS", &address);
        command.env("WARPFOLD_TIMEOUT", timeout.to_string());
        command
    };
    (0..size).map(one).collect()
}

pub(crate) fn outcomes(ranks: Vec<Child>) -> Vec<Output> {
    ranks.into_iter().map(|rank| rank.wait_with_output().expect("it ends")).collect()
}

pub(crate) fn world(args: &[&str], size: usize) -> Vec<Output> {
    let args: Vec<String> = args.iter().copied().chain(["--world"]).map(String::from).collect();
    outcomes(start(&vec![args; size], size, 60))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_string()
}

/// What a world prints is what one process prints, and rank 0 alone prints it.
pub(crate) fn agrees(args: &[&str], size: usize) {
    let alone = run(args);
    let found = world(args, size);
    assert_eq!(text(&found[0].stdout), alone.kept(), "{args:?}: {}", text(&found[0].stderr));
    for (rank, found) in found.iter().enumerate() {
        let said = if rank == 0 { alone.err.trim() } else { "" };
        assert!(found.status.success() && text(&found.stderr) == said, "{}", text(&found.stderr));
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
    let alone = parse(run(&args).kept());
    assert_eq!(alone["text"].as_array().expect("a list").len(), 3);
    for size in [1, 2, 4] {
        let found = world(&args, size);
        let report = parse(&text(&found[0].stdout));
        assert_eq!((&report["text"], &report["value"]), (&alone["text"], &alone["value"]));
    }
}

#[test]
fn dot_and_random_numbers_are_shared_out() {
    let folder = Folder::new();
    for dtype in [DType::U8, DType::F32, DType::Complex128] {
        let a = folder.file("a.bin", Array::sample(dtype, 1001).bytes(false));
        let b = folder.file("b.bin", Array::sample(dtype, 1001).bytes(false));
        agrees(&["dot", &a, &b, "--dtype", dtype.name()], 3);
        agrees(&["dot", &a, &a, "--dtype", dtype.name()], 4);
    }
    let shorter = folder.file("c.bin", [0; 80]);
    let a = folder.at("a.bin").to_string_lossy().into_owned();
    let found = world(&["dot", &a, &shorter, "--dtype", "f64"], 2);
    for (k, rank) in found.iter().enumerate() {
        let said = text(&rank.stderr);
        assert_eq!(said.contains("they have 2002 and 10 elements"), k == 0, "{said}");
        assert_eq!(rank.status.code(), Some(1));
    }
    for op in ["sum", "argmax", "stats", "dot", "prod"] {
        agrees(&[op, "--random", "300000", "--dist", "normal", "--seed", "7", "--dtype", "f64"], 3);
    }
    agrees(&["var", "--random", "5", "--dtype", "u16"], 4);
}

/// Texts whose lines are shared out, in every way that they can be written.
#[test]
fn lines_of_texts_are_shared_out() {
    let folder = Folder::new();
    let numbers: Vec<String> =
        (0..700).map(|k| format!("{},{}", (k * 7919 % 1009) as f64 / 8.0, k % 13)).collect();
    let rows = |end: &str| numbers.join(end) + end;
    let texts = [
        ("plain.csv", rows("\n")),
        ("names.csv", format!("x,y\n{}", rows("\n"))),
        ("windows.csv", format!("\u{feff}x,y\r\n{}", rows("\r\n"))),
        ("old.csv", rows("\r")),
        ("mixed.csv", format!("\n# c\nx,y\n\n{}\r\n\r\n{}", rows("\n\n"), rows("\r\n"))),
        ("blanks.txt", rows("\n").replace(',', "  ")),
        ("short.csv", "1,2\n3,4".into()),
        ("one.csv", "5,6\n".into()),
        ("no-end.csv", rows("\n").trim_end().to_string()),
        ("missing.csv", format!("x,y\n{}NA,1\n2,\n{}", rows("\n"), rows("\n"))),
    ];
    for (name, text) in &texts {
        let path = folder.file(name, text);
        let comment = if *name == "mixed.csv" { &["--comment", "#"][..] } else { &[] };
        let missing =
            if *name == "missing.csv" { &["--missing", "nan", "--nan", "ignore"][..] } else { &[] };
        for size in [2, 3, 7] {
            for op in ["sum", "argmin", "argmax", "stats"] {
                agrees(&[&[op, &path][..], comment, missing].concat(), size);
            }
            agrees(&[&["var", &path, "--column", "2"][..], comment, missing].concat(), size);
        }
    }
    // Several of them, and an array between: indices count through all.
    let [a, b] =
        ["plain.csv", "no-end.csv"].map(|name| folder.at(name).to_string_lossy().into_owned());
    for op in ["argmin", "argmax", "mean"] {
        agrees(&[op, &a, &b, &a, "--column", "1"], 4);
    }
    let skipped = folder.file("skip.csv", &texts[9].1);
    agrees(&["sum", &skipped, "--column", "x", "--missing", "skip"], 3);
}

/// A quote anywhere, and the text goes to one rank: a line end may be part of a cell.
#[test]
fn texts_with_quotes_are_not_cut() {
    let folder = Folder::new();
    let mut rows = String::from("name,x\n");
    for k in 0..200 {
        rows += &format!("\"of {k}\n 77,5\n9,9\",{}\n", k * k % 91);
    }
    let path = folder.file("quoted.csv", &rows);
    for op in ["sum", "argmax"] {
        agrees(&[op, &path, "--column", "x"], 5);
    }
}

/// A cell that is no number is told by its line in the whole text, and named by the ranks that did not read it.
#[test]
fn lines_of_errors_are_those_of_the_text() {
    let folder = Folder::new();
    for wrong in [3, 150, 299] {
        for (bad, says) in
            [("7,x", "\"x\" is no f64"), ("7", "has 1 columns, and the lines before it have 2")]
        {
            let mut rows: Vec<String> = (1..=300).map(|k| format!("{k},1")).collect();
            rows[wrong - 1] = bad.into();
            let path = folder.file("x.csv", format!("{}\n", rows.join("\n")));
            let alone = run(["sum", &path]);
            alone.fails(1, &[says, &format!("line {wrong}")]);
            let found = world(&["sum", &path], 3);
            let said: Vec<String> = found.iter().map(|rank| text(&rank.stderr)).collect();
            let own: Vec<&String> = said
                .iter()
                .filter(|said| said.starts_with("warpfold: ") && !said.contains("failed:"))
                .collect();
            assert_eq!(own.len(), 1, "{said:?}");
            assert!(own[0].contains(&format!("line {wrong}")) && own[0].contains(says), "{own:?}");
            assert!(said.iter().all(|said| said.contains(&format!("line {wrong}"))), "{said:?}");
            assert!(
                found.iter().all(|rank| rank.status.code() == Some(1) && rank.stdout.is_empty())
            );
        }
    }
    // A file that is not there is told at once.
    let missing = folder.at("none.csv").to_string_lossy().into_owned();
    for (k, rank) in world(&["sum", &missing], 3).iter().enumerate() {
        // Rank 0 says it, as one process does, and the others nothing else.
        assert_eq!(text(&rank.stderr).contains("none.csv"), k == 0, "{}", text(&rank.stderr));
        assert_eq!((rank.status.code(), rank.stdout.len()), (Some(1), 0));
    }
}

pub(crate) fn npy(shape: &str, fortran: bool, dtype: DType, bytes: &[u8]) -> Vec<u8> {
    let descr = match dtype {
        DType::I32 => "<i4",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        other => panic!("{other}"),
    };
    [npy_header(1, &dictionary(descr, fortran, shape), 64), bytes.to_vec()].concat()
}

/// Axes of arrays in either order: cut along axes that are kept, and along those that are folded.
#[test]
fn axes_are_shared_out() {
    let folder = Folder::new();
    for (shape, n) in [
        ("(6, 10, 4)", 240),
        ("(500, 3)", 1500),
        ("(2, 300)", 600),
        ("(1, 1, 5)", 5),
        ("(0, 4)", 0),
        ("(900,)", 900),
    ] {
        let axes: &[&[&str]] = match shape.matches(',').count() {
            1 if shape.contains(' ') => &[&["0"], &["1"], &["0", "1"]],
            1 => &[&["0"]],
            _ => &[&["0"], &["1"], &["2"], &["0", "2"], &["0", "1", "2"]],
        };
        for (dtype, fortran) in [(DType::F64, false), (DType::I32, true)] {
            let bytes = Array::sample(dtype, n).bytes(false);
            let path = folder.file("x.npy", npy(shape, fortran, dtype, &bytes));
            for axes in axes {
                let axes: Vec<&str> = axes.iter().flat_map(|axis| ["--axis", axis]).collect();
                for (op, more) in [
                    ("sum", &[][..]),
                    ("argmax", &["--flat"]),
                    ("argmin", &[]),
                    ("minmax", &["--keepdims"]),
                    ("stats", &[]),
                    ("l2", &[]),
                ] {
                    if n == 0 && op != "sum" && op != "l2" {
                        continue;
                    }
                    agrees_or_fails(&[&[op, &path][..], &axes, more].concat(), 3);
                }
                if dtype == DType::F64 {
                    agrees_or_fails(&[&["prod", &path][..], &axes].concat(), 2);
                }
            }
        }
    }
}

/// As [`agrees`], and where one process has no result, ranks have none, for the same reason.
fn agrees_or_fails(args: &[&str], size: usize) {
    let alone = run(args);
    let found = world(args, size);
    let said = text(&found[0].stderr);
    if alone.code == Some(0) {
        assert_eq!(text(&found[0].stdout), alone.out.trim(), "{args:?}: {said}");
        return;
    }
    let reason = alone.err.trim_start_matches("warpfold: ").trim().to_string();
    let all: Vec<String> = found.iter().map(|rank| text(&rank.stderr)).collect();
    assert!(all.iter().any(|said| said.contains(&reason)), "{args:?}: {reason} is not in {all:?}");
    assert!(found.iter().all(|rank| rank.status.code() != Some(0) && rank.stdout.is_empty()));
}

#[test]
fn segments_and_keys_are_shared_out() {
    let folder = Folder::new();
    let x = folder.file("x.bin", Array::sample(DType::F32, 1000).bytes(false));
    let offsets: Vec<u8> =
        [0i32, 3, 3, 400, 401, 999, 1000, 1000].iter().flat_map(|at| at.to_le_bytes()).collect();
    let offsets = folder.file("offsets.npy", npy("(8,)", false, DType::I32, &offsets));
    let key = |k: i32| k * k % 17 - 3;
    let keys: Vec<u8> = (0..1000).flat_map(|k| key(k).to_le_bytes()).collect();
    let keys = folder.file("keys.npy", npy("(1000,)", false, DType::I32, &keys));
    let dense: Vec<u8> = (0..1000i32).flat_map(|k| (k * k % 17).to_le_bytes()).collect();
    let dense = folder.file("dense.npy", npy("(1000,)", false, DType::I32, &dense));
    let runs: Vec<u8> = (0..1000i32).flat_map(|k| (k / 7 % 50).to_le_bytes()).collect();
    let runs = folder.file("runs.npy", npy("(1000,)", false, DType::I32, &runs));
    let parts: [&[&str]; 6] = [
        &["--segments", &offsets],
        &["--every", "250"],
        &["--every", "1"],
        &["--by", &keys],
        &["--by", &dense, "--groups", "20"],
        &["--by", &runs, "--sorted"],
    ];
    for parts in parts {
        for op in
            ["sum", "var", "max", "argmin", "minmax", "count", "prod", "linf", "stats", "mean"]
        {
            for size in [2, 5] {
                let args = [&[op, &x, "--dtype", "f32"][..], parts].concat();
                agrees_or_fails(&args, size);
                if op == "argmin" {
                    agrees_or_fails(&[&args[..], &["--flat"]].concat(), size);
                }
            }
        }
    }
    // Files of results too, and other ranks that ask for other parts are named.
    let out = folder.at("sums.npy").to_string_lossy().into_owned();
    let found = world(&["sum", &x, "--dtype", "f32", "--every", "100", "--out", &out], 3);
    assert_eq!(text(&found[0].stdout), format!("sum of f32: 10 results in {out}"));
    let args = |every: &str| {
        ["sum", &x, "--dtype", "f32", "--every", every, "--world"].map(String::from).to_vec()
    };
    for rank in outcomes(start(&[args("100"), args("250")], 2, 60)) {
        let said = text(&rank.stderr);
        assert!(
            said.contains("rank 1 differs from rank 0") && said.contains("every 250"),
            "{said}"
        );
    }
}

/// The same kernels on a device for each rank, here the simulator.
#[test]
fn devices_are_those_of_ranks() {
    let folder = Folder::new();
    let x = folder.file("x.bin", Array::sample(DType::F32, 500).bytes(false));
    for op in ["sum", "argmax", "max", "stats"] {
        let alone = run([op, &x, "--dtype", "f32"]);
        let found = world(&[op, &x, "--dtype", "f32", "--device", "simt"], 2);
        assert_eq!(text(&found[0].stdout), alone.value(), "{}", text(&found[0].stderr));
    }
}

/// What is not shared out is done by rank 0, which says so.
#[test]
fn rank_0_does_alone_what_is_not_shared_out() {
    let folder = Folder::new();
    let table = folder.file("x.csv", "a,b\n1,2\n3,4\n5,7\n");
    for (args, what) in [
        (
            &["prod", &table, "--map", "a + b"][..],
            "inputs of an expression whose elements are known once they are read",
        ),
        (&["dot", &table, &table, "--column", "a"], "dot of two texts"),
    ] {
        let alone = run(args);
        let found = world(args, 3);
        assert_eq!(text(&found[0].stdout), alone.value());
        let said = text(&found[0].stderr);
        assert_eq!(
            said,
            format!("warpfold: --world does not share out {what}; rank 0 does all of it")
        );
        assert!(
            found[1..].iter().all(|rank| rank.status.success()
                && rank.stdout.is_empty()
                && rank.stderr.is_empty())
        );
    }
    // What goes wrong there is told to all.
    let shorter = folder.file("y.csv", "a\n1\n");
    let args = ["dot", &table, &shorter, "--column", "a"];
    for (k, rank) in world(&args, 2).iter().enumerate() {
        let said = text(&rank.stderr);
        assert!(
            said.contains("y.csv") && (k == 0 || said.starts_with("warpfold: rank 0 failed: ")),
            "{said}"
        );
        assert_ne!(rank.status.code(), Some(0));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    run(["argmax", "a.csv", "--missing", "skip", "--world"])
        .fails(2, &["--world", "--missing skip"]);
    run(["sum", "a.npy", "--world"]).fails(1, &["no launcher has numbered this process"]);
}
