//! Exact accumulators: sums, moments and dot products that no rounding touches before they are read.

use std::iter::Sum;
use std::ops::{AddAssign, Deref};

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
        #[derive(Debug, Clone, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(transparent, bound = ""))]
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
const MOST_SINGLE: usize = 8;

impl<T: Element> Exact<T> {
    /// Adds one element.
    pub fn add(&mut self, x: T) {
        self.0.add(x);
    }

    /// Adds a slice, with SIMD, on the calling thread.
    pub fn extend(&mut self, x: &[T]) {
        if x.len() <= MOST_SINGLE {
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
        if x.len() <= MOST_SINGLE {
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
        if x.len() == y.len() && x.len() <= MOST_SINGLE {
            x.iter().zip(y).for_each(|(&x, &y)| self.0.add(x, y));
            return Ok(());
        }
        match folded(Request::new(Op::Dot, HostArray::of(x)).pair(HostArray::of(y)))? {
            Partial::Dot(dot) => self.0.merge(&dot),
            other => unreachable!("dot leaves a dot, not {other:?}"),
        }
        Ok(())
    }
}

/// Elements of an iterator that are added at a time.
const BUFFER: usize = 1024;

/// Accumulators that elements are added to one by one, from slices and from iterators.
macro_rules! of_elements {
    ($name:ident, $(#[$doc:meta])+) => {
        $(#[$doc])+
        impl<T: Element> Extend<T> for $name<T> {
            fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
                let mut elements = elements.into_iter();
                let mut buffer = Vec::with_capacity(elements.size_hint().0.clamp(1, BUFFER));
                loop {
                    buffer.extend(elements.by_ref().take(BUFFER));
                    if buffer.is_empty() {
                        return;
                    }
                    $name::extend(self, &buffer);
                    buffer.clear();
                }
            }
        }

        impl<'a, T: Element> Extend<&'a T> for $name<T> {
            fn extend<I: IntoIterator<Item = &'a T>>(&mut self, elements: I) {
                <Self as Extend<T>>::extend(self, elements.into_iter().copied());
            }
        }

        impl<T: Element> FromIterator<T> for $name<T> {
            fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
                let mut all = $name::new();
                <Self as Extend<T>>::extend(&mut all, elements);
                all
            }
        }

        impl<'a, T: Element> FromIterator<&'a T> for $name<T> {
            fn from_iter<I: IntoIterator<Item = &'a T>>(elements: I) -> Self {
                elements.into_iter().copied().collect()
            }
        }

        impl<T: Element> AddAssign<T> for $name<T> {
            fn add_assign(&mut self, x: T) {
                self.add(x);
            }
        }
    };
}

of_elements! {
    Exact,
    /// Adds what an iterator yields, a buffer at a time, with SIMD.
    ///
    /// ```
    /// use warpfold::Exact;
    /// let mut sum: Exact<f64> = (0..1000).map(|_| 0.1).collect();
    /// sum += 1e300;
    /// sum += -1e300;
    /// // The thousandfold of the double nearest to 0.1, rounded once.
    /// assert_eq!(sum.round(), 100.0);
    /// assert_eq!([0.5f32, 0.25].iter().sum::<Exact<f32>>().round(), 0.75);
    /// ```
}

of_elements! {
    Moments,
    /// Adds what an iterator yields, a buffer at a time, with SIMD.
    ///
    /// ```
    /// use warpfold::Moments;
    /// let mut spread: Moments<f64> = [1e15, 1e15 + 1.0].iter().collect();
    /// spread += 1e15 + 2.0;
    /// assert_eq!((spread.mean()?, spread.var(1)?), (1e15 + 1.0, 1.0));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
}

impl<T: Element> Sum<T> for Exact<T> {
    fn sum<I: Iterator<Item = T>>(elements: I) -> Self {
        elements.collect()
    }
}

impl<'a, T: Element> Sum<&'a T> for Exact<T> {
    fn sum<I: Iterator<Item = &'a T>>(elements: I) -> Self {
        elements.copied().collect()
    }
}

/// Adds the products of what an iterator of pairs yields.
///
/// ```
/// use warpfold::Dot;
/// let dot: Dot<f32> = [1e30, 1.0, -1e30].into_iter().zip([1e30, 1.0, 1e30]).collect();
/// assert_eq!(dot.round(), 1.0);
/// ```
impl<T: Element> Extend<(T, T)> for Dot<T> {
    fn extend<I: IntoIterator<Item = (T, T)>>(&mut self, pairs: I) {
        pairs.into_iter().for_each(|(x, y)| self.add(x, y));
    }
}

impl<T: Element> FromIterator<(T, T)> for Dot<T> {
    fn from_iter<I: IntoIterator<Item = (T, T)>>(pairs: I) -> Self {
        let mut all = Dot::new();
        <Self as Extend<(T, T)>>::extend(&mut all, pairs);
        all
    }
}
