//! [`Mpi`]: the world that mpirun or srun started, by whichever MPI library is there. Nothing of MPI is needed to build.

mod library;
mod polled;

use std::cell::RefCell;
use std::ffi::{c_int, c_void};

use library::{Binding, Calls, Handles};

use crate::meanwhile::WhileWaiting;
use crate::{Comm, Error, Meanwhile, Result};

/// Bytes of a gather that one call takes from a rank; MPI counts in `int`.
const MOST: usize = 1 << 30;

/// `MPI_COMM_WORLD`. MPI is initialised with the first and finalised when it is dropped, unless the program did that itself.
///
/// A rank that dies is MPI's to notice: launchers end all other ranks, and name it.
pub struct Mpi {
    found: Binding,
    rank: usize,
    size: usize,
    description: String,
    is_ours: bool,
    waiting: WhileWaiting,
    /// Rank 0's: how far each rank has said to be.
    reports: RefCell<Vec<u64>>,
}

impl std::fmt::Debug for Mpi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {} by {}", self.rank, self.size, self.description)
    }
}

/// Evaluates an expression with the library's calls, whatever its handles are.
macro_rules! with_calls {
    ($found:expr, $calls:ident => $body:expr) => {
        match $found {
            Binding::Pointers($calls, _) => $body,
            Binding::Ints($calls, _) => $body,
        }
    };
}

impl Mpi {
    /// Loads the library of the launcher, or the one that `WARPFOLD_MPI` names, and enters the world.
    ///
    /// # Errors
    /// [`Error::World`] if there is none, or if it is not that of the launcher.
    pub fn load() -> Result<Mpi> {
        let get = |name: &str| std::env::var(name).ok();
        let mut obstacles = Vec::new();
        for name in library::names(get) {
            match library::open(&name) {
                Ok(found) => return Self::enter(found, &name, get),
                Err(why) => obstacles.push(format!("{name}: {why}")),
            }
        }
        Err(failed(
            obstacles.join("; "),
            "install Open MPI or MPICH, add its folder to LD_LIBRARY_PATH, or name the file in WARPFOLD_MPI",
        ))
    }

    fn enter(found: Binding, name: &str, get: impl Fn(&str) -> Option<String>) -> Result<Mpi> {
        let kind = match &found {
            Binding::Pointers(_, kind) | Binding::Ints(_, kind) => kind,
        };
        let (is_ours, rank, size) = with_calls!(&found, calls => start(calls))?;
        let version = with_calls!(&found, calls => library::version(calls));
        let description = format!("{version} ({kind}, {name})");
        let (waiting, reports) = (WhileWaiting::default(), RefCell::new(vec![0; size]));
        let mpi = Mpi { found, rank, size, description, is_ours, waiting, reports };
        let started = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"]
            .iter()
            .find_map(|v| get(v));
        match started.and_then(|size| size.parse::<usize>().ok()) {
            Some(started) if started != size => {
                let obstacle = format!(
                    "the launcher started {started} ranks, and {} sees {size}",
                    mpi.description
                );
                Err(failed(obstacle, "name the launcher's own library in WARPFOLD_MPI"))
            }
            _ => Ok(mpi),
        }
    }

    /// Which library it is: its own words, its ABI, and its file.
    pub fn description(&self) -> &str {
        &self.description
    }

    fn sum<T: Summed>(&self, numbers: &mut [T]) -> Result<()> {
        for numbers in numbers.chunks_mut(MOST / size_of::<T>()) {
            let mine = numbers.to_vec();
            let code = with_calls!(&self.found, calls => match self.waiting.is_on() {
                true => polled::all_reduce(calls, &mine, numbers, || self.tick()),
                false => all_reduce(calls, &mine, numbers),
            });
            match code {
                0 => {}
                code => return Err(self.lost("MPI_Allreduce", code)),
            }
        }
        Ok(())
    }

    /// MPI's own sum of floats over all ranks, which is rounded on the way, in an order that depends on their number: for comparison with
    /// [`all_reduce`](crate::all_reduce).
    ///
    /// # Errors
    /// As [`Comm::sum_u64`].
    pub fn sum_f32(&self, numbers: &mut [f32]) -> Result<()> {
        self.sum(numbers)
    }

    /// The same of `f64`.
    ///
    /// # Errors
    /// As [`Comm::sum_u64`].
    pub fn sum_f64(&self, numbers: &mut [f64]) -> Result<()> {
        self.sum(numbers)
    }

    fn lost(&self, call: &str, code: c_int) -> Error {
        let why = format!("{call} returned error {code}");
        Error::Lost { rank: self.rank, size: self.size, why }
    }
}

fn failed(obstacle: String, remedy: &str) -> Error {
    let requested = "a world by MPI was asked for".into();
    Error::World { requested, obstacle, remedy: remedy.into() }
}

fn checked(call: &str, code: c_int) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(failed(
            format!("{call} returned error {code}"),
            "start the program by mpirun or srun",
        )),
    }
}

/// Initialises MPI unless that was done; whether it was done here, rank and size.
fn start<H: Copy>(calls: &Calls<H>) -> Result<(bool, usize, usize)> {
    let (mut was, mut rank, mut size) = (0, 0, 0);
    // SAFETY: the signatures are the library's; pointers are to integers that live here, and may be null for the arguments of `main`.
    unsafe {
        checked("MPI_Initialized", (calls.initialized)(&mut was))?;
        if was == 0 {
            let (none, mut given) = (std::ptr::null_mut(), 0);
            let code = (calls.init_thread)(none, none.cast(), calls.funneled, &mut given);
            checked("MPI_Init_thread", code)?;
        }
        checked("MPI_Comm_rank", (calls.rank)(calls.handles.world, &mut rank))?;
        checked("MPI_Comm_size", (calls.size)(calls.handles.world, &mut size))?;
    }
    Ok((was == 0, rank as usize, size as usize))
}

fn all_gather<H: Copy>(calls: &Calls<H>, mine: &[u8], all: &mut [u8]) -> c_int {
    let (count, handles) = (mine.len() as c_int, calls.handles);
    // SAFETY: `all` has room for as many bytes of every rank, which its only caller checked, and the count is below 2^31.
    unsafe {
        let (from, to) = (mine.as_ptr().cast::<c_void>(), all.as_mut_ptr().cast::<c_void>());
        (calls.all_gather)(from, count, handles.byte, to, count, handles.byte, handles.world)
    }
}

fn all_to_all<H: Copy>(calls: &Calls<H>, size: usize, mine: &[u8], theirs: &mut [u8]) -> c_int {
    let (count, handles) = ((mine.len() / size) as c_int, calls.handles);
    // SAFETY: both slices have room for a block of so many bytes of every rank, which its only caller checked, and the count is below 2^31.
    unsafe {
        let (from, to) = (mine.as_ptr().cast::<c_void>(), theirs.as_mut_ptr().cast::<c_void>());
        (calls.all_to_all)(from, count, handles.byte, to, count, handles.byte, handles.world)
    }
}

/// A type that MPI itself sums.
trait Summed: Copy {
    fn of<H: Copy>(handles: &Handles<H>) -> H;
}

impl Summed for u64 {
    fn of<H: Copy>(handles: &Handles<H>) -> H {
        handles.u64
    }
}

impl Summed for f32 {
    fn of<H: Copy>(handles: &Handles<H>) -> H {
        handles.f32
    }
}

impl Summed for f64 {
    fn of<H: Copy>(handles: &Handles<H>) -> H {
        handles.f64
    }
}

fn all_reduce<H: Copy, T: Summed>(calls: &Calls<H>, mine: &[T], sum: &mut [T]) -> c_int {
    let (count, handles) = (mine.len() as c_int, &calls.handles);
    // SAFETY: both slices have one length, below 2^31, and elements of the type that the handle names.
    unsafe {
        let (from, to) = (mine.as_ptr().cast::<c_void>(), sum.as_mut_ptr().cast::<c_void>());
        (calls.all_reduce)(from, to, count, T::of(handles), handles.sum, handles.world)
    }
}

impl Comm for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, mine: &[u8], all: &mut [u8]) -> Result<()> {
        let all = &mut all[..mine.len() * self.size];
        let gather = |mine: &[u8], all: &mut [u8]| {
            let code = with_calls!(&self.found, calls => match self.waiting.is_on() {
                true => polled::all_gather(calls, mine, all, || self.tick()),
                false => all_gather(calls, mine, all),
            });
            if code == 0 { Ok(()) } else { Err(self.lost("MPI_Allgather", code)) }
        };
        if mine.len() <= MOST {
            return gather(mine, all);
        }
        let mut start = 0;
        for piece in mine.chunks(MOST) {
            let mut pieces = vec![0; piece.len() * self.size];
            gather(piece, &mut pieces)?;
            for (rank, from) in pieces.chunks_exact(piece.len()).enumerate() {
                all[rank * mine.len() + start..][..piece.len()].copy_from_slice(from);
            }
            start += piece.len();
        }
        Ok(())
    }

    fn sum_u64(&self, numbers: &mut [u64]) -> Result<()> {
        self.sum(numbers)
    }

    fn all_to_all(&self, mine: &[u8], theirs: &mut [u8]) -> Result<()> {
        let block = mine.len() / self.size;
        let (mine, theirs) = (&mine[..block * self.size], &mut theirs[..block * self.size]);
        if block > MOST {
            let why = format!("blocks of {block} bytes are longer than MPI counts");
            return Err(Error::Contribution { rank: self.rank, why });
        }
        match with_calls!(&self.found, calls => all_to_all(calls, self.size, mine, theirs)) {
            0 => Ok(()),
            code => Err(self.lost("MPI_Alltoall", code)),
        }
    }

    /// All ranks take MPI's nonblocking collectives from now on, which do not meet the blocking ones.
    fn while_waiting(&self, meanwhile: Meanwhile) {
        self.waiting.set(meanwhile);
    }

    fn report(&self, done: u64) {
        if self.rank > 0 && self.waiting.is_on() {
            with_calls!(&self.found, calls => polled::report(calls, self.rank, done));
        }
    }

    fn reported(&self) -> u64 {
        let mut reports = self.reports.borrow_mut();
        if self.rank == 0 && self.waiting.is_on() {
            for [rank, done] in with_calls!(&self.found, calls => polled::received(calls)) {
                if let Some(known) = reports.get_mut(rank as usize) {
                    *known = done;
                }
            }
        }
        reports.iter().copied().fold(0, u64::saturating_add)
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        // Reports that came after the last look: MPI wants every message received before it ends.
        self.reported();
        with_calls!(&self.found, calls => polled::let_go(calls));
        if !self.is_ours {
            return;
        }
        // SAFETY: MPI was initialised here, and is finalised once, by its only owner.
        with_calls!(&self.found, calls => unsafe {
            let mut was = 0;
            if (calls.finalized)(&mut was) == 0 && was == 0 {
                (calls.finalize)();
            }
        });
    }
}
