//! A share of the elements of parts, of those of all outputs one after another: results of outputs that lie in it, and what is left of those that it cuts.

use std::ops::Range;

use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{Error, Result};
use warpfold_plan::{HostArray, Indices, Parts};

use super::{Elements, Operand, arranged, finished, length, piece, results};
use crate::Columns;
use crate::map::{Folded, Map, refused};

/// What is left of a share of the elements of parts.
#[derive(Debug)]
pub struct Share {
    /// Outputs of all shares.
    pub outputs: usize,
    /// Those that lie in this one as a whole.
    pub whole: Range<usize>,
    /// Their results, whose indices count within outputs; or the first output here that has none.
    pub columns: Result<Columns, (usize, Error)>,
    /// What is left of outputs that begin or end in another share.
    pub cut: Vec<(usize, Folded)>,
}

/// The outputs of a share.
#[derive(Debug, PartialEq, Eq)]
struct Taken {
    whole: Range<usize>,
    /// Those that are cut, and the places of the elements that are in the share.
    cut: Vec<(usize, Range<usize>)>,
}

/// What a share of elements has of outputs that begin at `starts`, the last of which is their end. An output without elements belongs to the share of
/// the element that it stands before, or to the last.
fn take(starts: &[usize], share: Range<usize>, is_last: bool) -> Taken {
    let outputs = starts.len() - 1;
    let begin = |output: usize| starts[output];
    let first = starts[..outputs].partition_point(|&start| start < share.start);
    let mut end = starts[..outputs].partition_point(|&start| start < share.end);
    if is_last {
        end = outputs;
    }
    let mut cut = Vec::new();
    let mut piece = |output: usize| {
        let positions = share.start.max(begin(output))..share.end.min(starts[output + 1]);
        if positions.start < positions.end {
            cut.push((output, positions.start - begin(output)..positions.end - begin(output)));
        }
    };
    if first > 0 && begin(first - 1) < share.start {
        piece(first - 1);
    }
    if end > first && starts[end] > share.end {
        end -= 1;
        piece(end);
    }
    Taken { whole: first..end.max(first), cut }
}

/// The results of a map that gives one result for each part, of a share: the `number`th of `of`.
pub(in crate::map) fn share(
    map: &Map,
    inputs: &[HostArray<'_>],
    parts: &Parts<'_>,
    (number, of): (usize, usize),
    finish: Finish,
) -> Result<Share> {
    let [wanted] = &map.wanted[..] else {
        let remedy = "ask for one at a time";
        return Err(refused("map", "several results of parts are not shared out".into(), remedy));
    };
    let inputs: Vec<Operand<'_>> = inputs.iter().copied().map(Operand::from).collect();
    let inputs = &inputs[..];
    let n = length(map, inputs)?;
    let (elements, outputs) = Elements::of(parts, n)?;
    let mut starts = vec![0];
    let mut end = 0;
    for output in 0..outputs {
        end += elements.count(output);
        starts.push(end);
    }
    let at = |number: usize| (end as u128 * number as u128 / of as u128) as usize;
    let Taken { whole, cut } = take(&starts, at(number)..at(number + 1), number + 1 == of);
    let of_whole = starts[whole.end] - starts[whole.start];
    let all = results(map, of_whole, inputs, parts, (&elements, whole.clone()), finish);
    let mut columns = match all {
        Ok(mut all) => Ok(arranged(wanted, all.remove(0), parts, n, Indices::OfInput, finish)?),
        Err(missing) => Err(missing),
    };
    let mut left = Vec::new();
    for (output, positions) in cut {
        match piece(map, n, inputs, &elements, output, positions) {
            Ok(folded) => left.push((output, folded)),
            Err(error) => {
                let error =
                    Error::Output { output: parts.name(output as u64), error: error.into() };
                let is_first = columns.as_ref().err().is_none_or(|(known, _)| output < *known);
                if is_first {
                    columns = Err((output, error));
                }
            }
        }
    }
    Ok(Share { outputs, whole, columns, cut: left })
}

/// The result of an output, from what is left of all its pieces.
pub(in crate::map) fn rest(
    map: &Map,
    parts: &Parts<'_>,
    output: usize,
    folded: Folded,
    finish: Finish,
) -> Result<Output> {
    let all = finished(map, parts, output, Ok(folded), finish).map_err(|(_, error)| error)?;
    Ok(all.into_iter().next().unwrap_or_else(|| unreachable!("a map has results")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every output is in one share as a whole, or all of its elements are in pieces, once each and in order.
    #[test]
    fn outputs_are_taken_once_whatever_the_shares() {
        for starts in [
            &[0, 3, 3, 9, 20][..],
            &[0, 0, 0, 5, 5],
            &[0],
            &[0, 0, 0],
            &[0, 20],
            &[0, 0, 20, 20],
            &[0, 1, 2, 3, 4, 5],
        ] {
            let (outputs, n) = (starts.len() - 1, starts[starts.len() - 1]);
            for of in 1..9 {
                let mut whole = vec![0; outputs];
                let mut positions: Vec<Vec<usize>> = vec![Vec::new(); outputs];
                for number in 0..of {
                    let share = n * number / of..n * (number + 1) / of;
                    let taken = take(starts, share, number + 1 == of);
                    taken.whole.for_each(|output| whole[output] += 1);
                    taken.cut.into_iter().for_each(|(output, at)| positions[output].extend(at));
                }
                for output in 0..outputs {
                    let all: Vec<usize> = (0..starts[output + 1] - starts[output]).collect();
                    let what = format!("{output} of {starts:?} by {of}");
                    match whole[output] {
                        1 => assert!(positions[output].is_empty(), "{what}"),
                        0 => assert_eq!(positions[output], all, "{what}"),
                        _ => panic!("{what} is whole in several"),
                    }
                }
            }
        }
    }
}
