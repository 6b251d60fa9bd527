//! The launch's side tables of global memory: shadows for the race detector, and pages as they were
//! before, so that a run on several host threads can be undone.

use std::sync::{Mutex, MutexGuard, OnceLock};

use crate::memory::{Allocation, Memory, PAGE_BYTES, SavedPage};
use crate::program::Program;
use crate::race::shadow::Page;

/// One page's side tables.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) shadow: Page,
    pub(crate) saved: Option<SavedPage>,
    /// Depths of the page's words, where chains are followed and something was stored.
    pub(crate) depths: Option<Vec<u32>>,
}

type Slot = OnceLock<Box<Mutex<Side>>>;

/// Side tables of every allocation, made page by page as they are touched.
#[derive(Debug)]
pub(crate) struct Sides {
    pages: Vec<Vec<Slot>>,
    undo: Undo,
}

/// Whether a run may have to be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undo {
    Possible,
    Never,
}

impl Sides {
    pub(crate) fn new(memory: &Memory, program: &Program, undo: Undo) -> Sides {
        let pages = (0..memory.indices())
            .map(|index| {
                let bytes = memory.indexed(program, index).map_or(0, Allocation::bytes);
                (0..bytes.div_ceil(PAGE_BYTES)).map(|_| Slot::new()).collect()
            })
            .collect();
        Sides { pages, undo }
    }

    /// The side tables of the page that holds `offset`.
    pub(crate) fn page(&self, index: usize, offset: u64) -> MutexGuard<'_, Side> {
        let slot = &self.pages[index][(offset / PAGE_BYTES) as usize];
        let side = slot.get_or_init(|| {
            Box::new(Mutex::new(Side { shadow: Page::new(), saved: None, depths: None }))
        });
        side.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// To be called before a page is written.
    pub(crate) fn before_write(&self, side: &mut Side, allocation: &Allocation, offset: u64) {
        if self.undo == Undo::Possible && side.saved.is_none() {
            side.saved = Some(allocation.save((offset / PAGE_BYTES) as usize));
        }
    }

    /// Puts every written page back as it was.
    pub(crate) fn restore(&self, memory: &Memory, program: &Program) {
        for (index, pages) in self.pages.iter().enumerate() {
            let Some(allocation) = memory.indexed(program, index) else { continue };
            for (page, slot) in pages.iter().enumerate() {
                let Some(side) = slot.get() else { continue };
                let side = side.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if let Some(saved) = &side.saved {
                    allocation.restore(page, saved);
                }
            }
        }
    }
}
