"""Cuts, fog and shared memory in the model of a picture, and the steps that tell of them."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from cells import run, traced
from hypothesis import given, settings
from staged import build, scene_of
from tiers import examples

import minigrad
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.model.naming import plain_name
from minigrad_viz.trace.graph_walk import trace_of

pytestmark = pytest.mark.usefixtures("names_of_today")

LEAF = "x = torch.tensor(5.0, requires_grad=True)\n"
VECTOR = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"


def cards(graph):
    """The cards of a picture by their names."""
    return {card.name: card for _, card in graph.cards() if card.name}


def last(graph):
    """The card that was made last."""
    return graph.stations[-1].cards[0]


def picture(cell, library=minigrad):
    return build(traced(cell, library))


# ── the node that would have been ───────────────────────────────────────────────────────────────────────────

OPS = (
    "x * 2", "2 * x", "x * x", "x + 1", "1 + x", "x - 1", "1 - x", "x / 2", "2 / x", "x ** 2", "x ** x",
    "2 ** x", "-x", "x @ x", "x.sum()", "x.sum(0)", "x.mean()", "x.clone()", "torch.exp(x)", "torch.log(x)",
    "x.abs()", "torch.sqrt(x)", "torch.relu(x)", "torch.tanh(x)", "torch.sigmoid(x)", "torch.sin(x)", "x[0]",
    "x.reshape(1, 2)", "torch.stack([x, x])", "x.expand(3, 2)", "x.double()", "torch.where(x > 1, x, -x)",
)  # fmt: skip


@pytest.mark.parametrize("op", OPS)
def test_the_ghost_is_the_node_without_the_fog(op, library):
    made = run(f"{VECTOR}y = {op}\n", library).names["y"].grad_fn.name().rpartition("::")[2]
    ghost = last(picture(f"{VECTOR}with torch.no_grad():\n    y = {op}\n", library)).ghost
    assert ghost == made if library is minigrad else ghost in (made, "")
    beside = picture(f"{VECTOR}w = {op}\nwith torch.no_grad():\n    y = {op}\n", library)
    assert last(beside).ghost == made, "what the same op left beside it"


def test_known_names_are_certain(torch):
    made = [last(picture(f"{VECTOR}with torch.no_grad():\n    y = {op}\n", torch)).ghost for op in OPS]
    assert sum(map(bool, made)) > 20, "without any other op beside it"


def test_the_ghost_speaks_the_dialect(dialects):
    ghosts = []
    for name in ("1.4", "2"):
        dialects(name)
        ghosts.append(cards(picture(f"{LEAF}with torch.no_grad():\n    y = torch.log(x)\n"))["y"].ghost)
    assert ghosts == ["LogBackward", "LogBackward0"]


@pytest.fixture
def dialects():
    """Sets the dialect; it is as before in the end."""
    before = minigrad.get_dialect()
    yield minigrad.set_dialect
    minigrad.set_dialect(before)


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_views_of_a_graph_that_nobody_recorded(library):
    x = library.ones(2, 2, requires_grad=True)
    y = x * 2
    v, w = x[0], y[1]
    shown = cards(build(trace_of([(v * w).sum()], {"x": x, "y": y, "v": v, "w": w})))
    assert (shown["v"].shares, shown["w"].shares) == (shown["x"].id, shown["y"].id)
    assert shown["x"].shares == shown["y"].shares == ""


# ── what is said ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_legend_has_what_the_picture_has(library):
    """A dotted arrow where a path ends; a dotted box where a node would have been."""
    arrow, box = "where the gradient would have flowed", "node that was not created"
    c = VECTOR + "y = x * 2\nw = y.detach()\nz = w.sum()\n"
    svg = Picture(build(traced(c, library)), lang="en").svg()
    assert arrow in svg and box not in svg
    off = VECTOR + "with torch.no_grad():\n    y = x * 2\n    z = y * 3\n"
    assert box in Picture(build(traced(off, library)), lang="en").svg()


# ── random programs ─────────────────────────────────────────────────────────────────────────────────────────

LINES = (
    "{new} = {a} * {b}", "{new} = {a} + 1", "{new} = {a}.detach()", "{new} = {a}.data", "{new} = {a}.clone()",
    "{new} = {a}.reshape(2)", "{new} = {a}[:]", "with torch.no_grad():\n    {new} = {a} * {b}",
    "with torch.no_grad():\n    {new} = torch.exp({a})", "{new} = {a} > 1",
    "with torch.inference_mode():\n    {new} = {a} - {b}", "{new} = torch.tensor({a}.tolist())",
    "{new} = {a}.detach()\n{new}.requires_grad_()",
    "{new} = torch.tensor([1.0, 2.0])", "{new} = torch.tensor([1.0, 2.0], requires_grad=True)",
    "{new} = {a} * 2\n{a}.is_leaf and {a}.is_floating_point() and {a}.requires_grad_()",
)  # fmt: skip
ASK = "log.append({name: t.requires_grad for name, t in list(globals().items()) if name[0] == 'v'})\n"


@settings(max_examples=examples(40), deadline=None)
@given(picks=st.lists(st.tuples(st.sampled_from(LINES), st.integers(0, 9), st.integers(0, 9)), max_size=10))
def test_a_route_is_cut_where_a_path_ends_and_nowhere_else(picks):
    """Against what the tensors themselves said just before each statement."""
    cell, log = "v0 = torch.tensor([1.0, 2.0], requires_grad=True)\n", []
    for i, (line, a, b) in enumerate(picks, 1):
        names = {"a": f"v{a % i}", "b": f"v{b % i}", "new": f"v{i}"}
        cell += f"{ASK}try:\n    " + line.format(**names).replace("\n", "\n    ")
        cell += f"\nexcept RuntimeError:\n    v{i} = v0 * 1\n"
    ran = run(cell, names={"log": log})
    assert ran.error is None and ran.trace is not None
    check_cuts(ran.trace, log)


def check_cuts(trace, log):
    """Every route from one variable to another is cut if the one asked, then, and the other has no node."""
    graph, builder = build(trace), scene_of(trace)
    called = {s.id: plain_name(s.cards[0].name or "") for s in graph.stations}
    made_at = {place.id: place for place in builder.places}
    for route in graph.routes:
        source, target = called[route.source], called[route.target]
        if source[:1] != "v" or target[:1] != "v":
            continue
        asked, place = log[int(target[1:]) - 1].get(source, False), made_at[route.source]
        if route.cut:
            assert asked and not route.tracked
        elif asked and not route.tracked:
            assert place.shares and not place.node, "such a view only says that it asks"
