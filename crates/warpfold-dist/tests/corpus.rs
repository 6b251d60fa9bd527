//! The fuzz target's seeds, and every input that ever broke it, replayed without a fuzzer.

#![allow(unreachable_pub, reason = "the check is shared with the fuzz target")]

use std::path::PathBuf;
use std::{env, fs};

use warpfold_dist::frame;
use warpfold_dist::tcp::message;

#[path = "../../../fuzz/checks/message.rs"]
mod check;

fn corpus() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "fuzz", "corpus", "message"].iter().collect()
}

/// Messages and frames that are valid, and the ways in which they are wrong.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let [mut data, mut lost, mut report] = [const { Vec::new() }; 3];
    message::write(&mut data, 7, b"payload").expect("a vector takes every byte");
    message::write_lost(&mut lost, 2, "it closed the connection")
        .expect("a vector takes every byte");
    message::write_report(&mut report, 77).expect("a vector takes every byte");
    let frame = frame::write(frame::hash("sum of f32"), Ok(b"partial")).to_vec();
    let failed = frame::write(frame::hash(""), Err("x.npy: no such file")).to_vec();
    let changed = |bytes: &[u8], at: usize, to: u8| {
        let mut bytes = bytes.to_vec();
        bytes[at] = to;
        bytes
    };
    vec![
        ("wrong-magic", changed(&data, 0, b'w')),
        ("wrong-kind", changed(&data, 4, 3)),
        ("wrong-report", changed(&data, 4, 2)),
        ("wrong-length", changed(&data, 23, 0xff)),
        ("wrong-half", data[..28].to_vec()),
        ("wrong-text", changed(&lost, 30, 0xff)),
        ("wrong-nothing", Vec::new()),
        ("wrong-frame-version", changed(&frame, 4, 1)),
        ("wrong-frame-status", changed(&frame, 6, 2)),
        ("wrong-frame-message", changed(&failed, frame::HEADER, 0xff)),
        ("wrong-frame-padding", changed(&frame, frame::BYTES - 1, 1)),
        ("wrong-frame-half", frame[..frame::BYTES / 2].to_vec()),
        ("data", data),
        ("lost", lost),
        ("report", report),
        ("frame-failed", failed),
        ("frame-long", frame::write(frame::hash("sum of f64"), Ok(&[1; 5000])).to_vec()),
        ("frame", frame),
    ]
}

#[test]
fn every_input_of_the_corpus_is_read_or_refused() {
    let mut replayed = 0;
    for entry in fs::read_dir(corpus()).expect("the repository holds a corpus") {
        let path = entry.expect("a file").path();
        let accepted = check::check(&fs::read(&path).expect("a seed"));
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let is_seed = seeds().iter().any(|seed| seed.0 == name);
        assert!(!is_seed || accepted != name.starts_with("wrong-"), "{name}");
        replayed += 1;
    }
    assert!(replayed >= seeds().len());
}

/// The seeds are those of this version. After a change of the layout: `WARPFOLD_WRITE_SEEDS=1 cargo test --test corpus`.
#[test]
fn seeds_are_current() {
    let write = env::var_os("WARPFOLD_WRITE_SEEDS").is_some();
    for (name, bytes) in seeds() {
        let path = corpus().join(name);
        if write {
            fs::create_dir_all(corpus()).expect("a folder");
            fs::write(&path, &bytes).expect("a file");
        }
        assert_eq!(fs::read(&path).ok(), Some(bytes), "seed {name}");
    }
}
