"""Saved-tensor hooks in text and picture: what a hook made of a saved value, and what it gave back."""

from __future__ import annotations

import pytest
from cells import run, traced
from staged import build, frames_of

import minigrad
from minigrad_viz.drawing.details import describe_deck
from minigrad_viz.drawing.picture import Picture, draw
from minigrad_viz.model.trace_index import TraceIndex
from minigrad_viz.saved_values import RECOMPUTED, packed_text
from minigrad_viz.steps.timeline import steps_text
from minigrad_viz.trace.events import SavedPacked, SavedUnpacked

pytestmark = pytest.mark.usefixtures("names_of_today")

LEAF = "x = torch.tensor(5.0, requires_grad=True)\n"
HOOKS = "with torch.autograd.graph.saved_tensors_hooks({pack}, {unpack}):\n    y = x ** 3\n"
ARRAY = LEAF + HOOKS.format(pack="lambda t: t.detach().numpy()", unpack="lambda a: torch.tensor(a)")
ARRAY += "z = torch.log(y)\nz.backward()\n"
LOUD = (
    LEAF + "def pack(t):\n    print('pack')\n    return t.item()\n"
    "def unpack(kept):\n    print('unpack')\n    return torch.tensor(kept)\n"
    + HOOKS.format(pack="pack", unpack="unpack")
)


def steps(trace, lang="en"):
    """The steps of a trace as text."""
    return steps_text(frames_of(trace, build(trace), lang=lang), lang)


def test_while_it_is_kept(library):
    graph = build(traced(ARRAY.replace("z.backward()\n", ""), library))
    (deck,) = [s.deck for s in graph.stations if s.deck is not None and s.deck.name == "PowBackward0"]
    told = describe_deck(deck, "en").splitlines()
    assert told[-1].endswith("stored by a hook as numpy float32 ()")
    assert 'class="chip packed"' in Picture(graph, lang="en").svg()


def test_minigrad_tells_of_packing_and_unpacking():
    trace = traced(ARRAY)
    (packed,) = [e for e in trace.events if isinstance(e, SavedPacked)]
    (unpacked,) = [e for e in trace.events if isinstance(e, SavedUnpacked)]
    assert (packed.call, packed.name, packed.value.items, packed.kept) == (
        0,
        "self",
        (5.0,),
        "numpy float32 ()",
    )
    assert (unpacked.call, unpacked.name, unpacked.value.items) == (1, "self", (5.0,))
    assert packed.node == unpacked.node
    (call,) = TraceIndex(trace).calls.values()
    assert ["self"] in call.freed.values(), "packed values are freed too"
    told = steps(trace)
    assert "self = 5. → numpy float32 ()" in told and "numpy float32 () → self = 5." in told


def test_the_user_s_hooks_are_not_run_by_looking(library):
    assert run(LOUD, library).told == run(LOUD, library, watched=False).told == ("pack\n", "None")
    traced_ = run(LOUD + "y.backward()\n", library)
    assert traced_.printed == "pack\nunpack\n", "once, by backward"


def test_draw_does_not_run_them_either(library, capsys):
    names = run(LOUD, library, watched=False).names
    shown = draw(names["y"], names=names, lang="en").outline()
    assert "self → 5.0" in shown and capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "kept, words",
    [
        ("file.pt", "'file.pt'"), ("a" * 40, f"'{'a' * 24}'…"), (3, "3"), (None, "None"),
        ((1, 2.5), "(1, 2.5)"),
        ((1,), "(1,)"), ([1, 2, 3, 4], "[1, 2, 3, …]"), (object(), "object"), (((1, (2,)),), "((1, tuple),)"),
        (minigrad.ones(3), "float32 (3,)"), (minigrad.ones(2).numpy(), "numpy float32 (2,)"),
    ],
)  # fmt: skip
def test_what_was_kept_in_words(kept, words):
    assert packed_text(kept) == words


def test_what_a_checkpoint_keeps():
    class Holder:
        __module__ = "torch.utils.checkpoint"

    assert packed_text(Holder()) == RECOMPUTED
