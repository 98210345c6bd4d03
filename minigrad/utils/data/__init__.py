"""Examples, and batches of them."""

from __future__ import annotations

from .dataset import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split
from .loader import DataLoader, default_collate
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, WeightedRandomSampler

__all__ = [
    "BatchSampler",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "random_split",
]
