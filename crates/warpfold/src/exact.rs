//! Exact accumulators: sums, moments and dot products that no rounding touches before they are read.

use std::ops::Deref;

use serde::{Deserialize, Serialize};
use warpfold_engine::{self as engine, HostArray, Request};
use warpfold_exact::exact as inner;

use crate::element::Element;
use crate::partial::Partial;
use crate::reduce::typed;
use crate::{Op, Policy, Result};

/// The partial of a slice, folded on the calling thread.
fn folded<T: Element>(request: Request<'_>) -> Result<Partial<T>> {
    let policy = Policy { threads: Some(1), ..Policy::default() };
    engine::reduce(&request.policy(policy)).map(typed)
}

macro_rules! accumulator {
    ($(#[$doc:meta])+ $name:ident) => {
        $(#[$doc])+
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(transparent, bound = "")]
        pub struct $name<T: Element>(inner::$name<T>);

        impl<T: Element> $name<T> {
            /// Nothing added yet.
            pub fn new() -> Self {
                Self::default()
            }

            /// Takes in another accumulator; associative and commutative to the last bit.
            pub fn merge(&mut self, other: &Self) {
                self.0.merge(&other.0);
            }

            /// The accumulator from the bytes that `to_bytes` wrote.
            ///
            /// # Errors
            /// [`Error::BadPartial`](crate::Error::BadPartial) if the bytes are not exactly what it writes for this type.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
                inner::$name::from_bytes(bytes).map($name)
            }
        }

        impl<T: Element> Default for $name<T> {
            fn default() -> Self {
                $name(inner::$name::new())
            }
        }

        /// What can be read of it.
        impl<T: Element> Deref for $name<T> {
            type Target = inner::$name<T>;

            fn deref(&self) -> &inner::$name<T> {
                &self.0
            }
        }

        impl<T: Element> From<inner::$name<T>> for $name<T> {
            fn from(partial: inner::$name<T>) -> Self {
                $name(partial)
            }
        }

        impl<T: Element> From<$name<T>> for inner::$name<T> {
            fn from(accumulator: $name<T>) -> Self {
                accumulator.0
            }
        }
    };
}

accumulator! {
    /// The exact sum of any number of elements, in any order, rounded only when it is read.
    ///
    /// ```
    /// use warpfold::Exact;
    /// let mut left = Exact::<f64>::new();
    /// left.extend(&[1e300, 1.0]);
    /// let mut right = Exact::new();
    /// right.add(-1e300);
    /// left.merge(&right);
    /// assert_eq!(left.round(), 1.0);
    /// ```
    Exact
}

accumulator! {
    /// The exact count, sum and sum of squares of any number of elements, in any order.
    ///
    /// For complex elements the squares are those of both components, so that the variance is the mean of |z - mean|².
    ///
    /// ```
    /// let mut m = warpfold::Moments::<f64>::new();
    /// m.extend(&[1e15, 1e15 + 1.0, 1e15 + 2.0]);
    /// assert_eq!(m.var(1)?, 1.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Moments
}

accumulator! {
    /// The exact dot product of any number of pairs, in any order, without conjugation.
    ///
    /// ```
    /// let mut d = warpfold::Dot::<f32>::new();
    /// d.extend(&[1e30, 1.0, -1e30], &[1e30, 1.0, 1e30])?;
    /// assert_eq!(d.round(), 1.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Dot
}

/// Slices up to here are added element by element, which is faster than setting up the kernels.
const FEW: usize = 8;

impl<T: Element> Exact<T> {
    /// Adds one element.
    pub fn add(&mut self, x: T) {
        self.0.add(x);
    }

    /// Adds a slice, with SIMD, on the calling thread.
    pub fn extend(&mut self, x: &[T]) {
        if x.len() <= FEW {
            return x.iter().for_each(|&x| self.0.add(x));
        }
        match folded(Request::new(Op::Sum, HostArray::of(x))) {
            Ok(Partial::Sum(sum)) => self.0.merge(&sum),
            other => unreachable!("a sum leaves a sum, not {other:?}"),
        }
    }
}

impl<T: Element> Moments<T> {
    /// Adds one element.
    pub fn add(&mut self, x: T) {
        self.0.add(x);
    }

    /// Adds a slice, with SIMD, on the calling thread.
    pub fn extend(&mut self, x: &[T]) {
        if x.len() <= FEW {
            return x.iter().for_each(|&x| self.0.add(x));
        }
        match folded(Request::new(Op::Var, HostArray::of(x))) {
            Ok(Partial::Moments(moments)) => self.0.merge(&moments),
            other => unreachable!("var leaves moments, not {other:?}"),
        }
    }

    /// The exact sum alone.
    pub fn to_sum(&self) -> Exact<T> {
        Exact(self.0.to_sum())
    }
}

impl<T: Element> Dot<T> {
    /// Adds one product.
    pub fn add(&mut self, x: T, y: T) {
        self.0.add(x, y);
    }

    /// Adds the products of two slices of one length, with SIMD, on the calling thread.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    pub fn extend(&mut self, x: &[T], y: &[T]) -> Result<()> {
        match folded(Request::new(Op::Dot, HostArray::of(x)).pair(HostArray::of(y)))? {
            Partial::Dot(dot) => self.0.merge(&dot),
            other => unreachable!("dot leaves a dot, not {other:?}"),
        }
        Ok(())
    }
}
