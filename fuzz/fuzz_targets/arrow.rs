//! Arrow files and streams: `cargo +nightly fuzz run arrow`.

#![no_main]

#[path = "../checks/files.rs"]
mod files;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    files::arrow(bytes);
});
