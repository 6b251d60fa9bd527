"""torch's reductions inside `exact()`, beside rational arithmetic and torch's own in float64."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from oracle import root, to_float, variance

torch = pytest.importorskip("torch", reason="torch is not installed")
import warpfold.torch  # noqa: E402
from warpfold.torch import exact  # noqa: E402

FLOATS = ["float16", "bfloat16", "float32", "float64"]
DIMS = [None, 0, 1, -1, (0, 1), [], (1,)]


def hard(shape, dtype, seed=0):
    """Numbers whose plain sums round much."""
    g = torch.Generator().manual_seed(seed)
    spread = {"float16": 3, "bfloat16": 20, "float32": 20, "float64": 100}[dtype]
    x = torch.randn(shape, generator=g, dtype=torch.float64)
    return (x * 2.0 ** torch.randint(-spread, spread, shape, generator=g)).to(getattr(torch, dtype))


def rows(x, dim):
    """The elements of each output as rational numbers, and the outputs' shape."""
    axes = list(range(x.ndim)) if dim in (None, []) else sorted(d % x.ndim for d in ([dim] if isinstance(dim, int) else dim))
    kept = [a for a in range(x.ndim) if a not in axes]
    shape = [x.shape[a] for a in kept]
    flat = x.detach().double().permute(kept + axes).reshape(math.prod(shape), -1)
    return [[Fraction(v) for v in row] for row in flat.tolist()], shape


def same(result, values, shape, dtype):
    assert result.dtype == dtype and list(result.shape) == list(shape)
    expected = torch.tensor(values, dtype=torch.float64).reshape(shape).to(dtype)
    assert bits(result) == bits(expected), (result, expected)


def bits(x):
    return x.detach().contiguous().reshape(-1).view(torch.uint8).tolist()


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_moments(dtype, dim):
    x = hard((6, 50), dtype)
    all_, shape = rows(x, dim)
    whole = None if dim == [] else dim
    kept = [1 if dim in (None, []) or a in [d % 2 for d in ([dim] if isinstance(dim, int) else dim)] else n for a, n in enumerate(x.shape)]
    with exact():
        same(x.sum(dim=dim), [to_float(sum(r), dtype) for r in all_], shape, x.dtype)
        same(x.sum(dim=dim, keepdim=True), [to_float(sum(r), dtype) for r in all_], kept, x.dtype)
        same(x.sum(dim=dim, dtype=torch.float64), [to_float(sum(r), "float64") for r in all_], shape, torch.float64)
        same(x.mean(dim=dim), [to_float(sum(r) / len(r), dtype) for r in all_], shape, x.dtype)
        for correction in (0, 1):
            spread = [variance(r, correction) for r in all_]
            more = {} if correction == 1 else {"correction": 0}
            same(x.var(dim=dim, **more), [to_float(v, dtype) for v in spread], shape, x.dtype)
            same(x.std(dim=dim, **more), [root(v, dtype) for v in spread], shape, x.dtype)
        pair = torch.var_mean(x, dim=dim)
        same(pair[0], [to_float(variance(r, 1), dtype) for r in all_], shape, x.dtype)
        same(pair[1], [to_float(sum(r) / len(r), dtype) for r in all_], shape, x.dtype)
        same(torch.linalg.vector_norm(x, dim=whole), [root(sum(v * v for v in r), dtype) for r in all_], shape, x.dtype)
        same(torch.linalg.vector_norm(x, 1, dim=whole), [to_float(sum(map(abs, r)), dtype) for r in all_], shape, x.dtype)
        same(torch.linalg.vector_norm(x, math.inf, dim=whole), [float(max(map(abs, r))) for r in all_], shape, x.dtype)
        if dim is None:
            same(x.norm(), [root(sum(v * v for v in all_[0]), dtype)], [], x.dtype)
            same(x.var(unbiased=False), [to_float(variance(all_[0]), dtype)], [], x.dtype)


def test_it_is_on_inside_alone():
    x = torch.tensor([2.0**60, 1.0, -(2.0**60)] * 50)
    with exact():
        assert x.sum() == 50
        with exact():
            assert x.sum() == 50
        assert torch.nansum(torch.tensor([2.0**60, 1.0, math.nan, -(2.0**60)])) == 1
    assert torch.nn.functional.relu(x).sum() != 50 and x.sum() != 50


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_integers_as_torchs(dtype):
    x = torch.randint(0, 2 if dtype == "bool" else 100, (7, 9), generator=torch.Generator().manual_seed(1)).to(getattr(torch, dtype))
    for dim in (None, 0, 1):
        plain = x.sum(dim=dim), x.sum(dim=dim, dtype=torch.float32)
        with exact():
            mine = x.sum(dim=dim), x.sum(dim=dim, dtype=torch.float32)
            assert x.float().mean(dim=dim).dtype == torch.float32
        for a, b in zip(plain, mine):
            assert a.dtype == b.dtype and bits(a) == bits(b)
    wide = torch.full((4,), 2**62)
    with exact():
        assert wide.sum() == 0  # torch's wrap.


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(dim=7),
        lambda x: x.mean(dim=(0, 0)),
        lambda x: x.long().mean(),
        lambda x: x[:0].amax(),
        lambda x: torch.linalg.vector_norm(x[:0], math.inf),
        lambda x: x.index_add(0, torch.tensor([9]), torch.ones(1, 4)),
        lambda x: x.index_add(0, torch.tensor([-1]), torch.ones(1, 4)),
        lambda x: x.scatter_add(1, torch.tensor([[4]]), torch.ones(1, 1)),
        lambda x: torch.segment_reduce(x, "sum", lengths=torch.tensor([1, 9])),
    ],
)
def test_errors_are_torchs(call):
    x = torch.ones(3, 4)
    with pytest.raises((RuntimeError, IndexError)) as plain:
        call(x)
    with exact(), pytest.raises(type(plain.value)) as mine:
        call(x)
    assert str(mine.value) == str(plain.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x[:0].sum(),
        lambda x: x[:0].sum(dim=0),
        lambda x: x[:0].mean(),
        lambda x: x[:0].var(),
        lambda x: x[:1, 0].var(),
        lambda x: x[:2].var(dim=0, correction=2),
        lambda x: x[0, 0].sum(dim=0),
        lambda x: x[0, 0].mean(dim=-1, keepdim=True),
        lambda x: torch.linalg.vector_norm(x, 0, dim=1),
        lambda x: torch.linalg.vector_norm(x, 3, dim=1),
        lambda x: torch.linalg.vector_norm(x, dtype=torch.float64),
        lambda x: (x.T + 1j).conj().sum(dim=0),
        lambda x: (x + 1j * x).sum(),
        lambda x: (x + 1j * x).var(),
        lambda x: torch.linalg.vector_norm(x + 1j * x, math.inf),
        lambda x: torch.sum(x, 0, out=torch.empty(0)),
        lambda x: torch.sum(x, 0, out=torch.empty(4, dtype=torch.int64)),
        lambda x: torch.sum(x, 0, out=torch.empty(4, dtype=torch.float64)),
        lambda x: torch.mean(x, 0, out=torch.empty(4)),
        lambda x: torch.var(x, 0, out=torch.empty(4)),
        lambda x: x.to_sparse().sum(),
        lambda x: x.sum(dtype=torch.int64),
        lambda x: x.sum(dtype=torch.complex64),
        lambda x: torch.full((3,), math.inf).sum(),
        lambda x: x.clone().scatter_reduce_(0, torch.tensor([[0, 0], [2, 2]]), x, "amax"),
        lambda x: x.scatter_reduce(0, torch.tensor([[0, 0], [2, 2]]), x, "prod"),
        lambda x: x.scatter_add(1, torch.zeros(3, 0, dtype=torch.int64), x),
        lambda x: x.long().index_add(0, torch.tensor([0, 0]), x[:2].long(), alpha=3),
        lambda x: x.long().scatter_reduce(1, torch.tensor([[0, 0, 1]]), x.long(), "mean"),
        lambda x: torch.linalg.vector_norm(x, dim=()),
        lambda x: x.var(dim=()),
        lambda x: x.nansum(dim=()),
        lambda x: torch.norm(x, dim=()),
        lambda x: torch.norm(x, p="fro", dim=(0, 1)),
        lambda x: torch.norm(x, p="nuc"),
        lambda x: torch.linalg.norm(x, 1),
        lambda x: torch.linalg.matrix_norm(x),
        lambda x: torch.std_mean(x, dim=1, correction=0)[0],
        lambda x: x.std(0, False),
        lambda x: x.norm(p=1, dim=1, keepdim=True),
        lambda x: x.norm(dtype=torch.float64),
        lambda x: torch.nn.Parameter(x).sum(),
        lambda x: (x > 3).mean(dtype=torch.float32),
        lambda x: x.to(torch.uint8).sum(dtype=torch.uint8),
        lambda x: x.int().sum(dtype=torch.int32),
        lambda x: (x > 3).sum(dtype=torch.bool),
        lambda x: (x + 1j * x).std(0),
        lambda x: torch.linalg.vector_norm(x.half(), dtype=torch.float32),
        lambda x: torch.segment_reduce(x[:, 0].contiguous(), "max", lengths=torch.tensor([1, 2])),
    ],
)
@pytest.mark.filterwarnings("ignore:var")
def test_edges_as_torchs(call):
    # Small whole numbers, so that torch's own are exact.
    x = torch.arange(12.0).reshape(3, 4)
    plain = call(x)
    with exact():
        mine = call(x)
    assert mine.dtype == plain.dtype and mine.shape == plain.shape
    assert torch.allclose(mine, plain, rtol=1e-6, atol=0, equal_nan=True), (mine, plain)


def cellwise(x, keys, values, include, mean):
    """The sums or means of an array's elements and the values that belong to them."""
    lists = [[Fraction(v)] if include else [] for v in x.double().reshape(-1).tolist()]
    for key, value in zip(keys, values):
        lists[key].append(Fraction(value))
    own = x.double().reshape(-1).tolist()
    dtype = str(x.dtype).removeprefix("torch.")
    return [to_float(sum(v) / (len(v) if mean else 1), dtype) if v and len(v) > include or mean and v else o for v, o in zip(lists, own)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_scatter(dtype, dim, include, reduce):
    x, src = hard((5, 4), dtype, 1), hard((9, 9), dtype, 2)
    shape = {0: (8, 3), 1: (4, 9), -1: (5, 7)}[dim]
    index = torch.randint(0, x.shape[dim] - 1, shape, generator=torch.Generator().manual_seed(3))
    keys, values = [], []
    for i, j in itertools.product(*map(range, shape)):
        k = index[i, j].item()
        keys.append(k * 4 + j if dim == 0 else i * 4 + k)
        values.append(src[i, j].item())
    with exact():
        result = x.scatter_reduce(dim, index, src, reduce, include_self=include)
        same(result, cellwise(x, keys, values, include, reduce == "mean"), x.shape, x.dtype)
        if reduce == "sum" and include:
            assert bits(x.scatter_add(dim, index, src)) == bits(result)
            own = x.clone()
            assert own.scatter_add_(dim, index, src) is own and bits(own) == bits(result)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("dim", [0, 1])
def test_index_add(dtype, dim):
    x = hard((6, 5), dtype, 1)
    source = hard((40, 5) if dim == 0 else (6, 40), dtype, 2)
    index = torch.randint(0, x.shape[dim] - 1, (40,), generator=torch.Generator().manual_seed(3))
    keys = [int(index[i]) * 5 + j if dim == 0 else i * 5 + int(index[j]) for i, j in itertools.product(*map(range, source.shape))]
    expected = cellwise(x, keys, source.double().reshape(-1).tolist(), True, False)
    order = torch.randperm(40, generator=torch.Generator().manual_seed(4))
    with exact():
        same(x.index_add(dim, index, source), expected, x.shape, x.dtype)
        same(x.index_add(dim, index[order], source.index_select(dim, order)), expected, x.shape, x.dtype)
        same(x.index_add(dim, index, -source, alpha=-1), expected, x.shape, x.dtype)
        own = x.clone()
        assert own.index_add_(dim, index.int(), source) is own
        same(own, expected, x.shape, x.dtype)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_whole_rows_have_the_bits_of_their_elements(dim, dtype="float32"):
    x, source = hard((4, 5, 6), dtype, 1), hard(tuple(50 if a == dim else n for a, n in enumerate((4, 5, 6))), dtype, 2)
    index = torch.randint(0, x.shape[dim] - 1, (50,), generator=torch.Generator().manual_seed(3))
    expanded = index.reshape([-1 if a == dim else 1 for a in range(3)]).expand(source.shape)
    with exact():
        elements = x.scatter_add(dim, expanded.contiguous(), source)
        assert bits(x.index_add(dim, index, source)) == bits(elements)
        assert bits(x.scatter_add(dim, expanded, source)) == bits(elements)
        assert x.index_add(dim, index, source).is_contiguous()
        for mean in ("sum", "mean"):
            whole, single = (x.scatter_reduce(dim, i, source, mean, include_self=False) for i in (expanded, expanded.contiguous()))
            assert bits(whole) == bits(single)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("inner", [(), (3,)])
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_segments(dtype, inner, reduce):
    x, lengths = hard((30, *inner), dtype), torch.tensor([4, 0, 20, 6])
    offsets = torch.tensor([0, 4, 4, 24, 30])
    flat = x.reshape(30, -1).double()
    expected = []
    for a, b in zip(offsets[:-1], offsets[1:]):
        for column in flat[a:b].T.tolist():
            total = sum(map(Fraction, column), Fraction(0))
            expected.append(to_float(total, dtype) if reduce == "sum" else to_float(total / len(column), dtype) if column else math.nan)
    with exact():
        for more in ({"lengths": lengths}, {"offsets": offsets}):
            result = torch.segment_reduce(x, reduce, **more)
            same(torch.nan_to_num(result, nan=77.0), [77.0 if math.isnan(v) else v for v in expected], (4, *inner), x.dtype)


def test_segments_that_are_none_are_torchs():
    for stated in ({"lengths": torch.tensor([[1, 2]])}, {"offsets": torch.tensor([[0, 3]])}):
        with pytest.raises(RuntimeError) as plain:
            torch.segment_reduce(torch.ones(3), "sum", **stated)
        with exact(), pytest.raises(RuntimeError) as mine:
            torch.segment_reduce(torch.ones(3), "sum", **stated)
        assert str(mine.value) == str(plain.value)


def test_bits_do_not_depend_on_batches_threads_and_order():
    x = hard((64, 1000), "float32")
    order = torch.randperm(1000, generator=torch.Generator().manual_seed(5))
    before = torch.get_num_threads()
    functions = [lambda t: t.sum(-1), lambda t: t.mean(-1), lambda t: t.var(-1), lambda t: t.std(-1), lambda t: torch.linalg.vector_norm(t, dim=-1)]
    try:
        for function in functions:
            with exact():
                whole = function(x)
                for threads in (1, 2, 4):
                    torch.set_num_threads(threads)
                    assert bits(torch.cat([function(part) for part in x.split(7)])) == bits(whole)
                    assert bits(function(x[:, order])) == bits(whole)
                    assert bits(function(x.T.contiguous().T)) == bits(whole)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sum(dim=0),
        lambda x: x.mean(),
        lambda x: x.var(dim=1),
        lambda x: x.std(),
        lambda x: torch.var_mean(x, dim=0),
        lambda x: torch.linalg.vector_norm(x, dim=1),
        lambda x: torch.linalg.vector_norm(x, 1),
        lambda x: x.norm(),
        lambda x: x.index_add(0, torch.tensor([0, 0, 2]), x * 2),
        lambda x: x.scatter_add(1, torch.tensor([[0, 0, 1], [2, 2, 2]]), x[:2, :3] * 2),
        lambda x: x.scatter_reduce(0, torch.tensor([[0, 0, 1, 2]]), x[:1], "mean"),
        lambda x: torch.segment_reduce(x, "sum", lengths=torch.tensor([1, 2])),
        lambda x: torch.segment_reduce(x, "mean", lengths=torch.tensor([1, 2])),
    ],
)
def test_gradients(function):
    x = torch.rand(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(6), requires_grad=True)
    with exact():
        assert torch.autograd.gradcheck(function, (x,))
        assert all(r.requires_grad for r in (function(x) if isinstance(function(x), tuple) else [function(x)]))


def test_a_model_is_trained_to_the_same_bits():
    def train(order):
        torch.manual_seed(0)
        weight = torch.nn.Parameter(torch.randn(10, dtype=torch.float64))
        x, y = torch.randn(64, 10, dtype=torch.float64), torch.randn(64, dtype=torch.float64)
        x, y = x[order], y[order]
        for _ in range(5):
            with exact():
                # Products of each row alone, as matrices are multiplied by torch.
                loss = (((x * weight).sum(dim=1) - y) ** 2).mean()
                loss.backward()
                warpfold.torch.clip_grad_norm_([weight], 0.5)
            with torch.no_grad():
                weight -= 0.1 * weight.grad
                weight.grad = None
        return bits(weight)

    first = train(torch.arange(64))
    assert first == train(torch.arange(63, -1, -1)) == train(torch.randperm(64, generator=torch.Generator().manual_seed(1)))


@pytest.mark.filterwarnings("ignore")
def test_compiled_functions_run_as_they_are():
    x = torch.tensor([2.0**60, 1.0, -(2.0**60)] * 50)
    before = torch.compile(lambda t: (t * 2).sum(), backend="eager")
    assert before(x) != 100
    after = torch.compile(lambda t: (t * 2).sum(), backend="aot_eager")
    with exact():
        assert before(x) == 100 and after(x) == 100


def test_transforms_of_functions():
    x = torch.tensor([[2.0**60, 1.0, -(2.0**60)] * 9] * 2)
    with exact():
        assert torch.func.vmap(torch.sum)(x).tolist() == [9.0, 9.0]
        assert torch.func.grad(torch.sum)(x).tolist() == torch.ones_like(x).tolist()
        jacobian = torch.func.jacrev(lambda v: v.var(dim=1))(x.double().sigmoid())
    assert torch.allclose(jacobian, torch.func.jacrev(lambda v: v.var(dim=1))(x.double().sigmoid()))


def test_other_threads_keep_torchs_own():
    import threading

    x = torch.tensor([2.0**60, 1.0, -(2.0**60)] * 50)
    found = []
    with exact():
        thread = threading.Thread(target=lambda: found.append(x.sum().item()))
        thread.start()
        thread.join()
        assert x.sum() == 50
    assert found != [50.0]


@pytest.mark.parametrize("order,name", [(1, "l1"), (2.0, "l2"), (math.inf, "linf")])
@pytest.mark.parametrize("dtype", FLOATS)
def test_clipping(order, name, dtype):
    shapes = [(3, 4), (1000,), (), (5, 2)]
    parameters = [torch.nn.Parameter(torch.zeros(shape, dtype=getattr(torch, dtype))) for shape in shapes] + [torch.nn.Parameter(torch.ones(2))]
    g = torch.Generator().manual_seed(7)
    for p in parameters[:-1]:
        p.grad = torch.randn(p.shape, generator=g).to(p.dtype)
    all_ = [Fraction(v) for p in parameters[:-1] for v in p.grad.double().reshape(-1).tolist()]
    expected = {"l1": lambda: to_float(sum(map(abs, all_)), dtype), "l2": lambda: root(sum(v * v for v in all_), dtype), "linf": lambda: float(max(map(abs, all_)))}[name]()
    before = [p.grad.clone() for p in parameters[:-1]]
    total = warpfold.torch.clip_grad_norm_(iter(parameters), 0.5, order)
    same(total, [expected], [], getattr(torch, dtype))
    scale = (0.5 / (total + 1e-6)).clamp(max=1)
    for p, grad in zip(parameters, before):
        assert bits(p.grad) == bits(grad * scale)
    # Nothing is scaled up.
    before = [p.grad.clone() for p in parameters[:-1]]
    warpfold.torch.clip_grad_norm_(parameters, 1e4, order)
    assert all(bits(p.grad) == bits(grad) for p, grad in zip(parameters, before))


def test_clipping_edges():
    p = torch.nn.Parameter(torch.zeros(2))
    assert warpfold.torch.clip_grad_norm_([p], 1.0) == 0
    p.grad = torch.tensor([math.inf, 1.0])
    with pytest.raises(RuntimeError, match="cannot be clipped"):
        warpfold.torch.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
    with pytest.raises(ValueError, match="norm_type=3"):
        warpfold.torch.clip_grad_norm_(p, 1.0, 3)
    q = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    p.grad, q.grad = torch.tensor([3.0, 0.0]), torch.tensor([4.0, 0.0], dtype=torch.float64)
    total = warpfold.torch.clip_grad_norm_([p, q], 10.0)
    assert total == 5 and total.dtype == torch.float64


def test_complex_gradients_are_clipped():
    p = torch.nn.Parameter(torch.zeros(1, dtype=torch.complex64))
    p.grad = torch.tensor([3 + 4j], dtype=torch.complex64)
    assert warpfold.torch.clip_grad_norm_(p, 1.0) == 5
    assert np.allclose(p.grad.numpy(), [0.6 + 0.8j])
