"""Whole arrays on a GPU, against the same on the host: every type and reduction, and what may be chosen."""

import math

import pytest
import warpfold as wf
from gpu import check, ops, outcome, tensor, torch
from oracle import COMPLEX, FLOATS, REAL, sample


@pytest.mark.parametrize("name", [*REAL, *COMPLEX, "bfloat16"])
def test_whole_arrays(name):
    for n in (0, 1, 33, 1000, 100_003):
        x = tensor(name, (n,), n)
        for op in ops(name):
            check(name, op, x)
            check(name, op, x[1:])


def test_what_may_be_chosen():
    x = torch.tensor([1.0, math.nan, 3.0]).cuda()
    assert wf.sum(x).isnan() and wf.sum(x, nan="ignore").item() == 4
    assert wf.var(x, nan="ignore", correction=1).item() == 2
    assert wf.sum(torch.ones(5).cuda(), accuracy="fast").item() == 5
    assert wf.sum(torch.ones(3, dtype=torch.float16).cuda(), dtype=torch.float64).dtype == torch.float64
    y = torch.arange(7.0).cuda()
    assert wf.var(y, correction=0.5).item() == wf.var(y.cpu(), correction=0.5).item()
    big = torch.full((3,), 2**62).cuda()
    with pytest.raises(OverflowError):
        wf.sum(big)
    assert wf.sum(big, overflow="wrap").item() == wf.sum(big.cpu(), overflow="wrap").item()
    assert wf.sum(big, dtype="float64").item() == 3 * 2.0**62
    out = torch.zeros(2).cuda()
    assert wf.sum(torch.ones(2, 3).cuda(), axis=1, out=out) is out and out.tolist() == [3, 3]
    assert wf.minmax(y)[1].item() == 6 and wf.stats(y).mean.item() == 3
    with pytest.raises(ValueError):
        wf.max(y[:0])
    assert wf.mean(y[:0]).isnan() and wf.var(y[:1], correction=1).isnan()
    assert wf.sum(y).device == y.device and wf.sum(y, axis=0, keepdims=True).shape == (1,)


def test_partials_of_a_gpu_and_the_host_merge():
    x = tensor("float64", (10_000,))
    for op in ("sum", "var", "max", "l2"):
        a, b = wf.Exact("float64", op), wf.Exact("float64", op)
        a.add(x[:3000].cuda())
        b.add(x[3000:])
        a.merge(b)
        assert a.round() == getattr(wf, op)(x).item()


@pytest.mark.parametrize("name", [*REAL, *COMPLEX, "bfloat16"])
def test_dot(name):
    for n in (0, 1, 1000, 100_003):
        x, y = tensor(name, (n,), n), tensor(name, (n,), n + 1)
        if name not in FLOATS + COMPLEX + ["bfloat16", "bool"]:
            x, y = (torch.from_numpy(a.numpy() % 100) for a in (x, y))
        there, here = wf.dot(x.cuda(), y.cuda()), wf.dot(x, y)
        assert there.is_cuda and there.dtype == here.dtype and outcome(lambda: there) == outcome(lambda: here), (name, n)
    with pytest.raises(ValueError, match="one shape"):
        wf.dot(x.cuda(), y[1:].cuda())
    with pytest.raises(ValueError, match="contiguous"):
        wf.dot(x.cuda()[::2], y.cuda()[::2])
    with pytest.raises(TypeError, match="host"):
        wf.dot(x.cuda(), y)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int8", "int32", "int64"])
def test_where(name):
    for n in (1, 33, 1000, 100_003):
        x = tensor(name, (n,), n)
        mask = torch.arange(n) % 3 != 1
        for op in ("sum", "mean", "var", "l2", "min", "max", "argmin", "argmax", "count_nonzero"):
            f = getattr(wf, op)
            assert outcome(f, x.cuda(), where=mask.cuda()) == outcome(f, x, where=mask), (name, op, n)
    assert outcome(wf.sum, x.cuda(), where=True) == outcome(wf.sum, x)


def test_values_on_the_host():
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        x = torch.randn(70_000, dtype=torch.float64).to(dtype)
        out = torch.zeros((), dtype=dtype)
        for op in ("sum", "max", "var", "l2"):
            assert getattr(wf, op)(x.cuda(), out=out) is out and out.equal(getattr(wf, op)(x)), (op, dtype)
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            there = torch.zeros(1 << 24, device="cuda", dtype=dtype)
            torch.cuda._sleep(2_000_000)
            there.fill_(2.0)
            assert wf.max(there, out=out) is out and out.item() == 2


def test_overflow_that_is_put_off():
    big = torch.full((3,), 2**62).cuda()
    for x in (torch.arange(-5, 100_000).cuda(), torch.ones(7, dtype=torch.uint8).cuda(), torch.full((2,), -(2**62)).cuda()):
        left = wf.sum(x, overflow="defer")
        assert left.is_cuda and left.shape == () and left.item() == wf.sum(x).item() and left.dtype == wf.sum(x).dtype
    assert wf.sum(big[:1], overflow="defer", keepdims=True).tolist() == [2**62]
    wf.check()
    left = wf.sum(big, overflow="defer")
    assert left.item() == wf.sum(big.cpu(), overflow="wrap").item()
    with pytest.raises(OverflowError, match="sum of int64"):
        wf.check()
    wf.check()
    assert wf.prod(torch.tensor([3, 5]).cuda(), overflow="defer").item() == 15
    wf.check()
    wf.prod(torch.full((5,), 2**20).cuda(), overflow="defer")
    with pytest.raises(OverflowError, match="prod"):
        wf.check()
    with pytest.raises(OverflowError):
        wf.sum(big.view(1, 3), axis=1, overflow="defer")


def test_exact_sums_are_those_of_fsum():
    x = sample("float64", (1_000_003,))
    assert wf.sum(torch.from_numpy(x).cuda()).item() == math.fsum(x)
    assert wf.sum(torch.from_numpy(x[::-1].copy()).cuda()).item() == math.fsum(x)


def test_what_is_not_there_is_refused():
    x = torch.ones(4).cuda()
    by = wf.group_by(x.long(), x)
    for call in (lambda: by.var(correction=0.5), lambda: wf.segment_var(x, every=2, correction=0.5)):
        with pytest.raises(TypeError, match="copy it to the host"):
            call()


@pytest.mark.parametrize("axis", [0, 1, (0, 2), 2])
def test_other_types_over_axes(axis):
    x = tensor("float32", (40, 30, 20), 1)
    for op in ("sum", "mean", "var", "l2", "l1", "sumsq"):
        check("float32", op, x, axis=axis, dtype="float64")
        check("float32", op, x.transpose(0, 1), axis=axis, dtype="float64")
        check("float64", op, x.double() / 3, axis=axis, dtype="float32")
        check("bfloat16", op, x.bfloat16(), axis=axis, dtype="float64")
    # In the middle between two neighbours of float32, but for the last element.
    halves = torch.tensor([[1.0, 2.0**-24, 2.0**-70], [1.0, 2.0**-24, -(2.0**-70)], [1.0, 2.0**-24, 0.0]], dtype=torch.float64)
    assert wf.sum(halves.cuda(), axis=1, dtype="float32").tolist() == [1 + 2**-23, 1.0, 1.0]
    missing = torch.tensor([[math.nan] * 3, [1.1, 2.2, 3.3]], dtype=torch.float64)
    check("float64", "mean", missing, axis=1, dtype="float32", nan="ignore")
    x, offsets = missing[1], torch.tensor([0, 0, 3])
    here, there = wf.segment_mean(x, offsets, dtype="float32"), wf.segment_mean(x.cuda(), offsets.cuda(), dtype="float32")
    assert there.dtype == here.dtype and there[0].isnan() and there[1].item() == here[1].item()
