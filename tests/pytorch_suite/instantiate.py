"""`parametrize` and tests per device and dtype: one test becomes several methods, with PyTorch's names."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import minigrad

CASES = "_cases"  # a test's attribute: a list of (names of arguments, cases), the outermost decorator first
DTYPES = "_dtypes"


class subtest:
    """One case of `parametrize`, with a name of its own."""

    def __init__(self, arg_values: Any, name: str | None = None, decorators: Iterable[Any] = ()) -> None:
        self.arg_values, self.name, self.decorators = arg_values, name, tuple(decorators or ())


def parametrize(arguments: str, values: Iterable[Any], name_fn: Callable[..., str] | None = None) -> Any:
    """A test for each of `values`. The decorator may be kept and used again."""
    names = [name.strip() for name in arguments.split(",") if name.strip()]
    cases = [case_of(i, names, value, name_fn) for i, value in enumerate(values)]

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        # A function of its own: the list of cases must not be shared with a test that is defined elsewhere.
        @functools.wraps(test)
        def listed(*args: Any, **kwargs: Any) -> Any:
            return test(*args, **kwargs)

        setattr(listed, CASES, [cases, *getattr(test, CASES, [])])
        return listed

    return decorate


def case_of(
    index: int, names: list[str], value: Any, name_fn: Any
) -> tuple[str, dict[str, Any], tuple[Any, ...]]:
    """The case's name, its keyword arguments and its decorators."""
    given = value if isinstance(value, subtest) else subtest(value)
    values = list(given.arg_values) if len(names) > 1 else [given.arg_values]
    if given.name:
        label = given.name
    elif name_fn:
        label = name_fn(*values)
    else:
        label = "_".join(label_of(index, name, v) for name, v in zip(names, values))
    return label, dict(zip(names, values, strict=True)), given.decorators


def label_of(index: int, name: str, value: Any) -> str:
    if isinstance(value, minigrad.dtype):
        return dtype_name(value)
    if isinstance(value, (int, float, str)):
        return f"{name}_{str(value).replace('.', '_')}"
    return f"{name}{index}"


def dtype_name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def set_dtypes(*dtypes: Any) -> Callable[..., Any]:
    """The test is made once per dtype. One that minigrad does not have comes as `Absent` and is dropped."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        setattr(test, DTYPES, [dtype for dtype in dtypes if isinstance(dtype, minigrad.dtype)])
        return test

    return decorate


def variants(test: Callable[..., Any]) -> Iterator[tuple[str, dict[str, Any], Callable[..., Any]]]:
    """The name's ending, the arguments and the function of every combination of cases."""
    for combination in itertools.product(*getattr(test, CASES, [])):
        arguments: dict[str, Any] = {}
        function = test
        for _, given, decorators in combination:
            arguments |= given
            for decorator in decorators:
                function = decorator(function)
        yield "".join(f"_{label}" for label, _, _ in combination), arguments, function


def method(function: Callable[..., Any], **arguments: Any) -> Callable[[Any], Any]:
    @functools.wraps(function)
    def run(self: Any) -> Any:
        return function(self, **arguments)

    run.__dict__.pop(CASES, None)
    del run.__wrapped__
    return run


def instantiate_parametrized_tests(cls: type) -> type:
    """Replace each parametrized test by one method per case."""
    for name in dir(cls):
        test = getattr(cls, name)
        if name.startswith("test") and CASES in getattr(test, "__dict__", {}):
            delattr(cls, name)
            for ending, arguments, function in variants(test):
                setattr(cls, name + ending, method(function, **arguments))
    return cls


def instantiate_device_type_tests(
    generic: type, scope: dict[str, Any], only_for: Any = None, **options: Any
) -> None:
    """Replace the class by one for the CPU. Its tests receive the arguments that their signatures name."""
    scope.pop(generic.__name__, None)
    if only_for is not None and "cpu" not in only_for:
        return
    name = f"{generic.__name__}CPU"
    cls = type(name, (generic,), {"__module__": generic.__module__, "device_type": "cpu"})
    for key in dir(generic):
        if not key.startswith("test"):
            continue
        for ending, arguments, function in variants(getattr(generic, key)):
            wanted = inspect.signature(function).parameters
            arguments |= {k: v for k, v in {"device": "cpu", "devices": ["cpu"]}.items() if k in wanted}
            for dtype in getattr(function, DTYPES, [None]):
                if dtype is None:
                    setattr(cls, f"{key}{ending}_cpu", method(function, **arguments))
                else:
                    full = f"{key}{ending}_cpu_{dtype_name(dtype)}"
                    setattr(cls, full, method(function, **arguments, dtype=dtype))
        setattr(cls, key, None)  # the test without a device is no test
    scope[name] = cls
