//! Shadow memory: for each word, who wrote it last and who has read it since.
//!
//! A page shadows 4 KiB. A cell is 32 bits: an entry of the page's table of accesses, and a lane.
//! The lanes of one instruction share an entry, so memory stays near two bytes a byte. Cells stand
//! for four bytes until something narrower touches the page; then for two, or one.

use std::collections::HashMap;

use super::View;
use crate::memory::PAGE_BYTES;

/// One instruction of one warp that touched memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) block: u32,
    /// The first thread number of the warp.
    pub(crate) first_thread: u32,
    /// The warp's stamp.
    pub(crate) now: u32,
    pub(crate) pc: u32,
    /// Which execution of the instruction, within its block.
    pub(crate) instance: u32,
    pub(crate) manner: Manner,
}

/// Whether an access is ordinary or synchronises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Plain,
    /// Atomics and strong loads and stores: never racing with one another.
    Strong,
}

/// An earlier access that nothing orders before this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub(crate) access: Access,
    pub(crate) thread: u32,
    pub(crate) earlier: AccessKind,
    /// Both come from one execution of one instruction.
    pub(crate) same_instruction: bool,
}

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
    /// A read-modify-write.
    Update,
}

const LANES: u32 = 32;
/// A read cell whose readers are in the page's list.
const SEVERAL: u32 = u32::MAX;
/// Most instructions remembered as unordered readers of one word.
const MOST_READERS: usize = 64;

/// The shadow of one page.
#[derive(Debug)]
pub(crate) struct Page {
    /// Bytes a cell stands for.
    grain: u64,
    writes: Vec<u32>,
    reads: Vec<u32>,
    /// Entry zero is no access.
    table: Vec<Access>,
    /// The readers of cells that have several: table entries, and lanes of each.
    several: HashMap<u32, Vec<(u32, u32)>>,
    sweep_at: usize,
}

fn cell(entry: u32, lane: u32) -> u32 {
    entry * LANES + lane
}

impl Page {
    pub(crate) fn new() -> Page {
        Page {
            grain: 4,
            writes: Vec::new(),
            reads: Vec::new(),
            table: Vec::new(),
            several: HashMap::new(),
            sweep_at: 1024,
        }
    }

    /// Forgets everything: a new block begins.
    pub(crate) fn clear(&mut self) {
        self.writes.fill(0);
        self.reads.fill(0);
        self.table.clear();
        self.several.clear();
    }

    fn refine(&mut self, grain: u64) {
        let factor = (self.grain / grain) as usize;
        let spread =
            |cells: &[u32]| cells.iter().flat_map(|&c| std::iter::repeat_n(c, factor)).collect();
        self.writes = spread(&self.writes);
        self.reads = spread(&self.reads);
        let lists = std::mem::take(&mut self.several);
        for (at, list) in lists {
            for i in 0..factor as u32 {
                self.several.insert(at * factor as u32 + i, list.clone());
            }
        }
        self.grain = grain;
    }

    /// The table entry of `access`, from one on.
    fn entry(&mut self, access: Access) -> u32 {
        if self.table.last() != Some(&access) {
            if self.table.len() >= self.sweep_at {
                self.sweep();
            }
            self.table.push(access);
        }
        self.table.len() as u32
    }

    /// Drops the table entries that no cell refers to.
    fn sweep(&mut self) {
        let mut moved = vec![0u32; self.table.len() + 1];
        for &c in self.writes.iter().chain(&self.reads).filter(|c| **c != SEVERAL) {
            moved[(c / LANES) as usize] = 1;
        }
        for (entry, _) in self.several.values().flatten() {
            moved[*entry as usize] = 1;
        }
        moved[0] = 0;
        let mut kept = 0;
        for (old, new) in moved.iter_mut().enumerate().skip(1) {
            if *new == 1 {
                self.table[kept] = self.table[old - 1];
                kept += 1;
                *new = kept as u32;
            }
        }
        self.table.truncate(kept);
        let renumber = |c: &mut u32| {
            if *c != SEVERAL && *c != 0 {
                *c = cell(moved[(*c / LANES) as usize], *c % LANES);
            }
        };
        self.writes.iter_mut().chain(&mut self.reads).for_each(renumber);
        self.several.values_mut().flatten().for_each(|(entry, _)| *entry = moved[*entry as usize]);
        self.sweep_at = 1024.max(2 * kept);
    }

    fn conflict(
        &self,
        c: u32,
        access: &Access,
        view: &View<'_>,
        kind: AccessKind,
    ) -> Option<Conflict> {
        if c < LANES {
            return None;
        }
        let earlier = self.table[(c / LANES) as usize - 1];
        let thread = earlier.first_thread + c % LANES;
        if earlier.manner == Manner::Strong && access.manner == Manner::Strong
            || view.follows(earlier.block, thread, earlier.now)
        {
            return None;
        }
        let same_instruction = earlier.block == access.block && earlier.instance == access.instance;
        Some(Conflict { access: earlier, thread, earlier: kind, same_instruction })
    }

    /// Notes an access of `bytes` bytes at `offset` into the page, and says what it races with.
    pub(crate) fn touch(
        &mut self,
        offset: u64,
        bytes: u64,
        kind: AccessKind,
        access: Access,
        view: &View<'_>,
    ) -> Result<(), Conflict> {
        if bytes < self.grain {
            self.refine(bytes);
        }
        let cells = (PAGE_BYTES / self.grain) as usize;
        let plane = if kind == AccessKind::Read { &mut self.reads } else { &mut self.writes };
        if plane.len() < cells {
            plane.resize(cells, 0);
        }
        let mine = cell(self.entry(access), view.thread - access.first_thread);
        for at in (offset / self.grain)..(offset + bytes) / self.grain {
            let at = at as usize;
            let written = self.writes.get(at).copied().unwrap_or(0);
            if let Some(conflict) = self.conflict(written, &access, view, AccessKind::Write) {
                return Err(conflict);
            }
            if kind == AccessKind::Read {
                self.note_read(at, mine, &access, view);
                continue;
            }
            let read = self.reads.get(at).copied().unwrap_or(0);
            if read == SEVERAL {
                let readers = self.several.remove(&(at as u32)).unwrap_or_default();
                for (entry, lanes) in readers {
                    for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
                        let reader = cell(entry, lane);
                        if let Some(conflict) =
                            self.conflict(reader, &access, view, AccessKind::Read)
                        {
                            return Err(conflict);
                        }
                    }
                }
            } else if let Some(conflict) = self.conflict(read, &access, view, AccessKind::Read) {
                return Err(conflict);
            }
            if read != 0 {
                self.reads[at] = 0;
            }
            self.writes[at] = mine;
        }
        Ok(())
    }

    /// Remembers a reader. Those it follows need remembering no more.
    fn note_read(&mut self, at: usize, mine: u32, access: &Access, view: &View<'_>) {
        let before = self.reads[at];
        // As plain reads: a strong one may not hide behind another strong one.
        let plain = Access { manner: Manner::Plain, ..*access };
        let (entry, lane) = (mine / LANES, mine % LANES);
        if before == SEVERAL {
            let mut readers = self.several.remove(&(at as u32)).unwrap_or_default();
            match readers.last_mut() {
                // Lanes of one instruction read one word all the time.
                Some((last, lanes)) if *last == entry => *lanes |= 1 << lane,
                _ => {
                    if readers.len() >= MOST_READERS {
                        readers.retain_mut(|(entry, lanes)| {
                            *lanes = (0..LANES)
                                .filter(|lane| *lanes >> lane & 1 == 1)
                                .filter(|lane| {
                                    self.conflict(
                                        cell(*entry, *lane),
                                        &plain,
                                        view,
                                        AccessKind::Read,
                                    )
                                    .is_some()
                                })
                                .fold(0, |kept, lane| kept | 1 << lane);
                            *lanes != 0
                        });
                    }
                    if readers.len() < MOST_READERS {
                        readers.push((entry, 1 << lane));
                    }
                }
            }
            self.several.insert(at as u32, readers);
        } else if self.conflict(before, &plain, view, AccessKind::Read).is_none() {
            self.reads[at] = mine;
        } else if before / LANES == entry {
            self.several.insert(at as u32, vec![(entry, 1 << (before % LANES) | 1 << lane)]);
            self.reads[at] = SEVERAL;
        } else {
            self.several.insert(
                at as u32,
                vec![(before / LANES, 1 << (before % LANES)), (entry, 1 << lane)],
            );
            self.reads[at] = SEVERAL;
        }
    }
}
