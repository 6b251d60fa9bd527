//! The kernels of each integer width: a block of whole groups into one exact total.

use super::{GROUP, Wide};
use crate::cpu::memory::{prefetch, streamed, streamed_in_pairs};

/// Elements that a kernel takes at once.
pub(in crate::cpu) type Group<W> = [W; GROUP];

/// An integer as lanes hold it. A block has at most 64 KiB.
pub(in crate::cpu) trait Word: Copy + Default + Send + Sync {
    /// The sum of a block.
    fn sum(x: &[Group<Self>]) -> Wide;
    /// The sum of its magnitudes.
    fn magnitudes(x: &[Group<Self>]) -> Wide;
    /// The sum of the products of two blocks of one length.
    fn products(x: &[Group<Self>], y: &[Group<Self>]) -> Wide;
}

const LOW: u64 = u32::MAX as u64;

/// The same elements in smaller groups.
#[inline(always)]
fn regroup<W, const LANES: usize>(x: &[Group<W>]) -> &[[W; LANES]] {
    x.as_flattened().as_chunks().0
}

/// Additions that a 16-bit lane of bytes takes without overflow: 256 times -128 is the least `i16`.
const ADDITIONS: usize = 256;

/// Adds elements up in lanes that take [`ADDITIONS`] without overflow; `$total` holds the sum of a block.
macro_rules! add_in_lanes {
    ($x:expr, $lane:ty, $total:ty, $of:expr) => {{
        let mut total: $total = 0;
        let mut order = streamed($x.len());
        for _ in 0..$x.len().div_ceil(ADDITIONS) {
            let mut lanes = [0 as $lane; GROUP];
            for at in order.by_ref().take(ADDITIONS) {
                let group = &$x[at];
                prefetch(group);
                for l in 0..GROUP {
                    lanes[l] += $of(group[l]) as $lane;
                }
            }
            total += lanes.into_iter().map(<$total>::from).sum::<$total>();
        }
        Wide::from(i128::from(total))
    }};
}

/// Adds products up likewise.
macro_rules! multiply_in_lanes {
    ($x:expr, $y:expr, $product:ty, $lane:ty, $total:ty) => {{
        const LANES: usize = 32;
        let mut lanes = [0 as $lane; LANES];
        let (xs, ys) = (regroup::<_, LANES>($x), regroup::<_, LANES>($y));
        for at in streamed_in_pairs(xs.len().min(ys.len())) {
            let (x, y) = (&xs[at], &ys[at]);
            prefetch(x);
            prefetch(y);
            for l in 0..LANES {
                lanes[l] += <$lane>::from(<$product>::from(x[l]) * <$product>::from(y[l]));
            }
        }
        Wide::from(i128::from(lanes.into_iter().map(<$total>::from).sum::<$total>()))
    }};
}

/// Types whose products fit a lane with room for a block of them: product type, lanes of sums, of magnitudes, of products, total.
macro_rules! narrow {
    ($($ty:ty: $product:ty, $sum:ty, $magnitude:ty, $square:ty, $total:ty;)+) => {$(
        impl Word for $ty {
            #[inline(always)]
            fn sum(x: &[Group<Self>]) -> Wide {
                add_in_lanes!(x, $sum, $total, |x| x)
            }

            #[inline(always)]
            fn magnitudes(x: &[Group<Self>]) -> Wide {
                add_in_lanes!(x, $magnitude, u64, |x: $ty| x.abs_diff(0))
            }

            #[inline(always)]
            fn products(x: &[Group<Self>], y: &[Group<Self>]) -> Wide {
                multiply_in_lanes!(x, y, $product, $square, $total)
            }
        }
    )+};
}
narrow! {
    i8: i16, i16, u16, i32, i64;
    u8: u16, u16, u16, u32, u64;
    i16: i32, i32, u32, i64, i64;
    u16: u32, u32, u32, u64, u64;
}
const _: () = assert!(ADDITIONS * 128 == 1 << 15, "bytes add up in 16 bits");

/// The sum of lanes, each of which a block leaves far below 2^50.
#[inline(always)]
fn total<const LANES: usize>(lanes: [u64; LANES]) -> i128 {
    i128::from(lanes.into_iter().sum::<u64>())
}

/// Runs the body for each lane `l` of each group of `$lanes` elements. The prefetch stands in the innermost loop but one, where
/// it also keeps the compiler from vectorising across groups with gathers.
macro_rules! for_each_group {
    ($lanes:expr, ($x:ident), $l:ident => $body:block) => {
        let groups = regroup::<_, { $lanes }>($x);
        for at in streamed(groups.len()) {
            let $x = &groups[at];
            prefetch($x);
            for $l in 0..$lanes $body
        }
    };
    ($lanes:expr, ($x:ident, $y:ident), $l:ident => $body:block) => {
        let (xs, ys) = (regroup::<_, { $lanes }>($x), regroup::<_, { $lanes }>($y));
        for at in streamed_in_pairs(xs.len().min(ys.len())) {
            let ($x, $y) = (&xs[at], &ys[at]);
            prefetch($x);
            prefetch($y);
            for $l in 0..$lanes $body
        }
    };
}

/// Adds unsigned 64-bit values up as halves of 32 bits, so that no lane overflows.
macro_rules! add_halves {
    (($($x:ident),+), $l:ident => $value:expr) => {{
        const LANES: usize = 16;
        let (mut low, mut high) = ([0u64; LANES], [0u64; LANES]);
        for_each_group!(LANES, ($($x),+), $l => {
            let value: u64 = $value;
            low[$l] += value & LOW;
            high[$l] += value >> 32;
        });
        total(low) + (total(high) << 32)
    }};
}

/// 32-bit types: lanes of 64 bits for sums; products biased to be unsigned, then added as halves.
macro_rules! middle {
    ($($ty:ty: $lane:ty, $bias:expr;)+) => {$(
        impl Word for $ty {
            #[inline(always)]
            fn sum(x: &[Group<Self>]) -> Wide {
                let mut lanes = [0 as $lane; 16];
                for_each_group!(16, (x), l => { lanes[l] += <$lane>::from(x[l]) });
                Wide::from(i128::from(lanes.into_iter().sum::<$lane>()))
            }

            #[inline(always)]
            fn magnitudes(x: &[Group<Self>]) -> Wide {
                let mut lanes = [0u64; 16];
                for_each_group!(16, (x), l => { lanes[l] += u64::from(x[l].abs_diff(0)) });
                Wide::from(total(lanes))
            }

            #[inline(always)]
            fn products(x: &[Group<Self>], y: &[Group<Self>]) -> Wide {
                const BIAS: u64 = $bias;
                let bias = i128::from(BIAS) * (x.len() * GROUP) as i128;
                let biased = add_halves!((x, y), l => (<$lane>::from(x[l]) * <$lane>::from(y[l])) as u64 ^ BIAS);
                Wide::from(biased - bias)
            }
        }
    )+};
}
middle! {
    i32: i64, 1 << 63;
    u32: u64, 0;
}

/// 64-bit types, biased to be unsigned. With `u = x + B`, `v = y + B`: `Σxy = Σuv - B·(Σu + Σv) + n·B²`.
macro_rules! full {
    ($($ty:ty: $bias:expr;)+) => {$(
        impl Word for $ty {
            #[inline(always)]
            fn sum(x: &[Group<Self>]) -> Wide {
                const BIAS: u64 = $bias;
                let bias = i128::from(BIAS) * (x.len() * GROUP) as i128;
                Wide::from(add_halves!((x), l => x[l] as u64 ^ BIAS) - bias)
            }

            #[inline(always)]
            fn magnitudes(x: &[Group<Self>]) -> Wide {
                Wide::from(add_halves!((x), l => x[l].abs_diff(0)))
            }

            /// The four 32-bit products of a pair are added as halves, by weight; the halves of both factors, too.
            #[inline(always)]
            fn products(x: &[Group<Self>], y: &[Group<Self>]) -> Wide {
                const BIAS: u64 = $bias;
                let n = (x.len() * GROUP) as i128;
                let [mut w0, mut w32, mut w64, mut w96, mut low, mut high] = [[0u64; 8]; 6];
                for_each_group!(8, (x, y), l => {
                    let (u, v) = (x[l] as u64 ^ BIAS, y[l] as u64 ^ BIAS);
                    let (a, b, c, d) = (u & LOW, u >> 32, v & LOW, v >> 32);
                    let (ac, ad, bc, bd) = (a * c, a * d, b * c, b * d);
                    w0[l] += ac & LOW;
                    w32[l] += (ac >> 32) + (ad & LOW) + (bc & LOW);
                    w64[l] += (ad >> 32) + (bc >> 32) + (bd & LOW);
                    w96[l] += bd >> 32;
                    low[l] += a + c;
                    high[l] += b + d;
                });
                let mut wide = Wide {
                    low: total(w0) + (total(w32) << 32),
                    high: total(w64) + (total(w96) << 32),
                };
                if BIAS != 0 {
                    let sums = total(low) + (total(high) << 32);
                    wide.low -= (sums & 1) << 63;
                    wide.high += (n << 62) - (sums >> 1);
                }
                wide
            }
        }
    )+};
}
full! {
    i64: 1 << 63;
    u64: 0;
}
