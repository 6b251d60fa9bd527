//! `--world` says what one process says: results, errors and exit codes, whatever the operation, type, data, parts and number of ranks.

use warpfold::{DType, Op};

use crate::arrays::{Array, dictionary, npy_header};
use crate::packed::gzip;
use crate::program::{Folder, run};
use crate::records::{archive, array, records};
use crate::world::world;

const TYPES: [DType; 8] = [
    DType::Bool,
    DType::I8,
    DType::I32,
    DType::U64,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::Complex64,
];
const SIZES: [usize; 4] = [2, 3, 4, 7];
const N: usize = 60;

/// Special values between others, of every type that has such: the largest, NaN, infinities, zeros of both signs.
fn special(dtype: DType) -> Vec<u8> {
    let mut bytes = Array::sample(dtype, N).bytes(false);
    let size = dtype.size();
    let mut set = |k: usize, element: &[u8]| {
        let element = element.repeat(size / element.len());
        bytes[k * size..][..size].copy_from_slice(&element);
    };
    match dtype {
        DType::F32 | DType::Complex64 => {
            let all = [f32::MAX, f32::MAX, -0.0, 0.0, f32::INFINITY, f32::NAN, f32::NEG_INFINITY];
            [3, 4, 9, 10, 25, 41, 55].iter().zip(all).for_each(|(&k, x)| set(k, &x.to_le_bytes()));
        }
        DType::F64 => {
            let all = [f64::MAX, f64::MAX, -0.0, 0.0, f64::INFINITY, f64::NAN, f64::NEG_INFINITY];
            [3, 4, 9, 10, 25, 41, 55].iter().zip(all).for_each(|(&k, x)| set(k, &x.to_le_bytes()));
        }
        DType::BF16 => {
            // Infinity and NaN.
            set(25, &[0x80, 0x7f]);
            set(41, &[0xc0, 0x7f]);
        }
        DType::I8 => (20..40).for_each(|k| set(k, &[0x7f])),
        DType::I32 => (20..40).for_each(|k| set(k, &i32::MAX.to_le_bytes())),
        DType::U64 => (20..40).for_each(|k| set(k, &u64::MAX.to_le_bytes())),
        _ => {}
    }
    bytes
}

/// Rank 0 says what one process says, and the others nothing; all of them end alike.
fn alike(args: &[&str], size: usize) {
    let alone = run(args);
    let found = world(args, size);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for (rank, found) in found.iter().enumerate() {
        let said = (found.status.code(), text(&found.stdout), text(&found.stderr));
        let (out, err) = if rank == 0 { (&alone.out[..], &alone.err[..]) } else { ("", "") };
        let (code, out, err) = (alone.code, out.to_string(), err.to_string());
        assert_eq!(said, (code, out, err), "rank {rank} of {size}: {args:?}");
    }
}

/// Every 13th of all cases, each with a world of another size; every Nth of them, with every size, if `WARPFOLD_WORLDS_EVERY` is N.
#[test]
fn worlds_say_what_one_process_says() {
    let arguments = std::env::var("WARPFOLD_WORLDS_EVERY").ok();
    let arguments = arguments.map(|every| every.parse::<usize>().expect("a number"));
    let (every, sizes_at_once) = arguments.map_or((13, 1), |every| (every.max(1), SIZES.len()));
    let folder = Folder::new();
    let numbers = |name: &str, numbers: &[i32]| {
        let shape = format!("({},)", numbers.len());
        let mut bytes = npy_header(1, &dictionary("<i4", false, &shape), 64);
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        folder.file(name, bytes)
    };
    let n = N as i32;
    let offsets = numbers("offsets.npy", &[0, 20, 20, 21, 21, 40, n, n]);
    let lengths = numbers("lengths.npy", &[13, 0, 1, 26, 0, 20]);
    let keys = numbers("keys.npy", &(0..n).map(|k| k * k % 11 - 3).collect::<Vec<_>>());
    let groups = numbers("groups.npy", &(0..n).map(|k| k / 9 * 2).collect::<Vec<_>>());
    let none = numbers("none.npy", &[]);
    let parts: [&[&str]; 12] = [
        &[],
        &["--nan", "ignore"],
        &["--segments", &offsets],
        &["--segments", &offsets, "--nan", "ignore"],
        &["--lengths", &lengths, "--flat"],
        &["--every", "12"],
        &["--by", &keys],
        &["--by", &keys, "--by", &groups],
        &["--by", &groups, "--groups", "14"],
        &["--by", &groups, "--sorted"],
        &["--axis", "0"],
        &["--axis", "1", "--keepdims"],
    ];
    let (mut case, mut run) = (0, 0);
    for dtype in TYPES {
        let (plain, special) = (Array::sample(dtype, N).bytes(false), special(dtype));
        for (data, bytes) in [("plain", &plain[..]), ("special", &special), ("nothing", &[])] {
            let (shape, by) = match data {
                "nothing" => ("(0, 6)", &none),
                _ => ("(10, 6)", &keys),
            };
            let header =
                npy_header(1, &dictionary(&Array::sample(dtype, 0).descr(false), false, shape), 64);
            let raw = folder.file(&format!("{dtype}-{data}.bin"), bytes);
            let npy = folder.file(&format!("{dtype}-{data}.npy"), [&header, bytes].concat());
            for &op in Op::ALL.iter().filter(|&&op| op != Op::Dot) {
                for parts in parts {
                    case += 1;
                    if case % every != 0 {
                        continue;
                    }
                    let is_shaped = parts.first() == Some(&"--axis");
                    let parts: Vec<&str> = parts
                        .iter()
                        .filter(|part| op == Op::ArgMin || op == Op::ArgMax || **part != "--flat")
                        .map(|part| if data == "nothing" && *part == keys { by } else { *part })
                        .collect();
                    let input = match is_shaped {
                        true if dtype == DType::BF16 => continue,
                        true => vec![op.name(), &npy],
                        false => vec![op.name(), &raw, "--dtype", dtype.name()],
                    };
                    let args = [input, parts].concat();
                    let sizes = SIZES.iter().cycle().skip(run % SIZES.len()).take(sizes_at_once);
                    sizes.for_each(|&size| alike(&args, size));
                    run += 1;
                }
            }
        }
    }
    assert!(run > 300, "{run}");
}

/// Outputs without a result on several ranks: the first is named, whether it is one rank's as a whole or was cut.
#[test]
fn the_first_output_without_a_result_is_named() {
    let folder = Folder::new();
    let x = folder.file("x.bin", Array::sample(DType::F64, N).bytes(false));
    let offsets = |name: &str, all: [i32; 7]| {
        let mut bytes = npy_header(1, &dictionary("<i4", false, "(7,)"), 64);
        all.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        folder.file(name, bytes)
    };
    // Single elements have no variance with ddof 1: some on rank 0, some on the last, and one segment of all ranks.
    for (name, all) in [
        ("late.npy", [0, 10, 20, 59, 60, 60, 60]),
        ("both.npy", [0, 10, 10, 11, 30, 30, 60]),
        ("cut.npy", [0, 0, 60, 60, 60, 60, 60]),
        ("middle.npy", [0, 29, 31, 31, 59, 60, 60]),
    ] {
        let offsets = offsets(name, all);
        for size in SIZES {
            for op in ["mean", "min", "argmax", "stats", "minmax"] {
                alike(&[op, &x, "--dtype", "f64", "--segments", &offsets], size);
            }
            alike(&["var", &x, "--dtype", "f64", "--segments", &offsets, "--ddof", "1"], size);
        }
    }
}

/// Texts and random numbers in parts, several keys, and what is not to be parted by key: each rank folds outputs or elements of its own.
#[test]
fn texts_random_numbers_and_several_keys_in_parts_are_shared_out() {
    let folder = Folder::new();
    let rows = (0..90).map(|k| format!("{},{},{}\n", k % 7, k * k % 5, (k * 37 % 41) as f64 / 8.0));
    let table = folder.file("t.csv", format!("a,b,x\n{}", rows.collect::<String>()));
    let table = table.as_str();
    let column = [table, "--column", "x"];
    for size in [2, 3, 7] {
        for op in ["sum", "stats", "prod", "argmax"] {
            alike(&[&[op][..], &column, &["--by", "a"]].concat(), size);
            alike(&[&[op][..], &column, &["--by", "a", "--by", "b"]].concat(), size);
            alike(&[&[op][..], &column, &["--every", "15"]].concat(), size);
        }
        for op in ["stats", "prod"] {
            alike(&[&[op][..], &column, &["--by", "a", "--groups", "7"]].concat(), size);
        }
        alike(&[&["argmin"][..], &column, &["--by", "a", "--flat"]].concat(), size);
        alike(&[&["stats"][..], &column, &["--by", "b", "--flat"]].concat(), size);
        for op in ["sum", "prod", "stats", "max"] {
            alike(&[op, "--random", "1000", "--dtype", "f64", "--every", "100"], size);
        }
    }
}

/// Results that do not exist, where they are NaN or empty cells, and where the error says that all elements were ignored.
#[test]
fn outputs_without_a_result_may_be_no_error() {
    let folder = Folder::new();
    let x: Vec<f32> = (0..30)
        .map(|k| if (6..14).contains(&k) { f32::NAN } else { (k * k % 17) as f32 })
        .collect();
    let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
    let raw = folder.file("x.bin", &bytes);
    let header = npy_header(1, &dictionary("<f4", false, "(15, 2)"), 64);
    let npy = folder.file("x.npy", [&header, &bytes[..]].concat());
    let offsets = folder.file("offsets.txt", "0 6 6 7 12 30");
    let integers: String = (0..30).map(|k| format!("{}\n", k / 3 * 5 - 10)).collect();
    let words: String = (0..30).map(|k| format!("w{}\n", k / 3)).collect();
    let groups: String = (0..30).map(|k| format!("{}\n", k / 2 % 11)).collect();
    let [integers, words, groups] = [("i.txt", integers), ("w.txt", words), ("g.txt", groups)]
        .map(|(name, text)| folder.file(name, text));
    let parts: [&[&str]; 6] = [
        &["--segments", &offsets],
        &["--by", &integers],
        &["--by", &words],
        &["--by", &groups, "--groups", "14"],
        &["--by", &integers, "--sorted"],
        &["--axis", "1"],
    ];
    let (raw, npy) = (["--dtype", "f32", raw.as_str()], [npy.as_str()]);
    let mut sizes = SIZES.iter().cycle();
    for parts in parts {
        for op in ["mean", "minmax", "argmax", "var", "stats", "prod"] {
            for empty in [&["--empty", "nan"][..], &["--empty", "none", "--flat"], &[]] {
                let flat = matches!(op, "argmax" | "stats");
                let empty = empty.iter().filter(|option| flat || **option != "--flat");
                let inputs = if parts[0] == "--axis" { &npy[..] } else { &raw[..] };
                let args = [&[op, "--nan", "ignore"], inputs, parts].concat();
                let args: Vec<&str> = args.into_iter().chain(empty.copied()).collect();
                alike(&args, *sizes.next().expect("they go round"));
            }
        }
    }
    // The error of a group whose elements were all ignored.
    let args = ["mean", "--nan", "ignore", raw[2], "--dtype", "f32", "--by", &words];
    run(args).fails(1, &["group w2", "all were ignored"]);
    // Of expressions, by conditions.
    for op in ["max", "minmax", "argmin", "mean"] {
        for parts in &parts[..5] {
            for empty in [&["--empty", "nan"][..], &["--empty", "none"], &[]] {
                let map = ["--dtype", "f32", "--map", "x * 2", "--where", "x > 9"];
                let args = [&[op, raw[2]], &map[..], parts, empty].concat();
                alike(&args, *sizes.next().expect("they go round"));
            }
        }
    }
    let args = ["max", raw[2], "--dtype", "f32", "--where", "x > 9", "--by", &words];
    run(args).fails(1, &["group w0: the condition"]);
}

/// What is wrong with a text, all ranks find: rank 0 says it, and the others are silent.
#[test]
fn what_is_wrong_with_a_text_is_told_once() {
    let folder = Folder::new();
    let words: String = (0..400).map(|k| format!("{k},w{k}\n")).collect();
    let words = folder.file("words.csv", format!("a,b\n{words}"));
    let nothing = folder.file("nothing.csv", "");
    let unclear = folder.file("unclear.csv", format!("a,2020\n{}", "1,2\n".repeat(400)));
    for size in [2, 3] {
        for args in [
            &["sum", &*words, "--column", "b"][..],
            &["sum", &words, "--column", "nowhere"],
            &["sum", &words, "--map", "a * b"],
            &["sum", &words, "--map", "nowhere"],
            &["sum", &nothing, "--column", "a"],
            &["sum", &nothing, "--map", "a + b"],
            &["sum", &nothing],
            &["sum", &unclear],
            &["sum", &words, "--column", "a", "--by", "nowhere"],
        ] {
            alike(args, size);
        }
    }
}

/// `dot` of two columns is shared out by lines, rows that lack one of the two among them.
#[test]
fn dot_of_columns_of_a_text_is_shared_out() {
    let folder = Folder::new();
    let row = |k: u32| match k % 7 {
        0 => format!("{k},NA\n"),
        1 => format!(",{k}\n"),
        _ => format!("{}.5,{}e{}\n", k % 11, k, k % 40),
    };
    let rows: String = (0..900).map(row).collect();
    let text = folder.file("t.csv", format!("a,b\n{rows}"));
    let quoted = folder.file("q.csv", format!("a,b\n{rows}\"1\",2\n"));
    let short = folder.file("s.csv", "a,b\n1,2\n");
    for size in [2, 3, 7] {
        for path in [&text, &quoted, &short] {
            let columns = ["--column", "a", "--column", "b", "--missing", "skip"];
            alike(&[&["dot", path][..], &columns].concat(), size);
        }
        alike(&["dot", &text, "--column", "a", "--column", "b"], size);
        alike(&["dot", &short, "--column", "b", "--column", "2"], size);
    }
}

fn whole(x: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
    array("<f8", &bytes, x.len())
}

/// What is not shared out is said so, and done by rank 0.
#[test]
fn rank_0_does_alone_what_cannot_be_cut() {
    let folder = Folder::new();
    let text: String = (0..100).map(|k| format!("{k},{}\n", 2 * k)).collect();
    let text = format!("a,b\n{text}");
    let packed = folder.file("t.csv.gz", gzip(text.as_bytes()));
    let plain = folder.file("t.csv", &text);
    let prices: Vec<f64> = (0..9).map(f64::from).collect();
    let fields = folder.file("r.npy", records(&prices));
    let arrays =
        folder.file("a.npz", archive(&[("x.npy", &whole(&prices)), ("y.npy", &whole(&prices))]));
    let alone = folder.file("one.npz", archive(&[("x.npy", &whole(&prices))]));
    let members = "arrays of .npz files and fields of records";
    for (args, what) in [
        (&["sum", &*packed, "--column", "a"][..], "packed files (.gz, .zst)"),
        (&["sum", &packed, "--map", "a * b"], "packed files (.gz, .zst)"),
        (&[&plain], "the statistics of every column"),
        (&[&packed], "the statistics of every column"),
        (&["sum", &arrays, "--column", "x"], members),
        (&["argmax", &fields, &fields, "--column", "price"], members),
        (&["sum", &alone], members),
    ] {
        let alone = run(args);
        assert_eq!(alone.code, Some(0), "{alone:?}");
        for (rank, found) in world(args, 2).iter().enumerate() {
            let (out, err) =
                (String::from_utf8_lossy(&found.stdout), String::from_utf8_lossy(&found.stderr));
            assert_eq!(found.status.code(), Some(0), "{args:?}: {err}");
            let said =
                format!("warpfold: --world does not share out {what}; rank 0 does all of it\n");
            let expected = if rank == 0 { (alone.out.as_str(), said.as_str()) } else { ("", "") };
            assert_eq!((&*out, &*err), expected, "rank {rank}: {args:?}");
        }
    }
}
