//! Stands in for `libnccl.so.2` and `libcuda.so.1` where there is no GPU: the same functions over the host's memory, between threads or processes, by TCP.
//!
//! It keeps NCCL's rules as far as a rank can break them: an id serves one world, a communicator is used by the rank that made it, and memory
//! that it did not allocate is refused. `NCCL_SHIM_VERSION` says what version it claims to be; `NCCL_SHIM_FAILS` makes exchanges fail.
#![allow(non_snake_case, clippy::missing_safety_doc, missing_docs)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::net::TcpListener;
use std::sync::Mutex;
use std::time::Duration;

use warpfold_dist::tcp::Options;
use warpfold_dist::{Comm, Tcp};

#[repr(C)]
pub struct UniqueId([u8; 128]);

/// Memory that was allocated: address and bytes.
static ALLOCATED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Whether so many bytes lie in memory that was allocated here.
fn is_ours(address: *const c_void, bytes: usize) -> bool {
    let allocated = ALLOCATED.lock().expect("no test panics in here");
    let at = address as usize;
    allocated.range(..=at).next_back().is_some_and(|(start, length)| at + bytes <= start + length)
}

const NO_MEMORY: c_int = 2;
const INVALID_ARGUMENT: c_int = 4;
const SYSTEM_ERROR: c_int = 2;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetVersion(version: *mut c_int) -> c_int {
    let said = std::env::var("NCCL_SHIM_VERSION").ok().and_then(|text| text.parse().ok());
    // SAFETY: NCCL's contract.
    unsafe { *version = said.unwrap_or(22_703) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetUniqueId(id: *mut UniqueId) -> c_int {
    let Ok(address) = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()) else {
        return SYSTEM_ERROR;
    };
    let address = address.to_string();
    let mut bytes = [0; 128];
    bytes[..address.len()].copy_from_slice(address.as_bytes());
    // SAFETY: NCCL's contract.
    unsafe { (*id).0 = bytes };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRank(
    comm: *mut *mut Tcp,
    size: c_int,
    id: UniqueId,
    rank: c_int,
) -> c_int {
    let address = String::from_utf8_lossy(&id.0).trim_end_matches('\0').to_string();
    let (rank, size, token) = (rank as usize, size as usize, "shim".to_string());
    let timeout = Duration::from_secs(30);
    match Tcp::enter(&Options { rank, size, address, bind: None, token, timeout }) {
        Ok(tcp) => {
            // SAFETY: NCCL's contract; the communicator is freed by ncclCommDestroy or ncclCommAbort.
            unsafe { *comm = Box::into_raw(Box::new(tcp)) };
            0
        }
        Err(_) => SYSTEM_ERROR,
    }
}

fn fails() -> bool {
    std::env::var_os("NCCL_SHIM_FAILS").is_some()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclAllGather(
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    dtype: c_int,
    comm: *mut Tcp,
    _stream: *mut c_void,
) -> c_int {
    // SAFETY: NCCL's contract; that memory is what was allocated here is checked first.
    unsafe {
        let tcp = &*comm;
        if dtype != 1 || !is_ours(from, count) || !is_ours(to, count * tcp.size()) {
            return INVALID_ARGUMENT;
        }
        let mine = std::slice::from_raw_parts(from.cast::<u8>(), count);
        let all = std::slice::from_raw_parts_mut(to.cast::<u8>(), count * tcp.size());
        if fails() || tcp.all_gather(mine, all).is_err() { SYSTEM_ERROR } else { 0 }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclAllReduce(
    from: *const c_void,
    to: *mut c_void,
    count: usize,
    dtype: c_int,
    op: c_int,
    comm: *mut Tcp,
    _stream: *mut c_void,
) -> c_int {
    if (dtype, op) != (5, 0) || !is_ours(from, 8 * count) || !is_ours(to, 8 * count) {
        return INVALID_ARGUMENT;
    }
    // SAFETY: NCCL's contract; that memory is what was allocated here was checked.
    unsafe {
        let mut sum = std::slice::from_raw_parts(from.cast::<u64>(), count).to_vec();
        if fails() || (*comm).sum_u64(&mut sum).is_err() {
            return SYSTEM_ERROR;
        }
        std::slice::from_raw_parts_mut(to.cast::<u64>(), count).copy_from_slice(&sum);
    }
    0
}

/// What a thread has put into its group: the communicator, and what goes to and comes from which rank.
#[derive(Default)]
struct Group {
    comm: usize,
    sent: Vec<(usize, Vec<u8>)>,
    received: Vec<(usize, usize, usize)>,
}

thread_local! {
    static GROUP: RefCell<Option<Group>> = const { RefCell::new(None) };
}

/// Adds to the group that was begun; outside of one, a rank would wait for another.
fn grouped(comm: *mut Tcp, add: impl FnOnce(&mut Group)) -> c_int {
    GROUP.with_borrow_mut(|group| {
        let Some(group) = group else { return INVALID_ARGUMENT };
        group.comm = comm as usize;
        add(group);
        0
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGroupStart() -> c_int {
    GROUP.set(Some(Group::default()));
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclSend(
    from: *const c_void,
    count: usize,
    dtype: c_int,
    peer: c_int,
    comm: *mut Tcp,
    _stream: *mut c_void,
) -> c_int {
    if dtype != 1 || !is_ours(from, count) {
        return INVALID_ARGUMENT;
    }
    // SAFETY: NCCL's contract; that memory is what was allocated here was checked.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), count) }.to_vec();
    grouped(comm, |group| group.sent.push((peer as usize, bytes)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclRecv(
    to: *mut c_void,
    count: usize,
    dtype: c_int,
    peer: c_int,
    comm: *mut Tcp,
    _stream: *mut c_void,
) -> c_int {
    if dtype != 1 || !is_ours(to, count) {
        return INVALID_ARGUMENT;
    }
    grouped(comm, |group| group.received.push((peer as usize, to as usize, count)))
}

/// Everything of the group at once: blocks of the longest length, and the lengths themselves before them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGroupEnd() -> c_int {
    let Some(group) = GROUP.take() else { return INVALID_ARGUMENT };
    if group.comm == 0 {
        return 0;
    }
    // SAFETY: NCCL's contract.
    let tcp = unsafe { &*(group.comm as *const Tcp) };
    let longest = group.sent.iter().map(|(_, bytes)| bytes.len()).max().unwrap_or(0);
    let mut lengths = vec![0; 8 * tcp.size()];
    if fails() || tcp.all_gather(&(longest as u64).to_le_bytes(), &mut lengths).is_err() {
        return SYSTEM_ERROR;
    }
    let longest = lengths.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).max();
    let block = 8 + longest.unwrap_or(0) as usize;
    let (mut mine, mut theirs) = (vec![0; block * tcp.size()], vec![0; block * tcp.size()]);
    for (peer, bytes) in &group.sent {
        let block = &mut mine[peer * block..][..block];
        block[..8].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        block[8..][..bytes.len()].copy_from_slice(bytes);
    }
    if tcp.all_to_all(&mine, &mut theirs).is_err() {
        return SYSTEM_ERROR;
    }
    for (peer, to, count) in group.received {
        let (length, bytes) = theirs[peer * block..][..block].split_at(8);
        if length != (count as u64).to_le_bytes() {
            return INVALID_ARGUMENT;
        }
        // SAFETY: that this is memory which was allocated here was checked.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, count) };
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommGetAsyncError(_: *mut Tcp, code: *mut c_int) -> c_int {
    // SAFETY: NCCL's contract.
    unsafe { *code = 0 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommDestroy(comm: *mut Tcp) -> c_int {
    // SAFETY: NCCL's contract: it was made by ncclCommInitRank, and is not used any more.
    drop(unsafe { Box::from_raw(comm) });
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommAbort(comm: *mut Tcp) -> c_int {
    // SAFETY: as above.
    unsafe { ncclCommDestroy(comm) }
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(code: c_int) -> *const c_char {
    match code {
        SYSTEM_ERROR => c"unhandled system error".as_ptr(),
        INVALID_ARGUMENT => c"invalid argument".as_ptr(),
        _ => c"no error".as_ptr(),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_: c_uint) -> c_int {
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    if ordinal >= 8 {
        return 101;
    }
    // SAFETY: the driver's contract.
    unsafe { *device = ordinal };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int) -> c_int {
    // SAFETY: the driver's contract.
    unsafe { *context = device as usize + 1 };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(_: c_int) -> c_int {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(_: usize) -> c_int {
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut usize, _: c_uint) -> c_int {
    // SAFETY: the driver's contract.
    unsafe { *stream = 1 };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamQuery(_: usize) -> c_int {
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(_: usize) -> c_int {
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> c_int {
    let Ok(layout) = std::alloc::Layout::from_size_align(bytes.max(1), 256) else {
        return NO_MEMORY;
    };
    // SAFETY: the driver's contract; the layout is not empty.
    unsafe {
        let memory = std::alloc::alloc_zeroed(layout);
        if memory.is_null() {
            return NO_MEMORY;
        }
        ALLOCATED.lock().expect("no test panics in here").insert(memory as usize, bytes.max(1));
        *address = memory as u64;
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFree_v2(address: u64) -> c_int {
    let bytes = ALLOCATED.lock().expect("no test panics in here").remove(&(address as usize));
    let layout = bytes.and_then(|bytes| std::alloc::Layout::from_size_align(bytes, 256).ok());
    let Some(layout) = layout else { return 1 };
    // SAFETY: it was allocated here with this layout, and is forgotten.
    unsafe { std::alloc::dealloc(address as *mut u8, layout) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostAlloc(address: *mut u64, bytes: usize, _: c_uint) -> c_int {
    // SAFETY: the driver's contract.
    unsafe { cuMemAlloc_v2(address, bytes) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeHost(address: u64) -> c_int {
    // SAFETY: the driver's contract.
    unsafe { cuMemFree_v2(address) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: *mut u8,
    from: *const u8,
    bytes: usize,
    _: usize,
) -> c_int {
    if !is_ours(to.cast(), bytes) {
        return 1;
    }
    // SAFETY: the driver's contract; the target was checked.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut u8,
    from: *const u8,
    bytes: usize,
    stream: usize,
) -> c_int {
    // SAFETY: the driver's contract.
    unsafe { cuMemcpyHtoDAsync_v2(to, from, bytes, stream) }
}
