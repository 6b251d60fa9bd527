//! [`Results`]: columns of results as a Parquet or an Arrow file, each in its own type.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, BooleanArray, NullArray, PrimitiveArray, RecordBatch, StringArray, make_array,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use warpfold_num::{Column, Value};

use crate::cell::Cell;

/// What results are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Parquet, compressed by snappy.
    Parquet,
    /// An Arrow file (Feather), not compressed.
    Arrow,
}

/// Columns of results, all of one length.
#[derive(Debug, Default)]
pub struct Results {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Results {
    /// Adds numbers. Complex ones are two columns, `NAME_re` and `NAME_im`; bfloat16 is float32, which holds it.
    ///
    /// # Errors
    /// The type that files have none for.
    pub fn numbers(&mut self, name: &str, column: &Column) -> Result<(), String> {
        macro_rules! primitive {
            ($($variant:ident $ty:ident),+) => {
                match column {
                    $(Column::$variant(values) => {
                        let values = values.iter().copied();
                        self.push(name, Arc::new(PrimitiveArray::<$ty>::from_iter_values(values)));
                    })+
                    Column::Bool(values) => {
                        self.push(name, Arc::new(BooleanArray::from(values.clone())));
                    }
                    Column::BF16(values) => {
                        let values = values.iter().map(|value| value.to_f32());
                        self.push(name, Arc::new(PrimitiveArray::<Float32Type>::from_iter_values(values)));
                    }
                    Column::Complex64(values) => {
                        let part = |part: fn(&warpfold_num::Complex<f32>) -> f32| {
                            PrimitiveArray::<Float32Type>::from_iter_values(values.iter().map(part))
                        };
                        self.push(&format!("{name}_re"), Arc::new(part(|value| value.re)));
                        self.push(&format!("{name}_im"), Arc::new(part(|value| value.im)));
                    }
                    Column::Complex128(values) => {
                        let part = |part: fn(&warpfold_num::Complex<f64>) -> f64| {
                            PrimitiveArray::<Float64Type>::from_iter_values(values.iter().map(part))
                        };
                        self.push(&format!("{name}_re"), Arc::new(part(|value| value.re)));
                        self.push(&format!("{name}_im"), Arc::new(part(|value| value.im)));
                    }
                    other => return Err(match other.is_empty() {
                        true => "no values".into(),
                        false => format!("{:?}", other.get(0)),
                    }),
                }
            };
        }
        primitive!(
            I8 Int8Type, I16 Int16Type, I32 Int32Type, I64 Int64Type, U8 UInt8Type, U16 UInt16Type,
            U32 UInt32Type, U64 UInt64Type, F16 Float16Type, F32 Float32Type, F64 Float64Type
        );
        Ok(())
    }

    /// Adds results of one type, some of which may be missing.
    ///
    /// # Errors
    /// What the types are, if there are several, or the one that files have none for.
    pub fn cells(&mut self, name: &str, cells: &[Option<Cell>]) -> Result<(), String> {
        let Some(first) = cells.iter().flatten().next() else {
            self.push(name, Arc::new(NullArray::new(cells.len())));
            return Ok(());
        };
        let mixed = |other: &Cell| format!("{first} and {other} are of several types");
        match first {
            Cell::Value(_) => {
                let mut values: Vec<Value> = Vec::new();
                for cell in cells.iter().flatten() {
                    match cell {
                        Cell::Value(value) => values.push(*value),
                        other => return Err(mixed(other)),
                    }
                }
                let kind = std::mem::discriminant(&values[0]);
                if let Some(other) = values.iter().find(|v| std::mem::discriminant(*v) != kind) {
                    return Err(mixed(&Cell::Value(*other)));
                }
                self.numbers(name, &spread(values, cells))?;
                let missing: arrow_buffer::NullBuffer =
                    cells.iter().map(Option::is_some).collect::<Vec<bool>>().into();
                if missing.null_count() > 0 {
                    // One column, or two of complex numbers.
                    let columns = if matches!(first, Cell::Value(value) if is_complex(value)) {
                        2
                    } else {
                        1
                    };
                    let from = self.arrays.len() - columns;
                    for array in &mut self.arrays[from..] {
                        let data = array.to_data().into_builder().nulls(Some(missing.clone()));
                        *array = make_array(data.build().map_err(|error| error.to_string())?);
                    }
                }
                Ok(())
            }
            Cell::Decimal(_, scale) => {
                let one = |cell: &Option<Cell>| match cell {
                    None => Ok(None),
                    Some(Cell::Decimal(value, other)) if other == scale => Ok(Some(*value)),
                    Some(other) => Err(mixed(other)),
                };
                let values = cells.iter().map(one).collect::<Result<Vec<_>, _>>()?;
                let array = PrimitiveArray::<Decimal128Type>::from(values);
                let array = array.with_precision_and_scale(38, *scale);
                self.push(name, Arc::new(array.map_err(|error| error.to_string())?));
                Ok(())
            }
            Cell::Time(_, dtype) => {
                let one = |cell: &Option<Cell>| match cell {
                    None => Ok(None),
                    Some(Cell::Time(ticks, other)) if other == dtype => Ok(Some(*ticks)),
                    Some(other) => Err(mixed(other)),
                };
                let ticks = cells.iter().map(one).collect::<Result<Vec<_>, _>>()?;
                self.push(name, times(ticks, dtype)?);
                Ok(())
            }
        }
    }

    /// The names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name().as_str())
    }

    /// Adds strings.
    pub fn words<'a>(&mut self, name: &str, words: impl Iterator<Item = Option<&'a str>>) {
        self.push(name, Arc::new(words.collect::<StringArray>()));
    }

    fn push(&mut self, name: &str, array: ArrayRef) {
        self.fields.push(Field::new(name, array.data_type().clone(), true));
        self.arrays.push(array);
    }

    /// Writes the file.
    ///
    /// # Errors
    /// What writing says.
    pub fn write(self, written: Written, out: &mut (impl Write + Send)) -> io::Result<()> {
        let schema = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new(schema.clone(), self.arrays).map_err(io::Error::other)?;
        match written {
            Written::Parquet => {
                let properties =
                    WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let mut writer = ArrowWriter::try_new(&mut *out, schema, Some(properties))
                    .map_err(of_parquet)?;
                writer.write(&batch).and_then(|()| writer.close().map(drop)).map_err(of_parquet)?;
            }
            Written::Arrow => {
                let mut writer = FileWriter::try_new(&mut *out, &schema).map_err(of_arrow)?;
                writer.write(&batch).and_then(|()| writer.finish()).map_err(of_arrow)?;
            }
        }
        out.flush()
    }
}

fn is_complex(value: &Value) -> bool {
    use Value::{Complex64, Complex128, ComplexBF16, ComplexF16};
    matches!(value, Complex64(_) | Complex128(_) | ComplexF16(_) | ComplexBF16(_))
}

/// Values in the rows where there are some, and the first one elsewhere, where it is not looked at.
fn spread(values: Vec<Value>, cells: &[Option<Cell>]) -> Column {
    let (first, mut rest) = (values[0], values.iter());
    let rows = cells.iter().map(|cell| match cell {
        Some(_) => *rest.next().expect("a value for each cell that has one"),
        None => first,
    });
    Column::of_values(rows.collect())
}

fn times(ticks: Vec<Option<i64>>, dtype: &DataType) -> Result<ArrayRef, String> {
    let array: ArrayRef = match dtype.primitive_width() {
        Some(4) => {
            let narrow = |ticks: Option<i64>| ticks.map(i32::try_from).transpose();
            let ticks: Result<Vec<Option<i32>>, _> = ticks.into_iter().map(narrow).collect();
            Arc::new(PrimitiveArray::<Int32Type>::from(ticks.map_err(|error| error.to_string())?))
        }
        _ => Arc::new(PrimitiveArray::<Int64Type>::from(ticks)),
    };
    let data = array.to_data().into_builder().data_type(dtype.clone()).build();
    data.map(make_array).map_err(|error| error.to_string())
}

/// The system's own error where there is one: a full disk is told from others by it.
fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
