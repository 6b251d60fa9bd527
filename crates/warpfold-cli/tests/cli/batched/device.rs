//! `--device simt`: a GPU's kernels give what the processor gives, and say what they do not do.

use super::{f32s, floats, i32s, integers, npy, sample};
use crate::program::{Folder, run};

/// The same arguments on the processor and in the simulator.
fn agree(args: &[&str]) {
    let on = |device: &str| run(args.iter().copied().chain(["--device", device]));
    let (cpu, simt) = (on("cpu"), on("simt"));
    // Notes are the same, too.
    assert_eq!((simt.code, &simt.out, &simt.err), (Some(0), &cpu.out, &cpu.err), "{args:?}");
    assert_eq!(cpu.code, Some(0), "{args:?}: {cpu:?}");
}

/// Both refuse in the same words.
fn agree_to_fail(args: &[&str], code: i32, words: &[&str]) {
    let on = |device: &str| run(args.iter().copied().chain(["--device", device]));
    on("cpu").fails(code, words);
    assert_eq!(on("cpu").err, on("simt").err, "{args:?}");
}

#[test]
fn axes() {
    let folder = Folder::new();
    let x = sample(60);
    let c = folder.file("c.npy", npy("<i4", false, "(3, 4, 5)", &i32s(x.clone())));
    let f = folder.file("f.npy", npy("<i4", true, "(3, 4, 5)", &i32s(x)));
    let sets =
        [&["0"][..], &["1"], &["-1"], &["0", "1"], &["1", "2"], &["0", "2"], &["0", "1", "2"]];
    for axes in sets {
        let folded = axes.iter().flat_map(|axis| ["--axis", *axis]);
        for (op, path) in [("sum", &f), ("max", &c), ("count", &f), ("mean", &c), ("argmin", &f)] {
            let mut args = vec![op, path];
            args.extend(folded.clone());
            agree(&args);
        }
    }
    agree(&["minmax", &c, "--axis", "1", "--keepdims", "--format", "csv"]);
    agree(&["any", &c, "--axis", "1"]);
    agree(&["linf", &c, "--axis", "1"]);
    agree(&["all", &f, "--axis", "1", "--axis", "2"]);
    agree(&["argmin", &c, "--axis", "2", "--flat"]);
    // Outputs of no elements, by rows and by loops.
    let empty = folder.file("e.npy", npy("|u1", false, "(3, 0)", &[]));
    for op in ["sum", "prod", "count"] {
        agree(&[op, &empty, "--axis", "1"]);
    }
}

#[test]
fn segments() {
    let folder = Folder::new();
    let x: Vec<f32> = sample(90).iter().map(|&x| x as f32 * 0.1).collect();
    let path = folder.file("x.npy", floats(&x));
    let offsets = folder.file("o.npy", integers(&[1, 2, 3, 4, 80, 90]));
    let wide = [0u64, 7, 9, 90].iter().flat_map(|offset| offset.to_le_bytes());
    let wide = folder.file("w.npy", npy("<u8", false, "(4,)", &wide.collect::<Vec<_>>()));
    let lengths = folder.file("l.npy", integers(&[0, 30, 60]));
    for op in ["sum", "count", "l1", "l2", "sumsq", "linf", "any", "all"] {
        agree(&[op, &path, "--segments", &offsets]);
        agree(&[op, &path, "--segments", &wide]);
        agree(&[op, &path, "--lengths", &lengths]);
        agree(&[op, &path, "--every", "9", "--format", "csv"]);
    }
    for op in ["max", "mean", "std"] {
        agree(&[op, &path, "--segments", &offsets]);
    }
    agree(&["var", &path, "--ddof", "2", "--every", "45"]);
    let few = ["var", &path, "--ddof", "1", "--segments", &offsets];
    agree_to_fail(&few, 1, &["segment 0", "needs more than 1"]);
    agree(&["argmax", &path, "--segments", &offsets]);
    agree(&["argmin", &path, "--segments", &offsets, "--flat"]);
    // A segment without a result is named as on the processor.
    agree_to_fail(&["max", &path, "--lengths", &lengths], 1, &["segment 0", "max", "empty"]);
    agree_to_fail(&["sum", &path, "--every", "7"], 1, &["left over"]);
}

#[test]
fn files_and_plans() {
    let folder = Folder::new();
    let x =
        folder.file("x.npy", npy("<f4", false, "(2, 3)", &f32s([1.0, 2.0, 3.0, 4.0, 5.0, 6.5])));
    let out = folder.at("y.npy").display().to_string();
    let arguments = ["sum", &x, "--axis", "1", "--keepdims", "--out", &out];
    let on = |device: &str, more: &[&str]| {
        run(arguments.iter().chain(&["--device", device]).chain(more))
    };
    let run_on = |device: &str| {
        let found = on(device, &[]);
        (found.value().to_owned(), std::fs::read(&out).expect("it was written"))
    };
    assert_eq!(run_on("simt"), run_on("cpu"));
    let reported = on("simt", &["--verbose"]);
    for word in ["plan: sum of f32", "on a device", "row_exact_f32", "bytes of workspace"] {
        assert!(reported.err.contains(word), "{word}: {}", reported.err);
    }
    // Nothing but a name takes many reductions off the processor.
    let auto = on("auto", &["--verbose"]);
    assert!(auto.err.contains("on cpu by"), "{}", auto.err);
}

#[test]
fn keys() {
    let folder = Folder::new();
    let x = folder.file("x.npy", floats(&[1.0, 0.1, -4.5, 1e-9, 7.0]));
    let keys = folder.file("k.npy", integers(&[5, 1, 5, 1, 3]));
    for op in ["sum", "mean", "max", "argmin", "linf", "all", "count"] {
        agree(&[op, &x, "--by", &keys]);
        agree(&[op, &x, "--by", &keys, "--sorted"]);
    }
    agree(&["sum", &x, "--by", &keys, "--groups", "7"]);
    agree(&["minmax", &x, "--by", &keys, "--format", "csv"]);
    agree_to_fail(&["min", &x, "--by", &keys, "--groups", "7"], 1, &["group 0"]);
    agree_to_fail(&["sum", &x, "--by", &keys, "--groups", "5"], 1, &["key 0 is 5"]);
    let reported = run(["sum", &x, "--by", &keys, "--device", "simt", "--verbose"]);
    for word in ["sorted by 3 bits", "in 1 pass", "bytes of workspace; then sum of f32"] {
        assert!(reported.err.contains(word), "{word}: {}", reported.err);
    }
}

#[test]
fn what_kernels_do_not_do() {
    let folder = Folder::new();
    let x = folder.file("x.npy", floats(&[1.0; 4]));
    let keys = folder.file("k.npy", integers(&[0, 1, 1, 0]));
    let flat = ["argmax", &x, "--by", &keys, "--flat", "--device", "simt"];
    run(flat).fails(2, &["--device simt", "--flat"]);
    let on = |args: &[&str]| run(args.iter().copied().chain(["--every", "2", "--device", "simt"]));
    on(&["sum", &x, "--as", "f64"]).fails(2, &["rounding", "run it on the CPU"]);
}

#[test]
fn stats_as_on_the_cpu() {
    let folder = Folder::new();
    let x = folder.file("x.npy", floats(&[1.0, -2.0, 0.5, 4.0]));
    let keys = folder.file("k.npy", integers(&[0, 1, 1, 0]));
    for parts in [&["--by", &keys][..], &["--every", "2"]] {
        let on = |device| run(["stats", &x].iter().chain(parts).chain(&["--device", device]));
        let (found, expected) = (on("simt"), on("cpu"));
        assert_eq!((found.code, &found.out), (Some(0), &expected.out), "{}", found.err);
    }
}
