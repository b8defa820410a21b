"""`python -m nero.submit dask|ray ADDRESS RUN`: works on the missing shards of a planned run on an engine, and completes the run."""

import argparse
import json
import os
import signal
import subprocess
import sys
from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence

from nero._errors import NeroError
from nero._find import find_nero, find_onnxruntime
from nero._program import program
from nero.submit._dask import Dask
from nero.submit._local import Local
from nero.submit._pool import GoneError, Place, Pool
from nero.submit._ray import Ray
from nero.submit._work import Progress, Work, indexes, ranges

__all__ = ["main"]

#: Exit code for what may go well another time: EX_TEMPFAIL, as of `nero shard`.
AGAIN = 75
#: What schedulers mostly wait before they kill, in seconds; that of `nero shard`.
GRACE = 30.0

ENGINES: Dict[str, Callable[[argparse.Namespace, Place], Pool]] = {
    "local": lambda a, place: Local(place),
    "dask": lambda a, place: Dask(a.address, place),
    "ray": lambda a, place: Ray(a.address, place),
}

ABOUT = """works on the missing shards of a run that nero plan began, and completes it. Each slot holds one program nero shard, which opens data and
models once. A worker that is lost is replaced, and its shard made by another. Ctrl-C loses nothing that is kept; the same command goes on."""

EXAMPLES = """examples:
  nero plan study.yaml -o run
  python -m nero.submit local run --slots 4
  python -m nero.submit dask tcp://scheduler:8786 run
  python -m nero.submit ray auto run --gpus 1 -- --provider cuda

what stands behind -- goes to nero shard. Exit codes: 0 the run is complete; 2 it would fail again (study, model, data, engine); 75 try again."""


def main(args: "Optional[Sequence[str]]" = None) -> int:
    """Returns the exit code."""
    a = _arguments(list(sys.argv[1:] if args is None else args))
    try:
        return _submit(a)
    except NeroError as e:
        return _say(e, 2)
    except GoneError as e:
        return _say(f"{e}; the same command goes on with what is missing", AGAIN)
    except KeyboardInterrupt:
        return _say("stopped; the same command goes on", AGAIN)


def _say(what: object, code: int) -> int:
    print(f"nero: {what}", file=sys.stderr)
    return code


def _arguments(args: List[str]) -> argparse.Namespace:
    more: List[str] = []
    if "--" in args:
        at = args.index("--")
        args, more = args[:at], args[at + 1 :]
    top = argparse.ArgumentParser(
        "python -m nero.submit", description=ABOUT, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    engines = top.add_subparsers(dest="engine", required=True, metavar="local|dask|ray")
    for name, what in (("local", "processes of this machine"), ("dask", "workers of a Dask cluster"), ("ray", "workers of a Ray cluster")):
        p = engines.add_parser(name, help=what, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
        if name != "local":
            p.add_argument("address", help="where the cluster is, such as tcp://scheduler:8786" if name == "dask" else "where the cluster is, or auto")
        p.add_argument("run", help="the folder of a planned run, where all machines see it, or s3://BUCKET/PREFIX")
        p.add_argument("-o", "--out", default="", metavar="FOLDER", help="where a run in a bucket is completed (default: one of its name, here)")
        p.add_argument("--slots", type=_whole, default=0, metavar="N", help="most programs at once (default: as many as there is room for)")
        p.add_argument("--workers", type=_whole, default=1, metavar="N", help="processors, and shards at once, of each (default 1)")
        p.add_argument("--gpus", type=_amount, default=0.0, metavar="N", help="GPUs of each (Dask: of the resource GPU of its workers)")
        p.add_argument("--tries", type=_whole, default=3, metavar="N", help="how often a shard that failed is tried once more (default 3)")
        p.add_argument("--nero", default="", metavar="PATH", help="the program on the workers (default: the path that it has here, else theirs)")
        p.add_argument("--grace", type=_amount, default=GRACE, metavar="S", help="how long shards under way may take after Ctrl-C (default 30)")
        p.add_argument("--no-merge", action="store_true", help="leave the run as it is when all shards are kept")
        p.add_argument("-q", "--quiet", action="store_true", help="say nothing of how far it is")
    a = top.parse_args(args)
    a.more = more
    return a


def _whole(text: str) -> int:
    n = int(text)
    if n < 1:
        raise argparse.ArgumentTypeError(f"{n}, want at least 1")
    return n


def _amount(text: str) -> float:
    x = float(text)
    if not 0 <= x < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}, want a number from 0 on")
    return x


def _submit(a: argparse.Namespace) -> int:
    nero = find_nero()
    run: str = a.run if "://" in a.run else os.path.abspath(a.run)  # workers are in other folders
    status: Dict[str, Any] = json.loads(program("status", run, "--json").stdout)
    if status["complete"]:
        print(f"{run} is complete")
        return 0
    progress = Progress(status["shards"], status["kept"], a.quiet)
    if todo := indexes(status["todo"]):
        place = Place((a.nero or nero, "shard", run, "--stdin", "--workers", str(a.workers), *a.more), _environment(), a.slots, a.workers, a.gpus, a.grace)
        work = _worked(ENGINES[a.engine](a, place), todo, a.tries, progress)
        if work.given_up:
            i, why = next(iter(work.given_up.items()))
            return _say(f"shards {ranges(work.given_up)} failed {a.tries + 1} times each, shard {i} at last with: {why}; the same command tries them again", AGAIN)
    if a.no_merge:
        return 0
    more = [x for x in a.more if x.partition("=")[0] == "--allow-program"]  # which the merge opens as well
    if "://" in run:
        more += ["-o", a.out or run.rstrip("/").rpartition("/")[2], "--push"]
    merged = subprocess.run([nero, "-q", "merge", run, *more], stdout=subprocess.PIPE, text=True, encoding="utf-8")
    print(merged.stdout.strip().rpartition("\n")[2])  # where it is; what came out is for who opens it
    return merged.returncode


def _worked(pool: Pool, todo: List[int], tries: int, progress: Progress) -> Work:
    """Work that is done. Whatever ends it, the pool is closed."""
    before = signal.signal(signal.SIGTERM, _interrupt)  # as Ctrl-C
    work = Work(pool, todo, tries, progress)
    try:
        work.run()
    except KeyboardInterrupt:
        progress.note("finishing what is under way; once more to stop at once")
        raise
    finally:
        try:
            pool.close()
        finally:
            progress.end()
            signal.signal(signal.SIGTERM, before)
    return work


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _environment() -> Dict[str, str]:
    """What workers are told of the library of ONNX Runtime here, if they know of no other."""
    said = {name: os.environ[name] for name in ("NERO_ORT_LIB",) if name in os.environ}
    if (hint := find_onnxruntime()) is not None:
        said["NERO_ORT_HINT"] = hint
    return said


if __name__ == "__main__":
    sys.exit(main())
