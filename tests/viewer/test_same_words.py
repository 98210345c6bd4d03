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


def test_rounds_of_a_recurrence_are_one_box_each():
    """What PyTorch computes inside of `h @ W` counts like what minigrad records there."""
    torch = pytest.importorskip("torch")
    source = (
        "torch.manual_seed(0)\nseq = torch.randn(3, 2)\nW = torch.randn(2, 2, requires_grad=True)\n"
        "h = torch.zeros(2)\nfor x in seq:\n    h = torch.tanh(x + h @ W)\nh.sum().backward()\n"
    )
    rounds = [
        [re.sub(r"\d\.\d*", "", step) for step in steps(source, library) if re.match("[123]/3 ", step)]
        for library in (torch, minigrad)
    ]
    assert len(rounds[0]) == 6 and rounds[0][:5] == rounds[1][:5], "of the last one the zeros have a sign"
