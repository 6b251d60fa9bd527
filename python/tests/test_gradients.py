"""Gradients of the functions, torch.func, and torch.compile, beside numerical ones and torch's own."""

import numpy as np
import pytest
import warpfold as wf

torch = pytest.importorskip("torch", reason="torch is not installed")
# torch's own modules warn of each other.
pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning"), pytest.mark.filterwarnings("ignore::UserWarning:torch")]
SLOPES = ["sum", "mean", "var", "std", "l1", "l2", "sumsq", "linf", "prod", "min", "max"]
STEPS = ["argmin", "argmax", "any", "all", "count_nonzero"]


def elements(shape=(4, 5), dtype=torch.float64):
    """Numbers of which no two are as large, with signs."""
    torch.manual_seed(0)
    count = int(np.prod(shape))
    return ((torch.randperm(count).double() + 1) * torch.where(torch.rand(count) < 0.5, -0.3, 0.3)).reshape(shape).to(dtype)


def mask():
    return torch.tensor([[True, False, True, True, True]] * 3 + [[False, True, True, False, True]])


@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.parametrize("chosen", [{}, {"axis": 1}, {"axis": (-1, 0), "keepdims": True}, {"axis": 1, "where": mask()}, {"where": mask().numpy()}])
def test_gradients_are_those_of_differences(name, chosen):
    def f(x):
        return getattr(wf, name)(x, **chosen)

    x = elements().requires_grad_()
    assert torch.autograd.gradcheck(f, (x,), check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(f, (x,))


@pytest.mark.parametrize("name", ["sum", "mean", "var", "std"])
def test_gradients_of_weighted_ones(name):
    w = elements().abs()
    x = elements().requires_grad_()

    def f(x):
        return getattr(wf, name)(x, axis=1, weights=w, **({"correction": 0.5} if name in ("var", "std") else {}))

    assert torch.autograd.gradcheck(f, (x,))
    with pytest.raises(TypeError, match="detach"):
        wf.sum(x, weights=w.requires_grad_())


@pytest.mark.parametrize("name", [name for name in SLOPES if name not in ("min", "max")])
def test_gradients_of_complex_tensors(name):
    z = torch.complex(elements(), elements((5, 4)).T.contiguous()).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: getattr(wf, name)(z, axis=1), (z,))


def test_gradients_of_products_with_zeros():
    x = torch.tensor([[2.0, 0, 3], [0, 0, 5], [1, 2, 4]], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(wf.prod(x, axis=1).sum(), x)
    assert g.tolist() == [[0, 6, 0], [0, 0, 0], [8, 4, 2]]
    (g,) = torch.autograd.grad(wf.prod(x[2], initial=3), x)
    assert g[2].tolist() == [24, 12, 6]


def test_what_is_skipped_has_no_gradient():
    x = torch.tensor([1.0, float("nan"), 4.0, 4.0], requires_grad=True)
    assert torch.allclose(torch.autograd.grad(wf.mean(x, nan="ignore"), x)[0], torch.tensor([1.0, 0, 1, 1]) / 3)
    assert torch.autograd.grad(wf.sum(x, nan="ignore"), x)[0].tolist() == [1, 0, 1, 1]
    assert torch.autograd.grad(wf.max(x, nan="ignore"), x)[0].tolist() == [0, 0, 0.5, 0.5]
    var = torch.autograd.grad(wf.var(x, nan="ignore"), x)[0]
    assert var[1] == 0 and torch.allclose(var[[0, 2, 3]], torch.tensor([-4 / 3, 2 / 3, 2 / 3]))


def test_results_and_types_are_those_without_a_gradient():
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        x = (elements((30, 7)) / 3).to(dtype)
        y = x.clone().requires_grad_()
        for name in SLOPES + STEPS:
            plain, followed = getattr(wf, name)(x, axis=0), getattr(wf, name)(y, axis=0)
            assert followed.dtype == plain.dtype and followed.equal(plain), name
            assert followed.requires_grad == (name in SLOPES)
        wide = wf.sum(y, dtype=torch.float64)
        assert wide.dtype == torch.float64 and torch.autograd.grad(wide, y)[0].dtype == dtype
    low, high = wf.minmax(y)
    assert torch.autograd.grad(high - low, y)[0].sum() == 0
    for call in (lambda: wf.stats(y), lambda: wf.segment_sum(y[0], every=7), lambda: wf.Exact("float64").add(y)):
        with pytest.raises(TypeError, match="detach"):
            call()
    with pytest.raises(TypeError, match="leave out out"):
        wf.sum(y, out=torch.zeros((), dtype=torch.float64))
    with torch.no_grad():
        assert not wf.sum(y).requires_grad


def test_dot():
    x, y = (elements((12,)).requires_grad_(), elements((12,)).flip(0).requires_grad_())
    assert torch.autograd.gradcheck(wf.dot, (x, y), check_forward_ad=True) and torch.autograd.gradgradcheck(wf.dot, (x, y))
    assert torch.autograd.grad(wf.dot(x, y.detach()), x)[0].equal(y)
    z = torch.complex(x.detach(), y.detach()).requires_grad_()
    assert torch.autograd.gradcheck(wf.dot, (z, z.detach().clone().requires_grad_()))


def test_transformations():
    func = torch.func
    x = elements((3, 4, 5))
    for name in SLOPES + STEPS:
        f = getattr(wf, name)
        assert func.vmap(f)(x).equal(f(x, axis=(1, 2))), name
        assert func.vmap(f, in_dims=2)(x).equal(f(x, axis=(0, 1))), name
        assert func.vmap(func.vmap(lambda row: f(row, axis=-1, keepdims=True)))(x).equal(f(x, axis=2, keepdims=True)), name
    per_sample = func.vmap(func.grad(wf.var))(x)
    assert torch.allclose(per_sample[1], func.grad(wf.var)(x[1]))
    assert func.vmap(lambda row, kept: wf.sum(row, where=kept))(x[0], x[0] > 0).equal(wf.sum(x[0], axis=1, where=x[0] > 0))
    assert func.jvp(wf.mean, (x,), (torch.ones_like(x),))[1] == 1
    assert torch.allclose(func.hessian(wf.sumsq)(x[0, 0]), 2 * torch.eye(5, dtype=x.dtype))
    assert torch.allclose(func.vmap(wf.dot)(x, x), (x * x).sum((1, 2)))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compiled_whole(backend):
    import warpfold.torch  # noqa: F401

    w = elements().abs().float()

    def f(x):
        both = wf.minmax(x, axis=0)[0].sum() + wf.dot(x, x) + wf.argmax(x) + wf.sum(x, dtype="float64")
        return wf.sum(x * 2, axis=1) + wf.var(x, correction=1) + wf.mean(x, where=x > 0) * both + wf.sum(x, weights=w) + wf.l2(x, -1)

    x = elements(dtype=torch.float32).requires_grad_()
    compiled = torch.compile(f, fullgraph=True, backend=backend)
    result, expected = compiled(x), f(x)
    assert result.dtype == expected.dtype and result.equal(expected)
    mine, plain = (torch.autograd.grad(r.sum(), x)[0] for r in (result, expected))
    assert torch.allclose(mine, plain, rtol=1e-6)
    with pytest.raises(Exception, match="out"):
        torch.compile(lambda x: wf.sum(x, out=x), fullgraph=True, backend=backend)(x.detach())


@pytest.mark.parametrize("name", SLOPES + STEPS)
def test_operators_are_what_torch_expects(name):
    import warpfold.torch._ops  # noqa: F401

    rest = (False, None, 0.0, None, "exact", "propagate", "raise", None)
    for x in (elements().requires_grad_(), elements(dtype=torch.float32)):
        torch.library.opcheck(torch.ops.warpfold.reduce.default, (x, None, None, name, [1], *rest))
        torch.library.opcheck(torch.ops.warpfold.reduce.default, (x, mask(), None, name, [0, 1], *rest))
    torch.library.opcheck(torch.ops.warpfold.dot.default, (x, x, None, "exact", "propagate", "raise", None))
