//! Groups: an accumulator each.

use super::lanes::Kind;
use super::outputs::Emit;
use super::rows::{self, Runs};
use super::{Many, sort};
use crate::element::Element;
use crate::group::Numbered;
use crate::segment::Bounds;

/// Folds every group.
pub(super) fn run<T: Element, K: Kind<T>>(
    kind: K,
    many: &Many<'_, T>,
    x: &[T],
    numbers: &dyn Numbered,
    groups: u64,
    emit: &dyn Emit<T, K::Small>,
) {
    let sorted = sort::by_group(x, numbers, groups as usize);
    let bounds = Bounds::Offsets64(sorted.offsets.as_slice().into());
    rows::run(kind, many, &sorted.elements, Runs::Segments(&bounds), emit);
}
