"""Programs as courses teach them, on both libraries, plainly and under `%%autograd`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest
import real_runs
import tiers

ALL = [path.stem for path in real_runs.PROGRAMS]
NAMES = ALL if tiers.full else ALL[::12]


def runs(library: str) -> dict[str, Any]:
    """What the programs did on a library, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "MPLBACKEND": "Agg"}
    command = [sys.executable, real_runs.__file__, library, *NAMES]
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def on_minigrad() -> dict[str, Any]:
    return runs("minigrad")


@pytest.fixture(scope="module")
def on_pytorch() -> dict[str, Any]:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    return runs("PyTorch")


@pytest.fixture(params=["minigrad", "PyTorch"])
def program(request: pytest.FixtureRequest) -> dict[str, Any]:
    return request.getfixturevalue(f"on_{request.param.lower()}")


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", NAMES)
def test_minigrad_prints_what_pytorch_prints(name: str, on_minigrad: Any, on_pytorch: Any) -> None:
    plain = on_minigrad[name]["plain"]
    assert plain["printed"] and not plain["failed"]
    assert plain["printed"] == on_pytorch[name]["plain"]["printed"]


@pytest.mark.parametrize("name", NAMES)
def test_watching_changes_nothing(name: str, program: Any) -> None:
    plain, watched = program[name]["plain"], program[name]["watched"]
    for what in ("printed", "failed", "variables"):
        assert watched[what] == plain[what], what
    assert watched["complained"] == plain["complained"] == ""


@pytest.mark.parametrize("name", NAMES)
def test_there_is_a_picture(name: str, program: Any) -> None:
    ran = program[name]["watched"]
    assert any(re.search(rf"^{each}[₀-₉]* ", ran["outline"], re.MULTILINE) for each in ran["variables"])


@pytest.mark.parametrize("name", NAMES)
def test_the_first_screen_is_readable(name: str, program: Any) -> None:
    check = program[name]["checked"]
    assert 0 < check["stations"] <= 40
    assert check["root"], "the root of the backward call is shown, or in a box that is"


@pytest.mark.parametrize("name", NAMES)
def test_every_box_is_named_truly(name: str, program: Any) -> None:
    """Against the objects that the program left: variables, modules, parameters, and results that they
    still hold."""
    check = program[name]["checked"]
    assert not check["names"] and not check["modules"] and not check["values"]


@pytest.mark.parametrize("name", NAMES)
def test_every_step_shows_what_the_program_had_then(name: str, program: Any) -> None:
    """Values and gradients of leaves, against those after each line of the program."""
    check = program[name]["checked"]
    assert check["untrue"] == [] and check["changes"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_called_a_mistake(name: str, program: Any) -> None:
    assert not program[name]["checked"]["notes"]
