"""Where tensors come from that no graph leads to: data, another tensor's memory, or its numbers, which
left the library and came back."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..protocol import is_tensor, owner_of, version_of
from ..trace.events import (
    NumberRead,
    NumbersReturned,
    RequiresGradSet,
    TensorCreated,
    TensorDetached,
    TensorState,
)
from ..trace.source_positions import Span, Spot
from ..trace.statements import parse_expression
from .calls import Calls
from .error_frames import named_by
from .states import OUT, Out, States, overlap, raw_array
from .tape import Tape, observer_method

METHODS = ("item", "tolist", "numpy")  # by which they leave
KEEPERS = ("float", "abs", "round", "list", "tuple", "sum", "max", "min")  # functions that pass numbers on
GATHER = ("asarray", "array", "stack", "concatenate", "mean", "sum", "dot", "clip", "round")  # NumPy's
COPIED = ("tensor", "asarray", "as_tensor", "from_numpy", "FloatTensor", "Tensor")  # take numbers as data


class Crossing:
    """The part of a recorder that receives new tensors without a graph.

    Note [Numbers that left]
        Python numbers and arrays do not say where they came from. The recorder notes that a new tensor was
        made from the numbers of a recorded tensor only where this is certain: its data was that tensor, or
        the same number, list or array object that was read from it; or the expression that made it contains
        the call that read the numbers, with nothing between but arithmetic, containers, and functions of
        NumPy and `math`.
    """

    def __init__(self, tape: Tape, states: States, calls: Calls) -> None:
        self.tape, self.states, self.calls, self.exits = tape, states, calls, states.exits
        self.ids, self.notes = tape.ids, tape.notes

    # ── what sources tell ───────────────────────────────────────────────────────────────────────────────────

    @observer_method
    def created(self, tensor: Any, data: Any = None, noted: bool = False) -> None:
        """A tensor was made from `data`; `noted` if the function that made it is called again later."""
        if self.tape.call:
            return
        spot = self.tape.own_place()
        found = self._origins(data, spot)
        state = self.states.state_of(tensor, self.ids.new(tensor))
        self.tape.rest.note(False, self.tape.work)
        self.calls.keep(tensor, state.id)
        if not found:
            self.notes.append(TensorCreated(state, *named_by(spot)))
            if not noted:
                self.calls.add_creation(tensor, state.id)
            return
        memory = raw_array(tensor)
        shares = next((name for name, (_, array) in found.items() if overlap(memory, array)), "")
        if shares:
            self.exits.share(tensor)
        how = next(iter(found.values()))[0]
        self.notes.append(NumbersReturned(tuple(found), how, state, *named_by(spot), shares))
        if not noted:
            self.calls.add_creation(tensor, state.id)

    @observer_method
    def detached(self, source: Any, result: Any, how: str = "detach") -> None:
        """`detach()` or `.data` was called, or `detach_()`, where both are one."""
        if self.tape.call:
            return
        spot = self.tape.own_place()
        before = self.states.id_of(source)
        if source is result:
            self.ids.objects[id(result)] = before, weakref.ref(result)
            cut = self.states.state_of(result, before)
            state = cut._replace(grad=None, requires_grad=False, is_leaf=True, grad_fn=None, node=None)
        else:
            self.exits.share(source, result)
            state = self.states.state_of(result, self.ids.new(result))
            self.states.owners.alias(source, state.id)
        self.notes.append(TensorDetached(before, state, *named_by(spot), how))

    @observer_method
    def left(self, tensor: Any, how: str, value: Any) -> None:
        """Numbers of a tensor were given out."""
        if self.tape.call or self.tape.again:
            return
        span, known = self.tape.here(), self.ids.known(tensor)
        if how == "item" and known is not None and tensor.requires_grad:
            self.notes.append(NumberRead(known, span))
        if how == "numpy":
            self.exits.share(tensor)
        kept = weakref.ref(owner_of(value)) if isinstance(value, np.ndarray) else value
        self.exits.out.append(Out(weakref.ref(tensor), known, how, kept, span))

    @observer_method
    def asked(self, tensor: Any) -> None:
        """`requires_grad` of a tensor was set."""
        known, (span, _) = self.ids.known(tensor), named_by(self.tape.own_place())
        if known is not None and not self.tape.call:
            self.notes.append(RequiresGradSet(self.states.state_of(tensor, known), span))

    # ── memory that several tensors use ─────────────────────────────────────────────────────────────────────

    def sharing(self, tensor: Any) -> tuple[TensorState, ...]:
        """The states of the other tensors that use the memory of `tensor` and have kept their histories.
        Reading the grad_fn of a view with a graph would make a new one, so it is not read. If the write
        itself made no history, only the values and the version of such a view are reported."""
        memory = raw_array(tensor) if self.exits.shared else None
        found: dict[str, TensorState] = {}
        for ref in self.exits.shared if memory is not None else ():
            other = ref()
            if other is None or other is tensor or not overlap(memory, raw_array(other)):
                continue
            view = other.requires_grad and other._is_view()
            known = self.ids.object(other) if view else self.ids.known(other)
            if known is None or known in found or (view and tensor.requires_grad):
                continue
            if view:
                how = None, True, False, None, None, None, version_of(other)
                found[known] = TensorState(known, self.tape.taken(other), *how)
            else:
                found[known] = self.states.state_of(other, known)
        return tuple(found.values())

    # ── where numbers came from ─────────────────────────────────────────────────────────────────────────────

    def _origins(self, data: Any, spot: Spot | None) -> dict[str, tuple[str, Any]]:
        """The tensors whose numbers `data` is made of, how they left, and the memory that came with them.
        See Note [Numbers that left]."""
        found: dict[str, tuple[str, Any]] = {}
        if data is None:
            return found
        for value in first_items(data):
            if is_tensor(value):
                found.setdefault(self.states.id_of(value), ("tensor", raw_array(value)))
                continue
            out = next((out for out in reversed(self.exits.out) if is_same(value, out)), None)
            name = None if out is None else self._name_of(out)
            if out is not None and name is not None:
                found.setdefault(name, (out.how, value if isinstance(value, np.ndarray) else None))
        if not found and spot is not None and self.exits.out:
            for out in self._inside(spot.span):
                name = self._name_of(out)
                if name is not None:
                    found.setdefault(name, (out.how, None))
        return found

    def _name_of(self, out: Out) -> str | None:
        """The id of a tensor whose numbers left; None if it was not known and is gone."""
        tensor = out.tensor()
        return out.name or (None if tensor is None else self.states.id_of(tensor))

    def _inside(self, span: Span) -> list[Out]:
        """What left inside the expression that makes a tensor, and went into it as data."""
        spans = ((out, out.span) for out in self.exits.out)
        inner = [out for out, part in spans if part is not None and part != span and span.holds(part)]
        for out in inner:
            self.exits.out.remove(out)  # the same expression may be evaluated again
        if not inner:
            return []
        made = parse_expression(span.text)
        texts = {text for out in inner if out.span is not None and (text := source_by_python(out.span.text))}
        if not isinstance(made, ast.Call) or callee_name(made.func) not in COPIED or not made.args:
            return []
        led = exits_behind(made.args[0], texts)
        inner = [out for out in inner if out.span is not None and source_by_python(out.span.text) in led]
        several = any(isinstance(part, ast.ListComp | ast.GeneratorExp) for part in ast.walk(made))
        return inner if several else list({out.span: out for out in inner}.values())


def first_items(data: Any) -> Iterator[Any]:
    """Data, and the first items of lists and tuples in it."""
    stack, seen = [data], 0
    while stack and seen < OUT:
        value = stack.pop()
        seen += 1
        yield value
        if isinstance(value, list | tuple):
            stack += reversed(value[:OUT])


def is_same(value: Any, out: Out) -> bool:
    """Whether a value is the very one that left. Python has each small whole number only once."""
    if isinstance(value, np.ndarray):
        return isinstance(out.value, weakref.ref) and out.value() is owner_of(value)
    return value is out.value and isinstance(value, float | complex | list)


def source_by_python(source: str) -> str:
    """An expression as Python itself would write it."""
    tree = parse_expression(source)
    return "" if tree is None else ast.unparse(tree)


def exits_behind(node: ast.AST, exits: set[str]) -> set[str]:
    """Those of the calls `exits`, by which numbers left a tensor, whose numbers a value is made of."""
    todo, found = [node], set()
    while todo:
        part = todo.pop()
        if isinstance(part, ast.Call):
            text = ast.unparse(part)
            if text in exits and (
                callee_name(part.func) in METHODS or passed_on(part)
            ):  # of no other function
                found.add(text)
            else:
                todo += passed_on(part)
        elif isinstance(part, ast.BinOp):
            todo += [part.left, part.right]
        elif isinstance(part, ast.UnaryOp):
            todo.append(part.operand)
        elif isinstance(part, ast.List | ast.Tuple):
            todo += part.elts
        elif isinstance(part, ast.ListComp | ast.GeneratorExp):
            todo += [part.elt, *iterables(part)]
        elif isinstance(part, ast.Subscript | ast.Starred):
            todo.append(part.value)
    return found


def iterables(part: ast.ListComp | ast.GeneratorExp) -> list[ast.expr]:
    """What a comprehension goes over, of which it uses the items."""
    used = variable_names(part.elt).union(*(variable_names(each.iter) for each in part.generators))
    return [each.iter for each in part.generators if variable_names(each.target) & used]


def variable_names(node: ast.AST) -> set[str]:
    """The variables in a part of the source."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def passed_on(call: ast.Call) -> list[ast.expr]:
    """The parts of a call of whose numbers its value is made: the object of a method, the arguments of a
    function of NumPy or `math`."""
    func, name = call.func, callee_name(call.func)
    if isinstance(func, ast.Name):
        return call.args if name in KEEPERS else []
    if not isinstance(func, ast.Attribute):
        return []
    if not isinstance(func.value, ast.Name) or func.value.id not in ("np", "numpy", "math"):
        return [func.value]
    elementwise = func.value.id == "math" or isinstance(getattr(np, name, None), np.ufunc)
    return call.args if elementwise or name in GATHER else []


def callee_name(func: ast.AST) -> str:
    """The last name of what is called."""
    return str(getattr(func, "attr", getattr(func, "id", "")))
