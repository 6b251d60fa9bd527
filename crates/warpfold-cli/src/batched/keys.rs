//! Keys: a file of integers or, as text, of words; or a column of text inputs.

use std::collections::HashMap;
use std::path::Path;

use warpfold::DType;

use crate::Failure;
use crate::args::{Reduction, Verbosity};
use crate::folders::{self, Folder};
use crate::input::text::{
    Cells, Column as Chosen, Dialect, Header, LeftOut, Missing, MissingRuns, Number, SharedNotes,
    TextError, is_missing,
};
use crate::input::{self, InputFormat, Name, Order, Problem, Wanted, Whole};
use crate::one_array::{ReadFile, append};
use crate::{mapped, opening, several};

/// Fails where a name of `--by` is a file of keys, and a column of the text as well.
pub(super) fn check(args: &Reduction) -> Result<(), Failure> {
    for by in args.parts.by.iter().filter(|by| opening::may_be_file(by) && by.is_file()) {
        if let Some(text) = args.text_with(&by.to_string_lossy()) {
            let (by, text) = (by.display().to_string(), text.display().to_string());
            return Err(Failure::Usage(format!(
                "--by {by} is a file, and a column of {}; say ./{by} for the file, or the number of the column, as in --by 1",
                text.escape_debug(),
                by = by.escape_debug()
            )));
        }
    }
    Ok(())
}

/// Keys that were read.
pub(super) struct Read {
    /// Integers, or the numbers of words.
    pub(super) keys: Whole,
    /// Words, in the order of their numbers.
    pub(super) words: Option<Vec<String>>,
    /// What else was found in them if they are text of their own.
    pub(super) notes: Option<SharedNotes>,
    /// Rows that were left out.
    pub(super) gaps: MissingRuns,
}

/// The text's columns that leave rows out with the keys: of several columns of values each has gaps of its own.
fn beside(args: &Reduction) -> Result<Vec<Chosen>, Failure> {
    if args.maps.any() {
        return mapped::beside(args);
    }
    let values = if several::takes(args) { None } else { args.column_of_text()? };
    Ok(values.into_iter().chain(opening::key_columns(args)).collect())
}

/// A file that holds keys.
struct KeyFile<'a> {
    path: &'a Path,
    /// The file of values of which they are a column; `None` of a file of keys alone.
    values: Option<&'a ReadFile>,
}

/// Reads the keys that `--by` names. Where rows are left out, so are keys that are missing in a file of their own.
/// A column is one of the very files that the values came from, and whose first rows are what they were taken for.
pub(super) fn read(args: &Reduction, by: &Path, values: &[ReadFile]) -> Result<Read, Failure> {
    let mut dialect = args.written.dialect(args.verbosity() == Verbosity::Verbose);
    if dialect.missing == Missing::Nan {
        // A key is an integer.
        dialect.missing = Missing::Error;
    }
    if let Some(folders) = opening::folders_of(args, by) {
        return of_folders(args, by, folders, (values, dialect.missing));
    }
    let wanted = Wanted { dialect, left_out: LeftOut::Listed, ..Wanted::default() };
    let Some(column) = opening::key_column(args, by) else {
        let kind = InputFormat::of_parts(&Name::of(by.to_path_buf()))?;
        let (wanted, file) =
            (Wanted { kind: Some(kind), ..wanted }, KeyFile { path: by, values: None });
        return match kind {
            InputFormat::Text => text(&[file], &wanted),
            _ => whole(&[file], &wanted),
        };
    };
    let kind = check_kinds(args, by)?;
    // The values' own reading has said what the first row is, and all else there is to tell.
    let dialect = Dialect { verbose: false, ..dialect };
    let (columns, beside) = (vec![column], beside(args)?);
    let wanted = Wanted { kind: Some(kind), columns, dialect, beside, ..wanted };
    let files = args.inputs.iter().zip(values);
    let files = files.map(|(path, values)| KeyFile { path, values: Some(values) });
    let files: Vec<_> = files.collect();
    let read =
        if kind == InputFormat::Text { text(&files, &wanted) } else { whole(&files, &wanted) };
    read.map(|read| Read { notes: None, ..read })
}

/// Names of folders, for each row of the files in them: integers where all of them are, else words.
fn of_folders(
    args: &Reduction,
    by: &Path,
    folders: Vec<Folder>,
    (values, missing): (&[ReadFile], Missing),
) -> Result<Read, Failure> {
    let (by, mut gaps, mut before) = (by.display().to_string(), MissingRuns::default(), 0);
    let are_integers =
        folders.iter().all(|folder| folder.value.is_none() || folder.integer().is_some());
    let (mut integers, mut numbers, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (path, folder)) in args.inputs.iter().zip(folders).enumerate() {
        let of_name = |folder: &Folder| folder.name == by;
        if folders::of_path(path).iter().filter(|folder| of_name(folder)).count() > 1 {
            return Err(Failure::Usage(format!(
                "{}: two of its folders are called {}; rename one of them",
                Name::of(path.clone()),
                by.escape_debug()
            )));
        }
        let Some(rows) = values.get(at).and_then(|file| file.rows) else {
            return Err(Failure::Usage(format!(
                "--by {}: names of folders are keys of columns and arrays, and not of expressions; write the keys into the files",
                by.escape_debug()
            )));
        };
        let n = rows as usize;
        match (folder.integer().filter(|_| are_integers), folder.value) {
            (_, None) if missing == Missing::Skip => {
                crate::say!(
                    "note: {}: {rows} of {rows} rows left out, as its folder is that of rows without {}",
                    Name::of(path.clone()),
                    by.escape_debug()
                );
                gaps.push(before..before + rows);
            }
            (_, None) => {
                return Err(Failure::Data(format!(
                    "{}: its folder is that of rows without {}; --missing skip leaves them out",
                    Name::of(path.clone()),
                    by.escape_debug()
                )));
            }
            (Some(key), _) => integers.extend(std::iter::repeat_n(key, n)),
            (None, Some(word)) => {
                let known = words.iter().position(|known| *known == word);
                numbers.extend(std::iter::repeat_n(known.unwrap_or(words.len()) as u32, n));
                words.extend(Some(word).filter(|_| known.is_none()));
            }
        }
        before += rows;
    }
    let name = Name::of(by.into());
    let (keys, words) = match are_integers {
        true => (Whole::of_numbers(name, &integers)?, None),
        false => (Whole::of_numbers(name, &numbers)?, Some(words)),
    };
    Ok(Read { keys, words, notes: None, gaps })
}

/// How the inputs are read that all have a column of keys. Fails where one of them has none, or is gone once its values were read.
fn check_kinds(args: &Reduction, by: &Path) -> Result<InputFormat, Failure> {
    let kind = |name: &Name| args.input.unwrap_or_else(|| InputFormat::of(name));
    let first = args.inputs.first().map_or(InputFormat::Text, |path| kind(&Name::of(path.clone())));
    for path in &args.inputs {
        let name = Name::of(path.clone());
        if kind(&name) != first {
            return Err(Failure::Usage(format!(
                "--by {} is a column of the first input, and {name} has none; reduce them apart, or write the keys of all as one file",
                by.display().to_string().escape_debug()
            )));
        }
        if input::is_read_once(&name) {
            return Err(Failure::Usage(format!(
                "--by COLUMN reads the input twice, and {name} can be read once only; save it to a file"
            )));
        }
    }
    Ok(first)
}

/// Text is f64 unless it is said to be something else; keys are integers, signed unless that is too narrow, and all of them words where one of them is no
/// number: so they are the same in any order of the rows.
fn text(files: &[KeyFile<'_>], wanted: &Wanted) -> Result<Read, Failure> {
    let of = |dtype| whole(files, &Wanted { dtype: Some(dtype), ..wanted.clone() });
    let is_column = files.iter().any(|file| file.values.is_some());
    // A pipe can be read once only.
    let is_again =
        files.iter().all(|file| !input::is_read_once(&Name::of(file.path.to_path_buf())));
    let is_too_narrow =
        |failure: &Failure| matches!(text_error(failure), Some((_, TextError::OutOfRange { .. })));
    let found = match of(DType::I64) {
        Err(failure) if is_again && is_too_narrow(&failure) => of(DType::U64),
        found => found,
    };
    let Err(failure) = found else { return found };
    let (name, error) = text_error(&failure).unzip();
    let failure = match (&name, error.clone()) {
        (Some(name), Some(TextError::OutOfRange { .. })) => Failure::input(name, Problem::WideKeys),
        (Some(name), Some(TextError::NotANumber { line, column, text, .. })) => {
            Failure::input(name, TextError::NoWord { line, column, text })
        }
        _ => failure,
    };
    let decimal = wanted.dialect.decimal;
    let is_word = match &error {
        _ if !is_again => false,
        Some(TextError::NotANumber { text, .. }) if is_missing(text) => false,
        Some(TextError::NotANumber { .. } | TextError::OutOfRange { .. }) => true,
        // Of a file of its own that says how to tell it, nothing else does.
        Some(TextError::FirstRow { text, .. }) => is_column && !is_missing(text),
        Some(TextError::OnlyNames { .. }) => !is_column,
        _ => false,
    };
    if !is_word {
        return Err(failure);
    }
    let mut wanted = Wanted { cells: Cells::Words, ..wanted.clone() };
    let is_undecided = !is_column && wanted.dialect.header == Header::Auto;
    if is_undecided {
        // Nothing tells a word from a name; if it is one, there is a key too many.
        wanted.dialect.header = Header::No;
    }
    let read = whole(files, &wanted);
    // A word above numbers is the name of them.
    let has_name = is_undecided && !matches!(error, Some(TextError::OnlyNames { .. }));
    let is_met_number =
        matches!(&error, Some(TextError::NotANumber { text, .. }) if is_number(text, decimal));
    match &read {
        Ok(found) if !found.has_word(has_name, decimal)? => Err(failure),
        Err(_) if is_met_number => Err(failure),
        _ => read,
    }
}

impl Read {
    /// Whether one of the words, behind a name if there is one, is no number.
    fn has_word(&self, has_name: bool, decimal: u8) -> Result<bool, Failure> {
        let words = self.words.as_deref().unwrap_or_default();
        let is_word = |word: &String| !is_number(word.as_bytes(), decimal);
        let (first, others) = match words.split_first() {
            Some((first, others)) if has_name => (Some(first), others),
            _ => (None, words),
        };
        if others.iter().any(is_word) {
            return Ok(true);
        }
        // What stands in another row as well is no name.
        let is_again =
            || Ok::<_, Failure>(self.keys.elements::<u32>()?.iter().skip(1).any(|&n| n == 0));
        Ok(first.is_some_and(is_word) && is_again()?)
    }
}

/// Whether it is a number; where all keys are numbers, they are integers.
fn is_number(text: &[u8], decimal: u8) -> bool {
    let begins = text.first().is_some_and(|byte| byte.is_ascii_digit() || b"+-.,".contains(byte));
    let point = |&byte: &u8| if byte == decimal { b'.' } else { byte };
    begins && <f64 as Number>::parse(&text.iter().map(point).collect::<Vec<u8>>()).is_ok()
}

/// What is wrong with a text, and with which.
fn text_error(failure: &Failure) -> Option<(Name, TextError)> {
    match failure {
        Failure::Io(input::Error::Input { name, problem }) => match &**problem {
            Problem::Text(error) => Some((name.clone(), error.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// The keys of all files, one after another.
fn whole(files: &[KeyFile<'_>], wanted: &Wanted) -> Result<Read, Failure> {
    let mut all: Option<Read> = None;
    // The number of each word, where there is more than one file.
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for file in files {
        let next = file.keys(wanted)?;
        all = Some(match all {
            None => {
                if let (Some(words), 2..) = (&next.words, files.len()) {
                    numbers = words.iter().cloned().zip(0..).collect();
                }
                next
            }
            Some(before) => before.followed_by(next, &mut numbers)?,
        });
    }
    all.ok_or_else(|| Failure::Usage("there is no file of keys; name one".into()))
}

impl KeyFile<'_> {
    fn keys(&self, wanted: &Wanted) -> Result<Read, Failure> {
        let header = self.values.and_then(|values| values.header).unwrap_or(wanted.dialect.header);
        let dialect = Dialect { header, ..wanted.dialect };
        let keys = input::open(&[self.path.to_path_buf()], &Wanted { dialect, ..wanted.clone() })?;
        let keys = keys.into_iter().next().expect("one path is one input");
        if let Some(values) = self.values {
            values.monitor.check_same(&keys.monitor())?;
        }
        let (name, dtype) = (keys.name().clone(), keys.dtype());
        if dtype.is_float() {
            return Err(Failure::input(&name, Problem::NoIntegers { what: "keys", found: dtype }));
        }
        let (notes, words) = (keys.notes(), keys.words());
        let keys = keys.whole(Order::C)?;
        let gaps = notes.as_ref().map(|notes| notes.take_gaps()).unwrap_or_default();
        Ok(Read { keys, words: words.map(|words| words.take()), notes, gaps })
    }
}

impl Read {
    /// These keys and those of the next file behind them, whose words have the numbers that they have here.
    fn followed_by(
        mut self,
        mut next: Read,
        numbers: &mut HashMap<String, u32>,
    ) -> Result<Read, Failure> {
        if let (Some(words), Some(others)) = (&mut self.words, next.words.take()) {
            let renumbered: Vec<u32> = others
                .into_iter()
                .map(|word| {
                    let new = words.len() as u32;
                    *numbers.entry(word).or_insert_with_key(|word| {
                        words.push(word.clone());
                        new
                    })
                })
                .collect();
            let keys = next.keys.elements::<u32>()?.iter();
            let keys: Vec<u32> = keys.map(|&old| renumbered[old as usize]).collect();
            next.keys = Whole::of_numbers(next.keys.name().clone(), &keys)?;
        }
        if self.keys.dtype() != next.keys.dtype() {
            let (found, other) = (next.keys.dtype(), self.keys.dtype());
            return Err(Failure::input(next.keys.name(), Problem::MixedTypes { found, other }));
        }
        append(&mut self.gaps, self.keys.len(), &next.gaps);
        Ok(Read { keys: self.keys.followed_by(&next.keys)?, ..self })
    }
}

/// What keys are called, by their column or file.
pub(super) fn name(args: &Reduction, by: &Path) -> String {
    match opening::key_column(args, by) {
        Some(Chosen::Name(name)) => name,
        Some(Chosen::Index(_)) => by.to_string_lossy().into_owned(),
        None if opening::folders_of(args, by).is_some() => by.to_string_lossy().into_owned(),
        None => by.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    }
}

/// Runs an expression with the keys, of whatever type they are.
macro_rules! with_key {
    ($keys:expr, $slice:ident => $body:expr) => {
        with_key!($keys, Key, $slice => $body)
    };
    ($keys:expr, $K:ident, $slice:ident => $body:expr) => {{
        let keys = $keys;
        macro_rules! of {
            ($ty:ty) => {{
                #[allow(dead_code)]
                type $K = $ty;
                let $slice = keys.elements::<$ty>()?;
                $body
            }};
        }
        match keys.dtype() {
            warpfold::DType::Bool => of!(bool),
            warpfold::DType::I8 => of!(i8),
            warpfold::DType::I16 => of!(i16),
            warpfold::DType::I32 => of!(i32),
            warpfold::DType::I64 => of!(i64),
            warpfold::DType::U8 => of!(u8),
            warpfold::DType::U16 => of!(u16),
            warpfold::DType::U32 => of!(u32),
            _ => of!(u64),
        }
    }};
}
pub(crate) use with_key;
