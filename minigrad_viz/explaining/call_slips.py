"""Slips in a call: a misspelled name, parentheses or a comma too many or too few, a
generator that is used up, the result of a function that gives something else."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from difflib import get_close_matches

import minigrad

from ..trace.graph import Explanation
from .case import Case, Fix, Values, need, require, rule
from .edits import replace_part
from .failed_call import FailedCall, call_rule
from .models import class_named, function_head, methods_of
from .syntax import assigned_above, last_name, node_at, operands_in, receiver, span_at, written_as

CONTEXT = ("saved_tensors", "save_for_backward", "needs_input_grad", "mark_dirty", "set_materialize_grads")
DICTS = ("load_state_dict",)  # methods that give back something else than their object


# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────


@rule("misspelled_name", r"^AttributeError: '(?P<kind>\w+Backward)' object has no attribute '{name}'")
def attribute_of_context(case: Case, kind: str, name: str) -> Explanation:
    """An attribute of the context of a custom Function has another name."""
    part = node_at(case, case.raised_at or case.span)
    need(isinstance(part, ast.Attribute) and part.attr == name)
    near = require(next(iter(get_close_matches(name, CONTEXT, 1, 0.5)), None))
    owner = ast.unparse(part.value)  # type: ignore[union-attr]
    fix = replace_part(case, part, {part: f"{owner}.{near}"})  # type: ignore[arg-type, dict-item]
    values: Values = {"call": case.raised_at or case.span, "owner": owner, "name": name, "near": near}
    why = case.words("misspelled_name", **values)
    return case.explain(why, "" if fix is None else fix.text, (), fix and fix.cause)


@call_rule("misspelled_name", r"^AttributeError: '{kind}' object has no attribute '{name}'")
def attribute_of(failed: FailedCall, kind: str, name: str) -> Explanation:
    """An attribute has another name in the class."""
    part = require(failed.attribute)
    need(part.attr == name)
    known = sorted(attributes_of(class_named(failed.case, kind)))
    near = require(next(iter(get_close_matches(name, known, 1, 0.5)), None))
    owner = ast.unparse(part.value)
    fix = failed.put_attribute(part, near)
    return failed.explain("misspelled_name", fix, owner=owner, name=name, near=near)


def attributes_of(owner: ast.ClassDef) -> set[str]:
    """The names that the methods of a class give to attributes of `self`, and those of the methods."""
    stored = (part for part in ast.walk(owner) if isinstance(part, ast.Attribute))
    mine = {
        part.attr
        for part in stored
        if not isinstance(part.ctx, ast.Load) and ast.unparse(part.value) == "self"
    }
    return mine | set(methods_of(owner))


@call_rule(
    "missing_argument",
    r"^TypeError: (?P<kind>\w+)\.forward\(\) missing {count} required positional arg",
)
def missing_input(failed: FailedCall, kind: str, count: int) -> Explanation:
    """A model was called with fewer inputs than its forward has."""
    method = require(methods_of(class_named(failed.case, kind)).get("forward"))
    given = ", ".join(each.arg for each in method.args.args[1:])
    return failed.explain("missing_input", kind=kind, line=method.lineno, given=given)


@call_rule(
    "function_methods", r"^TypeError: (?P<kind>\w+)\.{name}\(\) takes {takes} positional .* but {given} were"
)
def no_context(failed: FailedCall, kind: str, name: str, takes: int, given: int) -> Explanation:
    """A static method of a custom Function has no parameter for the context."""
    owner = class_named(failed.case, kind)
    need(any(ast.unparse(base).endswith("Function") for base in owner.bases))
    method = require(methods_of(owner).get(name))
    need(given == takes + 1, [each.arg for each in method.args.args][:1] != ["ctx"])
    code = function_head(method, name, "ctx")
    return failed.explain("function_context_why", "module_head_fix", line=method.lineno, code=code)


# ── parentheses and commas ──────────────────────────────────────────────────────────────────────────────────


@call_rule(
    "not_called", "^TypeError: '(?P<kind>type|function)' object does not support the context manager protocol"
)
def manager_not_called(failed: FailedCall, kind: str) -> Explanation:
    """`with torch.no_grad:` instead of `with torch.no_grad():`."""
    part = failed.node
    need(isinstance(part, ast.Name | ast.Attribute))
    name = ast.unparse(part)  # type: ignore[arg-type]
    line = failed.case.line(failed.case.span) or 0
    return failed.explain("manager_not_called", name=name, line=line, code=f"{name}()")


@call_rule(
    "called_value", r"^TypeError: '(?:torch\.)?(?P<kind>Size|Tensor|Parameter)' object is not callable"
)
def value_called(failed: FailedCall, kind: str) -> Explanation:
    """A tensor or a shape with parentheses behind it, as if it were a method."""
    need(isinstance(failed.tree, ast.Call))
    name = ast.unparse(failed.tree.func)  # type: ignore[union-attr]
    fix = failed.instead(name) if not failed.arguments and not failed.options else None
    why = "called_shape" if kind == "Size" else "called_tensor"
    return failed.explain(why, fix, name=name)


@call_rule("called_value", r"^TypeError: '_?IncompatibleKeys' object is not callable")
def keys_called(failed: FailedCall) -> Explanation:
    """A variable has the result of `load_state_dict` instead of the model."""
    need(isinstance(failed.tree, ast.Call))
    name = ast.unparse(failed.tree.func)  # type: ignore[union-attr]
    made = require(next(iter(assigned_above(failed.case, name)), None))
    need(isinstance(made, ast.Call) and last_name(made) in DICTS)
    told: Values = {"name": name, "source": f"{name} = {ast.unparse(made)}", "line": made.lineno}
    fix = Fix(failed.words("called_keys_fix", code=ast.unparse(made), **told))
    return failed.explain("called_keys", fix, cause=span_at(failed.case, made), **told)


@call_rule("no_tensor", "^AttributeError: 'tuple' object has no attribute '{name}'")
def trailing_comma(failed: FailedCall, name: str) -> Explanation:
    """A comma at the end of a line made a tuple of its value."""
    part = require(failed.attribute)
    made = require(next(iter(assigned_above(failed.case, ast.unparse(part.value))), None))
    need(isinstance(made, ast.Tuple) and len(made.elts) == 1)
    inner = ast.unparse(made.elts[0])  # type: ignore[attr-defined]
    fix = replace_part(failed.case, made, {made: inner})
    told: Values = {
        "name": ast.unparse(part.value),
        "source": written_as(failed.case, made),
        "line": made.lineno,
    }
    return failed.explain("trailing_comma", fix, cause=span_at(failed.case, made), **told)


# ── what a model and an optimizer were given ────────────────────────────────────────────────────────────────


@call_rule(
    "module_definition", r"^NotImplementedError: Module \[(?P<kind>ModuleList|ModuleDict)\] is missing"
)
def list_called(failed: FailedCall, kind: str) -> Explanation:
    """A list of layers, which only holds them, was called."""
    need(isinstance(failed.tree, ast.Call))
    name = ast.unparse(failed.tree.func)  # type: ignore[union-attr]
    made = next(iter(assigned_above(failed.case, name)), None) or attribute_value(failed.case, name)
    fix = None
    if kind == "ModuleList" and isinstance(made, ast.Call) and len(made.args) == 1:
        layers = made.args[0]
        every = map(ast.unparse, layers.elts) if isinstance(layers, ast.List) else [f"*{ast.unparse(layers)}"]
        owner = ast.unparse(made.func).replace(kind, "Sequential")
        fix = replace_part(failed.case, made, {made: f"{owner}({', '.join(every)})"})
    return failed.explain("list_called", fix, name=name, kind=kind)


def attribute_value(case: Case, name: str) -> ast.expr | None:
    """What an attribute of `self` was assigned, if the text does so once."""
    found = [
        part.value
        for part in case.syntax()
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == name
    ]
    return found[0] if len(found) == 1 else None


@call_rule("module_definition", "optimizer got an empty parameter list")
def parameters_used_up(failed: FailedCall) -> Explanation:
    """The optimizer was given a generator that something has gone through before."""
    given = require(next(iter(failed.arguments), None))
    need(isinstance(given, ast.Name))
    made = require(next(iter(assigned_above(failed.case, ast.unparse(given))), None))
    need(isinstance(made, ast.Call) and last_name(made) in ("parameters", "filter", "chain"))
    fix = replace_part(failed.case, made, {made: f"list({ast.unparse(made)})"})
    told: Values = {"name": ast.unparse(given), "source": ast.unparse(made), "line": made.lineno}
    return failed.explain("parameters_used_up", fix, cause=span_at(failed.case, made), **told)


@call_rule("module_definition", "optimizer got an empty parameter list")
def parameter_of_operation(failed: FailedCall) -> Explanation:
    """An attribute is what an operation computed from an `nn.Parameter`."""
    made = require(next(computed_parameters(failed.case), None))
    inner = next(part for part in ast.walk(made.value) if is_parameter_call(part))
    fix = replace_part(failed.case, made.value, {made.value: with_inner(made.value, inner)})
    told: Values = {
        "name": ast.unparse(made.targets[0]),
        "source": ast.unparse(made.value),
        "line": made.lineno,
    }
    return failed.explain("parameter_computed", fix, cause=span_at(failed.case, made), **told)


def computed_parameters(case: Case) -> Iterator[ast.Assign]:
    """The assignments `self.w = nn.Parameter(…) * 0.1` of a class."""
    for each in (part for part in case.syntax() if isinstance(part, ast.Assign)):
        plain = is_parameter_call(each.value)
        parts = ast.walk(each.value) if isinstance(each.value, ast.BinOp) and not plain else ()
        if ast.unparse(each.targets[0]).startswith("self.") and any(map(is_parameter_call, parts)):
            yield each


def is_parameter_call(tree: ast.AST) -> bool:
    """Whether an expression is `nn.Parameter(…)`."""
    return isinstance(tree, ast.Call) and last_name(tree) == "Parameter" and len(tree.args) > 0


def with_inner(whole: ast.expr, inner: ast.AST) -> str:
    """`nn.Parameter(torch.ones(2) * 0.1)` of `nn.Parameter(torch.ones(2)) * 0.1`."""
    assert isinstance(inner, ast.Call)
    text = ast.unparse(whole).replace(ast.unparse(inner), ast.unparse(inner.args[0]), 1)
    return f"{ast.unparse(inner.func)}({text})"


# ── operations ──────────────────────────────────────────────────────────────────────────────────────────────


@call_rule("joined_sizes", r"zero-dimensional tensor \(at position \d+\) cannot be concatenated")
def cat_of_numbers(failed: FailedCall) -> Explanation:
    """`cat` of tensors without a dimension."""
    need(isinstance(failed.tree, ast.Call) and failed.function in ("cat", "concat", "concatenate"))
    whole = ast.unparse(failed.tree)  # type: ignore[arg-type]
    return failed.explain("cat_of_numbers", failed.instead(whole.replace(failed.function, "stack", 1)))


@call_rule(
    "no_tensor", r"where\(\) received an invalid combination of arguments - got \((?P<kind>bool|int|float),"
)
def plain_condition(failed: FailedCall, kind: str) -> Explanation:
    """The condition of `where` is one truth value of Python."""
    need(failed.function == "where", failed.arguments)
    return failed.explain("plain_condition", name=ast.unparse(failed.arguments[0]), kind=kind)


@call_rule("index_dtype", r"\w+\(\): Expected dtype int(?:32/int)?64 for index")
def short_indices(failed: FailedCall) -> Explanation:
    """Indices of another dtype than int64."""
    index = require(failed.first(lambda each: each.whole and each.dtype not in ("int64", "int32", "bool")))
    return failed.explain("index_dtype_short", failed.behind(index, ".long()"), index=index)


@call_rule("singular_matrix", r"The diagonal element {n} is zero.*is singular")
def singular(failed: FailedCall, n: int) -> Explanation:
    """A matrix that has no inverse."""
    name = ast.unparse(failed.arguments[0]) if failed.arguments else failed.place
    return failed.explain("singular_matrix", name=name)


@call_rule("python_number", r"^AttributeError: 'numpy\.(?P<kind>\w+)' object has no attribute '{name}'")
def number_of_numpy(failed: FailedCall, kind: str, name: str) -> Explanation:
    """What NumPy has computed was used like a tensor."""
    part = require(failed.attribute)
    need(hasattr(minigrad.Tensor, name))
    made = require(next(iter(assigned_above(failed.case, ast.unparse(part.value))), None))
    told: Values = {"name": ast.unparse(part.value), "source": ast.unparse(made), "line": made.lineno}
    return failed.explain("numpy_number", cause=span_at(failed.case, made), **told)


@call_rule(
    "expanded_write", "more than one element of the written-to tensor refers to a single memory location"
)
def expanded_write(failed: FailedCall) -> Explanation:
    """A tensor was written to whose elements share memory, because `expand` repeats without a copy."""
    name = receiver(failed.tree) or ast.unparse(next(operands_in(failed.tree)))
    made = next(iter(assigned_above(failed.case, name)), None)
    fix = None if made is None else replace_part(failed.case, made, {made: f"{ast.unparse(made)}.clone()"})
    cause = None if made is None else span_at(failed.case, made)
    return failed.explain("expanded_write", fix, cause=cause, name=name)


@call_rule("class_weights", "weight tensor should be defined either for all {n} classes.*of shape: {given}")
def class_weights(failed: FailedCall, n: int, given: tuple[int, ...]) -> Explanation:
    """The weights of classes are more, or fewer, than there are classes."""
    return failed.explain("class_weights", n=n, count=math.prod(given))
