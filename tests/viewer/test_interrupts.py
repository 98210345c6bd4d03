"""What signal handlers and other threads raise reaches the user's code, recorded or not, and nothing is left
behind."""

from __future__ import annotations

import ast
import ctypes
import gc
import importlib
import signal
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np  # noqa: F401  (faults use it)
import pytest
from interrupting import Interrupt, Late
from sources import nodes_of

import minigrad
import minigrad_viz
from minigrad.core import modes
from minigrad_viz.isolation import complete_work, has_arrived
from minigrad_viz.replay import watch
from minigrad_viz.shell.report import Report

LOOP = """
import signal, time

def handler(signum, frame):
    raise kind("late")

before = signal.signal(signal.SIGALRM, handler)
caught = lost = 0
try:
    for i in range(rounds):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.004 + i * 0.0003)
            end = time.monotonic() + 2
            while True:
                x = torch.tensor(1.5, requires_grad=True)
                y = x
                for k in range(5):
                    y = y * x + 1.0
                y.backward()
                g = x.grad.item()
                if time.monotonic() > end:
                    lost += 1
                    break
        except kind:
            caught += 1
finally:
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
"""
CELL = """
x = torch.tensor([1.5, 2.0], requires_grad=True)
y = (x * x + 1.0).sum()
y.register_hook(lambda g: g * 2)
y.register_hook(lambda g: g + 1)
y.backward()
a = x * x * x
g, = torch.autograd.grad(a.sum(), x, create_graph=True)
g.sum().backward()
with torch.no_grad():
    x -= 0.1
d = x.detach()
n = x[0].item()
Square.apply(x).sum().backward()
layer = torch.nn.Linear(2, 2)
steps = torch.optim.SGD(layer.parameters(), lr=0.1)
layer(d).sum().backward()
steps.step()
x.grad = None
"""
SPARED = frozenset(("__exit__", "set_grad_enabled"))  # of modes of the user's: Python itself enters them late


def state(library: Any) -> list[Any]:
    """What recorders set in minigrad and PyTorch."""
    found: list[Any] = [modes.snapshot(), warnings._showwarnmsg, list(sys.meta_path), sys.gettrace()]  # type: ignore[attr-defined]
    if library is not minigrad:
        optimizer = importlib.import_module("torch.optim.optimizer")
        dispatch = importlib.import_module("torch.utils._python_dispatch")
        found += [
            library._C._len_torch_function_stack(),
            len(dispatch._get_current_dispatch_mode_stack()),
            library.autograd.Variable._execution_engine,
            vars(library.nn.Module)["__call__"],
            "apply" in vars(library.autograd.function._SingleLevelFunction),
            len(optimizer._global_optimizer_pre_hooks) + len(optimizer._global_optimizer_post_hooks),
            library.is_grad_enabled(),
        ]
    return found


def names(library: Any, **more: Any) -> dict[str, Any]:
    """The variables with which a cell starts."""

    class Square(library.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    return {"torch": library, "__name__": "__main__", "Square": Square, **more}


@pytest.fixture
def no_callbacks():
    """What arrives in a callback of the garbage collector is dropped by Python; Hypothesis has left one."""
    found = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = found


@pytest.mark.usefixtures("no_callbacks")
@pytest.mark.parametrize("kind", [TimeoutError, RuntimeError])
def test_no_alarm_is_lost(library, kind):
    before, space = state(library), names(library, kind=kind, rounds=25)
    code, watched = compile(LOOP, "<cell>", "exec"), watch(LOOP, space)
    try:
        exec(code, space)
    finally:
        trace, _ = watched.stop()
    assert (space["caught"], space["lost"]) == (25, 0)
    assert state(library) == before and trace.events


def interrupted(library: Any, at: int, error: BaseException) -> Interrupt:
    """Record `CELL`, and interrupt our code at one point."""
    space, interrupt = names(library), Interrupt(at, error, "minigrad_viz.")
    code, watched = compile(CELL, "<cell>", "exec"), watch(CELL, space, rounds=True)
    raised: BaseException | None = None
    try:
        with interrupt.on():
            exec(code, space)
    except BaseException as problem:
        raised = problem
    trace, program = watched.stop(raised)
    assert raised is (error if interrupt.where else None), interrupt.where
    Report(trace, program=program, lang="en").text(steps=True)
    return interrupt


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", [Late, RuntimeError, OSError])
def test_wherever_our_code_is_interrupted(library, kind):
    interrupted(library, 0, kind("late"))  # PyTorch loads something the first time
    before, count = state(library), interrupted(library, 0, kind("late")).count
    assert count > 1000
    for at in range(1 + len(kind.__name__), count, count // 40):
        interrupt = interrupted(library, at, kind("late"))
        assert interrupt.where and state(library) == before, interrupt.where


def test_wherever_minigrad_is_interrupted():
    before, code = modes.snapshot(), compile(CELL, "<cell>", "exec")

    def run(at: int) -> Interrupt:
        space, interrupt = names(minigrad), Interrupt(at, Late(), "minigrad.", SPARED)
        try:
            with interrupt.on():
                exec(code, space)
        except Late:
            return interrupt
        assert not interrupt.where, f"lost: {interrupt.where}"
        return interrupt

    run(0)  # some is done once
    count = run(0).count
    assert count > 500
    for at in range(1, count, count // 150):
        interrupt = run(at)
        assert interrupt.where and modes.snapshot() == before, interrupt.where


def test_when_recording_begins_or_ends(library):
    """The error comes out, and nothing is left."""

    def run(at: int) -> Interrupt:
        interrupt, space = Interrupt(at, Late(), "minigrad_viz."), names(library)
        watched, raised = None, False
        try:
            with interrupt.on():
                watched = watch(CELL, space)
                watched.stop()
        except Late:
            raised = True
        if watched is not None:
            complete_work(watched.detach)  # as who has begun it does
        assert raised is bool(interrupt.where)
        return interrupt

    run(0)
    before, count = state(library), run(0).count
    for at in range(1, count, max(1, count // 60)):
        interrupt = run(at)
        assert interrupt.where and state(library) == before, interrupt.where


# ──────────────────────────────────────────────────────────────────────────────── which errors are whose

FAULTS = {
    "{}['a']", "int('x')", "None.x", "next(iter(()))", "[].pop()", "1 / 0", "len(3)", "nothing", "[1][2]",
    "np.zeros(2) @ np.zeros(3)", "minigrad.tensor([1.0]) @ minigrad.tensor([1.0, 2.0])", "ast.parse('(')",
    "(_ for _ in ()).throw(ValueError())", "[x.y for x in (1,)]", "fails()", "sorted([1, 'a'])",
}  # fmt: skip


def fails() -> None:
    raise ValueError


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_of_a_statement_has_not_arrived(fault):
    try:
        eval(fault)
    except Exception as error:
        assert not has_arrived(error)
    else:
        pytest.fail("no error")


@pytest.mark.parametrize("kind", [Late, TimeoutError, KeyboardInterrupt])
def test_what_another_thread_raises_has_arrived(kind):
    raises = ctypes.pythonapi.PyThreadState_SetAsyncExc
    with pytest.raises(kind) as caught:
        raises(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(kind))
        while True:
            pass
    assert has_arrived(caught.value)


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="there are no such signals here")
@pytest.mark.parametrize("form", ["function", "method", "arguments", "partial"])
def test_what_a_handler_raises_has_arrived(form):
    import functools

    def handler(signum: int, frame: Any) -> None:
        fails()

    class Handlers:
        def handle(self, signum: int, frame: Any) -> None:
            raise ValueError(signum)

    forms = {"function": handler, "method": Handlers().handle, "arguments": lambda *args: fails()}
    forms["partial"] = functools.partial(lambda more, signum, frame: fails(), 1)
    before = signal.signal(signal.SIGUSR1, forms[form])
    try:
        with pytest.raises(ValueError) as caught:
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert has_arrived(caught.value)


WHILE_RECORDING = ("recording", "sources", "trace", "protocol.py", "saved_values.py", "snapshots.py")
OTHER = ("shell/report.py",)
ASYNCHRONOUS = {"Exception", "BaseException", "RuntimeError", "ValueError", "TypeError", "AttributeError",
                "OSError", "NotImplementedError", "AssertionError", "SyntaxError"}  # fmt: skip


def caught(node: ast.ExceptHandler) -> set[str]:
    kinds = ast.walk(node.type) if node.type is not None else ()
    return {kind.id for kind in kinds if isinstance(kind, ast.Name)} if node.type else {"BaseException"}


def test_no_handler_keeps_what_arrives():
    """Where our code runs while a cell does, whatever catches errors hands on or raises what has arrived."""
    root, found = Path(minigrad_viz.__file__).parent, 0
    for path in sorted(root.rglob("*.py")):
        way = path.relative_to(root).as_posix()
        if not way.startswith(WHILE_RECORDING + OTHER) or way == "trace/json_format.py":  # of a saved trace
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.ExceptHandler) and caught(node) & ASYNCHRONOUS:
                found += 1
                says = ast.unparse(node)
                passes = "pass_on(" in says or "has_arrived(" in says
                assert passes or isinstance(node.body[-1], ast.Raise), f"{way}, line {node.lineno}"
    assert found > 15
