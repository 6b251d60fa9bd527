//! A share of the elements of parts, of those of all outputs one after another: results of outputs that lie in it, and the partials of those that it cuts.

use std::ops::Range;

use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{Empty, Error, Result};
use warpfold_plan::{HostArray, Indices, Parts};

use super::{
    ColumnsOf, Elements, Ending, Operand, columns_of_output, finished, length_without_stats, piece,
    results,
};
use crate::cut::{Taken, take};
use crate::map::{Folded, Map, refused};

/// The partial of a share of the elements of parts.
#[derive(Debug)]
pub struct Share {
    /// Outputs of all shares.
    pub outputs: usize,
    /// Those that lie in this one as a whole.
    pub whole: Range<usize>,
    /// Their results, whose indices count within outputs, with gaps among the outputs here; or the first output here that has none.
    pub columns: Result<ColumnsOf, (usize, Error)>,
    /// Partials of outputs that begin or end in another share.
    pub cut: Vec<(usize, Folded)>,
}

/// The results of a map that gives one result for each part, of a share: the `number`th of `of`.
pub(in crate::map) fn share(
    map: &Map,
    inputs: &[HostArray<'_>],
    parts: &Parts<'_>,
    (number, of): (usize, usize),
    empty: Empty,
    finish: Finish,
) -> Result<Share> {
    if map.wanted.len() != 1 {
        let remedy = "ask for one at a time";
        return Err(refused("map", "several results of parts are not shared out".into(), remedy));
    }
    let inputs: Vec<Operand<'_>> = inputs.iter().copied().map(Operand::from).collect();
    let inputs = &inputs[..];
    let n = length_without_stats(map, inputs)?;
    let (elements, outputs) = Elements::of(parts, n)?;
    let mut starts = vec![0];
    let mut end = 0;
    for output in 0..outputs {
        end += elements.count(output);
        starts.push(end);
    }
    let at = |number: usize| (end as u128 * number as u128 / of as u128) as usize;
    let range = |output: usize| starts[output]..starts[output + 1];
    let of_this = at(number)..at(number + 1);
    let Taken { whole, cut } = take(outputs, range, &of_this, number + 1 == of);
    let of_whole = starts[whole.end] - starts[whole.start];
    let ending = Ending::of(map, finish, empty);
    let all = results(map, of_whole, inputs, parts, (&elements, whole.clone()), &ending);
    let mut columns = match all {
        Ok(mut all) => {
            Ok(columns_of_output(map, 0, all.remove(0), parts, n, Indices::OfInput, &ending)?)
        }
        Err(missing) => Err(missing),
    };
    let mut cut_outputs = Vec::new();
    for (output, positions) in cut {
        match piece(map, n, inputs, &elements, output, positions) {
            Ok(folded) => cut_outputs.push((output, folded)),
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
    Ok(Share { outputs, whole, columns, cut: cut_outputs })
}

/// The result of an output, from the merged partial of its pieces; none where that is no error.
pub(in crate::map) fn rest(
    map: &Map,
    parts: &Parts<'_>,
    output: usize,
    folded: Folded,
    empty: Empty,
    finish: Finish,
) -> Result<Option<Output>> {
    let ending = Ending::of(map, finish, empty);
    let all = finished(map, parts, output, Ok(folded), &ending).map_err(|(_, error)| error)?;
    let (outputs, gaps) = ending.filled(0, all.into_iter().take(1).collect());
    Ok(outputs.into_iter().next().filter(|_| gaps.is_empty()))
}
