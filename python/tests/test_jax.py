"""JAX's transformations: compiled calls beside eager ones, whose results have tests of their own, and gradients beside numerical ones."""

import math
import subprocess
import sys

import numpy as np
import pytest
import warpfold as wf
from oracle import fractions, sample, to_float

jax = pytest.importorskip("jax", reason="jax is not installed")
import jax.numpy as jnp  # noqa: E402
import warpfold.jax  # noqa: E402

SLOPES = ["sum", "mean", "var", "std", "l1", "l2", "sumsq", "linf", "prod", "min", "max"]
STEPS = ["argmin", "argmax", "any", "all", "count_nonzero"]
CHOSEN = [{}, {"axis": 1}, {"axis": (-1, 0), "keepdims": True}, {"axis": ()}]


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape and np.asarray(a).tobytes() == np.asarray(b).tobytes(), (a, b)


@pytest.mark.parametrize("name", SLOPES + STEPS)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "float16", "bfloat16", "float32", "complex64"])
def test_compiled_calls_have_the_bits_of_eager_ones(name, dtype):
    x = sample("float32" if dtype == "bfloat16" else dtype, (4, 5, 6))
    x = jnp.asarray(x % 3 if dtype in ("int32", "uint16", "int8") else x).astype(dtype)
    if dtype == "complex64" and name in ("min", "max", "argmin", "argmax"):
        with pytest.raises(Exception, match="complex64"):
            jax.block_until_ready(jax.jit(getattr(wf.jax, name))(x))
        return
    f = getattr(wf.jax, name)
    for chosen in CHOSEN:
        if chosen == {"axis": ()} and name == "std" and dtype == "complex64":
            continue
        same(jax.jit(lambda x: f(x, **chosen))(x), getattr(wf, name)(x, **chosen))
    same(jax.vmap(f)(x), getattr(wf, name)(x, axis=(1, 2)))
    same(jax.jit(jax.vmap(f, in_axes=2))(x), getattr(wf, name)(x, axis=(0, 1)))


@pytest.mark.parametrize("name", SLOPES + STEPS)
@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float16", "bfloat16", "float32", "complex64"])
def test_masks(name, dtype):
    if dtype == "complex64" and name in ("min", "max", "argmin", "argmax"):
        pytest.skip("complex numbers have no order")
    x = sample("float32" if dtype == "bfloat16" else dtype, (4, 5, 6))
    x = jnp.asarray(x % 3 if dtype in ("int32", "int8") else x).astype(dtype)
    mask = jnp.asarray(np.random.default_rng(1).random((4, 5, 6)) < 0.6)
    f, eager = getattr(wf.jax, name), getattr(wf, name)
    for chosen in CHOSEN[:3]:
        same(jax.jit(lambda x, m: f(x, where=m, **chosen))(x, mask), eager(x, where=mask, **chosen))
    same(jax.jit(lambda x, m: f(x, axis=1, where=m))(x, mask[:, :, :1]), eager(x, axis=1, where=mask[:, :, :1]))
    same(jax.vmap(lambda x, m: f(x, where=m))(x, mask), eager(x, axis=(1, 2), where=mask))
    same(jax.jit(lambda x: eager(x, where=True))(x), eager(x))


@pytest.mark.parametrize("name", SLOPES)
def test_gradients_of_masked_elements(name):
    from jax.test_util import check_grads

    f = getattr(wf.jax, name)
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        x = jnp.asarray((rng.permutation(20).reshape(4, 5) + 1) * rng.choice([-0.3, 0.3], (4, 5)))
        mask = jnp.asarray(rng.random((4, 5)) < 0.7).at[:, 0].set(True)
        for chosen in CHOSEN[:2]:
            check_grads(lambda x: f(x, where=mask, **chosen) / 100, (x,), order=2, eps=1e-4, atol=1e-3, rtol=1e-3)
        # A NaN that is left out is in no gradient.
        slope = jax.grad(lambda x: f(x, where=mask))
        hidden = jnp.where(mask, x, jnp.nan)
        assert np.array_equal(slope(hidden), slope(jnp.where(mask, x, 0))) and not np.any(np.asarray(slope(hidden))[~np.asarray(mask)])


def test_masks_that_leave_nothing():
    x, none = jnp.ones((2, 3)), jnp.zeros((2, 3), bool).at[0, 1].set(True)
    assert jax.jit(lambda x: wf.jax.sum(x, axis=1, where=none))(x).tolist() == [1, 0]
    low = jax.jit(lambda x: wf.jax.min(x, axis=1, where=none))(x)
    assert low[0] == 1 and jnp.isnan(low[1])
    with pytest.raises(Exception, match="no elements|empty|nothing"):
        jax.block_until_ready(jax.jit(lambda x: wf.jax.argmin(x, axis=1, where=none))(x))


def test_sums_are_rounded_once():
    x = sample("float32", (1000,))
    assert float(jax.jit(wf.jax.sum)(x)) == to_float(sum(fractions(x)), "float32")
    # The plain function knows what to do as well.
    assert float(jax.jit(wf.sum)(x)) == to_float(sum(fractions(x)), "float32")
    y = x[::-1].copy()
    exact = sum(a * b for a, b in zip(fractions(x), fractions(y)))
    assert float(jax.jit(wf.dot)(x, jnp.asarray(y))) == to_float(exact, "float32")
    same(jax.vmap(wf.jax.dot)(x.reshape(10, 100), y.reshape(10, 100))[3], wf.dot(jnp.asarray(x[300:400]), jnp.asarray(y[300:400])))
    low, high = jax.jit(wf.jax.minmax)(x)
    assert (low, high) == (x.min(), x.max())


@pytest.mark.parametrize("name", SLOPES)
def test_gradients(name):
    from jax.test_util import check_grads

    f = getattr(wf.jax, name)
    with jax.enable_x64(True):
        # No two are as large, and none is 0.
        rng = np.random.default_rng(0)
        x = jnp.asarray((rng.permutation(20).reshape(4, 5) + 1) * rng.choice([-0.3, 0.3], (4, 5)))
        for chosen in CHOSEN[:3]:
            check_grads(lambda x: f(x, **chosen) / 100, (x,), order=2, eps=1e-4, atol=1e-3, rtol=1e-3)
        check_grads(jax.jit(jax.vmap(f)), (x,), order=1, rtol=1e-3)
        if name not in ("min", "max"):
            check_grads(lambda z: f(z, axis=1), (x + 1j * x[::-1],), order=1, rtol=1e-3)


def test_gradients_of_ties_zeros_and_nan():
    grad = jax.grad(lambda x: wf.jax.max(x))
    assert grad(jnp.array([1.0, 4.0, 4.0])).tolist() == [0, 0.5, 0.5]
    assert jax.grad(lambda x: wf.jax.prod(x))(jnp.array([2.0, 0, 3])).tolist() == [0, 6, 0]
    assert jax.grad(lambda x: wf.jax.l2(x))(jnp.zeros(2)).tolist() == [0, 0]
    x = jnp.array([1.0, math.nan, 4.0])
    assert jax.grad(lambda x: wf.jax.sum(x, nan="ignore"))(x).tolist() == [1, 0, 1]
    assert jax.grad(lambda x: wf.jax.mean(x, nan="ignore"))(x).tolist() == [0.5, 0, 0.5]
    assert jax.grad(wf.var)(jnp.array([1.0, 3.0])).tolist() == [-1, 1]


def test_errors_of_compiled_calls():
    x = jnp.full(4, 2**30, "int32")
    with pytest.raises(Exception, match="int32 cannot hold"):
        jax.block_until_ready(jax.jit(wf.jax.sum)(x))
    assert int(jax.jit(lambda x: wf.jax.sum(x, overflow="wrap"))(x)) == 0
    with pytest.raises(ValueError, match="no value"):
        jax.jit(wf.jax.max)(jnp.zeros(0))
    with pytest.raises(ValueError, match="axis 3"):
        jax.jit(lambda x: wf.jax.sum(x, axis=3))(x)
    with pytest.raises(TypeError, match="where has elements of int32"):
        jax.jit(lambda x: wf.sum(x, where=x))(x)
    with pytest.raises(ValueError, match="roadcast"):
        jax.jit(lambda x: wf.sum(x, where=jnp.ones(3, bool)))(x)
    for option in ("weights", "initial", "threads"):
        with pytest.raises(TypeError, match=f"{option} is not there under jit"):
            jax.jit(lambda x: wf.sum(x, **{option: 1}))(x)
    for call in (wf.stats, lambda x: wf.segment_sum(x, every=2)):
        with pytest.raises(TypeError, match="jit"):
            jax.jit(call)(x)
    assert jax.jit(wf.jax.mean)(jnp.zeros(0)).tolist() != jax.jit(wf.jax.mean)(jnp.zeros(0)).tolist()  # NaN
    assert jax.jit(lambda x: wf.jax.sum(x, axis=0))(jnp.zeros((0, 3))).tolist() == [0, 0, 0]


def test_corrections_and_types():
    x = jnp.arange(7.0)
    same(jax.jit(lambda x: wf.jax.var(x, correction=0.5))(x), wf.var(x, correction=0.5))
    same(jax.jit(lambda x: wf.jax.sum(x, dtype="float16"))(x), wf.sum(x, dtype="float16"))
    same(jax.jit(lambda x: wf.jax.sum(x, accuracy="fast"))(x), wf.sum(x))
    same(jax.jit(lambda x: wf.jax.prod(x, dtype="float32"))(jnp.arange(1, 26)), np.float32(math.factorial(25)))
    with jax.enable_x64(True):
        big = jnp.full(3, 2**40)
        same(jax.jit(wf.jax.sum)(big), wf.sum(big))
        same(jax.jit(wf.jax.argmax)(big), wf.argmax(big))


def test_types_of_64_bits_need_jax_to_have_them():
    x = jnp.arange(1.0, 6.0)
    for call in (wf.sum, wf.jax.sum, jax.jit(wf.jax.sum, static_argnames="dtype"), wf.jax.mean, wf.std):
        with pytest.warns(UserWarning, match="dtype=float64 needs JAX with 64 bits, and the result is float32"):
            assert call(x, dtype="float64").dtype == "float32"
    with pytest.warns(UserWarning, match="int64.*int32"):
        same(wf.sum(jnp.arange(5), dtype="int64"), jnp.int32(10))
    with pytest.warns(UserWarning, match="float64"):
        assert jax.grad(lambda x: wf.jax.sum(x, dtype="float64"))(x).tolist() == [1] * 5
    with pytest.warns(UserWarning, match="float64"):
        assert jax.grad(lambda x: wf.jax.dot(x, x, dtype="float64"))(x).tolist() == (2 * x).tolist()
    big = jnp.full(3, 2**30, jnp.int32)
    total = wf.operator(state="s: i64", lift="x", merge="a.s + b.s")
    for call in (wf.stats, lambda x: wf.reduce(x, total), lambda x: wf.max("x * 4", x=x), lambda x: wf.segment_max("x * 4", every=3, x=x)):
        with pytest.raises(OverflowError, match="jax_enable_x64"):
            call(big)
    with jax.enable_x64(True):
        same(wf.jax.sum(jnp.asarray(x), dtype="float64"), np.float64(15))


def test_the_module_is_found_by_the_functions_alone():
    code = "import jax, warpfold as wf; print(jax.jit(wf.sum)(jax.numpy.full(10, 0.1)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "1.0", run.stderr
