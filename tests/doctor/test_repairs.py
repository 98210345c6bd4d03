"""Each fix that a report shows as code is applied to its program, which is run again: the finding is gone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from doctor import faults
from doctor.faults import Program
from doctor.zoo_run import run

FAULTY = faults.programs()

# What to do is a choice, or lies elsewhere than the line that is at fault: only words say it.
WORDS_ONLY = {
    "model_made_again", "layer_never_called", "argmax", "rate_decays", "same_batch", "first_batch", "one_label",
    "large_inputs", "nan_in_data", "vanishing", "generator_cut", "hidden_state",
}  # fmt: skip


@pytest.mark.sample(8)
@pytest.mark.quick(1)
@pytest.mark.parametrize("program", FAULTY, ids=lambda program: program.name)
def test_the_printed_code_cures_its_program(program, torch):
    d = run(program)
    first = d.findings[0]
    if first.repair is None:
        assert program.fault.kind in WORDS_ONLY
        pytest.skip("the fix is words only")
    assert first.repair.old == tuple(program.source.split("\n")[first.repair.first - 1 : first.repair.last])
    mended = Program(f"{program.name}-mended", first.repair.applied(program.source), 0, program.fault)
    assert first.key not in {finding.key for finding in run(mended).findings}


def test_a_report_shows_what_goes_and_what_comes(torch):
    d = run(next(each for each in FAULTY if each.name == "detach-mlp"))
    (finding,) = d.findings
    old, new = (line.strip() for line in (*finding.repair.old, *finding.repair.new))
    assert (old, new) == ("h = self.body(x).detach()", "h = self.body(x)")
    said = d.text("en").splitlines()
    assert any(line.endswith(f"- {old}") for line in said) and any(line.endswith(f"+ {new}") for line in said)
    assert f"</i>        {new}</div>" in d.html("en")
    assert d.json("en")["findings"][0]["repair"]["new"] == [f"        {new}"]


def test_the_fix_of_a_sarif_report_mends_the_file(torch, tmp_path):
    """An editor replaces a region: the script that it leaves has no finding."""
    script = tmp_path / "a script.py"
    script.write_text(next(each for each in FAULTY if each.name == "no_reset-mlp").source)
    command = [sys.executable, "-m", "minigrad_viz", "doctor", "--json", str(script)]
    d = run_file(script)
    change = d.sarif("en")["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0]
    assert change["artifactLocation"]["uri"].endswith("a%20script.py")
    (replacement,) = change["replacements"]
    region, text = replacement["deletedRegion"], replacement["insertedContent"]["text"]
    lines = script.read_text().splitlines(keepends=True)
    lines[region["startLine"] - 1 : region["endLine"] - 1] = [text]
    script.write_text("".join(lines))
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and '"findings": []' in done.stdout, done.stderr


def run_file(script):
    """The doctor that has watched a script."""
    from minigrad_viz.training_runs import doctor

    d = doctor(show=False)
    with d:
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    return d
