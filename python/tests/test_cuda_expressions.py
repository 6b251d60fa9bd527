"""Expressions over arrays on a GPU, against the same on the host."""

import pytest
import warpfold as wf
from gpu import outcome, tensor, torch


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int8", "int32", "int64"])
def test_expressions(name):
    for n in (0, 1, 33, 1000, 100_003):
        x, y = tensor(name, (n,), n), tensor(name, (n,), n + 1)
        for op in ("sum", "mean", "var", "std", "l2", "min", "max", "argmin", "argmax"):
            for where in (None, "x < y"):
                f, more = getattr(wf, op), {} if where is None else {"where": where}
                there = outcome(f, "min(x, y)", x=x.cuda(), y=y.cuda(), **more)
                assert there == outcome(f, "min(x, y)", x=x, y=y, **more), (name, op, n, where)
        there = outcome(wf.count_nonzero, "x > y", x=x.cuda(), y=y.cuda())
        assert there == outcome(wf.count_nonzero, "x > y", x=x, y=y), (name, n)


def test_expressions_with_masks_and_weights():
    x, w = tensor("float32", (1001,)), tensor("float32", (1001,), 1).abs()
    mask = x > 0
    a, b = wf.arg("x"), wf.arg("w")
    there = outcome(wf.mean, "x", x=x.cuda(), weights="w", w=w.cuda(), where=mask.cuda())
    assert there == outcome(wf.mean, "x", x=x, weights="w", w=w, where=mask)
    for call in (wf.prod, wf.l1, wf.linf, wf.var):
        assert outcome(call, abs(a - b), x=x.cuda(), w=w.cuda()) == outcome(call, abs(a - b), x=x, w=w)
    assert outcome(wf.var, "x", x=x.cuda(), weights="w", w=w.cuda()) == outcome(wf.var, "x", x=x, weights="w", w=w)
    there = outcome(wf.sum, abs(a - b), x=x.cuda(), w=w.cuda(), where=a > 0)
    assert there == outcome(wf.sum, abs(a - b), x=x, w=w, where=a > 0)
    # One shape, and in Python's order.
    z = x[:1000].reshape(10, 100)
    assert outcome(wf.sum, "x * 2", x=z.cuda(), keepdims=True) == outcome(wf.sum, "x * 2", x=z, keepdims=True)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "int32"])
def test_expressions_over_axes(name):
    for shape, axis in (((5, 7), 1), ((5, 7), 0), ((40, 1000), -1), ((1000, 40), 0), ((3, 50, 4), 1), ((2, 9, 30), (1, 2))):
        x, y = tensor(name, shape, 3), tensor(name, shape, 4)
        for op in ("sum", "mean", "var", "l2", "min", "max", "argmax", "count_nonzero"):
            for more in ({}, {"keepdims": True}, {"where": "x < y"}):
                f = getattr(wf, op)
                there = outcome(f, "max(x, y)", x=x.cuda(), y=y.cuda(), axis=axis, **more)
                assert there == outcome(f, "max(x, y)", x=x, y=y, axis=axis, **more), (name, shape, axis, op, more)
    # Arrays of length 1 along the axes that are reduced, or along the others.
    x, w, m = tensor("float32", (6, 50)), tensor("float32", (50,), 1), tensor("float32", (6, 1), 2)
    for axis in (0, 1):
        for text, arrays in (("x * w", {"w": w}), ("(x - m)**2", {"m": m}), ("w * (x - m)", {"w": w, "m": m})):
            there = outcome(wf.sum, text, x=x.cuda(), **{k: a.cuda() for k, a in arrays.items()}, axis=axis)
            assert there == outcome(wf.sum, text, x=x, **arrays, axis=axis), (axis, text)
    # Results that do not exist.
    assert outcome(wf.mean, "x", x=x.cuda(), where="x > 2", axis=1) == outcome(wf.mean, "x", x=x, where="x > 2", axis=1)
    empty = torch.zeros(3, 0)
    for op in (wf.sum, wf.mean):
        assert outcome(op, "x + 1", x=empty.cuda(), axis=1) == outcome(op, "x + 1", x=empty, axis=1)


def test_expressions_that_no_kernel_folds_are_refused():
    x = tensor("float32", (100,)).cuda()
    for call, words in (
        (lambda: wf.var("i64(x)", x=x, weights="i64(y)", y=x), "weighted"),
        (lambda: wf.sum("x + y", x=x, y=x.cpu()), "host's memory"),
        (lambda: wf.sum("x + y", x=x, y=x[:50]), "one shape"),
        (lambda: wf.sum("x + 1", x=x[::2]), "contiguous"),
        (lambda: wf.sum("x + 1", x=x.reshape(5, 2, 10), axis=(0, 2)), "others between them"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            call()
    with pytest.raises((ValueError, OverflowError), match="index 3"):
        wf.sum("x + x", x=torch.tensor([1, 2, 3, 2**63 - 1]).cuda())
