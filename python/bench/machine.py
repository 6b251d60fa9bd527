"""What reports of the benchmarks beside this file say of the machine."""

import os
import pathlib
import platform
import subprocess
import sys
import time


def cpu():
    """The processor's name, as far as the system tells it."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def gpu():
    """When, and on which GPU, driver and versions, reports of GPUs were measured."""
    import torch
    import warpfold

    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    return {
        "schema": 1,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "gpu": torch.cuda.get_device_name(),
        "driver": driver.stdout.strip(),
        "versions": {"warpfold": warpfold.__version__, "torch": torch.__version__},
    }


def circumstances(script):
    """When, where and how a script of this folder was run."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": cpu(),
        "threads": os.cpu_count(),
        "load": os.getloadavg()[0],
        "command": " ".join([f"python python/bench/{script}", *sys.argv[1:]]),
    }
