"""The line of one gradient that a node sent: the chain rule for numbers, the vjp for arrays.

A formula is shown only if it gives, computed with the numbers that the node had saved, what the node sent.
Otherwise (no vjp runs on symbols, a hook changed the gradient, a value was overwritten) the line names the
node and says what came in and went out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..numbers import SHARES
from ..protocol import Value
from ..snapshots import array_of
from ..words import clean, text
from .derivatives import derivative, is_root, latex_held, quotient
from .glyphs import Both, bar, both, held, latex_name, named, plain
from .lines import (
    COLON,
    NONE,
    SPACE,
    Line,
    added,
    came,
    full,
    held_number,
    joined,
    line,
    listed,
    result,
    sentence,
    shaped,
    single,
    summed,
    with_shapes,
    written,
)
from .node_step import NodeStep, fits, same
from .notation import Known, is_complex, is_elementwise, local, vjp
from .symbol_ops import reshape, sum_to
from .symbols import CALL, GIVEN, MATMUL, Symbol, product
from .typeset import Typesetter, shapes, typeset, with_numbers

PARTIALS = 6  # elements of the output up to which a sum over them is written out


def input_lines(step: NodeStep, i: int) -> Iterator[Line]:
    """The lines of the gradient that a node sent to input `i`."""
    sent = step.event.sent[i]
    received = step.event.received[0] if len(step.event.received) == 1 else None
    if sent is None:
        return
    if received is not None and is_elementwise(step.op, len(step.node.edges)):
        tried = [local(step.op, i, step.saved, step.names, received.dtype, c) for c in conjugates(step, sent)]
        factor = next((f for f in tried if f is not None and fits(step, received, f, sent)), None)
        if factor is not None:
            if single(received) and single(sent) and step.root is not None and factor.value is not None:
                yield chain_rule(step, i, received, factor, sent)
            else:
                yield from elementwise(step, i, received, factor, sent)
            return
    elif received is not None:
        given = Known(array_of(received), received.shape)
        name, saved = step.label(step.output()), step.saved | step.place_of(i)
        told = step.op, i, saved, step.names, given, sent.shape, sent.dtype, name
        tried = [vjp(*told, c) for c in conjugates(step, sent)]
        found = next((f for f in tried if f is not None and same(step, f, sent)), None)
        if found is not None:
            yield vjp_line(step, i, found, sent, received)
            return
    yield by_name(step, i, sent)


def conjugates(step: NodeStep, sent: Value) -> tuple[bool, ...]:
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
    number = written(factor.value, sent.dtype) or Both("", "")
    forms = [form] if form.plain != number.plain else []
    kind, word, whole = "chain_rule", text("chain_rule", step.lang), result(full(sent) or Both("", ""))
    if is_root(step.scene, step.root, made) and received.items == (1.0,):
        return line(kind, word, joined([left, *forms, whole]))
    if (edge := step.node.edges[i]) is not None and len(step.flow.met.get(edge, ())) > 1:
        left = sentence("through", step.lang, left=left, name=named(step.label(made)))
    forms = [Both(Typesetter().factor(factor), Typesetter(latex=True).factor(factor)) for _ in forms]
    above, below = derivative(step.scene, step.root, made), quotient(step.label(made), step.label(source))
    arrived = came(full(received) or Both("", ""))
    products = [both(arrived, " · ", form) for form in (*forms, held_number(number))]
    return line(kind, word, joined([left, both(above, " · ", below), *products, whole]))


# ── arrays ──────────────────────────────────────────────────────────────────────────────────────────────────


def elementwise(step: NodeStep, i: int, received: Value, factor: Symbol, sent: Value) -> Iterator[Line]:
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
    shown, factors = full(received), written(np.broadcast_to(factor.value, received.shape), sent.dtype)
    if shown is None or factors is None:
        return None
    above = derivative(step.scene, step.root, step.output(), "ᵢ")
    above = above._replace(latex=above.latex.replace(latex_held(made + "ᵢ"), f"{latex_name(made)}_i"))
    below = rf"\frac{{\partial {latex_name(made)}_i}}{{\partial {latex_name(source)}}}"
    forms = [
        derivative(step.scene, step.root, step.tensors[i]),
        both(Both("Σᵢ ", r"\sum_i "), above, " · ", Both(f"∂{made}ᵢ/∂{held(source)}", below)),
        both(came(shown), " · ", factors),
        both(summed([plain(x, sent.dtype) for x in whole.value.tolist()])),
        result(full(sent) or Both("", "")),
    ]
    return line("vjp", text("vjp", step.lang), joined(forms))


def label_of(step: NodeStep, name: str) -> str:
    """The word before a vjp."""
    told = bar(name).plain
    return text("vjp_of", step.lang, bar=told, name=name) if told[:5] != "grad(" else text("vjp", step.lang)


def vjp_line(step: NodeStep, i: int, found: Symbol, sent: Value, received: Value) -> Line:
    """The gradient of an input as a formula, with numbers where they can be written out, and with shapes
    where they change or numbers cannot."""
    name = step.label(step.tensors[i])
    forms = [bar(name), typeset(found)]
    inserted = None if full(received) is None else with_numbers(found, sent.dtype)
    if inserted is not None and found.head != GIVEN:
        forms.append(inserted)
    whole = full(sent) if found.value is not None else None
    if whole is not None:
        forms.append(result(whole))
    changed = whole is None or found.head in (MATMUL, CALL) or received.shape != sent.shape
    return line("vjp", label_of(step, name), with_shapes(joined(forms), shapes(found) if changed else ""))


def broadcast(step: NodeStep, i: int, whole: Symbol, sent: Value, received: Value) -> Line:
    """`x has shape (), y has (3,): the 3 products are summed back to the shape of x: 8 + 21 + 45 = 74`."""
    count = str(received.size // max(sent.size, 1))
    said = sentence(
        "broadcast_values" if whole.head == GIVEN else "broadcast_products", step.lang,
        input=named(step.label(step.tensors[i])), small=shaped(sent.shape),
        output=named(step.label(step.output())), large=shaped(received.shape), n=Both(count, count),
    )  # fmt: skip
    terms, total = [written(t, sent.dtype) for t in summands(whole, sent, received)], full(sent)
    known = [t for t in terms if t is not None]
    if known and total is not None and len(known) == len(terms):
        equation = added(known)
        equation = equation._replace(latex=equation.latex.replace("−", "-"))
        said = both(said, Both(": ", r":\quad "), joined([equation, result(total)]))
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


def by_name(step: NodeStep, i: int, sent: Value) -> Line:
    """`MaxBackward0: ȳ (3,) = [1 1 1] → x̄ (2, 3)`: what came in and went out."""
    name, node = step.label(step.tensors[i]), Both(clean(step.node.name), latex_name(step.node.name))
    incoming = [(step.label(step.output(k)), v) for k, v in enumerate(step.event.received) if v is not None]
    come = listed([both(bar(n), SPACE, valued(v, came)) for n, v in incoming]) if incoming else NONE
    told = both(node, COLON, come, " → ", bar(name), SPACE, valued(sent, result))
    return line("vjp", label_of(step, name), told)


def valued(value: Value, mark: Callable[[Both], Both]) -> Both:
    """A value after its name: `= 0.6`, `(2, 3) = [[1 0 0] [0 1 0]]`, `(100, 20)`."""
    numbers, shape = full(value), shaped(value.shape)
    if numbers is None:
        return shape if value.shape else shape._replace(latex="")
    return both(*((shape, " ") if value.shape else ()), "= ", mark(numbers))


def factor_of(step: NodeStep, i: int) -> float | None:
    """The local derivative of a number by a number, for the product along a path: from the formula, else what
    the node made of its gradient."""
    sent, received = step.event.sent[i], step.event.received
    if not single(sent) or len(received) != 1 or not single(received[0]):
        return None
    assert sent is not None and received[0] is not None and sent.items and received[0].items
    factor = local(step.op, i, step.saved, step.names, received[0].dtype)
    if factor is not None and factor.value is not None and fits(step, received[0], factor, sent):
        return float(np.reshape(factor.value, ()))
    return float(sent.items[0]) / float(received[0].items[0]) if received[0].items[0] else None
