"""Saved-tensor hooks around every op; threads, memory and observers."""

import threading
import weakref

import pytest
from test_ops import TRIED, leaves, results_of, seed
from twins import dialect, noted
from watching import collector_off, watched

import minigrad
from minigrad.core import modes


def recording(L, log):
    """A pair of hooks that note what they see and keep a detached tensor."""
    ids = {}

    def pack(t):
        log(
            "pack",
            ids.get(id(t), "another"),
            noted(t),
            t.is_leaf,
            t._version,
            L.is_grad_enabled(),
        )
        return t.detach()

    def unpack(t):
        log("unpack", noted(t), L.is_grad_enabled())
        return t

    return ids, pack, unpack


DOUBLES = [(case, dtype) for case, dtype in TRIED if dtype in ("float64", "complex128")]


@pytest.mark.quick(100)
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(("case", "dtype"), DOUBLES, ids=[f"{case.name} {dtype}" for case, dtype in DOUBLES])
def test_every_op_packs_and_unpacks_in_pytorchs_order(torch, case, dtype, create_graph):
    """What each op hands to the hooks, in which order, with which place in the graph; and when it is read."""
    if create_graph and (case.other_order or not case.twice):
        pytest.skip("its second-order graph has the same values by other products")
    if case.name == "combinations":
        pytest.skip("the mask was written to in another number of steps, which shows in its version")
    diaries = []
    with dialect("2"):
        for library in (minigrad, torch):
            log = []
            ids, pack, unpack = recording(library, lambda *line, log=log: log.append(line))
            inputs = leaves(library, case, dtype)
            ids.update((id(t), i) for i, t in enumerate(inputs))
            with library.autograd.graph.saved_tensors_hooks(pack, unpack):
                results = results_of(case.function(library, *inputs))
            log.append("backward")
            library.autograd.backward(results, [seed(library, r) for r in results], create_graph=create_graph)
            log.append([noted(t.grad)[:3] for t in inputs if t.grad is not None])
            diaries.append(log)
    if case.other_order:
        diaries = [[line for line in log if not isinstance(line, list)] for log in diaries]
    assert repr(diaries[0]) == repr(diaries[1])


def test_hooks_belong_to_their_thread():
    seen, a = [], minigrad.tensor([1.0], requires_grad=True)

    def work():
        seen.append(modes.state.saved_hooks)
        with minigrad.autograd.graph.saved_tensors_hooks(lambda t: seen.append("theirs") or t, lambda t: t):
            a * a

    with minigrad.autograd.graph.saved_tensors_hooks(lambda t: seen.append("mine") or t, lambda t: t):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [(), "theirs", "theirs"]


def test_no_reference_cycle():
    """A packed output refers to its node by nothing: the graph dies with its last tensor."""
    with collector_off():
        a = minigrad.tensor([1.0, 2.0], requires_grad=True)
        with minigrad.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
            y = (a * a).exp()
        assert y.grad_fn._saved_result.tolist() == y.tolist()
        reference = weakref.ref(y)
        kept = weakref.ref(y.grad_fn._raw_saved_result.data)
        del y
        assert reference() is None and kept() is None


def test_observers_are_told():
    a = minigrad.tensor([2.0], requires_grad=True)
    with watched("packed", "unpacked", "mode_changed") as told:
        with minigrad.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), minigrad.tensor):
            y = (a * a).sum()
        y.backward()
    node = y.grad_fn.next_functions[0][0]
    assert [[x.tolist() if isinstance(x, minigrad.Tensor) else x for x in event] for event in told] == [
        ["mode_changed", "saved_tensors_hooks", True],
        ["packed", node, "other", [2.0], [2.0]],
        ["packed", node, "self", [2.0], [2.0]],
        ["mode_changed", "saved_tensors_hooks", False],
        ["unpacked", node, "other", [2.0], [2.0]],
        ["unpacked", node, "self", [2.0], [2.0]],
    ]
