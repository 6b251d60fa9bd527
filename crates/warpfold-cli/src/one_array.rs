//! [`OneArray`]: files one after another as one array.

use crate::args::Reduction;
use crate::input::text::{Header, MissingRuns, SharedNotes};
use crate::input::{ChangeMonitor, Input, Order, Whole};
use crate::{Failure, opening};

/// Files that were read, one after another.
pub(crate) struct OneArray {
    pub(crate) whole: Whole,
    /// Rows that their texts lack, by their indices in the data of all files.
    pub(crate) gaps: MissingRuns,
    pub(crate) files: Vec<ReadFile>,
}

/// A file that was read, of which a column of keys may be read as well.
pub(crate) struct ReadFile {
    pub(crate) monitor: ChangeMonitor,
    /// What its first row was taken for, where that is known.
    pub(crate) header: Option<Header>,
    /// How many rows it has, those that are left out included, where that is known.
    pub(crate) rows: Option<u64>,
}

impl ReadFile {
    /// A file of which nothing is known.
    pub(crate) fn unknown(input: &Input) -> ReadFile {
        ReadFile { monitor: input.monitor(), header: None, rows: None }
    }

    /// A file that was read to its end, by its rows and by what was found in it if it is a text.
    pub(crate) fn read(monitor: ChangeMonitor, notes: &Option<SharedNotes>, rows: u64) -> ReadFile {
        let names = notes.as_ref().map(|notes| notes.counts().names);
        let header = names.map(|names| if names.is_some() { Header::Yes } else { Header::No });
        ReadFile { monitor, header, rows: Some(rows) }
    }
}

impl OneArray {
    /// Reads the files: a single one with its shape, several as elements along one axis.
    pub(crate) fn read(
        inputs: impl IntoIterator<Item = Input>,
        order: Order,
    ) -> Result<OneArray, Failure> {
        let mut all: Option<OneArray> = None;
        for input in inputs {
            let (notes, monitor) = (input.notes(), input.monitor());
            let whole = input.whole(order)?;
            let gaps = notes.as_ref().map(SharedNotes::take_gaps).unwrap_or_default();
            let file = ReadFile::read(monitor, &notes, whole.len() + gaps.elements());
            all = Some(match all {
                None => OneArray { whole, gaps, files: vec![file] },
                Some(OneArray { whole: first, gaps: mut before, mut files }) => {
                    append(&mut before, first.len(), &gaps);
                    files.push(file);
                    OneArray { whole: first.followed_by(&whole)?, gaps: before, files }
                }
            });
        }
        all.ok_or_else(|| Failure::Usage("there is no input; name one".into()))
    }
}

/// Adds the rows that the next file lacks, behind files of which so many elements were kept.
pub(crate) fn append(gaps: &mut MissingRuns, kept: u64, next: &MissingRuns) {
    let before = kept + gaps.elements();
    next.runs().for_each(|run| gaps.push(before + run.start..before + run.end));
}

/// Fails for axes of several inputs, which are one array of one axis.
pub(crate) fn check_axes<'i>(
    args: &Reduction,
    inputs: impl ExactSizeIterator<Item = &'i Input>,
) -> Result<(), Failure> {
    match args.parts.axis.is_empty() || inputs.len() == 1 {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "{} by axes takes one input, not {}, as several are one array of one axis; {}",
            args.op(),
            inputs.len(),
            opening::how_to_join(inputs)
        ))),
    }
}
