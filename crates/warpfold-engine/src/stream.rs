//! A reduction fed piece by piece: files larger than memory, sockets, iterators of chunks.

use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::limbs::tally;
use warpfold_num::{DType, Error, Nan, Op, Policy, Result};
use warpfold_plan::{HostArray, Request};

use crate::reduce::check_indices;
use crate::{check, reduce};

/// One reduction over pieces that arrive in turn; the result is that of the pieces joined.
#[derive(Debug, Clone)]
pub struct Stream {
    op: Op,
    dtype: DType,
    policy: Policy,
    partial: Option<AnyPartial>,
    /// The index of the stream's first element in the whole.
    first: u64,
    seen: u64,
}

impl Stream {
    /// An empty stream.
    ///
    /// # Errors
    /// [`Error::Undefined`] where the contract knows no such reduction for the type.
    pub fn new(op: Op, dtype: DType, policy: Policy) -> Result<Self> {
        check(op, dtype)?;
        Ok(Stream { op, dtype, policy, partial: None, first: 0, seen: 0 })
    }

    /// A stream that goes on where another one stopped: with its [`partial`](Self::partial), perhaps saved by another process,
    /// after as many elements as it had [`seen`](Self::seen). Reduction and policy are those of the stream that stopped.
    ///
    /// # Errors
    /// [`Error::Undefined`] as for [`new`](Self::new), and if the partial is that of another reduction or type;
    /// [`Error::Unsupported`] if it holds more elements than were seen, or if some were seen and there is none.
    pub fn resume(
        op: Op,
        dtype: DType,
        policy: Policy,
        partial: Option<AnyPartial>,
        seen: u64,
    ) -> Result<Self> {
        let stream = Self::new(op, dtype, policy)?;
        if let Some(partial) = &partial
            && (partial.dtype() != dtype || !partial.serves(op))
        {
            let why = "the partial is that of another reduction; resume that one";
            return Err(Error::Undefined { op, dtype, why });
        }
        let option = "Stream::resume with this partial";
        match stream.obstacle(partial.as_ref(), seen) {
            Some(why) => Err(Error::Unsupported { option, op, dtype, why }),
            None => Ok(Stream { partial, seen, ..stream }),
        }
    }

    /// Why a partial cannot be that of so many elements seen.
    fn obstacle(&self, partial: Option<&AnyPartial>, seen: u64) -> Option<&'static str> {
        let Some(partial) = partial else {
            let why = "elements were seen and nothing of them is left; start anew";
            return (seen > 0).then_some(why);
        };
        if partial.count().is_some_and(|count| count > seen) {
            let why = "it holds more elements than were seen; save Stream::seen beside the partial";
            return Some(why);
        }
        let count = partial.counts()?;
        if self.policy.nan == Nan::Ignore && self.dtype.is_float() {
            return None;
        }
        // Any and all stop where they know, and count one element then.
        let is_decided = match self.op {
            Op::Any => count.any(),
            Op::All => !count.all(),
            _ => false,
        };
        (!is_decided && count.seen < seen).then_some(
            "it holds fewer elements than were seen, as those of any and all do; resume the reduction that it came from",
        )
    }

    /// Says where in the whole the stream's first element stands, 0 if nothing is said: indices (argmin, argmax) count from the
    /// whole's start, so that partials of streams over several parts of one array can be merged.
    #[must_use]
    pub fn starting_at(mut self, index: u64) -> Self {
        self.first = index;
        self
    }

    /// Takes in the next piece.
    ///
    /// # Errors
    /// [`Error::Undefined`] if the piece is of another type, or if the reduction is dot, which takes pieces of two arrays.
    pub fn push(&mut self, x: HostArray<'_>) -> Result<()> {
        self.take(Request::new(self.op, x))
    }

    /// Takes in the next piece of each of two arrays (dot).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Undefined`] if the pieces are of another type, or if the reduction takes one array.
    pub fn push_pair(&mut self, x: HostArray<'_>, y: HostArray<'_>) -> Result<()> {
        self.take(Request::new(self.op, x).pair(y))
    }

    fn take(&mut self, request: Request<'_>) -> Result<()> {
        let n = request.x.len() as u64;
        if request.x.dtype() != self.dtype {
            let why = "the stream began with another element type; convert the piece";
            return Err(Error::Undefined { op: self.op, dtype: request.x.dtype(), why });
        }
        check_indices(self.op, self.dtype, self.first, self.seen.saturating_add(n))?;
        let first = self.first + self.seen;
        let partial = reduce(&request.policy(self.policy).starting_at(first))?;
        tally(&mut self.seen, n);
        match &mut self.partial {
            Some(all) => all.merge(&partial),
            none => *none = Some(partial),
        }
        Ok(())
    }

    /// Elements taken in so far (pairs, for dot), those before [`resume`](Self::resume) among them.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The exact partial so far, to be saved or merged elsewhere; `None` before the first piece.
    pub fn partial(&self) -> Option<&AnyPartial> {
        self.partial.as_ref()
    }

    /// The result.
    ///
    /// # Errors
    /// As [`AnyPartial::finish`].
    pub fn finish(self, finish: Finish) -> Result<Output> {
        let partial = self.partial.unwrap_or_else(|| AnyPartial::empty(self.op, self.dtype));
        partial.finish(self.op, finish).map_err(|error| match error {
            Error::Empty { .. } => Error::Empty { op: self.op, ignored: self.seen > 0 },
            other => other,
        })
    }
}
