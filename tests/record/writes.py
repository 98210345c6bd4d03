"""Ways to write to a tensor beside in-place methods: each returns the tensors whose versions are recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Write = Callable[[Any], tuple[Any, ...]]
WRITES: dict[str, Write] = {}
OPTIMIZERS = ("SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "NAdam", "RMSprop", "LBFGS")


def write(function: Write) -> Write:
    WRITES[function.__name__.replace("_", " ")] = function
    return function


def leaf(L: Any) -> Any:
    return L.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


@write
def assigned_item(L):
    x = leaf(L).detach()
    x[0] = 1.0
    x[0, 1] = L.tensor(2.0)
    return (x,)


@write
def assigned_by_mask(L):
    x, y = leaf(L).detach(), L.tensor([5.0, 6.0])
    x[x > 2] = y
    x[x > 100] = 0.0
    return x, y


@write
def operators(L):
    x = leaf(L).detach()
    x += 1
    x -= x
    x *= 2
    x /= 3
    x **= 2
    x //= 2
    x %= 2
    return (x,)


@write
def under_no_grad(L):
    p = leaf(L)
    with L.no_grad():
        p -= 1
        p.add_(1)
        p[0] = 0.0
    return (p,)


@write
def through_data(L):
    p = leaf(L)
    data = p.data
    p.data -= 1  # writes to the memory, then assigns
    data.add_(1)
    p.data.mul_(2)
    return p, data


@write
def data_assigned(L):
    p, other = leaf(L), leaf(L).detach()
    other.add_(1)
    view = p.detach()[0]
    p.data = other
    p.data.add_(1)
    return p, other, view


@write
def through_detach(L):
    p = leaf(L)
    d = p.detach()
    d.add_(1)
    d[0].mul_(2)
    return p, d


@write
def through_views(L):
    x = leaf(L) * 1
    row, flat, turned = x[0], x.view(-1), x.t()
    row.add_(1)
    flat[1:].mul_(2)
    turned.zero_()
    return x, row, flat, turned


@write
def through_an_array(L):
    x = leaf(L).detach()
    x.numpy()[0] = 5.0
    return (x,)


@write
def from_an_array(L):
    import numpy as np

    array = np.ones(3)
    x = L.from_numpy(array)
    array[0] = 5.0
    x.add_(1)
    return (x,)


@write
def gradients(L):
    p = leaf(L)
    (p * 2).sum().backward()
    first = p.grad
    (p * 2).sum().backward()
    p.grad.zero_()
    p.grad = leaf(L).detach()
    (p * 2).sum().backward()
    return p, first, p.grad


@write
def copies(L):
    x, y, z = leaf(L).detach(), leaf(L).detach(), leaf(L).detach()
    x.copy_(y)
    y.transpose_(0, 1)
    z.resize_(3)
    return x, y, z


@write
def initialized(L):
    p, q, r = leaf(L), leaf(L), leaf(L)
    L.nn.init.zeros_(p)
    L.nn.init.uniform_(q)
    L.nn.init.xavier_uniform_(r)
    return p, q, r


@write
def clipped(L):
    p = leaf(L)
    (p * 2).sum().backward()
    L.nn.utils.clip_grad_norm_([p], 1.0)
    L.nn.utils.clip_grad_value_([p], 0.5)
    return p, p.grad


@write
def running_statistics(L):
    layer = L.nn.BatchNorm1d(2)
    layer(leaf(L))
    return layer.weight, layer.running_mean, layer.running_var, layer.num_batches_tracked


@write
def loaded_state(L):
    layer = L.nn.Linear(2, 2)
    layer.load_state_dict(L.nn.Linear(2, 2).state_dict())
    return layer.weight, layer.bias


@write
def dropped_in_place(L):
    x = leaf(L) * 1
    L.nn.functional.dropout(x, 0.5, True, True)
    L.nn.functional.relu(x, inplace=True)
    return (x,)


@write
def requires_grad_set(L):
    x = L.ones(2)
    x.requires_grad_()
    y = (x * 1).detach_()
    return x, y


@write
def views_that_turn(L):
    x = leaf(L).detach()
    x.t_()
    x.unsqueeze_(0)
    x.squeeze_()
    return (x,)


def step_of(name: str) -> Write:
    def step(L: Any) -> tuple[Any, ...]:
        p, frozen = leaf(L), leaf(L)
        if name == "LBFGS":
            optimizer = L.optim.LBFGS([p, frozen], max_iter=2)
        else:
            optimizer = getattr(L.optim, name)([p, frozen], lr=0.1)

        def closure() -> Any:
            optimizer.zero_grad()
            loss = (p**2).sum()
            loss.backward()
            return loss

        closure()
        for _ in range(2):
            optimizer.step(closure)
        return p, frozen, p.grad

    return step


WRITES |= {f"step of {name}": step_of(name) for name in OPTIMIZERS}
