"""Random cells do the same whether or not somebody watches, and nothing of them is kept afterwards."""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tiers
from hypothesis import HealthCheck, Phase, given, settings
from random_cells import PRELUDE, cells
from shells import Shell
from telling import Told, exact, plainly, recorded, run_cell, surroundings
from twins import dialect, is_tensor, nodes

import minigrad
from minigrad.core import accumulate as deposits
from minigrad.core import engine
from minigrad.core.node import AccumulateGrad, Node
from minigrad_viz import record
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.shell.report import Report


def examples(count: int, *phases: Phase) -> Any:
    """Always the same examples, at most `count` of them."""
    return settings(
        max_examples=tiers.examples(count),
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate, *phases),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


@pytest.fixture(params=["minigrad 1.4", "minigrad 2", "PyTorch"])
def library(request):
    if request.param == "PyTorch":
        yield request.getfixturevalue("torch")
    else:
        with dialect(request.param.split()[1]):
            yield minigrad


def assert_same(one: Told, other: Told, cell: str) -> None:
    """Both runs of a cell told the same; says in what they differ."""
    for field, a, b in zip(Told._fields, one, other, strict=True):
        if a != b and isinstance(a, list) and isinstance(b, list):
            a, b = next(((p, q) for p, q in zip(a, b, strict=False) if p != q), (len(a), len(b)))
        assert a == b, f"{field}:\n  unwatched {a}\n  watched   {b}\n{cell.removeprefix(PRELUDE)}"


# ─────────────────────────────────────────────────────────────────────────────────── nothing is changed


@examples(120, Phase.shrink)
@given(cell=cells)
def test_a_cell_does_not_notice_the_recorder(library, cell):
    before = surroundings()
    unwatched, watched = run_cell(cell, library), run_cell(cell, library, recorded)
    assert_same(unwatched.told, watched.told, cell)
    assert surroundings() == before


def within(context: Any) -> Callable[[str, dict[str, Any]], None]:
    """Runs a cell inside `with context() as watching:`, and makes a report of it."""

    def run(cell: str, space: dict[str, Any]) -> None:
        lines = "".join(f"    {line}\n" for line in cell.splitlines())
        space["context"] = context
        try:
            plainly(f"with context() as watching:\n{lines}", space)
        finally:
            del space["context"]
            if (watching := space.pop("watching")) is not None:
                report = watching.report
                space["kept"] += [report, report.text(), report.frames]

    return run


@examples(40, Phase.shrink)
@given(cell=cells)
def test_a_block_does_not_notice_record_nor_the_report_made_of_it(library, cell):
    unwatched = run_cell(cell, library, within(contextlib.nullcontext))
    watched = run_cell(cell, library, within(record))
    assert_same(unwatched.told, watched.told, cell)
    assert watched.kept and not unwatched.kept


@contextlib.contextmanager
def logged(log: list[Any]) -> Iterator[None]:
    """Notes every node of minigrad that runs, below anything that hooks can see."""
    with pytest.MonkeyPatch.context() as patch:
        for cls in subclasses(Node):
            for name in ("apply", "_apply_tensors"):
                if name in vars(cls) and cls is not AccumulateGrad:
                    patch.setattr(cls, name, noting(cls.__name__, vars(cls)[name], log))
        for name in ("deposit", "deposit_tensor"):  # what an AccumulateGrad does
            plain = getattr(deposits, name)
            for module in [m for n, m in sys.modules.items() if n.partition(".")[0] == "minigrad"]:
                if vars(module).get(name) is plain:
                    patch.setattr(module, name, noting(name, plain, log))
        yield


def subclasses(cls: type) -> Iterator[type]:
    for sub in cls.__subclasses__():
        yield sub
        yield from subclasses(sub)


def noting(title: str, function: Any, log: list[Any]) -> Any:
    @functools.wraps(function)
    def noted(node: Any, gradient: Any, *more: Any) -> Any:
        given = gradient if isinstance(gradient, list) else [gradient]
        log.append((title, [None if g is None else bytes(getattr(g, "_data", g)) for g in given]))
        return function(node, gradient, *more)

    return noted


@examples(100, Phase.shrink)
@given(cell=cells)
def test_nodes_run_in_the_same_order_with_the_same_gradients(cell):
    logs: list[list[Any]] = [[], []]
    for log, how in zip(logs, (plainly, recorded)):
        with logged(log):
            run_cell(cell, minigrad, how)
    assert logs[0] == logs[1], cell.removeprefix(PRELUDE)


def test_the_log_of_nodes_sees_them_all():
    cell = "x = torch.tensor(2.0, requires_grad=True)\n(x * x + 1).backward()\nnote(x.grad)\n"
    for how in (plainly, recorded):
        run_cell(cell, minigrad, how)
        log: list[Any] = []
        with logged(log):
            run_cell(cell, minigrad, how)
        assert [title for title, _ in log] == ["AddBackward0", "MulBackward0", "deposit"]
    assert engine.deposit is deposits.deposit and not hasattr(engine.deposit, "__wrapped__")


# ─────────────────────────────────────────────────────────────────────────────────── nothing is kept


class Canary:
    """Lives as long as the node on which it is noted."""


@pytest.fixture
def frozen():
    """What the collector, and who asks it, need not look at again; so both are quick."""
    yield forget_the_past
    gc.unfreeze()


def forget_the_past() -> None:
    """From here on the collector sees only what is made."""
    gc.collect()
    gc.freeze()


def alive(*kinds: type) -> list[str]:
    """The names of the classes of all living objects of `kinds` that were made since."""
    gc.collect()
    return sorted(type(one).__name__ for one in gc.get_objects() if isinstance(one, kinds))


def left_of(cell: str, library: Any, how: Callable[[str, dict[str, Any]], None]) -> list[str]:
    """What lives of a cell when its variables are gone, though its trace and its report are there."""
    forget_the_past()
    ran = run_cell(cell, library, how)
    assert alive(Recorder) == [], "the recorder itself, by a hook that was left"
    report = [Report(trace, lang="en") for trace in ran.kept]
    shown = [(r.text(), r.frames, r.trace) for r in report]
    tensors = [value for value in ran.space.values() if is_tensor(value)]
    for node in nodes(*tensors):
        node.metadata["canary"] = Canary()
    node = tensors = None  # type: ignore[assignment]
    ran.space.clear()
    left = alive(tensor_of(library), Node, Canary)
    assert len(shown) == len(ran.kept)
    return left


def tensor_of(library: Any) -> type:
    return minigrad.core.tensor_state.TensorBase if library is minigrad else library.Tensor


@examples(40, Phase.shrink)
@given(cell=cells)
def test_nothing_is_kept_alive(library, frozen, cell):
    left = left_of(cell, library, recorded)
    if library is minigrad:
        assert left == [], cell.removeprefix(PRELUDE)
    else:  # which keeps something of its own where a gradient's graph leads to the leaf that holds it
        assert left == left_of(cell, library, plainly), cell.removeprefix(PRELUDE)


# ─────────────────────────────────────────────────────────────────────────────────── in IPython


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    forget_the_past()  # a shell collects garbage whenever it is reset
    with Shell(tmp_path_factory.mktemp("ipython")) as shell:
        for thread in threading.enumerate():
            if (
                thread.name == "minigrad layout engine"
            ):  # loading the extension began it, and it ends by itself
                thread.join()
        yield shell
    gc.unfreeze()


def told(shell: Shell, cell: str, library: Any) -> tuple[Any, list[Any]]:
    """What a user can tell of a cell in a shell, and what was displayed."""
    noted: list[Any] = []
    shell.clear()
    names = {"torch": library, "weakref": weakref}
    names["note"] = lambda *things: noted.append([exact(thing, done=False) for thing in things])
    ran = shell.run(cell, names, library)
    variables = [(name, exact(value)) for name, value in ran.variables if name not in names]
    return (ran.printed, ran.complained, ran.failed, noted, exact(ran.result), variables), ran.displayed


@pytest.mark.sample(1)
@pytest.mark.parametrize("library", ["minigrad 2", "PyTorch"], indirect=True)
@pytest.mark.parametrize("how", ["%%autograd", "%autograd on"])
@examples(10)
@given(cell=cells)
def test_a_cell_in_ipython_does_not_notice(library, shell, how, cell):
    head, on = ("%%autograd", "") if how == "%%autograd" else ("# nothing", how)
    before = surroundings()
    last = "v0 * 2" if library is minigrad else "v0 * 2;"
    unwatched, shown = told(shell, f"# nothing\n{cell}{last}\n", library)
    shell.run(on or "0;", {}, library)
    watched, more = told(shell, f"{head}\n{cell}{last}\n", library)
    shell.run("%autograd off", {}, library)
    for a, b in zip(unwatched, watched, strict=True):
        assert a == b, cell.removeprefix(PRELUDE)
    assert len(more) == len(shown) + 1, "its picture"
    assert surroundings() == before


@pytest.mark.full
def test_a_cell_leaves_nothing_in_ipython(library, shell, frozen):
    cell = PRELUDE + (
        "v0 = torch.tensor([1.0, 2.0], requires_grad=True)\nv1 = Twice.apply(v0) * v0\nspy(v1)\n"
        "v1.register_hook(double)\nv1.sum().backward()\nprint(v0.grad)\nv1 / v0\n"
    )
    frozen()
    _, displayed = told(shell, f"%%autograd\n{cell}", library)
    assert displayed and alive(tensor_of(library)), "the cell's variables live"
    shell.clear()
    assert alive(tensor_of(library), Node) == []
