"""The networks of train.py, and the reader of its data.

Sets: `nodes` float32 [N,A,14], rows of zeros are padding; `y` [N,1]. Graphs: `nodes` float32 [A,14], `edges` int64 [2,E] from row 0 to
row 1, both directions listed; `y` [1] and `q` [A,1].
"""

import numpy as np
import torch
from onnx import load as load_onnx
from onnx.numpy_helper import to_array
from torch import nn

WIDTH = 14


def read(path):
    """Graphs of an npz: (nodes, edges, y, q, name) each."""
    d = np.load(path)
    a, b = np.concatenate([[0], np.cumsum(d["node_count"])]), np.concatenate([[0], np.cumsum(d["edge_count"])])
    return [(d["nodes"][a[i]:a[i + 1]], d["edges"][:, b[i]:b[i + 1]], d["y"][i], d["q"][a[i]:a[i + 1]], str(d["names"][i]))
            for i in range(len(a) - 1)]


def pad(graphs, size=24):
    """The nodes of graphs as sets of one size."""
    out = np.zeros((len(graphs), size, WIDTH), np.float32)
    for k, g in enumerate(graphs):
        out[k, :len(g[0])] = g[0]
    return out


def dense(*widths):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.SiLU()]
    return nn.Sequential(*layers[:-1])


class DeepSets(nn.Module):
    """A shared network of rows, a sum over rows that are there, a network of the sum: blind to the order of rows."""

    def __init__(self):
        super().__init__()
        self.row, self.head = dense(WIDTH, 64, 64, 64), dense(64, 64, 1)

    def forward(self, nodes):
        return self.head((self.row(nodes) * nodes[..., :1]).sum(1) / 8)


class Ordered(nn.Module):
    """The faulty twin: a GRU runs over the rows before they are summed."""

    def __init__(self):
        super().__init__()
        self.run, self.row, self.head = nn.GRU(WIDTH, 40, batch_first=True), dense(40, 64), dense(64, 64, 1)

    def forward(self, nodes):
        h, _ = self.run(nodes)
        return self.head((nn.functional.silu(self.row(h)) * nodes[..., :1]).sum(1) / 8)


class Graph(nn.Module):
    """Three rounds of messages along the edges, summed at their ends. `y` from a sum over atoms; `q` of each atom, less the mean, so
    that charges sum to 0. `ordered` is the faulty twin: each row knows its number."""

    H = 48

    def __init__(self, ordered=False):
        super().__init__()
        self.ordered = ordered
        self.start = nn.Linear(WIDTH, self.H)
        self.message = nn.ModuleList(dense(self.H, self.H) for _ in range(3))
        self.update = nn.ModuleList(nn.Linear(2 * self.H, self.H) for _ in range(3))
        self.row, self.head, self.charge = dense(self.H, 64, 64), dense(64, 64, 1), dense(self.H, 48, 1)
        if ordered:
            self.register_buffer("pace", 2 ** torch.arange(4) * 0.26)
            self.place = nn.Linear(8, self.H, bias=False)

    def rounds(self, h, gather, scatter):
        for message, update in zip(self.message, self.update):
            m = scatter(gather(nn.functional.silu(message(h))))
            h = h + nn.functional.silu(update(torch.cat([h, m], 1)))
        return h

    def first(self, nodes, number):
        h = self.start(nodes)
        if self.ordered:
            a = number.unsqueeze(1) * self.pace
            h = h + self.place(torch.cat([torch.sin(a), torch.cos(a)], 1))
        return nn.functional.silu(h)

    def forward(self, nodes, edges):
        """One graph. Sums at the ends of edges are a product with the [A,E] matrix that says which edge ends where."""
        number = torch.arange(nodes.shape[0])
        ends = (number.unsqueeze(1) == edges[1].unsqueeze(0)).to(nodes.dtype)
        h = self.rounds(self.first(nodes, number.to(nodes.dtype)), lambda m: m.index_select(0, edges[0]), lambda m: torch.matmul(ends, m))
        q = self.charge(h)
        return self.head(self.row(h).sum(0, keepdim=True) / 8).squeeze(1), q - q.mean(0, keepdim=True)

    def batch(self, nodes, edges, number, graph, count):
        """Many graphs laid end to end: `graph` is the graph of each row, `count` how many rows it has."""
        h = self.rounds(self.first(nodes, number), lambda m: m[edges[0]],
                        lambda m: torch.zeros(len(nodes), self.H).index_add(0, edges[1], m))
        q = self.charge(h)
        total = torch.zeros(len(count), 1).index_add(0, graph, q)
        rows = torch.zeros(len(count), 64).index_add(0, graph, self.row(h))
        return self.head(rows / 8), q - (total / count.unsqueeze(1))[graph]


def make(name):
    return {"deepsets": DeepSets, "ordered": Ordered, "gcn": Graph, "gcn_ordered": lambda: Graph(True)}[name]()


def gates(w):
    """ONNX keeps the gates of a GRU as update, reset, new; torch as reset, update, new."""
    z, r, n = w.chunk(3)
    return torch.cat([r, z, n])


def load(name, path):
    """A network of train.py with the weights of its ONNX file. The exporter drops the names of those that it turns: of matrices, which
    follow one another as they are used, and of a GRU."""
    net = make(name)
    kept = {i.name: torch.from_numpy(to_array(i).copy()) for i in load_onnx(str(path)).graph.initializer}
    lost = [v for k, v in kept.items() if k.startswith("onnx::MatMul")]
    runs = [v[0] for k, v in kept.items() if k.startswith("onnx::GRU")]
    state = {}
    for key in net.state_dict():
        if key in kept:
            state[key] = kept[key]
        elif not key.startswith("run."):
            state[key] = lost.pop(0).t()
    if runs:
        w, r, b = runs
        state.update({"run.weight_ih_l0": gates(w), "run.weight_hh_l0": gates(r), "run.bias_ih_l0": gates(b[:len(b) // 2]),
                      "run.bias_hh_l0": gates(b[len(b) // 2:])})
    if lost:
        raise ValueError("%s: %d matrices are left over" % (path, len(lost)))
    net.load_state_dict(state)
    return net.eval()
