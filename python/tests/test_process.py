"""Threads, forks, references."""

import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import warpfold as wf
from oracle import same


def test_threads_do_not_change_the_bits():
    x = np.random.default_rng(0).standard_normal(1_000_003) * 2.0 ** np.arange(1_000_003).__mod__(200)
    alone = wf.sum(x, threads=1)
    for threads in (2, 3, 8):
        same(wf.sum(x, threads=threads), alone)


def test_many_threads_of_python():
    x = np.random.default_rng(0).standard_normal((64, 20_000))
    import math

    expected = [math.fsum(row) for row in x]
    results = [None] * 64

    def work(k):
        results[k] = [float(wf.sum(x[j])) for j in range(k, 64, 8)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(8):
        assert results[k] == expected[k::8]


def test_many_threads_add_to_one_partial():
    x = np.random.default_rng(0).standard_normal(400_000)

    e = wf.Exact("f8")
    threads = [threading.Thread(target=lambda: [e.add(x), e.add(-x[1:])]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert e.round() == 8 * x[0] and e.count == 8 * (2 * len(x) - 1)


def test_other_threads_run_during_a_long_reduction():
    x = np.ones(1 << 26, np.float32)
    done = threading.Event()
    turns = 0

    def work():
        wf.std(x, threads=1)
        done.set()

    thread = threading.Thread(target=work)
    start = time.perf_counter()
    thread.start()
    while not done.is_set() and time.perf_counter() - start < 60:
        turns += 1
        time.sleep(0.0005)
    thread.join()
    # With the lock held there would be one turn, or two.
    assert turns >= 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore")
def test_a_forked_child_reduces():
    x = np.ones(1 << 22)
    assert wf.sum(x) == 1 << 22  # The pool of the parent runs.
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            wf.warm()
            good = wf.sum(x) == 1 << 22 and wf.sum(x, where=x > 0) == wf.sum("x * x", x=x) == 1 << 22 and wf.group_by((x * 3).astype(np.int64), x).sum().values == [1 << 22]
            grandchild = os.fork()
            if grandchild == 0:
                os._exit(0 if wf.sum(x) == 1 << 22 else 1)
            good = good and os.waitpid(grandchild, 0)[1] == 0
            os.write(write, b"y" if good else b"n")
        finally:
            os._exit(0)
    os.close(write)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if os.waitpid(child, os.WNOHANG)[0]:
            break
        time.sleep(0.05)
    else:
        os.kill(child, 9)
        pytest.fail("the child hangs")
    assert os.read(read, 1) == b"y"


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no /proc here")
def test_nothing_leaks():
    x = np.arange(12.0).reshape(3, 4)
    swapped = x.astype(">f8")
    keys, wide = np.array([1, 2, 1]), np.ones(3)
    kind = np.dtype("float32")
    e = wf.Exact("f8")

    def calls(n):
        for _ in range(n):
            wf.sum(x)
            wf.sum(x[:, ::-1], axis=1, dtype=kind)
            e.add(x)
            try:
                wf.sum(swapped)
            except TypeError:
                pass
        for _ in range(n // 20):
            wf.group_by(keys, wide).sum()
            wf.stats(x, axis=0)
            wf.segment_sum(wide, keys[:1] * 0)

    calls(2000)
    gc.collect()
    counted = (x, swapped, keys, wide, kind, np.ndarray, np.float64, wf.sum, e)
    before, memory = [sys.getrefcount(o) for o in counted], resident()
    calls(100_000)
    gc.collect()
    assert [sys.getrefcount(o) for o in counted] == before
    assert resident() - memory < 4 << 20
    # No buffer is held any more: an array that exports one cannot be resized.
    held = np.arange(4.0)
    wf.sum(held)
    held.resize(2, refcheck=False)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no /proc here")
def test_a_million_calls_leak_nothing():
    x = np.arange(6.0).reshape(2, 3)
    mask, weights, one = x > 1, x + 1, np.float64(1)
    bytes_ = np.ones(3, np.int8)

    def refused(call):
        try:
            call()
        except (TypeError, ValueError):
            return
        raise AssertionError("nothing was raised")

    calls = [
        lambda: wf.sum(x),
        lambda: wf.sum(x, where=mask),
        lambda: wf.max(x, axis=1, where=mask, initial=one),
        lambda: wf.mean(x, weights=weights),
        lambda: wf.sum("x * w", x=x, w=weights, where="x > 1"),
        lambda: wf.minmax(x, axis=0, where=True),
        lambda: wf.any(bytes_, initial=0),
        lambda: refused(lambda: wf.sum(x, where=bytes_)),
        lambda: refused(lambda: wf.sum("x +", x=x)),
        lambda: refused(lambda: wf.sum("x + y", x=x)),
        lambda: refused(lambda: wf.sum(x, initial="one")),
        lambda: wf.explain("sum", x).threads,
    ]

    def run(n):
        for call in calls:
            for _ in range(n // len(calls)):
                call()

    run(20_000)
    gc.collect()
    counted = (x, mask, weights, one, bytes_, np.ndarray, np.float64, wf.sum, wf.Explanation)
    before, memory = [sys.getrefcount(o) for o in counted], resident()
    run(1_000_000)
    gc.collect()
    assert [sys.getrefcount(o) for o in counted] == before
    assert resident() - memory < 4 << 20


def test_import_is_of_little():
    # What a program has not imported already costs more than this package does.
    code = "import sys; before = set(sys.modules); import warpfold; print(*sorted((set(sys.modules) - before) & {'inspect', 're', 'html', 'numpy', 'typing'}))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == ""


def test_import_needs_no_numpy():
    code = "import sys, warpfold; assert 'numpy' not in sys.modules; assert warpfold.sum(memoryview(b'\\1\\2')) == 3; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
