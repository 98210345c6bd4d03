"""Random programs, run by minigrad and by PyTorch: same values, gradients, versions, graphs and errors.

A program works on a list of tensors. Each instruction picks operands by number (modulo the length of the
list) and appends its result, so that every list of instructions is a program and hypothesis can shrink it.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twins import dialect, dtype_of, graph, numbers, outcome

import minigrad

UNARY = {
    "neg": lambda t: -t,
    "exp": lambda t: t.exp(),
    "tanh": lambda t: t.tanh(),
    "sigmoid": lambda t: t.sigmoid(),
    "relu": lambda t: t.relu(),
    "sin": lambda t: t.sin(),
    "abs": lambda t: t.abs(),
    "sqrt": lambda t: t.sqrt(),
    "log": lambda t: t.log(),
    "square": lambda t: t**2,
    "cube": lambda t: t**3,
    "reciprocal": lambda t: t.reciprocal(),
    "add number": lambda t: t + 1.5,
    "mul number": lambda t: t * -0.5,
    "rsub": lambda t: 1 - t,
    "div number": lambda t: t / 4,
    "sum": lambda t: t.sum(),
    "mean": lambda t: t.mean(),
    "clone": lambda t: t.clone(),
    "detach": lambda t: t.detach(),
    "reshape": lambda t: t.reshape(-1),
    "unsqueeze": lambda t: t.unsqueeze(0),
    "squeeze": lambda t: t.squeeze(),
    "double use": lambda t: t * t,
    "first": lambda t: t[0],
    "rest": lambda t: t[1:],
    "column": lambda t: t[..., 0],
    "transpose": lambda t: t.t(),
    "expand": lambda t: t.expand(2, *t.shape),
}
VIEWS = {"detach", "reshape", "unsqueeze", "squeeze", "first", "rest", "column", "transpose", "expand"}
BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "matmul": lambda a, b: a @ b,
}
# Without zero_: PyTorch can write it into an expanded tensor but not run backward through that.
IN_PLACE = {
    "add_": lambda a, b: a.add_(b),
    "mul_": lambda a, b: a.mul_(b),
    "sub_": lambda a, b: a.sub_(b),
    "add_ number": lambda a, b: a.add_(2),
    "mul_ number": lambda a, b: a.mul_(0.5),
    "neg_": lambda a, b: a.neg_(),
    "tanh_": lambda a, b: a.tanh_(),
    "exp_": lambda a, b: a.exp_(),
    "copy_": lambda a, b: a.copy_(b),
}
places = st.integers(0, 30)
instruction = st.one_of(
    st.tuples(st.just("unary"), st.sampled_from(sorted(UNARY)), places, places),
    st.tuples(st.just("binary"), st.sampled_from(sorted(BINARY)), places, places),
    st.tuples(st.just("binary"), st.sampled_from(sorted(BINARY)), places, places),
    st.tuples(st.just("in place"), st.sampled_from(sorted(IN_PLACE)), places, places),
    st.tuples(st.just("no_grad"), st.sampled_from(sorted(BINARY)), places, places),
    st.tuples(st.just("retain"), st.just(""), places, places),
    st.tuples(st.just("hook"), st.sampled_from(["see", "double"]), places, places),
)
programs = st.tuples(
    st.lists(st.sampled_from(["scalar", "vector", "one", "matrix", "constant"]), min_size=1, max_size=3),
    st.lists(instruction, min_size=1, max_size=14),
    st.sampled_from(["backward", "twice", "grad", "second order", "create_graph"]),
)
VALUES = {
    "scalar": 0.7,
    "vector": [0.5, -1.25, 2.0],
    "one": [1.5],
    "matrix": [[1.0, 0.25, -0.5], [0.75, 2.0, 1.0]],
}


def summary(t: Any) -> Any:
    """What must be equal of a tensor beside its numbers."""
    if t is None:
        return None
    return dtype_of(t), list(t.shape), t.requires_grad, t.is_leaf, t.grad_fn and t.grad_fn.name()


class Run:
    """One program in one library: `facts` must be equal, `values` nearly so."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.tensors: list[Any] = []
        self.views: set[int] = set()  # places of tensors that may be views
        self.facts: list[Any] = []
        self.values: list[Any] = []

    def start(self, leaves: list[str]) -> None:
        for name in leaves:
            value = VALUES.get(name, [1.0, 2.0, 3.0])
            made = self.library.tensor(value, dtype=self.library.float64, requires_grad=name != "constant")
            self.tensors.append(made)
        self.leaves = list(self.tensors)

    def step(self, kind: str, name: str, i: int, j: int) -> None:
        i, j = i % len(self.tensors), j % len(self.tensors)
        if kind == "hook" and i in self.views:
            return  # PyTorch crashes where the base of such a view was written to
        a, b = self.tensors[i], self.tensors[j]
        result = outcome(lambda: self.perform(kind, name, a, b))
        for t in self.tensors:
            t.grad_fn  # noqa: B018 - brings views up to date, without which PyTorch takes some for leaves
        if isinstance(result, tuple):
            self.facts.append(("error", kind, name, *result))
        elif result is not None:
            if name in VIEWS:
                self.views.add(len(self.tensors))
            self.tensors.append(result)
            self.facts.append((kind, name, summary(result), result._version, graph(result)))
            self.values.append(result)

    def perform(self, kind: str, name: str, a: Any, b: Any) -> Any:
        if kind == "unary":
            return UNARY[name](a)
        if kind == "binary":
            return BINARY[name](a, b)
        if kind == "in place":
            return IN_PLACE[name](a, b) and None
        if kind == "no_grad":
            with self.library.no_grad():
                return BINARY[name](a, b)
        if kind == "retain":
            return a.retain_grad()
        a.register_hook(self.hook(name))
        return None

    def hook(self, name: str) -> Any:
        def call(g: Any) -> Any:
            self.facts.append(("hook", name, list(g.shape), g.requires_grad))
            self.values.append(g.detach().clone())
            return g * 2 if name == "double" else None

        return call

    def finish(self, how: str) -> None:
        root = self.tensors[-1]
        self.facts.append(outcome(lambda: self.differentiate(how, root)))
        for t in self.tensors:
            self.facts.append((summary(t), t._version, t.retains_grad, summary(t.grad)))
            self.values += [t, t.grad]

    def differentiate(self, how: str, root: Any) -> None:
        seed = self.library.ones_like(root.detach())
        if how in ("backward", "twice"):
            root.backward(seed, retain_graph=how == "twice")
            if how == "twice":
                root.backward(seed)
        elif how == "create_graph":
            root.backward(seed, create_graph=True)
        else:
            learned = [t for t in self.leaves if t.requires_grad]
            again = how == "second order"
            grads = self.library.autograd.grad(root, learned, seed, create_graph=again, allow_unused=True)
            self.values += grads
            ready = [g for g in grads if g is not None and g.requires_grad]
            if ready:
                ones = [self.library.ones_like(g.detach()) for g in ready]
                self.values += self.library.autograd.grad(ready, learned, ones, allow_unused=True)


def without_origin(fact: Any) -> Any:
    """An error without the node it names: PyTorch names the one that stands in the tensor when the error
    occurs.
    """
    if isinstance(fact, tuple):
        return tuple(without_origin(part) for part in fact)
    return re.sub(r", which is output \d+ of [\w:]+,", "", fact) if isinstance(fact, str) else fact


def close(ours: Any, theirs: Any) -> bool:
    """Whether two gradients or values agree to 8 digits; where PyTorch has NaN or infinity, so have we."""
    if ours is None or theirs is None:
        return ours is theirs
    a, b = numbers(ours), numbers(theirs)
    if a.shape != b.shape:
        return False
    both_infinite = np.isinf(a) & np.isinf(b)  # of either sign: a dot product may give -0.0 for 0.0
    return bool(np.all(both_infinite | np.isclose(a, b, rtol=1e-8, atol=1e-10, equal_nan=True)))


EXAMPLES = int(os.environ.get("MINIGRAD_EXAMPLES", "300"))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=programs)
def test_a_program_does_the_same_in_both(torch, program):
    leaves, instructions, how = program
    runs = []
    with dialect("2"), np.errstate(all="ignore"):
        for library in (minigrad, torch):
            run = Run(library)
            run.start(leaves)
            for step in instructions:
                run.step(*step)
            run.finish(how)
            runs.append(run)
        ours, theirs = runs
        for a, b in zip(ours.facts, theirs.facts, strict=False):
            assert without_origin(a) == without_origin(b), f"\nours    {a}\nPyTorch {b}"
        assert len(ours.facts) == len(theirs.facts)
        assert len(ours.values) == len(theirs.values)
        for a, b in zip(ours.values, theirs.values, strict=True):
            assert close(a, b), f"\nours    {a}\nPyTorch {b}"
