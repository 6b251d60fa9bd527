//! What a block holds that decides a product by itself: zeros, infinities, NaNs, and how many signs.

#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::isa::Avx512;
use crate::memory::{prefetch, streamed};
use warpfold_num::element::Ordered;

/// The least and the greatest magnitude, and whether an odd number of elements is below zero.
pub(super) struct Survey<R: Ordered> {
    pub(super) least: R::Magnitude,
    pub(super) most: R::Magnitude,
    pub(super) odd: bool,
}

impl<R: Ordered> Survey<R> {
    #[inline(always)]
    pub(super) fn of(x: &[R], avx512: Option<Avx512>) -> Self {
        match avx512 {
            #[cfg(target_arch = "x86_64")]
            Some(_) => {
                // SAFETY: there is an `Avx512` only where its features were found.
                let (survey, rest) = unsafe { avx512::of(x) };
                survey.join(Self::portable(rest))
            }
            _ => Self::portable(x),
        }
    }

    #[inline(always)]
    fn join(self, other: Self) -> Self {
        Survey {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            odd: self.odd ^ other.odd,
        }
    }

    #[inline(always)]
    fn portable(x: &[R]) -> Self {
        const LANES: usize = 64;
        let zero = R::default().key();
        let mut least = [R::MAGNITUDE_MAX; LANES];
        let mut most = [R::Magnitude::default(); LANES];
        let mut odd = [false; LANES];
        let mut take = |l: usize, x: R| {
            let magnitude = x.magnitude();
            least[l] = if magnitude < least[l] { magnitude } else { least[l] };
            most[l] = if magnitude > most[l] { magnitude } else { most[l] };
            odd[l] ^= x.key() < zero;
        };
        let (groups, rest) = x.as_chunks::<LANES>();
        for at in streamed(groups.len()) {
            let group = &groups[at];
            prefetch(group);
            for l in 0..LANES {
                take(l, group[l]);
            }
        }
        for (l, &x) in rest.iter().enumerate() {
            take(l, x);
        }
        Survey {
            least: least.into_iter().fold(R::MAGNITUDE_MAX, Ord::min),
            most: most.into_iter().fold(R::Magnitude::default(), Ord::max),
            odd: odd.into_iter().fold(false, |all, odd| all ^ odd),
        }
    }

    pub(super) fn has_zero(&self) -> bool {
        self.least == R::Magnitude::default()
    }
}
