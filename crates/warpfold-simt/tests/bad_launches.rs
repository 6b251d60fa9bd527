//! Launches that cannot start say why.

mod bench;

use bench::{Bench, load};
use warpfold_simt::{Argument, Fault, Memory, Settings};

fn refusal(bench: &Bench, memory: &mut Memory) -> String {
    match bench.fault(&load("trees"), memory, &Settings::default()) {
        Fault::Launch { kernel, message } => {
            assert_eq!(kernel, bench.0.kernel);
            let text = bench::text("trees");
            let at = text.lines().position(|line| line.contains(&format!(".entry {kernel}(")));
            assert!(
                at.is_none_or(|at| message.ends_with(&format!("(PTX line {})", at + 1))),
                "{message}"
            );
            message
        }
        other => panic!("{other}"),
    }
}

#[test]
fn unknown_kernel() {
    let message = refusal(&Bench::new("interleavd", 1, 32), &mut Memory::new());
    assert!(message.contains("interleaved"), "{message}");
}

#[test]
fn arguments() {
    let mut memory = Memory::new();
    let buffer = memory.allocate(4);
    let few = Bench::new("interleaved", 1, 32).arguments([buffer.into()]);
    assert!(refusal(&few, &mut memory).contains("1 arguments given, the kernel takes 3"));
    let narrow = Bench::new("interleaved", 1, 32).arguments([
        Argument::from(buffer),
        buffer.into(),
        5u32.into(),
    ]);
    assert!(refusal(&narrow, &mut memory).contains("argument 2 has 4 bytes"));
}

#[test]
fn shape() {
    let mut memory = Memory::new();
    assert!(refusal(&Bench::new("interleaved", 1, 2048), &mut memory).contains("2048 threads"));
    assert!(refusal(&Bench::new("interleaved", 0, 32), &mut memory).contains("empty"));
    let large = Bench::new("interleaved", 1, 32).shared(1 << 20);
    assert!(refusal(&large, &mut memory).contains("1048576 of dynamic"));
}
