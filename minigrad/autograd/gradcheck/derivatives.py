"""Derivatives by differences and by autograd, of the problem that `gradcheck` checks.

Note [Complex functions]
    A complex function is checked as real ones. Backward: once with the imaginary, once with the real parts of
    its outputs. Derivatives by a complex input x + iy are compared as df/dx + i df/dy, which is the gradient
    in PyTorch's convention. Forward: with the imaginary, then the real parts of its inputs as real inputs,
    the other parts staying as they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core import dialect, dtypes
from ...core.storage import strides_of
from ...core.tensor_state import TensorBase, numbers, share, wrap
from .. import forward_ad
from ..functional import zeros_like_inputs
from ..run import grad

# ─── The error of a failed check, and the long texts that PyTorch gives with it


class GradcheckError(RuntimeError):
    """Raised by gradcheck and gradgradcheck (in dialect "1.4" as the plain RuntimeError that it was then)."""


NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
    "different values, although analytical gradient matches numerical gradient.The tolerance for "
    "nondeterminism was {}."
)

NONDETERMINISTIC = """\n
NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""

IN_SLOW_MODE = (
    "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
    "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
    "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
    "Numerical:\n {}\nAnalytical:\n{}\n\nThe max per-element difference (slow mode) is: {}.\n"
)

SLOW_WOULD_PASS = """\
Fast gradcheck failed but element-wise differences are small. This means that the
test might've passed in slow_mode!

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck:

If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `fast_mode=False` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_fast_mode=False`
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_fast_mode=False`"""

UNDEFINED = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it "
    "may break existing callers of this function. If this is true for you, you can call this function with "
    '"check_undefined_grad=False" to disable the feature'
)
UNDEFINED_RAISES = (
    'Expected backward function to handle undefined output grads. Please look at "Notes about undefined '
    'output gradients" in "tools/autograd/derivatives.yaml"'
)
UNDEFINED_GIVES = (
    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. Please "
    'look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
)


# ─── What is checked, as plain as it gets: a function, its inputs, what it gave, and how exact it must be


class Limits(NamedTuple):
    """The step of the differences and what may differ: see `gradcheck`."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool


class Problem(NamedTuple):
    """`function(*inputs)` gave `results`. Where it stands for the `part` ("real", "imaginary") of a complex
    function, `complex_places` are the places of the complex outputs, or inputs when `forward`.
    """

    function: Callable[..., Any]
    inputs: Sequence[Any]
    results: tuple[Any, ...]
    limits: Limits
    forward: bool = False
    part: str = "real"
    complex_places: tuple[int, ...] = ()

    @property
    def outputs(self) -> tuple[Any, ...]:
        """Return the results that need a gradient."""
        return differentiable(self.results)

    @property
    def input_indices(self) -> list[int]:
        """Return the places of the inputs that need a gradient."""
        return [i for i, t in enumerate(self.inputs) if is_checked_tensor(t) and t.requires_grad]

    @property
    def inputs_with_grad(self) -> list[Any]:
        """Return the inputs that need a gradient."""
        return [self.inputs[i] for i in self.input_indices]

    @property
    def output_indices(self) -> list[int]:
        """Return the places of the results that need a gradient."""
        return [k for k, o in enumerate(self.results) if o.requires_grad]

    def call(self) -> tuple[Any, ...]:
        """Run the function again."""
        return outputs_as_tuple(self.function(*self.inputs))


def is_checked_tensor(x: Any) -> bool:
    """Return whether `x` is a tensor."""
    return isinstance(x, TensorBase)


def is_complex(x: Any) -> bool:
    """Return whether `x` is a complex tensor."""
    return is_checked_tensor(x) and x._data.dtype.kind == "c"


def is_continuous(x: Any) -> bool:
    """Return whether `x` is a tensor of a dtype that has derivatives."""
    return is_checked_tensor(x) and x._data.dtype in dtypes.DIFFERENTIABLE


def outputs_as_tuple(x: Any) -> tuple[Any, ...]:
    """Return a function's result as a tuple."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def differentiable(results: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the results that need a gradient."""
    return tuple(o for o in results if o.requires_grad)


def check_inputs(inputs: tuple[Any, ...]) -> None:
    """Raise ValueError if no input requires a gradient, RuntimeError if elements of one share memory.

    Warn of single precision.
    """
    found = False
    for j, t in enumerate(inputs):
        if not (is_checked_tensor(t) and t.requires_grad):
            continue
        found = True
        if dtypes.of(t._data) not in (dtypes.float64, dtypes.complex128):
            warnings.warn(
                f"Input #{j} requires gradient and is not a double precision floating point or complex. This "
                "check will likely fail if all the inputs are not of double precision floating point or "
                "complex. ",
                stacklevel=3,
            )
        strides = zip(strides_of(t._data), t._data.shape, strict=True)
        if t._data.size and any(s == 0 and n > 1 for s, n in strides):
            raise RuntimeError(
                f"The {j}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )


def real_and_imaginary_parts(problem: Problem, forward: bool) -> list[Problem]:
    """Return the functions whose backward, or whose forward mode, is checked: the one of the problem, or two
    real ones. See Note [Complex functions].
    """
    checked = problem.inputs if forward else problem.outputs
    places = tuple(i for i, t in enumerate(checked) if is_complex(t))
    if not (places if forward else any(map(is_complex, problem.results))):
        return [problem._replace(forward=forward)]
    return [part_of(problem, forward, places, "imag"), part_of(problem, forward, places, "real")]


def part_of(problem: Problem, forward: bool, places: tuple[int, ...], name: str) -> Problem:
    """Return the real function of the real or imaginary parts of complex inputs, or of outputs."""

    def part(t: Any) -> Any:
        return getattr(t, name) if is_complex(t) else t

    def of_inputs(*inputs: Any) -> tuple[Any, ...]:
        whole = list(inputs)
        for i in places:
            t = problem.inputs[i]
            whole[i] = t.real + inputs[i] * 1j if name == "imag" else inputs[i] + t.imag * 1j
        return outputs_as_tuple(problem.function(*whole))

    def of_outputs(*inputs: Any) -> tuple[Any, ...]:
        return tuple(map(part, outputs_as_tuple(problem.function(*inputs))))

    function = of_inputs if forward else of_outputs
    inputs = list(map(part, problem.inputs)) if forward else problem.inputs
    which = "imaginary" if name == "imag" else "real"
    return Problem(function, inputs, function(*inputs), problem.limits, forward, which, places)


def agree(a: Any, b: Any, rtol: float, atol: float) -> bool:
    """Return whether all |a - b| <= atol + rtol |b|."""
    return bool(np.allclose(a, b, rtol=rtol, atol=atol))


def mismatch(problem: Problem, i: int, j: int, numerical: Any, analytical: Any) -> str:
    """Return PyTorch's text for Jacobians of output `i` with respect to input `j` that differ."""
    prefix = ""
    if (j if problem.forward else i) in problem.complex_places:
        element = "inputs" if problem.forward else "outputs"
        prefix = f"While considering the {problem.part} part of complex {element} only, "
    mode = "computed with forward mode " if problem.forward else ""
    return (
        f"{prefix}Jacobian {mode}mismatch for output {i} with respect to input {j},\n"
        f"numerical:{wrap(numerical)}\nanalytical:{wrap(analytical)}\n"
    )


SEED = 67280421310721 & 0xFFFFFFFF  # what a `torch.Generator` starts with


def unit(state: np.random.RandomState, size: int, dtype: Any) -> np.ndarray:
    """Return a vector of length 1, of float32 numbers from 0 to 1 as PyTorch draws them: 24 bits of each
    output of a Mersenne Twister.
    """
    bits = np.frombuffer(state.bytes(4 * size), "<u4") & 0xFFFFFF
    drawn = (bits.astype(np.float32) * np.float32(2.0**-24)).astype(dtype)
    return drawn / np.sqrt((drawn * drawn).sum())


def vectors(problem: Problem) -> tuple[list[Any], list[Any]]:
    """Return a direction per output (none for forward mode) and one per input, a pair for a complex input."""
    state = np.random.RandomState(SEED)
    inputs: list[Any] = []
    for t in problem.inputs_with_grad:
        size, dtype = t._data.size, t._data.real.dtype
        one = unit(state, size, dtype)
        inputs.append((one, unit(state, size, dtype)) if is_complex(t) else one)
    outputs = [] if problem.forward else [unit(state, o._data.size, o._data.dtype) for o in problem.outputs]
    return outputs, inputs


def gradient_for(t: Any, scattered: bool) -> Any:
    """Return a leaf of random numbers between -1 and 1 in the shape of `t`, with gaps in memory if
    `scattered`.
    """
    state = np.random.RandomState(SEED)
    shape = t._data.shape
    dtype = t._data.dtype if t._data.dtype.kind in "fc" else np.dtype(np.float64)
    drawn = state.uniform(-1, 1, shape)
    if dtype.kind == "c":
        drawn = drawn + 1j * state.uniform(-1, 1, shape)
    data = np.asarray(drawn).astype(dtype)
    if scattered and data.size > 1:
        data = np.repeat(data, 2, axis=-1)[..., ::2]
    return wrap(data if data.ndim else data[()]).requires_grad_()


# ─── What a check compares: central differences (f(x + v) - f(x - v)) / 2 eps, what backward gives, and
# what forward mode gives


def difference(problem: Problem, array: np.ndarray, where: Any, step: Any, index: str) -> list[Any]:
    """Return the difference quotients, flat, of all results when `array[where]` moves by `step`; raw data.

    The input's memory is written to behind its version's back, and restored. AssertionError with PyTorch's
    text if shapes or dtypes of the results depend on it.
    """
    eps = problem.limits.eps
    before = np.array(array[where])
    try:
        array[where] = before - step
        low = [np.array(numbers(o)) for o in problem.call()]
        array[where] = before + step
        high = [np.array(numbers(o)) for o in problem.call()]
    finally:
        array[where] = before
    for a, b in zip(low, high, strict=False):
        check_alike(a, b, f"{index}by {eps}")
    return [quotient(a, b, 2 * eps) for a, b in zip(low, high, strict=False)]


def quotient(a: np.ndarray, b: np.ndarray, by: float) -> Any:
    """Return `(b - a) / by`, flat; None for a result that is not continuous."""
    if a.dtype.kind not in "fc":
        return None
    return ((b - a) / a.dtype.type(by)).reshape(-1)


def check_alike(a: np.ndarray, b: np.ndarray, how: str) -> None:
    """Raise AssertionError with PyTorch's text unless two results have one shape and dtype."""
    for name, x, y in (
        ("shape", f"torch.Size({list(a.shape)})", f"torch.Size({list(b.shape)})"),
        ("dtype", str(dtypes.of(a)), str(dtypes.of(b))),
    ):
        if x != y:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {name} when inputs are perturbed {how}, "
                f"but got: {name}s {x} and {y}."
            )


def derivatives(problem: Problem, t: Any, where: Any, real: Any, imag: Any, index: str) -> list[Any]:
    """Return the derivatives of all results, flat, when `t[where]` moves by `real`.

    For a complex input, i times those for a move by i · `imag` is added; see Note [Complex functions].
    """
    found = difference(problem, t._data, where, real, index)
    if not is_complex(t):
        return found
    others = difference(problem, t._data, where, imag * 1j, index)
    return [None if a is None else a + b * 1j for a, b in zip(found, others, strict=True)]


def by_differences(problem: Problem, j: int, u: Any = None) -> list[Any]:
    """Return, for each result, its Jacobian with respect to input `j`: a row for each element of the input,
    or in fast mode one row, the derivative in the direction `u`. A complex input has a pair of directions.

    It is None for a result that is not continuous.
    """
    t, eps = problem.inputs[j], problem.limits.eps
    share(t)
    if u is None:
        steps = [(index, eps, eps, f"on index {index} ") for index in np.ndindex(t._data.shape)]
    else:
        pair = u if isinstance(u, tuple) else (u, u)
        steps = [(..., *(eps * part.reshape(t._data.shape) for part in pair), "")]
    return by_result(problem, [derivatives(problem, t, *step) for step in steps])


def by_result(problem: Problem, rows: list[list[Any]]) -> list[Any]:
    """Return, for each result, a matrix of its part of the rows; None for a result that is not continuous."""
    return [
        np.array([row[k] for row in rows]).reshape(len(rows), o._data.size) if is_continuous(o) else None
        for k, o in enumerate(problem.results)
    ]


def columns(problem: Problem, i: int, v: Any) -> list[tuple[Any, ...]]:
    """Return, for each input, the gradients of the elements of output `i`, from one backward pass each, or
    the gradient from the vector `v`.
    """
    output, inputs = problem.outputs[i], problem.inputs_with_grad
    data = output._data
    starts = np.eye(data.size, dtype=data.dtype) if v is None else [v]
    how = {"retain_graph": True, "allow_unused": True}
    rows = [grad(output, inputs, wrap(start.reshape(data.shape)[()]), **how) for start in starts]
    return [*zip(*rows)] or [()] * len(inputs)


def matrix(t: Any, gradients: tuple[Any, ...]) -> tuple[np.ndarray, bool]:
    """Return gradients of the input `t` as the columns of a matrix, and whether they have its dtype."""
    found = np.zeros((t._data.size, len(gradients)), t._data.dtype)
    right = True
    for k, g in enumerate(gradients):
        if g is not None:
            right = right and g._data.dtype == t._data.dtype
            found[:, k] = numbers(g).reshape(-1)
    return found, right


def by_backward(problem: Problem, i: int, v: Any = None, checked: bool = True) -> list[np.ndarray]:
    """Return, for each input, the Jacobian of output `i`, or in fast mode its product with the vector `v`.

    It is computed twice. If `checked`, raise GradcheckError with PyTorch's text where the two differ.
    """
    first, second = columns(problem, i, v), columns(problem, i, v)
    found = [matrix(t, gradients) for t, gradients in zip(problem.inputs_with_grad, first, strict=True)]
    if checked and problem.limits.check_grad_dtypes and not all(right for _, right in found):
        raise GradcheckError("Gradient has dtype mismatch")
    for t, (m, _), gradients in zip(problem.inputs_with_grad, found, second, strict=True):
        again, _ = matrix(t, gradients)
        if checked and np.abs(m - again).max(initial=0) > problem.limits.nondet_tol:
            note = NONDETERMINISTIC if dialect.get_dialect() == "2" else ""
            raise GradcheckError(NOT_REENTRANT.format(problem.limits.nondet_tol) + note)
    return [m for m, _ in found]


def duals(problem: Problem) -> tuple[list[Any], list[Any]]:
    """Return the inputs, those that need a gradient as dual tensors, and the tangents of these: zeros to
    fill.
    """
    inputs, tangents = list(problem.inputs), []
    for j in problem.input_indices:
        t = inputs[j]
        inputs[j] = forward_ad.make_dual(t.detach(), zeros_like_inputs(t))
        tangents.append(forward_ad.unpack_dual(inputs[j])[1])
    for tangent in tangents:
        share(tangent)
    return inputs, tangents


def tangents_of(problem: Problem, inputs: list[Any]) -> list[Any]:
    """Return the tangents of all results, flat: zeros where there is none, None if one is not continuous.

    Raise GradcheckError where dtypes are checked and only one of a tangent and its result is complex.
    """
    found: list[Any] = []
    for o in outputs_as_tuple(problem.function(*inputs)):
        if not is_continuous(o):
            found.append(None)
            continue
        primal, tangent = forward_ad.unpack_dual(o)
        if tangent is None:
            found.append(np.zeros(primal._data.size, primal._data.dtype))
            continue
        if problem.limits.check_grad_dtypes and is_complex(primal) != is_complex(tangent):
            raise GradcheckError("Forward AD gradient has dtype mismatch.")
        found.append(np.array(numbers(tangent)).reshape(-1))
    return found


def by_forward(problem: Problem, directions: list[Any] | None = None) -> list[list[Any]]:
    """Return the Jacobians by input and result, None for a result that is not continuous.

    In fast mode they have one row: the derivative in the direction that is given for the input.
    """
    found = []
    with forward_ad.dual_level():
        inputs, tangents = duals(problem)
        for j, tangent in enumerate(tangents):
            data, rows = tangent._data, []
            steps: Any = [(index, 1) for index in np.ndindex(data.shape)]
            if directions is not None:
                steps = [(..., directions[j].reshape(data.shape))]
            for where, value in steps:
                data[where] = value
                rows.append(tangents_of(problem, inputs))
                data[where] = 0
            found.append(by_result(problem, rows))
    return found
