"""Import PyTorch's `test_autograd.py` with minigrad instead of torch, and run the requested tests.

Each line of the standard input is a request: "names", or the name of a test. Each answer is a line of JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
import unittest
import warnings
from pathlib import Path
from typing import Any, TextIO

import absent
import adapter
from run import Verdict


class Result(unittest.TestResult):
    """What became of one test. A skipped one has not passed, nor one that was expected to fail."""

    def __init__(self) -> None:
        super().__init__()
        self.verdict, self.error = "", ""

    def addSuccess(self, test: unittest.TestCase) -> None:
        self.verdict = self.verdict or "passed"

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self.verdict, self.error = self.verdict or "skipped", reason

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        self.verdict = "expected failure"

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self.verdict = "unexpected success"

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        self.verdict, self.error = "failed", text_of(*err)

    addError = addFailure

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        if err is not None:
            self.addFailure(test, err)


def text_of(kind: type[BaseException], error: BaseException, trace: Any) -> str:
    """The error, and the line of the test file at which it was raised."""
    lines = [f"{kind.__name__}: {error}"]
    for frame in reversed(traceback.extract_tb(trace)):
        if "test_" in Path(frame.filename).name:
            lines.append(f"at {Path(frame.filename).name}:{frame.lineno}: {frame.line}")
            break
    return "\n".join(lines)[:2000]


def load(folder: Path) -> dict[str, unittest.TestCase]:
    """The tests of the file by name: `Class.method`."""
    adapter.install()
    sys.path.insert(0, str(folder))
    with absent.importing():
        module = importlib.import_module("test_autograd")
    tests = {}
    for value in list(vars(module).values()):
        if isinstance(value, type) and issubclass(value, unittest.TestCase):
            for name in unittest.TestLoader().getTestCaseNames(value):
                tests[f"{value.__name__}.{name}"] = value(name)
    return tests


def main(answers: TextIO) -> None:
    tests = load(Path(sys.argv[1]))
    for request in map(str.strip, sys.stdin):
        if request == "names":
            answer: Any = list(tests)
        elif request not in tests:
            answer = vars(Verdict(request, "failed", "the file has no test of this name"))
        else:
            result = Result()
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                tests[request].run(result)
            answer = vars(Verdict(request, result.verdict, result.error))
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    # What tests print must not come between the answers.
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    main(own)
