"""Reductions of arrays that lie over ranks, from a way to merge partials."""

import inspect

from ._partials import MERGEABLE, partials, rounded


def functions(allreduce, keyword, about):
    """A function for each reduction, with one keyword for the ranks."""

    def function(op):
        def reduce(x, /, axis=None, *, correction=None, dtype=None, keepdims=False, nan="propagate", overflow="raise", ranks=None):
            if correction is not None and op not in ("var", "std"):
                raise TypeError(f"{op} has no correction; leave it out")
            mine = partials(x, axis, op, keepdims=keepdims, nan=nan)
            return rounded(allreduce(mine, ranks), dtype, correction=correction, overflow=overflow)[()]

        def named(x, /, axis=None, **keywords):
            if "ranks" in keywords:
                raise TypeError(f"{op} has no keyword 'ranks'; name the {keyword}")
            if keyword in keywords:
                keywords["ranks"] = keywords.pop(keyword)
            return reduce(x, axis, **keywords)

        signature = inspect.signature(reduce)
        own = [one.replace(name=keyword) if one.name == "ranks" else one for one in signature.parameters.values()]
        named.__signature__ = signature.replace(parameters=own)
        named.__name__ = named.__qualname__ = op
        named.__doc__ = f"As `warpfold.{op}`, of the parts of all ranks; `{keyword}` is the {about}."
        return named

    return {op: function(op) for op in MERGEABLE}
