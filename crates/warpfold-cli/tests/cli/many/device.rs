//! `--device simt`: a GPU's kernels give what the processor gives, and say what they do not do.

use super::{f32s, floats, i32s, integers, npy, sample};
use crate::program::{Folder, run};

/// The same arguments on the processor and in the simulator.
fn agree(args: &[&str]) {
    let on = |device: &str| run(args.iter().copied().chain(["--device", device]));
    let (cpu, simt) = (on("cpu"), on("simt"));
    assert_eq!(simt.value(), cpu.value(), "{args:?}");
}

#[test]
fn axes() {
    let folder = Folder::new();
    let x = sample(60);
    let c = folder.file("c.npy", npy("<i4", false, "(3, 4, 5)", &i32s(x.clone())));
    let f = folder.file("f.npy", npy("<i4", true, "(3, 4, 5)", &i32s(x)));
    let axes = [&["0"][..], &["1"], &["-1"], &["0", "1"], &["1", "2"], &["0", "1", "2"]];
    for (case, axes) in axes.iter().enumerate() {
        let folded = axes.iter().flat_map(|axis| ["--axis", *axis]);
        for op in ["sum", "max", "count", "mean"] {
            let path = if case % 2 == 0 { &c } else { &f };
            let mut args = vec![op, path];
            args.extend(folded.clone());
            agree(&args);
        }
    }
    agree(&["minmax", &c, "--axis", "1", "--keepdims", "--format", "csv"]);
    agree(&["argmin", &c, "--axis", "2"]);
    agree(&["argmin", &c, "--axis", "2", "--flat"]);
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
    for op in ["sum", "count"] {
        agree(&[op, &path, "--segments", &offsets]);
        agree(&[op, &path, "--segments", &wide]);
        agree(&[op, &path, "--lengths", &lengths]);
        agree(&[op, &path, "--every", "9", "--format", "csv"]);
    }
    agree(&["max", &path, "--segments", &offsets]);
    agree(&["argmax", &path, "--segments", &offsets]);
    agree(&["argmin", &path, "--segments", &offsets, "--flat"]);
    // A segment without a result is named as on the processor.
    let empty = ["max", &path, "--lengths", &lengths, "--device", "simt"];
    run(empty).fails(1, &["segment 0", "max", "empty"]);
    run(["sum", &path, "--every", "7", "--device", "simt"]).fails(1, &["left over"]);
}

#[test]
fn files_and_plans() {
    let folder = Folder::new();
    let x =
        folder.file("x.npy", npy("<f4", false, "(2, 3)", &f32s([1.0, 2.0, 3.0, 4.0, 5.0, 6.5])));
    let out = folder.at("y.npy").display().to_string();
    let asked = ["sum", &x, "--axis", "1", "--keepdims", "--out", &out];
    let on =
        |device: &str, more: &[&str]| run(asked.iter().chain(&["--device", device]).chain(more));
    let run_on = |device: &str| {
        let found = on(device, &[]);
        (found.value().to_owned(), std::fs::read(&out).expect("it was written"))
    };
    assert_eq!(run_on("simt"), run_on("cpu"));
    let told = on("simt", &["--verbose"]);
    for word in ["plan: sum of f32", "on cuda", "segment_exact_f32", "bytes of workspace"] {
        assert!(told.err.contains(word), "{word}: {}", told.err);
    }
    // Nothing but a name takes many reductions off the processor.
    let auto = on("auto", &["--verbose"]);
    assert!(auto.err.contains("on cpu by"), "{}", auto.err);
}

#[test]
fn what_kernels_do_not_do() {
    let folder = Folder::new();
    let x = folder.file("x.npy", floats(&[1.0; 4]));
    let keys = folder.file("k.npy", integers(&[0, 1, 1, 0]));
    run(["sum", &x, "--by", &keys, "--device", "simt"]).fails(2, &["--device simt", "by keys"]);
    let on = |args: &[&str]| run(args.iter().copied().chain(["--every", "2", "--device", "simt"]));
    on(&["sum", &x, "--as", "f64"]).fails(2, &["rounding", "run it on the CPU"]);
    on(&["stats", &x]).fails(2, &["stats", "run it on the CPU"]);
}
