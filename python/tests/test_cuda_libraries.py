"""Arrays on a GPU of CuPy and JAX; gradients and compiled functions of torch."""

import numpy as np
import pytest
import warpfold as wf
from gpu import ops, torch
from oracle import COMPLEX, FLOATS, REAL, fractions, sample, to_float


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
        self.eager(jax, x, there, gpu)
        many = jax.jit(lambda x: jax.lax.fori_loop(0, 50, lambda k, s: s + wf.jax.max(x + k), 0.0))
        assert float(many(there)) == float(many(jax.device_put(x, cpu)))

    def eager(self, jax, x, there, gpu):
        """Outside of jit: by the same call, in XLA's stream."""
        mask = np.arange(9000) % 3 > 0
        for op in ("sum", "mean", "var", "max", "argmin", "count_nonzero"):
            f = getattr(wf, op)
            for keywords in ({}, {"keepdims": True}, {"where": mask}):
                found, expected = f(there, **keywords), f(jax.device_put(x, jax.devices("cpu")[0]), **keywords)
                assert isinstance(found, jax.Array) and list(found.devices()) == [gpu]
                assert found.dtype == expected.dtype and np.asarray(found).tobytes() == np.asarray(expected).tobytes(), (op, keywords)
        assert float(wf.dot(there, there)) == float(wf.dot(x, x))
        for call in (lambda: wf.stats(there), lambda: wf.segment_sum(there, every=3), lambda: wf.sum("x + 1", x=there)):
            with pytest.raises(TypeError, match="jax.device_get"):
                call()
        with pytest.raises(TypeError, match="weights is not there.*nor on GPUs"):
            wf.sum(there, weights=there)
