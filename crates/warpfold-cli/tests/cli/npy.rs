//! NumPy files: every type, byte order, version and layout.

use warpfold::DType;

use crate::arrays::{Array, dictionary, npy_header};
use crate::program::{Folder, run, run_with_stdin};

fn npy(
    array: &Array,
    version: u8,
    big_endian: bool,
    fortran: bool,
    shape: &str,
    align: usize,
) -> Vec<u8> {
    let mut bytes =
        npy_header(version, &dictionary(&array.descr(big_endian), fortran, shape), align);
    bytes.extend(array.bytes(big_endian));
    bytes
}

#[test]
fn every_type_byte_order_version_and_alignment() {
    let folder = Folder::new();
    for &dtype in DType::ALL {
        let array = Array::sample(dtype, 600);
        for (version, big_endian, align) in
            [(1, false, 64), (2, true, 64), (3, false, 1), (1, true, 16), (2, false, 7)]
        {
            if big_endian && dtype == DType::BF16 {
                continue;
            }
            let bytes = npy(&array, version, big_endian, false, "(20, 30)", align);
            let path = folder.file("x.npy", &bytes);
            for (op, expected) in array.expectations() {
                let mut args = vec![op, &path];
                if dtype == DType::BF16 {
                    args.extend(["--dtype", "bf16"]);
                }
                assert_eq!(
                    run(&args).value(),
                    expected,
                    "{args:?} {dtype} version {version} align {align}"
                );
                args.extend(["--input", "npy"]);
                args[1] = "-";
                assert_eq!(run_with_stdin(&args, &bytes).value(), expected, "{args:?} {dtype}");
            }
        }
    }
}

#[test]
fn a_single_element_has_no_axes_and_an_empty_array_a_zero() {
    let folder = Folder::new();
    let one = Array { dtype: DType::F64, values: vec![(7, 0)] };
    let path = folder.file("one.npy", npy(&one, 1, false, false, "()", 64));
    assert_eq!(run(["sum", &path]).value(), "7.0");
    assert_eq!(run(["argmax", &path]).value(), "0");
    let none = Array { dtype: DType::F64, values: vec![] };
    let path =
        folder.file("none.npy", npy(&none, 1, false, true, "(3, 0, 9223372036854775807)", 64));
    assert_eq!(run(["sum", &path]).value(), "0.0");
    assert_eq!(run(["all", &path]).value(), "true");
    run(["max", &path]).fails(1, &["empty"]);
}

/// The elements of a C-order array of a shape, laid out in Fortran order.
fn in_fortran_order<T: Copy>(shape: &[usize], c: &[T]) -> Vec<T> {
    let mut index = vec![0; shape.len()];
    let mut out = Vec::with_capacity(c.len());
    for _ in 0..c.len() {
        out.push(c[index.iter().zip(shape).fold(0, |at, (i, axis)| at * axis + i)]);
        for (i, axis) in index.iter_mut().zip(shape) {
            *i += 1;
            if *i < *axis {
                break;
            }
            *i = 0;
        }
    }
    out
}

#[test]
fn fortran_order_reports_indices_in_c_order() {
    let folder = Folder::new();
    for &dtype in DType::ALL {
        for shape in [&[24, 25][..], &[5, 10, 12], &[1, 600], &[600], &[2, 3, 4, 25]] {
            let array = Array::sample(dtype, 600);
            let stored = Array { dtype, values: in_fortran_order(shape, &array.values) };
            let text: Vec<_> = shape.iter().map(|axis| format!("{axis},")).collect();
            let text = format!("({})", text.concat());
            for big_endian in [false, dtype != DType::BF16] {
                let path = folder.file("f.npy", npy(&stored, 1, big_endian, true, &text, 64));
                let other = folder.file("c.npy", npy(&array, 1, false, false, &text, 64));
                let bf16: &[&str] = if dtype == DType::BF16 { &["--dtype", "bf16"] } else { &[] };
                for (op, expected) in array.expectations() {
                    let args: Vec<_> =
                        [op, &path].into_iter().chain(bf16.iter().copied()).collect();
                    assert_eq!(run(&args).value(), expected, "{args:?} {dtype} {shape:?}");
                }
                // dot pairs elements by index, not by place in the file.
                let dots = [[&path, &other], [&other, &other]];
                let [mixed, same] = dots.map(|[x, y]| {
                    run(["dot", x, y].into_iter().chain(bf16.iter().copied())).value().to_string()
                });
                assert_eq!(mixed, same, "{dtype} {shape:?}");
            }
        }
    }
}

#[test]
fn fortran_order_larger_than_a_piece() {
    let folder = Folder::new();
    let shape = [4099, 5003];
    let mut c = vec![7u8; shape[0] * shape[1]];
    // Ties: in Fortran order the last of these comes first.
    for at in [4000 * shape[1] + 17, 3999 * shape[1] + 5002, 4098 * shape[1]] {
        c[at] = 200;
    }
    let mut bytes = npy_header(1, &dictionary("|u1", true, "(4099, 5003)"), 64);
    bytes.extend(in_fortran_order(&shape, &c));
    let path = folder.file("f.npy", &bytes);
    assert_eq!(run(["argmax", &path]).value(), (3999 * shape[1] + 5002).to_string());
    let sum = 7 * shape[0] * shape[1] + 3 * 193;
    assert_eq!(run(["sum", &path]).value(), sum.to_string());
    // A pipe cannot be read in another order than its own.
    assert_eq!(run_with_stdin(&["sum", "-", "--input", "npy"], &bytes).value(), sum.to_string());
    run_with_stdin(&["argmax", "-", "--input", "npy"], &bytes)
        .fails(1, &["Fortran", "regular file"]);
}

#[test]
fn what_is_mapped_and_what_is_read_agree_to_the_bit() {
    // Fast sums and products depend on the split, and the split must not depend on where the bytes come from.
    let folder = Folder::new();
    let values: Vec<f32> = (0..9_000_000u32).map(|i| (i as f32).sin()).collect();
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let raw = folder.file("x.f32", &data);
    let mut bytes = npy_header(1, &dictionary("<f4", false, "(9000000,)"), 64);
    bytes.extend(&data);
    let mapped = folder.file("x.npy", bytes);
    let fast = |args: &[&str]| run(args.iter().chain(&["--accuracy", "fast"])).value().to_string();
    assert_eq!(fast(&["sum", &mapped]), fast(&["sum", &raw, "--dtype", "f32"]));
    assert_eq!(
        fast(&["sum", &mapped, "--threads", "1"]),
        fast(&["sum", &mapped, "--threads", "5"])
    );
}

#[test]
fn types_must_agree() {
    let folder = Folder::new();
    let a = folder.file("a.npy", npy(&Array::sample(DType::F32, 4), 1, false, false, "(4,)", 64));
    let b = folder.file("b.npy", npy(&Array::sample(DType::F64, 4), 1, false, false, "(4,)", 64));
    run(["sum", &a, &b]).fails(1, &["b.npy", "f64", "f32", "one element type"]);
    run(["sum", &a, "--dtype", "f64"]).fails(1, &["a.npy", "holds f32", "f64"]);
    assert_eq!(run(["sum", &a, "--dtype", "float32"]).value(), Array::sample(DType::F32, 4).sum());
}
