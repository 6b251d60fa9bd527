//! The built program from the outside: files in, text and exit codes out.

mod advice;
mod arrays;
mod batched;
mod beyond;
mod changing;
mod chosen;
mod corpus;
mod data;
#[cfg(feature = "parquet")]
mod data_folders;
#[cfg(feature = "parquet")]
mod data_mapped;
#[cfg(feature = "parquet")]
mod data_refused;
mod devices;
mod dialect;
mod driver;
mod empty;
mod errors;
mod explain;
mod faults;
mod ladder;
mod latency;
mod mapped;
mod memory;
mod names;
mod npy;
mod operator;
mod outfile;
mod output;
mod overview;
mod packed;
mod piped;
mod plot;
mod predict;
mod program;
mod random;
mod raw;
mod records;
mod replay;
mod report;
mod several;
mod signals;
mod simt;
mod streams;
mod sweep;
mod terminal;
mod text;
mod world;
mod world_alike;
mod world_bar;
#[cfg(feature = "parquet")]
mod world_columns;
mod world_fails;
mod world_maps;
mod world_parts;
