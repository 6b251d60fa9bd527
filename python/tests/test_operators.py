"""Operators of one's own, beside the same arithmetic along the tree that the contract names."""

import copy
import pickle
from functools import reduce as in_order

import numpy as np
import pytest

import warpfold as wf

WELFORD = dict(
    state="n: f64, mean: f64, m2: f64",
    lift="1, x, 0",
    merge="""a.n + b.n,
             a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)),
             a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * b.n / (a.n + b.n))""",
)


def along(leaves, merge):
    """Runs of 32 leaves in order, 32 such runs in order, then aligned powers of two of those."""
    for size in (32, 32):
        leaves = [in_order(merge, leaves[at : at + size]) for at in range(0, len(leaves), size)]
    while len(leaves) > 1:
        leaves = [in_order(merge, leaves[at : at + 2]) for at in range(0, len(leaves), 2)]
    return leaves[0]


def welford(a, b):
    n, apart = a[0] + b[0], b[1] - a[1]
    return n, a[1] + apart * (b[0] / n), a[2] + b[2] + apart * apart * (a[0] * b[0] / n)


@pytest.mark.parametrize("n", [1, 33, 1025, 70_001])
def test_welford_has_the_bits_of_the_tree(n):
    x = np.random.default_rng(n).normal(3, 2, n)
    wanted = along([(1.0, value, 0.0) for value in x.tolist()], welford)
    operator = wf.operator(**WELFORD)
    for threads in (None, 1, 3):
        assert wf.reduce(x, operator, threads=threads) == wanted
    assert wf.reduce(x, wf.operator(**WELFORD, finish="m2 / n")) == pytest.approx(np.var(x), rel=1e-12, abs=1e-15)


def test_results_have_the_types_of_their_fields():
    operator = wf.operator(
        state="most: f32, at: u64, of: i64",
        lift="x, index, y",
        merge="max(a.most, b.most), select(b.most > a.most, b.at, a.at), select(b.most > a.most, b.of, a.of)",
        finish="most, at, of, of > 3",
    )
    x, y = np.array([[1, 5], [5, 2]], np.float32), np.array([[3, 4], [5, 6]], np.int8)
    most = wf.reduce(x, operator, y=y)
    assert most == (5, 1, 4, True)
    assert [type(value) for value in most] == [np.float32, np.uint64, np.int64, np.bool_]
    assert "most: f32" in repr(operator)


@pytest.mark.parametrize("shape", [(40, 7), (3, 64), (2, 1100, 3)])
def test_parts_are_arrays_of_their_own(shape):
    x = np.random.default_rng(5).normal(3, 2, shape)
    y = np.arange(x.size).reshape(shape)
    operator = wf.operator(
        state="n: f64, mean: f64, m2: f64, most: f64, at: u64, of: i64",
        lift="1, x, 0, x, index, y",
        merge=WELFORD["merge"] + ", max(a.most, b.most), select(b.most > a.most, b.at, a.at), select(b.most > a.most, b.of, a.of)",
        finish="mean, m2, at, of",
    )

    def alone(x, y):
        return wf.reduce(np.ascontiguousarray(x), operator, y=np.ascontiguousarray(y))

    for axis in range(len(shape)):
        found = wf.reduce(x, operator, axis, y=y)
        rows = [np.moveaxis(array, axis, -1).reshape(-1, shape[axis]) for array in (x, y)]
        wanted = [alone(*both) for both in zip(*rows)]
        assert all(array.shape == shape[:axis] + shape[axis + 1 :] for array in found)
        assert list(zip(*(array.ravel().tolist() for array in found))) == wanted
        assert wf.reduce(x, operator, axis, y=y, keepdims=True)[0].shape == shape[:axis] + (1,) + shape[axis + 1 :]
    assert [array.item() for array in wf.reduce(x, operator, keepdims=True, y=y)] == list(alone(x, y))
    x, y = x.ravel(), y.ravel()
    offsets = np.array([0, 5, 5 + 33, x.size])
    wanted = [alone(x[a:b], y[a:b]) for a, b in zip(offsets, offsets[1:])]
    for where in (dict(offsets=offsets), dict(lengths=np.diff(offsets))):
        assert list(zip(*(array.tolist() for array in wf.reduce(x, operator, y=y, **where)))) == wanted
    keys = np.arange(x.size) % 5
    wanted = [alone(x[keys == key], y[keys == key]) for key in range(5)]
    for groups in (wf.group_by(keys, x).reduce(operator, y=y).values, wf.group_by(keys, x, groups=5).reduce(operator, y=y)):
        assert list(zip(*(array.tolist() for array in groups))) == wanted


def test_parts_that_are_refused():
    total = wf.operator(state="s: i64", lift="x", merge="a.s + b.s")
    x = np.arange(6)
    with pytest.raises(ValueError, match="segment 1: .*no elements"):
        wf.reduce(x, total, offsets=np.array([0, 2, 2]))
    with pytest.raises(TypeError, match="do not go with segments"):
        wf.reduce(x, total, axis=0, every=2)
    with pytest.raises(ValueError, match="axis"):
        wf.reduce(x, total, axis=1)
    with pytest.raises(TypeError, match="neither where nor an expression"):
        wf.group_by(x % 2, x, where=x > 2).reduce(total)
    assert wf.reduce(np.zeros((2, 0), np.int64), wf.operator(state="s: i64", lift="x", merge="a.s + b.s", identity="0"), axis=1).tolist() == [0, 0]
    assert wf.reduce(np.zeros((0, 2)), wf.operator(state="s: f64", lift="x", merge="a.s + b.s"), axis=1).tolist() == []


def test_bools():
    x, m = np.arange(100), np.arange(100) % 3 == 0
    chosen = wf.operator(state="s: i64", lift="select(m, x, 0)", merge="a.s + b.s")
    assert wf.reduce(x, chosen, m=m) == x[m].sum()
    assert wf.reduce(x.reshape(4, 25), chosen, axis=0, m=m.reshape(4, 25)).tolist() == (x * m).reshape(4, 25).sum(0).tolist()
    assert wf.reduce(m, wf.operator(state="n: i64", lift="i64(x)", merge="a.n + b.n")) == m.sum()
    with pytest.raises(TypeError, match="no option where"):
        wf.reduce(x, chosen, m=m, where=m)
    with pytest.raises(TypeError, match="index is an element's own"):
        wf.reduce(x, chosen, m=m, index=x)


def test_nothing_is_the_identity():
    total = dict(state="s: i64", lift="x", merge="a.s + b.s")
    none = np.array([], np.int64)
    assert wf.reduce(none, wf.operator(**total, identity="0", commutative=True)) == 0
    with pytest.raises(ValueError, match="give an identity"):
        wf.reduce(none, wf.operator(**total))


def test_what_is_wrong_is_told():
    total = dict(state="s: f64", lift="x", merge="a.s + b.s")
    x = np.arange(10.0)
    with pytest.raises(ValueError, match="merge, column 7"):
        wf.reduce(x, wf.operator(**{**total, "merge": "a.s + c"}))
    with pytest.raises(ValueError, match="state, column 4: `text` is no type"):
        wf.operator(**{**total, "state": "s: text"})
    with pytest.raises(ValueError, match="said to be associative, and is not"):
        wf.reduce(x, wf.operator(**{**total, "merge": "(a.s + b.s) / 2"}))
    with pytest.raises(ValueError, match="give arrays of one shape"):
        wf.reduce(x, wf.operator(**{**total, "lift": "x * y"}), y=x[1:])
    with pytest.raises(ValueError, match="contiguous"):
        wf.reduce(x[::2], wf.operator(**total))
    with pytest.raises(TypeError):
        wf.reduce(x, "a.s + b.s")
    for name, why in (("x", "x is the first argument"), ("more", "lift names no such array"), ("weights", "no option weights")):
        with pytest.raises(TypeError, match=why):
            wf.reduce(x, wf.operator(**total), **{name: x})


def test_operators_go_to_other_processes():
    x = np.random.default_rng(1).normal(3, 2, 5000)
    for more in (dict(), dict(finish="mean, m2 / n", identity="0, 0, 0", tolerance=1e-6)):
        operator = wf.operator(**WELFORD, **more)
        again = pickle.loads(pickle.dumps(operator))
        assert repr(again) == repr(operator)
        assert wf.reduce(x, again) == wf.reduce(x, operator)
    assert copy.deepcopy(operator) is not None
