"""Cells under the magic in a real shell, with both libraries: what stands in the golden files is what one
sees, and what stands only on the page. Line 1 of each cell is that of the magic."""

from __future__ import annotations

import re

import pytest
from cells import CELLS, traced
from displayed import Shown, run, show
from golden import cells_of
from shells import Shell

import minigrad_viz
from minigrad_viz.model.schedule import STOPPED
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.graph import GUILTY

X = "x = torch.tensor(5.0, requires_grad=True)\n"
TOPICS = ("teaching", "errors", "calls", "backward")
GOLDEN = {f"{topic}: {each.title}": each for topic in TOPICS for each in cells_of(topic)}


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """One shell for all cells; each forgets the one before."""
    with Shell(tmp_path_factory.mktemp("ipython")) as shell:
        yield shell


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", GOLDEN)
def test_a_learner_sees_what_was_recorded(shell, library, name):
    """The error is the same as without a watcher; what is explained of it stands below the picture."""
    source = GOLDEN[name].source
    alone = run(shell, "#\n" + source, library).failed
    library.manual_seed(0)
    shown = show(shell, source, library)
    assert shown.ran.failed == alone and not shown.report.problem
    library.manual_seed(0)
    recorded = Report(traced("#\n" + source, library), lang="en")
    assert shown.report.explained == recorded.explained and shown.report.text() == recorded.text()
    assert shown.report.text() in shown.text
    if shown.report.explained:
        word_for_word(shown)
    marked(shown)


def word_for_word(shown: Shown) -> None:
    """The error stands first and is what it is without a watcher; then why, and then fix."""
    told = shown.report.explained[-1]
    if told.error:
        assert told.error == shown.ran.failed.strip() and f"error: {told.error}\n" in shown.text + "\n"
        assert "error" not in shown.panel, "its traceback stands above"
        assert shown.ran.failed.split("\n")[0] in shown.ran.printed, "the traceback is what it always was"
    else:
        assert not shown.ran.failed and "error" not in shown.panel
    why = "why" if told.error else "note"
    assert shown.panel.get(why, "") == told.why and shown.panel.get("fix", "") == told.fix
    names = dict.fromkeys(("error" if told.error else why, why, "fix"))
    order = [shown.text.index(f"{name}: ") for name in names if f"{name}: " in shown.text]
    assert order == sorted(order)


def marked(shown: Shown) -> None:
    """The picture has the classes and the labels of all marks."""
    graph, classes = shown.report.graph, shown.classes() if shown.svg else {}
    at = {f"{station.id}-c0" for station, card in graph.cards() if card.id == STOPPED}
    for mark in graph.marks:
        if mark.part in at:  # tests/viewer/test_stopped.py
            continue
        assert ("error" if mark.kind == GUILTY else "cause") in classes[mark.part], mark
        assert mark.label in shown.said() or mark.label in shown.svg, mark


@pytest.fixture
def cell(shell, library):
    """Runs a cell under the magic, with the library as `torch`; nothing went wrong on our side."""

    def run(source: str, options: str = "--no-table") -> Shown:
        shown = show(shell, source, library, options)
        assert not shown.report.problem and "could not" not in shown.ran.complained
        return shown

    return run


def plain(told: str) -> str:
    """Text with the names of nodes as PyTorch 1.4 has them."""
    return re.sub(r"(Log|Exp|Sqrt|Clone)Backward0", r"\1Backward", told)


def test_the_gradient_argument(cell):
    """v at the root, vᵀJ at the leaf, both as matrices; the same as `(v * y).sum().backward()`."""
    source = "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x * x\n"
    shown = cell(source + "y.backward(gradient=torch.tensor([1.0, 10.0]))\n")
    assert "the same as (v * y).sum().backward()" in shown.panel["note"]
    assert "vᵀ" in shown.text and "= vᵀJ, added to x.grad" in shown.text
    assert re.search(r"y\[0\] \[ +2\. +0\. +\]", shown.text)
    matrices = re.findall(r"<caption>(.*?)</caption>.*?</table>", shown.page)
    assert matrices[0] == "vᵀ" and "J = ∂y/∂x" in matrices[1] and "vᵀJ" in matrices[2]
    same = cell(source + "v = torch.tensor([1.0, 10.0])\n(v * y).sum().backward()\n")
    assert "[2. 40.]" in shown.text and "[2. 40.]" in same.text


def test_leaf_by_convention(cell):
    """Leaf ⇔ grad_fn is None, also for tensors that need no gradient."""
    source = X + "c = torch.tensor(2.0)\nwith torch.no_grad():\n    d = c * 2\ny = x * d\ny.backward()\n"
    shown = cell(source, "--detail full")
    lines = {line.split()[0]: line for line in shown.text.split("\n") if "is_leaf" in line}
    assert all("is_leaf: True" in lines[name] for name in "xcd") and "is_leaf: False" in lines["y"]
    assert "requires_grad: False" in lines["d"] and "requires_grad: True" in lines["x"]
    table = show_table(cell(source, ""))
    assert {name: (values["is_leaf"], values["grad_fn"]) for name, values in table.items()} == {
        "x": ("True", "None"), "c": ("True", "None"), "d": ("True", "None"), "y": ("False", "MulBackward0"),
    }  # fmt: skip


def show_table(shown: Shown) -> dict[str, dict[str, str]]:
    """The last column of the state table, by tensor and attribute."""
    table: dict[str, dict[str, str]] = {}
    for name, attribute, value in re.findall(r"^(\S*) +(\w+) .* (\S+)$", shown.text, re.M):
        if attribute in ("is_leaf", "grad_fn", "value"):
            table[name or list(table)[-1]] = {**table.get(name or list(table)[-1], {}), attribute: value}
    return {name: values for name, values in table.items() if "is_leaf" in values}


def test_hooks(cell):
    """Numbered marks on the arrow, before → after; `return None` and `remove()` too."""
    source = (
        X + "y = x ** 3\nhook = y.register_hook(lambda g: g * 2)\nnothing = y.register_hook(lambda g: None)\n"
        "z = torch.log(y)\nz.backward(retain_graph=True)\nhook.remove()\nz.backward()\n"
    )
    once = cell(source.partition("(retain")[0] + "()\n")
    assert "0.008\n→ 0.016" in once.said() and "1. hook: 0.008 → 0.016" in once.svg
    assert "2. hook: returned None: 0.016 is passed on" in once.svg
    both = cell(source, "--no-table --steps")
    assert "1. hook: returned None: 0.008 is passed on" in both.text
    assert "2. hook: removed, so it did not run" in both.text and "the hook of y is removed" in both.text


def test_gradcheck_mismatch(cell):
    """Numerical, analytical and difference as matrices, the wrong cell marked; float32 is not enough."""
    shown = cell(CELLS[21])
    assert "Jacobian mismatch for output 0 with respect to input 0" in shown.ran.failed
    captions = re.findall(r"<caption>(.*?)</caption>", shown.page)
    assert [c.split(" (")[-1].rstrip(")") for c in captions[:3]] == ["analytical", "numerical", "difference"]
    assert re.findall(r'<td class="w">(.*?)</td>', shown.page)[:3] == ["✗ 25.", "✗ 75.", "✗ -50."]
    assert "(line 12)" in shown.panel["fix"] and "MyPow.backward" in shown.panel["fix"]
    single = cell(X + "torch.autograd.gradcheck(lambda x: x * 2, (x,), eps=0.1, atol=1.0)\n")
    assert "x is float32" in single.panel["note"] and "float64" in single.panel["fix"]


def test_what_is_the_digit(cell):
    """On hover: which overload."""
    shown = cell(X + "y = x * 2\nz = y * x\nz.backward()\n")
    tips = [tip for tip in re.findall(r"<title>([^<]*)", shown.svg) if tip.startswith("MulBackward0")]
    assert [tip.split("\n")[1] for tip in tips] == [
        "called as: tensor * number",
        "called as: tensor * tensor",
    ]
    power = cell("q = torch.tensor(3.0)\n" + X + "y = x ** 3 + x ** q\ny.backward()\n")
    assert "PowBackward1\ncalled as: tensor ** tensor" in power.svg
    assert "PowBackward0\ncalled as: tensor ** number" in power.svg


def test_in_what_order_nodes_run(cell):
    """Exactly the library's: ready, newest first, AccumulateGrad at once."""
    source = CELLS[9].replace("z.backward()", "").rstrip() + (
        "\norder = []\nfor node in (z.grad_fn, *(n for n, _ in z.grad_fn.next_functions)):\n"
        "    node.register_hook(lambda i, o, node=node: order.append(node.name()))\nz.backward()\n"
    )
    shown = cell(source, "--no-table --steps")
    ran = [plain(name) for name in re.findall(r"backward \d+ of \d+ +(\w+)", shown.text)]
    assert ran == [
        "AddBackward0", "SqrtBackward", "LogBackward", "PowBackward0", "PowBackward0", "AccumulateGrad",
    ]  # fmt: skip
    assert [plain(name) for name in dict(shown.ran.variables)["order"]] == ran[:3], (
        "as the library's hooks saw"
    )
    assert shown.text.index("PowBackward0 at w receives") < shown.text.index("PowBackward0 at y receives")


def test_a_new_leaf_is_told_of_when_asked(cell):
    shown = cell(X + "with torch.no_grad():\n    loss = x * 2\nloss.requires_grad = True\nloss.backward()\n")
    told = minigrad_viz.why_none(dict(shown.ran.variables)["x"]).sentence
    assert told and "\n" not in told and "loss" in told, "it is said in one sentence"
