//! Texts cut by lines: every rank looks at its part of every text, and all of them decide alike.

use std::fs::File;
use std::sync::Arc;

use warpfold_dist::{Comm, exchange};

use crate::Failure;
use crate::input::text::lines::{Lines, Look, head, look, start};
use crate::input::{Input, Name, Problem};

/// A text that may be cut, with what this rank has seen of its own part.
struct Seen {
    head: Vec<u8>,
    from: u64,
    to: u64,
    look: Look,
}

/// Has each text read by lines where no quote stands in the way; the others stay whole. Ranks agree on `text` first, and learn of one that
/// could not open its inputs. What this rank finds wrong with the first rows of a text is its own failure, which the others are to learn of.
///
/// # Errors
/// As [`exchange`]; what else is wrong with a text is told by whoever reads it.
pub(super) fn cut(
    comm: &dyn Comm,
    text: &str,
    inputs: Result<Vec<&mut Input>, &str>,
) -> Result<Result<(), Failure>, warpfold_dist::Error> {
    let seen: Result<Vec<Option<Seen>>, String> = match &inputs {
        Ok(inputs) => inputs
            .iter()
            .map(|input| see(comm, input).map_err(|failure| failure.to_string()))
            .collect(),
        Err(why) => Err((*why).into()),
    };
    // Of each input: whether it can be cut, quotes and line ends.
    let bytes = seen.as_ref().map(|seen| {
        let numbers = seen.iter().flat_map(|seen| match seen {
            None => [0, 0, 0],
            Some(Seen { look, .. }) => [1, look.quotes, look.lines],
        });
        numbers.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()
    });
    let all = exchange(comm, text, bytes.as_deref().map_err(|why| why.as_str()))?;
    let (Ok(inputs), Ok(seen)) = (inputs, seen) else { return Ok(Ok(())) };
    let all: Vec<Vec<u64>> = all
        .iter()
        .map(|bytes| bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
        .collect();
    for (k, (input, seen)) in inputs.into_iter().zip(seen).enumerate() {
        let of = |rank: usize| all[rank].get(3 * k..3 * k + 3);
        let is_free = |rank| of(rank).is_some_and(|of| of[0] == 1 && of[1] == 0);
        let Some(seen) = seen.filter(|_| (0..comm.size()).all(is_free)) else { continue };
        let before: u64 = (0..comm.rank()).filter_map(|rank| Some(of(rank)?[2])).sum();
        match part(comm, input, seen, before) {
            Ok(part) => input.take_lines(part),
            Err(failure) => return Ok(Err(failure)),
        }
    }
    Ok(Ok(()))
}

/// Looks at this rank's part of a text; `None` of what is no text in a file, or has no two rows.
fn see(comm: &dyn Comm, input: &Input) -> Result<Option<Seen>, Failure> {
    let (Some(dialect), Name::File(path)) = (input.written(), input.name()) else {
        return Ok(None);
    };
    let failed = |error: std::io::Error| Failure::input(input.name(), Problem::from(error));
    let mut file = File::open(&**path).map_err(failed)?;
    let Some(head) = head(&mut file, &dialect).map_err(failed)? else { return Ok(None) };
    let (size, rank, ranks) = (input.work().unwrap_or(0), comm.rank(), comm.size());
    let mut at = |rank| start(&mut file, size, head.len() as u64, rank, ranks).map_err(failed);
    let (from, to) = (at(rank)?, at(rank + 1)?);
    let look = look(&mut file, from..to).map_err(failed)?;
    Ok(Some(Seen { head, from, to, look }))
}

fn part(comm: &dyn Comm, input: &Input, seen: Seen, lines_before: u64) -> Result<Lines, Failure> {
    let range = seen.from..seen.to;
    if comm.rank() == 0 {
        return Ok(Lines { range, ..Lines::default() });
    }
    let (elements, notes) = input.read_head(&seen.head)?;
    let in_head = {
        let text = String::from_utf8_lossy(&seen.head);
        text.replace("\r\n", "\n").replace('\r', "\n").matches('\n').count() as u64
    };
    let lines_before = lines_before - in_head;
    Ok(Lines { head: Arc::new(seen.head), elements, notes, range, lines_before })
}
