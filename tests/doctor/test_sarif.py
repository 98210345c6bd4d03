"""The report as SARIF 2.1.0 holds what the standard asks for."""

from __future__ import annotations

import copy
import json

import pytest

from doctor import faults, healthy
from doctor.sarif_shape import problems
from doctor.zoo_run import run

PROGRAMS = {program.name: program for program in [*faults.programs(), *healthy.programs()]}


@pytest.mark.parametrize("name", ["detach-mlp", "no_reset-mlp", "rate_large-mlp", "dead-mlp", "plain-mlp"])
def test_a_report_is_sarif(name, torch):
    log = json.loads(json.dumps(run(PROGRAMS[name]).sarif("en"), allow_nan=False))
    assert list(problems(log)) == []
    assert bool(log["runs"][0]["results"]) == (PROGRAMS[name].fault is not None)


DAMAGES = [
    (("version",), "2.0.0"),
    (("runs",), {}),
    (("runs", 0, "tool"), {}),
    (("runs", 0, "results", 0, "level"), "fatal"),
    (("runs", 0, "results", 0, "message"), {"txt": "x"}),
    (("runs", 0, "results", 0, "locations", 0, "physicalLocation", "region", "startLine"), 0),
    (("runs", 0, "results", 0, "locations", 0, "physicalLocation", "artifactLocation", "uri"), "a file.py"),
    (("runs", 0, "results", 0, "fixes", 0, "artifactChanges"), None),
]


def test_a_damaged_report_is_noticed(torch):
    whole = run(PROGRAMS["detach-mlp"]).sarif("en")
    for path, value in DAMAGES:
        log = copy.deepcopy(whole)
        inner = log
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value
        assert list(problems(log)), path
