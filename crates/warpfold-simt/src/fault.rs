//! What a run may end in instead of counters: each names the lines, the threads and the address.

use std::fmt;

use crate::program::Site;
use crate::ptx::Space;

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its block in the grid.
    pub block: [u32; 3],
    /// Its place in the block.
    pub thread: [u32; 3],
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.thread;
        let [bx, by, bz] = self.block;
        write!(f, "thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz})")
    }
}

/// An access that takes part in a race.
#[derive(Clone, Debug, PartialEq)]
pub struct Racer {
    /// What it does: `reads`, `writes` or `updates`.
    pub verb: &'static str,
    /// By which instruction.
    pub site: Site,
    /// Of which thread.
    pub thread: Thread,
}

impl fmt::Display for Racer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} it at {}", self.thread, self.verb, self.site)
    }
}

/// A thread that waits, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiter {
    /// One of the threads.
    pub thread: Thread,
    /// How many lanes of its warp wait there.
    pub lanes: u32,
    /// Where.
    pub site: Site,
    /// For what.
    pub reason: &'static str,
}

/// A run that cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // The fields are what the messages say.
pub enum Fault {
    /// Two accesses to one place, one of them a write, that nothing orders.
    #[error(
        "data race on {} address {address:#x} ({location}): {first}; {second}; no barrier, fence or atomic orders the two",
        space.word()
    )]
    Race { space: Space, address: u64, location: String, first: Box<Racer>, second: Box<Racer> },
    /// An access outside every allocation, or past the end of one.
    #[error("out of bounds: {thread} touches {bytes} bytes at {} address {address:#x} ({location}) at {site}", space.word())]
    OutOfBounds {
        site: Site,
        thread: Thread,
        space: Space,
        address: u64,
        bytes: u32,
        location: String,
    },
    /// An address that is no multiple of the access's size.
    #[error("misaligned: {thread} touches {bytes} bytes at {} address {address:#x}, which is no multiple of {bytes}, at {site}", space.word())]
    Misaligned { site: Site, thread: Thread, space: Space, address: u64, bytes: u32 },
    /// A read of memory that nobody wrote.
    #[error("uninitialised: {thread} reads {bytes} bytes at {} address {address:#x} ({location}) that were never written, at {site}", space.word())]
    Uninitialised {
        site: Site,
        thread: Thread,
        space: Space,
        address: u64,
        bytes: u32,
        location: String,
    },
    /// A write to memory that a kernel may only read.
    #[error("read-only: {thread} writes to {} memory at {site}", space.word())]
    ReadOnly { site: Site, thread: Thread, space: Space },
    /// Part of a warp at an aligned barrier, the rest elsewhere.
    #[error(
        "barrier divergence: {lanes} lanes of the warp of {thread} wait at {site}, and {others} lanes that have not exited are elsewhere: {elsewhere}; every thread of a warp must come to the barrier together"
    )]
    BarrierDivergence { site: Site, thread: Thread, lanes: u32, others: u32, elsewhere: Site },
    /// Warps of a block at different barriers, as if they were one.
    #[error(
        "barrier mismatch: in block {block:?}, {first} waits at {first_site} while {second} waits at {second_site}: a barrier in conditional code that not every thread runs"
    )]
    BarrierMismatch {
        block: [u32; 3],
        first: Thread,
        first_site: Site,
        second: Thread,
        second_site: Site,
    },
    /// A barrier's operands make no sense.
    #[error("barrier misuse: {message}, by {thread} at {site}")]
    BarrierMisuse { site: Site, thread: Thread, message: String },
    /// Nothing can go on.
    #[error("deadlock: nothing can go on; {}", waiters.iter().map(|w| format!("{} lanes of the warp of {} wait at {} for {}", w.lanes, w.thread, w.site, w.reason)).collect::<Vec<_>>().join("; "))]
    Deadlock { waiters: Vec<Waiter> },
    /// A lane runs a `.sync` instruction whose mask leaves it out.
    #[error("mask {mask:#010x} of {site} leaves out {thread}, which runs it")]
    LaneNotInMask { site: Site, thread: Thread, mask: u32 },
    /// An mbarrier used before it was made, or beyond its counts.
    #[error("mbarrier misuse: {message}, by {thread} at {site}")]
    Mbarrier { site: Site, thread: Thread, message: String },
    /// A bulk copy whose size or addresses are no multiples of 16.
    #[error("bulk copy: {message}, by {thread} at {site}")]
    BulkCopy { site: Site, thread: Thread, message: String },
    /// `trap` or `brkpt`.
    #[error("trap: {thread} runs {site}")]
    Trap { site: Site, thread: Thread },
    /// A jump past the end of its table.
    #[error("{thread} jumps by index {index} of a table of {targets} at {site}")]
    Jump { site: Site, thread: Thread, index: u64, targets: usize },
    /// More instructions than the settings allow.
    #[error(
        "the budget of {budget} warp instructions is spent; the last was {site} by {thread}: an endless loop, or raise Settings::budget"
    )]
    Budget { site: Site, thread: Thread, budget: u64 },
    /// A launch that cannot start.
    #[error("the launch of `{kernel}` cannot start: {message}")]
    Launch { kernel: String, message: String },
}

/// The short name of a space, for messages.
pub(crate) fn boxed(fault: Fault) -> Box<Fault> {
    Box::new(fault)
}
