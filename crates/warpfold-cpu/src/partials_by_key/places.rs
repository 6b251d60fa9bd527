//! Where the extremes of a group stand first.

use super::kinds::Kind;
use crate::kernels::Kernels;
use warpfold_exact::partial::{ArgIndex, Extremes, Partial};
use warpfold_num::element::Ordered;
use warpfold_num::{Nan, Value};

/// The least and the greatest element, and where each stands first. A NaN goes to the partial, which does not count it.
#[derive(Clone, Copy)]
pub(super) struct FirstOfEach;

/// An end that nothing has reached yet lies beyond all places.
#[derive(Clone, Copy)]
pub(super) struct PlacedEnds<K> {
    least: ArgIndex<K>,
    greatest: ArgIndex<K>,
}

impl<K: Copy + Ord> PlacedEnds<K> {
    #[inline(always)]
    fn take(&mut self, least: ArgIndex<K>, greatest: ArgIndex<K>) {
        let (old, new) = (&self.least, &least);
        if new.key < old.key || new.key == old.key && new.index < old.index {
            self.least = least;
        }
        let (old, new) = (&self.greatest, &greatest);
        if new.key > old.key || new.key == old.key && new.index < old.index {
            self.greatest = greatest;
        }
    }

    /// The least element and the greatest, of one at least.
    pub(super) fn values<T: Ordered<Key = K>>(&self) -> [Value; 2] {
        [self.least, self.greatest].map(|end| T::from_key(end.key).into())
    }

    /// Where these stand.
    pub(super) fn places(&self) -> [Value; 2] {
        [self.least, self.greatest].map(|end| Value::U64(end.index))
    }
}

impl<T: Kernels<Component = T> + Ordered> Kind<T> for FirstOfEach {
    type Small = PlacedEnds<T::Key>;
    const NOTHING: PlacedEnds<T::Key> = PlacedEnds {
        least: ArgIndex { key: T::KEY_MAX, index: u64::MAX },
        greatest: ArgIndex { key: T::KEY_MIN, index: u64::MAX },
    };
    const PLACED: bool = true;

    #[inline(always)]
    fn put(self, small: &mut PlacedEnds<T::Key>, x: T, at: u64) -> bool {
        if x.is_nan() {
            return false;
        }
        let end = ArgIndex { key: x.key(), index: at };
        small.take(end, end);
        true
    }

    #[inline(always)]
    fn merge(self, small: &mut PlacedEnds<T::Key>, other: &PlacedEnds<T::Key>) -> bool {
        small.take(other.least, other.greatest);
        true
    }

    fn flush(small: &PlacedEnds<T::Key>, _: Nan, count: u64, partial: &mut Partial<T>) {
        if count > 0 {
            let (min, max) = (Some(small.least), Some(small.greatest));
            extremes(partial).merge(&Extremes { min, max, first_nan: None, count });
        }
    }

    fn add(partial: &mut Partial<T>, _: T, at: u64, nan: Nan) {
        if nan == Nan::Propagate {
            let (min, max, first_nan) = (None, None, Some(at));
            extremes(partial).merge(&Extremes { min, max, first_nan, count: 0 });
        }
    }
}

fn extremes<T: Kernels<Component = T> + Ordered>(partial: &mut Partial<T>) -> &mut Extremes<T> {
    match partial {
        Partial::Extremes(all) => all,
        other => unreachable!("this is no partial of extremes: {other:?}"),
    }
}
