//! With the race detector on, a run takes at most four times its arrays and 64 MiB.
#![cfg(target_os = "linux")]

mod bench;

use bench::{Bench, load};
use warpfold_simt::{Argument, Memory, Settings};

/// The most memory this process ever had, in KiB.
fn high_water() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("and this line");
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("in kB")
}

#[test]
fn four_times_the_arrays() {
    let program = load("trees");
    let n = 1u32 << 22;
    let mut memory = Memory::new();
    // A tree in place: every word is read, half of them are written, over and over.
    let data = memory.upload(&vec![1f32; n as usize]);
    let bench =
        Bench::new("global_sequential", 1, 1024).arguments([Argument::from(data), n.into()]);
    bench.run(&program, &mut memory, &Settings::default());
    let top = high_water();
    assert_eq!(memory.read_bytes(data, 0, 4), Ok((n as f32).to_le_bytes().to_vec()));
    let arrays = u64::from(n) * 4 / 1024;
    assert!(top <= 4 * arrays + (64 << 10), "{top} KiB for arrays of {arrays} KiB");
}
