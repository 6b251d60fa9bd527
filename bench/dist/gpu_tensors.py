#!/usr/bin/env python3
"""Tensors on GPUs summed over ranks, each element rounded once, beside torch.distributed.all_reduce by NCCL: bits first, times after.

It needs torch with CUDA, NumPy and as many GPUs as ranks, and no cargo. On the machine that builds:

    cargo build --release -p warpfold-python          # or without --release: kernels are the same, and the host has little to do
    mkdir carried && cp -r python/warpfold bench/dist/gpu_tensors.py carried/
    cp target/release/lib_core.so carried/warpfold/_core.abi3.so

and on the one with GPUs, in that folder:

    python3 gpu_tensors.py --ranks 2 --check          # bits alone
    python3 gpu_tensors.py --ranks 2 >gpu_tensors.jsonl

What is Rust alone: cargo build --release -p warpfold-dist --features cuda --example gpu_tensors, and target/release/examples/gpu_tensors there, as its head says.

It starts its ranks itself. Results are compared with sums of rational numbers (Python's fractions), with the processor's, and with those of the
same numbers held by fewer ranks. A row of times is the median of rounds in which both take turns, by the GPU's own clock, from the last rank's beginning to
its end; bus is bytes of the tensor times 2 (W - 1) / W in that time, as NCCL's own tests have it.
"""

import argparse
import json
import os
import sys
import tempfile
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np
import torch
import torch.distributed as dist

FORMATS = {"float16": (11, -24, 15), "bfloat16": (8, -133, 127), "float32": (24, -149, 127), "float64": (53, -1074, 1023)}


def nearest(column, name):
    """The sum of floats by the contract, as a Python float: rational numbers, rounded once."""
    if any(x != x for x in column) or {float("inf"), float("-inf")} <= set(column):
        return float("nan")
    for infinite in (float("inf"), float("-inf")):
        if infinite in column:
            return infinite
    exact = sum(map(Fraction, column), Fraction(0))
    if exact == 0:
        return 0.0
    bits, least, top = FORMATS[name]
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > magnitude
    unit = Fraction(2) ** max(exponent - bits + 1, least)
    rounded = round(magnitude / unit) * unit
    rounded = float("inf") if rounded >= Fraction(2) ** (top + 1) else float(rounded)
    return rounded if exact > 0 else -rounded


def held(kind, n, seed, dtype):
    """What a rank holds, on the host."""
    rng = np.random.default_rng(seed)
    integer = {"float16": np.int16, "bfloat16": np.int16, "float32": np.int32, "float64": np.int64}[str(dtype)[6:]]
    if kind == "normal":
        x = torch.from_numpy(rng.standard_normal(n)).to(dtype)
    elif kind == "bits":
        # Random bits: every exponent, infinities and NaNs.
        info = np.iinfo(integer)
        x = torch.from_numpy(rng.integers(info.min, info.max, n, integer, endpoint=True)).view(dtype)
    else:
        # Beside ties, and sums that cancel but for what lies far below.
        bits = FORMATS[str(dtype)[6:]][0]
        ulp = 2.0**-bits
        table = [[1.0, ulp, 0.0, ulp**2], [1 + 2 * ulp, ulp, -(ulp**2), 0.0], [8.0, -8.0, ulp, 0.0], [-0.0, -0.0, -0.0, -0.0], [-3.0, ulp**2, 3.0, -ulp]]
        x = torch.tensor([table[k % 5][(seed + k // 5) % 4] for k in range(n)], dtype=torch.float64).to(dtype)
    return x


def check(rank, size):
    """Bits of every type, kind, length and alignment."""
    import warpfold as wf
    import warpfold.torch.distributed as wd

    compared, whole_piece = 0, wd._PIECE
    large = 1 + 3 * wd._SMALL
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        name = str(dtype)[6:]
        for kind in ("normal", "bits", "ties"):
            for n in (1, 5, 1000, 100_003, large):
                all_ranks = [held(kind, n, seed, dtype) for seed in range(size)]
                # From an odd element on, too, where no vectors are aligned; and in one piece and in many.
                for before in (0, 1):
                    wd._PIECE = [whole_piece, 1 << 18][before]
                    room = torch.zeros(n + before, dtype=dtype, device="cuda")
                    x = room[before:]
                    x.copy_(all_ranks[rank])
                    wd.all_reduce(x)
                    found = x.cpu()
                    rows = torch.stack(all_ranks)
                    if dtype in (torch.float32, torch.float64):
                        expected = torch.as_tensor(wf.sum(rows, axis=0)).to(dtype)
                        same_bits(found, expected, f"{kind} {n} {name} {before}: the processor")
                    some = range(n) if n <= 1000 else range(rank, n, n // 500)
                    for k in some:
                        right = nearest(rows[:, k].double().tolist(), name)
                        mine = found[k].double().item()
                        assert repr(mine) == repr(right), f"{kind} {n} {name} {before}: element {k} is {mine}, and not {right}"
                    compared += len(some)
    wd._PIECE = whole_piece
    # The same four numbers for each element, two of a coarse grid and two of a fine one, in the shares of as many ranks as there are: two of one grid add
    # up exactly.
    if size in (1, 2, 4):
        four = [torch.round(held("normal", 200_001, seed, torch.float64) * 2.0**20) * 2.0 ** (-40 * (seed % 2)) for seed in range(4)]
        x = torch.stack(four[rank::size]).sum(0).cuda() if size > 1 else torch.as_tensor(wf.sum(torch.stack(four), axis=0)).cuda()
        wd.all_reduce(x)
        same_bits(x.cpu(), torch.as_tensor(wf.sum(torch.stack(four), axis=0)), "four numbers in other shares")
    # Complex numbers, two axes, another stream.
    z = torch.complex(held("normal", 6000, rank, torch.float32), held("normal", 6000, rank + 50, torch.float32)).reshape(60, 100).cuda()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        wd.all_reduce(z)
    torch.cuda.current_stream().wait_stream(side)
    for part, first in ((z.real, 0), (z.imag, 50)):
        rows = torch.stack([held("normal", 6000, first + seed, torch.float32) for seed in range(size)])
        same_bits(part.cpu().reshape(-1).contiguous(), torch.as_tensor(wf.sum(rows, axis=0)), "complex64 in another stream")
    print(f"rank {rank}: bits are right, {compared} elements by rational numbers", file=sys.stderr, flush=True)


def same_bits(found, expected, what):
    width = {2: torch.int16, 4: torch.int32, 8: torch.int64}[found.element_size()]
    differ = (found.contiguous().view(width) != expected.contiguous().view(width)).nonzero().flatten()
    assert len(differ) == 0, f"{what}: {len(differ)} elements differ, the first is {differ[0]}"


def times(rank, size, most):
    import warpfold.torch.distributed as wd

    name = torch.cuda.get_device_name()
    if rank == 0:
        about = {"gpu": name, "ranks": size, "torch": torch.__version__, "nccl": ".".join(map(str, torch.cuda.nccl.version()))}
        print(json.dumps(about), flush=True)
    ways = {"exact": wd.all_reduce, "nccl": dist.all_reduce}
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        for log in range(10, most + 1, 2):
            n = 1 << log
            if n * dtype.itemsize > 8 << 30:
                continue
            x = torch.randn(n, device="cuda", dtype=torch.float32).to(dtype)
            taken = {way: [] for way in ways}
            for turn in range(23 if log < 26 else 13):
                for way, call in ways.items():
                    y = x.clone()
                    dist.barrier()
                    torch.cuda.synchronize()
                    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    begin.record()
                    call(y)
                    end.record()
                    end.synchronize()
                    if turn > 2:
                        taken[way].append(begin.elapsed_time(end) * 1e3)
            differ = differing(x, ways)
            row = {"dtype": str(dtype)[6:], "log2": log}
            for way in ways:
                # That of the slowest rank.
                slowest = torch.tensor(sorted(taken[way]), device="cuda")
                dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
                median = slowest[len(slowest) // 2].item()
                row[f"{way}_us"] = round(median, 1)
                row[f"{way}_bus_GB_s"] = round(n * dtype.itemsize * 2 * (size - 1) / size / median / 1e3, 1)
            row |= {"ratio": round(row["exact_us"] / row["nccl_us"], 3), "nccl_differ": differ}
            if rank == 0:
                print(json.dumps(row), flush=True)


def differing(x, ways):
    """Elements of NCCL's sums that are not the nearest."""
    results = []
    for call in ways.values():
        y = x.clone()
        call(y)
        results.append(y)
    return int((results[0] != results[1]).sum().item())


def run(rank, size, store, args):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"file://{store}", rank=rank, world_size=size, device_id=torch.device("cuda", rank))
    check(rank, size)
    if not args.check:
        times(rank, size, args.most)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2, help="processes, with a GPU each")
    parser.add_argument("--most", type=int, default=30, help="times up to 2 to so many elements")
    parser.add_argument("--check", action="store_true", help="compares bits alone")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(run, (args.ranks, f"{folder}/store", args), nprocs=args.ranks)
