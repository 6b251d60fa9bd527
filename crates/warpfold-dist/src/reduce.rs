//! [`all_reduce`]: tensors summed over all ranks, each element rounded once.

use std::sync::Arc;

use bytemuck::Pod;
use warpfold_engine::{self as engine, HostArray, Parts, Request};
use warpfold_exact::partial::Finish;
use warpfold_num::{DType, Element, Error as Failure, Op, Policy, Scalar};
use warpfold_plan::shape::{Folding, Layout};

use crate::exchange::exchange_agreed;
use crate::{Agreement, Comm, Result, columns};

/// Bytes that a rank sends at once.
const AT_ONCE: usize = 4 << 20;
/// Up to so many bytes of all ranks together, everyone gets all elements and sums all of them: one exchange less is worth more than the additions.
const SMALL: usize = 64 << 10;

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
/// [`Error::Differs`](crate::Error::Differs) where ranks have other types or lengths, and as [`Comm::all_gather`]. Nothing of `x` is written before all sums
/// are there: after an error it holds what it held.
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
    let (size, threads) = (comm.size(), threads.max(1));
    if size_of_val(x).saturating_mul(size) <= SMALL {
        let mut rows = vec![T::zeroed(); x.len() * size];
        comm.all_gather(bytemuck::cast_slice(x), bytemuck::cast_slice_mut(&mut rows))?;
        sums(&rows, x, threads);
        return Ok(());
    }
    let most = (AT_ONCE / size_of::<T>() / size).max(1);
    let longest = most.min(x.len().div_ceil(size));
    let (mut rows, mut own) = (vec![T::zeroed(); longest * size], vec![T::zeroed(); longest]);
    // Shares of the last piece may be cut short; what is summed beyond the end is not kept.
    let mut all = vec![T::zeroed(); x.len().div_ceil(size).saturating_mul(size)];
    let mut padded = Vec::new();
    for (some, all) in x.chunks(most * size).zip(all.chunks_mut(most * size)) {
        let share = some.len().div_ceil(size);
        let (rows, own) = (&mut rows[..share * size], &mut own[..share]);
        let sent = match some.len() == rows.len() {
            true => some,
            false => {
                padded.clear();
                padded.extend_from_slice(some);
                padded.resize(rows.len(), T::zeroed());
                &padded
            }
        };
        comm.all_to_all(bytemuck::cast_slice(sent), bytemuck::cast_slice_mut(rows))?;
        sums(rows, own, threads);
        comm.all_gather(bytemuck::cast_slice(own), bytemuck::cast_slice_mut(all))?;
    }
    x.copy_from_slice(&all[..x.len()]);
    Ok(())
}

/// The sums of columns of one element of every rank, whose rows lie one behind the other.
fn sums<T: Element + Scalar + Pod>(rows: &[T], sums: &mut [T], threads: usize) {
    use bytemuck::{cast_slice, cast_slice_mut};
    match T::DTYPE {
        // The parts of complex numbers are added up one by one.
        DType::F64 | DType::Complex128 => {
            let (rows, sums) = (cast_slice::<T, f64>(rows), cast_slice_mut(sums));
            columns::sums(rows, sums, threads, |rows, n| exact(rows, n, threads));
        }
        DType::F32 | DType::Complex64 => {
            let (rows, sums) = (cast_slice::<T, f32>(rows), cast_slice_mut(sums));
            columns::sums(rows, sums, threads, |rows, n| exact(rows, n, threads));
        }
        _ => sums.copy_from_slice(&exact(rows, sums.len(), threads)),
    }
}

/// The same by exact accumulators.
fn exact<T: Element + Scalar>(rows: &[T], share: usize, threads: usize) -> Vec<T> {
    if share == 0 {
        return Vec::new();
    }
    let policy = Policy { threads: Some(threads), ..Policy::default() };
    let found = (|| -> Result<Vec<T>, Failure> {
        let shape = [(rows.len() / share) as u64, share as u64];
        let folding = Folding::of(Layout::c(&shape)?, &[0])?;
        let parts = Parts::Axes(folding.form()?, folding);
        let request = Request::new(Op::Sum, HostArray::of(rows)).parts(Arc::new(parts));
        let finish = Finish { round_to: Some(T::Component::DTYPE), ..Finish::default() };
        let mut found = engine::columns(&request.policy(policy), finish)?;
        let (_, column) = found.remove(0);
        Ok(column.typed().unwrap_or_else(|| unreachable!("sums are rounded to {}", T::DTYPE)))
    })();
    found.unwrap_or_else(|error: Failure| unreachable!("sums of floats have values: {error}"))
}
