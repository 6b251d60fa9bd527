//! PTX: `cargo +nightly fuzz run ptx`.

#![no_main]

#[path = "../checks/ptx.rs"]
mod ptx;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ptx::check(bytes);
});
