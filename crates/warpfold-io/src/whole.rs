//! [`Whole`]: an input that lies in memory as a whole, with its shape.

use memmap2::Mmap;
use warpfold_num::{DType, Element};
use warpfold_plan::HostArray;
use warpfold_plan::shape::Layout;

use crate::stamp::ChangeMonitor;
use crate::text::MissingRuns;
use crate::{Error, memory};
use crate::{Name, Problem, array, elements};

/// An array in memory: a file's pages where they can be used as they are, else a copy.
pub struct Whole {
    name: Name,
    dtype: DType,
    layout: Layout,
    data: Data,
}

enum Data {
    Mapped(Mmap, ChangeMonitor),
    /// Words, so that they are aligned, and how many bytes of them count.
    Copied(Vec<u64>, usize),
}

impl Whole {
    /// A mapped file whose elements can be used where they lie.
    pub(crate) fn mapped(
        name: Name,
        dtype: DType,
        layout: Layout,
        map: Mmap,
        monitor: ChangeMonitor,
    ) -> Whole {
        Whole { name, dtype, layout, data: Data::Mapped(map, monitor) }
    }

    /// A copy of all pieces; the layout is that of one axis unless it is known.
    ///
    /// # Errors
    /// Whatever is wrong with the input; [`Problem::NoMemory`].
    pub fn copied(
        name: Name,
        dtype: DType,
        layout: Option<Layout>,
        mut pieces: crate::Pieces,
    ) -> Result<Whole, Error> {
        let (mut words, mut bytes) = (Vec::new(), 0);
        while let Some(piece) = pieces.next_piece()? {
            if !has_room(&mut words, (bytes + piece.len()).div_ceil(8)) {
                return Err(Error::input(&name, Problem::NoMemory { read: bytes as u64 }));
            }
            bytemuck::cast_slice_mut(&mut words)[bytes..bytes + piece.len()].copy_from_slice(piece);
            bytes += piece.len();
        }
        let n = (bytes / dtype.size()) as u64;
        let layout = match layout {
            Some(layout) => layout,
            None => Layout::c(&[n])?,
        };
        Ok(Whole { name, dtype, layout, data: Data::Copied(words, bytes) })
    }

    /// Numbers that were made of a file of a name.
    ///
    /// # Errors
    /// [`Error::Input`] where there is no memory for them.
    pub fn of_numbers<T: Element>(name: Name, numbers: &[T]) -> Result<Whole, Error> {
        let bytes: &[u8] = bytemuck::cast_slice(numbers);
        let (mut words, needed) = (Vec::new(), bytes.len().div_ceil(8));
        if !memory::fallibly(|| words.try_reserve_exact(needed).is_ok()) {
            return Err(Error::input(&name, Problem::NoMemory { read: 0 }));
        }
        words.resize(needed, 0u64);
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        let layout = Layout::c(&[numbers.len() as u64])?;
        let data = Data::Copied(words, bytes.len());
        Ok(Whole { name, dtype: T::DTYPE, layout, data })
    }

    /// Its elements but for those in gaps, along one axis.
    ///
    /// # Errors
    /// [`Error::Input`] where there is no memory for a copy, or a mapped file has changed.
    pub fn without(mut self, gaps: &MissingRuns) -> Result<Whole, Error> {
        if gaps.elements() == 0 {
            return Ok(self);
        }
        let size = self.dtype.size();
        self = self.into_copy()?;
        if let Data::Copied(words, bytes) = &mut self.data {
            let all: &mut [u8] = bytemuck::cast_slice_mut(words);
            let (mut kept, mut from) = (0, 0);
            let end = (*bytes / size) as u64;
            for run in gaps.runs().chain(std::iter::once(end..end)) {
                let some = from * size..run.start as usize * size;
                from = run.end as usize;
                let length = some.len();
                all.copy_within(some, kept);
                kept += length;
            }
            *bytes = kept;
            self.layout = Layout::c(&[(kept / size) as u64])?;
        }
        Ok(self)
    }

    /// Its elements and those of another behind them, along one axis, by its name.
    ///
    /// # Errors
    /// As [`without`](Self::without).
    ///
    /// # Panics
    /// If the two are of different types.
    pub fn followed_by(self, next: &Whole) -> Result<Whole, Error> {
        assert_eq!(self.dtype, next.dtype, "elements of one array have one type");
        let mut all = self.into_copy()?;
        if let Data::Copied(words, bytes) = &mut all.data {
            let more = next.bytes();
            if !has_room(words, (*bytes + more.len()).div_ceil(8)) {
                return Err(Error::input(&next.name, Problem::NoMemory { read: *bytes as u64 }));
            }
            bytemuck::cast_slice_mut(words)[*bytes..*bytes + more.len()].copy_from_slice(more);
            next.check_unchanged()?;
            *bytes += more.len();
            all.layout = Layout::c(&[(*bytes / all.dtype.size()) as u64])?;
        }
        Ok(all)
    }

    /// The same in memory of its own, whatever becomes of the file.
    fn into_copy(mut self) -> Result<Whole, Error> {
        if let Data::Mapped(map, monitor) = &self.data {
            let (mut words, bytes) = (Vec::new(), map.len());
            if !has_room(&mut words, bytes.div_ceil(8)) {
                return Err(Error::input(&self.name, Problem::NoMemory { read: 0 }));
            }
            bytemuck::cast_slice_mut(&mut words)[..bytes].copy_from_slice(map);
            monitor.check()?;
            self.data = Data::Copied(words, bytes);
        }
        Ok(self)
    }

    /// Elements.
    pub fn len(&self) -> u64 {
        let bytes = match &self.data {
            Data::Mapped(map, _) => map.len(),
            Data::Copied(_, bytes) => *bytes,
        };
        (bytes / self.dtype.size()) as u64
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fails if a mapped file has changed since it was opened; to be asked once its elements have been folded.
    ///
    /// # Errors
    /// [`Problem::Changed`].
    pub fn check_unchanged(&self) -> Result<(), Error> {
        match &self.data {
            Data::Mapped(_, monitor) => monitor.check(),
            Data::Copied(..) => Ok(()),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The type of its elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Elements along each axis.
    pub fn shape(&self) -> Vec<u64> {
        self.layout.shape()
    }

    /// All elements, as they lie in memory.
    ///
    /// # Errors
    /// [`Error::Input`] for a bool that is neither 0 nor 1.
    pub fn array(&self) -> Result<HostArray<'_>, Error> {
        array(self.dtype, self.bytes(), 0).map_err(|problem| Error::input(&self.name, problem))
    }

    /// The same of a type that is known.
    ///
    /// # Errors
    /// As [`array`](Self::array).
    pub fn elements<T: Element>(&self) -> Result<&[T], Error> {
        elements(self.bytes(), 0).map_err(|problem| Error::input(&self.name, problem))
    }

    fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Mapped(map, _) => &map[..],
            Data::Copied(words, bytes) => &bytemuck::cast_slice(words)[..*bytes],
        }
    }

    /// Where elements lie in memory, all of which are there.
    ///
    /// # Errors
    /// [`Error::Shape`](warpfold_num::Error::Shape) if one would not be.
    pub fn layout(&self) -> Result<&Layout, Error> {
        self.layout.check_within(self.len())?;
        Ok(&self.layout)
    }
}

/// Makes words as many as are needed, unless there is no memory for them.
fn has_room(words: &mut Vec<u64>, needed: usize) -> bool {
    let more = needed.saturating_sub(words.len());
    // Twice as much as there is, so that little is moved; where that is too much, what is needed.
    let has_grown = memory::fallibly(|| {
        words.try_reserve(more).or_else(|_| words.try_reserve_exact(more)).is_ok()
    });
    if has_grown {
        words.resize(needed, 0);
    }
    has_grown
}
