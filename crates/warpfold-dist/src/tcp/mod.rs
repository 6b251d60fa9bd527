//! [`Tcp`]: a world of processes that need nothing but sockets, for torchrun and for Slurm without MPI.
//!
//! Every rank sends to rank 0, which answers with everything, or with the sum; so rank 0 sees who is missing and tells the others. A gather costs it
//! the square of the number of ranks in bytes: it is meant for up to a few hundred ranks, and MPI for more.

mod by;
mod environment;
mod meeting;
pub mod message;

use std::cell::RefCell;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use by::By;
use message::Message;

use crate::meanwhile::{TICK, WhileWaiting};
use crate::{Comm, Error, Meanwhile, Result};

/// How a rank finds the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The number of this rank.
    pub rank: usize,
    /// How many there are.
    pub size: usize,
    /// Host and port of rank 0.
    pub address: String,
    /// What rank 0 listens on; `None` is loopback with the port of the address.
    pub bind: Option<String>,
    /// What all ranks know and strangers do not.
    pub token: String,
    /// How long to wait for others, when they meet and in each gather; ranks other than 0 wait twice as long in a gather.
    pub timeout: Duration,
}

impl Options {
    fn error(&self, requested: &str, obstacle: String) -> Error {
        Error::World {
            requested: format!("rank {} of {} wanted {requested} at {}", self.rank, self.size, self.address),
            obstacle,
            remedy: "set WARPFOLD_ADDRESS to a free host:port of rank 0, and WARPFOLD_TOKEN to the same secret on all ranks".into(),
        }
    }
}

/// A world over TCP, seen from one rank.
#[derive(Debug)]
pub struct Tcp {
    rank: usize,
    size: usize,
    timeout: Duration,
    waiting: WhileWaiting,
    /// Rank 0's: how far each rank has said to be.
    reports: Arc<[AtomicU64]>,
    state: RefCell<State>,
}

#[derive(Debug)]
struct State {
    /// How many gathers were begun.
    gathers: u64,
    side: Side,
    broken: Option<Error>,
}

#[derive(Debug)]
enum Side {
    /// Rank 0: connections from rank 1 on, and what they bring.
    Host { ranks: Vec<TcpStream>, arrivals: Receiver<Arrival> },
    /// Any other rank: its connection to rank 0.
    Guest(TcpStream),
}

type Arrival = (usize, Result<Message, String>);

impl Tcp {
    /// Enters the world that the environment describes: `WARPFOLD_RANK`, `WARPFOLD_WORLD_SIZE`, `WARPFOLD_ADDRESS`, or those of torchrun or
    /// Slurm; `WARPFOLD_TOKEN` always.
    ///
    /// # Errors
    /// [`Error::World`] if something is missing there, and as [`enter`](Self::enter).
    pub fn from_env() -> Result<Tcp> {
        Self::enter(&Options::from_env(|name| std::env::var(name).ok())?)
    }

    /// Enters a world: rank 0 waits for all others, who connect to it.
    ///
    /// # Errors
    /// [`Error::World`] where the address or the token is of no use; [`Error::Lost`] with the rank that did not come in time.
    pub fn enter(options: &Options) -> Result<Tcp> {
        if options.rank >= options.size {
            return Err(options.error("to enter", "ranks are numbered from 0".into()));
        }
        if options.token.is_empty() {
            return Err(options.error("to enter", "there is no token".into()));
        }
        let reports: Arc<[AtomicU64]> = (0..options.size).map(|_| AtomicU64::new(0)).collect();
        let side = match options.rank {
            0 => Self::host(options, &reports)?,
            _ => Side::Guest(meeting::join(options)?),
        };
        let Options { rank, size, timeout, .. } = *options;
        let state = RefCell::new(State { gathers: 0, side, broken: None });
        Ok(Tcp { rank, size, timeout, waiting: WhileWaiting::default(), reports, state })
    }

    fn host(options: &Options, reports: &Arc<[AtomicU64]>) -> Result<Side> {
        let port = options.address.rsplit(':').next().unwrap_or_default();
        let bind = options.bind.clone().unwrap_or_else(|| format!("127.0.0.1:{port}"));
        let listener = TcpListener::bind(&bind)
            .map_err(|error| options.error("to listen", format!("{bind}: {error}")))?;
        let ranks = meeting::host(options, &listener)?;
        let (arrived, arrivals) = channel();
        for (rank, stream) in (1..).zip(&ranks) {
            let failed = |error: std::io::Error| options.error("to listen", error.to_string());
            let (stream, arrived) = (stream.try_clone().map_err(failed)?, arrived.clone());
            let reports = reports.clone();
            stream.set_read_timeout(None).map_err(failed)?;
            // It ends with the connection, which is shut down when the world is dropped.
            std::thread::spawn(move || {
                loop {
                    let message = message::read(&mut &stream);
                    if let Ok(Message::Report { done }) = message {
                        reports[rank].store(done, Ordering::Relaxed);
                        continue;
                    }
                    let is_last = message.is_err();
                    if arrived.send((rank, message)).is_err() || is_last {
                        return;
                    }
                }
            });
        }
        Ok(Side::Host { ranks, arrivals })
    }

    fn lost(&self, rank: usize, why: impl Into<String>) -> Error {
        Error::Lost { rank, size: self.size, why: why.into() }
    }

    /// Rank 0's part of a gather.
    fn collect(
        &self,
        gather: u64,
        arrivals: &Receiver<Arrival>,
        length: usize,
        mut take: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let deadline = Instant::now() + self.timeout;
        let mut is_here = vec![false; self.size];
        is_here[0] = true;
        while let Some(missing) = is_here.iter().position(|here| !here) {
            let left = deadline.saturating_duration_since(Instant::now());
            let wait = if self.waiting.is_on() { left.min(TICK) } else { left };
            let (rank, message) = match arrivals.recv_timeout(wait) {
                Ok(arrival) => arrival,
                Err(RecvTimeoutError::Timeout) if wait < left => {
                    self.waiting.tick(self.reported());
                    continue;
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let why = format!("it did not answer within {:?}", self.timeout);
                    return Err(self.lost(missing, why));
                }
            };
            match message {
                Ok(Message::Data { gather: theirs, payload })
                    if theirs == gather && payload.len() == length && !is_here[rank] =>
                {
                    take(rank, &payload);
                    is_here[rank] = true;
                }
                Ok(Message::Data { gather: theirs, payload }) => {
                    let came = payload.len();
                    let why = format!(
                        "it came with {came} bytes to gather {theirs}, where rank 0 has {length} in gather {gather}"
                    );
                    return Err(self.lost(rank, why));
                }
                Ok(Message::Lost { .. } | Message::Report { .. }) => {
                    return Err(self.lost(rank, "it sent what is no message"));
                }
                Err(why) => return Err(self.lost(rank, why)),
            }
        }
        Ok(())
    }

    /// Any other rank's part of a gather.
    fn ask(&self, gather: u64, stream: &TcpStream, mine: &[u8], all: &mut [u8]) -> Result<()> {
        let silent = |why: String| self.lost(0, why);
        // Rank 0 may have said why it left before it did, so a failed write is no reason not to read.
        let written = message::write(&mut &*stream, gather, mine);
        let deadline = Instant::now() + 2 * self.timeout;
        match message::read(&mut By::new(stream, deadline)) {
            Ok(Message::Data { gather: theirs, payload })
                if theirs == gather && payload.len() == all.len() =>
            {
                written.map_err(|error| silent(message::describe(&error)))?;
                all.copy_from_slice(&payload);
                Ok(())
            }
            Ok(Message::Data { .. } | Message::Report { .. }) => {
                Err(silent("it answered another question".into()))
            }
            Ok(Message::Lost { rank, why }) => Err(self.lost(rank as usize, why)),
            Err(why) => Err(silent(why)),
        }
    }

    /// One exchange: what every rank brings, by way of rank 0, becomes what every rank gets. Rank 0 begins with its own and takes the others in.
    fn star(
        &self,
        mine: &[u8],
        all: &mut [u8],
        take: impl Fn(&mut [u8], usize, &[u8]),
    ) -> Result<()> {
        let mut state = self.state.borrow_mut();
        if let Some(error) = &state.broken {
            return Err(error.clone());
        }
        let gather = state.gathers;
        state.gathers += 1;
        let done = match &mut state.side {
            Side::Guest(stream) => self.ask(gather, stream, mine, all),
            Side::Host { ranks, arrivals } => {
                take(all, 0, mine);
                let collected = self
                    .collect(gather, arrivals, mine.len(), |rank, bytes| take(all, rank, bytes));
                for stream in ranks {
                    // Whoever has left meanwhile is missing in the next exchange.
                    let _ = match &collected {
                        Ok(()) => message::write(stream, gather, all),
                        Err(Error::Lost { rank, why, .. }) => {
                            message::write_lost(stream, *rank, why)
                        }
                        Err(_) => Ok(()),
                    };
                }
                collected
            }
        };
        if let Err(error) = &done {
            state.broken = Some(error.clone());
        }
        done
    }
}

impl Comm for Tcp {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, mine: &[u8], all: &mut [u8]) -> Result<()> {
        let all = &mut all[..mine.len() * self.size];
        self.star(mine, all, |all, rank, theirs| {
            all[rank * theirs.len()..][..theirs.len()].copy_from_slice(theirs);
        })
    }

    /// Rank 0 adds up, so that it sends each rank no more than that rank sent.
    fn sum_u64(&self, numbers: &mut [u64]) -> Result<()> {
        let mine: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let mut sum = vec![0; mine.len()];
        self.star(&mine, &mut sum, |sum, _, theirs| {
            for (sum, theirs) in sum.as_chunks_mut().0.iter_mut().zip(theirs.as_chunks().0) {
                *sum = u64::from_le_bytes(*sum)
                    .wrapping_add(u64::from_le_bytes(*theirs))
                    .to_le_bytes();
            }
        })?;
        for (number, bytes) in numbers.iter_mut().zip(sum.as_chunks().0) {
            *number = u64::from_le_bytes(*bytes);
        }
        Ok(())
    }

    fn while_waiting(&self, meanwhile: Meanwhile) {
        self.waiting.set(meanwhile);
    }

    /// Rank 0 has a thread for each rank that always reads, so that 24 bytes now and then do not wait; if they fail, the next exchange says so.
    fn report(&self, done: u64) {
        if let (Side::Guest(stream), true) = (&self.state.borrow().side, self.waiting.is_on()) {
            let _ = message::write_report(&mut &*stream, done);
        }
    }

    fn reported(&self) -> u64 {
        let each = self.reports.iter().map(|done| done.load(Ordering::Relaxed));
        each.fold(0, u64::saturating_add)
    }
}

impl Drop for Tcp {
    fn drop(&mut self) {
        // Everything that was written is still delivered; whoever waits for more learns that this rank has left.
        match &self.state.get_mut().side {
            Side::Guest(stream) => drop(stream.shutdown(Shutdown::Both)),
            Side::Host { ranks, .. } => {
                ranks.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
            }
        }
    }
}
