//! [`all_reduce`]: tensors summed over all ranks, each element rounded once.

use std::sync::Arc;

use bytemuck::Pod;
use warpfold_engine::{HostArray, Parts, Request, columns};
use warpfold_exact::partial::Finish;
use warpfold_num::{Element, Error as Failure, Op, Policy, Scalar};
use warpfold_plan::shape::{Folding, Layout};

use crate::exchange::exchange_agreed;
use crate::{Agreement, Comm, Result};

/// Bytes that a rank sends at once.
const AT_ONCE: usize = 4 << 20;

/// Replaces every element by its sum over all ranks, rounded once to nearest-even: the same bits at any number of ranks that hold the same numbers, in
/// any order of ranks.
///
/// Each rank receives everyone's elements of one share, sums them exactly, and hands the sums to all: as many bytes as a ring of sums that are
/// rounded on the way. Special values, zeros and NaNs are as the contract has them for sums. Each rank sums with `threads` threads.
///
/// ```
/// use warpfold_dist::{Comm, Threads, all_reduce};
///
/// let sums = Threads::run(3, |comm| {
///     let mut x = [[1e30f32, 0.1], [1.0, 0.2], [-1e30, 0.3]][comm.rank()];
///     all_reduce(&comm, &mut x, 1).map(|()| x)
/// });
/// assert!(sums.iter().all(|x| *x == Ok([1.0, 0.6])));
/// ```
///
/// # Errors
/// [`Error::Differs`](crate::Error::Differs) where ranks have other types or lengths, and as [`Comm::all_gather`].
///
/// # Panics
/// For integers, whose sums are of another type: MPI's own are exact.
pub fn all_reduce<C, T>(comm: &C, x: &mut [T], threads: usize) -> Result<()>
where
    C: Comm + ?Sized,
    T: Element + Scalar + Pod,
{
    assert!(T::DTYPE.is_float(), "all_reduce is of floats, and {} are none", T::DTYPE);
    let agreement = Agreement::new(Op::Sum, T::DTYPE).and(&format!("tensors of {}", x.len()));
    exchange_agreed(comm, &agreement, Ok(&[]))?;
    let size = comm.size();
    let most = (AT_ONCE / size_of::<T>() / size).max(1);
    let policy = Policy { threads: Some(threads.max(1)), ..Policy::default() };
    let mut columns = vec![T::zeroed(); most.min(x.len().div_ceil(size)) * size];
    for some in x.chunks_mut(most * size) {
        // A share of each rank; the last ones may be cut short.
        let share = some.len().div_ceil(size);
        let columns = &mut columns[..share * size];
        let is_whole = some.len() == columns.len();
        let mut padded = Vec::new();
        let sent: &mut [T] = match is_whole {
            true => some,
            false => {
                padded.extend_from_slice(some);
                padded.resize(columns.len(), T::zeroed());
                &mut padded
            }
        };
        comm.all_to_all(bytemuck::cast_slice(sent), bytemuck::cast_slice_mut(columns))?;
        let sums = sums(columns, share, policy);
        comm.all_gather(bytemuck::cast_slice(&sums), bytemuck::cast_slice_mut(sent))?;
        if !is_whole {
            some.copy_from_slice(&padded[..some.len()]);
        }
    }
    Ok(())
}

/// The sums of columns, each of one element of every rank.
fn sums<T: Element + Scalar>(columns_of: &[T], share: usize, policy: Policy) -> Vec<T> {
    let found = (|| -> Result<Vec<T>, Failure> {
        let shape = [(columns_of.len() / share) as u64, share as u64];
        let folding = Folding::of(Layout::c(&shape)?, &[0])?;
        let parts = Parts::Axes(folding.form()?, folding);
        let request = Request::new(Op::Sum, HostArray::of(columns_of)).parts(Arc::new(parts));
        let finish = Finish { round_to: Some(T::Part::DTYPE), ..Finish::default() };
        let mut found = columns(&request.policy(policy), finish)?;
        let (_, column) = found.remove(0);
        Ok(column.typed().unwrap_or_else(|| unreachable!("sums are rounded to {}", T::DTYPE)))
    })();
    found.unwrap_or_else(|error: Failure| unreachable!("sums of floats have values: {error}"))
}
