//! Every backend against the contract, by an oracle that shares no code with it.

#![allow(unreachable_pub, reason = "a test has no outside")]

#[macro_use]
mod backend;
#[path = "../oracle/mod.rs"]
mod oracle;
#[macro_use]
mod sample;

mod bands;
mod batched;
mod builder;
mod conditioned;
mod counters;
mod extremes;
mod fast;
mod integers;
mod lengths;
mod long;
mod order;
mod patterns;
mod refusals;
mod resumed;
mod saved;
mod specials;
mod stats;
mod underflow;
