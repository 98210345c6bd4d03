"""`view` and `reshape` to a size that the tensor does not have."""

from __future__ import annotations

import ast
import math
import re

from ..trace.explained import Explanation
from .at_call import of_a_call
from .case import Case, ErrorRule, rule
from .edits import instead, node_at, rewritten
from .operation import (
    Operand,
    Shape,
    failing,
    function_of,
    named,
    numbers,
    operands_of,
    shape_mark,
    sized,
)
from .subject import called, expression


def view_size(case: Case, match: re.Match[str]) -> Explanation | None:
    """The new shape has another number of elements."""
    target, count = numbers(match["target"]), int(match["count"])
    one = next((each for each in operands_of(case) if math.prod(each.shape) == count), None)
    if one is None:
        return None
    rest = math.prod(size for size in target if size != -1)
    open_ = -1 in target
    values = {"name": named(case, one), "shape": sized(case, one.shape), "count": count, "rest": rest}
    target_text = "(" + ", ".join(map(str, target)) + ("," if len(target) == 1 else "") + ")"
    key = "view_divide_why" if open_ else "view_size_why"
    why = case.words(key, call=failing(case), target=target_text, **values)
    marks = shape_mark(case, one.state)
    code = reshaped(case, one, target)
    if code is None:
        return case.explain("view_size", why, case.words("view_size_fix", count=count), marks)
    return case.explain("view_size", why, case.words("view_size_fix_at", code=code), marks)


def reshaped(case: Case, one: Operand, target: Shape) -> str | None:
    """The line that failed, with sizes that fit."""
    count = math.prod(one.shape)
    if -1 in target and len(target) == 2 and len(one.shape) > 2:
        return instead(case, f"{called(one.text)}.flatten(1)")
    for i in range(len(target) - 1, -1, -1):
        rest = math.prod(size for j, size in enumerate(target) if j != i and size != -1)
        if target[i] == -1 or not rest or count % rest:
            continue
        fitting = [n for n in range(1, count // rest + 1) if (count // rest) % n == 0]
        if -1 in target:  # the nearest that divides; of two a size that the tensor has
            size = min(fitting, key=lambda n: (abs(n - target[i]), n not in one.shape))
        else:
            size = count // rest
        return with_size(case, i, target, size)
    return None


def with_size(case: Case, i: int, target: Shape, size: int) -> str | None:
    """The line that failed, with another number for the `i`-th size of the new shape."""
    node = node_at(case, case.span)
    if not isinstance(node, ast.Call):
        return None
    sizes = [part for argument in node.args for part in inner(argument)][-len(target) :]
    read = [ast.unparse(part) for part in sizes]
    literal = len(read) == len(target) and read[i] == str(target[i])
    return rewritten(case, node, {sizes[i]: str(size)}) if literal else None


def inner(node: ast.expr) -> list[ast.expr]:
    """An argument, or what stands in it if it is a list or a tuple."""
    return node.elts if isinstance(node, ast.List | ast.Tuple) else [node]


def two_open(case: Case, match: re.Match[str]) -> Explanation | None:
    """Two sizes of the new shape are -1."""
    given = operands_of(case)
    if not given:
        return None
    why = case.words("view_open_why", call=failing(case))
    node = node_at(case, case.span)
    parts = [part for argument in getattr(node, "args", ()) for part in inner(argument)]
    first = next((part for part in parts if ast.unparse(part) == "-1"), None)
    code = rewritten(case, node, {first: str(given[0].shape[0])}) if first and given[0].shape else None
    marks = shape_mark(case, given[0].state)
    if code is None:
        return case.explain("view_size", why, case.words("view_open_fix"), marks)
    return case.explain("view_size", why, case.words("view_size_fix_at", code=code), marks)


def view_strides(case: Case, match: re.Match[str]) -> Explanation | None:
    """The memory does not lie in the order that a view needs."""
    node, given = node_at(case, case.span), operands_of(case)
    tree = expression(case)
    if function_of(case) != "view" or not isinstance(tree, ast.Call) or not given:
        return None
    why = case.words("view_strides_why", call=failing(case), name=named(case, given[0]))
    arguments = ", ".join(ast.unparse(each) for each in (*tree.args, *tree.keywords))
    code = None if node is None else instead(case, f"{called(given[0].text)}.reshape({arguments})")
    if code is None:
        return case.explain("view_strides", why, case.words("view_strides_fix"))
    return case.explain("view_strides", why, case.words("view_strides_fix_at", code=code))


RULES: dict[str, ErrorRule] = {
    pattern: rule(pattern, of_a_call(explain))
    for pattern, explain in {
        r"shape '\[(?P<target>[-\d, ]*)\]' is invalid for input of size (?P<count>\d+)": view_size,
        "only one dimension can be inferred": two_open,
        "view size is not compatible with input tensor's size and stride": view_strides,
    }.items()
}
