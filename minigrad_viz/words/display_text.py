"""Names and expressions from a user's source, which may contain anything: made safe to show; and the width of
a text."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Sequence

# Characters that join neighbors into one shape: invisible, but a text without them reads differently.
_JOINERS = "\u200c\u200d"
DOTTED = re.compile(r"\w+(\.\w+|\[\d+\])+")  # `model.0.weight`


def clean(text: str) -> str:
    """`text` as one line that can be shown and put into XML.

    Line breaks and the blanks around them become one space. Control characters and those that turn the
    writing direction around (a name must not rewrite what is beside it) are left out; lone surrogates
    become U+FFFD.
    """
    if text.isascii() and text.isprintable():
        return text
    text = re.sub(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*", " ", text).replace("\t", " ")
    return "".join(filter(None, map(_visible_sign, text)))


@functools.lru_cache(1024)
def _visible_sign(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Cs":
        return "\ufffd"
    if category == "Cc" or (category == "Cf" and char not in _JOINERS) or ord(char) & 0xFFFE == 0xFFFE:
        return ""
    return char


def columns(text: str) -> int:
    """Columns that `text` fills in a monospace font: East Asian wide characters two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_column, text))


@functools.lru_cache(1024)
def _column(char: str) -> int:
    code = ord(char)
    if 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF:
        return 0  # vowels and finals of conjoining Hangul are drawn into their initial's square
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    if unicodedata.east_asian_width(char) in "WF" or 0x0900 <= code <= 0x1DFF or 0xFB50 <= code <= 0xFDFF:
        return 2  # these ranges come from fallback fonts that are not monospaced: room to spare
    return 1


def shorten(text: str, width: int) -> str:
    """`text` if it fills at most `width` columns (at least 1), else what fits of it and an ellipsis."""
    if columns(text) <= width:
        return text
    used = 1  # the ellipsis
    for end, char in enumerate(text):
        used += _column(char)
        if used > width:
            return text[:end].rstrip() + "…"
    return text


def shorten_name(name: str, width: int) -> str:
    """`name` if it fills at most `width` columns. Else what fits of it: of the name of a parameter the
    beginning and the end, which distinguishes it from others (`net.blo…attn.bias`); of an expression the
    beginning.
    """
    if columns(name) <= width or not (name.isascii() and DOTTED.fullmatch(name)):
        return shorten(name, width)
    head = width // 3 if width >= 18 else 0
    return f"{name[:head]}…{name[len(name) - (width - head - 1) :]}"


def shorten_names(names: Sequence[str], width: int) -> list[str]:
    """Each name as `shorten_name` has it; of those that would look alike, what tells them apart and, where
    there is room, the end (`…0.attn.key.weight`, `…layer1.0…weight`)."""
    found = [shorten_name(name, width) for name in names]
    for short in {short for short in found if found.count(short) > 1}:
        alike = [i for i, each in enumerate(found) if each == short and each != names[i]]
        parts = [names[i].split(".") for i in alike]
        if len({*map(tuple, parts)}) < 2:
            continue
        told = [telling_words(words, parts) for words in parts]
        cuts = [cut_name(each[0], width) for each in told]
        if len({*cuts}) == len(cuts):
            told = [[*each[:2], cut] for each, cut in zip(told, cuts, strict=True)]
        for i, each in zip(alike, told, strict=True):
            found[i] = next((one for one in each if columns(one) <= width), cut_name(each[0], width))
    return found


def telling_words(words: Sequence[str], all: Sequence[Sequence[str]]) -> list[str]:
    """The words that tell a name from `all` others, the longest form first: with all words that follow, with
    the last of them, and without it."""
    others = [each for each in all if each != words]
    telling = {
        at for at, word in enumerate(words) if any(at >= len(each) or each[at] != word for each in others)
    }
    first, last = min(telling, default=0), len(words) - 1
    to_last = range(first, max(telling, default=0) + 1)
    choices = range(first, last + 1), sorted(telling | {last}), to_last, sorted(telling)
    return [joined_words(words, kept) for kept in choices]


def cut_name(name: str, width: int) -> str:
    """The beginning of a name's first word, and its end."""
    head = min(len(name.partition(".")[0]), width // 2)
    return f"{name[:head]}…{name[len(name) - (width - head - 1) :]}"


def joined_words(words: Sequence[str], kept: Sequence[int]) -> str:
    """Some of the words of a name, with an ellipsis for what is left out."""
    told = "" if not kept or kept[0] == 0 else "…"
    for i, at in enumerate(kept):
        told += ("" if not i else "." if at == kept[i - 1] + 1 else "…") + words[at]
    return told if not kept or kept[-1] == len(words) - 1 else f"{told}…"


def pad(content: str, width: int) -> str:
    """`content` filled up with blanks to `width` columns, if it is narrower."""
    return content + " " * (width - columns(content))


def wrap_text(text: str, width: float, indent: str = "", measure: Callable[[str], float] = columns) -> str:
    """`text` in lines of at most `width` columns, or of what else is to `measure`, as far as its blanks
    allow; later ones begin with `indent`."""
    first, *words = text.split(" ")
    lines = [first]
    for word in words:
        if measure(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(indent + word)
    return "\n".join(lines)


_THIN, _BROAD = frozenset("ijlI.,:;'|!()[]ftr -/"), frozenset("mwMW@%…")


def text_pixels(content: str, size: float = 11.5) -> float:
    """Pixels that `content` needs at most in the sans-serif stack, whose widest font is DejaVu Sans."""
    ems = 0.0
    for char in content:
        ems += 0.41 if char in _THIN else 1.0 if char in _BROAD else 0.62 if columns(char) < 2 else 1.02
    return size * ems
