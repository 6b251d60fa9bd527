"""Exact reductions over the ranks of MPI, by mpi4py: the same bits at any number of ranks and any distribution of the data.

Each rank gives its part of the whole, which may be empty, and every rank gets the result.

    from mpi4py import MPI
    import warpfold.mpi
    total = warpfold.mpi.sum(mine, comm=MPI.COMM_WORLD)
"""

from ._partials import MERGEABLE, merged, pack, unpack
from ._ranks import functions

__all__ = ["allreduce", *MERGEABLE]


def allreduce(partial, comm=None):
    """One `Exact`, or an array of them, with what those of all ranks hold."""
    if comm is None:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
    # In the order of ranks, everywhere.
    return merged([unpack(data) for data in comm.allgather(pack(partial))])


globals().update(functions(allreduce, "comm", "communicator of mpi4py, by default `MPI.COMM_WORLD`"))
