//! Bytes of saved partials: `cargo +nightly fuzz run partial`.

#![no_main]

#[path = "../checks/partial.rs"]
mod partial;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    partial::check(bytes);
});
