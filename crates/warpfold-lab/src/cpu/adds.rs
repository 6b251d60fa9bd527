//! How many additions the processor does in a second, touching no memory but registers.

use std::hint::black_box;
use std::ops::AddAssign;

use rayon::prelude::*;
use warpfold::DType;
#[cfg(target_arch = "x86_64")]
use warpfold::plan::Isa;

use crate::sampler::{Monotonic, Sampler, Sampling};

/// Numbers that are added to at a time: several registers of the widest instructions, so that additions overlap.
const LANES: usize = 64;

/// Rounds of a call, of twice so many additions.
const ROUNDS: usize = 1 << 12;

/// Each half is added to by the other in turn, so that no compiler can tell the end from the beginning.
#[inline(always)]
fn rounds<T: Copy + AddAssign>(start: T) -> T {
    let (mut a, mut b) = ([start; LANES], [start; LANES]);
    for _ in 0..ROUNDS {
        for (a, b) in a.iter_mut().zip(&b) {
            *a += *b;
        }
        for (b, a) in b.iter_mut().zip(&a) {
            *b += *a;
        }
    }
    let mut sum = start;
    a.into_iter().chain(b).for_each(|x| sum += x);
    sum
}

macro_rules! widest {
    ($name:ident, $ty:ty) => {
        /// By the widest instructions of this machine.
        fn $name(start: $ty) -> $ty {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
                fn avx512(start: $ty) -> $ty {
                    rounds(start)
                }
                #[target_feature(enable = "avx2")]
                fn avx2(start: $ty) -> $ty {
                    rounds(start)
                }
                match Isa::widest() {
                    // SAFETY: the instructions were found on this machine.
                    Isa::Avx512 => return unsafe { avx512(start) },
                    // SAFETY: as above.
                    Isa::Avx2 => return unsafe { avx2(start) },
                    Isa::Baseline => {}
                }
            }
            rounds(start)
        }
    };
}
widest!(u32s, std::num::Wrapping<u32>);
widest!(u64s, std::num::Wrapping<u64>);
widest!(f32s, f32);
widest!(f64s, f64);

/// Additions of elements of one of the ladder's types per second, by all threads together; complex numbers are two additions each.
pub fn add_rate(dtype: DType) -> f64 {
    let call = || match dtype {
        DType::I32 => drop(black_box(u32s(black_box(std::num::Wrapping(1))))),
        DType::I64 => drop(black_box(u64s(black_box(std::num::Wrapping(1))))),
        DType::F32 | DType::Complex64 => drop(black_box(f32s(black_box(1e-30)))),
        _ => drop(black_box(f64s(black_box(1e-300)))),
    };
    let threads = rayon::current_num_threads();
    let parts = if dtype.is_complex() { 2.0 } else { 1.0 };
    let mut sampler = Sampler { sampling: Sampling::default(), clock: Monotonic::default() };
    let timing = sampler.measure(|| (0..threads).into_par_iter().for_each(|_| call()));
    let adds = (2 * LANES * ROUNDS * threads) as f64;
    adds / parts / timing.median
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widest instructions add what plain ones do; a sum that grows as Fibonacci's numbers has no short cut.
    #[test]
    fn additions_are_done_and_take_time() {
        assert_eq!(u32s(std::num::Wrapping(3)), rounds(std::num::Wrapping(3)));
        assert_eq!(f64s(1e-300).to_bits(), rounds(1e-300f64).to_bits());
        let rate = add_rate(DType::F32);
        assert!((1e8..1e14).contains(&rate), "{rate} additions a second");
    }
}
