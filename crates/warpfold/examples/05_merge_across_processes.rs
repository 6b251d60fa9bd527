//! Partials as bytes: each process reduces what it has, one of them merges.
//!
//! `cargo run --example 05_merge_across_processes`

use std::sync::mpsc;
use std::thread;

use warpfold::{Moments, Result, reduce};

/// Four workers send bytes; the result is that of all data in one place.
pub fn main() -> Result<()> {
    let data: Vec<f64> = (0..100_000).map(|k| f64::from(k).sin() * 1e3 + 1e9).collect();

    // Threads stand in for processes here: nothing but bytes passes between them.
    let (sender, receiver) = mpsc::channel::<Vec<u8>>();
    thread::scope(|scope| {
        for part in data.chunks(25_000) {
            let sender = sender.clone();
            scope.spawn(move || {
                let mut moments = Moments::<f64>::new();
                moments.extend(part);
                sender.send(moments.to_bytes()).expect("the receiver waits");
            });
        }
    });
    drop(sender);

    // They arrive in any order, and it does not matter.
    let mut all = Moments::<f64>::new();
    for bytes in receiver {
        println!("received {} bytes", bytes.len());
        all.merge(&Moments::from_bytes(&bytes)?);
    }
    let (merged, direct) = (all.std(0)?, reduce(&data).std(0)?);
    println!("standard deviation of {} numbers: {merged}", all.count());
    assert_eq!(merged.to_bits(), direct.to_bits());
    assert_eq!(all.count(), 100_000);
    Ok(())
}
