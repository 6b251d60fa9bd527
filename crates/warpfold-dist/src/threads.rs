//! [`Threads`]: a world inside of one process, for tests and for simulating large ones.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{Comm, Error, Result};

/// One rank of a world of threads.
#[derive(Debug)]
pub struct Threads {
    rank: usize,
    timeout: Duration,
    world: Arc<World>,
}

#[derive(Debug)]
struct World {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// What each rank brought to the gather that is under way.
    brought: Vec<Option<Vec<u8>>>,
    /// How many gathers are complete.
    gathers: u64,
    /// What the last complete one gathered.
    gathered: Arc<Vec<Vec<u8>>>,
    left: Vec<bool>,
}

impl Threads {
    /// All ranks of a world; whoever waits longer than `timeout` for another gets an error.
    pub fn world(size: usize, timeout: Duration) -> Vec<Threads> {
        let state = State {
            brought: vec![None; size],
            gathers: 0,
            gathered: Arc::default(),
            left: vec![false; size],
        };
        let world = Arc::new(World { state: Mutex::new(state), changed: Condvar::new() });
        (0..size).map(|rank| Threads { rank, timeout, world: world.clone() }).collect()
    }

    /// Runs a function on every rank of a world, each in a thread of its own, and returns what they returned, in rank order.
    ///
    /// # Panics
    /// If one of them does; the others have got an error by then.
    pub fn run<R: Send>(size: usize, work: impl Fn(Threads) -> R + Sync) -> Vec<R> {
        let ranks = Threads::world(size, Duration::from_secs(60));
        std::thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> =
                ranks.into_iter().map(|rank| scope.spawn(move || work(rank))).collect();
            let outcomes = threads.into_iter().map(|thread| thread.join());
            outcomes
                .map(|outcome| outcome.unwrap_or_else(|p| std::panic::resume_unwind(p)))
                .collect()
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.world.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Comm for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.state().left.len()
    }

    fn all_gather(&self, mine: &[u8], all: &mut [u8]) -> Result<()> {
        let deadline = Instant::now() + self.timeout;
        let mut state = self.state();
        let size = state.left.len();
        let gather = state.gathers;
        state.brought[self.rank] = Some(mine.to_vec());
        if state.brought.iter().all(Option::is_some) {
            state.gathered = Arc::new(state.brought.iter_mut().filter_map(Option::take).collect());
            state.gathers += 1;
            self.world.changed.notify_all();
        }
        while state.gathers == gather {
            let absent = |rank: &usize| state.brought[*rank].is_none();
            let lost = (0..size).filter(absent).find(|&rank| state.left[rank]);
            if let Some(rank) = lost {
                return Err(Error::Lost { rank, size, why: "its thread ended".into() });
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let rank = (0..size).find(absent).unwrap_or(self.rank);
                let why = format!("it did not answer within {:?}", self.timeout);
                return Err(Error::Lost { rank, size, why });
            }
            let waited = self.world.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let gathered = state.gathered.clone();
        drop(state);
        if let Some(rank) = gathered.iter().position(|bytes| bytes.len() != mine.len()) {
            let (theirs, mine) = (gathered[rank].len(), mine.len());
            let why = format!("it came with {theirs} bytes, and rank {} with {mine}", self.rank);
            return Err(Error::Contribution { rank, why });
        }
        if !mine.is_empty() {
            all.chunks_exact_mut(mine.len())
                .zip(&*gathered)
                .for_each(|(a, g)| a.copy_from_slice(g));
        }
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.state().left[self.rank] = true;
        self.world.changed.notify_all();
    }
}
