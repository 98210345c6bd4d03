"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

from ..op import F, composite, differentiable


@differentiable(self=lambda g, tensor: g * tensor, tensor=lambda g, self: g * self)
def dot(self, tensor):
    """Inner product of two vectors of one length n: (n,) · (n,) → ()."""
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    if self.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(self.shape)} and src {list(tensor.shape)} to have the same "
            f"number of elements, but got {self.size} and {tensor.size} elements respectively"
        )
    same_dtype(self, tensor, "dot")
    return self.dot(tensor)


@differentiable(self=lambda g, vec: F.outer(g, vec), vec=lambda g, self: F.mv(F.t(self), g))
def mv(self, vec):
    """Matrix times vector: (n, m) @ (m,) → (n,)."""
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({self.shape[0]}), mat ({self.shape[0]}x{self.shape[1]}), vec ({vec.shape[0]})"
        )
    same_dtype(self, vec, "mv")
    return self.dot(vec)


@differentiable(self=lambda g, mat2: F.mm(g, F.t(mat2)), mat2=lambda g, self: F.mm(F.t(self), g))
def mm(self, mat2):
    """Matrix times matrix: (n, k) @ (k, m) → (n, m)."""
    if self.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({self.shape[0]}x{self.shape[1]} and {mat2.shape[0]}x{mat2.shape[1]})"
        )
    same_dtype(self, mat2, "mm")
    return self.dot(mat2)


@differentiable(self=lambda g, mat2: F.bmm(g, mat2.mT), mat2=lambda g, self: F.bmm(self.mT, g))
def bmm(self, mat2):
    """A batch of matrix products: (b, n, k) @ (b, k, m) → (b, n, m)."""
    same_dtype(self, mat2, "bmm")
    return self @ mat2


def same_dtype(a: Any, b: Any, name: str) -> None:
    """RuntimeError unless both have one dtype: products of matrices do not promote."""
    if a.dtype != b.dtype:
        from ..dtypes import of

        if name == "dot":
            raise RuntimeError(
                f"dot : expected both vectors to have same dtype, but found {of(a).title} and {of(b).title}"
            )
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {c_name(a)} != {c_name(b)}")


def c_name(a: Any) -> str:
    """The C++ name of a dtype, as PyTorch's errors write it."""
    names = {"float32": "float", "float64": "double", "int64": "long long", "int32": "int", "float16": "c10::Half"}
    return names.get(a.dtype.name, a.dtype.name)


@composite
def outer(g: Any, vec: Any) -> Any:
    """Outer product of two vectors, by broadcasting, as PyTorch composes it."""
    return F.reshape(g, (g.shape[0], 1)) * vec
