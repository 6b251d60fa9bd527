//! Inputs that lie compressed: `.gz` and `.zst`, unpacked while they are read, by Rust alone.
//!
//! The whole of a file is looked at: members and frames that follow one another are one input, checksums and lengths are compared, and what
//! ends too early or is followed by anything else is an error, never a shorter input.

use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::Name;
use crate::apart::Apart;
use crate::problem::{Changed, Damaged};

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// `.gz`: members one after another.
    Gzip,
    /// `.zst`: frames one after another.
    Zstandard,
}

impl Packing {
    /// What the last extension of a name says.
    pub fn of_path(path: &Path) -> Option<Packing> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" => Some(Packing::Gzip),
            "zst" | "zstd" => Some(Packing::Zstandard),
            _ => None,
        }
    }

    /// The same of an input; standard input has no name that says it.
    pub fn of(name: &Name) -> Option<Packing> {
        match name {
            Name::File(path) => Packing::of_path(path),
            _ => None,
        }
    }

    /// What the first bytes say; no text begins with them.
    fn of_start(start: &[u8]) -> Option<Packing> {
        match start {
            [0x1f, 0x8b, 8, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstandard),
            _ => None,
        }
    }

    fn format(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstandard => "Zstandard",
        }
    }

    /// What a source holds: unpacked by a thread of its own, if it is much.
    pub fn unpack(self, source: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let source = BufReader::with_capacity(1 << 16, source);
        let unpacked: Box<dyn Read + Send> = match self {
            Packing::Gzip => {
                Box::new(Explained(Gzip { member: Some(GzDecoder::new(source)) }, self))
            }
            Packing::Zstandard => Box::new(Explained(
                Zstandard {
                    frame: FrameDecoder::new(),
                    source,
                    is_open: false,
                    frames: 0,
                    written: 0,
                },
                self,
            )),
        };
        Box::new(Apart::new(unpacked))
    }
}

/// A text without a name, unpacked if it begins as compressed files do. It is looked at when it is first read, which may wait for a pipe.
pub(crate) enum Unnamed {
    New(Box<dyn Read + Send>),
    Begun(Box<dyn Read + Send>),
    /// Its beginning could not be read.
    Failed,
}

impl Unnamed {
    fn begin(mut source: Box<dyn Read + Send>) -> io::Result<Unnamed> {
        let mut start = Vec::with_capacity(4);
        (&mut source).take(4).read_to_end(&mut start)?;
        let packing = Packing::of_start(&start);
        let whole = Box::new(io::Cursor::new(start).chain(source));
        Ok(Unnamed::Begun(match packing {
            Some(packing) => packing.unpack(whole),
            None => whole,
        }))
    }
}

impl Read for Unnamed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Unnamed::New(_) = self {
            let Unnamed::New(source) = std::mem::replace(self, Unnamed::Failed) else {
                unreachable!("it was looked at")
            };
            *self = Unnamed::begin(source)?;
        }
        match self {
            Unnamed::Begun(source) => source.read(buffer),
            Unnamed::New(_) | Unnamed::Failed => Err(io::Error::other("its beginning is gone")),
        }
    }
}

/// Says what is wrong with compressed data; errors of their source stay what they are.
struct Explained<R>(R, Packing);

impl<R: Read> Read for Explained<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            let is_own = error.raw_os_error().is_none() && Changed::of(&error).is_none();
            if !is_own || error.kind() == ErrorKind::Interrupted {
                return error;
            }
            let why = match error.kind() {
                ErrorKind::UnexpectedEof => "unexpected end".to_string(),
                _ => error.to_string(),
            };
            io::Error::new(ErrorKind::InvalidData, Damaged { format: self.1.format(), why })
        })
    }
}

/// Members one after another, to the end.
struct Gzip<R> {
    /// `None` at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: io::BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let Some(member) = &mut self.member else { return Ok(0) };
            let n = member.read(buffer)?;
            if n > 0 {
                return Ok(n);
            }
            // Another member, or the end.
            let Some(mut source) = self.member.take().map(GzDecoder::into_inner) else {
                return Ok(0);
            };
            if !source.fill_buf()?.is_empty() {
                self.member = Some(GzDecoder::new(source));
            }
        }
    }
}

/// Frames one after another, to the end.
struct Zstandard<R> {
    frame: FrameDecoder,
    source: R,
    is_open: bool,
    frames: u64,
    /// Bytes of this frame so far.
    written: u64,
}

impl<R: io::BufRead> Zstandard<R> {
    /// Begins the next frame with content; false at the end.
    fn open(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return match self.frames {
                    0 => Err(ErrorKind::UnexpectedEof.into()),
                    _ => Ok(false),
                };
            }
            self.frames += 1;
            match self.frame.reset(&mut self.source) {
                Ok(()) => {
                    (self.is_open, self.written) = (true, 0);
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped =
                        io::copy(&mut (&mut self.source).take(length.into()), &mut io::sink())?;
                    if skipped < length.into() {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(cause(error)),
            }
        }
    }

    /// Compares what the frame says of itself with what came of it.
    fn close(&mut self) -> io::Result<()> {
        self.is_open = false;
        let stated = self.frame.content_size();
        if stated != 0 && stated != self.written {
            return Err(io::Error::other("a frame has another length than it says"));
        }
        match (self.frame.get_checksum_from_data(), self.frame.get_calculated_checksum()) {
            (Some(stated), Some(found)) if stated != found => {
                Err(io::Error::other("a frame does not have its checksum"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: io::BufRead> Read for Zstandard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_open && !self.open()? {
                return Ok(0);
            }
            let n = Read::read(&mut self.frame, buffer)?;
            self.written += n as u64;
            if n > 0 {
                return Ok(n);
            }
            if self.frame.is_finished() {
                self.close()?;
            } else {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.frame.decode_blocks(&mut self.source, one).map_err(cause)?;
            }
        }
    }
}

/// The source's own error where that is what stopped the decoder.
fn cause(error: FrameDecoderError) -> io::Error {
    let mut inner: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(error) = inner {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return match (error.raw_os_error(), Changed::of(error)) {
                (Some(code), _) => io::Error::from_raw_os_error(code),
                (_, Some(changed)) => io::Error::other(changed.clone()),
                _ => io::Error::new(error.kind(), error.to_string()),
            };
        }
        inner = error.source();
    }
    io::Error::other(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn text(seed: u64) -> Vec<u8> {
        let mut state = seed;
        let line = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            format!("{}.{}\n", state >> 50, state >> 40 & 0xff)
        };
        (0..30_000).map(line).collect::<String>().into_bytes()
    }

    fn packed(packing: Packing, text: &[u8]) -> Vec<u8> {
        match packing {
            Packing::Gzip => {
                let mut out = GzEncoder::new(Vec::new(), Compression::default());
                out.write_all(text).expect("a vector takes every byte");
                out.finish().expect("a vector takes every byte")
            }
            Packing::Zstandard => compress_to_vec(text, CompressionLevel::Fastest),
        }
    }

    /// Sources give a few bytes at a time.
    struct Slow(io::Cursor<Vec<u8>>, usize);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = buffer.len().min(self.1);
            self.0.read(&mut buffer[..n])
        }
    }

    fn unpacked(packing: Packing, bytes: &[u8], step: usize) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        let source = Box::new(Slow(io::Cursor::new(bytes.to_vec()), step));
        packing.unpack(source).read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn members_are_one_text_however_they_arrive() {
        for packing in [Packing::Gzip, Packing::Zstandard] {
            let (a, b) = (text(1), text(2));
            let both = [packed(packing, &a), packed(packing, b""), packed(packing, &b)].concat();
            for step in [1, 7, 1 << 20] {
                assert_eq!(unpacked(packing, &both, step).unwrap(), [&a[..], &b].concat());
            }
            assert_eq!(unpacked(packing, &packed(packing, b""), 3).unwrap(), b"");
        }
    }

    #[test]
    fn frames_to_be_skipped_are_skipped() {
        let skipped = [&[0x52, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], b"aside"].concat();
        let all = [skipped.clone(), packed(Packing::Zstandard, b"1\n2\n"), skipped].concat();
        assert_eq!(unpacked(Packing::Zstandard, &all, 1 << 20).unwrap(), b"1\n2\n");
        let cut = &all[..all.len() - 1];
        assert!(unpacked(Packing::Zstandard, cut, 1 << 20).is_err());
    }

    #[test]
    fn what_is_cut_or_changed_or_followed_by_more_is_refused() {
        for packing in [Packing::Gzip, Packing::Zstandard] {
            let plain = text(3);
            let whole = packed(packing, &plain);
            for end in (0..whole.len()).step_by(997).chain([1, whole.len() - 1]) {
                let error = unpacked(packing, &whole[..end], 1 << 20).expect_err("it is cut");
                assert!(error.to_string().contains("damaged or end too early"), "{end}: {error}");
            }
            for at in (0..whole.len()).step_by(211) {
                let mut changed = whole.clone();
                changed[at] ^= 0x10;
                // Bits of the header that say when and where it was packed mean nothing.
                match unpacked(packing, &changed, 1 << 20) {
                    Ok(found) => assert_eq!(found, plain, "{packing:?}: byte {at} changed"),
                    Err(error) => assert!(error.to_string().contains("damaged"), "{error}"),
                }
            }
            let more = [&whole[..], b"\n"].concat();
            assert!(unpacked(packing, &more, 1 << 20).is_err(), "{packing:?}");
        }
    }

    #[test]
    fn a_source_that_changed_says_so() {
        struct Cut(bool);
        impl Read for Cut {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::other(Changed::Time));
                }
                let some = &[0x28, 0xb5, 0x2f, 0xfd][..];
                buffer[..4].copy_from_slice(some);
                Ok(4)
            }
        }
        let error = Packing::Zstandard.unpack(Box::new(Cut(false))).read(&mut [0; 9]);
        let error = error.expect_err("it changed");
        assert_eq!(Changed::of(&error), Some(&Changed::Time), "{error}");
    }
}
