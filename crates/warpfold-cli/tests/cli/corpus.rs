//! The corpus of a fuzz target, replayed.

#![allow(unreachable_pub, reason = "the checks are shared with the fuzz targets")]

use std::path::PathBuf;

#[path = "../../../../fuzz/checks/map.rs"]
mod map;

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
fn map_seeds() {
    replay("map", map::check);
}
