"""Things that are not tensors where one is needed, several values where one is, and tensors of many elements
where a number is."""

from __future__ import annotations

import ast
import math

import minigrad

from ..model.execution import ModuleCall
from ..trace.graph import Explanation
from .case import Values, need, require
from .edits import of_math, replace_part, with_tensors
from .failed_call import FailedCall, call_rule, layer_name, newest_result, operand_tensor
from .syntax import assigned_above, before_dot_source, last_name, operands_in, span_at, written_as

MADE = {
    "list": "torch.tensor({})",
    "float": "torch.tensor({})",
    "int": "torch.tensor({})",
    "numpy.ndarray": "torch.tensor({}, dtype=torch.float32)",
}
PAIRS = ("max", "min", "sort", "topk", "median", "mode", "kthvalue")  # they return values and indices

# ── no tensor ───────────────────────────────────────────────────────────────────────────────────────────────


@call_rule(
    "no_tensor",
    r"TypeError: {function}\(\): argument .*position {place}\) must be Tensor, not "
    r"(?P<kind>list|tuple|float|int|numpy\.ndarray)",
)
def not_a_tensor(failed: FailedCall, function: str, place: int, kind: str) -> Explanation | None:
    """An argument is not a tensor."""
    call, node = failed.module, failed.node
    if kind == "tuple" and failed.before is not None:
        return between_layers(failed, failed.before)
    place, names = place - 1, {function}
    if call is not None:  # the input of the failing expression goes on to the first layer inside it
        inside = [each for each in call.chain() if each.event.span == failed.case.span]
        names = {each.event.path.rpartition(".")[2] for each in inside}
    # Otherwise something else called it for the cell.
    need(failed.function in names, place < len(failed.arguments))
    given = failed.arguments[place]
    if kind == "tuple":
        return of_several(failed, given)
    name = ast.unparse(given)
    edits = {node.args[place]: MADE[kind].format(name)} if isinstance(node, ast.Call) else None
    return failed.explain("no_tensor_why", failed.rewrite(edits), "no_tensor_fix", name=name)


@call_rule(
    "no_tensor",
    "unsupported operand.*: '(?P<left>Tensor|list|tuple)' and '(?P<right>Tensor|list|tuple)'",
)
def operator(failed: FailedCall, left: str, right: str) -> Explanation | None:
    """An operator between a tensor and a list."""
    node = failed.node
    if not isinstance(node, ast.BinOp):
        return None
    given, kind = (node.right, right) if left == "Tensor" else (node.left, left)
    name = ast.unparse(given)
    fixes = (failed.rewrite({given: f"torch.tensor({name})"}), "no_tensor_fix")
    return failed.explain("no_tensor_operator_why", *fixes, name=name, kind=kind)


# ── several values ──────────────────────────────────────────────────────────────────────────────────────────


def of_several(failed: FailedCall, given: ast.expr) -> Explanation | None:
    """The explanation for a tuple that a call returned."""
    made = require(maker(failed, given))
    fixes = (failed.put(given, "{}.values" if last_name(made) in PAIRS else "{}[0]"), "several_fix")
    told: Values = {"name": ast.unparse(given), "source": ast.unparse(made), "line": made.lineno}
    if made is given:
        return failed.explain("several_call_why", *fixes, key="several_values", **told)
    cause = span_at(failed.case, made)
    return failed.explain("several_why", *fixes, key="several_values", cause=cause, **told)


def maker(failed: FailedCall, given: ast.expr) -> ast.Call | None:
    """The call that an expression is; of a variable the last one above the failing line whose result it was
    assigned."""
    values = (given, *assigned_above(failed.case, ast.unparse(given)))
    return next((each for each in values if isinstance(each, ast.Call)), None)


def between_layers(failed: FailedCall, first: ModuleCall) -> Explanation | None:
    """The explanation for a layer of a Sequential that hands a tuple to the next one."""
    if failed.module is None or len(first.outputs) < 2 or not isinstance(failed.tree, ast.Call):
        return None
    end, owner = int(first.event.path.rpartition(".")[2]) + 1, ast.unparse(failed.tree.func)
    head = f"{owner}[0]" if end == 1 else f"{owner}[:{end}]"
    code = f"{owner}[{end}:]({head}({', '.join(map(ast.unparse, failed.arguments))})[0])"
    fixes = (failed.instead(code, "several_layer_fix"), "several_fix")
    told: Values = {"layer": layer_name(failed.module), "before": layer_name(first)}
    return failed.explain("several_layer_why", *fixes, key="several_values", **told)


@call_rule("several_values", "'(?:tuple|(?:torch.)?return_types.*)' object has no attribute '{name}'")
def tuple_attribute(failed: FailedCall, name: str) -> Explanation | None:
    """A method of tensors was called on a tuple of several."""
    if failed.before is not None:
        return between_layers(failed, failed.before)
    part = require(failed.attribute)
    need(part.attr == name, hasattr(minigrad.Tensor, name))
    return of_several(failed, part.value)


@call_rule(
    "several_values",
    "can only concatenate tuple|can't multiply sequence|unsupported operand .*(?:tuple|return_types)",
)
def pair(failed: FailedCall) -> Explanation | None:
    """Arithmetic with what `x.max(dim)` returns."""
    for given in operands_in(failed.tree) if isinstance(failed.tree, ast.BinOp) else ():
        made = maker(failed, given)
        if made is not None and last_name(made) in PAIRS:
            return of_several(failed, given)
    return None


# ── one number ──────────────────────────────────────────────────────────────────────────────────────────────


@call_rule("one_number", "cannot be converted to Scalar|only one element tensors can be converted")
def one_number(failed: FailedCall) -> Explanation | None:
    """A tensor of several elements was to become one Python number."""
    if failed.function == "tensor" and failed.arguments:
        name = ast.unparse(failed.arguments[0])
        return failed.explain("list_of_tensors", failed.instead(f"torch.stack({name})"), name=name)
    one = require(failed.first(lambda each: bool(each.shape)))
    told: Values = {"marks": failed.mark_shapes(one), "name": one, "count": math.prod(one.shape)}
    if isinstance(failed.node, ast.Call) and of_math(failed.case, failed.node):
        fix = failed.instead(with_tensors(failed.case, failed.node), "one_number_math_fix")
        return failed.explain("one_number", fix, **told)
    need(failed.function in ("item", "float", "int", "bool"))
    result = one.state is not None and not one.state.is_leaf and one.dtype.startswith("float")  # a loss, say
    mean = failed.behind(one, ".mean()", "one_number_mean_fix") if result else None
    fix = mean or failed.instead(f"{before_dot_source(one.text)}.tolist()", "one_number_fix_at")
    return failed.explain("one_number", fix, **told)


@call_rule(
    "one_number",
    "unsupported format string passed to (?:Tensor|Param)|type Tensor doesn't define __round__",
)
def no_format(failed: FailedCall) -> Explanation | None:
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
    state = operand_tensor(failed.case, name)
    many = state is not None and state.value is not None and state.value.size != 1
    edits = None if many or part is None else {part: f"{before_dot_source(name)}.item()"}
    return failed.explain("no_format_why", failed.rewrite(edits), "one_number.fix", name=name)


@call_rule("one_number", "type list doesn't define __round__")
def rounded_list(failed: FailedCall) -> Explanation | None:
    """`round` of a list: a row of a matrix, say."""
    need(failed.function == "round", failed.arguments)
    name, *digits = map(ast.unparse, failed.arguments)
    code = f"[round({', '.join(['each', *digits])}) for each in {name}]"
    return failed.explain("round_list", failed.instead(code, "round_list.fix"), name=name)


@call_rule("one_number", "Boolean value of Tensor with more than one value is ambiguous")
def one_truth(failed: FailedCall) -> Explanation | None:
    """A tensor of several elements was used where one truth value is needed."""
    tree, case = failed.tree, failed.case
    while isinstance(tree, ast.UnaryOp):
        tree = tree.operand
    text = ast.unparse(tree) if isinstance(tree, ast.expr) else ""
    found = newest_result(case, text) or dict(case.failed.named if case.failed else ()).get(text)
    if not isinstance(tree, ast.expr) or found is None or found.value is None:
        return None
    one = failed.operand(found, tree)._replace(name=text)
    told: Values = {"name": one, "source": before_dot_source(text), "marks": failed.mark_shapes(one)}
    return failed.explain("one_truth", **told)


# ── whole numbers ───────────────────────────────────────────────────────────────────────────────────────────


@call_rule(
    "fraction",
    r"slice indices must be integers|\(got float\)|of type float at|tuple of ints, ?(?:not|but got) float",
)
def fraction(failed: FailedCall) -> Explanation | None:
    """A size or an index is a Python float, since `/` gives one: `n = len(x) / 2`."""
    case, node = failed.case, failed.node
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} if node is not None else set()
    makers = [value for name in sorted(names) for value in assigned_above(case, name)[:1]]
    makers += given_as(failed, names)
    for part in (part for made in (node, *makers) if made is not None for part in ast.walk(made)):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
            code = f"{written_as(case, part.left)} // {written_as(case, part.right)}"
            fix = replace_part(case, part, {part: code})
            return failed.explain("fraction", fix, source=written_as(case, part), line=part.lineno)
    return None


def given_as(failed: FailedCall, names: set[str]) -> list[ast.expr]:
    """What the calls of the cell pass for those parameters of the function around the failing line, or of the
    class whose `__init__` that is, which are called `names`."""
    line, parts = getattr(failed.node, "lineno", 0), list(failed.case.executed(ast.AST))
    inside = [part for part in parts if isinstance(part, ast.FunctionDef | ast.ClassDef)]
    around = [part for part in inside if part.lineno <= line <= (part.end_lineno or 0)]
    function = next((part for part in around[::-1] if isinstance(part, ast.FunctionDef)), None)
    owner = next((part for part in around if isinstance(part, ast.ClassDef)), function)
    if function is None or owner is None:
        return []
    own = [each.arg for each in function.args.args][owner is not function :]
    calls = [part for part in parts if isinstance(part, ast.Call) and last_name(part) == owner.name]
    return [given for call in calls for name, given in zip(own, call.args) if name in names]


@call_rule("uneven_rows", r"expected sequence of length {m} at dim {dim} \(got {n}\)")
def uneven_rows(failed: FailedCall, **sizes: int) -> Explanation | None:
    """Rows of different lengths in `torch.tensor`."""
    need(failed.function in ("tensor", "as_tensor", "FloatTensor"))
    return failed.explain("uneven")
