//! Parquet files: `cargo +nightly fuzz run parquet`.

#![no_main]

#[path = "../checks/files.rs"]
mod files;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    files::parquet(bytes);
});
