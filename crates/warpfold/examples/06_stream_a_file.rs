//! A file larger than memory, a piece at a time.
//!
//! `cargo run --example 06_stream_a_file`

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Read, Write};

use warpfold::partial::{Finish, Output};
use warpfold::{Op, Policy, Stream};

/// Writes a file of little-endian floats and takes its mean with 64 KiB of memory.
pub fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("warpfold-{}.f32", std::process::id()));
    let mut file = BufWriter::new(File::create(&path)?);
    for k in 0..1_000_000 {
        file.write_all(&(k as f32).to_le_bytes())?;
    }
    drop(file);

    let mut file = File::open(&path)?;
    let mut stream = Stream::<f32>::new(Op::Mean, Policy::default())?;
    let mut piece = vec![0; 64 << 10];
    loop {
        // Short reads are filled up, so that no number is cut in two.
        let mut filled = 0;
        while filled < piece.len() {
            match file.read(&mut piece[filled..])? {
                0 => break,
                n => filled += n,
            }
        }
        let (numbers, rest) = piece[..filled].as_chunks();
        assert!(rest.is_empty(), "the file ends within a number");
        let numbers: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if numbers.is_empty() {
            break;
        }
        stream.push(&numbers)?;
    }
    std::fs::remove_file(&path)?;

    println!("{} numbers in pieces of {} bytes", stream.seen(), piece.len());
    assert_eq!(stream.seen(), 1_000_000);
    let mean = stream.finish(Finish::default())?;
    println!("their mean: {mean:?}");
    assert_eq!(mean, Output::One(499_999.5f32.into()));
    Ok(())
}
