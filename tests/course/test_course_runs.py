"""The course with its exercises solved, run from the top with minigrad and with PyTorch: the same output."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import course
import numpy as np
import pytest
from shells import Shell
from tiers import large
from twins import dialect

import minigrad

NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d*(?:e[+-]?\d+)?")
TRACEBACK = re.compile("-{70,}")
CLOSE = 3e-7  # relative: two units in the last place of float32


@pytest.fixture(scope="module")
def shell(tmp_path_factory) -> Iterator[Shell]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as in a kernel of Jupyter
        with Shell(tmp_path_factory.mktemp("ipython")) as running:
            yield running


def run(shell: Shell, name: str, library: Any) -> list[tuple[str, str, str]]:
    """The id, what was printed and the error of each cell that asks for nothing of minigrad's own."""
    shell.clear()
    found = []
    for cell in course.solved(name):
        if "minigrad-only" in cell.tags:
            continue
        source = re.sub(r"^(%load_ext .*|set_dialect\(.*)$", "", cell.source, flags=re.M)
        source = re.sub(r" --vs \w+", "", source)  # under which the other library's run may be kept
        if library is not minigrad:
            source = source.replace("import minigrad as torch", "import torch")
        with warnings.catch_warnings():  # PyTorch warns where a result's .grad is read
            warnings.simplefilter("ignore")
            ran = shell.run(source, {}, library)
        found.append((cell.id, TRACEBACK.split(ran.printed)[0], ran.failed))
        assert bool(ran.failed) == ("raises-exception" in cell.tags), f"{cell.id}: {ran.failed}"
    return found


def numbers_and_rest(printed: str) -> tuple[list[float], str]:
    """What is printed, with the numbers taken out and blanks and addresses made equal."""
    text = re.sub(r"0x[0-9a-f]+", "ADDRESS", printed).replace("minigrad.", "torch.")
    return [float(x) for x in NUMBER.findall(text)], " ".join(NUMBER.sub("NUMBER", text).split())


SMALL = [name for name in course.LESSONS if name not in course.TRAININGS]


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", [*SMALL, *large(course.TRAININGS)])
def test_solutions_are_right(shell, name):
    told = {part: printed for part, printed, _ in run(shell, name, minigrad)}
    answered = {part: printed for part, printed in told.items() if part.startswith("answer")}
    assert answered and all("✓" in printed for printed in answered.values()), answered


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", [*SMALL, "00_start_here", *large(course.TRAININGS)])
def test_pytorch_prints_the_same(shell, name, torch):
    with dialect("2"):
        mine = run(shell, name, minigrad)
    theirs = run(shell, name, torch)
    for (part, printed, failed), (_, printed_there, failed_there) in zip(mine, theirs, strict=True):
        numbers, text = numbers_and_rest(printed)
        numbers_there, text_there = numbers_and_rest(printed_there)
        assert text == text_there, part
        np.testing.assert_allclose(numbers, numbers_there, rtol=CLOSE, atol=1e-7, err_msg=part)
        assert failed.replace("minigrad.", "torch.") == failed_there, part
