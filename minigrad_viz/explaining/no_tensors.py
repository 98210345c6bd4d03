"""Things that are no tensors where one is needed, several values where one is, and tensors of many elements
where a number is."""

from __future__ import annotations

import ast
import re

import minigrad

from ..trace.explained import Explanation
from .at_call import of_a_call
from .case import Case, ErrorRule, rule
from .edits import edited, failing_node, instead, last_name, rewritten, said, with_operand
from .operation import failed_layer, failing, function_of, named, operands_of, shape_mark, sized, taken
from .optimizers import span_at
from .rewrite import written_as
from .subject import called, computed, expression, standing

MADE = {
    "list": "torch.tensor({})",
    "float": "torch.tensor({})",
    "int": "torch.tensor({})",
    "numpy.ndarray": "torch.tensor({}, dtype=torch.float32)",
}
PAIRS = ("max", "min", "sort", "topk", "median", "mode", "kthvalue")  # they return values and indices

# ── no tensor ───────────────────────────────────────────────────────────────────────────────────────────────


def not_a_tensor(case: Case, match: re.Match[str]) -> Explanation | None:
    """An argument is no tensor."""
    tree, kind, call = expression(case), match["kind"], failed_layer(case)
    if not isinstance(tree, ast.Call):
        return None
    place = 0 if call is not None else int(match["place"]) - 1
    mine = function_of(case) if call is None else call.event.path.rpartition(".")[2]
    named_so = match["function"] if call is None else ast.unparse(tree.func).rpartition(".")[2]
    if mine != named_so or place >= len(tree.args):  # it was called for the cell, by something else
        return None
    given = tree.args[place]
    values = {"call": failing(case), "name": ast.unparse(given), "kind": kind}
    if kind == "tuple":
        return of_several(case, given)
    why = case.words("no_tensor_why", function=match["function"], **values)
    made = MADE.get(kind)
    node = failing_node(case)
    code = None
    if made is not None and isinstance(node, ast.Call):
        code = rewritten(case, node, {node.args[place]: made.format(ast.unparse(given))})
    return case.explain("no_tensor", why, said(case, code, "no_tensor_fix"))


def operator(case: Case, match: re.Match[str]) -> Explanation | None:
    """An operator between a tensor and a list."""
    node = failing_node(case)
    if not isinstance(node, ast.BinOp):
        return None
    left = match["left"] == "Tensor"
    given = node.right if left else node.left
    values = {"name": ast.unparse(given), "kind": match["right"] if left else match["left"]}
    why = case.words("no_tensor_operator_why", call=failing(case), **values)
    code = rewritten(case, node, {given: f"torch.tensor({ast.unparse(given)})"})
    return case.explain("no_tensor", why, said(case, code, "no_tensor_fix"))


# ── several values ──────────────────────────────────────────────────────────────────────────────────────────


def of_several(case: Case, given: ast.expr) -> Explanation | None:
    """The explanation for a tuple that a call returned."""
    name = ast.unparse(given)
    made = given if isinstance(given, ast.Call) else assigned_call(case, name)
    if made is None:
        return None
    both = last_name(made) in PAIRS
    key = "several_call_why" if made is given else "several_why"
    values = {"name": name, "source": ast.unparse(made), "line": made.lineno}
    why = case.words(key, call=failing(case), **values)
    code = with_operand(case, given, called(name) + (".values" if both else "[0]"))
    cause = span_at(case, made) if made is not given else None
    return case.explain("several_values", why, said(case, code, "several_fix"), (), cause)


def assigned_call(case: Case, name: str) -> ast.Call | None:
    """The last call above the failing line whose result a variable was assigned."""
    line = 0 if case.span is None or case.span.origin else case.span.line
    found = [
        part.value
        for part in case.parts()
        if isinstance(part, ast.Assign)
        and part.lineno < line
        and isinstance(part.value, ast.Call)
        and ast.unparse(part.targets[0]) == name
    ]
    return max(found, key=lambda call: call.lineno, default=None)


def attribute(case: Case, match: re.Match[str]) -> Explanation | None:
    """A method of tensors was called on a tuple of several."""
    tree = expression(case)
    part = tree.func if isinstance(tree, ast.Call) else tree
    if not isinstance(part, ast.Attribute) or part.attr != match["name"]:
        return None
    return of_several(case, part.value) if hasattr(minigrad.Tensor, part.attr) else None


def pair(case: Case, match: re.Match[str]) -> Explanation | None:
    """Arithmetic with what `x.max(dim)` returns."""
    tree = expression(case)
    for given in taken(tree) if isinstance(tree, ast.BinOp) else ():
        made = given if isinstance(given, ast.Call) else assigned_call(case, ast.unparse(given))
        if made is not None and last_name(made) in PAIRS:
            return of_several(case, given)
    return None


# ── one number ──────────────────────────────────────────────────────────────────────────────────────────────


def one_number(case: Case, match: re.Match[str]) -> Explanation | None:
    """A tensor of several elements was to become one Python number."""
    given, function, tree = operands_of(case), function_of(case), expression(case)
    if function == "tensor" and isinstance(tree, ast.Call) and tree.args:
        why = case.words("list_of_tensors_why", call=failing(case), name=ast.unparse(tree.args[0]))
        code = instead(case, f"torch.stack({ast.unparse(tree.args[0])})")
        return case.explain("one_number", why, said(case, code, "list_of_tensors_fix"))
    one = next((each for each in given if each.shape), None)
    if one is None or function not in ("item", "float", "int", "bool"):
        return None
    count = 1
    for size in one.shape:
        count *= size
    values = {"name": named(case, one), "shape": sized(case, one.shape), "count": count}
    why = case.words("one_number_why", call=failing(case), **values)
    code = None
    if not one.state.is_leaf and one.dtype.startswith("float"):  # a loss, say
        code = with_operand(case, one.tree, f"{called(one.text)}.mean()")
    if code is not None:
        fix = case.words("one_number_mean_fix", code=code)
        return case.explain("one_number", why, fix, shape_mark(case, one.state))
    code = instead(case, f"{called(one.text)}.tolist()")
    fix = case.words("one_number_fix" if code is None else "one_number_fix_at", code=code)
    return case.explain("one_number", why, fix, shape_mark(case, one.state))


def no_format(case: Case, match: re.Match[str]) -> Explanation | None:
    """A tensor where Python formats or rounds a number: `f"{loss:.2f}"`, `round(loss, 2)`."""
    node, tree = failing_node(case), expression(case)
    if isinstance(tree, ast.Call) and function_of(case) == "round" and tree.args:
        name = ast.unparse(tree.args[0])
        code = with_operand(case, tree.args[0], f"{called(name)}.item()")
    elif isinstance(node, ast.JoinedStr):
        parts = [p.value for p in node.values if isinstance(p, ast.FormattedValue) and p.format_spec]
        parts = [each for each in parts if not (isinstance(each, ast.Call) and last_name(each) == "item")]
        if len(parts) != 1:
            return None
        name = ast.unparse(parts[0])
        code = rewritten(case, node, {parts[0]: f"{called(name)}.item()"})
    else:
        return None
    state = standing(case, name)
    if state is not None and state.value is not None and state.value.size != 1:
        code = None
    why = case.words("no_format_why", call=failing(case), name=name)
    return case.explain("one_number", why, said(case, code, "one_number_fix"))


def one_truth(case: Case, match: re.Match[str]) -> Explanation | None:
    """A tensor of several elements stands where one truth value is needed."""
    tree = expression(case)
    while isinstance(tree, ast.UnaryOp):
        tree = tree.operand
    if not isinstance(tree, ast.expr):
        return None
    text = ast.unparse(tree)
    found = computed(case, text) or dict(case.failed.named if case.failed else ()).get(text)
    if found is None or found.value is None:
        return None
    values = {"name": text, "shape": sized(case, found.value.shape), "source": called(text)}
    why = case.words("one_truth_why", call=failing(case), **values)
    fix = case.words("one_truth_fix", source=values["source"])
    return case.explain("one_number", why, fix, shape_mark(case, found))


# ── whole numbers ───────────────────────────────────────────────────────────────────────────────────────────


def fraction(case: Case, match: re.Match[str]) -> Explanation | None:
    """A size or an index is a Python float, since `/` gives one: `n = len(x) / 2`."""
    node = failing_node(case)
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} if node is not None else set()
    makers = [] if node is None else [node]
    for part in case.parts():
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) in names:
            makers.append(part.value)
    for made in makers:
        for part in ast.walk(made):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
                return whole_division(case, part)
    return None


def whole_division(case: Case, part: ast.BinOp) -> Explanation:
    """The explanation for a division that should leave no fraction."""
    source = written_as(case, part)
    why = case.words("fraction_why", call=failing(case), source=source, line=part.lineno)
    code = edited(case, part, {part: f"{written_as(case, part.left)} // {written_as(case, part.right)}"})
    if code is None:
        return case.explain("fraction", why, case.words("fraction_fix"))
    fix = case.words("constructor_fix", line=part.lineno, code=code, text=source)
    return case.explain("fraction", why, fix, (), span_at(case, part))


def uneven(case: Case, match: re.Match[str]) -> Explanation | None:
    """Rows of several lengths in `torch.tensor`."""
    if function_of(case) not in ("tensor", "as_tensor", "FloatTensor"):
        return None
    why = case.words("uneven_why", call=failing(case), m=match["m"], n=match["n"], dim=match["dim"])
    return case.explain("uneven_rows", why, case.words("uneven_fix"))


ARGUMENT = (
    r"(?P<function>\w+)\(\): argument '\w+' \(position (?P<place>\d+)\) must be Tensor, not "
    r"(?P<kind>list|tuple|float|int|numpy\.ndarray)"
)
OPERATOR = (
    r"unsupported operand type\(s\) for [^:]+: '(?P<left>Tensor|list|tuple)' "
    r"and '(?P<right>Tensor|list|tuple)'"
)
TUPLE = r"^AttributeError: '(?:tuple|(?:torch\.)?return_types\.\w+)' object has no attribute '(?P<name>\w+)'"
FLOAT = (
    r"slice indices must be integers|\(got float\)|of type float at pos|"
    r"must be tuple of ints, ?(?:not|but got) float"
)
FORMAT = "unsupported format string passed to (?:Tensor|Parameter)|type Tensor doesn't define __round__"

RULES: dict[str, ErrorRule] = {
    pattern: rule(pattern, of_a_call(explain))
    for pattern, explain in {
        "^TypeError: " + ARGUMENT: not_a_tensor,
        "^TypeError: " + OPERATOR: operator,
        TUPLE: attribute,
        r"^TypeError: (?:can only concatenate tuple|unsupported operand .*(?:tuple|return_types))": pair,
        "cannot be converted to Scalar|only one element tensors can be converted": one_number,
        FORMAT: no_format,
        "Boolean value of Tensor with more than one value is ambiguous": one_truth,
        "^(?:TypeError|IndexError): .*(?:" + FLOAT + ")": fraction,
        r"expected sequence of length (?P<m>\d+) at dim (?P<dim>\d+) \(got (?P<n>\d+)\)": uneven,
    }.items()
}
