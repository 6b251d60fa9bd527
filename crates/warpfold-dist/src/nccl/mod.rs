//! [`Nccl`]: a world of processes with a GPU each, by NVIDIA's library as it is found when the program runs. Nothing of it is needed to build.
//!
//! Ranks meet over another communicator, which hands on NCCL's own unique id. What is exchanged comes from the host and goes back there: partials of
//! reductions that the GPUs have done. Integers are summed in any order without a change, so none of NCCL's algorithms has a say in the bits.

mod library;
mod memory;
#[cfg(feature = "cuda")]
mod on_gpu;
mod tensors;

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::time::Duration;

use library::{Calls, Handle, SUM, UINT8, UINT64, UniqueId};
use memory::Gpu;
pub use memory::Through;
#[cfg(feature = "cuda")]
pub use on_gpu::OnGpu;
pub use tensors::{Rows, Tensor};

use crate::{Comm, Error, Result, exchange};

/// How long to wait for other ranks if nothing is said.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Which libraries to load, which GPU to use, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// NCCL's file.
    pub nccl: String,
    /// The driver's file.
    pub driver: String,
    /// The number of this rank's GPU.
    pub device: usize,
    /// What NCCL reads from and writes to.
    pub through: Through,
    /// How long to wait for other ranks in an exchange.
    pub timeout: Duration,
}

impl Options {
    /// As the environment says: `WARPFOLD_NCCL` names the file, else the system finds it.
    pub fn from_env(device: usize) -> Options {
        let get = |name: &str| std::env::var(name).ok();
        let timeout = get("WARPFOLD_TIMEOUT").and_then(|text| text.trim().parse().ok());
        Options {
            nccl: get("WARPFOLD_NCCL").unwrap_or_else(|| "libnccl.so.2".into()),
            driver: "libcuda.so.1".into(),
            device,
            through: Through::default(),
            timeout: timeout.map_or(TIMEOUT, Duration::from_secs),
        }
    }
}

/// A world over NCCL, seen from one rank.
pub struct Nccl {
    calls: Calls,
    comm: Handle,
    rank: usize,
    size: usize,
    version: c_int,
    options: Options,
    state: RefCell<State>,
}

struct State {
    gpu: Gpu,
    broken: Option<Error>,
}

impl std::fmt::Debug for Nccl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {} by {}", self.rank, self.size, self.description())
    }
}

fn failed(obstacle: String) -> Error {
    Error::World {
        requested: "a world by NCCL was asked for".into(),
        obstacle,
        remedy: "install NCCL, for example by pip install nvidia-nccl-cu12, and name its file in WARPFOLD_NCCL, or take --world=mpi or --world=tcp".into(),
    }
}

/// What NCCL says of itself without a GPU: its version, and an id that is not used.
///
/// # Errors
/// [`Error::World`] if it is not there or does not answer.
pub fn probe(nccl: &str) -> Result<(String, [u8; 128])> {
    let named = |why: String| failed(format!("{nccl}: {why}"));
    let calls = Calls::open(nccl).map_err(named)?;
    let version = version(&calls).map_err(named)?;
    let id = unique_id(&calls).map_err(named)?;
    Ok((words(version), id.0))
}

fn version(calls: &Calls) -> Result<c_int, String> {
    let mut version = 0;
    // SAFETY: the signature is NCCL's, and the pointer is to a variable that lives here.
    match unsafe { (calls.version)(&mut version) } {
        0 => Ok(version),
        code => Err(calls.error("ncclGetVersion", code)),
    }
}

fn unique_id(calls: &Calls) -> Result<UniqueId, String> {
    let mut id = UniqueId([0; 128]);
    // SAFETY: as above.
    match unsafe { (calls.unique_id)(&mut id) } {
        0 => Ok(id),
        code => Err(calls.error("ncclGetUniqueId", code)),
    }
}

/// A version as NCCL numbers them since 2.9: 22703 is 2.27.3.
fn words(version: c_int) -> String {
    format!("NCCL {}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
}

impl Nccl {
    /// Enters the world of the ranks of `bootstrap`, with NCCL as the environment names it and this rank's GPU.
    ///
    /// # Errors
    /// [`Error::World`] where NCCL, the driver or the GPU is of no use; [`Error::Failed`] with the rank where that is so; [`Error::Differs`] where
    /// ranks have other versions of NCCL.
    pub fn load<C: Comm + ?Sized>(device: usize, bootstrap: &C) -> Result<Nccl> {
        Self::enter(Options::from_env(device), bootstrap)
    }

    /// [`load`](Self::load) with everything said.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn enter<C: Comm + ?Sized>(options: Options, bootstrap: &C) -> Result<Nccl> {
        let (rank, size) = (bootstrap.rank(), bootstrap.size());
        let opened = (|| -> Result<_, String> {
            let calls =
                Calls::open(&options.nccl).map_err(|why| format!("{}: {why}", options.nccl))?;
            let gpu = Gpu::open(&options.driver, options.device)?;
            let version = version(&calls)?;
            let id = if rank == 0 { unique_id(&calls)?.0.to_vec() } else { Vec::new() };
            Ok((calls, gpu, version, id))
        })();
        let text = match &opened {
            Ok((_, _, version, _)) => words(*version),
            Err(_) => "NCCL".into(),
        };
        let mine = opened.as_ref().map(|(.., id)| &id[..]).map_err(String::as_str);
        let ids = exchange(bootstrap, &text, mine);
        // A rank that has no NCCL tells its own story.
        let (calls, gpu, version, _) = opened.map_err(failed)?;
        let ids = ids?;
        let Some(id) = ids.first().and_then(|id| id.as_slice().try_into().ok()) else {
            let why = "its id for NCCL has another length".into();
            return Err(Error::Contribution { rank: 0, why });
        };
        let mut comm = std::ptr::null_mut();
        gpu.enter().map_err(failed)?;
        // SAFETY: the signature is NCCL's; the id is rank 0's, and all ranks of it make this call.
        let code =
            unsafe { (calls.init_rank)(&mut comm, size as c_int, UniqueId(id), rank as c_int) };
        if code != 0 {
            return Err(failed(calls.error("ncclCommInitRank", code)));
        }
        let state = RefCell::new(State { gpu, broken: None });
        Ok(Nccl { calls, comm, rank, size, version, options, state })
    }

    /// Which library it is.
    pub fn description(&self) -> String {
        let Options { nccl, device, .. } = &self.options;
        format!("{} ({nccl}) on GPU {device}", words(self.version))
    }

    /// An exchange, after which the world is of no more use if it failed.
    fn run(
        &self,
        mine: &[u8],
        result: &mut [u8],
        call: impl FnOnce(*const c_void, *mut c_void, Handle) -> Result<(), String>,
    ) -> Result<()> {
        let mut state = self.state.borrow_mut();
        if let Some(error) = &state.broken {
            return Err(error.clone());
        }
        let Options { through, timeout, .. } = self.options;
        let exchanged = state.gpu.exchange(through, mine, result, timeout, call, || self.is_well());
        drop(state);
        exchanged.map_err(|why| self.lost(why))
    }

    /// Whether NCCL has given up.
    fn is_well(&self) -> Result<(), String> {
        let mut code = 0;
        // SAFETY: the communicator is this one's own, and the pointer is to a variable that lives here.
        let requested = unsafe { (self.calls.async_error)(self.comm, &mut code) };
        match (requested, code) {
            // 7: an operation of a nonblocking communicator is under way.
            (0, 0 | 7) => Ok(()),
            (0, code) | (code, _) => Err(self.calls.error("an exchange", code)),
        }
    }

    /// Waits for everything that was started in the world's own stream.
    #[cfg(feature = "cuda")]
    fn wait(&self) -> Result<()> {
        let waited = self.state.borrow().gpu.wait(self.options.timeout, || self.is_well());
        waited.map_err(|why| self.lost(why))
    }

    /// The world is of no more use: what waits for another rank in a stream is ended, so that nobody waits for the stream.
    fn lost(&self, why: String) -> Error {
        let error = Error::Lost { rank: self.rank, size: self.size, why };
        let mut state = self.state.borrow_mut();
        if state.broken.replace(error.clone()).is_none() {
            // SAFETY: the communicator is this one's own, and used no more: `broken` says so.
            unsafe { (self.calls.abort)(self.comm) };
        }
        error
    }
}

impl Comm for Nccl {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, mine: &[u8], all: &mut [u8]) -> Result<()> {
        let all = &mut all[..mine.len() * self.size];
        if mine.is_empty() {
            return Ok(());
        }
        self.run(mine, all, |from, to, stream| {
            // SAFETY: `from` has as many bytes as `mine`, `to` as many of each rank, on the device's side of memory that lives until the stream is done.
            match unsafe { (self.calls.all_gather)(from, to, mine.len(), UINT8, self.comm, stream) }
            {
                0 => Ok(()),
                code => Err(self.calls.error("ncclAllGather", code)),
            }
        })
    }

    fn sum_u64(&self, numbers: &mut [u64]) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }
        let mine = numbers.to_vec();
        let count = mine.len();
        self.run(
            bytemuck::cast_slice(&mine),
            bytemuck::cast_slice_mut(numbers),
            |from, to, stream| {
                // SAFETY: both have room for so many numbers of 64 bits, aligned to 256 bytes, on the device's side of memory that lives until the stream is done.
                match unsafe {
                    (self.calls.all_reduce)(from, to, count, UINT64, SUM, self.comm, stream)
                } {
                    0 => Ok(()),
                    code => Err(self.calls.error("ncclAllReduce", code)),
                }
            },
        )
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if state.gpu.enter().is_err() {
            return;
        }
        if state.broken.is_none() {
            // SAFETY: the communicator is this one's own, and used no more; one that is broken was aborted.
            unsafe { (self.calls.destroy)(self.comm) };
        }
    }
}
