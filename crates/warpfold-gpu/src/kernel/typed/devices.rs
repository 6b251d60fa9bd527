//! Several machines as one, with the types of their arrays.

use super::buffer::Buffer;
use super::machine::Machine;
use super::reduce::Reduce;
use crate::element::Element;
use crate::kernel::sharded::{Ranges, Sharded};
use crate::kernel::{AnyReduce, AnyView, Executor};
use crate::{Error, Result};

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

impl<M: Machine, T: Element> Ranges for Shards<M, T> {
    fn count(&self) -> usize {
        self.parts.len()
    }

    fn range(&self, k: usize) -> (&dyn Executor, AnyView<'_>) {
        let (machine, part) = &self.parts[k];
        (machine, part.untyped().view())
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
        Reduce::new(AnyReduce::sharded(Sharded { x, y: None }))
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
            return Ok(Reduce::new(AnyReduce::sharded(Sharded { x, y: Some(y) })));
        }
        let differ = left.iter().zip(&right).find(|(left, right)| left != right);
        let (left, right) = differ.map_or((x.len, y.len), |(left, right)| (*left, *right));
        Err(Error::LengthMismatch { left, right })
    }
}
