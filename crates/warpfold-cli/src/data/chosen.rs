//! The columns of files that options name.

use std::path::PathBuf;

use warpfold_arrow::files::Files;
use warpfold_arrow::{DataType, number_type};

use crate::Failure;
use crate::args::Reduction;
use crate::input::near;
use crate::input::text::{Column, near_hint};

/// The names of the columns to be reduced.
pub(super) fn columns(args: &Reduction, files: &Files) -> Result<Vec<String>, Failure> {
    let schema = files.schema();
    let fields = schema.fields();
    match &args.column[..] {
        [] if fields.len() == 1 => Ok(vec![fields[0].name().clone()]),
        [] => Err(Failure::Usage(format!(
            "the files have {} columns: {}; choose one with --column, or all numeric ones with --column '*'",
            fields.len(),
            shown(files)
        ))),
        [Column::Name(name)] if name == "*" => {
            let keys = key_names(args, files)?;
            let is_taken = |dtype: &DataType| {
                number_type(dtype).is_some_and(|dtype| dtype != warpfold::DType::Bool)
                    || is_decimal(dtype)
            };
            let taken = fields.iter().filter(|field| {
                is_taken(field.data_type())
                    && !keys.contains(field.name())
                    && warpfold_arrow::check(args.op(), field.data_type()).is_ok()
            });
            let names: Vec<String> = taken.map(|field| field.name().clone()).collect();
            match names.is_empty() {
                true => Err(Failure::Usage(format!(
                    "no column of the files but keys is numeric and has {}; name one with --column",
                    args.op()
                ))),
                false => Ok(names),
            }
        }
        chosen => chosen.iter().map(|column| name_of(files, column)).collect(),
    }
}

/// The first of the columns, for a message.
fn shown(files: &Files) -> String {
    const SHOWN: usize = 20;
    let schema = files.schema();
    let names =
        schema.fields().iter().take(SHOWN).map(|field| field.name().escape_debug().to_string());
    let more = if schema.fields().len() > SHOWN { ", …" } else { "" };
    let folders: Vec<String> =
        files.folders().iter().map(|name| name.escape_debug().to_string()).collect();
    let by_folders = if folders.is_empty() {
        String::new()
    } else {
        format!(", and by their folders {}", folders.join(", "))
    };
    names.collect::<Vec<_>>().join(", ") + more + &by_folders
}

fn is_decimal(dtype: &DataType) -> bool {
    matches!(dtype, DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..))
}

/// The name of a column that is there.
pub(super) fn name_of(files: &Files, column: &Column) -> Result<String, Failure> {
    let schema = files.schema();
    match column {
        Column::Name(name) if name == "0" && schema.index_of(name).is_err() => Err(Failure::Data(
            format!("there is no column 0; columns are counted from 1. There are {}", shown(files)),
        )),
        Column::Name(name) => {
            let folders = files.folders();
            let own = || schema.fields().iter().map(|field| field.name().as_str());
            let names = || own().chain(folders.iter().map(String::as_str));
            let near = match names().any(|found| found == name) {
                true => None,
                false => near(name, names()),
            };
            let is_there = names().any(|found| found == name);
            match near {
                None if !is_there && name.contains(',') => Err(Failure::Data(format!(
                    "there is no column {}; {}there are {}",
                    name.escape_debug(),
                    near_hint(name, None),
                    shown(files)
                ))),
                Some(near) => Err(Failure::Data(format!(
                    "there is no column {}; did you mean {}? There are {}",
                    name.escape_debug(),
                    near.escape_debug(),
                    shown(files)
                ))),
                None => Ok(name.clone()),
            }
        }
        Column::Index(index) => {
            let at = usize::try_from(index - 1).ok();
            let named = schema.index_of(&index.to_string()).ok().filter(|&named| at != Some(named));
            let by_name = format!("column {index} by its name is '(\"{index}\")'");
            match (at.and_then(|at| schema.fields().get(at)), named) {
                (Some(field), None) => Ok(field.name().clone()),
                (Some(field), Some(_)) => Err(Failure::Usage(format!(
                    "{index} is the place of column {} and the name of another: say {}, or {by_name}",
                    field.name().escape_debug(),
                    field.name().escape_debug()
                ))),
                (None, None) => Err(Failure::Data(format!(
                    "there is no column {index}; the files have {}",
                    schema.fields().len()
                ))),
                (None, Some(_)) => Err(Failure::Data(format!(
                    "there is no column {index} among {}; {by_name}",
                    schema.fields().len()
                ))),
            }
        }
    }
}

/// The names of the columns that are keys.
pub(super) fn key_names(args: &Reduction, files: &Files) -> Result<Vec<String>, Failure> {
    let key = |by: &PathBuf| name_of(files, &by.to_string_lossy().parse().map_err(Failure::Usage)?);
    args.parts.by.iter().map(key).collect()
}
