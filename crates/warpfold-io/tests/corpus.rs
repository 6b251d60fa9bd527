//! The corpora of the fuzz targets, replayed.

#![allow(unreachable_pub, reason = "the checks are shared with the fuzz targets")]

use std::path::PathBuf;

#[path = "../../../fuzz/checks/npy.rs"]
mod npy;
#[path = "../../../fuzz/checks/text.rs"]
mod text;

fn replay(target: &str, check: fn(&[u8]) -> bool) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let (mut accepted, mut refused) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("the repository holds the corpus") {
        let seed = std::fs::read(entry.expect("an entry").path()).expect("a readable seed");
        *(if check(&seed) { &mut accepted } else { &mut refused }) += 1;
    }
    assert!(accepted >= 5 && refused >= 5, "{target}: {accepted} accepted, {refused} refused");
}

#[test]
fn npy_seeds() {
    replay("npy", npy::check);
}

#[test]
fn text_seeds() {
    replay("text", text::check);
}

/// Every prefix and every single changed byte of a small valid file.
#[test]
fn damaged_headers_are_met_without_a_panic() {
    let mut good = b"\x93NUMPY\x01\x00\x46\x00".to_vec();
    good.extend(
        format!("{:69}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }").bytes(),
    );
    good.extend([0; 24]);
    assert!(npy::check(&good));
    for end in 0..good.len() {
        assert!(!npy::check(&good[..end]), "its first {end} bytes");
    }
    for at in 0..good.len() {
        for byte in [0, b'9', b'(', b'\'', b',', 0xff] {
            let mut bad = good.clone();
            bad[at] = byte;
            npy::check(&bad);
        }
    }
}
