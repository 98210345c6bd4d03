"""The engine's two loops, a fast one and a plain one for observers: the same order, the same gradients."""

from __future__ import annotations

import contextlib
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from functions import made, many, pair
from hypothesis import given, settings
from tiers import examples

import minigrad
from minigrad.core import all_ops, engine
from minigrad.core import engine as node_by_node
from minigrad.core import modes as observers
from minigrad.core.node import AccumulateGrad
from minigrad.core.tensor_state import edge


class Observer:
    """Notes the events of a backward pass."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def node_ran(self, node: Any, received: Any, sent: Any) -> None:
        self.told.append(("ran", node, received, sent))

    def deposit_starts(self, node: Any) -> None:
        self.told.append(("deposit", node))

    def quiet(self, *what: Any) -> None:
        """What this test does not ask for."""

    forward = created = detached = mutated = mode_changed = backward_started = backward_ended = quiet
    hook_starts = hook_ended = custom_starts = custom_ended = packed = unpacked = recomputed = quiet
    left = asked = retained = quiet


@contextlib.contextmanager
def observed():
    observer = Observer()
    observers.add_observer(observer)
    try:
        yield observer
    finally:
        observers.remove_observer(observer)


Pair, Many = pair(minigrad), many(minigrad)
OPERATIONS = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b * 0.5,
    "div": lambda a, b: a / (b * b + 1),
    "exp": lambda a, b: (a * 0.1).exp(),
    "same": lambda a, b: a * a,
    "view": lambda a, b: a.reshape(a.shape) + b,
}

programs = st.fixed_dictionaries(
    {
        "leaves": st.integers(1, 9),
        "ops": st.lists(
            st.tuples(st.sampled_from([*OPERATIONS, "many", "pair"]), st.integers(0, 99), st.integers(0, 99)),
            min_size=1,
            max_size=25,
        ),
        "roots": st.lists(st.integers(0, 99), min_size=1, max_size=3),
        "how": st.sampled_from(["backward", "backward", "inputs", "grad", "create_graph"]),
        "asked": st.lists(st.integers(0, 99), min_size=1, max_size=4),
        "shape": st.sampled_from([(), (3,)]),
        "twice": st.booleans(),
    }
)


def run(program: dict[str, Any]) -> tuple[list[Any], dict[Any, int]]:
    """Run a program; all gradients, and the number of each node (nodes of leaves: that of the leaf)."""
    values = np.linspace(0.5, 2.0, program["leaves"])
    leaves = [minigrad.tensor(np.full(program["shape"], v), requires_grad=True) for v in values]
    made = list(leaves)
    nodes = {}
    for name, i, j in program["ops"]:
        a, b = made[i % len(made)], made[j % len(made)]
        if name == "many":
            made.append(Many.apply(*made[: 2 + i % 8]))
        elif name == "pair":
            made += Pair.apply(a, b)
        else:
            made.append(OPERATIONS[name](a, b))
    roots = [made[-1 - r % len(made)] for r in program["roots"]]
    wanted = [made[a % len(made)] for a in dict.fromkeys(program["asked"])]
    ones = [minigrad.ones_like(r.detach()) for r in roots]
    stack = [edge(r) for r in roots]
    while stack:
        node = stack.pop()
        if node is not None and node not in nodes:
            leaf = isinstance(node, AccumulateGrad)
            place = next(i for i, t in enumerate(leaves) if t is node.variable) if leaf else node._seq
            nodes[node] = (leaf, place)
            stack += [n for n, _ in node.next_functions]
    how, found = program["how"], []
    if how == "grad":
        found = list(minigrad.autograd.grad(roots, wanted, ones, allow_unused=True))
    elif how == "inputs":
        minigrad.autograd.backward(roots, ones, inputs=wanted)
    else:
        again = program["twice"] and how == "backward"
        minigrad.autograd.backward(roots, ones, retain_graph=again, create_graph=how == "create_graph")
        if again:
            minigrad.autograd.backward(roots, ones)
    found += [t.grad for t in made if t.is_leaf or t.retains_grad]
    ages = sorted(place for leaf, place in nodes.values() if not leaf)
    numbers = {n: (0, place) if leaf else (1, ages.index(place)) for n, (leaf, place) in nodes.items()}
    return [None if g is None else g.tolist() for g in found], numbers


@contextlib.contextmanager
def logged(log: list[Any]):
    """Note the nodes of ops and leaves that run, in whichever loop; others speak and run alike."""
    with pytest.MonkeyPatch.context() as patch:
        for op in set(all_ops().values()):
            plain = op.node.apply

            def apply(node: Any, g: Any, keep: bool = True, plain: Any = plain) -> Any:
                log.append(node)
                return plain(node, g, keep)

            patch.setattr(op.node, "apply", apply)
        deposit = engine.deposit

        def noted(node: Any, gradient: Any, owned: bool) -> None:
            log.append(node)
            deposit(node, gradient, owned)

        patch.setattr(engine, "deposit", noted)
        patch.setattr(node_by_node, "deposit", noted)
        yield


def in_order(log: list[Any], numbers: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    """The ops as they ran, and the leaves: the plain loop fills those at the end, which nobody can see."""
    told = [numbers.get(node) for node in log]
    ops = [n for n in told if n is None or n[0] == 1]
    return ops, sorted(n for n in told if n is not None and n[0] == 0)


@settings(max_examples=examples(150), deadline=None)
@given(program=programs)
def test_both_loops_do_the_same(program):
    plain_log: list[Any] = []
    watched_log: list[Any] = []
    with logged(plain_log):
        gradients, numbers = run(program)
    with logged(watched_log), observed() as observer:
        same, watched_numbers = run(program)
    assert repr(same) == repr(gradients)
    watched_order, plain_order = in_order(watched_log, watched_numbers), in_order(plain_log, numbers)
    assert watched_order == plain_order
    told = [event[1] for event in observer.told if event[0] == "ran" and event[1] in set(watched_log)]
    assert program["how"] == "create_graph" or told == watched_log, "the observer is told of each, in order"


def test_the_plain_loop_is_that_for_observers(monkeypatch):
    monkeypatch.setattr(engine, "drain", lambda *args: 1 / 0)
    x = minigrad.tensor(2.0, requires_grad=True)
    (x * x).backward()
    with observed(), pytest.raises(ZeroDivisionError):
        (x * x).backward()


def test_what_is_told():
    x = minigrad.tensor(2.0, requires_grad=True)
    y = x**3
    with observed() as observer:
        y.backward()
    power, start, leaf = observer.told
    assert (power[0], power[1], power[2], [float(g) for g in power[3]]) == ("ran", y.grad_fn, 1.0, [12.0])
    assert start == ("deposit", leaf[1]) and (leaf[0], float(leaf[2]), leaf[3]) == ("ran", 12.0, ())


def test_warnings_of_numpy_stay_silent(recwarn):
    """Sums of gradients overflow in silence, also at a leaf with hooks."""
    x = minigrad.tensor(3e38, requires_grad=True)
    x.register_hook(lambda g: None)
    big = minigrad.tensor(3e38)
    for _ in range(2):
        with observed():
            (x * big + x * big).backward()
    assert x.grad.item() == float("inf") and not recwarn.list


def test_an_error_leaves_no_trace_of_the_loop():
    def fail(ctx, g):
        raise KeyError("lost")

    x = minigrad.tensor(2.0, requires_grad=True)
    with observed() as observer, pytest.raises(KeyError, match="lost"):
        (made(minigrad, lambda ctx, a: a * 1, fail).apply(x) * 2).backward()
    assert [event[0] for event in observer.told] == ["ran"] and x.grad is None
