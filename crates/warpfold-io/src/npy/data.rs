//! [`Array`]: a `.npy` file opened, checked and ready to be read.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use memmap2::Mmap;
use warpfold_num::DType;
use warpfold_plan::shape::Layout;

use super::fields;
use super::gather::Transposed;
use super::header::Start;
use super::{Descr, Header, NpyError};
use crate::Endian;
use crate::mapped::map;
use crate::raw::{Extent, RawReader};
use crate::stamp::{ChangeMonitor, MonitoredFile, OpenFile, Stamp};
use crate::text::Column;
use crate::{Error, Mapped, Name, Order, Pieces, Problem, Produce, Whole};

/// Where the elements come from.
enum Data {
    Mapped(Mmap),
    Stream(Box<dyn Read + Send>),
}

/// A `.npy` file, opened and checked.
pub struct Array {
    header: Header,
    dtype: DType,
    endian: Endian,
    /// What a mapped file was when it was opened.
    stamp: Option<Stamp>,
    /// The file of a map.
    open_file: Option<Arc<OpenFile>>,
    data: Data,
}

impl Array {
    /// Opens a file: reads its header, checks its length, and maps it if it can be mapped. Of records a column is read as a stream.
    ///
    /// # Errors
    /// As [`Header::read`]; [`NpyError::Truncated`], [`NpyError::Trailing`]; [`Problem::OtherType`]; [`NpyError::NoField`] and its like.
    pub fn open(
        mut file: File,
        column: Option<&Column>,
        requested: Option<DType>,
    ) -> Result<Array, Problem> {
        let metadata = file.metadata()?;
        let stamp = Stamp::of(&metadata);
        let start = Start::read(&mut file)?;
        if column.is_some() || start.is_of_records() {
            let source = Box::new(MonitoredFile::after(file, stamp, start.bytes.len() as u64));
            return Array::stream(fields::behind(start, source, column)?, requested);
        }
        let header = Header::of(&start)?;
        let (dtype, endian) = resolve(&header, requested)?;
        if !metadata.is_file() {
            let data = Data::Stream(Box::new(file));
            return Ok(Array { header, dtype, endian, stamp, open_file: None, data });
        }
        let expected = header.len * dtype.size() as u64;
        let found = metadata.len().saturating_sub(header.data_start);
        if found < expected {
            return Err(NpyError::Truncated { expected, found }.into());
        }
        if found > expected {
            return Err(NpyError::Trailing { expected }.into());
        }
        let (open_file, data) = match map(&file, header.data_start, expected) {
            Some(map) => (OpenFile::new(file), Data::Mapped(map)),
            None => {
                (None, Data::Stream(Box::new(MonitoredFile::after(file, stamp, header.data_start))))
            }
        };
        Ok(Array { header, dtype, endian, stamp, open_file, data })
    }

    /// Reads the header of a stream.
    ///
    /// # Errors
    /// As [`Header::read`]; [`Problem::OtherType`].
    pub fn stream(
        mut source: Box<dyn Read + Send>,
        requested: Option<DType>,
    ) -> Result<Array, Problem> {
        let header = Header::read(&mut source)?;
        let (dtype, endian) = resolve(&header, requested)?;
        Ok(Array {
            header,
            dtype,
            endian,
            stamp: None,
            open_file: None,
            data: Data::Stream(source),
        })
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// What the file says of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Type, shape, order and way of reading, in a few words.
    pub fn describe(&self) -> String {
        let shape: Vec<_> = self.header.shape.iter().map(u64::to_string).collect();
        let order = if self.header.is_transposed() { "Fortran order" } else { "C order" };
        let way = match self.data {
            Data::Mapped(_) => "mapped",
            Data::Stream(_) => "read ahead",
        };
        format!("{} ({}), {order}, {way}", self.dtype, shape.join(", "))
    }

    /// All of it in memory: the file's own pages where its elements are native and aligned, and lie in the order asked for.
    ///
    /// # Errors
    /// As [`pieces`](Self::pieces) and [`Whole::copied`].
    pub(crate) fn whole(self, name: &Name, order: Order) -> Result<Whole, Error> {
        let shape = &self.header.shape;
        let turned = order == Order::C && self.header.is_transposed();
        let in_columns = self.header.fortran_order && !turned;
        let layout = if in_columns { Layout::fortran(shape) } else { Layout::c(shape) };
        let (layout, dtype) = (layout?, self.dtype);
        match self.data {
            Data::Mapped(map)
                if !turned && self.endian.is_native(dtype) && is_aligned(&map, dtype) =>
            {
                let monitor = ChangeMonitor::new(name.clone(), self.stamp).holding(self.open_file);
                Ok(Whole::mapped(name.clone(), dtype, layout, map, monitor))
            }
            data => {
                let pieces = Array { data, ..self }.pieces(name, order)?;
                Whole::copied(name.clone(), dtype, Some(layout), pieces)
            }
        }
    }

    /// Starts to read.
    ///
    /// # Errors
    /// [`Problem::NeedsMapping`].
    pub fn pieces(self, name: &Name, order: Order) -> Result<Pieces, Error> {
        let all = 0..self.header.len;
        self.range(name, order, all)
    }

    /// The elements of a stream, in the order in which they come, for who reads them without a second thread.
    ///
    /// # Errors
    /// [`Problem::NoRange`] of what is mapped.
    pub fn reader(self, name: &Name) -> Result<impl Produce + use<>, Error> {
        let Data::Stream(source) = self.data else {
            return Err(Error::input(name, Problem::NoRange));
        };
        let extent = Extent::Exactly(self.header.len * self.dtype.size() as u64);
        Ok(RawReader::new(name.clone(), source, self.dtype, self.endian, extent))
    }

    /// Whether a range of its elements can be read without all before it.
    pub(crate) fn has_ranges(&self) -> bool {
        // Nothing is read of one without elements, which is never mapped.
        self.header.len == 0 || !matches!(self.data, Data::Stream(_))
    }

    /// Starts to read a range of elements, in the order asked for.
    ///
    /// # Errors
    /// [`Problem::NeedsMapping`]; [`Problem::NoRange`] of what is not mapped, unless it is all.
    pub(crate) fn range(
        self,
        name: &Name,
        order: Order,
        range: Range<u64>,
    ) -> Result<Pieces, Error> {
        let Array { header, dtype, endian, stamp, open_file, data } = self;
        let monitor = ChangeMonitor::new(name.clone(), stamp).holding(open_file);
        let transposed = (order == Order::C && header.is_transposed() && header.len > 0)
            .then(|| Transposed::new(&header.shape));
        let bytes = header.len * dtype.size() as u64;
        let size = dtype.size() as u64;
        // Elements of a map lie in memory, so their bytes fit an address.
        let (at, end) = ((range.start * size) as usize, (range.end * size) as usize);
        match (data, transposed) {
            (Data::Stream(_), _) if range != (0..header.len) => {
                Err(Error::input(name, Problem::NoRange))
            }
            (Data::Stream(_), Some(_)) => Err(Error::input(name, Problem::NeedsMapping)),
            (data @ Data::Stream(_), None) => {
                let reader =
                    Array { header, dtype, endian, stamp, open_file: None, data }.reader(name)?;
                Ok(Pieces::produce(reader, Some(bytes)))
            }
            (Data::Mapped(map), None) if endian.is_native(dtype) && is_aligned(&map, dtype) => {
                Ok(Pieces::Mapped(Mapped::new(map, at..end, monitor).read_ahead(header.data_start)))
            }
            (Data::Mapped(map), transposed) => {
                let mapped = Mapped::new(map, at..end, monitor);
                // One that is transposed is read here and there.
                let mapped = match transposed {
                    None => mapped.read_ahead(header.data_start),
                    Some(_) => mapped,
                };
                let copy = MappedCopy { mapped, dtype, endian, transposed };
                Ok(Pieces::produce(copy, Some((end - at) as u64)))
            }
        }
    }
}

/// Whether the elements can be folded where they lie. Bools cannot: they are checked, and must not change after that.
fn is_aligned(map: &Mmap, dtype: DType) -> bool {
    dtype != DType::Bool && map.as_ptr().addr().is_multiple_of(dtype.size().min(8))
}

fn resolve(header: &Header, requested: Option<DType>) -> Result<(DType, Endian), Problem> {
    match (header.descr, requested) {
        (Descr::Known(found, _), Some(requested)) if found != requested => {
            Err(Problem::OtherType { found, requested })
        }
        (Descr::Known(dtype, endian), _) => Ok((dtype, endian)),
        (Descr::TwoBytes, Some(DType::BF16)) => Ok((DType::BF16, Endian::Little)),
        (Descr::TwoBytes, _) => Err(NpyError::MaybeBf16.into()),
    }
}

/// Copies a mapped array that cannot be folded where it lies: of the other byte order, misaligned, of bools, or transposed.
struct MappedCopy {
    mapped: Mapped,
    dtype: DType,
    endian: Endian,
    transposed: Option<Transposed>,
}

impl Produce for MappedCopy {
    fn fill(&mut self, piece: &mut [u8]) -> Result<usize, Error> {
        let some = self.mapped.take(piece.len());
        let (start, filled, map) = (some.start, some.len(), self.mapped.bytes());
        let piece = &mut piece[..filled];
        let size = self.dtype.size();
        match &self.transposed {
            Some(transposed) => transposed.copy(size, map, (start / size) as u64, piece),
            None => piece.copy_from_slice(&map[some]),
        }
        self.endian.make_native(piece, self.dtype);
        if self.mapped.is_over() {
            self.mapped.check_unchanged()?;
        }
        Ok(filled)
    }
}
