"""Explanations of errors outside backward calls, and of puzzling results without an error, in both libraries
and both dialects."""

from __future__ import annotations

import copy
import gc
import weakref
from typing import NamedTuple

import numpy as np
import pytest
from cells import CELLS, CUBE, run
from staged import build, explanations_of
from twins import dialect

import minigrad
from minigrad_viz import explain
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import CellFailed, Trace
from minigrad_viz.trace.graph import CAUSE, GUILTY, Explanation
from minigrad_viz.words import CATALOGUES

SETUP = """\
import copy
x = torch.tensor(5.0, requires_grad=True)
v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
w = v * 2
p = torch.tensor(1.0)
"""
FUNCTION = """\
class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a.view(3)

    @staticmethod
    def backward(ctx, g):
        return g

u = Same.apply(w)
u.add_(1)
"""


class Told(NamedTuple):
    """The expected explanation of an error: the cell after SETUP, its key, the first words of why and fix,
    the variables (or expressions) whose cards are guilty and those that led to it, the lines of the error and
    of the cause (0: PyTorch does not give it)."""

    cell: str
    key: str
    why: str
    fix: str
    guilty: str
    causes: tuple[str, ...]
    line: int
    cause: int | None


LEAF = "modifies x in place, a leaf that requires gradients. After that it would be a computed result"
UPDATE = "To update x, write `with torch.no_grad(): "
UPDATE_V = "To update v, write with torch.no_grad(): …."
U_OF_V = "u is a view of v, a leaf that requires gradients, so writing to u modifies v in place."
SEVERAL = "a is one of several views of w that w.split([1, 2])"
WHOLE = "n is int64. Only floating point and complex tensors can require gradients"
NEW = "This would be an integer or boolean tensor."
FLAG = "y is a computed result. It requires gradients because it was computed from a tensor that does"
FLAG_ON = "y is a computed result. It already requires gradients"
NUMPY = "requires gradients, but NumPy records no graph"
COPY = "y is a computed result, and a deep copy would have to copy its history"
KEPT = "does not require gradients, so there will be no gradient to keep."
HOOK = "does not require gradients, so the hook would never run."
VIEW = "u is a view created under no_grad() at w[:2] (line 8), outside the graph"

TOLD = [
    Told("x += 1", "leaf_in_place", f"x += 1 (line 7) {LEAF}", UPDATE + "x += 1`.", "x", (), 7, None),
    Told("x.add_(1)", "leaf_in_place", f"x.add_(1) (line 7) {LEAF}", UPDATE + "x.add_(1)`.",
         "x", (), 7, None),
    Told("x.zero_()", "leaf_in_place", f"x.zero_() (line 7) {LEAF}", UPDATE + "x.zero_()`.",
         "x", (), 7, None),
    Told("def step(t):\n    t.sub_(1)\nstep(x)", "leaf_in_place",
         f"t.sub_(1) (line 8) {LEAF}".replace("modifies x", "modifies t (x)"),
         "To update t (x), write `with torch.no_grad(): t.sub_(1)`.", "x", (), 8, None),
    Told("some = [x]\nfor i in range(2):\n    some[i] -= 1", "leaf_in_place",
         "some[i] -= 1 (line 9) modifies some[i] (x) in place",
         "To update some[i] (x), write `with torch.no_grad(): some[i] -= 1`.", "x", (), 9, None),
    Told("v[0] = 9.0", "view_of_leaf_in_place",
         "v[0] (line 7) modifies v in place, a leaf that requires gradients.",
         "To update v, write `with torch.no_grad(): v[0] = 9.0`.", "v", (), 7, None),
    Told("u = v[:2]\nu.mul_(2)", "view_of_leaf_in_place", U_OF_V, UPDATE_V, "u", ("v",), 8, 7),
    Told("v.view(3).mul_(2)", "view_of_leaf_in_place", U_OF_V.replace("u ", "v.view(3) "), UPDATE_V,
         "v.view(3)", ("v",), 7, None),
    Told("a, b = w.split([1, 2])\na.add_(1)", "view_of_several", SEVERAL,
         "Compute new values instead of modifying the view: `a = a.add(1)`", "a",
         (), 8, 7),
    Told(FUNCTION, "view_of_function", "u is a view that a custom Function (Same",
         "Modify a copy: u.clone().", "u", (), 17, 0),
    Told("with torch.no_grad():\n    u = w[:2]\nu.add_(1)", "view_of_no_grad",
         VIEW, "Create and modify the view inside no_grad()",
         "u", (), 9, 8),
    Told("with torch.no_grad():\n    u = w[:2]\nw.add_(1)\nu.grad_fn", "view_of_no_grad",
         "This view was created under no_grad(), outside the graph,",
         "Create and modify the view inside no_grad()", "", (), 10, None),
    Told("n = torch.tensor([1, 2])\nn.requires_grad = True", "integer_requires_grad", WHOLE,
         "Convert it first: n.float().", "n", (), 8, 7),
    Told("n = torch.tensor([1, 2])\nn.requires_grad_()", "integer_requires_grad", WHOLE,
         "Convert it first: n.float().", "n", (), 8, 7),
    Told("torch.tensor([1, 2], requires_grad=True)", "integer_requires_grad", NEW, "Set the dtype",
         "", (), 7, None),
    Told("y.requires_grad = False", "flag_of_non_leaf", FLAG, "To get the same values without a graph",
         "y", (),
         7, 4),
    Told("y.requires_grad_(False)", "flag_of_non_leaf", FLAG, "To get the same values without a graph",
         "y", (),
         7, 4),
    Told("y.requires_grad = True", "flag_of_non_leaf", FLAG_ON, "Remove this line.", "y", (), 7, 4),
    Told("y.numpy()", "numpy_of_graph", f"y {NUMPY}", "If you need only the values: y.detach().numpy().",
         "y", (), 7, 4),
    Told("np.array(x)", "numpy_of_graph", f"x {NUMPY}", "If you need only the values: x.detach().numpy().",
         "x", (), 7, 2),
    Told("(x * 3).numpy()", "numpy_of_graph", f"x * 3 {NUMPY}",
         "If you need only the values: (x * 3).detach().numpy().", "x * 3", (), 7, None),
    Told("p.retain_grad()", "retain_grad_without",
         f"p {KEPT} tensor(1.0) (line 6) created p without requires_grad=True.",
         "Create p with requires_grad=True.", "p",
         (), 7, 6),
    Told("with torch.no_grad():\n    q = x * 2\nq.retain_grad()", "retain_grad_without",
         f"q {KEPT} x * 2 (line 8) ran under no_grad(), so nothing was recorded.",
         "Compute x * 2 (line 8) outside no_grad().", "q",
         ("x→q",), 9, 8),
    Told("q = w > 1\nq.retain_grad()", "retain_grad_without",
         f"q {KEPT} The result of w > 1 (line 7) is integer or boolean, so no gradient can flow through it.",
         "Use an operation that has a derivative instead of w > 1 (line 7).", "q",
         ("w→q",), 8, 7),
    Told("q = torch.tensor(y.item())\nq.retain_grad()", "retain_grad_without",
         f"q {KEPT} tensor(y.item()) (line 7) uses Python numbers taken from y",
         "Use tensors and torch functions from y on", "q", ("y→q",), 8, 7),
    Told("q = y.detach()\nq.register_hook(print)", "hook_without",
         f"q {HOOK} y.detach() (line 7) keeps the value and the memory of y but cuts the link",
         "Remove the detach()",
         "q", ("y→q",), 8, 7),
    Told("q = y.detach()\nr = q * 2\nr.register_hook(print)", "hook_without",
         f"r {HOOK} y.detach() (line 7) keeps the value and the memory of y but cuts the link",
         "Remove the detach()",
         "r", ("y→q",), 9, 7),
    Told("y.register_post_accumulate_grad_hook(print)", "hook_of_non_leaf",
         "y is a computed result. This kind of hook runs after a gradient was added to the .grad of a leaf",
         "Use y.register_hook(…)", "y", (), 7, 4),
    Told("v.grad = torch.ones(2)", "assigned_grad", "v has shape (3,).",
         "Assign a tensor of shape (3,), or None.", "v", (), 7, 3),
    Told("v.grad = torch.ones(3, dtype=torch.float64)", "assigned_grad",
         "v is float32, so its gradient must be too, but this one is float64.",
         "Convert the gradient first: .to(v.dtype).", "v", (), 7, 3),
    Told("v.grad = 3", "assigned_grad",
         "The gradient of v must be a tensor or None, but this is of type int.",
         "Assign a tensor of shape (3,), or None.", "v", (), 7, 3),
    Told("v.grad = v", "assigned_grad", "v cannot be its own gradient", "Assign a copy: v.detach().clone().",
         "v", (), 7, 3),
    Told("copy.deepcopy({'a': [y]})", "deepcopy_of_non_leaf", COPY,
         "To copy only the values: y.detach().clone().", "y", (), 7, 4),
]  # fmt: skip


def traced(cell: str, library) -> Trace:
    trace = run(cell, library, names={"np": np}).trace
    assert trace is not None
    return trace


def last(trace: Trace, lang: str = "en") -> Explanation:
    return explanations_of(trace, lang)[-1]


def names_of_marks(trace: Trace, told: Explanation, kind: str) -> set[str]:
    """What the marks of one kind stand on: cards by variable or expression, routes as `source→target`. Fails
    for a mark on nothing."""
    graph = build(trace, told.call or None)
    names = {f"{s.id}-c{i}": c.name or c.expr or "" for s in graph.stations for i, c in enumerate(s.cards)}
    routes = {r.id: f"{names[f'{r.source}-c{r.card}']}→{names[f'{r.target}-c0']}" for r in graph.routes}
    return {(names | routes)[mark.part] for mark in told.marks if mark.kind == kind}


@pytest.mark.quick(20)
@pytest.mark.parametrize("today", ["1.4", "2"])
@pytest.mark.parametrize("case", TOLD, ids=lambda case: case.cell.splitlines()[-1])
def test_errors(library, case, today):
    with dialect(today):
        trace = traced(SETUP + case.cell + "\n", library)
    told = last(trace)
    assert told.key == case.key and told.error == trace.error
    assert told.why.startswith(case.why) and told.fix.startswith(case.fix)
    assert bool(told.fix) == bool(case.fix)
    assert names_of_marks(trace, told, GUILTY) == ({case.guilty} if case.guilty else set())
    assert names_of_marks(trace, told, CAUSE) == set(case.causes)
    assert told.span is not None and told.span.line == case.line
    if case.cause != 0:
        assert (told.cause and told.cause.line) == case.cause


@pytest.mark.parametrize("case", TOLD, ids=lambda case: case.cell.splitlines()[-1])
def test_korean_says_the_same(library, case):
    trace = traced(SETUP + case.cell + "\n", library)
    english, korean = last(trace), last(trace, "ko")
    assert (korean.key, korean.error, korean.call) == (english.key, english.error, english.call)
    assert [(m.part, m.kind) for m in korean.marks] == [(m.part, m.kind) for m in english.marks]
    assert bool(korean.why) == bool(english.why) and bool(korean.fix) == bool(english.fix)
    assert any("가" <= char <= "힣" for char in korean.why)


def test_optimizer_of_a_computed_tensor(torch):
    told = last(traced(SETUP + "torch.optim.SGD([y], lr=0.1)\n", torch))
    assert told.key == "optimizer_of_non_leaf" and told.why.startswith(
        "y is a computed result: backward() keeps"
    )


def test_a_leaf_in_a_module(torch):
    told = last(traced("m = torch.nn.Linear(2, 1)\nm.weight.mul_(2)\n", torch))
    assert told.key == "leaf_in_place"
    assert told.why.startswith("m.weight.mul_(2) (line 2) modifies m.weight in place, a leaf")


def test_what_the_cell_raises_itself_is_not_explained(library):
    text = "a leaf Variable that requires grad is being used in an in-place operation."
    told = last(traced(SETUP + f"raise RuntimeError('{text}')\n", library))
    assert told == Explanation("", f"RuntimeError: {text}", span=told.span)


def test_without_evidence_nothing_is_said(library):
    """What is written to is in nobody's hands by name, and was computed out of sight."""
    cell = SETUP + "keep = {'a': [[x]]}\ndef get():\n    return keep['a'][0][0]\n(get()).add_(1)\n"
    told = last(traced(cell, library))
    assert told.key == "leaf_in_place" and not told.why and not told.fix and not told.marks


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


def test_named_tensors_go_to_json_and_back(library):
    trace = traced(SETUP + "v.grad = p\n", library)
    assert Trace.from_json(trace.to_json()) == trace


# ------------------------------------------------------------------------------------------- silent mistakes

POWER = "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\n"
NEW_LEAVES = [
    ("loss = torch.log(y).detach()\nloss.requires_grad = True\nloss.backward()\n", "loss", 3, 5),
    ("w = y.detach()\nw.requires_grad_()\nz = w * 2\nz.backward()\n", "w", 3, 6),
    ("w = y.detach() * 2\nw.requires_grad_()\nz = w * 2\nz.backward()\n", "w", 3, 6),
    ("w = y.data.requires_grad_()\nz = w * 2\nz.backward()\n", "w", 3, 5),
    ("w = torch.tensor(y, requires_grad=True)\nz = w * 2\nz.backward()\n", "w", 3, 5),
    ("w = torch.tensor(y.item(), requires_grad=True)\nz = w * 2\nz.backward()\n", "w", 3, 5),
    ("with torch.no_grad():\n    w = y * 2\nw.requires_grad_()\nz = w * 2\nz.backward()\n", "w", 4, 7),
]


@pytest.mark.parametrize("tail, leaf, cut, call", NEW_LEAVES, ids=[case[0][:40] for case in NEW_LEAVES])
def test_a_computed_value_made_a_leaf(library, tail, leaf, cut, call):
    trace = traced(POWER + tail, library)
    (told,) = explanations_of(trace, "en")
    assert (told.key, told.error, told.call) == ("new_leaf", "", 1)
    assert (
        f"{leaf} is a computed value that became a new leaf" in told.why or f"made {leaf} a new" in told.why
    )
    assert told.why.endswith("no gradient reaches x.") and told.fix
    assert told.span.line == call and told.cause.line == cut
    marked = names_of_marks(trace, told, CAUSE)
    assert leaf in marked and any("→" in name for name in marked) and len(marked) == 2


@pytest.mark.parametrize(
    "tail",
    [
        "z = torch.log(y)\nz.backward()\n",
        "w = y.detach().requires_grad_()\nz = w * 2\nz.backward()\ny.backward(w.grad)\n",  # joined again
        "w = y.detach().requires_grad_()\nz = w * 2\nz.backward(inputs=[w])\n",  # asked for
        "w = y.detach().requires_grad_()\nz = w * 2\ntorch.autograd.grad(z, w)\n",
        "w = torch.tensor(2.0, requires_grad=True)\nz = w * y.detach()\nz.backward()\n",  # a constant
        "q = torch.tensor(2.0)\nw = q.detach().requires_grad_()\n(w * 2).backward()\n",
    ],
)
def test_no_mistake_no_word(library, tail):
    told = explanations_of(traced(POWER + tail, library), "en")
    assert "new_leaf" not in [each.key for each in told]


def test_the_gradient_of_a_computed_tensor_is_read(library):
    trace = traced(CUBE + "z.backward()\nprint(y.grad)\n", library)
    (told,) = explanations_of(trace, "en")
    assert (told.key, told.error, told.call, told.span.line) == ("non_leaf_grad", "", 1, 5)
    assert told.why == (
        "y.grad is None: backward() computed the gradient 0.008, but y is not a leaf, so it was not kept."
    )
    assert told.fix == "Call y.retain_grad() before backward()."
    assert names_of_marks(trace, told, CAUSE) == {"y"}


@pytest.mark.parametrize(
    "tail",
    [
        "y.retain_grad()\nz.backward()\nprint(y.grad)\n",
        "print(y.grad)\nz.backward()\n",
        "z.backward(inputs=[x, y])\nprint(y.grad)\n",
        "z.backward()\ny = x\nprint(y.grad)\n",
        "z.backward()\nif True:\n    y = x\nprint(y.grad)\n",
        "z.backward()\ny.grad = torch.tensor(1.0)\nprint(y.grad)\n",
        "z.backward()\nprint(x.grad)\n",
        "z.backward()\ny.grad = None\n",
        "z.backward()\ndef f():\n    global y\n    y = x\nf()\nprint(y.grad)\n",
        "z.backward()\ndef f(y):\n    print(y.grad)\nf(x)\n",
        "z.backward()\nprint([y.grad for y in [x]])\n",
    ],
)
def test_other_gradients_are_read(library, tail):
    assert not [told for told in explanations_of(traced(CUBE + tail, library), "en") if not told.error]


def test_a_loop_is_told_of_once(library):
    tail = "for i in range(3):\n    w = y.detach().requires_grad_()\n    (w * w).backward()\n"
    told = explanations_of(traced(POWER + tail, library), "en")
    assert [(each.key, each.call) for each in told] == [("new_leaf", 3)]
    loop = "for i in range(3):\n    z = y * i\n    z.backward(retain_graph=True)\n    print(z.grad, z + 1)\n"
    told = explanations_of(traced(POWER + loop, library), "en")
    assert [(each.key, each.call) for each in told] == [("non_leaf_grad", 3)]


CHECK = "def f(a):\n    return a * a\n\nx = torch.tensor(5.0, requires_grad=True, dtype=torch.{})\n"


@pytest.mark.parametrize("given", ["(x,)", "x", "inputs=[x]", "(x, 2.0)"])
def test_single_precision(library, given):
    source = (
        CHECK.format("float32") + f"print(torch.autograd.gradcheck(lambda *a: f(a[0]), {given}, atol=1))\n"
    )
    trace = traced(source, library)
    (told,) = explanations_of(trace, "en")
    assert (told.key, told.error, told.span.line) == ("single_precision", "", 5)
    assert (
        told.why.startswith("x is float32.")
        and told.fix == "Use double precision: x.double() (dtype float64)."
    )
    assert names_of_marks(trace, told, CAUSE) == {"x"}


@pytest.mark.parametrize("given, dtype", [("x", "float64"), ("x.double()", "float32"), ("y", "float64")])
def test_double_precision(library, given, dtype):
    source = CHECK.format(dtype) + f"y = x * 2\nprint(torch.autograd.gradcheck(f, ({given},)))\n"
    assert explanations_of(traced(source, library), "en") == ()


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


def test_notes_are_about_minigrad_in_both_dialects():
    for today in ("1.4", "2"):
        with dialect(today):
            (told,) = explanations_of(traced(CUBE + "z.backward()\nprint(z.grad)\n", minigrad), "en")
        assert told.why.startswith("z.grad is None: backward() computed the gradient 1.,")
