"""What learners get wrong, and what they are shown at that moment: one test for each confusion, in a real
shell, with both libraries. Line 1 of each cell is that of the magic."""

from __future__ import annotations

import re

import pytest
from cells import CELLS, CUBE
from displayed import Shown, described, show
from shells import Shell

import minigrad_viz

X = "x = torch.tensor(5.0, requires_grad=True)\n"
TWICE = "RuntimeError: Trying to backward through the graph a second time"


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """One shell for all cells; each forgets the one before."""
    with Shell(tmp_path_factory.mktemp("ipython")) as shell:
        yield shell


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


def marks(shown: Shown) -> dict[str, set[str]]:
    """The labels of the marked parts of the picture, by the part in words; the picture has their classes."""
    graph, found = shown.report.graph, dict[str, set[str]]()
    for mark in graph.marks:
        assert {"error", "cause"} & shown.classes()[mark.part]
        found.setdefault(plain(described(graph, mark.part)), set()).add(mark.label)
    return found


def test_why_a_topological_order(cell):
    """A naive depth-first walk runs a shared node twice and adds wrong numbers; the queue waits."""
    source = "x = torch.tensor(2.0, requires_grad=True)\ny = x * x\nz = y * 3 + y * 5\nz.backward()\n"
    shown = cell(source, "--steps")
    assert "plain recursion would run MulBackward0 2 times" in shown.text
    assert re.search(r"arrived +y has received 5\. and waits for 1 more gradient", shown.text)
    assert "x would get 44. instead of 32." in shown.report.recursion


def test_backward_a_second_time(cell):
    """The freed nodes are drawn empty; which call freed what, and which needs it again."""
    shown = cell(CELLS[6])
    assert shown.ran.failed.startswith(TWICE) and "error" not in shown.panel
    assert marks(shown) == {
        "LogBackward of z": {"stopped here"}, "self in LogBackward of z": {"freed by line 5"},
    }  # fmt: skip
    assert {"chip", "freed"} <= shown.classes()["s1-k1"] and "stopped here" in shown.said()
    assert plain(shown.panel["why"]) == (
        "z.backward() (line 5) freed the values that LogBackward at z had saved, but z.backward() (line 6) "
        "needs them again."
    )


def test_backward_a_second_time_in_a_loop(cell):
    """Which tensor was built once and reused; `retain_graph` only for a graph that is really reused."""
    shown = cell(X + "y = x ** 3\nfor i in range(2):\n    z = torch.log(y)\n    z.backward()\n")
    assert "y was computed once, by x ** 3 (line 3)" in shown.panel["why"]
    assert shown.panel["fix"] == (
        "In a loop, compute y again in every iteration. Only if you really reuse the graph: "
        "retain_graph=True."
    )
    assert "PowBackward0 of y" in marks(shown)


def test_why_an_addition_survives_two_backwards(cell):
    """AddBackward0 saved nothing, so nothing was freed."""
    shown = cell(X + "y = x + 1\ny.backward()\ny.backward()\n", "--memory")
    assert not shown.ran.failed and "x   5.   leaf   grad 2. = 1. + 1." in shown.text
    assert re.search(r"^AddBackward0 +y +nothing +0 +0 +0$", shown.text, re.M)
    assert not any("k" in part for part in shown.classes() if part.startswith("s1-")), "no chip"


def test_modified_by_an_inplace_operation(cell):
    """The chip at version 0, the tensor at version 1, and the line that changed it."""
    shown = cell(X + "y = torch.exp(x)\nz = y * 2\ny += 1\nz.backward()\n")
    assert "v0→1" in shown.said() and "changed by line 5" in shown.said()
    assert marks(shown)["result in ExpBackward of y₁"] is not None
    assert "saved y₁ at version 0. Then y += 1 (line 5) modified it in place" in shown.panel["why"]
    assert shown.report.explained[-1].cause.line == 5 and "`y = y + 1`" in shown.panel["fix"]


def test_a_leaf_changed_in_place(cell):
    shown = cell(X + "x -= 0.1\n")
    assert "a leaf Variable that requires grad" in shown.ran.failed
    assert "`with torch.no_grad(): x -= 0.1`" in shown.panel["fix"] and "card x" in marks(shown)


def test_grad_is_none_on_a_result(cell):
    """The gradient at the arrow alone, and `retain_grad()`."""
    shown = cell(CUBE + "z.backward()\nprint(y.grad)\n")
    assert "y = x ** 3   125.   ! not kept   grad (0.008, not kept)" in shown.text
    assert re.search(r"g\w+-r\d-p.*?0\.008", shown.svg) and not re.search(r"<text[^>]*>\(0\.008", shown.svg)
    assert "y.retain_grad()" in shown.panel["fix"] and "it was not kept" in shown.panel["note"]
    late = cell(CUBE + "z.backward()\ny.retain_grad()\nprint(y.grad)\n")
    assert late.panel["note"] == (
        "y.grad is None because z.backward() (line 5) had already computed the gradient 0.008 when "
        "y.retain_grad() was called."
    )
    kept = cell(CUBE + "y.retain_grad()\nz.backward()\nprint(y.grad)\n")
    assert not kept.panel and "125.   grad 0.008\n" in kept.text


CUTS = {
    "detach": "y = x.detach() * 2",
    "numpy": "y = torch.tensor(x.detach().numpy()) * 2",
    "item": "y = torch.tensor(x.item()) * 2",
    "tensor": "y = torch.tensor(x) * 2",
    "integer": "y = (x > 0) * 1.0",
    "no_grad": "with torch.no_grad():\n    y = x * 2",
}


@pytest.mark.parametrize("how", CUTS)
def test_no_grad_fn(cell, how):
    """Where the path was cut; never "fixed" by `requires_grad = True`."""
    shown = cell(f"{X}{CUTS[how]}\nz = y + 1\nz.backward()\n")
    said = "element 0 of tensors does not require grad and does not have a grad_fn"
    assert shown.ran.failed == f"RuntimeError: {said}"
    line = 4 if how == "no_grad" else 3
    assert f"(line {line})" in shown.panel["why"] and shown.report.explained[-1].cause.line == line
    assert "z.requires_grad = True would not help: it makes z a new leaf" in shown.panel["fix"]
    found = marks(shown)
    assert found["card z"] == {"no graph"}
    assert [label for part, label in found.items() if part.startswith("x → ")] == [{"cut here"}]
    assert any("cut" in classes for classes in shown.classes().values()), "the scissors"
    assert "✂ x: " in shown.text


def test_a_computed_value_made_a_leaf_is_a_silent_mistake(cell):
    shown = cell(X + "with torch.no_grad():\n    loss = x * 2\nloss.requires_grad = True\nloss.backward()\n")
    assert not shown.ran.failed and "no gradient reaches x" in shown.panel["note"]
    assert "became a new leaf" in shown.panel["note"] and "(line 5)" in shown.panel["note"]
    assert marks(shown)["card loss"] == {"a new leaf"}
    told = minigrad_viz.why_none(dict(shown.ran.variables)["x"]).sentence
    assert told and "\n" not in told and "loss" in told, "asked for, it is said in one sentence"


def test_gradients_accumulate(cell):
    """The ledger, the second deposit marked."""
    shown = cell(CELLS[7])
    assert re.search(r"x\.grad +backward 1 stores 0\.6 +0\.6 +line 5", shown.text)
    assert re.search(
        r"backward 2 adds 0\.6; it was not reset before +0\.6 \+ 0\.6 = 1\.2 +line 6", shown.text
    )
    assert "0.6 + 0.6 = 1.2" in shown.page and "grad\n1.2\n" in shown.said()
    assert "0.6\n+\n0.6\n" in shown.said(), "what AccumulateGrad found and what came in"
    reset = cell(CELLS[8])
    assert "it was not reset before" not in reset.text and "line 6" in reset.text


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


def test_detach_no_grad_requires_grad_clone(cell):
    """The same expression drawn each way: scissors, fog, shared storage."""
    shown = cell(
        X + "a = x * 2\nb = (x * 2).detach()\nwith torch.no_grad():\n    c = x * 2\n"
        "d = (x * 2).detach().requires_grad_()\ne = x.clone()\nz = a + b + c + d + e\nz.backward()\n",
        "--no-table --steps",
    )
    classes = [name for names in shown.classes().values() for name in names]
    assert classes.count("cut") == 3 and classes.count("fog") == 1
    said = shown.said()
    assert said.count("memory of x * 2") == 2 and "(MulBackward0)" in said and "no_grad: not recorded" in said
    (line,) = [line for line in shown.text.split("\n") if re.match(r"d\b.* 10\. +leaf", line)]
    assert "[B] memory of x * 2" in line and "grad 1." in line
    assert "e = x.clone()   5.   grad (1., not kept)" in shown.text
    assert "x.clone() computes e = 5.: it has its own memory, and gradients flow back to x" in shown.text
    assert "d is now a leaf that requires gradients" in shown.text
    assert "(otherwise MulBackward0)" in shown.text


def test_retain_graph_or_create_graph(cell):
    """The graph of the gradient in a frame of its own, fed by the first; `.grad` accumulates there too."""
    shown = cell(CUBE + "z.backward(create_graph=True)\nc = x.grad.clone()\nc.backward()\n")
    frame = "graph of the gradient, built by create_graph=True"
    assert (
        f"[{frame}]" in shown.text and frame in shown.said() and "[graph of the forward pass]" in shown.text
    )
    assert {station.order for station in shown.report.graph.stations} == {1, 2}
    orders = {station.id: station.order for station in shown.report.graph.stations}
    fed = [r for r in shown.report.graph.routes if orders[r.source] == 1 and orders[r.target] == 2]
    assert fed, "the second graph uses tensors of the first"
    assert "x   5.   leaf   grad 0.48 = 0.6 + -0.36 + 0.24" in shown.text
    clean = cell(CELLS[18])
    assert "x   5.   leaf   requested   grad 0.6" in clean.text, "autograd.grad adds to no .grad"


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


def test_why_has_the_gradient_another_shape(cell):
    """The implicit sum over the broadcast dimension, as a step."""
    shown = cell(
        "a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)\n"
        "b = torch.tensor([10.0, 20.0], requires_grad=True)\nz = (a * b).sum()\nz.backward()\n",
        "--no-table --steps",
    )
    assert (
        "broadcast  b has shape (2,), c has (2, 2): the 2 products are summed to the shape of b: "
        "[1 2] + [3 4] = [4 6]"
    ) in shown.text


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
