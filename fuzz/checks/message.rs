//! What must hold of any bytes that come from another rank.

use warpfold_dist::frame;
use warpfold_dist::tcp::message::{self, Message};

/// Reads the bytes as a message and as a frame; what is accepted must be written as the same bytes. Returns whether either was.
pub fn check(bytes: &[u8]) -> bool {
    let read = message::read(&mut &bytes[..]);
    if let Ok(message) = &read {
        let mut written = Vec::new();
        match message {
            Message::Data { gather, payload } => message::write(&mut written, *gather, payload),
            Message::Lost { rank, why } => message::write_lost(&mut written, *rank as usize, why),
            Message::Report { done } => message::write_report(&mut written, *done),
        }
        .expect("a vector takes every byte");
        let (written, head) = (without_gather(&written), without_gather(&bytes[..written.len()]));
        assert_eq!(written, head, "what was read is written as it was");
    }
    let frame = frame::read(bytes);
    if let Ok(frame) = &frame
        && let Some(payload) = frame.inline
    {
        let outcome = match frame.failed {
            true => Err(std::str::from_utf8(payload).expect("failures have messages")),
            false => Ok(payload),
        };
        assert_eq!(frame::write(frame.hash, outcome), bytes, "a frame is written as it was read");
    }
    read.is_ok() || frame.is_ok()
}

/// The number of the gather means nothing in a message about a lost rank.
fn without_gather(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.get(4) == Some(&1) {
        bytes[8..16].fill(0);
    }
    bytes
}
