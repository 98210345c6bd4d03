"""Real programs into which mistakes are put by rule: nearly all that fail are explained, and nearly all code
that is proposed makes them run. With `--full` all programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
import tiers

SOME = ("name_mlp", "res_block", "lstm_tagger", "logistic", "two_optimizers")


def counts(library: str) -> dict[str, Any]:
    """What came of the mutants, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "MPLBACKEND": "Agg"}
    command = [sys.executable, "-m", "zoo.mutated", library, *(() if tiers.full else SOME)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.full
@pytest.mark.parametrize("name", ["minigrad", "PyTorch"])
def test_mistakes_in_real_programs(name: str, request: pytest.FixtureRequest) -> None:
    if name == "PyTorch":
        request.getfixturevalue("torch")
    count = counts(name)
    print(f"\n{name}: {count}")
    assert not count.get("false", 0)
    assert count["failed"] > 30
    assert count["explained"] >= 0.9 * count["failed"], count
    assert count["code"] >= 0.6 * count["explained"], count
    assert count["cured"] >= 0.8 * count["code"], count
