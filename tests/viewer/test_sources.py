"""PyTorch as a source of events: what its ops, modules and modes leave in a trace, and that they are not
disturbed."""

from __future__ import annotations

import traceback

import pytest
from cells import CUBE, run, traced
from staged import build

from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.shell.report import Report
from minigrad_viz.sources.torch_frames import flat_arguments, title
from minigrad_viz.trace.events import BackwardStarted, Forward, InPlaceWrite, TensorCreated, TensorDetached

pytestmark = pytest.mark.quick


def decks(trace) -> list[str]:
    return [s.deck.name for s in build(trace).stations if s.deck is not None]


def of(trace, kind) -> list:
    return [e for e in trace.events if isinstance(e, kind)]


def shown(trace) -> list[str | None]:
    return [card.name or card.expr for _, card in build(trace).cards()]


def test_titles():
    assert title(float.__pow__) == "pow" and title(list.append) == "append"
    assert list(flat_arguments((1, [2, (3,)], "four"))) == [1, 2, 3, "four"]


def test_an_op_made_of_several_shows_what_really_ran(torch):
    cell = (
        "a = torch.ones(2, 3, requires_grad=True)\n"
        "loss = torch.nn.functional.cross_entropy(a, torch.tensor([0, 1]))\n"
    )
    trace = traced(cell + "loss.backward()\n", torch)
    assert decks(trace) == ["AccumulateGrad", "LogSoftmaxBackward0", "NllLossBackward0"]
    graph = build(trace)
    assert [(r.source, r.target) for r in graph.routes if r.tracked] == [("s0", "s2"), ("s2", "s3")]
    assert graph.stations[2].cards[0].value is not None, "the inner result was saved"


def test_a_module_and_its_parameters(torch):
    cell = "layer = torch.nn.Linear(2, 1)\nout = layer(torch.ones(3, 2)).sum()\nout.backward()\n"
    trace = traced(cell, torch)
    cards = {card.name: card for _, card in build(trace).cards()}
    assert cards["out"].role == "root"
    for name, grad in (("layer.weight", (3.0, 3.0)), ("layer.bias", (3.0,))):
        card = cards[name]
        assert (card.role, card.grad.items, card.grad_kept) == ("parameter", grad, True)
    assert not any(name == "Linear(2, 1)" for name in shown(trace)), (
        "what a module makes on the way is left out"
    )


def test_an_optimiser_steps(torch):
    cell = (
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "for _ in range(2):\n    opt.zero_grad()\n"
        "    loss = (w ** 2).sum()\n    loss.backward()\n    opt.step()\n"
    )
    with_, without = run(cell, torch), run(cell, torch, watched=False)
    assert with_.names["w"].tolist() == without.names["w"].tolist()
    assert len(of(with_.trace, BackwardStarted)) == 2
    assert {e.tensor.value.items for e in of(with_.trace, InPlaceWrite)} == {
        tuple(v) for v in ((torch.tensor([1.0, 2.0]) * 0.8).tolist(), with_.names["w"].tolist())
    }


def test_attributes_that_compute_and_those_that_are_read(torch):
    cell = (
        "a = torch.ones(2, 3, requires_grad=True)\nb = a.T\n"
        "c = a.data\na.shape, a.grad, a.is_leaf, a.requires_grad\n"
    )
    trace = traced(cell, torch)
    assert [e.op for e in of(trace, Forward)] == ["T"]
    assert [e.name for e in of(trace, TensorDetached)] == ["c"]


def test_new_tensors(torch):
    cell = "a = torch.zeros(2)\nb = torch.ones_like(a)\nc = a.new_zeros(3)\nd = torch.tensor([1, 2])\n"
    assert [e.name for e in of(traced(cell, torch), TensorCreated)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "write", ["y += 1", "y.mul_(2)", "y[0] = 3.0", "torch.add(y, 1, out=y)", "y.copy_(torch.ones(2))"]
)
def test_writing_into_a_tensor(torch, write):
    trace = traced(f"y = torch.zeros(2)\n{write}\n", torch)
    assert [e.tensor.version for e in of(trace, InPlaceWrite)] == [1]


def test_dtypes_that_numpy_lacks_and_tensors_without_numbers(torch):
    cell = (
        "a = torch.ones(2, dtype=torch.bfloat16)\n"
        "b = torch.empty(2, device='meta')\nc = torch.eye(2).to_sparse()\n"
    )
    states = {e.name: e.tensor.value for e in of(traced(cell, torch), TensorCreated)}
    assert (states["a"].dtype, states["a"].items) == ("bfloat16", (1.0, 1.0))
    assert (states["b"].shape, states["b"].items) == ((2,), None)
    assert run(cell, torch).error is None


def test_inference_mode(torch):
    cell = "x = torch.ones(2, requires_grad=True)\nwith torch.inference_mode():\n    y = x * 2\nprint(y)\n"
    assert run(cell, torch).told == run(cell, torch, watched=False).told
    assert build(traced(cell, torch)).note == ("no_graph_inference", {"names": "y"})


def test_other_modes_stay(torch):
    from torch.overrides import _get_current_function_mode_stack as modes

    cell = (
        "torch.set_default_device('cpu')\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\n"
    )
    try:
        trace = traced(cell, torch)
        assert [type(mode).__name__ for mode in modes()] == ["DeviceContext"]
        assert decks(trace) == ["AccumulateGrad", "MulBackward0", "SumBackward0"]
    finally:
        torch.set_default_device(None)
    assert modes() == []


def test_all_ways_to_call_backward(torch):
    calls = [
        "z.backward()", "torch.autograd.backward([z])", "torch.autograd.backward(z, inputs=[x])",
        "torch.autograd.grad(z, x)", "grad(z, x)", "z.backward(inputs=[x])",
    ]  # fmt: skip
    for call in calls:
        trace = traced(CUBE + call + "\n", torch, {"grad": torch.autograd.grad})
        kinds = [e.kind for e in of(trace, BackwardStarted)]
        assert kinds == ["grad" if "grad(" in call and "backward" not in call else "backward"], call


def test_functional_derivatives(torch):
    cell = "j = torch.autograd.functional.jacobian(lambda x: x ** 2, torch.ones(2))\nprint(j)\n"
    cell += "h = torch.func.vmap(torch.func.grad(lambda x: x ** 2))(torch.ones(3))\nprint(h)\n"
    assert run(cell, torch).told == run(cell, torch, watched=False).told


def test_a_function_is_called_with_what_the_user_gave(torch):
    """Subclasses keep their own `__torch_function__`."""
    cell = (
        "class Loud(torch.Tensor):\n    @classmethod\n"
        "    def __torch_function__(cls, func, types, args=(), kwargs=None):\n"
        "        print(func.__name__)\n"
        "        return super().__torch_function__(func, types, args, kwargs or {})\n"
        "a = torch.ones(2).as_subclass(Loud)\nb = a * 2\nprint(type(b).__name__)\n"
    )
    assert run(cell, torch).told == run(cell, torch, watched=False).told


def test_frames_of_the_viewer_hide_from_tracebacks(torch):
    space = {"torch": torch, "__name__": "__main__"}
    recorder = Recorder("", space)
    recorder.start()
    try:
        exec("torch.ones(2) @ torch.ones(3)", space)
    except RuntimeError as error:
        frames = [
            f for f, _ in traceback.walk_tb(error.__traceback__) if "minigrad_viz" in f.f_code.co_filename
        ]
        assert frames and all("__tracebackhide__" in f.f_locals for f in frames)
    finally:
        recorder.stop()


def test_threads(torch):
    """Another thread is neither watched nor disturbed."""
    cell = (
        "import threading\nout = []\ndef work():\n"
        "    a = torch.ones(2, requires_grad=True)\n    (a * 2).sum().backward()\n"
        "    out.append(a.grad.tolist())\n"
        "t = threading.Thread(target=work)\nt.start()\nt.join()\nprint(out)\n"
    )
    cell_run = run(cell, torch)
    assert cell_run.printed == "[[2.0, 2.0]]\n" and not of(cell_run.trace, BackwardStarted)


def test_a_report(torch):
    report = Report(traced(CUBE + "z.backward()\n", torch), lang="en")
    assert "z = log(y)   4.8283   root" in report.text() and report.picture.problem is None


def test_a_view_whose_history_pytorch_refuses_to_tell(torch):
    cell = (
        "v = torch.tensor([1.5], requires_grad=True)\nu = -v\n"
        "with torch.no_grad():\n    w = u.reshape(-1)\nw.add_(v)\nv.sum().backward()\n"
    )
    trace = traced(cell, torch)
    assert trace.error is not None and "view was created in no_grad mode" in trace.error
    with_it = cell.replace(
        "w.add_(v)\n", "torch.set_grad_enabled(False)\nw.add_(v)\ntorch.set_grad_enabled(True)\n"
    )
    report = Report(traced(with_it, torch), lang="en")
    assert "AccumulateGrad" in report.text()


def test_what_a_library_computes_inside_is_named_by_its_node(torch):
    cell = "m = torch.nn.Linear(2, 1)\nout = m(torch.ones(1, 2)).sum()\nout.backward()\n"
    report = Report(traced(cell, torch), lang="en", fold=False)
    assert "m.weight.T" in [card.expr for _, card in report.graph.cards()]
    assert "m.weight.T: computed inside a library; its value was not recorded" in str(report.steps)
