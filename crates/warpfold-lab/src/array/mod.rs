//! Seeded arrays of every element type, in memory that is mapped, touched and the same on every run.

mod buffer;
mod data;

pub use buffer::Buffer;
pub use data::{Data, Draw, Position};

use rayon::prelude::*;
use warpfold::Element;

/// Elements that one task fills.
const CHUNK: usize = 1 << 16;

/// Fills the buffer with as many elements as it holds; the same seed gives the same array, whatever the threads.
pub fn fill<T: Element>(buffer: &mut Buffer, data: Data, seed: u64)
where
    T::Component: Draw,
{
    let part = size_of::<T::Component>();
    let count = (buffer.bytes().len() / size_of::<T>() * T::PARTS) as u64;
    let used = count as usize * part;
    let chunks = buffer.bytes_mut()[..used].par_chunks_mut(CHUNK * part).enumerate();
    chunks.for_each(|(chunk, bytes)| {
        for (k, bytes) in bytes.chunks_exact_mut(part).enumerate() {
            let index = (chunk * CHUNK + k) as u64;
            let position = Position { seed, index, count, parts: T::PARTS };
            bytes.copy_from_slice(bytemuck::bytes_of(&T::Component::draw(data, position)));
        }
    });
}
