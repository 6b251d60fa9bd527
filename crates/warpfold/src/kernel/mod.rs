//! Kernel launches as plain values, and how what they leave is read: shared by everything that can run PTX.

mod launch;
mod record;

pub use launch::{Arguments, Kernel, Launch, WORKSPACE_HEADER, workspace_bytes};
pub use record::{RECORD_WORDS, read};
