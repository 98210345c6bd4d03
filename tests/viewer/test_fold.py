"""Long chains as one station: what is hidden, what stays, and that nothing gets lost."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from cells import traced
from hypothesis import given, settings
from hypothesis import strategies as st
from pictures import SVG, draw, parse, texts
from sketches import Sketch, chain
from staged import build, frames_of
from tiers import examples

from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.model.fold import fold
from minigrad_viz.model.scene import Scenes
from minigrad_viz.model.views import views_of
from minigrad_viz.trace.graph import ROOT

CHAIN = (
    "x = torch.tensor(1.0, requires_grad=True)\ny = x\nfor i in range({n}):\n    y = y * 1.01\ny.backward()\n"
)
RNN = (
    "h = torch.zeros(2)\nW = torch.tensor([[0.5, 0.1], [0.2, 0.3]], requires_grad=True)\n"
    "for i in range({n}):\n"
    "    u = torch.tensor([1.0, float(i)])\n    h = torch.tanh(W @ h + u)\nloss = h.sum()\nloss.backward()\n"
)


def hidden(graph):
    return [len(f.members) for f in graph.folds]


@pytest.mark.quick
def test_a_chain():
    whole = build(traced(CHAIN.format(n=100)))
    graph = fold(whole)
    (only,) = graph.folds
    assert (only.station, only.operations, only.counts) == ("g0", 95, (("MulBackward0", 95),))
    assert [c.name or "…" for _, c in graph.cards()] == ["x", "y₁", "y₂", "…", "y₉₈", "y₉₉", "y₁₀₀"]
    assert only.members == tuple(s.id for s in whole.stations[3:98])
    folded = graph.station("g0")
    last = whole.station(only.members[-1])
    assert folded.cards[0].value == last.cards[0].value and folded.cards[0].grad == last.cards[0].grad
    assert folded.deck.name == "MulBackward0 ×95" and folded.deck.inputs == ("r2",)


def test_only_large_graphs_and_long_runs():
    assert fold(build(traced(CHAIN.format(n=59)))).folds == ()
    assert len(fold(build(traced(CHAIN.format(n=60)))).folds) == 1
    small = build(traced(CHAIN.format(n=20)))
    assert hidden(fold(small, beyond=0)) == [15] and fold(small, beyond=0, at_least=16) == small
    assert fold(fold(small, beyond=0), beyond=0) == fold(small, beyond=0)


@pytest.mark.parametrize(
    "line, stays",
    [
        ("    if i == 40: kept = y\n", "kept"),
        ("    if i == 40: middle = y.sum()\n", "middle"),
    ],
)
def test_what_somebody_may_look_for_stays(line, stays):
    source = CHAIN.format(n=100).replace("1.01\n", "1.01\n" + line)
    graph = fold(build(traced(source)))
    assert stays in [card.name for _, card in graph.cards()] and len(graph.folds) >= 1


@pytest.mark.parametrize(
    "flag", [{"retains_grad": True}, {"grad_kept": True}, {"held": True}, {"role": ROOT}]
)
def test_a_tensor_that_stands_out_cuts_the_chain(flag):
    whole = chain(99)
    middle = whole.stations[50]
    marked = replace(middle, cards=(replace(middle.cards[0], **flag),))
    graph = fold(replace(whole, stations=(*whole.stations[:50], marked, *whole.stations[51:])))
    assert marked in graph.stations and len(graph.folds) == 2


def test_a_result_that_is_used_far_later_ends_a_fold():
    source = CHAIN.format(n=100).replace("y.backward", "z = y * far\nz.backward")
    source = source.replace("1.01\n", "1.01\n    if i == 49: hold = [y]\n").replace("far", "hold[0]")
    graph = fold(build(traced(source)))
    first, second = graph.folds
    exits = [r.source for r in graph.routes if r.target == graph.stations[-1].id]
    assert "g0" in exits and first.operations == 48 and second.operations > 40


def test_leaves_and_constants_of_a_loop():
    whole = build(traced(RNN.format(n=40)))
    graph = fold(whole)
    (only,) = graph.folds
    constants = [id for id in only.members if whole.station(id).deck is None]
    assert len(constants) > 30 and only.operations == len(only.members) - len(constants)
    assert [card.name for _, card in graph.cards()].count("W") == 1
    assert dict(only.counts).keys() == {"AddBackward0", "MvBackward0", "TanhBackward0"}


def test_a_leaf_made_on_the_way_stays_and_does_not_interrupt():
    source = CHAIN.format(n=100).replace(
        "    y = y * 1.01", "    w = torch.tensor(1.01, requires_grad=True)\n    y = y * w"
    )
    graph = fold(build(traced(source)))
    (only,) = graph.folds
    assert only.operations == 95 and sum(card.is_leaf for _, card in graph.cards()) == 101


def test_a_chain_without_a_graph():
    source = "y = torch.tensor(1.0)\nfor i in range(80):\n    y = y * 1.01\n"
    graph = fold(build(traced(source)))
    (only,) = graph.folds
    assert graph.station("g0").deck is None and only.operations == len(only.members) == 75
    parse(draw(graph)[0])


@pytest.mark.full
def test_the_graph_of_a_gradient_folds_by_itself():
    source = CHAIN.format(n=70).replace(
        "y.backward()", "g, = torch.autograd.grad(y, x, create_graph=True)\ng.backward()"
    )
    source = source.replace("y * 1.01", "torch.sin(y)")
    whole = build(traced(source))
    orders = {s.id: s.order for s in whole.stations}
    for each in fold(whole).folds:
        assert len({orders[id] for id in each.members}) == 1
    parse(draw(fold(whole))[0])


# ---------------------------------------------------------------------------------------- nothing gets lost


@st.composite
def graphs(draw_from):
    """Programs of a few dozen stations: leaves, constants, results of one to three earlier ones."""
    s = Sketch()
    ids = [s.leaf("x", 1.0)]
    for i in range(draw_from(st.integers(20, 60))):
        kind = draw_from(st.integers(0, 12))
        if kind == 0:
            ids.append(s.leaf(f"w{i}", 1.0))
        elif kind == 1:
            ids.append(s.constant("tensor(2.)", 2.0))
        else:
            near = st.integers(max(0, len(ids) - draw_from(st.sampled_from([1, 2, 4, 60]))), len(ids) - 1)
            sources = draw_from(st.lists(near, min_size=1, max_size=3))
            role = ROOT if draw_from(st.integers(0, 30)) == 0 else "result"
            ids.append(s.op(f"N{kind}", None, f"g{i}", 1.0, [(ids[k], 1.0) for k in sources], role=role))
    return s.graph()


@settings(max_examples=examples(150), deadline=None)
@given(graphs(), st.integers(2, 14))
def test_every_route_is_kept_or_inside(whole, at_least):
    graph = fold(whole, at_least=at_least, beyond=0)
    members = [id for f in graph.folds for id in f.members]
    assert len(set(members)) == len(members)
    into = {id: f.station for f in graph.folds for id in f.members}
    kept = {s.id for s in graph.stations} - {f.station for f in graph.folds}
    assert kept | set(members) == {s.id for s in whole.stations} and not kept & set(members)
    new = {r.id: r for r in graph.routes}
    folded, uses, flowed = set(into.values()), {}, {}
    for old in whole.routes:
        source, target = into.get(old.source, old.source), into.get(old.target, old.target)
        if source == target:
            assert old.id not in new
        else:
            ends = (source, target, old.tracked)
            assert old.id in new or target in folded
            uses.setdefault(ends, []).extend(old.gradients)
    for route in graph.routes:
        flowed.setdefault((route.source, route.target, route.tracked), []).extend(route.gradients)
    assert uses == flowed, "all gradients are told"
    assert sum(route.times for route in graph.routes) == sum(map(len, uses.values()))
    users: dict[str, set[str]] = {}
    for route in whole.routes:
        users.setdefault(route.source, set()).add(route.target)
    made = {r.target for r in whole.routes}
    for each in graph.folds:
        own = set(each.members)
        outside = [id for id in each.members if users.get(id, set()) - own]
        assert set(outside) <= {each.members[-1]}, "only the last is used outside"
        assert sum(id in made for id in own) >= at_least
        cards = [c for s in whole.stations if s.id in own for c in s.cards]
        assert not any(c.role == ROOT or c.held or (c.is_leaf and c.requires_grad) for c in cards)
    rank = {s.id: i for i, s in enumerate(graph.stations)}
    assert all(rank[r.source] < rank[r.target] for r in graph.routes), "still in program order"
    for station in graph.stations:
        if station.deck is not None:
            assert {id for id in station.deck.inputs if id is not None} <= new.keys()


# --------------------------------------------------------------------------------------------- how it looks


@pytest.mark.quick
def test_it_is_drawn_as_a_pile_and_says_how_many():
    graph = fold(build(traced(RNN.format(n=40))))
    svg, _ = draw(graph, lang="en")
    _, elements = parse(svg)
    pile = elements["g0"]
    assert pile.get("class").split()[-1] == "fold"
    assert sum(p.get("class") == "sheet" for p in pile.iter(SVG + "path")) == 2
    shown = texts(svg)
    count = graph.folds[0].operations
    assert f"⋯ {count} operations" in shown and f"{count} nodes" in shown
    assert re.search(r"TanhBackward0 ×\d+", elements["g0-d"].find(SVG + "title").text)
    assert "many operations in a row, folded" in shown
    tip = elements["g0-c0"].find(SVG + "title").text
    assert f"stands for {count} operations in a row" in tip


def test_many_arrows_into_a_fold_are_one_with_their_number():
    graph = fold(build(traced(RNN.format(n=40))))
    w = next(s.id for s, c in graph.cards() if c.name == "W")
    (inside,) = [r for r in graph.routes if (r.source, r.target) == (w, "g0")]
    assert inside.times == len(inside.gradients) > 30
    svg, _ = draw(graph, lang="en")
    assert f"{inside.times} gradients" in texts(svg)
    assert f"← W: {inside.times} gradients" in outline(graph, "en")
    assert "= sum of 40" in outline(graph, "en")


def test_outline_languages_and_dot():
    graph = fold(build(traced(CHAIN.format(n=100))))
    assert "⋯ 95 operations" in outline(graph, "en") and "MulBackward0 ×95" in outline(graph, "en")
    assert "⋯ 연산 95개" in outline(graph, "ko")
    for style in ("graphviz", "torchviz"):
        assert "MulBackward0 ×95" in Picture(graph, style=style).digraph.source
    parse(draw(graph, direction="TB")[0])


@pytest.mark.full
def test_ten_thousand_operations_in_linear_time():
    def seconds(n):
        whole = chain(n)
        start = time.perf_counter()
        graph = fold(whole)
        assert len(graph.stations) < 10
        draw(graph)
        outline(graph)
        return time.perf_counter() - start

    seconds(100)
    assert seconds(10_000) < 2


def test_results_of_a_closed_line_keep_their_own_expressions():
    source = (
        "import minigrad\n"
        "nn, F = minigrad.nn, minigrad.nn.functional\n"
        "net, crit = nn.Linear(2, 3), nn.NLLLoss()\n"
        "x, y = torch.ones(2, 2), torch.tensor([[0, 1], [1, 2]])\n"
        "loss = 0\n"
        "for t in range(2):\n"
        "    out = net(x)\n"
        "    loss = loss + crit(F.log_softmax(out, dim=1), y[:, t])\n"
        "loss.backward()\n"
    )
    graph = views_of(Scenes(traced(source)))[-1].graph
    inner = [c.expr for s in graph.stations if len(s.cards) > 1 for c in s.cards]
    assert inner == ["F.log_softmax(out, dim=1)", "y[:, t]"] * 2


def test_a_loop_that_made_a_tensor_is_not_written_as_its_value():
    """Told by the kind of the box, in the picture and in all words."""
    source = (
        "W, h = torch.ones(2, 2, requires_grad=True), torch.ones(2)\n"
        "for t in range(6):\n"
        "    h = torch.tanh(W @ h + 1)\n"
        "loss = (h * 2).sum()\n"
        "loss.backward()\n"
    )
    graph = views_of(Scenes(traced(source)))[-1].graph
    svg, _ = draw(graph)
    assert any(text.split() == ["h₆", "for", "t", "in", "range(6)"] for text in texts(svg))
    assert "h₆ (for t in range(6))" in svg
    assert "h₆ (for t in range(6))" in outline(graph)
    assert "= for" not in svg + outline(graph)


def test_a_line_with_several_results_tells_them_all():
    source = (
        "X, Y = torch.arange(4.0).reshape(2, 2), torch.arange(2.0)\n"
        "w = torch.ones(2, requires_grad=True)\n"
        "for i in range(2):\n"
        "    xb, yb = X[i] * 2, Y[i] * 2\n"
        "    loss = ((w * xb).sum() - yb) ** 2\n"
        "    loss.backward()\n"
    )
    trace = traced(source)
    said = [frame.text for frame in frames_of(trace, views_of(Scenes(trace))[0].graph, 1, "en")]
    assert "xb, yb = X[i] * 2, Y[i] * 2 computes xb = [0. 2.], yb = 0." in said, said
    assert "((w * xb).sum() - yb) ** 2 computes loss = 4." in said
