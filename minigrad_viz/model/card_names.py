"""What pictures, steps and explanations alike call cards, hooks and saved values; which routes have arrows of
their own."""

from __future__ import annotations

from typing import Any

from ..kept import RECOMPUTED
from ..numbers import short
from ..trace.graph import CHAIN, Graph, Saved
from ..words import clean, shorten, text

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


def kept_words(saved: Saved, lang: str | None) -> str:
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
        ", ".join("None" if value is None else short(value, WIDTH) for value in values)
        for values in (hook.before, hook.after)
    )
    late = hook.kind in ("post_accumulate", "multi")  # these have to return None, or need not
    if hook.before != hook.after:
        wrote = hook.gave is False and not late
        return text("hook_wrote", lang, before=before, after=after) if wrote else f"{before} → {after}"
    key = "hook_none" if hook.gave is False and not late else "hook_same" if hook.gave else "hook_saw"
    return text(key, lang, before=before)
