"""`why_none(x)`: one sentence, certain, for tensors of a watched cell and of any other code."""

from __future__ import annotations

import contextlib
import gc
import io
import warnings
import weakref

import pytest
from cells import CELLS, CUBE, watched_cell
from hypothesis import HealthCheck, Phase, given, settings
from random_cells import cells
from tiers import examples

import minigrad
from minigrad_viz import why_none
from minigrad_viz.protocol import edges_of, has_history, history_of, is_tensor, variable_of
from minigrad_viz.shell import explain
from minigrad_viz.trace.events import BackwardStarted, GradAccumulated
from minigrad_viz.words import CATALOGUES, columns

pytest_plugins = ["magic_shell"]


@pytest.fixture(autouse=True)
def nothing_watched_cell():
    """No cell was watched before, and none is remembered afterwards."""
    before = explain._last[:], explain._error[:], explain._ids[:]
    for kept in (explain._last, explain._error, explain._ids):
        kept.clear()
    yield
    explain._last[:], explain._error[:], explain._ids[:] = before


def why(name: str, space: dict, lang: str = "en"):
    """What is said of a variable of a cell, by code that has the same globals."""
    return eval(f"why_none({name}, {lang!r})", space)


def test_a_gradient_that_was_set_back_after_the_cell(library):
    space = watched_cell(CUBE + "z.backward()\n", library)
    space["x"].grad = None
    assert why("x", space).sentence == (
        "x.grad is None because it was reset after z.backward() (line 4) had stored 0.6 there."
    )


def test_a_tensor_that_changed_after_the_cell_is_asked_itself(library):
    space = watched_cell(CUBE + "z.backward()\n", library)
    with library.no_grad():
        space["w"] = space["x"] * 1
    assert why("w", space).key == "why_no_flag"


def test_it_is_one_sentence_and_shows_itself(library):
    told = why("x", watched_cell(CUBE, library))
    assert str(told) == repr(told) == told.sentence


def test_its_text_fits_a_terminal(library):
    for lang in ("en", "ko"):
        told = why("x", watched_cell(CELLS[15], library), lang)
        lines = repr(told).split("\n")
        assert len(lines) > 1 and all(columns(line) <= 80 for line in lines)
        assert " ".join(lines) == told.sentence and "\n" not in told._repr_html_()


def test_it_is_one_sentence_on_a_page(library):
    told = why("x", watched_cell(CUBE, library))
    assert told._repr_html_() == f'<p lang="en">{told.sentence}</p>'
    assert "<" not in type(told)("", "a < b", "en")._repr_html_().removeprefix('<p lang="en">').removesuffix(
        "</p>"
    )


def test_every_sentence_is_one_sentence():
    for lang, catalogue in CATALOGUES.items():
        for key in [key for key in catalogue if key.startswith("why_") and key != "why_tensor"]:
            assert catalogue[key].endswith((".", "{ended}⟧")), (lang, key)


# ------------------------------------------------------------------------------------------ without a report


def test_the_graph_alone(library):
    x = library.tensor(2.0, requires_grad=True)
    y = x * 3
    z = y.exp()
    alone = library.tensor(1.0, requires_grad=True)
    kept = y * 2
    kept.retain_grad()
    constant = library.tensor(1.0)
    assert why_none(x, "en").sentence == (
        "x.grad is None although x is in the graph of y, z, kept: either no backward() has run from there "
        "yet, or .grad was reset."
    )
    assert why_none(y).key == "why_not_leaf" and why_none(z).key == "why_not_leaf"
    assert why_none(alone).key == why_none(kept).key == "why_in_no_graph"
    assert why_none(constant).key == "why_no_flag"
    assert why_none(library.tensor([1, 2])).key == "why_integer"
    z.backward()
    assert why_none(x).key == "why_has_grad"


def test_nobody_is_warned(library, names_of_today):
    y = library.tensor(2.0, requires_grad=True) * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert why_none(y).key == "why_not_leaf"


def test_a_large_graph_is_searched_without_recursion(library):
    x = library.tensor(2.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + 1
    assert why_none(x, "en").sentence.startswith("x.grad is None although x is in the graph of y")


@pytest.mark.parametrize("thing", [None, 3, "x", [1.0], object()])
def test_what_is_no_tensor(thing):
    with pytest.raises(TypeError, match=f"asks about a tensor, not {type(thing).__name__}"):
        why_none(thing)


def test_an_unknown_language():
    with pytest.raises(ValueError, match="unknown language 'fr'"):
        why_none(minigrad.tensor(1.0), "fr")


def test_a_view_whose_history_cannot_be_read(library):
    w = library.tensor([1.0, 2.0], requires_grad=True) * 2
    with library.no_grad():
        view = w[:1]
    w.add_(1)
    assert repr(why_none(view, "en")) == "view.grad is None, but the reason is not certain."


def test_no_tensor_is_kept_alive(library):
    space = watched_cell(CUBE + "z.backward()\n", library)
    assert why("y", space).key == "why_not_leaf_value"
    gone = [weakref.ref(space.pop(name)) for name in "xyz"]
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3


def test_in_a_shell(cell):
    cell("import minigrad_viz\nimport minigrad as torch\n" + CUBE)
    assert "x is in the graph of y, z" in cell("minigrad_viz.why_none(x)")
    cell("%%autograd\nz.backward(inputs=[y])")
    told = "x.grad is None because x is not among the inputs= of z.backward(inputs=[y]) (line 2)."
    assert told in " ".join(cell("minigrad_viz.why_none(x)").split())
    assert "held.t.grad is None" in cell("class held: t = x\nminigrad_viz.why_none(held.t)")


# ------------------------------------------------------------------------------------ never against the run


def reaches(root, x) -> bool:
    """Whether the gradient of `x` is computed from `root` on."""
    goal, todo = history_of(x), [history_of(root)]
    seen = set(todo)
    for node in todo:
        if node is None:
            continue
        if (variable_of(node) is x) if goal is None else node == goal:
            return True
        new = [n for n, _ in edges_of(node) if n is not None and n not in seen]
        seen.update(new)
        todo += new
    return False


UNREACHED = (
    "why_no_path", "why_not_in_graph", "why_cut", "why_new_leaf", "why_new_leaf", "why_asked_late",
)  # fmt: skip
RANDOM = settings(
    max_examples=examples(60),
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@RANDOM
@given(cell=cells)
def test_random_cells(library, cell):
    with library.enable_grad():  # and as it was before, whatever the cell does
        space = watched_cell(cell, library, {"note": lambda *_: None, "weakref": weakref})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, x in [(n, t) for n, t in space.items() if n[:1] == "v" and is_tensor(t)]:
            told = why(name, space)
            names = [n for n, t in space.items() if t is x]  # the source of this question is not known
            assert told.sentence.startswith(tuple(f"{n}.grad" for n in names))
            assert told.sentence.endswith(".")
            assert why(name, space, "ko").key == told.key
            if has_history(x):
                agrees(told.key, x)


def agrees(key: str, x) -> None:
    """What a key claims holds of the tensor, and of what is left of the run."""
    assert (x.grad is not None) == (key == "why_has_grad")
    if key.startswith("why_no_flag") or key == "why_integer":
        assert not x.requires_grad
    elif key.startswith("why_not_leaf"):
        assert not x.is_leaf and not x.retains_grad
    elif key != "why_has_grad":
        assert x.requires_grad
    known = explain.known_to_last(x)
    if known is None:
        return
    scenes, id = known
    trace = scenes.trace
    calls = [event for event in trace.events if isinstance(event, BackwardStarted)]
    deposits = [e for e in trace.events if isinstance(e, GradAccumulated) and e.tensor == id]
    assert (key in ("why_no_call", "why_failed_early")) <= (not calls)
    assert key.startswith("why_reset") <= bool(deposits)
    if key in UNREACHED or key == "why_no_call":
        assert not deposits or not x.is_leaf
    if key in UNREACHED:  # a root that is still there and has not changed since does not lead to it
        ids = explain._ids[0]
        roots = [ids.alive(root) for root in calls[-1].roots]
        same = [t for t, root in zip(roots, calls[-1].roots) if t is not None and ids.known(t) == root]
        assert not any(reaches(root, x) for root in same)


@RANDOM
@given(cell=cells)
def test_random_programs_that_nobody_watched_cell(library, cell):
    space = {"torch": library, "note": lambda *_: None, "weakref": weakref, "why_none": why_none}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        with library.enable_grad(), contextlib.suppress(BaseException):  # which ends the cell
            exec(cell, space)
    tensors = {n: t for n, t in space.items() if is_tensor(t) and has_history(t)}
    for name, x in tensors.items():
        told = why(name, space)
        assert (x.grad is not None if x.is_leaf or x.retains_grad else False) <= (told.key == "why_has_grad")
        leading = [n for n, t in tensors.items() if t is not x and reaches(t, x)]
        if told.key == "why_in_no_graph":
            assert not leading
        if told.key == "why_in_graph":
            assert leading and leading[0] in told.sentence
