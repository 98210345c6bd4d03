"""Random directions, the same in every run: those of PyTorch's generator, so that its messages agree too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor_state import wrap
from .problem import Problem, is_complex

SEED = 67280421310721 & 0xFFFFFFFF  # what a `torch.Generator` starts with


class Uniform:
    """Float32 numbers from 0 to 1 as PyTorch draws them: 24 bits of each output of a Mersenne Twister."""

    def __init__(self) -> None:
        self.state = np.random.RandomState(SEED)

    def unit(self, size: int, dtype: Any) -> np.ndarray:
        """Return a vector of length 1."""
        bits = np.frombuffer(self.state.bytes(4 * size), "<u4") & 0xFFFFFF
        drawn = (bits.astype(np.float32) * np.float32(2.0**-24)).astype(dtype)
        return drawn / np.sqrt((drawn * drawn).sum())


def vectors(problem: Problem) -> tuple[list[Any], list[Any]]:
    """Return a direction per output (none for forward mode) and one per input, a pair for a complex input."""
    uniform = Uniform()
    inputs: list[Any] = []
    for t in problem.inputs_with_grad:
        size, dtype = t._data.size, t._data.real.dtype
        one = uniform.unit(size, dtype)
        inputs.append((one, uniform.unit(size, dtype)) if is_complex(t) else one)
    outputs = [] if problem.forward else [uniform.unit(o._data.size, o._data.dtype) for o in problem.outputs]
    return outputs, inputs


def normal(t: Any, seed: int) -> Any:
    """Return a random tensor in the shape and dtype of `t`."""
    state = np.random.RandomState(seed)
    drawn = state.standard_normal(t._data.shape)
    if is_complex(t):
        drawn = drawn + 1j * state.standard_normal(t._data.shape)
    return wrap(np.asarray(drawn).astype(t._data.dtype)[()])


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
