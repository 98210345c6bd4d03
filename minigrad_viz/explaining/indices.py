"""Indices and dimensions that a tensor does not have."""

from __future__ import annotations

import ast
import re

from ..trace.explained import Explanation
from ..trace.graph import CAUSE, Mark
from ..trace.where import Span
from .at_call import of_a_call
from .case import Case, ErrorRule, rule
from .edits import edited, failing_node, failing_operand, rewritten, said, with_method, with_operand
from .operation import (
    Operand,
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
from .optimizers import span_at
from .rewrite import written_as
from .subject import called, expression


def out_of_bounds(case: Case, match: re.Match[str]) -> Explanation | None:
    """An index is not less than the size of the dimension."""
    wrong, dim, size = (int(match[name]) for name in ("wrong", "dim", "size"))
    given = operands_of(case)
    if failed_layer(case) is not None or not given or given[0].shape[dim : dim + 1] != (size,):
        return None
    one = given[0]
    values = {"name": named(case, one), "shape": sized(case, one.shape), "dim": dim, "last": size - 1}
    why = case.words("index_range_why", call=failing(case), wrong=wrong, **values)
    marks = size_mark(case, one.id, dim, size)
    holder = next((each for each in given[1:] if holds(each, wrong) and chooses(case, each, dim)), None)
    if holder is not None:
        marks += case.card(holder.id, CAUSE, case.words("mark_index", index=wrong))
        values["index"] = named(case, holder)
        why = case.words("index_tensor_why", call=failing(case), wrong=wrong, **values)
    found = in_range(case, wrong, size, holder)
    if found is None:
        return case.explain("index_range", why, case.words("index_range_fix", last=size - 1), marks)
    return case.explain("index_range", why, found[0], marks, found[1])


def holds(operand: Operand, index: int) -> bool:
    """Whether a tensor is one of indices, the largest or smallest of which is `index`."""
    value = operand.state.value
    return value is not None and value.dtype.startswith("int") and index in (value.high, value.low)


def chooses(case: Case, index: Operand, dim: int) -> bool:
    """Whether a tensor stands in the brackets for the dimension `dim`; in a call it is the only index."""
    node = expression(case)
    if not isinstance(node, ast.Subscript):
        return True
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    shifted = any(ast.unparse(each) in ("...", "None") for each in places[:dim])
    return not shifted and dim < len(places) and ast.unparse(places[dim]) == index.text


def in_range(case: Case, wrong: int, size: int, holder: Operand | None) -> tuple[str, Span | None] | None:
    """What to do: count from 0, count as far as the tensor reaches, or take the last element."""
    if holder is not None:
        value = holder.state.value
        if value is None or value.low != 1 or value.high != size:
            return None
        code = with_operand(case, holder.tree, f"{called(holder.text)} - 1")
        return None if code is None else (case.words("index_from_zero_fix", code=code), None)
    node = failing_node(case)
    parts = [] if node is None else [part for part in taken(node) if ast.unparse(part) == str(wrong)]
    parts += [part for each in taken(node) if isinstance(each, ast.Tuple) for part in each.elts]
    literal = next((part for part in parts if ast.unparse(part) == str(wrong)), None)
    if literal is not None and wrong == size:
        code = rewritten(case, node, {literal: str(size - 1)})
        return None if code is None else (case.words("index_last_fix", last=size - 1, code=code), None)
    return counted(case, node, wrong, size)


def counted(case: Case, node: ast.AST | None, wrong: int, size: int) -> tuple[str, Span | None] | None:
    """What to do about a loop that counts too far: `for i in range(5)`."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} if node is not None else set()
    for loop in case.parts():
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        call = loop.iter
        inside = loop.lineno < getattr(node, "lineno", 0) <= (loop.end_lineno or 0)
        if not inside or loop.target.id not in names or not isinstance(call, ast.Call):
            continue
        if ast.unparse(call.func) != "range" or len(call.args) > 2 or wrong < size:
            continue
        code = edited(case, call, {call.args[-1]: str(size)})
        if code is not None:
            text = written_as(case, call)
            fix = case.words("constructor_fix", line=call.lineno, code=code, text=text)
            return fix, span_at(case, call)
    return None


def too_many(case: Case, match: re.Match[str]) -> Explanation | None:
    """More indices than the tensor has dimensions."""
    given = operands_of(case)
    if not given:
        return None
    one = given[0]
    values = {"name": named(case, one), "shape": sized(case, one.shape), "dims": len(one.shape)}
    why = case.words("index_count_why", call=failing(case), **values)
    fix = case.words("index_count_fix", dims=len(one.shape))
    return case.explain("index_count", why, fix, shape_mark(case, one.state))


def no_dims(case: Case, match: re.Match[str]) -> Explanation | None:
    """An index into a scalar, or a loop over one."""
    given = operands_of(case)
    one = next((each for each in given if not each.shape), None)
    if one is None:
        return None
    why = case.words("index_scalar_why", call=failing(case), name=named(case, one))
    node = failing_node(case)
    code = None
    if isinstance(node, ast.Subscript):
        code = rewritten(case, node, {node: written_as(case, node.value)})
    return case.explain("index_count", why, said(case, code, "index_scalar_fix"), shape_mark(case, one.state))


def several(case: Case, match: re.Match[str]) -> Explanation | None:
    """Index tensors of different lengths in one pair of brackets."""
    left, right = (numbers(part) for part in (match["left"], match["right"]))
    mine = [each for each in operands_of(case)[1:] if each.shape in (left, right)]
    if len({each.shape for each in mine}) != 2:
        return None
    a, b = mine[0], next(each for each in mine if each.shape != mine[0].shape)
    values = {"a": named(case, a), "b": named(case, b), "left": sized(case, a.shape)}
    why = case.words("index_pairs_why", call=failing(case), right=sized(case, b.shape), **values)
    marks = shape_mark(case, a.state) + shape_mark(case, b.state)
    code = None
    for one, other in ((a, b), (b, a)):  # `torch.arange(4)` beside four indices
        node = failing_operand(case, one.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("arange") and len(node.args) == 1:
            size = other.shape[0]
            code = rewritten(case, failing_node(case), {node.args[0]: str(size)})
    return case.explain("index_shapes", why, said(case, code, "index_pairs_fix"), marks)


def mask(case: Case, match: re.Match[str]) -> Explanation | None:
    """A mask of another shape than the tensor."""
    shape, whole = numbers(match["mask"]), numbers(match["whole"])
    given = operands_of(case)
    mine = [each for each in given[1:] if each.shape == shape and each.dtype in ("bool", "uint8")]
    if not mine or given[0].shape[:1] != whole[:1]:
        return None
    one = mine[0]
    values = {"name": named(case, given[0]), "shape": sized(case, given[0].shape), "mask": named(case, one)}
    why = case.words("index_mask_why", call=failing(case), given=sized(case, shape), **values)
    marks = shape_mark(case, given[0].state) + shape_mark(case, one.state)
    code = None
    if len(shape) == 1 and len(whole) == 2 and whole[1] == shape[0]:
        code = with_operand(case, one.tree, f":, {one.text}")
    return case.explain("index_shapes", why, said(case, code, "index_mask_fix"), marks)


def gathered(case: Case, match: re.Match[str]) -> Explanation | None:
    """The indices of gather have another number of dimensions."""
    given = operands_of(case)
    if function_of(case) not in ("gather", "scatter", "scatter_", "scatter_add") or len(given) < 2:
        return None
    one, index = given[0], given[1]
    values = {"name": named(case, one), "shape": sized(case, one.shape), "index": named(case, index)}
    why = case.words("index_gather_why", call=failing(case), given=sized(case, index.shape), **values)
    marks = shape_mark(case, one.state) + shape_mark(case, index.state)
    fits = (len(one.shape), len(index.shape)) == (2, 1) and index.shape[0] == one.shape[0]
    code = with_method(case, index.tree, ".unsqueeze(1)") if fits else None
    return case.explain("index_shapes", why, said(case, code, "index_gather_fix"), marks)


# ── dimensions ──────────────────────────────────────────────────────────────────────────────────────────────


def no_such_dim(case: Case, match: re.Match[str]) -> Explanation | None:
    """A dimension that the tensor does not have."""
    given, wrong, last = operands_of(case), int(match["wrong"]), int(match["high"])
    if failed_layer(case) is not None:
        return None
    marks: tuple[Mark, ...] = ()
    values = {"wrong": wrong, "last": last}
    why = case.words("dim_range_why_plain", call=failing(case), **values)
    if given and max(len(given[0].shape), 1) == last + 1:
        one = given[0]
        marks = shape_mark(case, one.state)
        shape = sized(case, one.shape)
        why = case.words("dim_range_why", call=failing(case), name=named(case, one), shape=shape, **values)
    node = failing_node(case)
    parts = [] if node is None else [part for part in taken(node) if ast.unparse(part) == str(wrong)]
    code = rewritten(case, node, {parts[-1]: str(last)}) if parts and wrong > last else None
    fix = case.words("dim_range_fix" if code is None else "dim_last_fix", last=last, code=code)
    return case.explain("dim_range", why, fix, marks)


def permuted(case: Case, match: re.Match[str]) -> Explanation | None:
    """`permute` with another number of dimensions."""
    given = operands_of(case)
    if not given or function_of(case) != "permute":
        return None
    one, dims = given[0], len(given[0].shape)
    values = {"name": named(case, one), "shape": sized(case, one.shape), "dims": dims}
    why = case.words("dim_permute_why", call=failing(case), **values)
    fix = case.words("dim_permute_fix", dims=dims)
    return case.explain("dim_range", why, fix, shape_mark(case, one.state))


BOUNDS = r"index (?P<wrong>-?\d+) is out of bounds for dimension (?P<dim>\d+) with size (?P<size>\d+)"

RULES: dict[str, ErrorRule] = {
    pattern: rule(pattern, of_a_call(explain))
    for pattern, explain in {
        BOUNDS: out_of_bounds,
        "too many indices for tensor of dimension": too_many,
        "invalid index of a 0-dim tensor|index on a 0-dim": no_dims,
        r"indexing tensors could not be broadcast together with shapes \[(?P<left>[\d, ]*)\], "
        r"\[(?P<right>[\d, ]*)\]": several,
        r"The shape of the mask \[(?P<mask>[\d, ]*)\] at index \d+ does not match the shape of the indexed "
        r"tensor \[(?P<whole>[\d, ]*)\]": mask,
        "Index tensor must have the same number of dimensions as": gathered,
        r"Dimension out of range \(expected to be in range of \[(?P<low>-?\d+), (?P<high>-?\d+)\], "
        r"but got (?P<wrong>-?\d+)\)": no_such_dim,
        "does not match the length of the desired ordering of dimensions": permuted,
    }.items()
}
