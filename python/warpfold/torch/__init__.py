"""torch with exact reductions: gradients, `torch.compile`, and torch's own reductions made exact.

    import warpfold.torch                       # from here on, torch.compile knows the functions of warpfold
    torch.compile(lambda x: wf.sum(x * 2), fullgraph=True)(x)

    with warpfold.torch.exact():
        loss = model(x).mean()
        loss.backward()
    warpfold.torch.clip_grad_norm_(model.parameters(), 1.0)
"""

from . import _compiled
from ._clip import clip_grad_norm_

__all__ = ["clip_grad_norm_", "exact"]


def exact():
    """A context in which torch's reductions of tensors on the CPU are exact, rounded once.

    Covered are `sum`, `nansum`, `mean`, `var`, `std`, `var_mean`, `std_mean`, `norm` and `linalg.vector_norm` (of order 0, 1, 2 and infinity),
    `index_add`, `scatter_add`, `scatter_reduce` and `segment_reduce` (sums and means), with torch's signatures, defaults, types and
    gradients. Everything else, and tensors that are not dense, on the CPU and of a type that is known here, stays torch's.

    Returns
    -------
    context manager
        A `TorchDispatchMode`, of the thread that enters it.

    Examples
    --------
    >>> import torch
    >>> import warpfold.torch
    >>> x = torch.tensor([1e8, 1.0, -1e8])
    >>> with warpfold.torch.exact():
    ...     x.sum()
    tensor(1.)
    """
    from ._exact import Exact

    return Exact()


_compiled.prepare()
