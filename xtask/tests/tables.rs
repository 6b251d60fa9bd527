//! The tables of the documents say what the results do.
#![cfg(feature = "tables")]

use std::process::Command;

#[test]
fn tables_are_those_of_the_results() {
    let reported = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["tables", "--check"]).output();
    let reported = reported.expect("cargo has built it");
    let said = [reported.stdout, reported.stderr].concat();
    assert!(reported.status.success(), "{}", String::from_utf8_lossy(&said));
}
