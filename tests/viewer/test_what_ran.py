"""What is explained of code that did not run, and of names that nobody wrote: nothing. In both libraries."""

from __future__ import annotations

import ast
import textwrap
from typing import NamedTuple

import pytest
from cells import traced
from staged import explanations_of

from minigrad_viz.model.execution import Execution
from minigrad_viz.steps.forward import aside_of
from minigrad_viz.trace.source_positions import SourceText

SETUP = """\
nn, optim = torch.nn, torch.optim
torch.manual_seed(0)
w = torch.tensor(1.0, requires_grad=True)
v = torch.tensor(1.0, requires_grad=True)
opt = optim.SGD([w], lr=0.1)
def learn():
    opt.zero_grad()
    loss = (w * 2 - 3) ** 2
    loss.backward()
    opt.step()
"""


class Sample(NamedTuple):
    """What would be wrong if it ran; a cell in which that ran, and a part of what is said of it."""

    wrong: str
    ran: str
    said: str


NOT_RUN = {
    "uncalled function": "def later():\n    {}\n",
    "false if": "if not opt:\n    {}\n",
    "else": "if opt:\n    pass\nelse:\n    {}\n",
    "after return": "def early():\n    return 1\n    {}\nearly()\n",
    "after a conditional return": "def early(n):\n    if n:\n        return 1\n    {}\nearly(1)\n",
    "method that is not called": "class Trainer:\n    def fit(self):\n        {}\nTrainer()\n",
    "class without an object": "class Trainer:\n    def __init__(self):\n        {}\n",
    "except": "try:\n    n = 1\nexcept ValueError:\n    {}\n",
    "after a raise": "def risky():\n    check()\n    {}\ndef check():\n    raise ValueError\n"
    "try:\n    risky()\nexcept ValueError:\n    pass\n",
    "suppressed": "import contextlib\nwith contextlib.suppress(ValueError):\n    int('x')\n    {}\n",
    "loop without iterations": "for _ in range(0):\n    {}\n",
    "after break": "for _ in range(2):\n    if opt:\n        break\n    {}\n",
    "generator that nobody asks": "def numbers():\n    {}\n    yield 1\nnumbers()\n",
    "match": "match 1:\n    case 2:\n        {}\n",
}
RAN = {
    "top level": "{}\n",
    "called function": "def now():\n    {}\nnow()\n",
    "function of a function": "def now():\n    {}\ndef outer():\n    n = 1\n    now()\nouter()\n",
    "with": "with torch.enable_grad():\n    {}\n",
    "constructor": "class Trainer:\n    def __init__(self):\n        {}\nTrainer()\n",
    "finally": "try:\n    n = 1\nfinally:\n    {}\n",
    "before a return": "def early():\n    {}\n    return 1\nearly()\n",
}
AFTER = "learn()\n"


def said(cell: str, library) -> str:
    """All that is said of a cell."""
    found = explanations_of(traced(SETUP + cell, library), "en")
    return "\n".join(f"{each.key}: {each.why} {each.fix}" for each in found)


@pytest.mark.parametrize("around", NOT_RUN.values(), ids=NOT_RUN)
def test_a_method_that_is_only_named_where_nothing_ran(library, around):
    assert "not_called" not in said(around.format("opt.step") + AFTER, library)


@pytest.mark.parametrize("around", RAN.values(), ids=RAN)
def test_a_method_that_is_only_named_where_it_ran(library, around):
    assert "not_called: opt.step (line" in said(around.format("opt.step") + AFTER, library)


def test_events_tell_that_a_branch_ran(library):
    cell = (
        "if w > 0:\n    loss = (w * 2).sum()\n    loss.backward()\n    opt.step\nelse:\n    opt.zero_grad\n"
    )
    told = said(cell, library)
    assert "opt.step (line 14)" in told and "zero_grad" not in told


# ── other rules: what they blame stands in code that did not run (at `{}`), or did ──────────────────────────

BLAMED = {
    "other_parameters": Sample(
        "other = optim.SGD([v], lr=0.1)\n    other.step()",
        "other = optim.SGD([v], lr=0.1)\n(w * 2).backward()\nother.step()\n",
        "other was given [v]",
    ),
    "no_step": Sample(
        "other = optim.SGD([w], lr=0.1)\n    other.zero_grad()",
        "other = optim.SGD([w], lr=0.1)\nfor _ in range(2):\n    other.zero_grad()\n    (w * 2).backward()\n",
        "Nothing calls other.step()",
    ),
}
TWICE = "for _ in range(2):\n    w.grad = None\n    loss = (w * 2 - 3) ** 2\n    loss.backward()\n"


@pytest.mark.parametrize("key", BLAMED)
def test_an_optimizer_of_code_that_did_not_run(library, key):
    for around in (NOT_RUN["uncalled function"], NOT_RUN["false if"]):
        assert key not in said(around.format(BLAMED[key].wrong) + TWICE, library)
    assert BLAMED[key].said in said(BLAMED[key].ran, library)


MODEL = """\
model = nn.Linear(1, 1)
other = optim.SGD(model.parameters(), lr={rate})
{again}
for _ in range(2):
    other.zero_grad()
    loss = model(torch.ones(1, 1)).sum()
    loss.backward()
    other.step()
"""


def test_a_model_that_was_not_created_again(library):
    again = "resume = False\nif resume:\n    model = nn.Linear(1, 1)"
    assert "stale_optimizer" not in said(MODEL.format(rate=0.0, again=again), library)
    assert "stale_optimizer" in said(MODEL.format(rate=0.1, again="model = nn.Linear(1, 1)"), library)


def test_the_reset_is_not_that_of_an_optimizer_that_was_not_created(library):
    rounds = (
        "for _ in range(3):\n    (w ** 2).backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n"
    )
    told = said(
        NOT_RUN["uncalled function"].format("x = optim.SGD([w], lr=1)\n    x.step()") + rounds, library
    )
    assert "Reset the gradient before each backward(): `w.grad = None`" in told


WITH_FC = (
    "class A(nn.Module):\n    def __init__(self):\n"
    "        super().__init__()\n        self.fc = nn.Linear(3, 1)\n"
)
ERRORS = {  # cells that fail, what is not said of them, and what is said where the blamed part ran
    "an assignment of a function": (
        "h = dict().get('h')\n", "def reset():\n    h = None\n", "w * h\n", "`h = None`", "h = None\n",
    ),
    "a number of a function": (
        "total = 3.0\n", "def report(total):\n    total = w * 2\n    total = total.item()\n",
        "total.backward()\n", "total.item()", "total = w * 2\ntotal = total.item()\n",
    ),
    "a division of a function": (
        "n = float(2)\n", "def halves():\n    n = 3 / 2\n", "torch.ones(n)\n", "3 // 2", "n = 3 / 2\n",
    ),
    "an else": (
        "", "if opt:\n    k = dict().get('k')\nelse:\n    k = print()\n", "w * k\n", "print()",
        "k = print()\n",
    ),
    "a method of another class": (
        "from random import seed\n", "class Helper:\n    def seed(self):\n        n = 1\n", "w * seed(1)\n",
        "no return statement", "def seed(n):\n    n = 1\n",
    ),
    "layers of a class without objects": (
        "net = nn.Module()\n", "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = [nn.Linear(2, 2)]\n", "optim.SGD(net.parameters(), lr=0.1)\n", "Python list",
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = [nn.Linear(2, 2)]\nnet = Net()\n",
    ),
    "the constructor of another layer": (
        "sizes = [3, 1]\nnet = nn.Linear(*sizes)\n", "def other():\n    return nn.Linear(3, 1)\n",
        "net(torch.ones(2, 4))\n", "write `nn.Linear(4, 1)`", "net = nn.Linear(3, 1)\n",
    ),
    "an attribute of another class": (
        "net = nn.Module()\nsetattr(net, 'fc', nn.Linear(*[3, 1]))\n",
        WITH_FC,
        "net.fc(torch.ones(2, 4))\n", "write `nn.Linear(4, 1)`",
        WITH_FC + "net = A()\n",
    ),
    "a loss of a function": (
        "crit = nn.MSELoss()\n", "def lossy():\n    crit = nn.MSELoss(w, w)\n", "crit.backward()\n",
        "creates a loss object", "crit = nn.MSELoss(w, w)\n",
    ),
    "a function that freezes": (
        "m = nn.Linear(1, 1)\nm.weight.requires_grad = False\nm.bias.requires_grad = False\n",
        "def freeze(m):\n    m.weight.requires_grad_(False)\n",
        "m(torch.ones(1, 1)).sum().backward()\n", "requires_grad_(False) (line",
        "m = nn.Linear(1, 1)\nfor p in m.parameters():\n    p.requires_grad_(False)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_not_explained_by_what_did_not_run(library, name):
    before, not_run, fails, blamed, ran = ERRORS[name]
    assert blamed not in said(before + not_run + fails, library)
    assert blamed in said(ran + fails, library)


# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────

UNNAMED = """\
def value():
    s = torch.tensor(3.0, requires_grad=True)
    return (s * torch.tensor(2.0, requires_grad=True) - 1) ** 2
other = optim.SGD([v], lr=0.1)
for _ in range(2):
    other.zero_grad()
    loss = value()
    loss.backward()
    other.step()
"""
KEPT = """\
def leaves():
    return [torch.tensor(1.0, requires_grad=True)]
keep = leaves()
for _ in range(3):
    for p in keep:
        loss = (p - 3) ** 2
        loss.backward()
        with torch.no_grad():
            p -= 0.1 * p.grad
del p, keep, loss
"""


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_code_has_only_names_of_the_reader(library, lang):
    for cell in (UNNAMED, KEPT):
        found = explanations_of(traced(SETUP + cell, library), lang)
        code = [text for each in found for text in (each.why + each.fix).split("`")[1::2]]
        assert found and not any(
            bad in text for text in code for bad in ("SGD([", "tensor(", "결과", "result")
        )


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


def test_an_optimizer_that_was_given_an_empty_list(library):
    cell = WITH_FC.replace("nn.Linear(3, 1)", "[nn.Linear(3, 1)]") + "net = A()\noptim.SGD([], lr=0.1)\n"
    assert "Python list" not in said(cell, library)


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
