//! `warpfold explain`: what is counted, in every format.

use crate::program::{Folder, run};

fn json(args: &[&str]) -> serde_json::Value {
    let run = run(["explain", "--format", "json"].iter().chain(args));
    serde_json::from_str(run.value()).expect("one object")
}

#[test]
fn text_tells_costs_steps_and_lines() {
    let run = run(["explain", "sum", "--n", "1000", "--block", "128"]);
    let text = run.value();
    assert!(text.starts_with("sum_f32 over 1000 f32: 2 blocks of 128 threads"), "{text}");
    for part in [
        "idle lanes",
        "bank conflicts",
        "divergence",
        "Work W = ",
        "reads x: 4 requests, 61 sectors",
        "barrier",
        "sum.cu",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn exact_folds_are_called_by_their_names() {
    for (name, kernel) in [("exact_sum", "exact_sum_f32"), ("exact_dot_f64", "exact_dot_f64")] {
        assert_eq!(json(&[name, "--n", "100", "--block", "32"])["kernel"], kernel);
    }
}

#[test]
fn counts_are_those_that_the_launch_must_have() {
    let reported = json(&["sum", "--type", "i32", "--n", "4096", "--block", "256", "--grid", "4"]);
    assert_eq!(reported["kernel"], "sum_i32");
    assert_eq!(
        (&reported["grid"], &reported["block"], &reported["warps"]),
        (&4.into(), &256.into(), &32.into())
    );
    let counts = &reported["counts"];
    // 4096 elements of 4 bytes, 16 a lane: 32 requests of 16 sectors; then the last block reads four states of 16 bytes.
    assert_eq!(counts["global_bytes_read"], 4 * 4096 + 4 * 16);
    assert_eq!(counts["atomics"], 4);
    assert_eq!(counts["global_load_sectors"], 32 * 16 + 2 * 2);
    // Instructions and source lines add up to the whole.
    let sum = |list: &serde_json::Value| -> u64 {
        let costs = list.as_array().expect("a list").iter().map(|line| &line["cost"]);
        costs.filter_map(|cost| cost["warp_instructions"].as_u64()).sum()
    };
    assert_eq!(Some(sum(&reported["instructions"])), counts["warp_instructions"].as_u64());
    let in_lines: u64 =
        reported["files"].as_array().expect("files").iter().map(|file| sum(&file["lines"])).sum();
    assert!(
        in_lines <= sum(&reported["instructions"])
            && 10 * in_lines > 9 * sum(&reported["instructions"])
    );
    // The block that is told is the one that folds what all have left.
    let updates =
        reported["steps"].as_array().expect("steps").iter().filter(|s| s["class"] == "atomic");
    assert_eq!(updates.count(), 1);
}

/// Each warp's instructions stand in the order in which it ran them, none lost: their counts by instruction are the launch's.
#[test]
fn steps_are_the_whole_of_a_block() {
    for kernel in
        ["sum_f64", "argmin_f16", "minmax_i8", "moments_u16", "dot_complex64", "prod_f32_skip_nan"]
    {
        let reported = json(&[kernel, "--n", "777", "--grid", "1", "--seed", "5"]);
        let mut counts = vec![0u64; reported["instructions"].as_array().expect("a list").len()];
        let mut phase = 0;
        for step in reported["steps"].as_array().expect("steps") {
            let warps = step["warps"].as_array().expect("warps");
            counts[step["index"].as_u64().expect("an index") as usize] += warps.len() as u64;
            assert!(step["phase"].as_u64() >= Some(phase), "{kernel}: phases follow each other");
            phase = step["phase"].as_u64().expect("a phase");
        }
        for (count, line) in counts.iter().zip(reported["instructions"].as_array().expect("a list"))
        {
            assert_eq!(
                Some(*count),
                line["cost"]["warp_instructions"].as_u64(),
                "{kernel}: {line}"
            );
        }
    }
}

/// Every element that opens closes, nothing is fetched, and no text of a kernel becomes markup.
#[test]
fn the_page_is_whole_and_needs_nothing_else() {
    let run = run(["explain", "argmax", "--type", "f16", "--n", "500", "--format", "html"]);
    let page = run.value();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
        let own = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!own.contains(outside), "{outside:?} asks for something else");
    }
    assert!(!page.contains("{{") && page.contains("<svg id=\"grid\""));
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').expect("a tag ends");
        let (tag, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let name = tag.trim_start_matches('/').split([' ', '/']).next().expect("a name");
        match tag {
            _ if tag.starts_with('!')
                || ["meta", "input"].contains(&name)
                || tag.ends_with('/') => {}
            _ if tag.starts_with('/') => assert_eq!(open.pop(), Some(name), "</{name}>"),
            _ => {
                open.push(name);
                if ["script", "style"].contains(&name) {
                    rest = &rest[rest.find(&format!("</{name}>")).expect("it ends")..];
                }
            }
        }
    }
    assert!(open.is_empty(), "{open:?} are left open");
}

#[test]
fn every_rung_is_explained() {
    for rung in warpfold_kernels::ladder::rungs() {
        let reported =
            json(&[&rung.name, "--n", "600", "--block", "64", "--type", "i32", "--op", "max"]);
        assert_eq!(reported["kernel"], rung.entry("max", "i32", 64));
        assert!(
            reported["note"].as_str().is_some_and(|note| note.contains(&rung.idea)),
            "{reported}"
        );
        let files: Vec<_> =
            reported["files"].as_array().expect("files").iter().map(|f| &f["name"]).collect();
        assert!(files.contains(&&serde_json::json!(rung.source.name)), "{files:?}");
        assert!(
            reported["steps"].as_array().is_some_and(|steps| steps.len() > 10),
            "{}",
            rung.name
        );
        assert!(reported["counts"]["combinations"].as_u64() >= Some(500), "{reported}");
    }
    let text = run(["explain", "strided_index", "--n", "512", "--block", "256"]);
    for part in [
        "strided_index_sum_f32 over 512 f32",
        "first of 2 launches",
        "conflict",
        "07_strided_index.cu",
    ] {
        assert!(text.value().contains(part), "{part:?} is missing in\n{}", text.out);
    }
    for kernel in ["horrific_kernel", "good_kernel"] {
        let text = run(["explain", kernel]);
        assert!(
            text.value().contains("divergence.cu") && text.out.contains("split"),
            "{}",
            text.out
        );
    }
}

#[test]
fn what_cannot_be_explained_is_said() {
    let fails = |args: &[&str], words: &[&str]| run(["explain"].iter().chain(args)).fails(2, words);
    fails(&["summ"], &["summ", "did you mean \"sum\"", "argmax"]);
    fails(&["sum_f33"], &["sum_f33", "element type", "complex128"]);
    fails(&["sum_f32", "--type", "f64"], &["sum_f32", "f64"]);
    fails(&["max_i8_skip_nan"], &["i8"]);
    fails(&["sum", "--block", "100"], &["100", "96", "128"]);
    fails(&["sum", "--block", "2048"], &["2048", "512"]);
    fails(&["max", "--type", "complex64"], &["complex64"]);
    fails(&["intrleaved"], &["intrleaved", "did you mean \"06_interleaved\""]);
    fails(&["06_interleaved", "--grid", "5"], &["--grid", "06_interleaved"]);
    fails(&["06_interleaved", "--block", "1056"], &["1056", "1024"]);
    fails(&["01_atomic", "--op", "prod", "--type", "complex128"], &["01_atomic", "16 bytes"]);
    fails(&["08", "--type", "f16"], &["f16", "complex64"]);
    fails(&["16", "--compute", "80"], &["8.0", "9.0"]);
    fails(&["sum", "--op", "max"], &["--op", "sum"]);
    fails(&["sum", "--n", "1e12"], &["1000000000000", "at most"]);
    fails(&["sum", "--compute", "61"], &["7.0"]);
    fails(&["stats"], &["stats folds no f32", "i32", "exact_stats folds f32"]);
}

#[test]
fn blocks_are_no_larger_than_a_kernel_takes_unless_asked_for() {
    for (kernel, threads) in
        [("exact_stats_bf16", 64), ("exact_moments_complex64", 64), ("sum", 128)]
    {
        assert_eq!(json(&[kernel])["block"], threads, "{kernel}");
    }
    run(["explain", "exact_stats_bf16", "--block", "128"]).fails(2, &["128", "64"]);
}

#[test]
fn kernels_of_expressions_are_explained_with_their_code() {
    let text = run(["explain", "map", "abs(x - y)", "--n", "3000"]);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.out.contains("map_sum_f32") && text.out.contains("abs(x - y)"), "{text:?}");
    // Lines of the template are named, though the code in it has none.
    assert!(text.out.contains("exact_array.cuh"), "{text:?}");
    let found = run(["explain", "map", "x > y", "--op", "max"]);
    found.fails(2, &["it is a condition"]);
    run(["explain", "map"]).fails(2, &["map takes an expression"]);
    run(["explain", "operator"]).fails(2, &["operator takes a file of its texts"]);
    let folder = Folder::new();
    let sum = folder.file("s.toml", "state = \"s: f64\"\nlift = \"f64(x)\"\nmerge = \"a.s + b.s\"");
    let text = run(["explain", "operator", &sum, "--n", "3000"]);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.out.contains("operator_fold") && text.out.contains("operator.cuh"), "{text:?}");
    run(["explain", "operator", &sum, "--op", "max"]).fails(2, &["the operator says what"]);
    let exp = run(["explain", "map", "exp(x)", "--n", "300"]);
    assert!(exp.code == Some(0) && exp.out.contains("sum of exp(x)"), "{exp:?}");
    run(["explain", "map", "sinh(x)"]).fails(2, &["`sinh` is no function"]);
    run(["explain", "sum", "abs(x)"]).fails(2, &["only map takes an expression"]);
}

#[test]
fn many_reductions_at_once_are_explained_by_their_ways() {
    for (way, kernel, words) in [
        ("segments", "segment_exact_f32", &["offsets", "segment_warp.cuh"][..]),
        ("rows", "row_exact_f32_own", &["rows.cuh"]),
        ("columns", "column_exact_f32_vectors", &["columns.cuh"]),
        ("strided", "strided_exact_f32_loops", &["strided.cuh"]),
        ("scatter", "sort_pairs_wide", &["keys", "scatter.cuh"]),
    ] {
        let reported = json(&[way, "--n", "3000"]);
        assert_eq!(reported["kernel"], kernel);
        assert!(reported["steps"].as_array().is_some_and(|steps| steps.len() > 10), "{way}");
        for word in words {
            assert!(reported.to_string().contains(word), "{word} is missing for {way}");
        }
    }
    assert_eq!(json(&["rows", "--type", "i64", "--op", "max"])["kernel"], "row_extremes_64_own");
    run(["explain", "columns", "--n", "63"]).fails(2, &["64 elements"]);
    run(["explain", "segments", "--block", "64"]).fails(2, &["--block", "planned"]);
}
