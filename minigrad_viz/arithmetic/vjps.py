"""The lines of a node that ran: the chain rule for numbers, the vjp for arrays, the user's own backward.

A formula is shown only if it gives, computed with the numbers that the node had saved, what the node sent.
Otherwise (no vjp runs on symbols, a hook changed the gradient, a value was overwritten) the line names the
node and says what came in and went out.

    grad_output * result = 1. · 2.7183 = 2.7183

It is never run again: these are the ops that were recorded while it ran. Where none were (PyTorch does not
tell them all), what its `return` says, and what came in and went out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.observing import F

from ..flow.backward_pass import (
    flow_of,
    is_single_real,
    position_among,
    recorded_value,
    saved_values,
    vjp_argument,
)
from ..flow.node_vjps import SavedTensor, is_complex, is_elementwise, local_derivative, vjp
from ..flow.symbols import ADD, CALL, GIVEN, MATMUL, SUB, TOTAL, Symbol, product, reshape, sum_to
from ..flow.textbook import largest_element, where_key
from ..model.node_details import match, tensor_saved_as
from ..model.scene import Scene
from ..number_text import SHARES
from ..protocol import Value
from ..snapshots import array_of, close, coarsest_dtype
from ..trace.events import Inside, NodeRan
from ..trace.source_positions import Span
from ..trace.statements import parse_source
from ..words import clean, shorten, text
from .derivatives import derivative, is_root, is_seed, quotient, root_tensor, tensor_label
from .formula_tree import (
    BESIDE,
    GAP,
    LETTER,
    LOWERED,
    NUMBER,
    POWER,
    Formula,
    brackets,
    either,
    row,
    sign,
)
from .formula_tree import (
    plain_variant as written,
)
from .lines import (
    BLANK,
    COLON,
    NONE,
    Line,
    addition,
    as_written,
    card_number,
    comma_separated,
    full,
    in_brackets,
    incoming_number,
    join_forms,
    line,
    number_formula,
    result,
    sentence,
    with_shapes,
    words_formula,
)
from .typeset import (
    FEW,
    UNNAMED,
    Typesetter,
    bar,
    element_with_numbers,
    is_given,
    name_formula,
    number_tree,
    shape_formula,
    shapes,
    typeset,
    with_index,
    with_numbers,
)

# ─── One node that ran: its tensors


class NodeStep:
    """One node that ran."""

    def __init__(self, scene: Scene, event: NodeRan, lang: str | None) -> None:
        self.scene, self.event, self.lang = scene, event, lang
        self.flow = flow_of(scene)
        self.node = scene.nodes[event.node]
        self.place = scene.by_node.get(event.node)
        self.root = root_tensor(scene, event.call, event.node)
        own = any(s.name.startswith("saved[") for s in self.node.saved) or self.node.code is not None
        self.inside = scene.index.calls[event.call].inside.get(event.node, [])
        self.custom = own or bool(self.inside)
        self.op = "" if self.custom else self.node.name  # a Function of the user's may be called like an op
        inputs = list(self.place.inputs or ()) if self.place is not None else []
        self.tensors = match(scene, inputs, self.node.edges)[: len(self.node.edges)]
        self.saved = saved_values(self.node)
        self.names = dict(self.named(inputs))
        self.saved |= dict(self.packed())

    def place_of(self, i: int) -> dict[str, int]:
        """Where input `i` is among the tensors that an op joined."""
        return position_among(self.saved, len(self.node.edges), i, [self.shape(k) for k in range(i)])

    def shape(self, i: int) -> tuple[int, ...] | None:
        """The shape of input `i`."""
        tensor, sent = self.tensors[i], self.event.sent[i]
        value = sent if tensor is None else recorded_value(self.scene, tensor)
        return None if value is None else value.shape

    def output(self, i: int = 0) -> str | None:
        """The tensor that the node made, as output `i`."""
        states = self.place.states if self.place is not None else []
        return states[i].id if i < len(states) else None

    def label(self, tensor: str | None) -> str:
        """What a tensor is called."""
        return tensor_label(self.scene, tensor)

    def packed(self) -> Iterator[tuple[str, Any]]:
        """The values of saved tensors that a hook packed, as far as these are tensors of the cell."""
        for kept in self.node.saved:
            packed = kept.packed and kept.value is None
            tensor = tensor_saved_as(self.scene, self.node, kept.name) if packed else None
            value = None if tensor is None else recorded_value(self.scene, tensor)
            if tensor is not None and value is not None:
                yield kept.name, vjp_argument(value)

    def named(self, inputs: list[str | None]) -> Iterator[tuple[str, str]]:
        """How the saved tensors are called: the inputs of the op in the order of its edges, its result, and
        others by their value."""
        for kept in self.node.saved:
            tensor = tensor_saved_as(self.scene, self.node, kept.name)
            if tensor is None and isinstance(kept.value, Value):
                same = {t for t in inputs if t is not None and recorded_value(self.scene, t) == kept.value}
                tensor = same.pop() if len(same) == 1 else None
            if tensor is None or self.is_constant(tensor) or is_seed(self.scene, tensor):
                continue
            if self.label(tensor) != UNNAMED:
                yield kept.name, self.label(tensor)

    def is_constant(self, tensor: str) -> bool:
        """Whether a tensor is data without a name, which a formula has as its numbers: created so, or by the
        call itself on its way."""
        place, i = self.scene.at[tensor]
        own = self.place is not None and place.span is not None and place.span == self.place.span
        unnamed = tensor not in self.scene.named
        return unnamed and (place.inputs is None or own) and not place.states[i].requires_grad


NOISE = 0.1  # of the precision, as a share of 1: what a difference of numbers of that size may be off


def fits(step: NodeStep, received: Value, factor: Symbol, sent: Value) -> bool:
    """Whether incoming · local, summed back to the shape of the input, is what the node sent. Where numbers
    are not known, whether the shapes are right and no hook ran."""
    incoming, recorded = array_of(received), array_of(sent)
    shapes_fit = can_broadcast(factor.shape, received.shape) and can_broadcast(sent.shape, received.shape)
    shapes_fit = shapes_fit and (factor.value is not None or not has_complex_numbers(received, sent))
    if not shapes_fit or incoming is None or recorded is None or factor.value is None:
        return shapes_fit and has_no_hook(step)
    with np.errstate(all="ignore"):
        whole = np.broadcast_to(incoming * factor.value, received.shape)
        terms = np.abs(whole) + (NOISE * np.abs(incoming) if may_lose_digits(factor) else 0)
        summed, scale = F.sum_to(whole, sent.shape), F.sum_to(terms, sent.shape)
    return close(summed, recorded, coarsest_dtype(sent, received), scale)


def has_no_hook(step: NodeStep) -> bool:
    """Whether no hook is between what a node computed and what it sent."""
    return not step.node.hooks and not step.flow.changed(step.event)


def has_complex_numbers(*values: Value) -> bool:
    """Whether numbers are complex: a formula that cannot be compared with them might lack a conjugate."""
    return any(value.dtype.startswith("complex") for value in values)


def can_broadcast(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """Whether a shape can be broadcast to a larger one."""
    if len(small) > len(large):
        return False
    return all(n in (1, m) for n, m in zip(reversed(small), reversed(large), strict=False))


def may_lose_digits(factor: Symbol) -> bool:
    """Whether a formula has a difference (`1 − t²`), which may lose digits."""
    return factor.head in (ADD, SUB) or any(may_lose_digits(a) for a in factor.args if isinstance(a, Symbol))


def agrees_with_record(step: NodeStep, found: Symbol, sent: Value) -> bool:
    """Whether a formula gives what the node sent. Where numbers are not known, whether its shape is right and
    no hook ran."""
    recorded = array_of(sent)
    if found.value is None or recorded is None:
        return not has_complex_numbers(sent) and has_no_hook(step) and tuple(found.shape) == sent.shape
    largest = np.max(np.abs(recorded), initial=0)
    received = step.event.received[0] or sent
    agree = tuple(found.shape) == sent.shape
    return agree and close(found.value, recorded, coarsest_dtype(sent, received), largest)


# ─── The line of one gradient that a node sent


PARTIALS = 6  # elements of the output up to which a sum over them is written out
SUM_OVER_ELEMENTS = written("Σᵢ ", sign("Σ"), Formula(LOWERED, "", (Formula(LETTER, "i"),)), Formula(BESIDE))


def input_lines(step: NodeStep, i: int) -> Iterator[Line]:
    """The lines of the gradient that a node sent to input `i`."""
    sent = step.event.sent[i]
    first, *others = step.event.received
    received = first if all(other is None for other in others) else None
    if sent is None:
        return
    if received is not None and is_elementwise(step.op, len(step.node.edges)):
        tried = [
            local_derivative(step.op, i, step.saved, step.names, received.dtype, c)
            for c in may_conjugate(step, sent)
        ]
        factor = next((f for f in tried if f is not None and fits(step, received, f, sent)), None)
        if factor is not None:
            if (
                is_single_real(received)
                and is_single_real(sent)
                and step.root is not None
                and factor.value is not None
            ):
                yield chain_rule(step, i, received, factor, sent)
            else:
                yield from elementwise_line(step, i, received, factor, sent)
            return
    elif received is not None:
        given = SavedTensor(array_of(received), received.shape)
        name, saved = step.label(step.output()), step.saved | step.place_of(i)
        told = step.op, i, saved, step.names, given, sent.shape, sent.dtype, name
        tried = [vjp(*told, c) for c in may_conjugate(step, sent)]
        found = next((f for f in tried if f is not None and agrees_with_record(step, f, sent)), None)
        if found is not None:
            yield vjp_line(step, i, found, sent, received)
            return
    yield vjp_by_name(step, i, sent)


def may_conjugate(step: NodeStep, sent: Value) -> tuple[bool, ...]:
    """Whether a formula is to take the conjugates of what is complex: it may have to, which is then tried
    first."""
    kinds = [sent, *(v for v in step.event.received if v is not None)]
    some = any(v.dtype.startswith("complex") for v in kinds) or any(map(is_complex, step.saved.values()))
    return (True, False) if some else (False,)


# ── numbers ─────────────────────────────────────────────────────────────────────────────────────────────────


def chain_rule(step: NodeStep, i: int, received: Value, factor: Symbol, sent: Value) -> Line:
    """`∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75 = 0.6`; at the root itself, whose derivative is 1,
    the local derivative alone."""
    assert step.root is not None
    made, source = step.output(), step.tensors[i]
    left, form = derivative(step.scene, step.root, source), typeset(factor)
    number = number_formula(factor.value, sent.dtype) or row()
    forms = [form] if form.plain != number.plain else []
    kind, word, whole = "chain_rule", text("chain_rule", step.lang), result(full(sent) or row())
    if is_root(step.scene, step.root, made) and received.items == (1.0,):
        return line(kind, word, join_forms([left, *forms, whole]))
    if (edge := step.node.edges[i]) is not None and len(step.flow.met.get(edge, ())) > 1:
        left = sentence("through", step.lang, left=left, name=name_formula(step.label(made)))
    forms = [Typesetter().factor(factor) for _ in forms]
    above, below = derivative(step.scene, step.root, made), quotient(step.label(made), step.label(source))
    arrived = incoming_number(full(received) or row())
    products = [row(arrived, " · ", form) for form in (*forms, in_brackets(number))]
    return line(kind, word, join_forms([left, row(above, " · ", below), *products, whole]))


# ── arrays ──────────────────────────────────────────────────────────────────────────────────────────────────


def elementwise_line(step: NodeStep, i: int, received: Value, factor: Symbol, sent: Value) -> Iterator[Line]:
    """`x̄ = ȳ ⊙ 1/x = [1 1] ⊙ [0.5 0.25] = [0.5 0.25]`, and the sum over broadcast dimensions."""
    given = Symbol(GIVEN, value=array_of(received), shape=received.shape, text=step.label(step.output()))
    whole = product(given, factor)
    if received.shape == sent.shape:
        yield vjp_line(step, i, whole, sent, received)
        return
    if received.size == sent.size:  # dimensions of size 1
        yield vjp_line(step, i, reshape(whole, sent.shape), sent, received)
        return
    if not sent.shape and len(received.shape) == 1 and step.root is not None:
        summed = summed_partials(step, i, whole, factor, received, sent)
        if summed is not None:
            yield summed
            yield broadcast(step, i, whole, sent, received)
            return
    yield vjp_line(step, i, sum_to(whole, sent.shape), sent, received)
    yield broadcast(step, i, whole, sent, received)


def summed_partials(
    step: NodeStep, i: int, whole: Symbol, factor: Symbol, received: Value, sent: Value
) -> Line | None:
    """`∂z/∂x = Σᵢ ∂z/∂yᵢ · ∂yᵢ/∂x = [4 7 9] · [2 3 5] = 8 + 21 + 45 = 74`, where it can be written out."""
    made, source = step.label(step.output()), step.label(step.tensors[i])
    if whole.value is None or factor.value is None or not made.isidentifier() or received.size > PARTIALS:
        return None
    assert step.root is not None
    shown, factors = full(received), number_formula(np.broadcast_to(factor.value, received.shape), sent.dtype)
    if shown is None or factors is None:
        return None
    above = derivative(step.scene, step.root, step.output(), "ᵢ")
    forms = [
        derivative(step.scene, step.root, step.tensors[i]),
        row(SUM_OVER_ELEMENTS, above, " · ", quotient(f"{made}ᵢ", source)),
        row(incoming_number(shown), " · ", factors),
        addition([number_tree(x, sent.dtype) for x in whole.value.tolist()]),
        result(full(sent) or row()),
    ]
    return line("vjp", text("vjp", step.lang), join_forms(forms))


def label_of(step: NodeStep, name: str) -> str:
    """The word before a vjp."""
    told = bar(name).plain
    return text("vjp_of", step.lang, bar=told, name=name) if told[:5] != "grad(" else text("vjp", step.lang)


def vjp_line(step: NodeStep, i: int, found: Symbol, sent: Value, received: Value) -> Line:
    """The gradient of an input as a formula, with numbers where they can be written out, and with shapes
    where they change or numbers cannot."""
    name = step.label(step.tensors[i])
    if where_key(step.op):
        return textbook_line(step, name, found, sent)
    forms = [bar(name), typeset(found)]
    inserted = None if full(received) is None else with_numbers(found, sent.dtype)
    if inserted is not None and not is_given(found):
        forms.append(inserted)
    whole = full(sent) if found.value is not None else None
    if whole is not None:
        forms.append(result(whole))
    changed = whole is None or found.head in (MATMUL, CALL) or received.shape != sent.shape
    return line(
        "vjp", label_of(step, name), with_shapes(join_forms(forms), shapes(found) if changed else None)
    )


def textbook_line(step: NodeStep, name: str, found: Symbol, sent: Value) -> Line:
    """The gradient of an input as textbooks write it, and how its largest element came about:
    `W̄[i, j] = Σᵤᵥ x[u+i, v+j] · g[u, v]   W̄[2, 2] = 1 · 0.4 + 1 · 0.154 + … = 0.758`."""
    left = with_index(bar(name), found.args[1]) if found.head == TOTAL else bar(name)
    forms = [left, typeset(found)]
    numbers, whole = array_of(sent), full(sent) if found.value is not None else None
    if whole is not None:
        forms.append(result(whole))
    said = join_forms(forms)
    if numbers is None or not np.size(numbers):
        return line("vjp", label_of(step, name), with_shapes(said, shapes(found)))
    at = largest_element(numbers)
    one = [with_index(bar(name), ", ".join(map(str, at)))] if at else [bar(name)]
    how = element_with_numbers(found, at, sent.dtype)
    number = number_tree(np.asarray(numbers)[at].item(), sent.dtype, FEW)
    if how is not None and how.plain != number.plain:
        one.append(how)
    elif whole is not None:  # there the number stands already
        return line("vjp", label_of(step, name), said)
    one.append(result(number))
    return line("vjp", label_of(step, name), row(said, Formula(GAP, "   "), join_forms(one)))


def where_lines(step: NodeStep, lines: Sequence[Line]) -> Iterator[Line]:
    """What the letters in the formulas of a node stand for."""
    key, by_name = where_key(step.op), clean(step.node.name)
    if key and any(each.kind == "vjp" and not each.text.startswith(by_name) for each in lines):
        yield line("where", text("where_label", step.lang), words_formula(text(key, step.lang)))


def broadcast(step: NodeStep, i: int, whole: Symbol, sent: Value, received: Value) -> Line:
    """`x has shape (), y has (3,): the 3 products are summed back to the shape of x: 8 + 21 + 45 = 74`."""
    count = str(received.size // max(sent.size, 1))
    said = sentence(
        "broadcast_values" if whole.head == GIVEN else "broadcast_products", step.lang,
        input=name_formula(step.label(step.tensors[i])), small=shape_formula(sent.shape),
        output=name_formula(step.label(step.output())), large=shape_formula(received.shape),
        n=Formula(NUMBER, count),
    )  # fmt: skip
    terms, total = [number_formula(t, sent.dtype) for t in summands(whole, sent, received)], full(sent)
    known = [t for t in terms if t is not None]
    if known and total is not None and len(known) == len(terms):
        said = row(said, sign(":"), Formula(GAP, " "), join_forms([addition(known), result(total)]))
    return line("broadcast", text("broadcast", step.lang), said)


def summands(whole: Symbol, sent: Value, received: Value) -> list[Any]:
    """What is summed up over the broadcast dimensions, each in the input's shape; nothing if that is not
    known or too much."""
    if whole.value is None or received.size // max(sent.size, 1) > SHARES:
        return []
    lead = len(received.shape) - len(sent.shape)
    kept = [i + lead for i, n in enumerate(sent.shape) if n == received.shape[i + lead]]
    gone = [i for i in range(len(received.shape)) if i not in kept]
    moved = np.transpose(np.broadcast_to(whole.value, received.shape), [*gone, *kept])
    return [part.reshape(sent.shape) for part in moved.reshape(-1, *moved.shape[len(gone) :])]


def vjp_by_name(step: NodeStep, i: int, sent: Value) -> Line:
    """`MaxBackward0: ȳ (3,) = [1 1 1] → x̄ (2, 3)`: what came in and went out."""
    name, node = step.label(step.tensors[i]), name_formula(clean(step.node.name))
    incoming = [(step.label(step.output(k)), v) for k, v in enumerate(step.event.received) if v is not None]
    come = (
        comma_separated([row(bar(n), BLANK, value_text(v, incoming_number)) for n, v in incoming])
        if incoming
        else NONE
    )
    told = row(node, COLON, come, " → ", bar(name), BLANK, value_text(sent, result))
    return line("vjp", label_of(step, name), told)


def value_text(value: Value, mark: Callable[[Formula], Formula]) -> Formula:
    """A value after its name: `= 0.6`, `(2, 3) = [[1 0 0] [0 1 0]]`, `(100, 20)`."""
    numbers, shape = full(value), shape_formula(value.shape)
    if numbers is None:
        return shape if value.shape else either(shape, row())
    return row(*((shape, Formula(BESIDE, " ")) if value.shape else ()), sign("= "), mark(numbers))


# ─── What the user's own backward computed, as the user wrote it, with its numbers


SIGNS = {"mul": "·", "add": "+", "sub": "−", "div": "/", "pow": "^"}
LOOSE = {"·": 1, "/": 1, "+": 0, "−": 0, "^": 2}
LONGEST = 100  # columns of an expression
LINES = 12  # of one backward


def own_lines(step: NodeStep) -> Iterator[Line]:
    """The expressions of a custom Function's backward that ran."""
    inside = step.inside
    name = text("own", step.lang, name=clean(step.node.name).rstrip("0123456789").removesuffix("Backward"))
    written = [op for op in inside if op.span is not None]
    whole = outermost_ops(written)
    for op in whole[:LINES]:
        assert op.span is not None
        source = shorten(clean(op.span.flat), LONGEST)
        yield line(
            "own",
            name,
            join_forms([words_formula(source), insert_numbers(op, written), result(card_number(op.output))]),
        )
    if not whole and step.node.code is not None:
        for said in returns(step.node.code.text):
            source = shorten(clean(said), LONGEST)
            yield line("own", name, words_formula(source))


def outermost_ops(ops: list[Inside]) -> list[Inside]:
    """The ops whose expressions are not part of another's, in the order in which they ended. Of an
    expression that ran several times (in a loop), the last run counts."""
    last: dict[Span | None, Inside] = {}
    for op in ops:
        last.pop(op.span, None)
        last[op.span] = op
    return [op for op in last.values() if not any(is_subexpression(op, other) for other in last.values())]


def is_subexpression(inner: Inside, outer: Inside) -> bool:
    """Whether the expression of an op is part of another's."""
    a, b = inner.span, outer.span
    return a is not None and b is not None and a != b and b.holds(a)


def begin(op: Inside) -> tuple[int, int]:
    """Where an op begins."""
    return (0, 0) if op.span is None else (op.span.line, op.span.column)


def insert_numbers(op: Inside, ops: list[Inside], depth: int = 4) -> Formula:
    """An op with the numbers of its inputs; an input that an op of the same expression made is written out
    likewise where it needs no brackets."""
    title = op.op.removesuffix("_scalar").removesuffix("_tensor")
    between = SIGNS.get(title)
    if title == "neg":
        return row(sign("−"), in_brackets(value(op.inputs[0])))
    if between is None or len(op.inputs) != 2:
        shown = comma_separated([value(x) for x in op.inputs])
        return row(words_formula(title), brackets(shown))
    left = first_operand(op, op.inputs[0], ops, between, depth)
    left = in_brackets(left) if between == "^" else left
    right = in_brackets(value(op.inputs[1]))
    if between == "^":
        return either(row(left, " ^ ", right), Formula(POWER, "", (left, right)))
    return row(left, f" {between} ", right)


def first_operand(op: Inside, x: Value | str, ops: list[Inside], between: str, depth: int) -> Formula:
    """The first input of an op."""
    parts = [
        o for o in ops if isinstance(x, Value) and o.output == x and is_subexpression(o, op)
        and begin(o) == begin(op) and LOOSE[between] <= LOOSE.get(SIGNS.get(o.op, ""), -1) < 2
    ]  # fmt: skip
    if parts and depth:
        return insert_numbers(parts[0], ops, depth - 1)
    return value(x)


def value(x: Value | str) -> Formula:
    """One input: its numbers."""
    if isinstance(x, str):
        return words_formula(clean(x))
    known = incoming_number(card_number(x))
    return known if full(x) is not None else as_written(known.plain, known)


def returns(source: str) -> list[str]:
    """The `return` statements of a function, as they are written."""
    tree = parse_source(source)
    found = [] if tree is None else [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    return [f"return {ast.unparse(node.value)}" for node in found if node.value is not None]
