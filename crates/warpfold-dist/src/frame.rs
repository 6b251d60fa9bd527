//! The message that every exchange begins with: what the rank computes, how it went, and its partial if that is short.
//!
//! # Layout, version 1
//! [`BYTES`] bytes, numbers little-endian, what is not used zero. Its length does not depend on the reduction, so that ranks that disagree
//! can still say so.
//!
//! | bytes | content |
//! |---|---|
//! | 0–3 | magic: `WFDX` |
//! | 4–5 | version: 1 |
//! | 6 | 0: the payload is a contribution; 1: the rank failed, and the payload is its message |
//! | 7 | zero |
//! | 8–15 | length of the payload |
//! | 16–17 | length of the text |
//! | 18–183 | the text that ranks agree on: program, version, reduction, type, policy; of a longer one the beginning, … and 16 hexadecimal digits of its SHA-256 |
//! | 184–1023 | the payload, if it has room there; else zero, and the payload follows in a second gather, padded with zeros to the longest |

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// Bytes of a frame.
pub const BYTES: usize = 1024;
/// Bytes before the payload.
pub const HEADER: usize = 184;
/// The longest text.
pub const TEXT: usize = HEADER - 18;
/// The longest payload inside of the frame.
pub const INLINE: usize = BYTES - HEADER;

const MAGIC: [u8; 4] = *b"WFDX";
const VERSION: u16 = 1;

/// A frame that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Whether the rank failed.
    pub failed: bool,
    /// What it computes.
    pub text: &'a str,
    /// Length of the payload, wherever it lies.
    pub length: u64,
    /// The payload, if it lies in the frame.
    pub inline: Option<&'a [u8]>,
}

/// Writes a frame; a message that is too long is cut, and a text that is has a hash in place of its end.
pub fn write(text: &str, outcome: Result<&[u8], &str>) -> [u8; BYTES] {
    let mut frame = [0; BYTES];
    frame[..4].copy_from_slice(&MAGIC);
    frame[4..6].copy_from_slice(&VERSION.to_le_bytes());
    frame[6] = u8::from(outcome.is_err());
    let payload = match outcome {
        Ok(payload) => payload,
        Err(message) => cut(message, INLINE).as_bytes(),
    };
    frame[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    let text = words(text);
    let text = text.as_bytes();
    frame[16..18].copy_from_slice(&(text.len() as u16).to_le_bytes());
    frame[18..18 + text.len()].copy_from_slice(text);
    if payload.len() <= INLINE {
        frame[HEADER..HEADER + payload.len()].copy_from_slice(payload);
    }
    frame
}

/// The text, or, of one that is too long, its beginning and a hash of all: two that differ anywhere are not alike.
fn words(text: &str) -> Cow<'_, str> {
    if text.len() <= TEXT {
        return text.into();
    }
    let hash = Sha256::digest(text);
    let hash = u64::from_be_bytes(*hash.first_chunk().expect("a hash has 32 bytes"));
    format!("{}… {hash:016x}", cut(text, TEXT - "… ".len() - 16)).into()
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
    let text_length = usize::from(u16::from_le_bytes([frame[16], frame[17]]));
    if text_length > TEXT {
        return Err("its frame's text is longer than the frame".into());
    }
    let (text, rest) = frame[18..HEADER].split_at(text_length);
    let text = std::str::from_utf8(text).map_err(|_| "its frame's text is not UTF-8")?;
    let inline = usize::try_from(length).ok().filter(|&length| length <= INLINE);
    let (payload, padding) = frame[HEADER..].split_at(inline.unwrap_or(0));
    if rest.iter().chain(padding).any(|&byte| byte != 0) {
        return Err("its frame has bytes where there is nothing".into());
    }
    if failed && (inline.is_none() || std::str::from_utf8(payload).is_err()) {
        return Err("its frame says that it failed, without a message".into());
    }
    Ok(Frame { failed, text, length, inline: inline.map(|_| payload) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_written() {
        for length in [0, 1, INLINE, INLINE + 1, 5000] {
            let payload = vec![7; length];
            let frame = write("sum of f32", Ok(&payload));
            let read = read(&frame).unwrap();
            assert_eq!((read.failed, read.text, read.length), (false, "sum of f32", length as u64));
            assert_eq!(read.inline, (length <= INLINE).then_some(&payload[..]));
        }
        let frame = write("", Err(&"ä".repeat(5000)));
        let read = read(&frame).unwrap();
        assert_eq!((read.failed, read.inline.unwrap().len()), (true, INLINE));
    }

    #[test]
    fn texts_that_are_too_long_differ_wherever_they_do() {
        let long = "ß".repeat(900);
        let frames = [long.clone(), format!("{long}a"), format!("{long}b")];
        let frames = frames.map(|text| write(&text, Ok(&[])));
        let texts = frames.each_ref().map(|frame| read(frame).unwrap().text);
        assert!(texts[0] != texts[1] && texts[1] != texts[2], "{texts:?}");
        assert!(texts[0].starts_with("ßßß") && texts[0].len() <= TEXT, "{texts:?}");
    }

    #[test]
    fn every_damaged_byte_of_the_header_is_found() {
        let frame = write("sum of f32", Ok(&[1, 2, 3]));
        for at in (0..16).chain(28..HEADER) {
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
