//! Collectives that rank 0 does not sleep in, and reports of how far ranks are, which are messages beside them.
//!
//! Only the thread that entered MPI calls it: it looks for reports while it waits, and no other thread is asked for.

use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use super::library::{Calls, Status};
use super::{Mpi, Summed};
use crate::meanwhile::TICK;

/// The tag of reports: "WF".
const TAG: c_int = 0x5746;
/// For so long a rank looks without a pause whether a collective is done.
const SPIN: Duration = Duration::from_micros(500);

/// A report: the rank, and what it has done.
pub(super) type Report = [u64; 2];

/// A report that was begun, and lives until MPI has taken it.
pub(super) type UnderWay<H> = Option<(H, Box<Report>)>;

/// Sends a report to rank 0, unless the last one is still under way.
pub(super) fn report<H: Copy>(calls: &Calls<H>, rank: usize, done: u64) {
    let mut under_way = calls.under_way.borrow_mut();
    if let Some((request, _)) = &mut *under_way
        && is_done(calls, request) != Ok(true)
    {
        return;
    }
    *under_way = None;
    let report = Box::new([rank as u64, done]);
    let (count, handles) = (size_of::<Report>() as c_int, &calls.handles);
    // Any value: MPI writes the request here.
    let mut request = handles.world;
    // SAFETY: the report has so many bytes, and lives on the heap until its request is done; one that never is is not freed.
    let code = unsafe {
        let from = (&raw const *report).cast::<c_void>();
        (calls.start_send)(from, count, handles.byte, 0, TAG, handles.world, &mut request)
    };
    if code == 0 {
        *under_way = Some((request, report));
    }
}

/// Lets go of the last report: one that MPI has not taken is not freed, as MPI may still read it.
pub(super) fn let_go<H: Copy>(calls: &Calls<H>) {
    if let Some((mut request, report)) = calls.under_way.borrow_mut().take()
        && is_done(calls, &mut request) != Ok(true)
    {
        std::mem::forget(report);
    }
}

/// The reports that have come.
pub(super) fn received<H: Copy>(calls: &Calls<H>) -> Vec<Report> {
    let mut all = Vec::new();
    loop {
        let (mut is_here, mut status) = (0, Status::default());
        let handles = &calls.handles;
        // SAFETY: the signature is the library's, there is room for its status, and a message with this tag is a report.
        let report = unsafe {
            let (mut report, count) = ([0u64; 2], size_of::<Report>() as c_int);
            let code = (calls.probe)(handles.anyone, TAG, handles.world, &mut is_here, &mut status);
            if code != 0 || is_here == 0 {
                return all;
            }
            let to = report.as_mut_ptr().cast::<c_void>();
            let (anyone, byte, world) = (handles.anyone, handles.byte, handles.world);
            match (calls.receive)(to, count, byte, anyone, TAG, world, &mut status) {
                0 => report,
                _ => return all,
            }
        };
        all.push(report);
    }
}

fn is_done<H>(calls: &Calls<H>, request: &mut H) -> Result<bool, c_int> {
    let (mut is_done, mut status) = (0, Status::default());
    // SAFETY: the request was begun by a caller, whose buffers live, and there is room for the library's status.
    match unsafe { (calls.test)(request, &mut is_done, &mut status) } {
        0 => Ok(is_done != 0),
        code => Err(code),
    }
}

/// Waits for what was begun, and does something meanwhile.
fn wait<H>(calls: &Calls<H>, request: &mut H, meanwhile: impl Fn()) -> c_int {
    let (begun, mut shared_at) = (Instant::now(), Instant::now());
    loop {
        match is_done(calls, request) {
            Ok(true) => return 0,
            Ok(false) => {}
            Err(code) => return code,
        }
        if shared_at.elapsed() >= TICK {
            meanwhile();
            shared_at = Instant::now();
        }
        match begun.elapsed() < SPIN {
            true => std::thread::yield_now(),
            false => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

pub(super) fn all_gather<H: Copy>(
    calls: &Calls<H>,
    mine: &[u8],
    all: &mut [u8],
    meanwhile: impl Fn(),
) -> c_int {
    let (count, handles) = (mine.len() as c_int, calls.handles);
    let mut request = handles.world;
    // SAFETY: `all` has room for as many bytes of every rank, which its only caller checked, and the count is below 2^31; both are borrowed until the
    // collective is done, or has failed, after which the world is of no more use.
    let code = unsafe {
        let (from, to) = (mine.as_ptr().cast::<c_void>(), all.as_mut_ptr().cast::<c_void>());
        let (byte, world) = (handles.byte, handles.world);
        (calls.start_gather)(from, count, byte, to, count, byte, world, &mut request)
    };
    if code == 0 { wait(calls, &mut request, meanwhile) } else { code }
}

pub(super) fn all_reduce<H: Copy, T: Summed>(
    calls: &Calls<H>,
    mine: &[T],
    sum: &mut [T],
    meanwhile: impl Fn(),
) -> c_int {
    let (count, handles) = (mine.len() as c_int, &calls.handles);
    let mut request = handles.world;
    // SAFETY: both slices have one length, below 2^31, and elements of the type that the handle names; they are borrowed as above.
    let code = unsafe {
        let (from, to) = (mine.as_ptr().cast::<c_void>(), sum.as_mut_ptr().cast::<c_void>());
        let (number, world) = (T::of(handles), handles.world);
        (calls.start_reduce)(from, to, count, number, handles.sum, world, &mut request)
    };
    if code == 0 { wait(calls, &mut request, meanwhile) } else { code }
}

impl Mpi {
    /// What rank 0 does while it waits.
    pub(super) fn tick(&self) {
        self.waiting.tick(crate::Comm::reported(self));
    }
}
