//! [`FoldWhole`]: the fold of one array of a type, for what folds many and leaves some of them to it.

use warpfold_exact::partial::Partial;
use warpfold_num::Element;
use warpfold_plan::plan::Plan;

/// An element type whose arrays are folded one at a time.
pub(crate) trait FoldWhole: Element + 'static {
    /// Any reduction of one array that starts at index `first`.
    fn fold(plan: &Plan, x: &[Self], first: u64) -> Partial<Self>;
}
