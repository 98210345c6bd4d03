"""Models, losses and optimizers that were written or created wrongly: no `super().__init__()`, no
`forward`,
layers in a Python list, a class or a method that was not called."""

from __future__ import annotations

import ast
import re
from difflib import get_close_matches

import minigrad

from ..trace.graph import Explanation
from .case import Case, Fix, Sentence, Uncertain, Values, name_list, need, numbers, require
from .edits import Edits, Shape, at_path, replace_part
from .failed_call import FailedCall, call_rule
from .missed_updates import is_module, layer_lists
from .silent_mistakes import CLASSES
from .syntax import (
    assigned_above,
    constants,
    function_around,
    last_name,
    receiver,
    span_at,
)

# ── how a module is written ─────────────────────────────────────────────────────────────────────────────────


def class_named(case: Case, name: str) -> ast.ClassDef:
    """The class of the cell with that name."""
    return require(next((each for each in case.executed(ast.ClassDef) if each.name == name), None))


def methods_of(owner: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    """The methods of a class."""
    return {each.name: each for each in owner.body if isinstance(each, ast.FunctionDef)}


def function_head(function: ast.FunctionDef, name: str, *first: str) -> str:
    """The first line of a function with another name, and with parameters before its own."""
    return f"def {name}({', '.join(filter(None, (*first, ast.unparse(function.args))))}):"


@call_rule("module_definition", r"before Module\.__init__\(\) call")
def not_initialized(failed: FailedCall) -> Explanation:
    """The class did not call `super().__init__()` before it created its layers."""
    function = function_around(failed.case, failed.case.span)
    need(isinstance(function, ast.FunctionDef) and function.name == "__init__")
    line = function.body[0].lineno  # type: ignore[union-attr]
    return failed.explain("module_init", line=line)


@call_rule("module_definition", r'Module \[{kind}\] is missing the required "forward" function')
def no_forward(failed: FailedCall, kind: str) -> Explanation:
    """The class has no method forward, or one with another name."""
    methods = methods_of(class_named(failed.case, kind))
    near = get_close_matches("forward", methods, 1)
    if not near:
        return failed.explain("module_forward")
    line, code = methods[near[0]].lineno, function_head(methods[near[0]], "forward")
    return failed.explain("module_near_why", "module_head_fix", near=near[0], line=line, code=code)


@call_rule("module_definition", r"(?P<kind>\w+)\.{name}\(\) takes {takes} positional .* but {given} were")
def no_self(failed: FailedCall, kind: str, name: str, takes: int, given: int) -> Explanation:
    """A method has no parameter for its object."""
    method = require(methods_of(class_named(failed.case, kind)).get(name))
    need(given == takes + 1, [each.arg for each in method.args.args][:1] != ["self"])
    code = function_head(method, name, "self")
    return failed.explain("module_self_why", "module_head_fix", line=method.lineno, code=code)


@call_rule("module_definition", "optimizer got an empty parameter list")
def no_parameters(failed: FailedCall) -> Explanation:
    """The layers of a model are in a plain Python list or dictionary, where a module does not find them."""
    case = failed.case
    given = failed.arguments[0] if failed.arguments else None
    for found in () if isinstance(given, ast.List | ast.Tuple) else layer_lists(case):
        return failed.explain(found.holder.empty, found.fix, name=found.name, line=found.line)
    return failed.explain("module_empty")


# ── what was not called ─────────────────────────────────────────────────────────────────────────────────────


@call_rule("optimizer_parameters", "optimizer can only optimize Tensors|object is not iterable")
def optimizer_given(failed: FailedCall) -> Explanation:
    """An optimizer was given a model, or the method that gives its parameters, without calling it."""
    given = given_to_optimizer(failed)
    need(isinstance(given, ast.Name | ast.Attribute))
    method = isinstance(given, ast.Attribute) and given.attr == "parameters"
    why = "optimizer_method_why" if method else "optimizer_model_why"
    name = ast.unparse(given)
    return failed.explain(why, written_for(failed, f"{name}{'()' if method else '.parameters()'}"), name=name)


@call_rule("optimizer_parameters", "optimizer can only optimize Tensors")
def optimizer_of_generators(failed: FailedCall) -> Explanation:
    """An optimizer was given a list whose elements are the parameters of several models."""
    given = given_to_optimizer(failed)
    if isinstance(given, ast.List) and all(map(is_parameters, given.elts)):
        code = f"[{', '.join(f'*{ast.unparse(each)}' for each in given.elts)}]"
    else:
        need(isinstance(given, ast.ListComp) and is_parameters(given.elt))
        loop = ast.unparse(given).removeprefix(f"[{ast.unparse(given.elt)} ").removesuffix("]")  # type: ignore[attr-defined]
        code = f"[p {loop} for p in {ast.unparse(given.elt)}]"  # type: ignore[attr-defined]
    return failed.explain("optimizer_generators_why", written_for(failed, code))


def is_parameters(tree: ast.expr) -> bool:
    """Whether an expression is `model.parameters()`."""
    return (
        isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and tree.func.attr == "parameters"
    )


@call_rule("optimizer_parameters", "params argument given to the optimizer should be an iterable")
def optimizer_of_tensor(failed: FailedCall) -> Explanation:
    """An optimizer was given one tensor instead of a list with it."""
    name = ast.unparse(given_to_optimizer(failed))
    return failed.explain("optimizer_tensor_why", written_for(failed, f"[{name}]"), name=name)


def given_to_optimizer(failed: FailedCall) -> ast.expr:
    """What the optimizer was given that failed."""
    need(failed.function in CLASSES, failed.arguments)
    return failed.arguments[0]


def written_for(failed: FailedCall, code: str) -> Fix | None:
    """What to do: other code for the first argument."""
    part = failed.here(failed.arguments[0])
    return failed.rewrite({part: code} if part else None)


@call_rule("not_called", "Boolean value of Tensor with more than one value is ambiguous")
def loss_of_tensors(failed: FailedCall) -> Explanation:
    """The class of a loss was given the predictions, instead of an object of it."""
    need(isinstance(failed.node, ast.Call), failed.function.endswith("Loss"))
    return given_to_class(failed, failed.node)  # type: ignore[arg-type]


@call_rule("not_called", "'(?P<kind>[A-Z]\\w*Loss)' object has no attribute")
def loss_as_tensor(failed: FailedCall, kind: str) -> Explanation:
    """The same, where the object was used like the loss that it would have computed."""
    values = assigned_above(failed.case, ast.unparse(require(failed.attribute).value))
    made = [each for each in values if isinstance(each, ast.Call) and last_name(each) == kind and each.args]
    need(made)
    return given_to_class(failed, made[0])


def given_to_class(failed: FailedCall, made: ast.Call) -> Explanation:
    """The explanation for a call of the class of a loss."""
    fix, kind = replace_part(failed.case, made, {made.func: f"{ast.unparse(made.func)}()"}), last_name(made)
    told: Values = {"source": ast.unparse(made), "line": made.lineno, "kind": kind}
    return failed.explain("loss_class", fix, cause=span_at(failed.case, made), **told)


@call_rule("not_called", r"\(\): argument .*position {place}\) must be Tensor, not (?P<kind>[A-Z]\w+)")
def module_as_tensor(failed: FailedCall, place: int, kind: str) -> Explanation:
    """A module was passed where its result is needed."""
    need(is_module(failed.case, kind), place <= len(failed.arguments))
    return not_called(failed, failed.arguments[place - 1])


@call_rule("not_called", r"'(?P<kind>[A-Z]\w+)' object has no attribute '{attribute}'")
def module_used(failed: FailedCall, kind: str, attribute: str) -> Explanation:
    """The same, in a function that asked it for what tensors have."""
    need(is_module(failed.case, kind), hasattr(minigrad.Tensor, attribute))
    own = [] if failed.attribute is None else [failed.attribute.value]
    for given in [*own, *failed.arguments]:
        made = next(iter(assigned_above(failed.case, ast.unparse(given))), given)
        if isinstance(made, ast.Call) and last_name(made) == kind:
            return not_called(failed, given)
    raise Uncertain


def not_called(failed: FailedCall, given: ast.expr) -> Explanation:
    """The explanation for a module passed where its result is needed."""
    made = next(iter(assigned_above(failed.case, ast.unparse(given))), given)
    source = ast.unparse(given if isinstance(made, ast.Call) else made)
    cause = None if made is given or isinstance(made, ast.Call) else span_at(failed.case, made)
    told: Values = {"name": ast.unparse(given), "source": source}
    return failed.explain("module_tensor", cause=cause, **told)


@call_rule("not_called", r"\w+\(\) missing 1 required positional argument: 'self'")
def class_as_object(failed: FailedCall) -> Explanation:
    """A method was called on a class, instead of on an object of it."""
    parts = [] if failed.node is None else list(ast.walk(failed.node))
    found = [each.func for each in parts if isinstance(each, ast.Call) and not each.args]
    owner = require(next((each.value for each in found if isinstance(each, ast.Attribute)), None))
    made = next(iter(assigned_above(failed.case, ast.unparse(owner))), owner)
    kind = ast.unparse(made).rpartition(".")[2]
    need(class_named(failed.case, kind))
    fix = replace_part(failed.case, made, {made: f"{ast.unparse(made)}()"})
    return failed.explain("class_object_why", fix, name=ast.unparse(owner), kind=kind)


@call_rule("no_tensor", "'list' object has no attribute 'backward'")
def list_of_losses(failed: FailedCall) -> Explanation:
    """`backward()` of a list of losses."""
    part = require(failed.attribute)
    return failed.explain("loss_list_why", failed.put(part.value, "sum({})"), name=ast.unparse(part.value))


# ── a state dict ────────────────────────────────────────────────────────────────────────────────────────────

NESTED = ("model", "model_state", "model_state_dict", "net", "state_dict")  # where checkpoints keep the model


@call_rule(
    "state_dict",
    r"size mismatch for {name}: .*?shape torch\.Size\({given}\) from checkpoint, .*? torch\.Size\({wanted}\)",
)
def state_sizes(failed: FailedCall, name: str, given: Shape, wanted: Shape) -> Explanation:
    """Parameters of the model have other shapes than those that are loaded."""
    every = MISMATCH.findall(failed.case.error)
    others = ", ".join(each[0] for each in every[1:])
    calls: dict[ast.Call, Edits] = {}
    for path, *sizes in every:
        old, new = map(numbers, sizes)
        made = at_path(failed.case, f"{receiver(failed.tree)}.{path.rpartition('.')[0]}")
        if isinstance(made, ast.Call) and path.endswith("weight"):
            given_to = made.args[:2] if last_name(made) == "Embedding" or len(old) < 2 else made.args[1::-1]
            pairs = [(part, n, m) for part, n, m in zip(given_to, old, new) if n != m]
            literal = constants(part for part, *_ in pairs) == tuple(m for *_, m in pairs)
            calls |= {made: {part: str(n) for part, n, _ in pairs}} if pairs and literal else {}
    fixes = [replace_part(failed.case, call, edits) for call, edits in calls.items()]
    texts = [each.text for each in fixes if each is not None]
    fix = Fix(Sentence(" ".join(texts)), fixes[0] and fixes[0].cause) if texts else None
    return failed.explain("state_size_why", fix, "state_size_fix", others=others)


MISMATCH = re.compile(r"size mismatch for ([\w.]+): .*?torch\.Size\((.*?)\).*?torch\.Size\((.*?)\)")


@call_rule("state_dict", r"(?:Missing|Unexpected) key\(s\) in state_dict: ")
def state_names(failed: FailedCall) -> Explanation:
    """The names of what is loaded are not those of the model."""
    lines = failed.case.error.splitlines()
    missing, other = (
        [name for line in lines if f"{what} key(s)" in line for name in re.findall('"(.*?)"', line)]
        for what in ("Missing", "Unexpected")
    )
    need(failed.arguments)
    given, nested = failed.arguments[0], [each for each in other if each in NESTED]
    code = f'{{}}["{nested[0]}"]' if nested and missing else with_model_names(missing, other)
    fixes = (
        failed.put(given, code, "state_names_fix"),
        failed.option("strict", False, "state_names_some_fix"),
    )
    names: Values = {"missing": name_list(missing), "other": name_list(other)}
    return failed.explain("state_names_why", *fixes, "state_size_fix", **names)


def with_model_names(missing: list[str], other: list[str]) -> str:
    """The state dict under the names of the model, where either has a prefix more; "" where that is not
    it."""
    for short, long, name in (
        (missing, other, 'name.removeprefix("{}")'),
        (other, missing, '"{}" + name'),
    ):
        prefix = min(long).removesuffix(min(short)) if short and long else ""
        if prefix and {prefix + each for each in short} == {*long}:
            return f"{{{name.format(prefix)}: value for name, value in {{}}.items()}}"
    return ""


@call_rule("state_dict", "Expected state_dict to be dict-like, got")
def no_state(failed: FailedCall) -> Explanation:
    """The model itself was given instead of its parameters."""
    need(failed.function == "load_state_dict", failed.arguments)
    given = failed.arguments[0]
    need(ast.unparse(given) != receiver(failed.tree))
    return failed.explain("state_model_why", failed.put(given, "{}.state_dict()"), name=ast.unparse(given))
