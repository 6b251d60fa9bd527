//! [`Executor`]: what the kernels run on, the same for a GPU and for the simulator.

use std::marker::PhantomData;

use super::array::AnyView;
use super::batched::BatchedLaunch;
use crate::Result;
#[cfg(feature = "cuda")]
use crate::driver;
use crate::home::Home;
use crate::plan::{self, CudaFacts, CudaPlan, Problem};
#[cfg(feature = "simt")]
use crate::simulated;

/// Something that gives memory and runs launches: a GPU by its driver, or the simulator. It knows no element types; what a launch means
/// is the same for all.
pub trait Executor: Send + Sync {
    /// Where its arrays lie.
    fn home(&self) -> Home;

    /// What the planner knows of it.
    fn facts(&self) -> CudaFacts;

    /// The plan for a problem.
    ///
    /// # Errors
    /// As [`plan::choose_cuda`].
    fn plan(&self, problem: Problem) -> Result<CudaPlan> {
        plan::choose_cuda(problem, self.facts())
    }

    /// A copy of host memory.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device): out of memory, with the sizes.
    fn copy_of(&self, bytes: &[u8]) -> Result<Memory>;

    /// So many bytes of zeros.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device): out of memory, with the sizes.
    fn zeros(&self, bytes: usize) -> Result<Memory>;

    /// So many bytes that nobody has written.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device): out of memory, with the sizes.
    fn unwritten(&self, bytes: usize) -> Result<Memory>;

    /// The bytes of an array in its memory.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device), also for an array of another machine.
    fn bytes_of(&self, x: AnyView<'_>) -> Result<Vec<u8>>;

    /// Runs launches one after another, once what the streams were given so far is done, and waits for the last.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    fn run_batched(&self, launches: &[BatchedLaunch], after: &[Ready<'_>]) -> Result<()>;

    /// Starts a plan over the arrays; several machines may so be started before the first is waited for.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device), also for an array of another machine.
    ///
    /// # Panics
    /// If the arrays are shorter than the plan's, or of another type.
    fn begin<'a>(
        &'a self,
        plan: &CudaPlan,
        x: AnyView<'a>,
        y: Option<AnyView<'a>>,
    ) -> Result<Running<'a>>;
}

/// Whether arrays are what a plan reads: there, and as many.
///
/// # Panics
/// If they are shorter than the plan's, or of another type.
#[cfg(any(feature = "cuda", feature = "simt"))]
pub(crate) fn check_arrays(
    machine: &dyn Executor,
    plan: &CudaPlan,
    x: AnyView<'_>,
    y: Option<AnyView<'_>>,
) -> Result<()> {
    let Problem { n, dtype, .. } = plan.problem;
    for array in [Some(x), y].into_iter().flatten() {
        let fits = array.dtype == dtype && array.len as u64 >= n;
        assert!(fits, "{plan} of {} {}", array.len, array.dtype);
        array.check(machine)?;
    }
    Ok(())
}

/// What the kernels of a plan leave.
pub type Record = Vec<u64>;

/// A plan that was started.
pub enum Running<'a> {
    /// In a stream, which is waited for.
    Started(Box<dyn Started + 'a>),
    /// It is done.
    Done(Record),
}

/// A plan that was started in a stream.
pub trait Started {
    /// Waits for the record of the plan.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    fn wait(self: Box<Self>, plan: &CudaPlan) -> Result<Record>;
}

impl Running<'_> {
    /// Waits for the record of the plan.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn wait(self, plan: &CudaPlan) -> Result<Record> {
        match self {
            Running::Started(started) => started.wait(plan),
            Running::Done(record) => Ok(record),
        }
    }
}

/// The stream whose work so far must be done before an array is read, if there is one.
#[derive(Clone, Copy, Default)]
pub struct Ready<'a> {
    #[cfg(feature = "cuda")]
    pub(crate) stream: Option<&'a driver::StreamHandle>,
    borrow: PhantomData<&'a ()>,
}

impl<'a> Ready<'a> {
    /// Now.
    pub const NOW: Self = Ready {
        #[cfg(feature = "cuda")]
        stream: None,
        borrow: PhantomData,
    };

    /// Once a stream has done what it was given.
    #[cfg(feature = "cuda")]
    pub(crate) fn after(stream: &'a driver::StreamHandle) -> Self {
        Ready { stream: Some(stream), borrow: PhantomData }
    }
}

/// Bytes of a machine, freed when dropped. Which machine's is in the value itself, so that none costs an allocation of the host.
pub enum Memory {
    /// Of a GPU.
    #[cfg(feature = "cuda")]
    Cuda(driver::Memory),
    /// Of a simulated device.
    #[cfg(feature = "simt")]
    Simt(simulated::Memory),
}

/// The same for each machine's memory.
macro_rules! of_each {
    ($memory:expr, $found:ident => $body:expr) => {
        match $memory {
            #[cfg(feature = "cuda")]
            Memory::Cuda($found) => $body,
            #[cfg(feature = "simt")]
            Memory::Simt($found) => $body,
            #[cfg(not(any(feature = "cuda", feature = "simt")))]
            other => unreachable!("memory of no machine: {other:p}"),
        }
    };
}

impl Memory {
    /// Where it lies.
    pub fn home(&self) -> Home {
        of_each!(self, memory => memory.home())
    }

    /// The address that kernels know it by.
    pub fn address(&self) -> u64 {
        of_each!(self, memory => memory.address())
    }

    /// Copies all of it to the host.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn read(&self, bytes: &mut [u8]) -> Result<()> {
        of_each!(self, memory => memory.read(bytes))
    }

    /// Copies host memory to a part of it, from byte `first` on.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn write(&mut self, first: usize, bytes: &[u8]) -> Result<()> {
        of_each!(self, memory => memory.write(first, bytes))
    }
}
