//! Numbers for keys: looked at, found and written by several threads.

mod dense;
mod given;
mod marks;
mod runs;

pub use dense::Dense;
pub use given::{Given, Mixing};
pub use runs::runs;
