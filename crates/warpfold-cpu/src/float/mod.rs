//! Exact float folds at memory speed.
//!
//! Most arrays keep to a few dozen binades. Within such a [`Window`] of exponents every value is a multiple of one
//! grid, and so many f64 additions are exact: plain ones for narrow types, and a [`Cascade`] of biased accumulators
//! where 53 bits are not enough. The kernels check a whole group of elements against the window with two integer
//! instructions a vector, add without a branch, and every 512 additions a lane hand their lanes to the
//! fixed-point register as integers. What lies outside the window is [`Spill`]ed one by one; when that is
//! much, [`Adapt`] moves the window, and when moving does not help, whole blocks go through exponent bins, whose
//! speed does not depend on the data. So the window decides the speed, never the result.

mod adapt;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod block;
mod cascade;
mod complex_dot;
mod dot;
mod factor;
mod folded;
mod lane;
mod moments;
mod near;
mod pairs;
mod spill;
mod steps;
mod sum;
mod tally;
mod window;

use adapt::Adapt;
pub(super) use cascade::{Cascade, added_by_halves};
pub(super) use complex_dot::ComplexDotFold;
pub(super) use dot::DotFold;
pub(super) use factor::Factor;
pub(super) use folded::{Squared, Summed};
pub(super) use lane::{Lane, MEND, bf16_to_f32, bf16_value, f16_bits_in_f32, f16_value};
pub(super) use moments::MomentsFold;
pub(super) use pairs::{PairFold, Squares, Terms, Weighted};
use spill::Spill;
pub(super) use sum::{AbsoluteValues, SumFold, Term, Values};
use window::Window;

/// log2 of the additions a lane takes before it is emptied.
pub(super) const LOG_ADDS: u32 = 9;
