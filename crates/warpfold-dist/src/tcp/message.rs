//! Messages between rank 0 and the others, once they know each other.
//!
//! # Layout, version 2
//! 24 bytes, numbers little-endian, and then the payload.
//!
//! | bytes | content |
//! |---|---|
//! | 0–3 | magic: `WFG2` |
//! | 4–7 | 0: the payload is data; 1: the world is lost, and the payload is the number of the rank (4 bytes) and what was seen of it; 2: how far a rank is, without a payload |
//! | 8–15 | the number of the gather, from 0; of a report, what is done |
//! | 16–23 | length of the payload |

use std::io::{self, ErrorKind, Read, Write};

const MAGIC: [u8; 4] = *b"WFG2";
const HEADER: usize = 24;
/// The longest message that is read: a gather of a gigabyte is no scalar any more.
pub const LONGEST: u64 = 1 << 34;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// What was gathered, or is to be.
    Data {
        /// Which gather it belongs to.
        gather: u64,
        /// The bytes.
        payload: Vec<u8>,
    },
    /// A rank is lost, and with it the world.
    Lost {
        /// Which.
        rank: u32,
        /// What was seen of it.
        why: String,
    },
    /// How far a rank is; it belongs to no gather.
    Report {
        /// What it has done.
        done: u64,
    },
}

/// Reads a message from a stream of any origin. Memory grows with the bytes that came, not with those that were announced.
///
/// # Errors
/// What is wrong, as the end of a sentence about the sender.
pub fn read(stream: &mut impl Read) -> Result<Message, String> {
    let mut header = [0; HEADER];
    fill(stream, &mut header)?;
    let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
    if header[..4] != MAGIC {
        return Err("it sent what is no message".into());
    }
    let (kind, gather, length) = (word(0) >> 32, word(8), word(16));
    if kind > 2 || length > LONGEST || kind == 2 && length > 0 {
        return Err(format!("it sent a message of an unknown kind, or of {length} bytes"));
    }
    let mut payload = Vec::new();
    let taken = stream.by_ref().take(length).read_to_end(&mut payload);
    if taken.is_err() || (payload.len() as u64) < length {
        let came = payload.len();
        let how = taken.err().map_or("it ended".into(), |error| describe(&error));
        return Err(format!("{how} after {came} of {length} bytes of a message"));
    }
    if kind == 0 {
        return Ok(Message::Data { gather, payload });
    }
    if kind == 2 {
        return Ok(Message::Report { done: gather });
    }
    let (rank, why) = payload.split_first_chunk().ok_or("it sent half of a message")?;
    let why = std::str::from_utf8(why).map_err(|_| "it sent a message that is no text")?;
    Ok(Message::Lost { rank: u32::from_le_bytes(*rank), why: why.into() })
}

/// Writes data.
///
/// # Errors
/// Those of the stream.
pub fn write(stream: &mut impl Write, gather: u64, payload: &[u8]) -> io::Result<()> {
    put(stream, 0, gather, payload)
}

/// Says that a rank is lost.
///
/// # Errors
/// Those of the stream.
pub fn write_lost(stream: &mut impl Write, rank: usize, why: &str) -> io::Result<()> {
    put(stream, 1, 0, &[&(rank as u32).to_le_bytes()[..], why.as_bytes()].concat())
}

/// Says how far this rank is.
///
/// # Errors
/// Those of the stream.
pub fn write_report(stream: &mut impl Write, done: u64) -> io::Result<()> {
    put(stream, 2, done, &[])
}

fn put(stream: &mut impl Write, kind: u32, gather: u64, payload: &[u8]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&kind.to_le_bytes());
    bytes.extend_from_slice(&gather.to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(payload);
    stream.write_all(&bytes)
}

/// Fills a buffer, or says how the stream ended.
pub(super) fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> Result<(), String> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) if filled == 0 => return Err("it closed the connection".into()),
            Ok(0) => return Err("it closed the connection in the middle of a message".into()),
            Ok(n) => filled += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(describe(&error)),
        }
    }
    Ok(())
}

/// The system's error as what the other side did.
pub(super) fn describe(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "it was silent for too long".into(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
            "it closed the connection".into()
        }
        _ => format!("its connection failed ({error})"),
    }
}
