//! [`Columns`]: a reduction over axes as matrices whose columns are folded, as warps of a GPU see them.

use serde::{Deserialize, Serialize};

use crate::DType;
use crate::shape::{Form, Loop};

/// Matrices whose columns are folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Columns {
    /// Elements of a row. Where outputs are few, a row is several of the array's.
    pub width: u64,
    /// Rows, the last of which may be there in part.
    pub rows: u64,
    /// Matrices.
    pub batches: u64,
    /// Elements from a row to the next.
    pub row_pitch: u64,
    /// Elements from a matrix to the next.
    pub batch_pitch: u64,
    /// Elements of a matrix.
    pub elements: u64,
    /// Runs of rows, each folded by warps of its own.
    pub runs: u64,
    /// Outputs of a matrix.
    pub columns: u64,
    /// Elements that a lane loads at once: a pack of 16 bytes, or one.
    pub vector: u64,
}

/// Rows that a run should have at least.
const ROWS_PER_RUN: u64 = 32;

/// Columns of a lane that loads one element at a time.
const APART_COLUMNS: u64 = 4;

/// Bytes of rows that are widened: fewer than a warp loads at once.
const NARROW_BYTES: u64 = 512;

impl Columns {
    /// The matrices of a form, if it is some: one folded loop, a kept one that is contiguous, and at most one more.
    pub(super) fn of(form: &Form, dtype: DType, aligned: bool, warps: u64) -> Option<Columns> {
        let [folded] = form.folded[..] else { return None };
        let (outer, inner) = match form.kept[..] {
            [inner] => (Loop { length: 1, stride: 0, place: 1 }, inner),
            [outer, inner] => (outer, inner),
            _ => return None,
        };
        let in_order =
            inner.place == 1 && (outer.length == 1 || outer.place == inner.length as i64);
        if inner.stride != 1 || !in_order {
            return None;
        }
        let size = dtype.size() as u64;
        let pack = 16 / size;
        let divides = |elements: u64| elements.is_multiple_of(pack);
        let mut all = Columns {
            width: inner.length,
            rows: folded.length,
            batches: outer.length,
            row_pitch: folded.stride,
            batch_pitch: outer.stride,
            elements: inner.length * folded.length,
            runs: 1,
            columns: inner.length,
            vector: 1,
        };
        let whole = aligned && divides(outer.stride);
        if inner.length * size < NARROW_BYTES && folded.stride == inner.length {
            // Rows are dense: as many of them as make whole tiles of a warp are one.
            let vector = if whole { pack } else { 1 };
            let width = least_common_multiple(inner.length, 32 * per_lane(vector));
            // Each column of a wide row leaves a state: no more of them than lanes that are at work.
            let states = outer.length.saturating_mul(width);
            if all.elements >= 4 * width && states <= warps * 32 * per_lane(vector) {
                let rows = all.elements.div_ceil(width);
                all = Columns { width, rows, row_pitch: width, vector, ..all };
            }
        }
        if all.vector == 1 && whole && divides(all.width) && divides(all.row_pitch) {
            all.vector = pack;
        }
        let units = all.units();
        if units * 2 <= warps {
            all.runs = (warps / units).min(all.rows / ROWS_PER_RUN).max(1);
        }
        Some(all)
    }

    /// Runs of rows of tiles of columns, each a warp's.
    pub fn units(&self) -> u64 {
        self.width.div_ceil(32 * per_lane(self.vector)) * self.batches * self.runs
    }

    /// Whether states are left for a second kernel to join.
    pub fn joins(&self) -> bool {
        self.runs > 1 || self.width != self.columns
    }

    /// States that are left.
    pub fn states(&self) -> u64 {
        if self.joins() { self.runs * self.batches * self.width } else { 0 }
    }
}

/// Columns of a lane: a pack's, or some that lie apart.
fn per_lane(vector: u64) -> u64 {
    if vector > 1 { vector } else { APART_COLUMNS }
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}
