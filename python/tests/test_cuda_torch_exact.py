"""torch's reductions of tensors on a GPU inside `exact()`: the bits that they have on the host, whatever the order."""

import math

import pytest
from gpu import torch
from warpfold.torch import clip_grad_norm_, exact

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
SPREADS = {torch.float16: 3, torch.bfloat16: 20, torch.float32: 20, torch.float64: 100}


def hard(shape, dtype, seed=0):
    """Numbers whose plain sums round much."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(shape, generator=g, dtype=torch.float64)
    return (x * 2.0 ** torch.randint(-SPREADS[dtype], SPREADS[dtype], shape, generator=g)).to(dtype)


def bits(found):
    results = found if isinstance(found, (tuple, list)) else (found,)
    return [(x.dtype, tuple(x.shape), x.detach().cpu().contiguous().reshape(-1).view(torch.uint8).tolist()) for x in results]


def same(function, *tensors):
    """The same bits on the GPU, where the result lies there, as on the host."""
    with exact():
        here, there = function(*tensors), function(*(x.cuda() for x in tensors))
    results = there if isinstance(there, (tuple, list)) else (there,)
    assert all(x.is_cuda for x in results)
    assert bits(there) == bits(here)


REDUCTIONS = {
    "sum": lambda x, dim: x.sum(dim),
    "nansum": lambda x, dim: x.nansum(dim),
    "mean": lambda x, dim: x.mean(dim),
    "var": lambda x, dim: x.var(dim),
    "std": lambda x, dim: x.std(dim, correction=0),
    "var_mean": lambda x, dim: torch.var_mean(x, dim),
    "l2": lambda x, dim: torch.linalg.vector_norm(x, dim=dim),
    "l1": lambda x, dim: torch.linalg.vector_norm(x, 1, dim=dim),
    "linf": lambda x, dim: torch.linalg.vector_norm(x, math.inf, dim=dim),
    "l0": lambda x, dim: torch.linalg.vector_norm(x, 0, dim=dim),
}


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_moments(dtype, op):
    x = hard((6, 50, 30), dtype)
    for dim in (None, 0, 1, -1, (0, 1), (0, 2), (1, 2)):
        same(lambda x, dim=dim: REDUCTIONS[op](x, dim), x)
    same(lambda x: REDUCTIONS[op](x, 0), x.transpose(0, 2))
    same(lambda x: REDUCTIONS[op](x, 1), x[::2, 3:, 1:])


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_complex_numbers(dtype):
    real = torch.float32 if dtype is torch.complex64 else torch.float64
    x = torch.complex(hard((40, 30), real, 1), hard((40, 30), real, 2))
    for dim in (None, 0, 1):
        for op in ("sum", "mean", "var", "l2"):
            same(lambda x, dim=dim, op=op: REDUCTIONS[op](x, dim), x)
            same(lambda x, dim=dim, op=op: REDUCTIONS[op](x.conj(), dim), x)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int16, torch.int64])
def test_integers(dtype):
    x = torch.randint(0, 2 if dtype is torch.bool else 100, (300, 70), generator=torch.Generator().manual_seed(1)).to(dtype)
    for dim in (None, 0, 1):
        same(lambda x, dim=dim: x.sum(dim), x)
        same(lambda x, dim=dim: x.sum(dim, dtype=torch.float32), x)
        same(lambda x, dim=dim: x.mean(dim, dtype=torch.float64), x)


def test_other_types_of_results():
    x = hard((60, 50), torch.float32)
    for to in (torch.float16, torch.float64):
        for dim in (None, 0, 1):
            same(lambda x, dim=dim, to=to: x.sum(dim, dtype=to), x)
    for keepdim in (False, True):
        same(lambda x, k=keepdim: x.var((0, 1), correction=0.5, keepdim=k), x)
    same(lambda x: x.var(None, correction=0.5), x[:, ::2])
    with exact():
        assert torch.allclose(x.cuda().var(0, correction=0.5), x.cuda().double().var(0, correction=0.5).float())


@pytest.mark.parametrize("dtype", FLOATS)
def test_index_add_and_scatter(dtype):
    x, source = hard((6, 5), dtype, 1), hard((400, 5), dtype, 2)
    index = torch.randint(0, 5, (400,), generator=torch.Generator().manual_seed(3))
    order = torch.randperm(400, generator=torch.Generator().manual_seed(4))
    add = lambda x, index, source: x.index_add(0, index, source)  # noqa: E731
    same(add, x, index, source)
    with exact():
        assert bits(add(x.cuda(), index[order].cuda(), source[order].cuda())) == bits(add(x, index, source))
    cells = torch.randint(0, 6, (400, 5), generator=torch.Generator().manual_seed(5))
    same(lambda x, cells, source: x.scatter_add(0, cells, source), x, cells, source)
    for reduce in ("sum", "mean"):
        for include in (True, False):
            same(lambda x, c, s, r=reduce, i=include: x.scatter_reduce(0, c, s, r, include_self=i), x, cells, source)
    own = x.cuda()
    with exact():
        assert own.index_add_(0, index.cuda(), source.cuda()) is own
        assert bits(own) == bits(add(x, index, source))


@pytest.mark.parametrize("inner", [(), (3,)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_segments(dtype, inner):
    x, lengths = hard((30, *inner), dtype), torch.tensor([4, 1, 19, 6])
    for reduce in ("sum", "mean"):
        same(lambda x, lengths, r=reduce: torch.segment_reduce(x, r, lengths=lengths), x, lengths)
        offsets = torch.tensor([0, 9, 4, 9, 4, 9, 30])[::2]
        same(lambda x, offsets, r=reduce: torch.segment_reduce(x, r, offsets=offsets), x, offsets)


@pytest.mark.parametrize("dtype", FLOATS)
def test_bits_do_not_depend_on_batches_and_order(dtype):
    x = hard((64, 1000), dtype).cuda()
    order = torch.randperm(1000, generator=torch.Generator().manual_seed(5))
    for op in ("sum", "mean", "var", "std", "l2"):
        function = REDUCTIONS[op]
        with exact():
            whole = function(x, -1)
            assert bits(torch.cat([function(part, -1) for part in x.split(7)])) == bits(whole)
            assert bits(function(x[:, order.cuda()], -1)) == bits(whole)
            assert bits(function(x.T.contiguous().T, -1)) == bits(whole)


def test_gradients():
    x = hard((20, 30), torch.float64)

    def gradient(x):
        x = x.clone().requires_grad_()
        y = x.std(0).sum() + torch.linalg.vector_norm(x, dim=1).mean() + x.var()
        return torch.autograd.grad(y, x)[0]

    same(gradient, x)


def test_devices_that_differ_are_torchs_error():
    x = torch.zeros(4).cuda()
    with exact(), pytest.raises(RuntimeError, match="device"):
        x.index_add(0, torch.tensor([0]), torch.ones(1))


@pytest.mark.parametrize("dtype", FLOATS)
def test_clipping(dtype):
    def parameters(device):
        found = [torch.nn.Parameter(torch.zeros(shape, dtype=dtype, device=device)) for shape in ((40, 30), (7,), (1, 3))]
        for k, p in enumerate(found):
            p.grad = hard(p.shape, dtype, k).to(device)
        found[0].grad = found[0].grad.T.contiguous().T
        return found

    here, there = parameters("cpu"), parameters("cuda")
    norms = clip_grad_norm_(here, 1.0), clip_grad_norm_(there, 1.0)
    assert norms[1].is_cuda and bits(norms[0]) == bits(norms[1])
    for a, b in zip(here, there):
        assert bits(a.grad) == bits(b.grad)
