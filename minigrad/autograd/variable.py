"""`Variable`, which tensors used to be wrapped in: today it gives a tensor."""

from __future__ import annotations

import warnings
from typing import Any

from ..core.guards import check_data
from ..creation import empty
from ..tensor import Tensor

VOLATILE = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."


class VariableMeta(type):
    """Every tensor is a Variable."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """Deprecated name of a tensor: `Variable(data)` returns a leaf that shares memory with `data`.

    Args:
        data: tensor; an empty one if None.
        requires_grad: True lets the leaf receive a gradient.
        volatile: ignored, with a warning.

    Returns:
        A tensor.

    Raises:
        TypeError: data is not a tensor.

    Example:
        >>> torch.autograd.Variable(torch.ones(2), requires_grad=True)
        tensor([1., 1.], requires_grad=True)

    Source: PyTorch's page `torch.autograd`, "Variable (deprecated)".
    """

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        """Return the leaf, an empty tensor without data; raise TypeError for anything but a tensor."""
        if volatile:
            warnings.warn(VOLATILE, UserWarning, stacklevel=2)
        if data is None:
            data = empty((0,))
        check_data(data)
        return data.detach().requires_grad_(requires_grad)
