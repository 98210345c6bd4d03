"""What a recorder writes down where a path ends: the same in both libraries, and only what is certain."""

from __future__ import annotations

import numpy as np
import pytest
from cells import run, traced

from minigrad_viz.model.provenance import numbers_taken
from minigrad_viz.trace.events import (
    Forward,
    InPlaceWrite,
    NumberRead,
    NumbersReturned,
    RequiresGradSet,
    TensorCreated,
    TensorDetached,
)

pytestmark = pytest.mark.usefixtures("names_of_today")

LEAF = "x = torch.tensor(2.0, requires_grad=True)\n"
VECTOR = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"


def of(trace, kind):
    return [event for event in trace.events if isinstance(event, kind)]


def recorded(cell, library, kind):
    return of(traced(cell, library, {"np": np}), kind)


# ── numbers that left and came back ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "made, how",
    [
        ("torch.tensor(x.item())", "item"),
        ("torch.tensor(2 * x.item() - 1)", "item"),
        ("torch.tensor(float(x))", "item"),
        ("torch.tensor([x.tolist(), 1.0])", "item"),
        ("torch.tensor([t.item() for t in (x,)])", "item"),
        ("torch.full((2,), x.item())", "item"),
        ("torch.tensor(x)", "tensor"),
        ("torch.tensor([x, x])", "tensor"),
    ],
)
def test_the_expression_tells(made, how, library):
    (left,) = recorded(f"{LEAF}n = {made}\n", library, NumbersReturned)
    assert (left.sources, left.how, left.name, left.span.text) == (("t0",), how, "n", made)
    assert not left.tensor.requires_grad and left.shares == ""


@pytest.mark.parametrize(
    "made", ["torch.tensor(d.numpy())", "torch.tensor(np.sin(d.numpy()) + 1)", "torch.tensor(d.numpy()[0])"]
)
def test_by_way_of_an_array(made, library):
    (left,) = recorded(f"{VECTOR}d = x.detach()\nn = {made}\n", library, NumbersReturned)
    assert (left.sources, left.how, left.shares) == (("t1",), "numpy", "")


@pytest.mark.parametrize("given", ["v = x.item()", "v = x.tolist()", "v = [x.item(), 1.0]", "v = float(x)"])
def test_the_very_number_tells(given, library):
    (left,) = recorded(f"{LEAF}{given}\nprint(v)\nn = torch.tensor(v)\n", library, NumbersReturned)
    assert (left.sources, left.how) == (("t0",), "item")


def test_an_array_shares_its_memory(library):
    cell = (
        VECTOR + "a = x.detach().numpy()\nn = torch.from_numpy(a)\nm = torch.from_numpy(a[1:])\ny = n + m\n"
    )
    lefts = recorded(cell, library, NumbersReturned)
    assert [(e.sources, e.how, e.shares) for e in lefts] == [(("t1",), "numpy", "t1")] * 2


def test_an_array_of_a_tensor_from_before_the_cell(library):
    names = {"u": library.tensor([1.0, 2.0])}
    events = traced("a = u.numpy()\nb = 0.1 * u\n", library, names).events
    assert not any(isinstance(event, NumbersReturned) for event in events)
    brought, made = (e for e in events if isinstance(e, TensorCreated | Forward))
    assert brought.tensor.id in made.inputs and made.name == "b"


@pytest.mark.parametrize(
    "cell",
    [
        "v = x.item() * 2\nn = torch.tensor(v)",  # a new number: nobody knows
        "n = torch.tensor(x.item() > 1)",  # a decision
        "n = torch.zeros(int(x.item()))",  # a size
        "print(x.item())\nn = torch.tensor(2.0)",  # an equal number
        "d = {2.0: 1.0}\nn = torch.tensor(d[x.item()])",  # a key
        "n = torch.ones(x.detach().numpy().shape)",
        "v = np.array([1.0])\nw = x.detach().numpy()\nn = torch.tensor(v)",
        "def f(t):\n    t.item()\n    return 3.0\nn = torch.tensor(f(x))",
    ],
)
def test_what_is_not_certain_is_not_told(cell, library):
    trace = traced(LEAF + cell + "\n", library, {"np": np})
    assert trace.error is None and of(trace, NumbersReturned) == []
    assert of(trace, TensorCreated)[-1].name == "n"


def test_a_loop_does_not_mix_rounds(library):
    cell = LEAF + "y = x * 3\nfor t in (x, y):\n    n = torch.tensor(t.item())\n"
    assert [e.sources for e in recorded(cell, library, NumbersReturned)] == [("t0",), ("t1",)]


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_detach_and_data(library):
    cell = LEAF + "d = x.detach()\ne = x.data\ny = x * 2\ny.detach_()\nz = y * 3\n"
    trace = traced(cell, library)
    told = [(e.how, e.source, e.tensor.id, e.tensor.requires_grad) for e in of(trace, TensorDetached)]
    assert told == [
        ("detach", "t0", "t1", False), ("data", "t0", "t2", False), ("detach", "t3", "t3", False)
    ]  # fmt: skip
    last = of(trace, Forward)[-1]
    assert last.inputs[0] == "t3" and last.outputs[0].node is None, "still the same y"


@pytest.mark.parametrize(
    "view, memory",
    [("x[0]", "t0"), ("x.reshape(2, 1)", "t0"), ("x.t()", "t0"), ("x.clone()", ""), ("x * 1", "")],
)
def test_views(view, memory, library):
    (event,) = recorded(f"{VECTOR}v = {view}\n", library, Forward)
    assert event.shares == memory
    (event,) = recorded(f"{VECTOR}with torch.no_grad():\n    v = {view}\n", library, Forward)
    assert event.shares == memory


def test_several_results(library):
    (event,) = recorded(f"{VECTOR}a, b = x.unbind()\n", library, Forward)
    assert event.shares == "t0" and len(event.outputs) == 2
    cell = "fw = torch.autograd.forward_ad\nwith fw.dual_level():\n"
    cell += "    d = fw.make_dual(torch.ones(2), torch.ones(2))\n    p, t = fw.unpack_dual(d)\n"
    told = [event.shares for event in recorded(cell, library, Forward) if len(event.outputs) == 2]
    assert told == [""], "the tangent has a memory of its own"


def test_a_write_tells_of_all_who_see_it(library):
    cell = VECTOR + "y = x * 2\nd = y.detach()\ne = d[1:]\nf = y.data\nd.mul_(5)\n"
    (event,) = recorded(cell, library, InPlaceWrite)
    also = {state.id: (state.value.items, state.version) for state in event.also}
    assert also == {"t1": ((10.0, 20.0), 1), "t3": ((20.0,), 1), "t4": ((10.0, 20.0), 0)}


def test_a_write_elsewhere_tells_of_nobody(library):
    cell = "w = torch.tensor([1.0, 2.0, 3.0])\na = w[:1]\nb = w[1:]\nc = w.clone()\nb.mul_(2)\nc.mul_(2)\n"
    first, second = recorded(cell, library, InPlaceWrite)
    assert [state.id for state in first.also] == ["t0"] and second.also == ()


@pytest.mark.parametrize(
    "z, taken",
    [
        ("w * x.item()", ["t0"]),
        ("w * math.log(xs[0])", ["t0"]),
        ("(w * float(x)) + w", []),
        ("w * torch.tensor(x.item())", []),
        ("w * 2", []),
    ],
)
def test_the_numbers_in_an_expression(library, z, taken):
    """Each of the operation whose own operand it is, whatever the tensor is called."""
    cell = f"{LEAF}import math\nxs = [x]\nw = torch.tensor(3.0, requires_grad=True)\nx.item()\nz = {z}\n"
    trace = traced(cell, library, {})
    assert numbers_taken(trace)[id(of(trace, Forward)[-1])] == taken
    assert {event.tensor for event in of(trace, NumberRead)} == {"t0"}


def test_requires_grad_is_told(library):
    cell = "x = torch.tensor(2.0)\nx.requires_grad_()\ny = x * 2\nx.requires_grad = False\n"
    events = recorded(cell, library, RequiresGradSet)
    assert [(e.tensor.id, e.tensor.requires_grad) for e in events] == [("t0", True), ("t0", False)]


@pytest.mark.parametrize(
    "cell",
    [
        "n = torch.tensor(x.item())\nm = torch.from_numpy(x.detach().numpy())\nm += 1\nprint(x, n, m)",
        "v = x.detach()\nv.requires_grad_()\n(v * 2).backward()\nprint(v.grad, x.grad)",
        "y = x * 2\ny.detach_()\nprint(y, y.is_leaf)",
        "x.data = torch.tensor(7.0)\nprint(x.data, x.numpy(force=True), float(x), x._version)",
        "x.numpy()",
        "y = x * 2\ny.requires_grad = False",
        "torch.tensor([1]).requires_grad_()",
    ],
)
def test_the_cell_does_not_notice(cell, library):
    cell = LEAF + cell + "\n"
    assert run(cell, library).told == run(cell, library, watched=False).told


def test_nobody_is_kept_alive(library):
    cell = (
        "import gc, weakref\nx = torch.ones(3, requires_grad=True)\nd = x.detach()\na = d.numpy()\n"
        "l = x.tolist()\nr = weakref.ref(d)\ndel d, a\ngc.collect()\nprint(r())\n"
    )
    assert run(cell, library).printed == "None\n"
