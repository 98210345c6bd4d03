"""Backward calls and compiled calls of PyTorch: stand-ins that report them, and the nodes that they run.

Note [Compiled calls]
    Dynamo, the front end of `torch.compile`, reads the code of all that a compiled function calls. Modes,
    hooks and stand-ins belong to that, so it would compile them too. It uses what it compiled before only
    while the modes are the same. So nothing of ours is there while Dynamo is switched on, and the call is
    seen from outside, by what it was given and what it returned.

    Dynamo is switched by `set_eval_frame`, which a stand-in replaces in the module that calls it. A function
    that was compiled before the cell comes by the same way. The outermost frame that switched Dynamo on
    has the arguments of the call, and in the end its result.

    `torch.export` lets Dynamo read a function that does not run as a step of the cell, and `torch.jit.trace`
    runs one to take down its ops with the places and the variables of the frames. Stand-ins for these
    functions also remove everything, and what they do is not a step.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import sys
import threading
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, ClassVar

from ..protocol import function_of
from ..saved_values import saved_of
from ..trace.events import NodeState

# ─── Stand-ins by which PyTorch tells that a backward call runs, and that a part of it is imported


class Engine:
    """A stand-in for autograd's engine that reports the backward calls of one thread."""

    def __init__(self, engine: Any, source: Any) -> None:
        self.engine = engine
        self.source = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def remove(self, variable: Any) -> None:
        """Remove it from `Variable`, also from below the stand-in of another recorder."""
        above = variable._execution_engine
        if above is self:
            variable._execution_engine = self.engine
        while isinstance(above, Engine):
            if above.engine is self:
                above.engine = self.engine
            above = above.engine

    @property
    def run_backward(self) -> Any:
        """What runs backward: on other threads PyTorch's own."""
        here = threading.get_ident() == self.source.thread
        return self.run if here else self.engine.run_backward

    def run(self, roots: Any, gradients: Any, keep_graph: bool, create_graph: bool, inputs: Any = (),
            *args: Any, **kwargs: Any) -> Any:  # fmt: skip
        """Run backward as PyTorch would."""
        __tracebackhide__ = True
        recorder, run = self.source.recorder, self.engine.run_backward
        if not (recorder.tape.call or self.source.listens()):
            return run(roots, gradients, keep_graph, create_graph, inputs, *args, **kwargs)
        kind = "backward" if kwargs.get("accumulate_grad") else "grad"
        self.source.modes.ask()
        batched = sys._getframe(2).f_code.co_name == "vjp"  # what `is_grads_batched` makes of the call
        wanted = inputs if kind == "grad" else inputs or None
        if not recorder.tape.call:
            self.source.keeps = keep_graph
        error: BaseException | None = None
        result: Any = None
        autograd = self.source.torch.autograd
        remade = keep_graph, autograd.grad if kind == "grad" else autograd.backward
        told = self.source, kind, roots, gradients, create_graph, wanted, batched, *remade
        try:
            watched = not recorder.tape.rounds.light
            recorder.backward.backward_started(*told)
            builds = watched and create_graph and recorder.tape.depth == 1
            with self.source.told.within(watched and self.source.nodes.custom, builds):
                result = run(roots, gradients, keep_graph, create_graph, inputs, *args, **kwargs)
            return result
        except BaseException as raised:
            error = raised
            raise
        finally:
            recorder.backward.backward_ended(error, result)
            error = None  # or the error and this frame would refer to each other, and so keep the roots


class Waiting(importlib.abc.MetaPathFinder):
    """Stands first in `sys.meta_path` until a module is imported, and calls `ready` then."""

    def __init__(self, module: str, ready: Callable[[], None]) -> None:
        self.module, self.ready = module, ready
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """The spec that the other finders have for the module; nothing for any other one."""
        if name != self.module or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                vars(loader).pop("exec_module", None)  # another recorder may have waited, too
                execute(module)
                self.ready()

            loader.exec_module = exec_module
        return spec


# ─── Compiled calls of PyTorch


EVAL_FRAME = "torch._dynamo.eval_frame"
SWITCHES = ("set_eval_frame", "_maybe_set_eval_frame")  # both may be the function in C
READERS = (  # functions that read code or frames, by the modules that call them
    ("torch.jit._trace", "_trace_impl"),
    ("torch._C", "_create_graph_by_tracing"),
    ("torch.export._trace", "_export_to_torch_ir"),
    ("torch._dynamo.convert_frame", "fullgraph_capture"),
)


class CompiledCalls:
    """Tells a `source` of compiled calls. `frame` is the one that runs the outermost of them now; `away` says
    that nothing watches PyTorch at the moment."""

    told: ClassVar[list[CompiledCalls]] = []  # the stand-ins are there as long as there are some
    plain: ClassVar[dict[tuple[str, str], Any]] = {}  # what they stand for, by module and name

    def __init__(self, source: Any) -> None:
        self.source = source
        self.frame: FrameType | None = None
        self.away = False
        self._call: Any = None
        self._waiting: list[Waiting] = []

    def install(self) -> None:
        """Tell from now on."""
        self.told.append(self)
        stand_in()
        absent = {EVAL_FRAME, *(module for module, _ in READERS)} - sys.modules.keys()
        for module in sorted(absent):
            self._waiting.append(Waiting(module, stand_in))

    def remove(self) -> None:
        """Tell no more; it may be called again."""
        for each in self._waiting:
            each.remove()
        self.away, self.frame, self._call = False, None, None
        if self in self.told:
            self.told.remove(self)
        if not self.told:
            for (module, name), function in self.plain.items():
                vars(sys.modules[module])[name] = function
            self.plain.clear()

    def entered(self, frame: FrameType) -> None:
        """Dynamo is about to be switched on by a function that runs in `frame`."""
        if self.frame is None and threading.get_ident() == self.source.thread:
            self.frame = frame
            known = frame.f_locals
            self._call = self.source.compiled_call(frame, known.get("args", ()), known.get("kwargs", {}))
            self.leave_alone()

    def left(self, frame: FrameType) -> None:
        """It was switched off by a function that runs in `frame`."""
        if self.frame is None or threading.get_ident() != self.source.thread or not self._ends(frame):
            return
        call, self.frame, self._call = self._call, None, None
        self.come_back()
        if call is not None and "result" in frame.f_locals:
            self.source.compiled_ran(call, frame.f_locals["result"])

    def leave_alone(self) -> bool:
        """Remove what watches PyTorch on this thread; whether it was there."""
        if self.away or threading.get_ident() != self.source.thread:
            return False
        self.away = True
        self.source.pause()
        return True

    def come_back(self) -> None:
        """Put it back, unless nobody watches any more."""
        if self.away:
            self.away = False
            self.source.resume()

    def _ends(self, frame: FrameType) -> bool:
        """Whether what switches Dynamo off in a frame is what switched it on."""
        assert self.frame is not None
        if self.frame.f_code.co_name != "__enter__":
            return frame is self.frame
        return frame.f_code.co_name == "__exit__" and frame.f_locals["self"] is self.frame.f_locals["self"]


def stand_in() -> None:
    """Put the stand-ins in their places, in the modules that are there by now."""
    plain = CompiledCalls.plain
    for module, name in (*((EVAL_FRAME, name) for name in SWITCHES), *READERS):
        space = vars(sys.modules.get(module, object))
        if name in space and (module, name) not in plain:
            plain[module, name] = function = space[name]
            space[name] = switch if module == EVAL_FRAME else without_stand_ins(function)
            if module == EVAL_FRAME:
                space["skip_code"](switch.__code__)  # it also runs while Dynamo is on


def switch(callback: Any) -> Any:
    """Switch Dynamo on with a callback, or off (None), as `set_eval_frame` does."""
    frame: Any = sys._getframe(1)
    plain = CompiledCalls.plain[EVAL_FRAME, SWITCHES[0]]
    if callback is None:
        before = plain(None)
        for each in reversed(CompiledCalls.told):
            each.left(frame)
        return before
    for each in CompiledCalls.told:
        each.entered(frame)
    return plain(callback)


def without_stand_ins(function: Any) -> Any:
    """A function that reads code or frames, where it finds nothing of ours."""

    @functools.wraps(function)
    def read(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        absent = [each for each in CompiledCalls.told if each.leave_alone()]
        try:
            return function(*args, **kwargs)
        finally:
            for each in reversed(absent):
                each.come_back()

    return read


# ─── How the nodes of PyTorch stand when a backward call begins, and which of them it releases


class TorchNodes:
    """Reads the nodes of one call after another. Of the last call, `saving` are the keys of the nodes that
    saved tensors, `freed` those whose values were gone already; `custom` says whether it has custom
    Functions, or values that hooks have packed."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.saving: set[Any] = set()
        self.freed: set[Any] = set()
        self.custom = False

    def freeze(self, roots: list[Any]) -> tuple[list[Any], list[Any]]:
        """The nodes that can be reached, and for a `BackwardStartNote` their state."""
        self.saving, self.freed, self.custom = set(), set(), False
        live, rows = [], []
        for key, node, ends in self.recorder.states.walk(roots):
            live.append(node)
            rows.append((key, node._sequence_nr(), self.state_of(key, node, ends)))
        return live, rows

    def lost(self, keys: list[Any], live: list[Any], ran: set[Any], sure: bool, kept: bool) -> list[Any]:
        """The keys of the nodes whose saved values cannot be read any more, after a call in which the nodes
        `ran`; `sure` says that it has released just these, unless the graph was `kept`. To ask a released
        node costs as much as several small ops."""
        if not sure:
            known = zip(keys, live, strict=True)
            return [
                key for key, node in known if key in self.saving | self.freed and has_released_values(node)
            ]
        released = self.freed if kept else self.freed | (ran & self.saving)
        return [key for key in keys if key in released]

    def state_of(self, key: Any, node: Any, ends: Any) -> NodeState:
        """The state of a node with these edges."""
        state: NodeState = self.recorder.states.freeze(key, node, ends)
        for saved in state.saved:
            if saved.freed:
                self.freed.add(key)
            elif saved.value.__class__ is not str:
                self.saving.add(key)
            self.custom = self.custom or bool(saved.packed)
        self.custom = self.custom or function_of(node) is not None
        return state


def has_released_values(node: Any) -> bool:
    """Whether what a node saved cannot be read any more."""
    return any(kept.freed for kept in saved_of(node))


def by_node(results: list[Any]) -> list[list[Any]]:
    """The results of a function that may be made of several ops, those of each node together, as the nodes
    came; what has none belongs to the first."""
    found: dict[Any, list[Any]] = {}
    for tensor in results if len(results) > 1 else ():
        fn = tensor.grad_fn
        found.setdefault(next(iter(found), None) if fn is None else fn, []).append(tensor)
    if len(found) < 2:
        return [results]
    return [found[fn] for fn in sorted(found, key=lambda fn: -1 if fn is None else fn._sequence_nr())]
