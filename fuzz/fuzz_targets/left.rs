//! What is left of expressions, as ranks hand it over: `cargo +nightly fuzz run left`.

#![no_main]

#[path = "../checks/left.rs"]
mod left;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    left::check(bytes);
});
