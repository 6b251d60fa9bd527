"""What reductions with several results give."""

from collections import namedtuple

Groups = namedtuple("Groups", ["keys", "values"])
Groups.__doc__ = "The keys of groups, ascending, and the result of each."
Groups.__module__ = "warpfold"

Stats = namedtuple(
    "Stats",
    ["count", "nan_count", "sum", "mean", "var", "std", "min", "max", "argmin", "argmax", "l1", "l2"],
    defaults=(None, None, None, None, None, None, None, None, None, None, None, None),
)
Stats.__doc__ = "The results of one pass; None is what does not exist."
Stats.__module__ = "warpfold"

Device = namedtuple("Device", ["kind", "name", "isa", "threads"])
Device.__doc__ = "Something that reductions run on: its instruction set, and how many threads it runs at once."
Device.__module__ = "warpfold"
