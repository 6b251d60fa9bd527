//! The text reader against any bytes; its body is in the library, where a test replays the corpus.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| warpfold_cli::input::fuzzing::text(data));
