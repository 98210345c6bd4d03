"""What a failing call computes with: tensors, as far as the trace knows them, and the layer that failed.

Note [Where the sizes come from]
    The text of an error has sizes and no names. The failing expression has names and no sizes. The trace has
    both, for each tensor that it saw. So an operand is named only if its recorded shape is the one that the
    error is about; where that cannot be held against each other, only the sizes of the error are named.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from ..model.module_calls import ModuleCall
from ..model.naming import plain_name
from ..model.place import LIBRARY
from ..trace.events import Created, Detached, Forward, Returned, Statement, TensorState
from ..trace.where import Span
from ..words import shorten
from .case import Case, Fix
from .edits import Constructor, Shape, constructor
from .rules import numbers
from .syntax import plain

LONGEST = 40  # columns of an operand that is quoted
WHOLE, FLOATING = ("int", "uint", "bool"), ("float", "bfloat")  # how the names of dtypes begin


class Operand(NamedTuple):
    """What a failing expression computes with. `tree` is how it stands there (None: nowhere), `state` how the
    tensor stood (None: nobody saw it); `dim` is the dimension that is in question."""

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
    """The call of a layer and what that received."""

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
    """The innermost call of a module inside which the failing expression ended, if that is no code of the
    cell."""
    ended = list[int]()  # outer ones come first, as they ended last
    for event in reversed(case.before):
        if isinstance(event, Returned) and not event.outputs:
            ended.append(event.number)
        elif not isinstance(event, Statement):
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


def operand_of(case: Case, state: TensorState, tree: ast.expr, plain: bool = False) -> Operand:
    """A tensor in the failing expression. It is called as it stands there, and (unless `plain`) as in the
    picture if that differs: `t (w)` inside a function that got `w`."""
    text, named = ast.unparse(tree), case.scene.named.get(state.id)
    known = text if named is None or plain else plain_name(named)
    name = shorten(LIBRARY.sub("", text if known == text else f"{text} ({known})"), LONGEST)
    if state.value is None:
        return Operand(name, (), "", state, tree)
    return Operand(name, state.value.shape, state.value.dtype, state, tree)


def made_at(case: Case, tensor: str) -> Span | None:
    """Where a tensor was made, if that is not where the error came up."""
    event, failed = case.scene.index.births.get(tensor), case.span
    span = None if event is None else event.span
    if span is None or failed is None or span.origin != failed.origin:
        return span
    return None if span.text in failed.text and span.line >= failed.line else span
