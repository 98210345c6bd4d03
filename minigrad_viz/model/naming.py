"""The names of the tensors of a recorded cell, the expressions of those that the source does not show, and
the names of cards and hooks in pictures.

Note [Letters]
    What the cell computed without giving it a variable, outside of modules and functions, gets a letter that
    the source does not use: its station reads `a = log(y)`. Letters are given in program order, so each
    round of a loop gives the same ones. Where letters run out, the others have none.

Note [Names of inner results]
    For each op, Python gives the expression of the cell that runs. In `out = net(x)` that is `net(x)` for
    every op of the net, and the variable is `out` for all of them. But only what the call returned is `out`.
    The others are called by what made them: `0.weight.T`, `1 tanh`, `fc1 · addmm`, `cross_entropy ·
    log_softmax`. Of a call that failed, none has the name. Variables of a module's own code are not variables
    of the cell, so what is computed there is called by its expression alone.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Any

from ..number_text import number, one_line
from ..protocol import Value, op_of
from ..saved_values import RECOMPUTED
from ..trace.events import Forward
from ..trace.graph import CHAIN, Graph, SavedChip
from ..trace.source_positions import Span
from ..trace.statements import parse_expression as expression_in
from ..words import clean, shorten, text
from .execution import ModuleCall, ModuleCalls, below
from .stations import Lookup, Place

# ─── What the tensors of a recorded cell are called


OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
KINDS = ("_scalar", "_tensor")  # in which names of ops end that take a number, or a tensor, beside the first
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
GRADIENT = re.compile(r"(?<![\w.])[\w.]+\.grad\b")
LONGEST = 24  # characters of an expression that is part of another one
DEEPEST = 6  # brackets in brackets; what is deeper is longer than that


def names_of(places: Iterable[Any], final: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Variable names by tensor id, from where the tensors were made and from what the variables are at the
    end.

    The variable that the result was assigned to counts, if it still is that tensor or none is; else the
    first variable that is (`y = f(x)` names what `f` called `b`), or for a parameter its place in its module
    (`for p in model.parameters()` leaves `p` behind).
    """
    bound: dict[str, list[str | None]] = {}
    for id, name in final:
        bound.setdefault(id, []).append(name)
    named = {}
    for place in places:
        results = getattr(place.event, "outputs", None) or place.states  # others are readings of saved values
        for state in place.states:
            own = place.name if len(results) == 1 and state.id == results[0].id else None
            names = bound.get(state.id) or [own]
            inner = [name for name in names if state.parameter and "." in (name or "")]
            chosen = own if own in names else [*inner, *names][0]
            if chosen is not None:
                named[state.id] = chosen
    return named


def gradient_name(place: Any, named: Mapping[str, str]) -> str | None:
    """`x.grad` for a tensor that is the gradient of `x`; None where that is not certain.

    Of several leaves with equal gradients, and for a leaf without a name, the source of its first use
    decides.
    """
    written = dict.fromkeys(GRADIENT.findall(place.used))
    leaves = [f"{named[leaf]}.grad" for leaf in place.gradient_of if leaf in named]
    if len(place.gradient_of) == 1 and leaves:
        return leaves[0]
    found = [name for name in written if name in leaves or len(leaves) < len(place.gradient_of)]
    return found[0] if len(found) == 1 else None


WHOLE = "slice(None, None, None)"


def op_expression(
    place: Any, at: Mapping[str, Any], named: Mapping[str, str], depth: int = DEEPEST
) -> str | None:
    """An op whose source is not known in symbols; None for a place that no such op made. What is more
    than `depth` brackets deep is `…`."""
    event = place.event
    if event is None:
        return None
    given = event_inputs(event)
    operands = [operand_text(id, text, at, named, depth) for id, text in given]
    title = event.op
    for kind in KINDS:
        title = title.removesuffix(kind)
    if title in OPERATORS and len(operands) == 2:
        return f"{operands[0]} {OPERATORS[title]} {operands[1]}"
    if title in ("copy", "clone", "copybackwards") and operands:
        return operands[-1]
    if title == "select" and len(operands) == 3 and operands[1].isdigit():
        return f"{operands[0]}[{':, ' * int(operands[1])}{operands[2]}]"
    if title == "getitem" and all(one == WHOLE or one.lstrip("-").isdigit() for one in operands[1:]):
        return f"{operands[0]}[{', '.join(operands[1:]).replace(WHOLE, ':')}]"
    if title == "t":
        return f"{operands[0]}.T"
    told = [each for (id, text), each in zip(given, operands) if id is not None or is_single(text)]
    return f"{title}({', '.join(told)})"


def event_inputs(event: Any) -> list[tuple[str | None, str | None]]:
    """What an op was called with: tensors by their ids, all else as text."""
    return list(zip(event.inputs, event.arguments, strict=True))


def is_single(text: str | None) -> bool:
    """Whether an argument is one number or word, not a shape, a list or a switch."""
    return text is not None and text[:1] not in "([" and text not in ("True", "False", "None")


def name_indices(found: Lookup, event: Forward) -> None:
    """Say what tensors are that an index was made into: `range(n)`, `[0, 2]`."""
    whole = expression_in(event.span.text) if event.span is not None and event.op == "index" else None
    if not isinstance(whole, ast.Subscript):
        return
    parts = whole.slice.elts if isinstance(whole.slice, ast.Tuple) else [whole.slice]
    if len(parts) != len(event.inputs) - 1:
        return
    for id, part in zip(event.inputs[1:], parts, strict=True):
        place = found.at[id][0] if id in found.at else None
        if place is not None and place.brought and not place.expr and not isinstance(part, ast.Name):
            place.expr = ast.unparse(part)


def unseen_op_expression(found: Lookup, place: Place, named: Mapping[str, str]) -> str | None:
    """What an op computed that nobody saw, from its node and the tensors that it used: `t(net.0.weight)`;
    None for what has a name, and where those have none."""
    node = found.nodes.get(place.node or "")
    if node is None or any(state.id in named for state in place.states):
        return None
    sources = [found.tensor_of(edge) for edge in node.edges if edge is not None]
    names = [named[id] for id in sources if id is not None and id in named]
    if not names or len(names) < len(sources):
        return None
    if op_of(node.name) == "t":
        return f"{names[0]}.T"
    names += ["…"] * any(not isinstance(saved.value, Value) and not saved.freed for saved in node.saved)
    return f"{op_of(node.name)}({', '.join(names)})"


def operand_text(
    id: str | None, text: str | None, at: Mapping[str, Any], named: Mapping[str, str], depth: int
) -> str:
    """One input of such an op: its name, its number, or its own expression in brackets."""
    if id is None:
        return text or ""
    if id in named:
        return named[id]
    place, i = at[id]
    value = place.states[i].value
    if place.event is None and value is not None and value.size == 1 and value.items:
        return number(value.items[0], value.dtype)
    whole = place.expr or (op_expression(place, at, named, depth - 1) if depth else None) or "…"
    return f"({whole})" if len(whole) <= LONGEST else "(…)"


def with_subscripts(named: dict[str, str], begun: Collection[str] = ()) -> dict[str, str]:
    """Names with a subscript where several tensors share one: from 1, of the states of a loop from 0; `begun`
    has the names of these."""
    count = Counter(named.values())
    seen = Counter(dict.fromkeys(begun, -1))
    result = {}
    for id, name in named.items():
        seen[name] += 1
        result[id] = name if count[name] == 1 else name + str(seen[name]).translate(SUBSCRIPTS)
    return result


def loop_states(places: Iterable[Place], named: Mapping[str, str]) -> set[str]:
    """The names that a loop goes on with: the first tensor comes before it, all others were computed in one
    line of it, `h = tanh(x[t] @ W + h @ U)`. Books count these from 0."""
    found: dict[str, list[Place]] = {}
    for place in places:
        for state in place.states:
            if state.id in named:
                found.setdefault(named[state.id], []).append(place)
    return {name for name, (first, *later) in found.items() if is_repeated(first, later)}


def is_repeated(first: Place, later: Sequence[Place]) -> bool:
    """Whether a line computed all `later` ones, with nodes, after the first had been made elsewhere."""
    lines = {place.line for place in later}
    if len(later) < 2 or len(lines) > 1 or any(place.node is None for place in later):
        return False
    return lines.isdisjoint((0, first.line)) and (first.node is None or first.line < later[0].line)


def plain_name(name: str) -> str:
    """A name without the subscript that `with_subscripts` gave it."""
    return name.rstrip("₀₁₂₃₄₅₆₇₈₉")


LETTERS = "abcdefghkmnpqrstuvw"
WORD = re.compile(r"\w+")


def letters_for(
    places: Iterable[Place], named: Container[str], source: str, calls: ModuleCalls
) -> dict[str, str]:
    """The letters of unnamed results, by tensor id."""
    used = set(WORD.findall(source))
    free = (letter for letter in LETTERS if letter not in used)
    unnamed = (place for place in places if lacks_a_name(place, named, calls))
    return {place.states[0].id: letter for place, letter in zip(unnamed, free)}


def lacks_a_name(place: Place, named: Container[str], calls: ModuleCalls) -> bool:
    """Whether a place is a result of the cell that is known by its expression alone, or one that nobody saw
    inside a function."""
    if place.order != 1 or place.node is None or len(place.states) > 1:
        return False
    event, state = place.event, place.states[0]
    if event is None and not place.expr:
        return place.time > 0 and state.id not in named and calls.at(place.time) is None
    if not place.expr:
        return False
    if not isinstance(event, Forward) or event.call or event.span is None or event.span.origin:
        return False
    return place.states[0].id not in named and calls.at(place.time) is None


CALLEE = re.compile(r"(?:[\w.\]\[]*\.)?(\w+)\(.*\)\Z")  # of a call, its last name


def name_inner(found: Lookup, begun: Sequence[int], failed: Span | None, module_calls: ModuleCalls) -> None:
    """Take the names of variables from inner results among the places of `found`, and say instead what made
    them. Statements have `begun` at these times, and the cell `failed` there."""
    last: dict[tuple[Span, int, int], Place] = {}  # by span, module call, how many statements had begun
    for place in found.places:
        if place.order > 1 or (place.brought and place.node is None):
            continue
        call = module_calls.at(place.time)
        if call is not None:
            in_module(found, place, call, module_calls.parameters)
        span = place.span
        whole = call is not None and any(each.event.span == span for each in call.chain())
        made = place.event is not None or (place.node is not None and not place.brought)  # by writing
        if span is None or not made or whole:
            continue
        key = span, 0 if call is None else call.event.number, bisect_right(begun, place.time)
        before, last[key] = last.get(key), place
        if before is not None:
            in_function(before)
    for (where, _, statements), place in last.items():
        if where == failed and statements == len(begun):
            in_function(place)


def in_module(found: Lookup, place: Place, call: ModuleCall, known: Mapping[str, tuple[str, str]]) -> None:
    """Name what was computed inside the call of a module; `known` are the parameters of all modules."""
    chain = call.chain()
    span = place.span
    whole = next((each for each in chain if span is not None and each.event.span == span), None)
    result = whole is not None and any(state.id in whole.outputs for state in place.states)
    if whole is not chain[0] or not result:
        place.name = None
    if result or (whole is None and span is not None):
        return
    top = chain[0].event.path
    node = found.nodes.get(place.node or "")
    op = place.event.op if place.event is not None else op_of(node.name) if node is not None else ""
    sources = (state.id for source in found.came_from(place) for state in source.states)
    held = [known[id] for id in sources if id in known]
    if op == "t" and held:
        owner, own = held[0]
        start = below(owner, top)
        place.expr = f"{start}.{own}.T" if start else f"{own}.T"
    elif op:
        way = below(call.event.path, top) or call.event.kind
        if any(state.id in call.outputs for state in place.states):
            op = call.event.kind.lower()  # both libraries have the module, but not the same ops in it
        place.expr = f"{way} {op}" if way[-1:].isdigit() else f"{way} · {op}"


def in_function(place: Place) -> None:
    """Name what was computed inside the call of a function, or before an error ended it."""
    place.name = None
    callee = CALLEE.match(place.expr or "")
    if callee is not None and place.event is not None:
        op = place.event.op
        place.expr = f"{callee[1]} · {op}" if op != callee[1] else place.expr


# ─── What pictures, steps and explanations alike call cards, hooks and saved values


PARALLEL = 4  # more arrows than this between the same two boxes are drawn as one
WIDTH = 60  # columns of a value or a name

HOOKS = {
    "tensor": "hook_tensor",
    "pre": "hook_pre",
    "post": "hook_post",
    "post_accumulate": "hook_post_accumulate",
    "multi": "hook_multi",
}
Names = dict[tuple[str, int], str]  # what to call each card, by station id and position


def name_cards(graph: Graph, lang: str | None = None) -> Names:
    """What to call each card, by station id and position: its variable, its expression, or `result n`; and a
    chain by how many operations it stands for."""
    chains = {group.id for group in graph.groups if group.kind == CHAIN}
    folds = {fold.station: fold for fold in graph.folds if fold.station in chains}
    names: Names = {}
    unnamed = 0
    for s in graph.stations:
        for i, card in enumerate(s.cards):
            if s.id in folds:
                names[s.id, i] = text("fold", lang, n=folds[s.id].operations)
                continue
            name = clean(card.name or card.expr or "")
            if not name:
                unnamed += 1
                name = text("unnamed", lang, n=unnamed)
            names[s.id, i] = name
    return names


def bundles_of(graph: Graph) -> dict[str, tuple[str, ...]]:
    """By route, all routes that run between the same two stations, in order."""
    bundles: dict[tuple[str, str], list[str]] = {}
    for route in graph.routes:
        bundles.setdefault((route.source, route.target), []).append(route.id)
    found = {id: bundle for bundle in map(tuple, bundles.values()) for id in bundle}
    return {route.id: found[route.id] for route in graph.routes}


def drawn_routes(graph: Graph) -> set[str]:
    """The routes that have arrows of their own: of many between two stations only the first has."""
    return {id for id, bundle in bundles_of(graph).items() if len(bundle) <= PARALLEL or id == bundle[0]}


def kept_words(saved: SavedChip, lang: str | None) -> str:
    """What a saved-tensor hook made of a saved value."""
    return text("kept_recomputed", lang) if saved.packed == RECOMPUTED else clean(saved.packed)


def hook_label(hook: Any, lang: str | None = None) -> str:
    """What to call a `Hook` or `HookRan`: its kind, and its own name if that is one."""
    name = hook.name if hook.name.isidentifier() else ""
    return shorten(clean(text(HOOKS[hook.kind], lang, name=name).strip()), WIDTH)


def hook_text(hook: Any, lang: str | None = None) -> str:
    """What a hook that ran made of the gradients that it saw, and that it returned None, where that is
    known."""
    before, after = (
        ", ".join("None" if value is None else one_line(value, WIDTH) for value in values)
        for values in (hook.before, hook.after)
    )
    late = hook.kind in ("post_accumulate", "multi")  # these have to return None, or need not
    if hook.before != hook.after:
        wrote = hook.gave is False and not late
        return text("hook_wrote", lang, before=before, after=after) if wrote else f"{before} → {after}"
    key = "hook_none" if hook.gave is False and not late else "hook_same" if hook.gave else "hook_saw"
    return text(key, lang, before=before)
