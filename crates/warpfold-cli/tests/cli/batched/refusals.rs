//! What is refused, in one line that says what to do; nothing is written then.

use std::fs;

use super::{floats, i32s, integers, npy};
use crate::program::{Folder, run, run_with_stdin};

#[test]
fn usage() {
    let folder = Folder::new();
    let x = folder.file("x.npy", npy("<f4", false, "(2, 3)", &[0; 24]));
    let scalar = folder.file("s.npy", npy("<f4", false, "()", &[0; 4]));
    let sum = |options: &[&str]| run(["sum", &x].iter().chain(options));
    sum(&["--axis", "2"]).fails(2, &["(2, 3)", "no axis 2", "-1 as the last"]);
    sum(&["--axis", "-3"]).fails(2, &["no axis -3"]);
    sum(&["--axis", "0", "--axis", "-2"]).fails(2, &["twice"]);
    sum(&["--axis", "first"]).fails(2, &["first"]);
    sum(&["--axis", "99999999999999999999"]).fails(2, &["--axis"]);
    run(["sum", &scalar, "--axis", "0"]).fails(2, &["no axis 0"]);
    sum(&["--keepdims"]).fails(2, &["--axis"]);
    sum(&["--sorted"]).fails(2, &["--by"]);
    sum(&["--groups", "3"]).fails(2, &["--by"]);
    sum(&["--axis", "0", "--by", "k.npy"]).fails(2, &["--axis", "--by"]);
    sum(&["--segments", "o.npy", "--every", "2"]).fails(2, &["--segments", "--every"]);
    sum(&["--axis", "0", "--flat"]).fails(2, &["--flat", "argmin, argmax and stats"]);
    sum(&["--axis", "0", "--ddof", "1"]).fails(2, &["--ddof"]);
    run(["max", &x, "--axis", "0", "--as", "f64"]).fails(2, &["--as", "max"]);
    run(["sum", &x, &x, "--axis", "0"]).fails(2, &["one input", "not 2", "join"]);
    run(["dot", &x, &x, "--axis", "0"]).fails(2, &["dot", "multiply first"]);
    sum(&["--out", "y.npz"]).fails(2, &[".npz", "many results"]);
    sum(&["--axis", "0", "--out", "y.txt"]).fails(2, &[".npz"]);
    let table = folder.file("table.txt", "1 2 3\n4 5 6\n");
    run(["sum", &table, "--axis", "0"]).fails(2, &["3 columns", "--column", ".npy"]);
    assert_eq!(run(["sum", &table, "--axis", "0", "--column", "2"]).value(), "7.0");
    let complex = folder.file("c.npy", npy("<c8", false, "(2, 1)", &[0; 16]));
    run(["max", &complex, "--axis", "0"]).fails(2, &["complex64", "no order"]);
}

#[test]
fn archives_as_inputs() {
    let folder = Folder::new();
    let archive = folder.file("x.npz", b"PK\x05\x06");
    for options in [&[][..], &["--dtype", "f32"], &["--axis", "0"]] {
        run(["sum", &archive].iter().chain(options)).fails(1, &["x.npz", "archive of arrays"]);
    }
    // Whoever insists gets what the bytes say.
    assert_eq!(run(["sum", &archive, "--input", "raw", "--dtype", "u8"]).value(), "166");
}

#[test]
fn segments() {
    let folder = Folder::new();
    let x = folder.file("x.npy", floats(&[1.0; 10]));
    let with = |option: &str, file: &[u8]| {
        let path = folder.file("o.npy", file);
        run(["sum", &x, option, &path])
    };
    with("--segments", &integers(&[0, 5, 4, 10])).fails(1, &["offset 2 is 4", "must not descend"]);
    with("--segments", &integers(&[0, 5, 11])).fails(1, &["offset 2 is 11", "beyond"]);
    with("--segments", &integers(&[-1, 5])).fails(1, &["offset"]);
    with("--segments", &npy("|i1", false, "(2,)", &[0, 0xff])).fails(1, &["offset 1"]);
    with("--segments", &integers(&[])).fails(1, &["no offsets", "[0] for none"]);
    with("--segments", &floats(&[0.0, 10.0])).fails(1, &["o.npy", "f32", "offsets are integers"]);
    with("--lengths", &integers(&[4, 5])).fails(1, &["9 elements together"]);
    with("--lengths", &integers(&[4, i32::MAX, 1])).fails(1, &["segment 1", "beyond"]);
    with("--lengths", b"\x93NUMPY\x01").fails(1, &["o.npy"]);
    run(["sum", &x, "--every", "3"]).fails(1, &["1 element would be left over"]);
    run(["sum", &x, "--every", "0"]).fails(2, &["one element at least"]);
    run(["sum", &x, "--every", "-3"]).fails(2, &["--every", "a count is an integer"]);
    run(["sum", &x, "--segments", "no-such.npy"]).fails(1, &["no-such.npy", "no such file"]);
}

#[test]
fn axes_that_are_no_numbers() {
    for axis in ["x", "0,1", ""] {
        run(["sum", "x.npy", "--axis", axis]).fails(2, &["an axis is an integer", "repeat --axis"]);
    }
}

#[test]
fn keys() {
    let folder = Folder::new();
    let x = folder.file("x.npy", floats(&[1.0; 4]));
    let by = |file: &[u8], options: &[&str]| {
        let path = folder.file("k.npy", file);
        run(["sum", &x, "--by", &path].iter().chain(options))
    };
    by(&integers(&[1, 2, 3]), &[]).fails(1, &["4 elements by 3 keys", "cut the longer"]);
    by(&integers(&[1; 5]), &["--sorted"]).fails(1, &["4 elements by 5 keys"]);
    by(&floats(&[1.0; 4]), &[]).fails(1, &["k.npy", "f32", "keys are integers"]);
    by(&npy("<c8", false, "(4,)", &[0; 32]), &[]).fails(1, &["complex64", "keys are integers"]);
    by(&integers(&[0, 1, 3, 1]), &["--groups", "3"]).fails(1, &["key 2 is 3"]);
    by(&integers(&[0, -1, 0, 1]), &["--groups", "3"]).fails(1, &["key 1 is -1"]);
    by(&integers(&[0, 1, 0, 1]), &["--groups", "1e18"])
        .fails(1, &["2^32 groups", "leave --groups out"]);
    by(&npy("<i4", false, "(4,)", &i32s([1, 2])), &[]).fails(1, &["k.npy", "16", "8"]);
    run(["sum", &x, "--by", "no-such.npy"]).fails(1, &["no-such.npy"]);
    run(["sum", &x, "--by", &x, "--groups", "-3"]).fails(2, &["a count is an integer"]);
    // Without --column, all columns of text are elements.
    let text = folder.file("x.csv", "shop,price\n3,1.5\n1,2\n");
    run(["sum", &text, "--by", "shop"]).fails(1, &["4 elements by 2 keys", "--column chooses"]);
}

#[test]
fn a_file_is_kept_where_there_is_no_result() {
    let folder = Folder::new();
    let x = folder.file("x.npy", floats(&[1.0; 4]));
    let offsets = folder.file("o.npy", integers(&[0, 2, 2, 4]));
    let out = folder.file("y.npy", b"old");
    run(["max", &x, "--segments", &offsets, "--out", &out])
        .fails(1, &["segment 1", "max", "empty"]);
    assert_eq!(fs::read(&out).expect("it is there"), b"old");
    assert_eq!(folder.names(), ["o.npy", "x.npy", "y.npy"]);
    run(["sum", &x, "--axis", "0", "--out", "no-such-folder/y.npy"]).fails(1, &["no-such-folder"]);
}

#[test]
fn columns_from_a_pipe() {
    let file = npy("<f4", true, "(2, 3)", &[0; 24]);
    // Axes find their way in a copy; segments want it in the other order.
    let axis = run_with_stdin(&["sum", "-", "--input", "npy", "--axis", "0"], &file);
    assert_eq!(axis.value(), "0.0\n0.0\n0.0");
    run_with_stdin(&["sum", "-", "--input", "npy", "--every", "2"], &file)
        .fails(1, &["Fortran order", "regular file"]);
}
