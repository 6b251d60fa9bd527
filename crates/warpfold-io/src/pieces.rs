//! [`Pieces`]: an array in pieces, mapped or read ahead by a second thread.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use warpfold_num::Op;

use crate::buffer::{Buffer, PIECE_BYTES};
use crate::{Error, Mapped, threads};

/// Pieces in memory at once for each input that is read rather than mapped: one being filled, one being folded.
///
/// So the program's buffers stay below `PIECE_BYTES * PIECES_IN_FLIGHT` (32 MiB) for any input, and twice that for dot.
pub const PIECES_IN_FLIGHT: usize = 2;

/// Something that makes an array, piece after piece, on the read-ahead thread.
pub trait Produce: Send + 'static {
    /// Writes the next native-endian bytes into `piece`; fewer than there is room for only at the end of the array.
    ///
    /// # Errors
    /// Whatever is wrong with the input, by its name.
    fn fill(&mut self, piece: &mut [u8]) -> Result<usize, Error>;
}

/// The order in which a reduction takes the elements of an array of several axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Whatever is fastest: nothing depends on it.
    Memory,
    /// The last index fastest, as NumPy numbers elements, whatever the order in the file.
    C,
}

impl Order {
    /// What a reduction needs: those that return or compare indices need C order.
    pub fn of(op: Op) -> Order {
        match op {
            Op::ArgMin | Op::ArgMax | Op::Stats | Op::Dot => Order::C,
            _ => Order::Memory,
        }
    }
}

/// An array, in pieces.
#[derive(Debug)]
pub enum Pieces {
    /// Bytes of a mapped file, folded where they lie.
    Mapped(Mapped),
    /// Bytes that a second thread makes.
    Produced(ReadAhead),
}

impl Pieces {
    /// Starts the second thread; `bytes` is the array's size where it is known.
    pub fn produce(producer: impl Produce, bytes: Option<u64>) -> Pieces {
        Pieces::Produced(ReadAhead::start(producer, bytes))
    }

    /// The next piece: native-endian, aligned, whole elements, never empty; `None` at the end.
    ///
    /// # Errors
    /// Whatever is wrong with the input.
    pub fn next_piece(&mut self) -> Result<Option<&[u8]>, Error> {
        match self {
            Pieces::Mapped(mapped) => {
                let piece = mapped.take(PIECE_BYTES);
                if piece.is_empty() {
                    mapped.check_unchanged()?;
                }
                Ok((!piece.is_empty()).then(|| &mapped.bytes()[piece]))
            }
            Pieces::Produced(ahead) => ahead.next(),
        }
    }
}

/// A thread that fills the next buffer while the last one is folded.
#[derive(Debug)]
pub struct ReadAhead {
    filled: Receiver<Message>,
    empty: Sender<Buffer>,
    lent: Option<Buffer>,
    thread: Option<JoinHandle<()>>,
    /// What the thread would do, where none can be started.
    here: Option<Reader>,
}

#[derive(Debug)]
enum Message {
    Piece(Buffer),
    End,
    Failed(Error),
}

impl ReadAhead {
    fn start(producer: impl Produce, bytes: Option<u64>) -> ReadAhead {
        let (empty, to_fill) = channel::<Buffer>();
        let (done, filled) = sync_channel(PIECES_IN_FLIGHT + 1);
        let capacity = bytes.map_or(PIECE_BYTES, |n| n.clamp(1, PIECE_BYTES as u64) as usize);
        // A small array needs one buffer of its own size; capacities stay multiples of every element's size.
        let capacity = capacity.next_multiple_of(64);
        let mut ahead = ReadAhead { filled, empty, lent: None, thread: None, here: None };
        // One buffer is enough, if there is no memory for more.
        let buffers: Vec<_> = (0..PIECES_IN_FLIGHT).map_while(|_| Buffer::new(capacity)).collect();
        if buffers.is_empty() {
            let failure = Error::NoBuffer { bytes: capacity as u64 };
            done.send(Message::Failed(failure)).expect("the receiver is in scope");
            return ahead;
        }
        for buffer in buffers {
            ahead.empty.send(buffer).expect("the receiver is in scope");
        }
        let reader = Reader { producer: Box::new(producer), to_fill, done };
        let reader = Arc::new(Mutex::new(Some(reader)));
        let take = |reader: &Mutex<Option<Reader>>| {
            reader.lock().unwrap_or_else(PoisonError::into_inner).take()
        };
        let threads_own = Arc::clone(&reader);
        let thread = threads::start("reader", move || {
            if let Some(mut reader) = take(&threads_own) {
                while reader.step() {}
            }
        });
        match thread {
            Ok(thread) => ahead.thread = Some(thread),
            Err(_) => ahead.here = take(&reader),
        }
        ahead
    }

    fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        if let Some(buffer) = self.lent.take() {
            // The thread may have ended already, with the array.
            let _ = self.empty.send(buffer);
        }
        if let Some(reader) = &mut self.here
            && !reader.step()
        {
            self.here = None;
        }
        match self.filled.recv() {
            Ok(Message::Piece(buffer)) => Ok(Some(self.lent.insert(buffer).filled())),
            Ok(Message::End) => Ok(None),
            Ok(Message::Failed(failure)) => Err(failure),
            Err(RecvError) => match self.thread.take().map(JoinHandle::join) {
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                _ => Ok(None),
            },
        }
    }
}

/// Fills buffers, one after another.
struct Reader {
    producer: Box<dyn Produce>,
    to_fill: Receiver<Buffer>,
    done: SyncSender<Message>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Reader {
    /// Fills the next buffer; false once there is nothing more to do. Where nobody listens any more, nobody needs to know.
    fn step(&mut self) -> bool {
        let Ok(mut buffer) = self.to_fill.recv() else { return false };
        let piece = buffer.all_mut();
        let needed = piece.len();
        let filled = match self.producer.fill(piece) {
            Ok(filled) => filled,
            Err(failure) => {
                let _ = self.done.send(Message::Failed(failure));
                return false;
            }
        };
        buffer.set_filled(filled);
        if filled > 0 && self.done.send(Message::Piece(buffer)).is_err() {
            return false;
        }
        if filled < needed {
            let _ = self.done.send(Message::End);
        }
        filled == needed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Count(u64, u64);

    impl Produce for Count {
        fn fill(&mut self, piece: &mut [u8]) -> Result<usize, Error> {
            let n = (self.1 - self.0).min(piece.len() as u64) as usize;
            for byte in &mut piece[..n] {
                *byte = (self.0 % 251) as u8;
                self.0 += 1;
            }
            Ok(n)
        }
    }

    #[test]
    fn pieces_arrive_whole_and_in_order() {
        for total in [0, 1, PIECE_BYTES as u64, PIECE_BYTES as u64 * 3 + 5] {
            for known in [None, Some(total)] {
                let mut pieces = Pieces::produce(Count(0, total), known);
                let mut seen = 0;
                while let Some(piece) = pieces.next_piece().unwrap() {
                    assert!(
                        piece
                            .iter()
                            .enumerate()
                            .all(|(i, &b)| u64::from(b) == (seen + i as u64) % 251)
                    );
                    seen += piece.len() as u64;
                    assert!(piece.len() == PIECE_BYTES || seen == total);
                }
                assert_eq!(seen, total);
            }
        }
    }

    #[test]
    #[should_panic(expected = "the producer broke")]
    fn a_panic_of_the_producer_is_no_end_of_data() {
        struct Broken;
        impl Produce for Broken {
            fn fill(&mut self, _: &mut [u8]) -> Result<usize, Error> {
                panic!("the producer broke")
            }
        }
        let _ = Pieces::produce(Broken, None).next_piece();
    }
}
