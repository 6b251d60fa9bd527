"""The extension for DuckDB, if WARPFOLD_DUCKDB names the library that cargo builds of crates/warpfold-duckdb: bits of exact rationals, whatever the threads and orders."""

import importlib.util
import math
import os
import random
from fractions import Fraction
from pathlib import Path

import pytest

duckdb = pytest.importorskip("duckdb")
LIBRARY = os.environ.get("WARPFOLD_DUCKDB")
pytestmark = pytest.mark.skipif(not LIBRARY, reason="WARPFOLD_DUCKDB names no library")
PACK = Path(__file__).parents[2] / "crates/warpfold-duckdb/pack.py"


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    spec = importlib.util.spec_from_file_location("pack", PACK)
    pack = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pack)
    platform = duckdb.sql("PRAGMA platform").fetchall()[0][0]
    path = tmp_path_factory.mktemp("extension") / "warpfold.duckdb_extension"
    path.write_bytes(Path(LIBRARY).read_bytes() + pack.footer(platform, "0.1.0"))
    return path


def connect(extension, threads=2):
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": threads})
    connection.execute(f"LOAD '{extension}'")
    return connection


def rows(n, seed=1):
    """Keys, and values over so many binades that every order of plain additions gives another sum; some are null."""
    chance = random.Random(seed)
    for _ in range(n):
        x = chance.gauss(0, 1) * 2.0 ** chance.randrange(-200, 200, 50)
        yield chance.randrange(40), None if chance.random() < 0.1 else x


def root(exact):
    """The square root of a fraction, correctly rounded: of an integer of so many bits that what is cut shows in its last one."""
    shift = max(0, 140 - exact.numerator.bit_length() + exact.denominator.bit_length())
    shift += shift % 2
    scaled = (exact.numerator << shift) // exact.denominator
    found = math.isqrt(scaled)
    sticky = found * found != scaled or (exact.numerator << shift) % exact.denominator != 0
    return float(Fraction(2 * found + sticky, 2 << (shift // 2)))


def expected(values):
    """Sum, mean, sample's variance and deviation of a population, by exact rationals, rounded once."""
    exact = [Fraction(x) for x in values]
    n, total = len(exact), sum(exact)
    spread = sum(x * x for x in exact) - total * total / n
    return float(total), float(total / n), float(spread / (n - 1)), root(spread / n)


QUERY = "SELECT {} exact_sum(x), exact_avg(x), exact_var(x), exact_stddev_pop(x) FROM t"


def test_doubles_have_the_bits_of_exact_rationals(extension):
    table = list(rows(30_000))
    by_key = {}
    for key, x in table:
        if x is not None:
            by_key.setdefault(key, []).append(x)
    whole = expected([x for _, x in table if x is not None])
    groups = [(key, *expected(values)) for key, values in sorted(by_key.items())]
    assert whole[0] == math.fsum(x for _, x in table if x is not None)
    for threads, order in [(1, "i"), (2, "i DESC"), (8, "hash(i)")]:
        connection = connect(extension, threads)
        connection.execute("CREATE TABLE s (i INT, k INT, x DOUBLE)")
        columns = {"i": list(range(len(table))), "k": [k for k, _ in table], "x": [x for _, x in table]}
        connection.execute("INSERT INTO s SELECT unnest($i), unnest($k), unnest($x)", columns)
        connection.execute(f"CREATE TABLE t AS SELECT * FROM s ORDER BY {order}")
        assert connection.sql(QUERY.format("")).fetchall()[0] == whole, threads
        assert connection.sql(QUERY.format("k,") + " GROUP BY k ORDER BY k").fetchall() == groups, threads


def test_integers_are_exact_and_checked(extension):
    connection = connect(extension)
    connection.execute("CREATE TABLE t AS SELECT (x * 1234567891) % 90071992547409 - 45035996273704 AS x, x % 7 AS k FROM range(100000) r(x)")
    values = [x for x, _ in connection.sql("SELECT x, k FROM t").fetchall()]
    total = sum(values)
    exact = Fraction(sum(x * x for x in values)) - Fraction(total) ** 2 / len(values)
    found = connection.sql("SELECT exact_sum(x), exact_avg(x), exact_var(x), exact_var_pop(x) FROM t").fetchall()[0]
    assert found == (total, float(Fraction(total, len(values))), float(exact / (len(values) - 1)), float(exact / len(values)))
    assert connection.sql("SELECT typeof(exact_sum(x)), typeof(exact_sum(x::UBIGINT)), typeof(exact_avg(x)) FROM range(1) r(x)").fetchall()[0] == ("BIGINT", "UBIGINT", "DOUBLE")
    assert connection.sql("SELECT exact_sum(x) FROM (VALUES (18446744073709551614::UBIGINT), (1)) t(x)").fetchall()[0] == (2**64 - 1,)
    with pytest.raises(duckdb.Error, match="exact_sum: .*9223372036854775808.*cast the column to DOUBLE"):
        connection.sql("SELECT exact_sum(x) FROM (VALUES (9223372036854775807), (1)) t(x)").fetchall()
    # What overflows on the way and not in the end has a sum.
    assert connection.sql("SELECT exact_sum(x) FROM (VALUES (9223372036854775807), (9), (-9)) t(x)").fetchall()[0] == (2**63 - 1,)


def test_nothing_and_special_values(extension):
    connection = connect(extension)
    one = lambda sql: connection.sql(sql).fetchall()[0]
    assert one("SELECT exact_sum(x), exact_avg(x), exact_var(x) FROM (SELECT 1.0::DOUBLE AS x WHERE false)") == (None,) * 3
    assert one("SELECT exact_sum(NULL::DOUBLE), exact_var(1.0::DOUBLE), exact_var_pop(1.0::DOUBLE)") == (None, None, 0.0)
    infinity = float("inf")
    values = "(VALUES ({}), (1.5::DOUBLE), (1e308)) t(x)"
    assert one(f"SELECT exact_sum(x) FROM {values.format(chr(39) + 'inf' + chr(39) + '::DOUBLE')}") == (infinity,)
    assert math.isnan(one("SELECT exact_sum(x) FROM (VALUES ('inf'::DOUBLE), ('-inf')) t(x)")[0])
    assert math.isnan(one("SELECT exact_avg(x) FROM (VALUES ('nan'::DOUBLE), (1)) t(x)")[0])
    assert one("SELECT exact_sum(x) FROM (VALUES (1e308::DOUBLE), (1e308), (-1e308)) t(x)") == (1e308,)
    assert one("SELECT exact_sum(x) FROM (VALUES (1e308::DOUBLE), (1e308)) t(x)") == (infinity,)
    smallest = 5e-324
    assert one(f"SELECT exact_sum(x) FROM (VALUES (1e308::DOUBLE), ({smallest!r}), (-1e308)) t(x)") == (smallest,)


def test_windows_filters_and_distinct(extension):
    connection = connect(extension)
    connection.execute("CREATE TABLE t (i INT, x DOUBLE)")
    table = [(i, x) for i, (_, x) in enumerate(rows(500, 3))]
    connection.executemany("INSERT INTO t VALUES (?, ?)", table)
    found = connection.sql("SELECT exact_sum(x) OVER (ORDER BY i ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) FROM t ORDER BY i").fetchall()
    frames = [[x for _, x in table[max(0, i - 9) : i + 1] if x is not None] for i in range(500)]
    assert [value for value, in found] == [math.fsum(frame) if frame else None for frame in frames]
    values = [x for _, x in table if x is not None]
    assert connection.sql("SELECT exact_sum(x) FILTER (WHERE x > 0) FROM t").fetchall()[0][0] == math.fsum(x for x in values if x > 0)
    connection.execute("INSERT INTO t SELECT * FROM t")
    assert connection.sql("SELECT exact_sum(DISTINCT x) FROM t").fetchall()[0][0] == math.fsum(values)


def test_a_database_without_leave_says_so(extension):
    with pytest.raises(duckdb.Error, match="unsigned"):
        duckdb.connect().execute(f"LOAD '{extension}'")
