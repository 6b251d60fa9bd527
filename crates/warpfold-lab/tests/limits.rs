//! The kernels that ceilings are measured with, on a simulated GPU: they read every pack, and nothing else.
#![cfg(feature = "cuda")]

use warpfold_kernels::catalog::LIMITS;
use warpfold_simt::{Argument, Dimensions, Launch, Memory, Program, Settings};

/// The pattern that makes a thread write, which happens once in 2^32 of random vectors.
const MARK: u32 = 0x1234_5678;

/// Whether a reading kernel finds the mark in the pack of an index among `vectors` others.
fn finds(
    program: &Program,
    entry: &str,
    [grid, block]: [u32; 2],
    vectors: usize,
    at: usize,
) -> bool {
    let mut memory = Memory::new();
    let mut words = vec![0u32; 4 * vectors];
    words[4 * at..4 * at + 4].fill(MARK);
    let (x, out) = (memory.upload(&words), memory.upload(&[0u32]));
    let launch = Launch {
        kernel: entry.to_owned(),
        grid: Dimensions::from(grid),
        block: Dimensions::from(block),
        shared_bytes: 0,
        arguments: vec![Argument::from(x), Argument::from(vectors as u64), Argument::from(out)],
    };
    // A read past the end is a fault.
    launch.run(program, &mut memory, &Settings::default()).expect("no fault");
    memory.read::<u32>(out).expect("it was uploaded") == [MARK]
}

#[test]
fn every_pack_is_read() {
    let module = warpfold_kernels::find(&LIMITS.module()).expect("it is embedded");
    let program = Program::load(&module.ptx()).expect("the PTX is whole");
    for entry in LIMITS.entries.iter().filter(|entry| entry.starts_with("read_")) {
        for shape in [[1, 32], [2, 64], [3, 32]] {
            for vectors in [1, 31, 32, 33, 1000, 1024] {
                for at in [0, 1, vectors / 3, vectors / 2, 2 * vectors / 3, vectors - 1] {
                    let at = at.min(vectors - 1);
                    let found = finds(&program, entry, shape, vectors, at);
                    assert!(found, "{entry} in {shape:?} overlooks pack {at} of {vectors}");
                }
            }
        }
    }
}
