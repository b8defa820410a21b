"""Tests of what is logged, with the program that NERO_BINARY names. Run them as test_bridge says. A library that is installed is asked itself."""

import importlib.util
import json
import os
import struct
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, List
from unittest import mock

import nero
import numpy as np
from nero import _loggers

from tests.test_audit import SRC, live
from tests.test_models import IMAGES, KEYS, broken, exact

FIGURES = importlib.util.find_spec("matplotlib") is not None
FEW = IMAGES[:8]


def have(*names: str) -> Any:
    missing = [n for n in names if importlib.util.find_spec(n) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Recorder:
    """Keeps what is called on it; calls return another that keeps into the same list."""

    def __init__(self, name: str = "", calls: "List[Any] | None" = None, **fixed: Any) -> None:
        self.__dict__.update(fixed, _name=name, calls=[] if calls is None else calls)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("info", "log_dir", "logdir"):  # what tells one thing from another
            raise AttributeError(name)
        return Recorder(f"{self._name}.{name}".lstrip("."), self.calls)

    def __call__(self, *args: Any, **kw: Any) -> Any:
        self.calls.append((self._name, args, kw))
        return Recorder(self._name + "()", self.calls)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: Any) -> None:
        pass


def of(library: str, *args: Any, **fixed: Any) -> Any:
    """A recorder whose type comes from a library."""
    return type("Recorder", (Recorder,), {"__module__": library})(*args, **fixed)


def module(name: str, **names: Any) -> Any:
    made = types.ModuleType(name)
    made.__dict__.update(names)
    return made


def logged(data: bytes) -> Iterator[bytes]:
    """The records of a log of LevelDB with a head of seven bytes, as W&B writes it."""
    at, whole = 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, n, kind = struct.unpack_from("<IHB", data, at)
        whole += data[at + 7 : at + 7 + n]
        at += 7 + n
        if kind in (1, 4):  # the whole of one, or its end
            yield whole
            whole = b""


@live
class Loggers(unittest.TestCase):
    audit: nero.Audit
    run_: nero.Run

    @classmethod
    def setUpClass(cls) -> None:
        cls.audit = nero.audit({"net": broken}, FEW, **KEYS)
        cls.run_ = nero.run({"net": exact}, FEW, "SO(2)", orbit=6, labels=np.arange(8) % 3, progress=False)

    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))
        a = self.audit
        self.scalars = {"nero/net/error": a.error, "nero/net/floor": a.floor, "nero/net/worst": a.worst.value}  # type: ignore[union-attr]
        self.texts = {"nero/net/verdict": "FAIL", "nero/net/gist": " ".join(a.only.gist)}
        self.files = {"audit.json": a.file.read_text(), "audit.html": a.to_html()}

    def test_a_function(self) -> None:
        seen: List[Any] = []
        self.audit.log(seen.append)
        self.audit.log(seen.append, step=3)
        self.assertEqual(seen, [{**self.scalars, **self.texts}, {**self.scalars, **self.texts, "step": 3}])

    def test_runs(self) -> None:
        seen: List[Any] = []
        self.run_.log(seen.append)
        mean = [r for r in self.run_.rows(metric="absolute") if r["element"] == "mean over the orbit"][0]["mean"]
        self.assertEqual(seen[0]["nero/net/absolute/mean"], mean)
        self.assertGreater(seen[0]["nero/net/absolute/worst"], mean)
        self.assertEqual({k.split("/")[2] for k in seen[0] if k.startswith("nero/net/")}, set(self.run_.metrics))
        e = self.run_.entry()
        self.assertEqual(list(e.files), ["summary.json", "run.html"])
        c = e.curves["nero/net/absolute/curve"]
        self.assertEqual((c.x, c.series[0].x), ("angle (deg)", [60.0 * k for k in range(6)]))
        rows = [r["mean"] for r in self.run_.rows(metric="absolute")][:6]
        self.assertEqual(list(c.series[0].y), rows)

    def test_curve_of_an_audit(self) -> None:
        c = self.audit.entry().curves["nero/net/curve"]
        self.assertEqual((c.x, c.y, c.log, c.limit), ("angle (deg)", "error", True, self.audit.only.limit))
        marks = c.series[0]
        self.assertEqual((marks.marks, list(marks.x), max(y for y in marks.y if y is not None)), (True, [90, 180, 270], self.audit.worst.value))  # type: ignore[union-attr]

    def test_what_is_not_known(self) -> None:
        with self.assertRaisesRegex(TypeError, "list is nothing that nero logs to; give the module or a run of MLflow"):
            self.audit.log([])

    def test_numbers_that_do_not_exist(self) -> None:
        a = nero.audit({"net": lambda x: exact(x) * np.nan}, FEW, **KEYS)
        seen: List[Any] = []
        a.log(seen.append)
        self.assertEqual((seen[0]["nero/net/verdict"], [k for k, v in seen[0].items() if v != v]), ("FAIL", []))

    def test_calls_of_tensorboard(self) -> None:
        for library in ("torch.utils.tensorboard.writer", "tensorboardX.writer"):
            w = of(library, **{"log_dir" if "torch." in library else "logdir": str(self.dir / library)})
            self.audit.log(w, step=7)
            self.assertEqual([c for c in w.calls if c[0] == "add_scalar"], [("add_scalar", (k, v, 7), {}) for k, v in self.scalars.items()])
            self.assertEqual([c for c in w.calls if c[0] == "add_text"], [("add_text", (k, v, 7), {}) for k, v in self.texts.items()])
            self.assertEqual([c[1][0] for c in w.calls if c[0] == "add_figure"], ["nero/net/curve"] if FIGURES else [])
            self.assertEqual({p.name: p.read_text() for p in (self.dir / library / "nero/step-7").iterdir()}, self.files)
        w = of("tensorboardX.writer", logdir="s3://bucket/logs")
        self.audit.log(w)
        self.assertFalse(Path("s3:").exists())

    def test_calls_of_mlflow(self) -> None:
        client = of("mlflow.tracking.client")
        active = types.SimpleNamespace(info=types.SimpleNamespace(run_id="active"))
        begun = types.SimpleNamespace(info=types.SimpleNamespace(run_id="begun"))
        lib = module("mlflow", MlflowClient=lambda: client, active_run=lambda: active, start_run=lambda: begun)
        given = of("mlflow.tracking.fluent", info=types.SimpleNamespace(run_id="given"))
        with mock.patch.dict(sys.modules, mlflow=lib):
            for to, run in ((lib, "active"), (client, "active"), (given, "given")):
                client.calls.clear()
                self.audit.log(to, step=7)
                calls = [c for c in client.calls if c[0] != "log_figure"]
                want = [("log_metric", (run, k, v), {"step": 7}) for k, v in self.scalars.items()]
                want += [("set_tag", (run, k, v), {}) for k, v in self.texts.items()]
                want += [("log_text", (run, v, f"nero/step-7/{k}"), {}) for k, v in self.files.items()]
                self.assertEqual(calls, want)
                self.assertEqual([c[1][2] for c in client.calls if c[0] == "log_figure"], ["step-7/nero/net/curve.png"] if FIGURES else [])
            lib.active_run = lambda: None
            client.calls.clear()
            self.audit.log(lib)
            self.assertEqual({c[1][0] for c in client.calls}, {"begun"})
            with self.assertRaisesRegex(nero.NeroError, "none is under way; call mlflow.start_run"):
                self.audit.log(client)
            _loggers.write(lib, _loggers.Entry("audit", {"nero/a b:c/iou@self": 1.0}))
            self.assertEqual(client.calls[-1], ("log_metric", ("begun", "nero/a b_c/iou_self", 1.0), {"step": None}))

    def test_calls_of_wandb(self) -> None:
        run = of("wandb.sdk.wandb_run", id="a b")
        made = Recorder()
        lib = module("wandb", run=run, Html=lambda f: ("html", f.read()), Image=lambda f: ("image", f.size), Artifact=lambda *a, **k: made("Artifact", *a, **k) or made)
        with mock.patch.dict(sys.modules, wandb=lib):
            for to in (run, lib):
                run.calls.clear()
                made.calls.clear()
                self.audit.log(to, step=7)
                row: Dict[str, Any] = {**self.scalars, **self.texts, "nero/audit": ("html", self.audit.to_card()), "nero/step": 7}
                if FIGURES and importlib.util.find_spec("PIL"):
                    row["nero/net/curve"] = ("image", (640, 400))
                self.assertEqual(
                    [c for c in run.calls if c[0] != "log_artifact"],
                    [
                        ("define_metric", ("nero/step",), {"hidden": True}),
                        ("define_metric", ("nero/*",), {"step_metric": "nero/step"}),
                        ("log", (row,), {"commit": False}),
                        ("summary.update", (self.texts,), {}),
                    ],
                )
                self.assertEqual(made.calls[0], ("", ("Artifact", "nero-audit-a-b"), {"type": "nero-audit"}))
                self.assertEqual([c[1][0] for c in made.calls if c[0].endswith("write")], list(self.files.values()))
                self.assertEqual(len([c for c in run.calls if c[0] == "log_artifact"]), 1)
            lib.run = None
            with self.assertRaisesRegex(nero.NeroError, "call wandb.init"):
                self.audit.log(lib)

    def test_loggers_of_lightning(self) -> None:
        writer = of("torch.utils.tensorboard.writer", log_dir=str(self.dir))
        self.audit.log(of("pytorch_lightning.loggers.tensorboard", experiment=writer))
        self.assertEqual([c[1][:2] for c in writer.calls if c[0] == "add_scalar"], list(self.scalars.items()))
        client = of("mlflow.tracking.client")
        self.audit.log(of("lightning.pytorch.loggers.mlflow", experiment=client, run_id="r"))
        self.assertEqual([c[1] for c in client.calls if c[0] == "log_metric"], [("r", k, v) for k, v in self.scalars.items()])
        other = of("lightning.pytorch.loggers.csv_logs", experiment=object())
        self.audit.log(other, step=7)
        self.assertEqual(other.calls, [("log_metrics", (self.scalars,), {"step": 7})])

    @have("tensorboardX")
    def test_tensorboardx(self) -> None:
        from tensorboardX import SummaryWriter  # type: ignore[import-not-found,unused-ignore]
        from tensorboardX.proto.event_pb2 import Event  # type: ignore[import-not-found,unused-ignore]

        self.written(SummaryWriter, Event)

    @have("torch", "tensorboard")
    def test_tensorboard(self) -> None:
        from tensorboard.compat.proto.event_pb2 import Event  # type: ignore[import-not-found,unused-ignore]
        from torch.utils.tensorboard import SummaryWriter

        self.written(SummaryWriter, Event)

    def written(self, writer: Any, Event: Any) -> None:
        with writer(str(self.dir)) as w:
            self.audit.log(w, step=7)
        (file,) = self.dir.glob("events.*")
        found: Dict[str, Any] = {}
        data = file.read_bytes()
        while data:  # a record: its length, a sum, the event, a sum
            n = int.from_bytes(data[:8], "little")
            e = Event.FromString(data[12 : 12 + n])
            found.update({v.tag: (e.step, v) for v in e.summary.value})
            data = data[16 + n :]
        for k, x in self.scalars.items():
            self.assertEqual((found[k][0], found[k][1].simple_value), (7, np.float32(x)))
        self.assertEqual(found["nero/net/verdict/text_summary"][1].tensor.string_val, [b"FAIL"])
        if FIGURES:
            self.assertEqual(found["nero/net/curve"][1].image.encoded_image_string[:4], b"\x89PNG")
        self.assertEqual((self.dir / "nero/step-7/audit.html").read_text(), self.files["audit.html"])

    @have("mlflow")
    def test_mlflow(self) -> None:
        quiet = {"MLFLOW_ALLOW_FILE_STORE": "true", "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
        with mock.patch.dict(os.environ, quiet):
            import mlflow  # type: ignore[import-not-found,unused-ignore]

            mlflow.set_tracking_uri((self.dir / "runs").as_uri())
            with mlflow.start_run() as run:
                self.audit.log(mlflow, step=1)
                self.audit.log(mlflow.MlflowClient(), step=2)
            self.audit.log(run, step=3)
            client = mlflow.MlflowClient()
            for k, x in self.scalars.items():
                self.assertEqual([(m.step, m.value) for m in client.get_metric_history(run.info.run_id, k)], [(1, x), (2, x), (3, x)])
            kept = client.get_run(run.info.run_id).data
            self.assertEqual({k: v for k, v in kept.tags.items() if k.startswith("nero/")}, self.texts)
            files = {p.relative_to(self.dir).as_posix().partition("/artifacts/")[2] for p in self.dir.rglob("artifacts/**/*.*")}
        want = {f"nero/step-{n}/{k}" for n in (1, 2, 3) for k in self.files}
        self.assertEqual(files, want | ({f"step-{n}/nero/net/curve.png" for n in (1, 2, 3)} if FIGURES else set()))

    @have("wandb")
    def test_wandb(self) -> None:
        """Offline, in a process of its own: its rows stay those of the training, and nobody is asked over a network."""
        code = f"""
import json, socket, sys
def refused(self, at, *a):
    if self.family != socket.AF_UNIX and at[0] not in ("127.0.0.1", "::1", "localhost"):
        print("NETWORK", at); raise OSError("no network")
    return connect(self, at, *a)
connect, socket.socket.connect = socket.socket.connect, refused
import nero, wandb
run = wandb.init(mode="offline", project="p", dir={str(self.dir)!r}, settings=wandb.Settings(silent=True))
a = nero.open({str(self.audit.file.parent)!r})
for step in range(4):
    if step % 2:
        a.log(wandb if step == 1 else run, step=100 * step)
    run.log({{"loss": 1.0 / (1 + step)}})
print(json.dumps(dict(run.summary), default=str))
run.finish()
"""
        env = {**os.environ, "PYTHONPATH": str(SRC), "WANDB_MODE": "offline", "HOME": str(self.dir)}
        p = subprocess.run([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertNotIn("NETWORK", p.stdout)
        summary = json.loads(p.stdout.splitlines()[-1])
        self.assertEqual((summary["_step"], summary["nero/net/verdict"], summary["nero/net/error"]), (3, "FAIL", self.scalars["nero/net/error"]))
        (store,) = self.dir.rglob("*.wandb")
        from wandb.proto.wandb_internal_pb2 import Record  # type: ignore[import-not-found,unused-ignore]

        rows = []
        for data in logged(store.read_bytes()):
            r = Record.FromString(data)
            if r.WhichOneof("record_type") == "history":
                rows.append({i.key or "/".join(i.nested_key): json.loads(i.value_json) for i in r.history.item})
        self.assertEqual([r["_step"] for r in rows], [0, 1, 2, 3])
        self.assertEqual([r.get("nero/step") for r in rows], [None, 100, None, 300])
        self.assertEqual([r.get("nero/net/error") for r in rows], [None, self.scalars["nero/net/error"]] * 2)


if __name__ == "__main__":
    unittest.main()
