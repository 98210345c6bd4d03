"""What the cards of a strip are called, and what they are: modules, functions, rounds of loops, and several
that are one card."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from ..trace.graph import JOINED, LINE, MODULE, ROOT, ROUND, Graph, Group, Station
from ..words import clean
from .detail import is_view, only_views
from .film import last_state, round_name
from .stations import LIBRARY

DATA, LAYER, FUNCTION, LOSS = "data", "layer", "function", "loss"  # what a card is


def repetition(group: Group, whole: Graph) -> Group | None:
    """The repeated box that a group is, or that is all that it has inside."""
    while group.times == 1:
        inner = [each for each in whole.groups if each.parent == group.id]
        if len(inner) != 1 or len(group.members) - len(inner[0].members) > 0:
            return None
        group = inner[0]
    return group


def title_of_card(
    station: Station, group: Group | None, repeated: Group | None, whole: Graph, role: str
) -> tuple[str, str]:
    """The name of a card, and what it is."""
    card = station.cards[0]
    if role == LOSS:
        roots = (known for known in whole.stations if any(each.role == ROOT for each in known.cards))
        root = next(
            (
                known
                for known in roots
                if known.id == station.id or known.id in (group.members if group else ())
            ),
            station,
        )
        kind = written_function(
            root, None if group is None or group.kind in (JOINED, ROUND) else group, whole
        )
        written = brief(LIBRARY.sub("", root.cards[0].expr or ""))
        return clean(card.name or "loss"), clean(written if kind in SIGNS.values() and written else kind)
    if role == DATA:
        value = card.value
        return clean(card.name or "data"), "×".join(map(str, value.shape)) if value else ""
    if group is None or group.kind not in (MODULE, ROUND, JOINED):
        return function_title(station, group, whole)
    inner = [each for each in whole.groups if each.parent == (repeated or group).id]
    if group.kind == JOINED:
        return joined_title(group, whole)
    if group.kind == ROUND and group.times == 1:
        number, state = round_name(group, whole), last_state(group, whole)
        return (state, number) if state else (number, "")
    state = last_state(group, whole) if group.path and repeated is None else ""
    if state:
        return state, " ".join(name_and_kind(group.title.split(" ")))
    if repeated is not None:
        name = group.title.partition(" ")[0] if repeated is not group else range_name(repeated, inner, whole)
        kinds = layer_kinds(inner[0], whole) if inner else ""
        return f"{name} ×{repeated.times}", kinds
    words = group.title.split(" ")
    return name_and_kind(words)


def name_and_kind(words: Sequence[str]) -> tuple[str, str]:
    """The words of a module's title as a name and what it is: a number alone is no name."""
    keep = 2 if words[0].rpartition(".")[2].isdigit() and len(words) > 1 else 1
    return " ".join(words[:keep]), " ".join(words[keep:]).removeprefix("Sequential")


def joined_modules(group: Group, whole: Graph) -> list[Group]:
    """The modules and rounds in a joined box that are more than views."""
    known = {station.id: station for station in whole.stations}
    parts = [each for each in whole.groups if each.parent == group.id and each.kind in (MODULE, ROUND)]
    return [each for each in parts if not only_views(each.members, known)] or parts


def last_function(group: Group, parts: Sequence[Group], whole: Graph) -> str:
    """What a joined box ends with, if that is not one of the modules that it is called by; else ""."""
    result = whole.station(group.members[-1])
    inner = [each for each in whole.groups if each.parent == group.id and result.id in each.members]
    if result.deck is None or any(each in parts for each in inner):
        return ""
    module = next((each.title for each in inner if each.kind == MODULE), "")
    return module or written_function(result, None, whole)


def round_title(group: Group, whole: Graph) -> str:
    """What a round of a film is called: its state, or the variable of the loop."""
    named = last_state(group, whole)
    return named or (round_name(group, whole) if group.kind == ROUND else group.title.partition(" ")[0])


def name_from_to(group: Group, whole: Graph) -> str:
    """What a joined box is called in sentences: its first and its last part, `conv1 … max_pool2d`, or the
    expression of its result."""
    parts = joined_modules(group, whole)
    name = joined_title(group, whole)[0]
    if not parts:
        return clean(LIBRARY.sub("", whole.station(group.members[-1]).cards[0].expr or "")) or name
    function = last_function(group, parts, whole)
    return f"{name.partition(' … ')[0]} … {function}" if function else name


def with_joined_titles(whole: Graph) -> Graph:
    """The graph in which joined boxes have the titles that sentences call them by."""
    groups = (
        replace(g, title=name_from_to(g, whole)) if g.kind == JOINED and not g.title else g
        for g in whole.groups
    )
    return replace(whole, groups=tuple(groups))


def joined_title(group: Group, whole: Graph) -> tuple[str, str]:
    """The name of a card that joins several: `3 … 9`, or the first with functions; what they are."""
    known = {station.id: station for station in whole.stations}
    parts = joined_modules(group, whole)
    if not parts:
        own = [id for id in group.members if id in known and not is_view(known[id])] or group.members
        return function_title(whole.station(own[-1]), None, whole)
    if group.times > 1:  # rounds of a long film
        ends = [round_title(each, whole) for each in (parts[0], parts[-1])]
        return " … ".join(ends), layer_kinds(parts[0], whole)
    first, last_part = parts[0].title.split(" "), parts[-1].title.split(" ")
    function = last_function(group, parts, whole)
    kinds = list(dict.fromkeys(layer_kinds(each, whole) for each in parts))
    kinds = [kind for kind in kinds if kind != "Sequential"] or kinds
    if len(parts) == 1:
        name, kind = name_and_kind(first)
        repeated = repetition(parts[0], whole)
        if repeated is None:
            return name, f"{kind.partition(' ')[0]} … {function}".strip() if function else kind
        words = kind.split(" ")
        name = f"{name} {' '.join(words[:-1])}".strip() if repeated is parts[0] else name
        return f"{name} ×{repeated.times}", words[-1] if repeated is parts[0] else ""
    return f"{first[0]} … {last_part[0]}", ", ".join(kinds)


def range_name(repeated: Group, inner: Sequence[Group], whole: Graph) -> str:
    """What a repetition is called: the range of its modules, `0 … 23`, or its own title."""
    modules = [
        each for each in whole.groups
        if each.kind == MODULE and any(each.id == part.id or each.parent == part.id for part in inner)
    ]  # fmt: skip
    if modules and repeated.kind == ROUND:
        ends = modules[0].title.partition(" ")[0], modules[-1].title.partition(" ")[0]
        return " … ".join(dict.fromkeys(ends))
    return repeated.title.rpartition(" ")[0] if repeated.kind == MODULE else clean(repeated.title)


def layer_kinds(group: Group, whole: Graph) -> str:
    """The class of a module; of a round the classes of its modules."""
    if group.kind == MODULE:
        words = [word for word in group.title.split(" ")[1:] if word != "…" and not word.isdigit()]
        return " ".join(words).removeprefix("Sequential") or " ".join(words) or group.title
    modules = [each for each in whole.groups if each.parent == group.id and each.kind == MODULE]
    return ", ".join(dict.fromkeys(each.title.partition(" ")[2] for each in modules))


def written_function(station: Station, group: Group | None, whole: Graph) -> str:
    """What a result was computed with: the function that was called, or the expression."""
    if group is not None and group.kind != LINE and group.title:
        return clean(group.title)
    inner = [each for each in whole.groups if group is not None and each.parent == group.id and each.title]
    if inner:
        return clean(inner[-1].title)
    written = LIBRARY.sub("", station.cards[0].expr or "") or (station.deck.name if station.deck else "")
    return clean(callee(written) or written)


def function_title(station: Station, group: Group | None, whole: Graph) -> tuple[str, str]:
    """The name of a result, or of what computed it, and its expression without the arguments of calls."""
    written = written_function(station, group, whole)
    expr = brief(LIBRARY.sub("", station.cards[0].expr or ""))
    return clean(station.cards[0].name or written), clean(expr if expr != written else "")


def brief(written: str) -> str:
    """An expression without `self.` and without the arguments of its calls: `tok(…) + pos(…)`."""
    try:
        node = ast.parse(written, mode="eval")
    except SyntaxError:
        return written
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and each.args:
            each.args, each.keywords = [ast.Name("…")], []
    return ast.unparse(node).replace("self.", "")


SIGNS = {
    ast.Add: "+", ast.Sub: "−", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.Pow: "**", ast.Mod: "%",
    ast.FloorDiv: "//",
}  # fmt: skip


def callee(written: str) -> str:
    """The name of the function or method whose call an expression is, or its outermost operator; "" if it is
    neither."""
    try:
        node = ast.parse(written, mode="eval").body
    except SyntaxError:
        return ""
    if isinstance(node, ast.BinOp):
        return SIGNS.get(type(node.op), "")
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
