#!/usr/bin/env python3
"""Sums of float32 by dense keys by torch's index_add, where it is installed: one JSON object a line, shapes named as warpfold bench segments names them.

Device events around calls back to back, the median of nine samples of about 4 ms. Keys have 64 bits or 32, whichever is faster; they are distributed as
warpfold's. A few sums are compared with those in double precision before they are timed. index_add adds by atomics: its last bits differ from run to run.
"""
import json
import sys

from torch_time import microseconds

N = 1 << 28
COMPARED = 8


def main():
    import torch

    peer = f"torch {torch.__version__} index_add"
    x = torch.rand(N, device="cuda") * 2 - 1

    for bits in [8, 16, 20, 26]:
        groups = 1 << bits
        for word in ["uniform", "Zipf"]:
            name = f"2^{bits} dense keys, {word}"
            if word == "uniform":
                keys = torch.randint(0, groups, (N,), device="cuda", dtype=torch.int32)
            else:
                draws = torch.rand(N, device="cuda", dtype=torch.float64)
                keys = ((groups + 1.0) ** draws).long().sub_(1).clamp_(0, groups - 1)
                del draws
                # An odd factor permutes the numbers below a power of two; this one is the low half of warpfold's.
                keys = keys.mul_(0x7F4A7C15).remainder_(groups).int()
            sums = torch.zeros(groups, device="cuda")
            us = None
            for dtype in [torch.int32, torch.int64]:
                try:
                    typed = keys.to(dtype)
                    sums.zero_().index_add_(0, typed, x)
                    for key in range(COMPARED):
                        mine = typed == key
                        off = abs(sums[key].item() - x[mine].double().sum().item())
                        if off > 2**-14 * (1 + mine.sum().item()):
                            raise ArithmeticError(f"off by {off}")
                    took = microseconds(lambda: sums.zero_().index_add_(0, typed, x))
                    us = took if us is None else min(us, took)
                except (RuntimeError, ArithmeticError) as error:
                    print(f"{peer}, {name}, {dtype}: {str(error).splitlines()[0]}", file=sys.stderr)
                    torch.cuda.empty_cache()
            if us is None:
                continue
            gb_s = (8 * N + 4 * groups) / us / 1e3
            line = {"peer": peer, "op": "sum", "type": "f32", "n": N, "shape": name, "us": us, "gb_s": gb_s}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    try:
        main()
    except ImportError as error:
        sys.exit(f"no torch: {error}")
