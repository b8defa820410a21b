"""What an early look and kept answers cost, and what they save: processor time and clock of whole runs, by turns.

    go build -o nero ./cmd/nero
    python3 bench/first/first.py ./nero studies/digits/demo.yaml --rounds 5

Each round runs the study without anything, with --coarse, with --answers into an empty cache folder, and once more out of it.
All four have the same bytes, which is checked. The first line of a round is the measure of the others.
"""

import argparse
import filecmp
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path


def spent(command, env):
    """Processor seconds, user and system, and seconds by the clock."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - began


def same(a, b):
    """Whether two run folders have the same files with the same bytes."""
    names = [sorted(str(p.relative_to(d)) for p in d.rglob("*") if p.is_file()) for d in (a, b)]
    return names[0] == names[1] and not filecmp.cmpfiles(a, b, names[0], shallow=False)[1]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("nero")
    p.add_argument("study")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--workers", default="1")
    o = p.parse_args()
    ways = {"plain": [], "coarse": ["--coarse"], "kept": ["--answers", "4GB"], "again": ["--answers", "4GB"]}
    took = {k: [] for k in ways}
    for _ in range(o.rounds):
        with tempfile.TemporaryDirectory() as d:
            cache = Path(d, "cache")
            env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
            warm = [o.nero, "run", "-q", o.study, "--limit", "1", "-o", str(Path(d, "warm"))]
            subprocess.run(warm, env=env, check=True, stdout=subprocess.DEVNULL)  # the engine is compiled, and tested
            for name, more in ways.items():
                out = Path(d, name)
                took[name].append(spent([o.nero, "run", "-q", o.study, "-w", o.workers, "-o", str(out), *more], env))
                if not same(Path(d, "plain"), out):
                    raise SystemExit(f"{name}: other bytes than without")
    for name, all_of in took.items():
        ratios = [a[0] / b[0] for a, b in zip(all_of, took["plain"])]
        cpu, clock = (statistics.median(x[i] for x in all_of) for i in (0, 1))
        print(f"{name:7} {cpu:7.2f} s of a processor, {clock:7.2f} s by the clock, {statistics.median(ratios):.2f} of plain")


if __name__ == "__main__":
    main()
