"""Arrays on a GPU, against the same on the host: every type, layout and reduction. Where there is no GPU, all of it is skipped, and pytest says so."""

import gc
import math
import threading

import numpy as np
import pytest
import warpfold as wf
from oracle import COMPLEX, FLOATS, REAL, fractions, sample, to_float

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU that torch can use", allow_module_level=True)

LINEAR = ["sum", "mean", "prod"]
SPREAD = ["var", "std", "l1", "l2", "sumsq", "linf"]
ORDERED = ["min", "max", "argmin", "argmax"]
COUNTS = ["any", "all", "count_nonzero"]


def ops(name):
    return LINEAR + SPREAD + COUNTS + ([] if name in COMPLEX else ORDERED)


def tensor(name, shape, salt=0):
    if name == "bfloat16":
        return torch.from_numpy(sample("float32", shape, salt)).to(torch.bfloat16)
    return torch.from_numpy(sample(name, shape, salt))


def outcome(f, *args, **keywords):
    """The result on the host as bytes, or the kind of error."""
    try:
        result = f(*args, **keywords)
    except (ValueError, OverflowError) as error:
        return type(error)
    results = result if isinstance(result, tuple) else (result,)
    return [(r.dtype, tuple(r.shape), r.cpu().contiguous().view(-1).view(torch.uint8).tolist()) for r in results]


def check(name, op, x, **keywords):
    """The same bits."""
    f = getattr(wf, op)
    there = outcome(f, x.cuda(), **keywords)
    here = outcome(f, x, **keywords)
    assert there == here, (name, op, tuple(x.shape), x.stride(), keywords)


@pytest.mark.parametrize("name", [*REAL, *COMPLEX, "bfloat16"])
def test_whole_arrays(name):
    for n in (0, 1, 33, 1000, 100_003):
        x = tensor(name, (n,), n)
        for op in ops(name):
            check(name, op, x)
            check(name, op, x[1:])


@pytest.mark.parametrize("name", [*REAL, *COMPLEX, "bfloat16"])
def test_axes_and_layouts(name):
    x = tensor(name, (6, 50, 70), 3)
    for op in ops(name):
        for axis in (0, 1, -1, (0, 2), (0, 1)):
            check(name, op, x, axis=axis)
        for view in (x[::2, 1:, ::3], x.permute(2, 0, 1), x[:, 5], x[:0]):
            check(name, op, view)
            check(name, op, view, axis=-1, keepdims=True)


def test_results_of_16_bits_are_rounded_once():
    # Sums whose exact value lies just beside the middle between two neighbours, in f32 at the middle.
    for dtype, unit in ((torch.bfloat16, 2.0**-7), (torch.float16, 2.0**-10)):
        tiny = 2.0**-24 if dtype == torch.float16 else 2.0**-40
        for sign in (1, -1):
            row = [1.0, unit / 2, sign * tiny]
            x = torch.tensor([row] * 5 + [[1.0, 0, 0]], dtype=dtype)
            expected = 1 + unit if sign == 1 else 1.0
            assert wf.sum(x.cuda(), axis=1).tolist() == [expected] * 5 + [1.0]
            assert wf.sum(x.T.contiguous().cuda(), axis=0).tolist() == [expected] * 5 + [1.0]
            assert wf.sum(x[0].cuda()).item() == expected


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rows_of_16_bits(dtype):
    # Whole numbers, whose sums lie in the middle between two neighbours often; normal ones; and rows with NaN and infinities.
    whole = torch.arange(12 * 5000).mul(37).remainder(255).sub(100).reshape(12, 5000)
    normal = torch.randn(12, 5000, generator=torch.Generator().manual_seed(1))
    special = normal.clone()
    special[3, 7], special[5, 4999], special[6, 0], special[6, 9] = math.nan, math.inf, math.inf, -math.inf
    for x in (whole, normal * 3, special):
        x = x.to(dtype)
        for op in LINEAR + SPREAD:
            for shape in ((12, 5000), (3, 20_000), (6000, 10), (600, 100), (2, 50, 600)):
                y = x.reshape(shape)
                for axis in (0, 1, -1):
                    check(str(dtype), op, y, axis=axis)
            check(str(dtype), op, x, axis=1, dtype="float32")
            check(str(dtype), op, x, axis=1, dtype=str(dtype)[6:])
            check(str(dtype), op, x[0], dtype="float32")
            if op in ("var", "std"):
                check(str(dtype), op, x, axis=1, correction=4999)
                check(str(dtype), op, x.reshape(-1), correction=1)


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


@pytest.mark.parametrize("name", [*REAL, *COMPLEX, "bfloat16"])
def test_segments(name):
    x, y = tensor(name, (5000,), 1), tensor(name, (5000,), 1).cuda()
    offsets = torch.tensor([0, 0, 7, 300, 301, 5000])
    for op in ops(name):
        f = getattr(wf, f"segment_{op}")
        assert outcome(f, y, every=50) == outcome(f, x, every=50), op
        for kind in (torch.int32, torch.int64):
            assert outcome(f, y, offsets.to(kind).cuda()) == outcome(f, x, offsets.to(kind)), (op, kind)
    for wrong in (lambda: wf.segment_sum(y, offsets), lambda: wf.segment_sum(y, lengths=offsets.cuda()), lambda: wf.segment_sum(y)):
        with pytest.raises(TypeError, match="on that GPU|stated by"):
            wrong()
    with pytest.raises(ValueError):
        wf.segment_sum(y, torch.tensor([0, 9, 5]).cuda())


@pytest.mark.parametrize("name", [*REAL, "bfloat16"])
def test_groups(name):
    x = tensor(name, (3000,), 5)
    for keys in (torch.arange(3000) * 7919 % 40 - 20, torch.arange(3000) // 100, torch.arange(3000) % 2 == 0, torch.zeros(3000, dtype=torch.uint8)):
        here, there = wf.group_by(keys, x), wf.group_by(keys.cuda(), x.cuda())
        assert there.keys.is_cuda and there.keys.tolist() == here.keys.tolist()
        for op in ops(name):
            assert outcome(lambda by: tuple(getattr(by, op)()), there) == outcome(lambda by: tuple(getattr(by, op)()), here), (name, op)
    keys = torch.arange(3000, dtype=torch.int32) * 7 % 50
    for op in ops(name):
        # Of the last ten groups nothing is there.
        found, expected = (outcome(lambda k, v: getattr(wf.group_by(k, v, groups=60), op)(), k, v) for k, v in ((keys.cuda(), x.cuda()), (keys, x)))
        assert found == expected, (name, op)
    for one, other in ((keys, x), (keys.cuda(), x.cuda())):
        with pytest.raises(IndexError):
            wf.group_by(one, other, groups=10).sum()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int8", "int32", "int64"])
def test_where(name):
    for n in (1, 33, 1000, 100_003):
        x = tensor(name, (n,), n)
        mask = torch.arange(n) % 3 != 1
        for op in ("sum", "mean", "var", "l2", "min", "max", "argmin", "argmax", "count_nonzero"):
            f = getattr(wf, op)
            if op in ("min", "max") and name not in ("float32", "float64", "int64"):
                with pytest.raises(TypeError, match="copy it to the host"):
                    f(x.cuda(), where=mask.cuda())
                continue
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


def test_gradients_and_compiled_functions():
    import warpfold.torch  # noqa: F401

    x = torch.randn(8, 33, dtype=torch.float64)

    def f(x):
        return wf.sum(x * x, axis=1) + wf.var(x) + wf.dot(x, x) + wf.l2(x, axis=0).sum()

    here, there = x.clone().requires_grad_(), x.cuda().requires_grad_()
    (a,), (b,) = torch.autograd.grad(f(here).sum(), here), torch.autograd.grad(f(there).sum(), there)
    assert b.is_cuda and torch.allclose(a, b.cpu(), rtol=1e-12)
    compiled = torch.compile(f, fullgraph=True)
    assert torch.allclose(compiled(there), f(there), rtol=1e-12)
    (c,) = torch.autograd.grad(compiled(there).sum(), there)
    assert torch.allclose(b, c, rtol=1e-12)
    assert torch.compile(lambda x: wf.sum(x), fullgraph=True)(there.detach()).equal(wf.sum(there.detach()))


def test_exact_sums_are_those_of_fsum():
    x = sample("float64", (1_000_003,))
    assert wf.sum(torch.from_numpy(x).cuda()).item() == math.fsum(x)
    assert wf.sum(torch.from_numpy(x[::-1].copy()).cuda()).item() == math.fsum(x)


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


def test_what_is_not_there_is_refused():
    x = torch.ones(4).cuda()
    by = wf.group_by(x.long(), x)
    for call in (
        lambda: wf.group_by(x.long(), x, where=x > 0),
        lambda: by.var(correction=0.5),
        lambda: wf.sum(x, where=(x > 0).cpu()),
        lambda: wf.segment_sum(x, every=2, where=x > 0),
    ):
        with pytest.raises(TypeError, match="copy it to the host"):
            call()


class TestCuPy:
    @pytest.mark.parametrize("name", [*REAL, *COMPLEX])
    def test_every_type(self, name):
        cupy = pytest.importorskip("cupy", reason="cupy is not installed")
        x = sample(name, (40, 50))
        there = cupy.asarray(x)
        for op in ("sum", "max", "count_nonzero", "var") if name not in COMPLEX else ("sum", "count_nonzero", "var"):
            f = getattr(wf, op)
            for view, like in ((there, x), (there[::3, 5:], x[::3, 5:]), (there.T, x.T)):
                for keywords in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}):
                    try:
                        expected = np.asarray(f(like, **keywords))
                    except OverflowError:
                        with pytest.raises(OverflowError):
                            f(view, **keywords)
                        continue
                    found = f(view, **keywords)
                    assert isinstance(found, cupy.ndarray) and found.dtype == expected.dtype
                    assert cupy.asnumpy(found).tobytes() == expected.tobytes(), (name, op, keywords)
        out = cupy.zeros(40, wf.sum(there, axis=1).dtype) if name != "int64" else None
        if out is not None:
            assert wf.sum(there, axis=1, out=out) is out

    def test_sums_of_floats_are_exact(self):
        cupy = pytest.importorskip("cupy", reason="cupy is not installed")
        for name in FLOATS:
            x = sample(name, (3000,))
            assert float(wf.sum(cupy.asarray(x))) == to_float(sum(fractions(x)), name)


class TestJax:
    def test_compiled_calls(self):
        jax = pytest.importorskip("jax", reason="jax is not installed")
        try:
            gpu, cpu = jax.devices("cuda")[0], jax.devices("cpu")[0]
        except RuntimeError:
            pytest.skip("there is no GPU that JAX can use")
        import warpfold.jax

        for name in ("int32", "float16", "float32", "complex64", "bool"):
            x = sample(name, (6, 5000)) if name != "int32" else sample(name, (6, 5000)) % 100
            there, here = jax.device_put(x, gpu), jax.device_put(x, cpu)
            for op in ops(name):
                f = getattr(wf.jax, op)
                if op == "prod" or op == "l1" and name in COMPLEX:
                    continue
                for keywords in ({}, {"axis": 1}, {"axis": 0, "keepdims": True}):
                    found, expected = (jax.jit(lambda x: f(x, **keywords))(a) for a in (there, here))
                    assert found.dtype == expected.dtype and list(found.devices()) == [gpu]
                    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes(), (name, op, keywords)
                assert np.asarray(jax.vmap(f)(there)).tobytes() == np.asarray(jax.vmap(f)(here)).tobytes(), (name, op)
        x = sample("float32", (9000,))
        there = jax.device_put(x, gpu)
        assert float(jax.jit(wf.jax.dot)(there, there)) == float(wf.dot(x, x))
        assert jax.jit(jax.grad(wf.jax.sumsq))(there).tolist() == (2 * x).tolist()
        with pytest.raises(Exception, match="int32 cannot hold"):
            jax.block_until_ready(jax.jit(wf.jax.sum)(jax.device_put(np.full(4, 2**30, "int32"), gpu)))
        with pytest.raises(TypeError, match="GPU"):
            wf.sum(there)
        many = jax.jit(lambda x: jax.lax.fori_loop(0, 50, lambda k, s: s + wf.jax.max(x + k), 0.0))
        assert float(many(there)) == float(many(jax.device_put(x, cpu)))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int8", "int32", "int64"])
def test_expressions(name):
    for n in (0, 1, 33, 1000, 100_003):
        x, y = tensor(name, (n,), n), tensor(name, (n,), n + 1)
        for op in ("sum", "mean", "var", "std", "l2", "min", "max", "argmin", "argmax"):
            for where in (None, "x < y"):
                f, more = getattr(wf, op), {} if where is None else {"where": where}
                there = outcome(f, "min(x, y)", x=x.cuda(), y=y.cuda(), **more)
                assert there == outcome(f, "min(x, y)", x=x, y=y, **more), (name, op, n, where)
        there = outcome(wf.count_nonzero, "x > y", x=x.cuda(), y=y.cuda())
        assert there == outcome(wf.count_nonzero, "x > y", x=x, y=y), (name, n)


def test_expressions_with_masks_and_weights():
    x, w = tensor("float32", (1001,)), tensor("float32", (1001,), 1).abs()
    mask = x > 0
    a, b = wf.arg("x"), wf.arg("w")
    there = outcome(wf.mean, "x", x=x.cuda(), weights="w", w=w.cuda(), where=mask.cuda())
    assert there == outcome(wf.mean, "x", x=x, weights="w", w=w, where=mask)
    for call in (wf.prod, wf.l1, wf.linf, wf.var):
        assert outcome(call, abs(a - b), x=x.cuda(), w=w.cuda()) == outcome(call, abs(a - b), x=x, w=w)
    assert outcome(wf.var, "x", x=x.cuda(), weights="w", w=w.cuda()) == outcome(wf.var, "x", x=x, weights="w", w=w)
    there = outcome(wf.sum, abs(a - b), x=x.cuda(), w=w.cuda(), where=a > 0)
    assert there == outcome(wf.sum, abs(a - b), x=x, w=w, where=a > 0)
    # One shape, and in Python's order.
    z = x[:1000].reshape(10, 100)
    assert outcome(wf.sum, "x * 2", x=z.cuda(), keepdims=True) == outcome(wf.sum, "x * 2", x=z, keepdims=True)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int32"])
def test_expressions_over_axes(name):
    for shape, axis in (((5, 7), 1), ((5, 7), 0), ((40, 1000), -1), ((1000, 40), 0), ((3, 50, 4), 1), ((2, 9, 30), (1, 2))):
        x, y = tensor(name, shape, 3), tensor(name, shape, 4)
        for op in ("sum", "mean", "var", "l2", "min", "max", "argmax", "count_nonzero"):
            for more in ({}, {"keepdims": True}, {"where": "x < y"}):
                f = getattr(wf, op)
                there = outcome(f, "max(x, y)", x=x.cuda(), y=y.cuda(), axis=axis, **more)
                assert there == outcome(f, "max(x, y)", x=x, y=y, axis=axis, **more), (name, shape, axis, op, more)
    # Arrays of length 1 along the axes that are reduced, or along the others.
    x, w, m = tensor("float32", (6, 50)), tensor("float32", (50,), 1), tensor("float32", (6, 1), 2)
    for axis in (0, 1):
        for text, arrays in (("x * w", {"w": w}), ("(x - m)**2", {"m": m}), ("w * (x - m)", {"w": w, "m": m})):
            there = outcome(wf.sum, text, x=x.cuda(), **{k: a.cuda() for k, a in arrays.items()}, axis=axis)
            assert there == outcome(wf.sum, text, x=x, **arrays, axis=axis), (axis, text)
    # Results that do not exist.
    assert outcome(wf.mean, "x", x=x.cuda(), where="x > 2", axis=1) == outcome(wf.mean, "x", x=x, where="x > 2", axis=1)
    empty = torch.zeros(3, 0)
    for op in (wf.sum, wf.mean):
        assert outcome(op, "x + 1", x=empty.cuda(), axis=1) == outcome(op, "x + 1", x=empty, axis=1)


def test_expressions_that_no_kernel_folds_are_refused():
    x = tensor("float32", (100,)).cuda()
    for call, words in (
        (lambda: wf.var("i64(x)", x=x, weights="i64(y)", y=x), "weighted"),
        (lambda: wf.sum("x + y", x=x, y=x.cpu()), "host's memory"),
        (lambda: wf.sum("x + y", x=x, y=x[:50]), "one shape"),
        (lambda: wf.sum("x + 1", x=x[::2]), "contiguous"),
        (lambda: wf.sum("x + 1", x=x.reshape(5, 2, 10), axis=(0, 2)), "others between them"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            call()
    with pytest.raises((ValueError, OverflowError), match="index 3"):
        wf.sum("x + x", x=torch.tensor([1, 2, 3, 2**63 - 1]).cuda())
