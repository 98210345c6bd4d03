"""Several passes over one graph, with hooks, inputs and numbers changed between them.

Each pass gives what a first pass over an identically built graph gives, and what PyTorch gives.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis.strategies as st
import pytest
from functions import of_inputs
from hypothesis import given, settings
from tiers import examples
from twins import Diary, dialect, outcome

import minigrad

Tensors = dict[str, Any]  # the leaves x and w, a tensor inside called a, and the root


def leaves(L: Any, *shape: int) -> tuple[Any, Any]:
    x = L.full(shape, 0.75, dtype=L.float64, requires_grad=True)
    w = L.full(shape, 1.25, dtype=L.float64, requires_grad=True)
    return x, w


def scalars(L: Any) -> Tensors:
    x, w = leaves(L)
    a = x * w
    b = a.exp() + x
    return {"x": x, "w": w, "a": a, "root": b * a - w.tanh()}


def vectors(L: Any) -> Tensors:
    x, w = leaves(L, 3)
    a = (x * 2).tanh()
    return {"x": x, "w": w, "a": a, "root": (a * w + a.exp() * x).sum()}


def a_vector_root(L: Any) -> Tensors:
    x, w = leaves(L, 2)
    a = x * w
    return {"x": x, "w": w, "a": a, "root": a.sin() * a + w}


def layers(L: Any) -> Tensors:
    x, w = leaves(L, 2, 2)
    a = (x @ w).relu()
    return {"x": x, "w": w, "a": a, "root": (a @ w).softmax(-1).log().mean()}


def a_long_chain(L: Any) -> Tensors:
    x, w = leaves(L)
    a = x * w
    root = a
    for _ in range(30):
        root = (root * w).tanh() + a
    return {"x": x, "w": w, "a": a, "root": root}


def views_written_to(L: Any) -> Tensors:
    x, w = leaves(L, 2, 2)
    a = x * 1
    a[0].mul_(w[1])
    a.view(-1)[3:].add_(1)
    return {"x": x, "w": w, "a": a, "root": (a * w).sum()}


def several_outputs(L: Any) -> Tensors:
    x, w = leaves(L, 3)
    first, second, _ = (x * w).unbind()
    largest, _ = w.max(0)
    return {"x": x, "w": w, "a": first, "root": first * largest + second.exp()}


def a_function(L: Any) -> Tensors:
    Cube = of_inputs(L, lambda t: t**3, lambda g, t: 3 * t * t * g)
    x, w = leaves(L, 2)
    a = Cube.apply(x * w)
    return {"x": x, "w": w, "a": a, "root": (a + Cube.apply(a)).sum()}


GRAPHS = {
    build.__name__: build
    for build in (
        *(scalars, vectors, a_vector_root, layers, a_long_chain),
        *(views_written_to, several_outputs, a_function),
    )
}


class Run:
    """A graph in one library: changes of it, passes over it, and what the hooks saw."""

    def __init__(self, L: Any, graph: str) -> None:
        self.L = L
        self.made = GRAPHS[graph](L)
        self.seen: list[Any] = []
        self.handles: list[Any] = []

    def change(self, name: str) -> None:
        """What may fail is noted: both libraries must refuse the same."""
        self.seen.append(outcome(lambda: CHANGES[name](self) and None))

    def look(self, what: str) -> Callable[..., None]:
        def hook(*given: Any) -> None:
            self.seen.append([what, *given])

        return hook

    def double(self, g: Any) -> Any:
        self.seen.append(["double", g])
        return g * 2

    def passed(self, name: str) -> list[Any]:
        """One pass: how it ends, the gradients, and the arguments of its hooks."""
        x, w, a = (self.made[n] for n in "xwa")
        x.grad = w.grad = None
        if a.retains_grad:
            a.grad = None
        self.seen.clear()
        ended = outcome(lambda: PASSES[name](self))
        return [ended, *self.seen, x.grad, w.grad, a.grad if a.retains_grad else None]

    def seed(self, number: float = 1.0) -> Any:
        return self.L.full_like(self.made["root"].detach(), number)

    def grad(self, *inputs: str, number: float = 1.0, **how: Any) -> Any:
        wanted = [self.made[n] for n in inputs]
        how = {"retain_graph": True, "allow_unused": True, **how}
        return self.L.autograd.grad(self.made["root"], wanted, self.seed(number), **how)

    def backward(self, *inputs: str, number: float = 1.0) -> None:
        wanted = {"inputs": [self.made[n] for n in inputs]} if inputs else {}
        self.made["root"].backward(self.seed(number), retain_graph=True, **wanted)

    def hook(self, handle: Any) -> None:
        self.handles.append(handle)

    def write(self, name: str, change: Callable[[Any], Any]) -> None:
        with self.L.no_grad():
            change(self.made[name])


PASSES: dict[str, Callable[[Run], Any]] = {
    "backward": lambda run: run.backward(),
    "backward of 3": lambda run: run.backward(number=3.0),
    "backward to x": lambda run: run.backward("x"),
    "backward to w": lambda run: run.backward("w"),
    "backward to a and w": lambda run: run.backward("a", "w") if run.made["a"].retains_grad else None,
    "grad of both": lambda run: run.grad("x", "w"),
    "grad of 0.5": lambda run: run.grad("w", "x", number=0.5),
    "grad of a": lambda run: run.grad("a"),
    "grad of a and x": lambda run: run.grad("a", "x"),
    "grad of the root": lambda run: run.grad("root", "w"),
    "grad for more": lambda run: second_order(run),
}


def second_order(run: Run) -> Any:
    first = run.grad("x", "w", create_graph=True)
    ready = [g.sum() for g in first if g is not None and g.requires_grad]
    return first, run.L.autograd.grad(
        ready, [run.made["x"], run.made["w"]], retain_graph=True, allow_unused=True
    )


CHANGES: dict[str, Callable[[Run], Any]] = {
    "hook on x": lambda run: run.hook(run.made["x"].register_hook(run.look("x"))),
    "hook on a": lambda run: run.hook(run.made["a"].register_hook(run.look("a"))),
    "doubling a": lambda run: run.hook(run.made["a"].register_hook(run.double)),
    "doubling w": lambda run: run.hook(run.made["w"].register_hook(run.double)),
    "hook after w": lambda run: run.hook(
        run.made["w"].register_post_accumulate_grad_hook(lambda t: run.look("stored")(t.grad))
    ),
    "hook on a's node": lambda run: run.hook(run.made["a"].grad_fn.register_hook(run.look("sent"))),
    "hook before a's node": lambda run: run.hook(
        run.made["a"].grad_fn.register_prehook(run.look("received"))
    ),
    "hook on the root's node": lambda run: run.hook(run.made["root"].grad_fn.register_hook(run.look("root"))),
    "remove the last": lambda run: run.handles and run.handles.pop().remove(),
    "remove the first": lambda run: run.handles and run.handles.pop(0).remove(),
    "retain a": lambda run: run.made["a"].retain_grad(),
    "x written to": lambda run: run.write("x", lambda t: t.add_(0.5)),
    "w written to": lambda run: run.write("w", lambda t: t.mul_(2)),
    "a written to": lambda run: run.write("a", lambda t: t.add_(0.5)),
    "x's data written to": lambda run: run.made["x"].data.mul_(2),
    "w's data written to": lambda run: run.made["w"].data.add_(0.25),
    "a's data written to": lambda run: run.made["a"].data.add_(0.25),
    "w's data assigned": lambda run: setattr(run.made["w"], "data", run.made["w"].detach() * 2),
    "w frozen": lambda run: run.made["w"].requires_grad_(False),
    "w thawed": lambda run: run.made["w"].requires_grad_(True),
    "nothing": lambda run: None,
}
STEPS = st.lists(
    st.tuples(st.sampled_from(sorted(CHANGES)), st.sampled_from(sorted(PASSES))), min_size=2, max_size=5
)


def repeated(L: Any, graph: str, steps: list[tuple[str, str]]) -> Iterator[list[Any]]:
    """All passes over one graph."""
    run = Run(L, graph)
    for change, name in steps:
        run.change(change)
        yield run.passed(name)


def fresh(L: Any, graph: str, steps: list[tuple[str, str]]) -> Iterator[list[Any]]:
    """The same, but each over a graph of its own, to which all changes up to then were made."""
    for i, (_, name) in enumerate(steps):
        run = Run(L, graph)
        for change, _ in steps[: i + 1]:
            run.change(change)
        yield run.passed(name)


def written_down(passes: Iterator[list[Any]]) -> list[Any]:
    note = Diary()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for ends in passes:
            note(ends)
    return note.lines


def assert_as_fresh(graph: str, steps: list[tuple[str, str]]) -> None:
    with dialect("2"):
        again, first = (written_down(how(minigrad, graph, steps)) for how in (repeated, fresh))
    for i, (a, b) in enumerate(zip(again, first, strict=True)):
        assert repr(a) == repr(b), f"pass {i} of {steps}\n  again {a}\n  fresh {b}"


def assert_as_pytorch(torch: Any, graph: str, steps: list[tuple[str, str]]) -> None:
    with dialect("2"):
        ours, theirs = (written_down(repeated(library, graph, steps)) for library in (minigrad, torch))
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert repr(a) == repr(b), f"pass {i} of {steps}\n  ours    {a}\n  PyTorch {b}"


def changed_between(change: str) -> Iterator[list[tuple[str, str]]]:
    """Two passes of all kinds with a change between them."""
    for before in ("backward", "grad of both"):
        yield from ([("nothing", before), (change, after)] for after in PASSES)
    yield from ([("nothing", name), (change, name)] for name in PASSES)


@pytest.mark.sample(6)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_change_between_two_passes(graph, change):
    for steps in changed_between(change):
        assert_as_fresh(graph, steps)


@pytest.mark.sample(12)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("graph", GRAPHS)
def test_a_change_between_two_passes_as_in_pytorch(torch, graph, change):
    for steps in changed_between(change):
        assert_as_pytorch(torch, graph, steps)


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_hook_between_passes_and_gone_again(torch, graph):
    for hook in ("doubling a", "doubling w", "hook on a's node", "hook before a's node", "hook after w"):
        for name in ("backward", "grad of both", "backward to x"):
            steps = [("nothing", name), (hook, name), ("remove the last", name), (hook, name)]
            assert_as_fresh(graph, steps)
            assert_as_pytorch(torch, graph, steps)


@pytest.mark.parametrize("graph", GRAPHS)
def test_passes_and_changes_at_random(graph):
    @settings(max_examples=examples(60), deadline=None)
    @given(steps=STEPS)
    def run(steps: list[tuple[str, str]]) -> None:
        assert_as_fresh(graph, steps)

    run()


@pytest.mark.parametrize("graph", GRAPHS)
def test_passes_and_changes_at_random_as_in_pytorch(torch, graph):
    @settings(max_examples=examples(60), deadline=None)
    @given(steps=STEPS)
    def run(steps: list[tuple[str, str]]) -> None:
        assert_as_pytorch(torch, graph, steps)

    run()


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_pass_after_the_one_that_frees(torch, graph):
    for name in PASSES:
        ends = []
        for L in (minigrad, torch):
            with dialect("2"):
                run = Run(L, graph)
                run.passed("backward")
                run.made["root"].backward(run.seed())
                ends.append(written_down(iter([run.passed(name)])))
        assert repr(ends[0]) == repr(ends[1]), name
