//! The largest magnitude of real elements, many at a time.

use std::hint::select_unpredictable;

use super::lanes::{Kind, N, Places, without_rules};
use crate::Nan;
use crate::element::{Ordered, Parts};
use crate::partial::{Magnitude, Magnitudes, Partial};

/// Magnitudes as integers, among which those of NaNs are the largest.
#[derive(Clone, Copy)]
pub(crate) struct Largest {
    nan: Nan,
}

impl Largest {
    pub(crate) fn new(nan: Nan) -> Self {
        Largest { nan }
    }

    #[inline(always)]
    fn of<R: Ordered>(self, x: R) -> R::Magnitude {
        let magnitude = x.magnitude();
        let ignored =
            self.nan == Nan::Ignore && R::INFINITE.is_some_and(|infinite| magnitude > infinite);
        select_unpredictable(ignored, R::Magnitude::default(), magnitude)
    }
}

impl<R: Ordered> Kind<R> for Largest {
    without_rules!(R);

    type Lanes = [R::Magnitude; N];
    type Small = Magnitudes<R>;

    #[inline(always)]
    fn filler(self, first: R) -> R {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Self::Lanes {
        [R::Magnitude::default(); N]
    }

    #[inline(always)]
    fn add(self, lanes: &mut Self::Lanes, x: &[R; N], _: Places) {
        for l in 0..N {
            let magnitude = self.of(x[l]);
            lanes[l] = select_unpredictable(magnitude > lanes[l], magnitude, lanes[l]);
        }
    }

    #[inline(always)]
    fn lane(lanes: &Self::Lanes, lane: usize) -> Self::Small {
        Parts::from_fn(|_| lanes[lane])
    }

    #[inline(always)]
    fn total(lanes: &Self::Lanes) -> Self::Small {
        let largest = lanes.iter().copied().fold(R::Magnitude::default(), Ord::max);
        Parts::from_fn(|_| largest)
    }

    fn pour(self, largest: &Self::Small, _: u64, partial: &mut Partial<R>) {
        let Partial::Magnitude(all) = partial else {
            unreachable!("magnitudes are poured into magnitudes, not {partial:?}");
        };
        all.merge(&Magnitude::of(largest));
    }
}
