//! Exact sum and sum of squares of floats, in one pass.

use super::block::{any_nan, padded, without_nan};
use super::window::{Bounds, top_field};
use super::{Adapt, Cascade, LOG_ADDS, Lane, Spill, Squared, Window, adapt::Way};
use crate::Nan;
use crate::executor::ArrayFold;
use crate::isa::{Avx512, Target};
use crate::memory::{prefetch, streamed};
use warpfold_plan::plan::Isa;

/// Moments in progress over `PARTS` interleaved components; with one of `NORMS`, the sum of the magnitudes too, for which a window
/// of the values serves as well.
///
/// Narrow types: the value by plain addition (`SUM_LEVELS` 0), its square, exact in f64, by one level. f64: the value by one
/// level, the rounded square and its error by three.
pub(crate) struct MomentsFold<
    F: Lane,
    const SUM_LEVELS: usize,
    const SQUARE_LEVELS: usize,
    const LANES: usize,
    const PARTS: usize,
    const NORMS: usize = 0,
> {
    nan: Nan,
    avx512: Option<Avx512>,
    adapt: Adapt,
    window: Window<F>,
    sum: Cascade<SUM_LEVELS, LANES>,
    squares: Cascade<SQUARE_LEVELS, LANES>,
    norms: [Cascade<SUM_LEVELS, LANES>; NORMS],
    /// Additions that a lane of the cascades has taken since they were emptied, at most.
    pending: usize,
    sum_spills: [Spill<F::SumLimbs, F::Bin>; PARTS],
    norm_spills: [Spill<F::SumLimbs, F::Bin>; NORMS],
    square_spill: Spill<F::ProductLimbs>,
    seen: u64,
    skipped: u64,
}

impl<
    F: Lane,
    const SUM_LEVELS: usize,
    const SQUARE_LEVELS: usize,
    const LANES: usize,
    const PARTS: usize,
    const NORMS: usize,
> MomentsFold<F, SUM_LEVELS, SQUARE_LEVELS, LANES, PARTS, NORMS>
{
    const BLOCK: usize = LANES << LOG_ADDS;

    /// Squares of p-bit values are multiples of `2^(2E - 2p + 2)` below `2^2H`. With one level the leftovers, each at most
    /// `2^(2H + k - 52)`, fit if `2W <= 107 - 2p - 2k`; with three, by the cascade's bound, if `2W <= 100 - 4k`. The errors of f64
    /// squares must not underflow (`2E - 104 >= -1074`) and the first bias must be finite (`2H + k + 1 <= 1023`).
    const BOUNDS: Bounds = match SQUARE_LEVELS {
        1 => Bounds {
            width: (107 - 2 * F::MANTISSA_BITS - 2 * LOG_ADDS) / 2,
            low: 0,
            high: F::FIELD_MAX,
        },
        _ => Bounds {
            width: (100 - 4 * LOG_ADDS) / 2,
            low: 1023 - 485,
            high: 1023 + (1022 - LOG_ADDS) / 2,
        },
    };

    pub(crate) fn new(isa: Isa, nan: Nan) -> Self {
        let window = Window::below(F::FIELD_ONE, Self::BOUNDS);
        let (sum, squares) = Self::cascades(&window);
        MomentsFold {
            nan,
            avx512: Avx512::found(isa),
            adapt: Adapt::new(),
            window,
            sum,
            squares,
            norms: [sum; NORMS],
            pending: 0,
            sum_spills: std::array::from_fn(|_| Spill::new(F::MANTISSA_BITS, F::SHIFTS)),
            norm_spills: std::array::from_fn(|_| Spill::new(F::MANTISSA_BITS, F::SHIFTS)),
            square_spill: Spill::new(2 * F::MANTISSA_BITS, 2 * F::SHIFTS),
            seen: 0,
            skipped: 0,
        }
    }

    fn cascades(window: &Window<F>) -> (Cascade<SUM_LEVELS, LANES>, Cascade<SQUARE_LEVELS, LANES>) {
        let (end, grid) = (window.end() + F::SCALE, window.grid() + F::SCALE);
        (Cascade::new(end, grid), Cascade::new(2 * end, 2 * grid))
    }

    /// A block of whole groups inside the window; returns how many values missed it.
    #[inline(always)]
    fn windowed<C: Target>(&mut self, groups: &[[F; LANES]]) -> usize {
        if groups.is_empty() {
            return 0;
        }
        if self.pending + groups.len() > 1 << LOG_ADDS {
            self.drain();
        }
        self.pending += groups.len();
        match self.avx512 {
            #[cfg(target_arch = "x86_64")]
            Some(_) if SQUARE_LEVELS == 1 && C::AVX512 => {
                let window = self.window;
                let (mut sum, mut squares, mut norms) = (self.sum, self.squares, self.norms);
                let cascades = (&mut sum, &mut squares, &mut norms);
                let spill = |group: &_| self.spill(group);
                // SAFETY: there is an `Avx512` only where its features were found.
                let misses = unsafe { super::avx512::squares(groups, &window, cascades, spill) };
                (self.sum, self.squares, self.norms) = (sum, squares, norms);
                misses
            }
            _ if SQUARE_LEVELS == 1 && C::AVX512 => {
                unreachable!("code for AVX-512 runs where it was found")
            }
            _ => self.portable(groups),
        }
    }

    /// Empties the lanes into the registers: pieces that are shorter than a block share one emptying.
    #[inline(always)]
    fn drain(&mut self) {
        for (part, spill) in self.sum_spills.iter_mut().enumerate() {
            self.sum.drain_into(&mut spill.register.fixed, F::UNIT + F::SCALE, part, PARTS);
        }
        for (norm, spill) in self.norms.iter_mut().zip(&mut self.norm_spills) {
            norm.drain_into(&mut spill.register.fixed, F::UNIT + F::SCALE, 0, 1);
        }
        let squares = &mut self.square_spill.register.fixed;
        self.squares.drain_into(squares, 2 * (F::UNIT + F::SCALE), 0, 1);
        self.pending = 0;
    }

    /// The same by what the compiler makes of it.
    #[inline(always)]
    fn portable(&mut self, groups: &[[F; LANES]]) -> usize {
        let (window, mut sum, mut squares, mut norms) =
            (self.window, self.sum, self.squares, self.norms);
        let mut deposit = |lane, x: f64| {
            sum.deposit(0, lane, x);
            squares.deposit_product(lane, square(x));
            for norm in &mut norms {
                norm.deposit(0, lane, x.abs());
            }
        };
        let mut misses = 0;
        for at in streamed(groups.len()) {
            let group = &groups[at];
            prefetch(group);
            let mut inside = true;
            for x in group {
                inside &= window.contains(*x);
            }
            if inside {
                for (lane, &x) in group.iter().enumerate() {
                    deposit(lane, x.wide());
                }
            } else {
                let mut missed = false;
                for (lane, &x) in group.iter().enumerate() {
                    let takes = window.takes(x);
                    missed |= !takes;
                    let x = if takes { x } else { F::default() };
                    deposit(lane, x.wide());
                }
                if missed {
                    misses += self.spill(group);
                }
            }
        }
        (self.sum, self.squares, self.norms) = (sum, squares, norms);
        misses
    }

    /// The values of a group that miss the window, one by one.
    #[inline(never)]
    fn spill(&mut self, group: &[F; LANES]) -> usize {
        let window = self.window;
        self.add_each(group, |x| !window.takes(x))
    }

    /// Adds the values that a condition picks to the spills; returns how many.
    #[inline(always)]
    fn add_each(&mut self, x: &[F], picks: impl Fn(F) -> bool) -> usize {
        for spill in self.sum_spills.iter_mut().chain(&mut self.norm_spills) {
            spill.reserve(x.len());
        }
        self.square_spill.reserve(x.len());
        let mut picked = 0;
        for (i, &x) in x.iter().enumerate() {
            if picks(x) {
                picked += 1;
                self.sum_spills[i % PARTS].add_value(x, |negative| negative);
                for spill in &mut self.norm_spills {
                    spill.add_value(x, |_| false);
                }
                self.square_spill.add_product(x, x, false);
            }
        }
        picked
    }

    #[inline(always)]
    fn block<C: Target>(&mut self, x: &[F]) {
        if !C::VECTORS {
            self.add_each(x, |_| true);
            return;
        }
        let way = self.adapt.way();
        if way == Way::Bins {
            self.add_each(x, |_| true);
            return;
        }
        if way == Way::NewWindow {
            self.drain();
            self.window = Window::below(top_field(x.iter().copied()), Self::BOUNDS);
            (self.sum, self.squares) = Self::cascades(&self.window);
            self.norms = [self.sum; NORMS];
        }
        let (groups, tail) = x.as_chunks::<LANES>();
        let last = padded(tail);
        let mut misses = 0;
        for groups in [groups, last.as_slice()] {
            misses += self.windowed::<C>(groups);
        }
        self.adapt.note(misses, x.len());
    }
}

/// The rounded square and its error; of narrow values there is none, and [`Cascade::deposit_product`] does not look.
#[inline(always)]
fn square(x: f64) -> (f64, f64) {
    let square = x * x;
    (square, x.mul_add(x, -square))
}

impl<
    F: Lane,
    const SUM_LEVELS: usize,
    const SQUARE_LEVELS: usize,
    const LANES: usize,
    const PARTS: usize,
    const NORMS: usize,
> ArrayFold<&[F]> for MomentsFold<F, SUM_LEVELS, SQUARE_LEVELS, LANES, PARTS, NORMS>
{
    type Partial = Squared<F::SumLimbs, F::ProductLimbs, PARTS, NORMS>;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[F], _first: u64) {
        self.seen += piece.len() as u64;
        for block in piece.chunks(Self::BLOCK) {
            let kept;
            let block = match self.nan {
                Nan::Ignore if any_nan(block) => {
                    kept = without_nan::<F, PARTS>(block, &mut self.skipped);
                    &kept
                }
                _ => block,
            };
            self.block::<C>(block);
        }
    }

    fn finish(mut self) -> Self::Partial {
        self.drain();
        Squared {
            sum: self.sum_spills.map(Spill::finish),
            squares: self.square_spill.finish(),
            norms: self.norm_spills.map(Spill::finish),
            counted: self.seen - self.skipped,
        }
    }
}
