//! `--world` beside axes, segments and keys: outputs that are cut between ranks, and rows that are left out.

use warpfold::DType;

use crate::arrays::Array;
use crate::program::{Folder, run};
use crate::world::{agrees, npy, text, world};

/// Products of floats whose outputs are few and long: pieces of them lie on several ranks, and begin and end anywhere among the tree's leaves.
#[test]
fn products_in_parts_are_cut_anywhere() {
    let folder = Folder::new();
    let n = 3 * 700 * 2i32;
    for (dtype, fortran) in [(DType::F32, false), (DType::F64, true)] {
        let bytes: Vec<u8> = (0..n as u32)
            .map(|k| 1.0 + f64::from(k.wrapping_mul(2_654_435_761) >> 8) * 1e-11)
            .flat_map(|x| match dtype {
                DType::F32 => (x as f32).to_le_bytes().to_vec(),
                _ => x.to_le_bytes().to_vec(),
            })
            .collect();
        let x = folder.file("x.npy", npy("(3, 700, 2)", fortran, dtype, &bytes));
        let axes: [&[&str]; 5] = [&["0", "1", "2"], &["1"], &["0", "2"], &["1", "2"], &["0", "1"]];
        for (k, axes) in axes.iter().enumerate() {
            let axes = axes.iter().flat_map(|axis| ["--axis", axis]);
            let args: Vec<&str> = ["prod", &x].into_iter().chain(axes).collect();
            agrees(&args, [2, 3, 4, 7][k % 4]);
        }
        let flat = folder.file("flat.npy", npy(&format!("({n},)"), false, dtype, &bytes));
        let keys: Vec<u8> = (0..n).flat_map(|k| (k * k % 5 % 3 * 4).to_le_bytes()).collect();
        let keys = folder.file("keys.npy", npy(&format!("({n},)"), false, DType::I32, &keys));
        agrees(&["prod", &flat, "--by", &keys], 3);
        agrees(&["prod", &flat, "--by", &keys, "--groups", "10"], 7);
        agrees(&["prod", &flat, "--every", "2100"], 4);
    }
}

/// Rows that are left out of a text are left out of what parts it, on every rank.
#[test]
fn texts_in_parts_of_which_rows_are_left_out_are_shared_out() {
    let folder = Folder::new();
    let row = |k: usize| match k % 9 {
        4 => format!("{},NA\n", k % 4),
        7 => format!("NA,{k}\n"),
        _ => format!("{},{}.5\n", k % 4, k * 31 % 101),
    };
    let table = folder.file("t.csv", format!("k,x\n{}", (0..200).map(row).collect::<String>()));
    let keys: Vec<u8> = (0..200).flat_map(|k: i32| (k / 70).to_le_bytes()).collect();
    let keys = folder.file("keys.npy", npy("(200,)", false, DType::I32, &keys));
    let parts: [&[&str]; 3] = [&["--by", "k"], &["--by", &keys], &["--every", "50"]];
    for (k, op) in ["sum", "mean", "var", "prod"].into_iter().enumerate() {
        for (j, parts) in parts.iter().enumerate() {
            let args = [&[op, &table, "--column", "x", "--missing", "skip"], *parts].concat();
            agrees(&args, [2, 3, 7][(k + j) % 3]);
        }
    }
    // Two files are one array.
    for parts in [["--by", "k"], ["--every", "100"]] {
        let more = ["--column", "x", "--missing", "skip"];
        agrees(&[&["var", &table, &table][..], &parts, &more].concat(), 3);
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

/// No rank has an output: the columns have their names and types all the same.
#[test]
fn results_of_no_output_have_the_names_of_columns() {
    let folder = Folder::new();
    let array = |name: &str, shape: &str| folder.file(name, npy(shape, false, DType::I32, &[]));
    let (none, rows, columns) =
        (array("e.npy", "(0,)"), array("z.npy", "(0, 3)"), array("t.npy", "(3, 0)"));
    let offsets = folder.file("o.txt", "0");
    let key = folder.file("k.npy", npy("(0,)", false, DType::I32, &[]));
    let parts: [&[&str]; 7] = [
        &[&rows, "--axis", "1"],
        &[&columns, "--axis", "0"],
        &[&none, "--segments", &offsets],
        &[&none, "--every", "3"],
        &[&none, "--by", &key],
        &[&none, "--by", &key, "--sorted"],
        &[&none, "--by", &key, "--groups", "0"],
    ];
    for (k, parts) in parts.iter().enumerate() {
        for op in ["sum", "mean", "minmax", "argmax", "stats"] {
            let args = [&[op], *parts, &["--format", "csv"]].concat();
            agrees(&args, 2 + k % 2);
            if op != "stats" {
                agrees(&[&args[..], &["--map", "x * 2"]].concat(), 2);
            }
        }
    }
    let files = ["alone.npz", "world.npz"].map(|name| folder.at(name));
    let out = |k: usize| ["--out", files[k].to_str().expect("UTF-8")];
    run([&["sum", &none, "--by", &key][..], &out(0)].concat()).value();
    world(&[&["sum", &none, "--by", &key][..], &out(1)].concat(), 2);
    let [alone, shared] = files.map(|path| std::fs::read(path).expect("it was written"));
    assert_eq!(alone, shared);
}

/// Axes, segments and runs of keys on a device of each rank, here the simulator: whole outputs by its kernels for many, and pieces of those that are cut by
/// its kernels for one. What is printed is what the processor alone prints.
#[test]
fn parts_on_devices_are_shared_out() {
    let folder = Folder::new();
    let bytes = Array::sample(DType::F32, 600).bytes(false);
    let rows = folder.file("rows.npy", npy("(30, 20)", false, DType::F32, &bytes));
    let columns = folder.file("columns.npy", npy("(30, 20)", true, DType::F32, &bytes));
    let cube = folder.file("cube.npy", npy("(2, 3, 100)", false, DType::F32, &bytes));
    let line = folder.file("line.npy", npy("(600,)", false, DType::F32, &bytes));
    let offsets: Vec<u8> =
        [0i32, 3, 3, 400, 401, 600].iter().flat_map(|at| at.to_le_bytes()).collect();
    let offsets = folder.file("offsets.npy", npy("(6,)", false, DType::I32, &offsets));
    let runs: Vec<u8> = (0..600i32).flat_map(|k| (k / 150 % 3).to_le_bytes()).collect();
    let runs = folder.file("runs.npy", npy("(600,)", false, DType::I32, &runs));
    let parts: [&[&str]; 12] = [
        &[&rows, "--axis", "0"],
        &[&rows, "--axis", "1"],
        &[&rows, "--axis", "0", "--axis", "1"],
        &[&columns, "--axis", "0"],
        &[&columns, "--axis", "1", "--keepdims"],
        &[&columns, "--axis", "0", "--axis", "1"],
        &[&cube, "--axis", "1"],
        &[&cube, "--axis", "0", "--axis", "2"],
        &[&line, "--axis", "0"],
        &[&line, "--segments", &offsets],
        &[&line, "--every", "200"],
        &[&line, "--by", &runs, "--sorted"],
    ];
    for (k, parts) in parts.iter().enumerate() {
        for (at, (op, more)) in [
            ("sum", &[][..]),
            ("argmin", &[]),
            ("argmax", &["--flat"]),
            ("prod", &[]),
            ("stats", &[]),
            ("var", &[]),
        ]
        .iter()
        .enumerate()
        {
            if parts.contains(&"--by") && more.contains(&"--flat") {
                continue;
            }
            let args = [&[*op][..], parts, more].concat();
            let size = [2, 3, 4][(k + at) % 3];
            let alone = run(&args);
            let found = world(&[&args[..], &["--device", "simt"]].concat(), size);
            let (said, printed) = (text(&found[0].stderr), text(&found[0].stdout));
            match alone.code {
                Some(0) => {
                    assert_eq!(
                        (printed.as_str(), said.as_str()),
                        (alone.out.trim(), ""),
                        "{args:?}"
                    );
                }
                // As of a segment without elements, which has no least.
                _ => assert_eq!(said, alone.err.trim(), "{args:?} by {size}"),
            }
            assert!(found.iter().all(|rank| rank.status.code() == alone.code), "{args:?}");
        }
    }
    // Each rank says what it computes on.
    let found = world(&["sum", &rows, "--axis", "1", "--device", "simt", "--format", "json"], 2);
    assert!(text(&found[0].stdout).contains("\"device\":\"simt\""), "{}", text(&found[0].stdout));
    // What stays rank 0's is said.
    let keys: Vec<u8> = (0..600i32).flat_map(|k| (k % 7).to_le_bytes()).collect();
    let keys = folder.file("keys.npy", npy("(600,)", false, DType::I32, &keys));
    let found = world(&["sum", &line, "--by", &keys, "--device", "simt"], 2);
    assert_eq!(text(&found[0].stdout), run(["sum", &line, "--by", &keys]).kept());
    let said = text(&found[0].stderr);
    assert!(said.contains("does not share out an input by keys on a GPU; rank 0"), "{said}");
}
