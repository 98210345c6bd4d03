"""What the viewer takes from minigrad: the public API and `minigrad.observing`, nothing else."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sources import nodes_of, parsed
from test_layers import imports_of, modules_under

import minigrad
from minigrad import observing
from minigrad.core.node import Node
from minigrad.core.tensor_state import TensorBase
from minigrad.core.tensor_state import wrap as wrapped
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.sources.minigrad import Minigrad

ROOT = Path(__file__).resolve().parents[2]
INTERNAL = set(modules_under(ROOT, "minigrad")) - {"minigrad", "minigrad.observing"}
PACKAGES = {"autograd", "func", "nn", "optim"}  # subpackages that users name, as attributes of `minigrad`

# Modules of minigrad that the viewer knows by name, not by import.
NAMES = {
    ("training_runs/library.py", "minigrad."): "where an optimizer or a scheduler of the library is defined",
    ("explaining/interpreter.py", "minigrad."): "functions that a fix may call when it is tried",
    ("protocol.py", "minigrad.autograd."): "methods of a custom Function that are not the user's",
    ("protocol.py", "minigrad.autograd.graph"): "the class of a hook on several tensors",
    ("saved_values.py", "minigrad.utils.checkpoint"): "whose pack hooks recompute a saved value",
    ("trace/source_positions.py", "minigrad.ops.einsum"): "functions that use tensors in loops",
    ("recording/aftermath.py", "minigrad.autograd.run"): "a frame of a traceback",
    ("recording/aftermath.py", "minigrad.autograd.tensor_backward"): "a frame of a traceback",
    ("recording/aftermath.py", "minigrad.core.engine"): "a frame of a traceback",
    ("recording/error_frames.py", "minigrad.autograd.gradcheck.checks"): "the frame that has its matrices",
    ("replay/derivation.py", "minigrad."): "the functions of a step, which say whose it is",
    ("sources/minigrad.py", "minigrad."): "frames between an op and the user's code",
    ("trace/source_positions.py", "minigrad.autograd.functional"): "frames that use tensors several times",
    ("trace/source_positions.py", "minigrad.autograd.gradcheck"): "the same",
    ("trace/source_positions.py", "minigrad.autograd.run"): "the same",
    ("trace/source_positions.py", "minigrad.func"): "the same",
}
# These read private attributes, because they note thousands of ops or look for what hooks have packed.
HURRIED = {
    "training_runs/library.py",
    "protocol.py",
    "recording/states.py",
    "saved_values.py",
    "sources/minigrad.py",
    "sources/minigrad_engine.py",
    "trace/ids.py",
}
PRIVATE = {
    name
    for cls in (Node, TensorBase)
    for name in (*cls.__slots__, *cls.__annotations__)
    if name[0] == "_" and name[:2] != "__"
}


def viewer() -> Iterator[tuple[str, ast.Module]]:
    """Every file of the viewer, by its path there, as a syntax tree."""
    home = ROOT / "minigrad_viz"
    for path in sorted(home.rglob("*.py")):
        yield path.relative_to(home).as_posix(), parsed(path)


def forbidden(tree: ast.Module) -> Iterator[str]:
    """The internal modules of minigrad that a file imports from, or reads as attributes of `minigrad`."""
    for item in imports_of(tree, "minigrad_viz.file", is_package=False):
        home, _, name = item.target.rpartition(".")
        module = item.target in INTERNAL and not callable(getattr(minigrad, name, None))
        taken = home in ("", "minigrad.observing") or (home == "minigrad" and not module)
        if item.target.startswith("minigrad.") and not taken:
            yield f"{item.line}: {item.target}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            internal = f"minigrad.{node.attr}" in INTERNAL and node.attr not in PACKAGES
            if node.value.id == "minigrad" and internal and not callable(getattr(minigrad, node.attr, None)):
                yield f"{node.lineno}: minigrad.{node.attr}"


def test_the_viewer_imports_the_public_api_and_observing():
    found = [f"{path}:{line}" for path, tree in viewer() for line in forbidden(tree)]
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize(
    "code",
    [
        "from minigrad.core import F",
        "import minigrad.core.engine",
        "from minigrad import core",
        "from minigrad.tensor.autograd import CPP_NAMES",
        "def f():\n    from minigrad.inplace.views import regenerate",
        "import importlib\nimportlib.import_module('minigrad.core')",
        "import minigrad\nminigrad.core.modes.state",
    ],
)
def test_an_internal_import_is_found(code):
    assert list(forbidden(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "import minigrad",
        "import minigrad as torch",
        "from minigrad import Tensor, tensor",
        "from minigrad import observing",
        "from minigrad.observing import F",
        "import minigrad\nminigrad.autograd.grad",
        "from .minigrad import Minigrad",
    ],
)
def test_public_imports_are_allowed(code):
    assert not list(forbidden(ast.parse(code)))


def test_internal_modules_are_known_by_name_only_where_that_is_listed():
    found = set()
    for path, tree in viewer():
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and re.fullmatch(r"minigrad\.[a-z_.]*", text):
                found.add((path, text))
    assert found == set(NAMES)
    for _, name in NAMES:
        assert name.endswith(".") or name in INTERNAL, f"minigrad has no module {name}"


def test_private_state_is_read_in_few_files():
    found = {
        path
        for path, tree in viewer()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and (node.attr in PRIVATE or node.attr.startswith("_raw_"))
        and getattr(node.value, "id", "") != "self"
    }
    assert found == HURRIED


def test_every_name_exists_and_is_used_by_the_viewer():
    texts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "minigrad_viz").rglob("*.py"))
    for name in set(observing.__all__) - {"Observer"}:
        assert hasattr(observing, name)
        assert re.search(rf"\b{name}\b", texts), f"the viewer does not use observing.{name}"


# ── observers
# ─────────────────────────────────────────────────────────────────────────────────────────────────

METHODS = {name for name, value in vars(observing.Observer).items() if inspect.isfunction(value)}


def test_an_observer_has_a_method_for_each_call_that_minigrad_makes():
    called = set()
    for path in (ROOT / "minigrad").rglob("*.py"):
        for node in nodes_of(path):
            function = node.func if isinstance(node, ast.Call) else None
            if getattr(getattr(function, "value", None), "id", "") in ("watcher", "observer"):
                called.add(function.attr)
            if getattr(function, "attr", getattr(function, "id", "")) == "notify":
                called.add(node.args[0].value)
    assert called == METHODS


def test_the_viewers_observer_has_all_methods():
    recorder = Recorder("", {})
    source = Minigrad()
    source.attach(recorder)
    try:
        assert not [name for name in METHODS if not callable(getattr(source, name, None))]
    finally:
        source.detach()


class Names(observing.Observer):
    """Notes the ops and nodes that ran."""

    def __init__(self):
        self.seen = []

    def forward(self, op, inputs, outputs):
        self.seen.append(op.name)

    def node_ran(self, node, received, sent):
        self.seen.append(type(node).__name__)


def test_an_observer_defines_what_it_needs():
    observer = Names()
    x = minigrad.tensor(2.0, requires_grad=True)
    observing.add_observer(observer)
    try:
        y = x.log()
        with observing.hidden_from_observers():
            y.exp()
        y.backward()
        x.grad = None
    finally:
        observing.remove_observer(observer)
    y.exp()
    assert observer.seen == ["log", "LogBackward0", "AccumulateGrad"]


# ── state
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_was_released():
    x = minigrad.tensor(2.0, requires_grad=True)
    y = x.log()
    node = observing.gradient_node(y)
    assert node is y.grad_fn
    assert observing.is_untouched(node) and not observing.is_released(node)
    y.backward()
    assert observing.is_released(node) and not observing.is_untouched(node)
    leaf = observing.gradient_node(x)
    assert isinstance(leaf, observing.AccumulateGrad) and leaf.variable is x
    assert leaf._sequence_nr() == observing.LAST
    assert observing.gradient_node(x.detach()) is None


def test_memory_that_is_shared_is_not_untouched():
    x = minigrad.tensor([2.0, 3.0], requires_grad=True)
    y = x.exp()
    node = y.grad_fn
    assert observing.is_untouched(node)
    y.add_(1)
    assert not observing.is_untouched(node)


def test_modes_that_change_results():
    assert observing.has_plain_results() and observing.is_recording() and not observing.is_forward()
    with minigrad.no_grad():
        assert observing.has_plain_results() and not observing.is_recording()
    with minigrad.inference_mode():
        assert not observing.has_plain_results()
    with minigrad.autograd.forward_ad.dual_level():
        assert not observing.has_plain_results() and observing.is_forward()


def test_inside_a_saved_tensor_hook():
    inside = []

    def pack(t):
        inside.append(observing.in_saved_hook())
        return t

    x = minigrad.tensor(2.0, requires_grad=True)
    with minigrad.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        assert not observing.has_plain_results() and not observing.in_saved_hook()
        x.log()
    assert inside == [True]


def test_tensors_and_names():
    x = minigrad.tensor([1 + 2j])
    assert observing.numbers(x.conj()) == 1 - 2j and observing.memory(x.conj()) == 1 + 2j
    assert observing.tangent(x) is None
    with minigrad.autograd.forward_ad.dual_level():
        dual = minigrad.autograd.forward_ad.make_dual(x, x)
        assert observing.tangent(dual) is not None
    assert observing.is_differentiable(np.dtype("complex64"))
    assert not observing.is_differentiable(np.dtype("int64"))
    assert observing.ghost_name(observing.F.log.op) == "LogBackward0"
    assert observing.ghost_name(observing.F.isfinite.op) == ""
    assert observing.vjp_arguments(lambda g, self, dim: g) == ("self", "dim")
    assert observing.wrap is wrapped
