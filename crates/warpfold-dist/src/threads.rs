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
    /// The sum of the numbers that were brought to the sum that is under way.
    sum: Vec<u64>,
    /// How many gathers are complete.
    gathers: u64,
    /// What the last complete one gathered.
    gathered: Arc<Vec<Vec<u8>>>,
    /// What the last complete sum came to.
    summed: Arc<Vec<u64>>,
    departed: Vec<bool>,
    any_departed: bool,
    /// Ranks that are not there yet.
    missing: usize,
}

impl Threads {
    /// All ranks of a world; whoever waits longer than `timeout` for another gets an error.
    pub fn world(size: usize, timeout: Duration) -> Vec<Threads> {
        let state = State {
            brought: vec![None; size],
            sum: Vec::new(),
            gathers: 0,
            gathered: Arc::default(),
            summed: Arc::default(),
            departed: vec![false; size],
            any_departed: false,
            missing: size,
        };
        let world = Arc::new(World { state: Mutex::new(state), changed: Condvar::new() });
        (0..size).map(|rank| Threads { rank, timeout, world: world.clone() }).collect()
    }

    /// Runs a function on every rank of a world, each in a thread of its own, and returns what they returned, in rank order.
    ///
    /// # Panics
    /// If one of them does; the others have got an error by then.
    pub fn run<R: Send>(size: usize, work: impl Fn(Threads) -> R + Sync) -> Vec<R> {
        Self::run_within(size, Duration::from_secs(60), work)
    }

    /// [`run`](Self::run) with another limit on the time that a rank waits for the others, for worlds of thousands.
    ///
    /// # Panics
    /// As [`run`](Self::run), and if the system gives no such number of threads.
    pub fn run_within<R: Send>(
        size: usize,
        timeout: Duration,
        work: impl Fn(Threads) -> R + Sync,
    ) -> Vec<R> {
        // Of a large world, each rank gets a small stack.
        let stack = if size > 1000 { 256 << 10 } else { 2 << 20 };
        let ranks = Threads::world(size, timeout);
        std::thread::scope(|scope| {
            let work = &work;
            let start = |rank| {
                let thread = std::thread::Builder::new().stack_size(stack);
                thread.spawn_scoped(scope, move || work(rank)).expect("a thread starts")
            };
            let threads: Vec<_> = ranks.into_iter().map(start).collect();
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
        self.state().departed.len()
    }

    fn all_gather(&self, mine: &[u8], all: &mut [u8]) -> Result<()> {
        let state = self.meet(mine.to_vec(), |_| {})?;
        let gathered = state.gathered.clone();
        drop(state);
        if let Some(rank) = gathered.iter().position(|bytes| bytes.len() != mine.len()) {
            return Err(self.other_length(rank, gathered[rank].len(), mine.len()));
        }
        if !mine.is_empty() {
            all.chunks_exact_mut(mine.len())
                .zip(&*gathered)
                .for_each(|(a, g)| a.copy_from_slice(g));
        }
        Ok(())
    }

    /// In the memory of one rank's numbers, so that worlds of thousands of ranks can be tried.
    fn sum_u64(&self, numbers: &mut [u64]) -> Result<()> {
        let length = 8 * numbers.len() as u64;
        let state = self.meet(length.to_le_bytes().to_vec(), |sum| {
            if sum.len() < numbers.len() {
                sum.resize(numbers.len(), 0);
            }
            for (sum, number) in sum.iter_mut().zip(&*numbers) {
                *sum = sum.wrapping_add(*number);
            }
        })?;
        let (summed, lengths) = (state.summed.clone(), state.gathered.clone());
        drop(state);
        let of = |bytes: &Vec<u8>| bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        if let Some(rank) = lengths.iter().position(|bytes| of(bytes) != Some(length)) {
            let theirs = of(&lengths[rank]).unwrap_or(0);
            return Err(self.other_length(rank, theirs as usize, length as usize));
        }
        numbers.copy_from_slice(&summed);
        Ok(())
    }
}

impl Threads {
    /// Brings bytes to the gather that is under way and something to the sum, and waits until all ranks have.
    fn meet(
        &self,
        mine: Vec<u8>,
        add: impl FnOnce(&mut Vec<u64>),
    ) -> Result<MutexGuard<'_, State>> {
        let deadline = Instant::now() + self.timeout;
        let mut state = self.state();
        let size = state.departed.len();
        let gather = state.gathers;
        add(&mut state.sum);
        // A rank whose last exchange was given up comes again.
        if state.brought[self.rank].replace(mine).is_none() {
            state.missing -= 1;
        }
        if state.missing == 0 {
            state.missing = size;
            state.gathered = Arc::new(state.brought.iter_mut().filter_map(Option::take).collect());
            state.summed = Arc::new(std::mem::take(&mut state.sum));
            state.gathers += 1;
            self.world.changed.notify_all();
        }
        while state.gathers == gather {
            let absent = |rank: &usize| state.brought[*rank].is_none();
            let lost = state
                .any_departed
                .then(|| (0..size).filter(absent).find(|&rank| state.departed[rank]));
            if let Some(rank) = lost.flatten() {
                return Err(Error::Lost { rank, size, why: "its thread ended".into() });
            }
            let departed = deadline.saturating_duration_since(Instant::now());
            if departed.is_zero() {
                let rank = (0..size).find(absent).unwrap_or(self.rank);
                let why = format!("it did not answer within {:?}", self.timeout);
                return Err(Error::Lost { rank, size, why });
            }
            let waited = self.world.changed.wait_timeout(state, departed);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(state)
    }

    fn other_length(&self, rank: usize, theirs: usize, mine: usize) -> Error {
        let why = format!("it came with {theirs} bytes, and rank {} with {mine}", self.rank);
        Error::Contribution { rank, why }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut state = self.state();
        (state.departed[self.rank], state.any_departed) = (true, true);
        drop(state);
        self.world.changed.notify_all();
    }
}
