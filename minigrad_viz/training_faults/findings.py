"""What a rule finds: a verdict with its facts, its line and its fix, as data; the words come from the
catalogue."""

from __future__ import annotations

import linecache
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..words import fix_of, text
from .evidence import Place


class Repair(NamedTuple):
    """What replaces some lines of a file. No `new` lines: they are removed."""

    file: str
    first: int
    last: int
    new: tuple[str, ...]

    def applied(self, source: str) -> str:
        """The source with the repair."""
        lines = source.split("\n")
        return "\n".join([*lines[: self.first - 1], *self.new, *lines[self.last :]])

    @property
    def old(self) -> tuple[str, ...]:
        """The lines that it replaces."""
        lines = linecache.getlines(self.file)[self.first - 1 : self.last]
        return tuple(line.rstrip("\n") for line in lines)


CERTAIN, LIKELY = "certain", "likely"


@dataclass
class Fact:
    """A piece of evidence: its sentence with its values, and the step that it speaks of (0: of no step)."""

    words: str
    values: dict[str, Any] = field(default_factory=dict)
    step: int = 0

    def say(self, lang: str | None = None) -> str:
        return text(self.words, lang, **self.values)


@dataclass
class Finding:
    """A fault that was found. `key` is stable: findings are silenced by it."""

    key: str
    certainty: str
    words: str
    values: dict[str, Any] = field(default_factory=dict)
    place: Place | None = None
    facts: list[Fact] = field(default_factory=list)
    subject: str = ""  # the module or parameter that has the badge
    step: int = 0
    symptom: bool = False  # follows from a cause, if one was found
    follows: list[Finding] = field(default_factory=list)
    fix_values: dict[str, Any] = field(default_factory=dict)
    repair: Repair | None = None  # the fix as code, where it can be one

    def verdict(self, lang: str | None = None) -> str:
        """The verdict, in one sentence."""
        return text(self.words, lang, **self.values)

    def fix(self, lang: str | None = None) -> str:
        """What to do."""
        key = fix_of(self.words)
        return text(key, lang, **{**self.values, **self.fix_values}) if key else ""

    @property
    def name(self) -> str:
        """What silences this finding alone: the key, with the subject if it has one."""
        return f"{self.key}:{self.subject}" if self.subject else self.key


def plain(x: float) -> str:
    """A number in a sentence: three digits, thousands with commas."""
    if math.isnan(x) or math.isinf(x):
        return "nan" if math.isnan(x) else ("inf" if x > 0 else "-inf")
    if abs(x) >= 10_000_000 or 0 < abs(x) < 1e-3:
        mantissa, exponent = f"{x:.2g}".split("e") if "e" in f"{x:.2g}" else (f"{x:.2g}", "")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa
    if abs(x) >= 1000:
        return f"{x:,.0f}"
    return f"{x:.3g}"


def percent(share: float) -> str:
    """A share."""
    return f"{100 * share:.0f} %"


def list_names(names: list[str], most: int = 3) -> str:
    """Names in a sentence; of many the first ones and how many there are."""
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return shown + (f", … ({len(names)})" if len(names) > most else "")
