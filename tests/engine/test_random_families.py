"""Random programs of several families, run by minigrad and by PyTorch: trainings, loaders and generators,
hooks, function transforms. A program is made from its number; `pytest --full` runs more of them.
"""

from __future__ import annotations

import importlib
import math
import warnings

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from own_texts import alike
from tiers import examples
from twins import Diary, dialect, pad

import minigrad

FAMILIES = ("random_training", "random_loading", "random_hooks", "random_transforms")


def equal_up_to_rounding(ours: object, theirs: object) -> bool:
    """Whether two notes are equal, up to rounding; of errors the classes."""
    if isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple)):
        if len(ours) != len(theirs):
            return False
        if len(ours) == 2 and isinstance(ours[0], str) and ours[0].endswith("Error"):
            return bool(ours[0] == theirs[0])
        return all(map(equal_up_to_rounding, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=2e-4, abs_tol=1e-9) or (ours != ours and theirs != theirs)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [*ours] == [*theirs] and all(equal_up_to_rounding(ours[k], theirs[k]) for k in ours)
    return type(ours) is type(theirs) and alike(ours, theirs)


@pytest.mark.parametrize("family", FAMILIES)
def test_programs_do_the_same_in_both(torch, family):
    program_of = importlib.import_module(family).program_of

    @settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))
    @given(seed=st.integers(0, 10**6))
    def run(seed: int) -> None:
        ours, theirs = Diary(), Diary()
        with dialect("2"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                program_of(seed)(torch, theirs)
            except LookupError as error:
                assume(type(error) is not LookupError)  # what PyTorch cannot do
                raise
            program_of(seed)(minigrad, ours)
        for i, (a, b) in enumerate(pad(ours.lines, theirs.lines)):
            assert equal_up_to_rounding(a, b), f"program {seed}, line {i}:\n  ours    {a!r}\n  PyTorch {b!r}"

    run()
