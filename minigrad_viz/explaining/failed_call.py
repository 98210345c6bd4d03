"""The call that ended a cell: what it was given, the layer in which it failed, and the sentences about it.

Note [Where the sizes come from]
    The text of an error has sizes and no names. The failing expression has names and no sizes. The trace has
    both, for each tensor that it saw. So an operand is named only if its recorded shape is the one that the
    error is about; where that cannot be held against each other, only the sizes of the error are named.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..model.module_calls import ModuleCall
from ..model.naming import plain_name
from ..model.place import LIBRARY
from ..recording.named import parsed
from ..trace.events import Created, Detached, Forward, Returned, Statement, TensorState
from ..trace.explained import Explanation
from ..trace.graph import GUILTY, Mark
from ..trace.where import Span
from ..words import shorten
from .case import Case, Rule, Said, rule
from .edits import (
    Constructor,
    Edits,
    Shape,
    called,
    constants,
    constructor,
    node_at,
    rewritten,
    sizes_of,
    span_at,
    statement_around,
    with_option,
)

LONGEST = 40  # columns of an operand that is quoted
SIGNS: dict[type, str] = {ast.MatMult: "@", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
WHOLE, FLOATING = ("int", "uint", "bool"), ("float", "bfloat")


class Operand(NamedTuple):
    """What a failing expression computes with. `tree` is how it stands there (None: nowhere), `state` how the
    tensor stood (None: nobody saw it)."""

    name: str
    shape: Shape
    dtype: str = ""
    state: TensorState | None = None
    tree: ast.expr | None = None

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


class Fix(NamedTuple):
    """What to do, and the place in the source that this is about, if it is another than the failing one."""

    text: Said
    cause: Span | None = None


class FailedCall:
    """What failed: an operation, a layer or another statement of the cell."""

    def __init__(self, case: Case) -> None:
        self.case = case

    # ── the expression ──────────────────────────────────────────────────────────────────────────────────────

    @functools.cached_property
    def tree(self) -> ast.AST | None:
        """The syntax tree of what failed."""
        return expression(self.case)

    @functools.cached_property
    def whole(self) -> ast.AST | None:
        """The same; of `x[0] = y` the whole assignment."""
        whole = statement_around(self.case, self.case.span)
        if isinstance(whole, ast.Assign) and isinstance(self.tree, ast.Subscript):
            return whole if ast.unparse(whole.targets[0]) == ast.unparse(self.tree) else self.tree
        return self.tree

    @functools.cached_property
    def node(self) -> ast.AST | None:
        """What failed, as it stands in the cell; of `x[0] = y` the whole assignment."""
        node = node_at(self.case, self.case.span)
        whole = isinstance(self.whole, ast.Assign) and node is not None
        return statement_around(self.case, node) if whole else node

    @functools.cached_property
    def function(self) -> str:
        """The name of the function or method that failed; "@" and the like for an operator."""
        if isinstance(self.tree, ast.Call):
            return ast.unparse(self.tree.func).rpartition(".")[2]
        return SIGNS.get(type(getattr(self.tree, "op", None)), "")

    @property
    def arguments(self) -> list[ast.expr]:
        """The positional arguments of the failing call."""
        return self.tree.args if isinstance(self.tree, ast.Call) else []

    @functools.cached_property
    def place(self) -> str:
        """The expression that failed, with its line."""
        tree = statement_around(self.case, self.case.span)
        whole = isinstance(self.whole, ast.Assign) and tree is not None
        return self.case.place(span_at(self.case, tree) if whole and tree is not None else self.case.span)

    # ── what it was given ───────────────────────────────────────────────────────────────────────────────────

    @functools.cached_property
    def tensors(self) -> list[Operand]:
        """The tensors in the failing expression, as far as the trace knows them, in the order of the source:
        operands, or the object of a method and the arguments, those in lists too."""
        trees = list(taken(self.whole))
        states = [(tree, standing(self.case, ast.unparse(tree))) for tree in trees]
        return [self.operand(state, tree) for tree, state in states if state is not None]

    @functools.cached_property
    def operands(self) -> list[Operand]:
        """Those of them whose shape is known."""
        return [each for each in self.tensors if each.dtype]

    def operand(self, state: TensorState, tree: ast.expr) -> Operand:
        """A tensor that stands in the failing expression."""
        text = ast.unparse(tree)
        # The picture may call it by what it is assigned to.
        name = text if isinstance(self.whole, ast.Assign) else title(self.case, text, state)
        name = shorten(LIBRARY.sub("", name), LONGEST)
        if state.value is None:
            return Operand(name, (), "", state, tree)
        return Operand(name, state.value.shape, state.value.dtype, state, tree)

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

    # ── the layer ───────────────────────────────────────────────────────────────────────────────────────────

    @functools.cached_property
    def module(self) -> ModuleCall | None:
        """The call of a module inside which the failing expression ended, if the module is no code of the
        cell: the innermost one."""
        case, ended = self.case, list[int]()  # outer ones come first, as they ended last
        for event in reversed(case.before):
            if isinstance(event, Returned) and not event.outputs:
                ended.append(event.number)
            elif not isinstance(event, Statement):
                break
        calls = {call.event.number: call for call in case.scene.index.module_calls.calls}
        mine = [calls[number] for number in ended if calls[number].event.span == case.span]
        return mine[-1] if mine else None

    @functools.cached_property
    def layer(self) -> Layer | None:
        """The layer inside which the error came up, if its input is known."""
        input = None if self.module is None else self.input_of(self.module)
        return None if self.module is None or input is None else Layer(self, self.module, input)

    @functools.cached_property
    def before(self) -> ModuleCall | None:
        """The layer that ran before the failing one in the Sequential that the failing expression calls."""
        around = None if self.module is None else self.module.around
        if self.module is None or around is None or around.event.kind != "Sequential":
            return None
        calls = self.case.scene.index.module_calls.calls
        earlier = [call for call in calls if call.around is around and call.begin < self.module.begin]
        outer = around.around is None or around.around.event.span != self.case.span
        return earlier[-1] if outer and earlier else None

    def input_of(self, call: ModuleCall) -> Operand | None:
        """The tensor that a layer received first."""
        if not call.event.inputs:  # a tensor that the cell has not used before, or one that a hook returned
            outer = call.around is None or call.around.event.span != call.event.span
            return self.operands[0] if len(self.operands) == 1 and outer else None
        id = call.event.inputs[0]
        state = self.case.state(id) or self.case.made(id)
        if state is None or state.value is None:
            return None
        written = next((each for each in self.operands if each.id == id), None)
        name, tree = (self.case.name(id), None) if written is None else (written.name, written.tree)
        return Operand(name, state.value.shape, state.value.dtype, state, tree)

    # ── sentences and marks ─────────────────────────────────────────────────────────────────────────────────

    def words(self, key: str, **values: Any) -> Said:
        """A sentence of the catalogue. An operand `x` fills {x}, {x_shape} and {x_dtype}; a shape is written
        as `4×2`."""
        told: dict[str, object] = {}
        for name, value in values.items():
            if isinstance(value, Operand):
                told["_".join((name, "shape"))] = self.sized(value.shape)
                told["_".join((name, "dtype"))] = value.dtype
                value = value.name
            told[name] = self.sized(value) if isinstance(value, tuple) else value
        return self.case.words(key, call=self.place, **told)

    def explain(
        self,
        why: str,
        *fixes: Fix | str | None,
        marks: tuple[Mark, ...] = (),
        cause: Span | None = None,
        key: str = "",
        **values: Any,
    ) -> Explanation:
        """The explanation: the sentence `why`, and the first of `fixes` that there is, which are fixes or
        keys of sentences. `key` is for an explanation that has another key than its rule."""
        told = [Fix(self.words(fix, **values)) if isinstance(fix, str) else fix for fix in fixes if fix]
        fix = told[0] if told else Fix(Said())
        return self.case.explain(self.words(why, **values), fix.text, marks, fix.cause or cause, key)

    def sized(self, shape: Shape) -> str:
        """A shape in a sentence: `4×2`, a vector, a scalar."""
        if not shape:
            return self.case.words("shape_scalar")
        if len(shape) == 1:
            return self.case.words("shape_vector", size=shape[0])
        return "×".join(map(str, shape))

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
        code = rewritten(self.case, self.node, edits) if edits else None
        return None if code is None else Fix(self.words(key, code=code, **values))

    def here(self, tree: ast.expr | None) -> ast.expr | None:
        """A part of the failing expression as it stands in the cell."""
        text = "" if tree is None else ast.unparse(tree)
        return next((part for part in taken(self.node) if ast.unparse(part) == text), None)

    def literal(self, number: int) -> ast.expr | None:
        """The first operand that is a number, there as it stands in the cell."""
        return next((part for part in taken(self.node) if ast.unparse(part) == str(number)), None)

    def put(self, operand: Operand | ast.expr, new: str, key: str = "write_fix") -> Fix | None:
        """The line that failed, with `new` instead of an operand; {} in it is the operand itself as it stands
        before a dot."""
        tree = operand.tree if isinstance(operand, Operand) else operand
        part = self.here(tree)
        if part is None or tree is None:
            return None
        return self.rewrite({part: new.replace("{}", called(ast.unparse(tree)))}, key)

    def instead(self, new: str, key: str = "write_fix", **values: Any) -> Fix | None:
        """The line that failed, with `new` instead of the failing expression."""
        return self.rewrite({self.node: new} if isinstance(self.node, ast.expr) else None, key, **values)

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
        return self.rewrite({one: called(b.text), other: called(a.text)}, key)

    def resize(self, operand: Operand, new: Shape) -> Fix | None:
        """What to do if a tensor was created in the cell, by sizes that stand there as numbers: create it in
        the shape `new`."""
        found = sizes_of(self.case, operand.id)
        if found is None or constants(found[1]) != operand.shape or len(new) != len(operand.shape):
            return None
        changed = {part: str(n) for part, m, n in zip(found[1], operand.shape, new, strict=True) if m != n}
        code = rewritten(self.case, found[0], changed)
        if code is None:
            return None
        text = self.words("create_as", name=operand, code=code, line=found[0].lineno)
        return Fix(text, span_at(self.case, found[0]))


class Layer:
    """A layer that failed: its call, and its input."""

    def __init__(self, failed: FailedCall, call: ModuleCall, input: Operand) -> None:
        self.failed, self.call, self.input = failed, call, input
        self.name, self.kind = layer_name(call), call.event.kind
        self.sizes = numbers(call.event.about)  # 10 and 1 of `Linear 10→1`

    def built(self, sizes: Shape) -> Constructor | None:
        """The call that created the layer with `sizes` as its first arguments."""
        return constructor(self.failed.case, self.kind, self.call.event.path, sizes)

    def build(self, change: Callable[[Constructor], Said | None], sizes: Shape = ()) -> Fix | None:
        """What to do: a change of the call that created the layer."""
        made = self.built(sizes)
        text = None if made is None else change(made)
        return None if made is None or text is None else Fix(text, made.span)

    def resized(self, sizes: Shape, place: int, new: int) -> Fix | None:
        """What to do: another number in the call that created the layer."""
        return self.build(lambda made: made.changed(place, new), sizes)

    @property
    def worked_before(self) -> bool:
        """Whether an earlier call of the same layer returned something."""
        calls = self.failed.case.scene.index.module_calls.calls
        return any(call.event.path == self.call.event.path and call.outputs for call in calls)


def call_rule(
    key: str, explain: Callable[[FailedCall, re.Match[str]], Explanation | None], *patterns: str
) -> Rule:
    """A rule for the error that ended the cell, unless the cell raised it by hand."""

    def careful(case: Case, match: re.Match[str]) -> Explanation | None:
        return None if case.failed is None or raised_by_hand(case) else explain(FailedCall(case), match)

    return rule(key, careful, *patterns)


# ── the text of an expression ───────────────────────────────────────────────────────────────────────────────


def raised_by_hand(case: Case) -> bool:
    """Whether the cell itself raised the error."""
    return case.span is not None and case.span.text.startswith("raise")


def expression(case: Case) -> ast.AST | None:
    """The syntax tree of what failed."""
    body = getattr(None if case.span is None else parsed(case.span.text), "body", None)
    if not body:
        return None
    return body[0].value if isinstance(body[0], ast.Expr) else body[0]


def receiver(node: ast.AST | None) -> str | None:
    """What a call is a method of, or what a statement writes to."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute | ast.Subscript):
        return ast.unparse(node.value)
    return ast.unparse(node.target) if isinstance(node, ast.AugAssign) else None


def taken(node: ast.AST | None) -> Iterator[ast.expr]:
    """The parts of an expression that are its operands."""
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.AugAssign):
        yield from (node.target, node.value)
    elif isinstance(node, ast.Assign):
        yield from (node.targets[0], node.value)
        yield from taken(node.targets[0])  # `x[mask] = y` fails for the mask as well
    elif isinstance(node, ast.Attribute):
        yield node.value
    elif isinstance(node, ast.Subscript):
        yield node.value
        yield from flat(node.slice)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            yield from flat(argument)


def flat(node: ast.expr | None) -> Iterator[ast.expr]:
    """An argument, or what stands in it if it is a list, a tuple or a dictionary."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        for part in node.elts:
            yield from flat(part)
    elif isinstance(node, ast.Dict):
        for part in node.values:
            yield from flat(part)
    elif node is not None:
        yield node


def standing(case: Case, text: str) -> TensorState | None:
    """The tensor that an operand is: one with a name, or the result that was computed there."""
    named = dict(case.failed.named) if case.failed is not None else {}
    return named[text] if text in named else computed(case, text)


def computed(case: Case, text: str) -> TensorState | None:
    """The newest result of the expression `text` within the lines of the failing one."""
    for event in reversed(case.before):
        span = getattr(event, "span", None)
        if span is None or case.span is None or not isinstance(event, Created | Forward | Detached):
            continue
        if span.origin != case.span.origin or not case.span.line <= span.line <= case.span.end_line:
            continue
        states = event.outputs if isinstance(event, Forward) else (event.tensor,)
        if plain(span.text) == text:
            return states[0] if len(states) == 1 else None
    return None


def plain(source: str) -> str:
    """An expression as `ast` writes it."""
    tree = parsed(source)
    return "" if tree is None else ast.unparse(tree)


def title(case: Case, text: str, state: TensorState) -> str:
    """What a sentence calls a tensor: as the failing expression does, and as the picture does if that
    differs: `t (w)` inside a function that got `w`."""
    named = case.scene.named.get(state.id)
    known = text if named is None else plain_name(named)
    return text if known == text else f"{text} ({known})"


def numbers(text: str) -> Shape:
    """The whole numbers in a text, as a shape: of `4x2` and of `[4, 2]`."""
    return tuple(int(number) for number in re.findall(r"-?\d+", text))


def layer_name(call: ModuleCall) -> str:
    """A layer as a sentence names it: `model.2, Linear 10→1`."""
    kind = f"{call.event.kind} {call.event.about}".strip()
    return f"{call.event.path} ({kind})" if call.event.path else kind


def made_at(case: Case, tensor: str) -> Span | None:
    """Where a tensor was made, if that is not where the error came up."""
    event, failed = case.scene.index.births.get(tensor), case.span
    span = None if event is None else event.span
    if span is None or failed is None or span.origin != failed.origin:
        return span
    return None if span.text in failed.text and span.line >= failed.line else span
