"""One picture for each backward call: what belongs to it, how it is called, what things are named in it."""

from __future__ import annotations

import pytest
from cells import CELLS, run, traced
from staged import scene_of, scenes_of

STEP = "    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None\n"
LOOP = (
    "w = torch.tensor(1.0, requires_grad=True)\nx = torch.tensor(3.0)\n"
    "for i in range(4):\n    loss = (w * x - 3) ** 2\n    loss.backward()\n" + STEP
)
CARRIED = (
    "h = torch.zeros(2)\nw = torch.tensor([0.5, 0.2], requires_grad=True)\nfor i in range(3):\n"
    "    h = torch.tanh(w * h + i)\n    loss = h.sum()\n    loss.backward()\n    h = h.detach()\n"
)


@pytest.fixture(params=["minigrad", "PyTorch"])
def library(request):
    import minigrad

    return minigrad if request.param == "minigrad" else request.getfixturevalue("torch")


def names(graph):
    return [card.name or card.expr for _, card in graph.cards()]


def value(graph, name):
    return next(card.value.items[0] for _, card in graph.cards() if card.name == name)


@pytest.mark.quick
def test_each_iteration_has_its_own(library):
    scenes = scenes_of(traced(LOOP, library), lang="en")
    assert [s.call for s in scenes] == [1, 2, 3, 4]
    assert [s.label for s in scenes][2] == "backward call 3 of 4: loss.backward()"
    made = ["w", "x", "w * x", "w * x - 3", "loss"]
    assert [sorted(names(s.whole)) for s in scenes] == [sorted(made)] * 4


def test_each_shows_its_own_numbers():
    source = LOOP.replace("tensor(3.0)", "tensor(2.0)")
    scenes = scenes_of(traced(source))
    w, ours = 1.0, []
    for _ in range(4):
        grad = 2 * (w * 2 - 3) * 2
        ours.append((w, grad))
        w -= 0.1 * grad
    for scene, (before, grad) in zip(scenes, ours, strict=True):
        station, leaf = next((s, card) for s, card in scene.whole.cards() if card.name == "w")
        assert leaf.value.items[0] == pytest.approx(before, rel=1e-4)
        assert leaf.grad.items[0] == pytest.approx(grad, rel=1e-3)
        flowed = [
            r.gradients[0].items[0] for r in scene.whole.routes if r.source == station.id and r.gradients
        ]
        assert flowed == pytest.approx([grad], rel=1e-3)
        (change,) = scene.graph.updates[0].changes
        assert change.name == "w" and change.before == leaf.value
        assert change.gradient.items[0] == pytest.approx(grad, rel=1e-3)


def test_ids_are_those_of_the_builder_of_the_call():
    trace = traced(LOOP)
    for scene in scenes_of(trace):
        builder = scene_of(trace, scene.call)
        assert {s.id for s in scene.whole.stations} < {p.id for p in builder.shown}, "without the update's"
        for station, card in scene.whole.cards():
            assert builder.at[card.id][0].id == station.id and builder.named.get(card.id) == card.name


@pytest.mark.quick
@pytest.mark.parametrize("code", [6, 7, 8, 16, 17, 18])
def test_calls_that_belong_together_share_one_picture(code, library):
    first, second = scenes_of(traced(CELLS[code], library))
    assert names(first.whole) == names(second.whole)


def test_a_call_without_a_graph_goes_with_the_one_before():
    *_, last = scenes_of(traced(CELLS[17]))
    assert {"x", "y", "z"} <= set(names(last.whole))


def test_what_was_carried_over_is_given_without_its_past(library):
    first, second, third = scenes_of(traced(CARRIED, library))
    assert "w * h + i" in names(first.whole)
    for scene in (second, third):
        given = [c for _, c in scene.whole.cards() if c.expr and c.expr.startswith("tanh")]
        assert len(given) == 2, "the state that came in, and the new one"
        incoming = next(s for s in scene.whole.stations if s.cards[0] is given[0])
        assert not [r for r in scene.whole.routes if r.target == incoming.id]
        assert incoming.deck is None or incoming.deck.inputs == ()


def test_what_belongs_to_no_call_goes_with_its_iteration():
    source = (
        "w = torch.tensor(1.0, requires_grad=True)\nfor i in range(3):\n    seed = torch.tensor(float(i))\n"
        "    loss = w * w\n    right = (loss > 0.5)\n    loss.backward()\n    after = w.grad * 2\n"
        "last = w * 5\n"
    )
    scenes = scenes_of(traced(source))
    for i, scene in enumerate(scenes):
        assert value(scene.whole, "seed") == float(i)
        assert {"right", "after"} <= set(names(scene.whole))
        assert ("last" in names(scene.whole)) == (i == 2)


def test_graphs_that_share_only_a_leaf_are_apart_even_without_a_loop():
    source = "x = torch.tensor(2.0, requires_grad=True)\na = x * 3\na.backward()\nb = x * x\nb.backward()\n"
    first, second = scenes_of(traced(source))
    assert names(first.whole) == ["x", "a"] and names(second.whole) == ["x", "b"]


def test_one_scene_without_any_call():
    (scene,) = scenes_of(traced(CELLS[1]), lang="en")
    assert (scene.call, scene.label) == (0, "the whole cell") and names(scene.whole) == ["x", "y", "z"]


def test_roots_narrow_each_scene():
    trace = traced(LOOP.replace("    loss.", "    aside = w + 1\n    loss."))
    for scene in scenes_of(trace, roots=("loss",)):
        assert "loss" in names(scene.whole) and "aside" not in names(scene.whole)
        assert "w.grad" not in names(scene.whole)
    with pytest.raises(ValueError, match=r"no tensor of this cell is called 'q'; there are: .*loss"):
        scenes_of(trace, roots=("q",))


def test_scenes_without_the_roots_are_left_out():
    source = "x = torch.tensor(2.0, requires_grad=True)\na = x * 3\na.backward()\nb = x * x\nb.backward()\n"
    (only,) = scenes_of(traced(source), roots=("a",))
    assert only.call == 1 and names(only.graph) == ["x", "a"]


def test_the_last_of_several_with_one_name_is_meant():
    trace = traced("x = torch.tensor(2.0, requires_grad=True)\ny = x\nfor i in range(3):\n    y = y * 2\n")
    (scene,) = scenes_of(trace, roots=("y",))
    assert names(scene.whole) == ["x", "y₁", "y₂", "y₃"]
    (scene,) = scenes_of(trace, roots=("y₂",))
    assert names(scene.whole) == ["x", "y₁", "y₂"]


def test_twenty_are_kept_and_numbered_on():
    trace = traced(LOOP.replace("range(4)", "range(33)"))
    scenes = scenes_of(trace, lang="en")
    assert len(scenes) == 33 - trace.skipped
    assert scenes[-1].label == "backward call 33 of 33: loss.backward()"
    assert scenes[0].call == trace.skipped + 1


# ---------------------------------------------------------------------------------------------------- names


def test_a_gradient_is_called_by_its_leaf(library):
    source = (
        "a = torch.tensor(1.0, requires_grad=True)\nb = torch.tensor(1.0, requires_grad=True)\n"
        "(a + b).backward()\nu = b.grad * 2\nv = a.grad * 3\n"
    )
    (scene,) = scenes_of(traced(source, library))
    grads = [card for _, card in scene.whole.cards() if (card.name or "").endswith(".grad")]
    assert sorted(card.name for card in grads) == ["a.grad", "b.grad"]
    b = next(card for card in grads if card.name == "b.grad")
    station = next(s for s, c in scene.whole.cards() if c is b)
    used = next(r.target for r in scene.whole.routes if r.source == station.id)
    assert next(c.name for s, c in scene.whole.cards() if s.id == used) == "u"


def test_names_count_in_program_order_within_a_scene():
    *_, last = scenes_of(traced(CARRIED))
    numbered = [n for n in names(last.whole) if n.startswith("h") and n != "h.sum()"]
    assert numbered == ["h₁", "h₂", "h₃", "h₄"][: len(numbered)] and len(numbered) > 2


@pytest.mark.quick
def test_a_parameter_is_called_by_its_module(torch):
    source = (
        "m = torch.nn.Linear(2, 1)\nm(torch.ones(1, 2)).sum().backward()\n"
        "for p in m.parameters():\n    q = p.grad * 2\n"
    )
    (scene,) = scenes_of(run(source, torch).trace)
    assert {"m.weight", "m.bias", "m.weight.grad", "m.bias.grad"} <= set(names(scene.whole))
    assert "p" not in names(scene.whole)
