"""An observer makes the engine run node by node. Random programs give the same bits and hook calls
with one and without.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from functions import made
from hypothesis import HealthCheck, given, settings
from random_programs import Run
from test_random_programs import GENERATORS, programs
from tiers import examples
from twins import dialect, noted, numbers, outcome

import minigrad
from minigrad.core.modes import add_observer, remove_observer


class Nobody:
    """An observer that hears everything and does nothing; it counts the nodes that ran."""

    def __init__(self) -> None:
        self.nodes = 0

    def node_ran(self, *what: Any) -> None:
        self.nodes += 1

    def quiet(self, *what: Any) -> None:
        """What does not matter here."""

    forward = created = detached = mutated = mode_changed = backward_started = backward_ended = quiet
    hook_starts = hook_ended = custom_starts = custom_ended = packed = unpacked = recomputed = quiet
    left = asked = grad_set = retained = deposit_starts = quiet


@contextlib.contextmanager
def observed(wanted: bool = True) -> Iterator[Nobody]:
    observer = Nobody()
    if wanted:
        add_observer(observer)
    try:
        yield observer
    finally:
        if wanted:
            remove_observer(observer)


class ObservedAtTheEnd(Run):
    """A program whose graph is made as usual and whose last backward calls are observed."""

    def differentiate(self, end: str, root: Any, a: Any, b: Any) -> None:
        with observed():
            super().differentiate(end, root, a, b)


def done(program: Any, how: type[Run], watched: bool = False) -> Run:
    """A program that was run."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), dialect("2"), observed(watched):
        warnings.simplefilter("ignore")
        return how(minigrad).whole(program)


def bits(t: Any) -> Any:
    """The numbers of a tensor to the last bit; every NaN is the same."""
    if t is None:
        return None
    array = numbers(t)
    if array.dtype.kind in "fc":
        array = np.where(np.isnan(array), np.nan, array)
    return array.dtype.str, array.shape, array.tobytes()


def assert_same_run(plain: Run, watched: Run) -> None:
    assert len(plain.facts) == len(watched.facts)
    for a, b in zip(plain.facts, watched.facts, strict=True):
        assert a == b
    assert [bits(t) for t in plain.values] == [bits(t) for t in watched.values]


@pytest.mark.sample(2)
@pytest.mark.parametrize("generator", sorted(GENERATORS))
def test_programs_do_the_same_observed_or_not(generator):
    @settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))
    @given(program=programs(generator))
    def run(program: Any) -> None:
        plain = done(program, Run)
        assert_same_run(plain, done(program, ObservedAtTheEnd))
        assert_same_run(plain, done(program, Run, watched=True))

    run()


# ---------------------------------------------------------------------------------------- an error on the way

STEPS = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "exp": lambda a, b: (a * 0.125).exp(),
    "sub": lambda a, b: a - b * 2,
    "tanh": lambda a, b: a.tanh(),
    "square": lambda a, b: a**2,
}
places = st.integers(0, 20)
steps = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), places, places), min_size=2, max_size=12)


def with_error(L: Any, how: str, program: list[Any], where: int, shape: tuple[int, ...]) -> list[Any]:
    """Run a program whose backward fails at one place: how, and what each leaf holds then."""

    def fail(ctx, g):
        raise ArithmeticError("no gradient")

    fails = made(L, lambda ctx, x: x * 1, fail)
    leaves = [L.full(shape, 0.5 + 0.25 * i, dtype=L.float64, requires_grad=True) for i in range(4)]
    tensors = list(leaves)
    spoilt = None
    for i, (name, a, b) in enumerate(program):
        result = STEPS[name](tensors[a % len(tensors)], tensors[b % len(tensors)])
        if i == where % len(program):
            spoilt = result
            result = (
                fails.apply(result)
                if how == "custom Function"
                else result * result
                if how == "write"
                else result
            )
        tensors.append(result)
    root = sum(t.sum() for t in tensors[4:])
    if how == "write":
        with L.no_grad():
            spoilt.add_(1)
    if how == "hook":
        spoilt.register_hook(lambda g: [][0])
    ended = outcome(root.backward)
    return [ended, *(noted(t.grad) for t in leaves)]


@pytest.mark.parametrize("how", ["custom Function", "write", "hook"])
def test_an_error_midway_leaves_the_same_gradients(torch, how):
    @settings(max_examples=examples(100), deadline=None)
    @given(program=steps, where=places, shape=st.sampled_from([(), (2,)]))
    def run(program: Any, where: int, shape: tuple[int, ...]) -> None:
        with dialect("2"):
            plain = with_error(minigrad, how, program, where, shape)
            with observed() as observer:
                watched = with_error(minigrad, how, program, where, shape)
            theirs = with_error(torch, how, program, where, shape)
        assert isinstance(plain[0], tuple) and observer.nodes
        assert plain == watched == theirs

    run()
