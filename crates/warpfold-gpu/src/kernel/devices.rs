//! Several machines as one: arrays whose consecutive ranges lie on them, and reductions that all of them take part in.

use super::buffer::{Buffer, View};
use super::joined::Joined;
use super::machine::{Job, Machine};
use super::record::{self, Outcome};
use super::reduce::Reduce;
use crate::element::Element;
use crate::plan::{CudaPlan, Problem};
use crate::{Error, Op, Policy, Result};

/// Several machines that reduce arrays together: each folds what lies in its own memory, all at once, and the host merges what they leave.
/// Exact partials merge to the same bits whatever the number of machines.
///
/// ```
/// # #[cfg(feature = "simt")] {
/// use warpfold::kernel::Devices;
/// let devices = Devices::new([(); 3].map(|()| warpfold::simt::Device::new()));
/// let x = devices.upload(&[1e30f32, 1.0, -1e30, 0.5])?;
/// assert_eq!(devices.reduce(&x).sum()?, 1.5);
/// assert_eq!(devices.reduce(&x).argmin()?, 2);
/// # }
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Devices<M>(Vec<M>);

/// An array in the memories of several machines: each has one range of it, in the order of the array.
pub struct Shards<M: Machine, T> {
    parts: Vec<(M, Buffer<M, T>)>,
    len: u64,
}

impl<M: Machine, T: Element> Shards<M, T> {
    /// An array of what lies on machines already, one range after another; a machine may have several of them.
    ///
    /// # Panics
    /// If there are no parts: an array without elements has one part, which is empty.
    pub fn new(parts: Vec<(M, Buffer<M, T>)>) -> Self {
        assert!(!parts.is_empty(), "an array on no machine");
        let len = parts.iter().map(|(_, part)| part.len() as u64).sum();
        Shards { parts, len }
    }

    /// Elements of all ranges together.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The machines and their ranges, in the order of the array.
    pub fn parts(&self) -> &[(M, Buffer<M, T>)] {
        &self.parts
    }
}

impl<M: Machine> Devices<M> {
    /// Takes machines as one.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(machines: impl IntoIterator<Item = M>) -> Self {
        let machines: Vec<M> = machines.into_iter().collect();
        assert!(!machines.is_empty(), "no machine");
        Devices(machines)
    }

    /// The machines.
    pub fn machines(&self) -> &[M] {
        &self.0
    }

    /// Copies a slice to the machines, to each a range of nearly the same length.
    ///
    /// # Errors
    /// [`Error::Device`]: out of memory, with the sizes.
    pub fn upload<T: Element>(&self, x: &[T]) -> Result<Shards<M, T>> {
        let cut = |k: usize| (x.len() as u128 * k as u128 / self.0.len() as u128) as usize;
        let parts = self.0.iter().enumerate().map(|(k, machine)| {
            Ok((machine.clone(), Machine::upload(machine, &x[cut(k)..cut(k + 1)])?))
        });
        Ok(Shards::new(parts.collect::<Result<_>>()?))
    }

    /// Starts a reduction of an array that lies on machines; see [`Reduce`].
    pub fn reduce<'a, T: Element>(&self, x: &'a Shards<M, T>) -> Reduce<'a, M, T> {
        Reduce::sharded(Sharded { x, y: None })
    }

    /// Starts a reduction of two arrays that lie on the same machines in ranges of the same lengths: dot.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], also of two ranges.
    pub fn reduce_two<'a, T: Element>(
        &self,
        x: &'a Shards<M, T>,
        y: &'a Shards<M, T>,
    ) -> Result<Reduce<'a, M, T>> {
        let lengths =
            |of: &Shards<M, T>| of.parts.iter().map(|(_, part)| part.len() as u64).collect();
        let (left, right): (Vec<u64>, Vec<u64>) = (lengths(x), lengths(y));
        if left == right {
            return Ok(Reduce::sharded(Sharded { x, y: Some(y) }));
        }
        let differ = left.iter().zip(&right).find(|(left, right)| left != right);
        let (left, right) = differ.map_or((x.len, y.len), |(left, right)| (*left, *right));
        Err(Error::LengthMismatch { left, right })
    }
}

/// The arrays of a reduction that several machines take part in.
pub(super) struct Sharded<'a, M: Machine, T> {
    x: &'a Shards<M, T>,
    y: Option<&'a Shards<M, T>>,
}

impl<M: Machine, T> Clone for Sharded<'_, M, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine, T> Copy for Sharded<'_, M, T> {}

impl<'a, M: Machine, T: Element> Sharded<'a, M, T> {
    /// The first machine and its ranges.
    pub(super) fn first(self) -> (&'a M, View<'a, M, T>, Option<View<'a, M, T>>) {
        let (machine, x) = &self.x.parts[0];
        (machine, x.view(), self.y.map(|y| y.parts[0].1.view()))
    }

    pub(super) fn is_empty(self) -> bool {
        self.x.is_empty()
    }

    /// Runs the reduction on all machines that have elements, at once, and joins what they leave.
    ///
    /// # Errors
    /// As [`Reduce::plan`]; [`Error::Unsupported`] for products of floats, whose last bits depend on how an array is cut.
    pub(super) fn run(
        self,
        op: Op,
        policy: Policy,
        shaped: impl Fn(&M, Problem) -> Result<CudaPlan>,
    ) -> Result<Outcome<T>> {
        let dtype = T::DTYPE;
        let full = self.x.parts.iter().filter(|(_, part)| !part.is_empty()).count();
        if op == Op::Prod && full > 1 && (dtype.is_float() || dtype.is_complex()) {
            let why = "the product of floats depends on how the array is cut; take one device";
            return Err(Error::Unsupported { option: "several devices", op, dtype, why });
        }
        let mut jobs = Vec::with_capacity(full.max(1));
        let mut starts = Vec::with_capacity(full.max(1));
        let mut first = 0;
        for (k, (machine, part)) in self.x.parts.iter().enumerate() {
            let n = part.len() as u64;
            // Of an array without elements, the first machine says what comes of it.
            if n > 0 || (full == 0 && k == 0) {
                let plan = shaped(machine, Problem { op, dtype, n, policy })?;
                let y = self.y.map(|y| y.parts[k].1.view());
                jobs.push(Job { machine, plan, x: part.view(), y });
                starts.push(first);
            }
            first += n;
        }
        let records = M::run_all(&jobs)?;
        let mut joined = Joined::default();
        for ((job, record), first) in jobs.iter().zip(&records).zip(starts) {
            joined.push(record::read(&job.plan, record), first);
        }
        Ok(joined.outcome().expect("one job at least"))
    }
}
