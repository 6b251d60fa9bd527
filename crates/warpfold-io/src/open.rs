//! From what the command line names to [`Input`]s that are known to exist and to fit together.

mod lines;
mod sources;

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub(crate) use sources::unpacked_stream;
use sources::{Counted, file, mapped, size, stream, text_stream};

use warpfold_num::DType;

use crate::Endian;
use crate::kept::kept;
use crate::kind::{foreign, unknown, unpacked_extension};
use crate::packed::Packing;
use crate::random::CHUNK;
use crate::raw::{Extent, RawReader};
use crate::stamp::{ChangeMonitor, Stamp};
use crate::text::lines::Lines;
use crate::text::{
    Cells, Column, Columns, Dialect, Layout, LeftOut, Missing, NoNumbers, SharedNotes, SharedWords,
    TextReader,
};
use crate::{Error, InputFormat, Name, Order, Pieces, Problem, Random, Whole, extension, npy, npz};

/// What the options say of the inputs.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// `--dtype`.
    pub dtype: Option<DType>,
    /// `--input`.
    pub kind: Option<InputFormat>,
    /// `--column`: of text several, row after row.
    pub columns: Vec<Column>,
    /// What a cell of several columns does that is no number.
    pub no_numbers: NoNumbers,
    /// What cells of text are read as.
    pub cells: Cells,
    /// How text is written.
    pub dialect: Dialect,
    /// Other columns of the text, whose missing cells leave rows out as well.
    pub beside: Vec<Column>,
    /// What is kept of rows that are left out.
    pub left_out: LeftOut,
}

/// An input that exists and whose type is known.
pub struct Input {
    name: Name,
    dtype: DType,
    /// Where known before reading.
    bytes: Option<u64>,
    /// What the file was, for sources that are opened again.
    stamp: Option<Stamp>,
    source: Source,
}

enum Source {
    Npy(npy::Array),
    /// Opened when its turn comes: there may be more files than a process may hold open.
    Raw {
        /// Whether it was said that they are raw; a header is refused else.
        is_said: bool,
    },
    Text {
        layout: Layout,
        columns: Vec<Column>,
        no_numbers: NoNumbers,
        words: Option<SharedWords>,
        dialect: Dialect,
        beside: Vec<Column>,
        file_bytes: Option<u64>,
        read: Arc<AtomicU64>,
        notes: SharedNotes,
        left_out: LeftOut,
        /// What part of the text is read, if not all.
        lines: Option<Box<Lines>>,
    },
    Random(Random),
}

/// Checks and opens the inputs; all their elements are of one type.
///
/// # Errors
/// [`Error::Usage`] where the options do not fit the inputs; [`Error::Input`] with the first input that is wrong.
pub fn open(paths: &[PathBuf], wanted: &Wanted) -> Result<Vec<Input>, Error> {
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Error::Usage("standard input (-) can be read once only; name it once".into()));
    }
    let names: Vec<_> = paths.iter().map(|path| Name::of(path.clone())).collect();
    let kind = |name: &Name| wanted.kind.unwrap_or_else(|| InputFormat::of(name));
    let has_columns = |name: &Name| kind(name) != InputFormat::Raw;
    if !wanted.columns.is_empty() && !names.iter().any(has_columns) {
        for name in names.iter().filter(|_| wanted.dtype.is_none()) {
            size(name).map_err(|problem| Error::input(name, problem))?;
            foreign(name).map_or(Ok(()), |why| Err(Error::Usage(why)))?;
        }
        let advice = "--column chooses a column of text, an array of an .npz file or a field of records in a .npy file, and no input is any of these; leave it out or add --input text";
        return Err(Error::Usage(advice.into()));
    }
    let mut inputs: Vec<Input> = Vec::with_capacity(names.len());
    for name in names {
        let input = Input::open(&name, kind(&name), wanted)?;
        if let Some(first) = inputs.first()
            && first.dtype != input.dtype
        {
            let problem = Problem::MixedTypes { found: input.dtype, other: first.dtype };
            return Err(Error::input(&name, problem));
        }
        inputs.push(input);
    }
    Ok(inputs)
}

/// The columns of a text, by its first row.
///
/// # Errors
/// [`Error::Input`] where it cannot be read, or its first row is neither names nor numbers.
pub fn text_columns(name: &Name, dialect: Dialect) -> Result<Columns, Error> {
    size(name).map_err(|problem| Error::input(name, problem))?;
    let layout = layout(name);
    let columns = Columns::read(text_stream(name, None)?, layout, dialect);
    columns.map_err(|error| Error::input(name, error))
}

fn layout(name: &Name) -> Layout {
    match name {
        Name::File(path) => Layout::of(&unpacked_extension(path)),
        _ => Layout::Sniff,
    }
}

/// The names by which arrays of a file can be chosen: those of an archive, or the fields of records.
///
/// # Errors
/// [`Error::Input`] where it cannot be read.
pub fn array_names(name: &Name) -> Result<Vec<String>, Error> {
    match name {
        Name::File(path) if is_archive(name) => npz::names(name, path),
        _ => npy::fields::names(&mut *stream(name, None)?)
            .map_err(|problem| Error::input(name, problem)),
    }
}

/// Whether a name is that of NumPy's archives.
fn is_archive(name: &Name) -> bool {
    matches!(name, Name::File(path) if extension(path) == "npz")
}

impl Input {
    fn open(name: &Name, kind: InputFormat, wanted: &Wanted) -> Result<Input, Error> {
        let fail = |problem: Problem| Error::input(name, problem);
        let stamp = match name {
            Name::File(path) => Stamp::of(&fs::metadata(&**path).map_err(|e| fail(e.into()))?),
            _ => None,
        };
        // How much a compressed file holds is known once it is read.
        let packing = Packing::of(name);
        let size = size(name).map_err(fail)?.filter(|_| packing.is_none());
        let name = name.clone();
        match (kind, wanted.dtype) {
            (InputFormat::Npy, dtype) => {
                let array = match &name {
                    Name::File(path) if is_archive(&name) => {
                        npz::open(&name, path, stamp, wanted.columns.first(), dtype)?
                    }
                    Name::File(path) if packing.is_none() && kept(&name).is_none() => {
                        File::open(&**path)
                            .map_err(Problem::from)
                            .and_then(|file| npy::Array::open(file, wanted.columns.first(), dtype))
                            .map_err(|problem| Error::input(&name, problem))?
                    }
                    _ => npy::fields::of(stream(&name, stamp)?, wanted.columns.first())
                        .and_then(|source| npy::Array::stream(source, dtype))
                        .map_err(|problem| Error::input(&name, problem))?,
                };
                let dtype = array.dtype();
                let bytes = Some(array.header().len * dtype.size() as u64);
                Ok(Input { name, dtype, bytes, stamp, source: Source::Npy(array) })
            }
            (InputFormat::Raw, None) => Err(Error::Usage(unknown(&name))),
            (InputFormat::Raw, Some(dtype)) => match size {
                Some(bytes) if !bytes.is_multiple_of(dtype.size() as u64) => {
                    Err(Error::input(&name, Problem::NotWhole { bytes, dtype }))
                }
                bytes => {
                    let is_said = wanted.kind == Some(InputFormat::Raw);
                    Ok(Input { name, dtype, bytes, stamp, source: Source::Raw { is_said } })
                }
            },
            (InputFormat::Text, dtype) => {
                let layout = layout(&name);
                let (dtype, words) = match wanted.cells {
                    Cells::Numbers => (dtype.unwrap_or(DType::F64), None),
                    Cells::Words => (DType::U32, Some(SharedWords::default())),
                };
                let dialect = wanted.dialect;
                if dialect.missing == Missing::Nan && !(dtype.is_float() || dtype.is_complex()) {
                    return Err(Error::Usage(format!(
                        "--missing nan needs a type that has a NaN, and {dtype} has none; take --missing skip, or a float --dtype"
                    )));
                }
                let delimiter = dialect.delimiter.or(match layout {
                    Layout::Delimited(delimiter) => Some(delimiter),
                    _ => None,
                });
                let twice = |mark: Option<u8>| mark.is_some() && delimiter == mark;
                if twice(Some(dialect.decimal)) || twice(dialect.comment) {
                    return Err(Error::Usage(
                        "one character cannot separate fields and begin fractions or comments; choose another --delimiter, for example ';'".into(),
                    ));
                }
                let (columns, beside) = (wanted.columns.clone(), wanted.beside.clone());
                let source = Source::Text {
                    layout,
                    columns,
                    no_numbers: wanted.no_numbers,
                    words,
                    dialect,
                    beside,
                    file_bytes: size,
                    read: Arc::default(),
                    notes: SharedNotes::default(),
                    left_out: wanted.left_out,
                    lines: None,
                };
                Ok(Input { name, dtype, bytes: None, stamp, source })
            }
        }
    }

    /// Random numbers as an input.
    pub fn random(random: Random) -> Input {
        let dtype = random.dtype();
        let bytes = Some(random.elements() * dtype.size() as u64);
        Input { name: Name::Random, dtype, bytes, stamp: None, source: Source::Random(random) }
    }

    /// What it is called.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The type of its elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The size of its elements, where that is known before reading.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Bytes that will be read, where that is known: those of the text, for text.
    pub fn work(&self) -> Option<u64> {
        match self.source {
            Source::Text { file_bytes, .. } => file_bytes,
            _ => self.bytes,
        }
    }

    /// Counts the bytes of a text while it is read; elements tell nothing of its length.
    pub fn read_so_far(&self) -> Option<Arc<AtomicU64>> {
        match &self.source {
            Source::Text { read, .. } => Some(read.clone()),
            _ => None,
        }
    }

    /// What is found in a text beside its numbers, while it is read.
    pub fn notes(&self) -> Option<SharedNotes> {
        match &self.source {
            Source::Text { notes, .. } => Some(notes.clone()),
            _ => None,
        }
    }

    /// The words that its numbers stand for, where words are read.
    pub fn words(&self) -> Option<SharedWords> {
        match &self.source {
            Source::Text { words, .. } => words.clone(),
            _ => None,
        }
    }

    /// How it is read, in a few words.
    pub fn describe(&self) -> String {
        match &self.source {
            Source::Npy(array) => array.describe(),
            Source::Raw { .. } => format!("{} raw", self.dtype),
            Source::Text { .. } => format!("text read as {}", self.dtype),
            Source::Random(random) => format!("{} {}, generated", random.elements(), self.dtype),
        }
    }

    /// Reads all of it, or maps it, with its shape; what is no `.npy` file has one axis. In memory, elements lie in the order asked for.
    ///
    /// # Errors
    /// As [`pieces`](Self::pieces); [`Error::Input`] where there is no memory for it.
    pub fn whole(self, order: Order) -> Result<Whole, Error> {
        let (name, dtype) = (self.name.clone(), self.dtype);
        match self.source {
            Source::Npy(array) => array.whole(&name, order),
            _ => Whole::copied(name, dtype, None, self.pieces(order)?),
        }
    }

    /// Starts to read.
    ///
    /// # Errors
    /// [`Error::Input`] where the input cannot be opened (any more) or not be read in this order.
    pub fn pieces(self, order: Order) -> Result<Pieces, Error> {
        let Input { name, dtype, bytes, stamp, source } = self;
        match source {
            Source::Npy(array) => array.pieces(&name, order),
            Source::Random(random) => Ok(Pieces::produce(random, bytes)),
            Source::Raw { is_said } => {
                let all = 0..bytes.unwrap_or(0);
                if let Some(pieces) = mapped(&name, stamp, dtype, all, is_said)? {
                    return Ok(pieces);
                }
                let source = stream(&name, stamp)?;
                let reader = RawReader::new(name, source, dtype, Endian::Little, Extent::Open);
                Ok(Pieces::produce(reader.said(is_said), bytes))
            }
            Source::Text {
                layout,
                columns,
                no_numbers,
                words,
                dialect,
                beside,
                read,
                notes,
                left_out,
                lines,
                ..
            } => {
                let (skip, lines_before) =
                    lines.as_ref().map_or((0, 0), |lines| (lines.elements, lines.lines_before));
                let source: Box<dyn Read + Send> = match lines {
                    None => text_stream(&name, stamp)?,
                    Some(lines) => lines::part(&name, stamp, &lines)?,
                };
                let source = Box::new(Counted { source, read });
                let reader = TextReader::new(name, source, layout, columns, dtype);
                let reader = reader.dialect(dialect, beside).notes(notes, left_out);
                let reader = reader.no_numbers(no_numbers);
                let reader = match words {
                    Some(words) => reader.words(words),
                    None => reader,
                };
                Ok(Pieces::produce(reader.behind(skip, lines_before), None))
            }
        }
    }
}

impl Input {
    /// Elements that a share must be a multiple of: those of random numbers come in chunks.
    pub fn grain(&self) -> u64 {
        match self.source {
            Source::Random(_) => CHUNK as u64,
            _ => 1,
        }
    }

    /// Whether elements can be counted only by reading all of it.
    pub fn is_text(&self) -> bool {
        matches!(self.source, Source::Text { .. })
    }

    /// Says once all is read whether the file is the one that was opened.
    pub fn monitor(&self) -> ChangeMonitor {
        ChangeMonitor::new(self.name.clone(), self.stamp)
    }

    /// Whether [`range`](Self::range) reads a part of it: of what is packed, a stream or a text, it does not.
    pub fn has_ranges(&self) -> bool {
        match &self.source {
            Source::Npy(array) => array.has_ranges(),
            Source::Raw { .. } => self.bytes.is_some() && Packing::of(&self.name).is_none(),
            Source::Random(_) => true,
            Source::Text { .. } => false,
        }
    }

    /// Starts to read a range of elements; text is read as a whole.
    ///
    /// # Errors
    /// As [`pieces`](Self::pieces); [`Problem::NoRange`] where there is nothing but a stream.
    pub fn range(self, order: Order, range: Range<u64>) -> Result<Pieces, Error> {
        let Input { name, dtype, source, .. } = self;
        let failed = |problem: Problem| Error::input(&name, problem);
        match source {
            Source::Npy(array) => array.range(&name, order, range),
            Source::Raw { .. } if Packing::of(&name).is_some() => Err(failed(Problem::NoRange)),
            Source::Raw { is_said } => {
                let size = dtype.size() as u64;
                let bytes = range.start * size..range.end * size;
                if let Some(pieces) = mapped(&name, self.stamp, dtype, bytes, is_said)? {
                    return Ok(pieces);
                }
                let file = file(&name).map_err(failed)?;
                let mut file = file.ok_or(Problem::NoRange).map_err(failed)?;
                // Other ranks read other ranges: of the file that was opened, or none has a result.
                let now = Stamp::of(&file.metadata().map_err(|e| failed(e.into()))?);
                ChangeMonitor::new(name.clone(), self.stamp)
                    .check_same(&ChangeMonitor::new(name.clone(), now))?;
                file.seek(SeekFrom::Start(range.start * size)).map_err(|e| failed(e.into()))?;
                let bytes = (range.end - range.start) * size;
                let (source, extent) = (Box::new(file.take(bytes)), Extent::Exactly(bytes));
                let reader = RawReader::new(name.clone(), source, dtype, Endian::Little, extent);
                Ok(Pieces::produce(reader.said(is_said || range.start > 0), Some(bytes)))
            }
            Source::Random(random) => {
                let bytes = (range.end - range.start) * dtype.size() as u64;
                Ok(Pieces::produce(random.range(range), Some(bytes)))
            }
            source => Input { name, dtype, bytes: None, stamp: self.stamp, source }.pieces(order),
        }
    }
}
