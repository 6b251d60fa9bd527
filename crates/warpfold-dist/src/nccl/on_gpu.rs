//! [`OnGpu`]: arrays of a GPU that this library has opened, summed over ranks.

use bytemuck::Pod;
use warpfold_gpu::cuda::{Buffer, Gpu, Queue};
use warpfold_gpu::kernel::RankSums;
use warpfold_num::{Element, Op, Scalar};

use super::tensors::{Rows, Tensor};
use super::{Nccl, failed};
use crate::exchange::exchange_agreed;
use crate::{Agreement, Error, Result};

/// Sums over the ranks of a world by NCCL of arrays in the memory of this rank's GPU: [`all_reduce`](crate::all_reduce), without the host.
///
/// ```no_run
/// use warpfold_dist::nccl::OnGpu;
/// use warpfold_dist::{Nccl, Tcp};
/// use warpfold_gpu::cuda::Gpu;
///
/// let tcp = Tcp::from_env()?;
/// let nccl = Nccl::load(0, &tcp)?;
/// let gpu = Gpu::open(0)?;
/// let mut x = gpu.upload(&[0.1f32; 1000])?;
/// OnGpu::new(&nccl, &gpu)?.all_reduce(&mut x)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OnGpu<'a> {
    nccl: &'a Nccl,
    gpu: Gpu,
    queue: Queue,
    staging: Buffer<u8>,
}

impl<'a> OnGpu<'a> {
    /// For arrays of a GPU, which is the one that the world was entered with.
    ///
    /// # Errors
    /// [`Error::World`] for another GPU, and if it gives no stream.
    pub fn new(nccl: &'a Nccl, gpu: &Gpu) -> Result<Self> {
        let (ordinal, entered) = (gpu.description().ordinal, nccl.options.device);
        if ordinal != entered {
            return Err(Error::World {
                requested: format!("sums over ranks on GPU {ordinal} were asked for"),
                obstacle: format!("this rank has entered the world with GPU {entered}"),
                remedy: "open the GPU of that number".into(),
            });
        }
        let stream = nccl.state.borrow().gpu.stream;
        // SAFETY: the stream is one of the device's primary context, and lives as long as the world, which this borrows.
        let queue = unsafe { gpu.queue_on(stream) };
        let queue = queue.map_err(|error| failed(error.to_string()))?;
        let staging = gpu.unwritten(0).map_err(|error| failed(error.to_string()))?;
        Ok(OnGpu { nccl, gpu: gpu.clone(), queue, staging })
    }

    /// Replaces every element by its sum over all ranks, rounded once to nearest-even: the bits of [`all_reduce`](crate::all_reduce) on the host. It takes as
    /// many bytes of the GPU's memory beside the array, 256 MiB at most, and keeps them for the next.
    ///
    /// # Errors
    /// [`Error::Differs`] where ranks have other types or lengths, [`Error::Failed`] where a GPU has no memory left: nothing is written then. After
    /// [`Error::Lost`] some elements may be sums and others not.
    ///
    /// # Panics
    /// For integers, whose sums are of another type: NCCL's own are exact.
    pub fn all_reduce<T: Element + Scalar + Pod>(&mut self, x: &mut Buffer<T>) -> Result<()> {
        assert!(T::DTYPE.is_float(), "all_reduce is of floats, and {} are none", T::DTYPE);
        // The parts of complex numbers are added up one by one.
        let dtype = <T as Element>::Component::DTYPE;
        let tensor = Tensor { dtype, address: x.address(), len: x.len() * T::PARTS };
        let there = self.reserve(&tensor);
        let agreement = Agreement::new(Op::Sum, T::DTYPE).and(&format!("tensors of {}", x.len()));
        exchange_agreed(
            self.nccl,
            &agreement,
            there.as_ref().map(|()| &[][..]).map_err(|why| why.as_str()),
        )?;
        let multiprocessors = self.gpu.facts().multiprocessors;
        let (nccl, queue, staging) = (self.nccl, &mut self.queue, self.staging.address());
        let stream = nccl.state.borrow().gpu.stream;
        let add = |rows: Rows| {
            let Rows { dtype, rows, columns, ranks, own, out } = rows;
            let sums = RankSums { dtype, rows, pitch: columns, ranks, columns, own, out };
            let launch = sums.launch(multiprocessors).map_err(|error| error.to_string())?;
            // SAFETY: the rows and where their sums go are those of `start_all_reduce`.
            unsafe { queue.start_batched(&[launch]) }.map_err(|error| error.to_string())
        };
        // SAFETY: the array is borrowed, and the room this one's own, until the stream is done, which is waited for, also after an error.
        let started = unsafe { nccl.start_all_reduce(tensor, staging, stream, add) };
        let done = started.and_then(|()| nccl.wait());
        if done.is_err() {
            // NCCL was aborted, so that nothing in the stream waits for another rank; sums that were started there end by themselves, and what is
            // wrong with the device itself was said before.
            let _ = self.queue.synchronize();
        }
        done
    }

    fn reserve(&mut self, tensor: &Tensor) -> Result<(), String> {
        let bytes = self.nccl.staging(tensor.dtype, tensor.len);
        if self.staging.len() < bytes {
            self.staging = self.gpu.unwritten(0).map_err(|error| error.to_string())?;
            self.staging = self.gpu.unwritten(bytes).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
