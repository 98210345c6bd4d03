"""Cuts, fog and shared memory in the model of a picture, and the steps that tell of them."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from cells import CELLS, run, traced
from hypothesis import given, settings
from staged import build, frames_of, scene_of, scenes_of
from tiers import examples

import minigrad
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.model.naming import plain_name
from minigrad_viz.steps.timeline import steps_text
from minigrad_viz.trace.graph_walk import trace_of

pytestmark = pytest.mark.usefixtures("names_of_today")

LEAF = "x = torch.tensor(5.0, requires_grad=True)\n"
VECTOR = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
EACH_WAY = LEAF + (
    "a = x * 2\nb = (x * 2).detach()\nwith torch.no_grad():\n    c = x * 2\n"
    "d = (x * 2).detach().requires_grad_()\ne = x.clone()\nn = torch.tensor((x * 2).item())\n"
    "with torch.inference_mode():\n    i = x * 2\nj = x > 3\nk = x.data\n"
)


def cards(graph):
    """The cards of a picture by their names."""
    return {card.name: card for _, card in graph.cards() if card.name}


def cuts(graph):
    """The cut routes, by the names of their ends (or the expression of what has no name)."""
    called = {s.id: s.cards[0].name or s.cards[0].expr for s in graph.stations}
    return {(called[r.source], called[r.target]): r.cut for r in graph.routes if r.cut}


def last(graph):
    """The card that was made last."""
    return graph.stations[-1].cards[0]


def picture(cell, library=minigrad):
    return build(traced(cell, library))


# ── where paths end ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_expression_each_way(library):
    graph = picture(EACH_WAY, library)
    assert cuts(graph) == {
        ("x * 2", "b"): "detach", ("x", "c"): "no_grad", ("x * 2", "d"): "detach", ("x * 2", "n"): "item",
        ("x", "i"): "inference", ("x", "j"): "integer", ("x", "k"): "data",
    }  # fmt: skip
    shown = cards(graph)
    fog = {name: (card.fog, card.ghost) for name, card in shown.items() if card.fog}
    assert fog == {"c": ("no_grad", "MulBackward0"), "i": ("inference", "MulBackward0")}
    memory = {name: card.shares for name, card in shown.items() if card.shares}
    unnamed = {card.id for _, card in graph.cards() if card.expr == "x * 2" and card.name is None}
    assert set(memory) == {"b", "d", "k"} and memory["k"] == shown["x"].id
    assert {memory["b"], memory["d"]} < unnamed and memory["b"] != memory["d"]
    assert (shown["d"].role, shown["d"].is_leaf, shown["b"].role) == ("leaf", True, "result")
    tracked = {s.cards[0].name for s in graph.stations if s.deck and s.deck.name != "AccumulateGrad"}
    assert tracked == {"a", "e", None}, "a clone has a path, and memory of its own"


def test_the_path_ends_once(library):
    graph = picture(
        LEAF + "with torch.no_grad():\n    y = x ** 2\n    z = torch.exp(y)\nw = z + 1\n", library
    )
    assert cuts(graph) == {("x", "y"): "no_grad"}
    shown = cards(graph)
    assert [shown[name].fog for name in "xyzw"] == ["", "no_grad", "no_grad", ""], "outside there is no fog"
    assert (shown["y"].ghost, shown["z"].ghost) == ("PowBackward0", "ExpBackward0")


def test_two_ends(library):
    cell = LEAF + "q = torch.tensor(3.0, requires_grad=True)\nc = torch.tensor(2.0)\n"
    graph = picture(cell + "with torch.no_grad():\n    y = x ** q\n    z = y * c\n", library)
    assert cuts(graph) == {("x", "y"): "no_grad", ("q", "y"): "no_grad"}


@pytest.mark.parametrize(
    "cell",
    [
        "x = torch.tensor(5.0)\ny = x * 2\nx.requires_grad_()\n",  # it asked later
        "x = torch.tensor(5.0)\nwith torch.no_grad():\n    y = x * 2\nx.requires_grad_()\nz = x * 3\n",
        "x = torch.tensor(5.0)\ny = x.detach()\nx.requires_grad = True\n",
        LEAF + "x.requires_grad_(False)\ny = x.detach()\nx.requires_grad_()\n",
        LEAF + "with torch.no_grad():\n    c = torch.tensor(2.0)\n    d = c * 3\ny = x * d\n",
        LEAF + "i = torch.tensor([1, 2])\nj = i > 1\n",
        LEAF + "y = torch.where(torch.tensor(True), x, x * 2)\n",
        "x = torch.ones(2)\nv = x[:]\nx.requires_grad_()\nwith torch.no_grad():\n    y = v * 2\n",
    ],
)
def test_no_cut_where_nothing_was_asked(cell, library):
    graph = picture(cell, library)
    assert cuts(graph) == {} and not any(card.fog for _, card in graph.cards())


def test_a_view_in_the_fog_has_no_path_of_its_own(library):
    cell = VECTOR + "with torch.no_grad():\n    v = x[0]\n    w = v * 2\n"
    graph = picture(cell, library)
    assert cuts(graph) == {("x", "v"): "no_grad"}, "v says that it requires gradients, as its base does"


def test_detach_in_place(library):
    cell = LEAF + "y = x ** 2\nz = y * 2\nz.backward(retain_graph=True)\ny.detach_()\nw = y * 3\n"
    trace = traced(cell, library)
    assert cuts(build(trace)) == {}, "at the call there was a path"
    assert cuts(picture(cell.replace("z.backward(retain_graph=True)\n", ""), library)) == {
        ("x", "y"): "detach"
    }


def test_inside_a_transform_nothing_is_cut(library):
    cell = VECTOR + "g = torch.func.grad(lambda t: (t ** 3).sum())(x)\ng.sum().backward()\n"
    for scene in scenes_of(traced(cell, library)):
        assert cuts(scene.graph) == {}


@pytest.mark.quick
@pytest.mark.parametrize("code, ends", [(14, {("y", "w"): "detach"}), (15, {("y", "w"): "detach"})])
def test_both_halves_are_in_one_picture(code, ends, library):
    (scene,) = scenes_of(traced(CELLS[code], library))
    shown = cards(scene.graph)
    assert {"x", "y", "w", "z"} <= set(shown) and cuts(scene.graph) == ends
    assert shown["w"].shares == shown["y"].id


def test_joined_halves(library):
    for scene in scenes_of(traced(CELLS[16], library)):
        assert {"x", "y", "w", "z"} <= set(cards(scene.graph)) and cuts(scene.graph) == {("y", "w"): "detach"}


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


def test_other_shapes_tell_nothing(torch):
    cell = "m = torch.ones(2, 2, requires_grad=True)\nw = m @ m\nwith torch.no_grad():\n    y = m[0] @ m[0]\n"
    assert cards(picture(cell, torch))["y"].ghost == "", "a product of vectors leaves another node"


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_no_card_is_stale(library):
    cell = VECTOR + "y = x * 2\nd = y.detach()\nv = d[1:]\nf = y.data\nd.mul_(5)\nz = y.sum()\n"
    shown = cards(picture(cell, library))
    assert {name: shown[name].value.items for name in "ydvf"} == {
        "y": (10.0, 20.0), "d": (10.0, 20.0), "v": (20.0,), "f": (10.0, 20.0)
    }  # fmt: skip
    assert {name: shown[name].version for name in "ydvf"} == {"y": 1, "d": 1, "v": 1, "f": 0}
    assert {shown[name].shares for name in "dvf"} == {shown["y"].id}


def test_what_nobody_has_any_more_follows(library):
    graph = picture(LEAF + "b = (x * 2).detach()\nb.mul_(3)\n", library)
    values = {card.name or card.expr: (card.value.items, card.version) for _, card in graph.cards()}
    assert values["b"] == values["x * 2"] == ((30.0,), 1)


def test_at_an_earlier_call_it_stood_as_it_was(library):
    cell = VECTOR + "y = x * 2\nd = y.detach()\ny.sum().backward()\nd.mul_(5)\ny.sum().backward()\n"
    trace = traced(cell, library)
    assert [cards(build(trace, call))["y"].value.items for call in (1, 2)] == [(2.0, 4.0), (10.0, 20.0)]


def test_views_of_a_graph_that_nobody_recorded(library):
    x = library.ones(2, 2, requires_grad=True)
    y = x * 2
    v, w = x[0], y[1]
    shown = cards(build(trace_of([(v * w).sum()], {"x": x, "y": y, "v": v, "w": w})))
    assert (shown["v"].shares, shown["w"].shares) == (shown["x"].id, shown["y"].id)
    assert shown["x"].shares == shown["y"].shares == ""


# ── what is said ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "line, note",
    [
        ("w = x.detach()", ("no_graph_detached", {"names": "w"})),
        ("print(x.detach())", ("no_graph_detached", {"names": "x.detach()"})),
        ("w = x.data", ("no_graph_left", {"names": "w"})),
        ("w = torch.tensor(x.item())", ("no_graph_left", {"names": "w"})),
        ("w = x.long()", ("no_graph_integer", {"names": "w", "dtype": "int64"})),
        ("w = x > 2", ("no_graph_integer", {"names": "w", "dtype": "bool"})),
        ("w = 3", ("no_graph_unused", {"names": "x"})),
        ("w = x @ torch.ones(3, 2)", ("no_graph_failed", {"code": "x @ torch.ones(3, 2)"})),
        ("w = x * 2", None),
    ],
)
def test_why_there_is_no_graph(line, note, library):
    assert picture(LEAF + line + "\n", library).note == note


def test_the_legend_has_what_the_picture_has(library):
    """A dotted arrow where a path ends; a dotted box where a node would have been."""
    arrow, box = "where the gradient would have flowed", "node that was not created"
    c = VECTOR + "y = x * 2\nw = y.detach()\nz = w.sum()\n"
    svg = Picture(build(traced(c, library)), lang="en").svg()
    assert arrow in svg and box not in svg
    off = VECTOR + "with torch.no_grad():\n    y = x * 2\n    z = y * 3\n"
    assert box in Picture(build(traced(off, library)), lang="en").svg()


def test_an_item_is_one_write(library):
    """`w[0] = 7.` writes into `w`: neither the part nor the number is a tensor of the cell's."""
    cell = VECTOR + "y = torch.exp(x)\nw = y.detach()\nw[0] = 7.0\n"
    assert list(cards(picture(cell, library))) == ["x", "y", "w"]
    assert len(picture(cell, library).stations) == 3
    tracked = VECTOR + "c = torch.tensor(7.0)\ny = x * 2\ny[0] = c\ny[1:] = 5.0\nz = y.sum()\n"
    graph = picture(tracked, library)
    assert [card.name for _, card in graph.cards()] == ["x", "c", "y₁", "y₂", "y₃", "z"]
    assert [s.cards[0].expr for s in graph.stations[3:5]] == ["y[0] = c", "y[1:] = 5.0"]
    told = steps_text(frames_of(traced(tracked, library), graph, lang="en"), "en")
    assert "y[0] = c changes y₁ in place: y₂ = [7. 4.], version 0 → 1" in told
    run(tracked + "z.backward()\nassert x.grad.tolist() == [0.0, 0.0]\n", library)


def test_several_that_nothing_used(library):
    trace = traced(
        "x = torch.tensor(1.0, requires_grad=True)\ny = torch.tensor(2.0, requires_grad=True)\n", library
    )
    told = {lang: Picture(build(trace), lang=lang).outline().split("\n")[0] for lang in ("en", "ko")}
    assert told["en"] == "No operation used x, y, so there is no graph."
    assert told["ko"] == "x, y를 사용한 연산이 없으므로 그래프가 없습니다."


def test_steps(library):
    trace = traced(EACH_WAY, library)
    told = steps_text(frames_of(trace, build(trace), lang="en"), "en")
    for sentence in (
        "(x * 2).detach() returns b = 10.: it shares memory with f but is cut from the graph",
        "x * 2 computes c = 10.; recording is off, so no node is created (otherwise MulBackward0)",
        "d is now a leaf that requires gradients; none flows on to g",
        "x.clone() computes e = 5.: it has its own memory, and gradients flow back to x",
        "tensor((x * 2).item()) creates n = 10. from the values of h; no gradient flows back",
        "x * 2 computes i = 10.; inference mode records nothing (otherwise MulBackward0)",
        "x > 3 computes j = True; bool tensors have no gradient, so the path from x ends here",
        "writing to it does not change the version of x",
    ):
        assert sentence in told
    assert "MulBackward0" in steps_text(frames_of(trace, build(trace), lang="ko"), "ko")


def test_a_write_names_all_who_change(library):
    cell = VECTOR + "y = x * 2\nd = y.detach()\nd -= 1\nz = y.sum()\n"
    trace = traced(cell, library)
    step = next(f for f in frames_of(trace, build(trace), lang="en") if "in place" in f.text)
    assert [(line.label, line.text) for line in step.lines] == [
        ("same memory", "this also changes y = [1. 3.]")
    ]
    assert {"s1-c0", "s2-c0"} <= set(step.marks), "both are marked"


def test_a_failed_call_shows_what_an_earlier_one_computed(library):
    shown = cards(picture(CELLS[6], library))
    assert shown["y"].grad.items == pytest.approx((0.008,)) and not shown["y"].grad_kept
    assert all(not route.gradients for route in picture(CELLS[6], library).routes), "but nothing flowed"


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


def test_what_a_layer_saved_is_known_after_a_write(library):
    """PyTorch tells of one call, `linear`, whose node has its inputs in another order."""
    source = (
        "x = torch.ones(2, 3)\nlayer = torch.nn.Linear(3, 2)\ny = layer(x)\nx.add_(1)\ny.sum().backward()\n"
    )
    graph = build(traced(source, library))
    decks = [station.deck for station in graph.stations if station.deck is not None]
    (saved,) = [saved for deck in decks for saved in deck.saved if saved.name == "mat1"]
    assert saved.now == 1 and saved.value.items == (1.0,) * 6
