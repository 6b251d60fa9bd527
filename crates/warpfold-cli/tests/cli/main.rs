//! The built program from the outside: files in, text and exit codes out.

mod arrays;
mod corpus;
mod devices;
mod driver;
mod errors;
mod explain;
mod interrupt;
mod ladder;
mod memory;
mod npy;
mod output;
mod program;
mod random;
mod raw;
mod replay;
mod report;
mod simt;
mod sweep;
mod text;
