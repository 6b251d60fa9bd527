//! Keys: a file of integers, or a column of a text input.

use std::path::Path;

use warpfold::{Column, DType, Key};

use crate::Failure;
use crate::args::Reduction;
use crate::input::text::Column as Chosen;
use crate::input::{self, Kind, Name, Order, Problem, Wanted, Whole};

/// Reads the keys that `--by` names.
pub(super) fn read(asked: &Reduction, by: &Path) -> Result<Whole, Failure> {
    let input = asked.inputs.first().map(|path| Name::of(path.clone()));
    let is_text = input
        .as_ref()
        .is_some_and(|name| asked.input.unwrap_or_else(|| Kind::of(name)) == Kind::Text);
    let is_file = matches!(Kind::of(&Name::of(by.to_path_buf())), Kind::Npy | Kind::Text);
    let wanted = Wanted { dtype: None, kind: None, column: None };
    let keys = match (is_text && !is_file, &asked.inputs[..]) {
        (true, [path]) if path.as_os_str() == "-" => {
            return Err(Failure::Usage(
                "--by COLUMN reads the input twice, and standard input can be read once only; save it to a file".into(),
            ));
        }
        (true, [path]) => {
            // Text is f64 unless it is said to be something else; keys are integers.
            let column =
                by.to_string_lossy().parse::<Chosen>().unwrap_or_else(|never| match never {});
            let wanted =
                Wanted { dtype: Some(DType::I64), kind: Some(Kind::Text), column: Some(column) };
            input::open(std::slice::from_ref(path), &wanted)?
        }
        _ if is_text_file(by) => {
            input::open(&[by.to_path_buf()], &Wanted { dtype: Some(DType::I64), ..wanted })?
        }
        _ => input::open(&[by.to_path_buf()], &Wanted { kind: Some(Kind::Npy), ..wanted })?,
    };
    let keys = keys.into_iter().next().expect("one path is one input");
    let (name, dtype) = (keys.name().clone(), keys.dtype());
    if dtype.is_float() {
        return Err(Failure::input(&name, Problem::NoIntegers { what: "keys", found: dtype }));
    }
    keys.whole(Order::C)
}

fn is_text_file(path: &Path) -> bool {
    Kind::of(&Name::of(path.to_path_buf())) == Kind::Text
}

/// Keys as a column of the results.
pub(super) fn column<K: Key>(keys: &[K]) -> Column {
    Column::of(keys.to_vec())
}

/// Runs an expression with the type of the keys and the keys.
macro_rules! with_key {
    ($keys:expr, $K:ident, $slice:ident => $body:expr) => {{
        let keys = $keys;
        macro_rules! of {
            ($ty:ty) => {{
                type $K = $ty;
                let $slice = keys.elements::<$K>()?;
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
pub(super) use with_key;
