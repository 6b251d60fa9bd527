//! The highest element, many at a time, with its place where that is asked for.
//!
//! Elements are compared as ranks: the keys of the order, turned over for minima, with every NaN on top where NaN propagates and at the bottom
//! where it is ignored. So NaNs, signed zeros and infinities take no path of their own.

use std::hint::select_unpredictable;
use std::marker::PhantomData;

use super::lanes::{Kind, N, Places, without_rules};
use crate::Nan;
use crate::element::Ordered;
use crate::partial::{Extremes, Partial, Place};

/// Which end of the order.
pub(crate) trait End: Copy + Send + Sync + 'static {
    const LEAST: bool;
}

/// The greatest element.
#[derive(Clone, Copy)]
pub(crate) enum Greatest {}
impl End for Greatest {
    const LEAST: bool = false;
}

/// The least element.
#[derive(Clone, Copy)]
pub(crate) enum Least {}
impl End for Least {
    const LEAST: bool = true;
}

/// The highest rank of an end; `PLACED` with its first place.
#[derive(Clone, Copy)]
pub(crate) struct Highest<E, const PLACED: bool> {
    nan: Nan,
    end: PhantomData<E>,
}

/// A rank and the first place that has it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ranked<K> {
    pub(crate) rank: K,
    pub(crate) place: u64,
}

/// Ranks and places side by side.
#[derive(Clone, Copy)]
pub(crate) struct Ranks<K> {
    ranks: [K; N],
    places: [u64; N],
}

impl<E: End, const PLACED: bool> Highest<E, PLACED> {
    pub(crate) fn new(nan: Nan) -> Self {
        Highest { nan, end: PhantomData }
    }

    /// The rank of an element.
    #[inline(always)]
    fn rank<R: Ordered>(self, x: R) -> R::Key {
        let key = if E::LEAST { R::turned(x.key()) } else { x.key() };
        match R::INFINITE {
            Some(infinite) => {
                let of_nan = if self.nan == Nan::Propagate { R::KEY_MAX } else { R::KEY_MIN };
                select_unpredictable(x.magnitude() > infinite, of_nan, key)
            }
            None => key,
        }
    }
}

/// The extremes that the highest rank of an end stands for; `count` elements were seen, or kept.
pub(crate) fn extremes<R: Ordered, E: End>(
    nan: Nan,
    ranked: Ranked<R::Key>,
    count: u64,
) -> Extremes<R> {
    let mut extremes = Extremes { count, ..Extremes::new() };
    if count == 0 {
        return extremes;
    }
    let Ranked { rank, place } = ranked;
    if R::INFINITE.is_some() && (rank == R::KEY_MAX || rank == R::KEY_MIN) {
        // No number has these keys: the first is a NaN's that propagates, the other is left where all were ignored.
        match nan {
            Nan::Propagate => extremes.first_nan = Some(place),
            Nan::Ignore => extremes.count = 0,
        }
        return extremes;
    }
    let key = if E::LEAST { R::turned(rank) } else { rank };
    let place = Some(Place { key, index: place });
    *(if E::LEAST { &mut extremes.min } else { &mut extremes.max }) = place;
    extremes
}

impl<R: Ordered, E: End, const PLACED: bool> Kind<R> for Highest<E, PLACED> {
    without_rules!(R);

    type Lanes = Ranks<R::Key>;
    type Small = Ranked<R::Key>;

    #[inline(always)]
    fn filler(self, first: R) -> R {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Self::Lanes {
        Ranks { ranks: [R::KEY_MIN; N], places: [u64::MAX; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut Self::Lanes, x: &[R; N], places: Places) {
        for l in 0..N {
            let rank = self.rank(x[l]);
            if PLACED {
                let (best, place) = (lanes.ranks[l], places.of(l));
                let before = (rank > best) | ((rank == best) & (place < lanes.places[l]));
                lanes.ranks[l] = select_unpredictable(before, rank, best);
                lanes.places[l] = select_unpredictable(before, place, lanes.places[l]);
            } else {
                lanes.ranks[l] = select_unpredictable(rank > lanes.ranks[l], rank, lanes.ranks[l]);
            }
        }
    }

    #[inline(always)]
    fn lane(lanes: &Self::Lanes, lane: usize) -> Self::Small {
        Ranked { rank: lanes.ranks[lane], place: if PLACED { lanes.places[lane] } else { 0 } }
    }

    #[inline(always)]
    fn total(lanes: &Self::Lanes) -> Self::Small {
        let rank = lanes.ranks.into_iter().fold(R::KEY_MIN, Ord::max);
        let mut place = if PLACED { u64::MAX } else { 0 };
        if PLACED {
            for l in 0..N {
                let here = (lanes.ranks[l] == rank) & (lanes.places[l] < place);
                place = select_unpredictable(here, lanes.places[l], place);
            }
        }
        Ranked { rank, place }
    }

    fn moved(small: Self::Small, by: i64) -> Self::Small {
        Ranked { place: small.place.wrapping_add_signed(by), ..small }
    }

    fn pour(self, small: &Self::Small, count: u64, partial: &mut Partial<R>) {
        let Partial::Extremes(extremes) = partial else {
            unreachable!("ranks are poured into extremes, not {partial:?}");
        };
        extremes.merge(&self::extremes::<R, E>(self.nan, *small, count));
    }
}

/// Both ends at once.
#[derive(Clone, Copy)]
pub(crate) struct BothEnds {
    nan: Nan,
    least: Highest<Least, false>,
    greatest: Highest<Greatest, false>,
}

impl BothEnds {
    pub(crate) fn new(nan: Nan) -> Self {
        BothEnds { nan, least: Highest::new(nan), greatest: Highest::new(nan) }
    }
}

impl<R: Ordered> Kind<R> for BothEnds {
    without_rules!(R);

    type Lanes = (Ranks<R::Key>, Ranks<R::Key>);
    type Small = (Ranked<R::Key>, Ranked<R::Key>);

    #[inline(always)]
    fn filler(self, first: R) -> R {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Self::Lanes {
        (Kind::<R>::lanes(self.least, ()), Kind::<R>::lanes(self.greatest, ()))
    }

    #[inline(always)]
    fn add(self, lanes: &mut Self::Lanes, x: &[R; N], places: Places) {
        self.least.add(&mut lanes.0, x, places);
        self.greatest.add(&mut lanes.1, x, places);
    }

    #[inline(always)]
    fn lane(lanes: &Self::Lanes, lane: usize) -> Self::Small {
        let least = <Highest<Least, false> as Kind<R>>::lane(&lanes.0, lane);
        (least, <Highest<Greatest, false> as Kind<R>>::lane(&lanes.1, lane))
    }

    #[inline(always)]
    fn total(lanes: &Self::Lanes) -> Self::Small {
        let least = <Highest<Least, false> as Kind<R>>::total(&lanes.0);
        (least, <Highest<Greatest, false> as Kind<R>>::total(&lanes.1))
    }

    fn pour(self, (least, greatest): &Self::Small, count: u64, partial: &mut Partial<R>) {
        let Partial::Extremes(all) = partial else {
            unreachable!("ranks are poured into extremes, not {partial:?}");
        };
        let mut both = extremes::<R, Least>(self.nan, *least, count);
        both.merge(&Extremes { count: 0, ..extremes::<R, Greatest>(self.nan, *greatest, count) });
        all.merge(&both);
    }
}
