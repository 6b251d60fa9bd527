//! The contract by arbitrary-precision arithmetic, from the bits of the elements: slow, plain, and none of the code under test.
//!
//! [`Number`] takes elements apart, [`Oracle`] folds them without any rounding, [`Format`] rounds by comparing with
//! neighbouring floats (roots by comparing squares), [`Expected`] says what an answer may be.

mod answer;
mod fold;
mod format;
mod hardware;
mod total;

pub use answer::{Cell, Expected, Refusal, cells};
pub use fold::{Oracle, expected};
pub use format::{BF16, F16, F32, F64, Format, Number};
