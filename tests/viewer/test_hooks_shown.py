"""Hooks in steps and picture: when they run, in which order, on what value, what they return, when they are
gone."""

from __future__ import annotations

import pytest
from cells import CELLS, CUBE, run, traced
from staged import build
from stepping import frames, said

import minigrad
from minigrad_viz.drawing.details import describe_hooks
from minigrad_viz.drawing.outline import outline
from minigrad_viz.model.node_details import Handling, hook_statement
from minigrad_viz.recording.listener import may_return
from minigrad_viz.trace.events import HookRan

TWICE = "z.backward(retain_graph=True)\n{between}z.backward()\n"
HOOKS = """
def double(g):
    return g * 2

def look(g):
    return None

def once(g):
    handle.remove()
    return g + 1
"""


def hooks_at(name, cell, library, call=None):
    """The hooks on the arrow of the node below a variable."""
    graph = build(traced(cell, library), call)
    return next(s.deck for s in graph.stations if s.cards[0].name == name).ran


def told(steps):
    """The lines about hooks."""
    return [f"{line.label}: {line.text}" for frame in steps for line in frame.lines if line.kind == "hook"]


def ran(trace):
    return [
        (e.kind, e.name, e.before[0].items, e.after[0].items, e.gave)
        for e in trace.events
        if isinstance(e, HookRan)
    ]


def test_code_19(library):
    cell = HOOKS + CUBE + "hook = y.register_hook(double)\nz.backward()\nhook.remove()\n"
    steps = frames(cell, library)
    assert "hook = y.register_hook(double): a hook will see the gradient of y" in said(steps, "forward")
    assert told(steps) == ["1. hook double: 0.008 → 0.016"]
    assert said(steps)[-1] == "hook.remove(): the hook of y is removed"
    assert said(steps, "backward")[-1] == "AccumulateGrad stores 1.2 in x.grad"
    (hook,) = hooks_at("y", cell, library)
    assert (hook.name, hook.removed) == ("double", False)


def test_the_documented_hook_returns_something_else(library):
    (hook,) = hooks_at("y", CELLS[19], library)
    assert hook.before[0].items[0] * 2 == pytest.approx(hook.after[0].items[0])


def test_none_leaves_the_gradient_as_it_is(library):
    cell = HOOKS + CUBE + "y.register_hook(look)\nz.backward()\n"
    assert told(frames(cell, library)) == ["1. hook look: returned None: 0.008 is passed on"]
    assert "1. hook look: returned None: 0.008 is passed on" in outline(build(traced(cell, library)), "en")
    korean = told(frames(cell, library, lang="ko"))
    assert korean == ["1. hook look: None을 반환: 0.008 그대로 전달"]


def test_what_it_returned_is_not_guessed(library):
    """A hook whose code may return something, and left the gradient as it was."""
    cell = CUBE + "def same(g):\n    return g\ny.register_hook(same)\nz.backward()\n"
    known = library is minigrad  # which tells; of PyTorch the code alone is known
    expected = "returned 0.008 unchanged" if known else "0.008, unchanged"
    assert told(frames(cell, library)) == [f"1. hook same: {expected}"]


def test_writing_into_the_gradient(library):
    cell = CUBE + "def write(g):\n    g.mul_(2)\ny.register_hook(write)\nz.backward()\n"
    assert told(frames(cell, library)) == [
        "1. hook write: modified the gradient in place and returned None: 0.008 → 0.016"
    ]


@pytest.mark.quick
def test_several_run_in_order_each_on_what_the_one_before_gave(library):
    cell = (
        HOOKS
        + CUBE
        + "y.register_hook(double)\ny.register_hook(look)\ny.register_hook(double)\nz.backward()\n"
    )
    assert told(frames(cell, library)) == [
        "1. hook double: 0.008 → 0.016",
        "2. hook look: returned None: 0.016 is passed on",
        "3. hook double: 0.016 → 0.032",
    ]
    assert [hook.name for hook in hooks_at("y", cell, library)] == ["double", "look", "double"]


def test_several_at_a_leaf(library):
    cell = HOOKS + CUBE + "x.register_hook(look)\nx.register_hook(double)\nz.backward()\n"
    assert told(frames(cell, library)) == [
        "1. hook look: returned None: 0.6 is passed on",
        "2. hook double: 0.6 → 1.2",
    ]


def test_several_of_a_call_that_asks(library):
    """The node of what was asked for does not run itself, its hooks do."""
    cell = HOOKS + CUBE + "y.register_hook(double)\ny.register_hook(look)\ng, = torch.autograd.grad(z, y)\n"
    names = [(name, gave) for _, name, _, _, gave in ran(traced(cell, library))]
    assert names == [("double", True), ("look", False)]


def test_looking_between_hooks_leaves_nothing_behind(torch):
    cell = (
        HOOKS
        + CUBE
        + "for f in (double, look, once): handle = y.register_hook(f)\nbefore = list(y._backward_hooks)\n"
    )
    cell += "inside = []\ny.register_hook(lambda g: inside.append(1))\nz.backward(retain_graph=True)\n"
    names = run(cell, torch).names
    left = names["y"]._backward_hooks
    assert len(left) == 3 and list(left)[:2] == names["before"][:2], (
        "only the one that removed itself is gone"
    )
    assert names["x"].grad.item() == run(cell, torch, watched=False).names["x"].grad.item()


def test_an_error_in_the_second_of_several(torch):
    """The places where the recorder looked are left when the call failed as well."""
    cell = (
        HOOKS
        + CUBE
        + "def bad(g):\n    return g.double()\ny.register_hook(double)\ny.register_hook(bad)\nz.backward()\n"
    )
    watched, plain = run(cell, torch), run(cell, torch, watched=False)
    assert watched.told == plain.told and "bad" in str(watched.error)
    assert len(watched.names["y"]._backward_hooks) == 2
    assert [name for _, name, *_ in ran(watched.trace)] == ["double"]


def test_after_the_deposit(library):
    cell = CUBE + "def late(leaf):\n    leaf.grad *= 10\n"
    steps = frames(cell + "h = x.register_post_accumulate_grad_hook(late)\nz.backward()\n", library)
    assert said(steps, "forward")[-1].endswith("a hook will run after x.grad has been filled")
    assert told(steps) == ["1. post-accumulate hook late: 0.6 → 6."]


def test_hooks_of_a_node():
    cell = HOOKS + CUBE + "def both(g):\n    return (g[0] * 2,)\ndef see(i, o):\n    pass\n"
    steps = frames(cell + "y.grad_fn.register_prehook(both)\ny.grad_fn.register_hook(see)\nz.backward()\n")
    assert [text.partition(": ")[2] for text in said(steps, "forward")[-2:]] == [
        "a hook will see the gradient that enters the node of y",
        "a hook will see the gradients that leave the node of y",
    ]
    assert told(steps) == [
        "1. pre-hook both: 0.008 → 0.016",
        "2. post-hook see: returned None: 1.2 is passed on",
    ]


def test_a_prehook_beside_several_hooks_of_the_tensor(library):
    cell = HOOKS + CUBE + "y.register_hook(double)\ny.register_hook(look)\n"
    cell += "y.grad_fn.register_prehook(lambda g: (g[0] * 10,))\nz.backward()\n"
    kinds = [(kind, name) for kind, name, *_ in ran(traced(cell, library))]
    assert [kind for kind, _ in kinds] == ["tensor", "tensor", "pre"]
    assert told(frames(cell, library))[-1] == "3. pre-hook: 0.016 → 0.16"


# ── hooks that are gone ─────────────────────────────────────────────────────────────────────────────────────


def test_a_hook_that_was_removed_before_the_call(library):
    cell = HOOKS + CUBE + "hook = y.register_hook(double)\n" + TWICE.format(between="hook.remove()\n")
    first, second = (hooks_at("y", cell, library, call) for call in (1, 2))
    assert [(h.name, h.removed) for h in first] == [("double", False)]
    assert [(h.name, h.removed) for h in second] == [("double", True)]
    assert told(frames(cell, library)) == []
    graph = build(traced(cell, library))
    deck = next(s.deck for s in graph.stations if s.cards[0].name == "y")
    assert describe_hooks(deck, "en") == ["1. hook double: removed, so it did not run"]


def test_a_hook_that_never_ran(library):
    cell = HOOKS + CUBE + "h = x.register_hook(look)\nh.remove()\nz.backward()\n"
    assert [(h.name, h.removed) for h in hooks_at("x", cell, library)] == [("look", True)]
    assert "h.remove(): the hook of x is removed" in said(frames(cell, library), "forward")


def test_a_hook_that_removes_itself(library):
    cell = (
        HOOKS + CUBE + "y.register_hook(double)\nhandle = y.register_hook(once)\n" + TWICE.format(between="")
    )
    assert [(h.name, h.removed) for h in hooks_at("y", cell, library, 1)] == [
        ("double", False),
        ("once", False),
    ]
    assert [(h.name, h.removed) for h in hooks_at("y", cell, library, 2)] == [
        ("double", False),
        ("once", True),
    ]


def test_a_hook_of_a_tensor_that_nobody_has_is_not_called_removed(library):
    """In PyTorch it runs on and nobody tells of it."""
    cell = HOOKS + CUBE + "y.register_hook(look)\n" + TWICE.format(between="del y\n")
    graph = build(traced(cell, library))
    assert not any(hook.removed for s in graph.stations if s.deck for hook in s.deck.ran)


@pytest.mark.parametrize(
    "between",
    [
        "hook = [1]\nhook.remove(1)\n",  # no handle any more
        "hook, other = [1], 2\nhook.pop()\n",
        "other = hook\n",
    ],
)
def test_what_removes_no_hook(library, between):
    cell = HOOKS + CUBE + "hook = y.register_hook(double)\n" + TWICE.format(between=between)
    assert [(h.name, h.removed) for h in hooks_at("y", cell, library)] == [("double", False)]
    assert not any("is gone" in text for text in said(frames(cell, library)))


@pytest.mark.parametrize(
    "statement, expected",
    [
        ("h = y.register_hook(f)", [Handling("h", other=True), Handling("h", "tensor", "y", "f")]),
        ("y.register_hook(lambda g: 1)", [Handling("", "tensor", "y", "<lambda>")]),
        ("y.grad_fn.register_hook(o.f)", [Handling("", "post", "y")]),
        ("h.remove()", [Handling("h")]),
        ("h.remove(3)", []),
        ("a, h = h, a", [Handling("a", other=True), Handling("h", other=True)]),
        ("if x:", []),
    ],
)
def test_statements(statement, expected):
    assert list(hook_statement(statement)) == expected


def silent(g):
    print(g)


def maybe(g):
    if g:
        return g


class Caller:
    def method(self, g):
        self.seen = g

    def __call__(self, g):
        return g


def lazily(g):
    yield g


@pytest.mark.parametrize(
    "hook, expected",
    [
        (print, False),
        ([].append, False),
        (silent, False),
        (Caller().method, False),
        (lambda g: None, False),
        (lambda g: g * 2, None),
        (maybe, None),
        (lazily, None),
        (Caller(), None),
        ({}.get, None),
    ],
)
def test_what_the_code_of_a_hook_tells(hook, expected):
    assert may_return(hook) is expected
