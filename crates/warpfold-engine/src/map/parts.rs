//! Maps of parts of arrays: each output as if its elements were reduced alone.
//!
//! Outputs whose elements lie one behind the other (rows, segments) are mapped where they lie; the elements of others (columns, groups) are
//! gathered, some thousands at a time. Nothing is as long as the arrays but, of groups, the elements' order.

use std::any::Any;
use std::ops::Range;

use warpfold_exact::partial::{Finish, Output, Summary};
use warpfold_expr::{Slice, Tiles};
use warpfold_num::{Column, DType, Empty, Error, Op, Result, with_element};
use warpfold_plan::group::for_each;
use warpfold_plan::shape::Folding;
use warpfold_plan::{HostArray, Indices, Parts, Request};

use super::arrays;
use super::fold::{CHUNK, Grain};
use super::operand::{Each, Operand, fits};
use super::wanted::Wanted;
use super::{Folded, Map, Measure, refused};
use crate::Columns;

mod ending;
mod share;
mod summaries;

pub use ending::ColumnsOf;
use ending::Ending;
pub use summaries::columns_of_stats;

pub use share::Share;
pub(super) use share::{rest, share};

/// Elements, more or less, whose outputs a thread takes at once.
const BLOCK: usize = 1 << 16;

/// Elements of a row at most for which a value that all of them have is repeated in memory.
const REPEATED: usize = 1 << 20;

/// Where the elements of outputs lie.
pub(crate) enum Elements<'p> {
    /// One behind the other, from a function of the output.
    Runs(Box<dyn Fn(usize) -> Range<usize> + Sync + 'p>),
    /// At the sum of the first's index and an offset, which all outputs share.
    Strided { folding: &'p Folding, each: usize },
    /// Where a list says: the elements' indices by group, and where each group's begin.
    Listed { order: Vec<usize>, starts: Vec<usize> },
}

impl<'p> Elements<'p> {
    /// The elements of the parts of `n`, and how many outputs there are.
    pub(crate) fn of(parts: &'p Parts<'p>, n: usize) -> Result<(Self, usize)> {
        let same = |elements: u64| {
            if elements == n as u64 {
                return Ok(());
            }
            let obstacle = format!("the parts are of {elements} elements, and the arrays have {n}");
            Err(refused("map", obstacle, "part arrays of one length"))
        };
        Ok(match parts {
            Parts::Whole => (Elements::Runs(Box::new(move |_| 0..n)), 1),
            Parts::Axes(_, folding) => {
                let (outputs, each) = (folding.outputs()?, folding.inputs()?);
                same(outputs * each)?;
                let is_run = each < 2 || outputs == 0 || {
                    folding.flat(0, each - 1) - folding.flat(0, 0) == each - 1
                };
                let each = each as usize;
                let elements = if is_run {
                    Elements::Runs(Box::new(move |output| {
                        let first = if each == 0 { 0 } else { folding.flat(output as u64, 0) };
                        first as usize..first as usize + each
                    }))
                } else {
                    Elements::Strided { folding, each }
                };
                (elements, outputs as usize)
            }
            Parts::Segments(bounds, _) => {
                if bounds.elements() > n as u64 {
                    same(bounds.elements())?;
                }
                let run = move |segment: usize| bounds.range(segment);
                (Elements::Runs(Box::new(run)), bounds.count() as usize)
            }
            Parts::Groups(grouping, _) => {
                same(grouping.elements())?;
                let groups = grouping.groups() as usize;
                let mut starts = vec![0; groups + 1];
                for_each(grouping.numbers(), 0..n, |_, group| starts[group + 1] += 1);
                for group in 0..groups {
                    starts[group + 1] += starts[group];
                }
                let (mut next, mut order) = (starts.clone(), vec![0; n]);
                for_each(grouping.numbers(), 0..n, |at, group| {
                    order[next[group]] = at;
                    next[group] += 1;
                });
                (Elements::Listed { order, starts }, groups)
            }
        })
    }

    /// How many elements an output has.
    pub(crate) fn count(&self, output: usize) -> usize {
        match self {
            Elements::Runs(run) => run(output).len(),
            Elements::Strided { each, .. } => *each,
            Elements::Listed { starts, .. } => starts[output + 1] - starts[output],
        }
    }

    /// The indices of some elements of an output, by their positions; `offsets` are those of the last request.
    pub(crate) fn indices(
        &self,
        output: usize,
        positions: Range<usize>,
        offsets: &mut (Range<usize>, Vec<usize>),
    ) -> Vec<usize> {
        match self {
            Elements::Runs(run) => {
                run(output).skip(positions.start).take(positions.len()).collect()
            }
            Elements::Strided { folding, .. } => {
                let first = folding.flat(0, 0);
                if offsets.0 != positions {
                    let offset = |position| (folding.flat(0, position as u64) - first) as usize;
                    *offsets = (positions.clone(), positions.map(offset).collect());
                }
                let first = folding.flat(output as u64, 0) as usize;
                offsets.1.iter().map(|offset| first + offset).collect()
            }
            Elements::Listed { order, starts } => {
                let first = starts[output];
                order[first + positions.start..first + positions.end].to_vec()
            }
        }
    }
}

/// Some elements of an array, gathered.
pub(crate) fn gathered(array: &HostArray<'_>, indices: &[usize]) -> Box<dyn Any> {
    with_element!(array.dtype(), T => {
        let elements: &[T] = array.slice().unwrap_or_else(|| unreachable!("an array has its type"));
        Box::new(indices.iter().map(|&at| elements[at]).collect::<Vec<T>>())
    })
}

pub(crate) fn array(dtype: DType, gathered: &dyn Any) -> HostArray<'_> {
    with_element!(dtype, T => {
        let elements: Option<&Vec<T>> = gathered.downcast_ref();
        HostArray::of(elements.map_or(&[], Vec::as_slice))
    })
}

/// An element so many times.
fn repeated(array: &HostArray<'_>, at: usize, count: usize) -> Box<dyn Any> {
    with_element!(array.dtype(), T => {
        let elements: &[T] = array.slice().unwrap_or_else(|| unreachable!("an array has its type"));
        Box::new(vec![elements[at]; count])
    })
}

/// Folds some elements of a row, which stand at these positions of it; a value that the whole row has is repeated for a part of it at a time.
fn of_row(
    map: &Map,
    inputs: &[Operand<'_>],
    row: usize,
    first: usize,
    positions: Range<usize>,
    mut fold: impl FnMut(&[HostArray<'_>], u64) -> Result<Folded>,
) -> Result<Folded> {
    let is_repeated = |input: &Operand<'_>| input.each == Each::Row;
    let most = if inputs.iter().any(is_repeated) { REPEATED } else { usize::MAX };
    let length = positions.len().min(most);
    let repeated = inputs
        .iter()
        .map(|input| is_repeated(input).then(|| repeated(&input.array, row, length)))
        .collect::<Vec<Option<Box<dyn Any>>>>();
    let mut part = |positions: Range<usize>| {
        let arrays = inputs.iter().zip(&repeated).map(|(input, repeated)| match repeated {
            Some(values) => {
                arrays::part(&array(input.array.dtype(), &**values), 0..positions.len())
            }
            None if input.each == Each::Column => arrays::part(&input.array, positions.clone()),
            None => arrays::part(&input.array, first + positions.start..first + positions.end),
        });
        fold(&arrays.collect::<Vec<_>>(), positions.start as u64)
    };
    if positions.len() <= most {
        return part(positions);
    }
    let mut all = map.empty();
    for start in positions.clone().step_by(most) {
        all.merge(&part(start..positions.end.min(start + most))?);
    }
    Ok(all)
}

/// Fails unless all parts are rows of one length, where some inputs are not of elements, and these suit them.
fn check_rows(
    map: &Map,
    inputs: &[Operand<'_>],
    elements: &Elements<'_>,
    outputs: usize,
) -> Result<()> {
    if inputs.iter().all(|input| input.each == Each::Element) {
        return Ok(());
    }
    if outputs == 0 {
        return Ok(());
    }
    let length = elements.count(0);
    let is_of_rows = matches!(elements, Elements::Runs(_))
        && (0..outputs).all(|output| elements.count(output) == length);
    if !is_of_rows {
        let obstacle = "an input has a value for each column or row, and these parts are no rows";
        let remedy = "reduce the last axis, or segments of one length, or repeat its values";
        return Err(refused("map", obstacle.into(), remedy));
    }
    inputs
        .iter()
        .zip(map.inputs())
        .try_for_each(|(input, name)| fits(name, input.each, input.array.len(), outputs, length))
}

/// What a thread keeps between outputs.
struct Worker<'m> {
    map: &'m Map,
    tiles: Tiles<'m>,
    offsets: (Range<usize>, Vec<usize>),
}

impl<'m> Worker<'m> {
    fn new(map: &'m Map, n: usize) -> Self {
        Worker { map, tiles: map.tiles(n), offsets: (0..0, Vec::new()) }
    }

    /// The partial of some elements of an output, by their positions in it; indices count from its first.
    fn fold(
        &mut self,
        inputs: &[Operand<'_>],
        elements: &Elements<'_>,
        output: usize,
        positions: Range<usize>,
    ) -> Result<Folded> {
        if let Elements::Runs(run) = elements {
            let (map, first) = (self.map, run(output).start);
            return of_row(map, inputs, output, first, positions, |parts, start| {
                self.run(parts, start)
            });
        }
        let mut all = self.map.empty();
        for first in positions.clone().step_by(CHUNK) {
            let positions = first..positions.end.min(first + CHUNK);
            let indices = elements.indices(output, positions, &mut self.offsets);
            let parts: Vec<_> =
                inputs.iter().map(|input| gathered(&input.array, &indices)).collect();
            let arrays: Vec<_> = inputs
                .iter()
                .zip(&parts)
                .map(|(input, part)| array(input.array.dtype(), &**part))
                .collect();
            all.merge(&self.run(&arrays, first as u64)?);
        }
        Ok(all)
    }

    fn run(&mut self, arrays: &[HostArray<'_>], start: u64) -> Result<Folded> {
        let slices: Vec<Slice<'_>> = arrays.iter().map(arrays::slice).collect();
        let n = arrays.first().map_or(0, HostArray::len);
        let mut grain = Grain::new(self.map, arrays, &slices, start, &mut self.tiles);
        grain.fold(0..n)?;
        Ok(grain.finish())
    }
}

/// The results of all outputs, a list for each that is wanted.
pub(super) fn columns(
    map: &Map,
    inputs: &[Operand<'_>],
    parts: &Parts<'_>,
    (indices, empty): (Indices, Empty),
    finish: Finish,
) -> Result<Vec<ColumnsOf>> {
    // Columns of stats have gaps of their own each.
    let n = match empty {
        Empty::Error => arrays::length_of(map, &arrays::given_of(inputs))?,
        Empty::Nan | Empty::None => length_without_stats(map, inputs)?,
    };
    let (elements, outputs) = Elements::of(parts, n)?;
    check_rows(map, inputs, &elements, outputs)?;
    let ending = Ending::of(map, finish, empty);
    let all = results(map, n, inputs, parts, (&elements, 0..outputs), &ending);
    let all = all.map_err(|(_, error)| error)?;
    (0..)
        .zip(all)
        .map(|(k, outputs)| columns_of_output(map, k, outputs, parts, n, indices, &ending))
        .collect()
}

/// The partial of some elements of one output, by all threads where they are many and lie one behind the other.
fn piece(
    map: &Map,
    n: usize,
    inputs: &[Operand<'_>],
    elements: &Elements<'_>,
    output: usize,
    positions: Range<usize>,
) -> Result<Folded> {
    match elements {
        Elements::Runs(run) if positions.len() > 4 * BLOCK => {
            let first = run(output).start;
            of_row(map, inputs, output, first, positions, |parts, start| map.fold(parts, start))
        }
        _ => Worker::new(map, n).fold(inputs, elements, output, positions),
    }
}

/// The one length of the arrays, of a map whose results are one column or two each.
fn length_without_stats(map: &Map, inputs: &[Operand<'_>]) -> Result<usize> {
    let n = arrays::length_of(map, &arrays::given_of(inputs))?;
    if map.wanted.iter().any(|wanted| wanted.measure == Measure::Op(Op::Stats)) {
        let remedy = "ask for the results that are wanted, one by one";
        let obstacle = "stats of an expression have no results for parts without elements to leave out, nor for shares of a world";
        return Err(refused("map", obstacle.into(), remedy));
    }
    Ok(n)
}

/// A result of each that is wanted of an output; none where that is no error.
type OfOutput = Vec<Option<Output>>;

/// The results of an output from its partial, or its error, by its name.
fn finished(
    map: &Map,
    parts: &Parts<'_>,
    output: usize,
    folded: Result<Folded>,
    ending: &Ending,
) -> Result<OfOutput, (usize, Error)> {
    let named = |error| {
        let name = parts.name(output as u64);
        (output, Error::Output { output: name, error: Box::new(error) })
    };
    let results = map.results(&folded.map_err(named)?, ending.finish);
    let one = |(k, (_, result)): (usize, (&str, &Result<Output>))| match result {
        Ok(output) => Ok(Some(output.clone())),
        Err(Error::Empty { .. } | Error::TooFew { .. }) if ending.allows(k) => Ok(None),
        Err(error) => Err(named(error.clone())),
    };
    results.iter().enumerate().map(one).collect()
}

/// The results of some outputs, a list for each that is wanted; or the first of them that has none.
fn results(
    map: &Map,
    n: usize,
    inputs: &[Operand<'_>],
    parts: &Parts<'_>,
    (elements, outputs): (&Elements<'_>, Range<usize>),
    ending: &Ending,
) -> Result<Vec<OfOutput>, (usize, Error)> {
    let threads = map.policy.threads.unwrap_or(usize::MAX).min(crate::facts().threads);
    let each = n.checked_div(outputs.len()).unwrap_or(0);
    let found: Vec<Result<Vec<OfOutput>, (usize, Error)>> = match elements {
        // Few and long: the threads share each.
        Elements::Runs(_) if outputs.len() < 2 * threads && each > 4 * BLOCK => {
            let one = |output| {
                let all = 0..elements.count(output);
                let folded = piece(map, n, inputs, elements, output, all);
                Ok(vec![finished(map, parts, output, folded, ending)?])
            };
            outputs.clone().map(one).collect()
        }
        elements => {
            let block = (BLOCK / each.max(1)).max(1);
            let blocks = outputs.len().div_ceil(block);
            warpfold_cpu::threads::map(threads, 0..blocks, |k| {
                let first = outputs.start + k * block;
                let mut worker = Worker::new(map, n);
                (first..outputs.end.min(first + block))
                    .map(|output| {
                        let all = 0..elements.count(output);
                        let folded = worker.fold(inputs, elements, output, all);
                        finished(map, parts, output, folded, ending)
                    })
                    .collect()
            })
        }
    };
    let mut all: Vec<OfOutput> =
        map.wanted.iter().map(|_| Vec::with_capacity(outputs.len())).collect();
    for block in found {
        for outputs in block? {
            all.iter_mut().zip(outputs).for_each(|(all, output)| all.push(output));
        }
    }
    Ok(all)
}

/// Results of the `k`th that is wanted as columns.
fn columns_of_output(
    map: &Map,
    k: usize,
    outputs: Vec<Option<Output>>,
    parts: &Parts<'_>,
    n: usize,
    indices: Indices,
    ending: &Ending,
) -> Result<ColumnsOf> {
    let wanted = &map.wanted[k];
    let of = |columns, gaps| ColumnsOf { name: wanted.name.clone(), columns, gaps };
    if outputs.is_empty() {
        return Ok(of(none(wanted, ending.finish)?, Vec::new()));
    }
    let flat = |column| match column {
        Column::U64(positions) if indices == Indices::OfArray => {
            Column::U64(parts.flat(n, positions))
        }
        column => column,
    };
    let (outputs, gaps) = ending.filled(k, outputs);
    if wanted.measure == Measure::Op(Op::Stats) {
        let summary = |output| match output {
            Output::Summary(summary) => *summary,
            other => unreachable!("{other:?} of stats"),
        };
        let summaries: Vec<Summary> = outputs.into_iter().map(summary).collect();
        let columns = columns_of_stats(&summaries, |output| parts.name(output))?.into_iter();
        let columns = columns.map(|(name, column)| match name {
            "argmin" | "argmax" => (name, flat(column)),
            _ => (name, column),
        });
        return Ok(of(columns.collect(), gaps));
    }
    let (mut first, mut second) = (Vec::with_capacity(outputs.len()), Vec::new());
    for output in outputs {
        match output {
            Output::One(value) => first.push(value),
            Output::Pair(least, greatest) => {
                first.push(least);
                second.push(greatest);
            }
            Output::Summary(_) => unreachable!("stats have columns of their own"),
        }
    }
    let is_all_gaps = gaps.len() == first.len();
    let column = Column::of_values(first);
    if !second.is_empty() {
        return Ok(of(vec![("min", column), ("max", Column::of_values(second))], gaps));
    }
    let is_index = matches!(wanted.measure, Measure::Op(Op::ArgMin | Op::ArgMax));
    let column = if is_index && !is_all_gaps { flat(column) } else { column };
    Ok(of(vec![(wanted.measure.name(), column)], gaps))
}

/// No results, of the type that some would have.
fn none(wanted: &Wanted, finish: Finish) -> Result<Columns> {
    let Measure::Op(op) = wanted.measure else {
        let is_narrow = finish.round_to.unwrap_or(wanted.dtype) == DType::F32;
        let column =
            if is_narrow { Column::of::<f32>(Vec::new()) } else { Column::of::<f64>(Vec::new()) };
        return Ok(vec![(wanted.measure.name(), column)]);
    };
    let segments =
        crate::segments(warpfold_plan::segment::Segments::every(1), 0, Default::default())?;
    with_element!(wanted.dtype, T => {
        crate::columns(&Request::new(op, HostArray::of::<T>(&[])).parts(segments.into()), finish)
    })
}
