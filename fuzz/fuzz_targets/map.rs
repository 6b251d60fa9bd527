//! Expressions: `cargo +nightly fuzz run map`.

#![no_main]

#[path = "../checks/map.rs"]
mod map;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    map::check(bytes);
});
