"""How does a model respond when its input is turned, shifted, mirrored, permuted?"""

from nero._ask import Comparison, EngineInfo, Group, Inspection, compare, engine, groups, inspect, open
from nero._audit import Audit, Diagnosis, Errors, Finding, Interval, ModelAudit, Where, Worst, assert_equivariant, audit
from nero._embed import Embedding, Features, embed
from nero._errors import EquivarianceError, ExportError, NeroError, ProgramMismatch, ProgramNotFound
from nero._find import find_nero, find_onnxruntime
from nero._models.functions import Function
from nero._monitor import Monitor
from nero._program import program
from nero._repeat import Repeat, RepeatModel, RepeatView, repeat
from nero._run import Run, run
from nero._study import Study, study
from nero._watch import Watch, WatchSeries, watch
from nero._weights import Weights, WeightSymmetry, weights

__all__ = [
    "Audit",
    "Comparison",
    "Diagnosis",
    "Embedding",
    "EngineInfo",
    "EquivarianceError",
    "Errors",
    "ExportError",
    "Features",
    "Finding",
    "Function",
    "Group",
    "Inspection",
    "Interval",
    "ModelAudit",
    "Monitor",
    "NeroError",
    "ProgramMismatch",
    "ProgramNotFound",
    "Repeat",
    "RepeatModel",
    "RepeatView",
    "Run",
    "Study",
    "Watch",
    "WatchSeries",
    "WeightSymmetry",
    "Weights",
    "Where",
    "Worst",
    "assert_equivariant",
    "audit",
    "compare",
    "embed",
    "engine",
    "find_nero",
    "find_onnxruntime",
    "groups",
    "inspect",
    "open",
    "program",
    "repeat",
    "run",
    "study",
    "watch",
    "weights",
]
