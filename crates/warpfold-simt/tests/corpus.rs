//! The fuzz target's seeds, and every input that ever broke it, replayed without a fuzzer.

#![allow(unreachable_pub, reason = "the check is shared with the fuzz target")]

#[path = "../../../fuzz/checks/ptx.rs"]
mod ptx;

/// A seed's name says whether it is PTX that can be run.
#[test]
fn seeds() {
    let folder = format!("{}/../../fuzz/corpus/ptx", env!("CARGO_MANIFEST_DIR"));
    let mut replayed = 0;
    for entry in std::fs::read_dir(folder).expect("the repository holds the corpus") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let accepted = ptx::check(&std::fs::read(&path).expect("readable"));
        assert!(!name.starts_with("ok_") || accepted, "{name} is refused");
        assert!(!name.starts_with("bad_") || !accepted, "{name} is accepted");
        replayed += 1;
    }
    assert!(replayed >= 20, "{replayed} seeds");
}

/// The kernels that the other tests run, and every prefix of one of them at a line's end.
#[test]
fn real_kernels_whole_and_cut() {
    for name in ["trees", "bulk", "wrong", "memory"] {
        let file = format!("{}/tests/kernels/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read(file).expect("readable");
        assert!(ptx::check(&text), "{name}");
        if name == "memory" {
            for end in (0..text.len()).filter(|&end| text[end] == b'\n') {
                ptx::check(&text[..end]);
            }
        }
    }
}
