//! Columns of texts: `cargo +nightly fuzz run columns`.

#![no_main]

#[path = "../checks/columns.rs"]
mod columns;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    columns::check(bytes);
});
