//! `--device simt`: the GPU's kernels without a GPU.

use crate::program::run;

const RANDOM: [&str; 4] = ["--random", "3000", "--seed", "7"];

/// Everything but exact float sums and the like, on integers and floats, is what the processor says.
#[test]
fn results_are_the_processors() {
    let integers = [
        "sum", "mean", "var", "std", "l1", "l2", "sumsq", "linf", "min", "max", "minmax", "argmin",
        "argmax", "count", "any", "all", "dot",
    ];
    let floats = ["min", "max", "minmax", "argmin", "argmax", "linf", "count", "any", "all"];
    let arguments =
        integers.iter().map(|op| (*op, "i16")).chain(floats.iter().map(|op| (*op, "f32")));
    for (op, dtype) in arguments {
        let on =
            |device: &str| run([op, "--dtype", dtype, "--device", device].iter().chain(&RANDOM));
        let (simt, cpu) = (on("simt"), on("cpu"));
        assert_eq!(simt.value(), cpu.value(), "{op} of {dtype}");
    }
}

#[test]
fn fast_sums_are_near_and_name_the_device() {
    let run = run([
        "sum",
        "--dtype",
        "f32",
        "--device",
        "simt",
        "--accuracy",
        "fast",
        "--format",
        "json",
    ]
    .iter()
    .chain(&RANDOM));
    let object: serde_json::Value = serde_json::from_str(run.value()).expect("one object");
    assert_eq!(object["device"], "simt");
    let sum = object["value"].as_f64().expect("a number");
    assert!((sum - 1500.0).abs() < 100.0, "{sum}");
}

#[test]
fn everything_that_stats_tells_is_what_the_processor_finds() {
    for dtype in ["i32", "f16", "complex64"] {
        let on =
            |device| run(["stats", "--dtype", dtype, "--device", device].iter().chain(&RANDOM));
        assert_eq!(on("simt").value(), on("cpu").value(), "{dtype}");
    }
}

#[test]
fn devices_are_known_by_name() {
    // What no kernel maps is refused as any other use is.
    let fast = ["sum", "--map", "x", "--accuracy", "fast", "--device", "simt"];
    run(fast.iter().chain(&RANDOM))
        .fails(2, &["fast accuracy on a device", "leave the accuracy out"]);
    let of =
        |device| run(["stats", "--of", "logsumexp(x)", "--device", device].iter().chain(&RANDOM));
    assert_eq!(of("simt").value(), of("cpu").value());
    run(["sum", "--device", "simd"].iter().chain(&RANDOM)).fails(2, &["simd", "simt"]);
}

#[test]
fn the_plan_says_that_it_is_simulated() {
    let run = run(["max", "--dtype", "u8", "--device", "simt", "--verbose"].iter().chain(&RANDOM));
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("kernel max_u8") && run.err.contains("simulated"), "{}", run.err);
    assert!(!run.err.contains("cuda"), "{}", run.err);
}
