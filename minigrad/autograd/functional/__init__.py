"""Jacobians, Hessians and products with them, of functions: PyTorch's `torch.autograd.functional`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import F, modes
from ...core.modes import Within
from ...core.tensor_state import TensorBase, wrap
from .. import forward_ad
from ..run import blocks, element_rows, grad, no_rows, units

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

# ─── What the products and Jacobians share: inputs and results, strict mode, gradients that may be
# missing


NO_GRADIENT = {  # by what it is that does not require grad; in strict mode
    "outputs": "Output {} of the user-provided function does not require gradients. The outputs must be "
    "computed in a differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {} is independent of the inputs of the user-provided "
    "function. This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with "
    "respect to input {} is independent of the input. This is not allowed in strict mode. You should ensure "
    "that your function is twice differentiable and that the jacobian depends on the inputs (this would be "
    "violated by a linear function for example).",
}
MISSING = {  # by stage: the gradient of an input is None; in strict mode
    "back": "The output of the user-provided function is independent of input {}. This is not allowed in "
    "strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {} in the grad_outputs "
    "when using the double backward trick to compute forward mode gradients. This is not allowed in strict "
    "mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {}. This is not "
    "allowed in strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {} in the "
    "grad_jacobian. This is not allowed in strict mode as it prevents from using the double backward trick "
    "to replace forward mode AD.",
}


def notify_observers(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for what a transform called `name` has made: observers learn when it runs."""

    def decorate(run: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(run)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not modes.active:
                return run(*args, **kwargs)
            result = None
            modes.notify("transform_starts")
            try:
                result = run(*args, **kwargs)
                return result
            finally:
                modes.notify("transform_ended", name, args, result)

        return call

    return decorate


def inputs_as_tuple(value: Any, what: str, who: str) -> tuple[bool, tuple[Any, ...]]:
    """Return whether `value` is a tuple, and it as a tuple of tensors; raise TypeError for other values."""
    given = isinstance(value, tuple)
    values = value if given else (value,)
    for i, item in enumerate(values):
        if not isinstance(item, TensorBase):
            which = f"value at index {i}" if given else f"given {what}"
            raise TypeError(
                f"The {what} given to {who} must be either a Tensor or a tuple of Tensors but the {which} "
                f"has type {type(item)}."
            )
    return given, values


def enter(inputs: tuple[Any, ...], create_graph: bool, need_graph: bool = True) -> tuple[Any, ...]:
    """Return new tensors on the memory of `inputs`, so that other uses of the same tensors do not count.

    They are connected to the inputs under `create_graph`.
    """
    result = []
    for t in inputs:
        connected = create_graph and t.requires_grad
        result.append(F.view(t, t._data.shape) if connected else t.detach().requires_grad_(need_graph))
    return tuple(result)


def leave(results: Any, create_graph: bool) -> Any:
    """Return results, or tuples of them, without their history unless `create_graph`."""
    if not isinstance(results[0], TensorBase):
        return tuple(leave(part, create_graph) for part in results)
    return results if create_graph else tuple(t.detach() for t in results)


def check_strict(tensors: Any, kind: str, strict: bool) -> None:
    """Raise RuntimeError in strict mode if one of `tensors` is missing or does not require grad.

    `kind` is a key of `NO_GRADIENT`.
    """
    if not strict:
        return
    for i, t in enumerate(tensors):
        if t is None:
            raise RuntimeError(MISSING["back"].format(i))
        if not t.requires_grad:
            raise RuntimeError(NO_GRADIENT[kind].format(i))


def call_function(
    func: Any, inputs: tuple[Any, ...], who: str, strict: bool, single: bool = False
) -> tuple[bool, tuple[Any, ...]]:
    """Return whether `func` returns a tuple, and its outputs as one. Raise PyTorch's errors for outputs that
    are not tensors, in strict mode for those without a graph, and where a `single` element is needed.
    """
    given, outputs = inputs_as_tuple(func(*inputs), "outputs of the user-provided function", who)
    check_strict(outputs, "outputs", strict)
    if single and given:
        raise RuntimeError(f"The function given to {who} should return a single Tensor")
    if single and outputs[0]._data.size != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {who} should contain a single element"
        )
    return given, outputs


def gradients_of(
    outputs: Any, inputs: tuple[Any, ...], grad_outputs: Any = None, **options: Any
) -> tuple[Any, ...]:
    """Return the gradients of `autograd.grad` without outputs that are None or need no gradient.

    They are None for inputs that are not reached.
    """
    given = (None,) * len(outputs) if grad_outputs is None else grad_outputs
    chosen = [(out, g) for out, g in zip(outputs, given) if out is not None and out.requires_grad]
    if not chosen:
        return (None,) * len(inputs)
    roots, starts = zip(*chosen)
    return grad(roots, inputs, None if grad_outputs is None else starts, allow_unused=True, **options)


def zeros_like_inputs(t: Any, requires_grad: bool = False) -> Any:
    """Return zeros of the shape and dtype of `t`."""
    zeros = wrap(np.zeros_like(t._data)[()])
    return zeros.requires_grad_() if requires_grad else zeros


def fill_missing(grads: Any, like: Any, strict: bool, create_graph: bool, stage: str) -> tuple[Any, ...]:
    """Return gradients with zeros for missing ones, which in strict mode are an error (see `MISSING`)."""
    result = []
    for i, (g, t) in enumerate(zip(grads, like)):
        if g is None:
            if strict:
                raise RuntimeError(MISSING[stage].format(i))
            g = zeros_like_inputs(t)
        elif strict and create_graph and not g.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed "
                "in strict mode when create_graph=True."
            )
        result.append(g)
    return tuple(result)


def unpack_results(results: tuple[Any, ...], keep: bool) -> Any:
    """Return a tuple, or its one item where a tensor was given instead of a tuple."""
    return results if keep else results[0]


# ─── Products of a Jacobian or Hessian with a vector


NO_V = "The vector v can only be None if the {} a single Tensor with a single element."
STAGES = {"vjp": "back", "jvp": "back_trick", "vhp": "double_back", "hvp": "double_back_trick"}


def vector_product(
    who: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool
) -> Any:
    """Return the results of the function `who`: the outputs of `func`, and a product with the vector `v`.

    A backward pass from `outputs` (for a Hessian, from the gradient) multiplies by v from the left. That
    product is linear in the tensors it starts from, so its own gradient with respect to them multiplies from
    the right: `jvp` and `hvp` differentiate once more.
    """
    of_hessian, from_right = who in ("vhp", "hvp"), who in ("jvp", "hvp")
    with Within(grad_enabled=True):
        inputs_given, inputs = inputs_as_tuple(inputs, "inputs", who)
        inputs = enter(inputs, create_graph)
        if who != "vjp":
            v = vector(v, who, inputs, inputs_given, create_graph, "input to the user-provided function is")
        outputs_given, outputs = call_function(func, inputs, who, strict, of_hessian)
        back, ends = outputs, inputs
        if of_hessian:
            back = gradients_of(outputs, inputs, create_graph=True)
            check_strict(back, "jacobian", strict)
        elif from_right:
            ends = outputs
        else:
            v = vector(v, who, outputs, outputs_given, create_graph, "user-provided function returns")
        starts = inputs
        if from_right:
            starts = tuple(zeros_like_inputs(t, requires_grad=True) for t in ends)  # any numbers would do
            back = gradients_of(back, inputs, starts, create_graph=True)
            check_strict(back, "grad_inputs", strict and not of_hessian)
    found = gradients_of(back, starts, v, create_graph=create_graph)
    found = fill_missing(found, ends, strict, create_graph, STAGES[who])
    outputs, found = leave(outputs, create_graph), leave(found, create_graph)
    return unpack_results(outputs, outputs_given), unpack_results(
        found, outputs_given if who == "jvp" else inputs_given
    )


def vector(
    v: Any, who: str, like: tuple[Any, ...], like_given: bool, create_graph: bool, what: str
) -> tuple[Any, ...] | None:
    """Return the vector of a product, checked against the tensors it must be like; None if it may be left
    out.
    """
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(NO_V.format(what))
        return None
    v = enter(inputs_as_tuple(v, "v", who)[1], create_graph, need_graph=False)
    check_v(v, like, like_given)
    return v


def check_v(v: tuple[Any, ...], other: tuple[Any, ...], other_given: bool) -> None:
    """Raise RuntimeError with PyTorch's texts unless `v` has the tensors' sizes of `other`."""
    if len(v) != len(other):
        if other_given:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(other)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (mine, theirs) in enumerate(zip(v, other)):
        if mine.shape != theirs.shape:
            entry = f"Entry {i} in " if other_given else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {theirs.shape} but got {mine.shape}.")


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the outputs of a function and the product vᵀJ of a vector and its Jacobian.

    Args:
        func: function of tensors that returns a tensor or a tuple of tensors.
        inputs: tensor or tuple of tensors.
        v: vector, of the structure and shapes of the outputs; None for a single element.
        create_graph: True connects both results to the inputs.
        strict: True raises an error for an input that the outputs do not depend on; False gives zeros.

    Returns:
        The outputs and the product, of the structure of inputs.

    Raises:
        RuntimeError: v has another shape, or strict is True and there is no dependence.

    Example:
        >>> torch.autograd.functional.vjp(lambda x: x**2, torch.tensor([1.0, 3.0]), torch.ones(2))
        (tensor([1., 9.]), tensor([2., 6.]))

    Source: PyTorch's page `torch.autograd.functional.vjp`.
    """
    return vector_product("vjp", func, inputs, v, create_graph, strict)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the outputs of a function and the product Jv of its Jacobian and a vector.

    It differentiates twice: vᵀJ is linear in v, and its Jacobian with respect to v is Jᵀ.

    Args:
        func: function of tensors that returns a tensor or a tuple of tensors.
        inputs: tensor or tuple of tensors.
        v: vector, of the structure and shapes of inputs; None for a single element.
        create_graph: True connects both results to the inputs.
        strict: True raises an error for an input that the outputs do not depend on; False gives zeros.

    Returns:
        The outputs and the product, of the structure of the outputs.

    Raises:
        RuntimeError: v has another shape, or strict is True and there is no dependence.

    Example:
        >>> torch.autograd.functional.jvp(lambda x: x**2, torch.tensor([1.0, 3.0]), torch.ones(2))
        (tensor([1., 9.]), tensor([2., 6.]))

    Source: PyTorch's page `torch.autograd.functional.jvp`.
    """
    return vector_product("jvp", func, inputs, v, create_graph, strict)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the output of a function and the product vᵀH of a vector and its Hessian.

    Args:
        func: function of tensors that returns a single element.
        inputs: tensor or tuple of tensors.
        v: vector, of the structure and shapes of inputs; None for a single element.
        create_graph: True connects both results to the inputs.
        strict: True raises an error for an input that the output does not depend on; False gives zeros.

    Returns:
        The output and the product, of the structure of inputs.

    Raises:
        RuntimeError: the function returns several elements, or v has another shape.

    Example:
        >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))

    Source: PyTorch's page `torch.autograd.functional.vhp`.
    """
    return vector_product("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the output of a function and the product Hv of its Hessian and a vector.

    For a function that is twice continuously differentiable it equals `vhp`, which is faster.

    Args:
        func: function of tensors that returns a single element.
        inputs: tensor or tuple of tensors.
        v: vector, of the structure and shapes of inputs; None for a single element.
        create_graph: True connects both results to the inputs.
        strict: True raises an error for an input that the output does not depend on; False gives zeros.

    Returns:
        The output and the product, of the structure of inputs.

    Raises:
        RuntimeError: the function returns several elements, or v has another shape.

    Example:
        >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))

    Source: PyTorch's page `torch.autograd.functional.hvp`.
    """
    return vector_product("hvp", func, inputs, v, create_graph, strict)


# ─── Whole Jacobians and Hessians


STRATEGIES = ("forward-mode", "reverse-mode")
BAD_STRATEGY = 'Expected strategy to be either "forward-mode" or "reverse-mode".'
HINT = (
    ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. '
    'Otherwise, prefer to use "reverse-mode".'
)
NOT_TOGETHER = (
    "torch.autograd.functional.jacobian: `{}=True` and `{}` are not supported together{}. Please either set "
    "`{}=False` or `{}`."
)
FORWARD, REVERSE = 'strategy="forward-mode"', 'strategy="reverse-mode"'


@notify_observers("jacobian")
def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Compute the Jacobian of a function: the derivative of each output element by each input element.

    Args:
        func: function of tensors that returns a tensor or a tuple of tensors.
        inputs: tensor or tuple of tensors.
        create_graph: True connects the Jacobian to the inputs.
        strict: True raises an error for an input that the outputs do not depend on; False gives zeros.
        vectorize: True computes all rows in one call of `autograd.grad`.
        strategy: "reverse-mode" computes rows; "forward-mode" computes columns and needs vectorize.

    Returns:
        A tensor of the output's shape followed by the input's; a tuple for several outputs, with a tuple in
        each place for several inputs.

    Raises:
        RuntimeError: strict is True and there is no dependence.
        AssertionError: the strategy is unknown.
        NotImplementedError: "forward-mode" with create_graph or without vectorize.

    Example:
        >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 3.0]))
        tensor([[2., 0.],
                [0., 6.]])

    Source: PyTorch's page `torch.autograd.functional.jacobian`.
    """
    if strategy not in STRATEGIES:
        raise AssertionError(BAD_STRATEGY + HINT)
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                NOT_TOGETHER.format("create_graph", FORWARD, " (yet)", "create_graph", REVERSE)
            )
        return jacobian_by_columns(func, inputs, strict, vectorize)
    with Within(grad_enabled=True):
        inputs_given, inputs = inputs_as_tuple(inputs, "inputs", "jacobian")
        inputs = enter(inputs, create_graph)
        outputs_given, outputs = call_function(func, inputs, "jacobian", strict)
        if vectorize and strict:
            raise RuntimeError(
                NOT_TOGETHER.format("strict", "vectorized=True", "", "strict", "vectorize=False")
            )
        result: Any
        found = [jacobian_rows(i, out, inputs, create_graph, strict) for i, out in enumerate(outputs)]
        if vectorize:  # then all blocks are parts of one tensor
            result = zip(*(blocks(column, outputs, x) for column, x in zip(zip(*found), inputs)))
        else:
            pairs = zip(found, outputs)
            result = (
                tuple(r.view((*out.shape, *x.shape)) for r, x in zip(row, inputs)) for row, out in pairs
            )
        return restore_structure(leave(tuple(result), create_graph), outputs_given, inputs_given)


def restore_structure(result: Any, outputs_given: bool, inputs_given: bool) -> Any:
    """Return a sequence of sequences without the levels at which no tuple was given."""
    if not inputs_given:
        result = tuple(row[0] for row in result)
    return unpack_results(result, outputs_given)


def jacobian_rows(
    i: int, out: Any, inputs: tuple[Any, ...], create_graph: bool, strict: bool
) -> tuple[Any, ...]:
    """Return the gradients of all elements of output number `i`, by input."""
    result = []
    if not out.numel():
        F.stack(())  # an error, as in PyTorch
    for n, (found, x) in enumerate(zip(element_rows(out, inputs, create_graph), inputs)):
        if found is None:
            if strict:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {n}. This is not "
                    "allowed in strict mode."
                )
            found = no_rows(out, x)
        elif strict and create_graph and not found.requires_grad:
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {i}. This is not "
                "allowed in strict mode when create_graph=True."
            )
        result.append(found)
    return tuple(result)


def jacobian_by_columns(func: Callable[..., Any], inputs: Any, strict: bool, vectorize: bool) -> Any:
    """Return the Jacobian in forward mode: a run of `func` on dual tensors for each element of the inputs."""
    if strict:
        raise RuntimeError(NOT_TOGETHER.format("strict", FORWARD, " (yet)", "strict", REVERSE))
    inputs_given, inputs = inputs_as_tuple(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    columns = []
    for k, x in enumerate(inputs):
        for unit in units(x, 1):
            directions = [
                wrap(unit[0]) if n == k else zeros_like_inputs(other) for n, other in enumerate(inputs)
            ]
            outputs_given, primals, tangents = column(func, inputs, directions)
            columns.append(tangents)
    result = []
    for n, out in enumerate(primals):
        whole = F.stack([tangents[n] for tangents in columns], -1)
        parts = whole.split([x.numel() for x in inputs], dim=-1)
        result.append([part.reshape((*out.shape, *x.shape)) for part, x in zip(parts, inputs)])
    return restore_structure(result, outputs_given, inputs_given)


def column(
    func: Callable[..., Any], inputs: tuple[Any, ...], tangents: list[Any]
) -> tuple[bool, list[Any], list[Any]]:
    """Return whether `func` returns a tuple, its outputs, and their tangents."""
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, t) for x, t in zip(inputs, tangents)]
        outputs_given, outputs = inputs_as_tuple(func(*duals), "outputs", "None")
        pairs = [forward_ad.unpack_dual(out) for out in outputs]
        found = [zeros_like_inputs(p.primal) if p.tangent is None else p.tangent for p in pairs]
        return outputs_given, [p.primal for p in pairs], found


@notify_observers("hessian")
def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """Compute the Hessian of a function: all its second derivatives.

    It is the Jacobian of the Jacobian; the inner one is always computed in reverse mode.

    Args:
        func: function of tensors that returns a single element.
        inputs: tensor or tuple of tensors.
        create_graph: True connects the Hessian to the inputs.
        strict: True raises an error for an input that the output does not depend on; False gives zeros.
        vectorize: True computes all rows in one call of `autograd.grad`.
        outer_jacobian_strategy: "reverse-mode" or "forward-mode" for the outer Jacobian.

    Returns:
        A tensor of the input's shape twice; a tuple of tuples for several inputs.

    Raises:
        RuntimeError: the function returns several elements, or strict is True and there is no dependence.
        AssertionError: the strategy is unknown.

    Example:
        >>> torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])

    Source: PyTorch's page `torch.autograd.functional.hessian`.
    """
    inputs_given, inputs = inputs_as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in STRATEGIES:
        raise AssertionError(BAD_STRATEGY)

    def single(*args: Any) -> Any:
        return call_function(func, args, "hessian", strict, True)[1][0].squeeze()

    def first(*args: Any) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            args = tuple(t.requires_grad_(True) for t in args)
        found = jacobian(single, args, create_graph=True)
        check_strict(found, "jacobian", strict)
        return found

    result = jacobian(first, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return restore_structure(result, inputs_given, inputs_given)
