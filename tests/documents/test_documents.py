"""Every documented example prints what its document prints.

The programs of `documents/programs` state the examples in words and a layout of their own. What each must
print stands in it as comments: `# > ` begins a printed line, `# ! ` a line of the error that ends it, and
`# + ` goes on with the line above. Addresses are left out, since they differ from run to run.

The same programs run on PyTorch. It is newer than the documents, so it is compared with dialect "2": the same
lines, with the same numbers to one unit in the last place of float32.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import minigrad

pytestmark = pytest.mark.quick

PROGRAMS = Path(__file__).parent / "programs"
EXAMPLES = sorted(file.stem for file in PROGRAMS.glob("*.py") if file.stem != "describe")
NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]\d+)?")


@pytest.fixture(autouse=True)
def describe_importable(monkeypatch):
    """Programs import `describe` as they do when they are run as scripts; a test puts back the dialect."""
    monkeypatch.syspath_prepend(PROGRAMS)
    dialect = minigrad.get_dialect()
    yield
    minigrad.set_dialect(dialect)


def read(example: str) -> str:
    return (PROGRAMS / f"{example}.py").read_text(encoding="utf-8")


def documented(source: str) -> list[str]:
    """The lines that the comments of a program say it prints, those of its error last."""
    lines: list[str] = []
    for line in source.splitlines():
        mark, text = line[:4], line[4:]
        if mark in ("# > ", "# ! "):
            lines.append(text)
        elif mark == "# + ":
            lines[-1] += " " + text
    return lines


def printed(source: str, library: str = "minigrad") -> list[str]:
    """Run a program and return what it prints, with its error as a traceback's last lines show it."""
    source = source.replace("import minigrad as torch", f"import {library} as torch")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(source, "<program>", "exec"), {"__name__": "__main__"})
        except RuntimeError as error:
            print(f"{type(error).__name__}: {error}".rstrip())
    return re.sub(r" at 0x[0-9a-f]+", "", out.getvalue()).splitlines()


def test_all_examples_are_there():
    codes = {f"code_{n:02}" for n in range(1, 23)} | {"code_11_later"}
    assert codes <= set(EXAMPLES)
    assert len(EXAMPLES) == len(codes) + 13
    assert all(documented(read(example)) for example in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES)
def test_prints_what_is_documented(example):
    minigrad.set_dialect("1.4")
    source = read(example)
    assert printed(source) == documented(source)


@pytest.mark.parametrize("example", EXAMPLES)
def test_prints_what_pytorch_prints(example, torch):
    minigrad.set_dialect("2")
    source = read(example)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # which ones there are is tested with the dialects
        ours, theirs = printed(source), printed(source, "torch")
    assert [words(line) for line in ours] == [words(line) for line in theirs]
    for line, other in zip(ours, theirs, strict=True):
        assert numbers_agree(line, other), f"{line!r} != {other!r}"


def words(line: str) -> str:
    """A line without its numbers, with dtypes named as PyTorch names them."""
    return NUMBER.sub("#", line)


def numbers_agree(line: str, other: str) -> bool:
    """Whether two lines hold the same numbers, or adjacent ones in float32."""
    pairs = zip(NUMBER.findall(line), NUMBER.findall(other), strict=True)
    return all(abs(np.float32(a) - np.float32(b)) <= np.spacing(np.abs(np.float32(a))) for a, b in pairs)
