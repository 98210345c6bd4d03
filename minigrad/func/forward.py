"""`jvp` and `linearize`: derivatives of functions in forward mode.

Note [Nested jvp]
    Dual numbers have one level (`autograd.forward_ad`). The outermost `jvp` uses it; one inside of it runs
    the function forwards and twice backwards: vᵀJ is linear in v, so its own vector-Jacobian product with
    the tangent is J times the tangent. That is the same number by ops that can be differentiated again, in
    any mode, but `no_grad` inside the function, which forward mode ignores, then counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd import forward_ad
from ..autograd.functional.common import zeros_like
from ..core import F, modes
from ..core.tangents import aside
from ..core.tensor_state import TensorBase
from . import pytree
from .levels import Level, inside
from .reverse import check_outputs, gradients_or_none, split_aux

JVP = "jvp(f, primals, tangents)"


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """Return `func(*primals)` and the product of its Jacobian J and a vector, Jv, computed in forward mode.

    >>> import minigrad as torch
    >>> torch.func.jvp(lambda x: x**2, (torch.tensor([1.0, 2.0]),), (torch.tensor([1.0, 10.0]),))
    (tensor([1., 4.]), tensor([ 2., 40.]))

    Args:
        func: takes tensors, or nested structures of them, and returns one or the other.
        primals: a tuple, the arguments of `func`.
        tangents: the vector v: a tuple with the structure of `primals`.
        strict: raise an error, instead of returning zeros, if an output does not depend on the arguments.
        has_aux: `func` returns `(output, aux)`; `aux` is passed through and not differentiated.

    Shape:
        `tangents` has the shapes of `primals`, the product those of the output.

    Returns:
        `(output, product)`, or `(output, product, aux)`.

    Raises:
        RuntimeError: the structures or shapes of `primals` and `tangents` differ, or `strict` finds an
            output that does not depend on the arguments.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.jvp.html
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    points, spec = pytree.flatten(primals)
    directions, given_spec = pytree.flatten(tangents)
    if spec != given_spec:
        raise RuntimeError(
            f"{JVP}: Expected primals and tangents to have the same python structure. For example, if "
            f"primals is a tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and "
            f"tangents with structure {given_spec}"
        )
    check_tensors(points, "primals")
    check_tensors(directions, "tangents")

    output_spec: Any = None
    aux: Any = ()

    def call(leaves: list[Any]) -> list[Any]:
        nonlocal output_spec, aux
        output = func(*pytree.unflatten(leaves, spec))
        output, aux = split_aux(output, JVP) if has_aux else (output, ())
        outputs, output_spec = pytree.flatten(output)
        check_outputs(outputs, JVP)
        return outputs

    with inside("jvp"):
        if "jvp" in modes.state.transforms[:-1]:
            for p, t in zip(points, directions, strict=True):
                forward_ad.check_sizes(p, t)
            linear = Linear(call, points)
            outputs, found = linear.level.outward(linear.outputs), linear(directions)
            aux = pytree.apply(linear.level.outside, aux)
        else:
            outputs, found = dual(call, points, directions)
            aux = pytree.apply(checked, aux)
        found = with_zeros(found, outputs, strict)
    output, product = (pytree.unflatten(leaves, output_spec) for leaves in (outputs, found))
    return (output, product, aux) if has_aux else (output, product)


def check_tensors(leaves: list[Any], what: str) -> None:
    """Raise RuntimeError with PyTorch's texts unless there are leaves, all of them tensors."""
    if not leaves:
        raise RuntimeError(f"{JVP}: Expected {what} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, TensorBase):
            raise RuntimeError(f"{JVP}: Expected {what} to only contain Tensors, got {type(leaf)}")


def dual(call: Any, points: list[Any], directions: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the outputs of `call` on dual tensors, and their tangents or None."""
    with forward_ad._set_fwd_grad_enabled(True), forward_ad.dual_level():
        outputs = call([forward_ad.make_dual(p, t) for p, t in zip(points, directions, strict=True)])
        return [primal(out) for out in outputs], [forward_ad.unpack_dual(out).tangent for out in outputs]


def primal(leaf: Any) -> Any:
    """Return a tensor as it is outside, without its tangent."""
    with aside():
        result = F.alias(leaf)
    result._tangent_base = False
    return result


def checked(leaf: Any) -> Any:
    """Return a tensor of aux; raise RuntimeError for anything else."""
    if not isinstance(leaf, TensorBase):
        raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return leaf


def with_zeros(tangents: list[Any], outputs: list[Any], strict: bool) -> list[Any]:
    """Return tangents with zeros for missing ones; raise RuntimeError for these in strict mode."""
    if strict and any(t is None for t in tangents):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is "
            "not allowed with strict=True."
        )
    return [zeros_like(out) if t is None else t for t, out in zip(tangents, outputs, strict=True)]


class Linear:
    """What a function does to tangents: its Jacobian at `points`, ready to be multiplied. See Note [Nested
    jvp].

    `call` takes the list of points and returns a list of tensors.
    """

    def __init__(self, call: Any, points: list[Any]) -> None:
        self.level = Level()
        with inside("grad"):
            inner = [self.level.inner(p) for p in points]
            self.outputs = call(inner)
            self.starts = [self.level.inner(zeros_like(t)) if t.requires_grad else None for t in self.outputs]
            back = gradients_or_none(self.outputs, inner, self.starts)
            self.used = [i for i, g in enumerate(back) if g is not None and g.requires_grad]
            self.back = [back[i] for i in self.used]
            self.level.stay()

    def __call__(self, directions: list[Any]) -> list[Any]:
        """Return the tangents of the outputs; None for those that depend on no input."""
        starts = [s for s in self.starts if s is not None]
        with inside("grad"):
            found = iter(gradients_or_none(self.back, starts, [directions[i] for i in self.used]))
            tangents = [None if s is None else next(found) for s in self.starts]
        return [None if t is None else self.level.outside(t) for t in tangents]


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return `func(*primals)` and a function that multiplies its Jacobian J by a vector: v ↦ Jv.

    `func` runs twice now, and not again when the new function is called.

    >>> import minigrad as torch
    >>> output, jvp_fn = torch.func.linearize(lambda x: x**2, torch.tensor([1.0, 2.0]))
    >>> jvp_fn(torch.tensor([1.0, 10.0]))
    tensor([ 2., 40.])

    Args:
        func: takes tensors, or nested structures of them, and returns one or the other.
        primals: the arguments of `func`.

    Shape:
        The vector has the structure and the shapes of `primals`, the product those of the output.

    Returns:
        `(output, jvp_fn)`. `jvp_fn` takes one tangent for each of the `primals`.

    Raises:
        RuntimeError: the tangents that `jvp_fn` gets do not have the structure, shapes and dtypes of
            `primals`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.linearize.html
    """
    output = func(*primals)
    output_leaves, output_spec = pytree.flatten(output)
    points, spec = pytree.flatten(primals)
    at = [i for i, leaf in enumerate(output_leaves) if isinstance(leaf, TensorBase)]

    def listed(leaves: list[Any]) -> list[Any]:
        found, _ = pytree.flatten(func(*pytree.unflatten(leaves, spec)))
        return [found[i] for i in at]

    linear = Linear(listed, points)

    def jvp_fn(*tangents: Any) -> Any:
        directions, given_spec = pytree.flatten(tangents)
        if given_spec != spec:
            raise RuntimeError(
                f"Expected the tangents {given_spec} to have the same argspec as the primals {spec}"
            )
        for i, (t, p) in enumerate(zip(directions, points, strict=True)):
            check_like(i, t, p)
        found = with_zeros(linear(directions), linear.outputs, False)
        result = list(output_leaves)
        for i, t in zip(at, found, strict=True):
            result[i] = t
        return pytree.unflatten(result, output_spec)

    return output, jvp_fn


def check_like(i: int, tangent: Any, point: Any) -> None:
    """Raise RuntimeError with PyTorch's texts unless a tangent has its primal's shape and dtype."""
    for what in ("shape", "dtype"):
        a, b = getattr(tangent, what), getattr(point, what)
        if a != b:
            text = f"tangent:{i} with {what} {a} in flattened pytree doesn't match the {what} {b} of the "
            raise RuntimeError(text.replace("minigrad.", "torch.") + "corresponding primal.")
