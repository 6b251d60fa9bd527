//! Results of many runs and blocks at once, in lanes.
//!
//! Rows of memory become columns of vectors, a square at a time, by which chains are multiplied.

use super::chains::{Chain, Complex, Real};
use super::lanes::portable::Plain;
use super::lanes::{MOST, Vector};
use crate::memory::prefetch_bytes;
use crate::{bf16, f16};
use warpfold_exact::tree::RUN;

/// Bytes ahead of a run that are asked for.
const AHEAD: usize = 4 << 10;

/// Runs of a block.
pub(crate) const RUNS: usize = 32;
/// Runs that are kept at a time: the blocks of twice as many lanes as there may be.
pub(crate) const KEPT: usize = RUNS * 2 * MOST;
/// Numbers that the result of a run has at most: mantissas of two parts, and an exponent.
pub(crate) const NUMBERS: usize = 5;

/// Results of runs, each number of all of them side by side: mantissas, high and low, then exponents; an exponent that is not finite says that
/// the run is not one of normal numbers, and nothing else.
#[repr(align(64))]
pub(crate) struct Kept([[f64; KEPT]; NUMBERS]);

impl Kept {
    pub(crate) fn new() -> Box<Self> {
        Box::new(Kept([[0.0; KEPT]; NUMBERS]))
    }

    /// The result of a run: of so many parts, then the exponent.
    #[inline(always)]
    pub(crate) fn result(&self, parts: usize, run: usize) -> [f64; NUMBERS] {
        let mut result = [0.0; NUMBERS];
        for number in 0..=parts {
            result[number] = self.0[number][run];
        }
        result
    }

    /// Puts the result of a run: of so many parts, then the exponent.
    pub(crate) fn set(&mut self, parts: usize, run: usize, result: [f64; NUMBERS]) {
        for number in 0..=parts {
            self.0[number][run] = result[number];
        }
    }

    /// The results of neighbouring runs, as many as there are lanes.
    #[inline(always)]
    pub(super) fn vectors<V: Vector>(&self, parts: usize, run: usize) -> [V; NUMBERS] {
        let mut vectors = [V::splat(0.0); NUMBERS];
        for number in 0..=parts {
            let numbers = &self.0[number][run..][..V::N];
            // SAFETY: these are as many numbers as there are lanes.
            vectors[number] = unsafe { V::load(numbers.as_ptr()) };
        }
        vectors
    }

    /// A number of a run.
    #[inline(always)]
    pub(crate) fn number(&self, number: usize, run: usize) -> f64 {
        self.0[number][run]
    }
}

/// Numbers as factors: real ones, or pairs of parts.
pub(crate) trait Factor: Copy + Send + Sync + 'static {
    /// Elements of a real factor.
    const JOIN: usize;
    /// Whether vectors of factors are interleaved.
    const INTERLEAVED: bool;
    /// Factors of a run from `2^-half` to `2^half` have a product that is far from the ends of f64, and need no exponents apart; `None` where that is so
    /// of all factors.
    const HALF: Option<u64>;

    /// Loads as many real factors of each row as there are lanes, as columns.
    ///
    /// # Safety
    /// Their elements may be read.
    unsafe fn factors<V: Vector>(rows: &[*const Self; MOST]) -> [V; MOST];

    /// Loads as many numbers as there are lanes, real ones or parts of complex ones.
    ///
    /// # Safety
    /// They may be read.
    unsafe fn parts<V: Vector>(x: *const Self) -> V;

    /// One and zero.
    const ONE: Self;
    #[allow(missing_docs)]
    const ZERO: Self;

    /// The value.
    fn value(self) -> f64;

    /// Whether it is a NaN.
    fn is_nan(self) -> bool;
}

macro_rules! factors {
    ($($ty:ty: $join:literal, $interleaved:literal, $half:expr, $one:expr, $zero:expr, $factors:ident, $parts:ident, $value:expr;)+) => {$(
        impl Factor for $ty {
            const JOIN: usize = $join;
            const INTERLEAVED: bool = $interleaved;
            const HALF: Option<u64> = $half;

            #[inline(always)]
            unsafe fn factors<V: Vector>(rows: &[*const Self; MOST]) -> [V; MOST] {
                $factors!(V, rows)
            }

            #[inline(always)]
            unsafe fn parts<V: Vector>(x: *const Self) -> V {
                // SAFETY: as the caller says.
                unsafe { V::$parts(x) }
            }

            const ONE: Self = $one;
            const ZERO: Self = $zero;

            #[inline(always)]
            fn value(self) -> f64 {
                $value(self)
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                <$ty>::is_nan(self)
            }
        }
    )+};
}
/// Rows of factors, as columns.
macro_rules! turned {
    ($vector:ident, $rows:ident, $factors:ident) => {{
        let mut square = [$vector::splat(1.0); MOST];
        for l in 0..$vector::N {
            // SAFETY: as the caller of the function says.
            square[l] = unsafe { $vector::$factors($rows[l]) };
        }
        $vector::transpose(&mut square);
        square
    }};
}
macro_rules! fours_of_f16 {
    ($vector:ident, $rows:ident) => {
        turned!($vector, $rows, fours_of_f16)
    };
}
macro_rules! fours_of_bf16 {
    ($vector:ident, $rows:ident) => {
        turned!($vector, $rows, fours_of_bf16)
    };
}
macro_rules! pairs {
    ($vector:ident, $rows:ident) => {
        turned!($vector, $rows, pairs)
    };
}
macro_rules! columns {
    ($vector:ident, $rows:ident) => {
        // SAFETY: as the caller of the function says.
        unsafe { $vector::columns($rows) }
    };
}
factors! {
    f16: 4, false, None, f16::ONE, f16::ZERO, fours_of_f16, widen_f16, crate::float::f16_value;
    bf16: 4, true, Some(64), bf16::ONE, bf16::ZERO, fours_of_bf16, widen_bf16, crate::float::bf16_value;
    f32: 2, true, Some(32), 1.0, 0.0, pairs, widen, f64::from;
    f64: 1, false, Some(16), 1.0, 0.0, columns, load, std::convert::identity;
}

/// Vectors of chains that are multiplied at a time: each step of one takes four cycles and a scheduler's room, in which others are done. (One vector
/// of 8 lanes at a time reached half the speed on a Zen 4.)
pub(crate) const ABREAST: usize = 2;

/// Bytes of the rows of a square of factors.
const BYTES_A_SQUARE: usize = 128;

/// Rows of runs, one for each lane.
pub(crate) type Rows<F> = [[*const F; MOST]; ABREAST];

/// Multiplies runs of real numbers, one in each lane: the first `factors` of each row.
///
/// # Safety
/// Whole vectors of factors may be read from each row.
#[inline(always)]
pub(crate) unsafe fn reals<V: Vector, F: Factor>(
    rows: &Rows<F>,
    factors: usize,
) -> [Real<V>; ABREAST] {
    // SAFETY: as the caller says.
    unsafe {
        let (chains, seen) = reals_with::<V, F, false>(rows, factors);
        match F::HALF {
            Some(half) if !V::are_within(seen, half) => reals_with::<V, F, true>(rows, factors).0,
            _ => chains,
        }
    }
}

/// The same with exponents apart or not.
///
/// # Safety
/// As [`reals`].
#[inline(always)]
unsafe fn reals_with<V: Vector, F: Factor, const APART: bool>(
    rows: &Rows<F>,
    factors: usize,
) -> ([Real<V>; ABREAST], V::Monitor) {
    let (mut chains, mut seen) = ([Real::<V>::one(); ABREAST], V::monitor());
    let mut first = 0;
    while first < factors {
        let mut squares = [[V::splat(1.0); MOST]; ABREAST];
        for v in 0..ABREAST {
            prefetch_bytes(rows[v][0].wrapping_add(first * F::JOIN * V::N), BYTES_A_SQUARE, AHEAD);
            let mut at = rows[v];
            for l in 0..MOST {
                at[l] = at[l].wrapping_add(first * F::JOIN);
            }
            // SAFETY: as the caller says.
            squares[v] = unsafe { F::factors(&at) };
        }
        for k in 0..V::N {
            if first + k < factors {
                for v in 0..ABREAST {
                    let chain = &mut chains[v];
                    let m = squares[v][if F::INTERLEAVED { V::INTERLEAVED[k] } else { k }];
                    match (APART, F::HALF) {
                        (true, _) => chain.multiply(m),
                        (_, Some(half)) => {
                            m.observe(&mut seen, half);
                            chain.multiply_plain(m);
                        }
                        _ => chain.multiply_plain(m),
                    }
                }
            }
        }
        first += V::N;
    }
    (chains, seen)
}

/// Multiplies runs of complex numbers, one in each lane: the first `elements` of each row, rounded up to whole factors and groups.
///
/// # Safety
/// Whole vectors may be read from each row, of `2 V::N` numbers if parts are multiplied in pairs.
#[inline(always)]
pub(crate) unsafe fn complexes<V: Vector, F: Factor>(
    rows: &Rows<F>,
    elements: usize,
) -> [Complex<V>; ABREAST] {
    let mut chains = [Complex::<V>::one(); ABREAST];
    let elements = if F::JOIN == 1 { elements } else { elements.next_multiple_of(4) };
    let mut first = 0;
    while first < 2 * elements {
        let mut squares = [[V::splat(1.0); MOST]; ABREAST];
        for v in 0..ABREAST {
            prefetch_bytes(rows[v][0].wrapping_add(first * V::N), BYTES_A_SQUARE, AHEAD);
            for l in 0..V::N {
                // SAFETY: as the caller says.
                squares[v][l] = unsafe { F::parts(rows[v][l].add(first)) };
            }
            V::transpose(&mut squares[v]);
        }
        if F::JOIN == 1 {
            for k in 0..V::N / 2 {
                if first + 2 * k < 2 * elements {
                    for v in 0..ABREAST {
                        chains[v].multiply_scaled(squares[v][2 * k], squares[v][2 * k + 1]);
                    }
                }
            }
        } else {
            for v in 0..ABREAST {
                chains[v].multiply_pairs(squares[v]);
            }
            // After each two factors.
            if first / MOST % 2 == 1 {
                for v in 0..ABREAST {
                    chains[v].rescale();
                }
            }
        }
        first += V::N;
    }
    chains
}

/// Keeps what chains hold as the results of runs from `run` on; says whether all are of normal numbers.
#[inline(always)]
pub(super) fn keep<V: Vector, C: Chain<V>>(chain: C, kept: &mut Kept, run: usize) -> bool {
    assert!(run + V::N <= KEPT, "there is room for so many runs");
    let results = chain.finish();
    for number in 0..=C::PARTS {
        // SAFETY: the results of as many runs as there are lanes have room.
        unsafe { results[number].store(kept.0[number].as_mut_ptr().add(run)) };
    }
    results[C::PARTS].are_finite()
}

/// The results of all whole runs of some elements (complex: of their parts, side by side), no more than are [`KEPT`]; says whether all are of
/// normal numbers.
#[inline(always)]
pub(crate) fn full_runs<V: Vector, C: Chain<V>, F: Factor>(x: &[F], kept: &mut Kept) -> bool {
    let length = RUN as usize * C::PARTS / 2;
    let runs = x.len() / length;
    assert!(runs <= KEPT, "runs have room");
    let mut are_normal = true;
    let width = V::N * ABREAST;
    for tile in 0..runs.div_ceil(width) {
        let first = tile * width;
        // Where there are no runs for all lanes, the last one is multiplied more than once.
        let row = |l: usize| x[(first + l).min(runs - 1) * length..][..length].as_ptr();
        let rows: Rows<F> = std::array::from_fn(|v| std::array::from_fn(|l| row(v * V::N + l)));
        // SAFETY: each row is a run, whose length is that of whole vectors.
        unsafe {
            if C::PARTS == 2 {
                let chains = reals::<V, F>(&rows, RUN as usize / F::JOIN);
                for (v, chain) in chains.into_iter().enumerate() {
                    are_normal &= keep(chain, kept, first + v * V::N);
                }
            } else {
                let chains = complexes::<V, F>(&rows, RUN as usize);
                for (v, chain) in chains.into_iter().enumerate() {
                    are_normal &= keep(chain, kept, first + v * V::N);
                }
            }
        }
    }
    are_normal
}

/// The results of as many blocks as there are lanes, from those of their runs, the first of which is `first`, as lanes of `made`.
#[inline(always)]
pub(crate) fn blocks<V: Vector, C: Chain<V>>(kept: &Kept, first: usize, made: &mut Kept) {
    assert!(first + V::N * RUNS <= KEPT, "so many runs are kept");
    let mut chain = C::one();
    for column in (0..RUNS).step_by(V::N) {
        let mut squares = [[V::splat(0.0); MOST]; NUMBERS];
        for number in 0..=C::PARTS {
            for l in 0..V::N {
                let at = &kept.0[number][first + l * RUNS + column..][..V::N];
                // SAFETY: these are as many numbers as there are lanes.
                squares[number][l] = unsafe { V::load(at.as_ptr()) };
            }
            V::transpose(&mut squares[number]);
        }
        for k in 0..V::N {
            chain.join(&std::array::from_fn(|number| squares[number][k]));
        }
    }
    keep(chain, made, 0);
}

/// The results of listed runs: of the first `elements` of each row.
///
/// # Safety
/// Each row may be read as a whole run, and there is room for so many and the lanes of a last vector.
#[inline(always)]
pub(crate) unsafe fn listed<V: Vector, C: Chain<V>, F: Factor>(
    list: &[*const F],
    elements: usize,
    kept: &mut Kept,
) {
    let width = V::N * ABREAST;
    for first in (0..list.len()).step_by(width) {
        let mut rows: Rows<F> = [[list[first]; MOST]; ABREAST];
        for (k, row) in list[first..list.len().min(first + width)].iter().enumerate() {
            rows[k / V::N][k % V::N] = *row;
        }
        // SAFETY: as the caller says.
        unsafe {
            if C::PARTS == 2 {
                let chains = reals::<V, F>(&rows, elements.div_ceil(F::JOIN));
                for v in 0..ABREAST {
                    keep(chains[v], kept, first + v * V::N);
                }
            } else {
                let chains = complexes::<V, F>(&rows, elements);
                for v in 0..ABREAST {
                    keep(chains[v], kept, first + v * V::N);
                }
            }
        }
    }
}

/// The result of a block of some runs, as number `to` of what is made.
#[inline(always)]
pub(crate) fn runs_of_block<C: Chain<Plain<1>>>(
    kept: &Kept,
    runs: std::ops::Range<usize>,
    made: &mut Kept,
    to: usize,
) {
    let mut chain = C::one();
    for run in runs {
        let result = kept.result(C::PARTS, run);
        chain.join(&result.map(Plain::splat));
    }
    keep(chain, made, to);
}
