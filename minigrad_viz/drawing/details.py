"""What is said of a tensor, a node, a saved value or a hook: in full, as the tooltips of the picture have
it, and in short, as its outline does; and which tensors use the same memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..model.card_names import hook_label, hook_text, kept_words
from ..numbers import short
from ..protocol import Value, op_of
from ..trace.graph import Card, Code, Deck, Fold, Graph, Saved, Station
from ..words import clean, shorten, text
from .look import FOG_WORDS, ROLE_WORDS, Look, row_label

LETTERS = 26


class SharedMemory(NamedTuple):
    """A memory that several tensors use: its `sign`, a letter of its own in the picture, and the name of the
    tensor to which it belongs ("" for that tensor itself, and where it is not in the picture)."""

    sign: str
    owner: str


def memories_of(graph: Graph, names: Mapping[tuple[str, int], str]) -> dict[tuple[str, int], SharedMemory]:
    """The shared memory of each card that has one, by station id and position: those that use another
    tensor's, and those whose own is used."""
    shared = dict.fromkeys(card.shares for _, card in graph.cards() if card.shares)
    signs = {owner: chr(65 + i) if i < LETTERS else str(i + 1) for i, owner in enumerate(shared)}
    places = [(s.id, i, card) for s in graph.stations for i, card in enumerate(s.cards)]
    called = {card.id: names[id, i] for id, i, card in places}
    found = {}
    for id, i, card in places:
        owner = card.shares or card.id
        if owner in signs:
            found[id, i] = SharedMemory(signs[owner], called.get(card.shares, ""))
    return found


def memory_words(card: Card, memory: SharedMemory, lang: str | None, width: int = 14) -> str:
    """Whose memory a tensor uses, and its version where it was written to."""
    name = shorten(clean(memory.owner), width)
    return text("memory_of" if name else "shared_memory", lang, name=name, version=card.version or "")


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
    """Where the methods of a custom Function stand, one short text each."""
    return [
        text("code_at" if code.line else "code_elsewhere", lang, name=clean(code.name), line=code.line)
        for code in deck.code
    ]


def code_text(code: Code, lang: str | None = None) -> str:
    """The source of a method under its name, with the numbers of its lines in the cell if it stands there. No
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


WIDTH = 60  # columns of a value
LONG = 1000  # characters of one detail


def describe(
    station: Station, i: int, names: Mapping[tuple[str, int], str], lang: str | None = None,
    fold: Fold | None = None, memory: SharedMemory | None = None,
) -> str:  # fmt: skip
    """All details of card `i` of a station, one per line, in full (a single text up to 1,000 columns)."""
    card = station.cards[i]
    title = card.titled(card.name) if card.name else names[station.id, i]
    grad = short(card.grad, WIDTH) if card.grad else None
    known: dict[str, object] = {
        "role": text(ROLE_WORDS[card.role], lang),
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
    rows = [f"{row_label(name, lang)}: {value}" for name, value in known.items()]
    many = [] if fold is None else [text("tip_fold", lang, n=fold.operations)]
    many += [text("step_compiled", lang)] * card.compiled
    many += [text("step_counted", lang, n=card.counted)] * (card.counted > 0)
    many += [text("legend_asked", lang)] * card.asked
    many += [] if memory is None else [memory_words(card, memory, lang, LONG)]
    many += [text(FOG_WORDS[card.fog], lang)] if card.fog else []
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


def describe_saved(saved: Saved, lang: str | None = None) -> str:
    """A saved value in full, and what became of it."""
    name = shorten(clean(saved.name), LONG)
    if saved.value is None and saved.freed and not saved.packed:
        return text("tip_freed", lang, name=name)
    if isinstance(saved.value, Value):
        value = short(saved.value, WIDTH)
    else:
        value = text("unknown", lang) if saved.value is None else shorten(clean(saved.value), LONG)
    if saved.packed:
        kept = shorten(kept_words(saved, lang), LONG)
        known = None if saved.value is None else value
        return text("tip_packed", lang, name=name, value=known, kept=kept)
    key = "tip_stale" if stale(saved) else "tip_freed" if saved.freed else "tip_saved"
    told = text(key, lang, name=name, value=value, version=saved.version, now=saved.now)
    return told if saved.nbytes is None else text("tip_bytes", lang, saved=told, n=f"{saved.nbytes:,}")


def stale(saved: Saved) -> bool:
    """Whether the memory of a saved value was written to since, so that backward cannot use it."""
    return saved.now is not None and saved.now != saved.version


def saved_line(saved: Saved, look: Look, lang: str | None) -> str:
    """A saved value, and what became of it."""
    name = shorten(clean(saved.name), WIDTH)
    if not look.values:
        return name
    if saved.packed:
        return packed_line(saved, name, lang)
    if saved.value is None and stale(saved):
        return text("outline_stale", lang, name=name, version=saved.version, now=saved.now)
    if saved.value is None:
        return text("outline_freed", lang, name=name) if saved.freed else name
    value = (
        short(saved.value, WIDTH) if isinstance(saved.value, Value) else shorten(clean(saved.value), WIDTH)
    )
    known = {"name": name, "value": value, "version": saved.version, "now": saved.now}
    whole = look.saved == "all"
    told = f"{name} {value}"
    if saved.freed:
        told = text("outline_freed", lang, **known)
    elif stale(saved):
        told = text("outline_stale", lang, **known)
    elif saved.version or (whole and saved.version is not None):
        told = text("outline_version", lang, **known)
    return f"{told} {saved.nbytes:,} B" if whole and saved.nbytes else told


def packed_line(saved: Saved, name: str, lang: str | None) -> str:
    """A saved value of which a hook made something else."""
    kept = shorten(kept_words(saved, lang), WIDTH)
    if saved.freed:
        return text("outline_packed_freed", lang, name=name, kept=kept)
    if not isinstance(saved.value, Value):
        return f"{name} → {kept}"
    return f"{name} {short(saved.value, WIDTH)} → {kept}"
