//! The reductions of all element types, of each input.

use std::sync::Mutex;

use super::{Arrange, Read, ReduceMany};
use crate::cpu::batch::{Sums, Tally, Widest};
use crate::element::{Element, Float, Ordered, Parts};
use crate::exact::{Exact, Small};
use crate::partial::{Norm1, Partial, Stats};
use crate::{Op, Result};

/// The parts rounded, if each can be.
fn joined<T: Element, F: Float>(
    sums: &Sums<T>,
    of: impl Fn(T::Small) -> Option<F>,
) -> Option<T::With<F>> {
    let parts = T::Parts::from_fn(|k| of(sums.as_ref()[k]));
    let all = parts.as_ref().iter().all(Option::is_some);
    all.then(|| T::join(Parts::from_fn(|k| parts.as_ref()[k].unwrap_or(F::NAN))))
}

/// The magnitude of one element, if it is real.
#[inline(always)]
fn size<T: Element>(x: T) -> Option<<T::Part as Ordered>::Magnitude> {
    match T::as_parts(&[x]) {
        &[part] => Some(part.magnitude()),
        _ => None,
    }
}

/// The same rounded.
#[inline(always)]
fn size_as<T: Element, F: Float>(x: T) -> Option<F> {
    size(x).map(T::Part::round_magnitude)
}

/// Whether an element is counted.
#[inline(always)]
fn is_nonzero<T: Element>(x: T) -> bool {
    T::as_parts(&[x]).iter().any(|part| part.magnitude() != Default::default())
}

/// The partial of a kind.
macro_rules! partial {
    ($variant:ident($partial:ident) => $read:expr) => {
        move |partial: &Partial<T>| match partial {
            Partial::$variant($partial) => $read,
            other => unreachable!("another reduction's partial: {other:?}"),
        }
    };
}
pub(super) use partial;

impl<T: Element, A: Arrange> ReduceMany<'_, T, A> {
    /// The sums: floats rounded once, integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer sum does not fit.
    pub fn sum(&self) -> Result<A::Of<T::Sum>> {
        let overflow = self.policy.overflow;
        self.sums(Op::Sum, |sums, _| T::sum_of(sums), move |p| p.sum(overflow), T::alone)
    }

    /// The exact sums rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn sum_as<F: Float>(&self) -> Result<A::Of<T::With<F>>> {
        let small = |sums: &Sums<T>, _| joined::<T, F>(sums, |sum| Some(sum.round()));
        self.sums(Op::Sum, small, |p| Ok(p.round_as::<F>()), T::alone_as::<F>)
    }

    /// The arithmetic means, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn mean(&self) -> Result<A::Of<T::With<T::Round>>> {
        self.mean_as()
    }

    /// [`mean`](Self::mean), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty).
    pub fn mean_as<F: Float>(&self) -> Result<A::Of<T::With<F>>> {
        let small = |sums: &Sums<T>, count| match count {
            0 => None,
            _ => joined::<T, F>(sums, |sum| sum.mean(count)),
        };
        self.sums(Op::Mean, small, Exact::mean_as::<F>, T::alone_as::<F>)
    }

    fn sums<R: Copy + Send>(
        &self,
        op: Op,
        small: impl Fn(&Sums<T>, u64) -> Option<R> + Sync,
        exact: impl Fn(&Exact<T>) -> Result<R> + Sync,
        single: impl Fn(T) -> R + Sync,
    ) -> Result<A::Of<R>> {
        let partial = move |partial: &Partial<T>| match partial {
            Partial::Sum(sum) => exact(sum),
            other => unreachable!("a sum leaves a sum, not {other:?}"),
        };
        let single = |x| Some(single(x));
        self.run(op, &Read { small, partial, single }, T::many_sums)
    }

    /// The variances over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::TooFew`](crate::Error::TooFew).
    pub fn var(&self, ddof: u64) -> Result<A::Of<T::Round>> {
        self.var_as(ddof)
    }

    /// [`var`](Self::var), rounded to a float type of choice.
    ///
    /// # Errors
    /// As [`var`](Self::var).
    pub fn var_as<F: Float>(&self, ddof: u64) -> Result<A::Of<F>> {
        self.others(Op::Var, partial!(Moments(p) => p.var_as::<F>(ddof)))
    }

    /// The standard deviations over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// As [`var`](Self::var).
    pub fn std(&self, ddof: u64) -> Result<A::Of<T::Round>> {
        self.std_as(ddof)
    }

    /// [`std`](Self::std), rounded to a float type of choice.
    ///
    /// # Errors
    /// As [`var`](Self::var).
    pub fn std_as<F: Float>(&self, ddof: u64) -> Result<A::Of<F>> {
        self.others(Op::Std, partial!(Moments(p) => p.std_as::<F>(ddof)))
    }

    /// The Euclidean norms, rounded once.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn l2(&self) -> Result<A::Of<T::Round>> {
        self.l2_as()
    }

    /// [`l2`](Self::l2), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn l2_as<F: Float>(&self) -> Result<A::Of<F>> {
        self.others(Op::L2, partial!(Moments(p) => Ok(p.l2_as::<F>())))
    }

    /// The products: floats within one ulp (complex: normwise) without overflow or underflow on the way, integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) where an integer product does not fit.
    pub fn prod(&self) -> Result<A::Of<T::Sum>> {
        let overflow = self.policy.overflow;
        self.others(Op::Prod, partial!(Product(p) => p.value(overflow)))
    }

    /// [`prod`](Self::prod), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn prod_as<F: Float>(&self) -> Result<A::Of<T::With<F>>> {
        self.others(Op::Prod, partial!(Product(p) => Ok(p.round_as::<F>())))
    }

    /// The sums of magnitudes, rounded once (complex: within one ulp).
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn l1(&self) -> Result<A::Of<T::Round>> {
        self.l1_as()
    }

    /// [`l1`](Self::l1), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for `Complex<f32>` as f64.
    pub fn l1_as<F: Float>(&self) -> Result<A::Of<F>> {
        Norm1::<T>::new().round_as::<F>()?;
        let small = |sums: &Sums<T>, _| Some(sums.as_ref()[0].round());
        let partial = partial!(Norm1(p) => p.round_as::<F>());
        self.run(Op::L1, &Read { small, partial, single: size_as::<T, F> }, T::many_norms)
    }

    /// The largest magnitudes: `u64` for integers, else floats, rounded once.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn linf(&self) -> Result<A::Of<T::Linf>> {
        let small = |largest: &Widest, _| Some(T::linf_of(largest.magnitude::<T::Part>()));
        let partial = partial!(Magnitude(p) => Ok(p.value()));
        let single = |x| size(x).map(T::linf_of);
        self.run(Op::Linf, &Read { small, partial, single }, T::many_largest)
    }

    /// [`linf`](Self::linf), rounded to a float type of choice.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn linf_as<F: Float>(&self) -> Result<A::Of<F>> {
        let small = |largest: &Widest, _| {
            Some(T::Part::round_magnitude::<F>(largest.magnitude::<T::Part>()))
        };
        let partial = partial!(Magnitude(p) => Ok(p.round_as::<F>()));
        self.run(Op::Linf, &Read { small, partial, single: size_as::<T, F> }, T::many_largest)
    }

    /// Whether any element is nonzero.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn any(&self) -> Result<A::Of<bool>> {
        let small = |count: &Tally, _| Some(count.0 > 0);
        let partial = partial!(Count(p) => Ok(p.any()));
        let single = |x| Some(is_nonzero(x));
        self.run(Op::Any, &Read { small, partial, single }, T::many_nonzero)
    }

    /// Whether all elements are nonzero.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn all(&self) -> Result<A::Of<bool>> {
        let small = |count: &Tally, of| Some(count.0 == of);
        let partial = partial!(Count(p) => Ok(p.all()));
        let single = |x| Some(is_nonzero(x));
        self.run(Op::All, &Read { small, partial, single }, T::many_nonzero)
    }

    /// How many elements are nonzero.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn count(&self) -> Result<A::Of<u64>> {
        let small = |count: &Tally, _| Some(count.0);
        let partial = partial!(Count(p) => Ok(p.nonzero));
        let single = |x| Some(u64::from(is_nonzero(x)));
        self.run(Op::Count, &Read { small, partial, single }, T::many_nonzero)
    }

    /// Count, NaN count, sum, mean, var, std, min, max, argmin, argmax, l1 and l2 of each in one pass.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape).
    pub fn stats(&self) -> Result<A::Of<Stats<T>>> {
        self.kept(Op::Stats, partial!(Stats(p) => Ok((**p).clone())))
    }

    /// The partials of a reduction, exact and ready to be merged; large, for float sums: up to kilobytes each.
    ///
    /// # Errors
    /// [`Error::Undefined`](crate::Error::Undefined) where the contract knows no such reduction for the type.
    pub fn partials(&self, op: Op) -> Result<A::Of<Partial<T>>> {
        self.kept(op, |partial| Ok(partial.clone()))
    }

    /// What only partials tell.
    fn others<R: Copy + Send>(
        &self,
        op: Op,
        partial: impl Fn(&Partial<T>) -> Result<R> + Sync,
    ) -> Result<A::Of<R>> {
        let reader = Read { small: |&(): &(), _| None, partial, single: |_| None };
        self.run(op, &reader, T::many_alone)
    }

    /// The same for what is no plain number.
    fn kept<R: Send>(
        &self,
        op: Op,
        read: impl Fn(&Partial<T>) -> Result<R> + Sync,
    ) -> Result<A::Of<R>> {
        let store = Mutex::new(Vec::new());
        let partial = |partial: &Partial<T>| {
            let value = read(partial)?;
            let mut store = store.lock().unwrap_or_else(|poison| poison.into_inner());
            store.push(Some(value));
            Ok(store.len() - 1)
        };
        let reader = Read { small: |&(): &(), _| None, partial, single: |_| None };
        let places = self.folded(op, &reader, T::many_alone)?;
        let mut store = store.into_inner().unwrap_or_else(|poison| poison.into_inner());
        let take = |place: usize| store[place].take().expect("each output has a place of its own");
        Ok(self.arrange.arrange(places.into_iter().map(take).collect()))
    }
}
