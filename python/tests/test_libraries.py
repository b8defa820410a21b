"""Tests of models and data of other libraries, each skipped where its library is not installed, with the program that NERO_BINARY names.

Of each there is a model that is equivariant by construction, which passes, and a twin with a planted break, which fails.
"""

import contextlib
import importlib.util
import io
import sys
import unittest
from typing import Any, Callable, Dict
from unittest import mock

import nero
import numpy as np

from tests.test_audit import live

#: As many samples as a PASS needs, and few elements and checks: what is tested is what was taken from the library.
QUICK: Dict[str, Any] = {"audit": {"checks": ["lattice"], "elements": 8}, "progress": False}
N = 80


def needs(library: str) -> Callable[[Any], Any]:
    """Skips a test where the library is not installed."""
    return unittest.skipUnless(importlib.util.find_spec(library), f"{library} is not installed")


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
        # Of a crystal the cell turns along; energies that were stored are targets.
        crystals = [bulk("Cu", cubic=True) for _ in range(2)]
        for i, c in enumerate(crystals):
            c.rattle(0.1, seed=i)
            c.calc = SinglePointCalculator(c, energy=float(i), forces=c.positions)
        s = nero.study(EMT(), crystals)
        self.assertEqual([f["name"] for f in s.keys["input"]["fields"]], ["positions", "species", "cell"])
        with np.load(s.folder / "data.npz") as z:
            self.assertEqual((z["energy"].tolist(), z["forces"].shape, z["cell"].shape), ([0, 1], (8, 3), (2, 3, 3)))
            self.assertEqual(z["positions"].tolist(), np.concatenate([c.positions for c in crystals]).tolist())
        # The calculator gets the atoms as they were.
        want = [EMT().get_property("energy", c) for c in crystals]
        (model,) = s._live
        got = model.run({"positions": np.stack([c.positions for c in crystals]), "species": np.full((2, 4), 29), "cell": np.stack([c.cell[:] for c in crystals])})
        self.assertEqual(got["energy"][:, 0].tolist(), want)

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
            with mock.patch.dict(sys.modules, modules), contextlib.redirect_stderr(io.StringIO()) as err, self.assertLogs("nero", "INFO") as logs:
                nero.audit(EMT(), self.frames(2), audit={"checks": ["lattice"], "elements": 2}, progress=progress)
            self.assertEqual("from the calculator" in err.getvalue(), shown)
            self.assertIn("from the calculator", str(logs.output))


if __name__ == "__main__":
    unittest.main()
