"""The report as JSON, and as SARIF 2.1.0 for code scanning."""

from __future__ import annotations

import math
from typing import Any

from ..sharing.sarif import SarifResult, sarif_location, sarif_log, uri_of
from ..training_faults.diagnosis import checked_facts, unchecked_facts
from ..training_faults.evidence import Evidence, Place
from ..training_faults.findings import Finding, Repair
from .flow import step_table


def place_json(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"file": place.file, "line": place.line, "code": place.text}


def repair_json(repair: Repair | None) -> dict[str, Any] | None:
    return None if repair is None else {**repair._asdict(), "old": repair.old}


def finding_json(finding: Finding, lang: str | None) -> dict[str, Any]:
    return {
        "key": finding.key,
        "name": finding.name,
        "certainty": finding.certainty,
        "verdict": finding.verdict(lang),
        "fix": finding.fix(lang),
        "repair": repair_json(finding.repair),
        "place": place_json(finding.place),
        "step": finding.step or None,
        "facts": [{"step": fact.step or None, "text": fact.say(lang)} for fact in finding.facts],
        "follows": [finding_json(each, lang) for each in finding.follows],
    }


def report_json(e: Evidence, findings: list[Finding], lang: str | None = None) -> dict[str, Any]:
    """The report as data that JSON can hold: numbers that are not finite are None."""
    return finite_only(
        {
            "steps": e.steps,
            "parameters": len(e.parameters),
            "library": e.library,
            "error": e.error or None,
            "findings": [finding_json(finding, lang) for finding in findings],
            "checked": [check.fact.say(lang) for check in checked_facts(e)],
            "unchecked": [check.fact.say(lang) for check in unchecked_facts(e)],
            "losses": list(e.losses[-2000:]),
            "table": list(step_table(e)),
        }
    )


def finite_only(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: finite_only(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite_only(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def report_sarif(findings: list[Finding], lang: str | None = None, version: str = "") -> dict[str, Any]:
    """The findings as SARIF: an error if certain, a warning if likely."""
    results = []
    for finding in findings:
        message = " ".join(filter(None, (finding.verdict(lang), finding.fix(lang))))
        level = "error" if finding.certainty == "certain" else "warning"
        place, repair = finding.place, finding.repair
        location = None
        if place is not None:
            location = sarif_location(place.file, {"startLine": place.line}, place.text)
        fixes = [] if repair is None else [repair_sarif(repair, finding.fix(lang))]
        marks = {"doctorKey/v1": finding.name}
        results.append(SarifResult(finding.key, level, message, marks, location, fixes))
    return sarif_log("minigrad_viz doctor", results, version)


def repair_sarif(repair: Repair, about: str) -> dict[str, Any]:
    """A fix that an editor can apply."""
    region = {"startLine": repair.first, "startColumn": 1, "endLine": repair.last + 1, "endColumn": 1}
    inserted = {"text": "".join(f"{line}\n" for line in repair.new)}
    replacements = [{"deletedRegion": region, "insertedContent": inserted}]
    change = {"artifactLocation": {"uri": uri_of(repair.file)}, "replacements": replacements}
    return {"description": {"text": about}, "artifactChanges": [change]}
