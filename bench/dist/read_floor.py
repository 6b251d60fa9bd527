#!/usr/bin/env python3
"""What two processes that know nothing of each other gain over one where both read a file in memory, beside two ranks of the program: the floor under
"2 ranks read a file so many times as fast as one".

    bench/dist/read_floor.py PROGRAM [MIB [TURNS]] >>results/MACHINE/read_floor.jsonl

Beside them: what either takes for ten numbers, which is the start, and a loop that reads nothing, by one process and by two. All take turns; a row has the
least and the median of their seconds, from the start of the first process to the end of the last. The plain sum is that of a C program of four vectors, built
here with cc. Two files of half the size hold what each process of a pair reads. `nice -n -15` keeps others' work away.
"""

import datetime
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PLAIN = r"""
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
typedef float vector __attribute__((vector_size(32)));
int main(int n, char **file) {
  volatile unsigned long product = 1;
  for (long k = 0; n == 1 && k < 400000000; k++) product = product * 3 + k;
  if (n == 1) return 0;
  int f = open(file[1], O_RDONLY);
  struct stat s;
  fstat(f, &s);
  const vector *x = mmap(0, s.st_size, PROT_READ, MAP_SHARED, f, 0);
  vector sum[4] = {0};
  for (long k = 0; k < s.st_size / 32; k += 4)
    for (int j = 0; j < 4; j++) sum[j] += x[k + j];
  vector all = sum[0] + sum[1] + sum[2] + sum[3];
  printf("%g\n", all[0] + all[7]);
}
"""


def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def main(program, mib=4096, turns=16):
    program = os.path.realpath(program)
    with tempfile.TemporaryDirectory() as folder:
        whole, halves, plain = f"{folder}/whole.bin", [f"{folder}/half-{k}.bin" for k in (0, 1)], f"{folder}/plain"
        numbers = os.urandom(3 << 18)
        block = b"".join(numbers[k : k + 3] + b"\x3f" for k in range(0, len(numbers), 3))
        for path, size in [(whole, mib), *((half, mib // 2) for half in halves)]:
            with open(path, "wb") as out:
                for _ in range(size):
                    out.write(block)
        source = f"{folder}/plain.c"
        with open(source, "w") as out:
            out.write(PLAIN)
        subprocess.run(["cc", "-O3", "-march=native", "-o", plain, source], check=True)
        by = lambda path: [program, "sum", path, "--dtype", "f32", "--threads", "1"]
        dd = lambda path: ["dd", f"if={path}", "of=/dev/null", "bs=1M", "status=none"]
        ten = [program, "sum", "--random", "10", "--threads", "1"]
        ways = {
            "one process": [by(whole)],
            "two processes, half each": [by(half) for half in halves],
            "two ranks by TCP": [by(whole) + ["--world=tcp"]] * 2,
            "one process, ten numbers": [ten],
            "two ranks by TCP, ten numbers": [ten + ["--world=tcp"]] * 2,
            "a loop, one process": [[plain]],
            "a loop, two processes, all of it each": [[plain]] * 2,
            "plain sum, one process": [[plain, whole]],
            "plain sum, two processes, half each": [[plain, half] for half in halves],
            "dd, one process": [dd(whole)],
            "dd, two processes, half each": [dd(half) for half in halves],
        }
        seconds = {way: [] for way in ways}
        for turn in range(turns + 1):
            for way, commands in ways.items():
                world = {"WARPFOLD_WORLD_SIZE": "2", "WARPFOLD_ADDRESS": f"127.0.0.1:{port()}", "WARPFOLD_TOKEN": secrets.token_hex(16)}
                begun = time.perf_counter()
                environments = [os.environ | world | {"WARPFOLD_RANK": str(rank)} for rank in range(len(commands))]
                running = [
                    subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) for command, environment in zip(commands, environments)
                ]
                assert all(process.wait() == 0 for process in running), way
                if turn > 0:
                    seconds[way].append(time.perf_counter() - begun)
    with open("/proc/loadavg") as load:
        print(json.dumps({"date": str(datetime.date.today()), "load": load.read().split()[0], "mib": mib, "turns": turns}))
    for way, all_of_it in seconds.items():
        print(json.dumps({"way": way, "least_s": round(min(all_of_it), 4), "median_s": round(statistics.median(all_of_it), 4)}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
