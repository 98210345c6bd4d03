"""Saved-tensor hooks in text and picture: what a hook made of a saved value, and what it gave back."""

from __future__ import annotations

import pytest
from cells import run, traced
from staged import build, frames_of

import minigrad
from minigrad_viz.drawing.details import describe_deck
from minigrad_viz.drawing.outline import outline
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
LOSSY = (
    LEAF + HOOKS.format(pack="lambda t: 'file.pt'", unpack="lambda f: torch.tensor(2.0)") + "y.backward()\n"
)
FUNCTION = (
    "class Square(torch.autograd.Function):\n"
    "    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x * x\n"
    "    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n        return g * 2 * x\n"
    + LEAF
    + HOOKS.format(pack="lambda t: (1, t.item())", unpack="lambda p: torch.tensor(p[1])").replace(
        "x ** 3", "Square.apply(x)"
    )
    + "y.backward()\n"
)


def saved(trace):
    """The saved values of every deck, by node name and own name."""
    stations = build(trace).stations
    return {(s.deck.name, v.name): v for s in stations if s.deck is not None for v in s.deck.saved}


def steps(trace, lang="en"):
    """The steps of a trace as text."""
    return steps_text(frames_of(trace, build(trace), lang=lang), lang)


def test_the_chip_says_what_is_kept(library):
    trace = traced(ARRAY, library)
    assert saved(trace)["PowBackward0", "self"].packed == "numpy float32 ()"
    assert saved(trace)["LogBackward0", "self"].packed == ""
    graph = build(trace)
    assert "PowBackward0   exponent 3   self → numpy float32 () (freed)" in outline(graph, "en")
    svg = Picture(graph, lang="en").svg()
    assert 'class="chip packed freed"' in svg and "saved in the form that a hook returned" in svg


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


def test_the_chain_rule_is_told_all_the_same(library):
    assert "∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75 = 0.6" in steps(traced(ARRAY, library))


def test_the_user_s_hooks_are_not_run_by_looking(library):
    assert run(LOUD, library).told == run(LOUD, library, watched=False).told == ("pack\n", "None")
    traced_ = run(LOUD + "y.backward()\n", library)
    assert traced_.printed == "pack\nunpack\n", "once, by backward"


def test_draw_does_not_run_them_either(library, capsys):
    names = run(LOUD, library, watched=False).names
    shown = draw(names["y"], names=names, lang="en").outline()
    assert "self → 5.0" in shown and capsys.readouterr().out == ""


def test_what_pack_computes_is_no_step(library):
    frames = frames_of(traced(ARRAY, library), build(traced(ARRAY, library)), lang="en")
    assert not any("detach" in frame.text for frame in frames)


def test_no_formula_that_the_unpacked_value_does_not_fit(library):
    """The hook gives back another value: 3·2² is 12, and nothing says 3·5²."""
    trace = traced(LOSSY, library)
    told = steps(trace)
    assert "75" not in told and "12." in told
    assert "self → 'file.pt' (freed)" in outline(build(trace), "en")


def test_a_custom_function(library):
    kept = saved(traced(FUNCTION, library))["SquareBackward", "saved[0]"].packed
    assert kept == "(1, 5.0)"


def test_save_on_cpu(library):
    cell = LEAF + "with torch.autograd.graph.save_on_cpu():\n    y = x ** 3\ny.backward()\n"
    trace = traced(cell, library)
    assert "float32 ()" in saved(trace)["PowBackward0", "self"].packed
    assert "∂y/∂x = 3x² = 75" in steps(trace)


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


def test_the_words_in_korean(library):
    assert "self → numpy float32 () (해제됨)" in outline(build(traced(ARRAY, library)), "ko")
    assert "저장 텐서 hook" in steps(traced(ARRAY, library), "ko")
