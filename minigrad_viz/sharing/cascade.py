"""The style that each part of a picture has, for programs that read no style sheets.

It reads what our style sheets use: names of elements, classes, attributes, `:is()` and `:not()` of
compounds, and all four combinators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
SIMPLE = re.compile(r":(is|not)\(([^()]*)\)|\[([\w-]+)(?:([$^*]?)=\"?([^\]\"]*)\"?)?\]|\.([\w-]+)|([\w*-]+)")
COMBINED = re.compile(r"\s*([>+~])\s*|\s+")
FONT = re.compile(r"(?:(italic)\s+)?(?:(bold|\d+)\s+)?([\d.]+)px(?:/[^\s]+)?\s+(.+)")
INHERITED = (
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "font-size",
    "font-weight", "font-style", "font-family", "text-anchor", "visibility", "display",
)  # fmt: skip
Style = dict[str, str]
Way = Sequence[tuple[ElementTree.Element, int]]  # from the root on, each with its place in its parent


class Rule(NamedTuple):
    """Compounds, each with what joins it to the one before, how special that is, and what it sets. `needed`
    is the class or the name that its elements have at least; "" says nothing of them."""

    parts: tuple[tuple[str, str], ...]
    special: tuple[int, int]
    sets: Style
    needed: str


def sheet_rules(css: str) -> list[Rule]:
    """The rules of a style sheet, those that win last."""
    found = []
    for selectors, content in RULE.findall(re.sub(r"@[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", css)):
        sets = declarations(content)
        for selector in re.split(r",(?![^()]*\))", selectors):
            parts = selector_parts(selector.strip())
            classes = len(re.findall(r"[.\[]", selector))
            names = sum(bool(re.match(r"[a-z]", compound)) for _, compound in parts)
            needed = re.match(r"(?:[\w-]*\.)?([\w-]*)", parts[-1][1])
            found.append(Rule(parts, (classes, names), sets, needed[1] if needed else ""))
    return sorted(found, key=lambda rule: rule.special)  # a stable order: of equals the last wins


def declarations(content: str) -> Style:
    """What a rule sets; `font` as its parts."""
    sets: Style = {}
    for declaration in content.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        font = FONT.fullmatch(value) if name == "font" else None
        if font is not None:
            sets |= {"font-style": font[1] or "normal", "font-weight": font[2] or "400"}
            sets |= {"font-size": font[3], "font-family": font[4]}
        elif name:
            sets[name] = value.removesuffix("!important").strip().removesuffix("px")
    return sets


def selector_parts(selector: str) -> tuple[tuple[str, str], ...]:
    """The compounds of a selector with their combinators."""
    parts, combinator, start = [], "", 0
    for found in COMBINED.finditer(selector):
        if selector[start : found.start()].count("(") == selector[start : found.start()].count(")"):
            parts.append((combinator, selector[start : found.start()]))
            combinator, start = found[1] or " ", found.end()
    return (*parts, (combinator, selector[start:]))


def fits_compound(element: ElementTree.Element, compound: str) -> bool:
    """Whether an element is what a compound says."""
    for kind, inner, attribute, how, value, name, tag in SIMPLE.findall(compound):
        if kind:
            fits = any(fits_compound(element, one.strip()) for one in inner.split(",")) == (kind == "is")
        elif attribute:
            has = element.get(attribute)
            tests = {"": has == value, "$": (has or "").endswith(value), "^": (has or "").startswith(value)}
            fits = has is not None and (not value or tests.get(how, value in has))
        elif name:
            fits = name in element.get("class", "").split()
        else:
            fits = tag in ("*", element.tag.rpartition("}")[2])
        if not fits:
            return False
    return True


def fits_rule(way: Way, parts: Sequence[tuple[str, str]]) -> bool:
    """Whether the last element of a path matches a selector."""
    *before, (combinator, compound) = parts
    if not fits_compound(way[-1][0], compound):
        return False
    return not before or any(fits_rule(other, before) for other in ways_back(way, combinator))


def ways_back(way: Way, combinator: str) -> Iterator[Way]:
    """The ways to the elements that a combinator leads back to."""
    above = way[:-1]
    if combinator in (" ", ">"):
        least = 0 if combinator == " " else max(0, len(above) - 1)
        yield from (above[:n] for n in range(len(above), least, -1))
    elif above:
        place = way[-1][1]
        siblings = list(above[-1][0])
        for i in range(place - 1, -1 if combinator == "~" else max(-1, place - 2), -1):
            yield [*above, (siblings[i], i)]


def styled_parts(
    tree: ElementTree.Element, rules: Sequence[Rule]
) -> Iterator[tuple[ElementTree.Element, Style]]:
    """All elements in the order in which they are drawn, each with its style."""
    yield from styled_below([(tree, 0)], {}, rules)


def styled_below(
    way: Way, above: Style, rules: Sequence[Rule]
) -> Iterator[tuple[ElementTree.Element, Style]]:
    """The last element of a path and all below it."""
    element = way[-1][0]
    style = {name: above[name] for name in INHERITED if name in above}
    style |= {name: element.get(name, "") for name in INHERITED if element.get(name) is not None}
    names = {"", element.tag.rpartition("}")[2], *element.get("class", "").split()}
    for rule in rules:
        if rule.needed in names and fits_rule(way, rule.parts):
            style |= rule.sets
    if element.get("visibility"):  # our own, which a rule does not take back
        style["visibility"] = element.get("visibility", "")
    yield element, style
    for i, child in enumerate(element):
        yield from styled_below([*way, (child, i)], style, rules)
