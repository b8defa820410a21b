"""Tests of data and estimators as Python programs have them, with the program that NERO_BINARY names. Run them as test_bridge says."""

import importlib.util
import itertools
import random
import sys
import unittest
import warnings
from typing import Any, Iterator

import nero
import numpy as np

from tests.test_audit import EXACT, live
from tests.test_models import IMAGES, KEYS, exact

LABELS = np.arange(40) % 3


def data(s: "nero.Study") -> Any:
    with np.load(s.folder / "data.npz") as z:
        return dict(z)


class Pairs:
    """A data set as those of PyTorch, whose samples may move."""

    def __init__(self, n: int = 40, noise: float = 0, tensors: bool = False) -> None:
        self.n, self.noise, self.tensors = n, noise, tensors

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> Any:
        x = IMAGES[i % 40][None].astype("f4") / 255 + np.float32(self.noise * random.random())
        if self.tensors:
            import torch

            return torch.from_numpy(x), int(i % 3)
        return x, i % 3


@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Data(unittest.TestCase):
    def study(self, of: Any, **keys: Any) -> "nero.Study":
        f = nero.Function(exact, inputs={"x": ("FP32", [-1, 1, 12, 12])}, outputs={"y": ("FP32", [-1, 3])}, name="net")
        return nero.study(f, of, "C4", equivariant=False, **keys)

    def test_floats_with_the_numbers_of_bytes(self) -> None:
        """They are taken as they are, which is told, for a model that reads 0 to 1 would see white."""
        images = np.arange(2 * 8 * 8, dtype=np.float32).reshape(2, 8, 8) * 2
        for x, told in ((images, True), (images / 255, False), (images - 100, False), (images * 10, False), (images[:, 0], False)):
            with self.subTest(top=float(x.max())):
                s = nero.study(EXACT, x, "C4", equivariant=False)
                self.assertEqual(any('input={"scale": 255}' in n for n in s.notes), told, s.notes)

    def test_arrays_are_kept_as_they_are(self) -> None:
        for dtype in ("u1", "u2", "f4", "f8"):
            got = data(self.study(IMAGES.astype(dtype), labels=LABELS))
            self.assertEqual((got["images"].dtype, got["images"].tolist()), (np.dtype(dtype), IMAGES.tolist()))
            self.assertEqual(got["labels"].tolist(), LABELS.tolist())
        got = data(self.study({"x": IMAGES, "y": LABELS, "more": IMAGES[:, 0]}))
        self.assertEqual(set(got), {"x", "y", "more"})
        self.assertEqual(data(self.study(list(IMAGES[:3])))["images"].shape, (3, 12, 12))
        s = self.study({"images": IMAGES, "limit": 7})
        self.assertEqual((s.keys["data"], set(data(s))), ({"images": "data.npz", "limit": 7}, {"images"}))

    def test_what_is_no_data(self) -> None:
        for of, error, want in (
            (3, TypeError, "int is no data that nero knows"),
            (np.array(["a"]), TypeError, "numbers are expected"),
            ([IMAGES[0], IMAGES[0, :5]], ValueError, r"different shapes, \[5, 12\] and \[12, 12\]"),
            ([], ValueError, "no samples"),
            ([("a", "b", "c")], TypeError, "a tuple of 3"),
            (itertools.repeat((IMAGES[0], 1)), TypeError, "say samples=100"),
            (Pairs(0), ValueError, "no samples"),
        ):
            with self.assertRaisesRegex(error, want):
                self.study(of)

    def test_samples_one_by_one(self) -> None:
        got = data(self.study(Pairs()))
        self.assertEqual((got["images"].shape, got["labels"].tolist()), ((40, 1, 12, 12), LABELS.tolist()))
        # Of many, evenly many along their order, which is said.
        with self.assertLogs("nero", "WARNING") as logs:
            s = self.study(Pairs(2400))
        self.assertEqual((len(data(s)["images"]), "1000 of the 2400 samples" in s.notes[0], len(logs.output)), (1000, True, 1))
        self.assertEqual(data(self.study(Pairs(2400), samples=6))["labels"].tolist(), [0, 1, 2, 0, 1, 2] if 400 % 3 == 0 else [400 * i % 3 for i in range(6)])

        def forever() -> Iterator[Any]:
            for i in itertools.count():
                yield {"image": IMAGES[i % 40], "label": i % 3}

        got = data(self.study(forever(), samples=5))
        self.assertEqual((set(got), got["image"].shape, got["labels"].tolist()), ({"image", "labels"}, (5, 12, 12), [0, 1, 2, 0, 1]))

    def test_samples_that_change(self) -> None:
        state = random.getstate()
        with self.assertLogs("nero", "WARNING"):
            s = self.study(Pairs(noise=1))
        self.assertIn("differs when it is read twice", s.notes[0])
        self.assertEqual(random.getstate(), state)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_datasets_of_torch(self) -> None:
        import torch
        from torch.utils.data import DataLoader, IterableDataset, TensorDataset

        state = torch.get_rng_state()
        for of in (
            TensorDataset(torch.from_numpy(IMAGES), torch.from_numpy(LABELS)),
            DataLoader(TensorDataset(torch.from_numpy(IMAGES), torch.from_numpy(LABELS)), batch_size=7, num_workers=2),
        ):
            got = data(self.study(of))
            self.assertEqual((got["images"].tolist(), got["labels"].tolist()), (IMAGES.tolist(), LABELS.tolist()))
        with self.assertLogs("nero", "WARNING") as logs:
            got = data(self.study(DataLoader(Pairs(tensors=True), shuffle=True)))  # type: ignore[arg-type]
        self.assertEqual(got["labels"].tolist(), LABELS.tolist())
        self.assertIn("shuffles", logs.output[0])

        class Endless(IterableDataset):  # type: ignore[type-arg,misc]
            def __iter__(self) -> Iterator[Any]:
                return ((torch.from_numpy(IMAGES[i % 40]), i % 3) for i in itertools.count())

        with self.assertRaisesRegex(TypeError, "Endless does not say how many"):
            self.study(DataLoader(Endless(), batch_size=4))
        self.assertEqual(len(data(self.study(Endless(), samples=9))["images"]), 9)
        self.assertTrue(torch.equal(state, torch.get_rng_state()))


@live
@unittest.skipUnless(importlib.util.find_spec("sklearn"), "scikit-learn is not installed")
@unittest.skipIf(sys.platform == "win32", "functions are not served there yet")
class Estimators(unittest.TestCase):
    def test_exact_and_broken(self) -> None:
        from sklearn.datasets import load_digits
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer
        from sklearn.svm import LinearSVC

        def turned(x: Any) -> Any:
            x = x.reshape(-1, 8, 8)
            return sum(np.rot90(x, k, (1, 2)) for k in range(4)).reshape(len(x), 64)  # type: ignore[union-attr,attr-defined]

        digits = load_digits()
        x, y = digits.images[:300], digits.target[:300]
        for model, method, fails in (
            (make_pipeline(FunctionTransformer(turned), LogisticRegression(max_iter=30)), "predict_proba", False),
            (LogisticRegression(max_iter=30), "predict_proba", True),
            (LinearSVC(max_iter=50), "decision_function", True),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it need not have learned much
                model.fit(x.reshape(len(x), -1), y)
            a = nero.audit({"net": model}, x[:40], labels=y[:40], **KEYS)
            assert a.study is not None
            self.assertEqual((a.verdict == "FAIL", a.study.notes), (fails, (f"net: {method} runs in this process",)), a)

    def test_predictions_alone(self) -> None:
        from sklearn.base import BaseEstimator
        from sklearn.neighbors import KNeighborsRegressor

        class Bright(BaseEstimator):  # type: ignore[misc]
            classes_ = np.array(["dark", "bright"])

            def predict(self, x: Any) -> Any:
                seen.append(x.shape[1:])
                return self.classes_[(x[:, :70].mean(1) > 0.5).astype(int)]

        seen: "list[Any]" = []
        x = IMAGES.reshape(40, -1) / 255
        a = nero.audit(Bright(), IMAGES, **KEYS)
        self.assertEqual((a.study.notes, set(seen), a.verdict), (("Bright: predict runs in this process",), {(144,)}, "FAIL"))  # type: ignore[union-attr]
        a = nero.audit(KNeighborsRegressor(1).fit(x, LABELS), IMAGES, **KEYS)
        self.assertEqual(a.verdict, "FAIL", a)


if __name__ == "__main__":
    unittest.main()
