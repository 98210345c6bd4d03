"""`einsum`."""

from __future__ import annotations

import re
from math import prod
from typing import Any

from ..core import F
from ..core.dtypes import kind_name
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..left_out import without
from . import products as linalg

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order in which PyTorch counts them
TERM = re.compile(r"[a-zA-Z]*(\.\.\.[a-zA-Z]*)?")
NO_OPERAND = (
    "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
    "subscripts list"
)
Label = str | int  # of a dimension: its letter; if an ellipsis covers it, its place, -1 for the last one


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
    if len(args) < 2:
        raise ValueError(NO_OPERAND)
    if not isinstance(args[0], str):
        raise without("einsum", "list of indices after each tensor")
    equation, *operands = args
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    for i, x in enumerate(operands):
        if not isinstance(x, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument 1, but got {kind_name(x)}")
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) != len(operands):
        which = "fewer" if len(texts) > len(operands) else "more"
        raise RuntimeError(f"einsum(): {which} operands were provided than specified in the equation")
    terms = [
        labels_of(text, f"operand {i}", x._data.ndim) for i, (text, x) in enumerate(zip(texts, operands))
    ]
    every = [label for labels in terms for label in labels]
    covered = range(min((label for label in every if isinstance(label, int)), default=0), 0)
    summed = [*covered, *(label for label in LETTERS if label in every)]
    kept = [*covered, *(c for c in LETTERS if every.count(c) == 1)]
    if arrow:
        kept = labels_of(right, "output", len(right.replace(" ", "").replace("...", "")) + len(covered))
        check_output(kept, every)
    order = kept + [label for label in summed if label not in kept]
    sizes: dict[Label, int] = {}
    aligned = [align(i, x, labels, order, sizes) for i, (labels, x) in enumerate(zip(terms, operands))]
    return contract(aligned, len(kept), len(order))


def labels_of(text: str, owner: str, ndim: int) -> list[Label]:
    """The labels of the dimensions of an operand, or of the result; an ellipsis covers what letters leave."""
    text = text.replace(" ", "")
    if not TERM.fullmatch(text):
        told = "subscripts must be in [a-zA-Z], with at most one ellipsis (...)"
        raise RuntimeError(f"einsum(): invalid subscripts '{text}' for {owner}: {told}")
    before, dots, after = text.partition("...")
    count = ndim - len(before) - len(after)
    if owner != "output" and (count < 0 or (count and not dots)):
        found, rest = (") is more than", "") if dots else (") does not match", " and no ellipsis was given")
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({ndim - count}{found} the number of "
            f"dimensions ({ndim}) for {owner}{rest}"
        )
    return [*before, *range(-count if dots else 0, 0), *after]


def check_output(kept: list[Label], every: list[Label]) -> None:
    """Raise RuntimeError unless each label of the result occurs once in it, and in an operand."""
    for i, label in enumerate(kept):
        if label in kept[:i]:
            raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
        if label not in every:
            told = "does not appear in the equation for any input operand"
            raise RuntimeError(f"einsum(): output subscript {label} {told}")


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
            check_size(i, label, x.shape[at], sizes)
            places[label] = at
    for label in order:
        if label not in places:
            x = F.unsqueeze(x, len(places))
            places[label] = len(places)
    return F.permute(x, tuple(places[label] for label in order))


def check_size(i: int, label: Label, size: int, sizes: dict[Label, int]) -> None:
    """RuntimeError with PyTorch's texts unless a label's size is 1 or the one seen before."""
    if size == 1 or sizes.setdefault(label, size) == size:
        return
    raise RuntimeError(
        f"einsum(): subscript {label if isinstance(label, str) else '...'} has size {size} for operand {i} "
        f"which does not broadcast with previously seen size {sizes[label]}"
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
