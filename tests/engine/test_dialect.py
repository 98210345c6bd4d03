"""The two dialects: node names, texts, warnings."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest
from op_case import results_of
from op_table import CASES
from twins import nodes

import minigrad
from minigrad.core import all_ops, dialect

pytestmark = pytest.mark.quick

# The ops of which PyTorch 1.4 printed a digit: those with several derivative overloads.
NUMBERED = (
    "Add", "Div", "Fill", "MaskedFill", "Mean", "Mul", "Pow", "Relu", "Rsub", "Squeeze", "Sub", "Sum",
    "Round", "SpecialXlog1Py",
    "Clamp", "ClampMax", "ClampMin", "Copysign", "Eq", "Fmod", "Ge", "Gt", "Le", "Lerp", "Lt", "Ne",
    "Remainder", "Xlogy",
    "All", "Any", "CountNonzero", "IndexFill", "Max", "Median", "Min", "Nanmedian", "Norm", "Normal", "Prod",
    "Scatter", "Sort", "CtcLoss", "SpecialZeta",
)  # fmt: skip
# Those that had another name, or whose overload had another digit.
OTHER = {
    "CopyBackwards": "CloneBackward",
    "FillBackward2": "FillBackward0",
    "FillBackward3": "FillBackward1",
    "SqueezeBackward4": "SqueezeBackward3",
}


@pytest.fixture(params=dialect.DIALECTS)
def name(request):
    before = dialect.get_dialect()
    dialect.set_dialect(request.param)
    yield request.param
    dialect.set_dialect(before)


def old_name(node: str) -> str:
    stem, digit = node[:-1], node[-1]
    if node in OTHER:
        return OTHER[node]
    return node if digit != "0" or stem.removesuffix("Backward") in NUMBERED else stem


def test_names_of_all_ops(name):
    for node in all_ops():
        assert dialect.node_name(node) == (node if name == "2" else old_name(node))


@pytest.mark.filterwarnings("ignore::UserWarning")  # of T on tensors that are not matrices
def test_names_in_every_graph_of_the_table(name):
    for case in CASES:
        kind = "complex128" if case.numbers == "complex" else "float64"
        inputs = [minigrad.tensor(a, requires_grad=True) for a in case.arrays(kind)]
        for node in nodes(*results_of(case.function(minigrad, *inputs))):
            printed = node.name().removeprefix("torch::autograd::")
            assert repr(node).startswith(f"<{printed} object at 0x")
            if name == "1.4":
                assert printed == "AccumulateGrad" or printed == old_name(type(node).__name__)


def test_namespaces(name):
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y[0] = 1.0
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert "grad_fn=<CopySlices>" in repr(y)
    (x**2).sum().backward(create_graph=False)
    assert x.grad.grad_fn is None


def test_the_graph_stays_the_same():
    """A dialect is a way of printing: the node is one, whichever is in force."""
    node = minigrad.tensor(1.0, requires_grad=True).log().grad_fn
    names = []
    for which in ("2", "1.4", "2"):
        dialect.set_dialect(which)
        names.append(node.name())
    assert names == ["LogBackward0", "LogBackward", "LogBackward0"]


def test_warnings_belong_to_2(name):
    x = minigrad.tensor(2.0, requires_grad=True)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert (x * 2).grad is None
        (x**2).backward(create_graph=True)
    assert len(seen) == (2 if name == "2" else 0)
    assert all(w.filename == __file__ for w in seen)


def test_unknown_dialects_are_refused():
    for wrong in ("3", 2, None):
        with pytest.raises(ValueError, match="dialect must be one of"):
            minigrad.set_dialect(wrong)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "variable, told",
    [(None, "LogBackward0"), ("2", "LogBackward0"), ("1.4", "LogBackward"), ("3", "ValueError")],
)
def test_the_environment_chooses_the_dialect(variable, told, monkeypatch):
    if variable is None:
        monkeypatch.delenv("MINIGRAD_DIALECT", raising=False)
    else:
        monkeypatch.setenv("MINIGRAD_DIALECT", variable)
    program = "import minigrad as m; print(m.tensor(5.0, requires_grad=True).log().grad_fn.name())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip() or done.stderr.splitlines()[-1].partition(":")[0]) == told
    if variable == "3":
        assert "MINIGRAD_DIALECT must be one of '1.4', '2', not '3'" in done.stderr
