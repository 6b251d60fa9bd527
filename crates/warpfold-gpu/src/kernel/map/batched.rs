//! [`AnyMapBatched`]: reductions of an expression of rows, of segments, of columns or of groups, a result for each.

use warpfold_engine::Columns;
use warpfold_engine::map::{Each, Map};

use super::part_launches::MapBatchedLaunch;
use super::parted::Parted;
use super::parts::{MapGroups, MapParts};
use super::reduce::AnyMap;
use crate::kernel::array::{AnyBuffer, AnyView};
use crate::kernel::executor::Executor;
use crate::partial::{Finish, Output};
use crate::{Column, Error, Op, Result, with_element};

/// An array of a map of parts, with one value for each element, for each index in a part (a column, of rows), or for each part (a row).
#[derive(Clone, Copy)]
pub struct AnyOperand<'a> {
    /// The array.
    pub view: AnyView<'a>,
    /// What it has a value for.
    pub each: Each,
}

/// The results of one reduction of a map, a number for each part, or two of minmax; indices count within parts.
///
/// # Errors
/// As [`AnyMapBatched::columns`].
pub fn columns(
    machine: &dyn Executor,
    map: &Map,
    op: Op,
    inputs: &[AnyOperand<'_>],
    parts: &MapParts<'_>,
    finish: Finish,
) -> Result<Columns> {
    Parted::new(machine, map, inputs, parts)?.columns(op, finish)
}

/// The result of each part, reduced as a whole array is, or why it has none: for who has something to put instead of results that do not exist.
///
/// # Errors
/// As [`AnyMapBatched::columns`], for arrays and parts that do not fit.
pub fn outputs(
    machine: &dyn Executor,
    map: &Map,
    inputs: &[AnyOperand<'_>],
    parts: &MapParts<'_>,
    finish: Finish,
) -> Result<Vec<Result<Output>>> {
    Parted::new(machine, map, inputs, parts)?.all(finish)
}

/// A reduction of an expression of parts, being set up: say which inputs have one value for each column or row, then call for a reduction.
#[derive(Clone)]
#[must_use = "call for a reduction"]
pub struct AnyMapBatched<'a> {
    map: AnyMap<'a>,
    parts: MapParts<'a>,
    each: Vec<Each>,
    /// A name that is no input's.
    unknown: Option<String>,
}

impl<'a> AnyMap<'a> {
    /// The same of rows of so many elements each, one after another: a result for each.
    ///
    /// ```
    /// # #[cfg(feature = "simt")] {
    /// use warpfold::Column;
    ///
    /// let device = warpfold::simt::Device::new();
    /// let (x, w) = (device.upload(&[1.0f32, 5.0, 2.0, 8.0])?, device.upload(&[2.0f32, 0.5])?);
    /// let m = device.upload(&[5.0f32, 8.0])?;
    /// let inputs = [("x", &x), ("w", &w), ("m", &m)];
    /// let squares = device.map("x * x", inputs).rows(2).per_column("w").per_row("m");
    /// assert_eq!(squares.mean()?, Column::F32(vec![13.0, 34.0]));
    /// let weighted = device.map("(x * w)**2", inputs).rows(2).per_column("w").per_row("m");
    /// assert_eq!(weighted.sum()?, Column::F32(vec![10.25, 32.0]));
    /// let shifted = device.map("exp(x - m)", inputs).rows(2).per_column("w").per_row("m");
    /// assert_eq!(shifted.max()?, Column::F32(vec![1.0, 1.0]));
    /// # }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn rows(self, length: u64) -> AnyMapBatched<'a> {
        self.parts(MapParts::rows(length))
    }

    /// The same of segments, by one more offset than segments, `u32` or `u64`.
    ///
    /// ```
    /// # #[cfg(feature = "simt")] {
    /// use warpfold::Column;
    ///
    /// let device = warpfold::simt::Device::new();
    /// let x = device.upload(&[1.0f32, -5.0, 2.0, 8.0])?;
    /// let offsets = device.upload(&[0u32, 3, 4])?;
    /// assert_eq!(device.map("abs(x)", [("x", &x)]).segments(&offsets)?.sum()?, Column::F32(vec![8.0, 8.0]));
    /// # }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MapParts::segments`].
    pub fn segments(self, offsets: impl Into<AnyView<'a>>) -> Result<AnyMapBatched<'a>> {
        Ok(self.parts(MapParts::segments(offsets.into())?))
    }

    /// The same of some axes of arrays of a shape, in C order.
    ///
    /// ```
    /// # #[cfg(feature = "simt")] {
    /// use warpfold::Column;
    ///
    /// let device = warpfold::simt::Device::new();
    /// let x = device.upload(&[1.0f32, -5.0, 2.0, 8.0])?;
    /// assert_eq!(device.map("x * x", [("x", &x)]).axes(&[2, 2], &[0])?.sum()?, Column::F32(vec![5.0, 89.0]));
    /// # }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`MapParts::axes`].
    pub fn axes(self, shape: &[u64], axes: &[i64]) -> Result<AnyMapBatched<'a>> {
        Ok(self.parts(MapParts::axes(shape, axes)?))
    }

    /// The same of the elements of each key.
    ///
    /// ```
    /// # #[cfg(feature = "simt")] {
    /// use warpfold::Column;
    /// use warpfold::kernel::MapGroups;
    ///
    /// let device = warpfold::simt::Device::new();
    /// let x = device.upload(&[1.0f32, -5.0, 2.0, 8.0])?;
    /// let groups = MapGroups::by(&device, &device.upload(&[7u8, 3, 7, 3])?)?;
    /// assert_eq!(device.map("abs(x)", [("x", &x)]).groups(&groups).sum()?, Column::F32(vec![13.0, 3.0]));
    /// assert_eq!(groups.keys()?, Some(Column::U8(vec![3, 7])));
    /// # }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn groups(self, groups: &'a MapGroups) -> AnyMapBatched<'a> {
        self.parts(groups.parts())
    }

    /// The same of parts.
    pub fn parts(self, parts: MapParts<'a>) -> AnyMapBatched<'a> {
        let each = vec![Each::Element; self.inputs.len()];
        AnyMapBatched { map: self, parts, each, unknown: None }
    }
}

impl<'a> AnyMapBatched<'a> {
    fn each(mut self, name: &str, each: Each) -> Self {
        match self.map.inputs.iter().position(|(known, _)| known == name) {
            Some(at) => self.each[at] = each,
            None => self.unknown = Some(name.into()),
        }
        self
    }

    /// An input has one value for each column, the same for all rows; of parts of one length, for each index in them.
    pub fn per_column(self, name: &str) -> Self {
        self.each(name, Each::Column)
    }

    /// An input has one value for each row, or other part.
    pub fn per_row(self, name: &str) -> Self {
        self.each(name, Each::Row)
    }

    fn parted<'m>(&self, map: &'m Map) -> Result<Parted<'m>>
    where
        'a: 'm,
    {
        if let Some(name) = &self.unknown {
            return Err(Error::Map {
                requested: "map".into(),
                obstacle: format!("no input is called {name}"),
                remedy: "name one that was given".into(),
            });
        }
        let inputs = self.map.inputs.iter().zip(&self.each);
        let inputs: Vec<AnyOperand<'a>> =
            inputs.map(|((_, view), &each)| AnyOperand { view: *view, each }).collect();
        Parted::new(self.map.machine, map, &inputs, &self.parts)
    }

    /// The launch of the kernel of parts, not run yet; `None` where each part is reduced as a whole array.
    ///
    /// # Errors
    /// As [`columns`](Self::columns), before anything runs.
    pub fn launch(&self, op: Op, ddof: u64) -> Result<Option<MapBatchedLaunch<'a>>> {
        let map = self.map.map(op)?;
        Ok(self.parted(&map)?.launch_of(op, ddof)?.map(MapBatchedLaunch::of_arrays))
    }

    /// The results of a reduction, left in the machine's memory.
    ///
    /// # Errors
    /// As [`columns`](Self::columns); [`Error::Unsupported`] for minmax, whose results are two of each part.
    pub fn on_device(&self, op: Op, ddof: u64) -> Result<AnyBuffer> {
        let map = self.map.map(op)?;
        let parted = self.parted(&map)?;
        if let Some(job) = parted.job(op, ddof)? {
            return parted.result_buffer(job, ddof);
        }
        let columns = parted.by_one(op, Finish { ddof, ..Finish::default() })?;
        let [(_, column)] = &columns[..] else {
            return Err(Error::Unsupported {
                option: "leaving the results on the device",
                op,
                dtype: map.dtype(),
                why: "they are two for each part; ask for min and for max",
            });
        };
        let dtype = column.dtype().unwrap_or_else(|| unreachable!("results are numbers"));
        with_element!(dtype, T => {
            let elements: &[T] = column.slice().unwrap_or_default();
            AnyBuffer::upload(self.map.machine, dtype, bytemuck::cast_slice(elements))
        })
    }

    /// The results of a reduction, a number for each part, or two of minmax; indices count from the start of each.
    ///
    /// # Errors
    /// Those of [`AnyMap::output`], as [`Error::Output`] with the first part that has no result; [`Error::Map`] for inputs that have not one value for
    /// each element, column or row; [`Error::Segments`] where rows are not the whole array, or offsets are none; [`Error::Keys`] where there is not one
    /// key for each element.
    pub fn columns(&self, op: Op, finish: Finish) -> Result<Columns> {
        let map = self.map.map(op)?;
        self.parted(&map)?.columns(op, finish)
    }

    fn column(&self, op: Op, ddof: u64) -> Result<Column> {
        let columns = self.columns(op, Finish { ddof, ..Finish::default() })?;
        let (_, column) =
            columns.into_iter().next().unwrap_or_else(|| unreachable!("{op} has one"));
        Ok(column)
    }

    /// The sum of each part; a product at the top is not rounded before.
    ///
    /// # Errors
    /// As [`columns`](Self::columns).
    pub fn sum(&self) -> Result<Column> {
        self.column(Op::Sum, 0)
    }

    /// The mean of each part.
    ///
    /// # Errors
    /// As [`columns`](Self::columns).
    pub fn mean(&self) -> Result<Column> {
        self.column(Op::Mean, 0)
    }

    /// The variance of each part.
    ///
    /// # Errors
    /// As [`columns`](Self::columns).
    pub fn var(&self, ddof: u64) -> Result<Column> {
        self.column(Op::Var, ddof)
    }

    /// The greatest value of each part.
    ///
    /// # Errors
    /// As [`columns`](Self::columns).
    pub fn max(&self) -> Result<Column> {
        self.column(Op::Max, 0)
    }
}
