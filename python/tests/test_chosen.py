"""Masks, initial elements and weights, beside rational arithmetic and NumPy on integers."""

from fractions import Fraction

import numpy as np
import pytest
import warpfold as wf
from oracle import ALL, COMPLEX, FLOATS, REAL, SIGNED, UNSIGNED, fractions, root, same, sample, to_float, variance

SHAPES = [((7,), None), ((3000,), None), ((40, 300), None), ((40, 300), 0), ((40, 300), 1), ((5, 6, 7), (0, 2)), ((2, 9001), 1), ((2, 3, 4), ())]


def layouts(x):
    """The same elements as they may lie."""
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x, 2, axis=-1)[..., ::2]
    yield np.ascontiguousarray(x[::-1])[::-1]


def each(x, axis, mask):
    """The kept elements of each output, in C order, and the outputs' shape."""
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = sorted(a % x.ndim for a in axes)
    kept = [a for a in range(x.ndim) if a not in axes]
    order = kept + axes
    shape = tuple(x.shape[a] for a in kept)
    mask = np.broadcast_to(mask, x.shape)
    rows, masks = (np.transpose(v, order).reshape(int(np.prod(shape)), -1) for v in (x, mask))
    return [row[m] for row, m in zip(rows, masks)], shape


def moment(values, dtype, op, correction=0):
    if op == "sum":
        return to_float(sum(values, Fraction(0)), dtype)
    if len(values) <= correction:
        return float("nan")
    if op == "mean":
        return to_float(sum(values, Fraction(0)) / len(values), dtype)
    value = variance(values, correction)
    return root(value, dtype) if op == "std" else to_float(value, dtype)


@pytest.mark.parametrize("shape,axis", SHAPES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", ["sum", "mean", "var", "std"])
def test_masked_moments(dtype, op, shape, axis):
    x = sample(dtype, shape, 1)
    if dtype == "float64":
        x = (x * 2.0**-100).astype(dtype)
    mask = np.random.default_rng(2).random(shape) < 0.6
    if x.ndim > 1:
        mask[:, 0] = False
    rows, outer = each(x, axis, mask)
    expected = np.array([moment(fractions(row), dtype, op) for row in rows], dtype).reshape(outer)
    for laid in layouts(x):
        same(getattr(wf, op)(laid, axis=axis, where=mask), expected)
    same(getattr(wf, op)(x, axis=axis, where=np.asfortranarray(mask), threads=1), expected)


@pytest.mark.parametrize("shape,axis", SHAPES)
@pytest.mark.parametrize("dtype", REAL)
def test_masks_as_numpy(dtype, shape, axis):
    x = sample(dtype, shape, 3)
    mask = np.random.default_rng(4).random(shape) < 0.5
    mask[(slice(None),) * (x.ndim - 1) + (0,)] = True
    if x.ndim > 1:
        mask[0] = True
    for laid in layouts(x):
        for op in ("any", "all"):
            same(getattr(wf, op)(laid, axis=axis, where=mask), getattr(np, op)(x, axis=axis, where=mask))
        same(wf.count_nonzero(laid, axis=axis, where=mask), np.count_nonzero(np.logical_and(x, mask), axis=axis) if axis != () else (np.logical_and(x, mask)).astype(int))
        if axis != ():
            lowest, greatest = (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype in SIGNED + UNSIGNED else (False, True) if dtype == "bool" else (-np.inf, np.inf)
            least = np.min(x, axis=axis, where=mask, initial=greatest)
            most = np.max(x, axis=axis, where=mask, initial=lowest)
            same(wf.min(laid, axis=axis, where=mask), least)
            same(wf.max(laid, axis=axis, where=mask), most)
            both = wf.minmax(laid, axis=axis, where=mask)
            same(both[0], least)
            same(both[1], most)
        if isinstance(axis, int) or axis is None:
            filled = np.where(mask, x, lowest if dtype in FLOATS else x)
            if dtype in FLOATS:
                same(wf.argmax(laid, axis=axis, where=mask), np.argmax(filled, axis=axis))


@pytest.mark.parametrize("shape,axis", SHAPES)
@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED])
def test_masked_sums_of_integers(dtype, shape, axis):
    x = sample(dtype, shape, 5)
    mask = np.random.default_rng(6).random(shape) < 0.5
    same(wf.sum(x, axis=axis, where=mask), np.sum(x, axis=axis, where=mask))
    small = (x % 3 if dtype != "bool" else x).astype(dtype)
    few = np.random.default_rng(7).random(shape) < 20 / x.size
    same(wf.prod(small, axis=axis, where=few), np.prod(small, axis=axis, where=few))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_masked_sums_of_complex_numbers(dtype):
    x = sample(dtype, (30, 40), 8)
    mask = np.random.default_rng(9).random(x.shape) < 0.5
    part = {"complex64": "float32", "complex128": "float64"}[dtype]
    rows, _ = each(x, 0, mask)
    expected = [complex(to_float(sum(fractions(row.real)), part), to_float(sum(fractions(row.imag)), part)) for row in rows]
    same(wf.sum(x, axis=0, where=mask), np.array(expected, dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape,axis", [((3000,), None), ((40, 300), 1), ((40, 300), 0)])
def test_masked_products_of_floats(dtype, shape, axis):
    rng = np.random.default_rng(14)
    x = (rng.choice([-1, 1], shape) * (0.5 + rng.random(shape))).astype(dtype)
    mask = rng.random(shape) < 0.1
    rows, outer = each(x, axis, mask)
    result = wf.prod(x, axis=axis, where=mask)
    assert result.shape == outer and result.dtype == dtype
    for one, row in zip(np.ravel(result), rows):
        product = Fraction(1)
        for v in fractions(row):
            product *= v
        nearest = np.asarray(to_float(product, dtype), dtype)
        assert one in (nearest, np.nextafter(nearest, np.asarray(np.inf, dtype)), np.nextafter(nearest, np.asarray(-np.inf, dtype)))
    for threads in (1, 2):
        same(wf.prod(x, axis=axis, where=np.asfortranarray(mask), threads=threads), result)


def test_norms_and_large_arrays_with_masks():
    x = np.random.default_rng(0).standard_normal(700_001).astype(np.float32)
    mask = np.random.default_rng(1).random(x.size) < 0.5
    kept = x[mask]
    for op in ("sum", "mean", "var", "l1", "l2", "sumsq", "linf", "min", "max", "count_nonzero"):
        expected = getattr(wf, op)(kept)
        for threads in (1, 3, None):
            same(getattr(wf, op)(x, where=mask, threads=threads), expected)
    same(wf.sum(kept), np.float32(to_float(sum(fractions(kept)), "float32")))
    for op in ("argmin", "argmax"):
        assert getattr(wf, op)(x, where=mask) == np.flatnonzero(mask)[getattr(np, op)(kept)]


@pytest.mark.parametrize("shape", [(3, 4), (4,), (1, 4), (3, 1), (1,), ()])
def test_masks_broadcast_as_numpys(shape):
    x = sample("int32", (3, 4), 1)
    mask = np.random.default_rng(10).random(shape) < 0.5
    for axis in (None, 0, 1):
        same(wf.sum(x, axis=axis, where=mask), np.sum(x, axis=axis, where=mask))
        same(wf.sum(x, axis=axis, where=mask, keepdims=True), np.sum(x, axis=axis, where=mask, keepdims=True))


def test_masks_that_numpy_refuses():
    x = np.ones((3, 4))
    for mask, error in [(np.ones((2, 3, 4), bool), ValueError), (np.ones(3, bool), ValueError), (np.ones(4, int), TypeError), (np.ones(4), TypeError)]:
        with pytest.raises(error):
            np.sum(x, where=mask)
        with pytest.raises(error, match="where"):
            wf.sum(x, where=mask)
    same(wf.sum(x, where=True), np.float64(12))
    same(wf.sum(x, where=False), np.float64(0))
    same(wf.sum(np.float64(3), where=False), np.float64(0))


def test_what_a_mask_leaves_out_is_not_seen():
    x = np.array([[1.0, np.nan, np.inf], [np.nan, np.nan, np.nan]])
    mask = np.array([[True, False, False], [False, False, False]])
    same(wf.sum(x, where=mask), np.float64(1))
    same(wf.mean(x, axis=1, where=mask), np.array([1.0, np.nan]))
    same(wf.max(x, axis=1, where=mask), np.array([1.0, np.nan]))
    assert np.isnan(wf.mean(x, where=False))
    with pytest.raises(ValueError):
        wf.max(x, where=False)
    with pytest.raises(ValueError, match=r"output \[1\]|1"):
        wf.argmax(x, axis=1, where=mask)
    same(wf.mean(np.array([1.0, np.nan, 3.0]), where=np.array([True, True, False]), nan="ignore"), np.float64(1))
    odd = np.array([0, 2, 3], np.uint8).view(bool)  # Bytes that are no bools of Rust.
    same(wf.sum(np.array([1.0, 2.0, 4.0]), where=odd), np.float64(6))
    out = np.empty(2)
    assert wf.sum(x, axis=1, where=mask, out=out) is out and out.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED, "float64"])
@pytest.mark.parametrize("where", [False, True])
def test_initial_as_numpy(dtype, axis, where):
    x = (np.arange(6).reshape(2, 3) % 5 + 1).astype(dtype)
    more = {"where": np.array([True, False, True])} if where else {}
    ufuncs = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "any": np.logical_or, "all": np.logical_and}
    for op in ufuncs:
        if dtype == "bool" and op in ("sum", "prod"):
            continue
        for number in (0, 1, 3):
            given = np.dtype(dtype).type(number)
            kind = {} if op not in ("sum", "prod") or dtype == "float64" else {"dtype": "uint64" if dtype in UNSIGNED else "int64"}
            first = bool(given) if op in ("any", "all") else given
            expected = ufuncs[op].reduce(x, axis=axis, initial=first, **kind, **more)
            same(getattr(wf, op)(x, axis=axis, initial=given, **more), expected)
            if number < 2 or dtype != "bool":
                same(getattr(wf, op)(x, axis=axis, initial=bool(number) if dtype == "bool" else number, **more), expected)


def test_initial_is_one_more_element():
    x = np.array([1e16, 1.0])
    same(wf.sum(x, initial=-1e16), np.float64(1.0))
    same(wf.sum(np.zeros((2, 0)), axis=1, initial=5), np.array([5.0, 5.0]))
    same(wf.max(np.zeros((2, 0), np.int32), axis=1, initial=5), np.array([5, 5], np.int32))
    same(wf.min(np.zeros(0, np.float32), initial=np.inf), np.float32(np.inf))
    same(wf.sum(np.array([1 + 1j]), initial=1 - 2j), np.complex128(2 - 1j))
    assert np.isnan(wf.sum(x, initial=np.nan))
    same(wf.sum(np.zeros(2, np.float32), initial=np.float32(0.1)), np.float32(0.1))
    same(wf.sum(np.zeros(1, np.int64), initial=2**62 + 1), np.int64(2**62 + 1))
    for array, given in [(np.zeros(1, np.float32), 0.1), (np.zeros(1, np.int8), 128), (np.zeros(1, np.int8), 1.5), (np.zeros(1), 2**53 + 1), (np.zeros(1), np.int64(2**53 + 1)), (np.zeros(1, np.uint8), -1)]:
        with pytest.raises(ValueError, match="nothing is rounded"):
            wf.sum(array, initial=given)
    with pytest.raises(TypeError):
        wf.sum(x, initial="one")
    with pytest.raises(TypeError):
        wf.mean(x, initial=1.0)
    with pytest.raises(OverflowError):
        wf.sum(np.array([2**62]), initial=2**62)


@pytest.mark.parametrize("shape,axis", SHAPES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("masked", [False, True])
def test_weights(dtype, shape, axis, masked):
    rng = np.random.default_rng(11)
    x = rng.standard_normal(shape).astype(dtype)
    w = rng.random(shape).astype(dtype)
    mask = rng.random(shape) < 0.6 if masked else np.ones(shape, bool)
    more = {"where": mask} if masked else {}
    (rows, outer), (weights, _) = each(x, axis, mask), each(w, axis, mask)
    sums = [sum((a * b for a, b in zip(fractions(row), fractions(of))), Fraction(0)) for row, of in zip(rows, weights)]
    totals = [sum(fractions(of), Fraction(0)) for of in weights]
    means = [to_float(s / t, dtype) if t else np.nan for s, t in zip(sums, totals)]
    for laid in layouts(x):
        same(wf.sum(laid, axis=axis, weights=w, **more), np.array([to_float(s, dtype) for s in sums], dtype).reshape(outer))
        same(wf.mean(laid, axis=axis, weights=w, **more), np.array(means, dtype).reshape(outer))


def computed(dtype):
    """The type that weighted elements of a type are computed in."""
    return {"bool": "bool", "float16": "float32"}.get(dtype) or (dtype if dtype in FLOATS else "int64" if dtype in SIGNED else "uint64")


@pytest.mark.parametrize("w_type", REAL)
@pytest.mark.parametrize("x_type", REAL)
def test_weights_of_other_types(x_type, w_type):
    x = sample(x_type, (50,), 1)
    w = sample(w_type, (50,), 2) if w_type == "bool" else np.random.default_rng(12).integers(0, 9, 50).astype(w_type)
    to = computed(w_type) if x_type == "bool" else computed(x_type)
    # NumPy calls it safe to make floats of integers of 64 bits.
    is_exact = np.can_cast(w_type, to, "safe") and not (w_type in ("int64", "uint64") and to in FLOATS)
    if not is_exact and computed(w_type) != to:
        with pytest.raises(TypeError, match="are not all exact"):
            wf.mean(x, weights=w)
        return
    a, b = fractions(x), fractions(w)
    same(wf.mean(x, weights=w, dtype="float64"), np.float64(to_float(sum(p * q for p, q in zip(a, b)) / sum(b), "float64")))
    if to not in FLOATS:
        kind = np.uint64 if x_type in UNSIGNED or x_type == "bool" and w_type in UNSIGNED else np.int64
        same(wf.sum(x, weights=w), kind(sum(int(p) * int(q) for p, q in zip(x.tolist(), w.tolist()))))


def test_weights_that_are_refused():
    x = np.ones(3)
    with pytest.raises(ValueError, match="index 1"):
        wf.mean(x, weights=np.array([1.0, -1.0, 1.0]))
    with pytest.raises(ValueError, match="index 2"):
        wf.mean(x, weights=np.array([1.0, 1.0, np.inf]))
    assert wf.mean(x, weights=np.array([1.0, -1.0, 1.0]), where=np.array([True, False, True])) == 1
    assert np.isnan(wf.mean(x, weights=np.zeros(3)))
    with pytest.raises(ValueError, match="are finite"):
        wf.var(x, weights=-x)
    with pytest.raises(TypeError, match="are not all exact"):
        wf.sum(x.astype(np.float32), weights=x)
    with pytest.raises(TypeError):
        wf.sum(x + 1j, weights=x)
    with pytest.raises(ValueError, match="broadcast"):
        wf.sum(x, weights=np.ones(4))
    with pytest.raises(OverflowError):
        wf.sum(np.full(3, 2**62), weights=np.full(3, 2))
    same(wf.sum(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=0, weights=np.array([[1.0], [10.0]])), np.array([31.0, 42.0]))


def test_masks_of_arrow():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    assert wf.sum(pa.array([1.0, 2.0]), where=np.array([True, False])) == 1.0


def test_every_type_takes_a_mask():
    for dtype in ALL:
        x = sample(dtype, (4, 5), 1)
        same(wf.count_nonzero(x, where=np.ones(5, bool)), wf.count_nonzero(x))
        same(wf.count_nonzero(x, axis=0, where=False), np.zeros(5, np.int64))


def random_view(rng, dtype):
    """An array of up to four axes, some of which are reversed, skipped through, swapped or repeated."""
    shape = tuple(rng.integers(0 if rng.random() < 0.1 else 1, 7, rng.integers(0, 5)))
    x = rng.integers(0, 2 if dtype == "bool" else 50, tuple(2 * n for n in shape)).astype(dtype)
    x = x[tuple([slice(None, None, 2), slice(None, None, -2), slice(n), slice(n, None)][rng.integers(4)] for n in shape)]
    x = x.transpose(rng.permutation(x.ndim))
    return np.broadcast_to(x, (rng.integers(1, 4), *x.shape)) if rng.random() < 0.2 else x


@pytest.mark.parametrize("seed", range(40))
def test_random_views_and_masks_as_numpy(seed):
    rng = np.random.default_rng([13, seed])
    for _ in range(25):
        dtype = rng.choice(["bool", "int8", "uint16", "int32", "int64", "float32", "float64"])
        x = random_view(rng, dtype)
        # Some axes of a mask are 1, and the first may not be there.
        shape = tuple(1 if rng.random() < 0.3 else n for n in x.shape)[rng.integers(0, x.ndim + 1) if rng.random() < 0.3 else 0 :]
        mask = rng.random(shape) < 0.6
        axis = None if rng.random() < 0.2 else tuple(int(a) for a in rng.permutation(x.ndim)[: rng.integers(0, x.ndim + 1)])
        keepdims = bool(rng.integers(2))
        more = {"axis": axis, "where": mask, "keepdims": keepdims}
        # Whole numbers of few bits, so that NumPy's sums are exact.
        wide = {} if dtype in FLOATS else {"dtype": "uint64" if dtype == "uint16" else "int64"}
        same(wf.sum(x, **more), np.sum(x, **wide, **more))
        same(wf.any(x, **more), np.any(x, **more))
        same(wf.all(x, **more), np.all(x, **more))
        same(wf.count_nonzero(x, **more), np.sum(x != 0, **more, dtype="int64"))
        if dtype != "bool":
            top = np.array(51, dtype)
            same(wf.min(x, initial=51, **more), np.min(x, initial=top, **more))
            same(wf.max(x, initial=0, **more), np.max(x, initial=top * 0, **more))
            w = np.broadcast_to(rng.integers(0, 9, shape), x.shape).astype(dtype)
            same(wf.sum(x, weights=w, **more), np.sum(x.astype("int64") * w.astype("int64"), **more).astype(wide.get("dtype", dtype)))
            together = x.astype("int64") * w.astype("int64") + x
            same(wf.sum("x * w + x", x=x, w=w, **more), np.sum(together, **more).astype(wide.get("dtype", dtype)))


def spread(values, weights, correction):
    """The exact weighted variance."""
    total = sum(weights, Fraction(0))
    mean = sum((w * v for w, v in zip(weights, values)), Fraction(0)) / total
    return sum((w * (v - mean) ** 2 for w, v in zip(weights, values)), Fraction(0)) / (total - Fraction(correction))


@pytest.mark.parametrize("name", ["bool", *SIGNED, *UNSIGNED, *FLOATS])
def test_weighted_variances_are_rounded_once(name):
    x, w = sample(name, (37,), 3), abs(sample(name, (37,), 4))
    if name == "float64":
        # Squares that no float64 holds, above and below.
        x[:4], w[2] = [1e300, 5e-324, 1e-200, -1e155], 5e-324
    if name == "int64":
        x[0], w[1] = 2**62, 2**60
    values, weights, of = fractions(x), fractions(w), name if name in FLOATS else "float64"
    for correction in (0, 1, 0.5, -2):
        exact = spread(values, weights, correction)
        same(wf.var(x, weights=w, correction=correction), np.array(to_float(exact, of)).astype(of)[()])
        same(wf.std(x, weights=w, correction=correction), np.array(root(exact, of)).astype(of)[()])
    # As often as the weights say.
    whole = np.arange(37) % 3
    if name in ("int32", "float32"):
        same(wf.var(x, weights=whole.astype(name), correction=1), wf.var(np.repeat(x, whole), correction=1))


def test_weighted_variances_over_axes_and_of_little():
    rng = np.random.default_rng(5)
    x, w, kept = rng.standard_normal((5, 300)) * 1e8, rng.random((5, 300)), rng.random((5, 300)) < 0.5
    found = wf.var(x, axis=1, weights=w, where=kept, correction=0.25)
    for row in range(5):
        exact = spread(fractions(x[row][kept[row]]), fractions(w[row][kept[row]]), 0.25)
        assert found[row] == to_float(exact, "float64")
    many, often = rng.standard_normal(600_001).astype("float32"), rng.random(600_001).astype("float32")
    assert wf.var(many, weights=often, threads=1) == wf.var(many[::-1], weights=often[::-1], threads=2)
    assert np.isclose(wf.var(many, weights=often), np.cov(many.astype(float), aweights=often, ddof=0), rtol=1e-6)
    same(wf.var("x + x", x=x, weights="w", w=w), wf.var(x + x, weights=w))
    ones = np.ones(2)
    for nothing in (wf.var(ones, weights=0 * ones), wf.std(ones, weights=ones, correction=2), wf.var(np.array([1, np.inf]), weights=ones)):
        assert np.isnan(nothing)
    assert np.isnan(wf.var(np.array([1, np.nan]), weights=np.array([1.0, 0])))
    assert wf.var(np.array([1, np.nan, 2]), weights=np.ones(3), nan="ignore") == 0.25


@pytest.mark.parametrize("name", ["bool", "int32", "float16", "float64", "complex128"])
def test_stats_of_masked_arrays(name):
    x, kept = sample(name, (6, 40), 2), np.random.default_rng(2).random((6, 40)) < 0.4
    kept[3], kept[:, 7] = True, True
    for axis in (None, 0, 1):
        stats = wf.stats(x, axis=axis, where=kept)
        for field in ("count", "sum", "mean", "var", "std", "l1", "l2", "min", "max", "argmin", "argmax"):
            value = getattr(stats, field)
            if value is None:
                assert name == "complex128" and field in ("min", "max", "argmin", "argmax")
                continue
            if field == "count":
                expected = np.sum(kept, axis=axis)
            else:
                more = {"dtype": "float32"} if name == "float16" and field not in ("min", "max", "argmin", "argmax") else {}
                expected = getattr(wf, field)(x, axis=axis, where=kept, **more)
            # Sums of complex magnitudes are within one unit in the last place.
            close = np.allclose if (name, field) == ("complex128", "l1") else np.array_equal
            assert close(np.asarray(value), np.asarray(expected)), (field, value, expected)
    none = wf.stats(np.ones((2, 3)), where=False)
    assert none.count == 0 and none.mean is None and none.argmax is None
    with pytest.raises(ValueError, match="argmin"):
        wf.stats(np.ones((2, 3)), axis=1, where=np.array([[True], [False]]))
