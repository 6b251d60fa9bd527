//! Columns whose values are names of folders, as Hive lays out tables: the rows of `sales/shop=x/part-0.parquet` have the shop `x`.

use std::iter::repeat_n;
use std::path::{Component, Path};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, StringArray, new_null_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use super::Table;
use crate::Result;

/// What stands for none in such a name.
const NONE: &str = "__HIVE_DEFAULT_PARTITION__";

/// A column that has one value in all rows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// What it is called.
    pub name: String,
    /// The value; `None` stands for null.
    pub value: Option<String>,
    /// Integers where the values of all files are, else strings.
    pub(super) dtype: DataType,
}

/// The columns that the folders of a path name (`shop=x/`, with `%` and two digits for a byte), the outermost first.
pub fn folders(path: &Path) -> Vec<Folder> {
    let mut all: Vec<String> = Vec::new();
    for component in path.parent().into_iter().flat_map(Path::components) {
        match component {
            Component::Normal(name) => all.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(all.pop()),
            _ => {}
        }
    }
    let column = |folder: String| {
        let (name, value) = folder.split_once('=').filter(|(name, _)| !name.is_empty())?;
        let value = (value != NONE).then(|| decoded(value));
        Some(Folder { name: decoded(name), value, dtype: DataType::Utf8 })
    };
    all.into_iter().filter_map(column).collect()
}

/// Makes columns of integers of those that have nothing else in any file.
pub(super) fn find_types(files: &mut [Table]) {
    let mut names: Vec<String> =
        files.iter().flat_map(|file| &file.folders).map(|of| of.name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let mut all: Vec<&mut Folder> = files
            .iter_mut()
            .flat_map(|file| &mut file.folders)
            .filter(|of| of.name == name)
            .collect();
        if all.iter().all(|of| of.value.is_none() || of.integer().is_some()) {
            all.iter_mut().for_each(|of| of.dtype = DataType::Int64);
        }
    }
}

fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// A name with the bytes that `%` and two digits stand for; as it is, if that is no UTF-8.
fn decoded(name: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(name.len()), name.as_bytes());
    while let [first, behind @ ..] = rest {
        let digits = (*first == b'%').then(|| behind.first_chunk::<2>()).flatten();
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let byte =
            digits.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.into())
}

impl Folder {
    /// The value, if it is an integer.
    pub fn integer(&self) -> Option<i64> {
        self.value.as_deref().and_then(integer)
    }

    /// Its value in so many rows.
    fn rows(&self, n: usize) -> ArrayRef {
        match (&self.value, &self.dtype) {
            (None, dtype) => new_null_array(dtype, n),
            (Some(_), DataType::Int64) => {
                let value = self.integer().unwrap_or_default();
                Arc::new(Int64Array::from_iter_values(repeat_n(value, n)))
            }
            (Some(value), _) => Arc::new(StringArray::from_iter_values(repeat_n(value, n))),
        }
    }
}

/// Where a column of a file comes from.
pub(super) enum Source<'t> {
    /// Its number in the file.
    File(usize),
    Folder(&'t Folder),
}

/// The columns that were asked for, in their order.
pub(super) struct Picked<'t>(Vec<Source<'t>>);

impl<'t> Picked<'t> {
    pub(super) fn of(table: &'t Table, columns: &[String]) -> Result<Picked<'t>> {
        Ok(Picked(columns.iter().map(|name| table.source(name)).collect::<Result<_>>()?))
    }

    /// The numbers of those that the file has, ascending.
    pub(super) fn in_file(&self) -> Vec<usize> {
        let mut indices: Vec<usize> = self
            .0
            .iter()
            .filter_map(|source| match source {
                Source::File(index) => Some(*index),
                Source::Folder(_) => None,
            })
            .collect();
        indices.sort_unstable();
        indices.dedup();
        indices
    }

    /// All of them, of a batch that has those of the file as [`in_file`](Self::in_file) lists them.
    pub(super) fn complete(
        &self,
        batch: &RecordBatch,
        in_file: &[usize],
    ) -> Result<RecordBatch, ArrowError> {
        let (schema, n) = (batch.schema(), batch.num_rows());
        let columns = self.0.iter().map(|source| match source {
            Source::File(index) => {
                let at = in_file.partition_point(|other| other < index);
                (schema.field(at).clone(), batch.column(at).clone())
            }
            Source::Folder(folder) => {
                (Field::new(&folder.name, folder.dtype.clone(), true), folder.rows(n))
            }
        });
        let (fields, columns): (Vec<Field>, Vec<ArrayRef>) = columns.unzip();
        let options = RecordBatchOptions::new().with_row_count(Some(n));
        RecordBatch::try_new_with_options(Schema::new(fields).into(), columns, &options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders() {
        let columns = |path: &str| -> Vec<(String, Option<String>)> {
            folders(Path::new(path)).into_iter().map(|of| (of.name, of.value)).collect()
        };
        let some = |name: &str, value: &str| (name.to_string(), Some(value.to_string()));
        assert_eq!(
            columns("/data/year=2024/shop=a b/x=1.parquet"),
            [some("year", "2024"), some("shop", "a b")]
        );
        assert_eq!(columns("a%3Db=%2Fc%zz%4/x"), [some("a=b", "/c%zz%4")]);
        assert_eq!(
            columns("k=a=b/=c/k=__HIVE_DEFAULT_PARTITION__/x"),
            [some("k", "a=b"), ("k".into(), None)]
        );
        assert_eq!(columns("k=%ff/k=/x"), [some("k", "%ff"), some("k", "")]);
        assert!(columns("x=1.parquet").is_empty());
        assert_eq!(columns("a=1/b=2/../../c=3/x"), [some("c", "3")]);
        assert_eq!(
            ["12", "-007", "+1", "1.0", "", "-", "9223372036854775808"].map(integer),
            [Some(12), Some(-7), None, None, None, None, None]
        );
    }
}
