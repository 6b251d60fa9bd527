//! Raw elements from any stream: files, pipes, standard input, and `.npy` data that cannot be mapped.

use std::io::{ErrorKind, Read};

use warpfold_num::DType;

use crate::Endian;
use crate::kind::refuse_npy;
use crate::problem::NpyError;
use crate::{Error, Name, Problem, Produce};

/// How many bytes a stream has to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// As many as come.
    Open,
    /// Exactly so many, as a header has said.
    Exactly(u64),
}

/// Reads elements from a stream.
pub(crate) struct RawReader {
    name: Name,
    source: Box<dyn Read + Send>,
    dtype: DType,
    endian: Endian,
    extent: Extent,
    read: u64,
    /// Whether what begins as a `.npy` file does is elements all the same.
    is_said: bool,
}

impl RawReader {
    pub(crate) fn new(
        name: Name,
        source: Box<dyn Read + Send>,
        dtype: DType,
        endian: Endian,
        extent: Extent,
    ) -> RawReader {
        RawReader { name, source, dtype, endian, extent, read: 0, is_said: true }
    }

    /// Fails for a `.npy` file unless it was said (`true`) that the bytes are elements and nothing else.
    pub(crate) fn said(self, is_said: bool) -> RawReader {
        RawReader { is_said, ..self }
    }

    /// Reads until the buffer is full or the stream ends.
    fn read_up_to(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.source.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::input(&self.name, error)),
            }
        }
        self.read += filled as u64;
        Ok(filled)
    }

    fn at_end(&mut self) -> Result<(), Error> {
        let extent = self.extent;
        let problem = match extent {
            Extent::Open if !self.read.is_multiple_of(self.dtype.size() as u64) => {
                Problem::NotWhole { bytes: self.read, dtype: self.dtype }
            }
            Extent::Exactly(expected) if self.read < expected => {
                NpyError::Truncated { expected, found: self.read }.into()
            }
            Extent::Exactly(expected) if self.read_up_to(&mut [0])? > 0 => {
                NpyError::Trailing { expected }.into()
            }
            _ => return Ok(()),
        };
        Err(Error::input(&self.name, problem))
    }
}

impl Produce for RawReader {
    fn fill(&mut self, piece: &mut [u8]) -> Result<usize, Error> {
        let needed = match self.extent {
            Extent::Open => piece.len(),
            Extent::Exactly(expected) => (expected - self.read).min(piece.len() as u64) as usize,
        };
        let is_start = self.read == 0;
        let filled = self.read_up_to(&mut piece[..needed])?;
        if is_start && !self.is_said {
            refuse_npy(&piece[..filled]).map_err(|error| Error::input(&self.name, error))?;
        }
        if filled < piece.len() {
            self.at_end()?;
        }
        self.endian.make_native(&mut piece[..filled], self.dtype);
        Ok(filled)
    }
}
