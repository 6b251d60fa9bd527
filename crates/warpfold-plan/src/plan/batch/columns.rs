//! [`Columns`]: a reduction over axes as matrices whose columns are folded, as warps of a GPU see them.

use crate::DType;
use crate::shape::{Form, Loop};

/// Matrices whose columns are folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    /// Elements of a row that a lane loads at once: those of 16 bytes, or of 8, or one.
    pub vector: u64,
    /// Whether warps take the columns of all matrices in one line, where tiles within each would be empty in part.
    pub lines: bool,
    /// Columns of a lane: those of what it loads at once, or some that lie apart, or one.
    pub per_lane: u64,
}

/// What a lane may own of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// The columns of a vector of so many elements, or some that lie apart.
    Several(u64),
    /// One column.
    One,
}

/// Rows that a run should have at least.
const ROWS_PER_RUN: u64 = 32;

/// Rows that a lane has in flight, which runs are dealt.
const FLIGHT: u64 = 4;

/// The most units of a warp among which runs are balanced: of more, one more or less is not seen.
const ROUNDS: u64 = 16;

/// What the launch of a join takes, in bytes that a warp could have read.
const JOIN_BYTES: u64 = 2048;

/// Columns of a lane that loads one element at a time.
const APART_COLUMNS: u64 = 4;

/// What a unit begins with where columns are in one line, in rows: each has a start of its own.
const LINE_ROWS: u64 = 2;

/// Bytes of rows that are widened: fewer than a warp loads at once.
const NARROW_BYTES: u64 = 512;

impl Columns {
    /// The matrices of a form, if it is some: one folded loop, a kept one that is contiguous, and at most one more. States are of so many bytes.
    pub(super) fn of(
        form: &Form,
        dtype: DType,
        lane: Lane,
        warps: u64,
        state_bytes: u64,
    ) -> Option<Columns> {
        let [folded] = form.folded[..] else { return None };
        let (outer, inner) = match form.kept[..] {
            [inner] => (Loop { length: 1, stride: 0, position: 1 }, inner),
            [outer, inner] => (outer, inner),
            _ => return None,
        };
        let in_order =
            inner.position == 1 && (outer.length == 1 || outer.position == inner.length as i64);
        // Kernels number matrices in 32 bits.
        if inner.stride != 1 || !in_order || outer.length > u64::from(u32::MAX) {
            return None;
        }
        let size = dtype.size() as u64;
        let per_vector = match lane {
            Lane::Several(per_vector) => per_vector,
            Lane::One => 1,
        };
        let divides = |elements: u64| elements.is_multiple_of(per_vector);
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
            lines: false,
            per_lane: lane.columns(1),
        };
        let whole = divides(outer.stride);
        if inner.length * size < NARROW_BYTES && folded.stride == inner.length {
            // Rows are dense: as many of them as make whole tiles of a warp are one.
            let vector = if whole { per_vector } else { 1 };
            let width = least_common_multiple(inner.length, 32 * lane.columns(vector));
            // Each column of a wide row leaves a state: no more of them than lanes that are at work.
            let states = outer.length.saturating_mul(width);
            if all.elements >= 4 * width && states <= warps * 32 * lane.columns(vector) {
                let rows = all.elements.div_ceil(width);
                all = Columns { width, rows, row_pitch: width, vector, ..all };
            }
        }
        if all.vector == 1 && whole && divides(all.width) && divides(all.row_pitch) {
            all.vector = per_vector;
        }
        all.per_lane = lane.columns(all.vector);
        let lines =
            (lane != Lane::One && all.vector == 1 && all.columns == all.width && all.batches > 1)
                .then_some(Columns { lines: true, ..all });
        let ways = std::iter::once(all).chain(lines).flat_map(|way| way.balanced(warps));
        ways.min_by_key(|way| way.cost(size, state_bytes, warps))
    }

    /// The most runs for which a warp has so many units, for each of some numbers.
    fn balanced(self, warps: u64) -> impl Iterator<Item = Columns> {
        let most = (self.rows / ROWS_PER_RUN).max(1);
        let units = self.units().max(1);
        (1..=ROUNDS)
            .map(move |rounds| Columns { runs: (rounds * warps / units).clamp(1, most), ..self })
    }

    /// What the warp with most to do takes, in bytes: its rows, a flight more for each unit, and its share of the states, which are written and read.
    fn cost(&self, size: u64, state_bytes: u64, warps: u64) -> u64 {
        let flights = self.rows.div_ceil(FLIGHT).div_ceil(self.runs) + 1;
        let begins = if self.lines { LINE_ROWS } else { 0 };
        let rows = self.units().div_ceil(warps).saturating_mul(flights * FLIGHT + begins);
        let join = if self.joins() { JOIN_BYTES } else { 0 };
        let states = self.states().saturating_mul(2 * state_bytes) / warps;
        rows.saturating_mul(self.tile() * size).saturating_add(join).saturating_add(states)
    }

    /// Runs of rows of tiles of columns, each a warp's.
    pub fn units(&self) -> u64 {
        match self.lines {
            true => (self.width * self.batches).div_ceil(self.tile()) * self.runs,
            false => self.tiles() * self.batches * self.runs,
        }
    }

    /// What the entry of the kernel ends with.
    pub fn entry(&self) -> &'static str {
        match (self.vector, self.lines) {
            _ if self.per_lane == 1 => "_own",
            (1, false) => "_elements",
            (1, true) => "_lines",
            _ => "_vectors",
        }
    }

    /// Columns of a warp.
    fn tile(&self) -> u64 {
        32 * self.per_lane
    }

    fn tiles(&self) -> u64 {
        self.width.div_ceil(self.tile())
    }

    /// Whether a second kernel joins states.
    pub fn joins(&self) -> bool {
        self.runs > 1 || self.width != self.columns
    }

    /// States that a run of a matrix leaves: one a column, or one an output for each tile that has outputs several times.
    pub fn states_of_run(&self) -> u64 {
        let alike = self.columns < self.width && self.columns <= self.tile();
        if alike { self.tiles() * self.columns } else { self.width }
    }

    /// States in all.
    pub fn states(&self) -> u64 {
        if self.joins() { self.runs * self.batches * self.states_of_run() } else { 0 }
    }

    /// States that are joined to an output.
    pub fn joined(&self) -> u64 {
        self.runs * (self.states_of_run() / self.columns.max(1))
    }
}

impl Lane {
    /// Columns of a lane that loads so many elements at once.
    fn columns(self, vector: u64) -> u64 {
        match self {
            Lane::One => 1,
            Lane::Several(_) if vector > 1 => vector,
            Lane::Several(_) => APART_COLUMNS,
        }
    }
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Folding, Layout};

    /// Warps of 132 multiprocessors.
    const WARPS: u64 = 132 * 32;

    fn of_warps(shape: &[u64], axis: i64, warps: u64) -> Columns {
        let folding = Folding::of(Layout::c(shape).unwrap(), &[axis]).unwrap();
        Columns::of(&folding.form().unwrap(), DType::F32, Lane::Several(4), warps, 8).unwrap()
    }

    fn columns(shape: &[u64], axis: i64) -> Columns {
        of_warps(shape, axis, WARPS)
    }

    #[test]
    fn warps_have_as_many_units_each() {
        let shapes: [(&[u64], i64); 4] = [
            (&[512, 3, 512, 341], 2),
            (&[1 << 26, 4], 0),
            (&[100_000, 3000], 0),
            (&[4096, 128 * 3000], 0),
        ];
        for (shape, axis) in shapes {
            let all = columns(shape, axis);
            let rounds = all.units().div_ceil(WARPS);
            let share = all.units() as f64 / (rounds * WARPS) as f64;
            assert!(share > 0.93, "{shape:?}: {share} of {all:?}");
            assert!(all.states() * 8 * 10 < shape.iter().product::<u64>() * 4, "{all:?}");
        }
    }

    #[test]
    fn columns_that_tiles_would_hold_in_part_are_in_one_line() {
        // Shapes of the kernels' own tests, which run with 64 warps.
        for shape in [[66, 9, 45], [33, 9, 131], [25, 70, 131]] {
            assert!(of_warps(&shape, 1, 64).lines, "{shape:?}");
        }
        let all = columns(&[512, 3, 512, 341], 2);
        assert!(all.lines && !all.joins(), "{all:?}");
        assert_eq!(all.units(), 4092);
        for (shape, axis) in
            [(&[512, 3, 174_593][..], 1), (&[4, 512, 131_073], 1), (&[100, 64, 340], 1)]
        {
            assert!(!columns(shape, axis).lines, "{shape:?}");
        }
    }

    #[test]
    fn few_rows_are_one_run() {
        assert!(!columns(&[4, 1 << 26], 0).joins());
        assert!(!columns(&[3, 89_478_485], 0).joins());
    }

    #[test]
    fn outputs_that_a_tile_has_several_times_leave_a_state_each() {
        assert_eq!(columns(&[1 << 26, 4], 0).states_of_run(), 4);
        assert_eq!(columns(&[1 << 26, 3], 0).states_of_run(), 9);
        assert_eq!(columns(&[1 << 26, 96], 0).states_of_run(), 3 * 96);
        assert_eq!(columns(&[1 << 20, 300], 0).states_of_run(), 300);
    }
}
