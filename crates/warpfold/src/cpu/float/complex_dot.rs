//! The exact dot product of two arrays of complex numbers, without conjugation.

use super::dot::{product_bounds, product_grid, takes};
use super::nan::{any_nan, pairs_without_nan};
use super::window::top_field;
use super::{Adapt, Cascade, LOG_ADDS, Lane, Spill, Summed, Window, adapt::Way};
use crate::Nan;
use crate::cpu::executor::Fold;
use crate::cpu::isa::prefetch_group;

/// A complex dot product in progress over interleaved parts: `FLOATS` floats are `LANES` numbers.
pub(in crate::cpu) struct ComplexDotFold<
    F: Lane,
    const LEVELS: usize,
    const LANES: usize,
    const FLOATS: usize,
> {
    nan: Nan,
    adapt: Adapt,
    window: Window<f64>,
    /// Real and imaginary.
    cascades: [Cascade<LEVELS, LANES>; 2],
    spills: [Spill<F::ProductLimbs>; 2],
    seen: u64,
    skipped: u64,
}

/// The four products of `(a + bi)(c + di)`: `ac`, `-bd` are real, `ad`, `bc` imaginary. Negating a factor negates exactly.
#[inline(always)]
fn products<F: Lane>(x: &[F], y: &[F]) -> [(f64, f64); 4] {
    let (bd, bd_error) = x[1].product(y[1]);
    [x[0].product(y[0]), (-bd, -bd_error), x[0].product(y[1]), x[1].product(y[0])]
}

/// Which factors, and so which zeros, the four products have.
const FACTORS: [(usize, usize); 4] = [(0, 0), (1, 1), (0, 1), (1, 0)];

impl<F: Lane, const LEVELS: usize, const LANES: usize, const FLOATS: usize>
    ComplexDotFold<F, LEVELS, LANES, FLOATS>
{
    /// Each number deposits twice, so half as many numbers fill a lane.
    const BLOCK: usize = FLOATS << (LOG_ADDS - 1);

    pub(in crate::cpu) fn new(nan: Nan) -> Self {
        let window = Window::below(f64::FIELD_ONE, product_bounds::<F>(LEVELS));
        ComplexDotFold {
            nan,
            adapt: Adapt::new(),
            window,
            cascades: [Cascade::new(window.end(), product_grid::<F>(&window)); 2],
            spills: std::array::from_fn(|_| Spill::new(2 * F::MANTISSA_BITS, 2 * F::SHIFTS)),
            seen: 0,
            skipped: 0,
        }
    }

    #[inline(always)]
    fn windowed(&mut self, x: &[[F; FLOATS]], y: &[[F; FLOATS]]) -> usize {
        let (window, mut cascades, mut misses) = (self.window, self.cascades, 0);
        for (x, y) in x.iter().zip(y) {
            prefetch_group(x);
            prefetch_group(y);
            let mut missed = false;
            for lane in 0..LANES {
                let (a, b) = (&x[2 * lane..2 * lane + 2], &y[2 * lane..2 * lane + 2]);
                let products = products(a, b);
                // A number whose every product fits goes in whole; else all four are spilled.
                let mut fits = true;
                for (&(i, k), product) in FACTORS.iter().zip(&products) {
                    fits &= takes(&window, a[i], b[k], product.0);
                }
                missed |= !fits;
                for (k, product) in products.into_iter().enumerate() {
                    cascades[k / 2].deposit_product(lane, if fits { product } else { (0.0, 0.0) });
                }
            }
            if missed {
                misses += self.spill(x, y);
            }
        }
        self.cascades = cascades;
        for (cascade, spill) in self.cascades.iter_mut().zip(&mut self.spills) {
            cascade.drain_into(&mut spill.register.fixed, 2 * F::UNIT, 0, 1);
        }
        misses
    }

    /// The numbers of a group that miss the window, one by one.
    #[inline(never)]
    fn spill(&mut self, x: &[F; FLOATS], y: &[F; FLOATS]) -> usize {
        let window = self.window;
        self.add_each(x, y, |a, b| {
            let fits =
                |(&(i, k), p): (&(usize, usize), &(f64, f64))| takes(&window, a[i], b[k], p.0);
            !FACTORS.iter().zip(&products(a, b)).all(fits)
        })
    }

    /// Adds the numbers that a condition picks to the spills; returns how many.
    #[inline(always)]
    fn add_each(&mut self, x: &[F], y: &[F], picks: impl Fn(&[F; 2], &[F; 2]) -> bool) -> usize {
        for spill in &mut self.spills {
            spill.reserve(x.len());
        }
        let [re, im] = &mut self.spills;
        let mut picked = 0;
        for (a, b) in x.as_chunks::<2>().0.iter().zip(y.as_chunks::<2>().0) {
            if picks(a, b) {
                picked += 1;
                re.add_product(a[0], b[0], false);
                re.add_product(a[1], b[1], true);
                im.add_product(a[0], b[1], false);
                im.add_product(a[1], b[0], false);
            }
        }
        picked
    }

    #[inline(always)]
    fn block(&mut self, x: &[F], y: &[F]) {
        let way = self.adapt.way();
        if way == Way::Bins {
            self.add_each(x, y, |_, _| true);
            return;
        }
        if way == Way::NewWindow {
            let top = top_field(x.iter().zip(y).map(|(x, y)| x.product(*y).0));
            self.window = Window::below(top, product_bounds::<F>(LEVELS));
            self.cascades = [Cascade::new(self.window.end(), product_grid::<F>(&self.window)); 2];
        }
        let ((xs, x_tail), (ys, y_tail)) = (x.as_chunks::<FLOATS>(), y.as_chunks::<FLOATS>());
        let mut misses = self.windowed(xs, ys);
        if !x_tail.is_empty() {
            let (mut x, mut y) = ([F::default(); FLOATS], [F::default(); FLOATS]);
            x[..x_tail.len()].copy_from_slice(x_tail);
            y[..y_tail.len()].copy_from_slice(y_tail);
            misses += self.windowed(&[x], &[y]);
        }
        self.adapt.note(misses, x.len() / 2);
    }
}

impl<F: Lane, const LEVELS: usize, const LANES: usize, const FLOATS: usize> Fold<(&[F], &[F])>
    for ComplexDotFold<F, LEVELS, LANES, FLOATS>
{
    type Partial = Summed<F::ProductLimbs, 2>;

    #[inline(always)]
    fn take(&mut self, (x, y): (&[F], &[F]), _first: u64) {
        self.seen += x.len() as u64;
        for (x, y) in x.chunks(Self::BLOCK).zip(y.chunks(Self::BLOCK)) {
            match self.nan {
                Nan::Ignore if any_nan(x) | any_nan(y) => {
                    let (x, y, skipped) = pairs_without_nan::<F, 2>(x, y);
                    self.skipped += skipped;
                    self.block(&x, &y);
                }
                _ => self.block(x, y),
            }
        }
    }

    fn finish(self) -> Self::Partial {
        Summed { parts: self.spills.map(Spill::finish), counted: self.seen - self.skipped }
    }
}
