"""What the doctor needs of PyTorch or of minigrad: hooks, modes and reductions, under the same names.

Both keep a graph that is read through `next_functions`, `name()` and `_saved_*`. What differs is here: how
calls of modules and ops are noticed, and how the norms of many tensors are taken at once.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import re
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import minigrad
from minigrad import observing

Note = Callable[[str, Any, Any], None]  # an op, its arguments, its result
Before = Callable[[Any, Any], None]
After = Callable[[Any, Any], None]

# Questions about a tensor, not ops; and methods whose inner functions are noted themselves.
UNTOLD = frozenset((
    "size", "dim", "__len__", "stride", "is_floating_point", "numel", "is_complex", "backward",
    "requires_grad_",
))  # fmt: skip
BACKWARD = re.compile(r"(Backward\d*|Backward0?)$")


def op_of_node(node: Any) -> str:
    """The op of a node, as Python spells it: `log_softmax` of LogSoftmaxBackward0."""
    return op_of_name(node.name())


@functools.lru_cache(maxsize=4096)
def op_of_name(name: str) -> str:
    """The op of a node with this name."""
    name = BACKWARD.sub("", name.rsplit("::", 1)[-1])
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class Library:
    """What both libraries have in common."""

    name = ""
    torch: ModuleType

    def __init__(self, torch: ModuleType) -> None:
        self.torch = torch
        self.Tensor: Any = torch.Tensor
        self.Module: Any = torch.nn.Module
        self.Parameter: Any = torch.nn.Parameter
        self.Optimizer: Any = torch.optim.Optimizer
        self.schedulers: tuple[Any, ...] = ()
        # Whether a compiler reads the code that runs now: it would become a part of the user's program.
        self.compiling: Callable[[], bool] = lambda: False

    def patches(self) -> list[tuple[Any, str, str]]:
        """The functions that are replaced while a doctor watches: where, under which name, and what their
        calls are called."""
        found = [
            (self.Tensor, "backward", "backward"),
            (self.torch.autograd, "backward", "backward"),
            (self.Optimizer, "zero_grad", "reset"),
            (self.Optimizer, "__init__", "optimizer"),
            (self.Module, "zero_grad", "reset_model"),
            (self.Module, "eval", "eval"),
            (self.Module, "requires_grad_", "freeze"),
            (self.torch, "manual_seed", "seed"),
        ]
        found += [(cls, "step", "schedule") for cls in self.schedulers]
        loader = self.data_loader()
        return [*found, *([(loader, "__iter__", "loader")] if loader is not None else [])]

    def quiet(self) -> contextlib.AbstractContextManager[Any]:
        """What is computed inside leaves no graph and reaches no observer."""
        return self.torch.no_grad()

    def sequence(self) -> int:
        """The number that the next node of a graph will have."""
        raise NotImplementedError

    def seq_of(self, node: Any) -> int:
        """The number of a node: later nodes have greater ones."""
        raise NotImplementedError

    def norms(self, tensors: list[Any]) -> list[Any]:
        """The 2-norm of each tensor, as tensors of one element on their own device."""
        raise NotImplementedError

    def norm(self, tensor: Any) -> Any:
        """The 2-norm of a tensor in the middle of the run."""
        with self.quiet():
            return self.norms([self.dense(tensor.detach())])[0]

    def joined(self, parts: list[Any]) -> Any:
        """A copy of flat tensors, behind each other."""
        return self.torch.cat(parts)

    def floats(self, scalars: list[Any]) -> list[float]:
        """The numbers of tensors of one element, read at once."""
        return [float(scalar.item()) for scalar in scalars]

    def compiled_modules(self) -> list[Any]:
        """The modules that are compiled so far."""
        return []

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.Tensor)

    def grad_enabled(self) -> bool:
        return bool(self.torch.is_grad_enabled())

    def is_float(self, tensor: Any) -> bool:
        return bool(tensor.dtype.is_floating_point)

    def dense(self, tensor: Any) -> Any:
        """The tensor, or the values of a sparse one."""
        return tensor

    def start_optimizers(self, before: Callable[[Any, bool], None], after: Callable[[Any], None]) -> None:
        """Report every step of an optimizer until `stop_optimizers`."""
        raise NotImplementedError

    def stop_optimizers(self) -> None:
        raise NotImplementedError

    def start_modules(self, before: Before, after: After) -> None:
        """Tell of calls of all modules until `stop_modules`."""
        raise NotImplementedError

    def stop_modules(self) -> None:
        raise NotImplementedError

    def start_ops(self, note: Note) -> None:
        """Tell of every op of this thread until `stop_ops`."""
        raise NotImplementedError

    def stop_ops(self, last: bool = False) -> None:
        raise NotImplementedError

    def data_loader(self) -> Any:
        """The class of data loaders, where it has been imported."""
        return getattr(sys.modules.get(f"{self.torch.__name__}.utils.data"), "DataLoader", None)


class Torch(Library):
    """PyTorch."""

    name = "torch"

    def __init__(self) -> None:
        super().__init__(sys.modules["torch"])
        from torch.overrides import TorchFunctionMode

        aside, self.compiling = self.torch._C.DisableTorchFunction, self.torch.compiler.is_compiling
        compiling = self.compiling
        self.schedulers = (self.torch.optim.lr_scheduler.LRScheduler,)

        class Ops(TorchFunctionMode):
            """Tells of every function and method while it is in force."""

            tell: Note | None = None

            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                result = func(*args, **kwargs) if kwargs else func(*args)
                if self.tell is None or compiling():
                    return result
                name = func.__name__
                if name == "__get__":
                    name = getattr(getattr(func, "__self__", None), "__name__", "")
                    if name != "data":
                        return result
                elif name in UNTOLD:
                    return result
                with aside():  # our own calls are none of the run
                    self.tell(name, (*args, *kwargs.values()) if kwargs else args, result)
                return result

        self._mode = Ops
        self._ops: Any = None
        self._module_hooks: list[Any] = []
        self._optimizer_hooks: list[Any] = []

    def patches(self) -> list[tuple[Any, str, str]]:
        clip = sys.modules["torch.nn.utils.clip_grad"]
        found = [*super().patches(), (clip, "clip_grad_value_", "clip_value")]
        found += [(self.torch, "compile", "compile"), (self.Module, "compile", "compile")]
        found += [(self.torch, "from_numpy", "from_numpy"), (self.torch.random, "manual_seed", "seed")]
        inner = "_clip_grads_with_norm_" if hasattr(clip, "_clip_grads_with_norm_") else "clip_grad_norm_"
        return [*found, (clip, inner, "clip")]

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        note = self._ops.tell if self._ops is not None else None
        if self._ops is not None:
            self._ops.tell = None
        try:
            with self.torch.no_grad(), self.torch._C.DisableTorchFunction():
                yield
        finally:
            if self._ops is not None:
                self._ops.tell = note

    def sequence(self) -> int:
        return int(self.torch.autograd._get_sequence_nr())

    def seq_of(self, node: Any) -> int:
        return int(node._sequence_nr())

    def compiled_modules(self) -> list[Any]:
        compiler = sys.modules.get("torch._dynamo.eval_frame")
        kind = getattr(compiler, "OptimizedModule", None)
        backends = getattr(compiler, "cached_backends", {None: compiler})
        if kind is None or not any(each is not None for each in backends.values()):
            return []  # nothing was compiled: no need to go through all objects
        alive = gc.get_objects()
        kinds = {each for each in set(map(type, alive)) if issubclass(each, self.Module)}
        modules = [each for each in alive if type(each) in kinds]
        return [m for m in modules if type(m) is kind or vars(m).get("_compiled_call_impl") is not None]

    def norms(self, tensors: list[Any]) -> list[Any]:
        return list(self.torch._foreach_norm(tensors)) if tensors else []

    def norm(self, tensor: Any) -> Any:
        if tensor.is_sparse or tensor.is_complex():
            return super().norm(tensor)
        with self.torch._C.DisableTorchFunction():  # what is detached leaves no graph
            return self.torch._C._linalg.linalg_vector_norm(tensor.detach())

    def floats(self, scalars: list[Any]) -> list[float]:
        if not scalars:
            return []
        kinds = {(scalar.dtype, scalar.device) for scalar in scalars}
        if len(kinds) > 1:
            scalars = [scalar.to(device=scalars[0].device, dtype=self.torch.float64) for scalar in scalars]
        return [float(x) for x in self.torch.stack(scalars).tolist()]

    def dense(self, tensor: Any) -> Any:
        return tensor.coalesce()._values() if tensor.is_sparse else tensor

    def start_modules(self, before: Before, after: After) -> None:
        """Tell of calls of all modules until `stop_modules`."""
        hooks = self.torch.nn.modules.module
        compiling = self.compiling

        def enter(module: Any, args: Any) -> None:
            if not compiling():
                before(module, args)

        def leave(module: Any, args: Any, result: Any) -> None:
            if not compiling():
                after(module, result)

        self._module_hooks = [
            hooks.register_module_forward_pre_hook(enter),
            hooks.register_module_forward_hook(leave, always_call=True),
        ]

    def stop_modules(self) -> None:
        for hook in self._module_hooks:
            hook.remove()
        self._module_hooks = []

    def start_optimizers(self, before: Callable[[Any, bool], None], after: Callable[[Any], None]) -> None:
        """Report every step of an optimizer until `stop_optimizers`."""
        hooks = sys.modules["torch.optim.optimizer"]

        def enter(optimizer: Any, args: Any, kwargs: Any) -> None:
            before(optimizer, has_closure(args[1:], kwargs))

        def leave(optimizer: Any, *_: Any) -> None:
            after(optimizer)

        self._optimizer_hooks = [
            hooks.register_optimizer_step_pre_hook(enter),
            hooks.register_optimizer_step_post_hook(leave),
        ]

    def stop_optimizers(self) -> None:
        for hook in self._optimizer_hooks:
            hook.remove()
        self._optimizer_hooks = []

    def start_ops(self, note: Note) -> None:
        """Tell of every op of this thread until `stop_ops`."""
        if self._ops is None:
            self._ops = self._mode()
            self._ops.__enter__()
        self._ops.tell = note

    def stop_ops(self, last: bool = False) -> None:
        """Stop reporting ops. The mode itself is removed as soon as it is the innermost one: those that
        the user has entered since then are left as they are."""
        if self._ops is None:
            return
        self._ops.tell = None
        stack, above = self.torch._C, []
        if last:  # those above it go back where they were
            depth = stack._len_torch_function_stack()
            modes = [stack._get_function_stack_at(i) for i in range(depth)]
            if self._ops in modes:
                above = [stack._pop_torch_function_stack() for _ in modes[modes.index(self._ops) + 1 :]]
        depth = stack._len_torch_function_stack()
        if depth and stack._get_function_stack_at(depth - 1) is self._ops:
            self._ops.__exit__(None, None, None)
            self._ops = None
        for mode in reversed(above):
            stack._push_on_torch_function_stack(mode)


def name_of(op: Any) -> str:
    """The name of an op, or of the class of a custom Function."""
    return str(getattr(op, "name", None) or getattr(op, "__name__", ""))


class Watcher(observing.Observer):
    """What minigrad tells, handed on."""

    def __init__(self, library: Minigrad) -> None:
        self.library = library
        self.tell: Note | None = None
        self.before: Before | None = None
        self.after: After | None = None

    def forward(self, op: Any, inputs: Any, outputs: Any) -> None:
        made = outputs[0] if isinstance(outputs, tuple) and outputs else outputs
        node = getattr(made, "grad_fn", None)
        if node is not None:
            self.library.latest = self.library.seq_of(node)
        if self.tell is not None:
            self.tell(name_of(op), inputs, made)

    def mutated(self, op: Any, values: Any, version: int, history: tuple[Any, int]) -> None:
        if self.tell is not None:
            name = name_of(op)
            self.tell(f"{name.rstrip('_')}_", values, values[0])

    def detached(self, source: Any, result: Any, how: str) -> None:
        if self.tell is not None:
            self.tell("data" if how == "data" else "detach", (source,), result)

    def left(self, tensor: Any, how: str, value: Any) -> None:
        if self.tell is not None:
            self.tell("tolist" if how == "item" and isinstance(value, list) else how, (tensor,), value)

    def created(self, tensor: Any, data: Any) -> None:
        if self.tell is not None and data is not None:
            self.tell("tensor", (data,), tensor)

    def called(self, module: Any, args: Any, kwargs: Any) -> None:
        if self.before is not None:
            self.before(module, args)

    def returned(self, module: Any, result: Any) -> None:
        if self.after is not None:
            self.after(module, result)


class Minigrad(Library):
    """minigrad."""

    name = "minigrad"

    def __init__(self) -> None:
        super().__init__(minigrad)
        self.schedulers = (minigrad.optim.lr_scheduler.LRScheduler,)
        self.latest = 0
        self._watcher = Watcher(self)
        self._watching = False

    def patches(self) -> list[tuple[Any, str, str]]:
        clip = minigrad.nn.utils
        return [
            *super().patches(),
            (clip, "clip_grad_norm_", "clip"),
            (clip, "clip_grad_value_", "clip_value"),
            *(
                (cls, "step", "step_of")
                for cls in (self.Optimizer, minigrad.optim.LBFGS)
                if "step" in vars(cls)
            ),
        ]

    @contextlib.contextmanager
    def quiet(self) -> Iterator[None]:
        with observing.hidden_from_observers(), minigrad.no_grad():
            yield

    def sequence(self) -> int:
        return self.latest + 1

    def seq_of(self, node: Any) -> int:
        return int(node._seq)

    def norms(self, tensors: list[Any]) -> list[Any]:
        return [(tensor * tensor).sum().sqrt() for tensor in tensors]

    def start_modules(self, before: Before, after: After) -> None:
        """Tell of calls of all modules until `stop_modules`."""
        self._watcher.before, self._watcher.after = before, after
        self._follow()

    def stop_modules(self) -> None:
        self._watcher.before = self._watcher.after = None
        self._follow()

    def start_optimizers(self, before: Callable[[Any, bool], None], after: Callable[[Any], None]) -> None:
        """Nothing to do: steps are among the replaced functions."""

    def stop_optimizers(self) -> None:
        """Nothing to do."""

    def start_ops(self, note: Note) -> None:
        """Tell of every op of this thread until `stop_ops`."""
        self._watcher.tell = note
        self._follow()

    def stop_ops(self, last: bool = False) -> None:
        self._watcher.tell = None
        self._follow()

    def _follow(self) -> None:
        """Be an observer only while there is something to tell: watched ops are slower."""
        wanted = self._watcher.tell is not None or self._watcher.before is not None
        if wanted and not self._watching:
            observing.add_observer(self._watcher)
        elif self._watching and not wanted:
            observing.remove_observer(self._watcher)
        self._watching = wanted


def has_closure(args: Any, kwargs: Any) -> bool:
    """Whether a step was given a function that computes the loss."""
    return any(map(callable, args)) or callable(kwargs.get("closure"))


def loaded_libraries() -> list[Library]:
    """The libraries of the process: minigrad, and PyTorch if it has been imported (and is not minigrad under
    its name)."""
    torch = sys.modules.get("torch")
    real = torch is not None and hasattr(torch, "_C") and hasattr(torch, "optim")
    return [*([Torch()] if real else []), Minigrad()]
