//! Raw elements: from files, several files, and standard input.

use warpfold::DType;

use crate::arrays::Array;
use crate::program::{Folder, run, run_with_stdin};

#[test]
fn every_type_from_a_file_and_from_standard_input() {
    let folder = Folder::new();
    for &dtype in DType::ALL {
        let array = Array::sample(dtype, 1000);
        let path = folder.file("x.bin", array.bytes(false));
        for (op, expected) in array.expectations() {
            let args = [op, &path, "--dtype", dtype.name()];
            assert_eq!(run(args).value(), expected, "{args:?}");
            let args = [op, "-", "--dtype", dtype.name()];
            assert_eq!(run_with_stdin(&args, &array.bytes(false)).value(), expected, "{args:?}");
        }
    }
}

#[test]
fn several_inputs_are_one_array_in_order() {
    let folder = Folder::new();
    let array = Array::sample(DType::I16, 300);
    let bytes = array.bytes(false);
    let a = folder.file("a", &bytes[..200]);
    let b = folder.file("b.npy", &bytes[200..202]);
    let empty = folder.file("empty", []);
    let c = folder.file("c", &bytes[202..]);
    for (op, expected) in array.expectations() {
        let args = [op, &a, &b, &empty, &c, "--dtype", "int16", "--input", "raw"];
        assert_eq!(run(args).value(), expected, "{op}");
    }
}

#[test]
fn more_than_one_piece_streams_through() {
    // Three pieces of 16 MiB and a part; the extremes stand in the last one and the first.
    let n = 3 * (16 << 20) + 77_777;
    let mut bytes: Vec<u8> = (0..n).map(|i| 1 + (i % 100) as u8).collect();
    let sum: u64 = bytes.iter().map(|&byte| u64::from(byte)).sum();
    assert_eq!(run_with_stdin(&["sum", "-", "--dtype", "u8"], &bytes).value(), sum.to_string());
    let at = (48 << 20) + 1;
    bytes[at] = 255;
    assert_eq!(run_with_stdin(&["argmax", "-", "--dtype", "u8"], &bytes).value(), at.to_string());
}

#[test]
fn dot_pairs_elements() {
    let folder = Folder::new();
    for &dtype in DType::ALL {
        let (x, y) = (Array::sample(dtype, 400), Array::sample(dtype, 400));
        let y = Array { dtype, values: y.values.into_iter().rev().collect() };
        let mut sum = (0, 0);
        for ((a, b), (c, d)) in x.values.iter().zip(&y.values) {
            sum = (sum.0 + a * c - b * d, sum.1 + a * d + b * c);
        }
        let expected = Array {
            dtype: if dtype == DType::Bool { DType::U64 } else { dtype },
            values: vec![sum],
        }
        .sum();
        let (a, b) = (folder.file("a", x.bytes(false)), folder.file("b", y.bytes(false)));
        assert_eq!(run(["dot", &a, &b, "--dtype", dtype.name()]).value(), expected, "{dtype}");
        let mixed = run_with_stdin(&["dot", "-", &b, "--dtype", dtype.name()], &x.bytes(false));
        assert_eq!(mixed.value(), expected, "{dtype}");
    }
}

#[test]
fn nan_overflow_ddof_and_rounding_reach_the_library() {
    let folder = Folder::new();
    let floats = folder.file("x", [1.0f32, f32::NAN, 3.0].map(f32::to_le_bytes).concat());
    let f32 = ["--dtype", "f32"];
    assert_eq!(run(["sum", &floats].into_iter().chain(f32)).value(), "NaN");
    assert_eq!(run(["mean", &floats, "--nan", "ignore"].into_iter().chain(f32)).value(), "2.0");
    assert_eq!(run(["argmin", &floats].into_iter().chain(f32)).value(), "1");
    assert_eq!(
        run(["var", &floats, "--nan", "ignore", "--ddof", "1"].into_iter().chain(f32)).value(),
        "2.0"
    );
    assert_eq!(run(["var", &floats, "--nan", "ignore"].into_iter().chain(f32)).value(), "1.0");
    let tenths = folder.file("t", [0.1f64; 10].map(f64::to_le_bytes).concat());
    assert_eq!(run(["sum", &tenths, "--dtype", "f64"]).value(), "1.0");
    // The exact sum is 1 + 5 * 2^-54; f32 and bf16 see 1, and of ten 0.01 f16 sees what is nearest to it.
    assert_eq!(run(["sum", &tenths, "--dtype", "f64", "--as", "bf16"]).value(), "1.0");
    let wide = folder.file("w", [i64::MAX, 1].map(i64::to_le_bytes).concat());
    assert_eq!(
        run(["sum", &wide, "--dtype", "i64", "--overflow", "wrap"]).value(),
        i64::MIN.to_string()
    );
    assert_eq!(
        run(["sum", &wide, "--dtype", "i64", "--as", "f64"]).value(),
        format!("{:?}", 2f64.powi(63))
    );
    assert_eq!(
        run(["sum", &wide, "--dtype", "i64", "--as", "f32"]).value(),
        format!("{:?}", 2f32.powi(63))
    );
}

#[test]
fn threads_do_not_change_the_bits() {
    let folder = Folder::new();
    let values: Vec<f64> = (0..2_000_000u64)
        .map(|i| f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3))
        .collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let path = folder.file("x", bytes);
    let value =
        |threads| run(["sum", &path, "--dtype", "f64", "--threads", threads]).value().to_string();
    assert_eq!(value("1"), value("2"));
    assert_eq!(value("1"), value("7"));
}
