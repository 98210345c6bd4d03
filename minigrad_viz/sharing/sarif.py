"""Findings as SARIF 2.1.0, which code scanning and editors read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class SarifResult(NamedTuple):
    """One finding: the `key` of its rule, its `level` ("error", "warning" or "note"), what is said, the
    `fingerprints` by which it is known again, where it is, and edits that mend it."""

    key: str
    level: str
    message: str
    fingerprints: dict[str, str]
    location: dict[str, Any] | None = None
    fixes: Sequence[dict[str, Any]] = ()


def sarif_log(tool: str, results: Sequence[SarifResult], version: str = "") -> dict[str, Any]:
    """The results of one run of a tool. Columns count characters."""
    rules = list(dict.fromkeys(result.key for result in results))
    driver: dict[str, Any] = {"name": tool, "rules": [{"id": rule} for rule in rules]}
    if version:
        driver["version"] = version
    entries = []
    for result in results:
        entry: dict[str, Any] = {
            "ruleId": result.key,
            "ruleIndex": rules.index(result.key),
            "level": result.level,
            "message": {"text": result.message},
            "partialFingerprints": result.fingerprints,
        }
        if result.location is not None:
            entry["locations"] = [{"physicalLocation": result.location}]
        if result.fixes:
            entry["fixes"] = list(result.fixes)
        entries.append(entry)
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": entries}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def sarif_location(file: str, region: dict[str, Any], code: str) -> dict[str, Any]:
    """A place in a file, with its code."""
    return {"artifactLocation": {"uri": uri_of(file)}, "region": {**region, "snippet": {"text": code}}}


def uri_of(file: str) -> str:
    """The file as a URI, relative to the current folder where it lies below it. A cell of a notebook has no
    file, only a name."""
    path = Path(file)
    if not path.is_absolute() and not path.exists():
        return quote(path.as_posix().strip("<>"))
    try:
        return quote(path.resolve().relative_to(Path.cwd()).as_posix())
    except ValueError:
        return path.resolve().as_uri()
