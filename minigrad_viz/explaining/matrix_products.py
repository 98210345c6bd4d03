"""Matrix products of sizes that do not fit: `x @ w`, `mm`, `matmul`, `addmm`, `bmm`, `mv`, `dot`."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator

from ..model.place import LIBRARY
from ..trace.explained import Explanation
from ..words import shorten
from .case import Fix, Values, need, sure
from .edits import Shape, at_path, constructor
from .failed_call import LONGEST, FailedCall, call_rule
from .operands import Operand
from .syntax import called, constants, taken

NEEDED = {"mm": (2, 2), "addmm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1)}  # dimensions


@call_rule(
    "matrix_sizes",
    r"shapes cannot be multiplied \({left} and {right}\)",
    r"size mismatch, got input \(\d+\), mat \({left}\), vec \({right}\)",
    "inconsistent tensor size, expected tensor {left} and src {right}",
)
def matrix_sizes(failed: FailedCall, left: Shape, right: Shape | int) -> Explanation | None:
    """The inner sizes of a product differ."""
    need(failed.layer is None)
    right = (right,) if isinstance(right, int) else right
    return layer_in_source(failed, left, right) or of_product(failed, *factors(failed, left, right))


def factors(failed: FailedCall, left: Shape, right: Shape) -> tuple[Operand, Operand]:
    """The operands that have the shapes which the error tells."""
    turned = right[::-1] if failed.function == "linear" else right
    for a, b in itertools.pairwise(failed.operands):
        rows = (math.prod(a.shape[:-1]), *a.shape[-1:])  # of a tensor that stands for a matrix
        if left in (a.shape, rows) and b.shape == turned:
            return a, b
    return Operand(side(failed, 0, "left_operand"), left), Operand(side(failed, 1, "right_operand"), right)


def side(failed: FailedCall, place: int, otherwise: str) -> str:
    """What to call an operand that nobody saw: as it is written there, where that is certain."""
    trees = list(taken(failed.tree))[-2:]
    plain = failed.function in ("@", "matmul", "mm", "bmm", "mv", "dot") and len(trees) == 2
    text = LIBRARY.sub("", ast.unparse(trees[place])) if plain else ""
    return shorten(text, LONGEST) if text else failed.words(otherwise)


def layer_in_source(failed: FailedCall, left: Shape, right: Shape) -> Explanation | None:
    """The explanation for a layer in code that nobody recorded, `self.fc(x)`, if the source creates it with
    the sizes of the error."""
    case = failed.case
    path = ast.unparse(failed.tree.func) if isinstance(failed.tree, ast.Call) else ""
    made = constructor(case, "Linear", path, right) if path and not case.trace.recorded else None
    if made is None or constants(made.call.args)[:2] != right or at_path(case, path) is not made.call:
        return None
    sizes: Values = {"layer": f"{path} (Linear {right[0]}→{right[1]})", "needed": right[0], "given": left[-1]}
    fixes = (made.changed(0, left[-1]), "linear_fix")
    return failed.explain("linear_unseen_why", *fixes, cause=made.span, key="layer_input", **sizes)


@call_rule("matrix_sizes", "first two dimensions of batch2 tensor to be: {needed} but got: {got}")
def batched_sizes(failed: FailedCall, needed: Shape, got: Shape) -> Explanation | None:
    """The same, in a product of many matrices at once; or their numbers differ."""
    many = [each for each in failed.operands if len(each.shape) == 3]
    need(failed.module is None, len(many) == 2, many[-1:] and many[-1].shape[:2] == got)
    return of_product(failed, *many) if needed[1] != got[1] else batches(failed, *many)


def batches(failed: FailedCall, a: Operand, b: Operand) -> Explanation:
    """The numbers of matrices differ."""
    a, b = a.at(0), b.at(0)
    fixes = (failed.resize(b, b.sized(a.size)), "matrix_batches_fix")
    return failed.explain("matrix_batches_why", *fixes, key="matrix_sizes", a=a, b=b)


def of_product(failed: FailedCall, a: Operand, b: Operand) -> Explanation:
    """The explanation for two operands whose inner sizes differ."""
    linear = failed.function == "linear" and b.state is not None
    a, b = a.at(-1), b.at(-1 if linear or len(b.shape) == 1 else -2)
    why = "matrix_linear_why" if linear else "matrix_sizes_why"
    why = "matrix_lengths_why" if len(a.shape) == len(b.shape) == 1 else why
    turned = failed.behind(b, ".T", "fitting_sizes_fix") if linear and b.shape[0] == a.shape[-1] else None
    turned = turned if linear else next(ways(failed, a, b), None)
    # The side that is made for the other: the one that requires gradients, else the right one.
    made = [failed.resize(b, b.sized(a.size)), failed.resize(a, a.sized(b.size))]
    fixes = (turned, *(made[::-1] if a.asks and not b.asks else made), "matrix_sizes_fix")
    return failed.explain(why, *fixes, a=a, b=b)


def ways(failed: FailedCall, a: Operand, b: Operand) -> Iterator[Fix | None]:
    """The line that failed, with both operands exchanged, one transposed, or the left one flattened, as far
    as the sizes fit then; the first is the likeliest."""
    m, n, two = a.shape, b.shape, len(a.shape) == len(b.shape) == 2
    swaps = len(m) == len(n) > 1 and m[:-2] == n[:-2] and n[-1] == m[-2]
    learns = a.state is not None and a.state.is_leaf and a.asks and not b.asks
    for fits, one, method in (
        (swaps and learns, None, ""),  # data @ weight
        (len(n) > 1 and n[-1] == m[-1], b, ".T" if len(n) == 2 else ".mT"),
        (two and m[0] == n[0], a, ".T"),
        (swaps, None, ""),
        (len(m) > 2 and math.prod(m[1:]) == n[0], a, ".flatten(1)"),
        (two and math.prod(m) == n[0], a, ".flatten()"),  # one image
    ):
        key = "fitting_sizes_fix"
        if fits:
            yield failed.exchange(a, b, key) if one is None else failed.behind(one, method, key)


@call_rule("matrix_dims", "must be a (?:matrix|3D tensor)|matrix @ vector expected|1D tensors expected")
def matrix_dims(failed: FailedCall) -> Explanation | None:
    """A function for matrices, for vectors, or for many matrices, was given something else."""
    function, mine = failed.function, failed.operands[-2:]
    need(failed.module is None, function in NEEDED, len(mine) == 2)
    wrong = [(each, n) for each, n in zip(mine, NEEDED[function], strict=True) if len(each.shape) != n]
    need(wrong)
    one, dims = wrong[0]
    left, right = (each.shape for each in mine)
    fits = bool(left and right) and left[-1] == right[-2:][0] and function != "addmm"
    product = " @ ".join(called(each.text) for each in mine)
    fixes = (failed.instead(product, "matrix_dims_fix_at") if fits else None, "matrix_dims_fix")
    told: Values = {"name": one, "given": len(one.shape), "function": function, "dims": dims}
    return failed.explain("matrix_dims_why", *fixes, **told)


@call_rule("matrix_dims", r"linalg\.{function}: .*must have at least 2 dimensions")
def linalg_dims(failed: FailedCall, function: str) -> Explanation | None:
    """A function of `torch.linalg` was given a vector instead of a matrix."""
    one = sure(failed.first(lambda each: len(each.shape) < 2))
    need(failed.function == function)
    fixes = (failed.behind(one, ".unsqueeze(1)", "fitting_sizes_fix") if one.shape else None, "matrix_fix")
    told: Values = {"name": one, "given": len(one.shape), "dims": 2}
    return failed.explain("matrix_dims_why", *fixes, **told)


@call_rule("matrix_sizes", r"einsum\(\): subscript (?P<letter>\w) has size {n} .*previously seen size {m}")
def einsum_sizes(failed: FailedCall, **sizes: object) -> Explanation | None:
    """One letter of an einsum stands for two sizes."""
    need(failed.module is None, failed.function == "einsum")
    shapes = ", ".join(f"{each.name}: {failed.sized(each.shape)}" for each in failed.operands)
    marks = failed.mark_shapes(*failed.operands)
    return failed.explain("einsum_sizes_why", "einsum_sizes_fix", marks=marks, shapes=shapes)
