//! Tensors in the memory of GPUs, summed over ranks without the host: shares are exchanged by NCCL, and a kernel of the caller's adds them up.

use std::ffi::{c_int, c_void};

use warpfold_num::DType;

use super::Nccl;
use super::library::UINT8;
use crate::Result;

/// Bytes of all ranks together up to which everyone gets everything: one exchange less is worth more than the additions.
const SMALL: usize = 256 << 10;
/// Bytes of a tensor that are exchanged at once, for which there has to be room beside it.
const CHUNK: usize = 256 << 20;
/// Shares are whole vectors of so many bytes, as kernels read them.
const VECTOR: usize = 16;

/// A tensor of real floats in the memory of this rank's GPU; a complex number is two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tensor {
    /// The element type.
    pub dtype: DType,
    /// Where the first element lies.
    pub address: u64,
    /// Elements.
    pub len: usize,
}

/// Rows of one length, one of every rank, whose columns are to be added up and rounded once each; addresses are of the GPU's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// The element type.
    pub dtype: DType,
    /// Where the first row begins; others follow without gaps.
    pub rows: u64,
    /// Elements of a row.
    pub columns: u64,
    /// Rows.
    pub ranks: u64,
    /// The row that lies elsewhere, and where.
    pub own: Option<(u64, u64)>,
    /// Where the sums go, which is where that row lies, or one of the tensor.
    pub out: u64,
}

/// A part of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chunk {
    /// So many elements for every rank, which sums them and hands the sums to all.
    Shared { first: usize, share: usize },
    /// So many elements that everyone gets and sums.
    Everyones { first: usize, len: usize },
}

/// The parts of a tensor of so many elements of some bytes.
fn chunks(len: usize, width: usize, size: usize) -> Vec<Chunk> {
    let grain = (VECTOR / width).max(1);
    let is_small = len.saturating_mul(width).saturating_mul(size) <= SMALL;
    let shared = if is_small { 0 } else { len - len % (size * grain) };
    let most = (CHUNK / (width * size * grain)).max(1) * grain;
    let mut chunks = Vec::new();
    let mut first = 0;
    while first < shared {
        let share = most.min((shared - first) / size);
        chunks.push(Chunk::Shared { first, share });
        first += size * share;
    }
    if first < len {
        chunks.push(Chunk::Everyones { first, len: len - first });
    }
    chunks
}

impl Nccl {
    /// Bytes of the GPU's memory that [`start_all_reduce`](Self::start_all_reduce) needs for a tensor beside its own.
    pub fn staging(&self, dtype: DType, len: usize) -> usize {
        let size = self.size;
        let rows = chunks(len, dtype.size(), size).into_iter().map(|chunk| match chunk {
            Chunk::Shared { share, .. } => share * size,
            Chunk::Everyones { len, .. } => len * size,
        });
        rows.max().unwrap_or(0) * dtype.size()
    }

    /// Starts to replace every element of a tensor by its sum over all ranks, in a stream; returns before it is done. All ranks give tensors of one type and
    /// length: nobody asks here. `add` starts, in the same stream, the kernel that adds up rows.
    ///
    /// # Errors
    /// [`Error::Lost`](crate::Error::Lost) as any exchange, after which the world is of no more use; whatever `add` says.
    ///
    /// # Safety
    /// The stream is one of this rank's GPU; the tensor, and [`staging`](Self::staging) bytes at `staging`, aligned to 256, lie in its memory, and are left alone
    /// until the stream has come this far.
    pub unsafe fn start_all_reduce(
        &self,
        tensor: Tensor,
        staging: u64,
        stream: *mut c_void,
        mut add: impl FnMut(Rows) -> Result<(), String>,
    ) -> Result<()> {
        let state = self.state.borrow();
        if let Some(error) = &state.broken {
            return Err(error.clone());
        }
        let entered = state.gpu.enter();
        drop(state);
        entered.map_err(|why| self.lost(why))?;
        let (width, size, rank) = (tensor.dtype.size(), self.size, self.rank);
        let at = |element: usize| tensor.address + (element * width) as u64;
        let pointer = |address: u64| address as *mut c_void;
        for chunk in chunks(tensor.len, width, size) {
            let dtype = tensor.dtype;
            let (ranks, own) = (size as u64, rank as u64);
            let done = match chunk {
                Chunk::Shared { first, share } => {
                    let bytes = share * width;
                    let mine = at(first + rank * share);
                    let exchanged = self.grouped(
                        |peer| {
                            let row = staging + (peer * bytes) as u64;
                            (pointer(at(first + peer * share)), pointer(row), bytes)
                        },
                        stream,
                    );
                    let columns = share as u64;
                    let rows = Rows {
                        dtype,
                        rows: staging,
                        columns,
                        ranks,
                        own: Some((own, mine)),
                        out: mine,
                    };
                    exchanged.and_then(|()| add(rows)).and_then(|()| {
                        // SAFETY: as the caller promises; this rank's sums lie in their place among all of them, as NCCL has it for a gather in place.
                        self.called("ncclAllGather", unsafe {
                            (self.calls.all_gather)(
                                pointer(mine),
                                pointer(at(first)),
                                bytes,
                                UINT8,
                                self.comm,
                                stream,
                            )
                        })
                    })
                }
                Chunk::Everyones { first, len } => {
                    // SAFETY: as the caller promises.
                    let gathered = self.called("ncclAllGather", unsafe {
                        (self.calls.all_gather)(
                            pointer(at(first)),
                            pointer(staging),
                            len * width,
                            UINT8,
                            self.comm,
                            stream,
                        )
                    });
                    let rows = Rows {
                        dtype,
                        rows: staging,
                        columns: len as u64,
                        ranks,
                        own: None,
                        out: at(first),
                    };
                    gathered.and_then(|()| add(rows))
                }
            };
            done.map_err(|why| self.lost(why))?;
        }
        Ok(())
    }

    /// Sends so many bytes to each other rank and receives as many from each, at once: `of` says from where, to where and how many.
    fn grouped(
        &self,
        of: impl Fn(usize) -> (*mut c_void, *mut c_void, usize),
        stream: *mut c_void,
    ) -> Result<(), String> {
        let Nccl { calls, comm, .. } = self;
        // SAFETY: the signatures are NCCL's; memory is what the caller of `start_all_reduce` promises. A group that was begun is ended in any case.
        unsafe {
            self.called("ncclGroupStart", (calls.group_start)())?;
            let all = (0..self.size).filter(|&peer| peer != self.rank).try_for_each(|peer| {
                let (from, to, bytes) = of(peer);
                let peer = peer as c_int;
                self.called("ncclSend", (calls.send)(from, bytes, UINT8, peer, *comm, stream))?;
                self.called("ncclRecv", (calls.receive)(to, bytes, UINT8, peer, *comm, stream))
            });
            let ended = self.called("ncclGroupEnd", (calls.group_end)());
            all.and(ended)
        }
    }

    fn called(&self, call: &str, code: c_int) -> Result<(), String> {
        match code {
            0 => Ok(()),
            code => Err(self.calls.error(call, code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_tensor_once_and_shares_are_whole_vectors() {
        for width in [2, 4, 8] {
            for size in [1, 2, 3, 7, 64] {
                for len in [0, 1, 1000, SMALL / width + 1, (3 * CHUNK) / width + 12_345] {
                    let mut end = 0;
                    for chunk in chunks(len, width, size) {
                        let (first, after) = match chunk {
                            Chunk::Shared { first, share } => {
                                assert!((share * width).is_multiple_of(VECTOR));
                                assert!(share * width * size <= CHUNK);
                                (first, first + share * size)
                            }
                            Chunk::Everyones { first, len } => {
                                let left = size * VECTOR / width;
                                assert!(len < left || len * width * size <= SMALL);
                                (first, first + len)
                            }
                        };
                        assert_eq!(first, end);
                        end = after;
                    }
                    assert_eq!(end, len);
                }
            }
        }
    }
}
