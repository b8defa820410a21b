"""Tests of audits during a training, with the program that NERO_BINARY names. Run them as test_bridge says."""

import contextlib
import functools
import importlib.util
import json
import logging
import math
import random
import sys
import tempfile
import types
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional
from unittest import mock

import nero
import numpy as np

from tests.test_audit import EXACT, digits, live
from tests.test_models import IMAGES, broken, exact

FEW = IMAGES[:8]
KEYS: Dict[str, Any] = {"group": "C4", "equivariant": False}
torch_here = unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")


class Clock:
    """Seconds that pass where a test says so, and as many as it says for each look."""

    def __init__(self, each: float = 0.0) -> None:
        self.now, self.each = 100.0, each

    def __call__(self) -> float:
        self.now += self.each
        return self.now


def failing() -> Any:
    """Audits that end at once."""

    def audit(*_: Any, **__: Any) -> Any:
        raise OSError("not now")

    return mock.patch.object(nero.Study, "audit", audit)


def function(x: Any) -> Any:
    return exact(x)


@live
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Monitors(unittest.TestCase):
    def setUp(self) -> None:
        self.dir = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def monitor(self, model: Any = function, **keys: Any) -> nero.Monitor:
        keys = {"every": 10, "clock": Clock(), **keys}
        return nero.Monitor(model, FEW, **{**KEYS, **keys})

    def test_rows_are_those_of_the_audit(self) -> None:
        file = self.dir / "deep" / "history.jsonl"
        clock, seen = Clock(), []  # type: ignore[var-annotated]

        def fn(x: Any) -> Any:
            clock.now += 0.25  # what the model costs
            return broken(x)

        m = self.monitor({"net": fn, "other": exact}, clock=clock, file=file, log=[seen.append], budget=math.inf)
        steps = [s for s in range(25) if m(s) is not None]
        self.assertEqual(steps, [0, 10, 20])
        self.assertEqual([json.loads(line) for line in file.read_text().splitlines()], m.history)
        again = nero.audit({"net": fn, "other": exact}, FEW, audit={"checks": ["lattice", "endtoend"]}, samples=72, progress=False, **KEYS)
        for row, logged in zip(m.history, seen):
            self.assertEqual((row["epoch"], row["verdict"], row["left_out"]), (None, "FAIL", []))
            self.assertGreater(row["seconds"], 0)
            for a in again.models:
                e, r = a.errors[0], row["models"][a.model]
                want = {"verdict": a.verdict, "error": e.error, "floor": e.floor, "interval": [e.interval.lo, e.interval.hi], "limit": a.limit, "worst": e.largest}
                self.assertEqual(r, want)
                self.assertEqual([logged[f"nero/{a.model}/{k}"] for k in ("error", "floor", "worst", "verdict")], [e.error, e.floor, e.largest, a.verdict])
            self.assertEqual(logged["step"], row["step"])
        self.assertEqual(m.spent, sum(r["seconds"] for r in m.history))
        assert m.last is not None
        self.assertIn("net: FAIL", str(m.last))
        self.assertIn("3 audits in", str(m))
        self.assertIn("step 20: net: FAIL, error 1.", str(m))

    def test_a_model_that_holds_passes(self) -> None:
        """On as many samples as are taken where nobody says how many."""
        many = np.random.default_rng(4).integers(0, 255, (100, 12, 12), dtype=np.uint8)
        row = nero.Monitor({"net": exact}, many, every=1, **KEYS)(0)
        assert row is not None
        self.assertEqual(row["verdict"], "PASS")

    def test_an_audit_before_the_training(self) -> None:
        clock = Clock()
        m = self.monitor(every=1, clock=clock)

        def audited(*_: Any, **__: Any) -> Any:
            clock.now += 1.0
            raise OSError("not now")

        with mock.patch.object(nero.Study, "audit", audited), self.assertLogs("nero"):
            m.now()
            clock.now += 100.0
            self.assertIsNotNone(m(0))
        self.assertEqual([r["time"] for r in m.history], [0.0, 101.0])

    def test_when_it_is_time(self) -> None:
        m = self.monitor(every=4)
        with failing(), self.assertLogs("nero"):
            self.assertEqual([s for s in (1, 2, 3, 4, 4, 5, 9, 13, 13, 2) if m(s)], [1, 4, 9, 13, 2])
            m = self.monitor(every=3)
            self.assertEqual([k for k in range(7) if m()], [0, 3, 6])
            m = self.monitor(every=None, epochs=2)
            self.assertEqual([k for k in range(1, 7) if m(10 * k) or m(10 * k, epoch=k)], [1, 2, 4, 6])
            m = self.monitor(every=100, epochs=1)
            self.assertEqual([(s, e) for s, e in ((0, None), (5, None), (9, 1), (10, None), (19, 2), (100, None)) if m(s, epoch=e)], [(0, None), (9, 1), (19, 2), (100, None)])
            self.assertEqual(m.now(7)["step"], 7)

    def test_budget(self) -> None:
        clock = Clock()
        m = self.monitor(every=1, clock=clock, budget=0.05)

        def audited(*_: Any, **__: Any) -> Any:
            clock.now += 1.0
            raise OSError("not now")

        with mock.patch.object(nero.Study, "audit", audited), self.assertLogs("nero", "INFO") as logs:
            made = []
            for step in range(70):
                clock.now += 1.0
                if m(step):
                    made.append(step)
        # A second of audit takes 20 s of training; the first is not paid for beforehand.
        self.assertEqual(made, [0, 20, 40, 60])
        self.assertEqual(m.left_out, [s for s in range(70) if s % 20])
        self.assertEqual([r["left_out"] for r in m.history], [[], list(range(1, 20)), list(range(21, 40)), list(range(41, 60))])
        said = [r for r in logs.records if "left out" in r.getMessage()]
        self.assertEqual([r.levelno for r in said], [logging.WARNING] + [logging.INFO] * 65)
        self.assertRegex(said[0].getMessage(), r"at step 1 is left out: .* took 1 s, and of 1 s of training they may take 5 %")
        self.assertEqual(m.share, 4 / 69)
        self.assertIn("66 more were left out for the budget of 5 %, the first at step 1", str(m))

    def test_errors_do_not_end_the_training(self) -> None:
        class Gone(Exception):
            pass

        calls = [0]

        def fails(x: Any) -> Any:
            calls[0] += 1
            if calls[0] in (2, 3):
                raise Gone("the weights")
            return exact(x)

        def bad(_: Any) -> None:
            raise OSError("the disk is full")

        m = self.monitor(fails, file=self.dir / "history.jsonl", every=1)
        with self.assertLogs("nero", "WARNING") as logs:
            for step in range(3):
                m(step)
        self.assertEqual([r.get("failed") for r in m.history], ["Gone: the weights"] * 2 + [None])
        self.assertEqual([json.loads(line) for line in m.file.read_text().splitlines()], m.history)  # type: ignore[union-attr]
        self.assertEqual(len(logs.output), 1)
        self.assertRegex(logs.output[0], "(?s)at step 0 failed, and the training goes on.*in fails")
        self.assertIn("2 of them failed, the last with Gone: the weights", str(m))
        with self.assertLogs("nero", "WARNING"):
            self.assertEqual(self.monitor(log=bad, every=1)(0)["failed"], "OSError: the disk is full")  # type: ignore[index]
            row = self.monitor(file=self.dir, every=1)(0)
            assert row is not None
            self.assertRegex(row["failed"], "IsADirectoryError")
        calls[0] = 0
        m = self.monitor(fails, every=1, on_error="raise")
        with self.assertRaises(Gone):
            m(0)

    def test_an_interrupt_ends_it(self) -> None:
        calls = [0]

        def interrupted(x: Any) -> Any:
            calls[0] += 1
            if calls[0] == 3:
                raise KeyboardInterrupt
            return exact(x)

        m = self.monitor(interrupted)
        with self.assertRaises(KeyboardInterrupt):
            m(0)

    def test_refusals(self) -> None:
        for keys, error, want in (
            ({"every": None}, ValueError, "every=500"),
            ({"every": 0}, ValueError, "every is 0"),
            ({"every": 2.5}, ValueError, "every is 2.5"),
            ({"epochs": True}, ValueError, "epochs is True"),
            ({"budget": float("nan")}, ValueError, "budget is nan"),
            ({"on_error": "stop"}, ValueError, "on_error is 'stop'; expected \"say\""),
            ({"export": True}, ValueError, "leave export away"),
            ({"log": 3}, TypeError, "int is nothing that nero logs to"),
        ):
            with self.assertRaisesRegex(error, want):
                self.monitor(**keys)  # type: ignore[arg-type]
        with self.assertRaisesRegex(nero.NeroError, "none of the models is alive"):
            nero.Monitor(EXACT, digits(4), every=1, **KEYS)
        with self.assertRaisesRegex(TypeError, "group cannot be given"):
            nero.Monitor(nero.study(exact, FEW, **KEYS), None, "C4", every=1)

    def test_of_a_study(self) -> None:
        m = nero.Monitor(nero.study({"net": exact}, FEW, audit={"checks": ["lattice"]}, **KEYS), every=1)
        self.assertEqual(m(0)["verdict"], "NEEDS_ATTENTION")  # type: ignore[index]

    def test_frameworks_that_are_not_there(self) -> None:
        m = self.monitor()
        with mock.patch.dict(sys.modules):
            for name in ("lightning.pytorch", "pytorch_lightning", "transformers"):
                sys.modules.pop(name, None)
            with self.assertRaisesRegex(nero.NeroError, "import lightning.pytorch first"):
                m.lightning()
            with self.assertRaisesRegex(nero.NeroError, "import transformers first"):
                m.huggingface()

    def test_callbacks(self) -> None:
        """They are of the framework's class, are called as it calls them, and audit in the first process alone."""

        class Callback:
            pass

        class TrainerCallback:
            pass

        def of(what: str, **names: Any) -> Any:
            made = types.ModuleType(what)
            made.__dict__.update(names)
            return made

        stubs = {"pytorch_lightning": of("pytorch_lightning", Callback=Callback), "transformers": of("transformers", TrainerCallback=TrainerCallback)}
        m = self.monitor(every=2, epochs=1)
        with mock.patch.dict(sys.modules, stubs):
            sys.modules.pop("lightning.pytorch", None)
            a, b = m.lightning(), m.huggingface()
        self.assertIsInstance(a, Callback)
        self.assertIsInstance(b, TrainerCallback)
        with failing(), self.assertLogs("nero"):
            for first in (False, True):
                for step in (1, 2, 3):
                    a.on_train_batch_end(types.SimpleNamespace(is_global_zero=first, global_step=step), None, {}, None, step)
                a.on_train_epoch_end(types.SimpleNamespace(is_global_zero=first, global_step=3, current_epoch=0), None)
                for step in (4, 5):
                    b.on_step_end(None, types.SimpleNamespace(is_world_process_zero=first, global_step=step, epoch=0.5), None, model=None)
                b.on_epoch_end(None, types.SimpleNamespace(is_world_process_zero=first, global_step=5, epoch=1.9999), None)
        self.assertEqual([(r["step"], r["epoch"]) for r in m.history], [(1, None), (2, None), (3, 1), (4, None), (5, 2)])


@live
@torch_here
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Trainings(unittest.TestCase):
    """A training with a monitor has the weights of one without, bit by bit."""

    def net(self) -> Any:
        import torch

        class Sparse(torch.nn.Module):
            """Builds what it needs for answers when it is put into evaluation mode, as modules of escnn do."""

            def __init__(self) -> None:
                super().__init__()
                self.weight = torch.nn.Parameter(torch.randn(4, 4) / 2)

            def train(self, mode: bool = True) -> Any:
                if not mode:
                    self.register_buffer("filter", self.weight.tanh().detach(), persistent=False)
                elif hasattr(self, "filter"):
                    del self.filter
                return super().train(mode)

            def forward(self, x: Any) -> Any:
                return x @ (self.weight.tanh() if self.training else self.filter)

        class Merged(torch.nn.Module):
            """Adds its second weights to the first in evaluation mode, and takes them away again, which rounds."""

            def __init__(self) -> None:
                super().__init__()
                self.first, self.second = (torch.nn.Parameter(torch.randn(4, 4) * s) for s in (1, 1e-3))
                self.merged = False

            def train(self, mode: bool = True) -> Any:
                if mode == self.merged:
                    self.first.data += (-1 if mode else 1) * self.second.data / 3
                    self.merged = not mode
                return super().train(mode)

            def forward(self, x: Any) -> Any:
                return x @ self.first if self.merged else x @ self.first + x @ self.second / 3

        class Net(torch.nn.Module):
            """With whatever a call may leave behind."""

            def __init__(self) -> None:
                super().__init__()
                self.conv, self.norm, self.drop = torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Dropout(0.3)
                self.frozen = torch.nn.BatchNorm1d(4)
                self.sparse, self.merged, self.head = Sparse(), Merged(), torch.nn.Linear(4, 3)
                self.register_buffer("seen", torch.zeros(()))
                self.calls, self.table = 0, None
                self.shift = torch.nn.Parameter(torch.zeros(4), requires_grad=False)

            def forward(self, x: Any) -> Any:
                self.calls += 1
                self.seen += x.shape[0]
                if not self.training:
                    self.answered = True
                    self.head.weight.requires_grad_(False)
                    with torch.enable_grad():
                        self.conv.weight.sum().backward()
                if self.table is None or len(self.table) < len(x):
                    self.table = torch.linspace(1, 2, len(x))  # made in the first call that needs it
                y = self.drop(self.norm(self.conv(x)).relu()).mean((2, 3)) * self.table[: len(x), None]
                y = y + 0.1 * x[:, 0, 3, 3:7] + torch.rand(4) * 0.01 + float(np.random.rand() * 0.01 + random.random() * 0.01) + self.shift
                return self.head(self.frozen(self.merged(self.sparse(y)))) * (1 + 1e-3 * self.calls) + 1e-6 * self.seen

        net = Net()
        net.train()
        net.frozen.eval()
        return net

    def train(self, watch: Optional[Callable[[Any, Any], Any]], around: Callable[[], Any] = contextlib.nullcontext, steps: int = 6) -> Dict[str, Any]:
        import torch

        for seed in (torch.manual_seed, np.random.seed, random.seed):
            seed(3)
        net = self.net()
        optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
        modes = [m.training for m in net.modules()]
        images, labels = torch.from_numpy(IMAGES[:, None]).float() / 255, torch.arange(40) % 3
        monitor = None if watch is None else watch(net, net)
        for step in range(steps):
            with around():
                if monitor is not None:
                    monitor(2 * step)
                loss = torch.nn.functional.cross_entropy(net(images[: 6 + step]).float(), labels[: 6 + step])
                if monitor is not None:
                    monitor(2 * step + 1)  # between the two ways
                    self.assertTrue(torch.is_grad_enabled())
            loss.backward()
            if monitor is not None:
                before = [p.grad for p in net.parameters()]
                monitor.now(step)
                self.assertTrue(all(a is p.grad for a, p in zip(before, net.parameters())))
            optimizer.step()
            if step % 2:
                optimizer.zero_grad()
        self.assertEqual([m.training for m in net.modules()], modes)
        if monitor is not None:
            self.assertEqual([r.get("failed") for r in monitor.history], [None] * 3 * steps)
            self.assertEqual(len({json.dumps(r["models"]) for r in monitor.history[2::3]}), steps, "the model that is asked is not the live one")
        kept: Dict[str, Any] = {f"state {k}": v for k, v in net.state_dict().items()}
        kept.update({f"buffer {k}": v for k, v in net.named_buffers()})
        kept.update({f"grad {k}": p.grad for k, p in net.named_parameters() if p.grad is not None})
        kept.update({f"wanted {k}": torch.tensor(p.requires_grad) for k, p in net.named_parameters()})
        kept.update({"torch": torch.get_rng_state(), "numpy": torch.from_numpy(np.random.get_state()[1].astype("i8"))})  # type: ignore[index,union-attr]
        kept.update({f"names of {k}: {sorted(vars(m))} {sorted(m._non_persistent_buffers_set)}": torch.tensor(0) for k, m in net.named_modules()})
        kept.update({"random": torch.tensor(random.random()), "calls": torch.tensor(net.calls)})
        return kept

    def same(self, watch: Callable[[Any, Any], Any], **how: Any) -> None:
        import torch

        alone, watched = self.train(None, **how), self.train(watch, **how)
        self.assertEqual(set(alone), set(watched))
        self.assertEqual([k for k in alone if not torch.equal(alone[k], watched[k])], [])

    def monitor(self, model: Any, **keys: Any) -> nero.Monitor:
        import torch

        return nero.Monitor(model, torch.from_numpy(FEW[:, None]).float() / 255, **{"every": 1, "budget": math.inf, "on_error": "raise", **KEYS, **keys})

    def test_of_a_module(self) -> None:
        self.same(lambda net, _: self.monitor(net))

    def test_within_autocast(self) -> None:
        """Casts of weights that the audit makes have no gradients, and must not be those that the training goes on with."""
        import torch

        self.same(lambda net, _: self.monitor(net), around=lambda: torch.autocast("cpu", torch.bfloat16))

    def test_of_functions_that_ask_a_module(self) -> None:
        self.same(lambda net, _: self.monitor(lambda x: net(x)), steps=3)
        self.same(lambda net, _: self.monitor({"net": functools.partial(lambda n, x: n(x), net)}), steps=3)
        self.same(lambda net, _: self.monitor(nero.Function(lambda x: net(x), {"x": ("FP32", [-1, 1, 12, 12])}, {"y": ("FP32", [-1, 3])}).fn), steps=3)
        self.same(lambda net, _: nero.Monitor(nero.study({"net": net}, FEW, export=False, audit={"checks": ["lattice"]}, **KEYS), every=1, budget=math.inf), steps=3)
        hidden: List[Any] = []

        def watch(net: Any, _: Any) -> nero.Monitor:
            hidden[:] = [net]
            return self.monitor(lambda x: hidden[0](x), module=net)

        self.same(watch, steps=3)

    def frame(self, fit: Callable[[Any, Any, Any], Any]) -> None:
        """A framework trains a net with and without a monitor: the weights are the same, and audits are made when it is time."""
        import torch

        found: List[Any] = []
        for watched in (False, True):
            torch.manual_seed(5)
            net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 12), torch.nn.Flatten(), torch.nn.BatchNorm1d(4), torch.nn.Dropout(), torch.nn.Linear(4, 3))
            monitor = self.monitor(net, every=4, epochs=1) if watched else None
            images = torch.from_numpy(IMAGES[:, None]).float() / 255
            fit(net, [(x, torch.tensor(i % 3)) for i, x in enumerate(images)], monitor)
            found.append({k: v.clone() for k, v in net.state_dict().items()})
        assert monitor is not None
        self.assertTrue(all(torch.equal(v, found[1][k]) for k, v in found[0].items()))
        # 5 steps in an epoch, and audits at the first, at multiples of 4, and where epochs end
        self.assertEqual([(r["step"], r["epoch"]) for r in monitor.history], [(1, None), (4, None), (5, 1), (8, None), (10, 2)])

    @unittest.skipUnless(importlib.util.find_spec("pytorch_lightning"), "Lightning is not installed")
    def test_lightning(self) -> None:
        import pytorch_lightning as pl  # type: ignore[import-not-found,unused-ignore]
        import torch

        class Lit(pl.LightningModule):  # type: ignore[misc,name-defined,unused-ignore]
            def __init__(self, net: Any) -> None:
                super().__init__()
                self.net = net

            def training_step(self, batch: Any, _: int) -> Any:
                return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

            def configure_optimizers(self) -> Any:
                return torch.optim.SGD(self.parameters(), 0.1)

        def fit(net: Any, data: Any, monitor: Any) -> None:
            calls = [] if monitor is None else [monitor.lightning()]
            quiet = {"logger": False, "enable_progress_bar": False, "enable_checkpointing": False, "enable_model_summary": False}
            pl.Trainer(max_epochs=2, callbacks=calls, accelerator="cpu", **quiet).fit(Lit(net), torch.utils.data.DataLoader(data, 8, shuffle=True))

        self.frame(fit)

    @unittest.skipUnless(importlib.util.find_spec("transformers") and importlib.util.find_spec("accelerate"), "transformers or accelerate is not installed")
    def test_huggingface(self) -> None:
        import torch
        from transformers import Trainer, TrainingArguments  # type: ignore[import-not-found,unused-ignore]

        class Scored(torch.nn.Module):
            def __init__(self, net: Any) -> None:
                super().__init__()
                self.net = net

            def forward(self, x: Any, labels: Any) -> Any:
                y = self.net(x)
                return {"loss": torch.nn.functional.cross_entropy(y, labels), "logits": y}

        def fit(net: Any, data: Any, monitor: Any) -> None:
            how = {"num_train_epochs": 2, "per_device_train_batch_size": 8, "report_to": [], "save_strategy": "no", "disable_tqdm": True}
            with tempfile.TemporaryDirectory() as d:
                calls = [] if monitor is None else [monitor.huggingface()]
                Trainer(Scored(net), TrainingArguments(d, **how), train_dataset=[{"x": x, "labels": y} for x, y in data], callbacks=calls).train()

        self.frame(fit)

    def test_wrappers_are_left_out(self) -> None:
        import torch

        net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(144, 3))
        m = self.monitor(torch.nn.DataParallel(net))
        self.assertEqual(m.study.live, ("Sequential",))

    def test_shapes_that_are_not_known_yet(self) -> None:
        import torch

        with self.assertRaisesRegex(nero.NeroError, "LazyLinear.*call it once"):
            self.monitor(torch.nn.LazyLinear(3))
        net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.LazyLinear(3))
        nero.audit(net, FEW, export=False, audit={"checks": ["lattice"]}, progress=False, **KEYS)
        self.assertEqual(net[1].weight.shape, (3, 144))

    def test_devices(self) -> None:
        """The states of a GPU are had and put back, and its work is waited for before the clock starts."""
        import torch

        calls: List[Any] = []
        names: Dict[str, Callable[..., Any]] = {
            "is_available": lambda: True, "is_initialized": lambda: True, "get_rng_state_all": lambda: ["a", "b"],
            "set_rng_state_all": calls.append, "synchronize": lambda: calls.append("waited"),
        }  # fmt: skip

        def net(x: Any) -> Any:
            calls.append("asked")
            return torch.from_numpy(exact(x.numpy()))

        m = self.monitor(net, clock=lambda: float(len(calls)))
        calls.clear()
        with mock.patch.multiple(torch.cuda, **names):
            row = m(0)
        self.assertEqual((calls[0], calls[1], calls[-1]), ("waited", "asked", ["a", "b"]))
        self.assertEqual(row["time"], 1)  # type: ignore[index]

    def test_scripted(self) -> None:
        import torch

        net = torch.jit.script(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(144, 3), torch.nn.Dropout(), torch.nn.BatchNorm1d(3)))
        kept = {k: v.clone() for k, v in net.state_dict().items()}
        self.monitor(net)(0)
        self.assertTrue(all(m.training for m in net.modules()))
        self.assertTrue(all(torch.equal(v, kept[k]) for k, v in net.state_dict().items()))

    def test_a_module_that_changes_its_weights(self) -> None:
        """What cannot be undone is said."""
        import torch

        class Drifting(torch.nn.Linear):
            def forward(self, x: Any) -> Any:
                self.weight += 1e-3
                return super().forward(x.flatten(1))

        with self.assertLogs("nero", "ERROR") as logs:
            self.monitor(Drifting(144, 3))
        self.assertIn("Drifting changed its own parameters", logs.output[0])

    def test_what_a_call_keeps_can_be_trained_with(self) -> None:
        import torch

        table: List[Any] = []

        class Cached(torch.nn.Linear):
            def forward(self, x: Any) -> Any:
                if not table:
                    table.append(torch.linspace(1, 2, 144))
                return super().forward(x.flatten(1) * table[0])

        net = Cached(144, 3)
        self.monitor(net)(0)
        net(torch.rand(2, 1, 12, 12).requires_grad_()).sum().backward()


if __name__ == "__main__":
    unittest.main()
