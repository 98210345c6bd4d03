"""`view` and `reshape` to a size that the tensor does not have; `cat` and `stack` of tensors that do not
fit."""

from __future__ import annotations

import ast
import math

from ..trace.explained import Explanation
from .case import Fix, Values, need, sure
from .edits import Shape
from .failed_call import FailedCall, call_rule
from .operands import Operand
from .syntax import called, dim_in, flat

CAT = ("cat", "concat", "concatenate")

# ── view and reshape ────────────────────────────────────────────────────────────────────────────────────────


@call_rule("view_size", "shape '{target}' is invalid for input of size {count}")
def view_size(failed: FailedCall, target: Shape, count: int) -> Explanation | None:
    """The new shape has another number of elements."""
    one = sure(failed.first(lambda each: math.prod(each.shape) == count))
    why = "view_divide_why" if -1 in target else "view_size_why"
    fixes = (reshaped(failed, one, target), "view_size_fix")
    rest = math.prod(size for size in target if size != -1)
    return failed.explain(why, *fixes, name=one, rest=rest, target=str(target))


def reshaped(failed: FailedCall, one: Operand, target: Shape) -> Fix | None:
    """The line that failed, with sizes that fit."""
    count = math.prod(one.shape)
    if -1 in target and len(target) == 2 and len(one.shape) > 2:
        return failed.instead(f"{called(one.text)}.flatten(1)", "view_size_fix_at")
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
    """The arguments of the failing call, those in lists and tuples too, as they stand in the cell."""
    node = failed.node
    return [part for given in (node.args if isinstance(node, ast.Call) else ()) for part in flat(given)]


@call_rule("view_size", "only one dimension can be inferred")
def two_open(failed: FailedCall) -> Explanation | None:
    """Two sizes of the new shape are -1."""
    one = sure(failed.first(lambda each: True))
    first = next((part for part in sizes_in(failed) if ast.unparse(part) == "-1"), None)
    fix = failed.rewrite({first: str(one.shape[0])} if first and one.shape else None, "view_size_fix_at")
    return failed.explain("view_open", fix, marks=failed.mark_shapes(one))


@call_rule("view_strides", "view size is not compatible with input tensor's size and stride")
def view_strides(failed: FailedCall) -> Explanation | None:
    """The memory does not lie in the order that a view needs."""
    need(failed.function == "view", failed.operands)
    one, given = failed.operands[0], (*failed.arguments, *failed.options)
    code = f"{called(one.text)}.reshape({', '.join(map(ast.unparse, given))})"
    return failed.explain("view_strides", failed.instead(code, "view_strides.fix"), name=one)


# ── cat and stack ───────────────────────────────────────────────────────────────────────────────────────────


def entry(failed: FailedCall, place: int, shape: Shape | None = None) -> Operand | None:
    """An entry of the list that `cat` or `stack` was given: the tensor that stands there, else (with a
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
    first = sure(failed.first(lambda each: len(each.shape) == m))
    other = sure(failed.first(lambda each: len(each.shape) == n))
    listed = failed.arguments and isinstance(failed.arguments[0], ast.List | ast.Tuple)
    need(listed, failed.function in CAT)
    fixes = raised(failed, first, other), raised(failed, other, first)
    return failed.explain("cat_dims", *fixes, a=first, b=other)


def raised(failed: FailedCall, large: Operand, small: Operand) -> Fix | None:
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
    """`cat(a, b)`: the tensors do not stand in a list."""
    need(isinstance(failed.tree, ast.Call), failed.function == function)
    tensors = {each.text for each in failed.tensors}
    given = [ast.unparse(each) for each in (*failed.arguments, *failed.options)]
    listed = f"[{', '.join(each for each in given[: len(failed.arguments)] if each in tensors)}]"
    code = ", ".join([listed, *(each for each in given if each not in tensors)])
    fix = failed.instead(f"{ast.unparse(failed.tree.func)}({code})", "joined_list.fix")  # type: ignore
    return failed.explain("joined_list", fix)
