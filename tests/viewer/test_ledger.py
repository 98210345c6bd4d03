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


# ── the documented cells ────────────────────────────────────────────────────────────────────────────────────


def test_the_second_deposit_is_the_surprise(library):
    trace = traced(CELLS[7], library)
    assert told(trace) == {"x": [("deposit", "0.6", "0.6", False), ("deposit", "0.6", "1.2", True)]}
    (account,) = ledger_of(TraceIndex(trace))
    assert [(e.call, e.sources) for e in account.entries] == [(1, ("PowBackward0",)), (2, ("PowBackward0",))]
    assert account.telling and Report(trace, lang="en").ledger.telling


def test_a_reset_in_between_is_an_entry_and_no_surprise_comes(library):
    trace = traced(CELLS[8], library)
    assert told(trace) == {
        "x": [
            ("deposit", "0.6", "0.6", False),
            ("zero", None, "0.", False),
            ("deposit", "0.6", "0.6", False),
        ]
    }
    assert spans(trace) == [("zero", "x.grad.zero_()")]


def test_paths_that_meet_are_one_deposit(library):
    trace = traced(CELLS[9], library)
    assert told(trace)["x"] == [("deposit", "1.6", "1.6", False)]
    assert sorted(ledger_of(TraceIndex(trace))[0].entries[0].sources) == ["PowBackward0", "PowBackward0"]
    assert not Report(trace, lang="en").ledger.telling


# ── what a cell does to gradients itself ────────────────────────────────────────────────────────────────────

START = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\n"
WRITES = {
    "x.grad.zero_()": ("zero", "[0. 0.]"),
    "x.grad = None": ("none", "None"),
    "del x.grad": ("none", "None"),
    "x.grad = torch.ones(2)": ("assigned", "[1. 1.]"),
    "x.grad.mul_(3)": ("written", "[6. 12.]"),
    "x.grad *= 3": ("written", "[6. 12.]"),
    "x.grad += x.grad": ("written", "[4. 8.]"),
    "x.grad.fill_(5)": ("written", "[5. 5.]"),
    "x.grad[0].zero_()": ("zero", "[0. 4.]"),
    "x.grad.data.zero_()": ("zero", "[0. 0.]"),
    "x.grad.detach().zero_()": ("zero", "[0. 0.]"),
}


@pytest.mark.parametrize("write", WRITES)
def test_what_a_cell_writes(library, write):
    trace = traced(START + write + "\n", library)
    how, after = WRITES[write]
    assert told(trace)["x"] == [("deposit", "[2. 4.]", "[2. 4.]", False), (how, None, after, False)]
    (event,) = [e for e in trace.events if isinstance(e, GradSet)]
    assert event.span.line == 3 and one_line(event.before) == "[2. 4.]"


def test_what_is_no_gradient_is_none_of_it(library):
    trace = traced(START + "g = x.grad * 2\ng.zero_()\nx.data.zero_()\n", library)
    assert spans(trace) == []


@pytest.mark.parametrize("set_to_none, how", [(True, "none"), (False, "zero")])
def test_zero_grad_of_an_optimizer(torch, set_to_none, how):
    cell = (
        "w, b = torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)\n"
        "optimizer = torch.optim.SGD([w, b], lr=0.1)\n"
        "for i in range(2):\n"
        f"    optimizer.zero_grad(set_to_none={set_to_none})\n"
        "    ((w * 2).sum() + b).backward()\n"
        "    optimizer.step()\n"
    )
    trace = traced(cell, torch)
    assert [e[0] for e in told(trace)["w"]] == [e[0] for e in told(trace)["b"]] == ["deposit", how, "deposit"]
    assert not any(e[3] for e in told(trace)["w"])
    texts = [frame.text for act in Report(trace, lang="en").acts for frame in act.frames]
    assert texts.count(f"w.grad, b.grad: set to {'None' if set_to_none else '0'}") == 1, "one step for all"


def test_clipping_is_seen(torch):
    cell = START + "torch.nn.utils.clip_grad_norm_([x], 1.0)\n"
    assert [e[0] for e in told(traced(cell, torch))["x"]] == ["deposit", "written"]


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


def test_hooks_after_the_deposit(library):
    cell = START + (
        "def double(leaf): leaf.grad.mul_(2)\n"
        "handle = x.register_post_accumulate_grad_hook(double)\n"
        "(x * x).sum().backward()\n"
        "handle.remove()\n"
        "def forget(leaf): leaf.grad = None\n"
        "x.register_post_accumulate_grad_hook(forget)\n"
        "(x * x).sum().backward()\n"
    )
    assert told(traced(cell, library))["x"] == [
        ("deposit", "[2. 4.]", "[2. 4.]", False),
        ("deposit", "[2. 4.]", "[4. 8.]", True),
        ("hook", None, "[8. 16.]", False),
        ("deposit", "[2. 4.]", "[10. 20.]", False),
        ("hook", None, "None", False),
    ]


def test_retained_and_asked_for(library):
    cell = "x = torch.tensor(2.0, requires_grad=True)\ny = x * 3\nz = y * y\n"
    kept = traced(cell + "y.retain_grad()\nz.backward(retain_graph=True)\nz.backward()\n", library)
    assert told(kept)["y"] == [("retained", "12.", "12.", False), ("retained", "12.", "24.", True)]
    asked = traced(cell + "z.backward(inputs=[y])\n", library)
    assert told(asked) == {"y": [("retained", "12.", "12.", False)]}


def test_what_nobody_recorded_is_said_to_be_so(library):
    cell = START + (
        "def inner(g):\n"
        "    with torch.enable_grad():\n"
        "        (x * 5).sum().backward()\n"
        "y = x * x\n"
        "y.register_hook(inner)\n"
        "y.sum().backward()\n"
    )
    entries = told(traced(cell, library))["x"]
    assert entries[-1][:3] == ("deposit", "[2. 4.]", "[9. 13.]")
    assert ("unseen", None, "[7. 9.]", False) in entries


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


def test_a_variable_that_is_another_tensor_now(library):
    """The gradient of what a variable was does not stand under its name: that one's is None."""
    cell = "x = torch.tensor(3.0, requires_grad=True)\n(x ** 2).backward()\nx = x - 0.1 * x.grad\n"
    ran = run(cell + "(x ** 2).backward()\nprint(x.grad)\n", library)
    assert ran.printed == "None\n" and list(told(ran.trace)) == ["x₁"]


# ── shown ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.quick
def test_text_of_code_7(library):
    shown = Report(traced(CELLS[7], library), lang="en").text(graph=False, table=False)
    assert shown.splitlines()[0] == "Ledger of .grad"
    first, second = shown.splitlines()[2:4]
    assert first.startswith("x.grad    backward 1 stores 0.6 ")
    assert "backward 2 adds 0.6; it was not reset before  0.6 + 0.6 = 1.2" in second
    assert shown.endswith("x.grad = None or x.grad.zero_().")


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


def test_a_reset_is_a_step(library):
    report = Report(traced(CELLS[8], library), lang="en")
    frames = [frame for act in report.acts for frame in act.frames if frame.text == "x.grad: set to 0"]
    assert len(frames) == 1, "between the two calls, on one timeline"
    assert frames[0].span is not None and frames[0].marks[-1].endswith("-c0")


def test_a_hook_of_an_accumulategrad_that_is_given_no_gradients(library):
    cell = (
        "x = torch.tensor(2.0, requires_grad=True)\ny = x * 3\n"
        "y.grad_fn.next_functions[0][0].register_hook(lambda sent, received: None)\ny.backward()\n"
    )
    report = Report(traced(cell, library), lang="en")
    assert report.ledger.text() and report.html()
