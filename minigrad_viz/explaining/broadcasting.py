"""Elementwise operations on shapes that cannot be broadcast: `x + y`, `x += y`, `where`, `expand`."""

from __future__ import annotations

import ast
import itertools

from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .case import Fix, need, sure
from .edits import Shape
from .failed_call import FailedCall, call_rule
from .matrix_products import batches
from .operands import Operand
from .syntax import last_name

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


@call_rule(
    "broadcast",
    r"The size of tensor a \({m}\) must match the size of tensor b \({n}\) at",
    r"broadcast to a single shape\..*with shape \({m},\).*with shape \({n},\)",
)
def broadcast(failed: FailedCall, m: int, n: int) -> Explanation | None:
    """Two sizes differ, and none of them is 1."""
    sizes, given = {m, n}, failed.operands
    if failed.function in ("@", "matmul"):
        many = [each for each in given if len(each.shape) > 2]
        differ = len(many) == 2 and {each.shape[0] for each in many} == sizes
        return batches(failed, *many) if differ else None
    for a, b in itertools.combinations(given, 2):
        k = clash(a.shape, b.shape)
        if k is not None and {a.shape[-k], b.shape[-k]} == sizes:
            why = "broadcast_why" if k == 1 else "broadcast_inner_why"
            return failed.explain(why, *fitting(failed, a, b), "broadcast_fix_plain", a=a.at(-k), b=b.at(-k))
    return None


def fitting(failed: FailedCall, a: Operand, b: Operand) -> list[Fix | None]:
    """What to do, as code: align one of two operands, or create it in the size that fits."""
    # The side that is made for the other: a bias has fewer dimensions and requires gradients.
    rank = [(-len(each.shape), each.asks, i) for i, each in enumerate((a, b))]
    sides = ((a, b), (b, a)) if rank[0] > rank[1] else ((b, a), (a, b))
    aligned_ones = [aligned(failed, b, a.shape), aligned(failed, a, b.shape)]
    return [*aligned_ones, *(failed.resize(one, like(one.shape, other.shape)) for one, other in sides)]


def like(shape: Shape, other: Shape) -> Shape:
    """A shape with the sizes of another one where they do not fit."""
    pairs = itertools.zip_longest(reversed(shape), reversed(other), fillvalue=1)
    return tuple(m if 1 in (m, n) else n for m, n in pairs)[::-1][-len(shape) :]


def aligned(failed: FailedCall, one: Operand, shape: Shape) -> Fix | None:
    """The line that failed, with `one` turned so that it is broadcast to `shape`."""
    for dim in range(len(one.shape), 0, -1) if len(one.shape) < len(shape) else ():
        if joint((*one.shape[:dim], 1, *one.shape[dim:]), shape) == shape:
            return failed.put(one, kept_dim(one.tree) or f"{{}}.unsqueeze({dim})", "fitting_sizes_fix")
    if len(one.shape) == len(shape) == 2 and joint(one.shape[::-1], shape) == shape:
        return failed.put(one, "{}.T", "fitting_sizes_fix")
    return None


def kept_dim(tree: ast.expr | None) -> str | None:
    """A reduction along a dimension, such that it keeps it: `x.mean(dim=1, keepdim=True)`."""
    if not isinstance(tree, ast.Call) or last_name(tree) not in REDUCTIONS:
        return None
    told = [each.arg for each in tree.keywords]
    if "keepdim" in told or not (tree.args or "dim" in told):
        return None
    given = ast.keyword("keepdim", ast.Constant(True))
    return ast.unparse(ast.Call(tree.func, tree.args, [*tree.keywords, given]))


@call_rule("broadcast", "output with shape {shape} doesn't match the broadcast shape {result}")
def too_large(failed: FailedCall, shape: Shape, result: Shape) -> Explanation | None:
    """The result of an operation in place is larger than the tensor."""
    given = failed.operands
    need(given and given[0].shape == shape)
    fixes = (failed.copied("broadcast_in_place_fix_line"), "broadcast_in_place_fix")
    marks = failed.mark_shapes(given[0]) + failed.mark_shapes(*given[1:], kind=CAUSE)
    return failed.explain("broadcast_in_place_why", *fixes, marks=marks, name=given[0])


@call_rule("broadcast", "The expanded size of the tensor .*Target sizes: {target}.*Tensor sizes: {shape}")
def expanded(failed: FailedCall, target: Shape, shape: Shape) -> Explanation | None:
    """A tensor was to be expanded to a shape that it does not fit: by `expand`, by an assignment to a part,
    or as the first argument of `addmm`."""
    mine = [each for each in failed.operands if each.shape == shape]
    need(mine)
    k = sure(clash(shape, target))
    one = (mine[-1] if failed.function == "" else mine[0]).at(-k)
    fixes = (aligned(failed, one, target), failed.resize(one, like(shape, target)), "expand_fix")
    return failed.explain("expand_why", *fixes, name=one, n=target[-k])
