"""The tooltips of the picture: all recorded details of a tensor, a node, a saved value or a hook."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.card_names import hook_label, hook_text, kept_words
from ..numbers import short
from ..protocol import Value
from ..trace.graph import Deck, Fold, Saved, Station
from ..words import clean, shorten, text
from . import labels
from .memories import SharedMemory, memory_words
from .node_text import code_text, op_lines

WIDTH = 60  # columns of a value
LONG = 1000  # characters of one detail


def describe(
    station: Station, i: int, names: Mapping[tuple[str, int], str], lang: str | None = None,
    fold: Fold | None = None, memory: SharedMemory | None = None,
) -> str:  # fmt: skip
    """All details of card `i` of a station, one per line, in full (a single text up to 1,000 columns)."""
    card = station.cards[i]
    title = f"{card.name} = {card.expr}" if card.name and card.expr else names[station.id, i]
    grad = short(card.grad, WIDTH) if card.grad else None
    known: dict[str, object] = {
        "role": text(labels.ROLES[card.role], lang),
        "value": short(card.value, WIDTH) if card.value else text("unknown", lang),
        **({} if card.tangent is None else {"tangent": short(card.tangent, WIDTH)}),
        "grad": text("not_kept", lang, value=grad) if card.grad and not card.grad_kept else grad,
        **({} if card.returned is None else {"returned": short(card.returned, WIDTH)}),
        "requires_grad": card.requires_grad,
        "is_leaf": card.is_leaf,
        "retains_grad": card.retains_grad,
        "grad_fn": clean(station.deck.name) if station.deck and not card.is_leaf else None,
        "version": card.version,
    }
    if card.value:
        known |= {"shape": card.value.shape, "dtype": card.value.dtype}
    rows = [f"{labels.row_label(name, lang)}: {value}" for name, value in known.items()]
    many = [] if fold is None else [text("tip_fold", lang, n=fold.operations)]
    many += [text("legend_asked", lang)] * card.asked
    many += [] if memory is None else [memory_words(card, memory, lang, LONG)]
    many += [text(labels.FOGS[card.fog], lang)] if card.fog else []
    many += [text("tip_leaf_constant", lang)] * (card.is_leaf and not card.requires_grad)
    return "\n".join([shorten(clean(title), LONG), *many, *rows])


def describe_deck(deck: Deck, lang: str | None = None) -> str:
    """A backward node, its op and its saved values, one per line. For a custom Function its source follows,
    with an empty line before each method."""
    saved = [describe_saved(saved, lang) for saved in deck.saved]
    left_out = [text("legend_skipped", lang)] * deck.skipped
    title = shorten(clean(deck.name), LONG)
    source = [code_text(code, lang) for code in deck.code]
    hooks = describe_hooks(deck, lang)
    lines = [title, *op_lines(deck, lang), *left_out, *saved, *hooks]
    return "\n\n".join(["\n".join(lines), *source])


def describe_ghost(station: Station, lang: str | None = None) -> str:
    """Why there is no node here, and which it would have been."""
    card = next(card for card in station.cards if card.fog)
    would = [text("tip_ghost", lang, node=shorten(clean(card.ghost), LONG))] if card.ghost else []
    return "\n".join([text(labels.FOGS[card.fog], lang), *would])


def describe_hooks(deck: Deck, lang: str | None = None) -> list[str]:
    """The hooks of a node as they ran, or how many there are."""
    if not deck.ran:
        return [text("hooks", lang, n=deck.hooks)] if deck.hooks else []
    told = []
    for i, hook in enumerate(deck.ran, 1):
        saw = text("tip_hook_removed", lang) if hook.removed else hook_text(hook, lang)
        told.append(f"{i}. {hook_label(hook, lang)}: {saw}")
    return told


def describe_saved(saved: Saved, lang: str | None = None) -> str:
    """A saved value in full, and what became of it."""
    name = shorten(clean(saved.name), LONG)
    if saved.value is None and saved.freed and not saved.packed:
        return text("tip_freed_unseen", lang, name=name)
    if isinstance(saved.value, Value):
        value = short(saved.value, WIDTH)
    else:
        value = text("unknown", lang) if saved.value is None else shorten(clean(saved.value), LONG)
    if saved.packed:
        kept = shorten(kept_words(saved, lang), LONG)
        key = "tip_packed" if saved.value is not None else "tip_packed_unseen"
        return text(key, lang, name=name, value=value, kept=kept)
    key = "tip_freed" if saved.freed else "tip_saved" if saved.version is None else "tip_saved_version"
    key = "tip_stale" if stale(saved) else key
    told = text(key, lang, name=name, value=value, version=saved.version, now=saved.now)
    return told if saved.nbytes is None else text("tip_bytes", lang, saved=told, n=f"{saved.nbytes:,}")


def stale(saved: Saved) -> bool:
    """Whether the memory of a saved value was written to since, so that backward cannot use it."""
    return saved.now is not None and saved.now != saved.version
