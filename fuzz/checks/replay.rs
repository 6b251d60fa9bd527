//! Replays the corpus of a fuzz target by the check that the target makes.

use std::path::PathBuf;

/// Checks every seed; panics where the corpus has hardly any that is accepted, or refused. For crates that lie two folders below the repository.
pub fn replay(target: &str, check: fn(&[u8]) -> bool) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let (mut accepted, mut refused) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("the repository holds the corpus") {
        let seed = std::fs::read(entry.expect("an entry").path()).expect("a readable seed");
        *(if check(&seed) { &mut accepted } else { &mut refused }) += 1;
    }
    assert!(accepted >= 5 && refused >= 5, "{target}: {accepted} accepted, {refused} refused");
}
