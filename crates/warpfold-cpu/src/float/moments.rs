//! Exact sum and sum of squares of floats, in one pass.

use super::block::{any_nan, padded, without_nan};
use super::near::Near;
use super::window::{Bounds, short_bounds, top_field};
use super::{Adapt, Cascade, LOG_ADDS, Lane, Spill, Squared, Window, adapt::Way};
use crate::Nan;
use crate::executor::ArrayFold;
use crate::isa::{Avx512, Target};
use crate::memory::{prefetch, streamed, streamed_by};
use warpfold_plan::plan::Isa;

/// Moments in progress over `PARTS` interleaved components; with one of `NORMS`, the sum of the magnitudes too, for which a window
/// of the values serves as well.
///
/// Narrow types: the value by plain addition (`SUM_LEVELS` 0), its square, exact in f64, by one level. f64: the value by one
/// level, the rounded square and its error by three. 16-bit values that lie near each other: four by one addition, and their squares
/// by plain ones.
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
    /// Of 16-bit floats: a window whose values add up by fours in f32, and their squares without a level.
    near: Window<F>,
    near_squares: Cascade<0, LANES>,
    /// Of f64: a narrower window, and what lies in it.
    narrower: Near<F, NORMS>,
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

    /// Squares of near values are integers below `2^(2W + 2p - 2)` on their grid, of which 2^k stay below 2^53.
    const NEAR: Bounds = {
        let near = short_bounds::<F>();
        let bits = 2 * near.width + 2 * F::MANTISSA_BITS - 2;
        assert!(!F::ADD_SHORT || bits + LOG_ADDS <= 53, "near squares add up in f64");
        near
    };

    pub(crate) fn new(isa: Isa, nan: Nan) -> Self {
        let window = Window::below(F::FIELD_ONE, Self::BOUNDS);
        let (sum, squares) = Self::cascades(&window);
        let near = Window::below(F::FIELD_ONE, Self::NEAR);
        MomentsFold {
            nan,
            avx512: Avx512::found(isa),
            adapt: Adapt::new(),
            window,
            sum,
            squares,
            norms: [sum; NORMS],
            near,
            near_squares: Self::near_cascade(&near),
            narrower: Near::below(F::FIELD_ONE),
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

    fn near_cascade(near: &Window<F>) -> Cascade<0, LANES> {
        Cascade::new(2 * (near.end() + F::SCALE), 2 * (near.grid() + F::SCALE))
    }

    /// A block of whole groups inside the window; returns how many values missed it.
    #[inline(always)]
    fn windowed<C: Target>(&mut self, groups: &[[F; LANES]]) -> usize {
        if groups.is_empty() {
            return 0;
        }
        let additions = Self::additions::<C>(groups.len());
        if self.pending + additions > 1 << LOG_ADDS {
            self.drain();
        }
        self.pending += additions;
        match self.avx512 {
            #[cfg(target_arch = "x86_64")]
            Some(_) if SQUARE_LEVELS == 1 && C::AVX512 => {
                let ahead = steps::ahead_of(size_of_val(groups));
                let windows = [self.window, self.near];
                let (mut sum, mut squares, mut norms) = (self.sum, self.squares, self.norms);
                let mut near_squares = self.near_squares;
                let cascades = (&mut sum, &mut squares, &mut norms, &mut near_squares);
                let spill = |group: &_| self.spill(group);
                // SAFETY: there is an `Avx512` only where its features were found.
                let misses =
                    unsafe { super::avx512::squares(groups, &windows, cascades, ahead, spill) };
                (self.sum, self.squares, self.norms) = (sum, squares, norms);
                self.near_squares = near_squares;
                misses
            }
            _ if SQUARE_LEVELS == 1 && C::AVX512 => {
                unreachable!("code for AVX-512 runs where it was found")
            }
            #[cfg(target_arch = "x86_64")]
            _ if !matches!(C::ISA, Isa::Baseline) && Self::STEPS => self.in_steps::<C>(groups),
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
        if F::ADD_SHORT {
            self.near_squares.drain_into(squares, 2 * (F::UNIT + F::SCALE), 0, 1);
        }
        if Near::<F, NORMS>::IS_USED {
            let (sums, norms) = (&mut self.sum_spills, &mut self.norm_spills);
            self.narrower.empty_into(sums, norms, &mut self.square_spill);
        }
        self.pending = 0;
    }

    /// Adds what of a group lies inside the window; says whether anything else than zeros does not.
    #[inline(always)]
    fn deposit_group(
        window: &Window<F>,
        (sum, squares, norms): (
            &mut Cascade<SUM_LEVELS, LANES>,
            &mut Cascade<SQUARE_LEVELS, LANES>,
            &mut [Cascade<SUM_LEVELS, LANES>; NORMS],
        ),
        group: &[F; LANES],
    ) -> bool {
        prefetch(group);
        let mut deposit = |lane, x: f64| {
            sum.deposit(0, lane, x);
            squares.deposit_product(lane, square(x));
            for norm in norms.iter_mut() {
                norm.deposit(0, lane, x.abs());
            }
        };
        let mut inside = true;
        for x in group {
            inside &= window.contains(*x);
        }
        let mut missed = false;
        if inside {
            for (lane, &x) in group.iter().enumerate() {
                deposit(lane, x.wide());
            }
        } else {
            for (lane, &x) in group.iter().enumerate() {
                let takes = window.takes(x);
                missed |= !takes;
                let x = if takes { x } else { F::default() };
                deposit(lane, x.wide());
            }
        }
        missed
    }

    /// The same by what the compiler makes of it.
    #[inline(always)]
    fn portable(&mut self, groups: &[[F; LANES]]) -> usize {
        let (window, near) = (self.window, self.near);
        let (mut sum, mut squares, mut norms) = (self.sum, self.squares, self.norms);
        let mut near_squares = self.near_squares;
        let mut misses = 0;
        if !F::ADD_SHORT {
            for at in streamed(groups.len()) {
                let cascades = (&mut sum, &mut squares, &mut norms);
                if Self::deposit_group(&window, cascades, &groups[at]) {
                    misses += self.spill(&groups[at]);
                }
            }
            (self.sum, self.squares, self.norms) = (sum, squares, norms);
            return misses;
        }
        for (at, count) in streamed_by(true, groups.len()) {
            if count == at.len() {
                let four @ [a, b, c, d] = at.map(|at| &groups[at]);
                let mut inside = true;
                for group in four {
                    prefetch(group);
                    for x in group {
                        inside &= near.contains(*x);
                    }
                }
                if inside {
                    for lane in 0..LANES {
                        let add = |x: f32, y: f32, z: f32, w: f32| f64::from((x + y) + (z + w));
                        let [x, y, z, w] = [a, b, c, d].map(|group| group[lane].short());
                        sum.deposit(0, lane, add(x, y, z, w));
                        for norm in &mut norms {
                            norm.deposit(0, lane, add(x.abs(), y.abs(), z.abs(), w.abs()));
                        }
                        near_squares.add_squares(lane, [x, y, z, w].map(f64::from));
                    }
                    continue;
                }
            }
            for &at in &at[..count] {
                let cascades = (&mut sum, &mut squares, &mut norms);
                if Self::deposit_group(&window, cascades, &groups[at]) {
                    misses += self.spill(&groups[at]);
                }
            }
        }
        (self.sum, self.squares, self.norms) = (sum, squares, norms);
        self.near_squares = near_squares;
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
            let top = top_field(x.iter().copied());
            self.window = Window::below(top, Self::BOUNDS);
            (self.sum, self.squares) = Self::cascades(&self.window);
            self.norms = [self.sum; NORMS];
            self.near = Window::below(top, Self::NEAR);
            self.near_squares = Self::near_cascade(&self.near);
            self.narrower = Near::below(top);
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

mod steps;

#[cfg(test)]
mod tests;
