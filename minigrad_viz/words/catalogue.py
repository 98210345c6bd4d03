"""Every word a learner reads, by key, in English and Korean: the files in `en` and `ko` have one text a line.

`text("forward_step", i=3, n=12)` gives a whole sentence or label of the catalogue: nothing shown is put
together from fragments, because word order differs between languages. A part in ⟦ ⟧ is left out where one
of its values is missing, None or "". A key stands in the source as it is here, never put together, so a
search for it finds its uses. Every language has the same keys and placeholders.
"""

from __future__ import annotations

import locale
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from .korean import filled


def read(lang: str) -> dict[str, str]:
    """The texts of a language: what stands in its files as `key: text`, but for empty lines and comments. An
    indented line is what to do about the line above it, with the key `key.fix`."""
    found: dict[str, str] = {}
    key = ""
    for file in sorted((Path(__file__).parent / lang).glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                found[f"{key}.fix"] = line.strip()
            elif line and not line.startswith("#"):
                key, said = line.split(": ", 1)
                found[key] = said
    return found


CATALOGUES = {lang: read(lang) for lang in ("en", "ko")}

PART = re.compile(r"⟦(.*?)⟧")
FIELD = re.compile(r"\{(\w+)")

# Where the placeholder stands in code: in `…`, before a method or an attribute, or as an argument.
IN_CODE = r"`[^`]*\{{{0}\b[^`]*`|\{{{0}\}}[\w.()\[\]]*\.[a-z_]|[a-z_]\([^\s()]*\{{{0}\}}"
GRADIENT = r"\{{{0}\}}\.grad(?![\w.`]| =)"

_chosen: str | None = None


class Invented(str):
    """A name that stands in nobody's code, such as "result 1". No code is printed with it: instead of
    `{x}.grad` stands its `gradient` in words, a part in ⟦ ⟧ with other code is left out, and any other text
    with code is empty."""

    gradient: str

    def __new__(cls, name: str, gradient: str) -> Invented:
        """The name, and what to call its gradient."""
        made = super().__new__(cls, name)
        made.gradient = gradient
        return made


def set_language(lang: str | None) -> None:
    """Use `lang` ("en" or "ko") from now on; None goes back to MINIGRAD_LANG or the locale.

    Raises ValueError for a language without a catalogue.
    """
    global _chosen
    _chosen = None if lang is None else _known(lang)


def language() -> str:
    """The language in force: the one set, else that of MINIGRAD_LANG, else the locale's; "ko" or "en"."""
    return _chosen or _code(os.environ.get("MINIGRAD_LANG") or _locale())


def text(key: str, lang: str | None = None, **values: object) -> str:
    """The text called `key` with its placeholders filled in from `values`, in `lang` or the language in
    force.

    Raises KeyError for an unknown key or a placeholder without a value, ValueError for an unknown language.
    """
    words = CATALOGUES[language() if lang is None else _known(lang)]
    if key not in words:
        raise KeyError(f"no text called {key!r} in the catalogue")
    invented, whole = (
        {name: value for name, value in values.items() if isinstance(value, Invented)},
        words[key],
    )
    for name, value in invented.items():
        said = value.gradient.replace("{", "{{").replace("}", "}}")
        whole = said.join(re.split(GRADIENT.format(name), whole))
    whole = PART.sub(lambda part: part[1] if _known_of(part[1], values, invented) else "", whole)
    if _has_code_with(invented, whole):
        return ""
    try:
        return (filled(whole, values) if words is CATALOGUES["ko"] else whole).format_map(values)
    except KeyError as missing:
        raise KeyError(f"the text {key!r} needs a value for {missing.args[0]!r}") from None


def fields(key: str) -> frozenset[str]:
    """The placeholders of the text called `key`, the same in every language."""
    return frozenset(FIELD.findall(CATALOGUES["en"][key]))


def fix_of(key: str) -> str:
    """The key of what stands below the text called `key`: what to do about it; "" if nothing does."""
    below = f"{key}.fix"
    return below if below in CATALOGUES["en"] else ""


def templates(keys: Iterable[str], lang: str | None = None) -> dict[str, str]:
    """The texts by key, with their placeholders as they are: for the player, which fills them in itself."""
    return {key: text(key, lang, **{name: f"{{{name}}}" for name in fields(key)}) for key in keys}


def _known_of(part: str, values: Mapping[str, object], invented: Iterable[str]) -> bool:
    known = all(values.get(name) not in (None, "") for name in FIELD.findall(part))
    return known and not _has_code_with(invented, part)


def _has_code_with(names: Iterable[str], template: str) -> bool:
    return any(re.search(IN_CODE.format(name), template) for name in names)


def _known(lang: str) -> str:
    if lang not in CATALOGUES:
        raise ValueError(f"unknown language {lang!r}: choose one of {', '.join(sorted(CATALOGUES))}")
    return lang


def _locale() -> str:
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if os.environ.get(variable):
            return os.environ[variable]
    return locale.getlocale()[0] or ""  # Windows: "Korean_Korea"


def _code(name: str) -> str:
    """The language of a locale: ko for ko_KR.UTF-8, ko-KR, Korean_Korea; en for all others (kok: Konkani)."""
    return "ko" if re.match(r"(ko|korean)([^a-z]|$)", name.lower()) else "en"
