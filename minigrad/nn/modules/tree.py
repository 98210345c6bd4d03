"""The tree of modules, and calls of modules with their hooks.

Note [Backward hooks of modules]
    A module has no node of its own, so its backward hooks need two: an identity around its inputs and one
    around its outputs, as in PyTorch, where both are called BackwardHookFunctionBackward. The gradients of
    the outputs are seen when the outer one runs, those of the inputs when the inner one runs, which is after
    all of the module has run. Hooks are called then, with both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...autograd import Function
from ...core import modes
from ...core.hooks import HookDict, RemovableHandle
from ...core.modes import is_grad_enabled
from ...core.user_warnings import warn
from ...tensor import Tensor
from ..parameter import Parameter

# ─── The tree of a module: what is registered by assignment, and iterating over it


# Where a module keeps its values: what PyTorch's errors call them, and what may take their place.
KINDS = {
    "_parameters": ("parameter", "torch.nn.Parameter or None"),
    "_modules": ("child module", "torch.nn.Module or None"),
    "_buffers": ("buffer", "torch.nn.Buffer, torch.Tensor or None"),
}


def type_name(value: Any) -> str:
    """Return a value's class as PyTorch's errors name it, for example torch.FloatTensor."""
    if isinstance(value, Tensor):
        return f"torch.{value.dtype.title}Tensor"
    cls = value if isinstance(value, type) else type(value)
    return cls.__qualname__ if cls.__module__ in ("", "builtins") else f"{cls.__module__}.{cls.__qualname__}"


class Tree:
    """Base class that registers attributes by what is assigned: parameter, buffer, module or anything else,
    and finds what is registered below it.

    `_parameters`, `_buffers` and `_modules` hold them by name, in order of assignment; a value may be
    None.
    """

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def __init__(self) -> None:
        for kind in KINDS:
            object.__setattr__(self, kind, {})
        object.__setattr__(self, "_non_persistent_buffers_set", set())

    def __getattr__(self, name: str) -> Any:
        kept = self.__dict__
        for kind in KINDS:
            found = kept.get(kind)
            if found and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        kept = self.__dict__
        if isinstance(value, Parameter | Tree):
            kind, what = ("_modules", "module") if isinstance(value, Tree) else ("_parameters", "parameters")
            self._must_be_ready(what)
            for place in (kept, *(kept[other] for other in KINDS if other != kind)):
                place.pop(name, None)
            self._non_persistent_buffers_set.discard(name)
            if isinstance(value, Tree):
                self._modules[name] = value
            else:
                self.register_parameter(name, value)
            return
        for kind, (what, expected) in KINDS.items():
            if name in kept.get(kind, ()):
                if value is not None and not (kind == "_buffers" and isinstance(value, Tensor)):
                    told = f"'{type_name(value)}' as {what} '{name}'"
                    raise TypeError(f"cannot assign {told} ({expected} expected)")
                kept[kind][name] = value
                return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for kind in KINDS:
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[0].isdigit())

    def _must_be_ready(self, what: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def _check_name(self, name: Any, what: str, kind: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type_name(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[kind]:
            raise KeyError(f"attribute '{name}' already exists")

    def _check_kind(self, name: str, value: Any, what: str, kind: type, title: str) -> None:
        if value is not None and not isinstance(value, kind):
            told = f"object to {what} '{name}' ({title} or None required)"
            raise TypeError(f"cannot assign '{type_name(value)}' {told}")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register `param` under `name`; None reserves the name."""
        self._must_be_ready("parameter")
        self._check_name(name, "parameter", "_parameters")
        self._check_kind(name, param, "parameter", Parameter, "torch.nn.Parameter")
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                f"explicitly. To express '{name}' as a function of another Tensor, compute the value in the "
                "forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that belongs to the state but is not learned; `persistent` puts it into
        `state_dict`.
        """
        self._must_be_ready("buffer")
        self._check_name(name, "buffer", "_buffers")
        self._check_kind(name, tensor, "buffer", Tensor, "torch Tensor")
        self._buffers[name] = tensor
        others = self._non_persistent_buffers_set
        (others.discard if persistent else others.add)(name)

    def add_module(self, name: str, module: Any) -> None:
        """Register a module, or None, under `name`."""
        if module is not None and not isinstance(module, Tree):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._check_name(name, "module", "_modules")
        self._modules[name] = module

    register_module = add_module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield the module itself, under `prefix`, and all modules below it with their dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, below, remove_duplicate)

    def modules(self) -> Iterator[Any]:
        """Yield the module itself and all modules below it."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yield the direct children with their names."""
        memo = set()
        for name, module in self._modules.items():
            if module is not None and module not in memo:
                memo.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """Yield the direct children."""
        return (module for _, module in self.named_children())

    def _named_members(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        memo: set[int] = set()
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        for below, module in modules:
            for name, value in module.__dict__[kind].items():
                if value is None or id(value) in memo:
                    continue
                if remove_duplicate:
                    memo.add(id(value))
                yield (f"{below}.{name}" if below else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield parameters with their dotted names; without `recurse` only the module's own."""
        yield from self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """Yield parameters, as optimizers take them."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield buffers with their dotted names."""
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Yield buffers."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Any:
        """Return the module of a dotted name, "" for the module itself; raise AttributeError if there is
        none.
        """
        found: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise AttributeError(f"{type(found).__name__} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return found

    def get_parameter(self, target: str) -> Any:
        """Return the parameter of a dotted name; raise AttributeError if there is none."""
        return self._member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Any:
        """Return the buffer of a dotted name; raise AttributeError if there is none."""
        return self._member(target, "_buffers", "a buffer")

    def _member(self, target: str, kind: str, what: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in module.__dict__[kind]:
            raise AttributeError(f"`{name}` is not {what}")
        return module.__dict__[kind][name]


# ─── Calling a module: its hooks, and its forward between them


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


class CallableModule(Tree):
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
        return register_hook(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after each forward; a result other than None replaces the output.

        `with_kwargs`: call `hook(module, args, kwargs, output)`.
        """
        return register_hook(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook: Any, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs have arrived.

        A result other than None replaces grad_input. See Note [Backward hooks of modules].
        """
        return register_hook(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Any, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the module's backward; a result other than None replaces
        grad_output.
        """
        return register_hook(self._backward_pre_hooks, hook, prepend)


def backward_hooks(module: CallableModule) -> bool:
    """Return whether the module has backward hooks."""
    return bool(module.__dict__["_backward_hooks"] or module.__dict__["_backward_pre_hooks"])


def register_hook(hooks: HookDict, entry: Any, prepend: bool) -> RemovableHandle:
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


NO_OUTPUT = (
    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
)
ONLY_NONE = (
    "Backward hook for Modules where no input requires gradient should always return None or None for all "
    "gradients."
)


class Around:
    """The two identity functions around one call of a module. See Note [Backward hooks of modules]."""

    def __init__(self, module: CallableModule) -> None:
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
            warn(NO_OUTPUT + str(type(result)))
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
            for hook in self.hooks:
                changed = hook(self.module, self.places.put(()), self.grad_output)
                nothing = isinstance(changed, tuple) and all(gradient is None for gradient in changed)
                if not (changed is None or nothing):
                    raise RuntimeError(ONLY_NONE)
        return places.of(self.grad_output)

    def after_backward(self, grad_inputs: tuple[Any, ...], _: Any) -> tuple[Any, ...]:
        """Handle the gradients of the inputs, which have arrived; in a pass that reached the inputs, but no
        output, there is nothing to do.
        """
        if self.grad_output is None:
            return grad_inputs
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
    passed = [at.get(i, value) for i, value in enumerate(values)]
    return (tuple(passed) if type(values) is tuple else type(values)(*passed)), node, places
