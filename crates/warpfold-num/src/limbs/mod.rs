//! Wide integers in 64-bit limbs: the fixed-point numbers that exact sums are, and the one rounding that reads them.

mod expansion;
mod fixed;
mod pair;
mod register;
mod round;
mod small;
mod tally;

pub use expansion::Expansion;
pub use fixed::{Fixed, Limbs, SignMagnitude};
pub use pair::Pair;
pub use register::{Register, Special};
pub use round::{round_big, round_fixed, round_ratio, round_root, to_bigint};
pub use small::Small;
pub use tally::tally;
