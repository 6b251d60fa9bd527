"""Reductions of tensors on a GPU, beside torch's own, as JSON: python gpu.py > results/MACHINE/python.json

Results are checked first: sums against math.fsum up to 2^24 elements, everything against the same call on the host.
`enqueue` is the host's time for a call whose result stays on the GPU; `value` the time until it is a number on the host, `host` the same by `out=` on the
host; `device` the time of a call on the GPU, between events around many of them. Medians of repetitions in turns; microseconds.
"""

import json
import math
import statistics
import time

import machine
import torch
import warpfold as wf

REPEAT = 15


def microseconds(f, calls):
    start = time.perf_counter()
    for _ in range(calls):
        f()
    return (time.perf_counter() - start) / calls * 1e6


def enqueue(f, calls):
    torch.cuda.synchronize()
    found = microseconds(f, calls)
    torch.cuda.synchronize()
    return found


def on_device(f, calls):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    begin.record()
    for _ in range(calls):
        f()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / calls * 1e3


def measured(functions, calls, host=None):
    """Each function's medians; all of them in turns."""
    found = {name: {"enqueue": [], "value": [], "device": []} for name in functions}
    if host:
        found["warpfold"]["host"] = []
    for _ in range(REPEAT):
        if host:
            found["warpfold"]["host"].append(microseconds(lambda: host().item(), calls))
        for name, f in functions.items():
            found[name]["enqueue"].append(enqueue(f, calls))
            found[name]["value"].append(microseconds(lambda: f().reshape(-1)[0].item(), calls))
            found[name]["device"].append(on_device(f, calls))
    return {name: {kind: statistics.median(times) for kind, times in kinds.items()} for name, kinds in found.items()}


def calls_of(elements):
    return max(5, min(200, (1 << 26) // max(elements, 1)))


def main():
    rows = []
    for log in (10, 16, 20, 24, 28):
        x = torch.randn(1 << log, device="cuda") * 1e3
        expected = wf.sum(x.cpu())
        assert wf.sum(x).item() == expected.item()
        if log <= 24:
            assert expected.item() == torch.tensor(math.fsum(x.cpu().double().tolist())).item()
        for op, mine, peer in (
            ("sum", lambda: wf.sum(x), lambda: torch.sum(x)),
            ("var", lambda: wf.var(x, correction=1), lambda: torch.var(x)),
            ("l2", lambda: wf.l2(x), lambda: torch.linalg.vector_norm(x)),
            ("sumsq", lambda: wf.sumsq(x), lambda: torch.dot(x, x)),
            ("max", lambda: wf.max(x), lambda: torch.amax(x)),
            ("argmax", lambda: wf.argmax(x), lambda: torch.argmax(x)),
            ("dot", lambda: wf.dot(x, x), lambda: torch.dot(x, x)),
        ):
            out = torch.empty((), dtype=torch.int64 if op == "argmax" else torch.float32)
            correction = {"correction": 1} if op == "var" else {}
            host = None if op == "dot" else lambda: getattr(wf, op)(x, out=out, **correction)
            times = measured({"warpfold": mine, "torch": peer}, calls_of(1 << log), host)
            rows.append({"op": op, "dtype": "float32", "shape": [1 << log], "axis": None, "us": times})
    for dtype in (torch.float32, torch.bfloat16):
        for shape in ((4096, 4096), (65536, 1024), (1024, 16384)):
            x = torch.randn(shape, device="cuda").to(dtype)
            for op, mine, peer in (
                ("sum", lambda: wf.sum(x, axis=1), lambda: torch.sum(x, 1)),
                ("max", lambda: wf.max(x, axis=1), lambda: torch.amax(x, 1)),
                ("l2", lambda: wf.l2(x, axis=1), lambda: torch.linalg.vector_norm(x, dim=1)),
            ):
                assert mine().cpu().equal(getattr(wf, op)(x.cpu(), axis=1))
                times = measured({"warpfold": mine, "torch": peer}, 5)
                rows.append({"op": op, "dtype": str(dtype)[6:], "shape": list(shape), "axis": 1, "us": times})
    print(json.dumps({**machine.gpu(), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
