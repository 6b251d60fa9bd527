//! The contract by arbitrary-precision arithmetic, from the bits of the elements: slow, plain, and none of the code under test.
//!
//! [`Number`] takes elements apart, [`Oracle`] folds them without any rounding, [`Format`] rounds by comparing with
//! neighbouring floats (roots by comparing squares), [`Expected`] says what an answer may be.
//!
//! Processors meet it in `tests/contract`, the simulator and GPUs in `tests/kernels/truth.rs`.

mod answer;
mod fold;
mod format;
mod hardware;
mod summary;
mod total;

pub use answer::{Cell, Expected, Refusal, cells};
pub use fold::{Oracle, expected};
pub use format::{BF16, F16, F32, F64, Format, Number};
pub use summary::check_summary;
