"""Jacobians of a gradcheck that failed, and of a gradient that was given to a backward call: v, J and vᵀJ.

The numbers are those that the gradcheck compared itself: the trace has them. Of the source only what can be
read plainly is believed: a class that the cell defines once, a function that is one expression, names that
are assigned once.

J is not recorded. It is made of what the nodes on the way do to unit vectors: their own vjps run on the
numbers that they had saved, never the user's code. It is shown only where each of them gives what the node
really sent and vᵀJ comes out as recorded; else v and vᵀJ alone.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..flow.backward_pass import Flow, flow_of
from ..model.scene import Scene, Scenes
from ..model.stations import BackwardCall
from ..number_text import number
from ..protocol import Value
from ..snapshots import array_of, close
from ..trace.events import BackwardStarted, Snapshot, TensorCreated, TensorState
from ..trace.graph import Explanation, Matrices, Matrix
from ..trace.source_positions import Span
from ..words import clean, text
from .case import Case, Fix, Values, require, rule
from .edits import require_gradients
from .failed_call import FLOATING, FailedCall, call_rule
from .syntax import assigned_once, expression_of_span, last_name, last_part_of_name, span_at, stores

# ─── A gradcheck that failed


# ── what the source says of it ──────────────────────────────────────────────────────────────────────────────

CHECKS = ("gradcheck", "gradgradcheck")
CUTTING = ("detach", "no_grad", "data", "item", "numpy", "tolist", "set_grad_enabled", "inference_mode")


class Call(NamedTuple):
    """A call of `gradcheck` or (`second`) `gradgradcheck`. `inputs` are the expressions of its inputs, none
    where they cannot be read."""

    function: ast.expr
    inputs: tuple[ast.expr, ...]
    second: bool


class Culprit(NamedTuple):
    """A backward that gives a wrong gradient: the name of its Function, and where the source says what it
    returns, for the input in question if `exact`."""

    name: str
    span: Span
    exact: bool


def check_of(case: Case) -> Call | None:
    """The check that failed; None if the failing expression has none, or more than one."""
    tree = expression_of_span(case.span)
    parts = [] if tree is None else [part for part in ast.walk(tree) if isinstance(part, ast.Call)]
    calls = [call for call in parts if last_name(call) in CHECKS]
    if len(calls) != 1 or any(isinstance(each, ast.Starred) for each in calls[0].args):
        return None
    given: dict[str | None, ast.expr] = dict(zip(("func", "inputs"), calls[0].args, strict=False))
    given |= {each.arg: each.value for each in calls[0].keywords}
    inputs, function = given.get("inputs"), given.get("func")
    if isinstance(inputs, ast.Name):
        assigned = assigned_once(case, inputs.id)
        inputs = assigned if isinstance(assigned, ast.Tuple | ast.List) else inputs
    each = inputs.elts if isinstance(inputs, ast.Tuple | ast.List) else [inputs] if inputs else []
    each = [] if any(isinstance(one, ast.Starred) for one in each) else each
    return None if function is None else Call(function, tuple(each), last_name(calls[0]) == CHECKS[1])


def culprit(case: Case, call: Call, input: int | None) -> Culprit | None:
    """The backward that gives a wrong gradient for input number `input` of all (None: it is not known which).
    None unless there is exactly one custom Function in what was checked."""
    whole = applied_function(case, call.function)
    if whole is not None:
        return return_values(case, whole, input)
    parameters, body = expression_function(case, call.function)
    parts = [] if body is None else list(ast.walk(body))
    used = [(applied_function(case, part.func), part) for part in parts if isinstance(part, ast.Call)]
    uses = [(owner, use) for owner, use in used if owner is not None]
    if len(uses) != 1 or any(last_part_of_name(part) in CUTTING for part in parts):
        return None
    owner, use = uses[0]
    name = parameters[input] if input is not None and input < len(parameters) else ""
    mine = [part for part in parts if isinstance(part, ast.Name) and part.id == name]
    places = [k for k, argument in enumerate(use.args) if argument in mine]
    return return_values(case, owner, places[0] if len(mine) == len(places) == 1 else None)


def applied_function(case: Case, function: ast.expr) -> ast.ClassDef | None:
    """The custom Function whose `apply` an expression is."""
    if isinstance(function, ast.Name):
        function = assigned_once(case, function.id) or function
    if not isinstance(function, ast.Attribute) or function.attr != "apply":
        return None
    owner = definition_of(case, last_part_of_name(function.value))
    mine = isinstance(owner, ast.ClassDef) and any(
        last_part_of_name(base) == "Function" for base in owner.bases
    )
    return owner if mine else None


def definition_of(case: Case, name: str) -> Any:
    """The class or function of that name, if the cell defines it exactly once."""
    found = [part for part in case.syntax() if getattr(part, "name", None) == name]
    return found[0] if len(found) == 1 and case.ran(found[0]) else None


def expression_function(case: Case, function: ast.expr) -> tuple[list[str], ast.expr | None]:
    """The parameters of a function that is one expression, and that expression."""
    known: Any = function
    if isinstance(function, ast.Name):
        known = assigned_once(case, function.id) or definition_of(case, function.id)
    if isinstance(known, ast.FunctionDef):
        *told, last = known.body
        plain = isinstance(last, ast.Return) and all(isinstance(each, ast.Expr) for each in told)
        return [each.arg for each in known.args.args], last.value if plain else None  # type: ignore
    return ([a.arg for a in known.args.args], known.body) if isinstance(known, ast.Lambda) else ([], None)


def return_values(case: Case, owner: ast.ClassDef, input: int | None) -> Culprit | None:
    """Where the backward of a Function says what it returns: for one input, or (None) at all."""
    methods = [part for part in owner.body if isinstance(part, ast.FunctionDef) and part.name == "backward"]
    parts = list(ast.walk(methods[0])) if len(methods) == 1 else []
    returns = [part for part in parts if isinstance(part, ast.Return) and part.value is not None]
    if len(returns) != 1:
        return None
    where: ast.AST = returns[0]
    each = returns[0].value.elts if isinstance(returns[0].value, ast.Tuple) else [returns[0].value]
    if input is None or input >= len(each) or any(isinstance(one, ast.Starred) for one in each):
        return Culprit(owner.name, span_at(case, where), False)
    part = each[input]
    plain = [one for one in parts if isinstance(one, ast.stmt) and not hasattr(one, "body")]
    made = [one for one in plain if isinstance(part, ast.Name) and part.id in stores(one)]
    if len(made) == 1 and isinstance(made[0], ast.Assign):
        where = made[0]
    elif len(each) > 1 and part is not None:
        where = part
    return Culprit(owner.name, span_at(case, where), True)


# ── what is said of it ──────────────────────────────────────────────────────────────────────────────────────

SINGLE = ("float32", "complex64", "float16", "bfloat16")
COARSE = 1e-4  # with a step as large as this, single precision may do

Array = np.ndarray[Any, Any]
Input = tuple[str, TensorState]  # of the checked function: its text in the source, and how it stood


class JacobianPair(NamedTuple):
    """One output by one input: the Jacobians of both kinds, a row per element of the input and a column per
    element of the output (of a complex output first the real parts, then the imaginary ones). `wrong` are the
    places that do not agree, the worst first."""

    output: int
    input: int
    numerical: Array
    analytical: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    dtype: str
    wrong: tuple[tuple[int, int], ...]


@rule(
    "jacobian_mismatch",
    "Jacobian .*mismatch for output {output} with respect to input {input},\nnumerical:",
)
def jacobian_mismatch(case: Case, output: int, input: int) -> Explanation | None:
    """The derivative by backward is not that by differences."""
    last, call = require(case.failed).compared, require(check_of(case))
    given = inputs_of(case, call)
    learning = [k for k, (_, state) in enumerate(given or ()) if state.requires_grad]
    place = learning[input] if input < len(learning) else None
    mine = given[place] if given is not None and place is not None else None
    pair = pair_of(case, output, input, mine)
    row = case.words("check_input", j=input) if mine is None else mine[0]
    title = case.words("check_title", row=row, i=output)
    shown = () if pair is None else (comparison_matrices(title, pair, case.lang),)
    imprecise = ", ".join(single_precision_inputs(case, given))
    if imprecise and last is not None and last.eps < COARSE:
        values: Values = {"names": imprecise, "eps": f"{last.eps:g}", "key": "single_precision"}
        told = case.explain("why_single_precision", "fix_single_precision", **values)
        return told._replace(matrices=shown)
    forward = "forward mode" in case.error
    wrong = None if call.second or forward else culprit(case, call, place)
    values, fix = {"i": output, "j": input}, ""
    if wrong is not None:
        fix = "fix_jacobian_input" if wrong.exact and mine is not None else "fix_jacobian"
        values |= {"function": wrong.name, "line": wrong.span.line, "name": mine[0] if mine else ""}
    why = "why_jacobian_second" if call.second else "why_jacobian"
    if pair is not None and pair.wrong:
        why = "why_jacobian_place_second" if call.second else "why_jacobian_place"
        values |= worst_of(pair)
    cause = None if wrong is None else wrong.span
    return case.explain(why, fix, cause=cause, **values)._replace(matrices=shown)


def worst_of(pair: JacobianPair) -> dict[str, object]:
    """What does not agree, with the numbers of the worst place."""
    worst = row, column = pair.wrong[0]
    return {
        "above": pair.columns[column],
        "below": pair.rows[row],
        "numerical": number(pair.numerical[worst].item(), pair.dtype),
        "analytical": number(pair.analytical[worst].item(), pair.dtype),
        "n": len(pair.wrong),
        "total": len(pair.rows) * len(pair.columns),
    }


# ── the inputs ────────────────────────────────────────────────────────────────────────────────────────────


def inputs_of(case: Case, call: Call) -> list[Input] | None:
    """The inputs of the call; None unless each of them is a tensor that is known."""
    assert case.failed is not None
    known = dict(case.failed.named)
    for last in case.earlier(Snapshot)[-1:]:
        known = dict(last.rows) | known
    names = list(map(ast.unparse, call.inputs))
    if not names or any(name not in known for name in names):
        return None
    return [(name, known[name]) for name in names]


def single_precision_inputs(case: Case, given: list[Input] | None) -> list[str]:
    """The inputs that require gradients in single precision, or coarser. Where they are not known, all
    tensors of the cell that do so, if there are no others and the text mentions no other dtype."""
    if given is not None:
        return [name for name, state in given if state.requires_grad and dtype_of(state) in SINGLE]
    made = {e.tensor.id: e for e in case.earlier(TensorCreated) if e.tensor.requires_grad}
    plain = "dtype=" not in case.error and all(dtype_of(event.tensor) in SINGLE for event in made.values())
    return [case.name(id) for id in made] if plain else []


def dtype_of(state: TensorState) -> str:
    """The dtype of a tensor, "" where it is not known."""
    return "" if state.value is None else state.value.dtype


# ── the numbers ───────────────────────────────────────────────────────────────────────────────────────────


def pair_of(case: Case, output: int, input: int, mine: Input | None) -> JacobianPair | None:
    """The numerical and the analytical matrix; None if they were not kept."""
    assert case.failed is not None
    found = case.failed.compared
    if found is None or len(found.numerical.shape) != 2:
        return None
    high, wide = found.numerical.shape
    numerical, analytical = (
        np.array(value.items).reshape(high, wide) for value in (found.numerical, found.analytical)
    )
    value = None if mine is None else mine[1].value
    rows = elements("in" if mine is None else mine[0], high, None if value is None else value.shape)
    columns = elements(f"out{output or ''}", wide)
    wrong = places(analytical, numerical, found.atol, found.rtol)
    return JacobianPair(output, input, numerical, analytical, rows, columns, found.numerical.dtype, wrong)


def places(a: Array, n: Array, atol: float, rtol: float) -> tuple[tuple[int, int], ...]:
    """The places that do not agree, the worst first."""
    with np.errstate(invalid="ignore"):
        size = np.nan_to_num(np.abs(a - n), nan=np.inf)
        wrong = np.argwhere(~np.isclose(a, n, rtol=rtol, atol=atol)).tolist()
    return tuple(sorted(((i, j) for i, j in wrong), key=lambda at: -size[at]))


# ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────


def comparison_matrices(title: str, pair: JacobianPair, lang: str | None = None) -> Matrices:
    """analytical − numerical = difference, with the wrong places marked in each."""
    told = (
        (text("check_analytical", lang), pair.analytical, ""),
        (text("check_numerical", lang), pair.numerical, "−"),
        (text("check_difference", lang), pair.analytical - pair.numerical, "="),
    )
    known = pair.dtype, pair.rows, pair.columns, pair.wrong
    shown = (
        Matrix(name, tuple(map(tuple, (array + 0.0).tolist())), *known, sign)
        for name, array, sign in told  # + 0.0: without −0
    )
    return Matrices(title, tuple(shown))


def elements(name: str, n: int, shape: tuple[int, ...] | None = None) -> tuple[str, ...]:
    """What to call the `n` elements of a tensor: `x[0, 1]`; a single one like the tensor."""
    if n == 1:
        return (name,)
    places = (
        list(np.ndindex(shape)) if shape is not None and math.prod(shape) == n else [(k,) for k in range(n)]
    )
    return tuple(f"{name}[{', '.join(map(str, place))}]" for place in places)


@call_rule("check_no_input", "gradcheck expects at least one input tensor to require grad")
def no_input(failed: FailedCall) -> Explanation:
    """No input of a gradcheck requires gradients."""
    text = require_gradients(
        failed.case, [each.id for each in failed.operands if each.dtype.startswith(FLOATING)]
    )
    return failed.explain("check_no_input", text and Fix(text))


# ─── A gradient that was given to a backward call


CALLS = 3  # the last ones, of a loop with many
WORK = 2000  # nodes times unit vectors
Place = tuple[str, int]  # an output of a node
KEYWORDS = ("gradient", "grad_tensors", "grad_outputs", "v")


def vector_notes(scenes: Scenes, lang: str | None = None) -> Iterator[Explanation]:
    """A note for each of the last backward calls with a vector (`gradient=`)."""
    calls = [call.number for call in scenes.index.calls.values() if is_given(call)]
    notes = (note_of(scenes.of(call), lang) for call in calls[-CALLS:])
    return filter(None, notes)


def is_given(call: BackwardCall) -> bool:
    """Whether a single vector of real numbers was given, how it was is known, and the call did not fail.
    Those that a function of the library makes for itself, as `jacobian` does, are not given by anybody."""
    event = call.started
    if event is None or call.error is not None or (event.span and given_in(event) is None):
        return False
    v = event.gradients[0] if len(event.gradients) == 1 else None
    real = v is not None and v.items is not None and not v.dtype.startswith("complex")
    return real and v is not None and v.size > 1 and not event.batched


def note_of(scene: Scene, lang: str | None) -> Explanation | None:
    """What v, J and vᵀJ are in one call; None if nothing arrived anywhere, or the root is a leaf."""
    event = scene.now.started
    assert event is not None
    v = event.gradients[0]
    root = event.roots[0]
    name = scene.named.get(root)
    targets = list(targets_of(scene, event))
    if name is None or scene.at[root][0].node is None or not targets or v is None:
        return None
    order = {state.id: k for k, place in enumerate(scene.places) for state in place.states}
    targets.sort(key=lambda target: order[target[0]])
    weight, jacobians = weight_of(event), jacobians_of(scene, event, v)
    shown = []
    for tensor, place, arrived in targets:
        jacobian = None if jacobians is None else jacobians.get(place)
        if jacobian is not None and not comes_out(v, jacobian, arrived):
            jacobian = None
        names = name, scene.named[tensor], weight
        shown.append(matrices(event.kind, names, (v, jacobian, arrived), lang))
    why = clean(text("given_gradient", lang, root=name, v=weight))
    return Explanation("given_gradient", "", why, call=event.call, span=event.span, matrices=tuple(shown))


def given_in(event: BackwardStarted) -> ast.expr | None:
    """The gradient in a call of `backward`, `grad` or `vjp` as the source has it; None if there is no
    such call, or it gives none."""
    call = expression_of_span(event.span)
    if not isinstance(call, ast.Call) or last_name(call) not in ("backward", "grad", "vjp"):
        return None
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    method = last_name(call) == "backward" and holder is not None and last_part_of_name(holder) != "autograd"
    place = 0 if method else 1 if last_name(call) == "backward" else 2  # y.backward(v)
    given = [k.value for k in call.keywords if k.arg in KEYWORDS] or call.args[place : place + 1]
    if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List) and len(given[0].elts) == 1:
        given = given[0].elts
    return given[0] if given else None


def weight_of(event: BackwardStarted) -> str:
    """What the source calls the gradient that was given; "v" where it has no name."""
    given = given_in(event)
    return ast.unparse(given) if isinstance(given, ast.Name | ast.Attribute) else "v"


def targets_of(scene: Scene, event: BackwardStarted) -> Iterator[tuple[str, Place, Value]]:
    """The tensors at which a gradient arrived that was asked for, with the place of each and the gradient."""
    if event.kind == "grad":
        for tensor, gradient in scene.captured.items():
            if gradient.items and tensor in scene.at and tensor in scene.named:
                place, nr = scene.at[tensor]
                node = scene.accumulators.get(tensor)
                yield tensor, ((place.node or "", nr) if node is None else (node, 0)), gradient
        return
    for id, ran in scene.now.ran.items():
        tensor = scene.nodes[id].variable or ""
        received = ran.received[0] if len(ran.received) == 1 else None
        if tensor in scene.named and received is not None and received.items:
            yield tensor, (id, 0), received


def comes_out(v: Value, jacobian: Any, arrived: Value) -> bool:
    """Whether vᵀJ is what was recorded."""
    vector, recorded = array_of(v).reshape(-1), array_of(arrived).reshape(-1)
    scale = np.abs(vector) @ np.abs(jacobian)
    return jacobian.shape[1] == recorded.size and close(vector @ jacobian, recorded, arrived.dtype, scale)


# ── J ───────────────────────────────────────────────────────────────────────────────────────────────────────


def jacobians_of(scene: Scene, event: BackwardStarted, v: Value) -> dict[Place, Any] | None:
    """The Jacobian of the root with respect to the tensor at each place that received a gradient: a row per
    element of the root. None where it is not certain."""
    if len(scene.now.ran) * v.size > WORK:
        return None
    walk, (root, nr) = flow_of(scene), scene.at[event.roots[0]]
    units = np.eye(v.size, dtype=array_of(v).dtype).reshape(v.size, *v.shape)
    rows = [pull_back(walk, (root.node or "", nr), unit) for unit in units]
    if not all(rows):
        return None
    return {place: np.stack([row[place].reshape(-1) for row in rows]) for place in rows[0]}


def pull_back(walk: Flow, start: Place, gradient: Any) -> dict[Place, Any]:
    """What arrives at each place when the root is given `gradient`; nothing where a node's own vjp does not
    give what the node really sent."""
    arrived = {start: gradient}
    for node in walk.scene.now.ran:
        edges = walk.nodes[node].edges if (node, 0) in arrived else ()
        for i, edge in enumerate(edges):
            if edge is not None and walk.expects(node, i):
                share = walk.sent(node, i, arrived[node, 0]) if walk.trusted(node, i) else None
                if share is None:
                    return {}
                arrived[edge] = arrived[edge] + share if edge in arrived else share
    return arrived


# ── what is shown ───────────────────────────────────────────────────────────────────────────────────────────


def matrices(
    kind: str, names: tuple[str, str, str], numbers: tuple[Value, Any, Value], lang: str | None
) -> Matrices:
    """vᵀ · J = vᵀJ for one tensor; v and vᵀJ where J is not known. `names` are those of the root, of the
    tensor and of v."""
    (root, name, weight), (v, jacobian, arrived) = names, numbers
    rows, columns = elements(root, v.size, v.shape), elements(name, arrived.size, arrived.shape)
    assert v.items is not None and arrived.items is not None
    shown = [Matrix("vᵀ" if weight == "v" else f"vᵀ = {weight}", (v.items,), v.dtype, (), rows)]
    if jacobian is not None:
        items = tuple(map(tuple, (jacobian + 0.0).tolist()))  # without −0
        shown.append(Matrix(f"J = ∂{root}/∂{name}", items, arrived.dtype, rows, columns, (), "·"))
    title = text("given_returned" if kind == "grad" else "given_arrives", lang, name=name)
    sign = "→" if jacobian is None else "="
    shown.append(Matrix(title, (arrived.items,), arrived.dtype, (), columns, (), sign))
    return Matrices("", tuple(shown))
