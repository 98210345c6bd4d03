"""`cat` and `stack` of tensors that do not fit together."""

from __future__ import annotations

import ast
import re

from ..trace.explained import Explanation
from .at_call import of_a_call
from .case import Case, ErrorRule, rule
from .edits import instead, with_method
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
from .subject import expression


def entries(case: Case) -> list[ast.expr] | None:
    """The list that `cat` or `stack` was given, entry by entry; None if it does not stand there."""
    node = expression(case)
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return given.elts if isinstance(given, ast.List | ast.Tuple) else None


def joined_of(case: Case, first: int, second: int) -> tuple[Operand, Operand] | None:
    """Two entries of the list as operands."""
    trees = entries(case)
    given = {each.text: each for each in operands_of(case)}
    if trees is None or max(first, second) >= len(trees):
        return None
    found = [given.get(ast.unparse(trees[i])) for i in (first, second)]
    return None if found[0] is None or found[1] is None else (found[0], found[1])


def entry_name(case: Case, place: int) -> str:
    """What to call an entry of the list, whose tensor is not known: `rows[2]`."""
    node = expression(case)
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    known = isinstance(given, ast.Name | ast.Attribute)
    return (
        f"{ast.unparse(given)}[{place}]" if given is not None and known else case.words("entry", place=place)
    )


def cat_sizes(case: Case, match: re.Match[str]) -> Explanation | None:
    """Sizes other than those along the joint differ."""
    dim, place = int(match["dim"]), int(match["place"])
    pair = joined_of(case, 0, place)
    if function_of(case) not in ("cat", "concat", "concatenate", "hstack", "vstack"):
        return None
    values = {"call": failing(case), "dim": dim, "m": match["m"], "n": match["n"]}
    if pair is None:
        names = {"a": entry_name(case, 0), "b": entry_name(case, place)}
        return case.explain(
            "joined_sizes", case.words("cat_sizes_why_plain", **values, **names), case.words("cat_sizes_fix")
        )
    a, b = pair
    shapes = {"left": sized(case, a.shape), "right": sized(case, b.shape)}
    why = case.words("cat_sizes_why", a=named(case, a), b=named(case, b), **values, **shapes)
    differ = [i for i in range(len(a.shape)) if a.shape[i] != b.shape[i]]
    wrong = [i for i in differ if i != dim]
    marks = size_mark(case, a.id, wrong[0], a.shape[wrong[0]])
    marks += size_mark(case, b.id, wrong[0], b.shape[wrong[0]])
    code = along(case, differ[0]) if len(differ) == 1 else None
    if code is None:
        return case.explain("joined_sizes", why, case.words("cat_sizes_fix"), marks)
    fix = case.words("cat_sizes_fix_at", dim=differ[0], code=code)
    return case.explain("joined_sizes", why, fix, marks)


def along(case: Case, dim: int) -> str | None:
    """The line that failed, joining along `dim`."""
    tree = expression(case)
    if not isinstance(tree, ast.Call) or not tree.args or function_of(case) not in ("cat", "concat"):
        return None
    return instead(case, f"{ast.unparse(tree.func)}({ast.unparse(tree.args[0])}, dim={dim})")


def cat_dims(case: Case, match: re.Match[str]) -> Explanation | None:
    """The tensors have different numbers of dimensions."""
    m, n = int(match["m"]), int(match["n"])
    trees = entries(case)
    given = operands_of(case)
    first = next((each for each in given if len(each.shape) == m), None)
    other = next((each for each in given if len(each.shape) == n), None)
    if trees is None or first is None or other is None or function_of(case) not in ("cat", "concat"):
        return None
    values = {"call": failing(case), "a": named(case, first), "b": named(case, other)}
    shapes = {"left": sized(case, first.shape), "right": sized(case, other.shape), "m": m, "n": n}
    why = case.words("cat_dims_why", **values, **shapes)
    marks = shape_mark(case, first.state) + shape_mark(case, other.state)
    code = raised(case, first, other) or raised(case, other, first)
    if code is None:
        return case.explain("joined_sizes", why, case.words("cat_dims_fix"), marks)
    return case.explain("joined_sizes", why, case.words("cat_dims_fix_at", code=code), marks)


def raised(case: Case, large: Operand, small: Operand) -> str | None:
    """The line that failed, with one more dimension for `small`, so that it can be joined to `large`."""
    if len(small.shape) != len(large.shape) - 1:
        return None
    dim = joint_of(case) % len(large.shape)
    for place in (dim, *range(len(large.shape))):
        new = (*small.shape[:place], 1, *small.shape[place:])
        if all(new[i] == large.shape[i] for i in range(len(new)) if i != dim):
            return with_method(case, small.tree, f".unsqueeze({place})")
    return None


def joint_of(case: Case) -> int:
    """The dimension along which the failing call joins; 0 where the source does not say it as a number."""
    tree = expression(case)
    assert isinstance(tree, ast.Call)
    told = [each.value for each in tree.keywords if each.arg in ("dim", "axis")] + tree.args[1:2]
    try:
        return int(ast.literal_eval(told[0])) if told else 0
    except (ValueError, TypeError):
        return 0


def stack_sizes(case: Case, match: re.Match[str]) -> Explanation | None:
    """The tensors to be stacked have different shapes."""
    i, j = int(match["i"]), int(match["j"])
    left, right = numbers(match["left"]), numbers(match["right"])
    if function_of(case) != "stack":
        return None
    pair = joined_of(case, i, j)
    a, b = (
        (entry_name(case, i), entry_name(case, j)) if pair is None else (named(case, each) for each in pair)
    )
    values = {"call": failing(case), "a": a, "b": b}
    why = case.words("stack_sizes_why", left=sized(case, left), right=sized(case, right), **values)
    marks = () if pair is None else shape_mark(case, pair[0].state) + shape_mark(case, pair[1].state)
    fix = stacked_otherwise(case, left, right)
    return case.explain("joined_sizes", why, fix, marks)


def stacked_otherwise(case: Case, left: Shape, right: Shape) -> str:
    """What to do: pad sequences, or join tensors that differ in one dimension along it."""
    tree = expression(case)
    if not isinstance(tree, ast.Call) or not tree.args:
        return case.words("stack_sizes_fix")
    given = ast.unparse(tree.args[0])
    if len(left) == len(right) and left[1:] == right[1:] and isinstance(tree.args[0], ast.Name):
        code = instead(case, f"torch.nn.utils.rnn.pad_sequence({given}, batch_first=True)")
        return case.words("stack_sizes_fix" if code is None else "stack_pad_fix", code=code)
    differ = [i for i, (m, n) in enumerate(zip(left, right)) if m != n]
    code = None
    if len(left) == len(right) and len(differ) == 1:
        dim = f", dim={differ[0]}" if differ[0] else ""
        code = instead(case, f"torch.cat({given}{dim})")
    return case.words("stack_sizes_fix" if code is None else "stack_cat_fix", code=code)


def no_list(case: Case, match: re.Match[str]) -> Explanation | None:
    """`cat(a, b)`: the tensors do not stand in a list."""
    tree, function = expression(case), function_of(case)
    if not isinstance(tree, ast.Call) or function != match["function"]:
        return None
    given = [each.text for each in operands_of(case)]
    why = case.words("joined_list_why", call=failing(case), function=function)
    rest = [ast.unparse(each) for each in (*tree.args, *tree.keywords) if ast.unparse(each) not in given]
    listed = f"[{', '.join(ast.unparse(each) for each in tree.args if ast.unparse(each) in given)}]"
    code = instead(case, f"{ast.unparse(tree.func)}({', '.join([listed, *rest])})")
    if code is None:
        return case.explain("joined_list", why, case.words("joined_list_fix"))
    return case.explain("joined_list", why, case.words("joined_list_fix_at", code=code))


RULES: dict[str, ErrorRule] = {
    pattern: rule(pattern, of_a_call(explain))
    for pattern, explain in {
        r"Sizes of tensors must match except in dimension (?P<dim>\d+)\. Expected (?:size )?(?P<m>\d+) "
        r"(?:but|and) got (?:size )?(?P<n>\d+) for tensor number (?P<place>\d+)": cat_sizes,
        r"Tensors must have same number of dimensions: got (?P<m>\d+) and (?P<n>\d+)": cat_dims,
        r"stack expects each tensor to be equal size, but got \[(?P<left>[\d, ]*)\] at entry (?P<i>\d+) "
        r"and \[(?P<right>[\d, ]*)\] at entry (?P<j>\d+)": stack_sizes,
        r"(?P<function>cat|concat|stack|hstack|vstack)\(\): argument 'tensors' \(position 1\) must be tuple "
        r"of Tensors, not (?:Tensor|Parameter)": no_list,
    }.items()
}
