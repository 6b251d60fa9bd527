//! Rows left out of one of many reductions' inputs: the same are left out of what parts it, and indices count them all the same.

use warpfold::segment::Bounds;
use warpfold::{Column, Error, Op, Segments};

use super::{BatchedResults, Parted};
use crate::Failure;
use crate::args::Reduction;
use crate::input::text::{Indices, Missing, MissingRuns};
use crate::opening;

/// Whether rows may be left out.
pub(super) fn may_leave_out(args: &Reduction) -> bool {
    args.written.dialect(false).missing == Missing::Skip
}

/// Fails where indices would have nothing to count from.
pub(super) fn check(args: &Reduction) -> Result<(), Failure> {
    let gives_indices =
        matches!(args.op(), Op::ArgMin | Op::ArgMax | Op::Stats) && args.maps.operator.is_none();
    if may_leave_out(args) && !args.parts.by.is_empty() && gives_indices && !args.parts.flat {
        return Err(Failure::Usage(format!(
            "--missing skip leaves rows out, and the indices of {} within a group would not count them; add --flat, and they are those of rows of data",
            args.op()
        )));
    }
    Ok(())
}

/// Segments of the data, as offsets in the data and in what is kept of them.
pub(crate) struct Cut {
    data: Vec<u64>,
    pub(super) kept: Vec<u64>,
    /// Elements of the data.
    elements: u64,
}

/// What was left out of an input.
pub(super) struct Rows {
    /// In any of the columns that belong together.
    gaps: MissingRuns,
}

impl Rows {
    /// Leaves out of what parts the values what these lack, of which so many were kept; and says what is to be left out of them, as the keys lack it.
    pub(super) fn align(
        args: &Reduction,
        kept: u64,
        value_gaps: MissingRuns,
        parted: Parted,
        key_gaps: &MissingRuns,
    ) -> Result<(Rows, Parted, MissingRuns), Failure> {
        let none = MissingRuns::default;
        let nothing = value_gaps.elements() == 0 && key_gaps.elements() == 0;
        if nothing || !opening::key_columns(args).is_empty() {
            // A column of the same text has lost the same rows.
            return Ok((Rows { gaps: value_gaps }, parted, none()));
        }
        let data = kept + value_gaps.elements();
        let (parted, lost, gaps) = match parted {
            Parted::Keys(keys) => {
                let rows = keys.len() + key_gaps.elements();
                if rows != data {
                    return Err(Failure::from(Error::Keys {
                        requested: format!("groups of {data} elements by {rows} keys"),
                        obstacle: "there is not one key for each element".into(),
                        remedy: "cut the longer one",
                    }));
                }
                let keys = keys.without(&Indices::new(key_gaps).among_kept(&value_gaps))?;
                let lost = Indices::new(&value_gaps).among_kept(key_gaps);
                (Parted::Keys(keys), lost, value_gaps.union(key_gaps))
            }
            Parted::Axes => (Parted::Axes, none(), value_gaps),
            parted => {
                let segments = parted.segments().expect("neither axes nor keys");
                let cut = Cut::new(&Segments::check(segments, data)?, &value_gaps, data);
                (Parted::Cut(cut), none(), value_gaps)
            }
        };
        Ok((Rows { gaps }, parted, lost))
    }

    /// Has indices count what was left out.
    pub(super) fn in_data(&self, args: &Reduction, parted: &Parted, found: &mut BatchedResults) {
        let is_cut = matches!(parted, Parted::Cut(_));
        if self.gaps.elements() == 0 && !is_cut {
            return;
        }
        let indices = Indices::new(&self.gaps);
        let none = Vec::new();
        for (at, (name, column)) in found.columns.iter_mut().enumerate() {
            let ("argmin" | "argmax", Column::U64(column)) = (*name, column) else { continue };
            let gaps = found.gaps.get(at).unwrap_or(&none);
            for (output, index) in column.iter_mut().enumerate() {
                if gaps.binary_search(&(output as u64)).is_ok() {
                    continue;
                }
                *index = indices.in_data(*index);
                if let (Parted::Cut(cut), false) = (parted, args.parts.flat) {
                    *index -= cut.data[output];
                }
            }
        }
    }
}

impl Cut {
    fn new(bounds: &Bounds<'_>, gaps: &MissingRuns, elements: u64) -> Cut {
        let segments = bounds.count() as usize;
        let start = |segment: usize| bounds.range(segment).start as u64;
        let end = segments.checked_sub(1).map_or(0, |last| bounds.range(last).end as u64);
        let data: Vec<u64> = (0..segments).map(start).chain([end]).collect();
        let indices = Indices::new(gaps);
        let kept = data.iter().map(|&offset| indices.kept_before(offset)).collect();
        Cut { data, kept, elements }
    }

    /// The first offset and the last, and how many elements there are.
    pub(super) fn span(&self) -> (u64, u64, u64) {
        let ends = self.data.first().zip(self.data.last());
        let (first, last) = ends.map_or((0, 0), |(first, last)| (*first, *last));
        (first, last, self.elements)
    }
}
