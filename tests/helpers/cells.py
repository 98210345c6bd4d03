"""The documented computations as short cells, for the tests of the viewer, and how to run one with and
without a recorder. `torch` in them is minigrad or PyTorch."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any, NamedTuple

import minigrad
from minigrad_viz import why_none
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.shell import explain
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import Trace

MY_POW = """
class MyPow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, base, exponent):
        ctx.save_for_backward(base, exponent)
        return base ** exponent

    @staticmethod
    def backward(ctx, g):
        base, exponent = ctx.saved_tensors
        return g * exponent * base ** (exponent - 1), g * base ** exponent * torch.log(base)
"""
CUBE = "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\nz = torch.log(y)\n"
PLAIN = "x = torch.tensor(5.0)\ny = x ** 3\nz = torch.log(y)\n"
VECTOR = "x = torch.tensor(5.0, requires_grad=True)\ny = x * torch.tensor([2.0, 3.0, 5.0])\n"
WEIGHTS = "torch.tensor([4.0, 7.0, 9.0])"
POWER = "q = torch.tensor(3.0, requires_grad=True)\nx = torch.tensor(5.0, requires_grad=True)\n"
CHECK = "a = torch.tensor(5.0, dtype=torch.float64, requires_grad=True)\n"

CELLS = {
    1: PLAIN,
    2: PLAIN + "x2 = torch.tensor(5.001)\nquotient = (torch.log(x2 ** 3) - z) / (x2 - x)\n",
    3: PLAIN + "print(x.requires_grad, x.is_leaf, x.grad_fn, x.grad)\n",
    4: CUBE + "z.backward()\nprint(x.grad)\n",
    5: CUBE + "y.retain_grad()\nz.retain_grad()\nz.backward()\n",
    6: CUBE + "z.backward()\nz.backward()\n",
    7: CUBE + "z.backward(retain_graph=True)\nz.backward()\n",
    8: CUBE + "z.backward(retain_graph=True)\nx.grad.zero_()\nz.backward()\n",
    9: "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\nw = x ** 2\n"
    "z = torch.log(y) + torch.sqrt(w)\nz.backward()\n",
    10: POWER + "y = x ** q\nz = torch.log(y)\nz.backward()\n",
    11: MY_POW + POWER + "y = MyPow.apply(x, q)\nz = torch.log(y)\nz.backward()\n",
    12: f"with torch.no_grad():\n    {POWER.replace(chr(10), chr(10) + '    ')}y = x ** q\n"
    "    z = torch.log(y)\nz.backward()\n",
    13: VECTOR + f"z = y @ {WEIGHTS}\ny.retain_grad()\nz.backward()\n",
    14: VECTOR + f"w = y.detach()\nz = w @ {WEIGHTS}\nz.backward()\n",
    15: VECTOR + f"w = y.detach()\nw.requires_grad_()\nz = w @ {WEIGHTS}\nz.backward()\n",
    16: VECTOR + f"w = y.detach()\nw.requires_grad_()\nz = w @ {WEIGHTS}\nz.backward()\n"
    "y.backward(gradient=w.grad)\n",
    17: CUBE + "z.backward()\ntorch.autograd.grad(x.grad, x)\n",
    18: CUBE + "z.backward(create_graph=True)\nsecond, = torch.autograd.grad(x.grad, x)\n",
    19: CUBE + "hook = y.register_hook(lambda g: (print(g), g * 2)[1])\nz.backward()\nhook.remove()\n",
    20: MY_POW + CHECK + "ok = torch.autograd.gradcheck(lambda a: MyPow.apply(a, a + 1), (a,))\nprint(ok)\n",
    21: MY_POW.replace("exponent * base **", "base **")
    + CHECK
    + "b = torch.tensor(3.0, dtype=torch.float64)\n"
    + "torch.autograd.gradcheck(lambda a: MyPow.apply(a, b), (a,))\n",
    22: "x = torch.tensor(5.0, requires_grad=True)\nz = torch.log(x ** 3) + x ** 2\n"
    "print([n.name() for n, _ in z.grad_fn.next_functions])\n",
}


class Run(NamedTuple):
    """A cell that ran: its variables, what it printed, the error that ended it, its trace."""

    names: dict[str, Any]
    printed: str
    error: Exception | None
    trace: Trace | None

    @property
    def told(self) -> tuple[str, str]:
        """What a user saw: the output and the error."""
        return self.printed, repr(self.error)


def run(
    source: str, library: Any = minigrad, watched: bool = True, names: dict[str, Any] | None = None
) -> Run:
    """Run a cell with `torch` as its library and further `names`."""
    space: dict[str, Any] = {"torch": library, "__name__": "__main__", **(names or {})}
    code = compile(source, "<cell>", "exec")
    recorder = Recorder(source, space) if watched else None
    printed, error = io.StringIO(), None
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if recorder is not None:
            recorder.start()
        try:
            exec(code, space)
        except Exception as raised:
            error = raised
        finally:
            trace = None if recorder is None else recorder.stop(error)
            error = None if error is None else error.with_traceback(None)
    return Run(space, printed.getvalue(), error, trace)


def traced(source: str, library: Any = minigrad, names: dict[str, Any] | None = None) -> Trace:
    """The trace of a cell."""
    trace = run(source, library, names=names).trace
    assert trace is not None
    return trace


def watched_cell(source: str, library: Any, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run a cell as `%%autograd` does, whose report is the last one; its variables."""
    space = {"torch": library, "__name__": "__main__", "why_none": why_none, **(names or {})}
    recorder, error = Recorder(source, space), None
    code = compile(source, "<cell>", "exec")
    recorder.start()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            exec(code, space)
        except BaseException as raised:
            error = raised
        finally:
            explain.remember(Report(recorder.stop(error)), error, recorder.tape.ids)
    return space
