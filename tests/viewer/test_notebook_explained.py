"""A cell of a notebook is explained with what earlier cells did: places are named as `In [1], line 3`, and
the code that a fix shows cures the notebook."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

import pytest
from shells import Shell

import minigrad
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.shell.explain import last
from minigrad_viz.shell.session import Session
from minigrad_viz.trace.events import GradAccumulated

W = "w = torch.tensor(3.0, requires_grad=True)\n"
TRAINING = "loss = (v - 3) ** 2\nloss.backward()\nopt.step()\n"


class Notebook(NamedTuple):
    """Cells, of which the last is explained: the key, what the sentences must name, what the fix must say,
    and the text of a cell with what cures it (None: nothing is tried)."""

    cells: tuple[str, ...]
    key: str
    why: tuple[str, ...]
    fix: str
    cure: tuple[int, str, str] | None


NOTEBOOKS = {
    "a write between": Notebook(
        ("a = torch.tensor([1.0, 2.0], requires_grad=True)\nc = (a * 2).exp()\n",
         "c += 1\n", "c.sum().backward()\n"),
        "saved_modified", ("c += 1 (In [2], line 2)",), "`c = c + 1`", (1, "c += 1", "c = c + 1"),
    ),
    "a cut": Notebook(
        (W + "z = (w * 2).detach()\n", "loss = (z - 1) ** 2\nloss.backward()\n"),
        "no_grad_fn", ("(In [1], line 3)", "computed from z"), "Remove the detach()", (0, ".detach()", ""),
    ),
    "a leaf that was lost": Notebook(
        (W + "w = w * 1.0\n", "(w ** 2).backward()\ng = w.grad\n"),
        "non_leaf_grad", ("`w = w * 1.0` (In [1], line 3)",), "another name", None,
    ),
    "no flag": Notebook(
        ("k = torch.tensor(2.0)\n", "(k ** 2).backward()\n"),
        "no_grad_fn", ("computed from k",), "requires_grad=True)` (In [1], line 2)",
        (0, "tensor(2.0)", "tensor(2.0, requires_grad=True)"),
    ),
    "no reset": Notebook(
        ("v = torch.tensor(1.0, requires_grad=True)\nopt = torch.optim.SGD([v], lr=0.1)\n",
         TRAINING, TRAINING),
        "kept_gradient", ("loss.backward() (line 3)", "v was updated"), "`opt.zero_grad()`", None,
    ),
    "a second backward": Notebook(
        (W + "y = w ** 3\n", "y.backward()\n", "y.backward()\n"),
        "second_backward", ("(In [2], line 2)",), "retain_graph=True",
        (1, "backward()", "backward(retain_graph=True)"),
    ),
    "a view of no_grad": Notebook(
        ("base = torch.ones(3, requires_grad=True) * 1\nwith torch.no_grad():\n    part = base[:2]\n",
         "part.mul_(3)\n"),
        "view_of_no_grad", ("no_grad() at base[:2] (In [1], line 4)",), "inside no_grad()",
        (1, "part.mul_(3)", "part = part * 3"),
    ),
    "the mode left off": Notebook(
        ("w = torch.tensor(3.0, requires_grad=True)\nold = torch.set_grad_enabled(False).prev\n"
         "z = w * 2\ntorch.set_grad_enabled(old)\n", "(z * 2).backward()\n"),
        "no_grad_fn", ("set_grad_enabled(False) (In [1], line 3)",), "outside", None,
    ),
    "after a cell that failed": Notebook(
        ("x = torch.ones(2, 3)\nx @ x\n", "w = torch.ones(3, 4)\ny = w @ x\n"),
        "matrix_sizes", ("line 3",), "`", (1, "w @ x", "x @ w"),
    ),
    "a branch that is not taken": Notebook(
        ("u = torch.tensor([-2.0, 9.0], requires_grad=True)\n", "y = torch.where(u > 0, torch.sqrt(u), u)\n",
         "y.sum().backward()\n"),
        "first_nan", ("sqrt(u) (In [2], line 2)", "does not take this branch"), "torch.where(u > 0, u, 1.0)",
        None,
    ),
    "a layer in place": Notebook(
        ("h = torch.sigmoid(torch.ones(2, requires_grad=True))\n",
         "act = torch.nn.ReLU(inplace=True)\nk = act(h)\n", "k.sum().backward()\n"),
        "saved_modified", ("act (ReLU) modified it in place in act(h) (In [2], line 3)",), "inplace=False",
        (1, "inplace=True", "inplace=False"),
    ),
    "a function in place": Notebook(
        ("h = torch.sigmoid(torch.ones(2, requires_grad=True))\n",
         "k = torch.nn.functional.relu(h, inplace=True)\nk.sum().backward()\n"),
        "saved_modified", ("(line 2)",), "`k = torch.nn.functional.relu(h)`", (1, ", inplace=True", ""),
    ),
    "a gradient that is read in a cell of its own": Notebook(
        (W + "w = w * 1.0\n", "(w ** 2).backward()\n", "print(w.grad)\n"),
        "non_leaf_grad", ("`w = w * 1.0` (In [1], line 3)",), "another name", None,
    ),
    "each statement in its own cell": Notebook(
        ("v = torch.tensor(1.0, requires_grad=True)\nopt = torch.optim.SGD([v], lr=0.1)\n",
         *TRAINING.splitlines(True), *TRAINING.splitlines(True)),
        "kept_gradient", ("loss.backward() (In [6], line 2)",), "`opt.zero_grad()`", None,
    ),
    "a misspelled flag": Notebook(
        ("net = torch.nn.Linear(2, 1)\nfor p in net.parameters():\n    p.require_grad = False\n",
         "net(torch.ones(1, 2)).sum().backward()\n"),
        "misspelled_flag", ("require_grad",), "`p.requires_grad = False`", None,
    ),
    "a list of layers": Notebook(
        ("class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
         "        self.parts = [torch.nn.Linear(2, 2)]\n    def forward(self, x):\n        return x\n",
         "opt = torch.optim.SGD(Net().parameters(), lr=0.1)\n"),
        "module_definition", ("`self.parts` (In [1], line 5)",), "ModuleList",
        (0, "[torch.nn.Linear(2, 2)]", "torch.nn.ModuleList([torch.nn.Linear(2, 2)])"),
    ),
}  # fmt: skip


def explained(cells, library, folder):
    """Run cells; what is explained of the last one, and its error."""
    with pytest.MonkeyPatch.context() as patch, Shell(folder) as shell:
        patch.setitem(sys.modules, "torch", library)
        for cell in cells:
            done = shell.run(f"%%autograd\n{cell}", {"torch": library}, library)
        return last().explained, done.failed


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_earlier_cell_is_named_and_the_fix_cures(library, tmp_path, name):
    row = NOTEBOOKS[name]
    told, failed = explained(row.cells, library, tmp_path)
    (one,) = [each for each in told if each.key == row.key]
    assert all(part in one.why for part in row.why), one.why
    assert row.fix in one.fix, one.fix
    if row.cure is not None:
        place, old, new = row.cure
        cured = list(row.cells)
        assert failed and cured[place].count(old) == 1
        cured[place] = cured[place].replace(old, new)
        assert explained(cured, library, tmp_path) == ((), "")


def test_nothing_is_told_again_of_an_earlier_cell(library, tmp_path):
    cells = (
        *NOTEBOOKS["no reset"].cells,
        "total = torch.tensor(1.0, requires_grad=True) * 2\ntotal.backward()\n",
    )
    assert explained(cells, library, tmp_path) == ((), "")


def test_an_earlier_mistake_is_not_told_of_another_optimizer(library, tmp_path):
    cells = (
        "a, b = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)\n",
        "opt = torch.optim.SGD(a.parameters(), lr=0.01)\nfor _ in range(3):\n    opt.zero_grad()\n"
        "    b(a(torch.ones(2, 1))).sum().backward()\n    opt.step()\n",
        "v = torch.tensor(1.0, requires_grad=True)\nopt = torch.optim.SGD([v], lr=0.1)\n",
        "(v * 2).backward()\n",
        "opt.step()\n",
    )
    assert [each.key for each in explained(cells[:2], library, tmp_path)[0]] == ["other_parameters"]
    assert explained(cells, library, tmp_path) == ((), "")


@pytest.mark.full
def test_a_fix_is_tried_with_the_cells_before(library, tmp_path):
    for cells in (row.cells for row in NOTEBOOKS.values()):
        told, _ = explained(cells, library, tmp_path)
        assert not [each.fix for each in told if "was not tried" in each.fix]


def test_of_the_cells_before_the_one_that_switched_a_mode_is_read(library):
    space: dict = {"torch": library, "__name__": "__main__"}
    session, sources = Session(), dict[str, str]()
    cells = (W, "torch.set_grad_enabled(False)\n", "a = 1\n", "z = w * 2\n")
    try:
        for k, source in enumerate(cells, 1):
            recorder = Recorder(source, space)
            session.begin(recorder)
            recorder.start()
            exec(compile(source, f"<cell {k} of a mode>", "exec"), space)
            joined = session.end(recorder, recorder.stop(), f"In [{k}]", dict(sources))
            sources[f"In [{k}]"] = source
    finally:
        library.set_grad_enabled(True)
    assert joined is not None and cells[1] in joined.trace.source and cells[2] not in joined.trace.source


@pytest.mark.sample(1)
def test_what_is_read_with_a_cell_does_not_grow(library):
    setup = (
        "net = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nX = torch.ones(4, 2)\n"
    )
    training = "for i in range(3):\n    opt.zero_grad()\n    net(X).sum().backward()\n    opt.step()\n"
    space: dict = {"torch": library, "__name__": "__main__"}
    session, sources, sizes = Session(), dict[str, str](), []
    for k in range(1, 46):
        source = f"{setup if k == 1 else training}# {k}\n"
        recorder = Recorder(source, space)
        session.begin(recorder)
        recorder.start()
        exec(compile(source, f"<cell {k} that is counted>", "exec"), space)
        joined = session.end(recorder, recorder.stop(), f"In [{k}]", dict(sources))
        sources[f"In [{k}]"] = source
        sizes.append(0 if joined is None else len(joined.trace.events))
        if joined is not None and k > 4:  # the weight is one tensor, made in the first cell
            made = [e.tensor for e in joined.trace.of(GradAccumulated)]
            assert len(set(made)) == 2
    assert 0 < sizes[1] < max(sizes) <= 1.1 * sizes[5]  # after six cells it is as large as after 45


SETUP = (
    "import torch\nc = torch.ones(2)\nw = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    "net = torch.nn.Linear(1, 1)\nh = w * 2\nwith torch.no_grad():\n    net.weight.fill_(3.0)\n"
    "def bump(t):\n    t += 1\n"
)
# What a cell does to a tensor of an earlier cell; an attribute in the table, before and after.
ONLY_WRITES = {
    "c += 1": ("c", "value", "[1. 1.]", "[2. 2.]"),
    "c[0] = 7": ("c", "value", "[1. 1.]", "[7. 1.]"),
    "c.copy_(torch.zeros(2))": ("c", "version", "0", "1"),
    "c.requires_grad = True": ("c", "requires_grad", "False", "True"),
    "bump(c)": ("c", "value", "[1. 1.]", "[2. 2.]"),
    "with torch.no_grad():\n    w.sub_(0.5)": ("w", "version", "0", "1"),
    "w.requires_grad_(False)": ("w", "requires_grad", "True", "False"),
    "w.grad = torch.ones(2)": ("w", "grad", "None", "[1. 1.]"),
    "w.data = torch.zeros(2)": ("w", "value", "[1. 2.]", "[0. 0.]"),
    "h.exp_()": ("h", "grad_fn", "MulBackward0", "ExpBackward0"),
    "h.detach_()": ("h", "grad_fn", "MulBackward0", "None"),
    "torch.nn.init.zeros_(net.weight)": ("net.weight", "value", "[[3.]]", "[[0.]]"),
    "for p in net.parameters():\n    p.requires_grad = False": (
        "net.weight",
        "requires_grad",
        "True",
        "False",
    ),
    "net.requires_grad_(False)": ("net.weight", "requires_grad", "True", "False"),
    "torch.nn.utils.vector_to_parameters(torch.zeros(2), net.parameters())": (
        "net.weight",
        "value",
        "[[3.]]",
        "[[0.]]",
    ),
}


@pytest.mark.parametrize("cell", ONLY_WRITES)
def test_a_cell_that_only_writes_shows_it(library, tmp_path, cell):
    name, attribute, before, after = ONLY_WRITES[cell]
    with Shell(tmp_path) as shell, pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "torch", library)
        for source in (SETUP, cell):
            shown = shell.run(f"%%autograd\n{source}\n", {"torch": library}, library).displayed
    outline = "\n".join(each["data"]["text/plain"] for each in shown)
    table = outline[outline.index("at the start") :]
    rows = table[table.index(f"\n{name} ") + 1 :].split("\n")
    row = next(row for row in rows if row.removeprefix(name).split()[:1] == [attribute])
    assert re.fullmatch(
        rf"{re.escape(before)} +{re.escape(after)}", row.removeprefix(name).strip()[len(attribute) :].strip()
    )


# Cells without the magic (they begin with "#"), the last one with it: what must be said of those.
UNRECORDED = {
    "a cut": (("# plain\nw = torch.tensor([1.0, 2.0], requires_grad=True)\nz = w.detach() * 3\n",
               "z.sum().backward()\n"), "no_grad_fn", "In [1] also used z"),
    "a write": (("k = torch.exp(torch.ones(2, requires_grad=True))\n", "# plain\nk.mul_(2)\n",
                 "k.sum().backward()\n"), "saved_modified", "In [2] also used k"),
    "a backward": (("u = torch.exp(torch.ones(2, requires_grad=True))\n", "# plain\nu.sum().backward()\n",
                    "u.sum().backward()\n"), "second_backward", "In [2] also used u"),
    "a lost leaf": (("# plain\nw = torch.tensor([1.0], requires_grad=True)\nw = w * 2\n",
                     "(w ** 2).sum().backward()\nprint(w.grad)\n"), "non_leaf_grad", "In [1] also used w"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNRECORDED)
def test_a_cell_that_was_not_recorded_is_named(library, tmp_path, name):
    cells, key, said = UNRECORDED[name]
    with Shell(tmp_path) as shell, pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "torch", library)
        for cell in cells:
            shell.run(cell if cell.startswith("#") else f"%%autograd\n{cell}", {"torch": library}, library)
        (one,) = [each for each in last().explained if each.key == key]
    assert said in one.why and "%%autograd" in one.fix


# A cell without the magic, one with it that writes to what the first one made, and what that is called.
CALLED = {
    "a variable": ("h = torch.exp(w)\nz = h * 2\n", "h += 1\nz.sum().backward()\n", "h", "`h = h + 1`"),
    "an item of a list": (
        "hs = [w.exp(), w.sigmoid()]\n", "hs[1] += 1\n(hs[0] + hs[1]).sum().backward()\n", "hs[1]",
        "`hs[1] = hs[1] + 1`",
    ),
    "an item of a dictionary": (
        "d = {'h': w.exp()}\n", "d['h'].mul_(2)\nd['h'].sum().backward()\n", "d['h']",
        "`d['h'] = d['h'].mul(2)`",
    ),
    "a part of an item": (
        "hs = [w.exp()]\n", "hs[0][1] = 5.0\nhs[0].sum().backward()\n", "hs[0]",
        "`hs[0] = hs[0].clone(); hs[0][1] = 5.0`",
    ),
    "an attribute": (
        "class C:\n    pass\nc = C()\nc.h = w.exp()\n", "c.h.mul_(2)\nc.h.sum().backward()\n", "c.h",
        "`c.h = c.h.mul(2)`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED)
def test_what_an_unrecorded_cell_made_has_its_name(library, tmp_path, name):
    made, written, called, fix = CALLED[name]
    with Shell(tmp_path) as shell, pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "torch", library)
        shell.run(f"w = torch.ones(2, requires_grad=True)\n{made}", {"torch": library}, library)
        shell.run(f"%%autograd\n{written}", {"torch": library}, library)
        (one,) = last().explained
    assert f"saved {called}₁ at version 0. Then" in one.why and "(line 2)" in one.why, one.why
    assert fix in one.fix and "result" not in one.why + one.fix


@pytest.mark.parametrize(
    ("definition", "use", "key", "line"),
    [
        ("class Net(torch.nn.Module):\n    def __init__(self):\n        self.fc = torch.nn.Linear(2, 3)\n",
         "net = Net()\n", "module_definition", 3),
        ("class Net(torch.nn.Module):\n    def forward(self, x):\n        x * 2\n",
         "Net()(torch.ones(2)).sum()\n", "none_value", 3),
        ("def scores(x):\n    return torch.softmax(x, dim=1)\n",
         "x = torch.ones(2, 2, requires_grad=True)\n"
         "torch.nn.functional.cross_entropy(scores(x), torch.tensor([0, 1])).backward()\n",
         "scores_twice", 2),
    ],
)  # fmt: skip
def test_the_source_of_a_cell_without_the_magic_counts(library, tmp_path, definition, use, key, line):
    with Shell(tmp_path) as shell, pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "torch", library)
        shell.run(definition, {"torch": library}, library)
        shell.run(f"%%autograd\n{use}", {"torch": library}, library)
        (one,) = [each for each in last().explained if each.key == key]
    assert f"In [1], line {line}" in one.why + one.fix and "no recording" not in one.why


def test_lines_have_no_label_in_one_cell(tmp_path):
    told, _ = explained(("".join(NOTEBOOKS["a cut"].cells),), minigrad, tmp_path)
    assert "(line 3)" in told[-1].why and "In [" not in told[-1].why
