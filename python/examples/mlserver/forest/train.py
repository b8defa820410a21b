"""Trains the forest that model-settings.json serves and writes model.joblib, and a check.json with what it answers, beside each other.

Usage: train.py FOLDER
"""

import json
import pathlib
import sys

import joblib
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

folder = pathlib.Path(sys.argv[1])
x, y = load_digits(return_X_y=True)
forest = RandomForestClassifier(n_estimators=10, random_state=0).fit(x[:1000], y[:1000])
joblib.dump(forest, folder / "model.joblib")
check = {"x": x[1000:1007].tolist(), "predict_proba": forest.predict_proba(x[1000:1007]).tolist(), "predict": forest.predict(x[1000:1007]).tolist()}
(folder / "check.json").write_text(json.dumps(check))
