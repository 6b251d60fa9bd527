"""Sums of n float32 by torch and JAX, where they are installed: one JSON object a line.

Arrays lie in rotation through 1 GiB, so that no cache holds them; the median of nine samples. torch by device events, JAX by the clock around
calls that are waited for together. A library that is not there has a line that says why.
"""
import json
import os
import statistics
import sys
import time

N = int(sys.argv[1])
COPIES = max(1, min(256, (1 << 28) // N))
CALLS = 20 if N >= 1 << 22 else 200
SAMPLES = 9


def tell(peer, microseconds):
    line = {"peer": peer, "op": "sum", "type": "f32", "n": N, "us": microseconds, "gb_s": 4 * N / microseconds / 1e3}
    print(json.dumps(line), flush=True)


def with_torch():
    import torch

    arrays = [torch.rand(N, device="cuda") for _ in range(COPIES)]

    def sample():
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for call in range(CALLS):
            torch.sum(arrays[call % COPIES])
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) * 1e3 / CALLS

    sample()
    tell(f"torch {torch.__version__}", statistics.median(sample() for _ in range(SAMPLES)))


def with_jax():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax

    if jax.default_backend() != "gpu":
        raise RuntimeError(f"its backend is {jax.default_backend()}, not gpu")
    keys = jax.random.split(jax.random.PRNGKey(0), COPIES)
    arrays = [jax.random.uniform(key, (N,)) for key in keys]
    total = jax.jit(jax.numpy.sum)

    def sample():
        start = time.perf_counter()
        results = [total(arrays[call % COPIES]) for call in range(CALLS)]
        jax.block_until_ready(results)
        return (time.perf_counter() - start) * 1e6 / CALLS

    sample()
    tell(f"jax {jax.__version__}", statistics.median(sample() for _ in range(SAMPLES)))


for name, measure in (("torch", with_torch), ("jax", with_jax)):
    try:
        measure()
    except Exception as error:  # whatever stands in the way is what is told
        print(json.dumps({"missing": name, "why": str(error).splitlines()[0] if str(error) else type(error).__name__}), flush=True)
