"""Arrays of other libraries, each where it is installed; what is not is skipped, and pytest says so."""

import math

import numpy as np
import pytest
import warpfold as wf
from oracle import REAL, COMPLEX, FLOATS, fractions, sample, to_float, variance


def module(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


class TestTorch:
    @pytest.mark.parametrize("name", [*REAL, *COMPLEX, "bfloat16"])
    def test_every_type(self, name):
        torch = module("torch")
        x = sample("float32" if name == "bfloat16" else name, (5, 7))
        t = torch.from_numpy(x).to(getattr(torch, name))
        result = wf.sum(t)
        assert isinstance(result, torch.Tensor) and result.shape == ()
        if name in FLOATS + ["bfloat16"]:
            assert result.dtype == t.dtype and result.item() == to_float(sum(fractions(t.double().numpy())), name)
        elif name not in COMPLEX:
            assert result.item() == sum(fractions(x))
        for view, like in ((t[::2, 1:], x[::2, 1:]), (t.T, x.T), (t[:, 3], x[:, 3]), (t[:0], x[:0])):
            counts = wf.count_nonzero(view, axis=0)
            assert counts.dtype == torch.int64 and counts.tolist() == np.count_nonzero(like, axis=0).tolist()
        if name not in COMPLEX:
            assert wf.argmax(t, axis=1).tolist() == t.double().argmax(1).tolist()
            high = wf.max(t, axis=0)
            assert high.dtype == t.dtype and high.tolist() == t.double().numpy().max(0).tolist()

    def test_results_are_tensors_to_work_with(self):
        torch = module("torch")
        t = torch.arange(12.0).reshape(3, 4)
        out = torch.zeros(3)
        assert wf.sum(t, axis=1, out=out) is out and out.tolist() == [6, 22, 38]
        assert (wf.mean(t, axis=0) + 1).tolist() == [5, 6, 7, 8]
        assert wf.sum(t, dtype=torch.float64).dtype == torch.float64
        assert wf.sum(torch.nn.Parameter(t).detach()).item() == 66

    def test_what_has_no_plain_memory_is_refused(self):
        torch = module("torch")
        t = torch.ones(3, dtype=torch.complex64)
        refused = {
            "resolve_conj": t.conj(),
            "resolve_neg": t.conj().imag,
            "to_dense": torch.eye(3).to_sparse(),
            "as_subclass": torch.ones(3).as_subclass(type("Sub", (torch.Tensor,), {})),
            "GPU": torch.ones(3, device="meta") if False else None,
        }
        for remedy, x in refused.items():
            if x is not None:
                with pytest.raises(TypeError, match=remedy):
                    wf.sum(x)
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            with pytest.raises(TypeError):
                wf.sum(torch.ones(3))


class TestJax:
    @pytest.mark.parametrize("name", ["bool", "int8", "int32", "uint16", "float16", "bfloat16", "float32", "complex64"])
    def test_eager(self, name):
        jax = module("jax")
        x = sample("float32" if name == "bfloat16" else name, (5, 7))
        if name == "int32":
            x = x % 1000
        a = jax.numpy.asarray(x).astype(name)
        result = wf.sum(a)
        assert isinstance(result, jax.Array) and result.shape == ()
        if name in ("float16", "bfloat16", "float32"):
            assert result.dtype == name and float(result) == to_float(sum(fractions(np.asarray(a, "float64"))), name)
        elif name != "complex64":
            assert int(result) == sum(fractions(x)) and result.dtype.itemsize == 4
        rows = wf.count_nonzero(a, axis=0)
        assert isinstance(rows, jax.Array) and rows.tolist() == np.count_nonzero(np.asarray(a), axis=0).tolist()

    def test_32_bits_are_not_wrapped(self):
        jax = module("jax")
        with pytest.raises(OverflowError, match="int32"):
            wf.sum(jax.numpy.full(4, 2**30, "int32"))
        x = jax.numpy.array([1, 2, 2**24 + 1], "int32")
        assert float(wf.mean(x)) == to_float(sum(fractions(np.asarray(x))) / 3, "float32")

    def test_what_has_no_way_under_jit_is_an_error(self):
        jax = module("jax")
        with pytest.raises(TypeError, match="jit"):
            jax.jit(wf.stats)(jax.numpy.ones(3))


class TestArrow:
    @pytest.mark.parametrize("name", REAL)
    def test_chunks_and_nulls(self, name):
        pa = module("pyarrow")
        x = sample(name, 1000)
        kept = np.random.default_rng(1).random(1000) < 0.8
        array = pa.array(x.tolist() if name == "bool" else x, mask=~kept) if name != "bool" else pa.array([v if k else None for v, k in zip(x.tolist(), kept)])
        chunked = pa.chunked_array([array[:0], array[3:130], array[130:131], array[200:]])
        there = np.concatenate([x[3:131], x[200:]])[np.concatenate([kept[3:131], kept[200:]])]
        values = fractions(there)
        expected = to_float(sum(values), name) if name in FLOATS else sum(values)
        result = wf.sum(chunked)
        assert result == expected and type(result) is (float if name in FLOATS else int)
        of = name if name in FLOATS else "float64"
        assert wf.var(chunked, correction=1) == to_float(variance(values, 1), of)
        assert wf.minmax(chunked) == (there.min(), there.max())
        assert wf.count_nonzero(chunked) == np.count_nonzero(there)
        with pytest.raises(ValueError, match="nulls"):
            wf.argmax(chunked)
        plain = pa.chunked_array([pa.array(x[:401]), pa.array(x[401:])])
        assert wf.argmax(plain) == x.argmax() and wf.sum(plain[5:990]) == wf.sum(x[5:990]).item()
        e = wf.Exact(name)
        e.add(chunked)
        e.add(plain)
        whole = sum(values) + sum(fractions(x))
        assert e.round() == (to_float(whole, name) if name in FLOATS else whole)

    def test_groups_and_segments_take_one_chunk(self):
        pa = module("pyarrow")
        keys, x = pa.array([3, 1, 3]), pa.array([0.5, 2.0, 0.25])
        result = wf.group_by(keys, x).sum()
        assert result.keys.tolist() == [1, 3] and result.values.tolist() == [2.0, 0.75]
        with pytest.raises(ValueError, match="nulls"):
            wf.group_by(keys, pa.array([1.0, None, 2.0]))
        with pytest.raises(ValueError, match="combine"):
            wf.group_by(keys, pa.chunked_array([x[:1], x[1:]]))

    def test_refused(self):
        pa = module("pyarrow")
        refused = {
            "cast": pa.array(["a"]),
            "int64": pa.array([0], pa.timestamp("s")),
            "decimals": pa.array([1], pa.decimal128(5)),
            "column": pa.table({"a": [1]}),
            "decode": pa.array(["a"]).dictionary_encode(),
        }
        for remedy, x in refused.items():
            with pytest.raises(TypeError, match=remedy):
                wf.sum(x)

    def test_polars(self):
        pl = module("polars")
        s = pl.Series("x", [0.1] * 10)
        assert wf.sum(s) == 1.0 and type(wf.sum(s)) is float
        both = pl.concat([s, pl.Series("x", [None, 1.0])], rechunk=False)
        assert wf.sum(both) == 2.0 and wf.mean(both) == to_float((fractions(np.float64(0.1))[0] * 10 + 1) / 11, "float64")
        frame = pl.DataFrame({"k": [1, 2, 1], "x": [0.5, 1.0, 0.25]})
        groups = wf.group_by(frame["k"], frame["x"]).mean()
        assert groups.keys.tolist() == [1, 2] and groups.values.tolist() == [0.375, 1.0]
        with pytest.raises(TypeError, match="column"):
            wf.sum(frame)

    def test_pandas(self):
        pd = module("pandas")
        s = pd.Series([0.1] * 10 + [float("nan")])
        assert math.isnan(wf.sum(s)) and wf.sum(s, nan="ignore") == 1.0
        assert wf.sum(pd.Series([1, None, 5], dtype="Int64")) == 6
        assert wf.max(pd.Index([3, 9, 4])) == 9
        if module("pyarrow"):
            assert wf.sum(pd.Series([0.1] * 10, dtype="double[pyarrow]")) == 1.0


class Lies:
    """An exporter of whatever capsule and device it was made with."""

    def __init__(self, capsule, device=(1, 0)):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **keywords):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


class TestCapsules:
    def test_versioned_and_legacy(self):
        x = np.arange(6.0).reshape(2, 3)[:, ::-1]

        class Legacy(Lies):
            def __dlpack__(self):
                return x.__dlpack__()

        assert wf.sum(Lies(x.__dlpack__(max_version=(1, 3)))) == 15
        assert wf.sum(Legacy(None)) == 15
        assert wf.sum(Legacy(None), axis=0).tolist() == [7, 5, 3]

    def test_a_capsule_is_taken_once(self):
        for keywords in ({}, {"max_version": (1, 0)}):
            once = Lies(np.arange(3.0).__dlpack__(**keywords))
            assert wf.sum(once) == 3
            with pytest.raises(BufferError, match="taken"):
                wf.sum(once)
        with pytest.raises(BufferError):
            wf.sum(Lies(object()))

    def test_devices(self):
        for kind, name in ((2, "CUDA device 1"), (10, "ROCm"), (99, "99")):
            with pytest.raises(TypeError, match=f"{name}.*GPU.*cpu"):
                wf.sum(Lies(None, (kind, 1)))

        class Cupy:
            __cuda_array_interface__ = {}

        with pytest.raises(BufferError, match="typestr"):
            wf.sum(Cupy())
        interface = {"shape": (3,), "typestr": "<f4", "data": (0, True), "version": 3}
        for field, value, error, words in (
            ("data", (0, True), BufferError, "without memory"),
            ("typestr", "<f3", TypeError, "convert"),
            ("strides", (4, 4), BufferError, "other axes"),
            ("strides", (3,), TypeError, "aligned"),
            ("mask", object(), TypeError, "masked"),
        ):
            Cupy.__cuda_array_interface__ = {**interface, "data": (4096, True), field: value}
            with pytest.raises(error, match=words):
                wf.sum(Cupy())

    def test_what_is_refused_of_arrays_on_a_gpu_before_one_is_looked_for(self):
        class There:
            def __init__(self, typestr, shape=(3,)):
                self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (4096, True), "version": 3}

        x, here = There("<f4"), np.ones(3, np.float32)
        for call, error, words in (
            (lambda: wf.group_by(np.arange(3), x), TypeError, "one memory"),
            (lambda: wf.group_by(There("<i8"), here), TypeError, "one memory"),
            (lambda: wf.group_by(There("<f4"), x), TypeError, "integers or bools"),
            (lambda: wf.group_by(There("<i8", (2,)), x), ValueError, "2 keys for 3 values"),
            (lambda: wf.group_by(There("<i8"), There("<f4", (3, 1))), ValueError, "one axis"),
            (lambda: wf.group_by(There("<i8"), x, where=np.ones(3, bool)), TypeError, "array of bools there"),
            (lambda: wf.group_by(There("<i8"), x, where=There("<i4")), TypeError, "to be of bools"),
            (lambda: wf.group_by(There("<i8"), x, where=There("|b1", (2,))), ValueError, "where 2"),
            (lambda: wf.group_by(There("<i8"), "x + y", x=x, y=There("<f4", (2,))), ValueError, "y 2"),
            (lambda: wf.segment_sum(x, every=3, where=There("|b1", (2,))), ValueError, "where 2"),
            (lambda: wf.segment_sum("x", every=3, x=x, where=np.ones(3, bool)), TypeError, "where lies in the host's memory"),
            (lambda: wf.segment_sum("x", np.array([0, 3]), x=x), TypeError, "offsets of an array on a GPU"),
            (lambda: wf.sum(x, where=np.ones(3, bool)), TypeError, "array of bools there"),
            (lambda: wf.sum(here, where=There("|b1")), TypeError, "where lies on a GPU.*where.cpu"),
            (lambda: wf.sum(x, where=There("<i4")), TypeError, "to be of bools"),
            (lambda: wf.sum(x, where=There("|b1", (2,))), ValueError, "where is .2..*expand"),
            (lambda: wf.sum(There("<f4", (3, 1)), axis=1, where=There("|b1", (3, 4))), ValueError, "where is .3, 4."),
            (lambda: wf.sum(There("<c8"), where=There("|b1")), TypeError, "copy the array and where to the host"),
            (lambda: wf.sum(There("<f4", (3, 2)), axis=0, initial=1.0), TypeError, "over axes.*no initial.*x.cpu"),
            (lambda: wf.sum(x, initial=1.0, where=There("|b1")), TypeError, "initial does not go with where.*x.cpu"),
            (lambda: wf.mean(x, weights=here), TypeError, "weights is no array there.*x.cpu"),
            (lambda: wf.mean(x, weights=There("<i8")), TypeError, "not all exact"),
            (lambda: wf.sum("x + y", x=x, y=here), TypeError, "y lies in the host's memory.*x.cpu"),
        ):
            with pytest.raises(error, match=words):
                call()

    def test_capsules_do_not_leak(self):
        import sys

        x = np.arange(3.0)
        before = sys.getrefcount(x)
        for _ in range(1000):
            wf.sum(Lies(x.__dlpack__(max_version=(1, 3))))
            wf.sum(Lies(x.__dlpack__()))
        assert sys.getrefcount(x) == before

    def test_arrow_capsules_are_taken_once(self):
        pa = module("pyarrow")
        x = pa.array([1.0, 2.0])
        both = x.__arrow_c_array__()

        class Once:
            def __arrow_c_array__(self):
                return both

        assert wf.sum(Once()) == 3
        with pytest.raises(ValueError):
            wf.sum(Once())
