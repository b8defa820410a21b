"""Estimators of scikit-learn, and what has their methods: called in this process, on one row of features for each sample."""

import math
from typing import Any, Callable, Dict, Mapping

import numpy as np

from nero._models._model import Asked, Prepared
from nero._models.functions import entry, learn, sample, short
from nero.bridge._model import Model

__all__ = ["accepts", "prepare"]


def accepts(model: Any) -> bool:
    """Something that predicts and has parameters, but is no function."""
    return hasattr(model, "predict") and hasattr(model, "get_params") and not callable(model)


def prepare(model: Any, asked: Asked) -> Prepared:
    """The estimator as a function: of probabilities where it has such, else of scores, else of what it predicts."""
    name = short(asked.name or type(model).__name__)
    method, call, decode = _method(model)

    def fn(x: "np.ndarray[Any, Any]") -> Any:
        return call(_features(model, x))

    ports, arrays = sample(name, asked)
    outputs = learn(name, fn, arrays)
    said = asked.keys.get("output")
    keys: Dict[str, Any] = {}
    if "task" not in asked.keys and not (isinstance(said, Mapping) and ("space" in said or "decode" in said)):
        keys = {"output": {"space": "scores", "decode": decode}}
    return Prepared(entry(name), Model(name, fn, ports, outputs, platform="python_sklearn"), keys, f"{name}: {method} runs in this process")


def _method(model: Any) -> "tuple[str, Callable[[Any], Any], str]":
    """What is asked, and how the scores are to be read."""
    if hasattr(model, "predict_proba"):
        return "predict_proba", lambda x: _table(model.predict_proba(x)), "probabilities"
    if hasattr(model, "decision_function"):
        return "decision_function", lambda x: _table(model.decision_function(x)), "raw"
    classes = getattr(model, "classes_", None)
    if classes is None:
        return "predict", lambda x: _table(model.predict(x)), "raw"
    return "predict", lambda x: (np.asarray(model.predict(x))[:, None] == np.asarray(classes)[None]).astype(np.float32), "raw"


def _features(model: Any, x: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Samples as the estimator was taught them: one row for each, unless it took them as they are."""
    n = getattr(model, "n_features_in_", None)
    if x.ndim > 2 and (n is None or n == math.prod(x.shape[1:])):
        return x.reshape(len(x), -1)
    return x


def _table(y: Any) -> "np.ndarray[Any, Any]":
    """One row for each sample, also where there is one number."""
    if isinstance(y, list):
        raise TypeError("an estimator of several outputs gives a list of tables; wrap the one that is meant in a function")
    a = np.asarray(y)
    if a.dtype.kind not in "biuf":
        raise TypeError(f"it predicts {a.dtype}, and numbers are expected")
    a = a.astype(np.float32) if a.dtype.kind in "biu" else a
    return a[:, None] if a.ndim == 1 else a
