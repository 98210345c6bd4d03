"""Hooks in steps and picture: when they run, in which order, on what value, what they return, when they are
gone."""

from __future__ import annotations

import pytest
from cells import CUBE, run, traced

from minigrad_viz.model.node_details import Handling, hook_statement
from minigrad_viz.recording.listener import may_return
from minigrad_viz.trace.events import HookRan

HOOKS = """
def double(g):
    return g * 2

def look(g):
    return None

def once(g):
    handle.remove()
    return g + 1
"""


def ran(trace):
    return [
        (e.kind, e.name, e.before[0].items, e.after[0].items, e.gave)
        for e in trace.events
        if isinstance(e, HookRan)
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


# ── hooks that are gone ─────────────────────────────────────────────────────────────────────────────────────


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
