"""Random programs in forward mode: views, in-place ops, switched modes, errors and what backward makes of the
tangents are PyTorch's.

Left out: transposed operands beside others, for NumPy lays out what they give in another order, on which it
depends whether a tangent is copied; division by 0, for PyTorch takes nothing times infinity for nothing in
some places; writing to memory that is read at the same time, which PyTorch leaves undefined; views made under
`no_grad`; and what an error says about who made a tensor that was written to, and how often it was.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np
import pytest
from twins import assert_same_diary, graph, numbers, outcome

# PyTorch compiles its own formulas when the first dual tensor is made.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")
BLOCKS, BLOCK = 10, 20  # tests, programs per test

UNARY = ("neg", "tanh", "sigmoid", "sin", "cos", "relu", "abs", "clone", "detach", "exp")
BINARY = ("add", "sub", "mul", "div")
VIEWS = ("row", "column", "part", "flat", "unsqueeze", "unbind", "split", "diagonal")
IN_PLACE = ("add_", "sub_", "mul_", "div_", "copy_")
IN_PLACE_UNARY = ("neg_", "tanh_", "sigmoid_", "zero_", "exp_")

KINDS = {  # what an instruction may be, and how often
    "unary": 3,
    "binary": 4,
    "number": 2,
    "view": 5,
    "in_place": 4,
    "in_place_unary": 2,
    "item": 1,
    "reduce": 1,
    "matrix": 2,
    "join": 1,
    "where": 1,
    "dual": 1,
    "backward": 1,
}


def instruction(rng: random.Random) -> tuple[Any, ...]:
    """One step: what is done, and with which tensors (numbers that are taken modulo their count)."""
    kind = rng.choices([*KINDS], [*KINDS.values()])[0]
    names = {
        "unary": UNARY,
        "binary": BINARY,
        "number": BINARY,
        "view": VIEWS,
        "in_place": IN_PLACE,
        "in_place_unary": IN_PLACE_UNARY,
        "reduce": ("sum", "mean", "sum0"),
        "join": ("cat", "stack"),
    }
    off = rng.random()
    mode = "" if kind == "view" else "no_grad" if off < 0.06 else "off" if off < 0.1 else ""
    return kind, rng.choice(names.get(kind, ("",))), rng.randrange(99), rng.randrange(99), mode


def viewed(name: str, a: Any) -> Any:
    """A view of a tensor of any shape; errors are part of the program."""
    return {
        "row": lambda: a[0],
        "column": lambda: a[:, 1],
        "part": lambda: a[1:],
        "flat": lambda: a.view(-1),
        "unsqueeze": lambda: a.unsqueeze(0),
        "unbind": lambda: a.unbind()[0],
        "split": lambda: a.split(1)[-1],
        "diagonal": lambda: a.diagonal(),
    }[name]()


def step(L: Any, kind: str, name: str, a: Any, b: Any) -> Any:
    """The result of one instruction; None if there is none."""
    _ = a.grad_fn  # PyTorch takes a view that was not looked at since its base got a history for a leaf
    if kind in ("unary", "in_place_unary"):
        return getattr(a, name)()
    if kind in ("binary", "in_place"):
        return getattr(a, name)(b * b + 1 if name.startswith("div") else b * 1 if kind == "in_place" else b)
    if kind == "number":
        return getattr(a, name)(1.5)
    if kind == "view":
        return viewed(name, a)
    if kind == "item":
        a[0] = b[0] * 1 if b.dim() else b * 1
    elif kind == "reduce":
        return a.sum(0) if name == "sum0" else getattr(a, name)()
    elif kind == "matrix":
        return a @ b
    elif kind == "join":
        return getattr(L, name)([a, b])
    elif kind == "where":
        return L.where(a.detach() > 0.5, a, b)
    elif kind == "dual":
        return L.autograd.forward_ad.make_dual(a.detach().clone(), b.detach().clone())
    elif kind == "backward":
        return L.autograd.grad(a.sum(), b, retain_graph=True)[0] * 1
    return None


def program_of(seed: int) -> Any:
    """A program as `assert_same_diary` runs it."""
    rng = random.Random(seed)
    learns = rng.random() < 0.6
    steps = [instruction(rng) for _ in range(rng.randrange(4, 14))]

    def program(L: Any, note: Any) -> None:
        fw = L.autograd.forward_ad
        leaves = [
            L.tensor(v, dtype=L.float64, requires_grad=learns)
            for v in (
                [[0.5, -1.0], [1.5, 0.75]],
                [[1.0, 2.0], [-0.5, 0.25]],
                [[0.25, 1.25], [2.0, -0.75]],
                [0.5, 2.0],
                [1.0, -1.0],
            )
        ]
        x, t, o, p, u = leaves
        with fw.dual_level():
            pool = [fw.make_dual(x, t), o * 1, fw.make_dual(p, u) * 1, L.ones(2, 2, dtype=L.float64)]
            for kind, name, i, k, mode in steps:
                a, b = pool[i % len(pool)], pool[k % len(pool)]
                with L.set_grad_enabled(mode != "no_grad"), fw._set_fwd_grad_enabled(mode != "off"):
                    made = outcome(step, L, kind, name, a, b)
                note(kind, name, rounded(made) if isinstance(made, tuple) else "")
                if made is not None and not isinstance(made, tuple):
                    pool.append(made)
            for r in pool:
                look(L, note, r, leaves)

    return program


def look(L: Any, note: Any, r: Any, leaves: list[Any]) -> None:
    """Note a tensor, its tangent, and the gradients through the tangent."""
    found = outcome(lambda: L.autograd.forward_ad.unpack_dual(r).tangent)
    tangent = None if isinstance(found, tuple) else found
    note(outcome(lambda: (rounded(r), r.requires_grad)), rounded(found), r._version)
    if (
        tangent is not None
        and tangent.requires_grad
        and np.isfinite([numbers(tangent).sum(), numbers(r).sum()]).all()
    ):
        note(outcome(graph, tangent))
        sent = outcome(lambda: L.autograd.grad(tangent.sum(), leaves, allow_unused=True, retain_graph=True))
        note([rounded(g) for g in sent])


def rounded(thing: Any) -> Any:
    """The numbers of a tensor, in so far as rounding errors do not show; an error without who is to blame."""
    if thing is None:
        return None
    if isinstance(thing, (str, tuple)):
        return re.sub(r"(, which is output .*,)? is at version .* instead", "", str(thing))
    values = np.round(numbers(thing).astype(float), 7)
    return values.shape, [float(f"{v:.5g}") + 0.0 for v in values.ravel()]


@pytest.mark.sample(3)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_programs(torch, block):
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                assert_same_diary(program_of(seed), torch)
            except AssertionError as error:
                raise AssertionError(f"program {seed}: {error}") from None
