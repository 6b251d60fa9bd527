//! A SIMT machine that executes PTX on any computer.
#![forbid(unsafe_code)]

mod alu;
mod counters;
mod fault;
mod launch;
mod machine;
mod memory;
mod program;
pub mod ptx;
mod race;
mod trace;

pub use counters::{Class, Counters, Counts, LineCounts};
pub use fault::{Fault, Racer, Thread, Waiter};
pub use launch::{Argument, Detail, Dimensions, Launch, Settings};
pub use memory::{Buffer, BufferError, Element, Memory};
pub use program::{Communication, DecodeError, Kernel, LoadError, Loop, Parameter, Program, Site};
pub use trace::{Observer, Step, Touch};
