//! [`Apart`]: a source that a thread of its own reads, some buffers ahead of who asks for it. Unpacking and parsing take two cores then.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::threads;

/// Bytes of a buffer: half of a near cache.
const BUFFER: usize = 1 << 18;
/// Buffers in flight.
const BUFFERS: usize = 4;
/// Bytes that are read before the thread is started: what is small, or is only looked at, needs none.
const BEFORE: u64 = 1 << 20;

type Source = Box<dyn Read + Send>;

/// What is read of a source, in its order.
pub(crate) struct Apart(State);

enum State {
    /// Where it is asked for: so many bytes were.
    Here(Source, u64),
    /// By a thread.
    There(Ahead),
    /// No thread can be started.
    Alone(Source),
}

struct Ahead {
    filled: Receiver<io::Result<Vec<u8>>>,
    empty: Sender<Vec<u8>>,
    /// What is handed on, from a place.
    buffer: Vec<u8>,
    at: usize,
    thread: Option<JoinHandle<()>>,
}

impl Apart {
    pub(crate) fn new(source: Source) -> Apart {
        Apart(State::Here(source, 0))
    }
}

impl Read for Apart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let State::Here(_, BEFORE..) = self.0 {
            let none = State::Alone(Box::new(io::empty()));
            let State::Here(source, _) = std::mem::replace(&mut self.0, none) else {
                unreachable!("it was looked at")
            };
            self.0 = start(source);
        }
        match &mut self.0 {
            State::Here(source, before) => {
                let n = source.read(buffer)?;
                *before += n as u64;
                Ok(n)
            }
            State::There(ahead) => ahead.read(buffer),
            State::Alone(source) => source.read(buffer),
        }
    }
}

fn start(source: Source) -> State {
    let (empty, to_fill) = channel();
    let (done, filled) = sync_channel(BUFFERS + 1);
    for _ in 0..BUFFERS {
        empty.send(Vec::new()).expect("the receiver is in scope");
    }
    // A thread that is not started gives the source back.
    let source = Arc::new(Mutex::new(Some(source)));
    let take = |source: &Mutex<Option<Source>>| {
        source.lock().unwrap_or_else(PoisonError::into_inner).take()
    };
    let own = Arc::clone(&source);
    let thread = threads::start("unpacker", move || {
        if let Some(source) = take(&own) {
            read_ahead(source, &to_fill, &done);
        }
    });
    match thread {
        Ok(thread) => {
            let (buffer, at, thread) = (Vec::new(), 0, Some(thread));
            State::There(Ahead { filled, empty, buffer, at, thread })
        }
        Err(_) => State::Alone(take(&source).expect("no thread has taken it")),
    }
}

/// What the thread does, until the source ends or fails, or nobody listens any more. A buffer that is not full is the last but for an error.
fn read_ahead(
    mut source: Source,
    to_fill: &Receiver<Vec<u8>>,
    done: &SyncSender<io::Result<Vec<u8>>>,
) {
    while let Ok(mut buffer) = to_fill.recv() {
        buffer.resize(BUFFER, 0);
        let mut filled = 0;
        let ended = loop {
            match source.read(&mut buffer[filled..]) {
                Ok(0) => break Some(Ok(Vec::new())),
                Ok(n) => filled += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Some(Err(error)),
            }
            if filled == BUFFER {
                break None;
            }
        };
        buffer.truncate(filled);
        let is_gone = filled > 0 && done.send(Ok(buffer)).is_err();
        if let Some(end) = ended {
            let _ = done.send(end);
            return;
        }
        if is_gone {
            return;
        }
    }
}

impl Ahead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.buffer.len() {
            let used = std::mem::take(&mut self.buffer);
            self.at = 0;
            if used.capacity() > 0 {
                // The thread may have ended already.
                let _ = self.empty.send(used);
            }
            self.buffer = match self.filled.recv() {
                Ok(buffer) => buffer?,
                // It has said all, or broke.
                Err(_) => match self.thread.take().map(JoinHandle::join) {
                    Some(Err(panic)) => std::panic::resume_unwind(panic),
                    _ => Vec::new(),
                },
            };
        }
        let n = into.len().min(self.buffer.len() - self.at);
        into[..n].copy_from_slice(&self.buffer[self.at..][..n]);
        self.at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::{Apart, BEFORE, ErrorKind, Read, State, io};

    /// So many bytes, a few at a time, and then an error if there is one.
    struct Source(u64, u64, Option<ErrorKind>);

    impl Read for Source {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = buffer.len().min(self.1 as usize - self.0 as usize).min(100_003);
            for byte in &mut buffer[..n] {
                *byte = (self.0 % 251) as u8;
                self.0 += 1;
            }
            match (n, self.2.take_if(|_| n == 0)) {
                (0, Some(kind)) => Err(io::Error::new(kind, "it broke")),
                _ => Ok(n),
            }
        }
    }

    #[test]
    fn bytes_come_in_their_order_and_errors_behind_them() {
        for total in [0, 5, BEFORE, BEFORE + 1, 7 * BEFORE + 12_345] {
            for error in [None, Some(ErrorKind::InvalidData)] {
                let mut apart = Apart::new(Box::new(Source(0, total, error)));
                let mut all = Vec::new();
                let read = apart.read_to_end(&mut all);
                assert_eq!(read.map_err(|error| error.kind()).err(), error);
                assert_eq!(all.len() as u64, total);
                assert!(all.iter().zip(0u64..).all(|(&byte, at)| u64::from(byte) == at % 251));
            }
        }
    }

    #[test]
    fn whoever_leaves_early_leaves_no_thread() {
        let mut apart = Apart::new(Box::new(io::repeat(7)));
        let mut some = vec![0; BEFORE as usize];
        (0..3).for_each(|_| apart.read_exact(&mut some).unwrap());
        let State::There(ahead) = &mut apart.0 else { panic!("it is read apart") };
        let thread = ahead.thread.take().expect("there is a thread");
        drop(apart);
        thread.join().expect("it ends");
    }
}
