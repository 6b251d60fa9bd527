//! [`Sample`]: some parts of a cut, and what their reductions must be, by the oracle.

use warpfold::partial::{Output, Summary};
use warpfold::{Column, Element, Op, Value};

use super::cut::{Cut, Keys};
use crate::array::Data;
use crate::oracle::{Split, Truth};

/// Parts that are looked at, spread over all.
const PARTS: usize = 24;

/// Elements that are looked at: of many long parts, only some.
const ELEMENTS: usize = 1 << 24;

/// What some parts of an array must give.
pub(super) struct Sample<T: Element> {
    /// How many results there are.
    results: usize,
    /// The place of a part's result, and its truth.
    parts: Vec<(usize, Truth<T>)>,
}

impl<T: Element<Component: Split>> Sample<T> {
    /// Takes parts that have elements, the first and the last of them with others between, out of an array.
    pub(super) fn of(x: &[T], cut: &Cut, data: Data) -> Sample<T> {
        const NOT_TAKEN: u32 = u32::MAX;
        let mut lengths = vec![0usize; cut.parts(x.len())];
        cut.each(x.len(), |part, _| lengths[part] += 1);
        let has_empty = !matches!(cut, Cut::Groups { known_as: Keys::Any, .. });
        // Results have the order of the parts; those of keys of any kind are of present ones alone.
        let results = lengths.iter().enumerate().filter(|(_, length)| has_empty || **length > 0);
        let results: Vec<usize> = results.map(|(part, _)| part).collect();
        let filled: Vec<usize> = (0..results.len()).filter(|k| lengths[results[*k]] > 0).collect();
        let wanted = PARTS.min(filled.len());
        let (mut taken, mut elements) = (Vec::new(), 0);
        let mut places = vec![NOT_TAKEN; lengths.len()];
        // The first, the last, and others between while they are not too long.
        for k in
            (0..1).chain(wanted.saturating_sub(1).max(1)..wanted).chain(1..wanted.saturating_sub(1))
        {
            let result = filled[k * (filled.len() - 1) / (wanted - 1).max(1)];
            let part = results[result];
            if taken.len() < 2 || elements + lengths[part] <= ELEMENTS {
                elements += lengths[part];
                places[part] = taken.len() as u32;
                taken.push((result, Vec::with_capacity(lengths[part])));
            }
        }
        cut.each(x.len(), |part, at| {
            if places[part] != NOT_TAKEN {
                taken[places[part] as usize].1.push(x[at]);
            }
        });
        let truths = taken.into_iter().map(|(result, part)| (result, Truth::of(&part, data)));
        Sample { results: results.len(), parts: truths.collect() }
    }

    /// How many results all parts have.
    pub(super) fn results(&self) -> usize {
        self.results
    }

    /// Compares the results of a reduction with the truth.
    ///
    /// # Errors
    /// The first that is wrong.
    pub(super) fn check(&self, op: Op, found: &[(&'static str, Column)]) -> Result<(), String> {
        for (name, column) in found {
            if column.len() != self.results {
                return Err(format!("{} results of {} parts ({name})", column.len(), self.results));
            }
        }
        for (result, truth) in &self.parts {
            let output = output(op, found, *result)?;
            truth.check(op, &output).map_err(|wrong| format!("part {result}: {wrong}"))?;
        }
        Ok(())
    }
}

/// One of many results, as a reduction of its part alone has it.
fn output(op: Op, found: &[(&'static str, Column)], at: usize) -> Result<Output, String> {
    let some = |name: &str| {
        let column = found.iter().find(|(column, _)| *column == name);
        column.map(|(_, column)| column.get(at))
    };
    let value = |name: &str| some(name).ok_or_else(|| format!("no results called {name}"));
    let number = |name: &str| match some(name) {
        Some(Value::U64(number)) => Some(number),
        _ => None,
    };
    Ok(match op {
        Op::MinMax => Output::Pair(value("min")?, value("max")?),
        Op::Stats => Output::Summary(Box::new(Summary {
            count: number("count").ok_or("no counts")?,
            nan_count: number("nan_count").ok_or("no counts of NaNs")?,
            sum: value("sum")?,
            mean: some("mean"),
            var: some("var"),
            std: some("std"),
            min: some("min"),
            max: some("max"),
            argmin: number("argmin"),
            argmax: number("argmax"),
            l1: value("l1")?,
            l2: value("l2")?,
        })),
        _ => Output::One(found.first().ok_or("no results")?.1.get(at)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_result_of_any_taken_part_is_found() {
        let x = [1.5f64, -2.0, 4.0, 8.0, 0.25];
        let keys = vec![3u32, 1, 3, 1, 3];
        let cut = |known_as| Cut::Groups { keys: keys.clone(), groups: 5, known_as };
        let found = |values: &[f64]| [("sum", Column::of(values.to_vec()))];
        let any = Sample::of(&x, &cut(Keys::Any), Data::Natural);
        assert_eq!(any.results(), 2);
        assert_eq!(any.check(Op::Sum, &found(&[6.0, 5.75])), Ok(()));
        assert!(any.check(Op::Sum, &found(&[6.0, 5.5])).is_err());
        assert!(any.check(Op::Sum, &found(&[6.0])).is_err());
        // Of dense keys, parts without elements have results that nobody looks at.
        let dense = Sample::of(&x, &cut(Keys::Dense), Data::Natural);
        assert_eq!(dense.check(Op::Max, &found(&[9.0, 8.0, 9.0, 4.0, 9.0])), Ok(()));
        assert!(dense.check(Op::Max, &found(&[9.0, 8.5, 9.0, 4.0, 9.0])).is_err());
        let pairs = [("min", Column::of(vec![-2.0, 0.25])), ("max", Column::of(vec![8.0, 4.0]))];
        assert_eq!(any.check(Op::MinMax, &pairs), Ok(()));
        assert!(any.check(Op::MinMax, &pairs[..1]).is_err());
    }
}
