"""Exact aggregations for Ray's data sets: the same bits for any blocks and any order of them.

    ds.aggregate(warpfold.ray.Aggregate("sum", on="x"))
    ds.groupby("k").aggregate(warpfold.ray.Aggregate("var", on="x", correction=1))
"""

from ray.data.aggregate import AggregateFnV2 as _AggregateFnV2

from . import Exact
from ._partials import MERGEABLE

__all__ = ["Aggregate"]


class Aggregate(_AggregateFnV2):
    """An exact aggregation of a column, with nulls skipped.

    Parameters
    ----------
    op : str
        The reduction.
    on : str
        The column.
    correction : float, optional
        The divisor of a variance is `n - correction`. By default 0.
    nan : {'propagate', 'ignore'}
        What a NaN does.
    name : str, optional
        The name of the result's column. By default `exact_sum(x)` and the like.
    """

    def __init__(self, op="sum", on=None, *, correction=None, nan="propagate", name=None):
        if op not in MERGEABLE:
            raise ValueError(f"op={op!r} is not one of {', '.join(MERGEABLE)}")
        if on is None:
            raise ValueError("name the column with on=")
        self._op, self._nan, self._correction = op, nan, correction
        super().__init__(name or f"exact_{op}({on})", lambda: b"", on=on, ignore_nulls=True)

    def aggregate_block(self, block):
        from ray.data.block import BlockAccessor

        column = BlockAccessor.for_block(block).to_arrow().column(self.get_target_column())
        partial = Exact(str(column.type).replace("double", "float64").replace("halffloat", "float16"), self._op, nan=self._nan)
        partial.add(column, threads=1)
        return partial.to_bytes()

    def combine(self, current_accumulator, new):
        if not current_accumulator or not new:
            return current_accumulator or new
        return (Exact.from_bytes(current_accumulator) + Exact.from_bytes(new)).to_bytes()

    def finalize(self, accumulator):
        if not accumulator:
            return None
        return Exact.from_bytes(accumulator).round(correction=self._correction)
