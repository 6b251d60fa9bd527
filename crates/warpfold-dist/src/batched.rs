//! Partials of many outputs, merged over all ranks: axes, segments, groups.
//!
//! Outputs go in pieces of bounded memory, whatever their number. Two ways carry them. *Gathered*, every rank gets the partials of all and merges
//! them: any reduction, bytes that grow with the number of ranks. *Summed*, the communicator adds up their digits: reductions that are sums,
//! about twice the bytes of one rank's partials, whatever the number of ranks.

use std::ops::Range;

use warpfold_exact::AnyPartial;
use warpfold_exact::partial::bytes::digits;

use crate::contribution::{is_cut_dependent, read};
use crate::exchange::{exchange_agreed, gather_padded};
use crate::sums::{AT_ONCE, sum_agreed};
use crate::{Agreement, Comm, Error, Result};

/// How partials of many outputs travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// Summed where that is fewer bytes, else gathered.
    #[default]
    Auto,
    /// Gathered and merged by each rank.
    Gather,
    /// Summed as digits, where the reduction is a sum; others are gathered.
    Sum,
}

/// From so many ranks on, sums of digits are fewer bytes than a gather: compact partials take some tens of bytes a rank, digits of f64 536, forth and back.
const SUM_FROM: usize = 16;
/// Bytes of all ranks that are gathered at once.
const GATHERED: usize = 32 << 20;

impl Way {
    /// Whether digits are summed: so many for each output, if it is a sum.
    fn is_sum(self, size: usize, digits: Option<usize>) -> bool {
        let can = digits.is_some() && size as u64 <= digits::MOST;
        match self {
            Way::Auto => can && size >= SUM_FROM,
            Way::Gather => false,
            Way::Sum => can,
        }
    }
}

/// Merges the partials of outputs that all ranks have, in one order: those of axes that are kept, of segments, of numbered groups.
/// Everyone gets the partials of all data. `mine` is this rank's, or its message that there are none.
///
/// # Errors
/// As [`all_merge`](crate::all_merge). Products of floats are merged where one rank alone has an output; others depend on cuts, and are refused.
pub fn all_merge_batched<C: Comm + ?Sized>(
    comm: &C,
    agreement: &Agreement,
    mine: Result<&[AnyPartial], &str>,
    way: Way,
) -> Result<Vec<AnyPartial>> {
    let mine = mine.and_then(|partials| served(agreement, partials));
    let agreement = match mine {
        Ok(partials) => agreement.clone().and(&format!("{} outputs", partials.len())),
        Err(_) => agreement.clone(),
    };
    exchange_agreed(comm, &agreement, mine.map(|_| &[][..]))?;
    let partials = mine.unwrap_or_default();
    let all: Vec<usize> = (0..partials.len()).collect();
    let whose = vec![&all[..]; comm.size()];
    Merge { comm, agreement: &agreement, whose: &whose, outputs: all.len() }.run(partials, way)
}

/// Partials, if all of them are of the reduction.
fn served<'a>(
    agreement: &Agreement,
    partials: &'a [AnyPartial],
) -> Result<&'a [AnyPartial], &'static str> {
    let (op, dtype) = (agreement.op(), agreement.dtype());
    match partials.iter().all(|partial| partial.dtype() == dtype && partial.serves(op)) {
        true => Ok(partials),
        false => Err("what it folded are partials of another reduction or type"),
    }
}

/// Keys and the partial of each.
pub type Keyed = (Vec<i128>, Vec<AnyPartial>);

/// Merges the partials of groups that ranks know by their keys: everyone gets all keys, ascending, and the partial of each.
///
/// # Errors
/// As [`all_merge_batched`]; [`Error::Contribution`] where a rank's keys are not ascending.
pub fn all_merge_keyed<C: Comm + ?Sized>(
    comm: &C,
    agreement: &Agreement,
    mine: Result<(&[i128], &[AnyPartial]), &str>,
    way: Way,
) -> Result<Keyed> {
    let mine = mine.and_then(|(keys, partials)| Ok((keys, served(agreement, partials)?)));
    let agreement = agreement.clone().and("by key");
    let bytes = mine.map(|(keys, partials)| {
        assert_eq!(keys.len(), partials.len(), "a partial for each key");
        keys.iter().flat_map(|key| key.to_le_bytes()).collect::<Vec<u8>>()
    });
    let all = exchange_agreed(comm, &agreement, bytes.as_deref().map_err(|why| *why))?;
    let mut lists = Vec::with_capacity(all.len());
    for (rank, bytes) in all.iter().enumerate() {
        let (keys, rest) = bytes.as_chunks();
        let keys: Vec<i128> = keys.iter().map(|bytes| i128::from_le_bytes(*bytes)).collect();
        if !rest.is_empty() || !keys.is_sorted_by(|a, b| a < b) {
            let why = "its keys are not ascending, each once".into();
            return Err(Error::Contribution { rank, why });
        }
        lists.push(keys);
    }
    drop(all);
    let mut keys = lists.concat();
    keys.sort_unstable();
    keys.dedup();
    let at_index =
        |key: &i128| keys.binary_search(key).unwrap_or_else(|_| unreachable!("it is one of them"));
    let lists: Vec<Vec<usize>> =
        lists.iter().map(|list| list.iter().map(at_index).collect()).collect();
    let whose: Vec<&[usize]> = lists.iter().map(Vec::as_slice).collect();
    let partials = mine.map_or(&[][..], |(_, partials)| partials);
    let merge = Merge { comm, agreement: &agreement, whose: &whose, outputs: keys.len() };
    let merged = merge.run(partials, way)?;
    Ok((keys, merged))
}

/// A merge whose ranks have agreed.
struct Merge<'a, C: ?Sized> {
    comm: &'a C,
    agreement: &'a Agreement,
    /// Which outputs each rank has, ascending.
    whose: &'a [&'a [usize]],
    outputs: usize,
}

impl<C: Comm + ?Sized> Merge<'_, C> {
    fn run(&self, mine: &[AnyPartial], way: Way) -> Result<Vec<AnyPartial>> {
        if is_cut_dependent(self.agreement) {
            self.check_owners()?;
        }
        let (op, dtype) = (self.agreement.op(), self.agreement.dtype());
        let digits = AnyPartial::empty(op, dtype).to_digits().map(|digits| digits.len());
        let mut all = Vec::with_capacity(self.outputs);
        if way.is_sum(self.comm.size(), digits) {
            let digits = digits.unwrap_or(1);
            for some in pieces(self.outputs, AT_ONCE / digits) {
                self.sum(mine, some, digits, &mut all)?;
            }
        } else {
            let bytes = AnyPartial::empty(op, dtype).to_bytes().len() * self.comm.size();
            for some in pieces(self.outputs, GATHERED / bytes) {
                self.gather(mine, some, &mut all)?;
            }
        }
        Ok(all)
    }

    /// Fails where two ranks have one output.
    fn check_owners(&self) -> Result<()> {
        let mut owner = vec![None; self.outputs];
        for (rank, outputs) in self.whose.iter().enumerate() {
            for &output in *outputs {
                if owner[output].replace(rank).is_some() {
                    let why = "products of floats depend on how the array is cut; give each output to one rank as a whole".into();
                    return Err(Error::Failed { rank, why });
                }
            }
        }
        Ok(())
    }

    /// What a rank has of some outputs: where in its list.
    fn of(&self, rank: usize, outputs: &Range<usize>) -> Range<usize> {
        let before = |bound: usize| self.whose[rank].partition_point(|&output| output < bound);
        before(outputs.start)..before(outputs.end)
    }

    fn sum(
        &self,
        mine: &[AnyPartial],
        some: Range<usize>,
        digits: usize,
        all: &mut Vec<AnyPartial>,
    ) -> Result<()> {
        let mut sums = vec![0; some.len() * digits];
        let rank = self.comm.rank();
        for at in self.of(rank, &some) {
            let at_index = (self.whose[rank][at] - some.start) * digits;
            let of = mine[at].to_digits().unwrap_or_default();
            sums[at_index..at_index + digits].copy_from_slice(&of);
        }
        self.comm.sum_u64(&mut sums)?;
        let (op, dtype, world) =
            (self.agreement.op(), self.agreement.dtype(), self.comm.size() as u64);
        for digits in sums.chunks_exact(digits) {
            let merged = AnyPartial::from_digits(op, dtype, digits, world);
            let refused = |error: warpfold_num::Error| Error::Contribution {
                rank: 0,
                why: format!("the sum of all ranks' digits is no partial: {error}"),
            };
            all.push(merged.map_err(refused)?);
        }
        Ok(())
    }

    fn gather(
        &self,
        mine: &[AnyPartial],
        some: Range<usize>,
        all: &mut Vec<AnyPartial>,
    ) -> Result<()> {
        let size = self.comm.size();
        let mut bytes = Vec::new();
        for partial in &mine[self.of(self.comm.rank(), &some)] {
            let partial = partial.to_compact();
            bytes.extend_from_slice(&(partial.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&partial);
        }
        let mut lengths = vec![0; 8 * size];
        self.comm.all_gather(&(bytes.len() as u64).to_le_bytes(), &mut lengths)?;
        let lengths: Vec<u64> =
            lengths.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let (longest, gathered) = gather_padded(self.comm, &bytes, &lengths)?;
        let (op, dtype) = (self.agreement.op(), self.agreement.dtype());
        let first = all.len();
        let mut is_here = vec![false; some.len()];
        all.extend(std::iter::repeat_with(|| AnyPartial::empty(op, dtype)).take(some.len()));
        for (rank, length) in lengths.iter().enumerate() {
            let mut rest = &gathered[rank * longest..][..*length as usize];
            for at in self.of(rank, &some) {
                let partial = read(self.agreement, rank, next(rank, &mut rest)?)?;
                let output = self.whose[rank][at] - some.start;
                match std::mem::replace(&mut is_here[output], true) {
                    true => all[first + output].merge(&partial),
                    false => all[first + output] = partial,
                }
            }
            if !rest.is_empty() {
                let why = "it sent more partials than it has outputs".into();
                return Err(Error::Contribution { rank, why });
            }
        }
        Ok(())
    }
}

/// The next partial's bytes.
fn next<'a>(rank: usize, rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let taken = rest
        .split_first_chunk()
        .and_then(|(length, after)| after.split_at_checked(u32::from_le_bytes(*length) as usize));
    let (partial, after) = taken
        .ok_or_else(|| Error::Contribution { rank, why: "its partials end too early".into() })?;
    *rest = after;
    Ok(partial)
}

/// Outputs in pieces of so many at most, and at least of one.
fn pieces(outputs: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let most = most.max(1);
    (0..outputs).step_by(most).map(move |start| start..(start + most).min(outputs))
}

/// One partial of each rank, summed as digits: `None` where it is no sum. Ranks agree first in either case, by the same call, whatever each of them wants.
pub(crate) fn summed<C: Comm + ?Sized>(
    comm: &C,
    agreement: &Agreement,
    mine: Result<&AnyPartial, &str>,
) -> Result<Option<AnyPartial>> {
    let (op, dtype, world) = (agreement.op(), agreement.dtype(), comm.size() as u64);
    let empty = AnyPartial::empty(op, dtype).to_digits();
    let mine = mine.and_then(|partial| served(agreement, std::slice::from_ref(partial)));
    let mut digits = mine.map(|partials| {
        let own = empty.as_ref().and_then(|_| partials[0].to_digits());
        own.or_else(|| empty.clone()).unwrap_or_default()
    });
    sum_agreed(comm, agreement, digits.as_deref_mut().map_err(|why| *why))?;
    if empty.is_none() {
        return Ok(None);
    }
    let summed = AnyPartial::from_digits(op, dtype, &digits.unwrap_or_default(), world);
    summed.map(Some).map_err(|error| {
        let why = format!("the sum of all ranks' digits is no partial: {error}");
        Error::Contribution { rank: 0, why }
    })
}
