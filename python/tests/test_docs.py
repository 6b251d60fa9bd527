"""Every example in the docstrings and the manuals runs; the stub says what the module has."""

import doctest
import importlib.util
import inspect
import pathlib
import re
import subprocess
import sys
import warnings

import pytest
import warpfold as wf

ROOT = pathlib.Path(__file__).resolve().parents[2]
BESIDE = ROOT / "docs/from-numpy-and-pandas.md"
MANUALS = [ROOT / "docs/python.md", BESIDE, ROOT / "python/README.md", ROOT / "README.md"]


@pytest.mark.parametrize("name", ["", *wf.__all__])
def test_docstrings(name):
    object = getattr(wf, name) if name else wf
    text = inspect.getdoc(object)
    if isinstance(object, str) or name in ("Device", "Explanation", "Groups", "Stats", "GroupBy"):
        return
    test = doctest.DocTestParser().get_doctest(text, {}, name or "warpfold", None, 0)
    assert test.examples, f"{name} has no example"
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test).failed == 0


def test_docstrings_of_jax():
    pytest.importorskip("jax", reason="jax is not installed")
    import warpfold.jax

    test = doctest.DocTestParser().get_doctest(inspect.getdoc(warpfold.jax), {}, "warpfold.jax", None, 0)
    assert test.examples and doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_docstrings_of_torch():
    pytest.importorskip("torch", reason="torch is not installed")
    import warpfold.torch

    for name in warpfold.torch.__all__:
        test = doctest.DocTestParser().get_doctest(inspect.getdoc(getattr(warpfold.torch, name)), {}, name, None, 0)
        assert test.examples, f"{name} has no example"
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


@pytest.mark.parametrize("name", [n for n in wf.__all__ if inspect.isroutine(getattr(wf, n))])
def test_docstrings_name_their_parameters(name):
    function = getattr(wf, name)
    documented = set(re.findall(r"^(\w[\w, ]*) : ", inspect.getdoc(function), re.M))
    documented = {one.strip() for names in documented for one in names.split(",")}
    if name.startswith("segment_"):
        # The rest is as in the function of that name.
        function = getattr(wf, name.removeprefix("segment_"))
        documented |= {"axis", "keepdims"} | set(inspect.signature(function).parameters)
    assert set(inspect.signature(function).parameters) <= documented


def is_there(module):
    if module == "torch.cuda":
        return is_there("torch") and importlib.import_module("torch").cuda.is_available()
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.filterwarnings("default::pytest.PytestWarning")
@pytest.mark.parametrize("manual", MANUALS, ids=lambda m: str(m.relative_to(ROOT)))
def test_manuals(manual):
    if not manual.exists():
        pytest.skip(f"{manual} is not beside this package")
    text = manual.read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert blocks, manual
    names = {}
    for block in blocks:
        needed = re.search(r"^# needs: (.*)$", block, re.M)
        if needed and not is_there(needed[1]):
            warnings.warn(pytest.PytestWarning(f"{needed[1]} is not installed: one block was left out"))
            continue
        exec(compile(block, str(manual), "exec"), names)


def test_lines_beside_those_of_others():
    """Rows of the table: what others compute, what is computed here, and the numbers that the program prints, which are of one value."""
    numpy, _ = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    if not BESIDE.exists():
        pytest.skip(f"{BESIDE} is not beside this package")
    text, names = BESIDE.read_text(), {}
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], names)
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("| ")]
    rows = [[cell.strip().strip("`") for cell in row] for row in rows[1:]]
    assert len(rows) > 15
    for what, theirs, ours, _, printed in rows:
        ours, theirs = (numpy.ravel(eval(line, names)) for line in (ours, theirs))
        assert numpy.allclose(ours, theirs, rtol=1e-12, atol=0), what
        assert set(ours) <= {float(word) for word in re.findall(r"[-.\d]+", printed)}, what


def test_the_stub_is_that_of_the_module(tmp_path):
    pytest.importorskip("mypy")
    # Hooks of engines that are not installed cannot be imported.
    engines = {"dask": "dask", "jax": "jax", "ray": "ray", "xarray": "flox"}
    engines |= {f"torch.{name}": "torch" for name in ("_exact", "_gradients", "_ops", "_plain", "_rows")}
    absent = [f"warpfold\\.{name}" for name, engine in engines.items() if importlib.util.find_spec(engine) is None]
    (tmp_path / "absent").write_text("\n".join(absent))
    allowed = ["--allowlist", str(tmp_path / "absent"), "--ignore-unused-allowlist"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "warpfold", "--ignore-missing-stub", "--concise", *allowed],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
