//! Partials of expressions, as ranks hand them over: `cargo +nightly fuzz run map_partial`.

#![no_main]

#[path = "../checks/map_partial.rs"]
mod map_partial;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    map_partial::check(bytes);
});
