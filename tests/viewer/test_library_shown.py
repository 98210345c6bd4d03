"""The steps of `functional` and `func`: the user's ops are steps, and what the library computes between them
has none of the user's names."""

from __future__ import annotations

import re

import pytest
from cells import run, traced
from staged import build

import minigrad
import minigrad.autograd.functional
import minigrad.func
from minigrad_viz.drawing.outline import outline
from minigrad_viz.protocol import text_of
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import BackwardStarted

pytestmark = pytest.mark.usefixtures("names_of_today")

JACOBIAN = (
    "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    "J = torch.autograd.functional.jacobian(lambda t: t ** 2 * t.sum(), x)\n"
)
CELLS = {
    "jacobian": JACOBIAN,
    "hessian": (
        "x = torch.tensor([1.0, 2.0])\nH = torch.autograd.functional.hessian(lambda t: (t ** 3).sum(), x)\n"
    ),
    "jvp": (
        "x = torch.tensor([1.0, 2.0])\n"
        "y, t = torch.autograd.functional.jvp(lambda a: a ** 2, x, torch.tensor([1.0, 0.0]))\n"
    ),
    "grad": "g = torch.func.grad(lambda t: torch.sin(t) * t)(torch.tensor(2.0))\n",
    "vmap": "v = torch.func.vmap(lambda t: t * 2)(torch.tensor([1.0, 2.0]))\n",
    "jacrev": "J = torch.func.jacrev(lambda t: t ** 2)(torch.tensor([1.0, 2.0]))\n",
    "func.jvp": "y, t = torch.func.jvp(lambda a: a ** 2, (torch.tensor(3.0),), (torch.tensor(1.0),))\n",
    "vjp": "y, f = torch.func.vjp(lambda a: a ** 2, torch.tensor(3.0))\ng, = f(torch.tensor(1.0))\n",
    "per sample": (
        "f = torch.func.vmap(torch.func.grad(lambda t: t ** 3))\ng = f(torch.tensor([1.0, 2.0]))\n"
    ),
}


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", CELLS)
def test_nothing_breaks_and_nothing_is_noticed(library, name):
    watched, alone = run(CELLS[name], library), run(CELLS[name], library, watched=False)
    assert watched.told == alone.told and watched.error is None
    report = Report(watched.trace, lang="en")
    assert report.text(steps=True) and report.html()
    for variable, value in watched.names.items():
        if hasattr(value, "requires_grad"):
            assert value.tolist() == alone.names[variable].tolist()


@pytest.mark.quick
def test_a_jacobian(library):
    trace = traced(JACOBIAN, library)
    calls = [e for e in trace.events if isinstance(e, BackwardStarted)]
    assert [call.kind for call in calls] == ["grad", "grad"], "one for each output, told one by one"
    graph = build(trace)
    names = [card.name for _, card in graph.cards() if card.name]
    assert sorted(names) == ["J", "x"], "what the library made on the way is not called J"
    shown = outline(graph, "en")
    assert "J   [[7. 1.] [4. 16.]]" in shown and "t ** 2 * t.sum()   [3. 12.]" in shown
    (asked,) = [card for _, card in graph.cards() if card.asked]
    assert asked.role == "leaf" and asked.value.items == (1.0, 2.0)


@pytest.mark.parametrize(
    "value, words",
    [
        (len, "len"), (lambda: 0, "<lambda>"), (float, "float"), (3, "3"), (object(), "object"),
        ([len, 2], "[len, 2]"), (minigrad.float32, "torch.float32"), (None, "None"),
    ],
)  # fmt: skip
def test_arguments_in_words(value, words):
    assert text_of(value) == words


SAME_WORDS = {
    "cross entropy": "x = torch.tensor([[0.5, -1.0], [1.5, 0.3]])\n"
    "W = torch.tensor([[0.1, 0.2], [0.3, -0.1]], requires_grad=True)\n"
    "loss = torch.nn.functional.cross_entropy(x @ W, torch.tensor([0, 1]))\nloss.backward()\n",
    "model": "torch.manual_seed(0)\nnn = torch.nn\n"
    "model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))\n"
    "x = torch.tensor([[0.5, -1.0], [1.5, 0.3], [-0.7, 0.9]])\n"
    "opt = torch.optim.Adam(model.parameters(), lr=0.1)\n"
    "loss = nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 0]))\nloss.backward()\nopt.step()\n",
    "convolution": "torch.manual_seed(1)\nnn = torch.nn\n"
    "m = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 2))\n"
    "z = m(torch.ones(1, 1, 6, 6)).sum()\nz.backward()\n",
    "modes": "x = torch.tensor(2.0, requires_grad=True)\nwith torch.no_grad():\n    y = x * 2\n"
    "torch.set_grad_enabled(True)\nz = x * 3\nz.backward()\n",
}


@pytest.mark.quick
@pytest.mark.parametrize("name", SAME_WORDS)
def test_both_libraries_are_told_in_the_same_words(name, torch):
    told = []
    for library in (minigrad, torch):
        steps = str(Report(traced(SAME_WORDS[name], library), lang="en").steps)
        told.append(re.sub(r" +", " ", re.sub(r"Backward\d", "Backward", steps)))
    assert told[0] == told[1]
    assert "addmm" not in told[0] and "grad(…)" not in told[0]
    assert told[0].count("grad mode") == (2 if name == "modes" else 0)
