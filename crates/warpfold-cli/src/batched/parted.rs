//! [`Parted`]: what parts an input, as it is read: offsets, lengths or keys, from files or columns; and what of it is left where rows are left out.

use std::path::Path;

use warpfold::Segments;

use super::numbers::Numbers;
use super::rows::{Cut, Rows};
use super::tuples::{Coded, Tuples};
use super::{BatchedResults, keys, rows, tuples};
use crate::Failure;
use crate::args::{Reduction, Verbosity};
use crate::input::text::{MissingRuns, SharedNotes};
use crate::input::{Name, Whole};
use crate::one_array::ReadFile;
use crate::opening;
use crate::table::Labels;

/// What parts an input, read.
pub(crate) enum Parted {
    Axes,
    Every(u64),
    Offsets(Numbers),
    Lengths(Numbers),
    Keys(Whole),
    /// Segments of an input of which rows were left out.
    Cut(Cut),
}

/// What parts an input, and what was found where it was read.
pub(crate) struct Read {
    pub(crate) parted: Parted,
    /// Notes of texts.
    pub(super) texts: Vec<(Name, SharedNotes)>,
    /// Keys that are missing.
    pub(super) gaps: MissingRuns,
    /// What keys stand for where they are numbers of combinations.
    pub(crate) tuples: Combined,
}

/// What parts an input, without the rows that the input lacks.
pub(crate) struct Aligned {
    pub(crate) parted: Parted,
    pub(super) rows: Rows,
    pub(crate) tuples: Combined,
    /// What the input has and its parts lack.
    lost: MissingRuns,
}

impl Aligned {
    /// The input without what its parts lack.
    pub(crate) fn kept(&self, whole: Whole) -> Result<Whole, Failure> {
        Ok(whole.without(&self.lost)?)
    }
}

impl Read {
    /// Leaves out what an input lacks, of which so many elements were kept, and what its text has gaps for.
    pub(crate) fn align(
        self,
        args: &Reduction,
        kept: u64,
        gaps: MissingRuns,
    ) -> Result<Aligned, Failure> {
        let (rows, parted, lost) = Rows::align(args, kept, gaps, self.parted, &self.gaps)?;
        Ok(Aligned { parted, rows, tuples: self.tuples, lost })
    }
}

/// Several keys, if there are.
pub(crate) struct Combined(pub(super) Option<Tuples>);

impl Combined {
    /// Results, or an error, by keys in place of their combinations' numbers.
    pub(super) fn of(
        &self,
        found: Result<BatchedResults, Failure>,
    ) -> Result<BatchedResults, Failure> {
        let labelled =
            |found: BatchedResults| BatchedResults { labels: self.labels(found.labels), ..found };
        found.map(labelled).map_err(|failure| self.named(failure))
    }

    /// Keys in place of their combinations' numbers.
    pub(crate) fn labels(&self, labels: Labels) -> Labels {
        match &self.0 {
            None => labels,
            Some(tuples) => tuples.labels(labels),
        }
    }

    /// An error by keys in place of their combination's number.
    pub(crate) fn named(&self, failure: Failure) -> Failure {
        match &self.0 {
            None => failure,
            Some(tuples) => tuples.named(failure),
        }
    }
}

impl Parted {
    /// Reads it, with the notes of texts.
    pub(crate) fn read(args: &Reduction, values: &[ReadFile]) -> Result<Read, Failure> {
        let parts = &args.parts;
        let dialect = args.written.dialect(args.verbosity() == Verbosity::Verbose);
        if let [_, _, ..] = &parts.by[..] {
            return Parted::tuples(args, values);
        }
        let key = parts.by.first();
        let mut gaps = MissingRuns::default();
        let (parted, notes) = match (key, &parts.segments, &parts.lengths, parts.every) {
            (Some(path), ..) => {
                let read = keys::read(args, path, values)?;
                if read.words.is_some() {
                    return Parted::words(args, path, read);
                }
                gaps = read.gaps;
                (Parted::Keys(read.keys), read.notes)
            }
            (_, Some(path), ..) => {
                let (numbers, notes) = Numbers::read(path, "offsets", dialect)?;
                (Parted::Offsets(numbers), notes)
            }
            (_, _, Some(path), _) => {
                let (numbers, notes) = Numbers::read(path, "lengths", dialect)?;
                (Parted::Lengths(numbers), notes)
            }
            (.., Some(length)) => (Parted::Every(length), None),
            _ => (Parted::Axes, None),
        };
        let path = key.or(parts.segments.as_ref()).or(parts.lengths.as_ref());
        let texts = path.map(|path| Name::of(path.clone())).zip(notes).into_iter().collect();
        Ok(Read { parted, texts, gaps, tuples: Combined(None) })
    }

    /// Words, as their numbers.
    fn words(args: &Reduction, path: &Path, mut read: keys::Read) -> Result<Read, Failure> {
        if args.parts.groups.is_some() {
            return Err(Failure::Usage(format!(
                "--groups is for keys that are the numbers of groups, and those of {} are words; leave it out",
                path.display().to_string().escape_debug()
            )));
        }
        let (name, notes) = (Name::of(path.to_path_buf()), read.notes.take());
        let gaps = std::mem::take(&mut read.gaps);
        let (numbers, tuples) =
            Tuples::number(name.clone(), &[Coded::of(read)], vec!["key".into()])?;
        let texts = notes.map(|notes| (name, notes)).into_iter().collect();
        Ok(Read { parted: Parted::Keys(numbers), texts, gaps, tuples: Combined(Some(tuples)) })
    }

    /// Several keys, as numbers of their combinations.
    fn tuples(args: &Reduction, values: &[ReadFile]) -> Result<Read, Failure> {
        let paths = &args.parts.by;
        let columns = opening::key_columns(args).len();
        if columns > 0 && columns < paths.len() && rows::may_leave_out(args) {
            return Err(Failure::Usage(
                "--missing skip leaves rows out of a text, its columns of keys included, and not out of keys in files of their own; put the keys into one text".into(),
            ));
        }
        let (mut all, mut texts) = (Vec::new(), Vec::new());
        for path in paths {
            let mut read = keys::read(args, path, values)?;
            let (notes, gaps) = (read.notes.take(), std::mem::take(&mut read.gaps));
            texts.extend(notes.map(|notes| (Name::of(path.clone()), notes)));
            all.push((Coded::of(read), gaps));
        }
        let (keys, gaps) = tuples::align(all)?;
        let names = paths.iter().map(|path| keys::name(args, path)).collect();
        let (numbers, tuples) = Tuples::number(Name::of(paths[0].clone()), &keys, names)?;
        // The numbers are copies: what they were made of must not have changed meanwhile.
        keys.iter().try_for_each(Coded::check_unchanged)?;
        Ok(Read { parted: Parted::Keys(numbers), texts, gaps, tuples: Combined(Some(tuples)) })
    }

    /// Fails if a file has changed since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), Failure> {
        match self {
            Parted::Keys(whole)
            | Parted::Offsets(Numbers::Whole(whole))
            | Parted::Lengths(Numbers::Whole(whole)) => Ok(whole.check_unchanged()?),
            _ => Ok(()),
        }
    }

    /// Says how many of so many elements are in no segment, as offsets need not span all of them.
    pub(crate) fn tell_outside(&self, args: &Reduction, n: u64) {
        let span = match self {
            Parted::Offsets(numbers) => numbers.ends().map(|(first, last)| (first, last, n)),
            Parted::Cut(cut) => Some(cut.span()),
            _ => None,
        };
        let Some((first, last, n)) = span else { return };
        let elements = |n: u64| if n == 1 { "1 element".into() } else { format!("{n} elements") };
        let outside = match (first, n.saturating_sub(last)) {
            (0, 0) => return,
            (before, 0) => format!("{} before the first offset", elements(before)),
            (0, behind) => format!("{} behind the last offset", elements(behind)),
            (before, behind) => {
                format!("{} before the first offset and {behind} behind the last", elements(before))
            }
        };
        let path = args.parts.segments.as_ref().or(args.parts.lengths.as_ref());
        let name = path.map_or_else(String::new, |path| format!("{}: ", Name::of(path.clone())));
        crate::say!("note: {name}in no segment: {outside}, of {n}");
    }

    /// Segments, if it is these.
    pub(crate) fn segments(&self) -> Option<Segments<'_>> {
        Some(match self {
            Parted::Every(length) => Segments::every(*length),
            Parted::Offsets(numbers) => Segments::Offsets(numbers.as_numbers()),
            Parted::Lengths(numbers) => Segments::Lengths(numbers.as_numbers()),
            Parted::Cut(cut) => Segments::Offsets(cut.kept.as_slice().into()),
            Parted::Axes | Parted::Keys(_) => return None,
        })
    }
}
