//! Keys: a file of integers, or a column of a text input.

use std::path::Path;

use warpfold::DType;

use crate::Failure;
use crate::args::{Reduction, Verbosity};
use crate::input::Watch;
use crate::input::text::{Column as Chosen, Dialect, LeftOut, Missing, SharedNotes, TextError};
use crate::input::{self, Kind, Name, Order, Problem, Wanted, Whole};

/// The columns of a text input that `--by` names, where it names no files.
pub(crate) fn key_columns(asked: &Reduction) -> Vec<Chosen> {
    asked.parts.by.iter().filter_map(|by| key_column(asked, by)).collect()
}

fn key_column(asked: &Reduction, by: &Path) -> Option<Chosen> {
    let input = asked.inputs.first()?;
    let kind = |path: &Path| Kind::of(&Name::of(path.to_path_buf()));
    let is_text = asked.input.unwrap_or_else(|| kind(input)) == Kind::Text;
    let is_file = matches!(kind(by), Kind::Npy | Kind::Text);
    // What is no column is looked for by its name, and then said to be missing.
    let column = || {
        by.to_string_lossy()
            .parse()
            .unwrap_or_else(|_| Chosen::Name(by.to_string_lossy().into_owned()))
    };
    (is_text && !is_file).then(column)
}

/// Keys, and what else was found in them if they are text of their own.
type Read = (Whole, Option<SharedNotes>);

/// Reads the keys that `--by` names. Where rows are left out, so are keys that are missing in a file of their own.
/// A column is one of the very file that the values came from, as `values` has it.
pub(super) fn read(asked: &Reduction, by: &Path, values: &Watch) -> Result<Read, Failure> {
    let mut dialect = asked.written.dialect(asked.verbosity() == Verbosity::Verbose);
    if dialect.missing == Missing::Nan {
        // A key is an integer.
        dialect.missing = Missing::Error;
    }
    let wanted = Wanted { dialect, left_out: LeftOut::Listed, ..Wanted::default() };
    match (key_column(asked, by), &asked.inputs[..]) {
        (Some(_), [path]) if path.as_os_str() == "-" => {
            Err(Failure::Usage(
                "--by COLUMN reads the input twice, and standard input can be read once only; save it to a file".into(),
            ))
        }
        (Some(column), [path]) => {
            // The values' own reading has said what the first row is.
            let dialect = Dialect { verbose: false, ..dialect };
            let kind = Some(Kind::Text);
            let beside = asked.column_of_text()?.into_iter().chain(key_columns(asked)).collect();
            let wanted =
                Wanted { dtype: None, kind, column: Some(column), dialect, beside, ..wanted };
            // What the values' own reading has found says it all.
            text(path, &wanted, Some(values)).map(|(keys, _)| (keys, None))
        }
        _ if is_text_file(by) => text(by, &wanted, None),
        _ => whole(by, &Wanted { kind: Some(Kind::Npy), ..wanted }, None),
    }
}

/// Text is f64 unless it is said to be something else; keys are integers, signed unless that is too narrow.
fn text(path: &Path, wanted: &Wanted, values: Option<&Watch>) -> Result<Read, Failure> {
    let of = |dtype| whole(path, &Wanted { dtype: Some(dtype), ..wanted.clone() }, values);
    let is_too_narrow = |failure: &Failure| {
        let Failure::Io(error) = failure else { return false };
        matches!(error.problem(), Some(Problem::Text(TextError::OutOfRange { .. })))
    };
    match of(DType::I64) {
        // A pipe can be read once only.
        Err(failure) if is_too_narrow(&failure) && path.is_file() => match of(DType::U64) {
            Err(failure) if is_too_narrow(&failure) => {
                Err(Failure::input(&Name::of(path.to_path_buf()), Problem::WideKeys))
            }
            found => found,
        },
        found => found,
    }
}

fn whole(path: &Path, wanted: &Wanted, values: Option<&Watch>) -> Result<Read, Failure> {
    let keys = input::open(&[path.to_path_buf()], wanted)?;
    let keys = keys.into_iter().next().expect("one path is one input");
    if let Some(values) = values {
        values.check_same(&keys.watch())?;
    }
    let (name, dtype) = (keys.name().clone(), keys.dtype());
    if dtype.is_float() {
        return Err(Failure::input(&name, Problem::NoIntegers { what: "keys", found: dtype }));
    }
    let notes = keys.notes();
    Ok((keys.whole(Order::C)?, notes))
}

/// Whether `--by` names a file, and no column of a text.
pub(super) fn names_file(asked: &Reduction, by: &Path) -> bool {
    key_column(asked, by).is_none()
}

fn is_text_file(path: &Path) -> bool {
    Kind::of(&Name::of(path.to_path_buf())) == Kind::Text
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
