"""The part of SARIF 2.1.0 that a report uses, in our words: which properties an object needs, which it may
have, and what they are. Reports were compared with the standard's own schema when this was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TEXT, WHOLE, POSITION, URI, LEVEL, STRINGS = "text", "whole", "position", "uri", "level", "strings"
LEVELS = ("none", "note", "warning", "error")
URI_PATTERN = re.compile(r"(?:[\w.~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+", re.ASCII)

# Of each object the properties with what they hold; those with a star are needed. A list has one entry.
SHAPES: dict[str, dict[str, Any]] = {
    "log": {"version*": "2.1.0", "runs*": ["run"], "$schema": URI},
    "run": {"tool*": "tool", "results": ["result"], "columnKind": ("utf16CodeUnits", "unicodeCodePoints")},
    "tool": {"driver*": "component"},
    "component": {"name*": TEXT, "version": TEXT, "informationUri": URI, "rules": ["rule"]},
    "rule": {"id*": TEXT, "name": TEXT, "shortDescription": "message", "helpUri": URI},
    "result": {
        "message*": "message", "ruleId": TEXT, "ruleIndex": WHOLE, "level": LEVEL, "locations": ["location"],
        "partialFingerprints": STRINGS, "fixes": ["fix"],
    },
    "fix": {"artifactChanges*": ["change"], "description": "message"},
    "change": {"artifactLocation*": "artifact", "replacements*": ["replacement"]},
    "replacement": {"deletedRegion*": "region", "insertedContent": "content"},
    "message": {"text": TEXT, "markdown": TEXT},
    "location": {"physicalLocation": "physical", "message": "message"},
    "physical": {"artifactLocation": "artifact", "region": "region"},
    "artifact": {"uri": URI, "uriBaseId": TEXT},
    "region": {"startLine": POSITION, "startColumn": POSITION, "endLine": POSITION, "endColumn": POSITION,
        "snippet": "content"},
    "content": {"text": TEXT},
}  # fmt: skip


def problems(value: Any, shape: Any = "log", where: str = "log") -> Iterator[str]:
    """What is wrong with a report; nothing if it is SARIF."""
    if isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{where} is not a list"
        else:
            for number, each in enumerate(value):
                yield from problems(each, shape[0], f"{where}[{number}]")
    elif isinstance(shape, str) and shape in SHAPES:
        yield from problems_of_object(value, SHAPES[shape], where)
    elif not fits(value, shape):
        yield f"{where} is {value!r}"


def problems_of_object(value: Any, shape: dict[str, Any], where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where} is no object"
        return
    known = {name.rstrip("*"): inner for name, inner in shape.items()}
    yield from (
        f"{where}.{name} is missing" for name in shape if name.endswith("*") and name[:-1] not in value
    )
    for name, each in value.items():
        if name in known:
            yield from problems(each, known[name], f"{where}.{name}")
        elif name != "properties":
            yield f"{where}.{name} is unknown"


def fits(value: Any, shape: Any) -> bool:
    """Whether a value that is no object of ours is what it should be."""
    number = isinstance(value, int) and not isinstance(value, bool)
    if shape in (WHOLE, POSITION):
        return number and value >= (1 if shape == POSITION else -1)
    if shape == STRINGS:
        return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    if not isinstance(value, str):
        return False
    if shape == URI:
        return URI_PATTERN.fullmatch(value) is not None
    if shape == LEVEL:
        return value in LEVELS
    return shape == TEXT or value == shape or (isinstance(shape, tuple) and value in shape)
