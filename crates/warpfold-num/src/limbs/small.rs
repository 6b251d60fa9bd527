//! `Small`: what the sum of a short input fits, in place of a wide accumulator.

use super::pair::Pair;
use crate::binary::Nearest;

/// An exact sum of a few elements' parts.
#[doc(hidden)]
pub trait Small: Copy + std::fmt::Debug + Default + PartialEq + Send + Sync + 'static {
    /// The nearest value.
    fn round<F: Nearest>(self) -> F;

    /// The nearest value to the sum over a count; `None` where that takes a wide accumulator.
    fn mean<F: Nearest>(self, count: u64) -> Option<F>;
}

impl Small for Pair {
    #[inline(always)]
    fn round<F: Nearest>(self) -> F {
        Pair::round(self)
    }

    #[inline(always)]
    fn mean<F: Nearest>(self, count: u64) -> Option<F> {
        Pair::mean(self, count)
    }
}

impl Small for i128 {
    #[inline(always)]
    fn round<F: Nearest>(self) -> F {
        pair(self).round()
    }

    #[inline(always)]
    fn mean<F: Nearest>(self, count: u64) -> Option<F> {
        pair(self).mean(count)
    }
}

/// An integer that a sum of fewer than 2^41 integers of 64 bits is, in two f64: what the first leaves has at most 53 bits.
#[inline(always)]
fn pair(sum: i128) -> Pair {
    debug_assert!(sum.unsigned_abs() < 1 << 105, "a sum of a few integers");
    // Wider ones are converted by a call.
    const NARROW: std::ops::Range<i128> = -(1 << 62)..1 << 62;
    if NARROW.contains(&sum) {
        let word = sum as i64;
        let high = word as f64;
        return Pair { high, low: (word - high as i64) as f64 };
    }
    let high = sum as f64;
    Pair { high, low: (sum - high as i128) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_rounded_once() {
        assert_eq!(((1i128 << 53) + 1).round::<f64>(), 2f64.powi(53));
        assert_eq!(((1i128 << 100) + (1 << 47) + 1).round::<f64>(), 2f64.powi(100) + 2f64.powi(48));
        for sum in [(1i128 << 62) - 1, -(1 << 62), (1 << 62) + 1, (1 << 61) + (1 << 8) + 1, 0, -1] {
            let Pair { high, low } = pair(sum);
            assert_eq!(high as i128 + low as i128, sum);
            assert_eq!(high, sum as f64);
        }
        assert_eq!(7i128.mean::<f64>(3), Some(7.0 / 3.0));
        assert_eq!((-(1i128 << 60) - 1).mean::<f64>(1), Some(-(2f64.powi(60))));
    }
}
