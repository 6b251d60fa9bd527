//! Sums of digits that come from other ranks: `cargo +nightly fuzz run digits`.

#![no_main]

#[path = "../checks/digits.rs"]
mod digits;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    digits::check(bytes);
});
