"""Forward mode: how the tangent of a result comes from those of its inputs.

    ẏ = ∂y/∂x · ẋ = 3x²·ẋ = 75 · 1 = 75          Ḣ = W Ẋ          ẇ = ẋ·y + x·ẏ

The formula is the op's own vjp for an op that works element by element (its transpose is itself), and the op
itself on tangents for one that is linear in its inputs, one input at a time. It is shown only if it gives the
tangent that was recorded; else the line says what went in and what came out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from minigrad.observing import F, vjp_arguments

from ..flow.backward_pass import is_single_real, vjp_argument
from ..flow.node_vjps import FAULTS, SavedTensor, input_facts, symbol
from ..flow.symbols import ADD, GIVEN, MATMUL, NUMBER, Symbol, matrix_product, of_op, product
from ..model.scene import Scene
from ..protocol import Value
from ..snapshots import array_of, close
from ..trace.events import Forward, TensorState
from ..words import clean, text
from .derivatives import quotient, tensor_label
from .formula_tree import Formula, either, row
from .lines import (
    BLANK,
    COLON,
    EQUALS,
    Line,
    card_number,
    comma_separated,
    full,
    incoming_number,
    join_forms,
    line,
    result,
    with_shapes,
)
from .typeset import dot, name_formula, shapes, typeset, with_numbers
from .vjps import value_text

SPELLED = ("", "_scalar", "_tensor", "_base", "_all", "_dim")  # how ops are called that PyTorch has as one
PRODUCTS = {"mm", "mv", "bmm", "dot"}  # linear in each input
MATRIX = {"matmul": ("dot", "mv", "mm", "bmm")}


class TangentOperand(NamedTuple):
    """An argument of an op: a tensor with its name, value and tangent, or another value (`name` is None)."""

    name: str | None
    value: Any
    tangent: Value | None = None


def tangent_lines(scene: Scene, event: Forward, lang: str | None) -> list[Line]:
    """The line of an op whose (first) result has a tangent."""
    state = event.outputs[0]
    if state.tangent is None:
        return []
    name, operands = tensor_label(scene, state.id), list(operands_of(scene, event))
    for op in ops_of(event.op):
        found = tangent_formula(op, operands, name, state.value, state.tangent)
        if found is not None:
            return [formula_line(name, operands, found, state.tangent, lang)]
    return [tangent_by_name(event.op, name, operands, state.tangent, lang)]


def value_lines(scene: Scene, state: TensorState, lang: str | None) -> list[Line]:
    """The tangent of a tensor that was written to."""
    if state.tangent is None:
        return []
    return [tangent_by_name("", tensor_label(scene, state.id), [], state.tangent, lang)]


def operands_of(scene: Scene, event: Forward) -> Iterator[TangentOperand]:
    """The arguments of an op."""
    for id, argument in zip(event.inputs, event.arguments, strict=True):
        if id is None or id not in scene.at:
            yield TangentOperand(None, vjp_argument(argument))
        else:
            place, i = scene.at[id]
            yield TangentOperand(tensor_label(scene, id), place.states[i].value, place.states[i].tangent)


def ops_of(title: str) -> Iterator[Any]:
    """The ops that may be meant by a title, minigrad's or PyTorch's."""
    for name in MATRIX.get(title, [title + kind for kind in SPELLED]):
        op = getattr(getattr(F, name, None), "op", None)
        if op is not None:
            yield op


def tangent_formula(
    op: Any, operands: list[TangentOperand], name: str, value: Value | None, tangent: Value
) -> Symbol | None:
    """The formula of a result's tangent, if it gives the recorded one."""
    try:
        given = op.bind(operands, {})
        with np.errstate(all="ignore"):
            if op.elementwise:
                made = TangentOperand(name, value)
                terms = [slope(op, i, given, made, tangent) for i in inputs_with_tangent(op, given)]
            elif op.linear or op.name in PRODUCTS:
                terms = [op_on_tangent(op, i, given) for i in inputs_with_tangent(op, given)]
            else:
                return None
    except FAULTS:
        return None
    if not terms:
        return None
    found = terms[0]
    for term in terms[1:]:
        found = found + term
    recorded = array_of(tangent)
    if found.value is None or recorded is None:
        return found if tuple(found.shape) == tangent.shape else None
    try:
        whole = np.broadcast_to(found.value, tangent.shape)
    except ValueError:
        return None
    scale = np.max(np.abs(recorded), initial=0)
    return found if close(whole, recorded, tangent.dtype, scale) else None


def inputs_with_tangent(op: Any, given: list[Any]) -> list[int]:
    """The places of the inputs that have a tangent."""
    return [i for i in op.places if isinstance(given[i], TangentOperand) and given[i].tangent is not None]


def slope(op: Any, i: int, given: list[Any], made: TangentOperand, tangent: Value) -> Symbol:
    """`3x²·ẋ`: what one input of an op that works element by element has a share in."""
    vjp = op.vjps[op.params[i]]
    wanted = vjp_arguments(vjp)
    arguments = dict(zip(op.params, given, strict=True)) | {"result": made}
    shape, dtype = given[i].value.shape, given[i].value.dtype
    derivable = input_facts(op.params[i], shape, dtype)
    values = [written_as(n, arguments[n]) if n in arguments else derivable[n] for n in wanted]
    one = Symbol(NUMBER, value=np.dtype("float32" if tangent.dtype == "bfloat16" else tangent.dtype).type(1))
    return product(vjp(one, *values), input_tangent(given[i]))


def op_on_tangent(op: Any, i: int, given: list[Any]) -> Symbol:
    """`W Ẋ`: the op itself with the tangent of one input in that one's place."""
    values = [input_tangent(v) if k == i else written_as(op.params[k], v) for k, v in enumerate(given)]
    if op.name == "dot":
        return matrix_product(values[0], values[1], np.dot)
    return of_op(op.name, op.kernel, op.written(values))


def input_tangent(operand: TangentOperand) -> Symbol:
    """The tangent of an input."""
    assert operand.tangent is not None
    value, name = operand.tangent, operand.name or ""
    return Symbol(GIVEN, value=array_of(value), shape=value.shape, text=name)


def written_as(name: str, operand: Any) -> Any:
    """An argument for a formula: a tensor by its name, anything else as it is."""
    if not isinstance(operand, TangentOperand):
        return operand
    if operand.name is None:
        return operand.value
    value = operand.value
    return symbol(
        name, SavedTensor(array_of(value), () if value is None else value.shape), {name: operand.name}
    )


# ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────


def line_heading(name: str, lang: str | None) -> str:
    """The word before the line."""
    told = dot(name).plain
    known = told != f"tangent({name})"
    return text("tangent_of", lang, dot=told, name=name) if known else text("tangent", lang)


def formula_line(
    name: str, operands: list[TangentOperand], found: Symbol, tangent: Value, lang: str | None
) -> Line:
    """`ẏ = ∂y/∂x · ẋ = 3x²·ẋ = 75 · 1 = 75`."""
    forms = [dot(name)]
    sources = [o for o in operands if o.tangent is not None]
    if (
        len(sources) == 1
        and is_single_real(tangent)
        and is_single_real(sources[0].tangent)
        and found.head != ADD
    ):
        source = sources[0].name or ""
        forms.append(row(quotient(name, source), " · ", dot(source)))
    forms.append(typeset(found, tangent=True))
    numbers, whole = with_numbers(found, tangent.dtype, tangent=True), full(tangent)
    if numbers is not None:
        forms += [numbers] if found.head != GIVEN else []
        forms += [result(whole)] if whole is not None else []
    tail = shapes(found) if found.head == MATMUL else None
    return line("tangent", line_heading(name, lang), with_shapes(join_forms(forms), tail))


def tangent_by_name(
    op: str, name: str, operands: list[TangentOperand], tangent: Value, lang: str | None
) -> Line:
    """`log_softmax: ẋ (3,) = [1 0 0] → ẏ (3,) = [0.5 …]`: what went in and came out."""
    come = [
        name_with_tangent(o.name or "", o.tangent, incoming_number) for o in operands if o.tangent is not None
    ]
    before = (name_formula(clean(op)), COLON, comma_separated(come), " → ") if come else ()
    return line("tangent", line_heading(name, lang), row(*before, name_with_tangent(name, tangent, result)))


def name_with_tangent(name: str, tangent: Value, mark: Callable[[Formula], Formula]) -> Formula:
    """A tangent with its name."""
    told = row(dot(name), BLANK, value_text(tangent, mark))
    return either(told, row(dot(name), EQUALS, mark(card_number(tangent))))
