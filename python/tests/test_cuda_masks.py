"""Masks, weights and expressions of axes, segments and groups of arrays on a GPU, against the same on the host."""

import pytest
import warpfold as wf
from gpu import COUNTS, LINEAR, ORDERED, SPREAD, outcome, tensor, torch
from oracle import COMPLEX, REAL, sample

OPS = [*LINEAR, *SPREAD, *ORDERED, *COUNTS, "minmax"]


def both(f, *arrays, **named):
    """The outcome there and here."""
    there = outcome(f, *(a.cuda() for a in arrays), **{k: a.cuda() for k, a in named.items()})
    return there, outcome(f, *arrays, **named)


def values(name, n, salt=0):
    """Elements whose sums and products fit, with no NaN among the first ones."""
    return torch.from_numpy(sample(name, (n,), salt) % 5) if name[-2:] in ("32", "64") and "int" in name else tensor(name, (n,), salt)


@pytest.mark.parametrize("name", [*REAL, "bfloat16"])
def test_masks_of_whole_arrays_and_axes(name):
    x = values(name, 6 * 50 * 4).reshape(6, 50, 4)
    mask = torch.arange(1200).reshape(6, 50, 4) * 7 % 10 < 6
    for op in OPS:
        for axis in (None, 0, 1, -1, (1, 2)):
            there, here = both(lambda x, m: getattr(wf, op)(x, axis=axis, where=m), x, mask)
            assert there == here, (name, op, axis)
    # Length 1 along all axes that are reduced, or along all others.
    for axis, row in ((-1, mask[:, :, :1]), (0, mask[:1]), ((1, 2), mask[:, :1, :1])):
        for op in ("sum", "mean", "max"):
            there, here = both(lambda x, m: getattr(wf, op)(x, axis=axis, where=m), x, row)
            assert there == here, (name, op, axis)
    assert both(lambda x, m: wf.sum(x, axis=1, keepdims=True, where=m, dtype="float64"), x, mask)[0] is not None


@pytest.mark.parametrize("name", [*REAL, "bfloat16"])
def test_masks_of_segments(name):
    x = values(name, 5000, 1)
    mask = torch.arange(5000) * 7 % 10 < 6
    mask[7:300] = False
    offsets = torch.tensor([0, 0, 7, 300, 301, 5000])
    for op in OPS:
        f = getattr(wf, f"segment_{op}")
        there, here = both(lambda x, m: f(x, every=50, where=m), x, mask)
        assert there == here, (name, op)
        for kind in (torch.int32, torch.int64):
            there, here = both(lambda x, m, o: f(x, o, where=m), x, mask, offsets.to(kind))
            assert there == here, (name, op, kind)
    with pytest.raises(ValueError):
        wf.segment_sum(x.cuda(), torch.tensor([0, 9, 5]).cuda(), where=mask.cuda())
    with pytest.raises(ValueError):
        wf.segment_sum(x.cuda(), torch.tensor([0, -1]).cuda(), where=mask.cuda())


@pytest.mark.parametrize("name", [*REAL, "bfloat16"])
def test_masks_of_groups(name):
    x, mask = values(name, 3000, 5), torch.arange(3000) * 7 % 10 < 6
    for keys in (torch.arange(3000) * 7919 % 40 - 20, torch.arange(3000) // 100, torch.arange(3000) % 2 == 0):
        for op in OPS:
            there, here = both(lambda k, x, m: flat(getattr(wf.group_by(k, x, where=m), op)()), keys, x, mask)
            assert there == here, (name, op)
    keys = torch.arange(3000, dtype=torch.int32) * 7 % 50
    for op in OPS:
        there, here = both(lambda k, x, m: getattr(wf.group_by(k, x, groups=60, where=m), op)(), keys, x, mask)
        assert there == here, (name, op)


def flat(groups):
    keys, results = groups
    return (keys, *results) if isinstance(results, tuple) else (keys, results)


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "int32"])
def test_expressions_of_segments_and_groups(name):
    x, y = values(name, 3000, 2), values(name, 3000, 3)
    mask, offsets = torch.arange(3000) % 3 > 0, torch.tensor([0, 70, 71, 3000])
    keys = torch.arange(3000) * 7919 % 40 - 20
    for op in ("sum", "mean", "var", "l2", "max", "argmax", "minmax", "count_nonzero"):
        f = getattr(wf, f"segment_{op}")
        for where in (None, "x > y", mask):
            here = outcome(lambda: f("max(x, y)", offsets, x=x, y=y, where=where))
            held = where.cuda() if isinstance(where, torch.Tensor) else where
            there = outcome(lambda: f("max(x, y)", offsets.cuda(), x=x.cuda(), y=y.cuda(), where=held))
            assert there == here, (name, op, where)
            if offsets[0] == 0 and offsets[-1] == len(x):
                there = outcome(lambda: f("max(x, y)", lengths=offsets.diff().cuda(), x=x.cuda(), y=y.cuda(), where=held))
                assert there == here, (name, op, where)
            here = outcome(lambda: flat(getattr(wf.group_by(keys, "max(x, y)", x=x, y=y, where=where), op)()))
            by = wf.group_by(keys.cuda(), "max(x, y)", x=x.cuda(), y=y.cuda(), where=held)
            assert outcome(lambda: flat(getattr(by, op)())) == here, (name, op, where)
            assert by.keys.is_cuda and by.keys.tolist() == list(range(-20, 20))
        assert outcome(f, "x + y", every=100, x=x.cuda(), y=y.cuda()) == outcome(f, "x + y", every=100, x=x, y=y), (name, op)
    named = {"x": x, "y": y}
    there = outcome(lambda: wf.group_by((keys + 20).cuda(), "x * y", groups=45, **{k: a.cuda() for k, a in named.items()}).sum())
    assert there == outcome(lambda: wf.group_by(keys + 20, "x * y", groups=45, **named).sum())


@pytest.mark.parametrize("names", [("float32", "float32"), ("float64", "float32"), ("bfloat16", "bool"), ("float16", "float16")])
def test_weights(names):
    x = tensor(names[0], (40, 30))
    w = (tensor(names[1], (40, 30), 1)).abs() if names[1] != "bool" else torch.arange(1200).reshape(40, 30) % 3 > 0
    mask = torch.arange(1200).reshape(40, 30) % 5 > 1
    for op in ("sum", "mean", "var", "std"):
        f = getattr(wf, op)
        for axis in (None, 0, 1):
            there, here = both(lambda x, w: f(x, axis=axis, weights=w), x, w)
            assert there == here, (names, op, axis)
            there, here = both(lambda x, w, m: f(x, axis=axis, weights=w, where=m), x, w, mask)
            assert there == here, (names, op, axis)


@pytest.mark.parametrize("name", ("float32", "float64", "float16", "bfloat16", "int32", "int8", "complex64"))
def test_one_more_element(name):
    x = tensor(name, (40, 30))
    one = x.reshape(-1)[3].item()
    for op in ("sum", "prod", "min", "max", "any", "all"):
        f = getattr(wf, op)
        if x.is_complex() and op in ("min", "max"):
            continue
        for keepdims in (False, True):
            there, here = both(lambda x: f(x[:1, :3].contiguous(), initial=one, keepdims=keepdims), x)
            assert there == here, (name, op)
        there, here = both(lambda x: f(x[:0], initial=one), x)
        assert there == here, (name, op, "of nothing")
    if name == "float32":
        big = torch.tensor([1e30, -1e30]).cuda()
        assert wf.sum(big, initial=0.5).item() == 0.5
        assert wf.sum(big, initial=0.5, accuracy="fast").item() == 0.5


def test_errors_name_the_argument_and_say_what_to_do():
    x, mask = torch.ones(4, 3).cuda(), torch.ones(4, 3, dtype=torch.bool).cuda()
    line, keys = x.reshape(-1), torch.arange(12).cuda()
    for call, words in (
        (lambda: wf.sum(x, where=mask.cpu()), "where does not.*where.cuda.*x.cpu"),
        (lambda: wf.sum(x.cpu(), where=mask), "where lies on a GPU.*where.cpu"),
        (lambda: wf.sum(x, where=mask[0]), "where is .3..*expand"),
        (lambda: wf.sum(x[:, :1].contiguous(), axis=1, where=mask), "where is .4, 3."),
        (lambda: wf.sum(x, axis=1, where=mask.T.reshape(4, 3).T.contiguous().T), "where must be contiguous.*where.contiguous"),
        (lambda: wf.sum(x, where=x), "where has elements of float32"),
        (lambda: wf.sum(x.T, where=mask.T), "x must be contiguous.*x.contiguous"),
        (lambda: wf.sum(x.to(torch.complex64), where=mask), "copy the array and where to the host"),
        (lambda: wf.stats(x.half(), where=mask), "copy the array and where to the host"),
        (lambda: wf.sum(x, axis=0, initial=1.0), "over axes.*no initial.*x.cpu"),
        (lambda: wf.sum(x, initial=1.0, where=mask), "initial does not go with where.*x.cpu"),
        (lambda: wf.sum(x, initial="y"), "initial is one number"),
        (lambda: wf.sum(x.T, initial=1.0, axis=(0, 1)).item() + wf.prod(x.T, initial=1.0), "must be contiguous for an exact partial"),
        (lambda: wf.mean(x, weights=mask.cpu().float()), "weights is no array there.*x.cpu"),
        (lambda: wf.sum(x, weights="x"), "weights is no array there"),
        (lambda: wf.segment_sum(line, every=4, where=mask.reshape(-1).cpu()), "where does not"),
        (lambda: wf.segment_sum(line, every=4, where=mask.reshape(-1)[:4]), "where 4"),
        (lambda: wf.segment_sum("x", every=4, x=x), "x has 2 axes.*x.reshape"),
        (lambda: wf.group_by(keys, line, where=mask.reshape(-1)).var(correction=0.5), "whole number.*x.cpu"),
        (lambda: wf.group_by(keys, "x", x=line.cpu()), "one of them lies on a GPU"),
        (lambda: wf.sum("x", x=line, where=mask.reshape(-1).cpu()), "where lies in the host's memory.*x.cpu"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            call()


def test_complex_numbers_without_masks_stay():
    for name in COMPLEX:
        x = tensor(name, (30,))
        assert outcome(wf.sum, x.cuda(), where=True) == outcome(wf.sum, x)


def test_masks_under_jit_of_jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    import numpy as np
    import warpfold.jax  # noqa: F401

    try:
        gpu, cpu = jax.devices("cuda")[0], jax.devices("cpu")[0]
    except RuntimeError:
        pytest.skip("there is no GPU that JAX can use")
    mask = np.arange(200).reshape(10, 20) * 7 % 13 < 8
    for name in ("float32", "float16", "int32", "bool"):
        x = tensor(name, (10, 20)).numpy()
        x = x % 3 if name == "int32" else x
        for op in ("sum", "mean", "var", "max", "argmin", "count_nonzero", "l2"):
            f = getattr(wf.jax, op)
            for axis in (None, 0, 1):
                there, here = (np.asarray(jax.jit(lambda x, m: f(x, axis=axis, where=m))(*jax.device_put((x, mask), to))) for to in (gpu, cpu))
                assert there.dtype == here.dtype and there.tobytes() == here.tobytes(), (name, op, axis)
