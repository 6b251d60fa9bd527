//! Bytes of what was folded of columns: `cargo +nightly fuzz run column_partial`.

#![no_main]

#[path = "../checks/column_partial.rs"]
mod column_partial;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    column_partial::check(bytes);
});
