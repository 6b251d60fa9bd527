"""Has `torch.compile` told of the functions as soon as it is there: importing its compiler, which takes seconds, is left to who uses it."""

import importlib.abc
import importlib.util
import sys

COMPILER = "torch._dynamo"


class Finder(importlib.abc.MetaPathFinder):
    """Finds the compiler where anybody finds it, and registers the functions once it is loaded."""

    def find_spec(self, name, path=None, target=None):
        if name != COMPILER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            register()

        spec.loader.exec_module = exec_module
        return spec


def register():
    from . import _ops

    _ops.register()


def prepare():
    if COMPILER in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, Finder())
