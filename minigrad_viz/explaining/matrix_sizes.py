"""Matrix products of sizes that do not fit: `x @ w`, `mm`, `matmul`, `addmm`, `bmm`, `mv`, `dot`."""

from __future__ import annotations

import ast
import itertools
import math
import re
from typing import NamedTuple

from ..model.place import LIBRARY
from ..trace.explained import Explanation
from ..trace.where import Span
from ..words import shorten
from .at_call import of_a_call
from .case import Case, ErrorRule, rule
from .edits import at_path, constants, constructor, exchanged, instead, resized, with_method
from .layers import layer_of
from .operation import (
    LONGEST,
    Operand,
    Shape,
    failed_layer,
    failing,
    function_of,
    named,
    numbers,
    operands_of,
    shape_mark,
    size_mark,
    sized,
    taken,
)
from .subject import called, expression


class Product(NamedTuple):
    """The two sides of a product, as the error has them; the operands where they are known."""

    left: Shape
    right: Shape
    a: Operand | None
    b: Operand | None


def product_of(case: Case, left: Shape, right: Shape) -> Product:
    """The operands that have the shapes which the error tells."""
    given = operands_of(case)
    turned = right[::-1] if function_of(case) == "linear" else right
    for a, b in itertools.pairwise(given):
        if left in (a.shape, as_matrix(a.shape)) and b.shape == turned:
            return Product(a.shape, turned, a, b)
    return Product(left, right, None, None)


def as_matrix(shape: Shape) -> Shape:
    """The shape of a matrix in whose place a tensor stands in a product: all but the last dimension are
    rows."""
    rows = 1
    for size in shape[:-1]:
        rows *= size
    return (rows, *shape[-1:])


def matrix_sizes(case: Case, match: re.Match[str]) -> Explanation | None:
    """The inner sizes of a product differ."""
    if layer_of(case) is not None:
        return None
    left, right = numbers(match["left"]), numbers(match["right"])
    return layer_in_source(case, left, right) or of_sizes(case, left, right)


def layer_in_source(case: Case, left: Shape, right: Shape) -> Explanation | None:
    """The explanation for a layer in code that nobody recorded, `self.fc(x)`, if the source creates it with
    the sizes of the error."""
    tree = expression(case)
    path = ast.unparse(tree.func) if isinstance(tree, ast.Call) else ""
    made = constructor(case, "Linear", path, right) if path and not case.trace.recorded else None
    if made is None or constants(made.call.args)[:2] != right or at_path(case, path) is not made.call:
        return None
    values = {"call": failing(case), "layer": f"{path} (Linear {right[0]}→{right[1]})"}
    why = case.words("linear_unseen_why", needed=right[0], given=left[-1], **values)
    fix = made.changed(0, left[-1]) or case.words("linear_fix", given=left[-1])
    return case.explain("layer_input", why, fix, (), made.span)


def batched_sizes(case: Case, match: re.Match[str]) -> Explanation | None:
    """The same, in a product of many matrices at once; or their numbers differ."""
    needed, got = numbers(match["needed"]), numbers(match["got"])
    many = [each for each in operands_of(case) if len(each.shape) == 3]
    if failed_layer(case) is not None or len(many) != 2 or many[1].shape[:2] != got:
        return None
    a, b = many
    return of_product(case, Product(a.shape, b.shape, a, b)) if needed[1] != got[1] else batches(case, a, b)


def batches(case: Case, a: Operand, b: Operand) -> Explanation:
    """The numbers of matrices differ."""
    m, n = a.shape[0], b.shape[0]
    values = {"a": named(case, a), "b": named(case, b), "m": m, "n": n, "call": failing(case)}
    shapes = {"left": sized(case, a.shape), "right": sized(case, b.shape)}
    marks = size_mark(case, a.id, 0, m) + size_mark(case, b.id, 0, n)
    why = case.words("matrix_batches_why", **values, **shapes)
    made = resized(case, b, (m, *b.shape[1:])) or (case.words("matrix_batches_fix"), None)
    return case.explain("matrix_sizes", why, made[0], marks, made[1])


def of_sizes(case: Case, left: Shape, right: Shape) -> Explanation:
    """The explanation for two sizes that the error tells."""
    return of_product(case, product_of(case, left, right))


def of_product(case: Case, product: Product) -> Explanation:
    """The explanation for two operands whose inner sizes differ."""
    left, right, a, b = product
    linear = function_of(case) == "linear" and b is not None
    inner = len(right) - 1 if linear or len(right) == 1 else len(right) - 2
    values = {
        "call": failing(case),
        "a": side(case, 0, "left_operand") if a is None else named(case, a),
        "b": side(case, 1, "right_operand") if b is None else named(case, b),
        "left": sized(case, left),
        "right": sized(case, right),
        "m": left[-1],
        "n": right[inner],
    }
    keys = "matrix_linear_why" if linear else "matrix_sizes_why"
    why = case.words("matrix_lengths_why" if len(left) == len(right) == 1 else keys, **values)
    if a is None or b is None:
        return case.explain("matrix_sizes", why, case.words("matrix_sizes_fix"))
    marks = size_mark(case, a.id, len(left) - 1, left[-1])
    marks += size_mark(case, b.id, inner, right[inner])
    fix, cause = fitting(case, a, b, inner, linear)
    return case.explain("matrix_sizes", why, fix, marks, cause)


def side(case: Case, place: int, otherwise: str) -> str:
    """What to call an operand that nobody saw: as it is written there, where that is certain."""
    trees = list(taken(expression(case)))[-2:]
    plain = function_of(case) in ("@", *NEEDED, "matmul") and function_of(case) != "addmm"
    text = LIBRARY.sub("", ast.unparse(trees[place])) if plain and len(trees) == 2 else ""
    return shorten(text, LONGEST) if text else case.words(otherwise)


def fitting(case: Case, a: Operand, b: Operand, inner: int, linear: bool) -> tuple[str, Span | None]:
    """What to do, as code: transpose one side, exchange both, or create one in the size that fits; and the
    line that this is about, if it is another."""
    code = with_method(case, b.tree, ".T") if linear and b.shape[0] == a.shape[-1] else None
    code = code if linear else turned(case, a, b)
    if code is not None:
        return case.words("matrix_transpose_fix", code=code), None
    # The side that is made for the other: the one that requires gradients, else the right one.
    first = resized(case, a, (*a.shape[:-1], b.shape[inner]))
    second = resized(case, b, (*b.shape[:inner], a.shape[-1], *b.shape[inner + 1 :]))
    learns = a.state.requires_grad and not b.state.requires_grad
    made = (first or second) if learns else (second or first)
    return made or (case.words("matrix_sizes_fix"), None)


def turned(case: Case, a: Operand, b: Operand) -> str | None:
    """The line that failed, with both operands exchanged, one transposed, or the left one flattened."""
    m, n = a.shape, b.shape
    plain = len(m) == len(n) > 1 and m[:-2] == n[:-2]
    learns = a.state.is_leaf and a.state.requires_grad and not b.state.requires_grad
    swaps = plain and n[-1] == m[-2]
    if swaps and learns:  # data @ weight
        return exchanged(case, a.tree, b.tree)
    if len(n) > 1 and n[-1] == m[-1]:
        return with_method(case, b.tree, ".T" if len(n) == 2 else ".mT")
    if len(m) == len(n) == 2 and m[0] == n[0]:
        return with_method(case, a.tree, ".T")
    if swaps:
        return exchanged(case, a.tree, b.tree)
    if len(m) > 2 and math.prod(m[1:]) == n[0]:
        return with_method(case, a.tree, ".flatten(1)")
    if len(m) == len(n) == 2 and math.prod(m) == n[0]:  # one image
        return with_method(case, a.tree, ".flatten()")
    return None


NEEDED = {"mm": (2, 2), "addmm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1)}


def matrix_dims(case: Case, match: re.Match[str]) -> Explanation | None:
    """A function for matrices, for vectors, or for many matrices, was given something else."""
    function = function_of(case)
    needed, mine = NEEDED.get(function), operands_of(case)[-2:]
    if failed_layer(case) is not None or needed is None or len(mine) != 2:
        return None
    wrong = [(each, n) for each, n in zip(mine, needed, strict=True) if len(each.shape) != n]
    if not wrong:
        return None
    operand, dims = wrong[0]
    values = {"name": named(case, operand), "shape": sized(case, operand.shape), "given": len(operand.shape)}
    why = case.words("matrix_dims_why", call=failing(case), function=function, dims=dims, **values)
    marks = shape_mark(case, operand.state)
    left, right = (each.shape for each in mine)
    fits = bool(left and right) and left[-1] == right[-2:][0]
    code = instead(case, " @ ".join(called(each.text) for each in mine)) if fits else None
    if code is None or function == "addmm":
        return case.explain("matrix_dims", why, case.words("matrix_dims_fix", dims=dims), marks)
    return case.explain("matrix_dims", why, case.words("matrix_dims_fix_at", code=code), marks)


def einsum_sizes(case: Case, match: re.Match[str]) -> Explanation | None:
    """One letter of an einsum stands for two sizes."""
    given = operands_of(case)
    if failed_layer(case) is not None or function_of(case) != "einsum":
        return None
    values = {"call": failing(case), "letter": match["letter"], "m": match["m"], "n": match["n"]}
    marks = tuple(mark for each in given for mark in shape_mark(case, each.state))
    shapes = ", ".join(f"{named(case, each)}: {sized(case, each.shape)}" for each in given)
    why = case.words("einsum_sizes_why", shapes=shapes, **values)
    return case.explain("matrix_sizes", why, case.words("einsum_sizes_fix", letter=match["letter"]), marks)


SIZES = r"\((?P<left>[\dx]+) and (?P<right>[\dx]+)\)"
VECTOR = r"size mismatch, got input \(\d+\), mat \((?P<left>[\dx]+)\), vec \((?P<right>\d+)\)"
LENGTHS = r"inconsistent tensor size, expected tensor \[(?P<left>\d+)\] and src \[(?P<right>\d+)\]"
BATCHED = (
    r"Expected size for first two dimensions of batch2 tensor to be: \[(?P<needed>[\d, ]+)\] "
    r"but got: \[(?P<got>[\d, ]+)\]"
)
LETTER = r"einsum\(\): subscript (?P<letter>\w) has size (?P<n>\d+) .*previously seen size (?P<m>\d+)"
DIMS = r"must be a (?:matrix|3D tensor)|vector \+ matrix @ vector expected|1D tensors expected"

RULES: dict[str, ErrorRule] = {
    pattern: rule(pattern, of_a_call(explain))
    for pattern, explain in {
        "shapes cannot be multiplied " + SIZES: matrix_sizes,
        VECTOR: matrix_sizes,
        LENGTHS: matrix_sizes,
        BATCHED: batched_sizes,
        DIMS: matrix_dims,
        LETTER: einsum_sizes,
    }.items()
}
