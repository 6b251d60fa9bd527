"""Streams, graphs and threads: a result on a GPU waits for the work before it, and nothing leaks."""

import gc
import threading

import pytest
import warpfold as wf
from gpu import torch


def test_work_of_a_stream_is_waited_for():
    side = torch.cuda.Stream()
    x = torch.zeros(1 << 24, device="cuda")
    torch.cuda.synchronize()
    for k in range(1, 20):
        with torch.cuda.stream(side):
            torch.cuda._sleep(2_000_000)
            x.fill_(float(k))
            whole = wf.mean(x)
            rows = wf.max(x.view(16, -1), axis=1)
            assert whole.item() == k and rows.tolist() == [k] * 16
            # What comes after does not overtake a result that is left on the device.
            left = wf.sum(x[:1000])
            x.fill_(-1.0)
            assert left.item() == 1000 * k


def test_streams_that_are_named():
    side = torch.cuda.Stream()
    x = torch.zeros(1 << 22, device="cuda")
    torch.cuda.synchronize()
    for named in (side, side.cuda_stream):
        with torch.cuda.stream(side):
            torch.cuda._sleep(5_000_000)
            x.add_(1.0)
        total, rows = wf.sum(x, stream=named), wf.max(x.view(64, -1), axis=1, stream=named)
        product = wf.dot(x, x, stream=named)
        side.synchronize()
        k = x[0].item()
        assert total.item() == k * (1 << 22) and rows.tolist() == [k] * 64 and product.item() == k * k * (1 << 22)
    with pytest.raises(TypeError, match="no stream"):
        wf.sum(x, stream="side")
    with pytest.raises(TypeError, match="on a GPU"):
        wf.sum(x.cpu(), stream=side)


def test_a_graph_replays_a_reduction():
    x = torch.ones(1000, device="cuda")
    wf.sum(x)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        wf.sum(x)
        wf.var(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        total, var = wf.sum(x), wf.var(x)
    for k in (2.0, 5.0):
        x.fill_(k)
        graph.replay()
        torch.cuda.synchronize()
        assert total.item() == 1000 * k and var.item() == 0


def test_rows_in_a_graph():
    x, y = (torch.randn(shape, device="cuda").to(torch.bfloat16) for shape in ((64, 3000), (3, 70_000)))
    calls = [lambda: wf.l2(x, axis=1), lambda: wf.mean(y, axis=1), lambda: wf.sum(y), lambda: wf.segment_max(y.view(-1), every=700)]
    calls += [lambda: wf.std(x, axis=0), lambda: wf.sum(x.view(8, 8, 3000), axis=1)]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for call in calls:
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        left = [call() for call in calls]
    for scale in (1, -3):
        x.mul_(scale)
        y.mul_(scale)
        graph.replay()
        assert all(a.equal(call()) for a, call in zip(left, calls)), scale


def test_threads_have_their_own_results():
    arrays = [torch.full((100_000,), float(k), device="cuda") for k in range(8)]
    found = {}

    def work(k):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                found[k] = (wf.sum(arrays[k]).item(), wf.sum(arrays[k].to(torch.bfloat16)).item())

    torch.cuda.synchronize()
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[k][0] == 100_000.0 * k for k in range(8))


def test_nothing_leaks():
    x = torch.ones(1000, device="cuda")
    h = x.half()
    for _ in range(100):
        wf.sum(x), wf.sum(h), wf.sum(x.view(10, 100), axis=0)
    gc.collect()
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(5000):
        wf.sum(x), wf.sum(h), wf.sum(x.view(10, 100), axis=0)
    gc.collect()
    torch.cuda.synchronize()
    assert before - torch.cuda.mem_get_info()[0] < 16 << 20
