"""`TestCase`, as PyTorch's tests use it: unittest's, with tensors compared by value, shape and dtype."""

from __future__ import annotations

import contextlib
import inspect
import math
import random
import re
import unittest
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import minigrad

Tensor = minigrad.Tensor
SEED = 1234


# Relative and absolute tolerance by dtype, those of torch.testing; 0 for others.
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}


def assert_close(
    actual: Any, expected: Any, *, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, msg: Any = None,
) -> None:  # fmt: skip
    """What stands for `torch.testing.assert_close` of two tensors."""
    mine, theirs = (np.asarray(t.numpy(force=True)) for t in (actual, expected))
    for what in ("shape", "dtype"):
        a, b = getattr(mine, what), getattr(theirs, what)
        assert a == b, f"{msg or ''} {what}: {a} is not {b}"
    if rtol is None or atol is None:
        rtol, atol = TOLERANCES.get(mine.dtype.name, (0.0, 0.0))
    np.testing.assert_allclose(mine, theirs, rtol, atol, equal_nan, err_msg=str(msg or ""))


def load_tests(loader: Any, tests: Any, pattern: Any) -> Any:
    """unittest's hook, imported by the test files. All tests are kept."""
    return tests


def set_rng_seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    minigrad.manual_seed(seed)


class TestCase(unittest.TestCase):
    longMessage = True
    maxDiff = None

    def setUp(self) -> None:
        """Each test begins with the same random numbers and settings, whatever came before it."""
        set_rng_seed(SEED)
        minigrad.set_default_dtype(minigrad.float32)
        minigrad.set_grad_enabled(True)

    # -------------------------------------------------------------------------------------- comparisons

    def assertEqual(
        self,
        first: Any,
        second: Any,
        msg: Any = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        equal_nan: bool = True,
        exact_dtype: bool = True,
        **options: Any,
    ) -> None:
        """Numbers and tensors up to rounding, sequences and mappings element by element, the rest by `==`."""
        limits = {"atol": atol, "rtol": rtol, "equal_nan": equal_nan, "exact_dtype": exact_dtype}
        if isinstance(first, (Tensor, np.ndarray)) or isinstance(second, (Tensor, np.ndarray)):
            self.assert_tensors(first, second, msg, **limits)
        elif is_number(first) and is_number(second):
            if not numbers_agree(first, second, atol, rtol, equal_nan):
                self.fail(self._formatMessage(msg, f"{first} != {second}"))
        elif is_sequence(first) and is_sequence(second):
            super().assertEqual(len(first), len(second), msg)
            for a, b in zip(first, second):
                self.assertEqual(a, b, msg, **limits)
        elif isinstance(first, Mapping) and isinstance(second, Mapping):
            super().assertEqual(set(first), set(second), msg)
            for key in first:
                self.assertEqual(first[key], second[key], msg, **limits)
        else:
            super().assertEqual(first, second, msg)

    def assert_tensors(self, first: Any, second: Any, msg: Any, *, exact_dtype: bool, **limits: Any) -> None:
        """At least one is a tensor. The other may be an array, numbers, or a number for one element."""
        first, second = as_tensor(first, second), as_tensor(second, first)
        if not isinstance(first, Tensor) or not isinstance(second, Tensor):
            self.fail(self._formatMessage(msg, f"{first!r} is not comparable with {second!r}"))
        atol, rtol = limits["atol"], limits["rtol"]
        if (atol is None) != (rtol is None):  # PyTorch's tests may give one of them
            atol, rtol = atol or 0.0, rtol or 0.0
        a, b = first.detach(), second.detach()
        if a.dtype != b.dtype and not exact_dtype:
            common = minigrad.promote_types(a.dtype, b.dtype)
            a, b = a.to(common), b.to(common)
        assert_close(a, b, atol=atol, rtol=rtol, equal_nan=limits["equal_nan"], msg=msg)

    def assertNotEqual(self, first: Any, second: Any, msg: Any = None, **limits: Any) -> None:  # type: ignore[override]
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(first, second, **limits)

    def assertEqualIgnoreType(self, *args: Any, **options: Any) -> None:
        self.assertEqual(*args, exact_dtype=False, **options)

    # ------------------------------------------------------------------------------- texts and warnings

    def assertExpected(self, text: str, subname: str | None = None) -> None:
        """`text` is what stands in `expect/Class.test-subname.expect` beside the test file."""
        name = self.id().partition(".")[2]  # without the module's name
        file = f"{name}-{subname}.expect" if subname else f"{name}.expect"
        folder = Path(inspect.getfile(type(self))).parent / "expect"
        self.assertMultiLineEqual((folder / file).read_text(encoding="utf-8").strip(), text.strip())

    def assertExpectedInline(self, text: str, expected: str, skip: int = 0) -> None:
        self.assertMultiLineEqual(expected, text)

    def assertNotWarn(self, function: Callable[[], Any], msg: str = "") -> None:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            function()
        self.assertFalse(seen, msg)

    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category: type[Warning], regex: str = "") -> Iterator[None]:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            yield
        self.assertTrue(seen, "no warning")
        self.assertTrue(any(type(w.message) is category and re.match(regex, str(w.message)) for w in seen))


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, np.generic))


def numbers_agree(a: Any, b: Any, atol: float | None, rtol: float | None, equal_nan: bool) -> bool:
    """Integers agree when they are equal, others up to float32 rounding, unless limits are given."""
    if a == b or (equal_nan and a != a and b != b):
        return True
    if atol is None and rtol is None:
        whole = isinstance(a, (int, np.integer)) and isinstance(b, (int, np.integer))
        atol, rtol = (0.0, 0.0) if whole else (1e-5, 1.3e-6)
    difference = abs(a - b)
    return difference < math.inf and difference <= (atol or 0.0) + (rtol or 0.0) * abs(b)


def is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def as_tensor(value: Any, other: Any) -> Any:
    """`value` as something to compare with `other`, which may be a tensor."""
    if isinstance(value, np.ndarray):
        return minigrad.as_tensor(value)
    if isinstance(other, Tensor):
        if is_sequence(value):
            return minigrad.as_tensor(value, dtype=other.dtype)
        if is_number(value) and other.numel() == 1:
            return minigrad.full(other.shape, value, dtype=other.dtype)
    return value
