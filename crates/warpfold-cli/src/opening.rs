//! What a reduction reads: inputs are opened, and refused where they do not go together.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use warpfold::{DType, Op};
use warpfold_engine::HostArray;

use crate::args::{Reduction, Verbosity};
use crate::folders::{self, Folder};
use crate::input::text::{Column, Header, LeftOut, Missing};
use crate::input::{self, Input, InputFormat, Name, Order, Random, Wanted};
use crate::left_out::Pairs;
use crate::{Failure, outfile};

/// Fails where the result file cannot be written, or is something that is read.
pub(crate) fn check_result_file(args: &Reduction) -> Result<(), Failure> {
    let Some((path, _)) = &args.out else { return Ok(()) };
    outfile::check(path)?;
    let parts = [&args.parts.segments, &args.parts.lengths];
    let read = args.inputs.iter().chain(&args.parts.by).chain(parts.into_iter().flatten());
    Ok(outfile::refuse_inputs(path, read.map(PathBuf::as_path))?)
}

pub(crate) fn open(args: &Reduction) -> Result<Vec<Input>, Failure> {
    let Some((n, distribution, seed)) = args.random()? else {
        let dialect = args.written.dialect(args.verbosity() == Verbosity::Verbose);
        check_text(args)?;
        check_kinds(args)?;
        check_places(args)?;
        let (dtype, kind) = (args.dtype, args.input);
        let columns = match args.is_dot_of_columns() {
            true => args.column.clone(),
            false => args.column_of_text()?.into_iter().collect(),
        };
        let beside = key_columns(args);
        let left_out = left_out(args);
        let wanted =
            Wanted { dtype, kind, columns, dialect, beside, left_out, ..Wanted::default() };
        return Ok(input::open(&args.inputs, &wanted)?);
    };
    let dtype = args.dtype.unwrap_or(DType::F32);
    let arrays = if args.op() == Op::Dot { 0..2 } else { 0..1 };
    arrays
        .map(|array| Ok(Input::random(Random::new(dtype, n, distribution, seed, array)?)))
        .collect()
}

/// What is kept of rows that `--missing skip` leaves out.
pub(crate) fn left_out(args: &Reduction) -> LeftOut {
    let skips = args.written.dialect(false).missing == Missing::Skip;
    match args.op() {
        // The rows of two inputs stay side by side until both have lost one.
        Op::Dot if skips => LeftOut::Kept,
        Op::ArgMin | Op::ArgMax | Op::Stats => LeftOut::Listed,
        _ if args.parts.any() => LeftOut::Listed,
        _ => LeftOut::Counted,
    }
}

/// Keeps inputs that can be read once, where they are to be read more than once.
pub(crate) fn keep_streams(args: &Reduction) -> Result<(), Failure> {
    Ok(args.inputs.iter().try_for_each(|path| input::keep(&Name::of(path.clone())))?)
}

/// Fails where a text of named columns and an array would be one array without a word.
fn check_kinds(args: &Reduction) -> Result<(), Failure> {
    let kind = |path: &&PathBuf| {
        args.input.unwrap_or_else(|| InputFormat::of(&Name::of(path.to_path_buf())))
    };
    let texts: Vec<&PathBuf> =
        args.inputs.iter().filter(|path| kind(path) == InputFormat::Text).collect();
    let has_none =
        |path: &&PathBuf| kind(path) != InputFormat::Text && input::extension(path) != "npz";
    // What is not there, or is of a kind that nothing reads, is said where it is opened.
    let is_read = |path: &&PathBuf| {
        let is_raw = kind(path) == InputFormat::Raw && args.dtype.is_none();
        path.as_os_str() == "-" || path.is_file() && !is_raw
    };
    let array = args.inputs.iter().filter(has_none).find(is_read);
    let (Some(text), Some(array), true) = (texts.first(), array, args.op() != Op::Dot) else {
        return Ok(());
    };
    let shown = |path: &PathBuf| path.display().to_string().escape_debug().to_string();
    if !args.column.is_empty() {
        return Err(Failure::Usage(format!(
            "--column chooses a column of {}, and {} has none, so that the two would be one array without a choice in it; reduce them apart",
            shown(text),
            shown(array)
        )));
    }
    let dialect = args.written.dialect(false);
    for text in texts.into_iter().filter(|path| !input::is_read_once(&Name::of(path.to_path_buf())))
    {
        // What is wrong with the text is said where it is read.
        let Ok(columns) = input::text_columns(&Name::of(text.clone()), dialect) else { continue };
        if columns.header == Header::Yes && columns.names.len() > 1 {
            return Err(Failure::Usage(format!(
                "{} has {} columns with names, and {} is one array: together they would be one array of all cells; reduce them apart, and choose a column with --column",
                shown(text),
                columns.names.len(),
                shown(array)
            )));
        }
    }
    Ok(())
}

/// Fails where a column that is given by its number has one name in a text and another in the next.
fn check_places(args: &Reduction) -> Result<(), Failure> {
    let index = |column: &Column| match column {
        Column::Index(index) => Some(*index),
        Column::Name(_) => None,
    };
    let keys = key_columns(args);
    let places: Vec<u64> = args.column.iter().chain(&keys).filter_map(index).collect();
    // The two arrays of a product are two columns.
    if places.is_empty() || args.inputs.len() < 2 || args.op() == Op::Dot {
        return Ok(());
    }
    let dialect = args.written.dialect(false);
    let mut first: Option<(Name, Vec<String>)> = None;
    for path in &args.inputs {
        let name = Name::of(path.clone());
        let kind = args.input.unwrap_or_else(|| InputFormat::of(&name));
        if kind != InputFormat::Text || input::is_read_once(&name) {
            continue;
        }
        // What is wrong with the text is said where it is read.
        let Ok(columns) = input::text_columns(&name, dialect) else { continue };
        if columns.header != Header::Yes {
            continue;
        }
        let Some((first, names)) = &first else {
            first = Some((name, columns.names));
            continue;
        };
        let both = |&place: &u64| {
            let at = usize::try_from(place).ok()?.checked_sub(1)?;
            Some((place, names.get(at)?, columns.names.get(at)?))
        };
        let is_other = |(_, one, other): &(u64, &String, &String)| one != other;
        if let Some((place, one, other)) = places.iter().filter_map(both).find(is_other) {
            return Err(Failure::Data(format!(
                "{name}: column {place} is {other:?}, and {one:?} in {first}; give the column by its name, or reduce the files apart"
            )));
        }
    }
    Ok(())
}

/// Fails where there are options of text and no text.
fn check_text(args: &Reduction) -> Result<(), Failure> {
    let kind =
        |path: &PathBuf| args.input.unwrap_or_else(|| InputFormat::of(&Name::of(path.clone())));
    let parts = [&args.parts.segments, &args.parts.lengths];
    let is_text = |path: &PathBuf| InputFormat::of(&Name::of(path.clone())) == InputFormat::Text;
    let any_text = args.inputs.iter().any(|path| kind(path) == InputFormat::Text)
        || args.parts.by.iter().chain(parts.into_iter().flatten()).any(is_text);
    if args.written.any() && !any_text {
        return Err(Failure::Usage(
            "--header, --missing, --comment, --delimiter and --decimal are for text, and no input is text; leave them out or add --input text".into(),
        ));
    }
    Ok(())
}

/// The columns of a text input, or arrays of a `.npz` file or fields of records, that `--by` names, where it names no files.
pub(crate) fn key_columns(args: &Reduction) -> Vec<Column> {
    args.parts.by.iter().filter_map(|by| key_column(args, by)).collect()
}

pub(crate) fn key_column(args: &Reduction, by: &Path) -> Option<Column> {
    let input = args.inputs.first()?;
    if folders_of(args, by).is_some() {
        return None;
    }
    let name = Name::of(input.to_path_buf());
    let kind = args.input.unwrap_or_else(|| InputFormat::of(&name));
    if kind == InputFormat::Npy {
        // What is wrong with the file is said where it is read.
        let is_array = |by: &str| {
            input::array_names(&name).is_ok_and(|all| all.iter().any(|array| array == by))
        };
        let is_file = (may_be_file(by) && by.exists()) || input::is_read_once(&name);
        let by = by.to_str().filter(|by| !is_file && is_array(by))?;
        return Some(Column::Name(by.into()));
    }
    let is_text = kind == InputFormat::Text;
    let is_file =
        may_be_file(by) && (by.exists() || args.text_with(&by.to_string_lossy()).is_none());
    // What is no column is looked for by its name, and then said to be missing.
    let column = || {
        by.to_string_lossy()
            .parse()
            .unwrap_or_else(|_| Column::Name(by.to_string_lossy().into_owned()))
    };
    (is_text && !is_file).then(column)
}

/// The folders that give each input a key of a name (`shop=x/`), where there is no such file and no input has a column of the name.
pub(crate) fn folders_of(args: &Reduction, by: &Path) -> Option<Vec<Folder>> {
    let name = by.to_str().filter(|_| !by.is_file())?;
    folders::values(&args.inputs, name).filter(|_| args.text_with(name).is_none())
}

/// Whether a name is that of a file of keys, where there is one.
pub(crate) fn may_be_file(by: &Path) -> bool {
    let name = Name::of(by.to_path_buf());
    name == Name::Stdin || matches!(InputFormat::of(&name), InputFormat::Npy | InputFormat::Text)
}

/// Two columns of one text side by side, which come row after row; calls back with pairs, and with the bytes that were read.
pub(crate) fn pairs_of_columns(
    input: Input,
    mut push: impl FnMut(HostArray<'_>, HostArray<'_>) -> Result<(), Failure>,
    mut progress: impl FnMut(u64),
) -> Result<(), Failure> {
    let (name, dtype, read) = (input.name().clone(), input.dtype(), input.read_so_far());
    let mut pairs = Pairs::new(dtype.size(), [input.notes(), None]);
    // Elements of a head before a part of a text.
    let mut first = input.lines().map_or(0, |lines| lines.elements);
    let mut pieces = input.pieces(Order::C)?;
    while let Some(piece) = pieces.next_piece()? {
        pairs.each_row(first, piece, |x, y| {
            let view = |bytes| {
                let array = input::array(dtype, bytes, 0);
                array.map_err(|problem| Failure::input(&name, problem))
            };
            push(view(x)?, view(y)?)
        })?;
        first += (piece.len() / dtype.size()) as u64;
        progress(read.as_ref().map_or(0, |read| read.load(Relaxed)));
    }
    Ok(())
}

/// What to do with several files that have to be one.
pub(crate) fn how_to_join<'i>(mut inputs: impl Iterator<Item = &'i Input>) -> &'static str {
    match inputs.all(Input::is_text) {
        true => {
            "join the files first: texts with names by (cat FIRST; tail -q -n +2 OTHERS) > all.csv, others by cat"
        }
        false => "join the files first: arrays by numpy.concatenate, raw elements by cat",
    }
}
