"""Errors of backward calls, explained: the text stays, the guilty part and the line that led there are
marked, and why and fix say what the trace proves."""

from __future__ import annotations

import re

import pytest
from cells import traced
from displayed import described
from golden import Cell, cells_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_cells import cells
from staged import build, explanations_of
from telling import recorded, run_cell
from tiers import examples
from twins import dialect

from minigrad_viz.explaining.case import RULES
from minigrad_viz.model.trace_index import TraceIndex
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import BackwardEnded, BackwardStarted, CellFailed, InPlaceWrite, Trace
from minigrad_viz.trace.graph import CAUSE, GUILTY, Explanation

X = "x = torch.tensor(5.0, requires_grad=True)\n"
V = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
CELLS = {cell.title: cell for cell in cells_of("backward")}


def the_error(trace: Trace, lang: str = "en") -> Explanation:
    """The only explanation of an error."""
    (found,) = (each for each in explanations_of(trace, lang) if each.error)
    return found


@pytest.mark.parametrize("name", CELLS)
def test_the_report_shows_it_at_its_call(name):
    report = Report(traced(CELLS[name].source), lang="en")
    assert report.explained[-1].key == key_of(CELLS[name])
    assert set(report.explained[-1].marks) <= set(report.graph.marks)


def key_of(cell: Cell) -> str:
    """The key of the last explanation of a golden cell."""
    return re.findall(r"^(\w+), line", cell.parts[0].text, re.M)[-1]


def test_every_rule_is_tried():
    backward = ("saved_writes", "backward_errors", "roots")
    rules = [rule for name in backward for rule in RULES[f"minigrad_viz.explaining.{name}"]]
    assert set(map(key_of, CELLS.values())) == {rule.key for rule in rules}


# ── which errors are explained ──────────────────────────────────────────────────────────────────────────────


def test_a_caught_error_is_explained_at_its_call(library):
    with dialect("2"):
        trace = traced(
            X + "y = x ** 3\ny.backward()\ntry:\n    y.backward()\nexcept RuntimeError:\n    pass\n"
            "z = x * 2\nz.backward()\n",
            library,
        )
        found = the_error(trace)
        assert (found.key, found.call, found.cause.line) == ("second_backward", 2, 3)
        report = Report(trace, lang="en")
    assert [bool(scene.graph.marks) for scene in report.views] == [False, True, False]


def test_the_error_that_ended_the_cell_is_the_last(library):
    trace = traced(
        X + "y = x ** 3\ny.backward()\ntry:\n    y.backward()\nexcept RuntimeError:\n    pass\n"
        "raise ValueError('over')\n",
        library,
    )
    assert [(e.key, e.call) for e in explanations_of(trace, "en")] == [("second_backward", 2), ("", 0)]
    assert explanations_of(trace, "en")[-1].error == "ValueError: over"


def test_an_unused_input_is_known_also_when_it_was_caught(library):
    trace = traced(
        X + "a = torch.tensor(1.0, requires_grad=True)\ntry:\n    torch.autograd.grad(x * 2, a)\n"
        "except RuntimeError:\n    pass\n",
        library,
    )
    assert the_error(trace).why == "x * 2 was not computed from a."


@pytest.mark.parametrize(
    "text",
    [
        "grad can be implicitly created only for scalar outputs",
        "Trying to backward through the graph a second time",
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor []] is at version 1; expected version 0 instead.",
        "function FBackward returned an incorrect number of gradients (expected 1, got 2)",
        "Function 'SqrtBackward' returned nan values in its 0th output.",
        "hook 'see' has changed the size of value",
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) and output[0] has a shape of "
        "torch.Size([3]).",
        "The differentiated Tensor at index 1 appears to not have been used in the graph.",
        "One of the differentiated Tensors does not require grad",
    ],
)
def test_an_error_that_only_reads_like_one_is_not_explained(text, library):
    trace = traced(X + f"y = x ** 2\ny.backward()\nraise RuntimeError({text!r})\n", library)
    found = the_error(trace)
    assert (found.key, found.why, found.fix, found.marks) == ("", "", "", ())
    assert found.error == f"RuntimeError: {text}"


def test_in_a_hook_a_text_like_that_is_the_hooks(library):
    trace = traced(
        X + "y = x ** 2\ndef hook(g):\n"
        "    raise RuntimeError('Trying to backward through the graph a second time')\n"
        "y.register_hook(hook)\ny.backward()\n",
        library,
    )
    found = the_error(trace)
    assert (found.key, found.cause.line) == ("raised", 4)


def test_where_a_freed_graph_is_older_than_the_cell_the_call_is_not_guessed(library):
    names: dict = {"x": library.tensor(5.0, requires_grad=True)}
    names["y"] = names["x"] ** 3
    names["y"].backward()
    found = the_error(traced("y.backward()\n", library, names=names))
    assert found.why.startswith("An earlier backward call freed the values that PowBackward0 at y had saved")
    assert found.cause is None and len(found.marks) == 2


def test_of_a_writer_that_nobody_saw_no_line_is_told(library):
    names: dict = {"x": library.tensor(5.0, requires_grad=True)}
    names["y"] = names["x"] * 1
    names["z"] = names["y"] * names["y"]
    names["y"].add_(1)
    found = the_error(traced("z.backward()\n", library, names=names))
    assert found.key == "saved_modified" and found.cause is None
    assert "(line" not in found.why.replace("z.backward() (line 1)", "")


def test_of_an_item_that_was_assigned_the_whole_statement_is_told(library):
    with dialect("2"):
        source = V + "z = torch.relu(x * 1)\nz[0] = 5.0\nz.sum().backward()\n"
        found = the_error(traced(source, library))
    assert found.why == (
        "ReluBackward0 at z₁ saved z₁ at version 0. Then z[0] = 5.0 (line 3) modified it in place, so it "
        "is now at version 1."
    )
    assert found.cause is not None and found.cause.line == 3


def test_many_lines_of_a_text_stay(library):
    source = (
        X + "y = x * 2\ndef hook(g):\n    raise ValueError('one\\n  two\\n')\n"
        "y.register_hook(hook)\ny.backward()\n"
    )
    trace = traced(source, library)
    assert the_error(trace).error == trace.error == "ValueError: one\n  two"


def test_a_saved_value_is_shown_as_it_was_saved(library):
    with dialect("2"):
        trace = traced(V + "y = x * 1\nz = y * y\ny.add_(1)\nz.sum().backward()\n", library)
    (deck,) = (s.deck for s in build(trace).stations if s.deck and len(s.deck.saved) == 2)
    assert [(s.value.items, s.version, s.now, s.freed) for s in deck.saved] == [
        ((1.0, 2.0, 3.0), 0, 1, False)
    ] * 2


def test_a_call_that_failed_over_a_changed_value_freed_nothing(library):
    trace = traced(X + "y = x * 1\nz = y * y\ny.add_(1)\nz.backward()\n", library)
    (ended,) = (event for event in trace.events if isinstance(event, BackwardEnded))
    assert ended.freed == ()


def test_an_error_that_is_raised_anew_is_not_called_a_hooks(library):
    broken = "y = x * 2\ny.register_hook(lambda g: fail())\n"
    source = (
        "def fail():\n    raise RuntimeError('mine')\n"
        + X
        + broken
        + "def step():\n    try:\n        y.backward()\n"
        "    except RuntimeError as error:\n        raise RuntimeError(str(error)) from None\nstep()\n"
    )
    found = the_error(traced(source, library))
    assert (found.key, found.why, found.cause) == ("", "", None)


# ── random cells ────────────────────────────────────────────────────────────────────────────────────────────


def check(trace: Trace) -> None:
    """No explanation says what the trace does not prove."""
    english, korean = explanations_of(trace, "en"), explanations_of(trace, "ko")
    assert [(e.key, e.call, e.span, e.cause) for e in english] == [
        (e.key, e.call, e.span, e.cause) for e in korean
    ]
    errors = [each for each in english if each.error]
    calls = {e.call: e for e in trace.events if isinstance(e, BackwardEnded) and e.error is not None}
    ended = [e for e in trace.events if isinstance(e, CellFailed)]
    assert {e.call: e.error for e in errors if e.call} == {call: e.error for call, e in calls.items()}
    assert not ended or errors[-1].error == ended[0].error == trace.error
    for each in english:
        graph = build(trace, each.call or None)
        assert all(described(graph, mark.part) for mark in each.marks)  # KeyError for what does not exist
        assert each.key or not (each.why or each.fix)
        assert all(mark.kind in (GUILTY, CAUSE) for mark in each.marks)
        if each.key == "second_backward":
            freed_before(trace, each)
        if each.key == "saved_modified" and each.cause is not None:
            assert any(isinstance(e, InPlaceWrite) and e.span == each.cause for e in trace.events)


def freed_before(trace: Trace, each: Explanation) -> None:
    """Where a node is named as guilty, its values were freed, by the call that is named as the cause."""
    decks = [mark.part[:-2] for mark in each.marks if mark.part.endswith("-d")]
    for station in decks:
        deck = build(trace, each.call).station(station).deck
        if deck is not None and not deck.saved:
            continue  # a CopySlices, which does not tell
        assert deck is not None and any(saved.freed for saved in deck.saved)
        freed_by = [e.call for e in trace.events if isinstance(e, BackwardEnded) and deck.id in e.freed]
        started = {e.call: e for e in trace.events if isinstance(e, BackwardStarted)}
        if each.cause is not None:
            assert started[freed_by[0]].span == each.cause and freed_by[0] < each.call


@settings(
    max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cell=cells)
def test_random_cells(library, cell):
    with dialect("2"):
        (trace,) = run_cell(cell, library, recorded).kept
        check(trace)
        assert explanations_of(Trace.from_json(trace.to_json()), "en") == explanations_of(trace, "en")


# ── what is named as the cause is it: without it the error is gone ──────────────────────────────────────────

STEPS = [
    "{n} = {a} * {b}", "{n} = {a} * {a}", "{n} = torch.exp({a})", "{n} = {a} ** 3", "{n} = {a} + 1",
    "{n} = {a}.detach()", "{n} = {a}.view(3)", "{n} = {a}[:]", "{n} = {a}.expand(3)", "{n} = {a}.clone()",
    "{a}.add_(1)", "{a} *= 2", "{a}[0] = 1.0", "{a}.data.add_(1)", "{b}.exp_()",
    "with torch.no_grad(): {a}.mul_(2)", "{a}.sum().backward()", "{a}.sum().backward()",
    "torch.autograd.grad({a}.sum(), {b})", "torch.autograd.grad({a}.sum(), x)",
]  # fmt: skip
programs = st.lists(
    st.tuples(st.sampled_from(STEPS), st.integers(0, 9), st.integers(0, 9)), min_size=4, max_size=14
)
LINES = 4  # of each step


def written(program: list[tuple[str, int, int]]) -> list[str]:
    """The steps of a program on the leaf `x`: each makes a variable or changes one."""
    names, steps = ["c", "x", "z"], []
    for template, i, j in program:
        a, b, n = names[-1 - i % len(names)], names[j % len(names)], f"v{len(names)}"
        steps.append(template.format(a=a, b=b, n=n))
        if "{n}" in template:
            names.append(n)
    return steps


def source_of(steps: list[str]) -> str:
    """A cell of steps; what one raises is caught."""
    start = V + "c = torch.tensor([1.0, 1.0, 1.0])\nz = x * 1\n\n"
    for step in steps:
        name = step.partition(" = ")[0]
        otherwise = f"{name} = z" if name.isidentifier() and name != step else "pass"
        start += f"try:\n    {step}\nexcept RuntimeError:\n    {otherwise}\n"
    return start


def step_at(line: int) -> int:
    """The step that stands in a line."""
    return (line - 1) // LINES - 1


def failures(trace: Trace) -> dict[int, Explanation]:
    """The explanations of a cell's errors, by the step that failed."""
    return {step_at(e.span.line): e for e in explanations_of(trace, "en") if e.error and e.span is not None}


@settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(program=programs)
def test_without_the_cause_there_is_no_error(library, program):
    steps = written(program)
    trace = traced(source_of(steps), library)
    check(trace)
    for failed, found in failures(trace).items():
        if found.cause is None or found.key not in ("second_backward", "saved_modified"):
            continue
        blamed = step_at(found.cause.line)
        assert blamed < failed
        other = [*steps[:blamed], mended(steps[blamed], found.key), *steps[blamed + 1 :]]
        without = traced(source_of(other), library)
        again = failures(without).get(failed)
        if again is None or again.key != found.key:
            continue
        if found.key == "second_backward":  # then another call had freed it too
            assert again.cause is None or step_at(again.cause.line) != blamed
        else:
            assert writes_in(found.error) > 1 or guilty_step(without, again) != guilty_step(trace, found)


def mended(step: str, key: str) -> str:
    """The step that is blamed, so that it does no harm."""
    if key == "saved_modified":
        return "pass"
    if "grad(" in step:
        return step.replace("), ", "), retain_graph=True, inputs=")
    return step.replace(".backward()", ".backward(retain_graph=True)")


def guilty_step(trace: Trace, found: Explanation) -> int:
    """The step that made the node which stopped."""
    (station,) = (mark.part[:-2] for mark in found.marks if mark.part.endswith("-d"))
    (line,) = (place.line for place in TraceIndex(trace).places if place.id == station)
    return step_at(line)


def writes_in(error: str) -> int:
    """How often a saved value was written to, as the error says."""
    now, then = re.findall(r"version (\d+)", error)[:2]
    return int(now) - int(then)
