"""What the host does for a sum on a GPU, piece by piece: python call_pieces.py > results/MACHINE/call_pieces.json

Medians of 25 rounds of 300 calls that nothing waits for, of 2^16 float32; microseconds. Rows overlap: a sum makes its result like a scalar.
"""

import json
import statistics

import machine
import torch
import warpfold as wf

from gpu import enqueue

ROUNDS, CALLS = 25, 300


def main():
    x = torch.randn(1 << 16, device="cuda")
    scalar, out = torch.empty((), device="cuda"), torch.empty((), device="cuda")
    stream = torch._C._cuda_getCurrentRawStream
    pieces = {
        "nothing": lambda: None,
        "torch.empty_like(scalar)": lambda: torch.empty_like(scalar),
        "torch.empty((), device='cuda')": lambda: torch.empty((), device="cuda"),
        "current raw stream": lambda: stream(0),
        "x.data_ptr()": lambda: x.data_ptr(),
        "x.__dlpack__()": lambda: x.__dlpack__(),
        "wf.sum(x)": lambda: wf.sum(x),
        "wf.max(x)": lambda: wf.max(x),
        "torch.sum(x)": lambda: torch.sum(x),
        "torch.sum(x, 0, out=out)": lambda: torch.sum(x, 0, out=out),
    }
    us = {name: statistics.median(enqueue(piece, CALLS) for _ in range(ROUNDS)) for name, piece in pieces.items()}
    print(json.dumps({**machine.gpu(), "us": us}, indent=1))


if __name__ == "__main__":
    main()
