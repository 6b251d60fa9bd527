"""What tests of arrays on a GPU share. Where there is no GPU, all modules that import this are skipped, and pytest says so."""

import pytest
import warpfold as wf
from oracle import COMPLEX, sample

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU that torch can use", allow_module_level=True)

LINEAR = ["sum", "mean", "prod"]
SPREAD = ["var", "std", "l1", "l2", "sumsq", "linf"]
ORDERED = ["min", "max", "argmin", "argmax"]
COUNTS = ["any", "all", "count_nonzero"]


def ops(name):
    return LINEAR + SPREAD + COUNTS + ([] if name in COMPLEX else ORDERED)


def tensor(name, shape, salt=0):
    if name == "bfloat16":
        return torch.from_numpy(sample("float32", shape, salt)).to(torch.bfloat16)
    return torch.from_numpy(sample(name, shape, salt))


def outcome(f, *args, **keywords):
    """The result on the host as bytes, or the kind of error."""
    try:
        result = f(*args, **keywords)
    except (ValueError, OverflowError) as error:
        return type(error)
    results = result if isinstance(result, tuple) else (result,)
    return [(r.dtype, tuple(r.shape), r.cpu().contiguous().view(-1).view(torch.uint8).tolist()) for r in results]


def check(name, op, x, **keywords):
    """The same bits."""
    f = getattr(wf, op)
    there = outcome(f, x.cuda(), **keywords)
    here = outcome(f, x, **keywords)
    assert there == here, (name, op, tuple(x.shape), x.stride(), keywords)
