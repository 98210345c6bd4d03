"""What stands for the modules of PyTorch that minigrad does not have and that a test file cannot do without.

Most are PyTorch's own test helpers. The others are private names that minigrad's public API can express.
"""

from __future__ import annotations

import contextlib
import gc
import math
import sys
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import private
from absent import Absent
from case import TestCase, assert_close, load_tests, set_rng_seed
from instantiate import (
    instantiate_device_type_tests,
    instantiate_parametrized_tests,
    parametrize,
    set_dtypes,
    subtest,
)

import minigrad


class Helpers(dict[str, Any]):
    """The names of a helper module. Decorators for other devices and compilers leave a test as it is."""

    PREFIXES = ("skip", "xfailIf", "expectedFailure", "dtypesIf", "onlyNative", "slowTest")

    def __init__(self, **names: Any) -> None:
        super().__init__(names, __getattr__=self.missing)

    def missing(self, name: str) -> Any:
        if name.startswith(self.PREFIXES):
            return unchanged
        return Absent(f"torch.testing._internal.{name}")


def unchanged(*args: Any, **kwargs: Any) -> Any:
    """A decorator without effect, written with or without arguments."""
    if len(args) == 1 and not kwargs and callable(args[0]):
        return args[0]
    return lambda test: test


def only_cuda(test: Callable[..., Any]) -> Callable[..., Any]:
    return unittest.skip("for CUDA")(test)


def device_count_at_least(count: int) -> Callable[..., Any]:
    """A test of several devices. There is one CPU, so a test that needs two is skipped."""
    return unittest.skipIf(count > 1, f"for {count} devices")


# ------------------------------------------------------------------------------------ functions used in tests


def checked(check: Callable[..., bool], *args: Any, **options: Any) -> bool:
    """gradcheck or gradgradcheck with the options that PyTorch's tests take for granted."""
    for name in ("check_batched_grad", "fast_mode"):
        if options.get(name) is None:
            options[name] = True
    return check(*args, **options)


def gradcheck(fn: Any, inputs: Any, **options: Any) -> bool:
    return checked(minigrad.autograd.gradcheck, fn, inputs, **options)


def gradgradcheck(fn: Any, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    return checked(minigrad.autograd.gradgradcheck, fn, inputs, grad_outputs, **options)


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
) -> Any:
    """Random numbers between `low` and `high`, -9 and 9 unless told."""
    size = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    low, high = -9 if low is None else low, 9 if high is None else high
    if noncontiguous:
        size = (*size[:-1], 2 * size[-1]) if size else size
    if dtype is minigrad.bool:
        result = minigrad.randint(0, 2, size).to(dtype)
    elif not dtype.is_floating_point and not dtype.is_complex:
        result = minigrad.randint(math.ceil(low), math.ceil(high), size).to(dtype)
    else:
        result = (minigrad.rand(size, dtype=minigrad.float64) * (high - low) + low).to(dtype)
        if dtype.is_complex:
            imaginary = minigrad.rand(size, dtype=minigrad.float64) * (high - low) + low
            result = (result + 1j * imaginary).to(dtype)
    if exclude_zero:
        result[result == 0] = 1
    if noncontiguous and size:
        result = result[..., ::2]
    return result.requires_grad_(requires_grad)


def mask_not_all_zeros(shape: Any) -> Any:
    """Random zeros and ones, at least one of them a one."""
    while True:
        mask = minigrad.randn(shape).gt(0)
        if mask.any():
            return mask


@contextlib.contextmanager
def disable_gc() -> Iterator[None]:
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def floating_types_and(*dtypes: Any) -> tuple[Any, ...]:
    return (minigrad.float32, minigrad.float64, *dtypes)


def run_tests() -> None:
    """The runner finds the tests by itself."""


class OneViewTracking(contextlib.nullcontext[None]):
    """`torch.autograd._force_original_view_tracking`: minigrad has one way of tracking views."""

    def __init__(self, mode: bool) -> None:
        super().__init__()


COMMON_UTILS = Helpers(
    TestCase=TestCase,
    load_tests=load_tests,
    run_tests=run_tests,
    gradcheck=gradcheck,
    gradgradcheck=gradgradcheck,
    parametrize=parametrize,
    subtest=subtest,
    instantiate_parametrized_tests=instantiate_parametrized_tests,
    disable_gc=disable_gc,
    set_rng_seed=set_rng_seed,
    set_warn_always_context=lambda value: contextlib.nullcontext(),  # minigrad has no warnings that come once
    IS_WINDOWS=sys.platform == "win32",
    IS_MACOS=sys.platform == "darwin",
    IS_LINUX=sys.platform == "linux",
    TEST_WITH_TORCHDYNAMO=False,
    TEST_WITH_ROCM=False,
    TEST_NUMPY=True,
)
COMMON_DEVICE_TYPE = Helpers(
    instantiate_device_type_tests=instantiate_device_type_tests,
    dtypes=set_dtypes,
    onlyCPU=unchanged,
    onlyCUDA=only_cuda,
    deviceCountAtLeast=device_count_at_least,
)

STANDINS: dict[str, dict[str, Any]] = {
    "torch._six": {"inf": math.inf, "nan": math.nan},
    "torch._C": {
        "is_grad_enabled": minigrad.is_grad_enabled,
        "has_lapack": True,
        "_WeakTensorRef": private.WeakTensorRef,
    },
    "torch._C._autograd": {
        "SavedTensor": private.SavedTensor,
        "_saved_tensors_hooks_is_enabled": private.saved_tensors_hooks_is_enabled,
    },
    "torch._C._functions": {
        "AccumulateGrad": private.accumulate_grad(),
        "DelayedError": private.DelayedError,
        "UndefinedGrad": private.UndefinedGrad,
    },
    "torch._vmap_internals": {"_vmap": minigrad.func.vmap},
    "torch.autograd": {"_force_original_view_tracking": OneViewTracking},
    "torch.testing": {"make_tensor": make_tensor, "assert_close": assert_close},
    "torch.testing._internal.common_utils": COMMON_UTILS,
    "torch.testing._internal.common_device_type": COMMON_DEVICE_TYPE,
    "torch.testing._internal.common_cuda": Helpers(TEST_CUDA=False, TEST_MULTIGPU=False),
    "torch.testing._internal.common_dtype": Helpers(floating_types_and=floating_types_and),
    "torch.testing._internal.common_methods_invocations": Helpers(mask_not_all_zeros=mask_not_all_zeros),
}
