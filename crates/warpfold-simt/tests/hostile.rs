//! Truncated, foreign and mangled PTX is an error with a line, never a panic; and so is whatever
//! of it still decodes and is launched.

mod bench;

use bench::text;
use proptest::prelude::*;
use warpfold_simt::ptx::Module;
use warpfold_simt::{Argument, Dimensions, Launch, LoadError, Memory, Program, Settings};

const FILES: [&str; 9] =
    ["trees", "bulk", "wrong", "integers", "warps", "redux", "atomics", "floats", "memory"];

/// Loads, and where that works runs every kernel for a little while.
fn survive(text: &str) {
    let Ok(program) = Program::load(text) else { return };
    for kernel in program.kernels() {
        let mut memory = Memory::new();
        let buffer = memory.upload(&[1u32; 1024]);
        let arguments = kernel
            .parameters()
            .iter()
            .map(|parameter| {
                let mut bytes = buffer.address().to_le_bytes().to_vec();
                bytes.resize(parameter.bytes as usize, 0);
                Argument::bytes(bytes)
            })
            .collect();
        let launch = Launch {
            kernel: kernel.name().to_owned(),
            grid: Dimensions::from(2),
            block: Dimensions::from(64),
            shared_bytes: 256,
            arguments,
        };
        let settings = Settings { budget: 300, threads: 1, ..Settings::default() };
        // Any outcome will do, so long as there is one.
        let _ = launch.run(&program, &mut memory, &settings);
    }
}

#[test]
fn unknown_opcode_is_named_with_its_line() {
    let text = text("trees").replacen("add.f32", "wmma.mma.sync", 1);
    let line = text.lines().position(|line| line.contains("wmma")).expect("replaced") + 1;
    match Program::load(&text) {
        Err(LoadError::Syntax(error)) => {
            assert_eq!(error.line.0 as usize, line);
            assert!(error.message.contains("wmma.mma.sync"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn unknown_modifier_is_named_with_its_line() {
    for (from, to) in [
        ("add.f32", "add.rna.f32"),
        ("ld.shared.f32", "ld.shared.v3.f32"),
        ("bar.sync", "bar.sink"),
        ("shfl.sync.down.b32", "shfl.down.b32"),
        ("setp.lt.u32", "setp.unordered.u32"),
    ] {
        let text = text("trees").replacen(from, to, 1);
        let line = text.lines().position(|line| line.contains(to)).expect("replaced") + 1;
        match Program::load(&text) {
            Err(LoadError::Decode(error)) => {
                assert_eq!(error.line.0 as usize, line, "{error}");
                assert!(error.message.contains(to), "{error}");
            }
            other => panic!("{to}: {other:?}"),
        }
    }
}

#[test]
fn truncated_anywhere() {
    let text = text("trees");
    let whole = text.trim_end().len();
    for end in (0..whole).step_by(97) {
        match Module::parse(&text[..end]) {
            // Cut between two functions, what is left is a module.
            Ok(module) => assert!(end > 0 && !module.target.is_empty()),
            Err(error) => {
                let lines = text[..end].lines().count().max(1);
                assert!((1..=lines + 1).contains(&(error.line.0 as usize)), "{error}");
            }
        }
    }
    let inside = text.find("ld.shared").expect("it loads");
    let error = Module::parse(&text[..inside]).expect_err("cut short");
    assert!(error.message.contains("end"), "{error}");
}

#[test]
fn foreign_files() {
    for foreign in [
        "",
        "\0",
        "hello",
        "int main() { return 0; }",
        "\u{7f}ELF",
        "; ModuleID = 'x'\ndefine void @f()",
        ".version 8.0\n.target sm_70\n.address_size 32",
    ] {
        let error = Module::parse(foreign).expect_err("not PTX");
        assert!(error.line.0 >= 1 && !error.message.is_empty());
    }
}

#[test]
fn nesting_and_size_are_bounded() {
    let head = ".version 8.0\n.target sm_70\n.address_size 64\n";
    let deep = format!("{head}.visible .entry k() {{ {}", "{".repeat(100_000));
    assert!(Module::parse(&deep).is_err());
    let nested = format!("{head}.global .u32 x = {}", "{".repeat(100_000));
    assert!(Module::parse(&nested).is_err());
    let many = format!("{head}.visible .entry k() {{ .reg .b32 %r<4000000000>; ret; }}");
    assert!(Module::parse(&many).is_err());
    let large = format!("{head}.global .b8 x[18446744073709551615][18446744073709551615];");
    assert!(Program::load(&large).is_err());
    let recursive = format!(
        "{head}.func f() {{ call f, (); ret; }}\n.visible .entry k() {{ call f, (); ret; }}"
    );
    assert!(Program::load(&recursive).is_err());
    let doubling: String = (0..40)
        .map(|i| format!(".func f{i}() {{ call f{}, (); call f{}, (); ret; }}\n", i + 1, i + 1))
        .collect();
    let exploding = format!(
        "{head}.func f40() {{ ret; }}\n{doubling}.visible .entry k() {{ call f0, (); ret; }}"
    );
    assert!(Program::load(&exploding).is_err());
}

proptest! {
    #[test]
    fn mutated_bytes(file in 0..FILES.len(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = text(FILES[file]).into_bytes();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn moved_words(file in 0..FILES.len(), swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4)) {
        let text = text(FILES[file]);
        let mut words: Vec<&str> = text.split_inclusive([' ', '\t', '\n', ',']).collect();
        for (a, b) in swaps {
            let (a, b) = (a.index(words.len()), b.index(words.len()));
            words[a] = words[b];
        }
        survive(&words.concat());
    }

    #[test]
    fn cut_lines(file in 0..FILES.len(), at in any::<prop::sample::Index>(), count in 1usize..30) {
        let text = text(FILES[file]);
        let lines: Vec<&str> = text.lines().collect();
        let at = at.index(lines.len());
        let kept: Vec<&str> = lines[..at].iter().chain(lines.iter().skip(at + count)).copied().collect();
        survive(&kept.join("\n"));
    }

    #[test]
    fn any_text(text in "[.%$a-z0-9@{}()\\[\\],;:+<> \n\"-]{0,200}") {
        survive(&text);
        survive(&format!(".version 8.0\n.target sm_70\n.address_size 64\n{text}"));
        survive(&format!(".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k() {{\n{text}\n}}"));
    }
}
