//! Results and partials of some 10^5 cases, compared with those that were recorded: the bits stay the same from version to version.
//!
//! A case is one reduction of one array: a line of text with its result in bits, or with what the error says, and with its saved partial.
//! `whole.txt`, `parts.txt` and `simulated.txt` have a hash of the lines of each group (way, reduction, element type). Where one differs, `WARPFOLD_BITS_DUMP=FILE` writes
//! all lines, to be compared with those of the version before. `WARPFOLD_BITS_RECORD=1` records anew, which only a change of the contract
//! justifies. Float products are in groups of their own (`prod`), because their partials depend on the order of multiplications.
//!
//! Accuracy::Fast is the same for one plan on every instruction set, and the plan's split is the same for any number of threads: it is
//! recorded too.

mod data;
mod flat;
mod ledger;
mod parts;
#[cfg(feature = "simt")]
mod simulated;

use ledger::Ledger;

#[test]
fn whole_arrays() {
    let mut ledger = Ledger::new("whole");
    flat::record(&mut ledger);
    ledger.check();
}

#[test]
fn parts_of_arrays() {
    let mut ledger = Ledger::new("parts");
    parts::record(&mut ledger);
    ledger.check();
}

#[cfg(feature = "simt")]
#[test]
fn arrays_in_the_simulator() {
    let mut ledger = Ledger::new("simulated");
    simulated::record(&mut ledger);
    ledger.check();
}
