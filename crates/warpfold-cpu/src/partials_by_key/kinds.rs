//! What a slot of a table holds of its group, by the kind of reduction: something small and exact, that passes on what it cannot hold.

use crate::batch::{FloatSums, IntegerSums, IntoPartial, LaneOperation, Nonzero, Tally, take};
use crate::kernels::Kernels;
use warpfold_exact::exact::Pair;
use warpfold_exact::partial::{ArgIndex, Extremes, Magnitude, Partial};
use warpfold_num::element::{Components, Ordered};
use warpfold_num::{Nan, Value};

/// How a slot is added to.
pub(super) trait Kind<T: Kernels>: Copy + Send + Sync {
    /// What it holds, exactly.
    type Small: Copy + Send + Sync;

    /// What it holds of no element.
    const NOTHING: Self::Small;

    /// Whether it asks where elements stand.
    const PLACED: bool = false;

    /// Adds an element, which stands at a place; `false`, and nothing has changed, where it does not fit.
    fn put(self, small: &mut Self::Small, x: T, at: u64) -> bool;

    /// Adds what another slot holds, in the same manner.
    fn merge(self, small: &mut Self::Small, other: &Self::Small) -> bool;

    /// Adds what a slot holds, of `count` elements, to a partial.
    fn flush(small: &Self::Small, nan: Nan, count: u64, partial: &mut Partial<T>);

    /// Adds an element that fits no slot to a partial.
    fn add(partial: &mut Partial<T>, x: T, _at: u64, nan: Nan) {
        take(partial, x, nan);
    }
}

/// Lanes of which a slot is one: sums, sums of magnitudes and counts.
macro_rules! of_lanes {
    ($lanes:ty, $ty:ty, $small:ty, $x:ident => $words:expr) => {
        impl Kind<$ty> for $lanes {
            type Small = $small;
            const NOTHING: $small = <$lanes as LaneOperation>::NOTHING;

            #[inline(always)]
            fn put(self, small: &mut $small, $x: $ty, _: u64) -> bool {
                LaneOperation::put(self, small, $words)
            }

            #[inline(always)]
            fn merge(self, small: &mut $small, other: &$small) -> bool {
                LaneOperation::merge(self, small, other)
            }

            fn flush(small: &$small, nan: Nan, count: u64, partial: &mut Partial<$ty>) {
                IntoPartial::<$ty>::flush(small, nan, count, partial);
            }
        }
    };
}
/// Sums of floats in two of them.
pub(super) type Pairs = FloatSums<f64, 1, 1, 32>;
of_lanes!(Pairs, f64, [Pair; 1], x => [x]);
of_lanes!(IntegerSums<i64>, i64, [i128; 1], x => x);
of_lanes!(IntegerSums<u64>, u64, [i128; 1], x => x);
of_lanes!(Nonzero<u64, 1>, f64, Tally, x => [x.to_bits()]);
of_lanes!(Nonzero<u64, 1>, i64, Tally, x => [x as u64]);
of_lanes!(Nonzero<u64, 1>, u64, Tally, x => [x]);

/// Both ends of what was there, as keys of the order: the least is the greatest there is as long as there was nothing.
#[derive(Clone, Copy)]
pub(super) struct Ends<K> {
    least: K,
    greatest: K,
}

/// The least and the greatest element, and so the largest magnitude. A NaN goes to the partial.
#[derive(Clone, Copy)]
pub(super) struct LeastAndGreatest;

impl<T: Kernels<Component = T> + Ordered> Kind<T> for LeastAndGreatest {
    type Small = Ends<T::Key>;
    const NOTHING: Ends<T::Key> = Ends { least: T::KEY_MAX, greatest: T::KEY_MIN };

    #[inline(always)]
    fn put(self, small: &mut Ends<T::Key>, x: T, _: u64) -> bool {
        if x.is_nan() {
            return false;
        }
        let key = x.key();
        *small = Ends { least: small.least.min(key), greatest: small.greatest.max(key) };
        true
    }

    #[inline(always)]
    fn merge(self, small: &mut Ends<T::Key>, other: &Ends<T::Key>) -> bool {
        *small = Ends {
            least: small.least.min(other.least),
            greatest: small.greatest.max(other.greatest),
        };
        true
    }

    fn flush(small: &Ends<T::Key>, _: Nan, count: u64, partial: &mut Partial<T>) {
        if count == 0 {
            return;
        }
        match partial {
            Partial::Extremes(all) => {
                // Nobody asks for the indices.
                let end = |key| Some(ArgIndex { key, index: 0 });
                let (min, max) = (end(small.least), end(small.greatest));
                all.merge(&Extremes { min, max, first_nan: None, count });
            }
            Partial::Magnitude(all) => {
                let magnitude = small.magnitude::<T>();
                all.merge(&Magnitude::of(&Components::from_fn(|_| magnitude)));
            }
            other => unreachable!("this is no partial of extremes: {other:?}"),
        }
    }

    fn add(partial: &mut Partial<T>, x: T, _: u64, nan: Nan) {
        if nan == Nan::Ignore {
            return;
        }
        match partial {
            Partial::Extremes(all) => all.add(x, 0),
            Partial::Magnitude(all) => {
                all.merge(&Magnitude::of(&Components::from_fn(|_| x.magnitude())));
            }
            other => unreachable!("this is no partial of extremes: {other:?}"),
        }
    }
}

impl<K: Copy> Ends<K> {
    /// The least element and the greatest, of one at least.
    pub(super) fn values<T: Ordered<Key = K>>(self) -> [Value; 2] {
        [self.least, self.greatest].map(|key| T::from_key(key).into())
    }

    /// The largest magnitude, of one element at least.
    pub(super) fn magnitude<T: Ordered<Key = K>>(&self) -> T::Magnitude {
        let of = |key| T::from_key(key).magnitude();
        of(self.least).max(of(self.greatest))
    }
}
