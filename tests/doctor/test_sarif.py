"""The report as SARIF 2.1.0 holds what the standard asks for."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path

import pytest

from doctor import faults, healthy
from doctor.sarif_shape import problems
from doctor.zoo_run import run
from minigrad_viz.__main__ import main

PROGRAMS = {program.name: program for program in [*faults.programs(), *healthy.programs()]}


@pytest.mark.parametrize("name", ["detach-mlp", "no_reset-mlp", "rate_large-mlp", "dead-mlp", "plain-mlp"])
def test_a_report_is_sarif(name, torch):
    log = json.loads(json.dumps(run(PROGRAMS[name]).sarif("en"), allow_nan=False))
    assert list(problems(log)) == []
    assert bool(log["runs"][0]["results"]) == (PROGRAMS[name].fault is not None)


@pytest.mark.parametrize("name", ["detach-mlp", "no_reset-mlp", "nan_in_data-mlp", "plain-mlp"])
def test_the_schema_of_the_standard(name, torch):
    """Where the file `sarif-schema-2.1.0.json` of the standard is at hand; its address is in each report."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = os.environ.get("MINIGRAD_SARIF_SCHEMA")
    if schema is None:
        pytest.skip("MINIGRAD_SARIF_SCHEMA does not name the schema of SARIF 2.1.0")
    checks = jsonschema.Draft7Validator(json.loads(Path(schema).read_text("utf-8")))
    assert [error.message for error in checks.iter_errors(run(PROGRAMS[name]).sarif("en"))] == []


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


FAILING = """\
import minigrad as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * 2).detach().sum()
try:
    torch.ones(3).backward()
except RuntimeError:
    pass
y.backward()
"""


def test_what_is_explained_of_a_script(tmp_path, monkeypatch, capsys):
    """Both files name the program relative to the current folder, its line, and how serious each is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my script.py").write_text(FAILING, encoding="utf-8")
    assert main(["--lang", "en", "--findings", "all.json", "--sarif", "all.sarif", "my script.py"]) == 1
    assert "all.sarif" in capsys.readouterr().out
    log = json.loads((tmp_path / "all.sarif").read_text("utf-8"))
    assert list(problems(log)) == []
    listed = json.loads((tmp_path / "all.json").read_text("utf-8"))
    *_, last = log["runs"][0]["results"]
    place = last["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20script.py"
    assert FAILING.split("\n")[place["region"]["startLine"] - 1].find(place["region"]["snippet"]["text"]) == (
        place["region"]["startColumn"] - 1
    )
    assert (last["ruleId"], last["level"]) == ("no_grad_fn", "error")
    assert "detach()" in last["message"]["text"]
    found = listed["findings"]
    assert [each["key"] for each in found] == [each["ruleId"] for each in log["runs"][0]["results"]]
    assert found[-1]["error"] == listed["error"] and found[-1]["span"]["line"] == 9
    assert main(["--findings", "none/all.json", "my script.py"]) == 1
    assert "none/all.json" in capsys.readouterr().err
