"""Random programs, run by minigrad and by PyTorch: same values, gradients, versions, graphs and errors.

Each generator draws its programs from some kinds of instructions.
"""

from __future__ import annotations

from typing import Any

import pytest
import random_instructions as ri
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_functions import FUNCTIONS
from random_programs import compare
from tiers import examples
from twins import dialect

import minigrad

KINDS: dict[str, list[str]] = {
    "unary": sorted(ri.UNARY),
    "binary": sorted(ri.BINARY),
    "view": sorted(ri.VIEWS),
    "in place": sorted(ri.IN_PLACE),
    "turn": sorted(ri.TURN),
    "function": FUNCTIONS,
    "mode": sorted(ri.MODES),
    "saved hooks": ["same", "array"],
    "leave": [""],
    "retain": [""],
    "hook": ri.HOOKS,
    "remove": [""],
    "backward": ["retained", "freed"],
    "forget": [""],
}
# By generator, how often each kind of instruction is drawn.
GENERATORS: dict[str, dict[str, int]] = {
    "ops": {"unary": 3, "binary": 4, "view": 1, "in place": 2, "retain": 1, "hook": 1, "mode": 1, "leave": 1},
    "views": {"unary": 1, "binary": 2, "view": 4, "in place": 4, "turn": 1, "retain": 1},
    "modes": {
        "unary": 2,
        "binary": 2,
        "view": 3,
        "in place": 3,
        "turn": 1,
        "mode": 3,
        "leave": 2,
        "backward": 1,
    },
    "hooks": {
        "unary": 2,
        "binary": 3,
        "view": 2,
        "in place": 2,
        "turn": 1,
        "hook": 4,
        "remove": 1,
        "retain": 2,
        "backward": 2,
        "forget": 1,
    },
    "functions": {
        "unary": 2,
        "binary": 2,
        "view": 2,
        "in place": 2,
        "turn": 1,
        "function": 4,
        "saved hooks": 1,
        "leave": 1,
        "mode": 1,
        "hook": 1,
        "retain": 1,
        "backward": 1,
    },
}
places = st.integers(0, 30)


def programs(generator: str) -> Any:
    """Programs of a generator: leaves, instructions, the end and two operands for it."""
    kinds = [
        st.tuples(st.just(kind), st.sampled_from(KINDS[kind]), places, places)
        for kind, n in GENERATORS[generator].items()
        for _ in range(n)
    ]
    return st.tuples(
        st.lists(st.sampled_from(sorted(ri.VALUES)), min_size=1, max_size=3),
        st.lists(st.one_of(*kinds), min_size=1, max_size=14),
        st.sampled_from(ri.ENDS),
        places,
        places,
    )


@pytest.mark.parametrize("generator", sorted(GENERATORS))
def test_programs_do_the_same_in_both(torch, generator):
    @settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))
    @given(program=programs(generator))
    def run(program: Any) -> None:
        with dialect("2"):
            found = compare(program, minigrad, torch)
        assert found is None, found

    run()
