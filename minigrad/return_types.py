"""Named tuples: the results of ops with several outputs.

They are loaded with the first op that needs one: to make them all takes 1 ms.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

# The fields of the results of each op.
FIELDS = {
    "max": "values indices",
    "min": "values indices",
    "median": "values indices",
    "nanmedian": "values indices",
    "cummax": "values indices",
    "cummin": "values indices",
    "histogram": "hist bin_edges",
    "sort": "values indices",
    "topk": "values indices",
    "linalg_slogdet": "sign logabsdet",
    "slogdet": "sign logabsdet",
    "linalg_qr": "Q R",
    "qr": "Q R",
    "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_svd": "U S Vh",
    "svd": "U S V",
    "linalg_eig": "eigenvalues eigenvectors",
    "linalg_lstsq": "solution residuals rank singular_values",
}


def describe_result(result: Any) -> str:
    """`torch.return_types.max(values=…, indices=…)`, a line for each field, as PyTorch writes it."""
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(result._fields, result))
    return f"torch.return_types.{type(result).__name__}(\n{fields})"


def return_type(name: str, *fields: str) -> Any:
    """The class of the results of the op `name`: a named tuple that prints as PyTorch's."""
    kind = type(name, (namedtuple(name, fields),), {"__slots__": (), "__repr__": describe_result})
    kind.__module__ = __name__
    return kind


globals().update({name: return_type(name, *fields.split()) for name, fields in FIELDS.items()})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
