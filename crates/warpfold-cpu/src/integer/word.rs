//! The kernels of each integer width: a block of whole groups into one exact total.

use super::{GROUP, Registers, Wide};
use crate::memory::{prefetch, streamed, streamed_in_pairs};

/// Elements that a kernel takes at once.
pub(crate) type Group<W> = [W; GROUP];

/// An integer as lanes hold it. A block has at most 64 KiB.
pub(crate) trait Word:
    Registers + Copy + Default + Ord + bytemuck::Pod + Send + Sync
{
    /// Whether it has a sign.
    const SIGNED: bool;
    /// The sum of a block.
    fn sum(x: &[Group<Self>]) -> Wide;
    /// The sum of its magnitudes.
    fn norm1(x: &[Group<Self>]) -> Wide;
    /// The sum of the products of two blocks of one length.
    fn products(x: &[Group<Self>], y: &[Group<Self>]) -> Wide;
    /// The sum of a block and that of its squares, each element read once.
    fn moments(x: &[Group<Self>]) -> [Wide; 2];
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
        const LANES: usize = 64;
        let x = regroup::<_, LANES>($x);
        let mut total: $total = 0;
        let mut order = streamed(x.len());
        for _ in 0..x.len().div_ceil(ADDITIONS) {
            let mut lanes = [0 as $lane; LANES];
            for at in order.by_ref().take(ADDITIONS) {
                let group = &x[at];
                prefetch(group);
                for l in 0..LANES {
                    lanes[l] += $of(group[l]) as $lane;
                }
            }
            total += lanes.into_iter().map(<$total>::from).sum::<$total>();
        }
        Wide::from(i128::from(total))
    }};
}

/// Adds products up likewise. Two of bytes make a lane of 32 bits by one instruction, `pmaddwd`, as long as all stays within these: a
/// block's total does.
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

/// Adds elements up, and their squares, in lanes that take [`ADDITIONS`] and a block of them.
macro_rules! moments_in_lanes {
    ($x:expr, $sum:ty, $total:ty, $product:ty, $lane:ty, $squares:ty) => {{
        const LANES: usize = 32;
        let x = regroup::<_, LANES>($x);
        let (mut total, mut squares): ($total, _) = (0, [0 as $lane; LANES]);
        let mut order = streamed(x.len());
        for _ in 0..x.len().div_ceil(ADDITIONS) {
            let mut sums = [0 as $sum; LANES];
            for at in order.by_ref().take(ADDITIONS) {
                let x = &x[at];
                prefetch(x);
                for l in 0..LANES {
                    sums[l] += <$sum>::from(x[l]);
                }
                for l in 0..LANES {
                    squares[l] += <$lane>::from(<$product>::from(x[l]) * <$product>::from(x[l]));
                }
            }
            total += sums.into_iter().map(<$total>::from).sum::<$total>();
        }
        let squares = squares.into_iter().map(<$squares>::from).sum::<$squares>();
        [Wide::from(i128::from(total)), Wide::from(i128::from(squares))]
    }};
}

/// Types whose products fit a lane with room for a block of them: lanes of sums, of magnitudes, their total, and how products add up.
macro_rules! narrow {
    ($($ty:ty: $sum:ty, $magnitude:ty, $total:ty, products $($product:ty),+;)+) => {$(
        impl Word for $ty {
            const SIGNED: bool = <$ty>::MIN != 0;

            #[inline(always)]
            fn sum(x: &[Group<Self>]) -> Wide {
                add_in_lanes!(x, $sum, $total, |x| x)
            }

            #[inline(always)]
            fn norm1(x: &[Group<Self>]) -> Wide {
                add_in_lanes!(x, $magnitude, u64, |x: $ty| x.abs_diff(0))
            }

            #[inline(always)]
            fn products(x: &[Group<Self>], y: &[Group<Self>]) -> Wide {
                multiply_in_lanes!(x, y, $($product),+)
            }

            #[inline(always)]
            fn moments(x: &[Group<Self>]) -> [Wide; 2] {
                moments_in_lanes!(x, $sum, $total, $($product),+)
            }
        }
    )+};
}
narrow! {
    i8: i16, u16, i64, products i32, i32, i32;
    u8: u16, u16, u64, products u32, u32, u32;
    i16: i32, u32, i64, products i32, i64, i64;
    u16: u32, u32, u64, products u32, u64, u64;
}
const _: () = assert!(ADDITIONS * 128 == 1 << 15, "bytes add up in 16 bits");
const _: () = assert!(super::BLOCK_BYTES as u64 * 255 * 255 < 1 << 32, "their products in 32");

/// The sum of 64-bit values that lanes took as remainders of 2^64 and, apart, by their upper halves: what the lower halves add up to
/// is below 2^64 for a block, so that the remainder tells it.
#[inline(always)]
pub(super) fn join_halves<const LANES: usize>(
    remainders: [u64; LANES],
    uppers: [i64; LANES],
) -> i128 {
    let upper: i64 = uppers.into_iter().sum();
    let lanes = remainders.into_iter().zip(uppers);
    let lower: u64 = lanes.map(|(all, upper)| all.wrapping_sub((upper << 32) as u64)).sum();
    (i128::from(upper) << 32) + i128::from(lower)
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

/// Adds 64-bit values up so that no lane loses a carry.
macro_rules! add_wide {
    (($($x:ident),+), $l:ident => $value:expr) => {{
        const LANES: usize = 16;
        let (mut remainders, mut uppers) = ([0u64; LANES], [0i64; LANES]);
        for_each_group!(LANES, ($($x),+), $l => {
            let value = $value;
            remainders[$l] = remainders[$l].wrapping_add(value as u64);
            uppers[$l] += (value >> 32) as i64;
        });
        Wide::from(join_halves(remainders, uppers))
    }};
}

/// 32-bit types: lanes of 64 bits for sums.
macro_rules! middle {
    ($($ty:ty: $lane:ty;)+) => {$(
        impl Word for $ty {
            const SIGNED: bool = <$ty>::MIN != 0;

            #[inline(always)]
            fn sum(x: &[Group<Self>]) -> Wide {
                let mut lanes = [0 as $lane; 16];
                for_each_group!(16, (x), l => { lanes[l] += <$lane>::from(x[l]) });
                Wide::from(i128::from(lanes.into_iter().sum::<$lane>()))
            }

            #[inline(always)]
            fn norm1(x: &[Group<Self>]) -> Wide {
                let mut lanes = [0u64; 16];
                for_each_group!(16, (x), l => { lanes[l] += u64::from(x[l].abs_diff(0)) });
                Wide::from(i128::from(lanes.into_iter().sum::<u64>()))
            }

            #[inline(always)]
            fn products(x: &[Group<Self>], y: &[Group<Self>]) -> Wide {
                add_wide!((x, y), l => <$lane>::from(x[l]) * <$lane>::from(y[l]))
            }

            #[inline(always)]
            fn moments(x: &[Group<Self>]) -> [Wide; 2] {
                const LANES: usize = 16;
                let mut sums = [0 as $lane; LANES];
                let (mut remainders, mut uppers) = ([0u64; LANES], [0i64; LANES]);
                for_each_group!(LANES, (x), l => {
                    let value = <$lane>::from(x[l]);
                    let square = value * value;
                    sums[l] += value;
                    remainders[l] = remainders[l].wrapping_add(square as u64);
                    uppers[l] += (square >> 32) as i64;
                });
                let sum = i128::from(sums.into_iter().sum::<$lane>());
                [Wide::from(sum), Wide::from(join_halves(remainders, uppers))]
            }
        }
    )+};
}
middle! {
    i32: i64;
    u32: u64;
}

/// The sum of `n` numbers and that of their squares, of the sums of `u`, of the squares of its lower halves, of their products with the upper ones, and of the
/// squares of these: `u` is the number, or with a bias lies 2^63 = B higher: `Σx = Σu - n·B`, `Σx² = Σu² - 2B·Σu + n·B²`.
#[inline(always)]
pub(super) fn moments_of_halves(
    [sum, w0, w33, w64]: [i128; 4],
    n: i128,
    is_biased: bool,
) -> (i128, Wide) {
    let mut squares =
        Wide { low: w0 + ((w33 & i128::from(LOW >> 1)) << 33), high: w64 + (w33 >> 31) };
    if !is_biased {
        return (sum, squares);
    }
    squares.high += (n << 62) - sum;
    (sum - (n << 63), squares)
}

/// 64-bit types; products are biased to be unsigned. With `u = x + B`, `v = y + B`: `Σxy = Σuv - B·(Σu + Σv) + n·B²`.
macro_rules! full {
    ($($ty:ty: $bias:expr;)+) => {$(
        impl Word for $ty {
            const SIGNED: bool = <$ty>::MIN != 0;

            #[inline(always)]
            fn sum(x: &[Group<Self>]) -> Wide {
                add_wide!((x), l => x[l])
            }

            #[inline(always)]
            fn norm1(x: &[Group<Self>]) -> Wide {
                add_wide!((x), l => x[l].abs_diff(0))
            }

            /// The four products of a pair's halves, added by weight; and the factors.
            #[inline(always)]
            fn products(x: &[Group<Self>], y: &[Group<Self>]) -> Wide {
                const BIAS: u64 = $bias;
                const LANES: usize = 8;
                let n = (x.len() * GROUP) as i128;
                let mut remainders = [[0u64; LANES]; 4];
                let mut uppers = [[0i64; LANES]; 4];
                for_each_group!(LANES, (x, y), l => {
                    let (u, v) = (x[l] as u64 ^ BIAS, y[l] as u64 ^ BIAS);
                    let (a, b, c, d) = (u & LOW, u >> 32, v & LOW, v >> 32);
                    let mut add = |sum: usize, value: u64| {
                        remainders[sum][l] = remainders[sum][l].wrapping_add(value);
                        uppers[sum][l] += (value >> 32) as i64;
                    };
                    add(0, a * c);
                    add(1, a * d);
                    add(1, b * c);
                    add(2, b * d);
                    if BIAS != 0 {
                        add(3, u);
                        add(3, v);
                    }
                });
                let [w0, w32, w64, factors]: [i128; 4] =
                    std::array::from_fn(|sum| join_halves(remainders[sum], uppers[sum]));
                let mut wide =
                    Wide { low: w0 + ((w32 & i128::from(LOW)) << 32), high: w64 + (w32 >> 32) };
                if BIAS != 0 {
                    wide.low -= (factors & 1) << 63;
                    wide.high += (n << 62) - (factors >> 1);
                }
                wide
            }

            /// As products, of which two of a number and itself are one.
            #[inline(always)]
            fn moments(x: &[Group<Self>]) -> [Wide; 2] {
                const BIAS: u64 = $bias;
                const LANES: usize = 16;
                let n = (x.len() * GROUP) as i128;
                let mut remainders = [[0u64; LANES]; 4];
                let mut uppers = [[0i64; LANES]; 4];
                for_each_group!(LANES, (x), l => {
                    let u = x[l] as u64 ^ BIAS;
                    let (a, b) = (u & LOW, u >> 32);
                    for (sum, value) in [a * a, a * b, b * b, u].into_iter().enumerate() {
                        remainders[sum][l] = remainders[sum][l].wrapping_add(value);
                        uppers[sum][l] += (value >> 32) as i64;
                    }
                });
                let [w0, w33, w64, sum]: [i128; 4] =
                    std::array::from_fn(|sum| join_halves(remainders[sum], uppers[sum]));
                let (sum, squares) = moments_of_halves([sum, w0, w33, w64], n, BIAS != 0);
                [Wide::from(sum), squares]
            }
        }
    )+};
}
full! {
    i64: 1 << 63;
    u64: 0;
}
