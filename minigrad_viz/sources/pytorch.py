"""Events of PyTorch, watched only if the cell's process has loaded it, or loads it in the cell.

Note [How PyTorch is watched]
    Functions and methods are seen by a `TorchFunctionMode`. It does not see `Function.apply`: a stand-in for
    what that calls reports a custom Function, and what its `forward` computes inside is left out. Backward
    calls, however they are made, end in one method of one object, `Variable._execution_engine.run_backward`;
    while a cell is recorded, a stand-in for that object tells when it begins and ends. Another one reports
    calls of modules. All are removed when the cell ends. Other threads than the cell's get PyTorch's own
    methods from the stand-ins. Inside a backward call no mode is in force; where its graph has custom
    Functions or packed values, one of ours is, for what their `backward` or a checkpoint computes. What the
    engine itself computes is not a function of PyTorch's but only an op below: with `create_graph=True` a
    `TorchDispatchMode` keeps these results until the call ends, because they belong to the graph that it
    builds. Modes are not reported, except the grad mode: it is asked at every op whether one has changed.
    What a saved-tensor hook made of a value is read where it is kept, and never unpacked. Frames of this
    module hide themselves from IPython's tracebacks.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable
from inspect import CO_NEWLOCALS
from types import MappingProxyType
from typing import Any, NamedTuple

from ..isolation import pass_on
from ..protocol import (
    NUMBERS,
    TENSORS,
    edge_of,
    has_history,
    is_tensor,
    pytorch,
    version_of,
    versions_of,
)
from ..trace.calls import RANDOM
from ..trace.events import COMPILED
from . import pause
from .shield import WarningCorrection, shield_of
from .torch_engine import CompiledCalls, Engine, TorchNodes, Waiting, by_node
from .torch_frames import (
    FUNCTION,
    TorchModes,
    by_torch,
    flat_arguments,
    mode_stack,
    put_modes,
    running_function_node,
    runs_again,
    title,
    user_frame,
)
from .torch_functions import OPTIMIZERS, implementations, modes_of, optimizer_step_hook, stand_ins

COPIES = ("tensor", "as_tensor", "asarray", "from_numpy")  # make a tensor from data, even if that is a tensor
GIVING = {"item": "item", "tolist": "item", "__float__": "item", "numpy": "numpy", "__array__": "numpy"}
ANSWERS = frozenset((
    "__bool__", "__int__", "__index__", "__complex__", "__contains__", "is_nonzero", "equal", "allclose",
))  # fmt: skip  # functions on whose answer a program may go on in another way
HOOKS = "register_hook", "register_post_accumulate_grad_hook"
# Methods that make no new tensor, see `tell_of`.
NEITHER = frozenset((*GIVING, *ANSWERS, *HOOKS, "requires_grad_", "detach_", "retain_grad"))
QUIET = (
    FUNCTION,
    "torch.autograd.gradcheck",
    pause.__name__,
)  # what runs inside these is no step of the cell
WAKING = ("set_grad_enabled", "requires_grad")  # calls of these are always told
OWN = ("torch.", "minigrad_viz.")  # how the names of modules begin whose frames are not the user's
OURS, OTHERS = "ours", "others"
UNKNOWN = "?"


class StepCall(NamedTuple):
    """A step of the cell that is about to run: the `values` that it is given, the last for parameters of
    these `names`, one by one `given`, the `tensors` among them and their `versions`; before one that draws
    numbers, the state of `random` numbers."""

    values: list[Any]
    given: list[Any]
    tensors: list[Any]
    versions: list[int]
    names: tuple[str, ...] = ()
    random: Any = None


class PyTorch:
    """Watches PyTorch on the thread on which it was attached."""

    budget = 16_000

    def __init__(self) -> None:
        self.undo: list[Callable[[], Any]] = []  # what takes away all that is there
        self.hooks: list[Callable[[], Any]] = []  # and what takes away hooks and stand-ins
        self.installed = False
        self.waiting: Waiting | None = None

    def attach(self, recorder: Any) -> None:
        """Begin to tell `recorder` what happens on this thread; at once, or as soon as PyTorch is
        imported."""
        self.recorder = recorder
        self.thread = threading.get_ident()
        self.undo, self.hooks, self.installed, self.waiting = [], [], False, None
        self.stack: list[Any] = []  # the function modes that `pause` has taken away
        self.steps = 0
        self.nodes = TorchNodes(recorder)
        self.freeze = self.nodes.freeze
        self.keeps = False  # whether the running call keeps its graph
        self.known: dict[Any, str | None] = {}  # what functions are called, see `title`
        self.modules: dict[str, str] = {}  # whose the modules of frames are, see `module_kind`
        if pytorch():
            self.install()
        else:
            self.waiting = Waiting("torch", self.install)

    def detach(self) -> None:
        """Stop, and leave nothing behind."""
        if self.waiting is not None:
            self.waiting.remove()
        take_away(self.undo)

    def install(self) -> None:
        """Watch PyTorch, which is there now."""
        if self.installed or threading.get_ident() != self.thread:
            return
        import torch

        self.installed = True
        self.torch = torch
        self.functions = torch._C._len_torch_function_stack
        self.told = modes_of(self)
        implementations()  # as long as they are PyTorch's own
        # The recorder's reading must reach neither modes nor a tensor class's own `__torch_function__`.
        self.recorder.tape.shield = shield_of(torch)
        self.backward = (torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad)
        self.quiet = {id(vars(module)) for name in QUIET if (module := sys.modules.get(name)) is not None}
        self.modes = TorchModes(torch, self)
        self.undo.append(self.unhook)
        self.hook()
        self.undo.append(self.told.leave)
        self.told.enter(self.told.cell())
        self.compiled = CompiledCalls(self)
        self.undo.append(self.compiled.remove)
        self.compiled.install()

    def hook(self) -> None:
        """Put hooks and stand-ins in their places."""
        from torch.optim import optimizer
        from torch.utils.hooks import RemovableHandle

        warned = WarningCorrection()
        self.hooks.append(warned.remove)
        warned.install()
        variable = self.torch.autograd.Variable
        engine = Engine(variable._execution_engine, self)
        self.hooks.append(lambda: engine.remove(variable))
        variable._execution_engine = engine
        steps = self.recorder.steps
        for hooks, tell in (
            (optimizer._global_optimizer_pre_hooks, steps.starts),
            (optimizer._global_optimizer_post_hooks, steps.ended),
        ):
            handle = RemovableHandle(hooks)
            self.hooks.append(handle.remove)
            hooks[handle.id] = optimizer_step_hook(self, tell)
        for stand_in in stand_ins():
            self.hooks.append(functools.partial(stand_in.remove, self))
            stand_in.add(self)

    def unhook(self) -> None:
        """Remove them."""
        take_away(self.hooks)

    def pause(self) -> None:
        """Remove everything for a while, the modes too."""
        self.unhook()
        self.stack = mode_stack()
        put_modes(mode for mode in self.stack if mode not in self.told)

    def resume(self) -> None:
        """Put all back."""
        others = sum(mode not in self.told for mode in self.stack)
        put_modes([*self.stack, *mode_stack()[others:]])
        self.stack = []
        self.hook()

    def called(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run a function of PyTorch and report what it did."""
        __tracebackhide__ = True
        if self.recorder.tape.rounds.light:
            return func(*args, **kwargs)
        if self.recorder.tape.rest.whole:
            self.recorder.tape.rest.passed += func not in self.backward
            return func(*args, **kwargs)
        name = self.known.get(func, UNKNOWN)
        if name is UNKNOWN:
            name = self.known[func] = None if func in self.backward else title(func)
        if name is None:
            setter = getattr(func, "__name__", "") in ("__set__", "__delete__")
            return self.assigned(func, args, kwargs) if setter else func(*args, **kwargs)
        if name == "allclose" and id(sys._getframe(2).f_globals) in self.quiet:
            self.recorder.compared = args  # see Note [The checker's own matrices]
        tape = self.recorder.tape
        if (tape.rest.on and self.rests(name, args, kwargs)) or not self.listens(sys._getframe(2)):
            return func(*args, **kwargs)
        return self.observed(name, func, args, kwargs)

    def applied(self, kind: Any, func: Any, *args: Any) -> Any:
        """Apply a custom Function of the class `kind`, by `func`, and report what it did."""
        __tracebackhide__ = True
        tape, name = self.recorder.tape, kind.__name__
        light = tape.rounds.light or tape.rest.whole
        if light or self.rests(name, args, {}) or not self.listens(user_frame(sys._getframe(1), (FUNCTION,))):
            return func(*args)
        self.recorder.calls.hinder("live_no_function", name=name)
        return self.observed(name, func, args, {})

    def observed(self, name: str, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run a step of the cell and report what it did."""
        __tracebackhide__ = True
        call = self.before(args, kwargs)
        if name in RANDOM:
            call = call._replace(random=self.torch.get_rng_state().numpy())
        result = func(*args, **kwargs)
        self.after(call, name, getattr(func, "__name__", ""), args, result, func, kwargs)
        return result

    def before(self, args: Any, kwargs: dict[str, Any]) -> StepCall:
        """Note what a step is given, before it runs."""
        if self.modes.standing() != self.modes.stood:
            self.modes.ask()
        values = [*args, *kwargs.values()] if kwargs else list(args)
        found, given = [], values
        for value in values:
            kind = type(value)
            if kind in TENSORS:
                found.append(value)
            elif kind not in NUMBERS:  # perhaps several
                given = flat_arguments(values)
                found = [each for each in given if is_tensor(each)]
                break
        names = tuple(kwargs)
        if not found:
            return StepCall(values, given, found, [], names)
        if given is values and not self.functions():  # plain tensors, and no mode of the user's
            return StepCall(values, given, found, versions_of(found), names)
        with self.recorder.tape.shield():
            return StepCall(values, given, found, versions_of(found), names)

    def after(
        self, call: StepCall, name: str, method: str, args: Any, result: Any, func: Any = None,
        kwargs: Any = MappingProxyType({}),
    ) -> None:  # fmt: skip
        """Tell what a step did that has run."""
        tape = self.recorder.tape
        shield = tape.shield
        self.steps += 1
        tape.more += 1  # the mode that tells of an op takes as long as to note one
        with shield():
            # One number for all events of this op.
            tape.step, tape.shield = self.steps, contextlib.nullcontext
            try:
                one = type(result) in TENSORS or is_tensor(result)
                plain = one and call.given is call.values and call.random is None
                self.tell(name, call, [result] if one else tensors_in(result), func, plain, args, kwargs)
                if method in NEITHER:
                    self.tell_of(method, args, result, func, kwargs)
            finally:
                tape.step, tape.shield = 0, shield

    def compiled_call(self, frame: Any, args: Any, kwargs: dict[str, Any]) -> StepCall | None:
        """What a compiled call that a `frame` is about to run is given; None if it is not a step of the
        cell."""
        self.recorder.calls.hinder("live_no_compiled")
        tape = self.recorder.tape
        light = tape.rounds.light or tape.rest.whole
        if light or self.rests(COMPILED, args, kwargs) or not self.listens(frame):
            return None
        return self.before(args, kwargs)

    def compiled_ran(self, call: StepCall, result: Any) -> None:
        """Tell what it did."""
        self.after(call, COMPILED, COMPILED, (), result)

    def module_called(self, module: Any, run: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a module and report it."""
        __tracebackhide__ = True
        modules, result = self.recorder.modules, None
        if self.listens():
            modules.called(module, args, kwargs)
        try:
            result = run(*args, **kwargs)
            return result
        finally:
            modules.returned(module, result)

    def rests(self, name: str, args: Any, kwargs: dict[str, Any]) -> bool:
        """Whether a call is only counted. See Note [Lighter watching]."""
        rest = self.recorder.tape.rest
        if not rest.on or name in WAKING or kwargs.get("requires_grad"):
            return False
        return rest.skips(*(value for value in flat_arguments((*args, *kwargs.values())) if is_tensor(value)))

    def assigned(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Set or delete an attribute, and tell if it was `.grad` or `requires_grad`."""
        __tracebackhide__ = True
        attribute = getattr(func.__self__, "__name__", "")
        if attribute not in ("grad", "requires_grad", "data") or not self.listens():
            return func(*args, **kwargs)
        if attribute == "data":
            result = func(*args, **kwargs)
            self.recorder.calls.effect(func, *args)
            return result
        if attribute == "requires_grad":
            result = func(*args, **kwargs)
            self.recorder.crossing.asked(args[0])
            return result
        with self.recorder.tape.shield():
            before = args[0].grad if args[0].is_leaf or args[0].retains_grad else None
        result = func(*args, **kwargs)
        with self.recorder.tape.shield():
            self.recorder.grad_set(args[0], before)
        return result

    def reset(self, owner: Any, run: Any, set_to_none: bool = True) -> None:
        """Run `zero_grad` of a module or an optimizer, and report the gradients that were None already."""
        __tracebackhide__ = True
        empty = []
        if set_to_none and self.listens():
            with self.recorder.tape.shield():
                groups = getattr(owner, "param_groups", None)
                held = (
                    owner.parameters() if groups is None else (p for group in groups for p in group["params"])
                )
                empty = [parameter for parameter in held if parameter.grad is None]
        run(set_to_none)
        if empty:
            with self.recorder.tape.shield():
                for parameter in empty:
                    self.recorder.grad_set(parameter, None)

    def called_inside(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Run a function of PyTorch inside a backward call, and report it if a custom Function called it or a
        checkpoint runs it again."""
        __tracebackhide__ = True
        result = func(*args, **kwargs)
        recorder, name = self.recorder, title(func)
        if name is None or recorder.tape.busy or recorder.tape.rounds.light:
            return result
        node = running_function_node()
        again = runs_again()
        if again:
            with recorder.tape.shield():
                recorder.packing.ran_again(name, flat_arguments((*args, *kwargs.values())), result)
        elif node is not None and again is not None:
            try:
                with recorder.tape.shield():
                    recorder.tape.inside = recorder.tape.ids.key(node)
                    recorder.backward.ran_inside(name, flat_arguments((*args, *kwargs.values())), result)
            finally:
                recorder.tape.inside = None
        return result

    def node_at(self, tensor: Any) -> Any:
        """The node at which a tensor's gradient arrives, or None."""
        edge = edge_of(tensor)
        if edge is not None:
            return edge[0]
        if not tensor.requires_grad or not has_history(tensor):
            return None
        try:
            with self.torch.inference_mode(False):  # in which a leaf's edge could not be found
                return self.torch.autograd.graph.get_gradient_edge(tensor).node
        except AssertionError as refused:  # it requires gradients and is a view made in inference mode
            pass_on(refused)
            return None

    def is_running(self) -> bool:
        """Whether a backward call of this thread is running."""
        return self.torch._C._current_graph_task_id() >= 0

    def lost(self, keys: list[Any], live: list[Any], ran: set[Any], sure: bool) -> list[Any]:
        """The keys of the nodes of a call whose saved values cannot be read any more."""
        return self.nodes.lost(keys, live, ran, sure, self.keeps)

    def listen(self, live: Any, frozen: Any, starts: Any) -> None:
        """Listen to the nodes of a call, by hooks."""
        self.recorder.listener.listen(live, [row[-1] for row in frozen], starts)

    def listens(self, frame: Any = None) -> bool:
        """Whether what runs in a `frame` (or what called) is a step of the cell: no work of the recorder, of
        a backward call, or inside a custom Function or a gradcheck."""
        if self.recorder.tape.busy or self.recorder.tape.call:
            return False
        frame = frame or sys._getframe(2)
        if frame.f_globals is self.recorder.tape.namespace and not frame.f_code.co_flags & CO_NEWLOCALS:
            return True  # as nearly always, the cell itself has called
        cell, quiet, modules = self.recorder.tape.namespace, self.quiet, self.modules
        own = False  # whether this is inside a function that is not PyTorch's
        while frame is not None:
            space = frame.f_globals
            if space is cell:
                if not frame.f_code.co_flags & CO_NEWLOCALS:
                    return True  # the cell itself, which nothing quiet has called
                own = True
            elif id(space) in quiet:
                return False
            elif not own:
                name = space.get("__name__")
                known = (modules.get(name) if type(name) is str else None) or self.module_kind(name)
                if known is OPTIMIZERS and frame.f_code.co_name == "step":
                    return False
                own = known is OTHERS
            frame = frame.f_back
        return True

    def module_kind(self, name: Any) -> str:
        """Whose a module is: of PyTorch's optimizers, of PyTorch or ours, or of others."""
        module = str(name)
        kind = OPTIMIZERS if module.startswith(OPTIMIZERS) else OURS if module.startswith(OWN) else OTHERS
        if type(name) is str:
            self.modules[name] = kind
        return kind

    def tell(
        self, name: str, call: StepCall, results: list[Any], func: Any, plain: bool, args: Any, kwargs: Any
    ) -> None:
        """Tell what a function did: it wrote into tensors, or made new ones. A `plain` one is computed again
        from what it was given, one by one."""
        tensors, whole = call.tensors, results
        if versions_of(tensors) != call.versions:
            return self.tell_writes(name, call, func, args, kwargs)
        results = [made for made in results if not any(made is tensor for tensor in tensors)]
        if not results:
            return
        recorder = self.recorder
        if name in ("detach", "data") and tensors:
            recorder.crossing.detached(tensors[0], results[0], name)
        elif not tensors or makes_anew(name) or (name in COPIES and results[0].grad_fn is None):
            if not by_torch():
                data = call.values if name in COPIES else [v for v in call.given if not is_tensor(v)]
                for result in results:
                    recorder.crossing.created(result, data, bool(tensors))
                if tensors:
                    self.tell_call(call, func, args, kwargs, whole, self.torch.is_grad_enabled())
        else:
            enabled, remade = self.torch.is_grad_enabled(), (func, call.names) if plain else ()
            for made in by_node(results) if len(results) > 1 else (results,):
                if name == COMPILED:
                    recorder.take_in(made)
                    recorder.forward(name, call.given, made, enabled)
                else:
                    recorder.forward(name, call.given, made, enabled, "", True, *remade)
            if not plain and func is not None:
                self.tell_call(call, func, args, kwargs, whole, enabled)

    def converted(self, data: Any, result: Any) -> None:
        """Tell of a tensor that was made of an array."""
        with self.recorder.tape.shield():
            if not by_torch():
                self.recorder.crossing.created(result, data, False)

    def tell_call(
        self, call: StepCall, func: Any, args: Any, kwargs: Any, results: list[Any], enabled: bool
    ) -> None:
        """Tell of a function that is computed again from all that it was given."""
        kind = "call" if call.random is None else "draw"
        self.recorder.calls.call(kind, func, args, kwargs, results, enabled, call.random)

    def tell_writes(self, name: str, call: StepCall, func: Any, args: Any, kwargs: Any) -> None:
        """Tell into which tensors a function wrote."""
        before = {id(t): (t, version) for t, version in zip(call.tensors, call.versions, strict=True)}
        for tensor, version in before.values():
            if version_of(tensor) != version:
                others = (value for value in call.given if value is not tensor)
                first = bool(args) and tensor is args[0]
                how = (func, args, kwargs) if first else (None, args, kwargs)
                how = (*how, self.torch.is_grad_enabled(), call.random)
                self.recorder.mutated(name, [tensor, *others], version, None, *how)

    def tell_of(self, name: str, args: Any, result: Any, func: Any, kwargs: Any) -> None:
        """Tell what a method did that made no tensor: it gave numbers out, answered a question, or changed
        what autograd knows."""
        tensor = args[0] if args else None
        if tensor is None or not is_tensor(tensor):
            return
        if name in GIVING:
            self.recorder.crossing.left(tensor, GIVING[name], result)
            self.recorder.calls.left()
        elif name in ANSWERS:
            self.recorder.calls.answered(func, args, kwargs, result)
        elif name in HOOKS:
            self.recorder.calls.hinder("live_no_hook")
        elif name == "retain_grad":
            self.recorder.calls.effect(func, tensor)
        elif name == "requires_grad_":
            self.recorder.crossing.asked(tensor)
        elif name == "detach_" and tensor.grad_fn is None:
            self.recorder.crossing.detached(tensor, tensor)


@functools.cache
def makes_anew(name: str) -> bool:
    """Whether a function of this name makes a tensor that has nothing of those it is given."""
    return name.endswith("_like") or name.startswith("new_")


def tensors_in(result: Any) -> list[Any]:
    """The tensors of what a function returned."""
    return [value for value in flat_arguments((result,)) if is_tensor(value)]


def take_away(undo: list[Callable[[], Any]]) -> None:
    """Remove all that is there, the newest first. Each may be called again after an interrupt,
    and before there is anything to remove."""
    while undo:
        undo[-1]()
        undo.pop()
