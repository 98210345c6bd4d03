"""Explanations of errors outside backward calls, and of puzzling results without an error, in both libraries
and both dialects."""

from __future__ import annotations

import copy
import gc
import weakref

import numpy as np
import pytest
from cells import CELLS, run
from staged import explanations_of

from minigrad_viz import explain
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import CellFailed, Trace
from minigrad_viz.words import CATALOGUES

SETUP = """\
import copy
x = torch.tensor(5.0, requires_grad=True)
v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
w = v * 2
p = torch.tensor(1.0)
"""


def traced(cell: str, library) -> Trace:
    trace = run(cell, library, names={"np": np}).trace
    assert trace is not None
    return trace


def test_code_that_nobody_watched(library):
    """`explain()` knows what the traceback and the graph tell."""
    x = library.tensor([1.0, 2.0], requires_grad=True)
    view, y = x[:1], x * 2
    told = {}
    for call in (lambda: view.mul_(2), lambda: copy.deepcopy(y), lambda: x.add_(1), lambda: y.numpy()):
        with pytest.raises(RuntimeError) as failed:
            call()
        explained = explain(failed.value, lang="en").report.explained[-1]
        told[explained.key] = explained.why.partition(" ")[0], len(explained.marks)
    assert told == {
        "view_of_leaf_in_place": ("view", 2),
        "deepcopy_of_non_leaf": ("y", 1),
        "leaf_in_place": ("x.add_(1)", 1),
        "numpy_of_graph": ("y", 1),
    }


# ------------------------------------------------------------------------------- what a failing line names


def named(cell: str, library, names=None) -> dict[str, str]:
    trace = run(cell, library, names=names).trace
    (failed,) = (e for e in trace.events if isinstance(e, CellFailed))
    return {text: state.id for text, state in failed.named}


def test_names_attributes_and_items(library):
    cell = SETUP + "class Box: pass\nbox = Box()\nbox.t = y\nrow = [x, w]\nrow[1].reshape(box.t, row, v)\n"
    found = named(cell, library)
    assert list(found) == ["row[1]", "box.t", "v"]


def test_names_of_a_function_are_its_own(library):
    cell = SETUP + "def f(x):\n    return x.no()\nf(y)\n"
    trace = traced(cell, library)
    (failed,) = (e for e in trace.events if isinstance(e, CellFailed))
    ((text, state),) = failed.named
    assert text == "x" and state.value.items == (10.0,)


def test_the_value_of_an_assignment_is_named(library):
    assert list(named(SETUP + "v.grad = p\n", library)) == ["v", "p"]


def test_names_in_a_comprehension_are_not_those_outside(library):
    assert named(SETUP + "t = x\nprint((lambda x: x.no())(3), [y for y in 5])\n", library) == {}


def test_nothing_of_the_users_runs_to_find_names(library):
    asked = []

    class Loud:
        @property
        def t(self):
            asked.append("t")

        def __getattr__(self, name):
            asked.append(name)
            raise AttributeError(name)

        def __getitem__(self, key):
            asked.append(key)
            raise KeyError(key)

    assert named("1 / (loud.t or loud.u or loud[0])\n", library, {"loud": Loud()}) == {}
    assert asked == ["t", "u"]  # by the cell


def test_no_tensor_is_kept_alive(library):
    space = {"torch": library}
    source = "x = torch.tensor(1.0, requires_grad=True)\nx += 1\n"
    recorder = Recorder(source, space)
    recorder.start()
    try:
        exec(compile(source, "<cell>", "exec"), space)
    except RuntimeError as error:
        trace = recorder.stop(error)
    report = Report(trace)
    gone = weakref.ref(space.pop("x"))
    gc.collect()
    assert gone() is None and report.explained[-1].key == "leaf_in_place"


# ------------------------------------------------------------------------------------------- silent mistakes


def test_every_documented_cell_still_stands(library):
    """In a cell of the documents nothing is called a mistake but what these call one themselves."""
    keys = {}
    for n, source in CELLS.items():
        told = explanations_of(traced(source, library), "en")
        keys[n] = [each.key for each in told if each.key in ("new_leaf", "non_leaf_grad", "single_precision")]
    assert {n: found for n, found in keys.items() if found} == {15: ["new_leaf"]}


def test_sentences_have_no_double_stop():
    """A sentence does not end in a value, which may end in a point itself: `1.`"""
    for catalogue in CATALOGUES.values():
        ours = [s for key, s in catalogue.items() if key.startswith(("why_", "non_leaf_grad", "assigned_"))]
        assert ours and not [sentence for sentence in ours if sentence.endswith("{value}.")]
