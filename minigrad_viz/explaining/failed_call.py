"""The call that ended a cell: its operands, the layer in which it failed, and the sentences about it.

Note [Where the sizes come from]
    The text of an error has sizes and no names. The failing expression has names and no sizes. The trace has
    both, for each tensor that it saw. So an operand is named only if its recorded shape is the one that the
    error is about; where that cannot be held against each other, only the sizes of the error are named.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..model.execution import ModuleCall
from ..model.naming import plain_name
from ..model.stations import LIBRARY
from ..trace.events import (
    Forward,
    ModeChanged,
    ModuleReturned,
    Statement,
    TensorCreated,
    TensorDetached,
    TensorState,
)
from ..trace.graph import GUILTY, Explanation, Mark
from ..trace.source_positions import Span
from ..words import fields, fix_of, shorten
from .case import Case, F, Fix, Sentence, need, numbers, rule
from .edits import Constructor, Edits, Shape, constructor, out_of_place, rewritten, sizes_of, with_option
from .syntax import (
    before_dot_source,
    constants,
    expression_of_span,
    node_at,
    normal_source,
    operands_in,
    receiver,
    span_at,
    statement_around,
)

# ─── What a failing call computes with


LONGEST = 40  # columns of an operand that is quoted
WHOLE, FLOATING = ("int", "uint", "bool"), ("float", "bfloat")  # how the names of dtypes begin


class Operand(NamedTuple):
    """What a failing expression computes with. `tree` is its syntax there (None: nowhere), `state` that of
    the tensor then (None: nobody saw it); `dim` is the dimension that is in question."""

    name: str
    shape: Shape
    dtype: str = ""
    state: TensorState | None = None
    tree: ast.expr | None = None
    dim: int | None = None

    def at(self, dim: int) -> Operand:
        """The same, of which one dimension is in question."""
        return self._replace(dim=dim % len(self.shape))

    def sized(self, size: int, dim: int | None = None) -> Shape:
        """Its shape with another size in that dimension."""
        dim = (self.dim or 0) if dim is None else dim % len(self.shape)
        return (*self.shape[:dim], size, *self.shape[dim + 1 :])

    @property
    def size(self) -> int:
        """The size of that dimension."""
        return self.shape[self.dim or 0]

    @property
    def text(self) -> str:
        """Its source."""
        return self.name if self.tree is None else ast.unparse(self.tree)

    @property
    def id(self) -> str:
        """The id of the tensor; "" if nobody saw it."""
        return "" if self.state is None else self.state.id

    @property
    def range(self) -> tuple[float, float] | None:
        """Its smallest and its largest number, where they are known."""
        value = None if self.state is None else self.state.value
        return None if value is None or value.low is None or value.high is None else (value.low, value.high)

    @property
    def asks(self) -> bool:
        """Whether it requires gradients."""
        return self.state is not None and self.state.requires_grad

    @property
    def whole(self) -> bool:
        """Whether it has whole numbers or truth values."""
        return self.dtype.startswith(WHOLE)


class Layer:
    """The call of a layer, and what it received."""

    def __init__(self, case: Case, call: ModuleCall, input: Operand) -> None:
        self.case, self.call, self.input = case, call, input
        self.name, self.kind = layer_name(call), call.event.kind
        self.sizes = numbers(call.event.about)  # 10 and 1 of `Linear 10→1`

    def build(self, change: Callable[[Constructor], Fix | None], sizes: Shape = ()) -> Fix | None:
        """What to do: a change of the call that created the layer, with `sizes` as its first arguments."""
        made = constructor(self.case, self.kind, self.call.event.path, sizes)
        return None if made is None else change(made)

    def resized(self, sizes: Shape, place: int, new: int) -> Fix | None:
        """What to do: another number in the call that created the layer."""
        return self.build(lambda made: made.changed(place, new), sizes)

    @property
    def worked_before(self) -> bool:
        """Whether an earlier call of the same layer returned something."""
        calls = self.case.scene.index.module_calls.calls
        return any(call.event.path == self.call.event.path and call.outputs for call in calls)


def layer_name(call: ModuleCall) -> str:
    """A layer as a sentence names it: `model.2, Linear 10→1`."""
    kind = f"{call.event.kind} {call.event.about}".strip()
    return f"{call.event.path} ({kind})" if call.event.path else kind


def failed_module(case: Case) -> ModuleCall | None:
    """The innermost call of a module inside which the failing expression ended, if that is outside the
    cell."""
    ended = list[int]()  # outer ones come first, as they ended last
    for event in reversed(case.before):
        match event:
            case ModuleReturned(outputs=()):
                ended.append(event.number)
            case Statement() | ModeChanged():  # `with no_grad():` was left by the error
                continue
            case _:
                break
    calls = {call.event.number: call for call in case.scene.index.module_calls.calls}
    mine = [calls[number] for number in ended if calls[number].event.span == case.span]
    return mine[-1] if mine else None


def run_before(case: Case, call: ModuleCall) -> ModuleCall | None:
    """The call before another one in the Sequential that the failing expression calls."""
    around = call.around
    if around is None or around.event.kind != "Sequential":
        return None
    calls = case.scene.index.module_calls.calls
    earlier = [each for each in calls if each.around is around and each.begin < call.begin]
    outer = around.around is None or around.around.event.span != case.span
    return earlier[-1] if outer and earlier else None


# ── the tensors that an expression names ────────────────────────────────────────────────────────────────────


def operand_tensor(case: Case, text: str) -> TensorState | None:
    """The tensor that an operand is: one with a name, or the result that was computed there."""
    named = dict(case.failed.named) if case.failed is not None else {}
    return named[text] if text in named else newest_result(case, text)


def newest_result(case: Case, text: str) -> TensorState | None:
    """The newest result of the expression `text` within the lines of the failing one."""
    for event in reversed(case.earlier(TensorCreated, Forward, TensorDetached)):
        span: Span | None = event.span
        if span is None or case.span is None:
            continue
        if span.origin != case.span.origin or not case.span.line <= span.line <= case.span.end_line:
            continue
        if normal_source(span.text) == text:
            return event.states[0] if len(event.states) == 1 else None
    return None


def operand_of(case: Case, state: TensorState, tree: ast.expr, plain: bool = False) -> Operand:
    """A tensor in the failing expression. It is called as it is written there, and (unless `plain`) as in the
    picture if that differs: `t (w)` inside a function that got `w`."""
    text, named = ast.unparse(tree), case.scene.named.get(state.id)
    known = text if named is None or plain else plain_name(named)
    name = shorten(LIBRARY.sub("", text if known == text else f"{text} ({known})"), LONGEST)
    if state.value is None:
        return Operand(name, (), "", state, tree)
    return Operand(name, state.value.shape, state.value.dtype, state, tree)


def made_at(case: Case, tensor: str) -> Span | None:
    """Where a tensor was made, if that is not where the error occurred."""
    event, failed = case.scene.index.births.get(tensor), case.span
    span = None if event is None else event.span
    if span is None or failed is None or span.origin != failed.origin:
        return span
    return None if span.text in failed.text and span.line >= failed.line else span


# ─── The call that ended a cell


SIGNS: dict[type, str] = {ast.MatMult: "@", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


class FailedCall:
    """What failed: an operation, a layer or another statement of the cell. The sentences about it are filled
    with what the pattern of the rule `found` in the text of the error."""

    def __init__(self, case: Case, found: Mapping[str, Any] | None = None) -> None:
        self.case, self.found = case, found or {}

    # ── the expression ──────────────────────────────────────────────────────────────────────────────────────

    @functools.cached_property
    def tree(self) -> ast.AST | None:
        """The syntax tree of what failed."""
        return expression_of_span(self.case.span)

    @functools.cached_property
    def assignment(self) -> ast.Assign | None:
        """The assignment `x[0] = y` whose target failed."""
        whole, part = statement_around(self.case, self.case.span), self.tree
        if not isinstance(whole, ast.Assign) or not isinstance(part, ast.Subscript):
            return None
        return whole if ast.unparse(whole.targets[0]) == ast.unparse(part) else None

    @property
    def whole(self) -> ast.AST | None:
        """The syntax tree of what failed; of the target of an assignment all of it."""
        return self.assignment or self.tree

    @functools.cached_property
    def node(self) -> ast.AST | None:
        """The same, as written in the cell."""
        return self.assignment or node_at(self.case, self.case.span)

    @functools.cached_property
    def function(self) -> str:
        """The name of the function or method that failed; "@" and the like for an operator."""
        if isinstance(self.tree, ast.Call):
            return ast.unparse(self.tree.func).rpartition(".")[2]
        return SIGNS.get(type(getattr(self.tree, "op", None)), "")

    @property
    def attribute(self) -> ast.Attribute | None:
        """The attribute that failed, or whose call did."""
        part = self.tree.func if isinstance(self.tree, ast.Call) else self.tree
        return part if isinstance(part, ast.Attribute) else None

    @property
    def arguments(self) -> list[ast.expr]:
        """The positional arguments of the failing call."""
        return self.tree.args if isinstance(self.tree, ast.Call) else []

    @property
    def options(self) -> list[ast.keyword]:
        """Those by name."""
        return self.tree.keywords if isinstance(self.tree, ast.Call) else []

    @functools.cached_property
    def place(self) -> str:
        """The expression that failed, with its line."""
        whole = self.assignment
        return self.case.place(self.case.span if whole is None else span_at(self.case, whole))

    # ── what it was given ───────────────────────────────────────────────────────────────────────────────────

    @functools.cached_property
    def tensors(self) -> list[Operand]:
        """The tensors in the failing expression, as far as the trace knows them, in the order of the source:
        operands, or the object of a method and the arguments, those in lists too."""
        return self.tensors_in(operands_in(self.whole))

    def tensors_in(self, trees: Iterable[ast.expr]) -> list[Operand]:
        """Those that some parts of it are."""
        states = [(tree, operand_tensor(self.case, ast.unparse(tree))) for tree in trees]
        return [self.operand(state, tree) for tree, state in states if state is not None]

    @functools.cached_property
    def operands(self) -> list[Operand]:
        """Those of them whose shape is known."""
        return [each for each in self.tensors if each.dtype]

    def first(self, fits: Callable[[Operand], bool]) -> Operand | None:
        """The first of them that fits."""
        return next(filter(fits, self.operands), None)

    def operand(self, state: TensorState, tree: ast.expr) -> Operand:
        """A tensor that is in the failing expression. The picture may call one by what it is assigned
        to."""
        return operand_of(self.case, state, tree, plain=isinstance(self.whole, ast.Assign))

    def subject(self, fits: Callable[[TensorState], bool], given: bool = False) -> Operand | None:
        """The tensor that the failing call was about, which `fits` the error: the one whose method was
        called, or that was written to; with `given` else the only one among the arguments. None where that is
        not certain."""
        owner = receiver(self.tree)
        fitting = [each for each in self.tensors if each.state is not None and fits(each.state)]
        mine = [each for each in fitting if each.text == owner]
        if mine:
            return mine[0]
        return fitting[0] if given and len({each.id for each in fitting}) == 1 else None

    @functools.cached_property
    def module(self) -> ModuleCall | None:
        """The innermost call of a module inside which the failing expression ended."""
        return failed_module(self.case)

    @functools.cached_property
    def layer(self) -> Layer | None:
        """The layer inside which the error occurred, if its input is known."""
        input = None if self.module is None else self.input_of(self.module)
        return None if self.module is None or input is None else Layer(self.case, self.module, input)

    @property
    def before(self) -> ModuleCall | None:
        """The layer that ran before the failing one in the Sequential that the failing expression calls."""
        return None if self.module is None else run_before(self.case, self.module)

    def input_of(self, call: ModuleCall) -> Operand | None:
        """The tensor that a layer received first."""
        if not call.event.inputs:  # a tensor that the cell has not used before, or one that a hook returned
            outer = call.around is None or call.around.event.span != call.event.span
            return self.operands[0] if len(self.operands) == 1 and outer else None
        id = call.event.inputs[0]
        state = self.case.state(id) or self.case.made(id)
        if state is None or state.value is None:
            return None
        written = self.first(lambda each: each.id == id)
        name, tree = (self.case.name(id), None) if written is None else (written.name, written.tree)
        return Operand(name, state.value.shape, state.value.dtype, state, tree)

    # ── sentences and marks ─────────────────────────────────────────────────────────────────────────────────

    def words(self, key: str, **values: Any) -> Sentence:
        """A sentence of the catalogue. An operand `x` fills {x}, {x_shape}, {x_dtype}, {x_dim} and {x_size};
        a shape is written as `4×2`. Inside a layer, {layer} is that and {name} what it was given."""
        told: dict[str, object] = {}
        layer = self.layer
        mine = {} if layer is None else {"layer": layer.name, "name": layer.input}
        for name, value in {**mine, **self.found, **values}.items():
            if isinstance(value, Operand):
                about = {"shape": self.sized(value.shape), "dtype": value.dtype, "dim": value.dim}
                about |= {} if value.dim is None else {"size": value.size}
                told |= {"_".join((name, what)): fact for what, fact in about.items()}
                value = value.name
            told[name] = self.sized(value) if type(value) is tuple else value
        return self.case.words(key, call=self.place, **told)

    def explain(
        self,
        why: str,
        *fixes: Fix | str | None,
        marks: tuple[Mark, ...] | None = None,
        cause: Span | None = None,
        key: str = "",
        **values: Any,
    ) -> Explanation:
        """The explanation: the sentence `why`, and the first of `fixes` that there is, which are fixes or
        keys of sentences, else what is below that sentence in the catalogue. `marks` mark what the sentence
        says about operands, if there are no others; `key` is for an explanation that has another
        key than its rule."""
        layer = self.layer
        named = values if layer is None else {"name": layer.input, **values}
        marks = self.marks(why, named) if marks is None else marks
        first = next((fix for fix in (*fixes, fix_of(why)) if fix), Fix(Sentence()))
        fix = Fix(self.words(first, **values)) if isinstance(first, str) else first
        return self.case.explain(self.words(why, **values), fix.text, marks, fix.cause or cause, key)

    def sized(self, shape: Shape) -> str:
        """A shape in a sentence: `4×2`, a vector, a scalar."""
        if not shape:
            return self.case.words("shape_scalar")
        if len(shape) == 1:
            return self.case.words("shape_vector", size=shape[0])
        return "×".join(map(str, shape))

    def marks(self, why: str, values: Mapping[str, Any]) -> tuple[Mark, ...]:
        """What the sentence `why` says about operands: the size in question, the dtype or the shape."""
        found, told = tuple[Mark, ...](), fields(why)
        for name, one in ((name, one) for name, one in values.items() if isinstance(one, Operand)):
            if one.dim is not None:
                found += self.mark_size(one, one.dim)
            elif "_".join((name, "dtype")) in told:
                found += self.mark_dtypes(one)
            elif "_".join((name, "shape")) in told:
                found += self.mark_shapes(one)
        return found

    def mark(self, operand: Operand, key: str, kind: str = GUILTY, **values: Any) -> tuple[Mark, ...]:
        """A mark on the card of an operand, with a label."""
        return self.case.card(operand.id, kind, self.case.words(key, **values))

    def mark_size(self, operand: Operand, dim: int, kind: str = GUILTY) -> tuple[Mark, ...]:
        """A mark that says how large one dimension of an operand is."""
        return self.mark(operand, "mark_size", kind, dim=dim, size=operand.shape[dim])

    def mark_shapes(self, *operands: Operand, kind: str = GUILTY) -> tuple[Mark, ...]:
        """Marks that say the shapes of operands."""
        return sum((self.mark(each, "mark_shape", kind, shape=each.shape) for each in operands), ())

    def mark_dtypes(self, *operands: Operand, kind: str = GUILTY) -> tuple[Mark, ...]:
        """Marks that say the dtypes of operands."""
        return sum((self.mark(each, "mark_dtype", kind, dtype=each.dtype) for each in operands), ())

    # ── fixes: the failing line, written otherwise ──────────────────────────────────────────────────────────

    def rewrite(self, edits: Edits | None, key: str = "write_fix", **values: Any) -> Fix | None:
        """The line that failed, with some parts written otherwise, in the sentence `key`; None where it
        cannot be quoted."""
        return self.code(rewritten(self.case, self.node, edits) if edits else None, key, **values)

    def code(self, code: str | None, key: str = "write_fix", **values: Any) -> Fix | None:
        """Some code, in the sentence `key`."""
        return None if code is None else Fix(self.words(key, code=code, **values))

    def here(self, tree: ast.expr | None) -> ast.expr | None:
        """A part of the failing expression as written in the cell."""
        text, node = "" if tree is None else ast.unparse(tree), self.node
        inside = [] if node is None else [part for part in ast.walk(node) if isinstance(part, ast.expr)]
        return next((part for part in (*operands_in(node), *inside) if ast.unparse(part) == text), None)

    def put(self, operand: Operand | ast.expr, new: str, key: str = "write_fix") -> Fix | None:
        """The line that failed, with `new` instead of an operand; {} in it is the operand itself as it is
        written before a dot. None where nothing is put there."""
        tree = operand.tree if isinstance(operand, Operand) else operand
        part = self.here(tree)
        if part is None or tree is None or not new:
            return None
        return self.rewrite({part: new.replace("{}", before_dot_source(ast.unparse(tree)))}, key)

    def put_attribute(self, part: ast.Attribute, name: str) -> Fix | None:
        """The line that failed, with another name for an attribute in it."""
        found = [each for each in ast.walk(self.node) if isinstance(each, ast.Attribute)] if self.node else []
        mine = next((each for each in found if ast.unparse(each) == ast.unparse(part)), None)
        return self.rewrite({mine: f"{ast.unparse(part.value)}.{name}"} if mine else None)

    def behind(self, operand: Operand, method: str, key: str = "write_fix") -> Fix | None:
        """The line that failed, with `method` behind an operand; None for no method."""
        return self.put(operand, method and "{}" + method, key)

    def instead(self, new: str, key: str = "write_fix", **values: Any) -> Fix | None:
        """The line that failed, with `new` instead of the failing expression."""
        return self.rewrite({self.node: new} if isinstance(self.node, ast.expr) else None, key, **values)

    def copied(self, key: str) -> Fix | None:
        """The line that failed to write in place, with a new tensor instead, in the sentence `key`."""
        return self.code(out_of_place(self.case, self.case.span), key)

    def option(self, option: str, value: object, key: str = "write_fix") -> Fix | None:
        """The line that failed, with one more option for the failing call; None if it has that already."""
        plain = isinstance(self.node, ast.Call) and self.node.args
        edits = with_option(self.case, self.node, option, value) if plain else None  # type: ignore[arg-type]
        return self.rewrite(edits, key)

    def exchange(self, a: Operand, b: Operand, key: str = "write_fix") -> Fix | None:
        """The line that failed, with two operands exchanged."""
        one, other = self.here(a.tree), self.here(b.tree)
        if one is None or other is None or one is other:
            return None
        return self.rewrite({one: before_dot_source(b.text), other: before_dot_source(a.text)}, key)

    def resize(self, operand: Operand, new: Shape) -> Fix | None:
        """What to do if a tensor was created in the cell, with sizes that are written as numbers: create it
        in the shape `new`."""
        found = sizes_of(self.case, operand.id)
        if found is None or constants(found[1]) != operand.shape or len(new) != len(operand.shape):
            return None
        changed = {part: str(n) for part, m, n in zip(found[1], operand.shape, new, strict=True) if m != n}
        code = rewritten(self.case, found[0], changed)
        fix = self.code(code, "create_as", name=operand, line=found[0].lineno)
        return fix and fix._replace(cause=span_at(self.case, found[0]))


def call_rule(key: str, *patterns: str) -> Callable[[F], F]:
    """A function that explains the error that ended the cell, unless the cell raised it by hand."""

    def declare(explain: F) -> F:
        @rule(key, *patterns)
        @functools.wraps(explain)
        def careful(case: Case, **found: Any) -> Explanation | None:
            need(case.failed is not None, not case.by_hand)
            return explain(FailedCall(case, found), **found)

        return explain

    return declare
