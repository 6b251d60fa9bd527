//! Arrays of one shape that are read side by side, as NumPy broadcasts them: an array and its mask, or the inputs of an expression.
//!
//! Elements are copied to blocks that stay in the second cache, one block an array and thread; nothing else is.

use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use warpfold_engine::HostArray;
use warpfold_num::DType;

use super::Input;

/// Elements of a block.
pub(crate) const BLOCK: usize = 1 << 13;

/// One of the arrays.
struct View {
    dtype: DType,
    address: *const u8,
    /// In bytes, along the axes that are kept.
    outer: Vec<isize>,
    /// In bytes, along those that are reduced.
    inner: Vec<isize>,
}

/// Arrays of one shape; the inputs that they are made of are to be held while this is used.
pub(crate) struct Views {
    views: Vec<View>,
    outer: Vec<usize>,
    inner: Vec<usize>,
}

// SAFETY: the elements of an input are held while this lasts, and may be read by any thread.
unsafe impl Send for Views {}
// SAFETY: as above; nothing is written through it.
unsafe impl Sync for Views {}

/// The shape that arrays of these shapes have together.
pub(crate) fn broadcast(inputs: &[(&str, &Input)]) -> PyResult<Vec<u64>> {
    let ndim = inputs.iter().map(|(_, input)| input.shape.len()).max().unwrap_or(0);
    let mut shape = vec![1; ndim];
    for (name, input) in inputs {
        for (length, &own) in shape[ndim - input.shape.len()..].iter_mut().zip(&input.shape) {
            if own != 1 && *length != 1 && *length != own {
                let (first, all) = (inputs[0].0, &inputs[0].1.shape);
                return Err(PyValueError::new_err(format!(
                    "{name} has the shape {:?}, which does not broadcast with {first}'s {all:?}; give arrays of one shape",
                    input.shape
                )));
            }
            if own != 1 {
                *length = own;
            }
        }
    }
    Ok(shape)
}

impl Views {
    /// Of inputs that broadcast to a shape, whose axes named here are reduced.
    pub(crate) fn new(
        shape: &[u64],
        is_reduced: &[bool],
        inputs: &[(&str, &Input)],
    ) -> PyResult<Self> {
        let mut sizes = shape.iter().map(|&length| usize::try_from(length.max(1)).ok());
        let elements = sizes.try_fold(1usize, |n, length| n.checked_mul(length?));
        if elements.is_none() {
            return Err(PyValueError::new_err(format!(
                "the arrays have the shape {shape:?} together, whose elements nobody can count; broadcast them over less"
            )));
        }
        let of = |reduced| {
            let lengths = shape.iter().zip(is_reduced).filter(move |(_, is)| **is == reduced);
            lengths.map(|(&length, _)| length as usize).collect::<Vec<_>>()
        };
        let mut views = Vec::with_capacity(inputs.len());
        for (name, input) in inputs {
            let missing = shape.len().checked_sub(input.shape.len());
            let fits = |missing: usize| {
                let mut lengths = input.shape.iter().zip(&shape[missing..]);
                lengths.all(|(&own, &length)| own == 1 || own == length)
            };
            let Some(missing) = missing.filter(|&missing| fits(missing)) else {
                return Err(PyValueError::new_err(format!(
                    "{name} has the shape {:?}, which does not broadcast to {shape:?}; give one of that shape",
                    input.shape
                )));
            };
            let size = input.dtype.size() as isize;
            let stride = |axis: usize| match axis.checked_sub(missing) {
                Some(own) if input.shape[own] != 1 => input.strides[own] as isize * size,
                _ => 0,
            };
            let along = |reduced| {
                (0..shape.len()).filter(|&axis| is_reduced[axis] == reduced).map(stride).collect()
            };
            let (outer, inner) = (along(false), along(true));
            views.push(View { dtype: input.dtype, address: input.address, outer, inner });
        }
        let mut made = Views { views, outer: of(false), inner: of(true) };
        made.join();
        Ok(made)
    }

    /// Joins reduced axes that follow each other in memory in every array, so that runs are long.
    fn join(&mut self) {
        let mut axis = self.inner.len();
        while axis > 0 {
            axis -= 1;
            let length = self.inner[axis];
            let is_next = |view: &View| {
                view.inner[axis] == view.inner[axis + 1] * self.inner[axis + 1] as isize
            };
            if length == 1 {
                self.remove(axis);
            } else if axis + 1 < self.inner.len() && self.views.iter().all(is_next) {
                self.inner[axis + 1] *= length;
                self.remove(axis);
            }
        }
    }

    /// Forgets a reduced axis.
    fn remove(&mut self, axis: usize) {
        self.inner.remove(axis);
        for view in &mut self.views {
            view.inner.remove(axis);
        }
    }

    /// Outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.outer.iter().product()
    }

    /// Elements of each output.
    pub(crate) fn inputs(&self) -> usize {
        self.inner.iter().product()
    }

    /// Bytes that are read.
    pub(crate) fn bytes(&self) -> u64 {
        let elements = (self.outputs() as u64).saturating_mul(self.inputs() as u64);
        let size = |view: &View| view.dtype.size() as u64;
        elements.saturating_mul(self.views.iter().map(size).sum())
    }

    /// Room for a block of each array.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        self.blocks_of(BLOCK.min(self.inputs().max(1).saturating_mul(self.outputs()).max(1)))
    }

    /// Room for so many elements of each array.
    pub(crate) fn blocks_of(&self, capacity: usize) -> Vec<Block> {
        self.views.iter().map(|view| Block::new(view.dtype, capacity)).collect()
    }

    /// Appends the elements of an output from one index among its inputs to another, in C order.
    pub(crate) fn append(&self, blocks: &mut [Block], output: usize, mut from: usize, to: usize) {
        while from < to {
            let run =
                self.inner.last().map_or(1, |&length| (length - from % length).min(to - from));
            for (view, block) in self.views.iter().zip(&mut *blocks) {
                let outer = offset(output, &self.outer, &view.outer);
                let inner = offset(from, &self.inner, &view.inner);
                let address = view.address.wrapping_offset(outer + inner);
                // SAFETY: the output and the index lie in the shape, and so does the run, which ends with its axis at the latest.
                unsafe { block.copy(address, view.inner.last().copied().unwrap_or(0), run) }
            }
            from += run;
        }
    }
}

/// How far the element with an index in C order lies from the first.
fn offset(mut index: usize, lengths: &[usize], strides: &[isize]) -> isize {
    let mut offset = 0;
    for (&length, &stride) in lengths.iter().zip(strides).rev() {
        offset += (index % length) as isize * stride;
        index /= length;
    }
    offset
}

/// Elements that were copied together.
pub(crate) struct Block {
    dtype: DType,
    words: Vec<u128>,
    len: usize,
}

impl Block {
    fn new(dtype: DType, capacity: usize) -> Self {
        Block { dtype, words: vec![0; (capacity * dtype.size()).div_ceil(16)], len: 0 }
    }

    /// Forgets what there is.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Appends elements.
    ///
    /// # Safety
    /// At the address and each stride from it lies an element of the type, as many as are said.
    unsafe fn copy(&mut self, address: *const u8, stride: isize, n: usize) {
        let size = self.dtype.size();
        assert!((self.len + n) * size <= self.words.len() * 16, "a block has room");
        let to =
            bytemuck::cast_slice_mut::<u128, u8>(&mut self.words)[self.len * size..].as_mut_ptr();
        // SAFETY: there is room, as was just seen; the caller vouches for the elements.
        unsafe {
            match size {
                _ if stride == size as isize => to.copy_from_nonoverlapping(address, n * size),
                1 => strided::<u8>(to, address, stride, n),
                2 => strided::<u16>(to, address, stride, n),
                4 => strided::<u32>(to, address, stride, n),
                8 => strided::<u64>(to, address, stride, n),
                _ => strided::<[u64; 2]>(to, address, stride, n),
            }
        }
        if self.dtype == DType::Bool {
            // Bytes that are neither 0 nor 1 become bools.
            let bytes = bytemuck::cast_slice_mut::<u128, u8>(&mut self.words);
            bytes[self.len..self.len + n].iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        self.len += n;
    }

    /// The elements.
    pub(crate) fn array(&self) -> HostArray<'_> {
        self.read_as(self.dtype)
    }

    /// The elements, bools as bytes.
    pub(crate) fn numbers(&self) -> HostArray<'_> {
        self.read_as(if self.dtype == DType::Bool { DType::U8 } else { self.dtype })
    }

    fn read_as(&self, dtype: DType) -> HostArray<'_> {
        // SAFETY: so many elements of the type were copied here, bytes of bools were made 0 and 1, and words are aligned for all types.
        unsafe { HostArray::from_raw(dtype, self.words.as_ptr().cast(), self.len) }
    }

    /// The bytes of bools.
    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len * self.dtype.size()]
    }

    /// Puts ones in place of the floats for which a mask does not hold: they are multiplied by where they stand.
    pub(crate) fn fill_with_ones(&mut self, mask: &[u8]) {
        fn fill<T: bytemuck::Pod>(words: &mut [u128], mask: &[u8], one: T) {
            let elements = bytemuck::cast_slice_mut::<u128, T>(words);
            let dropped = elements.iter_mut().zip(mask).filter(|(_, kept)| **kept == 0);
            dropped.for_each(|(element, _)| *element = one);
        }
        assert_eq!(mask.len(), self.len, "a mask is as long as what it masks");
        match self.dtype {
            DType::F16 => fill(&mut self.words, mask, 0x3c00u16),
            DType::BF16 => fill(&mut self.words, mask, 0x3f80u16),
            DType::F32 => fill(&mut self.words, mask, 1f32),
            DType::F64 => fill(&mut self.words, mask, 1f64),
            DType::Complex64 => fill(&mut self.words, mask, [1f32, 0.0]),
            DType::Complex128 => fill(&mut self.words, mask, [1f64, 0.0]),
            other => unreachable!("{other} is no type of floats"),
        }
    }

    /// Keeps the elements for which a mask holds.
    pub(crate) fn keep(&mut self, mask: &[u8]) {
        assert_eq!(mask.len(), self.len, "a mask is as long as what it masks");
        self.len = match self.dtype.size() {
            1 => compact::<u8>(&mut self.words, mask),
            2 => compact::<u16>(&mut self.words, mask),
            4 => compact::<u32>(&mut self.words, mask),
            8 => compact::<u64>(&mut self.words, mask),
            _ => compact::<u128>(&mut self.words, mask),
        };
    }
}

/// Copies elements that lie apart.
///
/// # Safety
/// As [`Block::copy`], and there is room.
unsafe fn strided<T: Copy>(to: *mut u8, from: *const u8, stride: isize, n: usize) {
    let to = to.cast::<T>();
    for k in 0..n {
        // SAFETY: the caller vouches for the element, and for the room; elements of some libraries are aligned to less than `T` is.
        unsafe {
            let element = from.wrapping_offset(k as isize * stride).cast::<T>().read_unaligned();
            to.add(k).write_unaligned(element);
        }
    }
}

/// Moves the elements that a mask keeps to the front; how many there are.
fn compact<T: bytemuck::Pod>(words: &mut [u128], mask: &[u8]) -> usize {
    let elements = bytemuck::cast_slice_mut::<u128, T>(words);
    let mut end = 0;
    // Each is written, and the next one over it unless it counts: no branch to guess.
    for (k, &kept) in mask.iter().enumerate() {
        elements[end] = elements[k];
        end += usize::from(kept);
    }
    end
}
