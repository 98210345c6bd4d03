"""What an observer sees of transforms: the user's ops on inner leaves, and backward calls of kind "grad"."""

import pytest
from trees import spelled
from twins import dialect, graph

import minigrad as torch
from minigrad_viz import record
from minigrad_viz.trace.events import BackwardStarted, Forward, GradAccumulated, NodeRan, TensorDetached


def cube(t):
    return (t**3).sum()


def leaf():
    return torch.tensor([1.0, 2.0], requires_grad=True)


CALLS = {
    "grad": lambda x: torch.func.grad(cube)(x),
    "grad of grad": lambda x: torch.func.grad(lambda t: (torch.func.grad(cube)(t) ** 2).sum())(x),
    "vjp": lambda x: torch.func.vjp(lambda t: t**3, x)[1](torch.ones(2))[0],
    "jvp": lambda x: torch.func.jvp(lambda t: t**3, (x,), (torch.ones(2),))[1],
    "jacrev": lambda x: torch.func.jacrev(lambda t: t**3)(x),
    "jacfwd": lambda x: torch.func.jacfwd(lambda t: t**3)(x),
    "hessian": lambda x: torch.func.hessian(cube)(x),
    "vmap": lambda x: torch.vmap(lambda t: t**3)(x),
    "vmap of grad": lambda x: torch.vmap(torch.func.grad(lambda t: t**3))(x),
    "jacobian": lambda x: torch.autograd.functional.jacobian(lambda t: t**3, x, create_graph=True),
    "hvp": lambda x: torch.autograd.functional.hvp(cube, x, torch.ones(2), create_graph=True)[1],
}


@pytest.mark.parametrize("call", CALLS)
def test_watching_changes_nothing(call):
    with dialect("2"):
        x, y = leaf(), leaf()
        plain = CALLS[call](x)
        with record() as recording:
            watched = CALLS[call](y)
            watched.sum().backward()
        plain.sum().backward()
        assert spelled(plain) == spelled(watched) and graph(plain) == graph(watched)
        assert spelled(x.grad) == spelled(y.grad)
    assert recording.report.text(steps=True)


def test_a_gradient_is_a_call_of_its_own():
    x = leaf()
    with dialect("2"), record() as recording:
        g = torch.func.grad(cube)(x)
        g.sum().backward()
    events = recording.trace.events
    inner = next(e for e in events if isinstance(e, TensorDetached))
    first, second = (e for e in events if isinstance(e, BackwardStarted))
    assert (first.kind, first.create_graph, second.kind) == ("grad", True, "backward")
    power, total = (e for e in events[: events.index(first)] if isinstance(e, Forward))
    assert (power.op, power.inputs[0]) == ("pow_scalar", inner.tensor.id)
    assert (total.op, total.outputs[0].id) == ("sum_all", first.roots[0])
    assert [node.name for node in first.nodes][:2] == ["SumBackward0", "PowBackward0"]
    (deposit,) = (e for e in events if isinstance(e, GradAccumulated))
    assert (deposit.tensor, deposit.call) == (inner.source, second.call)
    assert [e.call for e in events if isinstance(e, NodeRan)].count(first.call) == 2
