"""Every word a learner reads, by key, in English and Korean: the files in `en` and `ko` have one text per
line. Korean particles.

A text of the catalogue writes `{name:을}`, and `fill_particles` chooses between 을 and 를. Names, numbers
and code are read as Koreans read them: x is 엑스, 0.8 is 영점팔, `y.backward()` is 백워드.

`text("forward_step", i=3, n=12)` gives a whole sentence or label of the catalogue: nothing shown is put
together from fragments, because word order differs between languages. A part in ⟦ ⟧ is left out where one of
its values is missing, None or "". A key occurs in the source exactly as here, never put together, so a search
for it finds its uses. English and Korean have the same keys and placeholders.
"""

from __future__ import annotations

import locale
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

# ─── Korean particles: their form depends on the last sound of the word before them


VOWEL, RIEUL, OTHER = "vowel", "ㄹ", "consonant"  # what the last sound of a word is

# After a consonant, and after a vowel. Of 이라는 and its like the first syllable goes after a vowel.
PAIRS = {form: pair for pair in ("은는", "이가", "을를", "과와", "아야") for form in pair}

DIGITS = dict(zip("0123456789", (OTHER, RIEUL, VOWEL, OTHER, VOWEL, VOWEL, OTHER, RIEUL, RIEUL, VOWEL)))
LETTERS = {"l": RIEUL, "r": RIEUL, "m": OTHER, "n": OTHER}  # 엘, 알, 엠, 엔; all others end in a vowel
GREEK = {"ε": OTHER, "ο": OTHER, "υ": OTHER}  # 엡실론, 오미크론, 입실론

FIELD = re.compile(r"\{(\w+):([가-힣]+)\}")
# The last thing that is read aloud: brackets, quotation marks, dots and the like behind it are not.
NUMBER = re.compile(r"(?<![A-Za-z_])\d[\d,]*(?:\.\d*)?(?:e[+-]?\d+)?$")
WORD = re.compile(r"[A-Z]?[a-z]+$|[A-Z]+$")


def fill_particles(template: str, values: Mapping[str, object]) -> str:
    """`template` with the particles of its fields chosen; the fields themselves are left to `str.format`.

    Raises KeyError for a field without a value, ValueError for a particle that is not known.
    """
    return FIELD.sub(lambda found: f"{{{found[1]}}}{particle(str(values[found[1]]), found[2])}", template)


def particle(word: str, form: str) -> str:
    """The form of a particle after `word`; `form` is any of its forms."""
    sound = last_sound(word)
    if form in PAIRS:
        pair = PAIRS[form]
        return pair[sound == VOWEL]
    if form.startswith(("으로", "로")):
        return ("으" if sound == OTHER else "") + form.removeprefix("으")
    if form.startswith("이"):
        return form[1:] if sound == VOWEL else form
    raise ValueError(f"no Korean particle {form!r}")


def last_sound(word: str) -> str:
    """What a word ends in when it is read aloud: VOWEL, RIEUL, or OTHER for any other consonant. A word that
    has nothing to read counts as one that ends in a vowel."""
    said = re.sub(r"[^\w%∞]+$", "", word).rstrip("_")
    if not said:
        return VOWEL
    last = said[-1]
    if "가" <= last <= "힣":
        final = (ord(last) - ord("가")) % 28
        return VOWEL if not final else RIEUL if final == 8 else OTHER
    if last in DIGITS:
        return sound_of_number(said)
    if last.isascii() and last.isalpha():
        found = WORD.search(said)
        return sound_of_word(found[0] if found else last)
    return GREEK.get(last, VOWEL)


def sound_of_number(said: str) -> str:
    """The last sound of a number; of digits in a name each is read alone."""
    found = NUMBER.search(said)
    whole = found[0].replace(",", "") if found else said[-1]
    zeros = len(whole) - len(whole.rstrip("0"))
    if whole.isdecimal() and 12 <= zeros < 16 and zeros < len(whole):
        return VOWEL  # 조; 십, 백, 천, 만, 억 and 경 end in consonants, as 영 does
    return DIGITS[whole[-1]]


def sound_of_word(word: str) -> str:
    """The last sound of an English word in Hangul. A single letter, an abbreviation and a word without a
    vowel are spelled."""
    lower = word.lower()
    if word.isupper() or not re.search("[aeiouy]", lower) or len(word) == 1:
        return LETTERS.get(lower[-1], VOWEL)
    if re.search("(l|le)$", lower):  # model, scale
        return RIEUL
    if re.search("(m|n|ng|me|ne)$", lower):  # sum, mean, name, line
        return OTHER
    # After one short vowel: step, clip, set, input, block, hook, out.
    return OTHER if re.search("((^|[^aeiou])[aeiou](p|t|k|ck|c)|ook|out)$", lower) else VOWEL


# ─── Every word a learner reads, by key, in English and Korean


def read_texts(lang: str) -> dict[str, str]:
    """The texts of a language: what is in its files as `key: text`, except empty lines and comments. An
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


class Language(NamedTuple):
    """A language: how the names of its locales begin, and what is done to a text before it is filled in."""

    locales: str
    inflect: Callable[[str, Mapping[str, object]], str] = lambda template, values: template


# By the name of their folder. A text that a language does not have yet is shown in English.
LANGUAGES = {
    "en": Language("en|english"),
    "ko": Language("ko|korean", fill_particles),
}
CATALOGUES = {lang: read_texts(lang) for lang in LANGUAGES}

PART = re.compile(r"⟦(.*?)⟧")
PLACEHOLDER = re.compile(r"\{(\w+)")

# Where the placeholder stands in code: in `…`, before a method or an attribute, or as an argument.
IN_CODE = r"`[^`]*\{{{0}\b[^`]*`|\{{{0}\}}[\w.()\[\]]*\.[a-z_]|[a-z_]\([^\s()]*\{{{0}\}}"
GRADIENT = r"\{{{0}\}}\.grad(?![A-Za-z0-9_.`]| =)"  # a Korean particle may follow

_chosen: str | None = None


class InventedName(str):
    """A name that occurs in no code, such as "result 1". No code is printed with it: `{x}.grad` is
    replaced by its `gradient` in words, a part in ⟦ ⟧ with other code is left out, and any other text
    with code is empty."""

    gradient: str

    def __new__(cls, name: str, gradient: str) -> InventedName:
        """The name, and what to call its gradient."""
        made = super().__new__(cls, name)
        made.gradient = gradient
        return made


def set_language(lang: str | None) -> None:
    """Use `lang` (such as "en" or "ko") from now on; None goes back to MINIGRAD_LANG or the locale.

    Raises ValueError for a language without a catalogue.
    """
    global _chosen
    _chosen = None if lang is None else _known_texts(lang)


def language() -> str:
    """The language in force: the one set, else that of MINIGRAD_LANG, else the locale's."""
    return _chosen or _code(os.environ.get("MINIGRAD_LANG") or _locale())


def text(key: str, lang: str | None = None, **values: object) -> str:
    """The text called `key` with its placeholders filled in from `values`, in `lang` or the language in
    force.

    Raises KeyError for an unknown key or a placeholder without a value, ValueError for an unknown language.
    """
    lang = language() if lang is None else _known_texts(lang)
    whole = CATALOGUES[lang].get(key) or CATALOGUES["en"].get(key)
    if whole is None:
        raise KeyError(f"no text called {key!r} in the catalogue")
    invented = {name: value for name, value in values.items() if isinstance(value, InventedName)}
    for name, value in invented.items():
        said = value.gradient.replace("{", "{{").replace("}", "}}")
        whole = said.join(re.split(GRADIENT.format(name), whole))
    if "⟦" in whole:
        whole = PART.sub(lambda part: part[1] if _known_of(part[1], values, invented) else "", whole)
    if invented and _has_code_with(invented, whole):
        return ""
    try:
        return LANGUAGES[lang].inflect(whole, values).format_map(values)
    except KeyError as missing:
        raise KeyError(f"the text {key!r} needs a value for {missing.args[0]!r}") from None


def fields(key: str) -> frozenset[str]:
    """The placeholders of the text called `key`, the same in every language."""
    return frozenset(PLACEHOLDER.findall(CATALOGUES["en"][key]))


def fix_of(key: str) -> str:
    """The key of what is below the text called `key`: what to do about it; "" if nothing does."""
    below = f"{key}.fix"
    return below if below in CATALOGUES["en"] else ""


def templates(keys: Iterable[str], lang: str | None = None) -> dict[str, str]:
    """The texts by key, with their placeholders as they are: for the player, which fills them in itself."""
    return {key: text(key, lang, **{name: f"{{{name}}}" for name in fields(key)}) for key in keys}


def _known_of(part: str, values: Mapping[str, object], invented: Iterable[str]) -> bool:
    known = all(values.get(name) not in (None, "") for name in PLACEHOLDER.findall(part))
    return known and not _has_code_with(invented, part)


def _has_code_with(names: Iterable[str], template: str) -> bool:
    return any(re.search(IN_CODE.format(name), template) for name in names)


def _known_texts(lang: str) -> str:
    if lang not in CATALOGUES:
        raise ValueError(f"unknown language {lang!r}: choose one of {', '.join(sorted(CATALOGUES))}")
    return lang


def _locale() -> str:
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if os.environ.get(variable):
            return os.environ[variable]
    return locale.getlocale()[0] or ""  # Windows: "Korean_Korea"


def _code(name: str) -> str:
    """The language of a locale: ko for ko_KR.UTF-8, ko-KR, Korean_Korea (kok is Konkani); en for one that is
    not here."""
    known = (
        lang for lang, each in LANGUAGES.items() if re.match(rf"({each.locales})([^a-z]|$)", name.lower())
    )
    return next(known, "en")
