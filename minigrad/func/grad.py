"""`grad`, `vjp`, `jvp` and `linearize`: derivatives of functions in reverse and forward mode.

Note [Nested jvp]
    Dual numbers have one level (`autograd.forward_ad`). The outermost `jvp` uses it; one inside of it runs
    the function forwards and twice backwards: vᵀJ is linear in v, so its own vector-Jacobian product with
    the tangent is J times the tangent. That is the same number by ops that can be differentiated again, in
    any mode, but `no_grad` inside the function, which forward mode ignores, then counts.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..autograd import forward_ad
from ..autograd import functional as common
from ..autograd.functional import zeros_like_inputs
from ..core import F, dtypes, modes
from ..core.guards import check_output
from ..core.tangents import without_tangents
from ..core.tensor_state import TensorBase
from . import pytree
from .levels import Level, transform_block
from .pytree import Argnums, replace, select_arguments

# ─── `grad`, `grad_and_value` and `vjp`: derivatives of functions, in reverse mode


GRAD, VJP = "grad_and_value(f)(*args)", "vjp(f, *primals)"
AUX = "{}: output of function f should be a tuple: (output, aux) if has_aux is True"


def split_aux(output: Any, who: str) -> Any:
    """Return the pair that a function with `has_aux` returned, after a check."""
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(AUX.format(who))
    return output


def gradients_or_none(
    outputs: list[Any], inputs: list[Any], given: list[Any] | None = None, create_graph: bool = True
) -> list[Any]:
    """Return gradients of those outputs that have a graph; None for inputs on which none depends."""
    if not inputs:
        return []
    found = common.gradients_of(outputs, tuple(inputs), given, retain_graph=True, create_graph=create_graph)
    if not create_graph:
        mark(found, [*outputs, *(given or ())])
    return list(found)


def mark(gradients: Iterable[Any], sources: list[Any]) -> None:
    """Note that gradients without a graph depend on the examples of `vmap` that their sources depend on."""
    marks = dict.fromkeys(batch for t in sources if isinstance(t, TensorBase) for batch in t._batched)
    for g in gradients:
        if g is not None and not g.requires_grad:
            g._batched = tuple(marks)


def input_gradients(
    outputs: list[Any], inputs: list[Any], given: list[Any] | None = None, create_graph: bool = True
) -> list[Any]:
    """Return the gradients of `gradients_or_none`, with zeros instead of None."""
    found = gradients_or_none(outputs, inputs, given, create_graph)
    return [zeros_like_inputs(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def check_outputs(output: list[Any], who: str) -> None:
    """Raise RuntimeError with PyTorch's texts unless a function returned tensors, and at least one."""
    if not output or (len(output) == 1 and output[0] is None):
        raise RuntimeError(
            f"{who}: Expected f to be a function that has non-empty output (got output = {output})"
        )
    for out in output:
        if not isinstance(out, TensorBase):
            raise RuntimeError(
                f"{who}: expected f(*primals) to return only tensors, got unsupported type {type(out)}"
            )


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that computes the gradient of `func`.

    Calls can be nested: `grad(grad(f))` is the second derivative. `no_grad` has an effect inside `func`, but
    not around the call.

    >>> import minigrad as torch
    >>> torch.func.grad(lambda x: x**3)(torch.tensor(2.0))
    tensor(12.)

    Args:
        func: takes tensors, or nested structures of them, and returns a 0-dim tensor.
        argnums: the number of the argument to differentiate with respect to, or a tuple of numbers.
        has_aux: `func` returns `(output, aux)`, and the new function returns `(gradient, aux)`.

    Shape:
        The gradient has the shape of its argument; for a nested structure it has that structure.

    Returns:
        A function with the parameters of `func`. Derivatives of its result can be taken again.

    Raises:
        RuntimeError: the output is not a 0-dim tensor, or there is no argument of that number.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.grad.html
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `func` and its output: see `grad`.

    >>> import minigrad as torch
    >>> torch.func.grad_and_value(lambda x: x**3)(torch.tensor(2.0))
    (tensor(12.), tensor(8.))

    Args:
        func: takes tensors, or nested structures of them, and returns a 0-dim tensor.
        argnums: the number of the argument to differentiate with respect to, or a tuple of numbers.
        has_aux: `func` returns `(output, aux)`, and the new function returns `(gradient, (output, aux))`.

    Shape:
        The gradient has the shape of its argument, the output has the shape ().

    Returns:
        A function with the parameters of `func` that returns `(gradient, output)`.

    Raises:
        RuntimeError: the output is not a 0-dim tensor, or there is no argument of that number.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.grad_and_value.html
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        select_arguments(args, argnums)  # None, which means all arguments to `run_inside`, is an error here
        level = Level()
        with transform_block("grad"):
            ran = run_inside(level, functools.partial(func, **kwargs), args, argnums, has_aux, GRAD)
            found = input_gradients(ran.outputs, ran.leaves, None, level.needs_graph(ran.outputs[0]))
            result, (value,), aux = level.end(found, ran.outputs, ran.aux)
        gradient = pytree.unflatten(result, ran.spec)
        return gradient, (value, pytree.unflatten(aux, ran.aux_spec)) if has_aux else value

    return wrapper


def check_scalar(output: Any) -> None:
    """Raise RuntimeError with PyTorch's texts unless the output is a 0-dim tensor."""
    if not isinstance(output, TensorBase):
        raise RuntimeError(f"{GRAD}: Expected f(*args) to return a Tensor, got {type(output)}")
    dims = output._data.ndim
    if dims:
        raise RuntimeError(
            f"{GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {dims} dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?"
        )


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return `func(*primals)` and a function that multiplies a vector v by the Jacobian J: v ↦ vᵀJ.

    >>> import minigrad as torch
    >>> output, vjp_fn = torch.func.vjp(lambda x: x**2, torch.tensor([1.0, 2.0]))
    >>> vjp_fn(torch.tensor([1.0, 10.0]))
    (tensor([ 2., 40.]),)

    Args:
        func: takes tensors, or nested structures of them, and returns one or the other.
        primals: the arguments of `func`.
        has_aux: `func` returns `(output, aux)`; `aux` is passed through and not differentiated.

    Shape:
        The vector has the structure and the shapes of the output, the product those of `primals`.

    Returns:
        `(output, vjp_fn)`, or `(output, vjp_fn, aux)`. `vjp_fn` can be called more than once.

    Raises:
        RuntimeError: an output is not a floating-point or complex tensor.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.vjp.html
    """
    level = Level()
    with transform_block("grad"):
        ran = run_inside(level, func, primals, None, has_aux, VJP)
        result = pytree.unflatten(level.outward(ran.outputs), ran.output_spec)
        aux = pytree.unflatten(level.outward(ran.aux), ran.aux_spec)
        level.stay()

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        create = modes.is_grad_enabled() if create_graph is None else create_graph
        given, given_spec = pytree.flatten_tree(cotangents)
        if given_spec != ran.output_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                f"the function. cotangents: {pytree.structure_text(given_spec)}, primal output: "
                f"{pytree.structure_text(ran.output_spec)}"
            )
        found = input_gradients(ran.outputs, ran.leaves, given, create)
        return pytree.unflatten(level.outward(found), ran.spec)

    return (result, vjp_fn, aux) if has_aux else (result, vjp_fn)


class Evaluation(NamedTuple):
    """A function that ran at a level: inner leaves, outputs and aux, each as leaves and their structure."""

    leaves: list[Any]
    spec: Any
    outputs: list[Any]
    output_spec: Any
    aux: list[Any]
    aux_spec: Any


def run_inside(
    level: Level, func: Callable[..., Any], primals: tuple[Any, ...], argnums: Argnums | None, has_aux: bool,
    who: str,
) -> Evaluation:  # fmt: skip
    """Run `func` with the arguments `argnums` (None: all) replaced by leaves of this level. Raises
    RuntimeError with PyTorch's texts unless `func` returns tensors that can be differentiated, or for `GRAD`
    a 0-dim tensor.
    """
    inner = level.enter(primals if argnums is None else select_arguments(primals, argnums))
    output = func(*(inner if argnums is None else replace(primals, argnums, inner)))
    output, aux = split_aux(output, who) if has_aux else (output, ())
    outputs, output_spec = pytree.flatten_tree(output)
    if who == GRAD:
        check_scalar(output)
    else:
        check_outputs(outputs, who)
        for out in outputs:
            if out._data.dtype not in dtypes.DIFFERENTIABLE:
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor "
                    f"with dtype torch.{dtypes.of(out._data).name}"
                )
    return Evaluation(*pytree.flatten_tree(inner), outputs, output_spec, *pytree.flatten_tree(aux))


# ─── `jvp` and `linearize`: derivatives of functions in forward mode


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
    points, spec = pytree.flatten_tree(primals)
    directions, given_spec = pytree.flatten_tree(tangents)
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
        outputs, output_spec = pytree.flatten_tree(output)
        check_outputs(outputs, JVP)
        return outputs

    with transform_block("jvp"):
        if "jvp" in modes.state.transforms[:-1]:
            for p, t in zip(points, directions, strict=True):
                forward_ad.check_tangent_sizes(p, t)
            linear = Linear(call, points)
            outputs, found = linear.level.outward(linear.outputs), linear(directions)
            aux = pytree.apply(linear.level.outside, aux)
        else:
            outputs, found = dual(call, points, directions)
            aux = pytree.apply(check_aux, aux)
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
    with without_tangents():
        result = F.alias(leaf)
    result._tangent_base = False
    return result


def check_aux(leaf: Any) -> Any:
    """Return a tensor of aux; raise RuntimeError for anything else."""
    check_output(leaf)
    return leaf


def with_zeros(tangents: list[Any], outputs: list[Any], strict: bool) -> list[Any]:
    """Return tangents with zeros for missing ones; raise RuntimeError for these in strict mode."""
    if strict and any(t is None for t in tangents):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is "
            "not allowed with strict=True."
        )
    return [zeros_like_inputs(out) if t is None else t for t, out in zip(tangents, outputs, strict=True)]


class Linear:
    """What a function does to tangents: its Jacobian at `points`, ready to be multiplied. See Note [Nested
    jvp].

    `call` takes the list of points and returns a list of tensors.
    """

    def __init__(self, call: Any, points: list[Any]) -> None:
        self.level = Level()
        with transform_block("grad"):
            inner = [self.level.inner(p) for p in points]
            self.outputs = call(inner)
            self.starts = [
                self.level.inner(zeros_like_inputs(t)) if t.requires_grad else None for t in self.outputs
            ]
            back = gradients_or_none(self.outputs, inner, self.starts)
            self.used = [i for i, g in enumerate(back) if g is not None and g.requires_grad]
            self.back = [back[i] for i in self.used]
            self.level.stay()

    def __call__(self, directions: list[Any]) -> list[Any]:
        """Return the tangents of the outputs; None for those that depend on no input."""
        starts = [s for s in self.starts if s is not None]
        with transform_block("grad"):
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
    output_leaves, output_spec = pytree.flatten_tree(output)
    points, spec = pytree.flatten_tree(primals)
    at = [i for i, leaf in enumerate(output_leaves) if isinstance(leaf, TensorBase)]

    def listed(leaves: list[Any]) -> list[Any]:
        found, _ = pytree.flatten_tree(func(*pytree.unflatten(leaves, spec)))
        return [found[i] for i in at]

    linear = Linear(listed, points)

    def jvp_fn(*tangents: Any) -> Any:
        directions, given_spec = pytree.flatten_tree(tangents)
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
