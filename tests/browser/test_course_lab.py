"""The course in JupyterLab, run from the top and stepped through."""

from __future__ import annotations

import course
import pytest
from lab import Lab, missing
from players import pictures, step_through

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

# Of each kind one: the first notebook, a page of links and a drawn map, an error, arrays, a
# frame, matrices, an engine of our own, plots.
IN_LAB = [
    *("00_start_here", "00_map", "code_06", "code_13", "code_18", "code_21"),
    *("engine_compared", "training_two_moons"),
]

# What sticks out of the column of cells to the right, without a scroll bar of its own.
STICKING_OUT = """() => [...document.querySelectorAll('.jp-OutputArea-output, .jp-RenderedMarkdown')]
    .filter(part => part.scrollWidth > part.clientWidth + 1)
    .map(part => part.innerText.slice(0, 60))"""


@pytest.fixture(scope="module")
def lab():
    with Lab(course.FOLDER) as running:
        yield running


@pytest.mark.smoke
@pytest.mark.sample(3)
@pytest.mark.parametrize("name", IN_LAB)
def test_a_notebook_runs_in_jupyterlab(lab, name):
    page = lab.open(f"{name}.ipynb", width=1100, height=9000)
    raised = lab.run_all(page)
    expected = [
        f"{output['ename']}: {output['evalue']}"
        for cell in course.code(name)
        for output in cell.outputs
        if output["output_type"] == "error"
    ]
    assert raised == expected
    assert step_through(page) == pictures(name)
    assert page.evaluate(STICKING_OUT) == []
    assert lab.errors == []
