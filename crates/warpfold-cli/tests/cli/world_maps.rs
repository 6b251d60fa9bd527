//! `--world` beside expressions: what one process prints, at any number of ranks, with uneven and empty shares.

use crate::arrays::{dictionary, npy_header};
use crate::packed::gzip;
use crate::program::{Folder, run};
use crate::world::world;

/// Rank 0 says what one process says, and the others nothing; all of them end alike.
fn alike(args: &[&str], sizes: &[usize]) {
    let alone = run(args);
    for &size in sizes {
        for (rank, found) in world(args, size).iter().enumerate() {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let said = (found.status.code(), text(&found.stdout), text(&found.stderr));
            let (out, err) = if rank == 0 { (&alone.out[..], &alone.err[..]) } else { ("", "") };
            assert_eq!(said, (alone.code, out.into(), err.into()), "{rank} of {size}: {args:?}");
        }
    }
}

fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let word = |k: u64| (k + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
    (0..n as u64).map(|k| (word(k) as f64 / (1u64 << 52) as f64 - 1.0) * 1e3).collect()
}

fn npy(x: &[f64]) -> Vec<u8> {
    let mut bytes = npy_header(1, &dictionary("<f8", false, &format!("({},)", x.len())), 64);
    x.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}

const MAPS: [&[&str]; 15] = [
    &["sum", "--map", "x * y"],
    &["mean", "--map", "abs(x - y)", "--where", "x > y"],
    &["var", "--weights", "abs(y)"],
    &["std", "--map", "x + y", "--weights", "w", "--ddof", "1"],
    &["argmax", "--map", "x - y", "--where", "y < 100"],
    &["argmin", "--map", "abs(x)"],
    &["prod", "--map", "1 + x / 1e6", "--where", "x != y"],
    &["minmax", "--map", "x * 2", "--where", "y > 0"],
    &["count", "--map", "x > y"],
    &["any", "--map", "x == y"],
    &["l2", "--map", "x / y"],
    &["linf", "--where", "x < y"],
    &["stats", "--map", "x + y", "--where", "y > -500"],
    &[
        "stats",
        "--of",
        "rmse(x, y)",
        "--of",
        "cosine(x, y)",
        "--of",
        "far = count(x > 300)",
        "--of",
        "logsumexp(x)",
    ],
    &["sum", "--map", "x // y", "--nan", "ignore"],
];

#[test]
fn expressions_of_arrays_are_shared_out() {
    let folder = Folder::new();
    for (n, sizes) in [(1003, &[1, 2, 3, 4, 7][..]), (3, &[4, 7]), (0, &[3])] {
        let [x, y, w] = [1, 77, 1234].map(|seed| numbers(n, seed));
        let w: Vec<f64> = w.iter().map(|w| w.abs()).collect();
        let [x, y, w] = [("x", x), ("y", y), ("w", w)]
            .map(|(name, x)| folder.file(&format!("{name}{n}.npy"), npy(&x)));
        let (y, w) = (format!("y={y}"), format!("w={w}"));
        for (k, map) in MAPS.iter().enumerate() {
            let with = |name: &str| {
                map[1..]
                    .iter()
                    .any(|text| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == name))
            };
            let mut args = vec![map[0], &x];
            args.extend(&map[1..]);
            if with("y") {
                args.extend(["--with", &y]);
            }
            if with("w") {
                args.extend(["--with", &w]);
            }
            // Every size with some expressions, and some sizes with each.
            let of_this = [sizes[k % sizes.len()], sizes[(k + 1) % sizes.len()]];
            alike(&args, if n > 100 { &of_this } else { &of_this[..1] });
        }
    }
}

/// Several files of one array, beside an array in one file, so that pieces end at other places; and numbers that are drawn.
#[test]
fn files_one_after_another_and_random_numbers_are_shared_out() {
    let folder = Folder::new();
    let x = numbers(1000, 5);
    let bytes = |x: &[f64]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let a = folder.file("a.bin", bytes(&x[..301]));
    let b = folder.file("b.bin", bytes(&x[301..]));
    let y = format!("y={}", folder.file("y.npy", npy(&numbers(1000, 9))));
    for op in ["sum", "argmin", "prod"] {
        alike(&[op, &a, &b, "--dtype", "f64", "--map", "x + y / 7", "--with", &y], &[3, 7]);
    }
    alike(
        &[
            "var",
            "--random",
            "300000",
            "--seed",
            "3",
            "--dtype",
            "f64",
            "--map",
            "x * x - 1",
            "--where",
            "x > -2",
        ],
        &[3],
    );
}

/// What is read as a stream, beside a file or by itself, is rank 0's.
#[test]
fn packed_files_are_read_by_rank_0() {
    let folder = Folder::new();
    let x = numbers(100, 1);
    let packed = folder.file("x.npy.gz", gzip(&npy(&x)));
    let whole = folder.file("y.npy", npy(&x));
    let with = format!("y={packed}");
    for args in [
        &["sum", &packed, "--map", "x * x"][..],
        &["sum", &whole, "--map", "x * y", "--with", &with],
    ] {
        let alone = run(args);
        let found = world(args, 3);
        assert_eq!(String::from_utf8_lossy(&found[0].stdout), alone.out, "{args:?}");
        assert!(String::from_utf8_lossy(&found[0].stderr).contains("rank 0 does all of it"));
        assert!(found.iter().all(|rank| rank.status.success()));
    }
}

#[test]
fn expressions_of_columns_are_shared_out_by_lines() {
    let folder = Folder::new();
    let rows = |from: usize, to: usize| -> String {
        (from..to).map(|k| format!("{},{}\n", (k * 7919 % 1009) as f64 / 8.0, k % 13)).collect()
    };
    let one = folder.file("one.csv", format!("a,b\n{}", rows(0, 700)));
    let more = folder.file("more.csv", format!("a,b\n{}", rows(700, 731)));
    let quoted = folder.file("quoted.csv", format!("a,b\n{}\"9\",\"1\"\n", rows(0, 50)));
    for (k, map) in [
        &["sum", "--map", "a * b"][..],
        &["mean", "--map", "a - b", "--where", "b > 3"],
        &["argmax", "--map", "a + b"],
        &["stats", "--of", "rmse(a, b)", "--of", "least = argmin(a * b)"],
        &["var", "--map", "a", "--weights", "b"],
        &["count", "--column", "a", "--where", "x > 50"],
    ]
    .iter()
    .enumerate()
    {
        fn of<'a>(map: &[&'a str], files: &[&'a str]) -> Vec<&'a str> {
            [&map[..1], files, &map[1..]].concat()
        }
        alike(&of(map, &[&one]), &[2 + k % 3, 7]);
        alike(&of(map, &[&quoted]), &[3]);
        if !map.iter().any(|text| text.contains("arg")) {
            alike(&of(map, &[&one, &more, &quoted]), &[4]);
        }
    }
    // A row that is left out is left out of both columns.
    let gaps = folder.file("gaps.csv", format!("a,b\n{}NA,3\n4,NA\n{}", rows(0, 90), rows(0, 60)));
    alike(&["sum", &gaps, "--map", "a * b", "--missing", "skip"], &[2, 5]);
}

/// What has no value has none on all ranks, and what is wrong is told by whoever found it.
#[test]
fn errors_are_those_of_one_process() {
    let folder = Folder::new();
    let x = folder.file("x.npy", npy(&numbers(100, 2)));
    alike(&["mean", &x, "--where", "x > 1e9"], &[3]);
    alike(&["max", &x, "--where", "x > 1e9"], &[4]);
    alike(&["sum", &x, "--map", "x +"], &[2]);
    alike(&["sum", &x, "--map", "x + z"], &[2]);
    let mut weights = vec![1.0; 100];
    weights[60] = -3.0;
    let weights = folder.file("w.npy", npy(&weights));
    let found = world(&["mean", &x, "--weights", &weights], 4);
    for (rank, found) in found.iter().enumerate() {
        let said = String::from_utf8_lossy(&found.stderr).into_owned();
        assert!(said.contains("the weight at index 60: it is -3"), "{said}");
        assert_eq!(said.contains("rank 2 failed: "), rank != 2, "{said}");
        assert_eq!((found.status.code(), found.stdout.len()), (Some(1), 0));
    }
}

/// Axes, segments and keys whose elements are cut anywhere, few and many of them.
#[test]
fn expressions_in_parts_are_shared_out() {
    let folder = Folder::new();
    let (rows, columns) = (40, 25);
    let shaped = |seed: u64| {
        let x = numbers(rows * columns, seed);
        let mut bytes =
            npy_header(1, &dictionary("<f8", false, &format!("({rows}, {columns})")), 64);
        x.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes
    };
    let x = folder.file("x.npy", shaped(1));
    let y = format!("y={}", folder.file("y.npy", shaped(8)));
    let flat = folder.file("flat.npy", npy(&numbers(rows * columns, 1)));
    let flat_y = format!("y={}", folder.file("flat_y.npy", npy(&numbers(rows * columns, 8))));
    let whole = |name: &str, numbers: Vec<i64>| {
        let shape = format!("({},)", numbers.len());
        let mut bytes = npy_header(1, &dictionary("<i8", false, &shape), 64);
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        folder.file(name, bytes)
    };
    let n = (rows * columns) as i64;
    let offsets = whole("offsets.npy", vec![0, 0, 700, 701, 701, 990, n, n]);
    let keys = whole("keys.npy", (0..n).map(|k| k * k % 17 - 5).collect());
    let groups = whole("groups.npy", (0..n).map(|k| k / 90).collect());
    let maps: [&[&str]; 8] = [
        &["sum", "--map", "x * y"],
        &["mean", "--map", "abs(x - y)", "--where", "x > -990 or y > -990"],
        &["argmax", "--map", "x - y"],
        &["argmin", "--map", "x + y", "--flat"],
        &["prod", "--map", "1 + x / y / 1e4"],
        &["minmax", "--map", "x", "--where", "y < 1e6"],
        &["var", "--map", "x", "--weights", "abs(y)"],
        &["count", "--map", "x > y"],
    ];
    let parts: [&[&str]; 9] = [
        &["--axis", "0"],
        &["--axis", "1", "--keepdims"],
        &["--axis", "0", "--axis", "1"],
        &["--segments", &offsets],
        &["--every", "250"],
        &["--by", &keys],
        &["--by", &groups, "--sorted"],
        &["--by", &groups, "--groups", "12"],
        &["--by", &keys, "--by", &groups],
    ];
    for (k, map) in maps.iter().enumerate() {
        for (j, parts) in parts.iter().enumerate() {
            let is_shaped = parts[0] == "--axis";
            let (x, y) = if is_shaped { (&x, &y) } else { (&flat, &flat_y) };
            let args = [&[map[0], x][..], &map[1..], &["--with", y], parts].concat();
            // Segments and groups without elements have no mean, and no extremes; that is told alike.
            alike(&args, &[[2, 3, 4, 7, 1][(k + j) % 5]]);
        }
    }
    // A condition that leaves nothing of an output: the first of them is named, whichever rank had it.
    for size in [2, 3, 7] {
        let args = ["mean", &x, "--where", "x < -900", "--axis", "1"];
        alike(&args, &[size]);
    }
}
