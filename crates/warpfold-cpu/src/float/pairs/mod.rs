//! Several exact sums of pairs of floats in one reading: each element is read, compared with its window and widened once for all of them.
//!
//! Where a product lies follows from where its factors do, so that here the factors have windows, each half as wide as one of products could be. What lies
//! outside is left to the ordinary folds, group by group; a zero is inside, as it adds nothing.

mod lanes;
mod terms;

pub(crate) use terms::{Squares, Terms, Weighted};

use super::window::{Bounds, is_hopeless, top_field};
use super::{Adapt, Lane, Window, adapt::Way};
use crate::Nan;
use crate::executor::ArrayFold;
use crate::isa::{Avx512, Target};
use crate::memory::prefetch;
use lanes::Drains;
pub(super) use lanes::{Levels, log_adds};
use warpfold_plan::plan::Isa;

/// Lanes of an accumulator: a register of AVX-512, two of AVX2.
pub(super) const EACH: usize = 8;
/// Pairs that are compared with the windows at once.
pub(super) const GROUP: usize = 4 * EACH;
/// Pairs from which on it is worth choosing windows: others, such as short rows, are left to the ordinary folds.
const LEAST: usize = 8 * GROUP;
/// Pairs for which windows are chosen.
const BLOCK: usize = 512 * GROUP;

/// Binades of factors whose products take so many levels: with k from [`log_adds`], products of 2p bits of factors within W binades fit if
/// 2W + 2p - 2 <= 103 - 2k, or 153 - 3k with two levels ([`lanes::Levels::new`]); values within W take less. A product of two subnormals is no multiple of the
/// grid of a window that has them, errors of products must not underflow (exponents from -485 on), and the bias of products must be finite (to 508).
pub(super) const fn bounds_of_products<F: Lane>(levels: usize) -> Bounds {
    let (k, bits) = (log_adds(levels), 2 * F::MANTISSA_BITS - 2);
    let (one, most) = (F::FIELD_ONE as i32, F::FIELD_MAX as i32);
    Bounds {
        width: (if levels > 2 { 153 - 3 * k } else { 103 - 2 * k } - bits) / 2,
        low: if one - 485 > 2 { (one - 485) as u32 } else { 2 },
        high: if one + 508 < most { (one + 508) as u32 } else { most as u32 },
    }
}

/// Sums of pairs in progress.
pub(crate) struct PairFold<F: Lane, T: Terms<F>> {
    terms: T,
    inside: T::Inside,
    avx512: Option<Avx512>,
    adapt: Adapt,
    windows: [Window<F>; 2],
    drains: Drains,
    /// Pairs that went inside.
    taken: u64,
    /// Whether others came since it was asked.
    has_outside: bool,
    /// The groups of a block that hold others.
    others: [Vec<F>; 2],
}

impl<F: Lane, T: Terms<F>> PairFold<F, T> {
    const BOUNDS: Bounds = bounds_of_products::<F>(T::LEVELS);
    /// Groups between two drains.
    const STEP: usize = (1 << log_adds(T::LEVELS)) * EACH / GROUP;

    pub(crate) fn new(isa: Isa, nan: Nan) -> Self {
        let windows = [Window::below(F::FIELD_ONE, Self::BOUNDS); 2];
        PairFold {
            terms: T::new(isa, nan),
            inside: T::inside(&windows[0], &windows[1]),
            avx512: Avx512::found(isa),
            adapt: Adapt::new(),
            windows,
            drains: Drains::default(),
            taken: 0,
            has_outside: false,
            others: [Vec::new(), Vec::new()],
        }
    }

    /// Whether all pairs since it was last asked were finite, and their first not negative where that is asked for; `false` if that is not known.
    pub(crate) fn were_inside(&mut self) -> bool {
        !std::mem::take(&mut self.has_outside)
    }

    #[inline(always)]
    fn block<C: Target>(&mut self, x: &[F], y: &[F]) {
        let way = if C::VECTORS { self.adapt.way() } else { Way::Bins };
        if way == Way::Bins {
            self.has_outside = true;
            return self.terms.fold::<C>(x, y);
        }
        if way == Way::NewWindow {
            self.terms.empty(&mut self.inside);
            self.windows =
                [x, y].map(|x| Window::below(top_field(x.iter().copied()), Self::BOUNDS));
            self.inside = T::inside(&self.windows[0], &self.windows[1]);
            if is_hopeless(&self.windows[0], x) || is_hopeless(&self.windows[1], y) {
                self.adapt.note(x.len(), x.len());
                self.has_outside = true;
                return self.terms.fold::<C>(x, y);
            }
        }
        let ((xs, x_tail), (ys, y_tail)) = (x.as_chunks::<GROUP>(), y.as_chunks::<GROUP>());
        if self.drains.note((xs.len() / Self::STEP + 1) as u32) {
            self.terms.empty(&mut self.inside);
        }
        match self.avx512 {
            #[cfg(target_arch = "x86_64")]
            Some(_) if C::AVX512 => {
                let [of_x, of_y] = &mut self.others;
                let other = |x: &[F; GROUP], y: &[F; GROUP]| {
                    of_x.extend_from_slice(x);
                    of_y.extend_from_slice(y);
                };
                let (windows, inside) = (&self.windows, &mut self.inside);
                // SAFETY: there is an `Avx512` only where its features were found.
                unsafe {
                    super::avx512::pairs::<F, T>((xs, ys), windows, inside, Self::STEP, other)
                };
            }
            _ if C::AVX512 => unreachable!("code for AVX-512 runs where it was found"),
            _ => self.windowed(xs, ys),
        }
        let misses = self.others[0].len();
        self.taken += (GROUP * xs.len() - misses) as u64;
        self.adapt.note(misses, x.len());
        self.others[0].extend_from_slice(x_tail);
        self.others[1].extend_from_slice(y_tail);
        if !self.others[0].is_empty() {
            self.has_outside = true;
            self.terms.fold::<C>(&self.others[0], &self.others[1]);
            self.others.iter_mut().for_each(Vec::clear);
        }
    }

    /// Adds the groups that lie inside, and lists the others.
    #[inline(always)]
    fn windowed(&mut self, xs: &[[F; GROUP]], ys: &[[F; GROUP]]) {
        let ([of_x, of_y], mut inside) = (self.windows, self.inside);
        for (xs, ys) in xs.chunks(Self::STEP).zip(ys.chunks(Self::STEP)) {
            for (x, y) in xs.iter().zip(ys) {
                prefetch(x);
                prefetch(y);
                let mut fits = true;
                for lane in 0..GROUP {
                    fits &= of_x.contains(x[lane]) & of_y.contains(y[lane]);
                    fits &= T::SIGNED | (x[lane] >= F::default());
                }
                if !fits && !self.fits_with_zeros(x, y) {
                    self.others[0].extend_from_slice(x);
                    self.others[1].extend_from_slice(y);
                    continue;
                }
                for (x, y) in x.as_chunks::<EACH>().0.iter().zip(y.as_chunks::<EACH>().0) {
                    T::add(&mut inside, &x.map(F::wide), &y.map(F::wide));
                }
            }
            T::drain(&mut inside);
        }
        self.inside = inside;
    }

    /// Whether all that keeps a group out are zeros.
    #[inline(always)]
    fn fits_with_zeros(&self, x: &[F; GROUP], y: &[F; GROUP]) -> bool {
        let mut fits = true;
        for lane in 0..GROUP {
            fits &= self.windows[0].takes(x[lane]) & self.windows[1].takes(y[lane]);
            fits &= T::SIGNED | (x[lane] >= F::default());
        }
        fits
    }
}

impl<F: Lane, T: Terms<F>> ArrayFold<(&[F], &[F])> for PairFold<F, T> {
    type Partial = T::Partial;

    #[inline(always)]
    fn take<C: Target>(&mut self, (x, y): (&[F], &[F]), _first: u64) {
        if x.len() < LEAST {
            self.has_outside = true;
            return self.terms.fold::<C>(x, y);
        }
        for (x, y) in x.chunks(BLOCK).zip(y.chunks(BLOCK)) {
            self.block::<C>(x, y);
        }
    }

    fn finish(mut self) -> T::Partial {
        self.terms.empty(&mut self.inside);
        self.terms.finish(self.taken)
    }
}

#[cfg(test)]
mod tests {
    use warpfold_exact::exact::Dot;
    use warpfold_num::random::Words;

    use super::*;

    /// Factors of all exponents beside factors of one: whichever side they are on, no group is compared with the windows and listed.
    #[test]
    fn blocks_that_windows_cannot_take_go_to_the_bins_at_once() {
        let mut words = Words(7);
        let wide: Vec<f64> =
            (0..2 * BLOCK).map(|_| 2f64.powi(words.below(1000) as i32 - 500)).collect();
        let narrow: Vec<f64> = (0..2 * BLOCK).map(|_| 1.0 + words.fraction()).collect();
        let isa = crate::facts().isa;
        for (x, y) in [(&wide, &narrow), (&narrow, &wide), (&wide, &wide)] {
            let mut fold = PairFold::<f64, Squares<f64, 3, 3, 16>>::new(isa, Nan::Propagate);
            fold.fold(isa, (x.as_slice(), y.as_slice()), 0);
            assert_eq!((fold.taken, fold.others.each_ref().map(Vec::capacity)), (0, [0, 0]));
            assert!(!fold.were_inside());
            let mut dot = Dot::<f64>::new();
            x.iter().zip(y).for_each(|(&x, &y)| dot.add(x, y));
            let [_, products, _] = fold.finish();
            assert_eq!(Dot { parts: products.parts, count: products.counted }, dot);
        }
    }
}
