"""Korean particles: their form depends on the last sound of the word before them.

A text of the catalogue writes `{name:을}`, and `filled` chooses between 을 and 를. Names, numbers and code
are read as Koreans read them: x is 엑스, 0.8 is 영점팔, `y.backward()` is 백워드.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

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


def filled(template: str, values: Mapping[str, object]) -> str:
    """`template` with the particles of its fields chosen; the fields themselves are left to `str.format`.

    Raises KeyError for a field without a value, ValueError for a particle that is not known.
    """
    return FIELD.sub(lambda found: f"{{{found[1]}}}{particle(str(values[found[1]]), found[2])}", template)


def particle(word: str, form: str) -> str:
    """The form of a particle that stands after `word`; `form` is any of its forms."""
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
