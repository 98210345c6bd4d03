"""Optimizers of a replay: built in a state that was taken down, and taken down again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .rounds import OptimizerState


def array(tensor: Any) -> Any:
    """A copy of a tensor's numbers."""
    return np.array(tensor.detach().numpy())


def built(one: OptimizerState, tensors: Mapping[int, Any], module: Any) -> Any:
    """An optimizer in a state, on new tensors."""
    groups = [{**group, "params": [tensors[n] for n in group["params"]]} for group in one.groups]
    optimizer = one.kind(groups, lr=one.groups[0]["lr"])
    for number, own in one.state.items():
        optimizer.state[tensors[number]] = {
            name: module.tensor(value) if isinstance(value, np.ndarray | np.generic) else value
            for name, value in own.items()
        }
    return optimizer


def taken(one: OptimizerState, optimizer: Any, tensors: Mapping[int, Any]) -> OptimizerState:
    """The state in which it is now."""
    numbers = {id(tensors[n]): n for group in one.groups for n in group["params"]}
    state = {
        numbers[id(param)]: {name: array(v) if hasattr(v, "detach") else v for name, v in own.items()}
        for param, own in optimizer.state.items()
    }
    return one._replace(state=state)


def with_rate(one: OptimizerState, rate: float | None) -> OptimizerState:
    """An optimizer with another learning rate in all groups."""
    if rate is None or all(group["lr"] == rate for group in one.groups):
        return one
    return one._replace(groups=tuple({**group, "lr": rate} for group in one.groups))
