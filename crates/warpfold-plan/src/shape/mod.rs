//! N-dimensional arrays over plain memory: where their elements lie, which axes are folded, and the loops that this comes to.
//!
//! ```text
//! slice + shape + strides  →  View  →  Folding (which axes)  →  Form (few loops, sorted by stride)  →  Case
//!                             checked                           what executors and kernels see
//! ```
//!
//! A [`Layout`] is pure: it knows no memory, so that a GPU's array and a file have one too. All lengths are counted in elements, in 64
//! bits, and computed without wrapping: a shape from a hostile file is an error, never a wild index.

mod array;
mod folding;
mod form;
mod layout;
mod parts;
mod view;

pub use array::Array;
pub use folding::Folding;
pub use form::{Case, Form, Loop};
pub use layout::{Axis, Layout};
pub use parts::PartLoop;
pub use view::{Elements, View};
