//! Every reduction once more, by other means: integers in bins, big-integer arithmetic, and no code of the library.
//!
//! [`Truth::of`] reads an array once and keeps what its reductions are made of; [`Truth::check`] compares a result with it.
//! It is some ten times slower than the kernels it checks, and simple enough to be read in one sitting.

mod bins;
mod check;
mod exact;
mod product;
mod truth;

pub use bins::{Bins, ProductBins, Split};
pub use check::Wrong;
pub use exact::{Exact, Nearest};
pub use product::{Double, Product};
pub use truth::{Truth, dot, product_of};
