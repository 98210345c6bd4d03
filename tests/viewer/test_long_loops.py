"""A long loop is watched in full, then lightly, and again and again in full; interruptions are shown."""

from __future__ import annotations

import functools
import signal
import sys

import pytest
from cells import run

import minigrad
from minigrad.core.modes import observers
from minigrad_viz.drawing.outline import outline
from minigrad_viz.model.grad_ledger import UNSEEN
from minigrad_viz.recording.long_loops import GROWTH, KEPT_CALLS, Round, Rounds
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.shell.report import Report
from minigrad_viz.sources.minigrad import Minigrad
from minigrad_viz.sources.pytorch import PyTorch
from minigrad_viz.trace.events import BackwardStarted, Forward, Trace

pytest_plugins = ["magic_shell"]
EPOCHS = 400
LOOP = """
x = torch.linspace(0.0, 1.0, 20)
w, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
seen = []
for epoch in range({n}):
    loss = ((w * x + b - 2 * x - 1) ** 2).mean()
    loss.backward()
    seen.append((loss.item(), w.item(), w.grad.item(), math.hypot(w.grad.item(), b.grad.item())))
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    w.grad.zero_()
    b.grad.zero_()
"""


@pytest.fixture
def small(monkeypatch):
    """Both libraries have so small a budget that a loop of some hundred rounds spends it."""
    monkeypatch.setattr(Minigrad, "budget", 1_000)
    monkeypatch.setattr(PyTorch, "budget", 1_000)


def test_every_round_has_its_loss_and_norm(library, small):
    ran = run("import math" + LOOP.format(n=EPOCHS), library)
    trace, seen = ran.trace, ran.names["seen"]
    assert trace.light > EPOCHS / 4 and trace.skipped + KEPT_CALLS == EPOCHS
    assert trace.rounds == tuple(loss for loss, *_ in seen)
    assert trace.norms == pytest.approx([norm for *_, norm in seen], rel=1e-5)
    stored = Trace.from_json(trace.to_json())
    assert (stored.norms, stored.light) == (trace.norms, trace.light)


HEADS = [
    ("for epoch in range({n}):", True),
    ("for epoch in range(EPOCHS // 2 * 2):", True),
    ("for epoch in tqdm(range(1, EPOCHS + 1)):", True),
    ("for half in range(2):\n  for epoch in range(EPOCHS // 2):", True),
    ("for epoch in range({n}):\n    if epoch < 0:\n        break", True),
    ("while len(seen) < EPOCHS:", False),
    ("for epoch in range(10**6):\n    if len(seen) == EPOCHS:\n        break", False),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("head", "exactly"), HEADS)
def test_the_rounds_in_full_are_the_last_and_true(library, small, head, exactly):
    """The very last if the loop says how many there are; else among the last."""
    start = f"import math\nEPOCHS = {EPOCHS}\ndef tqdm(rounds):\n    return rounds\n"
    ran = run(start + LOOP.replace("for epoch in range({n}):", head).format(n=EPOCHS), library)
    seen, report = ran.names["seen"], Report(ran.trace, lang="en")
    calls = [event.call for event in ran.trace.events if isinstance(event, BackwardStarted)]
    assert len(calls) == KEPT_CALLS and calls[-1] * GROWTH + 2 * KEPT_CALLS > EPOCHS
    if exactly:
        assert calls == list(range(EPOCHS - KEPT_CALLS + 1, EPOCHS + 1))
    assert f"of {EPOCHS}:" in report.views[-1].label
    for view in report.views:
        loss, w, gradient, _ = seen[view.call - 1]
        cards = {card.name: card for _, card in view.graph.cards() if card.name}
        assert cards["loss"].value.items == (loss,)
        assert (w,) in [value.items for value, _ in (*cards["w"].stood, (cards["w"].value, None))]
        assert cards["w"].grad.items == (gradient,)


def test_one_line_says_so_and_the_ledger_agrees(library, small):
    trace = run("import math" + LOOP.format(n=EPOCHS), library).trace
    report = Report(trace, lang="en")
    assert f"For {trace.light} backward calls in this long loop, only the loss" in outline(report.graph, "en")
    kinds = {entry.kind for account in report.ledger.accounts for entry in account.entries}
    assert UNSEEN not in kinds


def test_a_loop_within_the_budget_is_watched_in_full(library):
    trace = run("import math" + LOOP.format(n=60), library).trace
    assert trace.light == 0 and len(trace.norms) == 60
    assert "long loop" not in outline(Report(trace, lang="en").graph, "en")


@pytest.mark.parametrize(
    ("told", "least", "most"),
    [
        (lambda left: Round(None, False), 1_000, 2_000),
        (lambda left: Round(left, False), 1_000, 2_000),
        (lambda left: Round(left, True), 150, 300),
        (lambda left: Round(0, True), 150, 400),  # many rounds may be the last of an outer loop
    ],
)
def test_rounds_in_full_stay_a_small_part(told, least, most):
    rounds, full = Rounds(), 0
    for call in range(1, 10_001):
        full += not rounds.light
        rounds.ended(call, 0.001, functools.partial(told, 10_000 - call))
    assert least <= full < most
    assert full + rounds.counted == 10_000


def test_a_loop_in_a_function_says_when_it_ends(library, small):
    """Its rounds call another function, which has the backward call."""
    cell = (
        "w = torch.ones(1, requires_grad=True)\ndef step(lr):\n    (w * w).sum().backward()\n"
        "    w.data.sub_(lr * w.grad)\n    w.grad = None\n"
        f"def fit(epochs):\n    for epoch in range(epochs):\n        step(0.01)\nfit({EPOCHS})\n"
    )
    trace = run(cell, library).trace
    calls = [event.call for event in trace.events if isinstance(event, BackwardStarted)]
    assert trace.light and calls == list(range(EPOCHS - KEPT_CALLS + 1, EPOCHS + 1))


# ── interruptions ───────────────────────────────────────────────────────────────────────────────────────────

INTERRUPTED = """%%autograd
w = torch.ones(2, requires_grad=True)
for step in range(1000):
    loss = (w * w).sum()
    loss.backward()
    if step == 4:
        {how}
"""
HOWS = ["raise KeyboardInterrupt", "signal.raise_signal(signal.SIGINT)"]


@pytest.fixture
def interruptible():
    """The signal of Ctrl-C raises KeyboardInterrupt, which workers of pytest-xdist ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("how", HOWS)
def test_an_interrupted_cell_shows_what_was_recorded(library, how, shell, cell, interruptible):
    shell.user_ns |= {"torch": library, "signal": signal}
    shown = cell(INTERRUPTED.format(how=how))
    assert "KeyboardInterrupt" in shown
    assert "backward call 5 of 5" in shown and "w.grad" in shown
    assert cell("torch.ones(2, requires_grad=True).sum().backward()") == ""


@pytest.mark.parametrize("place", ["the cell", "the backward of a Function", "a hook"])
def test_an_interruption_leaves_no_observer_behind(library, place):
    before = list(sys.meta_path)
    source = {
        "the cell": "y = w * 2\nraise KeyboardInterrupt\n",
        "a hook": "y = w * 2\ny.register_hook(stop)\ny.sum().backward()\n",
        "the backward of a Function": (
            "class Stop(torch.autograd.Function):\n"
            "    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n"
            "    @staticmethod\n    def backward(ctx, g):\n        stop(g)\n"
            "y = Stop.apply(w)\ny.sum().backward()\n"
        ),
    }[place]
    start = "def stop(g):\n    raise KeyboardInterrupt\nw = torch.ones(2, requires_grad=True)\n"
    space = {"torch": library, "__name__": "__main__"}
    recorder = Recorder(start + source, space)
    recorder.start()
    with pytest.raises(KeyboardInterrupt) as interrupted:
        exec(compile(start + source, "<cell>", "exec"), space)
    trace = recorder.stop(interrupted.value)
    assert trace.error.startswith("KeyboardInterrupt")
    assert any(isinstance(event, Forward) for event in trace.events)
    assert sys.meta_path == before and observers() == ()
    if library is not minigrad:
        assert type(library.autograd.Variable._execution_engine).__module__ == "torch._C"
        assert library.overrides._get_current_function_mode_stack() == []
