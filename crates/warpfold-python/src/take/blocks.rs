//! Elements of a view in blocks of their logical order, for what reads contiguous memory alone.

use warpfold_engine::HostArray;

use super::Input;

/// Elements of a block: two of the widest stay in the second level of cache.
const BLOCK: usize = 1 << 14;

/// The elements of a view in C order.
struct Walk {
    address: *const u8,
    shape: Vec<usize>,
    /// In bytes.
    strides: Vec<isize>,
    indices: Vec<usize>,
    remaining: u64,
    size: usize,
    block: Vec<u128>,
}

// SAFETY: the elements of an input are held while the walk lasts and may be read by any thread.
unsafe impl Send for Walk {}

impl Walk {
    fn new(input: &Input) -> Self {
        let size = input.dtype.size();
        Walk {
            address: input.address,
            shape: input.shape.iter().map(|&length| length as usize).collect(),
            strides: input.strides.iter().map(|&stride| stride as isize * size as isize).collect(),
            indices: vec![0; input.shape.len()],
            remaining: input.len(),
            size,
            block: vec![0; BLOCK * size / 16],
        }
    }

    /// Copies the next elements to the block; how many.
    fn fill(&mut self) -> usize {
        let count = self.remaining.min(BLOCK as u64) as usize;
        let out: &mut [u8] = bytemuck::cast_slice_mut(&mut self.block);
        for element in out.chunks_exact_mut(self.size).take(count) {
            // SAFETY: the address is that of an element of the view, as the indices are in its shape, and there is room for it.
            unsafe { element.as_mut_ptr().copy_from_nonoverlapping(self.address, self.size) }
            // The next in C order: the last axis runs fastest.
            for axis in (0..self.shape.len()).rev() {
                self.indices[axis] += 1;
                self.address = self.address.wrapping_offset(self.strides[axis]);
                if self.indices[axis] < self.shape[axis] {
                    break;
                }
                let back = self.strides[axis].wrapping_mul(self.shape[axis] as isize);
                self.address = self.address.wrapping_offset(back.wrapping_neg());
                self.indices[axis] = 0;
            }
        }
        self.remaining -= count as u64;
        count
    }
}

/// The elements of two views of one shape, block by block.
pub(crate) struct Pairs {
    walks: [Walk; 2],
    dtypes: [warpfold_num::DType; 2],
}

impl Pairs {
    /// Of two arrays, which are to be held while this is used.
    pub(crate) fn new(x: &Input, y: &Input) -> Self {
        Pairs { walks: [x, y].map(Walk::new), dtypes: [x, y].map(Input::read_as) }
    }

    /// Calls with the next blocks until there are none.
    pub(crate) fn each<E>(
        mut self,
        mut take: impl FnMut(HostArray<'_>, HostArray<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.walks[0].remaining > 0 {
            let counts = self.walks.each_mut().map(Walk::fill);
            let block = |k: usize| {
                let walk = &self.walks[k];
                // SAFETY: so many elements of the type were copied to the block just now, which is aligned to 16 bytes; bools are read as bytes.
                unsafe {
                    HostArray::from_raw(self.dtypes[k], walk.block.as_ptr().cast(), counts[k])
                }
            };
            take(block(0), block(1))?;
        }
        Ok(())
    }
}
