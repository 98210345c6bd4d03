"""Elementwise operations on shapes that cannot be broadcast: `x + y`, `x += y`, `where`, `expand`."""

from __future__ import annotations

import ast
import itertools
import re

from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from ..trace.where import Span
from .at_call import of_a_call
from .case import Case, ErrorRule, rule
from .edits import resized, with_method, with_operand
from .matrix_sizes import batches
from .operation import (
    Operand,
    Shape,
    failing,
    function_of,
    named,
    numbers,
    operands_of,
    shape_mark,
    size_mark,
    sized,
)
from .rewrite import out_of_place

REDUCTIONS = ("mean", "sum", "std", "var", "amax", "amin", "norm", "prod", "logsumexp")


def clash(a: Shape, b: Shape) -> int | None:
    """The last dimension, counted from the end, in which two shapes have sizes that do not fit; None if they
    can be broadcast."""
    pairs = enumerate(zip(reversed(a), reversed(b)), 1)
    return next((k for k, (m, n) in pairs if m != n and 1 not in (m, n)), None)


def joint(a: Shape, b: Shape) -> Shape | None:
    """The shape that two shapes are broadcast to."""
    if clash(a, b) is not None:
        return None
    sizes = itertools.zip_longest(reversed(a), reversed(b), fillvalue=1)
    return tuple(n if m == 1 else m for m, n in sizes)[::-1]


def broadcast(case: Case, match: re.Match[str]) -> Explanation | None:
    """Two sizes differ, and none of them is 1."""
    sizes = {int(match["m"]), int(match["n"])}
    given = operands_of(case)
    if function_of(case) in ("@", "matmul"):
        many = [each for each in given if len(each.shape) > 2]
        return batches(case, *many) if len(many) == 2 and {each.shape[0] for each in many} == sizes else None
    for a, b in itertools.combinations(given, 2):
        k = clash(a.shape, b.shape)
        if k is not None and {a.shape[-k], b.shape[-k]} == sizes:
            return of_pair(case, a, b, k)
    return None


def of_pair(case: Case, a: Operand, b: Operand, k: int) -> Explanation:
    """The explanation for two operands whose sizes differ in the `k`-th dimension from the end."""
    m, n = a.shape[-k], b.shape[-k]
    values = {"a": named(case, a), "b": named(case, b), "m": m, "n": n, "call": failing(case)}
    shapes = {"left": sized(case, a.shape), "right": sized(case, b.shape)}
    why = case.words("broadcast_why" if k == 1 else "broadcast_inner_why", **values, **shapes)
    marks = size_mark(case, a.id, len(a.shape) - k, m) + size_mark(case, b.id, len(b.shape) - k, n)
    fix, cause = fitting(case, a, b)
    return case.explain("broadcast", why, fix, marks, cause)


def fitting(case: Case, a: Operand, b: Operand) -> tuple[str, Span | None]:
    """What to do, as code; and the line that this is about, if it is another."""
    for one, other in ((b, a), (a, b)):
        code = aligned(case, one, other.shape)
        if code is not None:
            return case.words("broadcast_fix", code=code), None
    # The side that is made for the other: a bias has fewer dimensions and requires gradients.
    rank = [(-len(each.shape), each.state.requires_grad, i) for i, each in enumerate((a, b))]
    sides = ((a, b), (b, a)) if rank[0] > rank[1] else ((b, a), (a, b))
    made = (resized(case, one, like(one.shape, other.shape)) for one, other in sides)
    return next(filter(None, made), (case.words("broadcast_fix_plain"), None))


def like(shape: Shape, other: Shape) -> Shape:
    """A shape with the sizes of another one where they do not fit."""
    pairs = itertools.zip_longest(reversed(shape), reversed(other), fillvalue=1)
    return tuple(m if 1 in (m, n) else n for m, n in pairs)[::-1][-len(shape) :]


def aligned(case: Case, one: Operand, shape: Shape) -> str | None:
    """The line that failed, with `one` turned so that it is broadcast to `shape`."""
    if len(one.shape) < len(shape):
        for dim in range(len(one.shape), 0, -1):
            if joint((*one.shape[:dim], 1, *one.shape[dim:]), shape) == shape:
                kept = kept_dim(one.tree)
                if kept is not None:
                    return with_operand(case, one.tree, kept)
                return with_method(case, one.tree, f".unsqueeze({dim})")
    if len(one.shape) == len(shape) == 2 and joint(one.shape[::-1], shape) == shape:
        return with_method(case, one.tree, ".T")
    return None


def kept_dim(tree: ast.expr) -> str | None:
    """A reduction along a dimension, such that it keeps it: `x.mean(dim=1, keepdim=True)`."""
    if not isinstance(tree, ast.Call) or ast.unparse(tree.func).rpartition(".")[2] not in REDUCTIONS:
        return None
    told = [each.arg for each in tree.keywords]
    whole = not tree.args and "dim" not in told
    if "keepdim" in told or whole:
        return None
    given = ast.keyword("keepdim", ast.Constant(True))
    return ast.unparse(ast.Call(tree.func, tree.args, [*tree.keywords, given]))


def too_large(case: Case, match: re.Match[str]) -> Explanation | None:
    """The result of an operation in place is larger than the tensor."""
    shape, result = numbers(match["shape"]), numbers(match["result"])
    given = operands_of(case)
    if not given or given[0].shape != shape:
        return None
    values = {"name": named(case, given[0]), "shape": sized(case, shape), "result": sized(case, result)}
    why = case.words("broadcast_in_place_why", call=failing(case), **values)
    marks = shape_mark(case, given[0].state)
    for each in given[1:]:
        marks += shape_mark(case, each.state, CAUSE)
    code = out_of_place(case, case.span)
    if code is None:
        return case.explain("broadcast", why, case.words("broadcast_in_place_fix"), marks)
    return case.explain("broadcast", why, case.words("broadcast_in_place_fix_line", code=code), marks)


def expanded(case: Case, match: re.Match[str]) -> Explanation | None:
    """A tensor was to be expanded to a shape that it does not fit: by `expand`, by an assignment to a part,
    or as the first argument of `addmm`."""
    target, shape = numbers(match["target"]), numbers(match["shape"])
    mine = [each for each in operands_of(case) if each.shape == shape]
    k = clash(shape, target)
    if not mine or k is None:
        return None
    one = mine[-1] if function_of(case) == "" else mine[0]
    values = {"name": named(case, one), "shape": sized(case, shape), "target": sized(case, target)}
    why = case.words("expand_why", call=failing(case), m=shape[-k], n=target[-k], **values)
    marks = size_mark(case, one.id, len(shape) - k, shape[-k])
    code = aligned(case, one, target)
    if code is not None:
        return case.explain("broadcast", why, case.words("broadcast_fix", code=code), marks)
    made = resized(case, one, like(shape, target))
    fix, cause = made or (case.words("expand_fix", target=values["target"]), None)
    return case.explain("broadcast", why, fix, marks, cause)


UNEQUAL = (
    r"The size of tensor a \((?P<m>\d+)\) must match the size of tensor b \((?P<n>\d+)\) at non-singleton"
)
NUMPY = r"broadcast to a single shape\..*with shape \((?P<m>\d+),\).*with shape \((?P<n>\d+),\)"
LARGER = r"output with shape \[(?P<shape>[\d, ]*)\] doesn't match the broadcast shape \[(?P<result>[\d, ]*)\]"
EXPANDED = (
    r"The expanded size of the tensor .*Target sizes: \[(?P<target>[\d, ]*)\].*"
    r"Tensor sizes: \[(?P<shape>[\d, ]*)\]"
)

RULES: dict[str, ErrorRule] = {
    pattern: rule(pattern, of_a_call(explain))
    for pattern, explain in {
        UNEQUAL: broadcast,
        NUMPY: broadcast,
        LARGER: too_large,
        EXPANDED: expanded,
    }.items()
}
