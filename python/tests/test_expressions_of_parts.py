"""Expressions in segments and groups, beside the same expression of each part alone."""

import numpy as np
import pytest
import warpfold as wf
from oracle import same

OPS = ["sum", "mean", "var", "l2", "max", "argmin", "count_nonzero", "any", "minmax", "prod"]


def arrays(dtype):
    rng = np.random.default_rng(7)
    x, y = (rng.integers(-9, 9, 1000).astype(dtype) for _ in range(2))
    return x, y, rng.random(1000) < 0.7


def alone(name, chosen, where, **arrays):
    """The result of one part."""
    where = where[chosen] if isinstance(where, np.ndarray) else where
    try:
        return getattr(wf, name)("x * 2 - y", where=where, **{k: a[chosen] for k, a in arrays.items()})
    except ValueError:
        return (np.nan, np.nan) if name == "minmax" else np.nan


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_segments(name, dtype):
    x, y, kept = arrays(dtype)
    offsets = np.array([0, 7, 300, 340, 1000])
    function = getattr(wf, f"segment_{name}")
    for where in (None, kept, "x > y"):
        expected = [alone(name, slice(*pair), where, x=x, y=y) for pair in zip(offsets, offsets[1:])]
        expected = np.asarray(expected).T
        for stated in ({"offsets": offsets}, {"lengths": np.diff(offsets)}):
            found = np.asarray(function("x * 2 - y", x=x, y=y, where=where, **stated))
            same(found, expected)
    expected = np.asarray([alone(name, slice(k, k + 250), None, x=x, y=y) for k in range(0, 1000, 250)]).T
    same(np.asarray(function("x * 2 - y", every=250, x=x, y=y)), expected)


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_groups(name, dtype):
    if (name, dtype) == ("prod", "int32"):
        pytest.skip("64 bits do not hold it")
    x, y, kept = arrays(dtype)
    keys = np.random.default_rng(8).integers(0, 6, 1000)
    for where in (None, kept, wf.arg("x") > wf.arg("y")):
        expected = np.asarray([alone(name, keys == key, where, x=x, y=y) for key in range(6)]).T
        found = getattr(wf.group_by(keys, "x * 2 - y", x=x, y=y, where=where), name)()
        assert found.keys.tolist() == list(range(6))
        same(np.asarray(found.values), expected)
        same(np.asarray(getattr(wf.group_by(keys, "x * 2 - y", groups=6, x=x, y=y, where=where), name)()), expected)


def test_parts_of_which_nothing_is_left():
    x = np.array([1.0, 2.0, -3.0])
    assert wf.segment_sum("x + x", np.array([0, 2, 2, 3]), x=x, where="x > 0").tolist() == [6, 0, 0]
    assert np.isnan(wf.segment_max("abs(x)", np.array([0, 2, 3]), x=x, where="x > 0")).tolist() == [False, True]
    with pytest.raises(ValueError, match="segment 1"):
        wf.segment_max("i64(x)", np.array([0, 2, 3]), x=x, where="x > 0")
    keys, sums = wf.group_by(np.array([5, 2, 2]), "x * x", x=x, where=np.array([True, False, False])).sum()
    assert keys.tolist() == [2, 5] and sums.tolist() == [0, 1]
    # Bools are bytes, which may be others than 0 and 1.
    flags = np.array([0, 2, 3], np.uint8).view(bool)
    assert wf.segment_sum("flags", every=3, flags=flags).tolist() == [2]


def test_products_are_not_rounded_before():
    x = np.array([1 + 2.0**-30, -1.0, 3.0])
    y = np.array([1 - 2.0**-30, 1.0, 2.0])
    assert wf.segment_sum("x * y", every=3, x=x, y=y).tolist() == [6 - 2.0**-60]
    assert wf.group_by(np.array([1, 1, 4]), "x * y", x=x, y=y).sum().values.tolist() == [-(2.0**-60), 6]


def test_arrays_that_shrink_under_a_group_are_an_error():
    keys, x = np.array([0, 1, 1]), np.arange(3.0)
    for groups in (None, 2):
        by = wf.group_by(keys, "x + x", x=x, groups=groups)
        x.resize(2, refcheck=False)
        with pytest.raises(ValueError):
            by.sum()
        x = np.arange(3.0)


def test_errors_name_the_argument():
    x = np.ones(4)
    for call, words in (
        (lambda: wf.segment_sum(x, every=2, z=x), "unexpected keyword argument.*z"),
        (lambda: wf.group_by(np.arange(4), x, z=x), "unexpected keyword argument.*z"),
        (lambda: wf.segment_sum("x + y", every=2, x=x), "`y`.*give y=array"),
        (lambda: wf.segment_sum("x + y", every=2, x=x, y=x[:2]), "y 2"),
        (lambda: wf.segment_sum("x", every=2, x=x[::2]), "x must be contiguous"),
        (lambda: wf.segment_sum("x", every=2, x=x.reshape(2, 2)), "x must have one axis"),
        (lambda: wf.group_by(np.arange(3), "x", x=x), "3 keys|keys"),
        (lambda: wf.segment_var("x", every=2, x=x, correction=0.5), "whole number"),
        (lambda: wf.segment_sum("x", x=x), "stated in one way"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            call()
