"""Sizes that do not fit: matrix products, elementwise operations, `view` and `reshape`, `cat` and `stack`."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator

from ..model.stations import LIBRARY
from ..trace.graph import CAUSE, Explanation
from ..words import shorten
from .case import Fix, Values, need, require
from .edits import Shape, at_path, constructor
from .failed_call import LONGEST, FailedCall, Operand, call_rule
from .syntax import argument_items, before_dot_source, constants, dim_in, last_name, operands_in

# ─── Sizes that do not fit


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
    """The operands with the shapes that the error names."""
    turned = right[::-1] if failed.function == "linear" else right
    for a, b in itertools.pairwise(failed.operands):
        rows = (math.prod(a.shape[:-1]), *a.shape[-1:])  # of a tensor that stands for a matrix
        if left in (a.shape, rows) and b.shape == turned:
            return a, b
    return Operand(side(failed, 0, "left_operand"), left), Operand(side(failed, 1, "right_operand"), right)


def side(failed: FailedCall, place: int, otherwise: str) -> str:
    """What to call an operand that nobody saw: as it is written there, where that is certain."""
    trees = list(operands_in(failed.tree))[-2:]
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
    fixes = (made.changed(0, left[-1]), "linear.fix")
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
    fix = failed.resize(b, b.sized(a.size))
    return failed.explain("matrix_batches", fix, key="matrix_sizes", a=a, b=b)


def of_product(failed: FailedCall, a: Operand, b: Operand) -> Explanation:
    """The explanation for two operands whose inner sizes differ."""
    linear = failed.function == "linear" and b.state is not None
    a, b = a.at(-1), b.at(-1 if linear or len(b.shape) == 1 else -2)
    why = "matrix_linear_why" if linear else "matrix_sizes_why"
    why = "matrix_lengths_why" if len(a.shape) == len(b.shape) == 1 else why
    turned = failed.behind(b, ".T", "fitting_sizes_fix") if linear and b.shape[0] == a.shape[-1] else None
    turned = turned if linear else next(product_fixes(failed, a, b), None)
    # The side that is made for the other: the one that requires gradients, else the right one.
    made = [failed.resize(b, b.sized(a.size)), failed.resize(a, a.sized(b.size))]
    fixes = (turned, *(made[::-1] if a.asks and not b.asks else made), "matrix_sizes_fix")
    return failed.explain(why, *fixes, a=a, b=b)


def product_fixes(failed: FailedCall, a: Operand, b: Operand) -> Iterator[Fix | None]:
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
    product = " @ ".join(before_dot_source(each.text) for each in mine)
    fixes = (failed.instead(product, "matrix_dims_fix_at") if fits else None, "matrix_dims_fix")
    told: Values = {"name": one, "given": len(one.shape), "function": function, "dims": dims}
    return failed.explain("matrix_dims_why", *fixes, **told)


@call_rule("matrix_dims", r"linalg\.{function}: .*must have at least 2 dimensions")
def linalg_dims(failed: FailedCall, function: str) -> Explanation | None:
    """A function of `torch.linalg` was given a vector instead of a matrix."""
    one = require(failed.first(lambda each: len(each.shape) < 2))
    need(failed.function == function)
    fixes = (failed.behind(one, ".unsqueeze(1)", "fitting_sizes_fix") if one.shape else None, "matrix_fix")
    return failed.explain("matrix_dims_why", *fixes, name=one, given=len(one.shape), dims=2)


@call_rule("matrix_sizes", r"einsum\(\): subscript (?P<letter>\w) has size {n} .*previously seen size {m}")
def einsum_sizes(failed: FailedCall, **sizes: object) -> Explanation | None:
    """One letter of an einsum stands for two sizes."""
    need(failed.module is None, failed.function == "einsum")
    shapes = ", ".join(f"{each.name}: {failed.sized(each.shape)}" for each in failed.operands)
    marks = failed.mark_shapes(*failed.operands)
    return failed.explain("einsum_sizes", marks=marks, shapes=shapes)


REDUCTIONS = ("mean", "sum", "std", "var", "amax", "amin", "norm", "prod", "logsumexp")


def clash(a: Shape, b: Shape) -> int | None:
    """The last dimension, counted from the end, in which two shapes have sizes that do not fit; None if they
    can be broadcast."""
    pairs = enumerate(zip(reversed(a), reversed(b)), 1)
    return next((k for k, (m, n) in pairs if m != n and 1 not in (m, n)), None)


def broadcast_shape(a: Shape, b: Shape) -> Shape | None:
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
            return failed.explain("broadcast_sizes", *fitting(failed, a, b), a=a.at(-k), b=b.at(-k))
    return None


def fitting(failed: FailedCall, a: Operand, b: Operand) -> list[Fix | None]:
    """What to do, as code: align one of two operands, or create it in the size that fits."""
    # The side that is made for the other: a bias has fewer dimensions and requires gradients.
    rank = [(-len(each.shape), each.asks, i) for i, each in enumerate((a, b))]
    sides = ((a, b), (b, a)) if rank[0] > rank[1] else ((b, a), (a, b))
    aligned_ones = [align_operand(failed, b, a.shape), align_operand(failed, a, b.shape)]
    return [*aligned_ones, *(failed.resize(one, like(one.shape, other.shape)) for one, other in sides)]


def like(shape: Shape, other: Shape) -> Shape:
    """A shape in which the sizes that do not fit are replaced by those of another."""
    pairs = itertools.zip_longest(reversed(shape), reversed(other), fillvalue=1)
    return tuple(m if 1 in (m, n) else n for m, n in pairs)[::-1][-len(shape) :]


def align_operand(failed: FailedCall, one: Operand, shape: Shape) -> Fix | None:
    """The line that failed, with `one` turned so that it is broadcast to `shape`."""
    for dim in range(len(one.shape), 0, -1) if len(one.shape) < len(shape) else ():
        if broadcast_shape((*one.shape[:dim], 1, *one.shape[dim:]), shape) == shape:
            return failed.put(one, kept_dim(one.tree) or f"{{}}.unsqueeze({dim})", "fitting_sizes_fix")
    if len(one.shape) == len(shape) == 2 and broadcast_shape(one.shape[::-1], shape) == shape:
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
    marks = failed.mark_shapes(given[0]) + failed.mark_shapes(*given[1:], kind=CAUSE)
    fix = failed.copied("broadcast_in_place.fix")
    return failed.explain("broadcast_in_place", fix, marks=marks, name=given[0])


@call_rule("broadcast", "The expanded size of the tensor .*Target sizes: {target}.*Tensor sizes: {shape}")
def expand_target(failed: FailedCall, target: Shape, shape: Shape) -> Explanation | None:
    """A tensor was to be expanded to a shape that it does not fit: by `expand`, by an assignment to a part,
    or as the first argument of `addmm`."""
    mine = [each for each in failed.operands if each.shape == shape]
    need(mine)
    k = require(clash(shape, target))
    one = (mine[-1] if failed.function == "" else mine[0]).at(-k)
    fixes = align_operand(failed, one, target), failed.resize(one, like(shape, target))
    return failed.explain("expand", *fixes, name=one, n=target[-k])


# ─── `view` and `reshape` to a size that the tensor does not have


CAT = ("cat", "concat", "concatenate")

# ── view and reshape ────────────────────────────────────────────────────────────────────────────────────────


@call_rule("view_size", "shape '{target}' is invalid for input of size {count}")
def view_size(failed: FailedCall, target: Shape, count: int) -> Explanation | None:
    """The new shape has another number of elements."""
    one = require(failed.first(lambda each: math.prod(each.shape) == count))
    why = "view_divide_why" if -1 in target else "view_size_why"
    fixes = (reshape_fix(failed, one, target), "view_size_fix")
    rest = math.prod(size for size in target if size != -1)
    return failed.explain(why, *fixes, name=one, rest=rest, target=str(target))


def reshape_fix(failed: FailedCall, one: Operand, target: Shape) -> Fix | None:
    """The line that failed, with sizes that fit."""
    count = math.prod(one.shape)
    if -1 in target and len(target) == 2 and len(one.shape) > 2:
        return failed.instead(f"{before_dot_source(one.text)}.flatten(1)", "view_size_fix_at")
    for i in range(len(target) - 1, -1, -1):
        rest = math.prod(size for j, size in enumerate(target) if j != i and size != -1)
        if target[i] == -1 or not rest or count % rest:
            continue
        size = count // rest
        if -1 in target:  # the nearest that divides; of two a size that the tensor has
            fitting = [n for n in range(1, size + 1) if size % n == 0]
            size = min(fitting, key=lambda n: (abs(n - target[i]), n not in one.shape))
        given = sizes_in(failed)[-len(target) :]
        literal = len(given) == len(target) and ast.unparse(given[i]) == str(target[i])
        return failed.rewrite({given[i]: str(size)} if literal else None, "view_size_fix_at")
    return None


def sizes_in(failed: FailedCall) -> list[ast.expr]:
    """The arguments of the failing call, those in lists and tuples too, as written in the cell."""
    node = failed.node
    return [
        part for given in (node.args if isinstance(node, ast.Call) else ()) for part in argument_items(given)
    ]


@call_rule("view_size", "only one dimension can be inferred")
def two_open(failed: FailedCall) -> Explanation | None:
    """Two sizes of the new shape are -1."""
    one = require(failed.first(lambda each: True))
    first = next((part for part in sizes_in(failed) if ast.unparse(part) == "-1"), None)
    fix = failed.rewrite({first: str(one.shape[0])} if first and one.shape else None, "view_size_fix_at")
    return failed.explain("view_open", fix, marks=failed.mark_shapes(one))


@call_rule("view_strides", "view size is not compatible with input tensor's size and stride")
def view_strides(failed: FailedCall) -> Explanation | None:
    """The memory does not lie in the order that a view needs."""
    need(failed.function == "view", failed.operands)
    one, given = failed.operands[0], (*failed.arguments, *failed.options)
    code = f"{before_dot_source(one.text)}.reshape({', '.join(map(ast.unparse, given))})"
    return failed.explain("view_strides", failed.instead(code, "view_strides.fix"), name=one)


# ── cat and stack ───────────────────────────────────────────────────────────────────────────────────────────


def entry(failed: FailedCall, place: int, shape: Shape | None = None) -> Operand | None:
    """An entry of the list that `cat` or `stack` was given: the tensor that is there, else (with a
    `shape`) what to call it: `rows[2]`."""
    given = failed.arguments[0] if failed.arguments else None
    trees = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    text = ast.unparse(trees[place]) if place < len(trees) else ""
    known = [each for each in failed.operands if text and each.text == text]
    if known or shape is None:
        return known[-1] if known else None
    name = f"{ast.unparse(given)}[{place}]" if isinstance(given, ast.Name | ast.Attribute) else ""
    return Operand(name or failed.words("entry", place=place), shape)


@call_rule(
    "joined_sizes",
    r"match except in dimension {dim}\. Expected (?:size )?{m} .*got (?:size )?{n} for tensor number {place}",
)
def cat_sizes(failed: FailedCall, dim: int, m: int, n: int, place: int) -> Explanation | None:
    """Sizes other than those along the joint differ."""
    need(failed.function in (*CAT, "hstack", "vstack"))
    a, b = entry(failed, 0), entry(failed, place)
    if a is None or b is None:
        some: Values = {"a": entry(failed, 0, ()), "b": entry(failed, place, ())}
        return failed.explain("cat_sizes_why_plain", "cat_sizes_fix", **some)
    differ = [i for i, (m, n) in enumerate(zip(a.shape, b.shape)) if m != n]
    wrong = next(i for i in differ if i != dim)
    fix = None
    if len(differ) == 1 and failed.function in CAT and isinstance(failed.tree, ast.Call):
        code = f"{ast.unparse(failed.tree.func)}({ast.unparse(failed.arguments[0])}, dim={differ[0]})"
        fix = failed.instead(code, "cat_sizes_fix_at", dim=differ[0])
    return failed.explain("cat_sizes_why", fix, "cat_sizes_fix", a=a.at(wrong), b=b.at(wrong))


@call_rule("joined_sizes", "Tensors must have same number of dimensions: got {m} and {n}")
def cat_dims(failed: FailedCall, m: int, n: int) -> Explanation | None:
    """The tensors have different numbers of dimensions."""
    first = require(failed.first(lambda each: len(each.shape) == m))
    other = require(failed.first(lambda each: len(each.shape) == n))
    listed = failed.arguments and isinstance(failed.arguments[0], ast.List | ast.Tuple)
    need(listed, failed.function in CAT)
    fixes = with_one_more_dim(failed, first, other), with_one_more_dim(failed, other, first)
    return failed.explain("cat_dims", *fixes, a=first, b=other)


def with_one_more_dim(failed: FailedCall, large: Operand, small: Operand) -> Fix | None:
    """The line that failed, with one more dimension for `small`, so that it can be joined to `large`."""
    dims = len(large.shape)
    if len(small.shape) != dims - 1:
        return None
    joined = dim_in(failed.tree) % dims
    for place in (joined, *range(dims)):
        new = (*small.shape[:place], 1, *small.shape[place:])
        if all(m == n for i, (m, n) in enumerate(zip(new, large.shape)) if i != joined):
            return failed.put(small, f"{{}}.unsqueeze({place})", "cat_dims.fix")
    return None


@call_rule(
    "joined_sizes",
    "each tensor to be equal size, but got {left} at entry {i} and {right} at entry {j}",
)
def stack_sizes(failed: FailedCall, left: Shape, i: int, right: Shape, j: int) -> Explanation | None:
    """The tensors to be stacked have different shapes."""
    need(failed.function == "stack")
    a, b = entry(failed, i, left), entry(failed, j, right)
    if entry(failed, i) is None or entry(failed, j) is None:
        a, b = (each and each._replace(state=None) for each in (a, b))
    assert a is not None and b is not None
    return failed.explain("stack_sizes", stacked_otherwise(failed, left, right), a=a, b=b)


def stacked_otherwise(failed: FailedCall, left: Shape, right: Shape) -> Fix | None:
    """What to do: pad sequences, or join tensors that differ in one dimension along it."""
    if not failed.arguments or len(left) != len(right):
        return None
    given = failed.arguments[0]
    if left[1:] == right[1:] and isinstance(given, ast.Name):
        code = f"torch.nn.utils.rnn.pad_sequence({given.id}, batch_first=True)"
        return failed.instead(code, "stack_pad_fix")
    differ = [i for i, (m, n) in enumerate(zip(left, right)) if m != n]
    dim = f", dim={differ[0]}" if differ[0] else ""
    return (
        failed.instead(f"torch.cat({ast.unparse(given)}{dim})", "stack_cat_fix") if len(differ) == 1 else None
    )


@call_rule(
    "joined_list",
    r"{function}\(\): argument 'tensors' .* must be tuple of Tensors, not (?:Tensor|Parameter)",
)
def no_list(failed: FailedCall, function: str) -> Explanation | None:
    """`cat(a, b)`: the tensors were not passed as a list."""
    need(isinstance(failed.tree, ast.Call), failed.function == function)
    tensors = {each.text for each in failed.tensors}
    given = [ast.unparse(each) for each in (*failed.arguments, *failed.options)]
    listed = f"[{', '.join(each for each in given[: len(failed.arguments)] if each in tensors)}]"
    code = ", ".join([listed, *(each for each in given if each not in tensors)])
    fix = failed.instead(f"{ast.unparse(failed.tree.func)}({code})", "joined_list.fix")  # type: ignore
    return failed.explain("joined_list", fix)
