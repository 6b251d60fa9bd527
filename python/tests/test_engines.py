"""The hooks of engines that reduce chunk by chunk: the same bits at any chunking, each where the engine is installed."""

import math
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import warpfold as wf
from oracle import bits, fractions, same, sample, to_float

OPS = ["sum", "mean", "var", "std", "l1", "l2", "sumsq", "linf", "min", "max", "any", "all", "count_nonzero"]
CHUNKINGS = [(7, 5, 4), (1, 2, 3), (3, (1, 4), 2)]


def module(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


class TestDask:
    @pytest.mark.parametrize("op", OPS)
    @pytest.mark.parametrize("name", ["bool", "int16", "uint64", "float16", "float32", "float64"])
    def test_any_chunking(self, name, op):
        da = module("dask.array")
        import warpfold.dask as wd

        x = sample(name, (7, 5, 4))
        if op == "sumsq" and name == "uint64":
            x = x % np.uint64(1 << 28)  # whose squares 64 bits hold
        keywords = {"correction": 0.5} if op in ("var", "std") else {}
        for axis, keepdims in ((None, False), (1, False), ((0, 2), True), (-1, False)):
            expected = getattr(wf, op)(x, axis, keepdims=keepdims, **keywords)
            for chunks in CHUNKINGS:
                lazy = getattr(wd, op)(da.from_array(x, chunks=chunks), axis, keepdims=keepdims, split_every=2, **keywords)
                assert lazy.dtype == np.asarray(expected).dtype and lazy.shape == np.shape(expected)
                same(np.asarray(lazy.compute(scheduler="threads")), np.asarray(expected))

    def test_sums_are_those_of_fsum(self):
        da = module("dask.array")
        import warpfold.dask as wd

        x = sample("float64", 10_000)
        found = {bits(wd.sum(da.from_array(x, chunks=n)).compute()) for n in (10_000, 1237, 100)}
        assert found == {bits(np.float64(math.fsum(x)))}

    def test_extremes_of_nothing_and_ddof(self):
        da = module("dask.array")
        import warpfold.dask as wd

        x = sample("float64", (7, 4))
        lazy = da.from_array(x, chunks=2)
        same(np.asarray(wd.var(lazy, 0, ddof=1).compute()), wf.var(x, 0, ddof=1))
        with pytest.raises(TypeError, match="one choice"):
            wd.std(lazy, ddof=1, correction=1)
        for none, axis in ((x[:0], None), (x[:0], 0), (x[:, :0], (0, 1)), (x[:, :0], -1)):
            with pytest.raises(ValueError, match="no elements"):
                wd.max(da.from_array(none), axis)
        assert wd.max(da.from_array(x[:, :0]), 0).compute().shape == (0,)
        gaps = da.from_array(np.full((3, 2), np.nan), chunks=1)
        with pytest.raises(ValueError, match="all were ignored"):
            wd.min(gaps, nan="ignore").compute()
        assert np.isnan(wd.min(gaps, 0, nan="ignore").compute()).all() and np.isnan(wd.min(gaps).compute())

    def test_dot(self):
        da = module("dask.array")
        import warpfold.dask as wd

        x, y = sample("float32", (9, 8)), sample("float32", (9, 8), 5)
        for chunks in (9, 2, (3, 8)):
            same(np.asarray(wd.dot(da.from_array(x, chunks=chunks), da.from_array(y, chunks=4)).compute()), np.asarray(wf.dot(x, y)))
        with pytest.raises(ValueError, match="one shape"):
            wd.dot(da.from_array(x), da.from_array(y[:2]))

    @pytest.mark.parametrize("op", ["sum", "mean", "var", "max", "count_nonzero"])
    def test_data_frames(self, op):
        dd, pd = module("dask.dataframe"), module("pandas")
        import warpfold.dask as wd

        frame = pd.DataFrame({"k": np.arange(200) * 7 % 11, "x": sample("float64", 200)})
        frame.loc[[3, 50], "x"] = np.nan
        keywords = {"correction": 1} if op == "var" else {}
        expected = getattr(wf.group_by(frame["k"], frame["x"]), op)(nan="ignore", **keywords)
        for parts in (1, 3, 17):
            grouped = dd.from_pandas(frame, npartitions=parts).groupby("k")["x"]
            found = grouped.agg(wd.Aggregation(op)).compute().sort_index()
            assert found.index.tolist() == expected.keys.tolist()
            same(found.to_numpy(), expected.values)
            by_name = frame.assign(k=frame["k"].map(lambda k: None if k == 10 else f"key {k:02}"))
            found = dd.from_pandas(by_name, npartitions=parts).groupby("k")["x"].agg(wd.Aggregation(op)).compute().sort_index()
            same(found.to_numpy(), expected.values[:-1])


class TestFlox:
    @pytest.mark.parametrize("op", ["sum", "mean", "var", "max"])
    def test_any_chunking(self, op):
        flox, da = module("flox"), module("dask.array")
        import warpfold.xarray as wx

        x, by = sample("float64", (3, 40)), np.arange(40) * 7 % 5
        expected = np.stack([getattr(wf.group_by(by, row), op)().values for row in x])
        same(flox.groupby_reduce(x, by, func=wx.aggregation(op))[0], expected)
        for chunks in ((3, 40), (2, 7), (1, 40)):
            for method in ("map-reduce", "cohorts"):
                lazy = flox.groupby_reduce(da.from_array(x, chunks=chunks), by, func=wx.aggregation(op), method=method)[0]
                same(np.asarray(lazy.compute(scheduler="threads")), expected)


MPI = """
import sys
import numpy as np
from mpi4py import MPI
import warpfold as wf, warpfold.mpi as wm
rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
x = np.load(sys.argv[1])
for cut in (slice(rank, None, size), slice(0, None) if rank == size - 1 else slice(0, 0)):
    mine = np.ascontiguousarray(x[cut])
    for op in ("sum", "mean", "std", "l2", "max"):
        assert wm.__dict__[op](mine).tobytes() == getattr(wf, op)(x).tobytes(), op
    assert wm.sum(mine, axis=0).tobytes() == wf.sum(x, 0).tobytes()
    assert wm.var(mine, correction=1, dtype="float32").tobytes() == wf.var(x, correction=1, dtype="float32").tobytes()
one = wf.Exact("float64")
one.add(x[rank])
assert MPI.COMM_WORLD.allreduce(one) == wm.allreduce(one, MPI.COMM_WORLD)
if rank == 0:
    print("equal on", size)
"""


def test_mpi(tmp_path):
    module("mpi4py")
    runner = pathlib.Path(sys.executable).with_name("mpiexec")
    if not runner.exists():
        pytest.skip("no mpiexec is beside this Python")
    np.save(tmp_path / "x.npy", sample("float64", (50, 3)))
    (tmp_path / "ranks.py").write_text(MPI)
    for ranks in (1, 3):
        command = [runner, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), sys.executable, tmp_path / "ranks.py", tmp_path / "x.npy"]
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
        assert f"equal on {ranks}" in run.stdout, run.stdout + run.stderr


def rank_of_torch(rank, size, store, x):
    import torch
    import torch.distributed as dist
    import warpfold.torch.distributed as wd

    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=size)
    whole = torch.from_numpy(x)
    for mine in (whole[rank::size], whole if rank == size - 1 else whole[:0]):
        for op in ("sum", "mean", "std", "l2"):
            result = getattr(wd, op)(mine)
            assert isinstance(result, torch.Tensor) and torch.equal(result, getattr(wf, op)(whole)), op
        assert torch.equal(wd.sum(mine, axis=0), wf.sum(whole, axis=0))
    dist.destroy_process_group()


def test_torch_distributed(tmp_path):
    torch = module("torch")
    for size in (1, 3):
        torch.multiprocessing.spawn(rank_of_torch, (size, tmp_path / f"store{size}", sample("float64", (30, 2))), nprocs=size)


def rank_of_all_reduce(rank, size, store):
    import torch
    import torch.distributed as dist
    import warpfold.torch.distributed as wd

    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=size)
    wd._SMALL = 2000  # so that tensors of this size are shared out, with a rest, in several pieces
    wd._PIECE = 16_000
    for n in (0, 1, 5, 3001):
        held = [sample("float64", n, seed) for seed in range(size)]
        if size > 2:
            held[-1] = -held[0]  # which leaves what lies far below
        x = torch.from_numpy(held[rank].copy()).requires_grad_()
        wd.all_reduce(x)
        assert x.tolist() == [math.fsum(column) for column in zip(*held)] and x.requires_grad, n
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.complex64):
        like = "float32" if dtype == torch.bfloat16 else str(dtype).removeprefix("torch.")
        held = [torch.from_numpy(sample(like, (8, 51), seed)).to(dtype) for seed in range(size)]
        parts = [torch.view_as_real(x) if dtype.is_complex else x for x in held]
        name = str(parts[0].dtype).removeprefix("torch.")
        columns = zip(*(fractions(x.double()) for x in parts))
        expected = [to_float(sum(column), name) for column in columns]
        # As it lies, in Fortran's order, and every second element of memory.
        for x in (held[rank].clone(), held[rank].t().contiguous().t(), torch.stack([held[rank]] * 2, -1)[..., 1]):
            wd.all_reduce(x)
            assert (torch.view_as_real(x) if dtype.is_complex else x).double().flatten().tolist() == expected, dtype
    with pytest.raises(TypeError, match="sums integers exactly"):
        wd.all_reduce(torch.ones(3, dtype=torch.int32))
    dist.destroy_process_group()


def test_torch_all_reduce(tmp_path):
    torch = module("torch")
    for size in (1, 2, 3):
        torch.multiprocessing.spawn(rank_of_all_reduce, (size, tmp_path / f"reduce{size}"), nprocs=size)


@pytest.mark.filterwarnings("ignore")
def test_ray():
    ray = module("ray")
    import warpfold.ray as wr

    x, k = sample("float64", 300), np.arange(300) % 4
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        for blocks in (1, 5):
            ds = ray.data.from_items([{"k": int(a), "x": float(b)} for a, b in zip(k, x)], override_num_blocks=blocks)
            found = ds.aggregate(wr.Aggregate("sum", on="x"), wr.Aggregate("var", on="x", correction=1))
            assert found == {"exact_sum(x)": math.fsum(x), "exact_var(x)": wf.var(x, correction=1)}
            rows = sorted(ds.groupby("k").aggregate(wr.Aggregate("sum", on="x", name="s")).take_all(), key=lambda row: row["k"])
            assert [row["s"] for row in rows] == [math.fsum(x[k == a]) for a in range(4)]
    finally:
        ray.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_spark(monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    sql = module("pyspark.sql")
    module("pyarrow")
    import warpfold.spark as ws

    x, k = sample("float64", 300), np.arange(300) % 4
    spark = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2").getOrCreate()
    try:
        frame = spark.createDataFrame([(int(a), float(b)) for a, b in zip(k, x)] + [(0, None)], "k long, x double")
        for parts in (1, 5):
            spread = frame.repartition(parts)
            assert ws.sum(spread, "x") == math.fsum(x) and ws.var(spread, "x", correction=1) == wf.var(x, correction=1)
            found = {row["k"]: row["sum"] for row in ws.group_by(spread, "k", "x").collect()}
            assert found == {a: math.fsum(x[k == a]) for a in range(4)}
    finally:
        spark.stop()
