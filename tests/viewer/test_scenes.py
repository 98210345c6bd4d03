"""One picture for each backward call: what belongs to it, how it is called, what things are named in it."""

from __future__ import annotations

import pytest
from cells import traced
from staged import scene_of, scenes_of

STEP = "    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None\n"
LOOP = (
    "w = torch.tensor(1.0, requires_grad=True)\nx = torch.tensor(3.0)\n"
    "for i in range(4):\n    loss = (w * x - 3) ** 2\n    loss.backward()\n" + STEP
)


def names(graph):
    return [card.name or card.expr for _, card in graph.cards()]


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
