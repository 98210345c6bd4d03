"""The line of one gradient that a node sent: the chain rule for numbers, the vjp for arrays.

A formula is shown only if it gives, computed with the numbers that the node had saved, what the node sent.
Otherwise (no vjp runs on symbols, a hook changed the gradient, a value was overwritten) the line names the
node and says what came in and went out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..numbers import SHARES
from ..protocol import Value
from ..words import clean, text
from .checks import fits, same
from .derivatives import derivative, is_root, latex_held, quotient
from .glyphs import TooLarge, bar, held, latex_array, latex_bar, latex_name, plain
from .lines import (
    Line,
    added,
    array_of,
    came,
    full,
    held_number,
    latex_full,
    latex_result,
    latex_sentence,
    latex_shape,
    line,
    result,
    single,
    written,
)
from .node_step import NodeStep
from .notation import Known, is_complex, is_elementwise, local, vjp
from .symbols import CALL, GIVEN, MATMUL, Symbol, product, reshape, sum_to
from .typeset import Typesetter, shapes

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
    made_name, source_name = step.label(made), step.label(source)
    left, latex_left = derivative(step.scene, step.root, source)
    wanted, got = full(sent) or "", full(received) or ""
    number = written(factor.value, sent.dtype) or ""
    latex_number = latex_array(factor.value, sent.dtype)
    plainly, latex = Typesetter(), Typesetter(latex=True)
    told = plainly.text(factor) != number
    kind, word = "chain_rule", text("chain_rule", step.lang)
    if is_root(step.scene, step.root, made) and received.items == (1.0,):
        chain = [left, *([plainly.text(factor)] if told else []), result(wanted)]
        latex_chain = [latex_left, *([latex.text(factor)] if told else []), latex_result(sent)]
        return line(kind, word, joined(chain), joined(latex_chain))
    if (edge := step.node.edges[i]) is not None and len(step.flow.met.get(edge, ())) > 1:
        left = text("through", step.lang, left=left, name=made_name)
        name = latex_name(made_name)
        latex_left = latex_sentence("through", step.lang, left=latex_left, name=name)
    above, latex_above = derivative(step.scene, step.root, made)
    below, latex_below = quotient(made_name, source_name)
    forms = [(plainly.factor(factor), latex.factor(factor))] if told else []
    forms.append((held_number(number), held_latex(latex_number)))
    chain = [left, f"{above} · {below}", *(f"{came(got)} · {form}" for form, _ in forms), result(wanted)]
    latex_chain = [latex_left, rf"{latex_above} \cdot {latex_below}"]
    latex_chain += [rf"{came(latex_full(received))} \cdot {form}" for _, form in forms]
    return line(kind, word, joined(chain), joined([*latex_chain, latex_result(sent)]))


def joined(forms: list[str]) -> str:
    """Forms of one number, as an equation."""
    return " = ".join(forms)


def held_latex(number: str) -> str:
    """A number in LaTeX as a factor."""
    return rf"\left({number}\right)" if number[:1] == "-" else number


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
    left, latex_left = derivative(step.scene, step.root, step.tensors[i])
    above, latex_above = derivative(step.scene, step.root, step.output(), "ᵢ")
    latex_above = latex_above.replace(latex_held(made + "ᵢ"), f"{latex_name(made)}_i")
    factors = np.broadcast_to(factor.value, received.shape)
    terms = added([plain(x, sent.dtype) for x in whole.value.tolist()])
    local_part = f"∂{made}ᵢ/∂{held(source)}"
    latex_local = rf"\frac{{\partial {latex_name(made)}_i}}{{\partial {latex_name(source)}}}"
    shown, factor_text = full(received), written(factors, sent.dtype)
    if shown is None or factor_text is None:
        return None
    latex = [
        latex_left,
        rf"\sum_i {latex_above} \cdot {latex_local}",
        rf"{came(latex_full(received))} \cdot {latex_array(factors, sent.dtype)}",
        terms.replace("−", "-"),
        latex_result(sent),
    ]
    forms = [left, f"Σᵢ {above} · {local_part}", f"{came(shown)} · {factor_text}", terms]
    return line("vjp", text("vjp", step.lang), joined([*forms, result(full(sent) or "")]), " = ".join(latex))


def label_of(step: NodeStep, name: str) -> str:
    """The word before a vjp."""
    known = bar(name) != f"grad({name})"
    return text("vjp_of", step.lang, bar=bar(name), name=name) if known else text("vjp", step.lang)


def vjp_line(step: NodeStep, i: int, found: Symbol, sent: Value, received: Value) -> Line:
    """The gradient of an input as a formula, with numbers where they can be written out, and with shapes
    where they change or numbers cannot."""
    name = step.label(step.tensors[i])
    numbers = full(sent)
    forms, latex = (
        [bar(name), Typesetter().text(found)],
        [latex_bar(name), Typesetter(latex=True).text(found)],
    )
    try:
        if found.value is None or full(received) is None:
            raise TooLarge
        inserted = Typesetter(numbers=True, dtype=sent.dtype).text(found)
        if found.head != GIVEN:
            forms.append(inserted)
            latex.append(Typesetter(latex=True, numbers=True, dtype=sent.dtype).text(found))
    except TooLarge:
        numbers = numbers if found.value is not None else None
    if numbers is not None:
        forms.append(result(numbers))
        latex.append(latex_result(sent))
    tail = ""
    if numbers is None or found.head in (MATMUL, CALL) or received.shape != sent.shape:
        tail = shapes(found)
    marked = joined(forms) + (f"   {tail}" if tail else "")
    formula = " = ".join(latex) + (rf" \quad {latex_shape(tail)}" if tail else "")
    return line("vjp", label_of(step, name), marked, formula)


def broadcast(step: NodeStep, i: int, whole: Symbol, sent: Value, received: Value) -> Line:
    """`x has shape (), y has (3,): the 3 products are summed back to the shape of x: 8 + 21 + 45 = 74`."""
    name, made = step.label(step.tensors[i]), step.label(step.output())
    count = received.size // max(sent.size, 1)
    key = "broadcast_values" if whole.head == GIVEN else "broadcast_products"
    small, large = str(sent.shape), str(received.shape)
    said = text(key, step.lang, input=name, small=small, output=made, large=large, n=count)
    latex = latex_sentence(
        key, step.lang, input=latex_name(name), small=latex_shape(small), output=latex_name(made),
        large=latex_shape(large), n=str(count),
    )  # fmt: skip
    terms = summands(whole, sent, received)
    total = full(sent)
    if terms is None or total is None:
        return line("broadcast", text("broadcast", step.lang), said, latex)
    plain_terms = [written(t, sent.dtype) for t in terms]
    if any(t is None for t in plain_terms):
        return line("broadcast", text("broadcast", step.lang), said, latex)
    equation = added([t for t in plain_terms if t is not None])
    latex_terms = added([latex_array(t, sent.dtype) for t in terms]).replace("−", "-")
    return line(
        "broadcast", text("broadcast", step.lang), f"{said}: {equation} = {result(total)}",
        rf"{latex}:\quad {latex_terms} = {latex_result(sent)}",
    )  # fmt: skip


def summands(whole: Symbol, sent: Value, received: Value) -> list[Any] | None:
    """What is summed up over the broadcast dimensions, each in the input's shape; None if not known or too
    many."""
    if whole.value is None or received.size // max(sent.size, 1) > SHARES:
        return None
    lead = len(received.shape) - len(sent.shape)
    kept = [i + lead for i, n in enumerate(sent.shape) if n == received.shape[i + lead]]
    gone = [i for i in range(len(received.shape)) if i not in kept]
    moved = np.transpose(np.broadcast_to(whole.value, received.shape), [*gone, *kept])
    return [part.reshape(sent.shape) for part in moved.reshape(-1, *moved.shape[len(gone) :])]


def by_name(step: NodeStep, i: int, sent: Value) -> Line:
    """`MaxBackward0: ȳ (3,) = [1 1 1] → x̄ (2, 3)`: what came in and went out."""
    name, received = step.label(step.tensors[i]), step.event.received
    incoming = [(step.label(step.output(k)), v) for k, v in enumerate(received) if v is not None]
    come = ", ".join(f"{bar(n)} {value_text(v, came)}" for n, v in incoming) or "None"
    latex = r",\ ".join(rf"{latex_bar(n)}\ {latex_value(v, came)}" for n, v in incoming) or r"\mathrm{None}"
    node, latex_node = clean(step.node.name), latex_name(step.node.name)
    return line(
        "vjp", label_of(step, name), f"{node}: {come} → {bar(name)} {value_text(sent, result)}",
        rf"{latex_node}:\ {latex} \to {latex_bar(name)}\ {latex_value(sent, result)}",
    )  # fmt: skip


def value_text(value: Value, mark: Any) -> str:
    """A value after its name: `= 0.6`, `(2, 3) = [[1 0 0] [0 1 0]]`, `(100, 20)`."""
    numbers = full(value)
    equal = "" if numbers is None else f"= {mark(numbers)}"
    return " ".join(filter(None, [str(value.shape) if value.shape else "", equal])) or str(value.shape)


def latex_value(value: Value, mark: Any) -> str:
    """The same in LaTeX."""
    equal = "" if full(value) is None else f"= {mark(latex_full(value))}"
    return " ".join(filter(None, [latex_shape(str(value.shape)) if value.shape else "", equal]))


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
