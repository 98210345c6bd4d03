"""What a failing operation was given: its operands with their shapes, and the layer in which it ran.

Note [Where the sizes come from]
    The text of an error has sizes and no names. The failing expression has names and no sizes. The trace has
    both, for each tensor that it saw. So an operand is told of only if its recorded shape is the one that the
    error is about; where that cannot be held against each other, the sizes of the error are told alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..model.module_calls import ModuleCall
from ..model.place import LIBRARY
from ..trace.events import Returned, Statement, TensorState
from ..trace.graph import GUILTY, Mark
from ..words import shorten
from .case import Case
from .optimizers import span_at
from .rewrite import statement_around
from .subject import Subject, expression, flat, standing, title

Shape = tuple[int, ...]
LONGEST = 40  # columns of an operand that is quoted


class Operand(NamedTuple):
    """A tensor that the failing expression computes with: how it is written there, and how it stood."""

    tree: ast.expr
    state: TensorState
    shape: Shape
    dtype: str

    @property
    def text(self) -> str:
        """Its source."""
        return ast.unparse(self.tree)

    @property
    def id(self) -> str:
        """The id of the tensor."""
        return self.state.id


def operands_of(case: Case) -> list[Operand]:
    """The tensors that the failing expression computes with, as far as the trace knows them, in the order of
    the source: operands, or the object of a method and the arguments, those in lists too."""
    found = []
    for tree in taken(failing_tree(case)):
        state = standing(case, ast.unparse(tree))
        if state is not None and state.value is not None:
            found.append(Operand(tree, state, state.value.shape, state.value.dtype))
    return found


def failing_tree(case: Case) -> ast.AST | None:
    """The syntax tree of what failed; of `x[0] = y` the whole assignment."""
    node, whole = expression(case), statement_around(case, case.span)
    if isinstance(whole, ast.Assign) and isinstance(node, ast.Subscript):
        return whole if ast.unparse(whole.targets[0]) == ast.unparse(node) else node
    return node


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


def function_of(case: Case) -> str:
    """The name of the function or method that failed; "@" and the like for an operator."""
    node = expression(case)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).rpartition(".")[2]
    return SIGNS.get(type(getattr(node, "op", None)), "")


SIGNS: dict[type, str] = {ast.MatMult: "@", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def numbers(text: str) -> Shape:
    """The whole numbers in a text, as a shape: of `4x2` and of `[4, 2]`."""
    return tuple(int(number) for number in re.findall(r"-?\d+", text))


# ── layers ──────────────────────────────────────────────────────────────────────────────────────────────────


def failed_layer(case: Case) -> ModuleCall | None:
    """The call of a module inside which the failing expression ended, if the module is no code of the cell:
    the innermost one."""
    ended: list[int] = []  # outer ones come first, as they ended last
    for time in range(case.time - 1, -1, -1):
        event = case.trace.events[time]
        if isinstance(event, Returned) and not event.outputs:
            ended.append(event.number)
        elif not isinstance(event, Statement):
            break
    calls = {call.event.number: call for call in case.scene.index.module_calls.calls}
    mine = [calls[number] for number in ended if calls[number].event.span == case.span]
    return mine[-1] if mine else None


def layer_name(call: ModuleCall) -> str:
    """A layer as a sentence names it: `model.2, Linear 10→1`."""
    kind = f"{call.event.kind} {call.event.about}".strip()
    return f"{call.event.path} ({kind})" if call.event.path else kind


def layer_input(case: Case, call: ModuleCall) -> tuple[str, TensorState] | None:
    """The tensor that a layer received first, with what to call it."""
    given = operands_of(case)
    if not call.event.inputs:  # a tensor that the cell has not used before, or one that a hook returned
        outer = call.around is None or call.around.event.span != call.event.span
        return (named(case, given[0]), given[0].state) if len(given) == 1 and outer else None
    id = call.event.inputs[0]
    state = case.state(id) or case.made(id)
    if state is None or state.value is None:
        return None
    written = next((named(case, each) for each in given if each.id == id), None)
    return written or case.name(id), state


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────


def sized(case: Case, shape: Shape) -> str:
    """A shape in a sentence: `4×2`, a vector, a scalar."""
    if not shape:
        return case.words("shape_scalar")
    return "×".join(map(str, shape)) if len(shape) > 1 else case.words("shape_vector", size=shape[0])


def named(case: Case, operand: Operand) -> str:
    """An operand in a sentence."""
    if isinstance(failing_tree(case), ast.Assign):  # the picture may call it by what it is assigned to
        return shorten(LIBRARY.sub("", operand.text), LONGEST)
    return shorten(LIBRARY.sub("", title(case, Subject(operand.text, operand.state))), LONGEST)


def failing(case: Case) -> str:
    """The expression that failed, with its line."""
    tree = statement_around(case, case.span)
    whole = isinstance(failing_tree(case), ast.Assign)
    return case.place(case.span if tree is None or not whole else span_at(case, tree))


def size_mark(case: Case, tensor: str, dim: int, size: int, kind: str = GUILTY) -> tuple[Mark, ...]:
    """A mark on the card of a tensor that says how large one of its dimensions is."""
    return case.card(tensor, kind, case.words("mark_size", dim=dim, size=size))


def shape_mark(case: Case, state: TensorState, kind: str = GUILTY) -> tuple[Mark, ...]:
    """A mark on the card of a tensor that says its shape."""
    shape = () if state.value is None else state.value.shape
    return case.card(state.id, kind, case.words("mark_shape", shape=shape))


def dtype_mark(case: Case, state: TensorState, kind: str = GUILTY) -> tuple[Mark, ...]:
    """A mark on the card of a tensor that says its dtype."""
    dtype = "" if state.value is None else state.value.dtype
    return case.card(state.id, kind, case.words("mark_dtype", dtype=dtype))
