//! Operators of one's own: along the tree that the contract defines, to the bit, and beside independent results.

mod laws;
mod operators;
mod order;
mod results;
mod texts;
