"""Sequences of different lengths as one tensor: padded to the longest, or packed without padding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...core import F, dtypes
from ...creation import arange, as_tensor, full, tensor
from ...left_out import refusing as _refusing
from ...ops.recurrent import _pack_padded_sequence


class PackedFields(NamedTuple):
    """Fields of a PackedSequence."""

    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


def converting(dtype: Any) -> Any:
    """Return the method of a PackedSequence that converts `data` to a dtype."""

    def convert(self: Any) -> Any:
        return self.to(dtype=dtype)

    convert.__doc__ = f"Return the sequences in {dtype.name}."
    return convert


class PackedSequence(PackedFields):
    """Sequences step by step: `data` has first the first elements of all of them, the longest first, then the
    second ones, and so on; `batch_sizes` tells how many sequences have an element at each step.
    `sorted_indices` are the sequences in the order of their lengths, `unsorted_indices` the way back.
    """

    __slots__ = ()

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> Any:
        """Create what `pack_padded_sequence` returns."""
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Return the sequences with `data` in another dtype; themselves if they have it."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    double, float, half, long, int = (
        converting(dtype)
        for dtype in (dtypes.float64, dtypes.float32, dtypes.float16, dtypes.int64, dtypes.int32)
    )

    def cpu(self) -> Any:
        """Return the sequences: they are on the CPU."""
        return self

    @property
    def is_cuda(self) -> bool:
        """Return False: the sequences are on the CPU."""
        return False

    def is_pinned(self) -> bool:
        """Return False: memory is not pinned."""
        return False


def invert_permutation(permutation: Any) -> Any:
    """Return the inverse permutation; None for None."""
    if permutation is None:
        return None
    return F.zeros_like(permutation).scatter_(0, permutation, arange(0, permutation.numel()))


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> Any:
    """Pack padded sequences, so that a recurrent network skips the padding.

    Args:
        input: padded sequences.
        lengths: length of each sequence.
        batch_first: True if the batch dimension comes first.
        enforce_sorted: False sorts the sequences by length; True expects them sorted, longest first.

    Shape:
        input: (T, N, *), or (N, T, *) if batch_first; lengths: (N).

    Returns:
        A PackedSequence.

    Raises:
        RuntimeError: a length is not positive, or the lengths are not sorted and enforce_sorted is True.

    Example:
        >>> packed = nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 1), [3, 1])
        >>> packed.batch_sizes.tolist()
        [2, 1, 1]

    Source: PyTorch's page `torch.nn.utils.rnn.pack_padded_sequence`.
    """
    lengths = as_tensor(lengths, dtype=dtypes.int64)
    if input.ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    order = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    data, batch_sizes = _pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, order)


def pad_packed_sequence(
    sequence: Any, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """Unpack a PackedSequence into padded sequences and their lengths.

    Args:
        sequence: the PackedSequence.
        batch_first: True puts the batch dimension first.
        padding_value: value of the padding.
        total_length: length of the padded sequences; the longest length if None.

    Shape:
        sequences: (T, N, *), or (N, T, *) if batch_first; lengths: (N).

    Returns:
        The padded sequences and their lengths.

    Raises:
        ValueError: total_length is shorter than a sequence.

    Example:
        >>> packed = nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 1), [3, 1])
        >>> nn.utils.rnn.pad_packed_sequence(packed)[1].tolist()
        [3, 1]

    Source: PyTorch's page `torch.nn.utils.rnn.pad_packed_sequence`.
    """
    sizes = sequence.batch_sizes.tolist()
    if total_length is not None and total_length < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {len(sizes)}"
        )
    data = sequence.data
    steps = len(sizes) if total_length is None else total_length
    output = full((steps, sizes[0], *data.shape[1:]), padding_value, dtype=data.dtype)
    at = start = 0
    lengths: list[int] = []
    for step, (size, after) in enumerate(zip(sizes, [*sizes[1:], 0]), 1):
        if after == size:
            continue  # steps that as many sequences take are written at once
        rows = size * (step - start)
        block = data[at : at + rows].view(step - start, size, *data.shape[1:])
        output[start:step][:, :size].copy_(block)
        lengths = [step] * (size - after) + lengths
        at, start = at + rows, step
    output = output.transpose(0, 1) if batch_first else output
    found = tensor(lengths, dtype=dtypes.int64)
    back = sequence.unsorted_indices
    if back is None:
        return output, found
    return output.index_select(0 if batch_first else 1, back), found[back]


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Stack sequences of different lengths, padded to the longest.

    Args:
        sequences: tensors that differ in their first size only.
        batch_first: True puts the batch dimension first.
        padding_value: value of the padding.
        padding_side: "right" or "left".

    Shape:
        each sequence (L, *) → (T, N, *), or (N, T, *) if batch_first.

    Returns:
        The padded sequences as one tensor.

    Raises:
        RuntimeError: sequences is empty or cannot be iterated, or padding_side is unknown.

    Example:
        >>> nn.utils.rnn.pad_sequence([torch.ones(2), torch.ones(1)], batch_first=True).tolist()
        [[1.0, 1.0], [1.0, 0.0]]

    Source: PyTorch's page `torch.nn.utils.rnn.pad_sequence`.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    first, longest = sequences[0], max(len(s) for s in sequences)
    shape = (len(sequences), longest) if batch_first else (longest, len(sequences))
    out = full((*shape, *first.shape[1:]), padding_value, dtype=first.dtype)
    for i, sequence in enumerate(sequences):
        length = len(sequence)
        start = longest - length if padding_side == "left" else 0
        out.select(0 if batch_first else 1, i).narrow(0, start, length).copy_(sequence)
    return out


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """Return the sequences without padding.

    Without `batch_first` it swaps the first two dimensions of the tensor in place, as PyTorch does.
    """
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    steps = arange(padded_sequences.shape[1])
    return [sequence[steps < length] for sequence, length in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> Any:
    """Pack sequences (L, *)."""
    lengths = tensor([len(s) for s in sequences], dtype=dtypes.int64)
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: Any) -> list[Any]:
    """Return the sequences (L, *) that were packed."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)


__getattr__ = _refusing("nn.utils.rnn")
