"""Streams that callers name, as the current ones of their arrays' libraries."""


def handle(stream):
    """The number of a stream of any library."""
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        return stream.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return getattr(stream, name)
    raise TypeError(f"{type(stream).__name__} is no stream; give one of torch or CuPy, or its number")


def within(x, stream):
    """The context in which work on an array goes to a stream, and what it makes is that stream's."""
    library = type(x).__module__.partition(".")[0]
    if library == "torch" and x.is_cuda:
        import torch

        if not isinstance(stream, torch.cuda.Stream):
            stream = torch.cuda.ExternalStream(handle(stream), device=x.device)
        return torch.cuda.stream(stream)
    if library == "cupy":
        import cupy

        return stream if isinstance(stream, cupy.cuda.Stream) else cupy.cuda.ExternalStream(handle(stream))
    raise TypeError("a stream is of arrays of torch and CuPy on a GPU; leave it out")
