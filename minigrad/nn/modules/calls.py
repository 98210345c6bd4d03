"""Calling a module: its hooks, and its forward between them.

Note [Backward hooks of modules]
    A module has no node of its own, so its backward hooks need two: an identity around its inputs and one
    around its outputs, as in PyTorch, where both are called BackwardHookFunctionBackward. The gradients of
    the outputs are seen when the outer one runs, those of the inputs when the inner one runs, which is after
    all of the module has run. Hooks are called then, with both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...autograd import Function
from ...core import modes
from ...core.hooks import HookDict, RemovableHandle
from ...core.modes import is_grad_enabled
from ...core.user_warnings import warn
from ...tensor import Tensor
from .tree import Tree

HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


class BackwardHookFunction(Function):
    """Function that returns its inputs."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Return a view of each tensor."""
        ctx.mark_non_differentiable(*(t for t in args if not t.requires_grad))
        return tuple(t.view_as(t) for t in args)

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Return the upstream gradients."""
        return args


class Called(Tree):
    """Base class that calls `forward` and the hooks."""

    def __init__(self) -> None:
        super().__init__()
        for kind in HOOKS:
            object.__setattr__(self, kind, HookDict())

    def forward(self, *input: Any) -> Any:
        """Compute the module's result; a subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        kept, result = self.__dict__, None
        watchers = modes.state.observers if modes.active else ()
        for observer in watchers:
            observer.called(self, args, kwargs)
        try:
            if kept["_forward_pre_hooks"] or kept["_forward_hooks"] or backward_hooks(self):
                result = self._with_hooks(args, kwargs)
            else:
                result = self.forward(*args, **kwargs)
            return result
        finally:
            for observer in watchers:
                observer.returned(self, result)

    def _with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `forward`, and the hooks before and after it."""
        for hook, with_kwargs in list(self._forward_pre_hooks.values()):
            changed = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if changed is not None and with_kwargs:
                args, kwargs = changed
            elif changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        around = Around(self) if backward_hooks(self) and is_grad_enabled() else None
        if around is not None:
            args = around.inputs(args)
        result = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self._forward_hooks.values()):
            changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            if changed is not None:
                result = changed
        return result if around is None else around.outputs(result)

    def register_forward_pre_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before each forward; a result other than None replaces the arguments.

        `with_kwargs`: call `hook(module, args, kwargs)`, which returns both.
        """
        return registered(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after each forward; a result other than None replaces the output.

        `with_kwargs`: call `hook(module, args, kwargs, output)`.
        """
        return registered(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook: Any, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs have arrived.

        A result other than None replaces grad_input. See Note [Backward hooks of modules].
        """
        return registered(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Any, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the module's backward; a result other than None replaces
        grad_output.
        """
        return registered(self._backward_pre_hooks, hook, prepend)


def backward_hooks(module: Called) -> bool:
    """Return whether the module has backward hooks."""
    return bool(module.__dict__["_backward_hooks"] or module.__dict__["_backward_pre_hooks"])


def registered(hooks: HookDict, entry: Any, prepend: bool) -> RemovableHandle:
    """Register a hook as the last one, or the first if `prepend`, and return its handle."""
    handle = RemovableHandle(hooks, entry)
    if prepend:
        later = [key for key in hooks if key != handle.id]
        for key in later:
            hooks[key] = hooks.pop(key)
    return handle


class Places(NamedTuple):
    """Where the tensors are among `total` values that enter or leave a module."""

    positions: list[int]
    total: int

    def of(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return those of all values that are tensors."""
        return tuple(values[i] for i in self.positions)

    def put(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Put gradients at their positions among all values; None for values that are not tensors."""
        at = dict(zip(self.positions, gradients))
        return tuple(at.get(i) for i in range(self.total))


NO_INPUT = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
    "require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


class Around:
    """The two identity functions around one call of a module. See Note [Backward hooks of modules]."""

    def __init__(self, module: Called) -> None:
        self.module = module
        self.pre_hooks = list(module._backward_pre_hooks.values())
        self.hooks = list(module._backward_hooks.values())
        self.grad_output: tuple[Any, ...] | None = None  # the gradients of the outputs
        self.places = Places([], 0)  # of the inputs
        self.needs_input = False

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Pass the arguments through the inner identity."""
        passed, node, self.places = identity(args)
        if node is not None:
            self.needs_input = True
            node.register_hook(self.after_backward)
        return passed

    def outputs(self, result: Any) -> Any:
        """Pass the result through the outer identity."""
        single = isinstance(result, Tensor)
        if not single and not isinstance(result, tuple):
            return result
        passed, node, places = identity((result,) if single else result)
        if node is not None:
            node.register_prehook(lambda grads: self.before_backward(grads, places))
        return passed[0] if single else passed

    def before_backward(self, grads: tuple[Any, ...], places: Places) -> tuple[Any, ...]:
        """Handle the gradients of the outputs, which have arrived."""
        self.grad_output = self.called(self.pre_hooks, "grad_output", "Backward pre hook", places.put(grads))
        if not self.needs_input:  # hooks are notified of the outputs alone
            warn(NO_INPUT)
            self.called(self.hooks, "grad_input", "Backward hook", self.places.put(()), self.grad_output)
        return places.of(self.grad_output)

    def after_backward(self, grad_inputs: tuple[Any, ...], _: Any) -> tuple[Any, ...]:
        """Handle the gradients of the inputs, which have arrived."""
        if self.grad_output is None:
            raise RuntimeError(
                "Module backward hook for grad_input is called before the grad_output one. This happens "
                "because the gradient in your nn.Module flows to the Module's input without passing through "
                "the Module's output. Make sure that the output depends on the input and that the loss is "
                "computed based on the output."
            )
        grad_input = self.places.put(grad_inputs)
        grad_input = self.called(self.hooks, "grad_input", "Backward hook", grad_input, self.grad_output)
        self.grad_output = None
        return self.places.of(grad_input)

    def called(
        self, hooks: list[Any], what: str, who: str, grads: tuple[Any, ...], *others: Any
    ) -> tuple[Any, ...]:
        """Call hooks with gradients, which each of them may replace by as many; return those at the end."""
        for hook in hooks:
            changed = hook(self.module, grads, *others)
            if changed is None:
                continue
            changed = changed if isinstance(changed, tuple) else (changed,)
            if len(changed) != len(grads):
                told = f"{what}, got {len(changed)}, but expected {len(grads)}"
                raise RuntimeError(f"{who} returned an invalid number of {told}")
            grads = changed
        return grads


def identity(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any, Places]:
    """Pass the tensors among the values through a BackwardHookFunction; return the values, its node (None if
    no gradient is needed), and where the tensors are.
    """
    places = Places([i for i, value in enumerate(values) if isinstance(value, Tensor)], len(values))
    tensors = places.of(values)
    if not any(t.requires_grad for t in tensors):
        return values, None, places
    made = BackwardHookFunction.apply(*tensors)
    node = next(t.grad_fn for t in made if t.grad_fn is not None)
    at = dict(zip(places.positions, made))
    return tuple(at.get(i, value) for i, value in enumerate(values)), node, places
