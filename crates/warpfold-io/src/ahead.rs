//! [`Ahead`]: a file on a disk, read into the system's cache by several threads ahead of who folds its map.
//!
//! A page that is folded where it lies is asked for when it is touched, and then whoever folds waits; a disk gives its full rate only to who asks for much at
//! once. What the threads read they throw away: the map finds it in the cache. Where the pages are in memory already, no thread is started.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::stamp::OpenFile;
use crate::{PIECE_BYTES, threads};

/// Threads: with fewer the disk waits between two blocks, more gain nothing (docs/lab-notes/readers.md).
const THREADS: usize = 4;
/// Bytes that a thread reads before it takes the next.
const BLOCK: u64 = 1 << 20;
/// Bytes of a thread's buffer, which stays in the processor's cache.
const SCRATCH: usize = 1 << 18;
/// Bytes that are read ahead of the piece that is wanted.
const AHEAD: u64 = 2 * PIECE_BYTES as u64;
/// Smaller arrays are read in less time than threads take to start.
const LEAST: u64 = 4 << 20;
/// Places that are looked at for whether a file is in memory.
const LOOKS: u64 = 16;

/// Threads that read ahead; they end when this is dropped.
#[derive(Debug)]
pub(crate) struct Ahead(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    open_file: Arc<OpenFile>,
    /// Bytes of the file that are read.
    range: Range<u64>,
    progress: Mutex<Progress>,
    changed: Condvar,
}

/// Blocks are counted from the start of the range.
#[derive(Debug, Default)]
struct Progress {
    /// The next block to be read.
    next: u64,
    /// Blocks that may be read.
    wanted: u64,
    /// Blocks that are in memory, with all before them.
    through: u64,
    /// Blocks behind those that are in memory too.
    beyond: BTreeSet<u64>,
    /// Threads that read.
    readers: usize,
    is_over: bool,
}

impl Ahead {
    /// Starts to read bytes of a file, if some of them are not in memory and there is room for threads.
    pub(crate) fn start(open_file: &Arc<OpenFile>, range: Range<u64>) -> Option<Ahead> {
        if range.end - range.start < LEAST || is_in_memory(open_file, &range) {
            return None;
        }
        Ahead::of(open_file, range)
    }

    fn of(open_file: &Arc<OpenFile>, range: Range<u64>) -> Option<Ahead> {
        let progress = Mutex::new(Progress::default());
        let open_file = Arc::clone(open_file);
        let shared = Arc::new(Shared { open_file, range, progress, changed: Condvar::new() });
        for thread in 0..THREADS {
            let own = Arc::clone(&shared);
            shared.progress().readers += 1;
            if threads::start(&format!("ahead-{thread}"), move || own.read()).is_err() {
                shared.progress().readers -= 1;
                break;
            }
        }
        let is_any = shared.progress().readers > 0;
        is_any.then_some(Ahead(shared))
    }

    /// Waits until all bytes up to a place in the range have been read, and has more read behind it.
    pub(crate) fn wait(&self, end: u64) {
        let shared = &*self.0;
        let all = (shared.range.end - shared.range.start).div_ceil(BLOCK);
        let blocks = end.div_ceil(BLOCK).min(all);
        let mut progress = shared.progress();
        progress.wanted = progress.wanted.max((end + AHEAD).div_ceil(BLOCK).min(all));
        shared.changed.notify_all();
        while progress.through < blocks && progress.readers > 0 {
            progress = shared.changed.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.0.progress().is_over = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does. A failure to read is met again, and told of, by who reads the map.
    fn read(&self) {
        let mut scratch = vec![0; SCRATCH];
        let all = (self.range.end - self.range.start).div_ceil(BLOCK);
        let mut progress = self.progress();
        loop {
            if progress.is_over || progress.next == all {
                progress.readers -= 1;
                self.changed.notify_all();
                return;
            }
            if progress.next >= progress.wanted {
                progress = self.changed.wait(progress).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let block = progress.next;
            progress.next += 1;
            drop(progress);
            let mut at = self.range.start + block * BLOCK;
            let end = (at + BLOCK).min(self.range.end);
            while at < end {
                let some = (end - at).min(SCRATCH as u64) as usize;
                match self.open_file.read_at(&mut scratch[..some], at) {
                    Ok(n) if n > 0 => at += n as u64,
                    _ => break,
                }
            }
            progress = self.progress();
            progress.beyond.insert(block);
            while let Some(&first) = progress.beyond.first()
                && first == progress.through
            {
                progress.beyond.pop_first();
                progress.through += 1;
            }
            self.changed.notify_all();
        }
    }
}

/// Whether bytes of a file are in memory, by a look at some of them; where nobody can tell, they are taken to be.
#[cfg(target_os = "linux")]
fn is_in_memory(open_file: &OpenFile, range: &Range<u64>) -> bool {
    use rustix::io::{Errno, ReadWriteFlags, preadv2};
    let step = (range.end - range.start) / LOOKS;
    let is_there = |look: u64| {
        let mut byte = [0];
        let mut into = [std::io::IoSliceMut::new(&mut byte)];
        let read =
            preadv2(open_file.file(), &mut into, range.start + look * step, ReadWriteFlags::NOWAIT);
        read != Err(Errno::AGAIN)
    };
    (0..LOOKS).all(is_there)
}

#[cfg(not(target_os = "linux"))]
fn is_in_memory(_: &OpenFile, _: &Range<u64>) -> bool {
    let _ = LOOKS;
    true
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn open_file(bytes: u64) -> Arc<OpenFile> {
        let mut file = tempfile::tempfile().expect("there is room");
        file.write_all(&vec![1; bytes as usize]).expect("there is room");
        OpenFile::new(file).expect("few files are open")
    }

    #[test]
    fn all_is_read_in_whatever_steps_it_is_wanted() {
        let bytes = 40 * BLOCK + 5;
        for step in [1, BLOCK, 3 * BLOCK + 1, bytes] {
            let range = 7..bytes;
            let ahead =
                Ahead::of(&open_file(bytes), range.clone()).expect("threads can be started");
            let mut end = 0;
            while end < range.end - range.start {
                end = (end + step.max(BLOCK / 4)).min(range.end - range.start);
                ahead.wait(end);
                let progress = ahead.0.progress();
                assert!(progress.through * BLOCK >= end, "{step}");
                assert!(progress.next * BLOCK <= end + AHEAD + BLOCK, "{step}");
            }
        }
    }

    #[test]
    fn a_file_that_became_shorter_keeps_nobody_waiting() {
        let open_file = open_file(8 * BLOCK);
        open_file.file().set_len(BLOCK).expect("it can be cut");
        Ahead::of(&open_file, 0..8 * BLOCK).expect("threads can be started").wait(8 * BLOCK);
    }

    #[test]
    fn what_was_just_written_is_in_memory() {
        assert!(Ahead::start(&open_file(2 * LEAST), 0..2 * LEAST).is_none());
    }
}
