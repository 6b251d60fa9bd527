//! A SIMT machine that executes PTX on any computer.
//!
//! It runs the PTX that NVRTC emits, without a GPU, exactly as the SIMT model defines: warps of 32
//! lanes that split and meet again, barriers, warp exchanges, atomics, fences, mbarriers and bulk
//! copies, IEEE arithmetic in every rounding mode. It counts what a kernel costs ([`Counters`]), and
//! stops with a [`Fault`] that names lines, threads and address where a kernel is wrong though it may
//! happen to work: data races, divergent barriers, reads of memory nobody wrote, accesses out of
//! bounds or misaligned, deadlocks, endless loops.
//!
//! A [`Program`] is loaded from PTX text; a [`Launch`] is a plain value, run over a [`Memory`] under
//! [`Settings`]. The schedule is decided by a seed, and a run is reproduced by it.
//!
//! ```
//! use warpfold_simt::{Argument, Dimensions, Launch, Memory, Program, Settings};
//!
//! let program = Program::load(
//!     ".version 8.0
//!      .target sm_70
//!      .address_size 64
//!      .visible .entry double(.param .u64 values) {
//!          .reg .b32 %r<3>;
//!          .reg .b64 %rd<4>;
//!          ld.param.u64 %rd1, [values];
//!          mov.u32 %r1, %tid.x;
//!          mul.wide.u32 %rd2, %r1, 4;
//!          add.s64 %rd3, %rd1, %rd2;
//!          ld.global.u32 %r2, [%rd3];
//!          add.s32 %r2, %r2, %r2;
//!          st.global.u32 [%rd3], %r2;
//!          ret;
//!      }",
//! )?;
//! let mut memory = Memory::new();
//! let values = memory.upload(&[1u32, 2, 3, 4]);
//! let launch = Launch {
//!     kernel: "double".to_owned(),
//!     grid: Dimensions::from(1),
//!     block: Dimensions::from(4),
//!     shared_bytes: 0,
//!     arguments: vec![Argument::from(values)],
//! };
//! let counters = launch.run(&program, &mut memory, &Settings::default())?;
//! assert_eq!(memory.read::<u32>(values)?, [2, 4, 6, 8]);
//! assert_eq!(counters.total.global_load_sectors, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To watch a run step by step, implement [`Observer`] and use [`Launch::run_observed`].

#![forbid(unsafe_code)]

mod alu;
mod class;
mod counters;
mod fault;
mod launch;
mod machine;
mod memory;
mod program;
pub mod ptx;
mod race;
mod trace;

pub use class::Class;
pub use counters::{Counters, Counts, LineCounts};
pub use fault::{Fault, Racer, Thread, Waiter};
pub use launch::{Argument, Detail, Dimensions, Launch, Settings};
pub use memory::{Buffer, BufferError, Element, Memory};
pub use program::{Communication, DecodeError, Kernel, LoadError, Parameter, Program, Site};
pub use trace::{Observer, Step, Touch};
