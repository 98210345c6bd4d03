"""Datasets."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...creation.random import randperm
from ...ops.generator import default_generator
from ...tensor import Tensor

__all__ = ["ConcatDataset", "Dataset", "IterableDataset", "Subset", "TensorDataset", "random_split"]


class Dataset:
    """Base class of datasets: a subclass defines `__getitem__` and usually `__len__`.

    Raises:
        NotImplementedError: the subclass has no `__getitem__`.

    Example:
        >>> class Squares(torch.utils.data.Dataset):
        ...     def __getitem__(self, index):
        ...         return index**2
        >>> Squares()[3]
        9

    Source: PyTorch's page `torch.utils.data`.
    """

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Base class of datasets that are read in order: a subclass defines `__iter__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset):
    """Dataset of tensors of the same length: example i is the tuple of their elements i.

    Args:
        tensors: tensors with the same first size.

    Raises:
        AssertionError: the first sizes differ.

    Example:
        >>> torch.utils.data.TensorDataset(torch.arange(3), torch.arange(3) * 2)[1]
        (tensor(1), tensor(2))

    Source: PyTorch's page `torch.utils.data`.
    """

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class ConcatDataset(Dataset):
    """Dataset that joins several datasets, one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        at = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[at][index - (self.cumulative_sizes[at - 1] if at else 0)]


class Subset(Dataset):
    """Dataset of the examples at given indices of another one."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Split a dataset at random into parts that do not overlap.

    Args:
        dataset: dataset to split.
        lengths: lengths of the parts, or fractions that sum to 1.
        generator: source of the random numbers; the default generator if None.

    Returns:
        A list of Subsets.

    Raises:
        ValueError: the lengths do not sum to the length of the dataset, or a fraction is not between 0 and 1.

    Example:
        >>> [len(part) for part in torch.utils.data.random_split(range(10), [0.7, 0.3])]
        [7, 3]

    Source: PyTorch's page `torch.utils.data`.
    """
    count = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = shares(lengths, count)
    if sum(lengths) != count:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(count, generator=generator or default_generator).tolist()
    ends = itertools.accumulate(int(n) for n in lengths)
    return [Subset(dataset, order[end - int(n) : end]) for end, n in zip(ends, lengths)]


def shares(parts: Sequence[float], count: int) -> list[int]:
    """Turn fractions into lengths; the remainder goes to the first parts, one each."""
    for i, part in enumerate(parts):
        if part < 0 or part > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(count * part) for part in parts]
    for i in range(count - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            told = f"Length of split at index {i} is 0. This might result in an empty dataset."
            warnings.warn(told, stacklevel=3)
    return lengths
