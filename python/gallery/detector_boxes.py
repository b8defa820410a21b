# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A detector answers where its training showed it objects
#
# Three small detectors of blood cells that come with nero. The first was trained on windows with a cell in the middle, the second on windows with a cell anywhere, and the third treats every
# pixel alike: it has neither strides nor padding. All are ONNX files, so there is nothing to load but their paths. Here the window moves over the photo, by whole
# pixels, and real content comes into sight.

# %%
from typing import Any

import nero

cells = "../../studies/cells"
middle_anywhere = {"middle": f"{cells}/models/cells-0.onnx", "anywhere": f"{cells}/models/cells-100.onnx"}


def asked(photo: int, objects: int, orbit: "dict[str, Any]", **boxes: str) -> "dict[str, Any]":
    """Pieces of photos around key objects, of which a window of 128 x 128 is seen."""
    return {
        "data": {
            "format": "voc", "images": f"{cells}/data", "split": "test", "classes": ["RBC", "WBC", "Platelets"],
            "zoom": 0.6, "cut": {"size": [photo, photo]}, "limit": objects, "seed": 1,
        },
        "task": "detection",
        "input": {"scale": 255},
        "output": {"action": "same", "boxes": {"form": "cxcywh", **boxes}},
        "group": {"name": "T(2,Z)", "window": [128, 128], "orbit": orbit},
        "seed": 7,
    }  # fmt: skip


# %% [markdown]
# ## The map
#
# Confidence times overlap of the box with its object, over shifts of up to 60 pixels each way; the mean of 24 objects.

# %%
run = nero.run(middle_anywhere, **asked(256, 24, {"grid": [11, 11], "range": [[-60, 60], [-60, 60]]}), metrics=["conf_iou"])
print(run)

# %%
run.show()

# %% [markdown]
# The first is right in a bright spot around no shift at all, and it falls to half of that within some sixteen pixels to either side. The second is never as good as the first at its best, and its spot is about three times as wide.
#
# ## The verdict
#
# An audit needs no labels: boxes that are found in the moved window are compared with the moved boxes, and only what both windows saw whole. 80 objects, shifts of 32 pixels.

# %%
near = {"grid": [3, 3], "range": [[-32, 32], [-32, 32]]}
checks = ["lattice", "endtoend", "shifts", "lint"]
audit = nero.audit(middle_anywhere, **asked(192, 80, near), audit={"samples": 80, "checks": checks})
audit

# %% [markdown]
# *The place is learned*, says it of the first: as the content moves, the boxes stay behind. Of the second it names the strides. Both fail, and for different reasons: **training on
# windows that are shifted cures the first, and only another architecture cures the second.** Such is the third:

# %%
exact = nero.audit({"exact": f"{cells}/models/cells-exact.onnx"}, **asked(192, 80, near, suppress="none"), audit={"samples": 80, "checks": checks})
print(exact)

# %% [markdown]
# It passes, and it passes bit for bit. That says that it is equivariant. It says nothing about how many cells it finds.
#
# What this page says, checked:

# %%
assert [m.verdict for m in audit.models] == ["FAIL", "FAIL"] and exact.verdict == "PASS" and exact.error == 0
assert "place is learned" in audit["middle"].diagnoses[0].cause and "striding" in audit["anywhere"].diagnoses[0].cause
first, second = (run.curves("conf_iou", name).mean(0).reshape(11, 11) for name in run.models)
assert first.max() == first[5, 5] > second.max()
assert first[5, 4] > first[5, 5] / 2 > first[5, 3] and first[5, 6] > first[5, 5] / 2 > first[5, 7]
assert 2.5 < (second > second[5, 5] / 2).sum() ** 0.5 / (first > first[5, 5] / 2).sum() ** 0.5 < 4
