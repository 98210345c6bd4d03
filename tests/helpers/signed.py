"""Graphs made by hand that have what few have: marks, cuts, fog, shared memory, hooks of all kinds."""

from __future__ import annotations

from dataclasses import replace

from sketches import Sketch, code_4, code_13, many_uses, value

from minigrad_viz.trace.graph import CAUSE, GUILTY, Code, Hook, Mark, SavedChip


def with_deck(graph, i, **fields):
    """The graph with other fields in the deck of station `i`."""
    station = graph.stations[i]
    return with_station(graph, i, replace(station, deck=replace(station.deck, **fields)))


def with_card(graph, i, card=0, **fields):
    """The graph with other fields in a card of station `i`."""
    cards = list(graph.stations[i].cards)
    cards[card] = replace(cards[card], **fields)
    return with_station(graph, i, replace(graph.stations[i], cards=tuple(cards)))


def with_station(graph, i, station):
    return replace(graph, stations=(*graph.stations[:i], station, *graph.stations[i + 1 :]))


def with_route(graph, i, **fields):
    """The graph with other fields in route `i`."""
    route = replace(graph.routes[i], **fields)
    return replace(graph, routes=(*graph.routes[:i], route, *graph.routes[i + 1 :]))


def marked(graph, *marks):
    return replace(graph, marks=tuple(Mark(*mark) for mark in marks))


def second_backward():
    return marked(
        code_4(),
        ("s2-d", GUILTY, "stopped here"),
        ("s2-k0", GUILTY, "freed by line 4"),
        ("r0-g", CAUSE, "never arrived"),
    )


def in_place():
    saved = (SavedChip("self", value(5.0), 0, now=1, nbytes=4), SavedChip("exponent", "3"))
    return marked(
        with_deck(code_4(), 1, saved=saved),
        ("s1-d", GUILTY, "stopped here"),
        ("s1-k0", GUILTY, "changed by line 4"),
        ("s0-c0", CAUSE, "changed here, line 4"),
        ("r1", CAUSE, "read here"),
    )


def stale():
    """Saved values that were written to, with nothing marked."""
    saved = (
        SavedChip("self", value(5.0), 0, now=2, nbytes=4),
        SavedChip("other", value(7.0), 1, nbytes=4000),
    )
    return with_deck(code_4(False), 1, saved=saved)


def marked_cards():
    return marked(
        code_13(),
        ("s0-c0", GUILTY, "changed in place, and a great deal more of it than there is room for"),
        ("s4-c0", GUILTY, "no grad_fn"),
        ("r0-g", GUILTY, "shape (3,), not ()"),
        ("s1-c0", CAUSE),
        ("s2-d", CAUSE, "gave too many"),
    )


def detached():
    s = Sketch()
    x = s.leaf("x", 5.0, 0.0)
    y = s.op("PowBackward0", "y", "x ** 3", 125.0, [(x, None)], [("self", 5.0), ("exponent", "3")])
    w = s.op(None, "w", "y.detach()", 125.0, [(y, False)])
    s.op(None, "z", "torch.log(w)", 4.8283, [(w, False)])
    graph = with_route(s.graph(), 1, cut="detach")
    return with_card(with_card(graph, 1, version=1), 2, shares="s1t0", version=1)


def halves():
    """A path that is cut on one side of an op and whole on the other."""
    s = Sketch()
    x = s.leaf("x", [1.0, 2.0])
    y = s.op("ExpBackward0", "y", "x.exp()", [2.7183, 7.3891], [(x, None)], [("result", [2.7183, 7.3891])])
    w = s.op(None, "w", "y.detach()", [2.7183, 7.3891], [(y, False)])
    s.op(
        "MulBackward0", "z", "y * w", [7.3891, 54.598], [(y, None), (w, False)], [("other", [2.7183, 7.3891])]
    )
    graph = with_route(s.graph(), 1, cut="detach")
    return with_card(graph, 2, shares="s1t0")


def views():
    """Two memories, each used by several tensors, one of them not in the picture."""
    s = Sketch()
    x = s.leaf("x", [1.0, 2.0])
    y = s.op("MulBackward0", "y", "x * 2", [2.0, 4.0], [(x, None)])
    a = s.op("UnbindBackward0", ["a", "b"], "y.unbind()", [2.0, 4.0], [(y, None)], [("dim", "0")])
    s.op("AddBackward0", "z", "a + b", 6.0, [((a, 0), None), ((a, 1), None)])
    graph = with_card(with_card(s.graph(), 2, 0, shares="s1t0", version=3), 2, 1, shares="s1t0")
    return with_card(graph, 3, shares="elsewhere")


def fog():
    s = Sketch()
    x, q = s.leaf("x", 5.0), s.leaf("q", 3.0)
    y = s.op(None, "y", "x ** q", 125.0, [(x, False), (q, False)])
    s.op(None, "z", "torch.log(y)", 4.8283, [(y, False)])
    graph = with_route(with_route(s.graph(), 0, cut="no_grad"), 1, cut="no_grad")
    graph = with_card(with_card(graph, 2, fog="no_grad", ghost="PowBackward1"), 3, fog="inference")
    return marked(graph, ("s3-c0", GUILTY, "has no grad_fn"), ("s2-c0", CAUSE, "no_grad, line 3"))


def hook(kind, name, before=None, after=None, removed=False):
    values = [() if x is None else (value(x),) for x in (before, after)]
    return Hook(kind, name, *values, removed)


def hooked():
    graph = code_4()
    ran = (
        hook("tensor", "double", 0.008, 0.016),
        hook("tensor", "look", 0.016, 0.016),
        hook("post", "after", 0.6, 0.7),
    )
    graph = with_card(graph, 1, grad=value(0.016))
    graph = with_route(graph, 1, gradients=(value(0.008),))
    graph = with_deck(graph, 1, hooks=3, ran=ran)
    graph = with_deck(
        graph,
        0,
        hooks=2,
        ran=(hook("tensor", "gone", removed=True), hook("post_accumulate", "step", 0.6, 0.6)),
    )
    return with_deck(graph, 2, hooks=1, ran=(hook("pre", "seed", 1.0, 1.0),))


def own_function():
    code = (
        Code("forward", "def forward(ctx, x):\n    return x ** 3", 2),
        Code("backward", "def backward(ctx, g): …"),
    )
    return with_deck(code_4(), 1, name="CubeBackward", code=code)


def marked_bundle():
    """A mark at one of twenty arrows that are drawn as one, and one at a chip that is not shown."""
    graph = with_deck(
        many_uses(20, chain=False), 1, saved=tuple(SavedChip(f"value_{i}", f"({i}, {i})") for i in range(12))
    )
    return marked(graph, ("r7-g", GUILTY, "the eighth"), ("s1-k11", GUILTY, "freed"))


SIGNED = {
    make.__name__: make
    for make in (
        second_backward, in_place, stale, marked_cards, detached, halves, views, fog, hooked, own_function,
        marked_bundle,
    )
}  # fmt: skip
