"""The modes that report what functions and ops of PyTorch do, stand-ins for custom Functions, hooks
of optimizers."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import traceback
import types
from collections.abc import Iterator
from typing import Any

from ..protocol import is_tensor
from .torch_frames import flat_arguments, without_viewer_frames

# ─── The modes that report what functions and ops of PyTorch do


class ModeClasses:
    """The classes of the modes: for a `cell`, for what custom Functions run `inside` a backward call, and for
    what the engine itself computes in a call that is `building` a graph."""

    def __init__(self, cell: Any, inside: Any, building: Any) -> None:
        self.cell, self.inside, self.building = cell, inside, building
        self.entered: list[Any] = []

    def __contains__(self, mode: object) -> bool:
        """Whether a mode is one of these."""
        return type(mode) in (self.cell, self.inside, self.building)

    @contextlib.contextmanager
    def within(self, custom: bool, builds: bool) -> Iterator[None]:
        """The modes in which a backward call runs."""
        before, modes = len(self.entered), [self.inside()] * custom + [self.building()] * builds
        try:
            for mode in modes:
                self.enter(mode)
            yield
        finally:
            self.leave(before)

    def enter(self, mode: Any) -> None:
        """Put a mode in force."""
        self.entered.append(mode)
        mode.__enter__()

    def leave(self, count: int = 0) -> None:
        """Remove all modes but the first ones, including those that an interrupt left behind."""
        while len(self.entered) > count:
            leave(self.entered[-1])
            self.entered.pop()


def leave(mode: Any) -> None:
    """Remove a mode, if it is in force; others may have been entered after it."""
    from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    functions = isinstance(mode, TorchFunctionMode)
    stack = _get_current_function_mode_stack() if functions else _get_current_dispatch_mode_stack()
    above = list(stack[stack.index(mode) + 1 :]) if mode in stack else None
    for other in reversed(above or ()):
        other.__exit__(None, None, None)
    if above is not None:
        mode.__exit__(None, None, None)
    for other in above or ():
        other.__enter__()


def modes_of(source: Any) -> ModeClasses:
    """Those that tell a source. They need PyTorch, which is there by now."""
    from torch._C import _set_grad_enabled as switch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    tape = source.recorder.tape

    class Watching(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            __tracebackhide__ = True
            if func is switch:
                return source.modes.switched(func, args, kwargs or {})
            return source.called(implementation(func), args, kwargs or {})

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
                tape.built += [t for t in flat_arguments((result,)) if is_tensor(t)]
            return result

    return ModeClasses(Watching, Within, Building)


@functools.cache
def implementations() -> dict[types.CodeType, Any]:
    """PyTorch's functions in Python, by their code."""
    import torch

    holders = torch.Tensor, torch.autograd, torch.functional, torch.nn.functional
    found = (each for holder in holders for each in vars(holder).values())
    return {each.__code__: each for each in found if isinstance(each, types.FunctionType)}


def implementation(func: Any) -> Any:
    """A function that a mode is asked to run. Where PyTorch's own has handed the call over and the cell has
    put another one in its place, that has run already: then it is PyTorch's own."""
    code = getattr(func, "__code__", None)
    handing = sys._getframe(2) if code is not None else None
    if handing is None or handing.f_globals.get("__name__") != "torch.overrides" or handing.f_back is None:
        return func
    running = handing.f_back.f_code
    return func if running is code else implementations().get(running, func)


class StandIn:
    """A stand-in for the function `name` of a `holder`, as long as there are `sources`. Of a method of
    PyTorch's it tells them that it is called, and other threads than theirs get PyTorch's own."""

    def __init__(self, holder: Any, name: str) -> None:
        self.holder, self.name = holder, name
        self.own = vars(holder).get(name)  # None if it is inherited
        self.sources: list[Any] = []  # the stand-in is there as long as there are some

    def add(self, source: Any) -> None:
        """Tell a source from now on."""
        self.sources.append(source)
        setattr(self.holder, self.name, self)

    def remove(self, source: Any) -> None:
        """Do so no longer; it may be called again."""
        self.sources = [each for each in self.sources if each is not source]
        if not self.sources and vars(self.holder).get(self.name) is self:
            delattr(self.holder, self.name) if self.own is None else setattr(self.holder, self.name, self.own)

    def here(self) -> list[Any]:
        """The sources of this thread."""
        return [each for each in self.sources if each.thread == threading.get_ident()]


class Functions(StandIn):
    """Stands for what `Function.apply` calls. No variable of the cell's can hold it: `apply` looks it up in
    each call."""

    def __get__(self, _: Any, kind: Any) -> Any:
        run: Any = getattr(super(self.holder, kind), self.name)
        for source in self.here():
            run = functools.partial(source.applied, kind, run)
        return run


class WatchedModuleCalls(StandIn):
    """Stands for `Module.__call__`: hooks on all modules would have PyTorch call each in another way."""

    def __get__(self, module: Any, kind: Any) -> Any:
        if module is None:
            return self.own
        run: Any = types.MethodType(self.own, module)
        for source in self.here():
            run = functools.partial(source.module_called, module, run)
        return run


class Resets(StandIn):
    """Stands for `zero_grad`, which leaves gradients alone that are None: no mode would report these."""

    def __get__(self, owner: Any, kind: Any) -> Any:
        if owner is None:
            return self.own
        run: Any = types.MethodType(self.own, owner)
        for source in self.here():
            run = functools.partial(source.reset, owner, run)
        return run


class Conversions(StandIn):
    """Stands for `torch.from_numpy`, of which no mode tells."""

    def __init__(self, holder: Any, name: str) -> None:
        super().__init__(holder, name)
        functools.update_wrapper(self, self.own, ("__module__", "__name__", "__qualname__", "__doc__"))

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        result = self.own(*arguments, **named)
        for source in self.here():
            source.converted(arguments, result)
        return result

    def __repr__(self) -> str:
        return repr(self.own)


class Entries(StandIn):
    """Stands for what gives the module `traceback` the entries of a traceback: it prints none of ours."""

    def __call__(self, tb: Any) -> Any:
        return self.own(without_viewer_frames(tb))


@functools.cache
def stand_ins() -> list[StandIn]:
    """Those of the process. They need PyTorch."""
    import torch
    from torch.autograd.function import _SingleLevelFunction
    from torch.nn import Module
    from torch.optim import Optimizer

    entries = Entries(traceback, "_walk_tb_with_full_positions")
    others: list[StandIn] = [entries] if entries.own is not None else []
    others.append(Conversions(torch, "from_numpy"))
    resets = [Resets(holder, "zero_grad") for holder in (Module, Optimizer)]
    calls = [Functions(_SingleLevelFunction, "apply"), WatchedModuleCalls(Module, "__call__")]
    return [*calls, *resets, *others]


# ─── Hooks by which PyTorch tells that an optimizer takes a step


OPTIMIZERS = "torch.optim."


def optimizer_step_hook(source: Any, tell: Any) -> Any:
    """A hook that reports the steps of PyTorch's own optimizers; those of a class of the user's consist
    of steps of the cell."""

    def hook(optimizer: Any, *arguments: Any) -> None:
        if threading.get_ident() == source.thread and type(optimizer).step.__module__.startswith(OPTIMIZERS):
            tell(optimizer)

    return hook
