//! [`Mapped`]: reductions of expressions of several columns, row by row, batch after batch.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use warpfold_engine::HostArray;
use warpfold_engine::map::{Folded, Map};
use warpfold_num::DType;

use crate::fold::{look_up, values_type};
use crate::form::number_type;
use crate::{Error, Result};

/// Reductions of expressions of columns, of the rows in which all of them have a value; indices count all rows.
#[derive(Debug)]
pub struct Mapped {
    map: Map,
    /// The same of rows of which some lack a value.
    of_present: Map,
    columns: Vec<DataType>,
    folded: Folded,
    row: u64,
    values: u64,
}

impl Mapped {
    /// A fold of nothing, by a map of inputs of the types that these columns have.
    ///
    /// # Errors
    /// [`Error::Reduction`] for a map of other inputs.
    pub fn new(map: Map, columns: &[DataType]) -> Result<Mapped> {
        let columns = inputs_of(&map, columns)?;
        let (of_present, folded) = (map.of_present()?, map.empty());
        Ok(Mapped { map, of_present, columns, folded, row: 0, values: 0 })
    }

    /// Says which row of the whole the next arrays begin with.
    #[must_use]
    pub fn starting_at(mut self, row: u64) -> Mapped {
        self.row = row;
        self
    }

    /// Rows taken in so far, and those before the first.
    pub fn rows(&self) -> u64 {
        self.row
    }

    /// Rows taken in so far in which all columns have a value.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// Takes in the next arrays, one of each column.
    ///
    /// # Errors
    /// [`Error::Mixed`] for an array of another type, [`Error::Reduction`] for arrays of several lengths, and what the map says of values.
    pub fn push(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        let batch = Batch::of(arrays, &self.columns)?;
        let mut inputs: Vec<HostArray<'_>> = batch.columns.iter().map(Numbers::array).collect();
        let valid = batch.valid();
        let folded = match &valid {
            None => self.map.fold(&inputs, self.row)?,
            Some(valid) => {
                inputs.push(HostArray::of(&valid[..]));
                self.of_present.fold(&inputs, self.row)?
            }
        };
        self.folded.merge(&folded);
        self.row += batch.rows as u64;
        self.values += batch.values() as u64;
        Ok(())
    }

    /// Takes in what comes after it.
    pub fn merge(&mut self, next: &Mapped) {
        self.folded.merge(&next.folded);
        self.row = self.row.max(next.row);
        self.values += next.values;
    }

    /// The map, which makes results of what was folded.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// What was folded.
    pub fn folded(&self) -> &Folded {
        &self.folded
    }
}

/// The types of columns whose values a map takes; a dictionary is what it stands for.
pub(crate) fn inputs_of(map: &Map, columns: &[DataType]) -> Result<Vec<DataType>> {
    let columns: Vec<DataType> = columns.iter().map(|of| values_type(of).clone()).collect();
    let wanted = map.program().inputs();
    let found: Vec<Option<DType>> = columns.iter().map(number_type).collect();
    if !found.iter().copied().eq(wanted.iter().copied().map(Some)) {
        return Err(refused(format!(
            "the columns are of {columns:?}, and the map is for {wanted:?}"
        )));
    }
    Ok(columns)
}

fn refused(obstacle: String) -> Error {
    let remedy = "give the columns that it was made for, an array of each".into();
    warpfold_num::Error::Map { requested: "map".into(), obstacle, remedy }.into()
}

/// Arrays of some rows as inputs of a map.
pub(crate) struct Batch {
    pub(crate) columns: Vec<Numbers>,
    pub(crate) rows: usize,
    /// The rows in which some column has no value, if there are any.
    nulls: Option<NullBuffer>,
}

impl Batch {
    /// Of arrays of these types, which hold numbers.
    pub(crate) fn of(arrays: &[ArrayRef], types: &[DataType]) -> Result<Batch> {
        let rows = arrays.first().map_or(0, |array| array.len());
        let lengths: Vec<usize> = arrays.iter().map(|array| array.len()).collect();
        if lengths.len() != types.len() || lengths.iter().any(|&length| length != rows) {
            let wanted = types.len();
            return Err(refused(format!(
                "{wanted} arrays are read, and these are of {lengths:?} rows"
            )));
        }
        let (mut columns, mut nulls) = (Vec::with_capacity(arrays.len()), None);
        for (array, before) in arrays.iter().zip(types) {
            let array = match array.data_type() {
                DataType::Dictionary(..) => look_up(array)?,
                _ => array.clone(),
            };
            if array.data_type() != before {
                let (found, before) = (array.data_type().clone(), before.clone());
                return Err(Error::Mixed { found, before });
            }
            nulls = NullBuffer::union(nulls.as_ref(), array.nulls());
            columns.push(Numbers::of(array));
        }
        Ok(Batch { columns, rows, nulls: nulls.filter(|nulls| nulls.null_count() > 0) })
    }

    /// For each row, whether all columns have a value; `None` where all rows have.
    pub(crate) fn valid(&self) -> Option<Vec<bool>> {
        self.nulls.as_ref().map(|nulls| nulls.iter().collect())
    }

    /// Rows in which all columns have a value.
    pub(crate) fn values(&self) -> usize {
        self.rows - self.nulls.as_ref().map_or(0, NullBuffer::null_count)
    }
}

/// An array of numbers or booleans.
pub(crate) enum Numbers {
    Array(ArrayRef, DType),
    /// One a byte, as maps read them.
    Booleans(Vec<bool>),
}

impl Numbers {
    fn of(array: ArrayRef) -> Numbers {
        match number_type(array.data_type()) {
            Some(DType::Bool) => Numbers::Booleans(array.as_boolean().values().iter().collect()),
            Some(dtype) => Numbers::Array(array, dtype),
            None => unreachable!("no map takes {}", array.data_type()),
        }
    }

    /// What lies in the slots of nulls is there, and means nothing.
    pub(crate) fn array(&self) -> HostArray<'_> {
        macro_rules! values {
            ($array:expr, $dtype:expr, $($name:ident: $arrow:ident),+) => {
                match $dtype {
                    $(DType::$name => {
                        let array = $array.as_primitive::<arrow_array::types::$arrow>();
                        HostArray::of(&array.values()[..])
                    })+
                    other => unreachable!("no column is of {other}"),
                }
            };
        }
        match self {
            Numbers::Booleans(all) => HostArray::of(&all[..]),
            Numbers::Array(array, dtype) => values!(
                array, dtype, I8: Int8Type, I16: Int16Type, I32: Int32Type, I64: Int64Type, U8: UInt8Type, U16: UInt16Type, U32: UInt32Type,
                U64: UInt64Type, F16: Float16Type, F32: Float32Type, F64: Float64Type
            ),
        }
    }
}
