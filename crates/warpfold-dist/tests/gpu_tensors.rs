//! Tensors of GPUs summed over ranks: NCCL is a library that stands in for it, over the host's memory, and the kernel is the one that ships, in the simulator.

use std::ffi::c_int;
use std::path::PathBuf;
use std::time::Duration;

use libloading::os::unix::Library;
use warpfold_dist::nccl::{Options, Rows, Tensor, Through};
use warpfold_dist::{Comm, Error, Nccl, Threads, all_reduce};
use warpfold_gpu::kernel::{AnyBuffer, Executor, RankSums};
use warpfold_gpu::simt::Device;
use warpfold_num::random::Words;
use warpfold_num::{DType, Element, Scalar, bf16, f16};

/// The example `nccl_shim`, which cargo builds beside the tests.
fn shim() -> String {
    let test = std::env::current_exe().expect("a test is a file");
    let folder: PathBuf =
        test.parent().and_then(|deps| deps.parent()).expect("target/debug").into();
    let file = folder.join("examples/libnccl_shim.so");
    assert!(file.is_file(), "build the example nccl_shim of warpfold-dist first");
    file.to_string_lossy().into_owned()
}

fn options(device: usize) -> Options {
    let (nccl, driver) = (shim(), shim());
    Options { nccl, driver, device, through: Through::Host, timeout: Duration::from_secs(30) }
}

/// Memory of the driver that stands in: what NCCL is given has to be of it.
struct Memory {
    library: Library,
    address: u64,
}

impl Memory {
    fn of(bytes: usize) -> Memory {
        // SAFETY: the library is loaded already, and the signature is the driver's.
        unsafe {
            let library = Library::new(shim()).expect("it is there");
            let mut address = 0;
            let alloc = library
                .get::<unsafe extern "C" fn(*mut u64, usize) -> c_int>(b"cuMemAlloc_v2")
                .expect("it is a driver");
            assert_eq!(alloc(&mut address, bytes.max(1)), 0);
            Memory { library, address }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: as above; it was allocated there, and is freed once.
        unsafe {
            let free = self.library.get::<unsafe extern "C" fn(u64) -> c_int>(b"cuMemFree_v2");
            free.expect("it is a driver")(self.address);
        }
    }
}

/// Bytes of memory of the host that was allocated above.
fn bytes(address: u64, length: usize) -> Vec<u8> {
    // SAFETY: callers name memory of this test's own, of this length, which no other thread writes to now.
    unsafe { std::slice::from_raw_parts(address as *const u8, length) }.to_vec()
}

fn write(address: u64, bytes: &[u8]) {
    // SAFETY: as above.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
}

/// Adds up rows by the kernel that ships, in a simulated GPU that rows are copied to and sums from.
fn simulated(rows: Rows) -> Result<(), String> {
    let Rows { dtype, rows, columns, ranks, own, out } = rows;
    let device = Device::new();
    let length = columns as usize * dtype.size();
    let copy = |address, length| {
        AnyBuffer::upload(&device, dtype, &bytes(address, length)).expect("the host has memory")
    };
    let there = copy(rows, length * ranks as usize);
    let own_row = own.map(|(rank, address)| (rank, copy(address, length)));
    let sums = copy(out, length);
    let launch = RankSums {
        dtype,
        rows: there.address(),
        pitch: columns,
        ranks,
        columns,
        own: own_row.as_ref().map(|(rank, row)| (*rank, row.address())),
        out: sums.address(),
    };
    let launch = launch.launch(1).map_err(|error| error.to_string())?;
    device.run_batched(&[launch], &[]).map_err(|error| error.to_string())?;
    write(out, &device.bytes_of(sums.view()).map_err(|error| error.to_string())?);
    Ok(())
}

/// What a rank holds: random bits, infinities and NaNs among them, and numbers that cancel.
fn held<T: Element + bytemuck::Pod>(rank: usize, n: usize, of: impl Fn(u64) -> T) -> Vec<T> {
    let mut words = Words(rank as u64 * 91 + 3);
    (0..n).map(|_| of(words.next())).collect()
}

fn check<T: Element + Scalar + bytemuck::Pod>(size: usize, n: usize, of: impl Fn(u64) -> T + Sync) {
    let found = Threads::run(size, |bootstrap| {
        let rank = bootstrap.rank();
        let mut x = held(rank, n, &of);
        let length = size_of_val(&x[..]);
        let comm = Nccl::enter(options(rank), &bootstrap).unwrap();
        let tensor = Memory::of(length);
        write(tensor.address, bytemuck::cast_slice(&x));
        let room = comm.staging(T::DTYPE, n);
        let room = Memory::of(room);
        let given = Tensor { dtype: T::DTYPE, address: tensor.address, len: n };
        // SAFETY: both are memory of the driver that stands in, as large as they are said to be; its streams are never behind.
        unsafe {
            comm.start_all_reduce(given, room.address, std::ptr::null_mut(), simulated).unwrap()
        };
        // The processor's, which has tests of its own.
        all_reduce(&bootstrap, &mut x, 1).unwrap();
        assert_eq!(bytes(tensor.address, length), bytemuck::cast_slice::<T, u8>(&x), "{n}");
        x
    });
    assert!(
        found.iter().all(|x| {
            bytemuck::cast_slice::<T, u8>(x) == bytemuck::cast_slice::<T, u8>(&found[0])
        })
    );
}

#[test]
fn tensors_of_gpus_have_the_bits_of_the_processor() {
    for size in [1, 2, 3, 4, 7] {
        for n in [0, 1, 5, 1001] {
            check::<f64>(size, n, f64::from_bits);
            check::<f32>(size, n, |bits| f32::from_bits(bits as u32));
        }
    }
    check::<f16>(3, 777, |bits| f16::from_bits(bits as u16));
    check::<bf16>(3, 777, |bits| bf16::from_bits(bits as u16));
    // In shares, and a rest that everyone sums.
    check::<f32>(3, 30_011, |bits| f32::from_bits(bits as u32));
    check::<f64>(2, 20_001, f64::from_bits);
}

#[test]
fn what_the_kernel_says_is_said_and_the_world_is_lost() {
    let found = Threads::run(2, |bootstrap| {
        let rank = bootstrap.rank();
        let comm = Nccl::enter(options(rank), &bootstrap).unwrap();
        let (memory, room) = (Memory::of(80), Memory::of(comm.staging(DType::F64, 10)));
        let tensor = Tensor { dtype: DType::F64, address: memory.address, len: 10 };
        let fails = |_: Rows| Err("no kernel".to_string());
        // SAFETY: as above.
        let error = unsafe {
            comm.start_all_reduce(tensor, room.address, std::ptr::null_mut(), fails).unwrap_err()
        };
        assert!(matches!(&error, Error::Lost { why, .. } if why == "no kernel"), "{error}");
        let mut all = [0; 2];
        assert_eq!(comm.all_gather(&[1], &mut all).unwrap_err(), error);
        error
    });
    assert_eq!(found.len(), 2);
}
