"""Datasets, samplers and DataLoader."""

from __future__ import annotations

from typing import NoReturn as _NoReturn

from ...left_out import missing as _missing
from .dataloader import DataLoader, default_collate
from .dataset import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


def __getattr__(name: str) -> _NoReturn:
    raise _missing("utils.data", name)
