//! The corpora of the fuzz targets, replayed.

use std::path::PathBuf;

use warpfold_cli::input::fuzzing;

fn replay(target: &str, body: fn(&[u8])) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    // A package of this crate alone carries no corpus.
    let Ok(entries) = std::fs::read_dir(&folder) else { return };
    let mut seen = 0;
    for entry in entries {
        let path = entry.expect("an entry").path();
        body(&std::fs::read(&path).expect("a readable seed"));
        seen += 1;
    }
    assert!(seen >= 8, "{} holds {seen} seeds only", folder.display());
}

#[test]
fn npy() {
    replay("npy", fuzzing::npy);
}

#[test]
fn text() {
    replay("text", fuzzing::text);
}

/// Every prefix and every single changed byte of a small valid file.
#[test]
fn damaged_headers_are_met_without_a_panic() {
    let dictionary = crate::arrays::dictionary("<f4", false, "(2, 3)");
    let mut good = crate::arrays::npy_header(1, &dictionary, 16);
    good.extend([0; 24]);
    for end in 0..=good.len() {
        fuzzing::npy(&good[..end]);
    }
    for at in 0..good.len() {
        for byte in [0, b'9', b'(', b'\'', b',', 0xff] {
            let mut bad = good.clone();
            bad[at] = byte;
            fuzzing::npy(&bad);
        }
    }
}
