"""Every argument of a function or method may be given by the name that it has in PyTorch's signature."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest
import random_calls
from random_calls import Call, Calls, End, close, is_called, place_of, same_shapes

from minigrad.tensor.signatures import Parameter, forms, signatures

TRIES = 30
NAMES = sorted(name for name in signatures() if is_called(name))


def by_name(values: list[str], form: list[Parameter]) -> list[str]:
    """Arguments with their names."""
    return [f"{parameter.name}={value}" for parameter, value in zip(form, values)]


def tried(calls: Calls, name: str, form: list[Parameter]) -> tuple[Call, Call] | None:
    """A call with all arguments of a signature by place, as far as they have one, and the same call by name;
    None if PyTorch accepts none of many.
    """
    placed = [p for p in form if not (p.keyword or p.name in random_calls.RARE)]
    named = [p for p in form if p.keyword and p.name not in random_calls.RARE]
    for _ in range(TRIES):
        head = f"{calls.tensor()}.{name.partition('.')[2]}" if name.startswith("Tensor.") else place_of(name)
        values = [calls.value(p) for p in placed]
        keywords = [f"{p.name}={calls.value(p)}" for p in named]
        both = [Call(head, [v + keywords]) for v in (values, by_name(values, placed))]
        if all(End(calls.torch, call.text()).error is None for call in both):
            return both[0], both[1]
    return None


def wrongs(torch: Any, name: str) -> list[str]:
    """What is not as in PyTorch, of the calls of all forms of a function."""
    calls, found = Calls(torch, 0), []
    fits = same_shapes if random_calls.SHAPE_ONLY.search(name) else close
    for form, is_current in forms(name):
        if not is_current or any(p.name in ("from", "self") for p in form):
            continue
        calls.random = Random(name)
        pair = tried(calls, name, form)
        for call in pair or ():
            ours, theirs = (End(library, call.text()) for library in (random_calls.minigrad, torch))
            told = f"{ours.text()} | {theirs.text()}"
            is_left_out = ours.error is not None and random_calls.LEFT_OUT.match(str(ours.error))
            if is_left_out or (ours.error is None and fits(ours.result, theirs.result)):
                continue
            difference = f"{'error' if ours.error else 'result'}: {told}\t{call.text()}"
            if not random_calls.IS_KNOWN.match(difference):
                found.append(difference)
    return found


@pytest.mark.parametrize("letter", sorted({re.sub(r"^Tensor\.", "", name)[0] for name in NAMES}))
def test_every_argument_has_pytorchs_name(torch, letter):
    names = [name for name in NAMES if re.sub(r"^Tensor\.", "", name)[0] == letter]
    assert [wrong for name in names for wrong in wrongs(torch, name)] == []
