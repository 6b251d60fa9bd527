//! Kernel launches as plain values, and how what they leave is read: shared by everything that can run PTX.

mod fast;
mod joined;
mod launch;
mod record;

pub(crate) use fast::nearest;
pub use fast::{FastMoments, FastSum};
pub use joined::Joined;
pub use launch::{Arguments, Kernel, Launch, WORKSPACE_HEADER, workspace_bytes};
pub use record::{Outcome, RECORD_WORDS, read};
