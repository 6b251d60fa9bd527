//! Files larger than the memory that the process may have.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::process::Command;

use warpfold_io::{PIECE_BYTES, PIECES_IN_FLIGHT};

use crate::arrays::{dictionary, npy_header};
use crate::program::{Folder, Run, finish, shell};

/// Address space for the program itself: code, stacks, the allocator's own.
const PROGRAM: usize = 128 << 20;
const FILE: u64 = 512 << 20;

/// Runs the program in so much address space, one thread, one allocator arena.
fn run_within(bytes: usize, args: &str) -> Run {
    let script = format!(
        "ulimit -v {}; exec {} {args} --threads 1",
        bytes >> 10,
        env!("CARGO_BIN_EXE_warpfold")
    );
    finish(Command::new("sh").args(["-c", &script]).env("MALLOC_ARENA_MAX", "1"))
}

#[test]
fn a_sparse_file_larger_than_the_address_space() {
    let folder = Folder::new();
    let bound = PROGRAM + PIECES_IN_FLIGHT * PIECE_BYTES;
    assert!(FILE > 2 * bound as u64);
    let raw = folder.at("sparse.f64");
    File::create(&raw).unwrap().set_len(FILE).unwrap();
    let raw = raw.display();
    assert_eq!(run_within(bound, &format!("count {raw} --dtype f64")).value(), "0");
    assert_eq!(run_within(bound, &format!("count - --dtype f64 < {raw}")).value(), "0");
    // A file that cannot be mapped whole is read instead.
    let npy = folder.at("sparse.npy");
    let header = npy_header(1, &dictionary("<f8", false, &format!("({},)", FILE / 8)), 64);
    std::fs::write(&npy, &header).unwrap();
    File::options().write(true).open(&npy).unwrap().set_len(FILE + header.len() as u64).unwrap();
    assert_eq!(run_within(bound, &format!("count {}", npy.display())).value(), "0");
}

/// From limits in which the program cannot even start to such as are no limits: a result, or one line and exit code 1, and never anything else.
#[test]
fn every_limit_leaves_a_result_or_one_line() {
    let folder = Folder::new();
    let raw = folder.file("x", vec![1; 24 << 20]);
    let text = folder.file("x.csv", "key,value\n".to_string() + &"1,2\n3,4\n".repeat(100_000));
    let (json, npz) = (folder.at("r.json"), folder.at("r.npz"));
    let (json, npz) = (json.display(), npz.display());
    let cases = [
        format!("sum '{raw}' --dtype u8"),
        format!("sum - --dtype u8 --threads 4096 <'{raw}'"),
        format!("dot '{raw}' '{raw}' --dtype u8"),
        format!("sum '{raw}' --dtype u8 --every 4 --out '{json}'"),
        format!("stats '{raw}' --dtype u8 --every 64 --out '{npz}'"),
        format!("sum '{text}' --column value --by key --threads 64"),
        "sum --random 1e6 --device simt".to_string(),
        "prod --random 1e6 --threads 4096".to_string(),
    ];
    const LIMITS: [usize; 9] = [24, 32, 48, 64, 96, 128, 192, 256, 512];
    let run_within = |mebibytes: usize, what: &str| {
        shell(&format!("ulimit -v {}; warpfold {what}", mebibytes << 10))
    };
    let starting: Vec<bool> =
        LIMITS.iter().map(|&limit| run_within(limit, "--version").code == Some(0)).collect();
    let starts = |limit| LIMITS.iter().zip(&starting).any(|(&l, &starts)| l == limit && starts);
    let mut refusals = 0;
    for case in &cases {
        let mut results = 0;
        let expected = shell(&format!("warpfold {case}"));
        assert_eq!((expected.code, expected.err.as_str()), (Some(0), ""), "{case}");
        for mebibytes in LIMITS {
            let found = run_within(mebibytes, case);
            match found.code {
                Some(0) => {
                    assert_eq!(
                        (&found.out, found.err.as_str()),
                        (&expected.out, ""),
                        "{mebibytes} MiB: {case}"
                    );
                    results += 1;
                }
                // The system's loader has its own words.
                _ if !starts(mebibytes) => {}
                _ => {
                    assert_eq!(
                        (found.code, found.out.as_str()),
                        (Some(1), ""),
                        "{mebibytes} MiB: {case}: {found:?}"
                    );
                    assert!(
                        found.err.starts_with("warpfold: ") && found.err.lines().count() == 1,
                        "{mebibytes} MiB: {case}: {found:?}"
                    );
                    refusals += 1;
                }
            }
        }
        assert!(results > 0, "{case}: no limit leaves a result");
        assert!(folder.names().iter().all(|name| !name.starts_with('.')), "{case}");
    }
    assert!(refusals > cases.len(), "{refusals} refusals");
}

#[test]
fn fewer_threads_are_taken_where_there_is_room_for_fewer() {
    let expected = shell("warpfold sum --random 1e6").value().to_string();
    for mebibytes in [256, 300, 400, 800] {
        let limit = mebibytes << 10;
        let found = shell(&format!("ulimit -v {limit}; warpfold sum --random 1e6 --threads 4096"));
        assert_eq!(found.value(), expected, "{mebibytes} MiB");
    }
}

/// What the manual names as bounds: so much memory is enough for so many results.
#[test]
fn results_keep_to_the_bounds_of_the_manual() {
    const RESULTS: usize = 400_000;
    let folder = Folder::new();
    let x = folder
        .file("x.f64", (0..RESULTS).flat_map(|k| (k as f64).to_le_bytes()).collect::<Vec<_>>());
    let header = npy_header(1, &dictionary("<i4", false, &format!("({RESULTS},)")), 64);
    let keys = (0..RESULTS as i32).flat_map(i32::to_le_bytes);
    let keys = folder.file("k.npy", header.into_iter().chain(keys).collect::<Vec<_>>());
    let out = folder.at("r.npz");
    let input = 3 * 8 * RESULTS + 4 * RESULTS;
    let bytes = PROGRAM + PIECES_IN_FLIGHT * PIECE_BYTES + input;
    for (parts, each) in [("--every 1".to_string(), 150), (format!("--by '{keys}'"), 150 + 72 + 4)]
    {
        let args = format!("stats '{x}' --dtype f64 {parts} --out '{}'", out.display());
        let found = run_within(bytes + each * RESULTS, &args);
        assert_eq!(found.code, Some(0), "{found:?}");
    }
}
