"""Anomaly detection against PyTorch: the switches, the NaN check, and the warning with the forward call.

PyTorch adds to a warning where in its sources it was raised, and its traceback has frames of PyTorch's own;
both are left out of the comparison.
"""

import re
import sys
import warnings
import weakref

import pytest
from functions import leaf, made, of_inputs
from twins import outcome
from watching import collector_off, watched

import minigrad
from minigrad.core import modes

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def off_again():
    yield
    for L in (minigrad, sys.modules.get("torch", minigrad)):
        L.set_anomaly_enabled(False)


def cleaned(text):
    """A warning's text with the user's frames only."""
    text = re.sub(r" \(Triggered internally at .*\)$", "", text)
    lines = text.split("\n")
    kept = []
    for line in lines:
        if line.startswith("  File "):
            kept.append(line)
        elif line.startswith("    ") and kept and kept[-1].startswith("  File "):
            kept[-1] += "\n" + line if "test_anomaly.py" in kept[-1] else ""
        else:
            kept.append(line)
    return "\n".join(k for k in kept if not k.startswith("  File ") or "test_anomaly.py" in k)


def ending_and_warnings(function, *args):
    """How a call ends, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = outcome(function, *args)
    return result, [(w.category.__name__, cleaned(str(w.message))) for w in caught]


def failing(L):
    """A Function whose backward fails, and one whose backward calls it."""

    def refuse(ctx, g):
        raise ValueError("no way back")

    fails = made(L, lambda ctx, a: a.clone(), refuse)
    return fails, of_inputs(L, lambda a: a.clone(), lambda g, a: fails.apply(g * a))


def switches(L):
    return L.is_anomaly_enabled(), L.is_anomaly_check_nan_enabled()


def test_the_switches(L, note):
    note(switches(L))
    note(ending_and_warnings(lambda: L.autograd.detect_anomaly() and None), switches(L))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with L.autograd.detect_anomaly() as given:
            note(switches(L), given)
            with L.autograd.detect_anomaly(check_nan=False):
                note(switches(L))
                with L.autograd.set_detect_anomaly(False):
                    note(switches(L))
                note(switches(L))
            note(switches(L))
    note(switches(L))
    L.autograd.set_detect_anomaly(True)
    note(switches(L))
    L.autograd.set_detect_anomaly(False, check_nan=False)
    note(switches(L))
    L.set_anomaly_enabled(True, True)
    note(switches(L))
    L.set_anomaly_enabled(False)
    note(switches(L))
    for args in (("a",), (1,), (None,), (True, 1), (True, None)):
        note.error(lambda args=args: L.autograd.set_detect_anomaly(*args) and None)
        note.error(lambda args=args: L.set_anomaly_enabled(*args))
    note(switches(L), L.autograd.anomaly_mode.detect_anomaly is L.autograd.detect_anomaly)


def test_nan_in_a_gradient(L, note):
    x = leaf(L, 0.0, 2.0)

    def forward():
        return (x * 0 / x).sum()

    for check in (True, False):
        x.grad = None
        with L.autograd.set_detect_anomaly(True, check_nan=check):
            note(ending_and_warnings(lambda: forward().backward()))
            note(ending_and_warnings(lambda: L.autograd.grad(forward(), x, create_graph=True)))
        note(x.grad)
    y = forward()
    with L.autograd.set_detect_anomaly(True):
        note(ending_and_warnings(y.backward))
    note(x.grad, ending_and_warnings(lambda: forward().backward()), x.grad)


def test_nan_that_hooks_make_or_take_away(L, note):
    x = leaf(L, 0.0, 2.0)
    with L.autograd.set_detect_anomaly(True):
        y = x * 1
        y.grad_fn.register_hook(lambda sent, received: (sent[0] * float("nan"), sent[1]))
        note(ending_and_warnings(lambda: y.sum().backward()))
        z = x / x
        z.grad_fn.register_hook(lambda sent, received: (L.ones(2), L.ones(2)))
        note(ending_and_warnings(lambda: z.sum().backward()))
        w = x * 1
        w.register_hook(lambda g: g * float("nan"))
        note(ending_and_warnings(lambda: w.sum().backward()))
    note(x.grad)


def test_where_the_error_comes_from(L, note):
    x = leaf(L, 1.0, 2.0)
    Fails, _ = failing(L)
    with L.autograd.set_detect_anomaly(True):
        y = Fails.apply(x) * 2
        note(ending_and_warnings(lambda: y.sum().backward()))
        z = x * 2
        z.register_hook(lambda g: 1 // 0)
        note(ending_and_warnings(lambda: z.sum().backward()))
        s = (x * x).sum()
        s.backward()
        note(ending_and_warnings(s.backward))
    y = Fails.apply(x) * 2
    with L.autograd.set_detect_anomaly(True):
        note(ending_and_warnings(lambda: y.sum().backward()))
    with L.autograd.set_detect_anomaly(True):
        y = Fails.apply(x) * 2
    note(ending_and_warnings(lambda: y.sum().backward()))


def test_an_error_at_a_leaf(L, note):
    x = leaf(L, 1.0, 2.0)
    with L.autograd.set_detect_anomaly(True):
        y = x * 2
        x.register_hook(lambda g: 1 // 0)
        note(ending_and_warnings(lambda: y.sum().backward()))


def test_a_value_that_was_written_to(L, note):
    x = leaf(L, 1.0, 2.0)

    def forward():
        a = x.exp()
        b = a * 2
        a.add_(1)
        return b.sum() + a.sum()

    with L.autograd.set_detect_anomaly(True):
        note(ending_and_warnings(lambda: forward().backward()))
    note(ending_and_warnings(lambda: forward().backward()))


def test_what_induced_it(L, note):
    x = leaf(L, 1.0, 2.0)
    _, Calls = failing(L)
    with L.autograd.set_detect_anomaly(True):
        y = Calls.apply(x)
        (g,) = L.autograd.grad(y.sum(), x, create_graph=True)
        note(sorted(g.grad_fn.metadata), g.grad_fn.metadata["parent_"])
        note(g.grad_fn.metadata["parent_"] is y.grad_fn)
        note(ending_and_warnings(lambda: g.sum().backward()))
    y = Calls.apply(x)
    with L.autograd.set_detect_anomaly(True):
        (g,) = L.autograd.grad(y.sum(), x, create_graph=True)
        note(ending_and_warnings(lambda: g.sum().backward())[0])


def test_three_levels(L, note):
    x = leaf(L, 1.0, 2.0)
    with L.autograd.set_detect_anomaly(True):
        y = x * x * x
        (g,) = L.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = L.autograd.grad(g.sum(), x, create_graph=True)
        names, node = [], h.grad_fn
        while node is not None:
            names.append(node.name())
            node = node.metadata.get("parent_")
        note(names)


def test_nested_passes(L, note):
    x = leaf(L, 1.0, 2.0)
    Fails, _ = failing(L)
    with L.autograd.set_detect_anomaly(True):
        inner = Fails.apply(x).sum()
        y = x * 2
        y.register_hook(lambda g: inner.backward())
        note(ending_and_warnings(lambda: y.sum().backward()))
        note(ending_and_warnings(lambda: (x * 3).sum().backward()), x.grad)


def test_which_nodes_remember(L, note):
    x = leaf(L, 1.0, 2.0)
    Fails, _ = failing(L)

    def shown(*nodes):
        note([(n.name(), sorted(n.metadata)) for n in nodes])

    before = x * 1
    with L.autograd.set_detect_anomaly(True):
        a = (before * 2).exp()
        b = Fails.apply(a)
        c = a.unbind(0)[0]
        d = a.clone()
        d[0].mul_(3)
        d.add_(1)
        shown(
            before.grad_fn,
            a.grad_fn,
            b.grad_fn,
            c.grad_fn,
            d.grad_fn,
            *(n for n, _ in d.grad_fn.next_functions if n),
        )
        shown((leaf(L, 1.0) * 2).grad_fn.next_functions[0][0], before.grad_fn.next_functions[0][0])
    shown((x * 2).grad_fn)


def test_the_line_of_the_call(L, note):
    x = leaf(L, 1.0, 2.0)
    with L.autograd.set_detect_anomaly(True):
        for t in (x.exp(), x * 2, x.view(2, 1), x @ x, x[0], x.clone().add_(1), L.exp(x), x.sum()):
            note(t.grad_fn.metadata["traceback_"][-1])


# ------------------------------------------------------------------------------- what is our own


def test_the_traceback_ends_with_the_user_and_has_none_of_ours():
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    Twice = made(minigrad, lambda ctx, a: a * 2, lambda ctx, g: g * x)
    with minigrad.autograd.set_detect_anomaly(True):
        y = Twice.apply(x)
        (g,) = minigrad.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = minigrad.autograd.grad((x * x).sum(), x, create_graph=True)
    for node, line in ((y.grad_fn, "Twice.apply(x)"), (g.grad_fn, "g: g * x"), (h.grad_fn, "grad((x * x)")):
        frames = node.metadata["traceback_"]
        assert line in frames[-1], frames
        assert not [f for f in frames if "minigrad/" in f or ('"<string>"' in f and "<module>" not in f)]


def test_the_warning_points_at_the_users_line():
    x = minigrad.tensor([0.0, 2.0], requires_grad=True)
    with minigrad.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="nan values"):
            (x * 0 / x).sum().backward()
    assert [w.filename for w in caught] == [__file__]


def test_where_warnings_are_errors_the_first_error_wins(capsys):
    x = minigrad.tensor([0.0, 2.0], requires_grad=True)
    with minigrad.autograd.set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(
            RuntimeError, match=r"Function 'DivBackward.*' returned nan values in its 1th output"
        ):
            (x * 0 / x).sum().backward()
    assert "Error detected in DivBackward" in capsys.readouterr().err


def test_state_is_as_before_after_an_error():
    before = modes.snapshot()
    x = minigrad.tensor([0.0, 2.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError), minigrad.autograd.detect_anomaly():
            (x * 0 / x).sum().backward()
    assert modes.snapshot() == before
    y = x * 3
    assert y.grad_fn._extra is None
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_the_graph_is_freed_without_the_collector():
    class Marked(list):
        pass

    with collector_off():
        x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        with minigrad.autograd.set_detect_anomaly(True):
            y = (x * x).exp()
            mark = y.grad_fn.metadata["mark"] = Marked()
            (g,) = minigrad.autograd.grad(y.sum(), x, create_graph=True)
            g.sum().backward()
        gone = weakref.ref(mark)
        del x, y, g, mark
        assert gone() is None


def test_observers_are_told():
    with watched("mode_changed") as told:
        with minigrad.autograd.set_detect_anomaly(True), minigrad.autograd.set_detect_anomaly(True, False):
            told.append("inside")
        minigrad.autograd.set_detect_anomaly(False)
    assert told == [("mode_changed", "anomaly", True), "inside", ("mode_changed", "anomaly", False)]


def test_same_numbers_as_without():
    def program():
        x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        w = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        y = ((w @ x).relu() * x).sum()
        gx, gw = minigrad.autograd.grad(y, [x, w], create_graph=True)
        (gx.sum() * gw.sum()).backward()
        return x.grad.tolist(), w.grad.tolist()

    expected = program()
    with minigrad.autograd.set_detect_anomaly(True):
        assert program() == expected
