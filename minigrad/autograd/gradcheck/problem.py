"""What is checked, as plain as it gets: a function, its inputs, what it gave, and how exact it must be.

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

from ...core import dtypes
from ...core.storage import strides_of
from ...core.tensor_state import TensorBase, wrap


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
        return [i for i, t in enumerate(self.inputs) if is_tensor(t) and t.requires_grad]

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
        return as_tuple(self.function(*self.inputs))


def is_tensor(x: Any) -> bool:
    """Return whether `x` is a tensor."""
    return isinstance(x, TensorBase)


def is_complex(x: Any) -> bool:
    """Return whether `x` is a complex tensor."""
    return is_tensor(x) and x._data.dtype.kind == "c"


def is_continuous(x: Any) -> bool:
    """Return whether `x` is a tensor of a dtype that has derivatives."""
    return is_tensor(x) and x._data.dtype in dtypes.DIFFERENTIABLE


def as_tuple(x: Any) -> tuple[Any, ...]:
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
        if not (is_tensor(t) and t.requires_grad):
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


def parts(problem: Problem, forward: bool) -> list[Problem]:
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
        return as_tuple(problem.function(*whole))

    def of_outputs(*inputs: Any) -> tuple[Any, ...]:
        return tuple(map(part, as_tuple(problem.function(*inputs))))

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
