"""Named tuples, which ops with several results give."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def described(result: Any) -> str:
    """`torch.return_types.max(values=…, indices=…)`, a line for each field, as PyTorch writes it."""
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(result._fields, result))
    return f"torch.return_types.{type(result).__name__}(\n{fields})"


def return_type(name: str, *fields: str) -> Any:
    """The class of the results of the op `name`: a named tuple that prints as PyTorch's."""
    kind = type(name, (namedtuple(name, fields),), {"__slots__": (), "__repr__": described})
    kind.__module__ = __name__
    return kind


max = return_type("max", "values", "indices")
min = return_type("min", "values", "indices")
aminmax = return_type("aminmax", "min", "max")
median = return_type("median", "values", "indices")
nanmedian = return_type("nanmedian", "values", "indices")
mode = return_type("mode", "values", "indices")
kthvalue = return_type("kthvalue", "values", "indices")
histogram = return_type("histogram", "hist", "bin_edges")
frexp = return_type("frexp", "mantissa", "exponent")
cummax = return_type("cummax", "values", "indices")
cummin = return_type("cummin", "values", "indices")
sort = return_type("sort", "values", "indices")
topk = return_type("topk", "values", "indices")
linalg_inv_ex = return_type("linalg_inv_ex", "inverse", "info")
linalg_solve_ex = return_type("linalg_solve_ex", "result", "info")
linalg_slogdet = return_type("linalg_slogdet", "sign", "logabsdet")
slogdet = return_type("slogdet", "sign", "logabsdet")
linalg_cholesky_ex = return_type("linalg_cholesky_ex", "L", "info")
linalg_qr = return_type("linalg_qr", "Q", "R")
qr = return_type("qr", "Q", "R")
linalg_eigh = return_type("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_svd = return_type("linalg_svd", "U", "S", "Vh")
svd = return_type("svd", "U", "S", "V")
