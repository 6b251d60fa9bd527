//! The exact dot product of two arrays of complex numbers, without conjugation.

use super::block::{any_nan, padded, pairs_without_nan};
use super::dot::{product_bounds, product_grid, takes};
use super::window::top_field;
use super::{Adapt, Cascade, LOG_ADDS, Lane, Spill, Summed, Window, adapt::Way};
use crate::Nan;
use crate::executor::ArrayFold;
use crate::isa::{Avx512, Target};
use crate::memory::{prefetch, streamed_in_pairs};
use warpfold_exact::exact::Fixed;
use warpfold_plan::plan::Isa;

/// A complex dot product in progress over interleaved parts.
///
/// Lanes stay interleaved. Of `(a + bi)(c + di)` the products of equal lanes are `ac` and `bd`, those with the lanes of the second
/// array swapped in pairs are `ad` and `bc`: real is the sum of the even lanes less the odd ones, imaginary the sum of all.
pub(crate) struct ComplexDotFold<F: Lane, const LEVELS: usize, const LANES: usize> {
    nan: Nan,
    avx512: Option<Avx512>,
    adapt: Adapt,
    window: Window<F::Product>,
    straight: Cascade<LEVELS, LANES>,
    crossed: Cascade<LEVELS, LANES>,
    /// Real and imaginary.
    spills: [Spill<F::ProductLimbs>; 2],
    seen: u64,
    skipped: u64,
}

impl<F: Lane, const LEVELS: usize, const LANES: usize> ComplexDotFold<F, LEVELS, LANES> {
    const BLOCK: usize = LANES << LOG_ADDS;

    pub(crate) fn new(isa: Isa, nan: Nan) -> Self {
        let window = Window::below(F::Product::FIELD_ONE, product_bounds::<F>(LEVELS));
        let cascade = Cascade::new(window.end(), product_grid::<F>(&window));
        ComplexDotFold {
            nan,
            avx512: Avx512::found(isa),
            adapt: Adapt::new(),
            window,
            straight: cascade,
            crossed: cascade,
            spills: std::array::from_fn(|_| Spill::new(2 * F::MANTISSA_BITS, 2 * F::SHIFTS)),
            seen: 0,
            skipped: 0,
        }
    }

    /// A block of whole groups inside the window; returns how many products missed it.
    #[inline(always)]
    fn windowed<C: Target>(&mut self, x: &[[F; LANES]], y: &[[F; LANES]]) -> usize {
        if x.is_empty() {
            return 0;
        }
        let misses = match self.avx512 {
            #[cfg(target_arch = "x86_64")]
            Some(_) if LEVELS == 1 && C::AVX512 => {
                let (window, mut straight, mut crossed) =
                    (self.window, self.straight, self.crossed);
                let (cascades, spill) =
                    ([&mut straight, &mut crossed], |x: &_, y: &_| self.spill(x, y));
                // SAFETY: there is an `Avx512` only where its features were found.
                let misses =
                    unsafe { super::avx512::complex_products((x, y), &window, cascades, spill) };
                (self.straight, self.crossed) = (straight, crossed);
                misses
            }
            _ if LEVELS == 1 && C::AVX512 => {
                unreachable!("code for AVX-512 runs where it was found")
            }
            _ => self.portable(x, y),
        };
        self.drain();
        misses
    }

    /// The same by what the compiler makes of it.
    #[inline(always)]
    fn portable(&mut self, x: &[[F; LANES]], y: &[[F; LANES]]) -> usize {
        let (window, mut misses) = (self.window, 0);
        let (mut straight, mut crossed) = (self.straight, self.crossed);
        for at in streamed_in_pairs(x.len().min(y.len())) {
            let (x, y) = (&x[at], &y[at]);
            prefetch(x);
            prefetch(y);
            let mut products = [[F::Product::default(); LANES]; 2];
            let mut inside = true;
            for lane in 0..LANES {
                products[0][lane] = x[lane].product(y[lane]);
                products[1][lane] = x[lane].product(y[lane ^ 1]);
                inside &= window.contains(products[0][lane]) & window.contains(products[1][lane]);
            }
            if inside {
                for lane in 0..LANES {
                    let error = x[lane].error(y[lane], products[0][lane]);
                    straight.deposit_product(lane, (products[0][lane].wide(), error));
                    let error = x[lane].error(y[lane ^ 1], products[1][lane]);
                    crossed.deposit_product(lane, (products[1][lane].wide(), error));
                }
            } else {
                let mut missed = false;
                for lane in 0..LANES {
                    for (k, cascade) in [&mut straight, &mut crossed].into_iter().enumerate() {
                        let (other, product) = (y[lane ^ k], products[k][lane]);
                        let takes = takes(&window, x[lane], other, product);
                        missed |= !takes;
                        let both = (product.wide(), x[lane].error(other, product));
                        cascade.deposit_product(lane, if takes { both } else { (0.0, 0.0) });
                    }
                }
                if missed {
                    misses += self.spill(x, y);
                }
            }
        }
        (self.straight, self.crossed) = (straight, crossed);
        misses
    }

    fn drain(&mut self) {
        let [re, im] = self.spills.each_mut().map(|spill| &mut spill.register.fixed);
        self.straight.drain_into(re, 2 * F::UNIT, 0, 2);
        let mut odd = Fixed::default();
        self.straight.drain_into(&mut odd, 2 * F::UNIT, 1, 2);
        re.subtract(&odd);
        self.crossed.drain_into(im, 2 * F::UNIT, 0, 1);
    }

    /// The products of a group that miss the window, one by one.
    #[inline(never)]
    fn spill(&mut self, x: &[F; LANES], y: &[F; LANES]) -> usize {
        let window = self.window;
        self.add_each(x, y, |x, y| !takes(&window, x, y, x.product(y)))
    }

    /// Adds the products that a condition picks to the spills; returns how many.
    #[inline(always)]
    fn add_each(&mut self, x: &[F], y: &[F], picks: impl Fn(F, F) -> bool) -> usize {
        for spill in &mut self.spills {
            spill.reserve(x.len());
        }
        let [re, im] = &mut self.spills;
        let mut picked = 0;
        let mut add = |to: &mut Spill<F::ProductLimbs>, x: F, y: F, negate: bool| {
            if picks(x, y) {
                picked += 1;
                to.add_product(x, y, negate);
            }
        };
        for ([a, b], [c, d]) in x.as_chunks::<2>().0.iter().zip(y.as_chunks::<2>().0) {
            add(re, *a, *c, false);
            add(re, *b, *d, true);
            add(im, *a, *d, false);
            add(im, *b, *c, false);
        }
        picked
    }

    #[inline(always)]
    fn block<C: Target>(&mut self, x: &[F], y: &[F]) {
        if !C::VECTORS {
            self.add_each(x, y, |_, _| true);
            return;
        }
        let way = self.adapt.way();
        if way == Way::Bins {
            self.add_each(x, y, |_, _| true);
            return;
        }
        if way == Way::NewWindow {
            let top = top_field(x.iter().zip(y).map(|(x, y)| x.product(*y)));
            self.window = Window::below(top, product_bounds::<F>(LEVELS));
            self.straight = Cascade::new(self.window.end(), product_grid::<F>(&self.window));
            self.crossed = self.straight;
        }
        let ((xs, x_tail), (ys, y_tail)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
        let (last_x, last_y) = (padded(x_tail), padded(y_tail));
        let mut misses = 0;
        for (xs, ys) in [(xs, ys), (last_x.as_slice(), last_y.as_slice())] {
            misses += self.windowed::<C>(xs, ys);
        }
        self.adapt.note(misses, 2 * x.len());
    }
}

impl<F: Lane, const LEVELS: usize, const LANES: usize> ArrayFold<(&[F], &[F])>
    for ComplexDotFold<F, LEVELS, LANES>
{
    type Partial = Summed<F::ProductLimbs, 2>;

    #[inline(always)]
    fn take<C: Target>(&mut self, (x, y): (&[F], &[F]), _first: u64) {
        self.seen += x.len() as u64;
        for (x, y) in x.chunks(Self::BLOCK).zip(y.chunks(Self::BLOCK)) {
            let kept;
            let (x, y) = match self.nan {
                Nan::Ignore if any_nan(x) | any_nan(y) => {
                    kept = pairs_without_nan::<F, 2>(x, y, &mut self.skipped);
                    (kept.0.as_slice(), kept.1.as_slice())
                }
                _ => (x, y),
            };
            self.block::<C>(x, y);
        }
    }

    fn finish(self) -> Self::Partial {
        Summed { parts: self.spills.map(Spill::finish), counted: self.seen - self.skipped }
    }
}

#[cfg(test)]
mod tests {
    use warpfold_exact::exact::Dot;
    use warpfold_num::Complex;
    use warpfold_num::random::Words;
    use warpfold_plan::plan::{Isa, Plan, Problem, choose};

    use crate::kernels::Kernels;
    use crate::{Op, Policy};

    fn agree<T: Kernels>(x: &[T], y: &[T]) {
        let mut expected = Dot::<T>::new();
        x.iter().zip(y).for_each(|(&x, &y)| expected.add(x, y));
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            let policy = Policy { isa: Some(isa), ..Policy::default() };
            let problem = Problem { op: Op::Dot, dtype: T::DTYPE, n: x.len() as u64, policy };
            let plan = Plan { threads: 1, ..choose(problem, crate::facts()) };
            assert_eq!(T::exact_dot(&plan, x, y, 0), expected, "{} {} {isa}", T::DTYPE, x.len());
        }
    }

    /// Numbers near each other, with zeros and some far off, whose products miss the window.
    macro_rules! agree_on {
        ($ty:ty) => {{
            let mut words = Words(3);
            let mut number = |k: usize| {
                let scale = [1.0, 1.0, 0.0, 1e-30, 1e25][if k % 97 < 4 { k % 97 + 1 } else { 0 }];
                ((2.0 * words.fraction() - 1.0) * scale) as $ty
            };
            let mut number = |k| Complex::new(number(k), number(k / 2));
            let (mut x, y): (Vec<_>, Vec<_>) =
                (0..9000).map(|k| (number(k), number(3 * k))).unzip();
            for n in [0, 1, 7, 8, 9, 4096, 9000] {
                agree(&x[..n], &y[..n]);
            }
            for special in [<$ty>::INFINITY, <$ty>::NAN, <$ty>::MAX, <$ty>::from_bits(1)] {
                x[4321].im = special;
                agree(&x, &y);
            }
        }};
    }

    #[test]
    fn products_of_complex_numbers_leave_what_each_does() {
        agree_on!(f32);
        agree_on!(f64);
    }
}
