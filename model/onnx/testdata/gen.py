"""Makes the models and reference shapes in this folder.

Needs Debian 12's python3-torch 1.13 and python3-onnx 1.12 (/usr/bin/python3). Weights are random but seeded; the models
are small because only their structure matters. NAME.json holds the shape of every value for one sample, as
onnx.shape_inference (an implementation independent of ours) finds it.
usage: /usr/bin/python3 gen.py [FOLDER]
"""
import io, json, os, pickle, sys, warnings

import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper

warnings.filterwarnings("ignore")
out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
torch.manual_seed(7)


class CNN(nn.Module):  # strided convolution, batch norm, both poolings, dense head
    def __init__(s):
        super().__init__()
        s.a = nn.Sequential(nn.Conv2d(1, 4, 5, padding=2), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        s.b = nn.Sequential(nn.Conv2d(4, 8, 3, padding=1, stride=2), nn.BatchNorm2d(8), nn.ReLU(), nn.AvgPool2d(2, 1))
        s.h = nn.Linear(8 * 6 * 6, 10)

    def forward(s, x):
        return s.h(torch.flatten(s.b(s.a(x)), 1))


class Turns(nn.Module):  # everything aligned, global pooling: keeps quarter turns and mirrors as far as structure goes
    def __init__(s):
        super().__init__()
        s.f = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1, groups=2), nn.ReLU(),
                            nn.AvgPool2d(2), nn.Conv2d(4, 6, 1))

    def forward(s, x):
        return s.f(x).mean((2, 3))


class Residual(nn.Module):  # ResNet's blocks in small: stride with a projected shortcut, then without
    def __init__(s):
        super().__init__()
        s.c0 = nn.Conv2d(3, 4, 7, 2, 3)
        s.p = nn.MaxPool2d(3, 2, 1)
        s.c1, s.c2, s.d = nn.Conv2d(4, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, 1, 1), nn.Conv2d(4, 8, 1, 2)
        s.g, s.h = nn.AdaptiveAvgPool2d(1), nn.Linear(8, 5)

    def forward(s, x):
        x = s.p(F.relu(s.c0(x)))
        x = F.relu(s.d(x) + s.c2(F.relu(s.c1(x))))
        return s.h(torch.flatten(s.g(x), 1))


class UNet(nn.Module):  # transposed convolution, bilinear and nearest upsampling, concatenation
    def __init__(s, c=4):
        super().__init__()
        s.d1, s.d2, s.d3 = nn.Conv2d(2, c, 3, padding=1), nn.Conv2d(c, 2 * c, 3, padding=1), nn.Conv2d(2 * c, 4 * c, 3, padding=1)
        s.u2, s.e2, s.e1 = nn.ConvTranspose2d(4 * c, 2 * c, 2, 2), nn.Conv2d(4 * c, 2 * c, 3, padding=1), nn.Conv2d(3 * c, c, 3, padding=1)
        s.e0, s.o = nn.Conv2d(c, c, 1), nn.Conv2d(c, 2, 1)
        s.pool = nn.MaxPool2d(2)

    def forward(s, x):
        a = s.d1(x)
        b = F.leaky_relu(s.d2(s.pool(a)), 0.1)
        c = F.elu(s.d3(s.pool(b)))
        b = s.e2(torch.cat([s.u2(c), b], 1))
        y = s.e1(torch.cat([F.interpolate(b, scale_factor=2, mode="bilinear", align_corners=False), a], 1))
        z = F.interpolate(F.avg_pool2d(s.e0(y), 2), scale_factor=2, mode="nearest")
        return s.o(y + z)


class Attention(nn.Module):  # patches, a class token, a position table, one block of attention
    def __init__(s, d=8, h=2, t=16):
        super().__init__()
        s.h, s.d = h, d
        s.p = nn.Conv2d(3, d, 4, 4)
        s.cls, s.pos = nn.Parameter(torch.randn(1, 1, d)), nn.Parameter(torch.randn(1, t + 1, d))
        s.n1, s.n2, s.q, s.o = nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        s.m = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        s.f = nn.Linear(d, 5)

    def forward(s, x):
        x = s.p(x).flatten(2).transpose(1, 2)
        x = torch.cat([s.cls.expand(x.shape[0], -1, -1), x], 1) + s.pos
        B, T, D = x.shape
        q, k, v = s.q(s.n1(x)).reshape(B, T, 3, s.h, D // s.h).permute(2, 0, 3, 1, 4).unbind(0)
        a = torch.softmax(q @ k.transpose(-1, -2) / (D // s.h) ** 0.5, -1)
        x = x + s.o((a @ v).transpose(1, 2).reshape(B, T, D))
        x = x + s.m(s.n2(x))
        return s.f(x[:, 0])


class Points(nn.Module):  # no pixel grid
    def __init__(s):
        super().__init__()
        s.c, s.f = nn.Conv1d(3, 8, 1), nn.Linear(8, 4)

    def forward(s, x):
        return F.log_softmax(s.f(torch.max(F.relu(s.c(x.transpose(1, 2))), 2)[0]), 1)


def shapes(name, model):
    m = onnx.ModelProto()
    m.CopyFrom(model)
    for v in list(m.graph.input) + list(m.graph.output):
        d = v.type.tensor_type.shape.dim
        if len(d) and d[0].dim_param:
            d[0].Clear()
            d[0].dim_value = 1
    del m.graph.value_info[:]
    m = onnx.shape_inference.infer_shapes(m, strict_mode=True, data_prop=True)
    found = {}
    for v in list(m.graph.input) + list(m.graph.value_info) + list(m.graph.output):
        t = v.type.tensor_type
        if t.HasField("shape") and all(d.HasField("dim_value") for d in t.shape.dim):
            found[v.name] = [d.dim_value for d in t.shape.dim]
    json.dump(found, open(f"{out}/{name}.json", "w"), indent=0, sort_keys=True)


def export(name, net, shape, opset=16, batch="N", **kw):
    net.eval()
    for x in net.modules():
        if isinstance(x, nn.BatchNorm2d):
            x.running_mean.normal_(0, 0.1), x.running_var.uniform_(0.5, 1.5)
    dyn = {"input": {0: batch}, "output": {0: batch}} if batch else None
    f = io.BytesIO()
    torch.onnx.export(net, torch.randn(2 if batch else 1, *shape), f, opset_version=opset, input_names=["input"],
                      output_names=["output"], dynamic_axes=dyn, **kw)
    m = onnx.load_from_string(f.getvalue())
    for n in m.graph.node:
        n.ClearField("doc_string")  # holds paths of this machine
    onnx.save(m, f"{out}/{name}.onnx")
    shapes(name, m)
    return m


if __name__ == "__main__":
    export("cnn", CNN(), (1, 28, 28))
    export("cnn_raw", CNN(), (1, 28, 28), do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
    export("turns", Turns(), (3, 16, 16), opset=13, batch=None)
    export("residual", Residual(), (3, 33, 33))
    export("unet", UNet(), (2, 16, 16))
    export("attention", Attention(), (3, 16, 16), opset=17)
    export("points", Points(), (12, 3), opset=11)

    # IR 3: every weight is listed as an input.
    w = numpy_helper.from_array(torch.randn(2, 1, 3, 3).numpy(), "w")
    g = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"])], "old",
        [helper.make_tensor_value_info("w", TensorProto.FLOAT, [2, 1, 3, 3]), helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 5, 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 3, 3])], [w])
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 8)], ir_version=3, producer_name="gen.py")
    onnx.save(m, f"{out}/ir3.onnx")

    # Weights in a file of their own (which is not needed to see that they are).
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 8)], producer_name="gen.py")
    onnx.save(m, f"{out}/external.onnx", save_as_external_data=True, location="external.bin", size_threshold=0)
    os.remove(f"{out}/external.bin")

    # What people hand over by mistake.
    torch.save({"w": torch.zeros(2)}, f"{out}/bad_checkpoint.pt")
    with open(f"{out}/bad_old_checkpoint.pt", "wb") as f:  # how files of torch before 1.6 begin; the rest differs from run to run
        f.write(pickle.dumps(torch.serialization.MAGIC_NUMBER, 2) + pickle.dumps({"w": [0.0, 0.0]}, 2))
