"""Reductions of expressions, beside rational arithmetic and NumPy on integers."""

from fractions import Fraction

import numpy as np
import pytest
import warpfold as wf
from oracle import fractions, same, sample, to_float


def grid(shape, seed=0):
    """Floats whose sums, differences and absolute values of two are exact, so that only sums and products of expressions round."""
    return np.random.default_rng(seed).integers(-(2**40), 2**40, shape) / 2.0**20


def test_the_first_example():
    x, y = grid(1000, 1), grid(1000, 2)
    same(wf.sum("abs(x - y)", x=x, y=y), np.float64(to_float(sum(abs(a - b) for a, b in zip(fractions(x), fractions(y))), "float64")))
    w = np.random.default_rng(3).random(1000)
    kept = [(abs(a - b), c) for a, b, c in zip(fractions(x), fractions(y), fractions(w)) if a > 0]
    same(
        wf.sum("abs(x - y)", x=x, y=y, where="x > 0", weights="w", w=w),
        np.float64(to_float(sum(d * c for d, c in kept), "float64")),
    )
    same(
        wf.mean("abs(x - y)", x=x, y=y, where=x > 0, weights=w),
        np.float64(to_float(sum(d * c for d, c in kept) / sum(c for _, c in kept), "float64")),
    )


@pytest.mark.parametrize("n", [0, 1, 1000, 8193, 600_001])
def test_products_are_not_rounded(n):
    x, y = (np.random.default_rng(seed).standard_normal(n) for seed in (4, 5))
    exact = sum((Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist())), Fraction(0)) if n < 10_000 else None
    expected = wf.dot(x, y) if exact is None else np.float64(to_float(exact, "float64"))
    for threads in (1, 2, None):
        same(wf.sum("x * y", x=x, y=y, threads=threads), expected)
        same(wf.sum("x * y", x=x[::-1], y=y[::-1], threads=threads), expected)
    if exact is not None and n:
        rounded = sum((Fraction(v) for v in (x * y).tolist()), Fraction(0))
        same(wf.sum("rounded(x * y)", x=x, y=y), np.float64(to_float(rounded, "float64")))


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2), (1, 2), -1, ()])
def test_axes_and_broadcasting_as_numpy(axis):
    a, b, c = (sample("int32", shape, seed) for seed, shape in enumerate([(4, 1, 9), (5, 1), (9,)]))
    a, b, c = a % 1000, b % 1000, c % 1000
    together = a.astype(np.int64) * b - c
    for keepdims in (False, True):
        same(wf.sum("a * b - c", axis=axis, keepdims=keepdims, a=a, b=b, c=c), np.sum(together, axis=axis, keepdims=keepdims))
        same(wf.max("a * b - c", axis=axis, keepdims=keepdims, a=a, b=b, c=c), np.max(together, axis=axis, keepdims=keepdims))
    even = (together % 2 == 0) | (together > 0)
    same(wf.sum("a * b - c", axis=axis, where="(a * b - c) % 2 == 0 or a * b > c", a=a, b=b, c=c), np.sum(together, axis=axis, where=even))
    same(wf.count_nonzero("a * b > c", axis=axis, a=a, b=b, c=c), np.sum(together > 0, axis=axis))
    same(wf.any("a * b == c", axis=axis, a=a, b=b, c=c), np.any(together == 0, axis=axis))
    if axis is None or isinstance(axis, int):
        same(wf.argmin("a * b - c", axis=axis, a=a, b=b, c=c), np.argmin(together, axis=axis))
        first = np.where(even, together, np.iinfo(np.int64).max)
        if np.all(np.any(even, axis=axis)):
            same(wf.argmin("a * b - c", axis=axis, where=even, a=a, b=b, c=c), np.argmin(first, axis=axis))


def test_views_and_bools():
    x = grid((60, 70), 6)
    flags = np.random.default_rng(7).random((60, 70)) < 0.5
    same(wf.sum("select(flags, x, -x)", x=x.T, flags=flags.T), np.float64(to_float(sum(fractions(np.where(flags, x, -x))), "float64")))
    assert wf.all("flags or not flags", flags=flags)
    same(wf.sum("x > 0", x=x), np.int64(np.sum(x > 0)))
    assert wf.sum("b", b=np.array([0, 2, 3], np.uint8).view(bool)) == 2


def test_names():
    x = np.array([3.0, 4.0])
    assert wf.sum("x", x=x) == 7 and wf.l2("x", x=x) == 5
    assert wf.sum('"unit price" * 2', **{"unit price": x}) == 14
    with pytest.raises(TypeError, match="`y`.*give y=array"):
        wf.sum("x + y", x=x)
    with pytest.raises(TypeError, match="z is neither"):
        wf.sum("x", x=x, z=x)
    with pytest.raises(ValueError, match="`axis`, which is an option"):
        wf.sum("axis + 1", axis=x)
    with pytest.raises(ValueError, match="`weights`, which is an option"):
        wf.sum("weights + x", x=x)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        wf.sum(x, ax=0)
    with pytest.raises(ValueError, match="names no array"):
        wf.sum("1 + 1")
    with pytest.raises(ValueError, match="broadcast"):
        wf.sum("x + y", x=x, y=np.ones(3))
    with pytest.raises(ValueError, match="where has the shape"):
        wf.sum("x", x=x, where=np.ones((3, 2), bool))
    with pytest.raises(ValueError, match="weights has the shape"):
        wf.sum("x", x=x, weights=np.ones((3, 2)))
    huge = np.broadcast_to(1.0, (2**40, 1))
    with pytest.raises(ValueError, match="nobody can count"):
        wf.sum("x + y", axis=1, x=huge, y=np.broadcast_to(1.0, (1, 2**40)))
    with pytest.raises(MemoryError):
        wf.sum("x + y", axis=1, x=np.broadcast_to(1.0, (2**52, 1)), y=np.ones(2))
    with pytest.raises(TypeError, match="initial"):
        wf.sum("x", x=x, initial=1.0)
    with pytest.raises(TypeError, match="weights"):
        wf.max("x", x=x, weights="x")
    with pytest.raises(TypeError, match="an array; give an array"):
        wf.sum(x, weights="x")


@pytest.mark.parametrize(
    "text,where,message",
    [("x +", None, r"map, column \d"), ("sinh(x)", None, "map, column 1: `sinh` is no function"), ("x", "x >", r"where, column \d"), ("x", "x + 1", "where.*condition")],
)
def test_errors_name_the_column(text, where, message):
    with pytest.raises(ValueError, match=message):
        wf.sum(text, x=np.ones(2), where=where)


def test_errors_of_elements():
    x = np.array([[1, 2], [0, 4]])
    with pytest.raises(ValueError, match="//.*index 0|index 0"):
        wf.sum("8 // x", x=x, axis=1)
    assert wf.sum("8 // x", x=x, where="x != 0") == 8 + 4 + 2
    assert np.isnan(wf.mean("x", x=x, where="x > 9"))
    same(wf.mean("x", x=x, axis=1, where="x > 1"), np.array([2.0, 4.0]))
    same(wf.var("x", x=x, axis=1, correction=1), np.array([0.5, 8.0]))
    out = np.empty(2, np.int64)
    assert wf.sum("x * x", x=x, axis=0, out=out) is out and out.tolist() == [1, 20]


def test_home_and_types():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.arange(4.0)
    assert isinstance(wf.sum("x * x", x=x), torch.Tensor) and wf.sum("x * x", x=x) == 14
    assert wf.sum("h", h=np.ones(3, np.float16)).dtype == np.float32


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float16", "float32", "float64"])
def test_no_results_have_the_type_of_some(dtype):
    x, some = np.zeros((3, 0), dtype), np.ones((3, 2), dtype)
    for op in ("sum", "max", "argmax", "any", "count_nonzero", "minmax", "prod"):
        if dtype == "bool" and op == "prod":
            continue
        nothing, like = (getattr(wf, op)("x", x=v, axis=0) for v in (x, some))
        for a, b in zip(nothing, like) if op == "minmax" else [(nothing, like)]:
            assert a.shape == (0,) and a.dtype == b.dtype
            if op != "minmax":
                kept = getattr(wf, op)(x, axis=0, where=True if op == "max" else x != 0)
                assert kept.shape == (0,) and kept.dtype == getattr(wf, op)(some, axis=0).dtype
    if dtype != "bool":
        assert wf.mean(x, axis=0, weights=x).dtype == wf.mean(some, axis=0, weights=some).dtype
    with pytest.raises(ValueError, match="at least one element$"):
        wf.max("x", x=x[:, :0])


def test_columns():
    pl = pytest.importorskip("polars", reason="polars is not installed")
    s = pl.Series([1.0, 2.0, -3.0])
    assert wf.sum("a * b", a=s, b=np.arange(3)[::-1].astype(float)) == 4.0
    with pytest.raises(TypeError, match="to_numpy"):
        wf.sum(s, where=s > 0)
    assert wf.sum(s, where=(s > 0).to_numpy()) == 3.0


def test_expressions_by_operators():
    x, y, k = wf.arg("x"), wf.arg("y"), wf.arg("unit price")
    a, b = grid(100, 7), grid(100, 8)
    for built, text in (
        (abs(x - y), "abs((x - y))"),
        (2 * x + 0.5, "((2 * x) + 0.5)"),
        (-x / -1e-300, "((-x) / (-1e-300))"),
        ((x > y) & ~(y == 0), "((x > y) & (~(y == 0)))"),
        ((x - 1).sqrt().max(y), "max(sqrt((x - 1)), y)"),
        ((x > 0).select(x, y), "select((x > 0), x, y)"),
        (k**2, '("unit price" ** 2)'),
        (x * np.float32(0.1), "(x * 0.1)"),
        (round(x) + True, "(round(x) + true)"),
    ):
        assert isinstance(built, str) and str(built) == text
    same(wf.sum(abs(x - y), x=a, y=b, where=x > y), wf.sum("abs(x - y)", x=a, y=b, where="x > y"))
    same(wf.mean((x * 2.5).rounded(), x=a, weights=y, y=abs(b)), wf.mean("rounded(x * 2.5)", x=a, weights="y", y=abs(b)))
    same(wf.sum(k, **{"unit price": a}), wf.sum(a))
    with pytest.raises(TypeError, match="no truth"):
        0 < x < 1
    with pytest.raises(TypeError):
        x + "y"
    with pytest.raises(ValueError, match="no function"):
        wf.sum(x.sinhh(), x=a)
