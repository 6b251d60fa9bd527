"""Arrays where they lie: every layout gives what a plain copy of it gives by rational arithmetic."""

import numpy as np
import pytest
import warpfold as wf
from oracle import ALL, COMPLEX, FLOATS, UNSIGNED, fractions, same, sample, to_float

LAYOUTS = {
    "plain": lambda x: x,
    "reversed": lambda x: x[::-1, :, ::-1],
    "strided": lambda x: x[::2, :, 1::3],
    "fortran": np.asfortranarray,
    "transposed": lambda x: x.transpose(2, 0, 1),
    "repeated": lambda x: np.broadcast_to(x[:1], (4, *x.shape[1:])),
    "row": lambda x: x[0, 1],
    "column": lambda x: x[:, 1, 0],
    "backwards": lambda x: x[0, 0, ::-1],
    "one": lambda x: x[0, 0, 0:1],
    "no axes": lambda x: x[1, 1, 1, ...],
    "empty": lambda x: x[:0],
    "empty inside": lambda x: x[:, :0, ::-2],
}


def expected(x, name, axis=None, keepdims=False):
    """Sums over axes, each by itself."""
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = sorted(a % x.ndim for a in axes)
    kept = [a for a in range(x.ndim) if a not in axes]
    flat = x.transpose(kept + axes).reshape([x.shape[a] for a in kept] + [-1]) if x.size else None
    shape = [x.shape[a] for a in kept]

    def total(row):
        if name in COMPLEX:
            of = "float32" if name == "complex64" else "float64"
            return complex(to_float(sum(fractions(row.real)), of), to_float(sum(fractions(row.imag)), of))
        value = sum(fractions(row))
        return to_float(value, name) if name in FLOATS else int(value)

    of = name if name in FLOATS + COMPLEX else "uint64" if name in UNSIGNED else "int64"
    out = np.zeros(shape, of)
    if flat is not None:
        for at in np.ndindex(*shape):
            out[at] = total(flat[at])
    if keepdims:
        out = out.reshape([1 if a in axes else n for a, n in enumerate(x.shape)])
    return out


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ALL)
def test_every_layout_of_every_type(name, layout):
    whole = sample(name, (5, 3, 7))
    x = LAYOUTS[layout](whole)
    before = whole.tobytes()
    same(wf.sum(x), expected(x, name)[()])
    assert wf.count_nonzero(x) == np.count_nonzero(x)
    if name not in COMPLEX and x.size:
        same(wf.max(x), np.asarray(x).max())
        same(wf.argmax(x), np.int64(np.asarray(x).argmax()))
        same(wf.argmin(x), np.int64(np.asarray(x).argmin()))
    for axis in range(-x.ndim, x.ndim):
        same(wf.sum(x, axis=axis), expected(x, name, axis))
        if name not in COMPLEX and x.shape[axis]:
            same(wf.argmax(x, axis), np.asarray(x).argmax(axis))
            same(wf.min(x, axis), np.asarray(x).min(axis))
    if x.ndim == 3:
        for axis in [(0, 1), (0, 2), (-1, 1), (0, 1, 2)]:
            same(wf.sum(x, axis=axis, keepdims=True), expected(x, name, axis, keepdims=True))
        same(wf.sum(x, keepdims=True), expected(x, name, (0, 1, 2), keepdims=True))
    assert whole.tobytes() == before


def test_no_axis_reduces_nothing():
    x = sample("float32", (2, 3))
    same(wf.sum(x, axis=()), x)


def test_read_only_and_scalars():
    x = np.arange(5.0)
    x.flags.writeable = False
    same(wf.sum(x), np.float64(10))
    same(wf.sum(np.float32(2.5)), np.float32(2.5))
    same(wf.max(np.array(7)), np.int64(7))


def test_other_buffers_give_numbers_of_python():
    import array

    assert type(wf.sum(array.array("d", [0.1] * 10))) is float
    assert wf.sum(array.array("d", [0.1] * 10)) == 1.0
    assert wf.max(b"warp") == ord("w")
    assert wf.sum(memoryview(bytearray(range(10)))[::-3]) == 9 + 6 + 3 + 0
    assert wf.any(memoryview(b"\0\1").cast("?")) is True


def test_bfloat16():
    ml = pytest.importorskip("ml_dtypes")
    x = np.array([256, 1, 1, -0.5], ml.bfloat16)
    result = wf.sum(x)
    assert result.dtype == ml.bfloat16 and float(result) == to_float(sum(fractions(x)), "bfloat16")
    same(wf.sum(x, dtype="float32"), np.float32(257.5))
    rows = wf.max(x.reshape(2, 2)[:, ::-1], axis=1)
    assert rows.dtype == ml.bfloat16 and rows.tolist() == [256, 1]
    out = np.zeros(2, ml.bfloat16)
    assert wf.min(x.reshape(2, 2), axis=0, out=out) is out and out.tolist() == [1, -0.5]
    same(wf.sum(np.array([1.0, 2.0**-9]), dtype=ml.bfloat16), ml.bfloat16(1))
    with pytest.raises(TypeError, match="astype"):
        wf.sum(x.astype(ml.float8_e5m2))


REFUSED = {
    "swapped": (lambda: np.arange(3.0).astype(">f8"), "newbyteorder"),
    "masked": (lambda: np.ma.array([1.0, 2.0], mask=[0, 1]), "compressed"),
    "objects": (lambda: np.array([1, None]), "astype"),
    "records": (lambda: np.zeros(2, [("a", "f4"), ("b", "i4")]), "field"),
    "dates": (lambda: np.array(["2026-01-01"], "M8[D]"), "view"),
    "strings": (lambda: np.array(["1"]), "astype"),
    "long doubles": (lambda: np.ones(2, np.longdouble), "astype"),
    "unaligned": (lambda: np.frombuffer(bytes(17), np.uint8)[1:].view("f8"), "copy"),
    "field": (lambda: np.zeros(4, [("a", "i1"), ("b", "f8")])["b"], "copy"),
    "list": (lambda: [1.0, 2.0], "numpy.asarray"),
    "number": (lambda: 1.5, "array"),
    "none": (lambda: None, "array"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_in_place_says_what_to_do(what):
    make, remedy = REFUSED[what]
    with pytest.raises(TypeError, match=remedy):
        wf.sum(make())


def test_bytes_of_bools():
    x = np.array([0, 1, 2, 3], np.uint8).view(bool)
    assert wf.any(x) and wf.count_nonzero(x) == 3 and not wf.all(x)
    for f in (wf.sum, wf.mean, wf.max, wf.argmax, wf.stats):
        with pytest.raises(ValueError, match="neither 0 nor 1"):
            f(x)
        with pytest.raises(ValueError, match="neither 0 nor 1"):
            f(x.reshape(2, 2)[:, ::-1], axis=0)


def test_out():
    x = np.arange(6.0).reshape(2, 3)
    out = np.zeros(2)
    assert wf.sum(x, axis=1, out=out) is out and out.tolist() == [3, 12]
    whole = np.zeros(())
    assert wf.sum(x, out=whole) is whole and whole == 15
    with pytest.raises(TypeError, match="float32"):
        wf.sum(x, axis=1, out=np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="shape"):
        wf.sum(x, axis=1, out=np.zeros(3))
    with pytest.raises(ValueError, match="contiguous"):
        wf.sum(x, axis=1, out=np.zeros(4)[::2])
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        wf.sum(x, axis=1, out=frozen)
    assert frozen.tolist() == [0, 0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.complex64])
@pytest.mark.parametrize("name", ["sum", "mean", "var", "l2", "prod", "max", "argmax", "any", "count_nonzero"])
def test_many_results_are_written_where_they_stay(name, dtype):
    x = (np.arange(4 << 15) % 13 - 6).astype(dtype).reshape(-1, 4)
    if np.iscomplexobj(x) and name in ("max", "argmax"):
        pytest.skip("complex numbers have no order")
    reduce = getattr(wf, name)
    wanted = np.array([reduce(row) for row in x[:13]])
    found = reduce(x, axis=1)
    assert found.flags.writeable and found.dtype == wanted.dtype
    assert np.array_equal(found.reshape(-1)[: 13 * 2520].reshape(-1, 13), np.tile(wanted, (2520, 1)))
    out = np.full_like(found, 5)
    assert reduce(x, axis=1, out=out) is out and np.array_equal(out, found)
    out[:] = 5
    segments = getattr(wf, f"segment_{name}")
    assert segments(x.reshape(-1), every=4, out=out) is out and np.array_equal(out, found)


def test_results_go_over_the_array_itself():
    x = np.arange(4 << 15, dtype=np.float64).reshape(4, -1)
    wanted = wf.sum(x, axis=0)
    assert np.array_equal(wf.sum(x, axis=0, out=x[0]), wanted)
    assert np.array_equal(x[0], wanted)


def test_results_go_over_the_offsets_that_they_are_read_by():
    x, offsets = np.ones(40004, np.int64), np.arange(10002) * 4
    out = offsets[1:]
    assert wf.segment_sum(x, offsets, out=out) is out
    assert (out == 4).all()


def test_parts_without_a_result_among_many():
    x, offsets = np.ones(40000), np.append(np.repeat(0, 3), np.arange(1, 40001))
    out = np.zeros(len(offsets) - 1)
    assert wf.segment_mean(x, offsets, out=out) is out
    assert np.isnan(out[:2]).all() and (out[2:] == 1).all()


def test_wrong_keywords():
    x = np.arange(6.0).reshape(2, 3)
    for axis in (2, -3, (0, 0), (0, 5)):
        with pytest.raises(ValueError, match="axis"):
            wf.sum(x, axis=axis)
    with pytest.raises(TypeError):
        wf.sum(x, axis="rows")
    for keywords in ({"nan": "omit"}, {"accuracy": "high"}, {"overflow": "saturate"}, {"threads": 0}):
        with pytest.raises(ValueError):
            wf.sum(x, **keywords)
    for correction in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="correction"):
            wf.var(x, correction=correction)
    with pytest.raises(TypeError, match="ddof"):
        wf.var(x, correction=1, ddof=1)
    for dtype in (int, "complex64", "bool", "no type"):
        with pytest.raises(TypeError):
            wf.sum(x, dtype=dtype)
    with pytest.raises(TypeError):
        wf.sum(x + 1j, dtype="float64")
    with pytest.raises(TypeError, match="order"):
        wf.max(x + 1j)
    with pytest.raises(TypeError, match=r"float64 and float32; convert one, as y\.astype"):
        wf.dot(x, x.astype(np.float32))
    for threads in (0, -1):
        with pytest.raises(ValueError, match=f"threads={threads} leaves nobody"):
            wf.sum(x, threads=threads)
    with pytest.raises(TypeError, match="keys to integers with numpy.unique"):
        wf.group_by(np.array(["a", "b"]), x[0, :2])
    with pytest.raises(ValueError, match="shape"):
        wf.dot(x, x[0])


def test_rows_without_numbers():
    x = np.array([[1.0, np.nan], [np.nan, np.nan]])
    for f in (wf.mean, wf.var, wf.min, wf.max):
        result = f(x, axis=1, nan="ignore")
        assert not np.isnan(result[0]) and np.isnan(result[1])
    lows, highs = wf.minmax(x.astype(np.float16), axis=1, nan="ignore")
    assert lows[0] == highs[0] == 1 and np.isnan(lows[1]) and np.isnan(highs[1]) and lows.dtype == np.float16
    with pytest.raises(ValueError, match="output"):
        wf.argmax(x, axis=1, nan="ignore")


def test_shapes_that_memory_does_not_hold():
    nothing = np.broadcast_to(np.zeros((1, 0), np.int8), (2**60, 0))
    assert wf.sum(nothing) == 0
    for f in (wf.mean, wf.sum, wf.max):
        with pytest.raises(MemoryError):
            f(nothing, axis=1)


@pytest.mark.parametrize("name", [n for n in ALL if n not in COMPLEX])
def test_dots_of_views(name):
    x, y = (sample(name, (60, 7, 90), seed) for seed in (1, 2))
    if name not in FLOATS:
        x, y = (x % 100).astype(name), (y % 100).astype(name)
    exact = sum(a * b for a, b in zip(fractions(x[::-1, :, 1::2]), fractions(y.transpose(0, 1, 2)[:, :, ::-2])))
    result = wf.dot(x[::-1, :, 1::2], y[:, :, ::-2])
    same(result, np.dtype(result.dtype).type(to_float(exact, name) if name in FLOATS else int(exact)))
    f, g = np.asfortranarray(x), np.asfortranarray(y)
    same(wf.dot(f, g), wf.dot(x, y))
    same(wf.dot(f[1], g[1]), wf.dot(x[1].copy(), y[1].copy()))
    same(wf.dot(x[3, 2, ::-5], y[3, 2, ::5][::-1]), wf.dot(x[3, 2, ::-5].copy(), y[3, 2, ::5][::-1].copy()))
