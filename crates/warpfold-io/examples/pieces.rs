//! Reads inputs piece by piece and does as little with them as one can: what reading alone takes.
//!
//! `pieces FILE [DTYPE]` prints bytes, the sum of their words and the seconds that this took.

use std::env;
use std::error::Error;
use std::time::Instant;

use warpfold_io::{DType, Order, Wanted, open};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let file = args.next().ok_or("name a file")?;
    let dtype = args.next();
    let is_it = |known: &&DType| dtype.as_deref() == Some(known.name());
    let wanted = Wanted { dtype: DType::ALL.iter().find(is_it).copied(), ..Wanted::default() };
    let begun = Instant::now();
    let (mut bytes, mut sum) = (0, 0u64);
    for input in open(&[file.into()], &wanted)? {
        let mut pieces = input.pieces(Order::Memory)?;
        while let Some(piece) = pieces.next_piece()? {
            let words = piece
                .chunks_exact(8)
                .map(|word| u64::from_ne_bytes(word.try_into().expect("eight")));
            sum = words.fold(sum, u64::wrapping_add);
            bytes += piece.len();
        }
    }
    println!("{bytes} bytes, {sum:016x}, {:.4} s", begun.elapsed().as_secs_f64());
    Ok(())
}
