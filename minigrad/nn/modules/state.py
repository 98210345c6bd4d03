"""`state_dict` and `load_state_dict` of modules."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...autograd import no_grad
from ...tensor import Tensor
from ..parameter import Parameter
from .tree import Tree


class IncompatibleKeys(NamedTuple):
    """Names that a state dictionary lacked, and names that the module does not have."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class State(Tree):
    """Base class with `state_dict` and `load_state_dict`."""

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
            told = {"Missing": missing, "Unexpected": unexpected}
            errors = [
                f"{what} key(s) in state_dict: {', '.join(f'{chr(34)}{n}{chr(34)}' for n in names)}. "
                for what, names in told.items()
                if names
            ] + errors
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
