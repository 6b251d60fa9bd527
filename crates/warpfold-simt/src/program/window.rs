//! Where the state spaces lie in the generic address space: one window of 2^40 bytes each.

use crate::ptx::Space;

/// Bits of an address below its window's number.
pub(crate) const WINDOW_BITS: u32 = 40;
/// The window of shared memory.
pub(crate) const SHARED: u64 = 1 << WINDOW_BITS;
/// The window of local memory.
pub(crate) const LOCAL: u64 = 2 << WINDOW_BITS;
/// The window of constant memory.
pub(crate) const CONST: u64 = 3 << WINDOW_BITS;
/// The window of a kernel's parameters.
pub(crate) const PARAM: u64 = 4 << WINDOW_BITS;
/// The window of a module's global variables.
pub(crate) const MODULE: u64 = 5 << WINDOW_BITS;
/// The first window of allocations, one each.
pub(crate) const FIRST_ALLOCATION: u64 = 16;

/// What is added to an address in `space` to make it generic.
pub(crate) fn base(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED,
        Space::Local => LOCAL,
        Space::Const => CONST,
        Space::Param => PARAM,
        Space::Generic | Space::Global => 0,
    }
}

/// The space that a generic address lies in, and the address within it.
pub(crate) fn split(address: u64) -> (Space, u64) {
    let low = address & ((1 << WINDOW_BITS) - 1);
    match address >> WINDOW_BITS << WINDOW_BITS {
        SHARED => (Space::Shared, low),
        LOCAL => (Space::Local, low),
        CONST => (Space::Const, low),
        PARAM => (Space::Param, low),
        _ => (Space::Global, address),
    }
}
