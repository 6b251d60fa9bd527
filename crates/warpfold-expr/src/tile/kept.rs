//! Values that a condition keeps, moved up to each other.

use crate::isa::{Job, widest};

/// Words of a width that values have.
pub(super) trait Word: Copy {
    /// Moves up by instructions of AVX-512, if there are such for the width; how many words there are then.
    #[cfg(target_arch = "x86_64")]
    fn by_avx512(_: Source<'_, Self>, _: &mut [Self], _: &[u8]) -> Option<usize> {
        None
    }
}

/// Where words are read.
#[derive(Clone, Copy)]
pub(super) enum Source<'w, W> {
    /// Where they are written too.
    Here,
    /// In memory of others.
    There(&'w [W]),
}

/// Writes those words whose conditions are not 0 one behind the other; how many.
///
/// # Panics
/// If there is no room for all, or there are fewer words than conditions.
pub(super) fn keep<W: Word>(from: Source<'_, W>, to: &mut [W], conditions: &[u8]) -> usize {
    widest(Keep { from, to, conditions })
}

struct Keep<'w, W> {
    from: Source<'w, W>,
    to: &'w mut [W],
    conditions: &'w [u8],
}

impl<W: Word> Job for Keep<'_, W> {
    type Output = usize;

    #[inline(always)]
    fn run<const AVX512: bool>(self) -> usize {
        let Keep { from, to, conditions } = self;
        let n = conditions.len();
        let to = &mut to[..n];
        if let Source::There(words) = from {
            assert!(words.len() >= n, "every condition is one of a word");
        }
        #[cfg(target_arch = "x86_64")]
        if AVX512 && let Some(end) = W::by_avx512(from, to, conditions) {
            return end;
        }
        // Each is written, and the next one over it unless it counts: no branch to guess.
        let mut end = 0;
        for (lane, &kept) in conditions.iter().enumerate() {
            let word = match from {
                Source::Here => to[lane],
                Source::There(words) => words[lane],
            };
            to[end] = word;
            end += usize::from(kept != 0);
        }
        end
    }
}

impl Word for u8 {}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::{Source, Word};

    macro_rules! words {
        ($word:ty, $lanes:literal, $load:ident, $compress:ident, $store:ident, $of_mask:ty, $mask:ident) => {
            impl Word for $word {
                #[inline(always)]
                fn by_avx512(
                    from: Source<'_, Self>,
                    to: &mut [Self],
                    conditions: &[u8],
                ) -> Option<usize> {
                    /// Compresses in registers: stores that compress are many times slower on some machines.
                    #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
                    fn keep(
                        from: Option<*const $word>,
                        to: &mut [$word],
                        conditions: &[u8],
                    ) -> usize {
                        let (groups, rest) = conditions.as_chunks::<$lanes>();
                        let base = to.as_mut_ptr();
                        let from = from.unwrap_or(base);
                        let mut end = 0;
                        for (k, group) in groups.iter().enumerate() {
                            let kept = $mask(group);
                            // SAFETY: all lanes of the group lie in what is read. What is written begins no later than the group, as no more
                            // than the earlier words were kept, so it lies in `to`, and no word is written before it was read.
                            unsafe {
                                let words = $load(from.add(k * $lanes).cast());
                                $store(base.add(end).cast(), $compress(kept as $of_mask, words));
                            }
                            end += kept.count_ones() as usize;
                        }
                        let first = groups.len() * $lanes;
                        for (lane, &kept) in rest.iter().enumerate() {
                            // SAFETY: as above.
                            unsafe { *base.add(end) = *from.add(first + lane) };
                            end += usize::from(kept != 0);
                        }
                        end
                    }
                    let from = match from {
                        Source::Here => None,
                        Source::There(words) => Some(words.as_ptr()),
                    };
                    // SAFETY: jobs for AVX-512 run where it was found. Both places have a word for each condition, as the caller compared.
                    Some(unsafe { keep(from, to, conditions) })
                }
            }
        };
    }
    words!(
        u32,
        16,
        _mm512_loadu_si512,
        _mm512_maskz_compress_epi32,
        _mm512_storeu_si512,
        u16,
        mask16
    );
    words!(u64, 8, _mm512_loadu_si512, _mm512_maskz_compress_epi64, _mm512_storeu_si512, u8, mask8);

    /// The conditions that are not 0, as bits.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn mask16(group: &[u8; 16]) -> u16 {
        let bytes: __m128i = bytemuck::cast(*group);
        _mm_test_epi8_mask(bytes, bytes)
    }

    /// The same of eight.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn mask8(group: &[u8; 8]) -> u16 {
        let bytes = _mm_cvtsi64_si128(i64::from_le_bytes(*group));
        _mm_test_epi8_mask(bytes, bytes)
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Word for u32 {}
#[cfg(not(target_arch = "x86_64"))]
impl Word for u64 {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<W: Word + PartialEq + std::fmt::Debug>(of: fn(u64) -> W) {
        for n in 0..200usize {
            for seed in 0..5u64 {
                let words: Vec<W> = (0..n as u64).map(of).collect();
                let conditions: Vec<u8> = (0..n as u64)
                    .map(|k| match seed {
                        0 => 0,
                        1 => 1,
                        _ => ((k * 2654435761) >> seed & 1) as u8,
                    })
                    .collect();
                let kept = words.iter().zip(&conditions).filter(|(_, kept)| **kept != 0);
                let expected: Vec<W> = kept.map(|(word, _)| *word).collect();
                let mut here = words.clone();
                let end = keep(Source::Here, &mut here, &conditions);
                assert_eq!(here[..end], expected, "{n} {seed}");
                let mut there = vec![of(0); n + 1];
                let end = keep(Source::There(&words), &mut there, &conditions);
                assert_eq!(there[..end], expected, "{n} {seed}");
                assert_eq!(there[n], of(0), "what lies behind stays");
            }
        }
    }

    #[test]
    fn what_is_kept_is_moved_up() {
        check(|k| k as u8);
        check(|k| k as u32 ^ 0xffff_0000);
        check(|k| k << 40 | k);
    }
}
