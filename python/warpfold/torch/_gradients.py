# mypy: ignore-errors
# Where torch is not installed, nothing of this can be looked at.
"""Reductions of tensors that torch follows: for gradients, forward ones too, and under `torch.func`.

The values are those of the functions themselves. Gradients are torch's formulas; the reductions in them are exact as well, and have gradients in turn.
"""

import math

import torch

import warpfold as wf

# Results that are no continuous function of the elements.
STEPS = frozenset({"argmin", "argmax", "any", "all", "count_nonzero"})


def reduce(name, x, *, axis, keepdims, dtype, correction, initial, where, weights, **policy):
    """The reduction of that name, with everything that its caller chose."""
    if name == "minmax":
        both = {"axis": axis, "keepdims": keepdims, "dtype": dtype, "correction": correction, "initial": initial, "where": where}
        return tuple(reduce(side, x, weights=weights, **both, **policy) for side in ("min", "max"))
    if isinstance(weights, torch.Tensor) and weights.requires_grad:
        raise TypeError("weights that require a gradient have none here; give weights.detach()")
    if initial is not None and not isinstance(initial, (bool, int, float, complex)):
        initial = initial.item()
    options = {"dtype": dtype, "correction": correction, "initial": initial, **policy}
    dims = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    dims = tuple(inside(d, x.ndim) for d in dims)
    function = Transformed if is_transformed() else Reduction
    return function.apply(x, beside(where, x, torch.bool), beside(weights, x, None), name, dims, bool(keepdims), options)


def dot(x, y, **options):
    """The dot product of two tensors, or of one and another array."""
    x, y = (a if isinstance(a, torch.Tensor) else torch.as_tensor(a) for a in (x, y))
    return Dot.apply(x, y, options)


def is_transformed():
    return torch._C._are_functorch_transforms_active()


def inside(axis, ndim):
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} does not exist, of a tensor with {ndim} axes; name axes from 0, each once")
    return axis % ndim


def beside(given, x, dtype):
    """A mask or weights of any library as a tensor."""
    if given is None or isinstance(given, torch.Tensor):
        return given
    return torch.as_tensor(given, dtype=dtype, device=x.device)


# The options that functions have, and what they are by default.
DEFAULTS = {"dtype": None, "accuracy": "exact", "nan": "propagate", "overflow": "raise", "threads": None, "correction": 0.0, "initial": None}
PLAIN = ("nan", "threads", "initial")
TAKEN = {name: (*PLAIN, "dtype", "accuracy", "overflow") for name in ("sum", "mean", "l1", "l2", "sumsq", "linf", "prod")}
TAKEN |= {name: (*PLAIN, "dtype", "correction") for name in ("var", "std")}


def is_default(key, value):
    default = DEFAULTS[key]
    return value is None if default is None else value == default


def call(name, x, where, weights, dims, keepdims, options):
    """The function itself, with the options that it has; what is as by default costs time to say."""
    given = {key: options[key] for key in TAKEN.get(name, PLAIN) if not is_default(key, options[key])}
    if keepdims or len(dims) < x.ndim:
        given |= {"axis": dims, "keepdims": keepdims}
    if where is not None:
        given["where"] = where
    if weights is not None:
        given["weights"] = weights
    return getattr(wf, name)(x, **given)


def remember(ctx, chosen, output, *tensors):
    """What a gradient is made of, if there is one."""
    ctx.chosen = chosen
    if chosen[0] in STEPS:
        ctx.mark_non_differentiable(output)
    else:
        ctx.save_for_backward(*tensors, output)
        ctx.save_for_forward(*tensors, output)


class Reduction(torch.autograd.Function):
    """One reduction of one tensor, over some axes, which are counted from the front."""

    @staticmethod
    def forward(ctx, x, where, weights, name, dims, keepdims, options):
        output = call(name, x, where, weights, dims, keepdims, options)
        remember(ctx, (name, dims, keepdims, options), output, x, where, weights)
        return output

    @staticmethod
    def backward(ctx, g):
        x, where, weights, output = ctx.saved_tensors
        return gradient(g, x, where, weights, output, *ctx.chosen), None, None, None, None, None, None

    @staticmethod
    def jvp(ctx, t, *_):
        if ctx.chosen[0] in STEPS:
            return None
        x, where, weights, output = ctx.saved_tensors
        name, dims, keepdims, options = ctx.chosen
        if x.is_complex():
            raise NotImplementedError(f"forward gradients of {name} of complex tensors are not there; take those of backward")
        slope = gradient(torch.ones_like(output), x, where, weights, output, name, dims, keepdims, options)
        return wf.sum(slope * t, axis=dims, keepdims=keepdims, dtype=output.dtype)


class Transformed(Reduction):
    """The same as the transformations of `torch.func` take it, which costs more."""

    @staticmethod
    def forward(x, where, weights, name, dims, keepdims, options):
        return call(name, x, where, weights, dims, keepdims, options)

    @staticmethod
    def setup_context(ctx, inputs, output):
        remember(ctx, inputs[3:], output, *inputs[:3])

    @staticmethod
    def vmap(info, in_dims, x, where, weights, name, dims, keepdims, options):
        x = x.expand(info.batch_size, *x.shape) if in_dims[0] is None else x.movedim(in_dims[0], 0)

        def batched(a, dim):
            """With the batch in front, and axes of length 1 behind it, so that the others broadcast as before."""
            if a is None or dim is None:
                return a
            a = a.movedim(dim, 0)
            return a.reshape(a.shape[0], *[1] * (x.ndim - a.ndim), *a.shape[1:])

        where, weights = batched(where, in_dims[1]), batched(weights, in_dims[2])
        return Transformed.apply(x, where, weights, name, tuple(d + 1 for d in dims), keepdims, options), 0


class Dot(torch.autograd.Function):
    """The sum of products of two tensors; nothing is conjugated."""

    @staticmethod
    def forward(x, y, options):
        return wf.dot(x, y, **options)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.options = inputs
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        return (g * y.conj()).to(x.dtype) if wanted[0] else None, (g * x.conj()).to(y.dtype) if wanted[1] else None, None

    @staticmethod
    def jvp(ctx, s, t, _):
        x, y = ctx.saved_tensors
        parts = [wf.dot(a, b, **ctx.options) for a, b in ((s, y), (x, t)) if a is not None and b is not None]
        return parts[0] if len(parts) == 1 else parts[0] + parts[1]

    @staticmethod
    def vmap(info, in_dims, x, y, options):
        x, y = (a.movedim(d, 0) if d is not None else a.expand(info.batch_size, *a.shape) for a, d in ((x, in_dims[0]), (y, in_dims[1])))
        return torch.stack([Dot.apply(a, b, options) for a, b in zip(x, y)]), 0


def gradient(g, x, where, weights, output, name, dims, keepdims, options):
    """The gradient of the elements, from that of the results."""
    if not keepdims:
        for d in sorted(dims):
            g, output = g.unsqueeze(d), output.unsqueeze(d)
    keep = kept(x, where, options["nan"])
    slope = SLOPES[name](g, x, keep, weights, output, dims, options)
    if keep is not None:
        slope = torch.where(keep, slope, torch.zeros((), dtype=slope.dtype, device=slope.device))
    return slope.to(x.dtype).expand(x.shape)


def kept(x, where, nan):
    """Which elements count; none for all of them."""
    keep = None if nan == "propagate" else ~x.isnan()
    if where is None:
        return keep
    where = where.to(x.device).expand(x.shape)
    return where if keep is None else where & keep


def counted(x, keep, dims):
    """How many elements each output has."""
    if keep is None:
        return math.prod(x.shape[d] for d in dims)
    return keep.sum(dims, keepdim=True) if dims else keep.to(torch.int64)


def moment(name, x, keep, weights, dims, **more):
    """A sum or a mean that gradients are made of, with a gradient of its own."""
    if type(x) not in (torch.Tensor, torch.nn.Parameter):
        # One without elements, of a graph that is being traced.
        nan = more.get("nan", "propagate")
        return torch.ops.warpfold.reduce(x, keep, weights, name, dims, True, None, 0.0, None, "exact", nan, "raise", None)
    chosen = {"where": keep, "weights": weights}
    return getattr(wf, name)(x, axis=dims, keepdims=True, **{key: value for key, value in chosen.items() if value is not None}, **more)


def total(weights, x, keep, dims):
    """The weights of each output."""
    return moment("sum", weights.expand(x.shape), keep, None, dims)


def sum_slope(g, x, keep, weights, output, dims, options):
    return g.expand(x.shape) if weights is None else g * weights


def mean_slope(g, x, keep, weights, output, dims, options):
    if weights is None:
        return (g / counted(x, keep, dims)).expand(x.shape)
    return g * weights / total(weights, x, keep, dims)


def var_slope(g, x, keep, weights, output, dims, options):
    nan = {} if keep is not None else {"nan": options["nan"]}
    distance = x - moment("mean", x, keep, weights, dims, **nan)
    if weights is None:
        return g * distance * 2 / (counted(x, keep, dims) - options["correction"])
    return g * weights * distance * 2 / (total(weights, x, keep, dims) - options["correction"])


def std_slope(g, x, keep, weights, output, dims, options):
    half = (g / (output * 2)).masked_fill(output == 0, 0)
    return var_slope(half, x, keep, weights, output, dims, options)


def l1_slope(g, x, keep, weights, output, dims, options):
    return g * x.sgn()


def l2_slope(g, x, keep, weights, output, dims, options):
    return (g / output).masked_fill(output == 0, 0) * x


def sumsq_slope(g, x, keep, weights, output, dims, options):
    return g * x * 2


def shared(g, is_extreme, keep, dims):
    """The gradient of an extreme, in equal parts for the elements that hold it."""
    if keep is not None:
        is_extreme = is_extreme & keep
    holders = is_extreme.sum(dims, keepdim=True) if dims else is_extreme.to(torch.int64)
    return g / holders.clamp(min=1) * is_extreme


def extreme_slope(g, x, keep, weights, output, dims, options):
    return shared(g, (x == output) | (x.isnan() & output.isnan()), keep, dims)


def linf_slope(g, x, keep, weights, output, dims, options):
    size = x.abs()
    return shared(g, (size == output) | (size.isnan() & output.isnan()), keep, dims) * x.sgn()


def prod_slope(g, x, keep, weights, output, dims, options):
    factors = x if keep is None else torch.where(keep, x, torch.ones((), dtype=x.dtype, device=x.device))
    return g * others(factors, dims, options["initial"]).conj()


def others(x, dims, initial):
    """For each element, the product of all others of its output."""
    if not dims:
        return torch.ones_like(x) if initial is None else torch.full_like(x, initial)
    back = x.movedim(dims, tuple(range(-len(dims), 0)))
    rows = back.reshape(*back.shape[: x.ndim - len(dims)], -1)
    one = torch.ones_like(rows[..., :1])
    if initial is not None:
        one = one * initial
    before = torch.cat([one, rows[..., :-1]], -1).cumprod(-1)
    after = torch.cat([torch.ones_like(rows[..., :1]), rows[..., 1:].flip(-1)], -1).cumprod(-1).flip(-1)
    return (before * after).reshape(back.shape).movedim(tuple(range(-len(dims), 0)), dims)


SLOPES = {
    "sum": sum_slope,
    "mean": mean_slope,
    "var": var_slope,
    "std": std_slope,
    "l1": l1_slope,
    "l2": l2_slope,
    "sumsq": sumsq_slope,
    "linf": linf_slope,
    "prod": prod_slope,
    "min": extreme_slope,
    "max": extreme_slope,
}
