"""Steps say the same on both libraries. Only names of nodes differ: `LogBackward` and `LogBackward0`."""

from __future__ import annotations

import re

import pytest
from cells import CELLS, traced

import minigrad
from minigrad_viz.shell.report import Report

DATA = """torch.manual_seed(0)
X = torch.randn(20, 5)
y = torch.randn(20, 1)
nn, F = torch.nn, torch.nn.functional
"""
CLIP = "nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n    "
LOOP = """opt = torch.optim.{optimizer}
for i in range(2):
    opt.zero_grad()
    loss = F.mse_loss(net(X), y)
    loss.backward()
    {clip}opt.step()
"""
SAME = {f"code {i}": CELLS[i] for i in (4, 5, 7, 8, 9, 10, 11, 13, 14, 16, 19)} | {
    "a layer": DATA + "W = torch.randn(5, 3, requires_grad=True)\nb = torch.zeros(3, requires_grad=True)\n"
    "h = torch.tanh(X @ W + b)\nloss = -torch.softmax(h, dim=1).log()[:, 0].mean()\nloss.backward()\n",
    "in place": "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\ny = x * 2\ny[0] = 5\ny.mul_(3)\n"
    "y.sum().backward()\n",
    "shapes": "x = torch.arange(6.0, requires_grad=True)\nm = x.reshape(2, 3)\n"
    "((m / m.sum(1, keepdim=True)).T[1:] ** 2).mean().backward()\n",
    "attention": "torch.manual_seed(0)\nq = torch.randn(3, 4, requires_grad=True)\nk = torch.randn(3, 4)\n"
    "w = torch.softmax(q @ k.T / 2, dim=-1)\n(w * w).sum().backward()\n",
    "cross entropy": DATA + "W = torch.randn(5, 3, requires_grad=True)\nt = torch.arange(20) % 3\n"
    "loss = F.cross_entropy(X @ W, t)\nloss.backward()\n",
    "where": "x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)\n"
    "y = torch.where(x > 0, x, torch.zeros_like(x)).max()\ny.backward()\n",
    "joined": "a = torch.tensor([1.0, 2.0], requires_grad=True)\nb = torch.stack([a, a * 2])\n"
    "c = torch.cat([b, b]).norm()\nc.backward()\n",
    "a function": "class Cube(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        ctx.save_for_backward(x)\n        return x**3\n    @staticmethod\n    def backward(ctx, g):\n"
    "        (x,) = ctx.saved_tensors\n        return g * 3 * x * x\n"
    "x = torch.tensor(2.0, requires_grad=True)\ny = Cube.apply(x) * 2\ny.backward()\n",
    "layers": DATA + "m = nn.Sequential(nn.Linear(5, 4), nn.LayerNorm(4), nn.GELU(), nn.Linear(4, 1))\n"
    "m(X).sigmoid().mean().backward()\n",
    "embedding": DATA + "e = nn.Embedding(5, 3)\nids = torch.tensor([0, 2, 2])\nout = e(ids).sum(0)\n"
    "(out * out).sum().backward()\n",
    "convolution": DATA + "c = nn.Conv2d(1, 2, 2)\nout = torch.relu(c(torch.randn(1, 1, 4, 4))).mean()\n"
    "out.backward()\n",
    "a recurrence": "torch.manual_seed(1)\nseq = torch.randn(3, 2)\n"
    "W = torch.randn(2, 2, requires_grad=True)\n"
    "h = torch.zeros(2)\nfor x in seq:\n    h = torch.tanh(x + h @ W)\nh.sum().backward()\n",
    "a recurrence of rows": "torch.manual_seed(0)\nxs = torch.randn(3, 1, 2)\nh = torch.zeros(1, 4)\n"
    "Wx = torch.randn(2, 4, requires_grad=True)\nWh = torch.randn(4, 4, requires_grad=True)\n"
    "for t in range(3):\n    h = torch.tanh(xs[t] @ Wx + h @ Wh)\n(h ** 2).mean().backward()\n",
    "an RNN": DATA + "rnn = nn.RNN(5, 3)\nhead = nn.Linear(3, 1)\nout, h = rnn(X[:4])\n"
    "head(out[-1]).sum().backward()\n",
    "an RNN with a batch": DATA.replace("seed(0)", "seed(1)") + "rnn = nn.RNN(5, 3, batch_first=True)\n"
    "out, h = rnn(X.reshape(4, 5, 5))\nloss = out[:, -1].sum()\nloss.backward()\n",
    "a GRU": DATA + "rnn = nn.GRU(2, 3)\nout, h = rnn(torch.randn(3, 1, 2), torch.zeros(1, 1, 3))\n"
    "out.sum().backward()\n",
    "training": DATA + "net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))\n"
    + LOOP.format(optimizer="SGD(net.parameters(), lr=0.1)", clip=""),
    "clipping": DATA + "net = nn.Linear(5, 1)\n"
    + LOOP.format(optimizer="Adam(net.parameters(), lr=0.1)", clip=CLIP),
}  # fmt: skip


def steps(source: str, library, names: dict | None = None) -> list[str]:
    report = Report(traced(source, library, names), lang="en")
    frames = [frame for act in report.acts for frame in act.frames]
    said = [line for frame in frames for line in (frame.text, *(f"{x.label}: {x.text}" for x in frame.lines))]
    return [re.sub(r"(Backward)\d*\b", r"\1", line) for line in said]


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", SAME)
def test_a_step_says_the_same(name):
    torch = pytest.importorskip("torch")
    assert steps(SAME[name], torch) == steps(SAME[name], minigrad)


def test_what_only_an_attribute_holds_has_its_value():
    torch = pytest.importorskip("torch")
    told = []
    for library in (torch, minigrad):
        holder = type("Holder", (), {})
        holder.h = library.tensor(2.0, requires_grad=True)
        holder.g = holder.h * 3
        told.append(steps("s = holder.g * 2\ns.backward()\n", library, {"holder": holder}))
    assert told[0] == told[1] and "a = 6." in told[0]


def test_rounds_of_a_recurrence_are_one_box_each(library):
    """What PyTorch computes inside of `h @ W` counts like what minigrad records there. The first state is a
    step, and the row that it was made into is no tensor with a name."""
    told = steps(SAME["a recurrence"], library)
    assert [re.match("[123]/3 ", step)[0] for step in told if re.match("[123]/3 ", step)] == [
        "1/3 ", "2/3 ", "3/3 ", "3/3 ", "2/3 ", "1/3 "
    ]  # fmt: skip
    assert "h₀ = [0. 0.]: a constant" in told and any("W̄ = [[0 0]]ᵀ ā = " in step for step in told)
    assert not any("-0." in re.sub(r"-0\.\d", "", step) for step in told), "a zero has no sign"
