//! Bytes of `.npy` files: `cargo +nightly fuzz run npy`.

#![no_main]

#[path = "../checks/npy.rs"]
mod npy;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    npy::check(bytes);
});
