//! [`AnyPartial`]: a partial whose element type is known at run time.

use std::any::Any;

use crate::partial::bytes::Header;
use crate::partial::{Count, Finish, Output, Partial};
use crate::{Complex, DType, Element, Op, Result, bf16, f16};

macro_rules! any_partial {
    ($($variant:ident, $ty:ty, $name:literal, [$($alias:literal),*];)+) => {
        /// The exact state of one reduction with its element type inside: what executors hand back, and what machines exchange.
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "the variants are the types' own names")]
        #[allow(clippy::large_enum_variant, reason = "boxing would cost an allocation for each small sum")]
        pub enum AnyPartial { $($variant(Partial<$ty>),)+ }

        $(impl From<Partial<$ty>> for AnyPartial {
            fn from(partial: Partial<$ty>) -> Self {
                AnyPartial::$variant(partial)
            }
        })+

        impl AnyPartial {
            /// The partial of a reduction of nothing.
            pub fn empty(op: Op, dtype: DType) -> Self {
                match dtype { $(DType::$variant => AnyPartial::$variant(Partial::empty(op)),)+ }
            }

            /// The element type.
            pub fn dtype(&self) -> DType {
                match self { $(AnyPartial::$variant(_) => DType::$variant,)+ }
            }

            /// Adds another partial of the same reduction and type, as [`Partial::merge`] does.
            ///
            /// # Panics
            /// If the two are of different kinds or types.
            pub fn merge(&mut self, other: &Self) {
                match (self, other) {
                    $((AnyPartial::$variant(a), AnyPartial::$variant(b)) => a.merge(b),)+
                    (a, b) => panic!("partials of {} and of {} cannot be merged", a.dtype(), b.dtype()),
                }
            }

            /// The same with other indices, where it has some: a function of those that it has, which keeps their order.
            #[must_use]
            pub fn reindexed(self, index: &dyn Fn(u64) -> u64) -> Self {
                match self { $(AnyPartial::$variant(p) => AnyPartial::$variant(p.reindexed(index)),)+ }
            }

            /// Whether this is what `op` is read from.
            pub fn serves(&self, op: Op) -> bool {
                match self { $(AnyPartial::$variant(p) => p.serves(op),)+ }
            }

            /// The same without the indices of a product's elements, so that it merges in order: what it is merged into stands before it.
            #[must_use]
            pub fn without_indices(self) -> Self {
                match self { $(AnyPartial::$variant(p) => AnyPartial::$variant(p.without_indices()),)+ }
            }

            /// Whether it is merged in the order of its pieces only: a product of floats whose indices are not known.
            pub fn is_ordered(&self) -> bool {
                match self { $(AnyPartial::$variant(p) => matches!(p, Partial::Product(p) if p.is_ordered()),)+ }
            }

            /// How many elements it holds, where it counts them.
            pub fn count(&self) -> Option<u64> {
                match self { $(AnyPartial::$variant(p) => p.count(),)+ }
            }

            /// Rounds, once, to the result of `op`.
            ///
            /// # Errors
            /// As [`Partial::finish`].
            pub fn finish(&self, op: Op, finish: Finish) -> Result<Output> {
                match self { $(AnyPartial::$variant(p) => p.finish(op, finish),)+ }
            }

            /// Rounds, once, a variance or deviation over `n - correction`, where the correction may be fractional or negative.
            ///
            /// # Errors
            /// As [`Partial::finish`].
            pub fn finish_corrected(&self, op: Op, correction: f64, round_to: Option<DType>) -> Result<Output> {
                match self { $(AnyPartial::$variant(p) => p.finish_corrected(op, correction, round_to),)+ }
            }

            /// The partial as bytes, in the layout of [`partial::bytes`](crate::partial::bytes).
            pub fn to_bytes(&self) -> Vec<u8> {
                match self { $(AnyPartial::$variant(p) => p.to_bytes(),)+ }
            }

            /// The partial in few bytes: the compact form of [`partial::bytes`](crate::partial::bytes).
            pub fn to_compact(&self) -> Vec<u8> {
                match self { $(AnyPartial::$variant(p) => p.to_compact(),)+ }
            }

            /// The partial, of whatever kind and type, from its bytes; counts, which know no type, are those of `bool`.
            ///
            /// # Errors
            /// [`Error::BadPartial`](crate::Error::BadPartial) if the bytes are no saved partial.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
                let dtype = Header::read(bytes)?.dtype.unwrap_or(DType::Bool);
                Self::from_bytes_of(dtype, bytes)
            }

            /// The partial of elements of a type, of whatever kind, from its bytes.
            ///
            /// # Errors
            /// [`Error::BadPartial`](crate::Error::BadPartial) if the bytes are no saved partial of such elements.
            pub fn from_bytes_of(dtype: DType, bytes: &[u8]) -> Result<Self> {
                Ok(match dtype { $(DType::$variant => AnyPartial::$variant(Partial::from_bytes(bytes)?),)+ })
            }

            /// The partial as digits that anyone may add up, as [`Partial::to_digits`] has them.
            pub fn to_digits(&self) -> Option<Vec<u64>> {
                match self { $(AnyPartial::$variant(p) => p.to_digits(),)+ }
            }

            /// The partial of a reduction that so many partials make together, as [`Partial::from_digits`] reads it.
            ///
            /// # Errors
            /// As [`Partial::from_digits`].
            pub fn from_digits(op: Op, dtype: DType, digits: &[u64], world: u64) -> Result<Self> {
                Ok(match dtype { $(DType::$variant => AnyPartial::$variant(Partial::from_digits(op, digits, world)?),)+ })
            }

            /// The counts, if that is what it is.
            pub fn counts(&self) -> Option<Count> {
                match self {
                    $(AnyPartial::$variant(Partial::Count(count)) => Some(*count),)+
                    _ => None,
                }
            }

            /// The partial as one of a type; `None` if that is another one.
            pub fn typed_ref<T: Element>(&self) -> Option<&Partial<T>> {
                match self { $(AnyPartial::$variant(p) => (p as &dyn Any).downcast_ref(),)+ }
            }

            /// The partial with its type outside; `None` if that is another one.
            pub fn typed<T: Element>(self) -> Option<Partial<T>> {
                match self {
                    $(AnyPartial::$variant(p) => {
                        let mut p = Some(p);
                        (&mut p as &mut dyn Any).downcast_mut::<Option<Partial<T>>>().and_then(Option::take)
                    })+
                }
            }
        }
    };
}
warpfold_num::for_each_element!(any_partial);

impl<T: Element> Partial<T> {
    /// The same with its type inside.
    pub fn untyped(self) -> AnyPartial {
        fn of<T: Element, U: Element>(partial: &mut Option<Partial<T>>) -> Option<Partial<U>> {
            (partial as &mut dyn Any).downcast_mut::<Option<Partial<U>>>().and_then(Option::take)
        }
        let mut partial = Some(self);
        warpfold_num::with_element!(T::DTYPE, U => of::<T, U>(&mut partial).map(AnyPartial::from))
            .unwrap_or_else(|| unreachable!("a type's name is that type's"))
    }
}
