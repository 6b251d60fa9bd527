//! [`Layout`]: where the elements of an n-dimensional array lie, in elements from its memory's start.

use std::fmt;

use crate::{Error, Result};

/// One axis of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Axis {
    /// Elements along it.
    pub length: u64,
    /// From one to the next, in elements of the memory: negative for an axis that runs backwards, 0 for one that repeats.
    pub stride: i64,
}

/// The shape and strides of an array, and where its first element lies.
///
/// ```
/// use warpfold_plan::shape::Layout;
/// let matrix = Layout::c(&[2, 3])?;
/// assert_eq!(matrix.transposed(), Layout::fortran(&[3, 2])?);
/// assert_eq!(matrix.extent()?, 0..6);
/// # Ok::<(), warpfold_num::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Layout {
    axes: Vec<Axis>,
    start: u64,
}

impl Layout {
    /// Rows after rows: the last axis is contiguous.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of elements does not fit 64 bits.
    pub fn c(shape: &[u64]) -> Result<Self> {
        Self::dense(shape, (0..shape.len()).rev())
    }

    /// Columns after columns: the first axis is contiguous.
    ///
    /// # Errors
    /// As [`c`](Self::c).
    pub fn fortran(shape: &[u64]) -> Result<Self> {
        Self::dense(shape, 0..shape.len())
    }

    fn dense(shape: &[u64], fastest_first: impl Iterator<Item = usize>) -> Result<Self> {
        let mut axes: Vec<_> = shape.iter().map(|&length| Axis { length, stride: 1 }).collect();
        let mut stride = 1i64;
        for k in fastest_first {
            axes[k].stride = stride;
            // An axis without elements still has strides around it, as NumPy has it.
            let next = i64::try_from(shape[k].max(1)).ok().and_then(|n| stride.checked_mul(n));
            stride = next.ok_or_else(|| too_many(shape))?;
        }
        Ok(Layout { axes, start: 0 })
    }

    /// Any strides, in elements: negative, zero, or such that elements are read more than once.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are not as many strides as axes, the number of elements does not fit 64 bits, or an index would
    /// lie before the memory's start or beyond 2^63.
    pub fn strided(shape: &[u64], strides: &[i64], start: u64) -> Result<Self> {
        if shape.len() != strides.len() {
            return Err(Error::Shape {
                requested: format!("a view with shape {shape:?} and strides {strides:?}"),
                obstacle: format!("{} axes have {} strides", shape.len(), strides.len()),
                remedy: "give one stride for each axis",
            });
        }
        let axes = shape.iter().zip(strides).map(|(&length, &stride)| Axis { length, stride });
        let layout = Layout { axes: axes.collect(), start };
        let elements = shape.iter().try_fold(1u64, |n, &length| n.checked_mul(length));
        if elements.is_none() && !shape.contains(&0) {
            return Err(too_many(shape));
        }
        layout.extent()?;
        Ok(layout)
    }

    /// The axes, outermost first.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(|axis| axis.length).collect()
    }

    /// Where the element with all indices 0 lies.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Elements, those read more than once counted as often.
    pub fn elements(&self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        self.axes.iter().fold(1, |n, axis| n.saturating_mul(axis.length))
    }

    /// Whether an axis has no elements.
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(|axis| axis.length == 0)
    }

    /// Refuses a layout of which an element would lie outside so many.
    ///
    /// # Errors
    /// [`Error::Shape`].
    pub fn check_within(&self, elements: u64) -> Result<()> {
        let end = self.extent()?.end;
        if end <= elements {
            return Ok(());
        }
        Err(Error::Shape {
            requested: format!("a view with {self}"),
            obstacle: format!("it needs {end} elements and the slice has {elements}"),
            remedy: "check strides and start; they count elements, not bytes",
        })
    }

    /// The indices of memory that elements lie at: from the least to above the greatest.
    ///
    /// # Errors
    /// [`Error::Shape`] if the least lies before the memory's start or the greatest beyond 2^63.
    pub fn extent(&self) -> Result<std::ops::Range<u64>> {
        if self.is_empty() {
            return Ok(self.start..self.start);
        }
        let (mut least, mut greatest) = (i128::from(self.start), i128::from(self.start));
        for axis in &self.axes {
            // Below 2^127 even for the longest axis: the sum of a few of them saturates, and is refused all the same.
            let span = i128::from(axis.length - 1) * i128::from(axis.stride);
            let end = if span < 0 { &mut least } else { &mut greatest };
            *end = end.saturating_add(span);
        }
        if least < 0 || greatest >= i128::from(i64::MAX) {
            let which = if least < 0 { "before its memory's start" } else { "beyond 2^63" };
            return Err(Error::Shape {
                requested: format!("a view with {self}"),
                obstacle: format!("elements would lie {which}"),
                remedy: "check strides and start; they count elements, not bytes",
            });
        }
        Ok(least as u64..greatest as u64 + 1)
    }

    /// The indices of memory that the elements fill one after another in C order; `None` where they lie otherwise.
    ///
    /// ```
    /// use warpfold_plan::shape::Layout;
    /// assert_eq!(Layout::strided(&[2, 1, 3], &[3, 7, 1], 4)?.run(), Some(4..10));
    /// assert_eq!(Layout::fortran(&[2, 3])?.run(), None);
    /// # Ok::<(), warpfold_num::Error>(())
    /// ```
    pub fn run(&self) -> Option<std::ops::Range<u64>> {
        let elements = self.elements();
        let mut side_by_side = 1;
        for axis in self.axes.iter().rev().filter(|axis| axis.length != 1 && elements > 0) {
            if i128::from(axis.stride) != side_by_side {
                return None;
            }
            side_by_side *= i128::from(axis.length);
        }
        Some(self.start..self.start + elements)
    }

    /// The axes in reverse.
    #[must_use]
    pub fn transposed(&self) -> Self {
        Layout { axes: self.axes.iter().rev().copied().collect(), start: self.start }
    }

    /// The axes in another order: axis `k` of the result is axis `order[k]` of this.
    ///
    /// # Errors
    /// [`Error::Shape`] if `order` is no permutation of the axes.
    pub fn permuted(&self, order: &[usize]) -> Result<Self> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..self.axes.len()) {
            return Err(Error::Shape {
                requested: format!("the axes of {} in the order {order:?}", Shape(&self.shape())),
                obstacle: "that is no permutation of them".into(),
                remedy: "name each axis once, from 0",
            });
        }
        Ok(Layout { axes: order.iter().map(|&k| self.axes[k]).collect(), start: self.start })
    }
}

fn too_many(shape: &[u64]) -> Error {
    Error::Shape {
        requested: format!("an array of shape {}", Shape(shape)),
        obstacle: "it has more elements than 64 bits count".into(),
        remedy: "check the shape",
    }
}

/// A shape as NumPy prints it.
pub(super) struct Shape<'a>(pub &'a [u64]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(")?;
        for (k, length) in self.0.iter().enumerate() {
            write!(f, "{}{length}", if k > 0 { ", " } else { "" })?;
        }
        write!(f, "{})", if self.0.len() == 1 { "," } else { "" })
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strides: Vec<_> = self.axes.iter().map(|axis| axis.stride).collect();
        write!(f, "shape {}, strides {strides:?} and start {}", Shape(&self.shape()), self.start)
    }
}
