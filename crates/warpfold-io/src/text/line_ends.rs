//! [`LineEnds`]: a text whose lines end in `\n`, whatever they ended in.

use std::io::{self, Read};

use memchr::memchr;

/// A source in which `\r\n` and `\r` are `\n`, so that no layout takes rows that end in `\r` for one.
pub(super) struct LineEnds<R> {
    source: R,
    /// Whether the last byte was `\r`, so that `\n` belongs to it.
    after_return: bool,
}

impl<R> LineEnds<R> {
    pub(super) fn new(source: R) -> LineEnds<R> {
        LineEnds { source, after_return: false }
    }

    /// Changes bytes in place, and says how many are left.
    fn change(&mut self, bytes: &mut [u8]) -> usize {
        let find = |bytes: &[u8], from: usize| memchr(b'\r', &bytes[from..]).map(|at| from + at);
        let mut from = usize::from(self.after_return && bytes.first() == Some(&b'\n'));
        self.after_return = false;
        let mut kept = 0;
        while let Some(at) = find(bytes, from) {
            bytes[at] = b'\n';
            bytes.copy_within(from..=at, kept);
            kept += at + 1 - from;
            from = at + 1;
            match bytes.get(from) {
                Some(b'\n') => from += 1,
                Some(_) => {}
                None => self.after_return = true,
            }
        }
        if from > kept {
            bytes.copy_within(from.., kept);
        }
        kept + bytes.len() - from
    }
}

impl<R: Read> Read for LineEnds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.source.read(buffer)?;
            if read == 0 {
                return Ok(0);
            }
            let bytes = &mut buffer[..read];
            let kept = match self.after_return || memchr(b'\r', bytes).is_some() {
                true => self.change(bytes),
                false => read,
            };
            // Nothing but the second half of a line end is no end of the text.
            if kept > 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_end_is_one_byte_however_it_arrives() {
        for text in
            ["", "\r", "\n", "\r\n", "a\r\nb\r\n", "a\rb\r\r\nc\n\r\n\n", "\r\r\r", "ab\n\rcd"]
        {
            let expected = text.replace("\r\n", "\n").replace('\r', "\n");
            for step in 1..=text.len().max(1) {
                let mut ends = LineEnds::new(text.as_bytes());
                let (mut found, mut some) = (Vec::new(), vec![0; step]);
                loop {
                    match ends.read(&mut some).expect("memory can be read") {
                        0 => break,
                        n => found.extend_from_slice(&some[..n]),
                    }
                }
                assert_eq!(found, expected.as_bytes(), "{text:?} by {step}");
            }
        }
    }
}
