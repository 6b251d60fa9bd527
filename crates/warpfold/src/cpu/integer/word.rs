//! The kernels of each integer width: a block into one exact total.

use super::{BLOCK_BYTES, Wide};
use crate::cpu::memory::{prefetch, streamed};

/// An integer as lanes hold it. A block has at most [`BLOCK_BYTES`].
pub(in crate::cpu) trait Word: Copy + Send + Sync {
    /// The sum of a block.
    fn sum(x: &[Self]) -> Wide;
    /// The sum of its magnitudes.
    fn magnitudes(x: &[Self]) -> Wide;
    /// The sum of the products of two blocks of one length.
    fn products(x: &[Self], y: &[Self]) -> Wide;
}

/// Adds elements up in lanes that take a block without overflow.
macro_rules! add_in_lanes {
    ($x:expr, $lane:ty, $of:expr) => {{
        const LANES: usize = 64;
        let mut lanes = [0 as $lane; LANES];
        let (groups, rest) = $x.as_chunks::<LANES>();
        for at in streamed(groups.len()) {
            let group = &groups[at];
            prefetch(group);
            for l in 0..LANES {
                lanes[l] += $of(group[l]);
            }
        }
        for (lane, &x) in lanes.iter_mut().zip(rest) {
            *lane += $of(x);
        }
        lanes.into_iter().map(i128::from).sum::<i128>()
    }};
}

/// Adds products up likewise.
macro_rules! multiply_in_lanes {
    ($x:expr, $y:expr, $lane:ty, $of:expr) => {{
        const LANES: usize = 32;
        let mut lanes = [0 as $lane; LANES];
        let ((xs, x_rest), (ys, y_rest)) = ($x.as_chunks::<LANES>(), $y.as_chunks::<LANES>());
        for at in streamed(xs.len()) {
            let (x, y) = (&xs[at], &ys[at]);
            prefetch(x);
            prefetch(y);
            for l in 0..LANES {
                lanes[l] += $of(x[l], y[l]);
            }
        }
        for (lane, (&x, &y)) in lanes.iter_mut().zip(x_rest.iter().zip(y_rest)) {
            *lane += $of(x, y);
        }
        lanes.into_iter().map(i128::from).sum::<i128>()
    }};
}

/// Types whose products fit a lane with room for a block of them: product type, lanes of sums, lanes of products.
macro_rules! narrow {
    ($($ty:ty: $product:ty, $sum_lane:ty, $magnitude_lane:ty, $product_lane:ty;)+) => {$(
        impl Word for $ty {
            #[inline(always)]
            fn sum(x: &[Self]) -> Wide {
                add_in_lanes!(x, $sum_lane, |x| x as $sum_lane).into()
            }

            #[inline(always)]
            fn magnitudes(x: &[Self]) -> Wide {
                add_in_lanes!(x, $magnitude_lane, |x: $ty| x.abs_diff(0) as $magnitude_lane).into()
            }

            #[inline(always)]
            fn products(x: &[Self], y: &[Self]) -> Wide {
                multiply_in_lanes!(x, y, $product_lane, |x, y| {
                    (x as $product * y as $product) as $product_lane
                })
                .into()
            }
        }
    )+};
}
narrow! {
    i8: i16, i16, u16, i32;
    u8: u16, u16, u16, u32;
    i16: i32, i32, u32, i64;
    u16: u32, u32, u32, u64;
}

/// 64-bit values added up as halves, so that no lane overflows.
#[inline(always)]
fn halves<T: Copy>(x: &[T], of: impl Fn(T) -> u64) -> i128 {
    const LANES: usize = 16;
    let (mut low, mut high) = ([0u64; LANES], [0u64; LANES]);
    let (groups, rest) = x.as_chunks::<LANES>();
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        for l in 0..LANES {
            let value = of(group[l]);
            low[l] += value & LOW;
            high[l] += value >> 32;
        }
    }
    for (l, &x) in rest.iter().enumerate() {
        low[l] += of(x) & LOW;
        high[l] += of(x) >> 32;
    }
    total(low) + (total(high) << 32)
}

const LOW: u64 = u32::MAX as u64;

#[inline(always)]
fn total<const LANES: usize>(lanes: [u64; LANES]) -> i128 {
    // A block leaves each lane far below 2^50.
    i128::from(lanes.into_iter().sum::<u64>())
}

/// 32-bit types: lanes of 64 bits for sums; products biased to be unsigned, then added as halves.
macro_rules! middle {
    ($($ty:ty: $lane:ty, $bias:expr;)+) => {$(
        impl Word for $ty {
            #[inline(always)]
            fn sum(x: &[Self]) -> Wide {
                add_in_lanes!(x, $lane, |x| <$lane>::from(x)).into()
            }

            #[inline(always)]
            fn magnitudes(x: &[Self]) -> Wide {
                add_in_lanes!(x, u64, |x: $ty| u64::from(x.abs_diff(0))).into()
            }

            #[inline(always)]
            fn products(x: &[Self], y: &[Self]) -> Wide {
                const BIAS: u64 = $bias;
                const LANES: usize = 16;
                let of = |x, y| (<$lane>::from(x) * <$lane>::from(y)) as u64 ^ BIAS;
                let (mut low, mut high) = ([0u64; LANES], [0u64; LANES]);
                let ((xs, x_rest), (ys, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
                for at in streamed(xs.len()) {
                    let (x, y) = (&xs[at], &ys[at]);
                    prefetch(x);
                    prefetch(y);
                    for l in 0..LANES {
                        let product = of(x[l], y[l]);
                        low[l] += product & LOW;
                        high[l] += product >> 32;
                    }
                }
                for (l, (&x, &y)) in x_rest.iter().zip(y_rest).enumerate() {
                    low[l] += of(x, y) & LOW;
                    high[l] += of(x, y) >> 32;
                }
                let bias = i128::from(BIAS) * x.len() as i128;
                (total(low) + (total(high) << 32) - bias).into()
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
            fn sum(x: &[Self]) -> Wide {
                const BIAS: u64 = $bias;
                let biased = halves(x, |x| x as u64 ^ BIAS);
                (biased - i128::from(BIAS) * x.len() as i128).into()
            }

            #[inline(always)]
            fn magnitudes(x: &[Self]) -> Wide {
                halves(x, |x| x.abs_diff(0)).into()
            }

            #[inline(always)]
            fn products(x: &[Self], y: &[Self]) -> Wide {
                const BIAS: u64 = $bias;
                let (mut wide, sums) = full_products(x, y, |x| x as u64 ^ BIAS);
                if BIAS != 0 {
                    wide.low -= (sums & 1) << 63;
                    wide.high += ((x.len() as i128) << 62) - (sums >> 1);
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

/// `Σuv`, and `Σu + Σv`. The four 32-bit products of a pair are added as halves, by weight.
#[inline(always)]
fn full_products<T: Copy>(x: &[T], y: &[T], unsigned: impl Fn(T) -> u64) -> (Wide, i128) {
    const LANES: usize = 8;
    /// Words of weight 2^0, 2^32, 2^64, 2^96, and the sums of both factors' halves.
    #[derive(Clone, Copy)]
    struct Lanes([[u64; LANES]; 6]);
    let mut lanes = Lanes([[0; LANES]; 6]);
    let add = |lanes: &mut Lanes, l: usize, u: u64, v: u64| {
        let (a, b, c, d) = (u & LOW, u >> 32, v & LOW, v >> 32);
        let (ac, ad, bc, bd) = (a * c, a * d, b * c, b * d);
        let [w0, w32, w64, w96, low, high] = &mut lanes.0;
        w0[l] += ac & LOW;
        w32[l] += (ac >> 32) + (ad & LOW) + (bc & LOW);
        w64[l] += (ad >> 32) + (bc >> 32) + (bd & LOW);
        w96[l] += bd >> 32;
        low[l] += a + c;
        high[l] += b + d;
    };
    let ((xs, x_rest), (ys, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for at in streamed(xs.len()) {
        let (x, y) = (&xs[at], &ys[at]);
        prefetch(x);
        prefetch(y);
        for l in 0..LANES {
            add(&mut lanes, l, unsigned(x[l]), unsigned(y[l]));
        }
    }
    for (l, (&x, &y)) in x_rest.iter().zip(y_rest).enumerate() {
        add(&mut lanes, l, unsigned(x), unsigned(y));
    }
    let [w0, w32, w64, w96, low, high] = lanes.0.map(total);
    (Wide { low: w0 + (w32 << 32), high: w64 + (w96 << 32) }, low + (high << 32))
}

const _: () = assert!(BLOCK_BYTES / 64 * 256 <= u16::MAX as usize, "bytes are added in 16 bits");
