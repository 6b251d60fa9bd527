//! Rows, columns, segments and groups by the kernels of many outputs, beside what each input gives by another way: arbitrary precision, or the tree leaf by leaf.

mod each;
mod float_products;
mod integer_products;
mod norms;
mod sources;
mod stats;
