"""What a recorder writes down where a path ends: the same in both libraries, and only what is certain."""

from __future__ import annotations

import pytest
from cells import run, traced

from minigrad_viz.model.provenance import numbers_taken
from minigrad_viz.trace.events import (
    Forward,
    NumberRead,
    NumbersReturned,
    TensorCreated,
)

pytestmark = pytest.mark.usefixtures("names_of_today")

LEAF = "x = torch.tensor(2.0, requires_grad=True)\n"


def of(trace, kind):
    return [event for event in trace.events if isinstance(event, kind)]


# ── numbers that left and came back ─────────────────────────────────────────────────────────────────────────


def test_an_array_of_a_tensor_from_before_the_cell(library):
    names = {"u": library.tensor([1.0, 2.0])}
    events = traced("a = u.numpy()\nb = 0.1 * u\n", library, names).events
    assert not any(isinstance(event, NumbersReturned) for event in events)
    brought, made = (e for e in events if isinstance(e, TensorCreated | Forward))
    assert brought.tensor.id in made.inputs and made.name == "b"


# ── memory ──────────────────────────────────────────────────────────────────────────────────────────────────


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


def test_what_a_dual_tensor_gives_back(library):
    """A tensor that uses its memory, and the tangent that it was given, which is not new."""
    cell = "fw = torch.autograd.forward_ad\nwith fw.dual_level():\n"
    cell += "    d = fw.make_dual(torch.ones(2), torch.ones(2))\n    p, t = fw.unpack_dual(d)\n"
    made, unpacked = of(traced(cell, library), Forward)
    assert (made.op, unpacked.op) == ("make_dual", "unpack_dual") and len(unpacked.outputs) == 1
    assert unpacked.shares == made.outputs[0].id
