"""DataLoader: batches of examples."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ...core import modes
from ...core.dtypes import float64
from ...core.tensor_state import wrap
from ...creation import as_tensor, tensor
from ...ops.joining import stack
from ...tensor import Tensor
from .dataset import IterableDataset, Subset, TensorDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, seed

__all__ = ["DataLoader", "default_collate", "default_convert"]


def default_collate(batch: Sequence[Any]) -> Any:
    """Combine a list of examples into a batch.

    Tensors, arrays and numbers become a tensor with one more dimension. Texts stay as they are. Tuples, lists
    and dictionaries are combined item by item; a tuple becomes a list.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch))
    if isinstance(first, np.ndarray | np.generic):
        return tensor(np.stack([np.asarray(item) for item in batch]))
    if isinstance(first, float | int):
        return tensor(list(batch), dtype=float64 if isinstance(first, float) else None)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return remade(first, [(key, default_collate([item[key] for item in batch])) for key in first])
    if isinstance(first, Sequence):
        is_named = isinstance(first, tuple) and hasattr(first, "_fields")
        if not is_named and any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return remade(first, [*enumerate(map(default_collate, zip(*batch, strict=False)))])
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first)}"
    )


def default_convert(data: Any) -> Any:
    """Return one example with its arrays as tensors; a tuple becomes a list."""
    if isinstance(data, np.ndarray | np.generic) and data.dtype.kind not in "SUO":
        return as_tensor(data)
    if isinstance(data, Mapping):
        return remade(data, [(key, default_convert(data[key])) for key in data])
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return remade(data, [*enumerate(map(default_convert, data))])
    return data


def remade(source: Any, items: list[tuple[Any, Any]]) -> Any:
    """Return a dictionary or sequence like `source` with other items: a copy where these can be exchanged,
    else a new one of the same class, a list for a tuple, or a plain one.
    """
    values = [value for _, value in items]
    if isinstance(source, tuple):
        return type(source)(*values) if hasattr(source, "_fields") else values
    plain: Any = dict(items) if isinstance(source, Mapping) else values
    try:
        if not isinstance(source, MutableMapping | MutableSequence):
            return type(source)(plain)
        clone: Any = copy.copy(source)
        for key, value in items:
            clone[key] = value
        return clone
    except TypeError:
        return plain


def are_numbers(indices: Any) -> bool:
    """Return whether these are Python integers, at least one."""
    return isinstance(indices, list | tuple) and set(map(type, indices)) == {int}


def batch_rows(dataset: Any, indices: Any) -> list[Tensor] | None:
    """Collate examples of a TensorDataset, or a Subset of one, by indexing each of its tensors once.

    Return None where that could make a difference: for observers, gradients or errors.
    """
    while are_numbers(indices) and type(dataset) is Subset:
        dataset, indices = dataset.dataset, [dataset.indices[i] for i in indices]
    if type(dataset) is not TensorDataset or not are_numbers(indices):
        return None
    if modes.active and (modes.active != 1 or modes.state.grad_enabled):
        return None
    least, most = min(indices), max(indices)
    for t in dataset.tensors:
        if t.requires_grad or t._bits or not -len(t) <= least <= most < len(t):
            return None
    return [wrap(t._data.take(indices, axis=0)) for t in dataset.tensors]


@functools.cache
def tell_of_workers() -> None:
    """Warn once that there are no workers."""
    warnings.warn(
        "DataLoader(num_workers=…): minigrad loads examples in this process; there are no workers.",
        UserWarning,
        stacklevel=3,
    )


class DataLoader:
    """Iterable over a dataset in batches.

    minigrad loads everything in this process. It accepts the settings of workers and pinned memory and
    ignores them; num_workers above 0 warns once.

    Args:
        dataset: dataset with `__getitem__` and `__len__`, or an IterableDataset.
        batch_size: number of examples in a batch; None gives single examples.
        shuffle: True draws a new order for each pass.
        sampler: iterable of indices that gives the order.
        batch_sampler: iterable of lists of indices, one for each batch.
        num_workers: number of worker processes in PyTorch; ignored.
        collate_fn: function that turns a list of examples into a batch; `default_collate` if None.
        pin_memory: ignored.
        drop_last: True leaves out a last batch that is smaller than batch_size.
        timeout: ignored.
        worker_init_fn: ignored.
        multiprocessing_context: ignored.
        generator: source of the random order; the default generator if None.
        prefetch_factor: ignored.
        persistent_workers: ignored.
        pin_memory_device: ignored.
        in_order: ignored.

    Raises:
        ValueError: arguments exclude each other, for example sampler and shuffle=True.

    Example:
        >>> data = torch.utils.data.TensorDataset(torch.arange(3))
        >>> [batch.tolist() for batch, in torch.utils.data.DataLoader(data, batch_size=2)]
        [[0, 1], [2]]

    Source: PyTorch's page `torch.utils.data`.
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Any = None,
        batch_sampler: Any = None, num_workers: int = 0, collate_fn: Any = None, pin_memory: bool = False,
        drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None,
        multiprocessing_context: Any = None, generator: Any = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        if num_workers < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
            )
        if num_workers:
            tell_of_workers()
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
        if batch_sampler is None and batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        self.dataset, self.drop_last, self.generator = dataset, drop_last, generator
        self.batch_size = None if batch_sampler is not None else batch_size
        self.num_workers, self.pin_memory = num_workers, pin_memory
        streams = isinstance(dataset, IterableDataset)
        if streams and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError(
                "DataLoader with IterableDataset: expected unspecified shuffle, sampler and batch_sampler "
                "options"
            )
        if sampler is None and not streams:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is None and batch_size is not None and not streams:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.sampler, self.batch_sampler = sampler, batch_sampler
        together = batch_sampler is not None or (streams and batch_size is not None)
        self.collate_fn = collate_fn or (default_collate if together else default_convert)

    def __iter__(self) -> Iterator[Any]:
        if self.generator is None:
            seed()  # PyTorch draws one here for its workers, so the numbers after it are the same
        else:
            tensor(0).random_(generator=self.generator)
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        if isinstance(self.dataset, IterableDataset):
            examples: Any = self.dataset  # which come in batches in the same way as indices
            if self.batch_size is not None:
                examples = BatchSampler(examples, self.batch_size, self.drop_last)
            yield from map(self.collate_fn, examples)
        elif self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
        else:
            for indices in self.batch_sampler:
                yield self._batch(indices)

    def _batch(self, indices: Any) -> Any:
        """Return the batch of examples at these indices."""
        if self.collate_fn is default_collate:
            batch = batch_rows(self.dataset, indices)
            if batch is not None:
                return batch
        return self.collate_fn([self.dataset[index] for index in indices])

    def __len__(self) -> int:
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        if self.sampler is not None:
            return len(self.sampler)
        if self.batch_size is None:
            return len(self.dataset)
        return len(BatchSampler(self.dataset, self.batch_size, self.drop_last))
