"""The peers of fused maps: torch as it is, torch.compile and cupy.fuse. maps_torch.py [BYTES] > results/MACHINE/maps-peers.jsonl

Two arrays of so many bytes each, 2^29 unless given, normally distributed, as in warpfold's example `cuda_maps`. A line of JSON a map, type and peer: the median of
nine rounds of ten calls between device events, in turn with reading the same bytes alone, and how far the result is from the exact one by `math.fsum` of a float64
evaluation (relative; counts and indices by equality, null where they agree).
"""

import json
import math
import re
import statistics
import sys

import cupy
import torch

ROUNDS, CALLS = 9, 10
BYTES = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 29

READ = cupy.RawKernel(
    r"""
extern "C" __global__ void __launch_bounds__(512) read(const uint4* x, size_t n, uint4* out) {
    size_t threads = size_t(gridDim.x) * blockDim.x, i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    uint4 a = {};
    for (; i + 3 * threads < n; i += 4 * threads) {
        uint4 v[4];
        for (int k = 0; k < 4; k++) v[k] = __ldcs(x + i + k * threads);
        for (int k = 0; k < 4; k++) { a.x ^= v[k].x; a.y ^= v[k].y; a.z ^= v[k].z; a.w ^= v[k].w; }
    }
    if ((a.x & a.y & a.z & a.w) == 0x12345678u) *out = a;
}
""",
    "read",
)

# What is folded, of how many arrays, by torch and by cupy (None where cupy.fuse has no such reduction).
MAPS = {
    "sum(abs(x - y))": (2, lambda x, y: (x - y).abs().sum(), lambda x, y: cupy.sum(cupy.abs(x - y))),
    "mean(x, weights=abs(y))": (2, lambda x, y: (x * y.abs()).sum() / y.abs().sum(), None),
    "cosine(x, y)": (2, lambda x, y: (x * y).sum() / ((x * x).sum() * (y * y).sum()).sqrt(), None),
    "count(x > 0.3)": (1, lambda x, y: (x > 0.3).sum(), lambda x, y: cupy.sum((x > 0.3).astype(cupy.int64))),
    "argmax(abs(x))": (1, lambda x, y: x.abs().argmax(), None),
    "sum(exp(x))": (1, lambda x, y: x.exp().sum(), lambda x, y: cupy.sum(cupy.exp(x))),
    "rmse(x, y)": (2, lambda x, y: ((x - y) * (x - y)).mean().sqrt(), None),
    "var(x - y)": (2, lambda x, y: (x - y).var(correction=0), None),
}


def marked(call):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(CALLS):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / CALLS


def timed(call, read):
    times = [(marked(read), marked(call)) for _ in range(ROUNDS + 1)][1:]
    return [statistics.median(column) for column in zip(*times)]


def error(found, exact):
    """How far a result is from the exact one, relatively; null where they are equal."""
    if isinstance(exact, int):
        return None if int(found) == exact else abs(int(found) - exact)
    found = float(found)
    return None if found == exact else abs(found - exact) / abs(exact)


def main():
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
    grid = torch.cuda.get_device_properties(0).multi_processor_count * 4
    print(json.dumps({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cupy": cupy.__version__}))
    for dtype, name in ((torch.float32, "f32"), (torch.float64, "f64")):
        n = BYTES // dtype.itemsize
        both = torch.empty(2 * n, dtype=dtype, device="cuda")
        both.normal_(generator=torch.Generator(device="cuda").manual_seed(1))
        x, y = both[:n], both[n:]
        sample = slice(None, 1 << 20)
        for text, (arrays, plain, fused) in MAPS.items():
            def read(arrays=arrays):
                with stream:
                    READ((grid,), (512,), (both.data_ptr(), cupy.uint64(arrays * BYTES // 16), both.data_ptr()))

            # Over a sample each peer's result is compared with float64 arithmetic added up exactly.
            wide = [a[sample].double() for a in (x, y)]
            exact = plain(*wide).item()
            if text.startswith("sum"):
                inner = {"sum(abs(x - y))": (wide[0] - wide[1]).abs(), "sum(exp(x))": wide[0].exp()}[text]
                exact = math.fsum(inner.tolist())
            peers = {"torch": plain, "torch.compile": torch.compile(plain, dynamic=True)}
            if fused is not None:
                folded = cupy.fuse(fused)

                def by_cupy(a, b, folded=folded):
                    with stream:
                        return folded(cupy.from_dlpack(a), cupy.from_dlpack(b))

                peers["cupy.fuse"] = by_cupy
            for peer, call in peers.items():
                try:
                    wrong = error(call(x[sample], y[sample]).item(), exact)
                    times = timed(lambda call=call: call(x, y), read)
                except Exception as failure:  # A peer that cannot do a map is a row too.
                    print(json.dumps({"map": text, "dtype": name, "peer": peer, "failed": re.sub(r"\S*/\S*", "…", str(failure).splitlines()[0])[:200]}), flush=True)
                    continue
                row = {"map": text, "dtype": name, "peer": peer, "bytes": arrays * BYTES, "read_us": round(times[0], 2), "us": round(times[1], 2)}
                row |= {"percent": round(100 * times[0] / times[1], 1), "error_of_sample": wrong}
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
