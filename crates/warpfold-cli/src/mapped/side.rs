//! [`Side`]: one input of expressions that are reduced side by side.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::{Path, PathBuf};

use warpfold::DType;
use warpfold::map::{Expressions, HostArray};

use super::X;
use crate::args::{Reduction, Verbosity};
use crate::input::text::{Column, Missing, MissingRuns, SharedNotes, TextError};
use crate::input::{self, Input, InputFormat, Name, Order, Pieces, Problem, Wanted, Whole};
use crate::left_out::Joined;
use crate::one_array::{OneArray, check_axes};
use crate::{Failure, opening};

/// One input of the expression: files that are one array.
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) dtype: DType,
    /// Files that have not begun.
    pub(super) inputs: VecDeque<Input>,
    /// Whether it stands for all cells of a text.
    is_all: bool,
    /// The same files as a whole, for a name that may be a column or the input itself.
    pub(super) otherwise: Option<VecDeque<Input>>,
    /// The elements of files that have not begun which are read, if not all are.
    range: Option<Range<u64>>,
    pieces: Option<(Name, Pieces)>,
    /// Of each file that has begun, its notes and how many of its elements were read.
    read: Vec<(Option<SharedNotes>, u64)>,
    /// Elements that were read and not folded yet.
    rest: Rest,
    /// What an option that names it takes, where it holds no numbers.
    hint: Option<&'static str>,
}

/// Bytes of elements, aligned for any type.
#[derive(Default)]
struct Rest {
    words: Vec<u64>,
    /// Bytes that are there.
    end: usize,
    /// Bytes that were folded.
    taken: usize,
}

impl Rest {
    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[self.taken..self.end]
    }

    fn set(&mut self, bytes: &[u8]) {
        self.words.resize(bytes.len().div_ceil(8), 0);
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[..bytes.len()].copy_from_slice(bytes);
        (self.end, self.taken) = (bytes.len(), 0);
    }
}

impl Side {
    pub(super) fn open(
        args: &Reduction,
        with: &[(String, PathBuf)],
        name: &str,
        beside: &[Column],
    ) -> Result<Side, Failure> {
        let dialect = args.written.dialect(args.verbosity() == Verbosity::Verbose);
        let wanted = |column: Option<Column>| Wanted {
            dtype: args.dtype,
            kind: args.input,
            columns: column.into_iter().collect(),
            dialect,
            beside: beside.to_vec(),
            left_out: opening::left_out(args),
            ..Wanted::default()
        };
        let mut otherwise = None;
        let is_text = is_text(args);
        let inputs = if let Some((_, file)) = with.iter().find(|(known, _)| known == name) {
            if input::is_columns(file) {
                return Err(Failure::Usage(format!(
                    "--with {name}={}: Parquet and Arrow files are not read side by side yet; write the column as a .npy file first",
                    file.display()
                )));
            }
            refuse_column(args, name, file)?;
            input::open(std::slice::from_ref(file), &Wanted { kind: None, ..wanted(None) })?
        } else if name == X && is_text && !args.column.is_empty() {
            input::open(&args.inputs, &wanted(args.column_of_text()?))?
        } else if name == X && !is_text {
            opening::open(args)?
        } else if is_text {
            let is_once = |path: &PathBuf| input::is_read_once(&Name::of(path.clone()));
            if name == X && !args.inputs.iter().any(is_once) {
                otherwise = Some(input::open(&args.inputs, &wanted(None))?.into());
            } else if name == X {
                return Ok(Side::of(name, opening::open(args)?, None));
            }
            input::open(&args.inputs, &wanted(Some(Column::Name(name.into()))))?
        } else {
            let what = match args.maps.weights.as_deref() {
                Some(weights) if weights == name => {
                    "no file and no input; name a file of weights, or"
                }
                _ => "no input;",
            };
            return Err(Failure::Usage(format!(
                "`{name}` is {what} add --with {name}=FILE, or say x for the inputs themselves"
            )));
        };
        let names_it = |text: &Option<String>| {
            let of_option = text.as_ref().and_then(|text| Expressions::value(text).ok());
            of_option.is_some_and(|of_option| of_option.names().contains(&name)) && is_text
        };
        let hint = if names_it(&args.maps.keep) {
            Some(COMPARED)
        } else if names_it(&args.maps.weights) {
            Some(WEIGHED)
        } else {
            None
        };
        Ok(Side { hint, ..Side::of(name, inputs, otherwise) })
    }

    fn of(name: &str, inputs: Vec<Input>, otherwise: Option<VecDeque<Input>>) -> Side {
        let dtype = inputs.first().map_or(DType::F64, Input::dtype);
        Side {
            name: name.into(),
            is_all: false,
            dtype,
            inputs: inputs.into(),
            otherwise,
            range: None,
            pieces: None,
            read: Vec::new(),
            rest: Rest::default(),
            hint: None,
        }
    }

    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.inputs.iter()
    }

    /// Elements of all its files, where ranges of them can be read.
    pub(crate) fn elements(&self) -> Option<u64> {
        let bytes = |input: &Input| input.bytes().filter(|_| input.has_ranges());
        let bytes: Option<u64> = self.inputs.iter().map(bytes).sum();
        bytes.map(|bytes| bytes / self.dtype.size() as u64)
    }

    /// Has a range of its elements alone read, where it is known how many there are.
    pub(crate) fn take_range(&mut self, range: Range<u64>) {
        self.range = Some(range);
    }

    /// Decides what a name is that may be a column of texts or all of them, by the names of the first.
    pub(crate) fn decide(&mut self, args: &Reduction) {
        let Some(otherwise) = self.otherwise.take() else { return };
        let Some(first) = self.inputs.front() else { return };
        let columns = input::text_columns(first.name(), args.written.dialect(false));
        if columns.is_ok_and(|columns| !columns.names.contains(&self.name)) {
            self.inputs = otherwise;
            self.is_all = true;
        }
    }

    /// Its files, to be read in part.
    pub(crate) fn inputs_mut(&mut self) -> &mut VecDeque<Input> {
        &mut self.inputs
    }

    /// What was read of each of its files, and which rows were left out of it.
    pub(super) fn joined(&self) -> Joined {
        let mut joined = Joined::default();
        for (notes, kept) in &self.read {
            let gaps = notes.as_ref().map(SharedNotes::take_gaps).unwrap_or_default();
            joined.push(*kept, gaps);
        }
        joined
    }

    /// The whole of its files as one array, and the rows that a text lacks.
    pub(crate) fn whole(self, args: &Reduction) -> Result<(Whole, MissingRuns), Failure> {
        let hint = self.hint;
        let otherwise = self.otherwise.filter(|all| !all.is_empty());
        let mut found = None;
        for files in [Some(self.inputs), otherwise].into_iter().flatten() {
            check_axes(args, files.iter())?;
            match OneArray::read(files, Order::C) {
                Err(Failure::Io(error)) if found.is_none() && is_no_column(&error) => {
                    found = Some(error);
                }
                Err(Failure::Io(error)) => return Err(failure(error, hint)),
                read => return read.map(|OneArray { whole, gaps, .. }| (whole, gaps)),
            }
        }
        Err(found.map_or_else(
            || Failure::Usage(format!("{} is no file", self.name)),
            |error| failure(error, hint),
        ))
    }

    /// The next piece of the files; empty at the end of the last.
    fn refill(&mut self) -> Result<(), Failure> {
        loop {
            if let Some((_, pieces)) = &mut self.pieces {
                match pieces.next_piece() {
                    Ok(Some(piece)) => {
                        self.rest.set(piece);
                        if let Some((_, elements)) = self.read.last_mut() {
                            *elements += (piece.len() / self.dtype.size()) as u64;
                        }
                        self.otherwise = None;
                        return Ok(());
                    }
                    Ok(None) => self.pieces = None,
                    Err(error) if is_no_column(&error) && self.otherwise.is_some() => {
                        self.inputs = self.otherwise.take().unwrap_or_default();
                        self.is_all = true;
                        self.pieces = None;
                        self.read.clear();
                    }
                    Err(error) => return Err(failure(error, self.hint)),
                }
            }
            let Some(input) = self.inputs.pop_front() else {
                self.rest.set(&[]);
                return Ok(());
            };
            let name = input.name().clone();
            self.read.push((input.notes(), 0));
            let pieces = match &mut self.range {
                None => input.pieces(Order::C)?,
                Some(range) => {
                    let n = input.bytes().unwrap_or(0) / self.dtype.size() as u64;
                    let part = range.start.min(n)..range.end.min(n);
                    *range = range.start.saturating_sub(n)..range.end.saturating_sub(n);
                    if part.is_empty() {
                        self.read.pop();
                        continue;
                    }
                    input.range(Order::C, part)?
                }
            };
            self.pieces = Some((name, pieces));
        }
    }
}

/// The names and types of inputs.
pub(crate) fn types(sides: &[Side]) -> Vec<(&str, DType)> {
    sides.iter().map(|side| (side.name.as_str(), side.dtype)).collect()
}

/// Whether all inputs are texts, so that names are those of their columns.
pub(crate) fn is_text(args: &Reduction) -> bool {
    let kind =
        |path: &PathBuf| args.input.unwrap_or_else(|| InputFormat::of(&Name::of(path.clone())));
    !args.inputs.is_empty() && args.inputs.iter().all(|path| kind(path) == InputFormat::Text)
}

/// Fails where a name of `--with` is that of a column of a text as well, and may mean either.
fn refuse_column(args: &Reduction, name: &str, file: &Path) -> Result<(), Failure> {
    let Some(text) = args.text_with(name) else { return Ok(()) };
    let (text, file) = (text.display().to_string(), file.display().to_string());
    Err(Failure::Usage(format!(
        "{name} is a column of {} and what --with calls {}; give the file another name, such as --with {name}2={}",
        text.escape_debug(),
        file.escape_debug(),
        file.escape_debug()
    )))
}

/// The columns of a text that lose the rows in which one of them has a missing cell, where rows are left out: all that expressions and `--by` name.
///
/// # Errors
/// [`Failure::Usage`] where what is named lies in several files, which would not lose the same rows.
pub(super) fn beside(
    args: &Reduction,
    with: &[(String, PathBuf)],
    names: &[String],
) -> Result<Vec<Column>, Failure> {
    let keys = opening::key_columns(args);
    let skips = args.written.dialect(false).missing == Missing::Skip;
    let is_text_file = |(_, path): &(String, PathBuf)| {
        InputFormat::of(&Name::of(path.clone())) == InputFormat::Text
    };
    let has_text = is_text(args) || with.iter().any(is_text_file);
    if !skips || !has_text || names.len() + keys.len() < 2 {
        return Ok(Vec::new());
    }
    if !with.is_empty() || !is_text(args) {
        return Err(Failure::Usage("--missing skip leaves rows out of a text, and not out of other files beside it; take columns of one text, or --missing nan and --where 'not isnan(…)'".into()));
    }
    let column = |name: &String| {
        match (name.as_str(), args.column_of_text()?) {
        (X, Some(column)) => Ok(column),
        (X, None) if args.text_with(X).is_some() => Ok(Column::Name(X.into())),
        (X, None) => Err(Failure::Usage("--missing skip leaves out rows, and x stands for all cells of the text; choose its column by --column".into())),
        (name, _) => Ok(Column::Name(name.into())),
    }
    };
    let columns = names.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    Ok(columns.into_iter().chain(keys).collect())
}

/// What conditions and weights take.
const COMPARED: &str =
    "a condition (--where) compares columns of numbers and no words: words are keys alone, by --by";
const WEIGHED: &str =
    "--weights takes a file, a column of numbers or an expression of such columns";

/// What is wrong with a file; of one that an option names, with what that takes.
fn failure(error: warpfold_io::Error, hint: Option<&'static str>) -> Failure {
    let is_word = matches!(
        error.problem(),
        Some(Problem::Text(TextError::NotANumber { .. } | TextError::NoColumn { .. }))
    );
    match hint.filter(|_| is_word) {
        Some(hint) => Failure::Data(format!("{error}; {hint}")),
        None => error.into(),
    }
}

fn is_no_column(error: &warpfold_io::Error) -> bool {
    matches!(error.problem(), Some(Problem::Text(TextError::NoColumn { .. } | TextError::NoRow)))
}

/// Folds as many elements as every side has; how many, and their bytes, or `None` at the end.
pub(crate) fn step(
    sides: &mut [Side],
    first: u64,
    fold: impl FnOnce(&[HostArray<'_>]) -> Result<(), Failure>,
) -> Result<Option<(u64, u64)>, Failure> {
    for side in sides.iter_mut() {
        if side.rest.bytes().is_empty() {
            side.refill()?;
        }
    }
    let elements = |side: &Side| side.rest.bytes().len() / side.dtype.size();
    let count = sides.iter().map(elements).min().unwrap_or(0);
    if count == 0 {
        let longer = sides.iter().find(|side| elements(side) > 0);
        return match longer {
            None => Ok(None),
            Some(longer) => {
                let shorter =
                    sides.iter().find(|side| elements(side) == 0).map_or("", |side| &side.name);
                let remedy = match longer.is_all {
                    true => {
                        "x stands for all cells of the text: choose its column by --column, or name columns in --map"
                    }
                    false => "give inputs of one length",
                };
                Err(Failure::Usage(format!(
                    "{shorter} has {first} elements and {} has more; {remedy}",
                    longer.name
                )))
            }
        };
    }
    let mut arrays = Vec::with_capacity(sides.len());
    for side in sides.iter() {
        let bytes = &side.rest.bytes()[..count * side.dtype.size()];
        let name = Name::of(PathBuf::from(&side.name));
        let name = side.pieces.as_ref().map_or(&name, |(name, _)| name);
        let array = input::array(side.dtype, bytes, first);
        arrays.push(array.map_err(|problem| Failure::input(name, problem))?);
    }
    fold(&arrays)?;
    drop(arrays);
    let mut bytes = 0;
    for side in sides.iter_mut() {
        let taken = count * side.dtype.size();
        side.rest.taken += taken;
        bytes += taken as u64;
    }
    Ok(Some((count as u64, bytes)))
}
