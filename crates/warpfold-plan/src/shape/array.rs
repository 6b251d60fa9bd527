//! [`Array`]: an owned result with a shape.

/// Results in C order: the last axis is contiguous. Without axes it is one value.
#[derive(Debug, Clone, PartialEq)]
pub struct Array<R> {
    /// The lengths of its axes.
    pub shape: Vec<u64>,
    /// The values, as many as the product of the lengths.
    pub values: Vec<R>,
}
