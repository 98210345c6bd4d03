"""Names of `torch._C` with which PyTorch's tests look at a graph, written with minigrad's public API."""

from __future__ import annotations

import weakref
from typing import Any, Protocol, runtime_checkable

import minigrad

Function = minigrad.autograd.Function
saved_tensors_hooks = minigrad.autograd.graph.saved_tensors_hooks


@runtime_checkable
class SavedTensor(Protocol):
    """What `_raw_saved_<name>` of a node gives: its hooks can be set."""

    def register_hooks(self, pack: Any, unpack: Any) -> None: ...


class UndefinedGrad:
    """Passes a tensor on, and no gradient back."""

    class Cut(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return None

    def __call__(self, x: Any) -> Any:
        return self.Cut.apply(x)


class DelayedError:
    """Passes a tensor on. Its backward raises."""

    class Raise(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, text: str) -> Any:
            ctx.text = text
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            raise RuntimeError(ctx.text)

    def __init__(self, text: str, inputs: int) -> None:
        assert inputs == 1
        self.text = text

    def __call__(self, x: Any) -> Any:
        return self.Raise.apply(x, self.text)


class WeakTensorRef:
    """Tells whether a tensor is still alive."""

    def __init__(self, tensor: Any) -> None:
        self.ref = weakref.ref(tensor)

    def expired(self) -> bool:
        return self.ref() is None


def saved_tensors_hooks_is_enabled() -> bool:
    """Whether `saved_tensors_hooks` can be entered. It cannot under `disable_saved_tensors_hooks`."""
    try:
        with saved_tensors_hooks(lambda x: x, lambda x: x):
            return True
    except RuntimeError:
        return False


def accumulate_grad() -> type:
    """The class of the node that adds to a leaf's `.grad`."""
    leaf = minigrad.ones(1, requires_grad=True)
    return type((leaf * 2).grad_fn.next_functions[0][0])
