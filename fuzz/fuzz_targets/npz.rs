//! Archives of arrays: `cargo +nightly fuzz run npz`.

#![no_main]

#[path = "../checks/npz.rs"]
mod npz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    npz::check(bytes);
});
