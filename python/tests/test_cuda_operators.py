"""Operators of one's own over arrays on a GPU, against the same on the host."""

import pytest

import warpfold as wf
from gpu import outcome, tensor, torch

WELFORD = dict(
    state="n: f64, mean: f64, m2: f64",
    lift="1, f64(x), 0",
    merge="""a.n + b.n,
             a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)),
             a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * b.n / (a.n + b.n))""",
    finish="mean, m2 / n",
)
MATRICES = dict(state="p: f64, q: f64, r: f64, s: f64")
OPERATORS = {
    "welford": WELFORD,
    "log-sum-exp": dict(
        state="most: f64, s: f64",
        lift="f64(x), 1",
        merge="max(a.most, b.most), a.s * exp(a.most - max(a.most, b.most)) + b.s * exp(b.most - max(a.most, b.most))",
        finish="most + log(s)",
        identity="-inf, 0",
    ),
    "max-plus": dict(
        MATRICES,
        lift="f64(x), f64(y), f64(y), f64(x)",
        merge="""max(a.p + b.p, a.q + b.r), max(a.p + b.q, a.q + b.s),
                 max(a.r + b.p, a.s + b.r), max(a.r + b.q, a.s + b.s)""",
    ),
    "matrices": dict(
        MATRICES,
        lift="cos(f64(x)), sin(f64(x)), -sin(f64(x)), cos(f64(x))",
        merge="a.p * b.p + a.q * b.r, a.p * b.q + a.q * b.s, a.r * b.p + a.s * b.r, a.r * b.q + a.s * b.s",
    ),
    "first of the largest": dict(
        state="most: f64, at: u64, beside: f64",
        lift="f64(x), index, f64(y)",
        merge="max(a.most, b.most), select(b.most > a.most, b.at, a.at), select(b.most > a.most, b.beside, a.beside)",
    ),
    "quaternions": dict(
        state="w: f64, i: f64, j: f64, k: f64",
        lift="cos(f64(x)), sin(f64(x)) * cos(f64(y)), sin(f64(x)) * sin(f64(y)) * cos(f64(z)), sin(f64(x)) * sin(f64(y)) * sin(f64(z))",
        merge="""a.w * b.w - a.i * b.i - a.j * b.j - a.k * b.k, a.w * b.i + a.i * b.w + a.j * b.k - a.k * b.j,
                 a.w * b.j - a.i * b.k + a.j * b.w + a.k * b.i, a.w * b.k + a.i * b.j - a.j * b.i + a.k * b.w""",
        tolerance=1.0,
    ),
}
SIZES = (0, 1, 31, 33, 1023, 1025, 8193, 100_003, 3_000_001)


def names(texts):
    return [name for name in "yz" if f"({name})" in texts["lift"]]


@pytest.mark.parametrize("which", OPERATORS)
@pytest.mark.parametrize("name", ["float32", "float64", "int32", "int64"])
def test_operators(which, name):
    texts = OPERATORS[which]
    for n in SIZES:
        x, *more = (tensor(name, (n,), n + salt) for salt in range(1 + len(names(texts))))
        more = dict(zip(names(texts), more))
        operator = wf.operator(**texts)
        there = outcome(wf.reduce, x.cuda(), operator, **{key: array.cuda() for key, array in more.items()})
        here = outcome(wf.reduce, x, operator, **more)
        assert there == here, (which, name, n)


def test_what_is_no_plain_number():
    operator = wf.operator(**WELFORD)
    for special in (float("nan"), float("inf"), -float("inf"), -0.0, 1e300):
        x = tensor("float64", (5000,))
        x[4321] = special
        assert outcome(wf.reduce, x.cuda(), operator) == outcome(wf.reduce, x, operator), special


def test_arrays_that_begin_anywhere_and_have_axes():
    operator = wf.operator(**WELFORD)
    x = tensor("float32", (10_001,))
    for skip in (1, 2, 3):
        assert outcome(wf.reduce, x.cuda()[skip:], operator) == outcome(wf.reduce, x[skip:], operator)
    x = x[:10_000].reshape(100, 100)
    for keepdims in (False, True):
        there = outcome(wf.reduce, x.cuda(), operator, keepdims=keepdims)
        assert there == outcome(wf.reduce, x, operator, keepdims=keepdims)


@pytest.mark.parametrize("which", OPERATORS)
@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (70_000, 3), (1000, 100), (300, 1024), (20, 3, 1025), (3, 100_001)])
def test_rows(which, shape):
    texts = OPERATORS[which]
    x, *more = (tensor("float32", shape, salt) for salt in range(1 + len(names(texts))))
    more = dict(zip(names(texts), more))
    operator = wf.operator(**texts)
    there = outcome(wf.reduce, x.cuda(), operator, -1, **{key: array.cuda() for key, array in more.items()})
    assert there == outcome(wf.reduce, x, operator, -1, **more), (which, shape)


def test_what_has_no_result_is_told_as_on_the_host():
    operator = wf.operator(state="s: i64", lift="x", merge="a.s + b.s")
    x = torch.ones(100_000, dtype=torch.int64)
    x[70_000] = 2**63 - 1
    with pytest.raises(ValueError, match="merge, `a.s . b.s`.*i64 has no value") as there:
        wf.reduce(x.cuda(), operator)
    with pytest.raises(ValueError) as here:
        wf.reduce(x, operator)
    assert str(there.value) == str(here.value)
    with pytest.raises(ValueError, match="give an identity"):
        wf.reduce(x[:0].cuda(), operator)
    broken = wf.operator(state="m: f64", lift="f64(x)", merge="(a.m + b.m) / 2")
    with pytest.raises(ValueError, match="said to be associative, and is not"):
        wf.reduce(torch.arange(50).cuda(), broken)


def test_what_no_kernel_folds_is_refused():
    operator = wf.operator(state="s: f64", lift="x + y", merge="a.s + b.s")
    x = torch.ones(10, 10, dtype=torch.float64)
    there = x.cuda()
    with pytest.raises(ValueError, match="the parts are no rows"):
        wf.reduce(there, operator, 0, y=there)
    with pytest.raises(TypeError, match="segments and groups on the processor alone"):
        wf.reduce(there.reshape(-1), operator, every=10, y=there.reshape(-1))
    with pytest.raises(ValueError, match="move them to one"):
        wf.reduce(there, operator, y=x)
    with pytest.raises(ValueError, match="must be contiguous"):
        wf.reduce(there.T, operator, y=there)
    with pytest.raises(ValueError, match="give arrays of one shape"):
        wf.reduce(there, operator, y=there[1:])
