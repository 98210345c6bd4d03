"""Einstein's sums."""

from __future__ import annotations

from math import prod
from typing import Any

from ..core import F
from ..core.dtypes import kind_name
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..left_out import without
from ..ops import linalg

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order in which PyTorch counts them
ELLIPSIS = "."
Label = str | int  # of a dimension: its letter, or its number among those that ellipses cover


@public("function")
def einsum(*args: Any) -> Any:
    """Return sums of products that an equation such as "ij,jk->ik" describes.

    Args:
        args: the equation and the tensors, one by one or in a list.
    Shape: the indices after `->`.
    Returns: a new tensor.
    Raises: RuntimeError if the equation does not fit the tensors.
    Derivative: that of the matrix products of which the sum is composed.
    Source: torch.einsum

    >>> torch.einsum('ij,j->i', torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    if not isinstance(args[0], str):
        raise without("einsum", "list of indices after each tensor")
    equation, *operands = args
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    for x in operands:
        if not isinstance(x, TensorBase):
            raise TypeError(
                f"einsum(): argument 'operands' (position 2) must be tuple of Tensors, not {kind_name(x)}"
            )
    if not operands:
        raise RuntimeError("einsum(): must provide at least one operand")
    left, arrow, right = equation.partition("->")
    terms = terms_of(left, operands)
    covered = max(0, *(hidden(labels, x) for labels, x in zip(terms, operands)))
    every = [label for labels in terms for label in labels if label != ELLIPSIS]
    if arrow:
        result = labels_of(right, len(left) + 2, "output")
        check_output(result, every)
    else:
        result = [ELLIPSIS, *(c for c in LETTERS if every.count(c) == 1)]
    kept = spread(result, covered, covered)
    summed = [*range(covered), *(label for label in LETTERS if label in every)]
    order = kept + [label for label in summed if label not in kept]
    sizes: dict[Label, int] = {}
    aligned = []
    for i, (labels, x) in enumerate(zip(terms, operands)):
        aligned.append(align(i, x, spread(labels, hidden(labels, x), covered), order, sizes))
    return contract(aligned, len(kept), len(order))


def labels_of(text: str, start: int, owner: str) -> list[str]:
    """The labels in one term of an equation, "." for an ellipsis; RuntimeError with PyTorch's texts."""
    labels: list[str] = []
    i = 0
    while i < len(text):
        if text[i] == ".":
            if ELLIPSIS in labels:
                which = "but an ellipsis (...)" if owner == "output" else "for which an ellipsis"
                raise RuntimeError(f"einsum(): found '.' for {owner} {which} was already found")
            if text[i : i + 3] != "...":
                end = "any ellipsis (...)" if owner == "output" else "any ellipsis"
                raise RuntimeError(f"einsum(): found '.' for {owner} that is not part of {end}")
            labels.append(ELLIPSIS)
            i += 2
        elif text[i] in LETTERS:
            labels.append(text[i])
        elif text[i] != " ":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {start + i} in the equation string, subscripts "
                "must be in [a-zA-Z]"
            )
        i += 1
    return labels


def terms_of(left: str, operands: list[Any]) -> list[list[str]]:
    """Return the labels of each operand; RuntimeError with PyTorch's texts."""
    texts = left.split(",")
    if len(texts) > len(operands):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    terms, start = [], 0
    for i, text in enumerate(texts):
        terms.append(labels_of(text, start, f"operand {i}"))
        start += len(text) + 1
    if len(texts) < len(operands):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    for i, (labels, x) in enumerate(zip(terms, operands)):
        has_ellipsis = ELLIPSIS in labels
        n, ndim = len(labels) - has_ellipsis, x._data.ndim
        if n > ndim or (n != ndim and not has_ellipsis):
            found = ") is more than" if has_ellipsis else ") does not match"
            rest = "" if has_ellipsis else " and no ellipsis was given"
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({n}{found} the number of dimensions "
                f"({ndim}) for operand {i}{rest}"
            )
    return terms


def check_output(kept: list[str], every: list[str]) -> None:
    """RuntimeError unless each label of the result is among the operands', and there once."""
    for i, label in enumerate(kept):
        if label != ELLIPSIS and (label not in every or label in kept[:i]):
            wrong = (
                "appears more than once in the output"
                if label in kept[:i]
                else "does not appear in the equation for any input operand"
            )
            raise RuntimeError(f"einsum(): output subscript {label} {wrong}")


def hidden(labels: list[str], x: Any) -> int:
    """Return how many dimensions of an operand its ellipsis covers."""
    return x._data.ndim - len(labels) + 1 if ELLIPSIS in labels else 0


def spread(labels: list[str], count: int, covered: int) -> list[Label]:
    """Return a label for each dimension: the last `count` of the numbers below `covered` for an ellipsis."""
    found: list[Label] = []
    for label in labels:
        found += range(covered - count, covered) if label == ELLIPSIS else [label]
    return found


def align(i: int, x: Any, labels: list[Label], order: list[Label], sizes: dict[Label, int]) -> Any:
    """Operand `i` with its dimensions in `order`: repeated labels become diagonals, and dimensions that it
    does not have get size 1. `sizes` are those seen so far.
    """
    places: dict[Label, int] = {}
    for label in labels:
        at = len(places)
        if label in places:
            first = places[label]
            if x.shape[at] != x.shape[first]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {i} but the sizes don't match, "
                    f"{x.shape[at]} != {x.shape[first]}"
                )
            x = x.diagonal(0, first, at).movedim(-1, first)
        else:
            check_size(i, label, at, x.shape[at], sizes)
            places[label] = at
    for label in order:
        if label not in places:
            x = F.unsqueeze(x, len(places))
            places[label] = len(places)
    return F.permute(x, tuple(places[label] for label in order))


def check_size(i: int, label: Label, dim: int, size: int, sizes: dict[Label, int]) -> None:
    """RuntimeError with PyTorch's texts unless a label's size is 1 or the one seen before."""
    if size == 1 or sizes.setdefault(label, size) == size:
        return
    if isinstance(label, int):
        raise RuntimeError(
            f"einsum(): dimension {dim} covered by ellipsis in operand {i}has size {size} which does not "
            f"broadcast with previously seen ellipsis with size {sizes[label]} for the respective dimension"
        )
    raise RuntimeError(
        f"einsum(): subscript {label} has size {size} for operand {i} which does not broadcast with "
        f"previously seen size {sizes[label]}"
    )


def contract(operands: list[Any], stays: int, size: int) -> Any:
    """Return the product of aligned operands from left to right; what only one still has is summed first."""
    if len(operands) == 1:
        return operands[0].sum(tuple(range(stays, size))) if size > stays else operands[0]
    uses = [sum(x.shape[d] != 1 for x in operands) for d in range(size)]
    a, *others = operands
    for b in others:
        together: list[int] = []
        alone_a: list[int] = []
        alone_b: list[int] = []
        for d in range(stays, size):
            in_a, in_b = a.shape[d] != 1, b.shape[d] != 1
            if in_a and in_b:
                uses[d] -= 1
                if uses[d] == 1:
                    together.append(d)
                    uses[d] = 0
            elif uses[d] == 1 and (in_a or in_b):
                (alone_a if in_a else alone_b).append(d)
                uses[d] = 0
        a = a.sum(tuple(alone_a), keepdim=True) if alone_a else a
        b = b.sum(tuple(alone_b), keepdim=True) if alone_b else b
        a = pair_product(a, b, together)
    return F.view(a, a._data.shape[:stays]) if size > stays else a


def pair_product(a: Any, b: Any, summed: list[int]) -> Any:
    """The product of two aligned operands, summed over some dimensions, which stay with size 1: composed as
    PyTorch's `sumproduct_pair` of one `bmm`.
    """
    if not summed:
        return F.mul(a, b)
    m, n = a._data.shape, b._data.shape
    rest = [d for d in range(len(m)) if d not in summed]
    both = [d for d in rest if m[d] != 1 and n[d] != 1]
    only_a = [d for d in rest if m[d] != 1 and n[d] == 1]
    only_b = [d for d in rest if m[d] == 1]
    shape = [m[d] for d in both], [m[d] for d in only_a], [n[d] for d in only_b]
    batch, rows, columns = (prod(sizes) for sizes in shape)
    inside = prod([m[d] for d in summed])
    left = F.reshape(F.permute(a, (*both, *only_a, *summed, *only_b)), (batch, rows, inside))
    right = F.reshape(F.permute(b, (*both, *summed, *only_b, *only_a)), (batch, inside, columns))
    product = linalg.bmm(left, right)
    product = F.view(product, (*shape[0], *shape[1], *(1 for _ in summed), *shape[2]))
    order = [*both, *only_a, *summed, *only_b]
    return F.permute(product, tuple(order.index(d) for d in range(len(order))))
