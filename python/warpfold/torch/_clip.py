"""Clipping by the exact norm of all gradients."""

import builtins
import math


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales gradients so that the norm of all of them together is `max_norm` at most, in place.

    As `torch.nn.utils.clip_grad_norm_`, but that the norm is that of all elements, rounded once: it does not depend on how they are shared
    out among parameters, nor on threads.

    Parameters
    ----------
    parameters : tensor or iterable of tensors
        Those without a gradient are left out. Gradients lie on the CPU, on GPUs, or on several of these.
    max_norm : float
        The largest norm.
    norm_type : float
        1, 2 or infinity.
    error_if_nonfinite : bool
        Whether a norm that is NaN or infinite is an error.
    foreach : bool, optional
        Taken for torch's sake; nothing depends on it.

    Returns
    -------
    tensor
        The norm before, of the widest type of the gradients, on the device of the first.

    Examples
    --------
    >>> import torch
    >>> import warpfold.torch
    >>> p = torch.nn.Parameter(torch.zeros(2))
    >>> p.grad = torch.tensor([3.0, 4.0])
    >>> warpfold.torch.clip_grad_norm_(p, 10.0)
    tensor(5.)
    """
    import functools

    import torch

    from .. import Exact

    op = {1.0: "l1", 2.0: "l2", math.inf: "linf"}.get(float(norm_type))
    if op is None:
        raise ValueError(f"norm_type={norm_type} has no exact norm; give 1, 2 or infinity, or take torch.nn.utils.clip_grad_norm_")
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return torch.tensor(0.0)
    dtype = functools.reduce(torch.promote_types, (g.dtype for g in grads))
    total = Exact(dtype, op)
    with torch.no_grad():
        for grad in grads:
            grad = grad.detach().to(dtype)
            total.add(grad.contiguous() if grad.is_cuda else grad)
        real = torch.empty(0, dtype=dtype)
        norm = torch.tensor(float(total.round()), dtype=real.real.dtype if dtype.is_complex else dtype, device=grads[0].device)
        if error_if_nonfinite and not builtins.bool(norm.isfinite()):
            raise RuntimeError(f"the norm of order {norm_type} of the gradients is {norm.item()}, so they cannot be clipped")
        scale = (max_norm / (norm + 1e-6)).clamp(max=1.0)
        for grad in grads:
            grad.mul_(scale.to(grad.device, grad.dtype))
    return norm
