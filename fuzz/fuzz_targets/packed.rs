//! Compressed files: `cargo +nightly fuzz run packed`.

#![no_main]

#[path = "../checks/packed.rs"]
mod packed;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    packed::check(bytes);
});
