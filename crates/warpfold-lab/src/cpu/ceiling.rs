//! The read ceiling: the fastest way found to read a buffer with all threads and do next to nothing with it.
//!
//! A reader folds 64-bit words with exclusive or, compiled for the widest instructions of the machine, in several unrollings,
//! prefetch distances and splits. Which of them wins depends on the machine, so the best is found anew in each run. A kernel
//! that beats it shows that the ceiling's search was too small, not that it beat memory.

use std::hint::black_box;
use std::time::Duration;

use rayon::prelude::*;
#[cfg(target_arch = "x86_64")]
use warpfold::plan::Isa;

use crate::report::Ceiling;
use crate::sampler::{Monotonic, Sampler, Sampling};

/// Words of a cache line.
const LINE: usize = 8;

/// Xor of all words: `LINES` cache lines at a time, each with accumulators of its own, prefetching `AHEAD` bytes.
#[inline(always)]
fn fold<const LINES: usize, const AHEAD: usize>(words: &[u64]) -> u64 {
    let mut sums = [[0u64; LINE]; LINES];
    let (groups, rest) = words.as_chunks::<LINE>();
    let mut blocks = groups.chunks_exact(LINES);
    for block in &mut blocks {
        for (sum, line) in sums.iter_mut().zip(block) {
            prefetch::<AHEAD>(line);
            for (sum, word) in sum.iter_mut().zip(line) {
                *sum ^= word;
            }
        }
    }
    let lines = sums.iter().chain(blocks.remainder()).flatten();
    lines.chain(rest).fold(0, |sum, word| sum ^ word)
}

#[inline(always)]
fn prefetch<const AHEAD: usize>(line: &[u64; LINE]) {
    #[cfg(target_arch = "x86_64")]
    if AHEAD > 0 {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch may name any address; it neither reads nor faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast::<i8>().wrapping_add(AHEAD)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// A reading loop; to be called only where [`supported`] says that its instructions are there.
type Loop = unsafe fn(&[u64]) -> u64;

macro_rules! loops {
    ($($lines:literal, $ahead:literal;)+) => {
        /// Every loop that can run here, with its name.
        fn loops() -> Vec<(String, Loop)> {
            let mut all: Vec<(String, Loop)> = Vec::new();
            $(
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
                    fn avx512(words: &[u64]) -> u64 {
                        fold::<$lines, $ahead>(words)
                    }
                    #[target_feature(enable = "avx2")]
                    fn avx2(words: &[u64]) -> u64 {
                        fold::<$lines, $ahead>(words)
                    }
                    let found: (Isa, Loop) = match Isa::widest() {
                        Isa::Avx512 => (Isa::Avx512, avx512),
                        Isa::Avx2 => (Isa::Avx2, avx2),
                        Isa::Baseline => (Isa::Baseline, fold::<$lines, $ahead>),
                    };
                    all.push((format!("{}, {} lines, {} ahead", found.0, $lines, $ahead), found.1));
                }
                #[cfg(not(target_arch = "x86_64"))]
                all.push((format!("baseline, {} lines", $lines), fold::<$lines, $ahead>));
            )+
            all
        }
    };
}
loops! {
    4, 0;
    8, 0;
    16, 0;
    4, 1024;
    8, 1024;
    4, 4096;
    8, 4096;
    4, 8192;
    8, 8192;
    4, 16384;
}

/// One way to read a buffer.
#[derive(Debug, Clone)]
pub struct Reading {
    name: String,
    read: Loop,
    /// Words that one task reads.
    grain: usize,
}

impl Reading {
    /// Reads a buffer; the result is the exclusive or of its words.
    pub fn read(&self, words: &[u64]) -> u64 {
        // SAFETY: `loops` lists only functions whose instructions it has found on this machine.
        let read = |words: &[u64]| unsafe { (self.read)(words) };
        if words.len() <= self.grain {
            return read(words);
        }
        words.par_chunks(self.grain).map(read).reduce(|| 0, |a, b| a ^ b)
    }

    /// Finds the fastest way to read a buffer with so many threads, and measures it.
    ///
    /// # Panics
    /// If a reader misses a word.
    pub fn fastest(words: &[u64], threads: usize, sampling: Sampling) -> (Reading, Ceiling) {
        let expected = words.par_iter().map(|word| *word).reduce(|| 0, |a, b| a ^ b);
        let time = |reading: &Reading, sampling| {
            let mut sampler = Sampler { sampling, clock: Monotonic::default() };
            sampler.measure(|| assert_eq!(black_box(reading.read(black_box(words))), expected))
        };
        let trial = Sampling {
            warm_up: Duration::ZERO,
            budget: sampling.budget / 4,
            max_samples: 20,
            ..sampling
        };
        // By their fastest samples: a disturbance makes a loop look slower, nothing makes it look faster. Twice, so that a loop
        // that was disturbed throughout its trial is not all that is lost.
        let ranked = |loops: Vec<Reading>, sampling| {
            let mut timed: Vec<_> =
                loops.into_iter().map(|l| (time(&l, sampling).min, l)).collect();
            timed.sort_by(|a, b| a.0.total_cmp(&b.0));
            timed.into_iter().map(|(_, reading)| reading)
        };
        let finalists = ranked(candidates(words.len(), threads), trial).take(8).collect();
        let best = ranked(finalists, sampling).next().expect("there are loops");
        let seconds = time(&best, sampling);
        let bytes = size_of_val(words) as u64;
        let variant = format!("{}, {} KiB a task", best.name, (best.grain * 8) >> 10);
        let bytes_per_second = bytes as f64 / seconds.median;
        (best, Ceiling { bytes, threads, variant, seconds, bytes_per_second })
    }
}

/// Every loop with every split: one task a thread; many small tasks where every thread may take part; one task alone where the
/// array is small.
fn candidates(words: usize, threads: usize) -> Vec<Reading> {
    let mut grains = vec![words.div_ceil(threads.max(1)).next_multiple_of(LINE)];
    if threads >= rayon::current_num_threads() {
        grains.extend([(2 << 20) / 8, (256 << 10) / 8]);
    }
    if words * 8 <= 8 << 20 {
        grains.push(words);
    }
    grains.retain(|grain| *grain <= words.next_multiple_of(LINE).max(LINE));
    grains.sort();
    grains.dedup();
    let with = |grain| loops().into_iter().map(move |(name, read)| Reading { name, read, grain });
    grains.into_iter().filter(|grain| *grain > 0).flat_map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_reads_every_word() {
        for n in [0, 1, 7, 8, 63, 64, 65, 1000, 70_001] {
            let words: Vec<u64> =
                (0..n).map(|k: u64| (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            let expected = words.iter().fold(0, |a, b| a ^ b);
            for reading in candidates(words.len(), 2) {
                assert_eq!(reading.read(&words), expected, "{reading:?} over {n}");
            }
        }
    }
}
