"""What is explained of code that did not run, and of names that nobody wrote: nothing. In both libraries."""

from __future__ import annotations

import ast
import textwrap

import pytest
from cells import traced

from minigrad_viz.model.execution import Execution
from minigrad_viz.shell.report import Report
from minigrad_viz.steps.forward import aside_of
from minigrad_viz.trace.source_positions import SourceText

# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("call", ["w.retain_grad()", "w.register_hook(print)"])
def test_no_step_tells_of_what_a_statement_left_out(call):
    assert aside_of(f"handle = {call}") is not None
    for statement in (
        f"later = lambda: {call}",
        f"n = None and {call}",
        f"0 if n else {call}",
        f"[{call} for _ in ()]",
    ):
        assert aside_of(statement) is None, statement


# ── what ran, line by line ──────────────────────────────────────────────────────────────────────────────────


def lines_run(source: str, library) -> list[int]:
    """The lines of the statements that are known to have run."""
    text = SourceText(source)
    execution = Execution(text, traced(source, library).events)
    statements = [node for node in ast.walk(text.tree) if isinstance(node, ast.stmt)]
    return sorted(node.lineno for node in statements if execution.ran(node))


PROGRAMS = {  # with a mark at each line that is known to have run
    "a function that was left early": """
        def f(n):  #
            a = 1  #
            if n:  #
                return 2
            b = 3
        f(0)  #
    """,
    "a loop with tensors": """
        x = torch.tensor(1.0)  #
        for i in range(2):  #
            if i:  #
                x = x * 2  #
                a = 1  #
            else:
                a = 2
            a = 3  #
    """,
    "a function with a try somewhere": """
        def f():  #
            x = torch.tensor(1.0)  #
            a = 1
        try:  #
            f()  #
            b = 2
        except ValueError:
            c = 3
    """,
    "nested functions": """
        def outer():  #
            def inner():  #
                a = 1  #
            def other():  #
                a = 2
            inner()  #
        outer()  #
    """,
    "a name with two meanings": """
        def f():  #
            a = 1
        f = print  #
        f()  #
    """,
    "a decorated function": """
        def other(g):  #
            return print
        @other
        def f():  #
            a = 1
        f()  #
    """,
    "what a condition leaves out": """
        def f():  #
            a = 1
        def g():  #
            a = 2
        None and f()  #
        1 if True else g()  #
    """,
    "methods that read what another one set": """
        class A:  #
            def __init__(self):  #
                self.n = 1  #
            def use(self, x):  #
                return x * self.n  #
            def other(self):  #
                self.m = 2
        make = [A]  #
        make[0]().use(torch.tensor(1.0))  #
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_ran(library, name):
    source = textwrap.dedent(PROGRAMS[name]).lstrip()
    marked = [i for i, line in enumerate(source.split("\n"), 1) if line.endswith("  #")]
    assert lines_run(source, library) == marked


def test_what_an_error_stopped(library):
    cell = "def f():\n    x = torch.tensor(1.0)\n    x * None\n    a = 1\nb = 1\nf()\nc = 1\n"
    assert lines_run(cell, library) == [1, 2, 3, 5, 6]


# ── what an optimizer holds, whatever its tensors are called ────────────────────────────────────────────────

LATE = "opt.zero_grad()\n    opt.step()\n    loss.backward()\n"
USUAL = "opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
LEAF = "torch.tensor(1.0, requires_grad=True)"
ROUNDS = "opt = torch.optim.SGD({given}, lr=0.1)\n{more}for _ in range(2):\n    loss = ({w} * 2) ** 2\n    "
OPTIMIZERS = [  # what it is given, what the loss is computed from, the order of the calls, and the note
    (f"[{LEAF}]", "opt.param_groups[0]['params'][0]", "", LATE, "step_too_early"),
    (f"[{LEAF}]", "opt.param_groups[0]['params'][0]", "", USUAL, ""),
    (f"[{LEAF}]", LEAF, "", USUAL, "other_parameters"),
    (f"[{LEAF}]", "w", f"w = {LEAF}\n", USUAL, "other_parameters"),
    ("(ps := [w0])", "p", "p, = ps\n", LATE, "step_too_early"),
    ("(ps := [w0])", "p", "p, = ps\n", USUAL, ""),
]


@pytest.mark.parametrize("given, w, more, calls, key", OPTIMIZERS)
def test_an_optimizer_is_known_by_the_tensors_that_it_holds(library, given, w, more, calls, key):
    source = f"w0 = {LEAF}\n" + ROUNDS.format(given=given, w=w, more=more) + calls
    notes = [each.key for each in Report(traced(source, library)).explained]
    assert [note for note in notes if note in ("step_too_early", "other_parameters")] == [key] * bool(key)
