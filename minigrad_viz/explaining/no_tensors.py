"""Things that are no tensors where one is needed, several values where one is, and tensors of many elements
where a number is."""

from __future__ import annotations

import ast
import math
import re

import minigrad

from ..model.module_calls import ModuleCall
from ..trace.explained import Explanation
from .case import Values
from .edits import assignments, called, last_name, replacing, span_at, written_as
from .failed_call import FailedCall, Fix, call_rule, computed, layer_name, standing, taken

MADE = {
    "list": "torch.tensor({})",
    "float": "torch.tensor({})",
    "int": "torch.tensor({})",
    "numpy.ndarray": "torch.tensor({}, dtype=torch.float32)",
}
PAIRS = ("max", "min", "sort", "topk", "median", "mode", "kthvalue")  # they return values and indices

SEVERAL = ("LSTM", "GRU", "RNN", "MultiheadAttention")  # layers that return several values

# ── no tensor ───────────────────────────────────────────────────────────────────────────────────────────────


def not_a_tensor(failed: FailedCall, match: re.Match[str]) -> Explanation | None:
    """An argument is no tensor."""
    kind, call = match["kind"], failed.module
    if kind == "tuple" and failed.before is not None:
        return between_layers(failed, failed.before)
    place = 0 if call is not None else int(match["place"]) - 1
    function = match["function"] if call is None else call.event.path.rpartition(".")[2]
    if failed.function != function or place >= len(failed.arguments):  # something else called it for the cell
        return None
    given = failed.arguments[place]
    if kind == "tuple":
        return of_several(failed, given)
    made = MADE[kind].format(ast.unparse(given)) if isinstance(failed.node, ast.Call) else ""
    fix = failed.rewrite({failed.node.args[place]: made}) if isinstance(failed.node, ast.Call) else None
    values: Values = {"name": ast.unparse(given), "kind": kind, "function": match["function"]}
    return failed.explain("no_tensor_why", fix, "no_tensor_fix", **values)


def operator(failed: FailedCall, match: re.Match[str]) -> Explanation | None:
    """An operator between a tensor and a list."""
    node = failed.node
    if not isinstance(node, ast.BinOp):
        return None
    left = match["left"] == "Tensor"
    given, kind = (node.right, match["right"]) if left else (node.left, match["left"])
    fix = failed.rewrite({given: f"torch.tensor({ast.unparse(given)})"})
    values: Values = {"name": ast.unparse(given), "kind": kind}
    return failed.explain("no_tensor_operator_why", fix, "no_tensor_fix", **values)


# ── several values ──────────────────────────────────────────────────────────────────────────────────────────


def of_several(failed: FailedCall, given: ast.expr) -> Explanation | None:
    """The explanation for a tuple that a call returned."""
    made = maker(failed, given)
    if made is None:
        return None
    fix = failed.put(given, "{}.values" if last_name(made) in PAIRS else "{}[0]")
    values: Values = {"name": ast.unparse(given), "source": ast.unparse(made), "line": made.lineno}
    values |= {"key": "several_values", "cause": None if made is given else span_at(failed.case, made)}
    why = "several_call_why" if made is given else "several_why"
    return failed.explain(why, fix, "several_fix", **values)


def between_layers(failed: FailedCall, first: ModuleCall) -> Explanation | None:
    """The explanation for a layer of a Sequential that hands a tuple to the next one."""
    if failed.module is None or first.event.kind not in SEVERAL or not isinstance(failed.tree, ast.Call):
        return None
    end, owner = int(first.event.path.rpartition(".")[2]) + 1, ast.unparse(failed.tree.func)
    head = f"{owner}[0]" if end == 1 else f"{owner}[:{end}]"
    code = f"{owner}[{end}:]({head}({', '.join(map(ast.unparse, failed.arguments))})[0])"
    fixes = (failed.instead(code, "several_layer_fix"), "several_fix")
    values: Values = {"layer": layer_name(failed.module), "before": layer_name(first)}
    return failed.explain("several_layer_why", *fixes, key="several_values", **values)


def maker(failed: FailedCall, given: ast.expr) -> ast.Call | None:
    """The call that an expression is; of a variable the last one above the failing line whose result it was
    assigned."""
    if isinstance(given, ast.Call):
        return given
    span, name = failed.case.span, ast.unparse(given)
    line = 0 if span is None or span.origin else span.line
    values = [
        part.value for target, part in assignments(failed.case) if target == name and part.lineno < line
    ]
    calls = [value for value in values if isinstance(value, ast.Call)]
    return max(calls, key=lambda call: call.lineno, default=None)


def attribute(failed: FailedCall, match: re.Match[str]) -> Explanation | None:
    """A method of tensors was called on a tuple of several."""
    if failed.before is not None:
        return between_layers(failed, failed.before)
    part = failed.tree.func if isinstance(failed.tree, ast.Call) else failed.tree
    if not isinstance(part, ast.Attribute) or part.attr != match["name"]:
        return None
    return of_several(failed, part.value) if hasattr(minigrad.Tensor, part.attr) else None


def pair(failed: FailedCall, match: re.Match[str]) -> Explanation | None:
    """Arithmetic with what `x.max(dim)` returns."""
    for given in taken(failed.tree) if isinstance(failed.tree, ast.BinOp) else ():
        made = maker(failed, given)
        if made is not None and last_name(made) in PAIRS:
            return of_several(failed, given)
    return None


# ── one number ──────────────────────────────────────────────────────────────────────────────────────────────


def one_number(failed: FailedCall, match: re.Match[str]) -> Explanation | None:
    """A tensor of several elements was to become one Python number."""
    if failed.function == "tensor" and failed.arguments:
        name = ast.unparse(failed.arguments[0])
        fixes = (failed.instead(f"torch.stack({name})"), "list_of_tensors_fix")
        return failed.explain("list_of_tensors_why", *fixes, name=name)
    one = next((each for each in failed.operands if each.shape), None)
    if one is None or failed.function not in ("item", "float", "int", "bool"):
        return None
    result = one.state is not None and not one.state.is_leaf and one.dtype.startswith("float")  # a loss, say
    return failed.explain(
        "one_number_why",
        failed.put(one, "{}.mean()", "one_number_mean_fix") if result else None,
        failed.instead(f"{called(one.text)}.tolist()", "one_number_fix_at"),
        "one_number_fix",
        marks=failed.mark_shapes(one),
        name=one,
        count=math.prod(one.shape),
    )


def no_format(failed: FailedCall, match: re.Match[str]) -> Explanation | None:
    """A tensor where Python formats or rounds a number: `f"{loss:.2f}"`, `round(loss, 2)`."""
    node = failed.node
    if failed.function == "round" and failed.arguments:
        given, part = failed.arguments[0], failed.here(failed.arguments[0])
    elif isinstance(node, ast.JoinedStr):
        parts = [p.value for p in node.values if isinstance(p, ast.FormattedValue) and p.format_spec]
        parts = [each for each in parts if not (isinstance(each, ast.Call) and last_name(each) == "item")]
        if len(parts) != 1:
            return None
        given = part = parts[0]
    else:
        return None
    name = ast.unparse(given)
    state = standing(failed.case, name)
    many = state is not None and state.value is not None and state.value.size != 1
    edits = None if many or part is None else {part: f"{called(name)}.item()"}
    return failed.explain("no_format_why", failed.rewrite(edits), "one_number_fix", name=name)


def one_truth(failed: FailedCall, match: re.Match[str]) -> Explanation | None:
    """A tensor of several elements stands where one truth value is needed."""
    tree, case = failed.tree, failed.case
    while isinstance(tree, ast.UnaryOp):
        tree = tree.operand
    text = ast.unparse(tree) if isinstance(tree, ast.expr) else ""
    found = computed(case, text) or dict(case.failed.named if case.failed else ()).get(text)
    if not isinstance(tree, ast.expr) or found is None or found.value is None:
        return None
    one = failed.operand(found, tree)._replace(name=text)
    values: Values = {"name": one, "source": called(text), "marks": failed.mark_shapes(one)}
    return failed.explain("one_truth_why", "one_truth_fix", **values)


# ── whole numbers ───────────────────────────────────────────────────────────────────────────────────────────


def fraction(failed: FailedCall, match: re.Match[str]) -> Explanation | None:
    """A size or an index is a Python float, since `/` gives one: `n = len(x) / 2`."""
    case, node = failed.case, failed.node
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} if node is not None else set()
    makers = [part.value for target, part in assignments(case) if target in names]
    makers += given_as(failed, names)
    for part in (part for made in (node, *makers) if made is not None for part in ast.walk(made)):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
            code = f"{written_as(case, part.left)} // {written_as(case, part.right)}"
            text = replacing(case, part, {part: code})
            fix = None if text is None else Fix(text, span_at(case, part))
            values: Values = {"source": written_as(case, part), "line": part.lineno}
            return failed.explain("fraction_why", fix, "fraction_fix", **values)
    return None


def given_as(failed: FailedCall, names: set[str]) -> list[ast.expr]:
    """What the calls of the cell pass for those parameters of the function around the failing line, or of the
    class whose `__init__` that is, which are called `names`."""
    parts, line = list(failed.case.parts()), getattr(failed.node, "lineno", 0)
    inside = [part for part in parts if isinstance(part, ast.FunctionDef | ast.ClassDef)]
    around = [part for part in inside if part.lineno <= line <= (part.end_lineno or 0)]
    function = next((part for part in around[::-1] if isinstance(part, ast.FunctionDef)), None)
    owner = next((part for part in around if isinstance(part, ast.ClassDef)), function)
    if function is None or owner is None:
        return []
    own = [each.arg for each in function.args.args][owner is not function :]
    calls = [part for part in parts if isinstance(part, ast.Call) and last_name(part) == owner.name]
    return [given for call in calls for name, given in zip(own, call.args) if name in names]


def uneven(failed: FailedCall, match: re.Match[str]) -> Explanation | None:
    """Rows of several lengths in `torch.tensor`."""
    if failed.function not in ("tensor", "as_tensor", "FloatTensor"):
        return None
    return failed.explain("uneven_why", "uneven_fix", m=match["m"], n=match["n"], dim=match["dim"])


RULES = [call_rule(*each) for each in (
    ("no_tensor", not_a_tensor,
     r"^TypeError: (?P<function>\w+)\(\): argument '\w+' \(position (?P<place>\d+)\) must be Tensor, not "
     r"(?P<kind>list|tuple|float|int|numpy\.ndarray)"),
    ("no_tensor", operator,
     r"^TypeError: unsupported operand type\(s\) for [^:]+: '(?P<left>Tensor|list|tuple)' "
     r"and '(?P<right>Tensor|list|tuple)'"),
    ("several_values", attribute,
     r"^AttributeError: '(?:tuple|(?:torch\.)?return_types\.\w+)' object has no attribute '(?P<name>\w+)'"),
    ("several_values", pair,
     "^TypeError: (?:can only concatenate tuple|unsupported operand .*(?:tuple|return_types))"),
    ("one_number", one_number,
     "cannot be converted to Scalar|only one element tensors can be converted"),
    ("one_number", no_format,
     "unsupported format string passed to (?:Tensor|Parameter)|type Tensor doesn't define __round__"),
    ("one_number", one_truth, "Boolean value of Tensor with more than one value is ambiguous"),
    ("fraction", fraction,
     r"^(?:TypeError|IndexError): .*(?:slice indices must be integers|\(got float\)|of type float at pos|"
     "must be tuple of ints, ?(?:not|but got) float)"),
    ("uneven_rows", uneven,
     r"expected sequence of length (?P<m>\d+) at dim (?P<dim>\d+) \(got (?P<n>\d+)\)"),
)]  # fmt: skip
