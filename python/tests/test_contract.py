"""The contract's table, every element type against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
import warpfold as wf
from oracle import ALL, COMPLEX, FLOATS, REAL, SIGNED, UNSIGNED, fractions, root, same, sample, to_float, variance

N = 257


def float_of(name):
    return name if name in FLOATS else {"complex64": "float32", "complex128": "float64"}.get(name, "float64")


def scalar(value, name):
    return np.dtype(name).type(value)


@pytest.mark.parametrize("name", REAL)
def test_sums_and_means_are_the_exact_ones_rounded_once(name):
    x = sample(name, N)
    values = fractions(x)
    total = sum(values)
    if name in FLOATS:
        same(wf.sum(x), scalar(to_float(total, name), name))
    else:
        same(wf.sum(x), scalar(int(total), "uint64" if name in UNSIGNED else "int64"))
    same(wf.mean(x), scalar(to_float(total / N, float_of(name)), float_of(name)))


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_sums_are_those_of_the_components(name):
    x, of = sample(name, N), float_of(name)
    re, im = sum(fractions(x.real)), sum(fractions(x.imag))
    same(wf.sum(x), scalar(complex(to_float(re, of), to_float(im, of)), name))
    same(wf.mean(x), scalar(complex(to_float(re / N, of), to_float(im / N, of)), name))
    squares = sum(v**2 for v in fractions(x.real) + fractions(x.imag))
    same(wf.l2(x), scalar(root(squares, of), of))
    same(wf.sumsq(x), scalar(to_float(squares, of), of))
    both = variance(fractions(x.real)) + variance(fractions(x.imag))
    same(wf.var(x), scalar(to_float(both, of), of))


@pytest.mark.parametrize("correction", [0, 1, 2.0])
@pytest.mark.parametrize("name", REAL)
def test_variances_and_norms_are_rounded_once(name, correction):
    x, of = sample(name, N), float_of(name)
    values = fractions(x)
    exact = variance(values, int(correction))
    same(wf.var(x, correction=correction), scalar(to_float(exact, of), of))
    same(wf.var(x, ddof=correction), scalar(to_float(exact, of), of))
    same(wf.std(x, correction=correction), scalar(root(exact, of), of))
    same(wf.l1(x), scalar(to_float(sum(map(abs, values)), of), of))
    same(wf.l2(x), scalar(root(sum(v * v for v in values), of), of))
    squares = sum(v * v for v in values)
    if name in FLOATS:
        same(wf.sumsq(x), scalar(to_float(squares, name), name))
    elif squares < (2**64 if name in UNSIGNED else 2**63):
        same(wf.sumsq(x), scalar(int(squares), "uint64" if name in UNSIGNED else "int64"))
    else:
        with pytest.raises(OverflowError):
            wf.sumsq(x)
        same(wf.sumsq(x, dtype="float64"), scalar(to_float(squares, "float64"), "float64"))
    linf = max(map(abs, values))
    same(wf.linf(x), scalar(to_float(linf, of), of) if name in FLOATS else scalar(int(linf), "int64" if name == "bool" else "uint64"))


@pytest.mark.parametrize("name", REAL)
def test_extremes_counts_and_truths(name):
    x = sample(name, N)
    values = fractions(x)
    same(wf.min(x), x.ravel()[values.index(min(values))])
    same(wf.max(x), x.ravel()[values.index(max(values))])
    assert [v.item() for v in wf.minmax(x)] == [x.min().item(), x.max().item()]
    same(wf.argmin(x), np.int64(values.index(min(values))))
    same(wf.argmax(x), np.int64(values.index(max(values))))
    same(wf.any(x), np.bool_(any(values)))
    same(wf.all(x), np.bool_(all(values)))
    same(wf.count_nonzero(x), np.int64(sum(v != 0 for v in values)))


@pytest.mark.parametrize("name", REAL)
def test_dots_and_products(name):
    x, y = sample(name, N, 1), sample(name, N, 2)
    if name in SIGNED + UNSIGNED:
        x, y = (x % 2**20).astype(name) if x.itemsize > 2 else x, (y % 2**20).astype(name) if x.itemsize > 2 else y
    exact = sum(a * b for a, b in zip(fractions(x), fractions(y)))
    whole = "uint64" if name in UNSIGNED else "int64"
    same(wf.dot(x, y), scalar(to_float(exact, name), name) if name in FLOATS else scalar(int(exact), whole))
    small = sample(name, 3, 3)
    if name in SIGNED + UNSIGNED:
        small = (small % 50 + 1).astype(name)
    product = Fraction(1)
    for v in fractions(small):
        product *= v
    result = wf.prod(small)
    if name in FLOATS:
        nearest = np.dtype(name).type(to_float(product, name))
        assert np.isclose(float(result), float(nearest), rtol=2.0 ** -(np.finfo(name).nmant - 1)), (result, nearest)
        assert result.dtype == name
    else:
        same(result, scalar(int(product), whole))


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("to", ["float16", "float32", "float64"])
def test_dtype_rounds_the_exact_value_once(name, to):
    x = sample(name, N, 4)
    values = fractions(x)
    with np.errstate(over="ignore"):
        same(wf.sum(x, dtype=to), scalar(to_float(sum(values), to), to))
        same(wf.mean(x, dtype=np.dtype(to)), scalar(to_float(sum(values) / N, to), to))
        same(wf.var(x, dtype=getattr(np, to)), scalar(to_float(variance(values), to), to))


def test_a_double_rounding_would_show():
    # 1 + 2^-11 + 2^-30 is above the tie of float16; by way of float32 it would become the tie, and even.
    x = np.array([1.0, 2.0**-11, 2.0**-30])
    same(wf.sum(x, dtype="float16"), np.float16(1 + 2.0**-10))


@pytest.mark.parametrize("name", ALL)
def test_nothing(name):
    x = np.zeros(0, name)
    assert wf.sum(x) == 0 and wf.prod(x) == 1 and wf.count_nonzero(x) == 0 and wf.dot(x, x) == 0
    assert wf.l1(x) == wf.l2(x) == wf.sumsq(x) == wf.linf(x) == 0
    assert not wf.any(x) and wf.all(x)
    for f in (wf.mean, wf.var, wf.std):
        result = f(x)
        assert np.isnan(result), f
        expected = name if f is wf.mean and name in COMPLEX else float_of(name)
        assert result.dtype == expected
    ordered = (wf.min, wf.max, wf.minmax, wf.argmin, wf.argmax)
    for f in ordered:
        with pytest.raises(TypeError if name in COMPLEX else ValueError):
            f(x)
    with pytest.raises(TypeError) if name in COMPLEX else pytest.raises(ValueError):
        wf.min(np.zeros((3, 0), name), axis=1)
    assert wf.mean(np.zeros((3, 0), name), axis=1).shape == (3,)
    assert wf.sum(np.zeros((3, 0), name), axis=0).shape == (0,)


def test_too_few():
    assert np.isnan(wf.var(np.array([1.0]), correction=1))
    assert np.isnan(wf.std(np.array([1.0, 2.0]), correction=3))
    assert np.isnan(wf.var(np.ones((3, 2)), axis=1, correction=2)).all()


@pytest.mark.parametrize("name", FLOATS)
def test_nan_and_infinity(name):
    x = np.array([1, np.nan, 3], name)
    for f in (wf.sum, wf.mean, wf.var, wf.std, wf.l1, wf.l2, wf.sumsq, wf.linf, wf.prod, wf.min, wf.max):
        # Every NaN is the quiet one with no payload.
        same(f(np.array([1, -np.float64(np.nan), 3], name)), np.dtype(name).type(np.nan))
    assert wf.argmin(x) == wf.argmax(x) == 1
    same(wf.sum(x, nan="ignore"), scalar(4, name))
    same(wf.mean(x, nan="ignore"), scalar(2, name))
    same(wf.var(x, nan="ignore", correction=1), scalar(2, name))
    same(wf.min(x, nan="ignore"), scalar(1, name))
    assert wf.argmax(x, nan="ignore") == 2
    inf = np.array([np.inf, 1], name)
    assert wf.sum(inf) == np.inf and np.isnan(wf.sum(np.array([np.inf, -np.inf], name)))
    same(wf.sum(np.array([-0.0, -0.0], name)), scalar(0, name))
    same(wf.min(np.array([0.0, -0.0], name)), scalar(-0.0, name))


def test_integers_are_checked():
    x = np.full(3, 2**62, np.int64)
    with pytest.raises(OverflowError, match="13835058055282163712.*int64.*dtype='float64'.*overflow='wrap'"):
        wf.sum(x)
    same(wf.sum(x, overflow="wrap"), np.int64(3 * 2**62 - 2**64))
    same(wf.sum(x, dtype=float), np.float64(3 * 2.0**62))
    with pytest.raises(OverflowError):
        wf.sum(np.full((2, 3), 2**62), axis=1)
    same(wf.sum(np.array([2**62, 2**62, -(2**62)])), np.int64(2**62))
    same(wf.sum(np.full(10, 100, np.int8), dtype=np.int16), np.int16(1000))
    with pytest.raises(OverflowError, match="1000, which int8 cannot hold"):
        wf.sum(np.full(10, 100, np.int8), dtype="i1")
    same(wf.sum(np.full(10, 100, np.int8), dtype="i1", overflow="wrap"), np.int8(1000 - 1024))


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "uint64", "int64"])
def test_products_of_integers_as_floats(name):
    x = np.arange(1, 31, dtype=name).reshape(2, 15)
    for to in ("float64", "float32", np.float16):
        floats = {"f": x.astype(np.float64)}
        for chosen in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"where": x % 7 != 0}, {"axis": -1, "where": x % 2 == 0}):
            found = wf.prod(x, dtype=to, **chosen)
            same(found, wf.prod("f", dtype=to, **floats, **chosen))
            assert to != "float64" or np.allclose(found, np.prod(x.astype(float), **chosen), rtol=1e-15, atol=0)
        same(wf.segment_prod(x.ravel(), every=15, dtype=to), wf.segment_prod("f", every=15, dtype=to, f=floats["f"].ravel()))
        keys = np.arange(30) % 3
        groups = wf.group_by(keys, x.ravel(), where=x.ravel() > 2).prod(dtype=to)
        same(groups.values, wf.group_by(keys, "f", f=floats["f"].ravel(), where=x.ravel() > 2).prod(dtype=to).values)
    same(wf.prod(x[:0], dtype=float), np.float64(1))
    # The element that comes first is an integer, and so are all others.
    same(wf.prod(x[0, :5], initial=x.dtype.type(2), dtype=float), np.float64(240))
    with pytest.raises(OverflowError, match="dtype='float64' multiplies floats"):
        wf.prod(x)
    # What goes another way says so where it would be infinite.
    for chosen in ({}, {"axis": 1}, {"where": x > 0}):
        with pytest.raises(OverflowError, match="beyond 64 bits"):
            wf.prod(x, dtype=float, initial=x.dtype.type(2), **chosen)
    with pytest.raises(OverflowError, match=r"beyond 64 bits.*f64\(x\)"):
        wf.prod("x", x=x, dtype=float)
    partial = wf.Exact(name, "prod")
    partial.add(x.ravel())
    with pytest.raises(OverflowError, match="beyond 64 bits"):
        partial.round(dtype=float)


def test_products_of_columns_as_floats():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    for column in (pa.array([2, None, 3]), pa.chunked_array([[2, 3], [None, 1]])):
        same(float(wf.prod(column, dtype="float64")), 6.0)
    with pytest.raises(OverflowError, match="beyond 64 bits"):
        wf.prod(pa.array([2] * 70), dtype="float64")


def test_accuracy():
    # What trees in the element's type lose is there in the default.
    x = np.concatenate([np.full(4096, 1e8, np.float32), np.full(4096, 1.0, np.float32), np.full(4096, -1e8, np.float32)])
    same(wf.sum(x), np.float32(4096))
    assert np.isclose(wf.sum(x, accuracy="fast"), 4096, atol=2e5)
    same(wf.sum(x.astype(np.float64), accuracy="fast"), np.float64(4096))


def test_stats():
    x = sample("float64", N)
    values = fractions(x)
    s = wf.stats(x, correction=1)
    same(s.sum, np.float64(to_float(sum(values), "float64")))
    same(s.var, np.float64(to_float(variance(values, 1), "float64")))
    same(s.l2, np.float64(root(sum(v * v for v in values), "float64")))
    assert (s.count, s.nan_count, s.argmin) == (N, 0, x.argmin()) and s.max == x.max()
    rows = wf.stats(x[:256].reshape(4, 64), axis=1)
    assert rows.mean.shape == (4,) and (rows.argmax == x[:256].reshape(4, 64).argmax(1)).all()
    assert wf.stats(np.zeros(0)).min is None and wf.stats(np.zeros(2, complex)).max is None
    assert wf.stats(np.array([True, False])).min.dtype == bool


@pytest.mark.parametrize("correction", [0.5, -1, -0.25, 1e-300, 5e-324, 2.75, 1e300])
@pytest.mark.parametrize("name", REAL)
def test_corrections_that_are_no_whole_numbers(name, correction):
    x, of = sample(name, (3, 40)), name if name in FLOATS else "float64"
    exact = Fraction(correction)

    def expected(row):
        values = fractions(row)
        return to_float(variance(values, exact), of) if exact < len(values) else np.nan

    same(wf.var(x[0], correction=correction), scalar(expected(x[0]), of))
    same(wf.var(x, 1, correction=correction), np.array([expected(row) for row in x], of))
    same(wf.segment_var(x.ravel(), every=40, correction=correction), np.array([expected(row) for row in x], of))
    spread = wf.Exact(name, "std")
    spread.add(x[1])
    if exact < 40:
        value = root(variance(fractions(x[1]), exact), of)
        same(wf.std(x[1], correction=correction), scalar(value, of))
        assert spread.round(correction=correction) == value
    with pytest.raises(TypeError, match="stats"):
        wf.stats(x, correction=correction)
