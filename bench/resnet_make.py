"""A ResNet-50 with random weights and 240 photos of 224 x 224 pixels, for bench/resnet.

    python3 bench/resnet_make.py FOLDER

Writes FOLDER/resnet50.onnx, FOLDER/photos and FOLDER/study.yaml. Photos are pieces of those of studies/cells, so that they
are of one kind and none is another. Needs python3-torch, python3-torchvision and python3-pil (Debian 12: 1.13.1, 0.14.1, 9.4).
"""

import sys
from pathlib import Path

CELLS = Path(__file__).resolve().parent.parent / "studies" / "cells" / "data" / "JPEGImages"
PHOTOS, SIZE = 240, 224
STUDY = """version: 1
models: [{name: resnet50, onnx: resnet50.onnx}]
data: {images: photos, preset: torchvision/resnet50, resize: {stretch: [224, 224]}}
output: {action: invariant}
group: {name: C4}
seed: 7
"""


def model(path):
    import torch
    import torchvision

    torch.manual_seed(7)
    net = torchvision.models.resnet50(weights=None).eval()
    with torch.no_grad():  # statistics as training leaves them, so that values neither vanish nor blow up
        net.train()
        for _ in range(2):
            net(torch.randn(4, 3, SIZE, SIZE))
        net.eval()
    torch.onnx.export(net, torch.zeros(1, 3, SIZE, SIZE), str(path), input_names=["image"], output_names=["scores"],
                      dynamic_axes={"image": {0: "n"}, "scores": {0: "n"}}, opset_version=13)


def photos(folder):
    from PIL import Image

    folder.mkdir(exist_ok=True)
    names = sorted(CELLS.glob("*.jpg"))
    made = 0
    for top, left in ((0, 0), (256, 416), (0, 416), (256, 0), (128, 208)):
        for name in names:
            if made == PHOTOS:
                return
            with Image.open(name) as photo:
                photo.convert("RGB").crop((left, top, left + SIZE, top + SIZE)).save(folder / f"{made:03d}.png")
            made += 1
    sys.exit(f"{CELLS} has only {len(names)} photos")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    model(folder / "resnet50.onnx")
    photos(folder / "photos")
    (folder / "study.yaml").write_text(STUDY)


if __name__ == "__main__":
    main()
