"""Lines of arithmetic hold: what is written is recomputed and compared with what was recorded, for the
documented cells and random ones; and a graph of thousands of nodes has its lines as fast."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from cells import CELLS, run, traced
from hypothesis import HealthCheck, Phase, given, settings
from random_cells import cells
from staged import scene_of
from test_arithmetic import EXP, TWO, lines_of_trace
from tiers import examples

from minigrad_viz.arithmetic import lines_of
from minigrad_viz.protocol import Value
from minigrad_viz.trace.events import BackwardStarted, HookRan, Inside, NodeRan

NUMBER = re.compile(r"−?\d+(?:\.\d*)?(?:e−?\d+)?")
PROGRAMS = [
    *(CELLS[code] for code in (4, 5, 7, 8, 9, 10, 13, 16, 18)),
    "x = torch.tensor(0.7, requires_grad=True)\ny = torch.sin(x) * torch.exp(x)\n"
    "z = y / (1 + x * x) - y\nz.backward()\n",
    "a = torch.tensor(-1.5, requires_grad=True)\nb = torch.tensor(2.5, requires_grad=True)\n"
    "c = a * b\nd = torch.sigmoid(c) + torch.tanh(a)\nk = abs(c) ** 0.5\nf = d * k - a\nf.backward()\n",
]


@pytest.mark.parametrize("cell", PROGRAMS)
def test_every_form_of_a_line_has_the_same_value(library, cell):
    """Sums and products of numbers are recomputed, from what is written."""
    for line in lines_of_trace(traced(cell, library)):
        forms = [f for f in line.text.split("   ")[0].split(" = ")[1:] if numeric(f)]
        values = [compute(f) for f in forms]
        if values:
            assert values == pytest.approx([values[-1]] * len(values), rel=2e-3, abs=1e-7), line.text


def numeric(form: str) -> bool:
    return not re.search(r"[^\W\d_e]|(?<!\d)e|[²³ᵀΣ∂⊙\[\]/]", re.sub(r" \((through \S+)\)", "", form))


def compute(form: str) -> float:
    plain = re.sub(r" \((through \S+)\)", "", form).replace("−", "-").replace("·", "*")
    assert re.fullmatch(r"[-+*().\de ]+", plain), plain
    return float(eval(plain, {"__builtins__": {}}))


@pytest.mark.parametrize("cell", PROGRAMS)
def test_the_result_of_a_line_is_what_was_recorded(cell):
    trace = traced(cell)
    builder = scene_of(trace)
    for event in trace.events:
        if (
            isinstance(event, NodeRan)
            and event.call == builder.call
            and builder.nodes[event.node].variable is None
        ):
            sent = [v for v in event.sent if v is not None]
            results = [x for x in lines_of(builder, event, "en") if x.kind in ("chain_rule", "vjp")]
            assert len(results) == len(sent)
            for line, value in zip(results, sent, strict=True):
                shown = [float(n.replace("−", "-")) for n in NUMBER.findall(line.parts[-1][1])]
                if line.parts[-1][0] == "out":
                    np.testing.assert_allclose(shown, np.ravel(value.items), rtol=2e-3)


def test_a_wrong_record_is_never_explained():
    """Where the recorded gradient is not what the formula gives, no formula is shown."""
    trace = traced(CELLS[9])
    for at, event in enumerate(trace.events):
        if isinstance(event, NodeRan) and len(event.sent) == 1 and event.sent[0] is not None:
            wrong = event._replace(sent=(Value((), "float32", (event.sent[0].items[0] * 1.001,)),))
            events = (*trace.events[:at], wrong, *trace.events[at + 1 :])
            said = lines_of(scene_of(trace._replace(events=events)), wrong, "en")
            assert [x.kind for x in said] == ["vjp"] and "→" in said[0].text


def test_hostile_names_are_text_in_every_line():
    cell = CELLS[9].replace("y", "ÿ_1").replace("w", "값").replace("x", "x_")
    for line in lines_of_trace(traced(cell)):
        assert "<" not in line.latex


@settings(
    max_examples=examples(60), deadline=None, derandomize=True, database=None, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(cells)
def test_random_cells_have_lines_that_hold(library, cell):
    try:
        trace = run(cell, library, names={"note": lambda *told: None}).trace
    except KeyboardInterrupt:  # what some of the cells end with
        return
    finally:
        library.set_grad_enabled(True)
    assert trace is not None
    for call in {e.call for e in trace.events if isinstance(e, BackwardStarted)}:
        for line in lines_of_trace(trace, call):
            assert not re.search("[\x00-\x1f]", line.text)
            forms = [f for f in line.text.split("   ")[0].split(" = ")[1:] if numeric(f)]
            values = [compute(f) for f in forms] if line.kind in ("chain_rule", "deposit", "paths") else []
            if values:
                assert values == pytest.approx([values[-1]] * len(values), rel=5e-3, abs=1e-6), line.text


def ones(n: int) -> str:
    return f"x = torch.ones({n}, requires_grad=True)\n"


ODD = {
    "bfloat16": f"{ones(2)}y = x.to(torch.bfloat16)\n(y * y).exp().sum().backward()\n",
    "complex": "x = torch.tensor(1. + 2.j, requires_grad=True)\n(x * x.conj()).real.backward()\n",
    "empty": "x = torch.zeros(0, 3, requires_grad=True)\n(x * 2).sum().backward()\n",
    "a view written to": f"{ones(3)}y = x * 1\ny[1:] *= 2\ny.sum().backward()\n",
    "no number": "x = torch.tensor(0., requires_grad=True)\n(torch.sqrt(x) * 0).backward()\n",
    "infinite": "x = torch.tensor(100., requires_grad=True)\n(x.exp() * x.exp()).backward()\n",
    "some joined": f"{ones(2)}b = torch.ones(1)\ntorch.cat([b, x, x]).sum().backward()\n",
    "several outputs": f"{ones(5)}a, b = x.split([2, 3])\n(a.sum() * b.sum()).backward()\n",
    "picked": f"{ones(5)}x[[0, 3]].sum().backward()\n",
    "two roots": f"{ones(2)}torch.autograd.backward([x.sum(), x.exp().sum()])\n",
    "normalised": f"{ones(2)}n = torch.nn.LayerNorm(2)\n(n(x * torch.arange(2.)) ** 2).mean().backward()\n",
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_out_of_the_ordinary(torch, name):
    """Every gradient that was sent has a line, whatever it is of."""
    trace = traced(ODD[name], torch)
    told = lines_of_trace(trace)
    sent = [v for e in trace.events if isinstance(e, NodeRan) for v in e.sent if v is not None]
    assert sum(line.kind in ("chain_rule", "vjp") for line in told) >= len(sent)
    assert not any("nan" in line.text and line.kind == "vjp" for line in told)


def test_a_large_gradient_that_a_hook_may_have_changed_has_no_formula(library):
    made = "x = torch.ones(10, 10).requires_grad_()\ny = x * 3\nz = torch.exp(y)\n"
    hook = "y.register_hook(lambda g: g * 2)\n"
    plain, watched = (
        [line.text for line in lines_of_trace(traced(f"{made}{more}z.sum().backward()\n", library))]
        for more in ("", hook)
    )
    assert plain[-1] == "x̄ = 3ȳ   (10, 10) → (10, 10)"
    assert watched[-1] == "MulBackward0: ȳ (10, 10) → x̄ (10, 10)"


# ── hooks and own ops that are put into a trace ─────────────────────────────────────────────────────────────


def test_a_post_hook_stands_for_the_formula():
    trace = traced(CELLS[4])
    at, event = next((i, e) for i, e in enumerate(trace.events) if isinstance(e, NodeRan) and e.sent)
    doubled = Value((), "float32", (event.sent[0].items[0] * 2,))
    hook = HookRan(1, event.node, "post", "double", 0, event.sent, (doubled,))
    changed = event._replace(sent=(doubled,))
    events = (*trace.events[:at], hook, changed, *trace.events[at + 1 :])
    said = lines_of(scene_of(trace._replace(events=events)), changed, "en")
    assert [(x.kind, x.label, x.text) for x in said] == [("hook", "changed by double", "ȳ: 0.008 → 0.016")]


def test_an_op_inside_that_stands_nowhere_is_left_out():
    trace = run(EXP).trace
    assert trace is not None
    events = tuple(e._replace(span=None) if isinstance(e, Inside) else e for e in trace.events)
    said = lines_of_trace(trace._replace(events=events))
    assert not any("1. · 2.7183" in x.text for x in said)


# ── large graphs ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.full
def test_thousands_of_nodes_have_their_lines_in_linear_time():
    def seconds(n: int) -> float:
        cell = f"{TWO}y = x\nfor _ in range({n}):\n    y = y * x * 0.5\ny.backward()\n"
        trace = traced(cell)
        start = time.perf_counter()
        found = lines_of_trace(trace)
        assert len(found) >= 2 * n - 2
        return time.perf_counter() - start

    seconds(50)
    small, large = min(seconds(250) for _ in range(2)), seconds(2000)
    assert large < 40 * small  # eight times as many nodes; a quadratic way takes 64 times as long
