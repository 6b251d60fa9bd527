"""DuckDB by Arrow: what a query gives is reduced where it lies, or batch after batch; the recipe of docs/data.md."""

import math
import random
from collections import defaultdict

import pytest
import warpfold as wf
from oracle import bits

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

ROWS = 20_000


@pytest.fixture(scope="module")
def rows():
    """Numbers that plain additions get wrong, of both signs, some missing."""
    draw = random.Random(7)
    values = [draw.uniform(-1, 1) * 10.0 ** draw.randrange(-12, 13) for _ in range(ROWS)]
    values = [None if k % 13 == 5 else x for k, x in enumerate(values)]
    return [(k % 23, x) for k, x in enumerate(values)]


@pytest.fixture(scope="module")
def connection(rows):
    import pyarrow as pa

    keys, values = (list(column) for column in zip(*rows))
    source = pa.table({"k": pa.array(keys, pa.int64()), "x": pa.array(values, pa.float64())})  # noqa: F841, the query names it
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT * FROM source")
    yield connection
    connection.close()


def test_a_column_in_any_order_of_rows(connection, rows):
    expected = math.fsum(x for _, x in rows if x is not None)
    for order in ("", " ORDER BY x", " ORDER BY hash(k, x)"):
        for threads in (1, 4):
            connection.execute(f"SET threads = {threads}")
            column = connection.sql(f"SELECT x FROM t WHERE x IS NOT NULL{order}").to_arrow_table()["x"]
            assert bits(wf.sum(column)) == bits(expected)


def test_a_result_larger_than_memory_comes_in_batches(connection, rows):
    exact = wf.Exact("float64", "sum")
    reader = connection.sql("SELECT x FROM t WHERE x IS NOT NULL").to_arrow_reader(1000)
    batches = 0
    for batch in reader:
        exact.add(batch.column(0))
        batches += 1
    assert batches > 1
    assert bits(exact.round()) == bits(math.fsum(x for _, x in rows if x is not None))


def test_groups(connection, rows):
    groups = defaultdict(list)
    for key, x in rows:
        if x is not None:
            groups[key].append(x)
    table = connection.sql("SELECT k, x FROM t WHERE x IS NOT NULL ORDER BY hash(x)").to_arrow_table()
    keys, sums = wf.group_by(table["k"].combine_chunks(), table["x"].combine_chunks()).sum()
    found = dict(zip(list(map(int, keys)), list(map(float, sums)), strict=True))
    assert {key: bits(value) for key, value in found.items()} == {key: bits(math.fsum(group)) for key, group in groups.items()}
