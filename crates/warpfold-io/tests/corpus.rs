//! The corpora of the fuzz targets, replayed.

#![allow(unreachable_pub, reason = "the checks are shared with the fuzz targets")]

#[path = "../../../fuzz/checks/columns.rs"]
mod columns;
#[path = "../../../fuzz/checks/npy.rs"]
mod npy;
#[path = "../../../fuzz/checks/npz.rs"]
mod npz;
#[path = "../../../fuzz/checks/packed.rs"]
mod packed;
#[path = "../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../fuzz/checks/text.rs"]
mod text;

use replay::replay;

#[test]
fn npy_seeds() {
    replay("npy", npy::check);
}

#[test]
fn npz_seeds() {
    replay("npz", npz::check);
}

#[test]
fn packed_seeds() {
    replay("packed", packed::check);
}

#[test]
fn columns_seeds() {
    replay("columns", columns::check);
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
