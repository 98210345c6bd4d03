"""The ledger of `.grad`: every deposit and every reset, in order, and the last total is what `.grad` is."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import pytest
from cells import CELLS, run, traced
from hypothesis import given, settings
from tiers import examples

import minigrad
from minigrad_viz import Report
from minigrad_viz.model.grad_ledger import ledger_of, same_gradient
from minigrad_viz.model.trace_index import TraceIndex
from minigrad_viz.number_text import one_line
from minigrad_viz.protocol import value_of
from minigrad_viz.trace.events import GradSet, Trace
from minigrad_viz.words import CATALOGUES, columns


def told(trace: Trace) -> dict[str, list[tuple]]:
    """The entries by name: kind, amount and total as text, and whether it was a surprise."""
    return {
        account.name: [
            (
                e.kind,
                e.amount and one_line(e.amount),
                "None" if e.after is None else one_line(e.after),
                e.again,
            )
            for e in account.entries
        ]
        for account in ledger_of(TraceIndex(trace))
    }


def spans(trace: Trace) -> list[tuple[str, str]]:
    return [(e.how, e.span.text) for e in trace.events if isinstance(e, GradSet)]


# ── what a cell does to gradients itself ────────────────────────────────────────────────────────────────────

START = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\n"


def test_what_is_no_gradient_is_none_of_it(library):
    trace = traced(START + "g = x.grad * 2\ng.zero_()\nx.data.zero_()\n", library)
    assert spans(trace) == []


def test_a_gradient_from_before_the_cell(library):
    x = library.tensor(2.0, requires_grad=True)
    (x * 3).backward()
    assert told(traced("(x * 3).backward()\n", library, {"x": x})) == {
        "x": [("before", None, "3.", False), ("deposit", "3.", "6.", True)]
    }
    entries = told(traced("x.grad = None\n(x * 3).backward()\n", library, {"x": x}))["x"]
    assert entries == [
        ("before", None, "6.", False),
        ("none", None, "None", False),
        ("deposit", "3.", "3.", False),
    ]
    entries = told(traced("x.grad.zero_()\n(x * 3).backward()\n", library, {"x": x}))["x"]
    assert [e[0] for e in entries] == ["before", "zero", "deposit"] and entries[-1][2] == "3."


def test_calls_that_are_left_out_are_counted(library):
    trace = traced(
        "x = torch.tensor(2.0, requires_grad=True)\nfor i in range(50):\n    (x * x).backward()\n", library
    )
    (account,) = ledger_of(TraceIndex(trace))
    assert account.left_out == trace.skipped > 10
    assert account.left_out + sum(e.kind == "deposit" for e in account.entries) == 50
    assert account.entries[0].kind == "skipped" and one_line(account.entries[-1].after) == "200."
    page = Report(trace, lang="en").ledger
    assert f"earlier calls that added to it, only counted: {account.left_out}" in page.text()
    assert "… entries left out: " in page.text() and page.text().count("\n") < 15


def test_a_trace_of_what_was_left_after_an_error_has_no_ledger():
    trace = traced(CELLS[7])
    assert not Report(trace._replace(recorded=False), lang="en").ledger


# ── random programs ─────────────────────────────────────────────────────────────────────────────────────────

BACKWARD = ["(a * b).sum().backward()", "(a * a + b).sum().backward()", "(b.exp() * a).sum().backward()"]
STATEMENTS = [
    *BACKWARD, *BACKWARD, "a.grad = None", "b.grad = None", "a.grad = torch.ones(2)",
    "if a.grad is not None: a.grad.zero_()", "if b.grad is not None: b.grad.mul_(2)",
    "if b.grad is not None: b.grad += a.detach()", "if a.grad is not None: a.grad[1] = 7.0",
    "torch.autograd.grad((a * b).sum(), a)", "(a * b).sum().backward(inputs=[a])",
    "a.register_hook(lambda g: g * 2)", "b.register_post_accumulate_grad_hook(halve)",
    "if a.grad is not None: a.grad.data.zero_()", "a = (a * 2).detach().requires_grad_()",
    "if a.grad is not None: a = a - 0.1 * a.grad", "if b.grad is not None: b.data -= 0.1 * b.grad",
    "with torch.no_grad(): b -= 0.1",
]  # fmt: skip


@pytest.mark.parametrize("name", ["minigrad", "torch"])
@settings(max_examples=examples(40))
@given(program=st.lists(st.sampled_from(STATEMENTS), max_size=8))
def test_the_last_total_is_the_gradient(name, program):
    library = minigrad if name == "minigrad" else pytest.importorskip("torch")
    start = "def halve(leaf): leaf.grad.mul_(0.5)\na = torch.tensor([0.5, -2.0], requires_grad=True)\n"
    start += "b = torch.tensor([1.0, 3.0], requires_grad=True)\n"
    ran = run(start + "\n".join(program) + "\n", library)
    assert ran.error is None
    accounts = {account.tensor: account.entries for account in ledger_of(TraceIndex(ran.trace))}
    named = {account.name: account.tensor for account in ledger_of(TraceIndex(ran.trace))}
    now = {name: id for id, name in ran.trace.names}
    for name in ("a", "b"):
        assert named.get(name) in (None, now[name]), "a name stands for what the variable is"
        kept = ran.names[name].is_leaf or ran.names[name].retains_grad
        grad = ran.names[name].grad if kept else None
        entries = accounts.get(now[name], ())
        assert same_gradient(entries[-1].after if entries else None, None if grad is None else value_of(grad))
        for before, entry in itertools.pairwise(entries):
            assert same_gradient(before.after, entry.before)
        assert not any(entry.kind == "unseen" for entry in entries)
    again = Trace.from_json(ran.trace.to_json())
    assert ledger_of(TraceIndex(again)) == ledger_of(TraceIndex(ran.trace))


# ── shown ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("lang", CATALOGUES)
def test_page(library, lang):
    report = Report(traced(CELLS[8], library), lang=lang)
    page = report.ledger.html()
    assert 'tabindex="0"' in page and page.count("<tbody>") == 1 and "x.grad.zero_()" in page
    assert report.ledger.html() in report.html() or report.ledger.html(style=False) in report.html()
    lines = report.ledger.text().splitlines()[1:]
    starts = {columns(line[: line.index("0. ")]) for line in lines if "  0. " in line}
    assert len(starts) <= 2


def test_only_where_it_is_telling_unless_asked():
    quiet, loud = traced(CELLS[9]), traced(CELLS[7])
    assert "Ledger" not in Report(quiet, lang="en").text()
    assert "Ledger" in Report(quiet, lang="en", ledger=True).text()
    assert "Ledger" in Report(loud, lang="en").text()
    assert "Ledger" not in Report(loud, lang="en", ledger=False).text()
