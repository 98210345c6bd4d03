"""Recording changes nothing, leaves nothing behind, and shows the engine's own numbers."""

from __future__ import annotations

import gc
import math
import random
import sys
import weakref

import pytest
from cells import CELLS, Run, run
from staged import build

import minigrad
from minigrad.core import modes
from minigrad_viz.trace.events import BackwardStarted, NodeRan, Trace


def of(trace: Trace, kind: type) -> list:
    return [event for event in trace.events if isinstance(event, kind)]


# --------------------------------------------------------------------------------- nothing is changed


def state(cell: Run) -> dict[str, object]:
    """Every tensor of a cell: its numbers and gradient to the bit, its attributes."""
    told = {}
    for name, t in cell.names.items():
        if hasattr(t, "grad_fn"):
            kept = t.grad if t.is_leaf or t.retains_grad else None
            told[name] = (
                t.detach().tolist(), None if kept is None else kept.detach().tolist(),
                t.requires_grad, t.is_leaf,
                t._version, None if t.grad_fn is None else t.grad_fn.name(),
            )  # fmt: skip
    return told


@pytest.mark.parametrize("code", CELLS)
def test_the_cell_does_not_notice(library, code):
    with_, without = run(CELLS[code], library), run(CELLS[code], library, watched=False)
    assert with_.told == without.told
    assert repr(state(with_)) == repr(state(without))


def program(seed: int) -> str:
    """A small random program: leaves, constants, shared and reused tensors, views, in-place ops, several
    calls."""
    choose = random.Random(seed)
    lines = [
        f"v{i} = torch.tensor({[choose.uniform(0.5, 2) for _ in range(3)]}, requires_grad={i < 2})"
        for i in range(3)
    ]
    unary = (
        "torch.exp({} * 0.1)",
        "torch.log({} * {} + 1)",
        "{}.reshape(3, 1).sum(1)",
        "{} ** 2",
        "-{}",
        "{}.clone()",
    )
    binary = ("{} * {}", "{} + {}", "{} / ({} * {} + 1)", "torch.where({} > 1, {}, {})")
    for i in range(3, choose.randint(6, 14)):
        text = choose.choice(unary + binary)
        lines.append(f"v{i} = " + text.format(*(f"v{choose.randrange(i)}" for _ in range(text.count("{}")))))
        if choose.random() < 0.15:
            lines.append(f"v{i} = v{i} * 1\nv{i}.mul_(1.5)")
        if choose.random() < 0.15:
            lines.append(f"v{i}.requires_grad and v{i}.retain_grad()")
        if choose.random() < 0.1:
            lines.append(f"v{i} = v{i}.detach()")
    lines.append(f"out = (v{i} * v0).sum()\nprint(out)")
    endings = (
        "out.backward()",
        "out.backward(retain_graph=True)\nout.backward()",
        "print(torch.autograd.grad(out, v0))",
        "out.backward(create_graph=True)\nv0.grad.sum().backward()",
    )
    lines.append(choose.choice(endings))
    if choose.random() < 0.3:
        lines.append("out.backward()")
    return "\n".join(lines) + "\n"


@pytest.mark.sample(16)
@pytest.mark.parametrize("seed", range(40))
def test_random_programs_do_not_notice(library, seed):
    cell = program(seed)
    with_, without = run(cell, library), run(cell, library, watched=False)
    assert with_.told == without.told, cell
    assert repr(state(with_)) == repr(state(without)), cell


@pytest.mark.sample(16)
@pytest.mark.parametrize("seed", range(40))
def test_every_number_shown_is_the_engines(library, seed):
    """Cards against the tensors themselves; what flowed into a node against what its users sent."""
    cell = run(program(seed), library)
    graph = build(cell.trace)
    check_numbers(cell, graph)
    sent: dict[tuple[str, int], list] = {}
    for route in graph.routes:
        for value in route.gradients:
            sent.setdefault((route.source, route.card), []).append(value)
    for station in graph.stations:
        for i, card in enumerate(station.cards):
            flows = sent.get((station.id, i))
            order = {s.order for s in graph.stations}
            if (
                flows
                and card.grad is not None
                and not card.grad_kept
                and order == {1}
                and card.role != "root"
            ):
                total = [math.fsum(column) for column in zip(*(v.items for v in flows))]
                assert list(card.grad.items) == pytest.approx(total, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("code", CELLS)
def test_every_number_of_the_documented_cells_is_the_engines(library, code):
    cell = run(CELLS[code], library)
    check_numbers(cell, build(cell.trace))


def check_numbers(cell: Run, graph) -> None:
    shown = {card.name: card for _, card in graph.cards() if card.name}
    for name, t in cell.names.items():
        if hasattr(t, "grad_fn") and name in shown:
            card = shown[name]
            assert repr(card.value.items) == repr(tuple(t.detach().reshape(-1).tolist()))
            kept = t.grad if t.is_leaf or t.retains_grad else None
            if kept is not None:
                assert repr(card.grad.items) == repr(tuple(kept.detach().reshape(-1).tolist()))
            assert (card.requires_grad, card.is_leaf) == (t.requires_grad, t.is_leaf)


@pytest.mark.parametrize("code", [4, 7, 9, 10, 11, 13, 16, 18, 19])
def test_nodes_run_in_the_engines_order(library, code):
    """The recorder's order against a list that hooks of the test itself keep."""
    log: list[str] = []
    spy = (
        "def spy(root):\n    seen, stack = set(), [root.grad_fn]\n    while stack:\n        n = stack.pop()\n"
        "        if n is None or n in seen:\n            continue\n        seen.add(n)\n"
        "        n.register_hook(lambda *a, n=n: log.append(n.name()))\n"
        "        stack += [m for m, _ in n.next_functions]\n    return True\n"
    )
    source = CELLS[code].replace("z.backward", "spy(z) and z.backward", 1)
    cell = run(spy + source, library, names={"log": log})
    named = {n.id: n.name for e in of(cell.trace, BackwardStarted) for n in e.nodes}
    first = [named[e.node] for e in of(cell.trace, NodeRan) if e.call == 1]
    assert [name.rpartition("::")[2] for name in log][: len(first)] == first


# ----------------------------------------------------------------------------- nothing is left behind


def test_nothing_is_kept_alive():
    """minigrad frees a graph without the cycle collector, also one that was recorded."""
    gc.collect()
    gc.disable()
    try:
        cell = run(CELLS[9])
        alive = [weakref.ref(cell.names[name]) for name in "xywz"]
        trace = cell.trace
        cell.names.clear()
        assert [ref() for ref in alive] == [None] * 4
        assert trace is not None and build(trace).tracked
    finally:
        gc.enable()


def test_a_tensor_dies_while_the_cell_still_records():
    cell = (
        "import gc, weakref\ngc.disable()\n"
        "a = torch.ones(3, requires_grad=True)\nb = a * 2\nr = weakref.ref(b)\n"
    )
    cell += "b.sum().backward()\ndel b\nprint(r())\ngc.enable()\n"
    assert run(cell).printed == "None\n"


def test_nothing_is_kept_alive_by_pytorch(torch):
    cell = run(CELLS[9], torch)
    alive = [weakref.ref(cell.names[name]) for name in "xywz"]
    cell.names.clear()
    gc.collect()
    assert [ref() for ref in alive] == [None] * 4


@pytest.mark.parametrize("code", [4, 6, 12, 18, 21])
def test_no_hook_and_no_observer_is_left(library, code):
    before = modes.snapshot(), list(sys.meta_path)
    cell = run(CELLS[code], library)
    assert (modes.snapshot(), list(sys.meta_path)) == before
    if library is minigrad:
        for t in cell.names.values():
            extra = getattr(getattr(t, "grad_fn", None), "_extra", None)
            assert extra is None or not (extra.pre or extra.post or extra.tensor_hooks)
    else:
        import torch as library_

        assert type(library_.autograd.Variable._execution_engine).__name__ == "_EngineBase"
        assert library_.overrides._get_current_function_mode_stack() == []
