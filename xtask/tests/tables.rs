//! The tables of the documents say what the results do.
#![cfg(feature = "tables")]

use std::process::Command;

#[test]
fn tables_are_those_of_the_results() {
    let told = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["tables", "--check"]).output();
    let told = told.expect("cargo has built it");
    let said = [told.stdout, told.stderr].concat();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&said));
}
