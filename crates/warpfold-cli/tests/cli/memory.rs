//! Files larger than the memory that the process may have.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::process::Command;

use warpfold_cli::input::{PIECE_BYTES, PIECES_IN_FLIGHT};

use crate::arrays::{dictionary, npy_header};
use crate::program::{Folder, Run, finish};

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
