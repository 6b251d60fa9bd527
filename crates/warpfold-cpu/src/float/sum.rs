//! The exact sum of floats, or of their magnitudes.

use std::marker::PhantomData;

use super::block::{any_nan, padded, without_nan};
use super::steps::Tries;
#[cfg(target_arch = "x86_64")]
use super::steps::{STEP, additions};
use super::window::{Bounds, is_hopeless, short_bounds, top_field};
use super::{Adapt, Cascade, LOG_ADDS, Lane, Spill, Summed, Window, adapt::Way};
use crate::Nan;
use crate::executor::{ArrayFold, Split};
use crate::isa::{Avx512, Target};
use crate::made::Made;
use crate::memory::{prefetch, streamed, streamed_in_pairs};
use warpfold_plan::plan::Isa;

/// What of each value is summed.
pub(crate) trait Term: Send {
    /// Whether the sign is dropped.
    const ABSOLUTE: bool;
    /// The value as it is added.
    fn of(value: f64) -> f64;
    /// The value as it is added, in f32.
    fn of_short(value: f32) -> f32;
    /// The sign as it is added.
    fn sign(negative: bool) -> bool;
}

/// The values themselves.
pub(crate) enum Values {}

impl Term for Values {
    const ABSOLUTE: bool = false;

    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn of_short(value: f32) -> f32 {
        value
    }

    #[inline(always)]
    fn sign(negative: bool) -> bool {
        negative
    }
}

/// Their magnitudes.
pub(crate) enum AbsoluteValues {}

impl Term for AbsoluteValues {
    const ABSOLUTE: bool = true;

    #[inline(always)]
    fn of(value: f64) -> f64 {
        value.abs()
    }

    #[inline(always)]
    fn of_short(value: f32) -> f32 {
        value.abs()
    }

    #[inline(always)]
    fn sign(_: bool) -> bool {
        false
    }
}

/// A sum in progress over `PARTS` interleaved components: one for reals, two for complex numbers.
///
/// Per 64 bytes of f32: 3 instructions to check, 4 to widen, 2 to add; of f64: 3 to check, 4 to deposit. Of 16-bit floats four are
/// first added in f32 where that is exact, within a shorter window, so that the widening to f64 is shared.
pub(crate) struct SumFold<F: Lane, T, const LEVELS: usize, const LANES: usize, const PARTS: usize> {
    nan: Nan,
    avx512: Option<Avx512>,
    adapt: Adapt,
    window: Window<F>,
    short: Window<F>,
    cascade: Cascade<LEVELS, LANES>,
    /// Additions that a lane of the cascade has taken since it was emptied, at most.
    pending: usize,
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no steps are tried"))]
    tries: Tries,
    pub(super) spills: [Spill<F::SumLimbs, F::Bin>; PARTS],
    seen: u64,
    skipped: u64,
    term: PhantomData<T>,
}

impl<F: Lane, T: Term, const LEVELS: usize, const LANES: usize, const PARTS: usize>
    SumFold<F, T, LEVELS, LANES, PARTS>
{
    /// Values of p bits within W binades are integers below 2^(W+p-1) on their grid. Plain: 2^k of them stay below 2^53 if
    /// `W <= 54 - p - k`, two binades less if four go in at once. One level: its leftovers are below `2^(H+k-52)`, so `W <= 53 - 2k` for f64 (see the cascade's bound).
    const BOUNDS: Bounds = Bounds {
        width: match LEVELS {
            0 => 54 - F::MANTISSA_BITS - LOG_ADDS - if F::ADD_SHORT { 2 } else { 0 },
            _ => 53 - 2 * LOG_ADDS,
        },
        low: 0,
        // A level's bias must be finite.
        high: F::FIELD_MAX - if LEVELS > 0 { LOG_ADDS + 3 } else { 0 },
    };
    const BLOCK: usize = LANES << LOG_ADDS;
    /// Whether AVX2 takes steps: for those of f16 it would convert by an instruction that Zen 4 is slower at than at shifts.
    #[cfg(target_arch = "x86_64")]
    const STEPS: bool = LEVELS > 0 || (F::ADD_SHORT && F::MANTISSA_BITS == 8);

    pub(crate) fn new(isa: Isa, nan: Nan) -> Self {
        let window = Window::below(F::FIELD_ONE, Self::BOUNDS);
        SumFold {
            nan,
            avx512: Avx512::found(isa),
            adapt: Adapt::new(),
            window,
            short: Window::below(F::FIELD_ONE, short_bounds::<F>()),
            cascade: Self::cascade(&window),
            pending: 0,
            tries: Tries::default(),
            spills: std::array::from_fn(|_| Spill::new(F::MANTISSA_BITS, F::SHIFTS)),
            seen: 0,
            skipped: 0,
            term: PhantomData,
        }
    }

    fn cascade(window: &Window<F>) -> Cascade<LEVELS, LANES> {
        Cascade::new(window.end() + F::SCALE, window.grid() + F::SCALE)
    }

    /// A block of whole groups inside the window; returns how many values missed it.
    #[inline(always)]
    fn windowed<C: Target>(&mut self, groups: &[[F; LANES]]) -> usize {
        if groups.is_empty() {
            return 0;
        }
        #[cfg(target_arch = "x86_64")]
        if matches!(C::ISA, Isa::Avx2) && Self::STEPS && self.tries.next(groups.len()) {
            return self.in_steps::<C>(groups);
        }
        self.reserve(groups.len());
        match self.avx512 {
            #[cfg(target_arch = "x86_64")]
            Some(_) if C::AVX512 => {
                let SumFold { window, short, spills, cascade, .. } = self;
                let spill = |group: &_| Self::spill(spills, window, group);
                // SAFETY: there is an `Avx512` only where its features were found.
                unsafe {
                    super::avx512::windowed::<F, T, LEVELS, LANES>(
                        groups,
                        [window, short],
                        cascade,
                        spill,
                    )
                }
            }
            _ if C::AVX512 => unreachable!("code for AVX-512 runs where it was found"),
            _ => self.portable(groups),
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
    fn in_steps<C: Target>(&mut self, groups: &[[F; LANES]]) -> usize {
        use super::avx2::{SUM_LANES, sums};
        let (mut misses, mut all_left) = (0, 0);
        // Half as many as a lane takes: one that took all of its steps may be given all groups that were left.
        for groups in groups.chunks(1 << (LOG_ADDS - 1)) {
            // Of 16-bit floats, four are one addition.
            let few = if LEVELS == 0 { LANES } else { SUM_LANES };
            self.reserve(additions(groups.len(), LANES, few) + groups.len());
            let (mut order, mut first) = (streamed(groups.len()), 0);
            for start in (0..groups.len()).step_by(STEP) {
                let mut of_step = [&groups[0]; STEP];
                let count = STEP.min(groups.len() - start);
                for (group, at) in of_step.iter_mut().zip(order.by_ref().take(count)) {
                    *group = &groups[at];
                }
                let window = if LEVELS == 0 { &self.short } else { &self.window };
                // SAFETY: code for AVX2 runs where that was found.
                let mut left = unsafe {
                    sums::<F, T, LEVELS, LANES>(&of_step[..count], window, &mut self.cascade, first)
                };
                first = (first + few) % LANES;
                if left == 0 {
                    continue;
                }
                let (mut kept, mut count) = ([[F::default(); LANES]; STEP], 0);
                while left != 0 {
                    kept[count] = *of_step[left.trailing_zeros() as usize];
                    left &= left - 1;
                    count += 1;
                }
                all_left += count;
                misses += self.portable(&kept[..count]);
            }
        }
        self.tries.note(all_left, groups.len());
        misses
    }

    /// Empties the lanes into the registers: pieces that are shorter than a block share one emptying.
    #[inline(always)]
    fn drain(&mut self) {
        for (part, spill) in self.spills.iter_mut().enumerate() {
            self.cascade.drain_into(&mut spill.register.fixed, F::UNIT + F::SCALE, part, PARTS);
        }
        self.pending = 0;
    }

    /// The same by what the compiler makes of it.
    #[inline(always)]
    fn portable(&mut self, groups: &[[F; LANES]]) -> usize {
        let (window, short, mut cascade) = (self.window, self.short, self.cascade);
        let mut misses = 0;
        for at in streamed(groups.len()) {
            let group = &groups[at];
            prefetch(group);
            if F::ADD_SHORT {
                let mut near = true;
                for x in group {
                    near &= short.contains(*x);
                }
                if near {
                    let [a, b, c, d] =
                        std::array::from_fn(|k| &group[k * LANES / 4..][..LANES / 4]);
                    for lane in 0..LANES / 4 {
                        let add = |x: F, y: F| T::of_short(x.short()) + T::of_short(y.short());
                        let four = add(a[lane], b[lane]) + add(c[lane], d[lane]);
                        cascade.deposit(0, lane, f64::from(four));
                    }
                    continue;
                }
            }
            let mut inside = true;
            for x in group {
                inside &= window.contains(*x);
            }
            if inside {
                for (lane, x) in group.iter().enumerate() {
                    cascade.deposit(0, lane, T::of(x.wide()));
                }
            } else {
                let mut missed = false;
                for (lane, x) in group.iter().enumerate() {
                    let takes = window.takes(*x);
                    missed |= !takes;
                    cascade.deposit(0, lane, if takes { T::of(x.wide()) } else { 0.0 });
                }
                if missed {
                    misses += Self::spill(&mut self.spills, &window, group);
                }
            }
        }
        self.cascade = cascade;
        misses
    }

    /// The values of a group that miss the window, one by one.
    #[inline(never)]
    fn spill(
        spills: &mut [Spill<F::SumLimbs, F::Bin>; PARTS],
        window: &Window<F>,
        group: &[F; LANES],
    ) -> usize {
        let mut misses = 0;
        for spill in spills.iter_mut() {
            spill.reserve(LANES);
        }
        for (lane, &x) in group.iter().enumerate() {
            if !window.takes(x) {
                misses += 1;
                spills[lane % PARTS].add_value(x, T::sign);
            }
        }
        misses
    }

    /// A block through the bins alone.
    #[inline(always)]
    fn binned(&mut self, x: &[F]) {
        for (part, spill) in self.spills.iter_mut().enumerate() {
            spill.add_values(x.as_chunks::<PARTS>().0, part, T::sign);
        }
    }

    #[inline(always)]
    fn block<C: Target>(&mut self, x: &[F]) {
        if !C::VECTORS {
            return self.binned(x);
        }
        let way = self.adapt.way();
        if way == Way::Bins {
            return self.binned(x);
        }
        if way == Way::NewWindow {
            self.drain();
            let top = top_field(x.iter().copied());
            self.window = Window::below(top, Self::BOUNDS);
            self.short = Window::below(top, short_bounds::<F>());
            self.cascade = Self::cascade(&self.window);
            if is_hopeless(&self.window, x) {
                self.adapt.note(x.len(), x.len());
                return self.binned(x);
            }
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

impl<F: Lane, T: Term, const LEVELS: usize, const LANES: usize, const PARTS: usize> ArrayFold<&[F]>
    for SumFold<F, T, LEVELS, LANES, PARTS>
{
    type Partial = Summed<F::SumLimbs, PARTS>;

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
        Summed { parts: self.spills.map(Spill::finish), counted: self.seen - self.skipped }
    }
}

impl<F: Lane, T: Term, const LEVELS: usize, const LANES: usize> SumFold<F, T, LEVELS, LANES, 1> {
    /// A block of values inside the window that are made as they are added.
    #[inline(always)]
    fn made<C: Target>(&mut self, values: Made<'_, F>) {
        /// Groups that are made at once: half a kilobyte, so that the processor reads ahead for the next tile while it adds this one.
        const GROUPS: usize = 2;
        let mut tile = [[F::default(); LANES]; GROUPS];
        let (each, mut misses) = (LANES * tile.len(), 0);
        let tiles = values.len() / each;
        for at in streamed_in_pairs(tiles) {
            values.fill(at * each, tile.as_flattened_mut());
            misses += self.windowed::<C>(&tile);
        }
        // Zeros behind the last.
        let left = values.len() - tiles * each;
        if left > 0 {
            tile = [[F::default(); LANES]; GROUPS];
            values.fill(tiles * each, &mut tile.as_flattened_mut()[..left]);
            misses += self.windowed::<C>(&tile);
        }
        self.adapt.note(misses, values.len());
    }
}

impl<F: Lane, T: Term, const LEVELS: usize, const LANES: usize> ArrayFold<Made<'_, F>>
    for SumFold<F, T, LEVELS, LANES, 1>
{
    type Partial = Summed<F::SumLimbs, 1>;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: Made<'_, F>, first: u64) {
        for start in (0..piece.len()).step_by(Self::BLOCK) {
            let block = piece.piece(start..piece.len().min(start + Self::BLOCK));
            // Windows are chosen, and NaNs looked for, in values that are there.
            if C::VECTORS && self.adapt.keeps_window() && self.nan == Nan::Propagate {
                self.seen += block.len() as u64;
                self.made::<C>(block);
            } else {
                ArrayFold::<&[F]>::take::<C>(self, &block.to_vec(), first + start as u64);
            }
        }
    }

    fn finish(self) -> Self::Partial {
        ArrayFold::<&[F]>::finish(self)
    }
}
