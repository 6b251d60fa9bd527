//! Segments: contiguous runs of one array, each folded into an output of its own.
//!
//! [`Segments`] is how a caller states them; [`Bounds`] is their checked form, which executors read.

mod bounds;

pub use bounds::Bounds;

use std::borrow::Cow;

use crate::{Error, Result};

/// Finds what is found in the first of so many chunks in which anything is.
pub type FindFirst<'f> =
    dyn Fn(usize, &(dyn Fn(usize) -> Option<usize> + Sync)) -> Option<usize> + 'f;

/// How an array is cut into segments.
///
/// ```
/// use warpfold_plan::segment::Segments;
/// assert_eq!(Segments::every(3).check(6)?.count(), 2);
/// assert_eq!(Segments::offsets(&[0u64, 1, 1, 6]).check(6)?.range(2), 1..6);
/// assert_eq!(Segments::lengths(&[4u32, 2]).check(6)?.range(1), 4..6);
/// # Ok::<(), warpfold_num::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Segments<'a> {
    /// Segments of one length, one after another; they are the whole array.
    Every(u64),
    /// One more offset than segments: segment `i` is `offsets[i] .. offsets[i + 1]`. What lies before the first offset or after the last
    /// belongs to none.
    Offsets(Numbers<'a>),
    /// The length of each segment; together they are the whole array.
    Lengths(Numbers<'a>),
}

/// Offsets or lengths, in 32 or 64 bits.
#[derive(Debug, Clone, Copy)]
pub enum Numbers<'a> {
    /// In 32 bits.
    U32(&'a [u32]),
    /// In 64 bits.
    U64(&'a [u64]),
}

impl<'a> Segments<'a> {
    /// Segments of one length, one after another.
    pub const fn every(length: u64) -> Self {
        Segments::Every(length)
    }

    /// Segments by offsets, one more than segments.
    pub fn offsets(offsets: impl Into<Numbers<'a>>) -> Self {
        Segments::Offsets(offsets.into())
    }

    /// Segments by their lengths.
    pub fn lengths(lengths: impl Into<Numbers<'a>>) -> Self {
        Segments::Lengths(lengths.into())
    }

    /// Checks that these are segments of an array of `n` elements, before anything is folded.
    ///
    /// # Errors
    /// [`Error::Segments`]: offsets that descend or reach beyond the array, lengths that do not add up to it.
    pub fn check(self, n: u64) -> Result<Bounds<'a>> {
        self.check_with(n, &|chunks, look| (0..chunks).find_map(look))
    }

    /// [`check`](Self::check), where the caller says how chunks of offsets are looked at, such as by several threads.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_with(self, n: u64, find: &FindFirst<'_>) -> Result<Bounds<'a>> {
        match self {
            Segments::Every(length) => every(length, n),
            Segments::Offsets(Numbers::U32(offsets)) => {
                check_offsets(offsets, n, find)?;
                Ok(Bounds::Offsets32(offsets))
            }
            Segments::Offsets(Numbers::U64(offsets)) => {
                check_offsets(offsets, n, find)?;
                Ok(Bounds::Offsets64(Cow::Borrowed(offsets)))
            }
            Segments::Lengths(Numbers::U32(lengths)) => from_lengths(lengths, n),
            Segments::Lengths(Numbers::U64(lengths)) => from_lengths(lengths, n),
        }
    }
}

fn every(length: u64, n: u64) -> Result<Bounds<'static>> {
    if n == 0 {
        return Ok(Bounds::Every { length, segments: 0 });
    }
    match n.checked_rem(length) {
        Some(0) => Ok(Bounds::Every { length, segments: n / length }),
        rest => Err(Error::Segments {
            requested: format!("segments of {length} of {n} elements"),
            obstacle: match rest {
                Some(1) => "1 element would be left over".into(),
                Some(rest) => format!("{rest} elements would be left over"),
                None => "segments without elements never fill an array".into(),
            },
            remedy: "take a length that divides the array, or give offsets",
        }),
    }
}

/// Pairs that a thread looks at at a time.
const CHUNK: usize = 1 << 16;

fn check_offsets<N: Copy + Into<u64> + Sync>(
    offsets: &[N],
    n: u64,
    find: &FindFirst<'_>,
) -> Result<()> {
    let refused = |obstacle: String, remedy| {
        let requested = format!("{} segments of {n} elements", offsets.len().saturating_sub(1));
        Err(Error::Segments { requested, obstacle, remedy })
    };
    if offsets.is_empty() {
        return refused(
            "there are no offsets".into(),
            "give one offset more than segments: [0] for none",
        );
    }
    let descent = find(offsets.len().div_ceil(CHUNK), &|k| {
        let chunk = &offsets[k * CHUNK..offsets.len().min((k + 1) * CHUNK)];
        let ascends = |pair: &[N]| pair[0].into() <= pair[1].into();
        let next = offsets.get((k + 1) * CHUNK).copied();
        let inside = chunk.windows(2).position(|pair| !ascends(pair));
        let across = next.filter(|&next| !ascends(&[chunk[chunk.len() - 1], next]));
        inside.or(across.map(|_| chunk.len() - 1)).map(|at| k * CHUNK + at)
    });
    // The one beyond the array is at fault, and not what stands after it.
    let beyond = descent.unwrap_or(offsets.len() - 1);
    if offsets[beyond].into() > n {
        let first = offsets[..=beyond].partition_point(|&offset| offset.into() <= n);
        return refused(
            format!("offset {first} is {}, beyond the array's end", shown(offsets[first])),
            "offsets count elements from 0; none is more than the array has",
        );
    }
    if let Some(at) = descent {
        let (before, after) = (shown(offsets[at]), shown(offsets[at + 1]));
        return refused(
            format!("offset {} is {after}, less than {before} before it", at + 1),
            "offsets must not descend; sort them, or reduce by key",
        );
    }
    Ok(())
}

/// A number, and what it is to those who wrote it signed.
fn shown<N: Copy + Into<u64>>(number: N) -> String {
    let (number, unused): (u64, u32) = (number.into(), 64 - 8 * size_of::<N>() as u32);
    match (number << unused) as i64 >> unused {
        signed if signed < 0 => format!("{number} ({signed} if it is signed)"),
        _ => number.to_string(),
    }
}

fn from_lengths<N: Copy + Into<u64>>(lengths: &[N], n: u64) -> Result<Bounds<'static>> {
    let refused = |obstacle| {
        let requested = format!("{} segments of {n} elements by their lengths", lengths.len());
        Err(Error::Segments {
            requested,
            obstacle,
            remedy: "lengths must add up to the whole array",
        })
    };
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    let mut end = 0u64;
    offsets.push(end);
    for (at, &length) in lengths.iter().enumerate() {
        match end.checked_add(length.into()).filter(|&end| end <= n) {
            Some(next) => end = next,
            None => {
                let length = shown(length);
                return refused(format!(
                    "segment {at} of length {length} would reach beyond the array's end"
                ));
            }
        }
        offsets.push(end);
    }
    if end < n {
        return refused(format!("they are {end} elements together"));
    }
    Ok(Bounds::Offsets64(Cow::Owned(offsets)))
}

macro_rules! numbers {
    ($($ty:ty => $variant:ident),+) => {$(
        impl<'a> From<&'a [$ty]> for Numbers<'a> {
            fn from(numbers: &'a [$ty]) -> Self {
                Numbers::$variant(bytemuck::cast_slice(numbers))
            }
        }

        impl<'a, const N: usize> From<&'a [$ty; N]> for Numbers<'a> {
            fn from(numbers: &'a [$ty; N]) -> Self {
                numbers[..].into()
            }
        }

        impl<'a> From<&'a Vec<$ty>> for Numbers<'a> {
            fn from(numbers: &'a Vec<$ty>) -> Self {
                numbers[..].into()
            }
        }
    )+};
}
// Signed numbers as other libraries have them: a negative one reads as more than any array has, and is refused.
numbers!(u32 => U32, i32 => U32, u64 => U64, i64 => U64);
#[cfg(target_pointer_width = "64")]
numbers!(usize => U64);
#[cfg(target_pointer_width = "32")]
numbers!(usize => U32);

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(segments: Segments<'_>, n: u64) -> String {
        segments.check(n).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(refusal(Segments::every(4), 10).contains("2 elements would be left over"));
        assert!(refusal(Segments::every(0), 10).contains("without elements"));
        assert!(refusal(Segments::offsets(&[0u32; 0]), 1).contains("no offsets"));
        assert!(
            refusal(Segments::offsets(&[0u64, 5, 4]), 9)
                .contains("offset 2 is 4, less than 5 before it")
        );
        assert!(refusal(Segments::offsets(&[0u64, 5, 11, 12]), 10).contains("offset 2 is 11"));
        assert!(
            refusal(Segments::offsets(&[0i64, -1]), 10)
                .contains("offset 1 is 18446744073709551615 (-1 ")
        );
        // The second is less than the first, which is at fault.
        let first = refusal(Segments::offsets(&[-2i32, 3]), 10);
        assert!(first.contains("offset 0 is 4294967294 (-2 if it is signed), beyond"), "{first}");
        assert!(refusal(Segments::lengths(&[3u32, 3]), 10).contains("6 elements together"));
        assert!(refusal(Segments::lengths(&[u64::MAX, 2]), 10).contains("segment 0"));
        let negative = refusal(Segments::lengths(&[-1i32, 11]), 10);
        assert!(
            negative.contains("segment 0 of length 4294967295 (-1 if it is signed)"),
            "{negative}"
        );
    }

    #[test]
    fn a_descent_is_found_wherever_chunks_meet() {
        for at in [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK] {
            let mut offsets: Vec<u64> = (0..2 * CHUNK as u64 + 5).map(|i| 10 + 2 * i).collect();
            offsets[at] = offsets[at - 1] - 1;
            let n = 5 * CHUNK as u64;
            assert!(refusal(Segments::offsets(&offsets), n).contains(&format!("offset {at} is")));
        }
    }

    #[test]
    fn empty_segments_and_empty_arrays() {
        assert_eq!(Segments::offsets(&[3u32, 3, 3]).check(3).unwrap().count(), 2);
        assert_eq!(Segments::every(7).check(0).unwrap().count(), 0);
        assert_eq!(Segments::lengths(&[0u32, 0]).check(0).unwrap().count(), 2);
    }
}
