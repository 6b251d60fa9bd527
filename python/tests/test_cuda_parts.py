"""Axes, rows, segments and groups of arrays on a GPU, against the same on the host."""

import math

import pytest
import warpfold as wf
from gpu import LINEAR, SPREAD, check, ops, outcome, tensor, torch
from oracle import COMPLEX, REAL


@pytest.mark.parametrize("name", [*REAL, *COMPLEX, "bfloat16"])
def test_axes_and_layouts(name):
    x = tensor(name, (6, 50, 70), 3)
    for op in ops(name):
        for axis in (0, 1, -1, (0, 2), (0, 1)):
            check(name, op, x, axis=axis)
        for view in (x[::2, 1:, ::3], x.permute(2, 0, 1), x[:, 5], x[:0]):
            check(name, op, view)
            check(name, op, view, axis=-1, keepdims=True)


def test_results_of_16_bits_are_rounded_once():
    # Sums whose exact value lies just beside the middle between two neighbours, in f32 at the middle.
    for dtype, unit in ((torch.bfloat16, 2.0**-7), (torch.float16, 2.0**-10)):
        tiny = 2.0**-24 if dtype == torch.float16 else 2.0**-40
        for sign in (1, -1):
            row = [1.0, unit / 2, sign * tiny]
            x = torch.tensor([row] * 5 + [[1.0, 0, 0]], dtype=dtype)
            expected = 1 + unit if sign == 1 else 1.0
            assert wf.sum(x.cuda(), axis=1).tolist() == [expected] * 5 + [1.0]
            assert wf.sum(x.T.contiguous().cuda(), axis=0).tolist() == [expected] * 5 + [1.0]
            assert wf.sum(x[0].cuda()).item() == expected


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rows_of_16_bits(dtype):
    # Whole numbers, whose sums lie in the middle between two neighbours often; normal ones; and rows with NaN and infinities.
    whole = torch.arange(12 * 5000).mul(37).remainder(255).sub(100).reshape(12, 5000)
    normal = torch.randn(12, 5000, generator=torch.Generator().manual_seed(1))
    special = normal.clone()
    special[3, 7], special[5, 4999], special[6, 0], special[6, 9] = math.nan, math.inf, math.inf, -math.inf
    for x in (whole, normal * 3, special):
        x = x.to(dtype)
        for op in LINEAR + SPREAD:
            for shape in ((12, 5000), (3, 20_000), (6000, 10), (600, 100), (2, 50, 600)):
                y = x.reshape(shape)
                for axis in (0, 1, -1):
                    check(str(dtype), op, y, axis=axis)
            check(str(dtype), op, x, axis=1, dtype="float32")
            check(str(dtype), op, x, axis=1, dtype=str(dtype)[6:])
            check(str(dtype), op, x[0], dtype="float32")
            if op in ("var", "std"):
                check(str(dtype), op, x, axis=1, correction=4999)
                check(str(dtype), op, x.reshape(-1), correction=1)


@pytest.mark.parametrize("name", ["int8", "int32", "int64"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_of_integers_as_floats(name, dtype):
    x = torch.arange(1, 241, dtype=torch.int64).remainder(23).add(1).to(getattr(torch, name)).reshape(12, 20)
    for chosen in ({}, {"axis": 0}, {"axis": 1}):
        check(name, "prod", x, dtype=dtype, **chosen)
    flat = x.reshape(-1)
    assert outcome(wf.segment_prod, flat.cuda(), every=20, dtype=dtype) == outcome(wf.segment_prod, flat, every=20, dtype=dtype)
    keys = torch.arange(240) % 7
    there = wf.group_by(keys.cuda(), flat.cuda(), groups=7).prod(dtype=dtype)
    assert outcome(lambda: there) == outcome(lambda: wf.group_by(keys, flat, groups=7).prod(dtype=dtype))


@pytest.mark.parametrize("name", [*REAL, *COMPLEX, "bfloat16"])
def test_segments(name):
    x, y = tensor(name, (5000,), 1), tensor(name, (5000,), 1).cuda()
    offsets = torch.tensor([0, 0, 7, 300, 301, 5000])
    for op in ops(name):
        f = getattr(wf, f"segment_{op}")
        assert outcome(f, y, every=50) == outcome(f, x, every=50), op
        for kind in (torch.int32, torch.int64):
            assert outcome(f, y, offsets.to(kind).cuda()) == outcome(f, x, offsets.to(kind)), (op, kind)
            lengths = offsets.diff().to(kind)
            assert outcome(f, y, lengths=lengths.cuda()) == outcome(f, x, lengths=lengths), (op, kind)
    for wrong in (lambda: wf.segment_sum(y, offsets), lambda: wf.segment_sum(y, lengths=offsets), lambda: wf.segment_sum(y)):
        with pytest.raises(TypeError, match="on that GPU|stated in one way"):
            wrong()
    for wrong in ({"offsets": [0, 9, 5]}, {"lengths": [0, 4999]}, {"lengths": [5001, -1]}, {"lengths": [-1]}):
        with pytest.raises(ValueError):
            wf.segment_sum(y, **{name: torch.tensor(numbers).cuda() for name, numbers in wrong.items()})
    assert outcome(wf.segment_sum, y[:0], lengths=torch.tensor([0, 0]).cuda()) == outcome(wf.segment_sum, x[:0], lengths=torch.tensor([0, 0]))


@pytest.mark.parametrize("name", [*REAL, "bfloat16"])
def test_groups(name):
    x = tensor(name, (3000,), 5)
    for keys in (torch.arange(3000) * 7919 % 40 - 20, torch.arange(3000) // 100, torch.arange(3000) % 2 == 0, torch.zeros(3000, dtype=torch.uint8)):
        here, there = wf.group_by(keys, x), wf.group_by(keys.cuda(), x.cuda())
        assert there.keys.is_cuda and there.keys.tolist() == here.keys.tolist()
        for op in ops(name):
            assert outcome(lambda by: tuple(getattr(by, op)()), there) == outcome(lambda by: tuple(getattr(by, op)()), here), (name, op)
    keys = torch.arange(3000, dtype=torch.int32) * 7 % 50
    for op in ops(name):
        # Of the last ten groups nothing is there.
        found, expected = (outcome(lambda k, v: getattr(wf.group_by(k, v, groups=60), op)(), k, v) for k, v in ((keys.cuda(), x.cuda()), (keys, x)))
        assert found == expected, (name, op)
    for one, other in ((keys, x), (keys.cuda(), x.cuda())):
        with pytest.raises(IndexError):
            wf.group_by(one, other, groups=10).sum()
