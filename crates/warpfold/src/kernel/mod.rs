//! Kernel launches as plain values, and how what they leave is read: shared by everything that can run PTX.

mod fast;
mod floats;
mod launch;
mod record;

pub(crate) use fast::nearest;
pub use fast::{FastMoments, FastSum};
pub use launch::{Arguments, Kernel, Launch, WORKSPACE_HEADER, workspace_bytes};
pub use record::{Outcome, RECORD_WORDS, read, record_words};
