"""Random numbers as ops. They replace the numbers of a tensor, so the gradients of that tensor are zeros.

`generator=None` is the default generator. `ops.generator` draws the numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, check_broadcast, differentiable, modes, zeros
from ..core.dtypes import OF_NUMPY, of
from ..core.guards import refuse
from . import generator as draws
from .generator import Generator, default_generator


def source_of(generator: Any) -> Generator:
    """Return the generator to draw from; RuntimeError where `func.vmap` allows none."""
    if modes.state.randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
            "'different' randomness flags on vmap or perform the randomness operation out of vmap"
        )
    modes.repeat_for_each()
    return default_generator if generator is None else generator


def with_numbers(self: Any, drawn: np.ndarray) -> Any:
    """Numbers that were drawn, in the shape and dtype of `self`."""
    return draws.in_memory_order(drawn.astype(self.dtype, copy=False), self)[()]


def filled_with(draw: Any, self: Any, generator: Any, *how: float) -> Any:
    """The same of what `draw` gives of a generator; of a complex number both parts are drawn."""
    source = source_of(generator)
    if self.dtype.kind != "c":
        return with_numbers(self, draw(source, self.size, self.dtype, *how))
    return with_numbers(self, draw(source, 2 * self.size, self.real.dtype, *how).view(self.dtype))


def in_memory_order_of(self: Any) -> bool:
    """Return whether memory lies in row-major order without gaps."""
    return not isinstance(self, np.ndarray) or self.flags.c_contiguous


@differentiable(self=zeros)
def uniform(self, low=0.0, high=1.0, generator=None):
    """Return numbers from [low, high), each as likely."""
    refuse(self, "check_uniform_bounds")
    part = self.real.dtype
    if low > high or max(abs(low), abs(high)) > np.finfo(part).max:
        told = f"numbers of {OF_NUMPY[part].c_name}, but found from={low:g}, to={high:g}"
        raise RuntimeError(f"uniform_ expects from <= to and {told}")
    return filled_with(draws.draw_uniform, self, generator, low, high)


@differentiable(self=zeros)
def normal(self, mean=0.0, std=1.0, generator=None):
    """Normally distributed numbers; both parts of complex ones around the mean, with half the variance."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    refuse(self, "normal_kernel_cpu")
    if self.dtype.kind == "c":
        std = std / np.sqrt(2.0)
    draw = (
        draws.draw_normal if in_memory_order_of(self) else draws.normal_one_by_one
    )  # memory with gaps or turned round
    return filled_with(draw, self, generator, mean, std)


@differentiable(self=zeros, node="RandomBackward2")
def random(self, generator=None):
    """Return integers from 0 up to the largest of the dtype, or up to which a floating-point dtype has them
    all.
    """
    refuse(self, "random_kernel_cpu")
    return with_numbers(self, draws.anything(source_of(generator), self.size, self.dtype))


def random_integers(self: Any, low: int, high: int, generator: Any) -> Any:
    """Integers from [low, high); RuntimeError with PyTorch's text where there are none or the dtype has not
    all of them.
    """
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    refuse(self, "check_random_bounds")
    if self.dtype.kind == "b":
        lowest, highest = 0, 1
    else:
        limits: Any = (np.finfo if self.dtype.kind == "f" else np.iinfo)(self.dtype)
        lowest, highest = int(limits.min), int(limits.max)
    if low < lowest or high - 1 > highest:
        raise RuntimeError(f"from or to - 1 is out of bounds for {of(self).c_name}")
    return with_numbers(self, draws.draw_integers(source_of(generator), self.size, self.dtype, low, high))


@differentiable(self=zeros, node="RandomBackward1")
def random_to(self, to, generator=None):
    """Return integers from [0, to)."""
    return random_integers(self, 0, to, generator)


@differentiable(self=zeros, node="RandomBackward0")
def random_from(self, low, to, generator=None):
    """Return integers from [low, to)."""
    return random_integers(self, low, to, generator)


@differentiable(self=zeros)
def exponential(self, lambd=1.0, generator=None):
    """Exponentially distributed numbers of rate `lambd`."""
    refuse(self, "exponential")
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    return with_numbers(self, draws.draw_exponential(source_of(generator), self.size, lambd))


NO_CHANCE = (
    "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If "
    "so, please report an enhancement request to PyTorch.)"
)


def bernoulli_mask(p: Any, generator: Any) -> np.ndarray:
    """Bools that hold with the probabilities `p`, in its shape."""
    refuse(p, "bernoulli_tensor_cpu_p_")
    if not np.all((p >= 0) & (p <= 1)):
        raise RuntimeError(NO_CHANCE)
    return draws.chances(source_of(generator), np.asarray(p))


@differentiable(self=zeros)
def bernoulli(self, generator=None):
    """Return 1 with the probability that the element is, else 0."""
    refuse(self, "bernoulli_tensor_cpu_self_")
    return bernoulli_mask(self, generator).astype(self.dtype)[()]


@differentiable(self=zeros, p=zeros, node="BernoulliBackward1", broadcasts=True)
def bernoulli_tensor(self, p, generator=None):
    """Return 1 with the probabilities in `p`, else 0."""
    refuse(self, "bernoulli_tensor_cpu_self_")
    chances = np.empty_like(self, p.dtype, subok=False)
    chances[...] = F.expand(np.asarray(p), self.shape)
    return bernoulli_mask(chances, generator).astype(self.dtype)[()]


@differentiable(self=zeros, node="BernoulliBackward2")
def bernoulli_float(self, p=0.5, generator=None):
    """Return 1 with probability `p`, else 0."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    refuse(self, "bernoulli_scalar_cpu_")
    return with_numbers(self, draws.draw_bernoulli(source_of(generator), self.size, p))


def check_spread(std: Any) -> None:
    """RuntimeError with PyTorch's text for negative standard deviations."""
    refuse(std, "normal_std")
    if np.any(std < 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")


@differentiable(mean=lambda g, mean_sym_sizes: F.zeros_of(g, mean_sym_sizes), node="NormalBackward1")
def normal_tensor_float(mean, std=1.0, generator=None):
    """Normally distributed numbers around the elements of `mean`."""
    return (normal.op.kernel(np.zeros_like(mean), 0.0, std, generator) + mean)[()]


@differentiable(
    mean=lambda g, mean_sym_sizes: F.zeros_of(g, mean_sym_sizes),
    std=lambda g, std_sym_sizes: F.zeros_of(g, std_sym_sizes),
    jvp=lambda mean_t, result: F.zeros_like(result),
    node="NormalBackward3",
)
def normal_tensor_tensor(mean, std, generator=None):
    """Normally distributed numbers around the elements of `mean` with the standard deviations in `std`."""
    check_spread(std)
    check_broadcast(mean.shape, std.shape)
    shape = np.broadcast_shapes(mean.shape, std.shape)
    drawn = normal.op.kernel(np.zeros(shape, mean.dtype), 0.0, 1.0, generator)
    return (drawn * std + mean).astype(mean.dtype)[()]


@differentiable(std=lambda g, std_sym_sizes: F.zeros_of(g, std_sym_sizes), node="NormalBackward2")
def normal_float_tensor(mean, std, generator=None):
    """Normally distributed numbers around `mean` with the standard deviations in `std`."""
    return normal_tensor_tensor.op.kernel(std.dtype.type(mean), std, generator)


@differentiable()
def multinomial(self, num_samples, replacement=False, generator=None):
    """Return `num_samples` places of each row, chosen with probabilities that are as the row's elements."""
    check_weights(self, num_samples, replacement)
    source = source_of(generator)
    if replacement and num_samples > 1:
        return with_replacement(self, num_samples, source)
    return without_replacement(self, num_samples, source)


def check_weights(weights: Any, count: int, replacement: bool) -> None:
    """RuntimeError with PyTorch's text unless `count` samples can be drawn with these probabilities."""
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    refuse(weights, "multinomial")
    if count <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and count > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if not ((weights >= 0) & (weights < np.inf)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not (weights.sum(-1) > 0).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def without_replacement(self: Any, count: int, source: Generator) -> np.ndarray:
    """Return the places of the largest quotients of a probability and an exponentially distributed number."""
    race = self / with_numbers(self, draws.draw_exponential(source, self.size, 1.0))
    if count == 1:
        return np.argmax(race, -1)[..., None]
    return np.argsort(-race, -1, kind="stable")[..., :count]


def with_replacement(self: Any, count: int, source: Generator) -> np.ndarray:
    """For each sample the first place up to which the probabilities sum up to a number from [0, 1)."""
    rows = []
    for row in np.atleast_2d(self):
        sums = np.cumsum(row, dtype=row.dtype)
        sums = sums / sums[-1]
        sums[-1] = 1
        rows.append(np.searchsorted(sums.astype("f8"), draws.doubles(source, count)))
    return np.array(rows, np.int64).reshape(*self.shape[:-1], count)
