"""The player's scripts as one: ES modules, one after the other, without what only separate files need.

Every cell stores the player, so comments are left out as well. How a line begins
does not say whether it is a comment or an import: it may be inside a template. So each file is cut into
tokens first.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<word>[\w$]+|\#\w+)
    |(?P<break>\n\s*)
    |(?P<space>[^\S\n]+)
    |(?P<sign>[^\w\s])""",
    re.VERBOSE | re.DOTALL,
)
REGEX = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
OPERATORS = frozenset(
    ("return", "typeof", "case", "of", "in", "instanceof", "new", "delete", "void", "await")
)


class Token(NamedTuple):
    """A piece of a script; at the top level its `depth` is 0."""

    kind: str
    text: str
    depth: int


def tokens(script: str) -> Iterator[Token]:
    """All of a script in pieces, which together are the script. ValueError for what is none."""
    at, depth, before = 0, 0, Token("sign", ";", 0)
    while at < len(script):
        if script[at] == "`":
            token = Token("template", script[at : template_end(script, at)], depth)
        elif script[at] == "/" and may_be_regex(before) and (found := REGEX.match(script, at)):
            token = Token("regex", found[0], depth)
        else:
            found = TOKEN.match(script, at)
            if found is None or found[0] in "\"'":
                raise ValueError(f"no JavaScript: {script[at : at + 40]!r}")
            depth -= found[0] in ")]}"
            token = Token(str(found.lastgroup), found[0], depth)
            depth += found[0] in "([{"
        yield token
        at += len(token.text)
        if token.kind not in ("comment", "break", "space"):
            before = token
    if depth:
        raise ValueError("a bracket is not closed")


def may_be_regex(before: Token) -> bool:
    """Whether a slash behind a token begins a regular expression: it does where no value ends."""
    if before.kind == "word":
        return before.text in OPERATORS
    return before.kind == "sign" and before.text not in ")]}"


def template_end(script: str, at: int) -> int:
    """Where the template ends that begins at a place; code inside it may have templates again."""
    end, depths = at + 1, list[int]()  # open brackets in each piece of code around
    while True:
        if end >= len(script):
            raise ValueError(f"a template is not closed: {script[at : at + 40]!r}")
        sign = script[end]
        if not depths and sign == "`":
            return end + 1
        if sign == "\\":
            end += 1
        elif not depths and script.startswith("${", end):
            depths.append(0)
            end += 1
        elif depths and sign == "`":
            end = template_end(script, end) - 1
        elif depths and sign in "\"'":
            string = TOKEN.match(script, end)
            end += len(string[0]) - 1 if string else 0
        elif depths:
            depths[-1] += (sign == "{") - (sign == "}")
            if depths[-1] < 0:
                depths.pop()
        end += 1


@functools.cache  # a widget and a page join the same files
def body(script: str, default: str = "") -> str:
    """A module without its imports and comments, and without blanks that nothing needs. Its exports are plain
    declarations; before what it exports by default is `default`. ValueError for an import that does not
    end, and for a default export where none is meant to be."""
    kept, gap = list[str](), ""  # `gap`: the space before the next token
    importing = exporting = False
    begins = True  # whether the next token begins a statement
    last = Token("sign", ";", 0)
    for token in tokens(script):
        kind, text = token.kind, token.text
        if kind in ("break", "space", "comment"):
            gap = "\n" if kind == "break" else gap or " " * (kind == "space")
            continue
        if gap == " " and not is_needed(last, token):
            gap = ""
        importing = importing or (begins and text == "import")
        if importing or (exporting and text == "default"):
            if not importing and not default:
                raise ValueError("only the last script has a default export")
            kept.append("" if importing else default)
            exporting = False
        elif begins and text == "export":
            exporting, begins = True, False
            kept.append(gap)
            gap, last = "", token
            continue
        else:
            kept.append(text if exporting else gap + text)
            exporting = False
        gap, last = "", token
        begins = token.depth == 0 and text in (";", "}")
        importing = importing and not (token.depth == 0 and text == ";")
    if importing:
        raise ValueError("an import is not closed by a semicolon")
    return "".join(kept).strip("\n") + "\n"


def is_needed(before: Token, after: Token) -> bool:
    """Whether a blank is needed between two words, or two signs that would become one."""
    return "sign" not in (before.kind, after.kind) or before.text[-1] + after.text[0] in ("++", "--", "//")


def as_expression(scripts: Iterable[str]) -> str:
    """Some modules, in this order, as one expression, whose value is what the last exports by default."""
    *parts, last = scripts
    code = "".join([*map(body, parts), body(last, default="return")])
    return f"(() => {{\n{code}}})()"
