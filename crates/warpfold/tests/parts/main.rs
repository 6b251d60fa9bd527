//! Paths of the CPU that only some shapes and data take, by the public API.

mod cells;
mod columns;
mod empty;
mod fast;
mod few;
mod into;
mod leftovers;
mod moments;
mod runs;
mod singles;
mod views;
