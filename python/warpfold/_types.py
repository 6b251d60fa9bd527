"""What reductions with several results give."""

from collections import namedtuple

Groups = namedtuple("Groups", ["keys", "values"])
Groups.__doc__ = "The keys of groups, ascending, and the result of each."
Groups.__module__ = "warpfold"

_fields = ["count", "nan_count", "sum", "mean", "var", "std", "min", "max", "argmin", "argmax", "l1", "l2"]
Stats = namedtuple("Stats", _fields, defaults=[None] * len(_fields))
Stats.__doc__ = "Everything that one pass tells; None is what does not exist."
Stats.__module__ = "warpfold"
