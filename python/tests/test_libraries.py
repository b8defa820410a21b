"""Tests of models and data of other libraries, each skipped where its library is not installed, with the program that NERO_BINARY names.
Where NERO_LIBRARIES says all, nothing is skipped: .ci/libraries installs them.

Of each there is a model that is equivariant by construction, which passes, and a twin with a planted break, which fails.
"""

import contextlib
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable, Dict
from unittest import mock

import nero
import numpy as np

from tests.test_audit import live

#: As many samples as a PASS needs, and few elements and checks: what is tested is what was taken from the library.
QUICK: Dict[str, Any] = {"audit": {"checks": ["lattice"], "elements": 8}, "progress": False}
N = 80


def needs(library: str) -> Callable[[Any], Any]:
    """Skips a test where the library is not installed, and may be missing."""
    there = os.environ.get("NERO_LIBRARIES") == "all" or importlib.util.find_spec(library) is not None
    return unittest.skipUnless(there, f"{library} is not installed")


def verdicts(*models: Any, data: Any, **keys: Any) -> "list[str]":
    return [nero.audit(m, data, **{**QUICK, **keys}).verdict for m in models]


@live
@needs("ase")
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Ase(unittest.TestCase):
    def frames(self, n: int = N) -> Any:
        from ase import Atoms

        rng = np.random.default_rng(0)
        return [Atoms(numbers=rng.choice([29, 13, 47], 3 + i % 2), positions=2 * rng.standard_normal((3 + i % 2, 3))) for i in range(n)]

    def tilted(self) -> Any:
        from ase.calculators.emt import EMT

        class Tilted(EMT):  # type: ignore[misc]
            def calculate(self, *args: Any, **kw: Any) -> None:
                super().calculate(*args, **kw)
                self.results["energy"] += self.atoms.positions[:, 0].sum()

        return Tilted()

    def test_exact_and_broken(self) -> None:
        from ase.calculators.emt import EMT

        self.assertEqual(verdicts(EMT(), self.tilted(), data=self.frames()), ["PASS", "FAIL"])

    def test_forces_that_are_no_gradient(self) -> None:
        a = nero.audit(self.tilted(), self.frames(4), audit={"checks": ["lattice", "forces"], "elements": 4}, progress=False)
        self.assertIn("forces differ from minus the gradient of energy", str(a.only.reasons))

    def test_crystals(self) -> None:
        """Of what repeats in space the cell turns along, and so does the stress."""
        from ase.build import bulk
        from ase.calculators.lj import LennardJones

        class Pressed(LennardJones):  # type: ignore[misc]
            def calculate(self, *args: Any, **kw: Any) -> None:
                super().calculate(*args, **kw)
                self.results["stress"] = self.results["stress"] * np.array([1, 1, 1, 1, 1, 1.5])

        crystals = [bulk("Ar", a=5.2) * (2, 1, 1) for _ in range(6)]
        for i, c in enumerate(crystals):
            c.rattle(0.1, seed=i)
            c.set_cell(c.cell[:] + 0.2 * np.random.default_rng(i).standard_normal((3, 3)), scale_atoms=True)
        how: Dict[str, Any] = {"sigma": 3.4, "epsilon": 0.01, "rc": 6.0}
        a, b = (nero.audit(c(**how), crystals, audit={"checks": ["lattice"], "elements": 4}, progress=False) for c in (LennardJones, Pressed))
        self.assertIn("positions, species and cell in, energy, forces and stress out", str(a.study.notes))  # type: ignore[union-attr]
        self.assertLess(a.judged.largest, 1e-8)
        self.assertGreater(b.judged.largest, 1e-3)

    def test_what_is_taken(self) -> None:
        from ase.build import bulk
        from ase.calculators.emt import EMT
        from ase.calculators.lj import LennardJones
        from ase.calculators.singlepoint import SinglePointCalculator

        s = nero.study(EMT(), self.frames(3))
        self.assertEqual(s.notes, ("EMT: E(3) x S, positions and species in, energy and forces out: from the calculator",))
        self.assertEqual((s.keys["group"], s.keys["task"], s.live), ({"name": "E(3) x S"}, "molecules", ("EMT",)))
        # What is said goes before what is taken.
        s = nero.study({"lj": LennardJones()}, self.frames(3), "SO(3)", output={"fields": [{"name": "energy", "type": "unchanged", "per": "sample"}]})
        self.assertEqual((s.keys["group"], [f["name"] for f in s.keys["output"]["fields"]]), ({"name": "SO(3)"}, ["energy"]))
        self.assertEqual(s.notes, ("lj: positions and species in, energy and forces out: from the calculator",))
        s = nero.study({"lj": LennardJones()}, self.frames(3), orbit=8)
        self.assertEqual((s.keys["group"], s.notes[0][:12]), ({"name": "E(3) x S", "orbit": {"grid": [8]}}, "lj: E(3) x S"))
        # Of a crystal the cell turns along; energies that were stored are targets.
        crystals = [bulk("Cu", cubic=True) for _ in range(2)]
        for i, c in enumerate(crystals):
            c.rattle(0.1, seed=i)
            c.calc = SinglePointCalculator(c, energy=float(i), forces=c.positions)
        s = nero.study(EMT(), crystals)
        self.assertEqual([f["name"] for f in s.keys["input"]["fields"]], ["positions", "species", "cell"])
        with np.load(s.folder / "data.npz") as z:
            self.assertEqual((z["energy"].tolist(), z["forces"].shape, z["cell"].shape), ([0, 1], (2, 4, 3), (2, 3, 3)))
            self.assertEqual(z["positions"].tolist(), [c.positions.tolist() for c in crystals])
        # Of one atom each there are as many rows of atoms as of samples, and they are told apart.
        r = nero.run(LennardJones(), [bulk("Ar", a=5.2 + i / 9) for i in range(3)], "Octa", orbit="haar:2", progress=False)
        self.assertEqual(len(r.samples), 3)
        # The calculator gets the atoms as they were.
        want = [EMT().get_property("energy", c) for c in crystals]
        (model,) = s._live
        got = model.run({"positions": np.stack([c.positions for c in crystals]), "species": np.full((2, 4), 29), "cell": np.stack([c.cell[:] for c in crystals])})
        self.assertEqual(got["energy"][:, 0].tolist(), want)

    def test_nothing_is_remembered(self) -> None:
        """Also where atoms are off by the last digit, which ase takes for the same atoms: rounding would seem to change nothing."""
        from ase.calculators.emt import EMT

        calls = [0]

        class Counted(EMT):  # type: ignore[misc]
            def calculate(self, *args: Any, **kw: Any) -> None:
                calls[0] += 1
                super().calculate(*args, **kw)

        (model,) = nero.study(Counted(), self.frames(3))._live
        (atoms,) = self.frames(1)
        for off in (0, 2.0**-52):
            calls[0] = 0
            model.run({"positions": (atoms.positions + off)[None], "species": atoms.numbers[None]})
            self.assertEqual(calls[0], 1)

    def test_what_cannot_be(self) -> None:
        from ase import Atoms
        from ase.calculators.calculator import Calculator
        from ase.calculators.emt import EMT

        class Dipole(Calculator):  # type: ignore[misc]
            implemented_properties = ["dipole"]

        slab = Atoms("Cu", pbc=(True, True, False), cell=[3, 3, 3])
        for model, of, keys, error, want in (
            (Dipole(), self.frames(2), {}, TypeError, "neither energy nor forces"),
            (EMT(), [Atoms("Cu"), slab], {}, ValueError, r"sample 1 of the list repeats along \[True, True, False\]"),
            (EMT(), [Atoms("Cu"), Atoms()], {}, ValueError, "sample 1 of the list has no atoms"),
            (EMT(), self.frames(2), {"input": {"fields": ["positions"]}}, TypeError, "reads positions, species"),
        ):
            with self.assertRaisesRegex(error, want):
                nero.study(model, of, **keys)  # type: ignore[arg-type]
        # What a calculator raises comes back as itself.
        with self.assertRaisesRegex(NotImplementedError, "No EMT-potential"):
            nero.audit(EMT(), [Atoms("He2", positions=[[0, 0, 0], [0, 0, 2]])] * 2, **QUICK)

    def test_what_is_taken_is_shown(self) -> None:
        """In a terminal, or in a notebook; elsewhere the log has it."""
        from ase.calculators.emt import EMT

        for kernel, progress, shown in ((True, True, True), (True, False, False), (False, True, False)):
            modules = {"ipykernel": mock.Mock()} if kernel else {}
            with mock.patch.dict(sys.modules, modules), contextlib.redirect_stdout(io.StringIO()) as told, self.assertLogs("nero", "INFO") as logs:
                nero.audit(EMT(), self.frames(2), audit={"checks": ["lattice"], "elements": 2}, progress=progress)
            self.assertEqual("from the calculator" in told.getvalue(), shown)
            self.assertIn("from the calculator", str(logs.output))


@live
@needs("torch")
@needs("e3nn")
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class E3nn(unittest.TestCase):
    def setUp(self) -> None:
        import torch
        from e3nn import o3

        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # of e3nn, about TorchScript
        torch.manual_seed(0)
        self.linear = o3.Linear("4x0e + 2x1o", "3x0e + 1x1o")
        self.rows = np.random.default_rng(0).standard_normal((N, 10)).astype("f4")

        class Bent(torch.nn.Module):
            """One weight more, from a component of a vector to a scalar."""

            def __init__(self, linear: Any) -> None:
                super().__init__()
                self.linear, self.irreps_in, self.irreps_out = linear, "4x0e+2x1o", linear.irreps_out

            def forward(self, x: Any) -> Any:
                y = self.linear(x)
                return torch.cat([y[..., :1] + x[..., 5:6], y[..., 1:]], -1)

        self.bent = Bent(self.linear)

    def gated(self) -> Any:
        import torch
        from e3nn import nn, o3

        gate = nn.Gate("8x0e", [torch.tanh], "2x0e", [torch.sigmoid], "2x1o")
        return torch.nn.Sequential(o3.Linear("4x0e+2x1o", gate.irreps_in), gate, o3.Linear(gate.irreps_out, "2x0e+1x1o"))

    def test_exact_and_broken(self) -> None:
        self.assertEqual(verdicts(self.linear, self.bent, self.gated(), data=self.rows, export=False), ["PASS", "FAIL", "PASS"])
        self.assertEqual(verdicts(self.gated(), data=self.rows.reshape(N, 1, 10).repeat(3, 1), export=False), ["PASS"])

    def test_their_rotations_are_ours(self) -> None:
        """Products of types up to degree 2 are right only if the components have one order and one axis, at elements of all kinds."""
        from e3nn import o3

        product = o3.FullyConnectedTensorProduct("2x0e+1x1o+1x2e", "1x0e+1x1o", "2x0e+1x1e+1x2o")
        data = {"a": self.rows, "b": self.rows[:, :4]}
        a = nero.audit(product, data, export=False, audit={"checks": ["lattice", "endtoend"], "elements": 24}, progress=False)
        self.assertEqual((a.verdict, [e.exact for e in a.only.errors]), ("PASS", [True, False]), a)
        self.assertLess(max(e.largest for e in a.only.errors), 1e-5)
        self.assertIn("O(3), 2x0e+1x1o+1x2e and 1x0e+1x1o in, 2x0e+1x1e+1x2o out: from the module", a.study.notes[0])  # type: ignore[union-attr]

    def test_what_they_move_is_what_we_move(self) -> None:
        import torch
        from e3nn import o3

        types = o3.Irreps("2x0e+0o+1o+1e+2e+3o")
        seen: "list[Any]" = []

        class Seen(torch.nn.Module):
            irreps_in, irreps_out = types, o3.Irreps("0e")

            def forward(self, x: Any) -> Any:
                seen.append(x.detach().clone().reshape(-1, types.dim))
                return x[..., :1]

        rows = torch.from_numpy(np.random.default_rng(0).standard_normal((2, types.dim)).astype("f4"))
        r = nero.run(Seen(), rows.numpy(), "O(3)", export=False, progress=False)
        moved = torch.cat(seen)
        for rx, ry, rz, inversion in r.elements[::9]:
            axis = torch.deg2rad(torch.tensor([rx, ry, rz], dtype=torch.float64))
            turn = torch.linalg.matrix_exp(torch.tensor([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]]))
            theirs = rows.double() @ types.D_from_matrix(turn * (-1 if inversion else 1)).T
            for want in theirs:
                self.assertLess(float((moved - want).abs().max(1).values.min()), 1e-5, (rx, ry, rz, inversion))

    def test_what_is_taken(self) -> None:
        s = nero.study(self.linear, self.rows, export=False, labels=np.arange(N) % 2)
        self.assertEqual(s.notes[0], "Linear: O(3), 4x0e+2x1o in, 3x0e+1x1o out: from the module")
        self.assertEqual((s.keys["group"], s.keys["output"]["fields"]), ({"name": "O(3)"}, [{"name": "output", "type": "3x0e+1x1o"}]))
        with np.load(s.folder / "data.npz") as z:
            self.assertEqual({n: z[n].shape for n in z}, {"nodes": (N, 1, 10), "labels": (N,)})
        s = nero.study({"net": self.linear}, self.rows, "SO(3)", export=False, output={"fields": [{"name": "output", "type": "unchanged"}]})
        self.assertEqual((s.keys["group"], s.keys["output"]), ({"name": "SO(3)"}, {"fields": [{"name": "output", "type": "unchanged"}]}))

    def test_models_that_say_different_things(self) -> None:
        """One of them would be held to the claim of the other, and pass."""
        from e3nn import o3

        both = {"a b": self.linear, "c": o3.Linear("4x0e + 2x1o", "3x0e + 1x1e")}
        with self.assertRaisesRegex(nero.NeroError, r"a-b and c say different things of themselves.* output of a-b is .*1x1o.*, of c .*1x1e.*one by one"):
            nero.study(both, self.rows, export=False)
        s = nero.study(both, self.rows, export=False, output={"fields": [{"name": "output", "type": "unchanged"}]})
        self.assertEqual([m["name"] for m in s.keys["models"]], ["a-b", "c"])
        a = nero.audit({"a b": self.linear, "again": self.linear}, self.rows, export=False, **QUICK)
        self.assertIs(a["a b"], a["a-b"])

    def test_what_cannot_be(self) -> None:
        for of, error, want in (
            (self.rows[:, :9], ValueError, r"4x0e\+2x1o, which are 10 numbers, and the array images has shape \[80, 9\]"),
            ({"a": self.rows, "b": self.rows}, TypeError, r"reads 1 inputs, 4x0e\+2x1o, and the data are the arrays \['a', 'b'\]"),
        ):
            with self.assertRaisesRegex(error, want):
                nero.study(self.linear, of)


@live
@needs("torch")
@needs("escnn")
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Escnn(unittest.TestCase):
    def setUp(self) -> None:
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # of escnn, about what else could be installed
        import torch
        from escnn import gspaces

        torch.manual_seed(0)
        self.c4, self.d4 = gspaces.rot2dOnR2(4), gspaces.flipRot2dOnR2(4)
        self.images = np.random.default_rng(0).standard_normal((N, 1, 9, 9)).astype("f4")

    def parts(self, space: Any, out: Any) -> "list[Any]":
        from escnn import nn

        first, inner = nn.FieldType(space, [space.trivial_repr]), nn.FieldType(space, 2 * [space.regular_repr])
        return [nn.R2Conv(first, inner, 3, padding=1), nn.ReLU(inner), nn.R2Conv(inner, nn.FieldType(space, out), 3, padding=1)]

    def net(self, space: Any, out: Any) -> Any:
        from escnn import nn

        return nn.SequentialModule(*self.parts(space, out))

    def bent(self, space: Any, out: Any) -> Any:
        from escnn import nn

        class Bent(nn.SequentialModule):  # type: ignore[misc]
            def export(self) -> Any:
                plain = super().export()
                plain[0].weight.data[0, 0, 0, 1] += 1
                return plain

        return Bent(*self.parts(space, out))

    def test_exact_and_broken(self) -> None:
        for space in (self.c4, self.d4):
            for out in ([space.trivial_repr] * 4, [space.regular_repr] * 2):
                self.assertEqual(verdicts(self.net(space, out), self.bent(space, out), data=self.images), ["PASS", "FAIL"], (space, out))

    def test_what_they_move_is_what_we_move(self) -> None:
        import torch
        from escnn import nn

        for space in (self.c4, self.d4):
            seen: "list[Any]" = []

            class Seen(nn.EquivariantModule):  # type: ignore[misc]
                def __init__(self, space: Any) -> None:
                    super().__init__()
                    self.in_type = self.out_type = nn.FieldType(space, [space.trivial_repr])

                def forward(self, x: Any) -> Any:
                    seen.append(x.tensor.clone())
                    return x

                def evaluate_output_shape(self, shape: Any) -> Any:
                    return shape

            net = Seen(space)
            nero.run(net, self.images[:2], progress=False)
            for g in space.testing_elements:
                theirs = net.in_type(torch.from_numpy(self.images[:2])).transform(g).tensor
                for want in theirs:
                    self.assertLess(float((torch.cat(seen) - want).abs().amax((1, 2, 3)).min()), 1e-5, (space, g))

    def others(self) -> "list[Any]":
        """Spaces, with fields that are neither trivial nor regular: irreps, quotients, several of them."""
        c4, d4 = self.c4, self.d4
        return [(c4, [c4.irrep(1)]), (c4, [c4.quotient_repr(2), c4.trivial_repr, c4.irrep(1)]), (d4, [d4.irrep(1, 1), d4.irrep(1, 0)]), (d4, [d4.quotient_repr((None, 2))])]

    def test_other_fields(self) -> None:
        for space, out in self.others():
            exact, broken = self.net(space, out), self.bent(space, out)
            self.assertEqual(verdicts(exact, broken, data=self.images), ["PASS", "FAIL"], (space, out))

    def test_answers_that_they_move_are_those_that_we_move(self) -> None:
        """What a network of theirs says of a moved picture is what it said, moved by their transform: so the errors are rounding alone."""
        import torch

        for space, out in self.others():
            net = self.net(space, out)
            a = nero.audit(net, self.images, **QUICK)
            self.assertLess(a.judged.largest, 1e-5)
            with torch.no_grad():
                x = net.in_type(torch.from_numpy(self.images[:2]))
                for g in space.testing_elements:
                    self.assertLess(float((net(x.transform(g)).tensor - net(x).transform(g).tensor).abs().max()), 1e-5)

    def test_numbers_are_those_of_the_command_line(self) -> None:
        """On the file that was exported."""
        a = nero.audit(self.bent(self.c4, [self.c4.regular_repr]), self.images, **QUICK)
        assert a.study is not None
        p = subprocess.run([nero.find_nero(), *a.study.command().split()[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertEqual(nero.open(a.study.folder / "audit").data["models"][0]["checks"], a.data["models"][0]["checks"])

    def test_without_export(self) -> None:
        from escnn import nn

        class Closed(nn.SequentialModule):  # type: ignore[misc]
            def export(self) -> Any:
                raise NotImplementedError("no export")

        net = Closed(*self.parts(self.c4, [self.c4.regular_repr]))
        net.train()
        a = nero.audit(net, self.images, **QUICK)
        self.assertEqual((a.verdict, a.study.live, net.training), ("PASS", ("Closed",), True))  # type: ignore[union-attr]
        with self.assertRaisesRegex(nero.ExportError, "NotImplementedError: no export"):
            nero.study(net, self.images, export=True)

    def test_what_is_taken(self) -> None:
        from escnn import gspaces

        for space, out, group, words in (
            (self.c4, [self.c4.trivial_repr] * 4, "C4", "C4, 1 trivial field in, 4 trivial fields out"),
            (self.d4, [self.d4.regular_repr], "D4", "D4, 1 trivial field in, 1 regular field out"),
            (gspaces.flip2dOnR2(), None, "D1", "D1, 1 trivial field in, 2 trivial fields out"),
            (gspaces.flipRot2dOnR2(3), None, "D3", "D3, 1 trivial field in, 2 trivial fields out"),
            (gspaces.rot2dOnR2(8), None, "C8", "C8, 1 trivial field in, 2 trivial fields out"),
        ):
            s = nero.study(self.net(space, out or 2 * [space.trivial_repr]), self.images)
            self.assertEqual((s.notes[0], s.keys["group"]), (f"SequentialModule: {words}: from the module", {"name": group}))
        s = nero.study(self.net(self.d4, [self.d4.trivial_repr]), self.images, "C4", equivariant=False)
        self.assertEqual((s.keys["group"], s.keys["output"]["action"]), ({"name": "C4"}, "invariant"))

    def test_what_cannot_be(self) -> None:
        from escnn import gspaces, nn

        slanted, c4, so2 = gspaces.flipRot2dOnR2(4, axis=0.3), self.c4, gspaces.rot2dOnR2(-1, maximum_frequency=1)
        inner = nn.FieldType(c4, [c4.regular_repr])
        for net, want in (
            (nn.R2Conv(nn.FieldType(so2, [so2.trivial_repr]), nn.FieldType(so2, [so2.trivial_repr, so2.irrep(1)]), 3), r"it gives 1 trivial and 1 irrep_1 fields; trivial fields alone or regular fields alone"),
            (nn.ReLU(inner), "it reads 1 regular field, and pictures are trivial fields"),
            (self.net(slanted, [slanted.trivial_repr]), "its group, .*, is none of C<n>.*say which with group="),
        ):
            with self.assertRaisesRegex(TypeError, want):
                nero.study(net, self.images)


class Recorder:
    """Makes a module that keeps what it is asked."""

    def __init__(self, channels: int = 3, **said: Any) -> None:
        import torch

        seen: "list[Any]" = []

        class Seen(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.last = torch.nn.Linear(channels, 4)

            def forward(self, x: Any) -> Any:
                seen.extend(x.numpy().copy())
                return self.last(x.mean((2, 3)))

        self.seen, self.module = seen, Seen()
        for k, v in said.items():
            setattr(self.module, k, v)


def photos(folder: str) -> "list[str]":
    """Two photos of different sizes in files."""
    import cv2

    rng = np.random.default_rng(0)
    names = []
    for i, size in enumerate(((300, 260), (320, 400))):
        coarse = rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)
        names.append(str(Path(folder) / f"{i}.png"))
        cv2.imwrite(names[-1], cv2.resize(coarse, size[::-1], interpolation=cv2.INTER_CUBIC))
    return names


@live
@needs("torch")
@needs("cv2")
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Photos(unittest.TestCase):
    """A network gets what its own library would give it."""

    def setUp(self) -> None:
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def same(self, recorder: Recorder, wanted: Any, model: Any, note: str) -> None:
        from PIL import Image

        names = photos(self.folder)
        with mock.patch("socket.socket.connect", side_effect=AssertionError("the network was asked")):
            r = nero.run(model, self.folder, "C4", equivariant=False, export=False, progress=False)
        self.assertEqual(r.study.notes[0], note)  # type: ignore[union-attr]
        for n in names:
            want = wanted(Image.open(n)).numpy()
            self.assertLess(min(float(np.abs(want - x).max()) for x in recorder.seen if x.shape == want.shape), 0.03, n)

    @needs("timm")
    def test_timm(self) -> None:
        import timm

        net = timm.create_model("resnet10t", pretrained=False)
        recorder = Recorder(pretrained_cfg=net.pretrained_cfg)
        self.same(
            recorder, timm.data.create_transform(**timm.data.resolve_data_config(net.pretrained_cfg), is_training=False), {"net": recorder.module},
            "net: shorter side to 201, middle 176 x 176 (bicubic), mean 0.485 0.456 0.406, std 0.229 0.224 0.225: from its pretrained_cfg",
        )  # fmt: skip
        s = nero.study(net, np.zeros((2, 3, 64, 64), np.uint8), "C4", equivariant=False, export=False, input={"mean": [0.5]})
        self.assertEqual((s.live, s.keys["input"], "resize" in s.keys["data"]), (("resnet10t",), {"mean": [0.5], "std": [0.229, 0.224, 0.225]}, False))
        s = nero.study(net, np.zeros((2, 3, 64, 64), np.float32), "C4", equivariant=False, export=False)
        self.assertNotIn("input", s.keys)
        self.assertIn("the data are floats, so they are taken as they are", s.notes[0])

    @needs("torchvision")
    def test_torchvision(self) -> None:
        from torchvision.models import ResNet18_Weights

        for said, source in ((ResNet18_Weights.DEFAULT, "the weights ResNet18_Weights.IMAGENET1K_V1"), (ResNet18_Weights.DEFAULT.transforms(), "ImageClassification")):
            recorder = Recorder()
            self.same(
                recorder, ResNet18_Weights.DEFAULT.transforms(), {"net": (recorder.module, said)},
                f"net: shorter side to 256, middle 224 x 224 (bilinear), mean 0.485 0.456 0.406, std 0.229 0.224 0.225: from {source}",
            )  # fmt: skip


@live
@needs("jax")
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Jax(unittest.TestCase):
    def test_exact_and_broken(self) -> None:
        import jax

        images = np.random.default_rng(0).random((N, 1, 8, 8)).astype("f4")
        weights = np.random.default_rng(1).standard_normal((1, 3)).astype("f4")
        seen = []

        def exact(x: Any) -> Any:
            seen.append(isinstance(x, jax.Array))
            return {"y": x.mean((2, 3)) @ weights}

        def broken(x: Any) -> Any:
            return x.at[:, :, 2, 3].multiply(9.0).mean((2, 3)) @ weights  # which no array of NumPy has

        for data, models in ((jax.numpy.asarray(images), (exact, broken)), (images, (jax.jit(exact), jax.jit(broken)))):
            self.assertEqual(verdicts(*models, data=data, group="C4", equivariant=False), ["PASS", "FAIL"])
        self.assertEqual(set(seen), {True})

    def test_types(self) -> None:
        import jax

        s = nero.study(jax.jit(lambda x: x.mean((2, 3)).astype("bfloat16")), np.zeros((3, 1, 8, 8), "f4"), "C4", equivariant=False)
        self.assertEqual(s._live[0].outputs, {"output": ("FP32", [-1, 1])})


def nothing(*_: Any) -> Any:
    raise AssertionError("nobody runs it")


def study(data: Any, **keys: Any) -> "nero.Study":
    f = nero.Function(nothing, inputs={"x": ("FP32", [-1, 3, 8, 8])}, outputs={"y": ("FP32", [-1, 3])}, name="net")
    return nero.study(f, data, "C4", equivariant=False, **keys)


def arrays(s: "nero.Study") -> Any:
    with np.load(s.folder / "data.npz") as z:
        return dict(z)


def seen(data: Any) -> "list[Any]":
    """The samples and their classes, as the program reads them."""
    r = nero.run(nero.Function(lambda x: x.mean((2, 3)), {"x": ("FP32", [-1, 3, -1, -1])}, {"y": ("FP32", [-1, 3])}), data, "C4", equivariant=False, progress=False)
    return [r.samples, None if r.labels is None else list(r.labels)]


@live
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Tables(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.dict(os.environ, {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": self.folder}))

    @needs("datasets")
    def test_hugging_face(self) -> None:
        from datasets import ClassLabel, Dataset, DatasetDict, Features, Image, Value
        from PIL import Image as Picture

        rng = np.random.default_rng(0)
        pixels = rng.integers(0, 255, (6, 8, 8, 3), dtype=np.uint8)
        features = Features({"image": Image(), "label": ClassLabel(names=["b", "a"]), "note": Value("string")})

        def made(pictures: Any) -> Any:
            return Dataset.from_dict({"image": pictures, "label": [0, 1, 1, 0, 1, 0], "note": ["x"] * 6}, features=features)

        whole = made([Picture.fromarray(p) for p in pixels])
        with self.assertLogs("nero", "WARNING") as logs:
            s = study(whole)
        self.assertIn("the columns ['note'] are left out", logs.output[0])
        self.assertEqual((arrays(s)["images"].tolist(), arrays(s)["labels"].tolist()), (pixels.transpose(0, 3, 1, 2).tolist(), [0, 1, 1, 0, 1, 0]))
        whole = whole.remove_columns("note")
        self.assertEqual(arrays(study(whole, samples=3))["labels"].tolist(), [0, 1, 1])
        self.assertEqual(arrays(study(whole, labels=np.arange(6)))["labels"].tolist(), list(range(6)))
        # Of different sizes they are files, which the program reads.
        mixed = made([Picture.fromarray(p[: 8 - i]) for i, p in enumerate(pixels)]).remove_columns("note")
        s = study(mixed)
        self.assertEqual((sorted(p.name for p in (s.folder / "photos").iterdir())[0], s.keys["data"]), ("000000.png", {"images": "photos", "labels": "labels.csv"}))
        # Numbers by column.
        s = study(Dataset.from_dict({"x": rng.random((4, 2, 8, 8)).tolist(), "label": [0, 1, 0, 1]}))
        self.assertEqual((arrays(s)["x"].shape, arrays(s)["label"].tolist()), ((4, 2, 8, 8), [0, 1, 0, 1]))
        for of, error, want in (
            (DatasetDict({"train": whole}), TypeError, r"parts \['train'\]; give one, as in data\['train'\]"),
            (Dataset.from_dict({"text": ["a", "b"]}), TypeError, "the column text of the Dataset holds Value"),
            (made([None] * 6).remove_columns("note"), ValueError, "row 0 of the Dataset has no picture"),
        ):
            with self.assertRaisesRegex(error, want):
                study(of)

    @needs("pandas")
    @needs("cv2")
    def test_pandas(self) -> None:
        import pandas

        names = photos(self.folder)
        table = pandas.DataFrame({"Path": names[::-1], "label": ["dog", "cat"]}, index=[7, 3])
        s = study(table)
        self.assertEqual((s.folder / "labels.csv").read_text().split(), ["file,label", "000000.png,dog", "000001.png,cat"])
        self.assertEqual((s.folder / "photos/000000.png").read_bytes(), Path(names[1]).read_bytes())
        same = pandas.DataFrame({"file": [names[0]] * 3, "class": [2, 0, 1]})
        # A folder of the user's has after a second call what that call names.
        for n in (3, 2):
            s = study(same[:n], out=Path(self.folder) / "out")
            self.assertEqual(len(list((s.folder / "photos").iterdir())), n)
        self.assertEqual(seen(same), [("000000.png", "000001.png", "000002.png"), [2, 0, 1]])
        for of, error, want in (
            (table.rename(columns={"Path": "where"}), TypeError, r"the columns \['where', 'label'\], and none of them is called path"),
            (pandas.DataFrame({"path": [names[0], "gone.png"]}), FileNotFoundError, "row 1 of the DataFrame names 'gone.png' in the column path"),
            (pandas.DataFrame({"path": names, "label": ["a", None]}), ValueError, "1 rows of the DataFrame have no label"),
        ):
            with self.assertRaisesRegex(error, want):
                study(of)

    @needs("torch_geometric")
    @needs("torch")
    def test_graphs(self) -> None:
        import torch
        from torch_geometric.data import Data

        torch.manual_seed(0)
        edges = torch.tensor([[0, 1, 1], [1, 0, 2]])
        graphs = [Data(x=torch.randn(3 + i % 2, 4), edge_index=edges, y=torch.tensor([i % 2])) for i in range(N)]
        got = arrays(study(graphs))
        self.assertEqual({n: a.shape for n, a in got.items()}, {"nodes": (280, 4), "edges": (240, 2), "node_count": (N,), "edge_count": (N,), "labels": (N,)})
        self.assertEqual(got["edges"][:3].tolist(), edges.T.tolist())
        atoms = [Data(z=torch.tensor([1, 8]), pos=torch.randn(2, 3), y=torch.randn(1)) for _ in range(3)]
        s = study(atoms)
        self.assertEqual((s.keys["data"]["format"], {n: a.shape for n, a in arrays(s).items()}), ("molecules", {"positions": (6, 3), "species": (6,), "node_count": (3,), "y": (3,)}))
        for of, error, want in (
            ([Data(edge_index=edges, num_nodes=3)], TypeError, "neither x nor pos"),
            ([graphs[0], Data(edge_index=edges, num_nodes=3)], ValueError, "graph 1 of the list has no x, which graph 0 has"),
        ):
            with self.assertRaisesRegex(error, want):
                study(of)

        # The program reads them: a sum over the nodes does not know their order, their first row does.
        def of(fn: Any) -> str:
            f = nero.Function(fn, {"x": ("FP32", [-1, 4])}, {"y": ("FP32", [1, 2])})
            fields = {"input": {"fields": [{"name": "nodes", "type": "unchanged", "port": "x"}]}, "output": {"fields": [{"name": "y", "type": "unchanged"}]}}
            return nero.audit(f, graphs, "S", **fields, **QUICK).verdict

        self.assertEqual([of(lambda x: x.sum(0, keepdims=True)[:, :2]), of(lambda x: x[:1, :2])], ["PASS", "FAIL"])


if __name__ == "__main__":
    unittest.main()
