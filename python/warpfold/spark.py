"""Exact aggregations of Spark's data frames: the same bits for any partitions and any order of rows.

    warpfold.spark.sum(df, "x")                       # one number
    warpfold.spark.group_by(df, "k", "x", "mean")     # a data frame of k and mean

Each batch of Arrow becomes partials as bytes (`mapInArrow`), which merge exactly. Nulls are skipped.
"""

from ._partials import MERGEABLE

__all__ = ["group_by", *MERGEABLE]


def _names(type):
    name = str(type)
    return {"double": "float64", "float": "float32", "halffloat": "float16"}.get(name, name)


def _fold(op, nan):
    def fold(batches):
        import pyarrow as pa

        from warpfold import Exact

        partial = None
        for batch in batches:
            column = batch.column(0)
            partial = partial or Exact(_names(column.type), op, nan=nan)
            partial.add(column, threads=1)
        if partial is not None:
            yield pa.RecordBatch.from_arrays([pa.array([partial.to_bytes()], pa.binary())], names=["partial"])

    return fold


def _reduce(df, column, op, correction=None, dtype=None, nan="propagate"):
    from . import Exact
    from ._partials import merged

    # By their positions: the names of columns are Spark's to read.
    rows = df.select(column).mapInArrow(_fold(op, nan), "partial binary").collect()
    if not rows:
        raise ValueError("the data frame has no partition with rows, and so no element type; give it one row at least")
    return merged([Exact.from_bytes(bytes(row[0])) for row in rows]).round(dtype, correction=correction)


def _function(op):
    def function(df, column, *, correction=None, dtype=None, nan="propagate"):
        return _reduce(df, column, op, correction, dtype, nan)

    function.__name__ = function.__qualname__ = op
    function.__doc__ = f"As `warpfold.{op}`, of a column of a Spark data frame."
    return function


for _op in MERGEABLE:
    globals()[_op] = _function(_op)


def _fold_groups(op, nan):
    def fold(batches):
        import numpy as np
        import pyarrow as pa

        from warpfold._partials import of_groups

        for batch in batches:
            found = batch.filter(pa.compute.is_valid(batch.column(1)))
            if not len(found):
                continue
            keys = found.column(0).dictionary_encode(null_encoding="encode")
            codes = np.ascontiguousarray(keys.indices.to_numpy(zero_copy_only=False))
            values = np.ascontiguousarray(found.column(1).to_numpy(zero_copy_only=False))
            partials = of_groups(codes, values, len(keys.dictionary), op, nan)
            saved = pa.array([one.to_bytes() for one in partials], pa.binary())
            yield pa.RecordBatch.from_arrays([keys.dictionary, saved], names=["key", "partial"])

    return fold


def _finish(key, op, correction, result):
    def finish(table):
        import pyarrow as pa

        from warpfold import Exact
        from warpfold._partials import merged

        partials = [Exact.from_bytes(data.as_py()) for data in table.column("partial")]
        value = merged(partials).round(correction=correction)
        return pa.table([table.column("key").slice(0, 1), pa.array([value], result)], names=[key, op])

    return finish


def group_by(df, key, column, op="sum", *, correction=None, nan="propagate"):
    """A data frame of each key and the reduction of its values; keys whose values are all null are left out.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The data.
    key : str
        The column of keys.
    column : str
        The column of values.
    op : str
        The reduction, which names the column of results.
    correction : float, optional
        The divisor of a variance is `n - correction`. By default 0.
    nan : {'propagate', 'ignore'}
        What a NaN does.
    """
    import numpy as np
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
    from pyspark.sql.types import BinaryType, StructField, StructType

    from ._partials import result_type

    if op not in MERGEABLE:
        raise ValueError(f"op={op!r} is not one of {', '.join(MERGEABLE)}")
    pair = df.select(key, column)
    keys, values = (field.dataType for field in pair.schema.fields)
    given = StructType([StructField("key", keys), StructField("partial", BinaryType())])
    result = pa.from_numpy_dtype(result_type(np.dtype(_names(to_arrow_type(values))), op))
    given_result = StructType([StructField(key, keys), StructField(op, from_arrow_type(result))])
    return pair.mapInArrow(_fold_groups(op, nan), given).groupBy("key").applyInArrow(_finish(key, op, correction, result), given_result)
