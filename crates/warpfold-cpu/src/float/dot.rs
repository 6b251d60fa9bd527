//! The exact dot product of two arrays of floats.

use super::block::{any_nan, padded, pairs_without_nan};
use super::steps::Tries;
#[cfg(target_arch = "x86_64")]
use super::steps::{STEP, additions};
use super::window::{Bounds, top_field};
use super::{Adapt, Cascade, LOG_ADDS, Lane, Spill, Summed, Window, adapt::Way};
use crate::Nan;
use crate::executor::ArrayFold;
use crate::isa::{Avx512, Target};
use crate::memory::{prefetch, streamed_in_pairs};
use warpfold_plan::plan::Isa;

/// A dot product in progress. The window is one of products: what counts is where they lie, not where the factors do.
pub(crate) struct DotFold<F: Lane, const LEVELS: usize, const LANES: usize> {
    nan: Nan,
    avx512: Option<Avx512>,
    adapt: Adapt,
    window: Window<F::Product>,
    cascade: Cascade<LEVELS, LANES>,
    /// Additions that a lane of the cascade has taken since it was emptied, at most.
    pending: usize,
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no steps are tried"))]
    tries: Tries,
    pub(super) spill: Spill<F::ProductLimbs>,
    seen: u64,
    skipped: u64,
}

/// A product of p-bit factors has 2p bits. Of `2^k` such deposits plain addition holds `W <= 54 - 2p - k` binades, one level
/// `W <= 106 - 2p - 2k`, three `W <= 99 - 4k`, by the cascade's bound. Products must be normal, errors of f64 products must not
/// underflow (`E - 105 >= -1074`), and the first bias must be finite.
pub(super) const fn product_bounds<F: Lane>(levels: usize) -> Bounds {
    match levels {
        0 => Bounds {
            width: 54 - 2 * F::MANTISSA_BITS - LOG_ADDS,
            low: 2,
            high: F::Product::FIELD_MAX,
        },
        1 => Bounds {
            width: 106 - 2 * F::MANTISSA_BITS - 2 * LOG_ADDS,
            low: (1023 + 2 * F::UNIT) as u32,
            high: 2046,
        },
        _ => Bounds { width: 99 - 4 * LOG_ADDS, low: 1023 - 969, high: 2047 - LOG_ADDS - 3 },
    }
}

/// The exponent of the last bit that a product inside the window can have.
pub(super) fn product_grid<F: Lane>(window: &Window<F::Product>) -> i32 {
    window.low_field as i32 - F::Product::FIELD_ONE as i32 - 2 * F::MANTISSA_BITS as i32 + 1
}

/// Whether a product may be added inside the window: it lies there, or a factor is zero and the other finite.
#[inline(always)]
pub(super) fn takes<F: Lane>(window: &Window<F::Product>, x: F, y: F, product: F::Product) -> bool {
    let zero = F::default();
    let vanishes = ((x == zero) | (y == zero)) & (product == F::Product::default());
    (window.contains(product) | vanishes) & x.shows() & y.shows()
}

impl<F: Lane, const LEVELS: usize, const LANES: usize> DotFold<F, LEVELS, LANES> {
    const BLOCK: usize = LANES << LOG_ADDS;

    pub(crate) fn new(isa: Isa, nan: Nan) -> Self {
        let window = Window::below(F::Product::FIELD_ONE, product_bounds::<F>(LEVELS));
        DotFold {
            nan,
            avx512: Avx512::found(isa),
            adapt: Adapt::new(),
            window,
            cascade: Cascade::new(window.end(), product_grid::<F>(&window)),
            pending: 0,
            tries: Tries::default(),
            spill: Spill::new(2 * F::MANTISSA_BITS, 2 * F::SHIFTS),
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
        #[cfg(target_arch = "x86_64")]
        // Of other types steps take longer from memory, whatever they take in the cache.
        if matches!(C::ISA, Isa::Avx2) && F::MANTISSA_BITS == 11 && self.tries.next(x.len()) {
            return self.in_steps::<C>(x, y);
        }
        self.reserve(x.len());
        match self.avx512 {
            #[cfg(target_arch = "x86_64")]
            Some(_) if LEVELS <= 1 && C::AVX512 => {
                let (window, mut cascade) = (self.window, self.cascade);
                let spill = |x: &_, y: &_| self.spill(x, y);
                // SAFETY: there is an `Avx512` only where its features were found.
                let misses =
                    unsafe { super::avx512::products((x, y), &window, &mut cascade, spill) };
                self.cascade = cascade;
                misses
            }
            _ if LEVELS <= 1 && C::AVX512 => {
                unreachable!("code for AVX-512 runs where it was found")
            }
            _ => self.portable(x, y),
        }
    }

    /// Makes room for additions.
    #[inline(always)]
    fn reserve(&mut self, additions: usize) {
        if self.pending + additions > 1 << LOG_ADDS {
            self.drain();
        }
        self.pending += additions;
    }

    /// The same by registers of AVX2, step by step.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn in_steps<C: Target>(&mut self, x: &[[F; LANES]], y: &[[F; LANES]]) -> usize {
        use super::avx2::{DOT_LANES, products};
        let (few, mut misses, mut all_left) = (DOT_LANES, 0, 0);
        // Half as many as a lane takes: one that took all of its steps may be given all groups that were left.
        const CHUNK: usize = 1 << (LOG_ADDS - 1);
        for (xs, ys) in x.chunks(CHUNK).zip(y.chunks(CHUNK)) {
            self.reserve(additions(xs.len(), LANES, few) + xs.len());
            let (mut order, mut first) = (streamed_in_pairs(xs.len()), 0);
            for start in (0..xs.len()).step_by(STEP) {
                let mut of_step = [(&xs[0], &ys[0]); STEP];
                let count = STEP.min(xs.len() - start);
                for (group, at) in of_step.iter_mut().zip(order.by_ref().take(count)) {
                    *group = (&xs[at], &ys[at]);
                }
                // SAFETY: code for AVX2 runs where that was found.
                let mut left = unsafe {
                    products::<F, LEVELS, LANES>(
                        &of_step[..count],
                        &self.window,
                        &mut self.cascade,
                        first,
                    )
                };
                first = (first + few) % LANES;
                if left == 0 {
                    continue;
                }
                let (mut kept, mut count) = ([[[F::default(); LANES]; STEP]; 2], 0);
                while left != 0 {
                    let (x, y) = of_step[left.trailing_zeros() as usize];
                    (kept[0][count], kept[1][count]) = (*x, *y);
                    left &= left - 1;
                    count += 1;
                }
                all_left += count;
                misses += self.portable(&kept[0][..count], &kept[1][..count]);
            }
        }
        self.tries.note(all_left, x.len());
        misses
    }

    /// Empties the lanes into the register: pieces that are shorter than a block share one emptying.
    #[inline(always)]
    fn drain(&mut self) {
        self.cascade.drain_into(&mut self.spill.register.fixed, 2 * F::UNIT, 0, 1);
        self.pending = 0;
    }

    /// The same by what the compiler makes of it.
    #[inline(always)]
    fn portable(&mut self, x: &[[F; LANES]], y: &[[F; LANES]]) -> usize {
        let (window, mut cascade, mut misses) = (self.window, self.cascade, 0);
        for at in streamed_in_pairs(x.len().min(y.len())) {
            let (x, y) = (&x[at], &y[at]);
            prefetch(x);
            prefetch(y);
            let mut products = [F::Product::default(); LANES];
            let mut inside = true;
            for lane in 0..LANES {
                products[lane] = x[lane].product(y[lane]);
                inside &= window.contains(products[lane]) & x[lane].shows() & y[lane].shows();
            }
            if inside {
                for lane in 0..LANES {
                    let error = x[lane].error(y[lane], products[lane]);
                    cascade.deposit_product(lane, (products[lane].wide(), error));
                }
            } else {
                let mut missed = false;
                for lane in 0..LANES {
                    let product = products[lane];
                    let takes = takes(&window, x[lane], y[lane], product);
                    missed |= !takes;
                    let both = (product.wide(), x[lane].error(y[lane], product));
                    cascade.deposit_product(lane, if takes { both } else { (0.0, 0.0) });
                }
                if missed {
                    misses += self.spill(x, y);
                }
            }
        }
        self.cascade = cascade;
        misses
    }

    /// The products of a group that miss the window, one by one.
    #[inline(never)]
    fn spill(&mut self, x: &[F; LANES], y: &[F; LANES]) -> usize {
        let window = self.window;
        self.add_each(x, y, |x, y| !takes(&window, x, y, x.product(y)))
    }

    /// Adds the products that a condition picks to the spill; returns how many.
    #[inline(always)]
    fn add_each(&mut self, x: &[F], y: &[F], picks: impl Fn(F, F) -> bool) -> usize {
        self.spill.reserve(x.len());
        let mut picked = 0;
        for (&x, &y) in x.iter().zip(y) {
            if picks(x, y) {
                picked += 1;
                self.spill.add_product(x, y, false);
            }
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
            self.drain();
            let top = top_field(x.iter().zip(y).map(|(x, y)| x.product(*y)));
            self.window = Window::below(top, product_bounds::<F>(LEVELS));
            self.cascade = Cascade::new(self.window.end(), product_grid::<F>(&self.window));
        }
        let ((xs, x_tail), (ys, y_tail)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
        let (last_x, last_y) = (padded(x_tail), padded(y_tail));
        let mut misses = 0;
        for (xs, ys) in [(xs, ys), (last_x.as_slice(), last_y.as_slice())] {
            misses += self.windowed::<C>(xs, ys);
        }
        self.adapt.note(misses, x.len());
    }
}

impl<F: Lane, const LEVELS: usize, const LANES: usize> ArrayFold<(&[F], &[F])>
    for DotFold<F, LEVELS, LANES>
{
    type Partial = Summed<F::ProductLimbs, 1>;

    #[inline(always)]
    fn take<C: Target>(&mut self, (x, y): (&[F], &[F]), _first: u64) {
        self.seen += x.len() as u64;
        for (x, y) in x.chunks(Self::BLOCK).zip(y.chunks(Self::BLOCK)) {
            let kept;
            let (x, y) = match self.nan {
                Nan::Ignore if any_nan(x) | any_nan(y) => {
                    kept = pairs_without_nan::<F, 1>(x, y, &mut self.skipped);
                    (kept.0.as_slice(), kept.1.as_slice())
                }
                _ => (x, y),
            };
            self.block::<C>(x, y);
        }
    }

    fn finish(mut self) -> Self::Partial {
        self.drain();
        Summed { parts: [self.spill.finish()], counted: self.seen - self.skipped }
    }
}
