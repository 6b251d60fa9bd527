"""Reductions of arrays that lie over ranks, from a way to merge partials."""

from . import partials
from ._partials import MERGEABLE, rounded


def functions(allreduce, keyword, about):
    """A function for each reduction, with one keyword for the ranks."""

    def function(op):
        def reduce(x, /, axis=None, *, correction=None, dtype=None, keepdims=False, nan="propagate", overflow="raise", **ranks):
            if set(ranks) - {keyword}:
                raise TypeError(f"{op} has no keyword {sorted(set(ranks) - {keyword})[0]!r}")
            if correction is not None and op not in ("var", "std"):
                raise TypeError(f"{op} has no correction; leave it out")
            mine = partials(x, axis, op, keepdims=keepdims, nan=nan)
            return rounded(allreduce(mine, ranks.get(keyword)), dtype, correction=correction, overflow=overflow)[()]

        reduce.__name__ = reduce.__qualname__ = op
        reduce.__doc__ = f"As `warpfold.{op}`, of the parts of all ranks; `{keyword}` is the {about}."
        return reduce

    return {op: function(op) for op in MERGEABLE}
