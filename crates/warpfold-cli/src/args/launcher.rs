//! [`Launcher`]: the value of `--world`.

/// Who carries bytes between ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Launcher {
    /// MPI under mpirun, TCP under torchrun and srun, or as the variables WARPFOLD_RANK and so on say
    Auto,
    /// Open MPI, MPICH or another library of the MPI 5.0 ABI, found when the program runs
    Mpi,
    /// Sockets; WARPFOLD_TOKEN keeps strangers out
    Tcp,
    /// NCCL between GPUs, one a rank, which meet as auto says
    Nccl,
}
