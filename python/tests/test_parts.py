"""Segments, groups and exact partials."""

import copy
import pickle

import numpy as np
import pytest
import warpfold as wf
from oracle import REAL, FLOATS, UNSIGNED, fractions, same, sample, to_float, variance

OFFSETS = [0, 3, 3, 50, 200]


def total(x, name):
    value = sum(fractions(x))
    return to_float(value, name) if name in FLOATS else int(value)


def of(name):
    return name if name in FLOATS else "uint64" if name in UNSIGNED else "int64"


@pytest.mark.parametrize("kind", ["int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("name", REAL)
def test_segments(name, kind):
    x, offsets = sample(name, 210), np.array(OFFSETS, kind)
    pairs = list(zip(OFFSETS, OFFSETS[1:]))
    same(wf.segment_sum(x, offsets), np.array([total(x[a:b], name) for a, b in pairs], of(name)))
    lengths = np.array([b - a for a, b in pairs] + [10], kind)
    same(wf.segment_sum(x, lengths=lengths), np.array([total(x[a:b], name) for a, b in [*pairs, (200, 210)]], of(name)))
    same(wf.segment_sum(x, every=70), np.array([total(x[a : a + 70], name) for a in (0, 70, 140)], of(name)))
    assert wf.segment_count_nonzero(x, offsets).tolist() == [np.count_nonzero(x[a:b]) for a, b in pairs]
    if name in FLOATS:
        result = wf.segment_max(x, offsets)
        assert np.isnan(result[1]) and result.dtype == name and result[2] == x[3:50].max()
        moments = wf.segment_var(x, offsets, correction=1)
        assert np.isnan(moments[1]) and moments[3] == np.dtype(name).type(to_float(variance(fractions(x[50:200]), 1), name))
    else:
        with pytest.raises(ValueError, match="segment 1"):
            wf.segment_max(x, offsets)
    with pytest.raises(ValueError, match="segment 1"):
        wf.segment_argmax(x, offsets)
    assert wf.segment_argmax(x, every=70).tolist() == [x[a : a + 70].argmax() for a in (0, 70, 140)]


def test_wrong_segments():
    x = np.arange(6.0)
    for offsets in ([0, 4, 2], [0, 9], [-1, 3]):
        with pytest.raises(ValueError):
            wf.segment_sum(x, np.array(offsets))
    with pytest.raises(TypeError, match="astype"):
        wf.segment_sum(x, np.array([0.0, 6.0]))
    with pytest.raises(TypeError, match="one way"):
        wf.segment_sum(x)
    with pytest.raises(TypeError, match="one way"):
        wf.segment_sum(x, np.array([0, 6]), every=2)
    with pytest.raises(ValueError, match="one axis"):
        wf.segment_sum(x.reshape(2, 3), every=2)
    with pytest.raises(ValueError, match="contiguous"):
        wf.segment_sum(x[::2], every=1)


@pytest.mark.parametrize("kind", ["bool", "int8", "int64", "uint16", "uint64"])
@pytest.mark.parametrize("name", REAL)
def test_groups(name, kind):
    x = sample(name, 500)
    keys = (sample("int64", 500, 9) % 7).astype(kind)
    found = np.unique(keys)
    by = wf.group_by(keys, x)
    result = by.sum()
    same(result.keys, found)
    same(result.values, np.array([total(x[keys == k], name) for k in found], of(name)))
    same(by.keys, found)
    assert by.max().values.tolist() == [x[keys == k].max() for k in found]
    assert by.argmin().values.tolist() == [x[keys == k].argmin() for k in found]
    if kind != "bool":
        dense = wf.group_by(keys, x, groups=9).sum()
        same(dense, np.array([total(x[keys == k], name) for k in range(9)], of(name)))


def test_groups_without_numbers():
    keys, x = np.array([0, 2, 2]), np.array([1.0, np.nan, np.nan])
    by = wf.group_by(keys, x, groups=3)
    assert np.isnan(by.mean()).tolist() == [False, True, True]
    assert np.isnan(by.max(nan="ignore")).tolist() == [False, True, True]
    assert by.sum(nan="ignore").tolist() == [1, 0, 0]
    assert np.isnan(wf.group_by(keys, x).var(correction=1).values).tolist() == [True, True]
    with pytest.raises(IndexError, match="key 1 is 2"):
        wf.group_by(keys, x, groups=2)
    with pytest.raises(ValueError):
        wf.group_by(keys[:2], x)
    with pytest.raises(TypeError, match="unique"):
        wf.group_by(x, x)


def test_arrays_that_shrink_under_a_group_are_an_error():
    keys, x = np.array([0, 1, 1]), np.arange(3.0)
    by = wf.group_by(keys, x)
    x.resize(2, refcheck=False)
    with pytest.raises(ValueError):
        by.sum()


OPS = ["sum", "mean", "var", "std", "l1", "l2", "sumsq", "linf", "min", "max", "minmax", "any", "all", "count_nonzero"]


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("name", REAL)
def test_partials_merge_to_the_whole(name, op):
    x = sample(name, (4, 60))
    if op == "sumsq" and x.dtype.kind in "iu":
        x = x % np.array(1 << 15, x.dtype) if x.dtype.itemsize > 2 else x  # whose squares 64 bits hold
    pieces = []
    for row in (x[2], x[0][::-1], x[3, ::1], x[1]):
        piece = wf.Exact(name, op)
        piece.add(row)
        pieces.append(pickle.loads(pickle.dumps(piece)))
    whole = wf.Exact(name, op)
    for piece in pieces:
        whole.merge(piece)
    assert whole == wf.Exact.from_bytes(bytes(whole)) == copy.deepcopy(whole)
    expected = getattr(wf, op)(x)
    expected = tuple(v.item() for v in expected) if op == "minmax" else expected.item()
    assert whole.round() == expected
    if op == "sum":
        assert whole.round() == total(x, name) and whole.count == 240


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128"])
def test_products_of_pieces_have_the_bits_of_the_whole(name):
    rng = np.random.default_rng(8)
    x = (rng.random(5000) + 0.5).astype(name)
    if x.dtype.kind == "c":
        x = (x * np.exp(1j * rng.random(5000))).astype(name)
    whole = wf.Exact(name, "prod")
    whole.add(x, start=0)
    bounds = [0, 1, 31, 33, 1024, 1500, 4999, 5000]
    pieces = list(zip(bounds, bounds[1:]))
    for order in (pieces, pieces[::-1], pieces[1::2] + pieces[::2]):
        merged = wf.Exact(name, "prod")
        for a, b in order:
            piece = wf.Exact(name, "prod")
            piece.add(x[a:b], start=a)
            merged.merge(wf.Exact.from_bytes(bytes(piece)))
        assert merged == whole and merged.round() == whole.round() == wf.prod(x).item()
    with pytest.raises(ValueError, match="elements 0 to 1 are in none"):
        last = wf.Exact(name, "prod")
        last.add(x[1:], start=1)
        last.round()
    with pytest.raises(ValueError, match="elements 0 to 5 are in more than one"):
        whole.add(x[:5], start=0)
        whole.round()


def test_partials_of_nothing_and_of_others():
    assert wf.Exact("f8").round() == 0.0
    assert np.isnan(wf.Exact("f8", "mean").round())
    with pytest.raises(ValueError):
        wf.Exact("f8", "max").round()
    with pytest.raises(TypeError, match="start="):
        wf.Exact("f8", "prod").add(np.ones(3))
    e = wf.Exact("f4")
    with pytest.raises(TypeError, match="float64"):
        e.add(np.zeros(2))
    with pytest.raises(TypeError, match="merge"):
        e.merge(wf.Exact("f8"))
    for data in (b"", b"nonsense", bytes(wf.Exact("f4"))[:-1]):
        with pytest.raises(ValueError):
            wf.Exact.from_bytes(data)
    saved = bytes(wf.Exact("f4", "var"))
    for k in range(len(saved)):
        with pytest.raises(ValueError):
            wf.Exact.from_bytes(saved[:k])
    for op in ("prod", "mean", "max"):
        with pytest.raises(ValueError):
            wf.Exact.from_bytes(saved.replace(b"\3var", bytes([len(op)]) + op.encode()))
    e.add(np.full(10, 0.1, np.float32))
    e.merge(e)
    assert e.round() == to_float(20 * fractions(np.float32(0.1))[0], "float32")
    assert e.round("float64") == float(20 * fractions(np.float32(0.1))[0])
    d = wf.Exact("f8", "dot")
    d.add(np.array([1e200, 1.0]), np.array([1e200, 2.0]))
    d.add(np.array([-1e200]), np.array([1e200]))
    assert d.round() == 2.0


@pytest.mark.parametrize("name", REAL)
def test_partials_with_indices(name):
    x = sample(name, 90)
    for op in ("argmin", "argmax", "stats"):
        pieces = []
        for start in (60, 0, 30):
            piece = wf.Exact(name, op)
            piece.add(x[start : start + 30], start=start)
            pieces.append(pickle.loads(pickle.dumps(piece)))
        result = sum(pieces).round()
        if op == "stats":
            result = result.argmax
        assert result == (x.argmin() if op == "argmin" else x.argmax())
        with pytest.raises(TypeError, match="start="):
            pieces[0].add(x)
    with pytest.raises(TypeError, match="leave out start"):
        wf.Exact(name).add(x, start=3)


@pytest.mark.parametrize("op", ["sum", "mean", "var", "l2", "max", "count_nonzero", "any"])
@pytest.mark.parametrize("name", REAL)
def test_arrays_of_partials(name, op):
    x = sample(name, (7, 3, 4))
    for axis in (0, (0, 2), None, (0, 1, 2)):
        parts = [wf.partials(x[a:b], axis, op) for a, b in ((5, 7), (0, 2), (2, 5))]
        same(wf.rounded(0 + parts[2] + parts[0] + (parts[1] + 0)), getattr(wf, op)(x, axis))
    assert wf.partials(x, (0, 2), op, keepdims=True).shape == (1, 3, 1)
    first = wf.partials(x, 1, op)
    first[2, 3] = 0
    if op == "mean":
        assert np.isnan(wf.rounded(first)[2, 3])
    with pytest.raises(TypeError, match="merge"):
        first[0, 0] + wf.Exact(name, "l1")


def test_arrays_of_partials_that_have_no_value():
    with pytest.raises(ValueError, match="give one"):
        wf.rounded(np.zeros(2, object))
    with pytest.raises(ValueError, match="output 1"):
        wf.rounded([wf.partials(np.ones(2, int), op="max")[()], wf.Exact("int64", "max")])
    low, high = wf.rounded(wf.partials(np.arange(6.0).reshape(2, 3), 1, "minmax"))
    assert low.tolist() == [0, 3] and high.tolist() == [2, 5]


@pytest.mark.parametrize("name", ["sum", "mean", "var", "l2", "max", "argmin", "argmax", "count_nonzero", "any", "minmax"])
def test_masks_of_segments_and_groups(name):
    rng = np.random.default_rng(4)
    x, kept, keys = rng.standard_normal(1000), rng.random(1000) < 0.5, rng.integers(-3, 4, 1000)
    offsets = np.array([0, 0, 7, 300, 301, 1000])
    kept[7:300] = False
    function = getattr(wf, name)

    def alone(chosen):
        try:
            return function(x[chosen], where=kept[chosen])
        except ValueError:
            return (np.nan, np.nan) if name == "minmax" else np.nan

    if name in ("argmin", "argmax"):
        with pytest.raises(ValueError, match="segment 0"):
            getattr(wf, f"segment_{name}")(x, offsets, where=kept)
        offsets = np.array([0, 7, 500, 1000])
    found = np.asarray(getattr(wf, f"segment_{name}")(x, offsets, where=kept)).T
    expected = np.asarray([alone(slice(*pair)) for pair in zip(offsets, offsets[1:])])
    assert np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")
    for groups in (None, 9):
        by = wf.group_by(keys + 3, x, groups=groups, where=kept)
        if name in ("argmin", "argmax") and groups:
            with pytest.raises(ValueError, match="group 7"):
                getattr(by, name)()
            continue
        found = getattr(by, name)()
        values = np.asarray(found if groups else found.values).T
        expected = np.asarray([alone(keys + 3 == key) for key in range(groups or 7)])
        assert np.array_equal(values, expected, equal_nan=expected.dtype.kind == "f")
    # A group of which nothing is left stays.
    keys, sums = wf.group_by(np.array([5, 2]), np.ones(2), where=np.array([True, False])).sum()
    assert keys.tolist() == [2, 5] and sums.tolist() == [0, 1]
    with pytest.raises(ValueError, match="where has the shape"):
        wf.group_by(np.array([5, 2]), np.ones(2), where=np.ones(3, bool))
    with pytest.raises(TypeError, match="bools"):
        wf.segment_sum(np.ones(2), every=1, where=np.ones(2))
