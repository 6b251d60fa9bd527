//! Parts of texts, of which each process reads one.

use std::io::{self, Read, Seek, SeekFrom};

use super::sources::file;
use super::{Input, Source};
use crate::stamp::{ChangeMonitor, Stamp};
use crate::text::lines::Lines;
use crate::text::{Dialect, Notes, TextReader};
use crate::{Error, Name, Problem};

impl Input {
    /// How its text is written, if it is a text in a file.
    pub fn written(&self) -> Option<Dialect> {
        match (&self.source, &self.name) {
            (Source::Text { dialect, file_bytes: Some(_), .. }, Name::File(_)) => Some(*dialect),
            _ => None,
        }
    }

    /// What a text's head holds: elements, and what was found beside them.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn read_head(&self, head: &[u8]) -> Result<(u64, Notes), Error> {
        let Source::Text { layout, columns, dialect, beside, .. } = &self.source else {
            return Err(Error::input(&self.name, Problem::NoRange));
        };
        let source = Box::new(io::Cursor::new(head.to_vec()));
        let reader =
            TextReader::new(self.name.clone(), source, *layout, columns.clone(), self.dtype);
        let dialect = Dialect { verbose: false, ..*dialect };
        let mut reader = reader.dialect(dialect, beside.clone());
        let (mut number, mut elements) = (vec![0; self.dtype.size()], 0);
        while reader.next_number(&mut number).map_err(|error| Error::input(&self.name, error))? {
            elements += 1;
        }
        Ok((elements, reader.found().clone()))
    }

    /// Will read a part of its text.
    pub fn take_lines(&mut self, part: Lines) {
        if let Source::Text { lines, dialect, .. } = &mut self.source {
            // Whoever reads the first part says what the header is.
            dialect.verbose &= part.head.is_empty();
            *lines = Some(Box::new(part));
        }
    }

    /// The part of its text that is read, if not all.
    pub fn lines(&self) -> Option<&Lines> {
        match &self.source {
            Source::Text { lines, .. } => lines.as_deref(),
            _ => None,
        }
    }
}

/// The head of a text and a part of it. Others read other parts: of the file that was opened, or none has a result.
pub(super) fn part(
    name: &Name,
    stamp: Option<Stamp>,
    lines: &Lines,
) -> Result<Box<dyn Read + Send>, Error> {
    let failed = |problem: Problem| Error::input(name, problem);
    let mut file = file(name).map_err(failed)?.ok_or(Problem::NoRange).map_err(failed)?;
    let now = Stamp::of(&file.metadata().map_err(|e| failed(e.into()))?);
    ChangeMonitor::new(name.clone(), stamp).check_same(&ChangeMonitor::new(name.clone(), now))?;
    file.seek(SeekFrom::Start(lines.range.start)).map_err(|e| failed(e.into()))?;
    let rest = file.take(lines.range.end - lines.range.start);
    Ok(Box::new(io::Cursor::new(lines.head.to_vec()).chain(rest)))
}
