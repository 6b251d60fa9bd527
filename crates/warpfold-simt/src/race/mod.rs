//! The race detector: two accesses to one place, one of them a write, that nothing orders.
//!
//! It keeps happens-before with clocks, after FastTrack (Flanagan and Freund, 2009), fitted to the
//! SIMT model:
//!
//! - Every warp has a count of its synchronisations, its *now*. An access is stamped with it.
//! - Every thread knows, of each thread of its block, up to which stamp that thread's accesses come
//!   before its own: its [`clock::Knowledge`]. Barriers and warp barriers join what their participants know.
//! - Between blocks, knowledge passes through atomics: a fence followed by an atomic publishes
//!   ([`world::World::release`]); an atomic on the same place learns ([`world::World::acquire`]).
//! - [`shadow`] remembers, for each word of memory, who wrote it last and who has read it since.
//!
//! Lanes of one warp are threads like any other: since Volta, only `bar.warp.sync` orders their
//! memory accesses. Shuffles and votes exchange registers and order nothing, nor does `volatile`.

pub(crate) mod clock;
pub(crate) mod shadow;
pub(crate) mod world;

/// Who does an access, and what they know: one lane of a warp.
pub(crate) struct View<'a> {
    pub(crate) block: u32,
    /// The thread's number in its block, warps padded to 32.
    pub(crate) thread: u32,
    pub(crate) knowledge: &'a clock::Knowledge,
    pub(crate) world: &'a world::World,
}

impl View<'_> {
    /// Whether an access by `thread` of `block`, stamped `now`, comes before all that this one does next.
    pub(crate) fn follows(&self, block: u32, thread: u32, now: u32) -> bool {
        if block == self.block {
            thread == self.thread || self.knowledge.of(thread) >= now
        } else {
            self.world.follows(&self.knowledge.foreign, block, thread, now)
        }
    }
}
