"""Cells with everything that autograd offers beside plain ops: watching changes nothing, and all of it can be
shown."""

from __future__ import annotations

import re

import pytest
from cells import run

from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import Trace

pytestmark = pytest.mark.usefixtures("names_of_today")

LEAF = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
KEEP = "ck = lambda f, x: torch.utils.checkpoint.checkpoint(f, x, use_reentrant={})\n"
DUAL = (
    "fw = torch.autograd.forward_ad\nx = torch.tensor([1.0, 2.0])\n"
    "with fw.dual_level():\n    d = fw.make_dual(x, torch.tensor([1.0, 0.0]))\n"
)
CELLS = {
    "mutation": LEAF + "with torch.autograd.graph.allow_mutation_on_saved_tensors():\n    y = x * 2\n"
    "    z = y ** 2\n    y.add_(1)\n    z.sum().backward()\n",
    "hooks of one value": LEAF + "y = x ** 2\n"
    "y.grad_fn._raw_saved_self.register_hooks(lambda t: t.tolist(), lambda l: torch.tensor(l))\n"
    "y.sum().backward()\n",
    "no hooks": LEAF + "with torch.autograd.graph.disable_saved_tensors_hooks('no'):\n    y = x ** 2\n"
    "y.sum().backward()\n",
    "the edge of a leaf": LEAF + "e = torch.autograd.graph.get_gradient_edge(x)\ny = (x ** 2).sum()\n"
    "g, = torch.autograd.grad(y, e)\n",
    "hooks and create_graph": LEAF
    + "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):\n    y = (x ** 3).sum()\n"
    "    g, = torch.autograd.grad(y, x, create_graph=True)\nh = g.sum()\nh.backward()\n",
    "pack fails": LEAF + "def pack(t):\n    raise ValueError('no')\n"
    "with torch.autograd.graph.saved_tensors_hooks(pack, pack):\n    y = x ** 2\n",
    "unpack fails": LEAF + "def unpack(t):\n    raise ValueError('no')\n"
    "with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):\n    y = x ** 2\n"
    "y.sum().backward()\n",
    "checkpoints in one another": LEAF + KEEP.format(False)
    + "y = ck(lambda t: ck(torch.sin, t) * t, x)\ny.sum().backward()\n",
    "the same, reentrant": LEAF + KEEP.format(True)
    + "y = ck(lambda t: ck(torch.sin, t) * t, x)\ny.sum().backward()\n",
    "a checkpoint that fails again": LEAF + KEEP.format(False)
    + "n = []\ndef f(t):\n    n.append(1)\n    if len(n) > 1:\n        raise ValueError('again')\n"
    "    return t ** 2\ny = ck(f, x)\ny.sum().backward()\n",
    "a dual tensor in place": DUAL + "    y = d * 2\n    y *= d\n    y[0] = 5.0\n",
    "an error in forward mode": DUAL + "    y = d * torch.ones(5)\n",
    "an inference tensor is saved": LEAF + "with torch.inference_mode():\n    a = x * 2\nb = x * a\n",
    "anomaly mode": LEAF + "torch.autograd.set_detect_anomaly(True)\ny = (x * 2).sum()\ny.backward()\n"
    "torch.autograd.set_detect_anomaly(False)\n",
    "hvp": LEAF + "y, h = torch.autograd.functional.hvp(lambda t: (t ** 3).sum(), x, torch.ones(3))\n",
    "hessian": "h = torch.func.hessian(lambda t: (t ** 3).sum())(torch.tensor([1.0, 2.0]))\n",
    "jacfwd": "h = torch.func.jacfwd(lambda t: t ** 3)(torch.tensor([1.0, 2.0]))\n",
    "a gradient of a closure": LEAF
    + "g = torch.func.grad(lambda t: (t * x).sum())(torch.tensor([1.0, 2.0, 3.0]))\n"
    "(g * x).sum().backward()\n",
    "a hook of one leaf": LEAF + "torch.autograd.graph.register_multi_grad_hook([x], lambda g: None)\n"
    "(x * 2).sum().backward()\n",
    "roots and inputs": LEAF + "a = x * 2\nb = x * 3\n"
    "torch.autograd.backward([a.sum(), b], [None, torch.ones(3)], inputs=[x, a])\n",
    "joined": LEAF + "y = torch.stack([x, x * 2])\nz = torch.cat([y, y])\nz.sum().backward()\n",
    "once": LEAF + "class F(torch.autograd.Function):\n"
    "    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n"
    "    @staticmethod\n    @torch.autograd.function.once_differentiable\n"
    "    def backward(ctx, g):\n        return g * 2\n"
    "y = F.apply(x)\ng, = torch.autograd.grad(y.sum(), x, create_graph=True)\n",
    "complex": "z = torch.tensor([1+1j, 2-1j], requires_grad=True)\n"
    "y = (z.exp() * z.conj() + z.real).abs().sum()\ny.backward()\n",
    "a second complex derivative": "z = torch.tensor(1+1j, requires_grad=True)\ny = (z ** 3).real\n"
    "g, = torch.autograd.grad(y, z, create_graph=True)\ng.abs().backward()\n",
    "a view as real": "z = torch.tensor([1+1j, 2-1j], requires_grad=True)\nr = torch.view_as_real(z)\n"
    "(r * r).sum().backward()\n",
}  # fmt: skip


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", CELLS)
def test_cell(library, name):
    watched, alone = run(CELLS[name], library), run(CELLS[name], library, watched=False)
    assert watched.told == alone.told
    for report in (Report(watched.trace, lang="en"), Report(watched.trace, lang="ko")):
        shown = report.text(steps=True) + report.html()
        assert not re.search(r"at 0x[0-9a-f]{5}", shown), "the same text each time"
    again = Trace.from_json(watched.trace.to_json())
    assert again == watched.trace


def test_a_tangent_that_was_overwritten_is_not_shown(library):
    """After `y[0] = 5.0` the tangent of y is another; who was not told of it must not show the old one."""
    report = Report(run(CELLS["a dual tensor in place"], library).trace, lang="en")
    (card,) = [card for _, card in report.graph.cards() if card.name == "y"]
    assert card.value.items == (5.0, 8.0)
    assert card.tangent is None or card.tangent.items == (0.0, 0.0)
    assert "ẏ (2,) = [4 0]" in str(report.steps), "after `y *= d`"
