"""What the libraries tell of the user's own code: hooks and how many there are, the methods of custom
Functions, and arguments as text.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType
from typing import Any

from .protocol import is_tensor, variable_of


def multi_hook(hook: Any) -> Any:
    """The function of a multi-grad hook, of which `hook` is the part at one tensor; None for any other."""
    inner = getattr(getattr(hook, "func", None), "__self__", hook)
    if type(inner).__module__ == "minigrad.autograd.graph":
        return getattr(inner, "fn", None)
    code = getattr(hook, "__code__", None)
    if code is None or not code.co_qualname.startswith("register_multi_grad_hook"):
        return None
    names = code.co_freevars
    return hook.__closure__[names.index("fn")].cell_contents if "fn" in names else hook


def hook_name(hook: Any) -> str:
    """A hook's own name, else that of its class."""
    name = getattr(hook, "__name__", None)
    return name if isinstance(name, str) else type(hook).__name__


def hooks_of(node: Any, tensors: Iterable[Any] = ()) -> int:
    """How many hooks of the user run with `node`, as far as the library tells.

    minigrad tells all of a node. PyTorch tells those of a tensor, so its results are counted where they
    are at hand (`tensors`); what was registered on one of its nodes itself is not known.
    """
    leaf = variable_of(node)
    extra = getattr(node, "_extra", None)
    count = 0
    if extra is not None:
        own = (extra.pre, extra.post, *extra.tensor_hooks.values())
        count += sum(len(hooks) for hooks in own if hooks)
    elif not hasattr(node, "_extra"):
        holders = tensors if leaf is None else (leaf,)
        count += sum(len(getattr(t, "_backward_hooks", None) or ()) for t in holders)
    for name in ("_post_accumulate", "_post_accumulate_grad_hooks"):
        count += len(getattr(leaf, name, None) or ())
    return count


def function_of(node: Any) -> Any:
    """The class of the custom Function that made a node; None for any other node, and for that of compiled
    code."""
    function = getattr(type(node), "function", None) or getattr(type(node), "_forward_cls", None)
    return None if str(getattr(function, "__module__", "")).startswith("torch._functorch.") else function


def method_code(node: Any, name: str) -> CodeType | None:
    """The code of a method of a custom Function, as "backward"; None where it has none of its own, and of
    another node."""
    function = function_of(node)
    if function is None:
        return None
    method = getattr(function, name, None)
    if str(getattr(method, "__module__", "")).startswith(("torch.autograd.", "minigrad.autograd.")):
        return None
    return getattr(getattr(method, "__wrapped__", method), "__code__", None)


def text_of(value: Any) -> str:
    """An argument that is no tensor, as text: its own if it is data, else its class, for the text of an
    object of the user's may be anything."""
    kind = type(value)
    if kind in (list, tuple):
        inner = [text_of(item) for item in value]
        comma = "," if kind is tuple and len(inner) == 1 else ""
        return f"[{', '.join(inner)}]" if kind is list else f"({', '.join(inner)}{comma})"
    if is_tensor(value):
        return "…"
    if callable(value):
        return hook_name(value)
    module = kind.__module__.partition(".")[0]
    plain = module in TOLD and not isinstance(value, dict | set)  # in which anything may stand
    told = str(value) if plain or (module == "torch" and kind.__name__ in TORCH) else ""
    return told if told and " at 0x" not in told else kind.__name__


TOLD = ("builtins", "numpy", "minigrad")
TORCH = ("dtype", "device", "Size", "layout", "memory_format")  # the text of a storage is all its numbers
