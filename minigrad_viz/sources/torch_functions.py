"""The modes by which functions and ops of PyTorch tell what they do, and a stand-in for custom Functions."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

from ..protocol import is_tensor
from .torch_frames import flat


class Told(NamedTuple):
    """The classes of the modes: for a `cell`, for what custom Functions run `inside` a backward call, and for
    what the engine itself computes in a call that is `building` a graph."""

    cell: Any
    inside: Any
    building: Any

    def __contains__(self, mode: object) -> bool:
        """Whether a mode is one of these."""
        return type(mode) in (self.cell, self.inside, self.building)

    @contextlib.contextmanager
    def within(self, custom: bool, builds: bool) -> Iterator[None]:
        """The modes in which a backward call runs."""
        with contextlib.ExitStack() as modes:
            if custom:
                modes.enter_context(self.inside())
            if builds:
                modes.enter_context(self.building())
            yield


def modes_of(source: Any) -> Told:
    """Those that tell a source. They need PyTorch, which is there by now."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    tape = source.recorder.tape

    class Watching(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            __tracebackhide__ = True
            taker = source.recorder.taker
            call = None if taker is None else taker.before(func, args, kwargs or {})
            result = source.called(func, args, kwargs or {})
            if call is not None:
                taker.after(call, func, result)
            return result

    class Within(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            __tracebackhide__ = True
            return source.called_inside(func, args, kwargs or {})

    class Building(TorchDispatchMode):
        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True  # else nothing would be compiled inside a call that builds a graph

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            if not (tape.busy or source.compiled.away):
                tape.built += [t for t in flat((result,)) if is_tensor(t)]
            return result

    return Told(Watching, Within, Building)


class Functions:
    """A stand-in for what `Function.apply` calls, which tells that a custom Function ran. No variable of the
    cell's can hold it: `apply` looks it up in each call."""

    told: ClassVar[list[Any]] = []  # the sources; the stand-in is there as long as there are some

    def __init__(self, base: Any, source: Any) -> None:
        self.base = base  # the class below `Function`
        self.source = source
        if not Functions.told:
            base.apply = classmethod(functools.partial(apply, base))
        Functions.told.append(source)

    def remove(self) -> None:
        """Take it away, unless another recorder needs it."""
        Functions.told.remove(self.source)
        if not Functions.told:
            del self.base.apply


def apply(base: Any, kind: Any, *args: Any) -> Any:
    """Apply a custom Function as PyTorch would."""
    __tracebackhide__ = True
    run = super(base, kind).apply
    here = (each for each in Functions.told if threading.get_ident() == each.thread)
    for source in here:
        run = functools.partial(source.applied, kind, run)
    return run(*args)
