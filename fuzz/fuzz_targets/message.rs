//! Bytes that come from another rank: `cargo +nightly fuzz run message`.

#![no_main]

#[path = "../checks/message.rs"]
mod message;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    message::check(bytes);
});
