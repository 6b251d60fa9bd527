//! The built program from the outside: files in, text and exit codes out.

mod arrays;
mod changing;
mod corpus;
mod devices;
mod dialect;
mod driver;
mod errors;
mod explain;
mod faults;
mod ladder;
mod many;
mod memory;
mod npy;
mod outfile;
mod output;
mod program;
mod random;
mod raw;
mod replay;
mod report;
mod signals;
mod simt;
mod streams;
mod sweep;
mod terminal;
mod text;
