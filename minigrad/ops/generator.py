"""`Generator`: a source of random numbers. The same seed gives the same numbers as PyTorch on the CPU.

Note [Random numbers]
    PyTorch's generator for the CPU is the Mersenne Twister, which NumPy has too. The functions below
    turn its 32-bit words into random numbers, drawn in PyTorch's order, and in double precision where PyTorch
    does so. They follow ATen/core/DistributionsHelper.h and
    ATen/native/cpu/DistributionTemplates.h. On Intel processors PyTorch uses Intel's MKL for `bernoulli_(p)`
    and `exponential_`, whose numbers differ; elsewhere, and here, they come from the same words.
"""

from __future__ import annotations

import functools
import math
import os
import struct
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.devices import CPU, check_device, device
from ..core.guards import unpacking_error
from ..core.tensor_state import TensorBase, numbers, wrap

SEED = 67280421310721  # of a new generator
WORDS = 624  # of the state of a Mersenne Twister
SIZE = 5056  # bytes of a state
# The layout of PyTorch's state: the seed, the number of words left, whether it is seeded, the position of the
# next word; the words, 8 bytes each; then (second) a normally distributed number that is left over, and
# (fourth) whether there is one.
HEAD, TAIL = struct.Struct("<QiiQ"), struct.Struct("<3dixxxxfi")


class Generator:
    """A source of random numbers with its own state. It starts from a fixed seed."""

    device: device
    _seed: int
    _spare: float | None  # the second of a pair of normally distributed numbers

    def __init__(self, device: Any = "cpu") -> None:
        check_device(device)
        self.device = CPU
        self._seed, self._spare = SEED, None

    @functools.cached_property
    def _words(self) -> np.random.MT19937:
        """The state; `numpy.random` takes longer to import than all ops."""
        words = np.random.MT19937(0)
        words._legacy_seeding(self._seed % 2**32)
        return words

    def manual_seed(self, seed: Any) -> Generator:
        """Restart from a seed. It has 64 bits, of which the lower 32 are used."""
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise unpacking_error()
        self._seed = seed % 2**64
        self.__dict__.pop("_words", None)  # created again when the next number is drawn
        self._spare = None
        return self

    def seed(self) -> int:
        """Restart from a random seed, and return that seed."""
        self.manual_seed(int.from_bytes(os.urandom(8)) >> 11)
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed from which it started."""
        return self._seed

    def get_state(self) -> Any:
        """Return the complete state, as bytes in a tensor."""
        state: Any = self._words.state["state"]
        at = state["pos"]
        left, place = (1, 0) if at == WORDS else (WORDS + 1 - at, at)
        spare = (0.0, 0) if self._spare is None else (self._spare, 1)
        data = HEAD.pack(self._seed, left, 1, place)
        data += state["key"].astype("<u8").tobytes()
        data += TAIL.pack(0.0, spare[0], 0.0, spare[1], 0.0, 0)
        return wrap(np.frombuffer(data, "u1").copy())

    def set_state(self, new_state: Any) -> Generator:
        """Set a state that `get_state` returned."""
        data = state_bytes(new_state)
        seed, left, seeded, place = HEAD.unpack_from(data)
        if not (seeded and 0 < left <= WORDS and place <= WORDS):
            raise RuntimeError("Invalid mt19937 state")
        words = np.frombuffer(data, "<u8", WORDS, HEAD.size).astype("u4")
        _, spare, _, has_spare, _, _ = TAIL.unpack_from(data, HEAD.size + 8 * WORDS)
        self._seed = seed
        self._words.state = {
            "bit_generator": "MT19937",
            "state": {"key": words, "pos": WORDS if left == 1 else place},
        }
        self._spare = spare if has_spare else None
        return self

    def clone_state(self) -> Generator:
        """Return a new generator in the same state."""
        return Generator().set_state(self.get_state())

    def words(self, count: int) -> np.ndarray:
        """Return the next `count` words of 32 bits."""
        return self._words.random_raw(count)

    def long_words(self, count: int) -> np.ndarray:
        """Return the next `count` words of 64 bits, each made of two words of 32 bits."""
        pairs = self.words(2 * count)
        return (pairs[0::2] << np.uint64(32)) | pairs[1::2]


def state_bytes(state: Any) -> bytes:
    """Return the bytes of a state; raise PyTorch's errors for anything else."""
    if not isinstance(state, TensorBase) or dtypes.of(state._data) is not dtypes.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    if state._data.size != SIZE:
        raise RuntimeError(f"Expected a CPUGeneratorImplState of size {SIZE} but found {state._data.size}")
    return np.ascontiguousarray(numbers(state)).tobytes()


default_generator = Generator()
default_generator.seed()


MANTISSA = {"float16": 11, "float32": 24, "float64": 53}
LARGE = 2**28  # larger ranges of integers use words of 64 bits
ERROR = 2.0**-50  # more than that of a cosine or sine from the tangent of half the angle
PART = 2**15  # so many numbers are drawn at once
FEW = 300  # fewer elements are exchanged faster one by one


def doubles(source: Generator, count: int) -> np.ndarray:
    """Return numbers from [0, 1) in steps of 2⁻⁵³."""
    return (source.long_words(count) & np.uint64(2**53 - 1)) / 2.0**53


def singles(source: Generator, count: int) -> np.ndarray:
    """Return numbers from [0, 1) in steps of 2⁻²⁴, as float32."""
    return (source.words(count) & np.uint64(2**24 - 1)).astype("f4") * np.float32(2.0**-24)


def units(source: Generator, count: int, dtype: np.dtype) -> np.ndarray:
    """Return numbers from [0, 1) for arrays of a floating-point dtype; float16 is drawn as float32."""
    return doubles(source, count) if dtype.itemsize == 8 else singles(source, count)


def draw_uniform(source: Generator, count: int, dtype: np.dtype, low: float, high: float) -> np.ndarray:
    """Return numbers from [low, high)."""
    drawn = units(source, count, dtype)
    low, high = drawn.dtype.type(low), drawn.dtype.type(high)
    found = (drawn.astype("f8") * (high - low) + low).astype(drawn.dtype).astype(dtype)
    return np.where(found == dtype.type(high), dtype.type(low), found)  # rounding up may have reached `high`


def draw_normal(source: Generator, count: int, dtype: np.dtype, mean: float, std: float) -> np.ndarray:
    """Return normally distributed numbers: 16 or more in blocks of 16, fewer one by one
    in double precision.
    """
    if count < 16:
        return normal_one_by_one(source, count, dtype, mean, std)
    rest = count % 16
    out = np.empty(count, dtype)
    for i in range(0, count - rest, PART):  # parts that fit the cache take two thirds of the time
        size = min(PART, count - rest - i)
        out[i : i + size] = blocks(units(source, size, dtype), mean, std)
    if rest:
        if dtype.itemsize > 2:
            units(source, rest, dtype)  # PyTorch draws numbers for these too
        out[-16:] = blocks(units(source, 16, dtype), mean, std)
    return out


def normal_one_by_one(source: Generator, count: int, dtype: np.dtype, mean: float, std: float) -> np.ndarray:
    """Return normally distributed numbers, drawn in double precision."""
    return (standard(source, count) * std + mean).astype(dtype)


def blocks(drawn: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Return normally distributed numbers by the Box–Muller method, from numbers in [0, 1). In each block of
    16 the first 8 give the radius, the others the angle.
    """
    kind = drawn.dtype.type
    pairs = drawn.reshape(-1, 2, 8)
    radius = np.sqrt(-2.0 * np.log((kind(1) - pairs[:, 0]).astype("f8")))
    angle = (kind(2 * math.pi) * pairs[:, 1]).astype("f8")
    found = np.stack((on_circle if kind is np.float32 else on_circle_exactly)(radius, angle), 1)
    return found.astype("f8").ravel() * kind(std) + kind(mean)


def on_circle_exactly(radius: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the coordinates of points on circles."""
    return radius * np.cos(angle), radius * np.sin(angle)


def on_circle(radius: np.ndarray, angle: np.ndarray) -> list[np.ndarray]:
    """Return the same rounded to float32. `randn` takes a third less time, as NumPy computes tangents
    of doubles six times as fast as cosines. The exact ones decide where an error may change the rounding.
    """
    tangent = np.tan(angle / 2)
    square = tangent * tangent
    scale = 1 / (1 + square)
    found = []
    for near, exact in (((1 - square) * scale, np.cos), (2 * tangent * scale, np.sin)):
        low = (radius * (near - ERROR)).astype("f4")
        doubtful = low != (radius * (near + ERROR)).astype("f4")
        low[doubtful] = radius[doubtful] * exact(angle[doubtful])
        found.append(low)
    return found


def standard(source: Generator, count: int) -> np.ndarray:
    """Return normally distributed numbers in double precision. They are made in pairs; the generator stores
    an odd one.
    """
    kept = [] if source._spare is None or not count else [source._spare]
    if kept:
        source._spare = None
    drawn = doubles(source, 2 * ((count - len(kept) + 1) // 2))
    radius, angle = np.sqrt(-2.0 * np.log1p(-drawn[1::2])), 2.0 * math.pi * drawn[0::2]
    pairs = np.stack((radius * np.cos(angle), radius * np.sin(angle)), 1).ravel()
    found = np.concatenate((kept, pairs))
    if len(found) > count:
        source._spare = float(found[-1])
    return found[:count]


def draw_integers(source: Generator, count: int, dtype: np.dtype, low: int, high: int) -> np.ndarray:
    """Return integers from [low, high)."""
    size = high - low
    words = source.long_words(count) if size >= LARGE else source.words(count)
    return ((words % np.uint64(size)).astype("i8") + low).astype(dtype)


def anything(source: Generator, count: int, dtype: np.dtype) -> np.ndarray:
    """Return integers from 0 up to the largest of an integer dtype, or up to which a floating-point dtype has
    all integers.
    """
    words = source.long_words(count) if dtype.itemsize == 8 else source.words(count)
    if dtype.kind == "b":
        return (words & np.uint64(1)).astype(dtype)
    top = 2 ** MANTISSA[dtype.name] if dtype.kind == "f" else int(np.iinfo(dtype).max)
    return (words % np.uint64(top + 1)).astype(dtype)


def permutation(source: Generator, count: int) -> np.ndarray:
    """Return the numbers below `count` in random order: each element is exchanged with a
    later one or itself.
    """
    targets = np.arange(count)
    left = np.arange(count, 1, -1, dtype="u8")
    targets[:-1] += (source.words(len(left)) % left).astype("i8")
    return exchanged_one_by_one(targets) if count < FEW else exchange_elements(targets)


def exchanged_one_by_one(targets: np.ndarray) -> np.ndarray:
    """Return the numbers in order after step i, for each i, has exchanged element i with `targets[i]`."""
    order = list(range(len(targets)))
    for i, j in enumerate(targets.tolist()):
        order[i], order[j] = order[j], order[i]
    return np.array(order, "i8")


def exchange_elements(targets: np.ndarray) -> np.ndarray:
    """Return the same without a loop over the steps: a tenth of the time for a million.

    No step after i touches element i, so the result has there what step i found at its target j. That is j
    itself if no earlier step had this target. Otherwise it is what the last earlier one, s, left there: what
    was at s when step s began, which in turn the last step with target s left there, and so on.
    """
    steps = np.arange(len(targets))
    pairs = np.sort(targets << 32 | steps)  # by target, then by step
    targets, at = pairs >> 32, pairs & (2**32 - 1)
    found, moves = steps.copy(), targets != at
    found[targets[moves]] = at[moves]  # of several steps with one target the last counts
    open = np.flatnonzero(found != steps)
    while len(open):  # each round doubles the number of steps that were followed
        before = found[open]
        after = found[before]
        found[open] = after
        open = open[before != after]
    again = targets[1:] == targets[:-1]
    targets[1:][again] = found[at[:-1][again]]
    order = np.empty_like(steps)
    order[at] = targets
    return order


def chances(source: Generator, p: np.ndarray) -> np.ndarray:
    """Return whether a number from [0, 1) is less than each element of `p`."""
    drawn = units(source, p.size, p.dtype)
    return in_memory_order(drawn, p) < p.astype(drawn.dtype)


def draw_bernoulli(source: Generator, count: int, p: float) -> np.ndarray:
    """Return bools that are True with probability `p`."""
    return doubles(source, count) < p


def draw_exponential(source: Generator, count: int, rate: float) -> np.ndarray:
    """Return exponentially distributed numbers."""
    return -1.0 / rate * np.log1p(-doubles(source, count))


def in_memory_order(values: np.ndarray, like: Any) -> Any:
    """Return `values`, drawn one by one, in the shape of `like`, in the order of its memory."""
    if np.ndim(like) < 2 or like.flags.c_contiguous or 0 in like.strides:
        return values.reshape(like.shape)
    order = sorted(range(like.ndim), key=lambda i: -abs(like.strides[i]))
    return values.reshape([like.shape[i] for i in order]).transpose(np.argsort(order))
