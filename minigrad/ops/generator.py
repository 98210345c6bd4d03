"""`Generator`: a source of random numbers. The same seed gives the same numbers as PyTorch on the CPU.

Note [Random numbers]
    PyTorch's generator for the CPU is the Mersenne Twister, which NumPy has too. `ops.random_bits` turns its
    32-bit words into random numbers. It follows ATen/core/DistributionsHelper.h and
    ATen/native/cpu/DistributionTemplates.h. On Intel processors PyTorch uses Intel's MKL for `bernoulli_(p)`
    and `exponential_`, whose numbers differ; elsewhere, and here, they come from the same words.
"""

from __future__ import annotations

import functools
import os
import struct
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.devices import CPU, check_device, device
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
            raise ValueError("Overflow when unpacking long long")
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
    if not isinstance(state, TensorBase):
        raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
    if dtypes.of(state._data) is not dtypes.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    if state._data.size != SIZE:
        raise RuntimeError(
            f"Expected a CPUGeneratorImplState of size {SIZE} but found the input RNG state size to be "
            f"{state._data.size}"
        )
    return np.ascontiguousarray(numbers(state)).tobytes()


default_generator = Generator()
default_generator.seed()
