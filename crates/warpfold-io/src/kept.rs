//! Inputs that can be read once and were kept in memory.

use std::sync::{Mutex, PoisonError};

use crate::Name;

/// What was kept, until the process ends.
static KEPT: Mutex<Vec<(Name, &'static [u8])>> = Mutex::new(Vec::new());

/// Keeps the bytes of an input.
pub(crate) fn put(name: Name, bytes: &'static [u8]) {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push((name, bytes));
}

/// The bytes of an input that was kept.
pub(crate) fn kept(name: &Name) -> Option<&'static [u8]> {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.iter().find(|(known, _)| known == name).map(|(_, bytes)| *bytes)
}
