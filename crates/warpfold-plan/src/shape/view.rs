//! [`View`]: a slice seen as an n-dimensional array.

use super::{Axis, Layout};
use crate::{Error, Result};

/// A borrowed n-dimensional array, checked once: every index of its layout lies in the slice.
///
/// ```
/// use warpfold_plan::shape::View;
/// let x = [1, 2, 3, 4, 5, 6];
/// let rows = View::new(&x, &[2, 3])?;                      // [[1, 2, 3], [4, 5, 6]]
/// let columns = View::fortran(&x, &[2, 3])?;               // [[1, 3, 5], [2, 4, 6]]
/// let backwards = View::strided(&x, &[3], &[-2], 5)?;      // [6, 4, 2]
/// assert_eq!((rows.get(&[1, 0]), columns.get(&[1, 0]), backwards.get(&[2])), (Some(4), Some(2), Some(2)));
/// # Ok::<(), warpfold_num::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct View<'a, T> {
    memory: &'a [T],
    layout: Layout,
}

impl<'a, T: Copy> View<'a, T> {
    /// In C order: the last axis is contiguous.
    ///
    /// # Errors
    /// [`Error::Shape`] if the slice has not exactly as many elements as the shape.
    pub fn new(memory: &'a [T], shape: &[u64]) -> Result<Self> {
        Self::contiguous(memory, Layout::c(shape)?)
    }

    /// In Fortran order: the first axis is contiguous.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn fortran(memory: &'a [T], shape: &[u64]) -> Result<Self> {
        Self::contiguous(memory, Layout::fortran(shape)?)
    }

    fn contiguous(memory: &'a [T], layout: Layout) -> Result<Self> {
        if layout.elements() != memory.len() as u64 {
            return Err(Error::Shape {
                requested: format!("a view of {} elements with {layout}", memory.len()),
                obstacle: format!("the shape has {} elements", layout.elements()),
                remedy: "give a shape of as many elements, or View::strided for a part of the slice",
            });
        }
        Ok(View { memory, layout })
    }

    /// Any strides, in elements, from the element `start` on: negative, zero, or such that elements are read more than once.
    ///
    /// # Errors
    /// [`Error::Shape`] if an index would lie outside the slice.
    pub fn strided(memory: &'a [T], shape: &[u64], strides: &[i64], start: u64) -> Result<Self> {
        Self::of(memory, Layout::strided(shape, strides, start)?)
    }

    /// A layout over a slice.
    ///
    /// # Errors
    /// [`Error::Shape`] if an index would lie outside the slice.
    pub fn of(memory: &'a [T], layout: Layout) -> Result<Self> {
        layout.check_within(memory.len() as u64)?;
        Ok(View { memory, layout })
    }

    /// The slice that it lies in.
    pub fn memory(&self) -> &'a [T] {
        self.memory
    }

    /// Where its elements lie in the slice.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The axes in reverse.
    #[must_use]
    pub fn transposed(&self) -> Self {
        View { memory: self.memory, layout: self.layout.transposed() }
    }

    /// The axes in another order: axis `k` of the result is axis `order[k]` of this.
    ///
    /// # Errors
    /// [`Error::Shape`] if `order` is no permutation of the axes.
    pub fn permuted(&self, order: &[usize]) -> Result<Self> {
        Ok(View { memory: self.memory, layout: self.layout.permuted(order)? })
    }

    /// Its elements in C order.
    pub fn iter(&self) -> Elements<'a, T> {
        let remaining = self.layout.elements();
        let axes: Vec<_> =
            self.layout.axes().iter().copied().filter(|axis| axis.length != 1).collect();
        let index = vec![0; axes.len()];
        Elements { memory: self.memory, axes, index, at: self.layout.start() as i64, remaining }
    }

    /// The element at some indices; `None` outside the shape.
    pub fn get(&self, indices: &[u64]) -> Option<T> {
        let axes = self.layout.axes();
        if indices.len() != axes.len() {
            return None;
        }
        let mut at = i128::from(self.layout.start());
        for (&index, &Axis { length, stride }) in indices.iter().zip(axes) {
            if index >= length {
                return None;
            }
            at += i128::from(index) * i128::from(stride);
        }
        Some(self.memory[at as usize])
    }
}

/// The elements of a view in C order.
#[derive(Debug, Clone)]
pub struct Elements<'a, T> {
    memory: &'a [T],
    axes: Vec<Axis>,
    index: Vec<u64>,
    at: i64,
    remaining: u64,
}

impl<T: Copy> Iterator for Elements<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.remaining = self.remaining.checked_sub(1)?;
        let element = self.memory[self.at as usize];
        for (index, axis) in self.index.iter_mut().zip(&self.axes).rev() {
            *index += 1;
            if *index < axis.length {
                self.at += axis.stride;
                break;
            }
            *index = 0;
            self.at -= axis.stride * (axis.length as i64 - 1);
        }
        Some(element)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let remaining = usize::try_from(self.remaining).ok();
        (remaining.unwrap_or(usize::MAX), remaining)
    }
}

impl<'a, T: Copy> From<&'a [T]> for View<'a, T> {
    fn from(memory: &'a [T]) -> Self {
        let axis = [memory.len() as u64];
        View { memory, layout: Layout::c(&axis).expect("a slice has fewer than 2^63 elements") }
    }
}
