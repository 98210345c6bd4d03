"""The default generator of random numbers: `minigrad.random`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .core.public import public
from .ops.generator import Generator, default_generator

__all__ = [
    "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
]  # fmt: skip


@public("function")
def manual_seed(seed: Any) -> Generator:
    """Set the seed of the default generator and return the generator.

    Args:
        seed: an integer.
    Shape: none.
    Returns: the default `torch.Generator`.
    Raises: ValueError if the seed does not fit in 64 bits.
    Source: torch.manual_seed

    >>> torch.manual_seed(0).initial_seed()
    0
    """
    return default_generator.manual_seed(seed)


@public("function")
def seed() -> int:
    """Seed the default generator with a random number and return that number."""
    return default_generator.seed()


@public("function")
def initial_seed() -> int:
    """Return the seed from which the default generator started."""
    return default_generator.initial_seed()


@public("function")
def get_rng_state() -> Any:
    """Return the state of the default generator, as bytes in a tensor."""
    return default_generator.get_state()


@public("function")
def set_rng_state(new_state: Any) -> None:
    """Restore a state of the default generator that `get_rng_state` returned."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: str = "cpu") -> Iterator[None]:
    """Within `with fork_rng():` numbers may be drawn without a change to those drawn after it."""
    state = default_generator.get_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            default_generator.set_state(state)
