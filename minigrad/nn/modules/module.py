"""nn.Module, the base class of models: its mode, state, conversion and repr."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...autograd import no_grad
from ...core import dtypes
from ...creation import empty_like
from ...tensor import Tensor
from ...tensor import conversion as casts
from ..parameter import Parameter
from .tree import CallableModule

__all__ = ["Module"]


class IncompatibleKeys(NamedTuple):
    """Names that a state dictionary lacked, and names that the module does not have."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Module(CallableModule):
    """Base class of all layers and models.

    A subclass calls `super().__init__()` first and assigns parameters and other modules as attributes. It
    computes its result in `forward`; `module(x)` calls `forward(x)` and the registered hooks.

    Shape:
        Defined by the subclass.

    Raises:
        NotImplementedError: the subclass has no `forward`.
        AttributeError: a parameter or module is assigned before `super().__init__()`.

    Example:
        >>> class Double(nn.Module):
        ...     def forward(self, x):
        ...         return 2 * x
        >>> Double()(torch.ones(1)).item()
        2.0

    Source: PyTorch's page `torch.nn.Module`.
    """

    training: bool
    _shown = ""  # the settings in the repr: "name=" with the name, "name" without it
    _usual: Mapping[str, Any] = {}  # more settings, which the repr shows if they differ from these values

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "training", True)

    def train(self, mode: bool = True) -> Any:
        """Set training mode, or evaluation if not `mode`, here and below: dropout and batch norm differ."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """Set evaluation mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Let all parameters require gradients, or none."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters to None, or to zeros."""
        for parameter in self.parameters():
            reset(parameter, set_to_none)

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Call `fn` on every module below, then on this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor]) -> Any:
        """Replace the data of all parameters, gradients and buffers by `fn` of it."""
        for module in self.modules():
            for parameter in module._parameters.values():
                if parameter is not None:
                    with no_grad():
                        parameter.data = fn(parameter.data)
                        if parameter.grad is not None:
                            gradient, parameter.grad = fn(parameter.grad), None
                            parameter.grad = gradient
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    module._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Convert floating-point parameters and buffers to a dtype (or that of a tensor); the device can only
        be the CPU.
        """
        dtype = casts.target(*args, **kwargs)[0]
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        if dtype is None:
            return self
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() or t.is_complex() else t)

    def float(self) -> Any:
        """Convert floating-point parameters and buffers to float32."""
        return self._apply(lambda t: t.to(dtypes.float32) if t.is_floating_point() else t)

    def double(self) -> Any:
        """Convert floating-point parameters and buffers to float64."""
        return self._apply(lambda t: t.to(dtypes.float64) if t.is_floating_point() else t)

    def half(self) -> Any:
        """Convert floating-point parameters and buffers to float16."""
        return self._apply(lambda t: t.to(dtypes.float16) if t.is_floating_point() else t)

    def cpu(self) -> Any:
        """Return the module: it is on the CPU."""
        return self

    def cuda(self, device: Any = None) -> Any:
        """Raise an error if there are parameters: minigrad has no GPU support."""
        return self._apply(lambda t: t.cuda(device))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Give all parameters and buffers new, uninitialized memory."""
        return self._apply(lambda t: empty_like(t, device=device))

    def _own_state(self) -> dict[str, Any]:
        """Return the module's own parameters and persistent buffers."""
        kept = {n: b for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set}
        return {name: t for name, t in (self._parameters | kept).items() if t is not None}

    def state_dict(
        self, *, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return parameters and persistent buffers by dotted name.

        They share memory with the module's, and are detached unless `keep_vars`.
        """
        found = OrderedDict() if destination is None else destination
        for name, t in self._own_state().items():
            found[prefix + name] = t if keep_vars else t.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=found, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return found

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy the numbers of `state_dict` into the parameters and buffers of the same names, or put its
        tensors in their place if `assign`.

        RuntimeError, once all that fits is loaded, for shapes that differ, and if `strict` for names that are
        missing or unknown.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        errors: list[str] = []
        known: set[str] = set()
        for path, module in self.named_modules(remove_duplicate=False):
            prefix = f"{path}." if path else ""
            for name, t in module._own_state().items():
                known.add(prefix + name)
                if prefix + name in state_dict:
                    errors += module._load(name, t, prefix + name, state_dict[prefix + name], assign)
                else:
                    missing.append(prefix + name)
        unexpected = [name for name in state_dict if name not in known]
        if strict:
            for what, names in (("Unexpected", unexpected), ("Missing", missing)):
                listed = ", ".join(f'"{name}"' for name in names)
                errors = [f"{what} key(s) in state_dict: {listed}. "] * bool(names) + errors
        if errors:
            title = f"Error(s) in loading state_dict for {type(self).__name__}:"
            raise RuntimeError("\n\t".join([title, *errors]))
        return IncompatibleKeys(missing, unexpected)

    def _load(self, name: str, t: Any, key: str, given: Any, assign: bool) -> list[str]:
        """Load one tensor; return the errors."""
        if not isinstance(given, Tensor):
            return [
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
                f"from checkpoint but received {type(given)}"
            ]
        if t.ndim == 0 and given.shape == (1,):
            given = given[0]
        if given.shape != t.shape:
            return [
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the "
                f"shape in current model is {t.shape}."
            ]
        if not assign:
            with no_grad():
                t.copy_(given)
        elif isinstance(t, Parameter):
            setattr(self, name, given if isinstance(given, Parameter) else Parameter(given, t.requires_grad))
        else:
            setattr(self, name, given)
        return []

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        told = [self._told(name) for name in self._shown.split()]
        told += [self._told(f"{n}=") for n, usual in self._usual.items() if getattr(self, n) != usual]
        return ", ".join(told)

    def _told(self, name: str) -> str:
        value = getattr(self, name.rstrip("="))
        if name == "bias=" and not isinstance(value, bool):
            value = value is not None
        return f"{name}{value!r}" if name.endswith("=") else repr(value)

    def _parts(self) -> list[str]:
        """Return the lines of the repr for the modules below."""
        return [f"({name}): {indent(repr(module))}" for name, module in self._modules.items()]

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        parts = self._parts()
        if not parts and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        body = "".join(f"  {line}\n" for line in lines + parts)
        return f"{self._get_name()}(\n{body})"


def indent(text: str) -> str:
    """Indent all lines but the first by two spaces."""
    return text.replace("\n", "\n  ")


def reset(parameter: Any, set_to_none: bool) -> None:
    """Set a gradient to None or to zeros."""
    if set_to_none:
        parameter.grad = None  # an observer receives it even where it was None
        return
    if parameter.grad is None:
        return
    if parameter.grad.grad_fn is not None:
        parameter.grad.detach_()
    else:
        parameter.grad.requires_grad_(False)
    parameter.grad.zero_()
