//! Correctly rounded, reproducible reductions over arrays.
