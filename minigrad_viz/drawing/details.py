"""What is said about a tensor, a node, a saved value or a hook: in full for the tooltips of the picture, and
in short for its outline.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..model.naming import hook_label, hook_text, kept_words
from ..number_text import one_line
from ..protocol import Value, op_of
from ..trace.graph import Code, Deck, Fold, SavedChip, Station
from ..words import clean, shorten, text
from .card_parts import LONG, WIDTH, CardView, SharedMemory, part_lines
from .look import FOG_WORDS, Look

LINES = 40  # of a method; more are left out
KINDS = {"tensor": "kind_tensor", "number": "kind_number"}  # of what an op was called with
SIGNS = {"add": "+", "sub": "-", "rsub": "-", "mul": "*", "div": "/", "pow": "**"}


def op_lines(deck: Deck, lang: str | None = None) -> list[str]:
    """With what the op was called that made a node, and what the digit of its name counts."""
    lines = []
    if len(deck.kinds) > 1:
        kinds = [text(KINDS[kind], lang) for kind in deck.kinds]
        sign = SIGNS.get(op_of(deck.name)) if len(kinds) == 2 else None
        called = f" {sign} ".join(kinds) if sign else f"{op_of(deck.name)}({', '.join(kinds)})"
        lines.append(text("tip_kinds", lang, called=called))
    digit = deck.name[len(deck.name.rstrip("0123456789")) :]
    if digit and deck.kinds:
        lines.append(text("tip_digit", lang, digit=digit, name=clean(deck.name)))
    return lines


def code_places(deck: Deck, lang: str | None = None) -> list[str]:
    """Where the methods of a custom Function are, one short text each."""
    return [
        text("code_at" if code.line else "code_elsewhere", lang, name=clean(code.name), line=code.line)
        for code in deck.code
    ]


def code_text(code: Code, lang: str | None = None) -> str:
    """The source of a method under its name, with the numbers of its lines in the cell if it is there. No
    line of it is empty, for an empty line ends it in a tooltip."""
    lines = [clean(line) or " " for line in code.text.split("\n")]
    wide = len(str(code.line + len(lines) - 1))
    shown = [
        f"{code.line + i:>{wide}}  {line}".rstrip() if code.line else line for i, line in enumerate(lines)
    ]
    more = [text("tip_code_more", lang, n=len(lines) - LINES)] * (len(lines) > LINES)
    name = clean(code.name)
    head = text("tip_code_line", lang, name=name, line=code.line) if code.line else f"{name}:"
    return "\n".join([head, *shown[:LINES], *more])


def describe(
    station: Station, i: int, names: Mapping[tuple[str, int], str], lang: str | None = None,
    fold: Fold | None = None, memory: SharedMemory | None = None,
) -> str:  # fmt: skip
    """All details of card `i` of a station, one per line, in full (a single text up to 1,000 columns)."""
    card = station.cards[i]
    title = card.titled(card.name) if card.name else names[station.id, i]
    many = [] if fold is None else [text("tip_fold", lang, n=fold.operations)]
    many += [text("step_compiled", lang)] * card.compiled
    many += [text("step_counted", lang, n=card.counted)] * (card.counted > 0)
    many += [text("legend_asked", lang)] * card.asked
    many += [text(FOG_WORDS[card.fog], lang)] if card.fog else []
    many += [text("tip_leaf_constant", lang)] * (card.is_leaf and not card.requires_grad)
    rows = part_lines(CardView(card, Look(lang=lang), memory, station.deck))
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
    return "\n".join([text(FOG_WORDS[card.fog], lang), *would])


def describe_hooks(deck: Deck, lang: str | None = None) -> list[str]:
    """The hooks of a node as they ran, or how many there are."""
    if not deck.ran:
        return [text("hooks", lang, n=deck.hooks)] if deck.hooks else []
    told = []
    for i, hook in enumerate(deck.ran, 1):
        saw = text("tip_hook_removed", lang) if hook.removed else hook_text(hook, lang)
        told.append(f"{i}. {hook_label(hook, lang)}: {saw}")
    return told


def describe_saved(saved: SavedChip, lang: str | None = None) -> str:
    """A saved value in full, and what became of it."""
    name = shorten(clean(saved.name), LONG)
    if saved.value is None and saved.freed and not saved.packed:
        return text("tip_freed", lang, name=name)
    if isinstance(saved.value, Value):
        value = one_line(saved.value, WIDTH)
    else:
        value = text("unknown", lang) if saved.value is None else shorten(clean(saved.value), LONG)
    if saved.packed:
        kept = shorten(kept_words(saved, lang), LONG)
        known = None if saved.value is None else value
        return text("tip_packed", lang, name=name, value=known, kept=kept)
    key = "tip_stale" if is_stale(saved) else "tip_freed" if saved.freed else "tip_saved"
    told = text(key, lang, name=name, value=value, version=saved.version, now=saved.now)
    return told if saved.nbytes is None else text("tip_bytes", lang, saved=told, n=f"{saved.nbytes:,}")


def is_stale(saved: SavedChip) -> bool:
    """Whether the memory of a saved value was written to since, so that backward cannot use it."""
    return saved.now is not None and saved.now != saved.version


def saved_line(saved: SavedChip, look: Look, lang: str | None) -> str:
    """A saved value, and what became of it."""
    name = shorten(clean(saved.name), WIDTH)
    if not look.values:
        return name
    if saved.packed:
        return packed_line(saved, name, lang)
    if saved.value is None and is_stale(saved):
        return text("outline_stale", lang, name=name, version=saved.version, now=saved.now)
    if saved.value is None:
        return text("outline_freed", lang, name=name) if saved.freed else name
    value = (
        one_line(saved.value, WIDTH) if isinstance(saved.value, Value) else shorten(clean(saved.value), WIDTH)
    )
    known = {"name": name, "value": value, "version": saved.version, "now": saved.now}
    whole = look.saved == "all"
    told = f"{name} {value}"
    if saved.freed:
        told = text("outline_freed", lang, **known)
    elif is_stale(saved):
        told = text("outline_stale", lang, **known)
    elif saved.version or (whole and saved.version is not None):
        told = text("outline_version", lang, **known)
    return f"{told} {saved.nbytes:,} B" if whole and saved.nbytes else told


def packed_line(saved: SavedChip, name: str, lang: str | None) -> str:
    """A saved value of which a hook made something else."""
    kept = shorten(kept_words(saved, lang), WIDTH)
    if saved.freed:
        return text("outline_packed_freed", lang, name=name, kept=kept)
    if not isinstance(saved.value, Value):
        return f"{name} → {kept}"
    return f"{name} {one_line(saved.value, WIDTH)} → {kept}"
