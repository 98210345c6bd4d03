"""Forward mode in text and picture: a tensor's tangent, and how it comes from those of the inputs."""

from __future__ import annotations

import json

import pytest
from cells import traced
from latex_check import check as check_latex
from staged import build, frames_of

from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.trace.events import Forward, ModeChanged, Trace

pytestmark = pytest.mark.usefixtures("names_of_today")

START = "fw = torch.autograd.forward_ad\n"
SCALAR = START + (
    "x = torch.tensor(5.0)\nwith fw.dual_level():\n    d = fw.make_dual(x, torch.tensor(1.0))\n"
    "    y = d ** 3\n    z = torch.log(y) * d\n    dz = fw.unpack_dual(z).tangent\n"
)
MATRIX = START + (
    "W = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)\nx = torch.tensor([1.0, -1.0])\n"
    "with fw.dual_level():\n    d = fw.make_dual(x, torch.tensor([1.0, 0.0]))\n"
    "    h = W @ d\n    a = torch.tanh(h)\n    y = a.sum()\n    y.backward()\n"
)


def lines(trace, lang="en"):
    """The lines about tangents, in order."""
    frames = frames_of(trace, build(trace), lang=lang)
    return [line for frame in frames for line in frame.lines if line.kind == "tangent"]


def op(body: str, x: str, dx: str) -> str:
    """A cell that makes `y` of the dual tensor `d`."""
    return START + (
        f"x, dx = torch.tensor({x}), torch.tensor({dx})\nc = torch.tensor([2.0, 3.0])\n"
        f"with fw.dual_level():\n    d = fw.make_dual(x, dx)\n    y = {body}\n"
    )


def test_events_have_tangents(library):
    trace = traced(SCALAR, library)
    made = {dict(trace.names).get(s.id): s for e in trace.events if isinstance(e, Forward) for s in e.outputs}
    assert [made[name].tangent.items for name in ("d", "y")] == [(1.0,), (75.0,)]
    assert made["z"].tangent.items == pytest.approx((7.8283,), rel=1e-4) and made["dz"].tangent is None
    modes = [(e.mode, e.enabled) for e in trace.events if isinstance(e, ModeChanged)]
    assert modes[0] == ("forward_ad", True)


def test_json_and_back(library):
    trace = traced(MATRIX, library)
    again = Trace.from_json(trace.to_json())
    assert again == trace and repr(again.events) == repr(trace.events)


def test_a_trace_from_before_there_were_tangents():
    data = json.loads(traced("x = torch.tensor(2.0)\ny = x * 3\n").to_json())
    for event in data["events"]:
        for state in event.get("outputs", [event.get("tensor")] if event.get("tensor") else []):
            del state["tangent"]
    assert Trace.from_json(json.dumps(data)) == traced("x = torch.tensor(2.0)\ny = x * 3\n")


def test_the_card_has_a_row(library):
    graph = build(traced(SCALAR, library))
    assert graph.note == ("no_graph_forward", {})
    shown = outline(graph, "en")
    assert "y = d ** 3   125.   tangent 75." in shown and "z = log(y) * d   24.142   tangent 7.8283" in shown
    svg = Picture(graph, lang="en").svg()
    assert svg.count('-tangent"><text class="key"') == 4, "d, y, log(y) and z"


def test_the_arithmetic_of_numbers(library):
    told = [line.text for line in lines(traced(SCALAR, library))]
    assert told == [
        "ḋ = 1",
        "ẏ = ∂y/∂d · ḋ = 3d² · ḋ = 75 · 1 = 75",
        "tangent(log(y)) = ∂log(y)/∂y · ẏ = 1/y · ẏ = 0.008 · 75 = 0.6",
        "ż = d · tangent(log(y)) + log(y) · ḋ = 5 · 0.6 + 4.8283 · 1 = 7.8283",
    ]


def test_the_arithmetic_of_arrays(library):
    told = [line.text for line in lines(traced(MATRIX, library))]
    assert told[:4] == [
        "ḋ (2,) = [1 0]",
        "ḣ = W ḋ = [[1 2] [3 4]] · [1 0] = [1 3]   (2, 2)·(2,) → (2,)",
        "ȧ = (1 − a²) ⊙ ḣ = [0.41997 0.41997] ⊙ [1 3] = [0.41997 1.2599]",
        "ẏ = Σ ȧ = Σ [0.41997 1.2599] = 1.6799",
    ]


def test_the_graph_of_the_values_is_there_as_well(library):
    graph = build(traced(MATRIX, library))
    stations = {card.name: (station, card) for station, card in graph.cards()}
    assert stations["h"][0].deck.name == "MvBackward0" and stations["h"][1].tangent.items == (1.0, 3.0)
    assert stations["W"][1].grad_kept and stations["W"][1].tangent is None


@pytest.mark.parametrize(
    "body, x, dx, shown",
    [
        ("d + c", "[1.0, 4.0]", "[1.0, -1.0]", "ẏ = ḋ = [1 −1]"),
        ("c - d", "[1.0, 4.0]", "[1.0, -1.0]", "ẏ = −ḋ = −[1 −1] = [−1 1]"),
        ("d * c", "[1.0, 4.0]", "[1.0, -1.0]", "ẏ = c ⊙ ḋ = [2 3] ⊙ [1 −1] = [2 −3]"),
        ("d * d", "2.0", "1.0", "ẏ = d · ḋ + d · ḋ = 2 · 1 + 2 · 1 = 4"),
        ("d / 4", "2.0", "1.0", "ẏ = ∂y/∂d · ḋ = 1/4 · ḋ = 0.25 · 1 = 0.25"),
        ("torch.exp(d)", "0.0", "2.0", "ẏ = ∂y/∂d · ḋ = y · ḋ = 1 · 2 = 2"),
        ("d.sum()", "[1.0, 4.0]", "[1.0, -1.0]", "ẏ = Σ ḋ = Σ [1 −1] = 0"),
        ("torch.dot(d, c)", "[1.0, 4.0]", "[1.0, -1.0]", "ẏ = ḋ c = [1 −1] · [2 3] = −1   (2,)·(2,) → ()"),
        ("d.reshape(2, 1)", "[1.0, 4.0]", "[1.0, -1.0]", "ẏ = [[1] [−1]]"),
        ("d.max()", "[1.0, 4.0]", "[1.0, -1.0]", "ẏ = −1"),
    ],
)  # fmt: skip
def test_one_op(library, body, x, dx, shown):
    """Where minigrad has no such op, or writes it otherwise, the line still ends in the recorded tangent."""
    (*_, line) = lines(traced(op(body, x, dx), library))
    assert line.text.split(" = ")[-1].split("   ")[0] == shown.split(" = ")[-1].split("   ")[0]
    if body not in ("d.max()", "d.reshape(2, 1)"):
        assert line.text == shown
    check_latex(line.latex)


def test_what_gives_another_tangent_is_not_shown_as_a_formula(library):
    """A custom Function may say what it likes."""
    cell = START + (
        "class Odd(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(x):\n        return x * 2\n"
        "    @staticmethod\n    def setup_context(ctx, inputs, output):\n        pass\n"
        "    @staticmethod\n    def jvp(ctx, dx):\n        return dx * 7\n"
        "x = torch.tensor(3.0)\nwith fw.dual_level():\n    d = fw.make_dual(x, torch.tensor(1.0))\n"
        "    y = Odd.apply(d)\n    z = y * 1\n"
    )
    graph = build(traced(cell, library))
    tangents = {card.name: card.tangent.items for _, card in graph.cards() if card.tangent is not None}
    assert tangents["y"] == (7.0,) and tangents["z"] == (7.0,)
    told = [line.text for line in lines(traced(cell, library))]
    assert not any("2 · ḋ" in line for line in told)


def test_forward_over_reverse_does_not_break(library):
    cell = START + (
        "x = torch.tensor(3.0, requires_grad=True)\nwith fw.dual_level():\n"
        "    d = fw.make_dual(x, torch.tensor(1.0))\n    y = d ** 3\n"
        "    g, = torch.autograd.grad(y, d, create_graph=True)\n    second = fw.unpack_dual(g).tangent\n"
    )
    trace = traced(cell, library)
    assert trace.error is None
    assert dict(trace.names)
    assert "18." in outline(build(trace), "en")


def test_the_words_in_korean(library):
    trace = traced(SCALAR, library)
    assert "접벡터 75." in outline(build(trace), "ko")
    assert lines(trace, "ko")[1].label == "접벡터 (ẏ: y의 접벡터)"
