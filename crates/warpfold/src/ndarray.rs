//! Arrays of the crate `ndarray`, read where they lie.

use ndarray::{ArrayBase, Data, Dimension};

use crate::element::Element;
use crate::input::{Blocks, Input, Source, sealed};
use crate::shape::View;

impl<S: ndarray::RawData, D> sealed::Sealed for &ArrayBase<S, D> {}

/// ```
/// use ndarray::{array, s};
/// use warpfold::{reduce, reduce_axes, reduce_pair};
///
/// let x = array![[1.0f64, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// assert_eq!(reduce(&x.t()).sum()?, 21.0);
/// assert_eq!(reduce_axes(&x, &[0])?.sum()?.values, [5.0, 7.0, 9.0]);
/// assert_eq!(reduce_pair(&x.row(0), &x.row(1)).dot()?, 32.0);
/// // A view with elements between that are not its own is copied, a few thousand elements at a time.
/// assert_eq!(reduce(&x.slice(s![.., ..2])).mean()?, 3.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
impl<'a, T, S, D> Input<'a> for &'a ArrayBase<S, D>
where
    T: Element,
    S: Data<Elem = T>,
    D: Dimension,
{
    type Element = T;

    fn source(self) -> Source<'a, T> {
        if let Some(slice) = self.as_slice() {
            return Source::Slice(slice);
        }
        match gapless(self) {
            Some(view) => view.source(),
            None => Source::Blocks(Blocks::of(self.len() as u64, move || self.iter().copied())),
        }
    }

    fn view(self) -> crate::Result<View<'a, T>> {
        match gapless(self) {
            Some(view) => Ok(view),
            None => self.source().into_view(),
        }
    }
}

/// The same array as a view of the memory that it fills; `None` where it does not fill what it spans, which others may write to.
fn gapless<'a, T, S, D>(array: &'a ArrayBase<S, D>) -> Option<View<'a, T>>
where
    T: Element,
    S: Data<Elem = T>,
    D: Dimension,
{
    let memory = array.as_slice_memory_order()?;
    let shape: Vec<u64> = array.shape().iter().map(|&length| length as u64).collect();
    let strides: Vec<i64> = array.strides().iter().map(|&stride| stride as i64).collect();
    // The first element lies behind those of axes that run backwards.
    let backwards =
        shape.iter().zip(&strides).filter(|(length, stride)| **length > 0 && **stride < 0);
    let start: u64 = backwards.map(|(length, stride)| (length - 1) * stride.unsigned_abs()).sum();
    View::strided(memory, &shape, &strides, start).ok()
}
