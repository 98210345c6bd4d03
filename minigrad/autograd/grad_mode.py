"""Switching the recording of graphs off and on: grad mode, inference mode.

All are context managers and decorators, and they affect only the thread that enters them. A decorated
function enters the mode at each call. A decorated generator enters it at each step, so code that runs between
the steps is outside the mode. A decorated coroutine is in the mode only while it is created, as in PyTorch.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any

from ..core import modes
from ..core.guards import check_bool

CLASS_DECORATED = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
    "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
    "the `__init__` method and nothing else."
)


class ModeContext:
    """Base class of context managers that also decorate functions and generator functions."""

    def clone(self) -> Any:
        """Return a new context manager with the same mode, for one call of a decorated function."""
        return type(self)()

    def __call__(self, orig_func: Any) -> Any:
        function = orig_func
        if inspect.isclass(orig_func):
            warnings.warn(CLASS_DECORATED, FutureWarning, stacklevel=2)

            def function(*args: Any, **kwargs: Any) -> Any:
                return orig_func(*args, **kwargs)

        if inspect.isgeneratorfunction(function):
            return decorate_generator(self.clone, function)

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return decorated


def decorate_generator(clone: Any, function: Any) -> Any:
    """Return a generator function whose steps run inside `clone()`, whatever its caller sends, throws or
    closes.
    """

    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        step, given = generator.send, None
        while True:
            try:
                with clone():
                    value = step(given)
            except StopIteration as stop:
                return stop.value
            step, given = generator.send, None  # an error that was thrown in is not kept
            try:
                given = yield value
            except GeneratorExit:
                with clone():
                    generator.close()
                raise
            except BaseException as error:
                step, given = generator.throw, error

    return decorated


class ModeSwitch(ModeContext):
    """Base class of contexts that are made with the mode."""

    mode: bool

    def clone(self) -> Any:
        """Return a fresh context with the same mode."""
        make: Any = type(self)
        return make(self.mode)


class GradMode(ModeContext):
    """Base class of contexts that switch the grad mode."""

    mode: bool
    prev = False

    def __enter__(self) -> None:
        self.prev = modes.enter_grad_mode(self.mode)

    def __exit__(self, *exc: object) -> None:
        try:
            modes.ask_grad_mode(self.prev)
        except BaseException:  # see Note [Interrupts] in `modes`
            modes.switch("grad_enabled", self.prev)
            raise


class Bare(GradMode):
    """Base class of modes without arguments, which also decorate without parentheses."""

    def __new__(cls, orig_func: Any = None) -> Any:
        """Return a context, or a decorated function."""
        return super().__new__(cls) if orig_func is None else cls()(orig_func)


class no_grad(Bare):
    """Context manager and decorator in which operations record no graph; results require no gradient.

    A tensor created inside can still be given `requires_grad=True`.

    Args:
        orig_func: function to decorate; None for a context manager.

    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> with torch.no_grad():
        ...     print((x * 2).requires_grad)
        False

    Source: PyTorch's page `torch.no_grad`.
    """

    mode = False


class enable_grad(Bare):
    """Context manager and decorator in which operations record a graph, also inside `no_grad`.

    Args:
        orig_func: function to decorate; None for a context manager.

    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> with torch.no_grad(), torch.enable_grad():
        ...     print((x * 2).requires_grad)
        True

    Source: PyTorch's page `torch.enable_grad`.
    """

    mode = True


class set_grad_enabled(ModeSwitch, GradMode):
    """Turn the recording of graphs on or off; as a context manager, only until the end of the block.

    Args:
        mode: True records graphs.

    Raises:
        TypeError: mode is not a bool.

    Example:
        >>> x = torch.ones(1, requires_grad=True)
        >>> with torch.set_grad_enabled(False):
        ...     print((x * 2).requires_grad)
        False

    Source: PyTorch's page `torch.autograd.grad_mode.set_grad_enabled`.
    """

    def __init__(self, mode: bool) -> None:
        check_bool("set_grad_enabled", "enabled", mode)
        self.mode = mode
        self.prev = modes.enter_grad_mode(mode)

    def __call__(self, orig_func: Any) -> Any:
        modes.ask_grad_mode(self.prev)  # only the function's calls are meant
        return super().__call__(orig_func)

    def __enter__(self) -> None:
        modes.enter_grad_mode(self.mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class inference_mode(ModeSwitch):
    """Context manager and decorator that records no graph and makes all new tensors inference tensors.

    An inference tensor has no version counter. No graph can ever save it, and outside the mode it can neither
    be modified in place nor require a gradient; `clone()` returns a normal tensor. Views of normal tensors
    stay normal.

    Args:
        mode: False ends the mode for a block.

    Raises:
        RuntimeError: an inference tensor is modified in place, or saved by a graph, outside the mode.

    Example:
        >>> with torch.inference_mode():
        ...     print(torch.ones(1).is_inference())
        True

    Source: PyTorch's page `torch.autograd.grad_mode.inference_mode`.
    """

    block: modes.Within | None = None

    def __new__(cls, mode: Any = True) -> Any:
        """Return a context, or a decorated function."""
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        self.__exit__()  # one context that is entered twice is left before
        off = not self.mode
        self.block = modes.Within(grad_enabled=off, multithreading=off, forward_grad=off, inference=self.mode)
        self.swap(self.block)

    def __exit__(self, *exc: object) -> None:
        if self.block is not None:
            self.swap(self.block)
            self.block = None

    def swap(self, block: modes.Within) -> None:
        """Enter or leave the block, and notify observers of a change."""
        before = modes.state.inference
        block.__enter__()
        if modes.state.inference != before:
            modes.notify("mode_changed", "inference", not before)


class SwitchedAtOnce(ModeSwitch):
    """Base class of contexts whose constructor switches the mode `name`, until the end of the block."""

    name: str

    def __init__(self, mode: bool) -> None:
        self.mode, self.prev = mode, modes.switch(self.name, mode)

    def __enter__(self) -> None:
        """Do nothing: the constructor has switched the mode."""

    def __exit__(self, *exc: object) -> None:
        modes.switch(self.name, self.prev)


class set_multithreading_enabled(SwitchedAtOnce):
    """Whether backward may use several threads: switched at once; as a context manager until the end of the
    block.

    It is remembered and changes nothing: backward runs in the thread that calls it, as PyTorch's does on the
    CPU.
    """

    name = "multithreading"

    def __init__(self, mode: bool) -> None:
        check_bool("set_multithreading_enabled", "enabled", mode)
        super().__init__(mode)


def is_multithreading_enabled() -> bool:
    """Return whether backward in this thread may use several threads, as set by the user."""
    return modes.state.multithreading
