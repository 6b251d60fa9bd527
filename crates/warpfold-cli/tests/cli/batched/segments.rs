//! `--segments`, `--lengths`, `--every`: in every type of offsets, each segment as if it were alone.

use warpfold::Op;

use super::{TRUE, f32s, floats, i32s, integers, npy, sample, truth};
use crate::program::{Folder, run};

/// Some of no elements, one that is longer than all others.
const OFFSETS: [u8; 6] = [0, 1, 1, 4, 90, 90];

#[test]
fn offsets_of_every_type() {
    let folder = Folder::new();
    let x = sample(90);
    let path = folder.file("x.npy", integers(&x));
    let wide = |size: usize| {
        OFFSETS
            .iter()
            .flat_map(|offset| {
                let mut bytes = vec![*offset];
                bytes.resize(size, 0);
                bytes
            })
            .collect::<Vec<u8>>()
    };
    let text: Vec<_> = OFFSETS.iter().map(u8::to_string).collect();
    let mut files = vec![folder.file("o.txt", text.join("\n"))];
    for (descr, size) in
        [("<u4", 4), ("<i8", 8), ("<u8", 8), ("<i4", 4), ("|u1", 1), ("|i1", 1), ("<u2", 2)]
    {
        let name = format!("o{}.npy", files.len());
        files.push(folder.file(&name, npy(descr, false, "(6,)", &wide(size))));
    }
    let lengths = OFFSETS.windows(2).map(|pair| i32::from(pair[1] - pair[0]));
    let lengths = folder.file("l.npy", integers(&lengths.collect::<Vec<_>>()));
    for op in ["sum", "count", "any", "all"] {
        let segments =
            OFFSETS.windows(2).map(|pair| &x[usize::from(pair[0])..usize::from(pair[1])]);
        let expected: Vec<_> =
            segments.enumerate().map(|(k, input)| format!("{k} {}", truth(op, input))).collect();
        let check = |option: &str, file: &str| {
            let found = run([op, &path, option, file]);
            assert_eq!(found.value().lines().collect::<Vec<_>>(), expected, "{op} {option} {file}");
        };
        files.iter().for_each(|file| check("--segments", file));
        check("--lengths", &lengths);
    }
}

#[test]
fn of_one_length() {
    let folder = Folder::new();
    let x = sample(90);
    let path = folder.file("x", i32s(x.clone()));
    for op in TRUE {
        for length in [1, 3, 45, 90] {
            let found = run([op, &path, "--dtype", "i32", "--every", &length.to_string()]);
            let inputs = x.chunks(length).enumerate();
            let expected: Vec<_> =
                inputs.map(|(k, input)| format!("{k} {}", truth(op, input))).collect();
            assert_eq!(found.value().lines().collect::<Vec<_>>(), expected, "{op} {length}");
        }
    }
}

/// Every reduction of every segment is what the program says of the segment alone.
#[test]
fn each_is_as_if_it_were_alone() {
    let folder = Folder::new();
    let bounds = [0usize, 1, 8, 40];
    let offsets = folder.file("o.npy", integers(&bounds.map(|bound| bound as i32)));
    let values: Vec<f32> = sample(40).into_iter().map(|x| x as f32 * 0.1).collect();
    let arrays = [
        ("f32", 4, f32s(values.clone())),
        ("i32", 4, i32s(sample(40))),
        ("bool", 1, sample(40).iter().map(|x| u8::from(*x > 1)).collect()),
        ("c64", 8, f32s(values.iter().flat_map(|x| [*x, 1.0 - x]))),
    ];
    for (dtype, size, bytes) in &arrays {
        let whole = folder.file("x", bytes);
        for op in Op::ALL.iter().filter(|op| **op != Op::Dot) {
            let op = op.name();
            let alone = |k: usize| {
                let part = folder.file("part", &bytes[bounds[k] * size..bounds[k + 1] * size]);
                run([op, &part, "--dtype", dtype])
            };
            let many = run([op, &whole, "--dtype", dtype, "--segments", &offsets]);
            for k in 0..3 {
                let alone = alone(k);
                if alone.code != Some(0) {
                    assert_eq!((many.code, &alone.code), (alone.code, &many.code), "{op} {dtype}");
                    continue;
                }
                // Statistics have a line of names.
                let line = k + usize::from(op == "stats");
                let line = many.value().lines().nth(line).expect("a line a segment");
                let (label, results) = line.split_once(' ').expect("the segment's number first");
                assert_eq!(label, k.to_string());
                let expected = match op {
                    // A name and a value in each line.
                    "stats" => {
                        let values =
                            alone.value().lines().map(|line| line.split_whitespace().last());
                        values.map(|value| value.expect("a value")).collect::<Vec<_>>().join(" ")
                    }
                    _ => alone.value().to_string(),
                };
                let missing =
                    |text: &str| text.replace("-", "").replace("NaN", "").replace("nan", "");
                match op {
                    "stats" => assert_eq!(
                        missing(results).split_whitespace().collect::<Vec<_>>(),
                        missing(&expected).split_whitespace().collect::<Vec<_>>(),
                        "{op} {dtype} of segment {k}"
                    ),
                    _ => assert_eq!(results, expected, "{op} {dtype} of segment {k}"),
                }
            }
        }
    }
}

#[test]
fn options_of_the_contract() {
    let folder = Folder::new();
    let x = folder.file("x.npy", floats(&[1e8, 1.0, -1e8, f32::NAN, 2.0, 4.0]));
    let sum = |options: &[&str]| {
        let args = ["sum", &x, "--every", "3"];
        run(args.iter().chain(options)).value().to_string()
    };
    assert_eq!(sum(&[]), "0 1.0\n1 NaN");
    assert_eq!(sum(&["--nan", "ignore"]), "0 1.0\n1 6.0");
    assert_eq!(sum(&["--nan", "ignore", "--as", "f64", "--threads", "1"]), "0 1.0\n1 6.0");
    let y = folder
        .file("y.npy", npy("<i8", false, "(2,)", &[i64::MAX, 1].map(i64::to_le_bytes).concat()));
    run(["sum", &y, "--every", "2"]).fails(1, &["segment 0", "--overflow wrap"]);
    assert_eq!(
        run(["sum", &y, "--every", "2", "--overflow", "wrap"]).value(),
        format!("0 {}", i64::MIN)
    );
    let var = run(["var", &y, "--every", "1", "--ddof", "1"]);
    var.fails(1, &["segment 0", "var"]);
}

#[test]
fn a_long_table_is_printed_whole_or_kept_in_a_file() {
    let folder = Folder::new();
    let x: Vec<i32> = (0..70_000).collect();
    let path = folder.file("x.npy", integers(&x));
    let args = ["max", &path, "--every", "1"];
    let printed = run(args);
    assert_eq!(printed.value().lines().count(), 70_000);
    assert_eq!(printed.value().lines().nth(65_536), Some("65536 65536"));
    let out = folder.at("y.npy");
    let to = ["--out", out.to_str().expect("UTF-8")];
    let kept = run(args.iter().chain(&to));
    assert_eq!(kept.value(), format!("max of i32: 70000 results in {}", out.display()));
    assert_eq!(super::written(&out).1, i32s(x));
    // What is printed beside the file is asked for by its format, or in full.
    let csv = run(args.iter().chain(&["--format", "csv"]));
    assert_eq!(csv.value().lines().nth(65_537), Some("65536,65536"));
    assert_eq!(run(args.iter().chain(&to).chain(&["--format", "csv"])).value(), csv.value());
    assert_eq!(run(args.iter().chain(&to).chain(&["--full"])).value(), printed.value());
}

/// Offsets that leave elements out at either end say how many.
#[test]
fn elements_outside_of_all_segments_are_told() {
    let folder = Folder::new();
    let x = folder.file("x.npy", integers(&sample(10)));
    let text = folder.file("t.csv", "a\n1\nNA\n4\n8\n16\n32\n");
    for (offsets, note, sums) in [
        ("0\n4\n10\n", "", 2),
        ("2\n4\n10\n", "2 elements before the first offset, of 10", 2),
        ("0\n4\n9\n", "1 element behind the last offset, of 10", 2),
        ("1\n4\n8\n", "1 element before the first offset and 2 behind the last, of 10", 2),
        ("3\n", "3 elements before the first offset and 7 behind the last, of 10", 0),
    ] {
        let offsets = folder.file("o.txt", offsets);
        let expected = match note {
            "" => String::new(),
            _ => format!("note: {offsets}: in no segment: {note}\n"),
        };
        for more in [&[][..], &["--map", "x + 1"], &["--device", "simt"]] {
            let found = run(["sum", &x, "--segments", &offsets].iter().chain(more));
            assert_eq!((found.code, &found.err), (Some(0), &expected), "{more:?}: {found:?}");
            assert_eq!(found.out.lines().count(), sums, "{found:?}");
        }
    }
    // Rows that are left out belong to the data.
    let offsets = folder.file("o.txt", "1\n3\n5\n");
    let found = run(["sum", &text, "--missing", "skip", "--segments", &offsets]);
    let note = "in no segment: 1 element before the first offset and 1 behind the last, of 6";
    assert_eq!(
        (found.out.as_str(), found.err),
        (
            "0 4.0\n1 24.0\n",
            format!(
                "note: {offsets}: {note}\nnote: {text}: 1 of 6 rows left out, as a cell is missing in one of the columns that are used\n"
            )
        )
    );
    // Segments of other kinds span the array, or are refused.
    run(["sum", &x, "--lengths", &folder.file("l.txt", "4\n5\n")]).fails(1, &["add up"]);
}
