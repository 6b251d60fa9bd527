//! The common case: one call a reduction, with the contract's defaults.

use crate::partial::Stats;
use crate::{Element, Ordered, Result, reduce, reduce_pair};

/// The sum: floats correctly rounded, integers checked.
///
/// ```
/// assert_eq!(warpfold::sum(&[0.1f64; 10]), 1.0);
/// assert_eq!(warpfold::sum(&[i32::MAX; 3])?, 3 * i64::from(i32::MAX));
/// # Ok::<(), warpfold::Error>(())
/// ```
pub fn sum<T: Element>(x: &[T]) -> T::Checked<T::Sum> {
    T::checked(reduce(x).sum())
}

/// The arithmetic mean, rounded once.
///
/// ```
/// assert_eq!(warpfold::mean(&[1u8, 2])?, 1.5);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`](crate::Error::Empty).
pub fn mean<T: Element>(x: &[T]) -> Result<T::With<T::Round>> {
    reduce(x).mean()
}

/// The variance over `n - ddof`, rounded once.
///
/// ```
/// assert_eq!(warpfold::var(&[1e15f64, 1e15 + 1.0, 1e15 + 2.0], 1)?, 1.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`](crate::Error::Empty), [`Error::TooFew`](crate::Error::TooFew).
pub fn var<T: Element>(x: &[T], ddof: u64) -> Result<T::Round> {
    reduce(x).var(ddof)
}

/// The standard deviation over `n - ddof`: the correctly rounded root of the exact variance.
///
/// ```
/// assert_eq!(warpfold::std(&[2i32, 4, 4, 4, 5, 5, 7, 9], 0)?, 2.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`](crate::Error::Empty), [`Error::TooFew`](crate::Error::TooFew).
pub fn std<T: Element>(x: &[T], ddof: u64) -> Result<T::Round> {
    reduce(x).std(ddof)
}

/// The sum of magnitudes, rounded once (complex: within one ulp).
///
/// ```
/// use warpfold::Complex;
/// assert_eq!(warpfold::l1(&[-1.5f32, 2.0]), 3.5);
/// assert_eq!(warpfold::l1(&[Complex::new(3.0f64, 4.0), Complex::new(0.0, -1.0)]), 6.0);
/// ```
pub fn l1<T: Element>(x: &[T]) -> T::Round {
    reduce(x).l1()
}

/// The Euclidean norm, rounded once.
///
/// ```
/// assert_eq!(warpfold::l2(&[3e300f64, 4e300]), 5e300);
/// ```
pub fn l2<T: Element>(x: &[T]) -> T::Round {
    reduce(x).l2()
}

/// The sum of squared magnitudes: `i64` or `u64` of integers, else a float, rounded once.
///
/// ```
/// assert_eq!(warpfold::sumsq(&[3.0f32, 4.0])?, 25.0);
/// assert_eq!(warpfold::sumsq(&[-3i8, 4])?, 25);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Overflow`](crate::Error::Overflow) where an integer sum does not fit.
pub fn sumsq<T: Element>(x: &[T]) -> Result<T::Squares> {
    reduce(x).sumsq()
}

/// The largest magnitude: `u64` for integers, else a float, rounded once.
///
/// ```
/// assert_eq!(warpfold::linf(&[i8::MIN, 100]), 128);
/// assert_eq!(warpfold::linf(&[-2.5f32, 1.0]), 2.5);
/// ```
pub fn linf<T: Element>(x: &[T]) -> T::Linf {
    reduce(x).linf()
}

/// The product: floats within one ulp (complex: normwise) without overflow or underflow on the way, integers checked.
///
/// ```
/// let huge = 2f64.powi(1000);
/// assert_eq!(warpfold::prod(&[huge, huge, 1.0 / huge, 3.0 / huge]), 3.0);
/// assert_eq!(warpfold::prod(&[i64::MAX, i64::MAX, 0])?, 0);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub fn prod<T: Element>(x: &[T]) -> T::Checked<T::Sum> {
    T::checked(reduce(x).prod())
}

/// The smallest element: NaN propagates, -0 < +0.
///
/// ```
/// assert!(warpfold::min(&[0.0f32, -0.0])?.is_sign_negative());
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`](crate::Error::Empty).
pub fn min<T: Ordered>(x: &[T]) -> Result<T> {
    reduce(x).min()
}

/// The largest element: NaN propagates, -0 < +0.
///
/// ```
/// assert_eq!(warpfold::max(&[3u8, 7, 5])?, 7);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`](crate::Error::Empty).
pub fn max<T: Ordered>(x: &[T]) -> Result<T> {
    reduce(x).max()
}

/// The smallest and the largest element in one pass.
///
/// ```
/// assert_eq!(warpfold::minmax(&[3i16, -7, 5])?, (-7, 5));
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`](crate::Error::Empty).
pub fn minmax<T: Ordered>(x: &[T]) -> Result<(T, T)> {
    reduce(x).minmax()
}

/// The first index of the smallest element, or of the first NaN.
///
/// ```
/// assert_eq!(warpfold::argmin(&[3, 1, 2, 1])?, 1);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`](crate::Error::Empty).
pub fn argmin<T: Ordered>(x: &[T]) -> Result<u64> {
    reduce(x).argmin()
}

/// The first index of the largest element, or of the first NaN.
///
/// ```
/// assert_eq!(warpfold::argmax(&[3.0, f64::NAN, 5.0])?, 1);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`](crate::Error::Empty).
pub fn argmax<T: Ordered>(x: &[T]) -> Result<u64> {
    reduce(x).argmax()
}

/// Whether any element is nonzero; NaN counts as nonzero.
///
/// ```
/// assert!(warpfold::any(&[false, true]));
/// assert!(!warpfold::any::<f32>(&[]));
/// ```
pub fn any<T: Element>(x: &[T]) -> bool {
    reduce(x).any()
}

/// Whether all elements are nonzero; NaN counts as nonzero.
///
/// ```
/// assert!(!warpfold::all(&[1.0, -0.0]));
/// ```
pub fn all<T: Element>(x: &[T]) -> bool {
    reduce(x).all()
}

/// How many elements are nonzero; NaN counts as nonzero.
///
/// ```
/// assert_eq!(warpfold::count(&[0u8, 3, 0, 4]), 2);
/// ```
pub fn count<T: Element>(x: &[T]) -> u64 {
    reduce(x).count()
}

/// The dot product of two arrays of one length, without conjugation: floats rounded once, integers checked.
///
/// ```
/// assert_eq!(warpfold::dot(&[1e30f32, 1.0, -1e30], &[1e30, 1.0, 1e30])?, 1.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::LengthMismatch`](crate::Error::LengthMismatch); [`Error::Overflow`](crate::Error::Overflow) where an
/// integer result does not fit.
pub fn dot<T: Element>(x: &[T], y: &[T]) -> Result<T::Sum> {
    reduce_pair(x, y).dot()
}

/// Count, NaN count, sum, mean, var, std, min, max, argmin, argmax, l1 and l2 in one pass over the data.
///
/// ```
/// let stats = warpfold::stats(&[1.0f64, 2.0, 4.0]);
/// assert_eq!((stats.mean()?, stats.max()?, stats.argmin()?), (7.0 / 3.0, 4.0, 0));
/// # Ok::<(), warpfold::Error>(())
/// ```
pub fn stats<T: Element>(x: &[T]) -> Stats<T> {
    reduce(x).stats()
}
