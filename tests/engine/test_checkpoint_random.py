"""Random functions with checkpoints inside checkpoints, in both libraries: same runs, values and errors."""

import random
import warnings

import pytest
from functions import square_and_result
from test_checkpoint import checkpointing
from tiers import examples
from twins import dialect, noted, outcome

import minigrad

PROGRAMS = examples(300)
STEPS = {
    "exp": lambda L, y, x: (y * 0.1).exp(),
    "product": lambda L, y, x: y * x,
    "square": lambda L, y, x: y**2 * 0.5,
    "tanh": lambda L, y, x: y.tanh(),
    "views": lambda L, y, x: (y.view(2, 1) * y[0:2]).sum(0),
    "sum": lambda L, y, x: y + x,
    "in place": lambda L, y, x: (y * 1.5).mul_(0.5).exp_() * 0.1,
    "detached": lambda L, y, x: y * x.detach(),
    "where": lambda L, y, x: L.where(y > 0.5, y * 2, y * y),
    "function": lambda L, y, x: square_and_result(L).apply(y) * 0.3,
    "nested": None,
}


def made(L, rnd, note, name="f", depth=0):
    """A function drawn from `rnd` that notes its steps; up to three levels of checkpoints inside."""
    plan = []
    for i in range(rnd.randint(1, 4)):
        step = rnd.choice(list(STEPS))
        inner = None
        if step == "nested" and depth < 3:
            inner = made(L, rnd, note, f"{name}.{i}", depth + 1), rnd.choice([False, False, True])
        plan.append((step, inner))

    def function(x):
        note((name, L.is_grad_enabled()))
        y = x
        for step, inner in plan:
            note((name, step))
            if step != "nested":
                y = STEPS[step](L, y, x)
            elif inner is not None:
                y = checkpointing(L).checkpoint(inner[0], y, use_reentrant=inner[1])
        return y

    return function


def ended(L, rnd, lines):
    """Run one program; what it noted is in `lines`."""
    function = made(L, rnd, lines.append)
    reentrant, early = rnd.choice([False, False, False, True]), rnd.choice([True, True, False])
    end = rnd.choice(["once", "twice", "retained", "grad", "second"])
    x = L.tensor([0.3, 0.7], requires_grad=True, dtype=L.float64)
    with checkpointing(L).set_checkpoint_early_stop(early):
        out = checkpointing(L).checkpoint(function, x * 1, use_reentrant=reentrant).sum()
    lines.append(noted(out)[:3])

    def backward():
        if end in ("grad", "second"):
            (g,) = L.autograd.grad(out, x, create_graph=end == "second")
            again = end == "second" and g.requires_grad
            return noted(g)[:3], again and noted(L.autograd.grad(g.sum(), x, allow_unused=True))
        out.backward(retain_graph=end == "retained")
        return None if end == "once" else out.backward()

    lines += [end, outcome(backward), noted(x.grad)]


@pytest.mark.parametrize("part", range(3))
def test_the_same_in_both(torch, part):
    with dialect("2"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(part, PROGRAMS, 3):
            ours, theirs = [], []
            for L, lines in ((minigrad, ours), (torch, theirs)):
                lines.append(outcome(ended, L, random.Random(seed), lines))
            assert repr(ours) == repr(theirs), f"seed {seed}"
