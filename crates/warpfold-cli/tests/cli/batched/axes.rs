//! `--axis`: every set of axes of an array in C and in Fortran order.

use super::{TRUE, i32s, npy, parted, sample, truth, written};
use crate::program::{Folder, run, run_with_stdin};

const SHAPE: [usize; 3] = [3, 4, 5];

/// What each output folds, its elements in C order, outputs in C order.
fn inputs(x: &[i32], folded: &[bool; 3]) -> Vec<Vec<i32>> {
    let kept = |axis: usize| if folded[axis] { 1 } else { SHAPE[axis] };
    let mut outputs = vec![Vec::new(); kept(0) * kept(1) * kept(2)];
    for i in 0..SHAPE[0] {
        for j in 0..SHAPE[1] {
            for k in 0..SHAPE[2] {
                let at = [i, j, k];
                let place =
                    (0..3).fold(0, |place, axis| place * kept(axis) + at[axis] % kept(axis));
                outputs[place].push(x[(i * SHAPE[1] + j) * SHAPE[2] + k]);
            }
        }
    }
    outputs
}

/// The elements with the first index fastest.
fn in_columns(x: &[i32]) -> Vec<i32> {
    let [a, b, c] = SHAPE;
    let at = |place: usize| (place % a, place / a % b, place / a / b);
    (0..a * b * c).map(at).map(|(i, j, k)| x[(i * b + j) * c + k]).collect()
}

#[test]
fn every_set_of_axes_in_both_orders() {
    let folder = Folder::new();
    let x = sample(60);
    let c = folder.file("c.npy", npy("<i4", false, "(3, 4, 5)", &i32s(x.clone())));
    let f = folder.file("f.npy", npy("<i4", true, "(3, 4, 5)", &i32s(in_columns(&x))));
    for set in 1..8 {
        let folded = [0, 1, 2].map(|axis| set >> axis & 1 == 1);
        let mut axes = Vec::new();
        for axis in (0..3i32).filter(|axis| folded[*axis as usize]) {
            // From the last, for every second set.
            let axis = if set % 2 == 0 { axis - 3 } else { axis };
            axes.extend(["--axis".to_string(), axis.to_string()]);
        }
        for op in TRUE {
            let expected: Vec<_> =
                inputs(&x, &folded).iter().map(|input| truth(op, input)).collect();
            for path in [&c, &f] {
                let mut args = vec![op, path];
                args.extend(axes.iter().map(String::as_str));
                let found = run(&args);
                assert_eq!(
                    found.value().split_whitespace().collect::<Vec<_>>(),
                    expected,
                    "{args:?}"
                );
            }
        }
    }
}

#[test]
fn indices_of_the_whole_array() {
    let folder = Folder::new();
    let x = sample(60);
    let path = folder.file("f.npy", npy("<i4", true, "(3, 4, 5)", &i32s(in_columns(&x))));
    let found = run(["argmax", &path, "--axis", "0", "--axis", "2", "--flat"]);
    let expected: Vec<_> = (0..4)
        .map(|j| {
            let places = || (0..60).filter(|place| place / 5 % 4 == j);
            let greatest = places().map(|place| x[place]).max();
            places().find(|place| Some(x[*place]) == greatest).expect("it is there").to_string()
        })
        .collect();
    assert_eq!(found.value().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn files_have_the_shape_of_the_result() {
    let folder = Folder::new();
    let x = sample(60);
    let path = folder.file("x.npy", npy("<i4", false, "(3, 4, 5)", &i32s(x.clone())));
    let out = folder.at("y.npy");
    let to = ["--out", out.to_str().expect("UTF-8")];
    for (options, shape) in [
        (vec!["--axis", "1"], "(3, 5)"),
        (vec!["--axis", "1", "--keepdims"], "(3, 1, 5)"),
        (vec!["--axis", "0", "--axis", "-1"], "(4,)"),
        (vec!["--axis", "0", "--axis", "1", "--axis", "2"], "()"),
    ] {
        run(["sum", &path].iter().chain(&options).chain(&to)).value();
        let (header, elements) = written(&out);
        let dictionary = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}");
        assert!(header.starts_with(&dictionary), "{header}");
        let folded = [0, 1, 2].map(|axis: i32| {
            options.contains(&axis.to_string().as_str())
                || options.contains(&(axis - 3).to_string().as_str())
        });
        let expected: Vec<u8> = inputs(&x, &folded)
            .iter()
            .flat_map(|input| input.iter().map(|x| i64::from(*x)).sum::<i64>().to_le_bytes())
            .collect();
        assert_eq!(elements, expected, "{options:?}");
    }
}

#[test]
fn two_results_of_each_are_records() {
    let folder = Folder::new();
    let x = sample(60);
    let path = folder.file("x.npy", npy("<i4", false, "(3, 4, 5)", &i32s(x.clone())));
    let out = folder.at("y.npy");
    let found = run([
        "minmax",
        &path,
        "--axis",
        "2",
        "--format",
        "text",
        "--out",
        out.to_str().expect("UTF-8"),
    ]);
    let rows = inputs(&x, &[false, false, true]);
    let expected: Vec<_> = rows
        .iter()
        .enumerate()
        .map(|(row, input)| format!("{} {} {}", row / 4, row % 4, truth("minmax", input)))
        .collect();
    assert_eq!(found.value().lines().collect::<Vec<_>>(), expected);
    let (header, elements) = written(&out);
    assert!(header.contains("[('min', '<i4'), ('max', '<i4')]") && header.contains("(3, 4)"));
    let bounds =
        rows.iter().flat_map(|row| [row.iter().min(), row.iter().max()]).flatten().copied();
    assert_eq!(elements, i32s(bounds));
}

#[test]
fn pipes_and_other_byte_orders() {
    let x = sample(60);
    let big: Vec<u8> = x.iter().flat_map(|x| x.to_be_bytes()).collect();
    let args = ["sum", "-", "--input", "npy", "--axis", "0", "--axis", "1"];
    let expected: Vec<_> =
        inputs(&x, &[true, true, false]).iter().map(|input| truth("sum", input)).collect();
    for file in
        [npy(">i4", false, "(3, 4, 5)", &big), npy("<i4", true, "(3, 4, 5)", &i32s(in_columns(&x)))]
    {
        let found = run_with_stdin(&args, &file);
        assert_eq!(found.value().lines().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn no_elements() {
    let folder = Folder::new();
    let path = folder.file("e.npy", npy("<f4", false, "(0, 3)", &[]));
    assert_eq!(run(["sum", &path, "--axis", "0"]).value(), "0.0\n0.0\n0.0");
    let none = run(["sum", &path, "--axis", "1"]);
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""));
    run(["max", &path, "--axis", "0"]).fails(1, &["output [0]", "max", "empty"]);
    // Outputs that there are none of have no value to miss.
    assert_eq!(run(["max", &path, "--axis", "1"]).code, Some(0));
    let out = folder.at("y.npy");
    run(["mean", &path, "--axis", "1", "--out", out.to_str().expect("UTF-8")]);
    let bytes = std::fs::read(&out).expect("written");
    let (header, elements) = parted(&bytes);
    assert!(header.contains("(0,)") && elements.is_empty(), "{header}");
}
