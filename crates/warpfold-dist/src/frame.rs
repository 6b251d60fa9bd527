//! The message that every exchange begins with: what the rank computes, how it went, and its partial if that is short.
//!
//! # Layout, version 3
//! [`BYTES`] bytes, numbers little-endian, what is not used zero. Its length does not depend on the reduction, so that ranks that disagree
//! can still say so.
//!
//! | bytes | content |
//! |---|---|
//! | 0–3 | magic: `WFDX` |
//! | 4–5 | version: 3 |
//! | 6 | 0: the payload is a contribution; 1: the rank failed, and the payload is its message |
//! | 7 | zero |
//! | 8–15 | length of the payload |
//! | 16–31 | the first bytes of the SHA-256 of the text that ranks agree on: program, version, reduction, type, policy |
//! | 32–255 | the payload, if it has room there; else zero, and the payload follows in a second gather, padded with zeros to the longest |
//!
//! Where hashes differ, all ranks see that they do, and gather their texts, of [`TEXT`] bytes each, padded with zeros.

use sha2::{Digest, Sha256};

/// Bytes of a frame. Partials are sent in their compact form, of which nearly all have room here; and a gather of 512 bytes takes longer.
pub const BYTES: usize = 256;
/// Bytes before the payload.
pub const HEADER: usize = 32;
/// Bytes of a text that is gathered.
pub const TEXT: usize = 256;
/// The longest payload inside of the frame.
pub const INLINE: usize = BYTES - HEADER;
/// The longest message of a rank that failed.
pub const MESSAGE: usize = 1024;

const MAGIC: [u8; 4] = *b"WFDX";
const VERSION: u16 = 3;

/// A frame that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Whether the rank failed.
    pub failed: bool,
    /// The hash of what it computes.
    pub hash: [u8; 16],
    /// Length of the payload, wherever it lies.
    pub length: u64,
    /// The payload, if it lies in the frame.
    pub inline: Option<&'a [u8]>,
}

/// The hash of a text.
pub fn hash(text: &str) -> [u8; 16] {
    *Sha256::digest(text).first_chunk().expect("a hash has 32 bytes")
}

/// Writes a frame; a message that is too long is cut.
pub fn write(hash: [u8; 16], outcome: Result<&[u8], &str>) -> [u8; BYTES] {
    let mut frame = [0; BYTES];
    frame[..4].copy_from_slice(&MAGIC);
    frame[4..6].copy_from_slice(&VERSION.to_le_bytes());
    frame[6] = u8::from(outcome.is_err());
    let payload = payload(&outcome);
    frame[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    frame[16..HEADER].copy_from_slice(&hash);
    if payload.len() <= INLINE {
        frame[HEADER..HEADER + payload.len()].copy_from_slice(payload);
    }
    frame
}

/// What a frame announces: the contribution, or the beginning of the message.
pub fn payload<'a>(outcome: &Result<&'a [u8], &'a str>) -> &'a [u8] {
    match *outcome {
        Ok(payload) => payload,
        Err(message) => cut(message, MESSAGE).as_bytes(),
    }
}

/// A text as ranks gather it; of one that is too long, its beginning and an ellipsis.
pub fn write_text(text: &str) -> [u8; TEXT] {
    let mut bytes = [0; TEXT];
    let (text, end) = match text.len() <= TEXT {
        true => (text, ""),
        false => (cut(text, TEXT - "…".len()), "…"),
    };
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes[text.len()..text.len() + end.len()].copy_from_slice(end.as_bytes());
    bytes
}

/// Reads a text from bytes of any origin; what is not UTF-8 in it is replaced.
pub fn read_text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The longest beginning of so many bytes at most that ends between characters.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Reads a frame from bytes of any origin.
///
/// # Errors
/// What is wrong with them, as the end of a sentence.
pub fn read(bytes: &[u8]) -> Result<Frame<'_>, String> {
    let frame: &[u8; BYTES] = bytes
        .try_into()
        .map_err(|_| format!("its frame has {} bytes in place of {BYTES}", bytes.len()))?;
    if frame[..4] != MAGIC {
        return Err("its frame does not begin with WFDX".into());
    }
    let version = u16::from_le_bytes([frame[4], frame[5]]);
    if version != VERSION {
        return Err(format!(
            "it speaks version {version} of the exchange, and this rank {VERSION}"
        ));
    }
    if frame[6] > 1 || frame[7] != 0 {
        return Err("its frame has an unknown status".into());
    }
    let failed = frame[6] == 1;
    let length = u64::from_le_bytes(frame[8..16].try_into().expect("eight bytes"));
    let hash = frame[16..HEADER].try_into().expect("sixteen bytes");
    let inline = usize::try_from(length).ok().filter(|&length| length <= INLINE);
    let (payload, padding) = frame[HEADER..].split_at(inline.unwrap_or(0));
    // All of it, without an early end, so that vectors do it.
    if padding.iter().fold(0, |all, byte| all | byte) != 0 {
        return Err("its frame has bytes where there is nothing".into());
    }
    if failed && (length > MESSAGE as u64 || std::str::from_utf8(payload).is_err()) {
        return Err("its frame says that it failed, without a message".into());
    }
    Ok(Frame { failed, hash, length, inline: inline.map(|_| payload) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_written() {
        for length in [0, 1, INLINE, INLINE + 1, 5000] {
            let payload = vec![7; length];
            let frame = write(hash("sum of f32"), Ok(&payload));
            let read = read(&frame).unwrap();
            assert_eq!((read.failed, read.length), (false, length as u64));
            assert_eq!(read.hash, hash("sum of f32"));
            assert_eq!(read.inline, (length <= INLINE).then_some(&payload[..]));
        }
        let frame = write([0; 16], Err("no file"));
        assert_eq!(read(&frame).unwrap().inline, Some(&b"no file"[..]));
        // Of a long message its beginning follows.
        let frame = write([0; 16], Err(&"ä".repeat(5000)));
        let read = read(&frame).unwrap();
        assert_eq!((read.failed, read.length, read.inline), (true, MESSAGE as u64, None));
    }

    #[test]
    fn texts_are_cut_between_characters_and_their_hashes_are_of_all() {
        assert_eq!(read_text(&write_text("sum of f32")), "sum of f32");
        let long = "ß".repeat(900);
        let cut = read_text(&write_text(&long));
        assert!(cut.starts_with("ßß") && cut.ends_with("ß…") && cut.len() <= TEXT, "{cut}");
        let full = "ß".repeat(TEXT / 2);
        assert_eq!(read_text(&write_text(&full)), full);
        assert_ne!(hash(&long), hash(&format!("{long}a")));
        assert_eq!(read_text(&[0xff, b'a', 0, b'b']), "\u{fffd}a");
    }

    #[test]
    fn every_damaged_byte_of_the_header_is_found() {
        let frame = write(hash("sum of f32"), Ok(&[1, 2, 3]));
        for at in 0..HEADER {
            let mut damaged = frame;
            damaged[at] ^= 0x80;
            let same = read(&damaged) == read(&frame);
            assert!(read(&damaged).is_err() || !same, "byte {at}");
        }
        for end in 0..BYTES {
            assert!(read(&frame[..end]).is_err());
        }
    }
}
