//! [`MappedGroups`]: reductions of expressions of several columns for each key, of rows that are kept until all are there.

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use warpfold_engine::map::{Map, Operand};
use warpfold_engine::{HostArray, Indices, group_dense};
use warpfold_exact::partial::Finish;
use warpfold_num::{Column, DType, Empty, Error as Reduction, Value, with_element};

use super::keys::{Keys, Store};
use super::{Named, append, elements, of_group, shown};
use crate::cell::Cell;
use crate::fold::{look_up, values_type};
use crate::mapped::{Batch, inputs_of};
use crate::{Error, Result};

/// Reductions of expressions of columns for each key of another, or each combination of keys of several.
///
/// It keeps all rows, the columns that are named and 5 bytes, until they are reduced. Rows in which a column of the expressions has no value are left out,
/// and so is a key that has no other rows; none is a key like the others.
#[derive(Debug)]
pub struct MappedGroups {
    map: Map,
    key_types: Vec<DataType>,
    types: Vec<DataType>,
    /// The values of each column, as words and how many bytes of them count.
    columns: Vec<(Vec<u64>, usize)>,
    /// For each row, whether all columns have a value.
    valid: Vec<bool>,
    keys: Store,
}

/// The results of groups, keys ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct MappedResults {
    /// The keys, a column of each, as long as those of the results.
    pub keys: Vec<Keys>,
    /// By the name of each reduction its results, by their names; `None` where one has no value.
    pub columns: Vec<(String, Named)>,
}

impl MappedGroups {
    /// Groups of nothing, by a map of inputs of the types that these columns have.
    ///
    /// # Errors
    /// [`Error::Key`]; [`Error::Reduction`] for a map of other inputs.
    pub fn new(map: Map, columns: &[DataType], keys: &[DataType]) -> Result<MappedGroups> {
        let types = inputs_of(&map, columns)?;
        let key_types: Vec<DataType> = keys.iter().map(|of| values_type(of).clone()).collect();
        Ok(MappedGroups {
            map,
            columns: vec![(Vec::new(), 0); types.len()],
            types,
            valid: Vec::new(),
            keys: Store::tuples(&key_types)?,
            key_types,
        })
    }

    /// Takes in the next arrays of keys and of columns.
    ///
    /// # Errors
    /// [`Error::Mixed`] for an array of another type, [`Error::Lengths`] and [`Error::Reduction`] for arrays of several lengths.
    pub fn push(&mut self, keys: &[ArrayRef], columns: &[ArrayRef]) -> Result<()> {
        let plain = |array: &ArrayRef| match array.data_type() {
            DataType::Dictionary(..) => look_up(array),
            _ => Ok(array.clone()),
        };
        let keys: Vec<ArrayRef> = keys.iter().map(plain).collect::<Result<_>>()?;
        for (array, before) in keys.iter().zip(&self.key_types) {
            if array.data_type() != before {
                let (found, before) = (array.data_type().clone(), before.clone());
                return Err(Error::Mixed { found, before });
            }
        }
        let batch = Batch::of(columns, &self.types)?;
        if let Some(keys) = keys.iter().find(|keys| keys.len() != batch.rows) {
            return Err(Error::Lengths { keys: keys.len(), values: batch.rows });
        }
        for (all, column) in self.columns.iter_mut().zip(&batch.columns) {
            let array = column.array();
            with_element!(array.dtype(), T => append(all, array.slice::<T>().unwrap_or_default()));
        }
        match batch.valid() {
            Some(valid) => self.valid.extend(valid),
            None => self.valid.resize(self.valid.len() + batch.rows, true),
        }
        if batch.rows > 0 {
            self.keys.append(&keys, &[(0, batch.rows)]);
        }
        Ok(())
    }

    /// Takes in what comes after it.
    ///
    /// # Errors
    /// [`Error::Mixed`] if it is of other types.
    pub fn merge(&mut self, next: MappedGroups) -> Result<()> {
        if self.keys.merge(next.keys).is_none() {
            let first = |types: Vec<DataType>| types.into_iter().next().unwrap_or(DataType::Null);
            let (found, before) = (first(next.key_types), first(self.key_types.clone()));
            return Err(Error::Mixed { found, before });
        }
        for (all, (words, bytes)) in self.columns.iter_mut().zip(next.columns) {
            append(all, &bytemuck::cast_slice::<u64, u8>(&words)[..bytes]);
        }
        self.valid.extend(next.valid);
        Ok(())
    }

    /// Rows taken in so far.
    pub fn rows(&self) -> u64 {
        self.valid.len() as u64
    }

    /// Rows taken in so far in which all columns have a value.
    pub fn values(&self) -> u64 {
        self.valid.iter().filter(|&&valid| valid).count() as u64
    }

    /// The results, keys ascending; indices count all rows.
    ///
    /// # Errors
    /// As the contract has it for the reductions, with the key of the first group that has no result, unless `empty` says what stands for that; what the map
    /// says of values.
    pub fn finish(mut self, finish: Finish, empty: Empty) -> Result<MappedResults> {
        let mut numbers = Vec::new();
        self.keys.take_ranks(&mut numbers);
        let all = numbers.iter().max().map_or(0, |&most| most + 1);
        let mut order: Vec<u64> = (0..all).collect();
        let mut keys = self.keys.sorted(&self.key_types, &mut order);
        let mut has_rows = vec![false; order.len()];
        numbers.iter().zip(&self.valid).for_each(|(&k, &valid)| has_rows[k as usize] |= valid);
        let is_kept: Vec<bool> = order.iter().map(|&number| has_rows[number as usize]).collect();
        keys.iter_mut().for_each(|keys| keys.retain(&is_kept));
        // Groups are numbered as their keys ascend; what has no rows has no number.
        let mut places: Vec<Option<u64>> = vec![None; order.len()];
        let kept = order.into_iter().filter(|&number| has_rows[number as usize]);
        kept.zip(0..).for_each(|(number, place)| places[number as usize] = Some(place));
        let rows = self.kept_rows(&numbers, &places);
        numbers = numbers.into_iter().filter_map(|number| places[number as usize]).collect();
        let groups = keys.first().map_or(0, Keys::len) as u64;
        let columns = self.columns(&numbers, groups, rows.as_deref(), finish, empty);
        let columns = columns.map_err(|error| of_group(error.into(), &keys))?;
        Ok(MappedResults { keys, columns })
    }

    /// The rows among all that belong to a group, where others do not: these leave the columns.
    fn kept_rows(&mut self, numbers: &[u64], places: &[Option<u64>]) -> Option<Vec<u64>> {
        if !places.contains(&None) {
            return None;
        }
        let is_kept = |number: &u64| places[*number as usize].is_some();
        let rows = (0..).zip(numbers).filter(|(_, number)| is_kept(number)).map(|(row, _)| row);
        let rows: Vec<u64> = rows.collect();
        for ((words, bytes), dtype) in self.columns.iter_mut().zip(self.map.program().inputs()) {
            let width = dtype.size();
            let all: &mut [u8] = bytemuck::cast_slice_mut(words);
            for (to, &from) in rows.iter().enumerate() {
                let from = from as usize * width;
                all.copy_within(from..from + width, to * width);
            }
            *bytes = rows.len() * width;
        }
        self.valid = rows.iter().map(|&row| self.valid[row as usize]).collect();
        Some(rows)
    }

    /// The results of groups of numbered rows, which may be some of all.
    fn columns(
        &self,
        numbers: &[u64],
        groups: u64,
        rows: Option<&[u64]>,
        finish: Finish,
        empty: Empty,
    ) -> Result<Vec<(String, Named)>, Reduction> {
        let columns = self.columns.iter().zip(self.map.program().inputs());
        let arrays = columns.map(|(column, &dtype)| array(column, dtype).into());
        let mut inputs: Vec<Operand<'_>> = arrays.collect();
        let of_present = self.valid.contains(&false).then(|| self.map.of_present()).transpose()?;
        if of_present.is_some() {
            inputs.push(HostArray::of(&self.valid[..]).into());
        }
        let map = of_present.as_ref().unwrap_or(&self.map);
        let parts = group_dense(numbers, groups, numbers.len(), map.policy())?;
        let found = map.columns_and_gaps(&inputs, &parts, Indices::OfArray, empty, finish)?;
        // Indices count all rows.
        let in_files = |cell: Option<Cell>| match (cell, rows) {
            (Some(Cell::Value(Value::U64(row))), Some(rows)) => {
                Some(Cell::Value(rows[row as usize].into()))
            }
            (cell, _) => cell,
        };
        let cells = |name: &str, column: &Column, gaps: &[u64]| {
            let cells = shown(column, gaps);
            match name {
                "argmin" | "argmax" => cells.into_iter().map(in_files).collect(),
                _ => cells,
            }
        };
        let named = found.into_iter().map(|of| {
            let columns = of.columns.iter();
            let columns = columns.map(|(name, column)| (*name, cells(name, column, &of.gaps)));
            (of.name, columns.collect())
        });
        Ok(named.collect())
    }
}

/// The values that words hold so many bytes of.
fn array((words, bytes): &(Vec<u64>, usize), dtype: DType) -> HostArray<'_> {
    let bytes = &bytemuck::cast_slice::<u64, u8>(words)[..*bytes];
    with_element!(dtype, T => HostArray::of(elements::<T>(bytes)))
}
