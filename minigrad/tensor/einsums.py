"""Einstein's sums."""

from __future__ import annotations

from math import prod
from typing import Any

from ..core import F
from ..core.dtypes import kind_name
from ..core.public import public
from ..core.tensor_state import TensorBase
from ..ops import linalg

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order in which PyTorch counts them
ELLIPSIS = "."


@public("function")
def einsum(*args: Any) -> Any:
    """Return sums of products that an equation such as "ij,jk->ik" describes.

    Args:
        args: the equation and the tensors, one or in a list; or tensors, each followed by its list of
            indices.
    Shape: the indices after `->`.
    Returns: a new tensor.
    Raises: RuntimeError if the equation does not fit the tensors.
    Derivative: that of the matrix products of which the sum is composed.
    Source: torch.einsum

    >>> torch.einsum('ij,j->i', torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    if not isinstance(args[0], str):
        args = from_lists(args)
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
    terms = terms_of(left, len(operands))
    places, count, covered = places_of(terms, operands, right if arrow else None)
    aligned = align(terms, operands, places, covered)
    return contract(aligned, count)


def from_lists(args: Any) -> tuple[Any, ...]:
    """Equation and operands of the form `operand, [0, 1], operand, [1, 2], …, [0, 2]`."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand "
            "and its subscripts list"
        )
    equation = ",".join(letters(subscripts) for subscripts in args[1::2])
    if len(args) % 2:
        equation += "->" + letters(args[-1])
        args = args[:-1]
    return equation, *args[::2]


def letters(subscripts: Any) -> str:
    """Return the letters for numbers 0 … 51 and `...`."""
    found = []
    for s in subscripts:
        if s is not ... and not 0 <= s < 52:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        found.append("..." if s is ... else LETTERS[s])
    return "".join(found)


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


def terms_of(left: str, count: int) -> list[list[str]]:
    """Return the labels of each operand."""
    texts = left.split(",")
    if len(texts) > count:
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    terms, start = [], 0
    for i, text in enumerate(texts):
        terms.append(labels_of(text, start, f"operand {i}"))
        start += len(text) + 1
    if len(texts) < count:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return terms


def places_of(
    terms: list[list[str]], operands: list[Any], right: str | None
) -> tuple[dict[str, int], tuple[int, int], int]:
    """The dimension of each label when all operands are aligned, how many stay and how many there are, and
    how many the ellipsis covers.
    """
    covered = 0
    for i, (labels, x) in enumerate(zip(terms, operands)):
        n, ndim = len(labels) - (ELLIPSIS in labels), x._data.ndim
        if n > ndim or (n != ndim and ELLIPSIS not in labels):
            found = ") is more than" if ELLIPSIS in labels else ") does not match"
            rest = "" if ELLIPSIS in labels else " and no ellipsis was given"
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({n}{found} the number of dimensions "
                f"({ndim}) for operand {i}{rest}"
            )
        if ELLIPSIS in labels:
            covered = max(covered, ndim - n)
    every = [label for labels in terms for label in labels if label != ELLIPSIS]
    if right is None:
        kept = [ELLIPSIS, *(c for c in LETTERS if every.count(c) == 1)]
    else:
        start = sum(map(len, terms)) + len(terms) + 1
        kept = labels_of(right, start, "output")
        check_output(kept, every)
    places: dict[str, int] = {}
    size = 0
    for label in kept:
        places[label] = size
        size += covered if label == ELLIPSIS else 1
    stays = size
    for label in (ELLIPSIS, *LETTERS):
        if label not in places and (label == ELLIPSIS or label in every):
            places[label] = size
            size += covered if label == ELLIPSIS else 1
    return places, (stays, size), covered


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


def align(terms: list[list[str]], operands: list[Any], places: dict[str, int], covered: int) -> list[Any]:
    """Each operand with all dimensions in their places: repeated labels become diagonals, and dimensions that
    an operand lacks have size 1.
    """
    sizes: dict[Any, int] = {}
    return [align_one(i, *pair, places, covered, sizes) for i, pair in enumerate(zip(terms, operands))]


def align_one(
    i: int, labels: list[str], x: Any, places: dict[str, int], covered: int, sizes: dict[Any, int]
) -> Any:
    """See `align`; `sizes` are those seen so far."""
    total = sum(covered if label == ELLIPSIS else 1 for label in places)
    order = [-1] * total
    at = 0
    hidden = x._data.ndim - (len(labels) - 1)
    for label in labels:
        if label == ELLIPSIS:
            for j in range(covered - hidden, covered):
                check_covered(i, at, x.shape[at], sizes, j)
                order[places[label] + j] = at
                at += 1
        elif order[places[label]] == -1:
            check_size(i, label, x.shape[at], sizes)
            order[places[label]] = at
            at += 1
        else:
            first = order[places[label]]
            if x.shape[at] != x.shape[first]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {i} but the sizes don't match, "
                    f"{x.shape[at]} != {x.shape[first]}"
                )
            x = x.diagonal(0, first, at).movedim(-1, first)
    for j, place in enumerate(order):
        if place == -1:
            x = F.unsqueeze(x, at)
            order[j] = at
            at += 1
    return F.permute(x, tuple(order))


def check_size(i: int, label: str, size: int, sizes: dict[Any, int]) -> None:
    """RuntimeError unless a label's size is 1 or the one seen before."""
    if size == 1:
        return
    seen = sizes.setdefault(label, size)
    if seen != size:
        raise RuntimeError(
            f"einsum(): subscript {label} has size {size} for operand {i} which does not broadcast with "
            f"previously seen size {seen}"
        )


def check_covered(i: int, dim: int, size: int, sizes: dict[Any, int], j: int) -> None:
    """The same for a dimension that an ellipsis covers."""
    if size == 1:
        return
    seen = sizes.setdefault(j, size)
    if seen != size:
        raise RuntimeError(
            f"einsum(): dimension {dim} covered by ellipsis in operand {i}has size {size} which does not "
            f"broadcast with previously seen ellipsis with size {seen} for the respective dimension"
        )


def contract(operands: list[Any], count: tuple[int, int]) -> Any:
    """Return the product of aligned operands from left to right; what only one still has is summed first."""
    stays, size = count
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
