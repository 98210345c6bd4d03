"""One declaration is all that an op needs: everything else about it follows, and can be read.

The ops of this module are declared here, and taken back at its end.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback

import numpy as np
import ops_page
import pytest

import minigrad as mg
from minigrad import nn
from minigrad.autograd import gradcheck, gradgradcheck
from minigrad.core import F, all_ops, differentiable, public
from minigrad.core.op import OPS
from minigrad.ops import elementary as pointwise
from minigrad.ops.kernels import activation
from minigrad.tensor import signatures
from minigrad_viz.arithmetic.typeset import typeset
from minigrad_viz.flow import node_vjps

pytestmark = pytest.mark.quick

NAMES = (
    "pull_in",
    "pulled",
    "row_dots",
    "ripple",
    "ripple_backward",
)  # of the ops below, which PyTorch does not have


@pytest.fixture(scope="module", autouse=True)
def declared():
    """The declarations, for the tests of this module."""
    before = len(public.names)

    @differentiable(
        self=lambda g, self: g / F.pow_scalar(F.add_scalar(F.abs(self), 1), 2),
        elementwise=True,
        floating=True,
        also="pulled",
    )
    def pull_in(self):
        """Divide each element by 1 plus its absolute value."""
        return self / (np.abs(self) + 1)

    @differentiable(
        self=lambda g, weight: F.unsqueeze(g, -1) * weight,
        weight=lambda g, self: F.unsqueeze(g, -1) * self,
        forms="function method",
        out="same",
    )
    def row_dots(self, weight, low=0):
        """Dot products of the rows from the column `low` on, which has to be 0."""
        if low:
            raise ValueError("low has to be 0")
        return (self * weight).sum(-1)

    @activation(
        "ripple_backward",
        slope=lambda g, x, speed: g * np.cos(x * speed) * speed,
        bend=lambda g, self, speed: F.neg(g) * F.sin(self * speed) * speed**2,
        forms="function",
    )
    def ripple(self, speed):
        """Return the sine of each element times `speed`."""
        return np.sin(self * speed)

    node_vjps.rules.cache_clear()
    signatures.forms.cache_clear()
    yield
    del public.names[before:]
    for name in NAMES:
        for each in (name, name + "_"):
            for scope in (F, mg.Tensor, mg):
                if each in vars(scope):
                    delattr(scope, each)
    for node in ("PullInBackward0", "RowDotsBackward0", "RippleBackward0", "RippleBackwardBackward0"):
        del OPS[node]
    node_vjps.rules.cache_clear()
    signatures.forms.cache_clear()


def leaf(*numbers: float, dtype=mg.float32) -> mg.Tensor:
    return mg.tensor(numbers, dtype=dtype, requires_grad=True)


# ── the forms


def test_the_function_the_method_and_other_names():
    x = leaf(1.0, -3.0)
    for y in (mg.pull_in(x), x.pull_in(), mg.pulled(x), x.pulled(), mg.pull_in(input=x)):
        assert y.tolist() == [0.5, -0.75]
        assert type(y.grad_fn).__name__ == "PullInBackward0"
    assert mg.row_dots(x, x).item() == x.row_dots(x).item() == 10.0


def test_in_place():
    x = leaf(1.0, -3.0)
    y = x.clone()
    assert y.pull_in_() is y and mg.pulled_(y) is y
    assert y.tolist() == pytest.approx([0.5 / 1.5, -0.75 / 1.75])
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([1 / 9, 1 / 49])
    assert not hasattr(mg, "row_dots_") and not hasattr(mg.Tensor, "row_dots_")


def test_out():
    x, out = mg.tensor([1.0, -3.0]), mg.empty(2)
    assert mg.pull_in(x, out=out) is out and out.tolist() == [0.5, -0.75]
    total = mg.empty(())
    assert mg.row_dots(x, x, out=total) is total and total.item() == 10.0
    with pytest.raises(RuntimeError, match=r"[Dd]ouble|[Ff]loat"):
        mg.row_dots(x, x, out=mg.empty((), dtype=mg.float64))


def test_whole_numbers_become_floating():
    assert mg.tensor([1, -3]).pull_in().dtype is mg.float32


# ── what is said of it


def test_its_signature_and_documentation():
    assert list(inspect.signature(mg.row_dots).parameters)[1:3] == ["weight", "low"]
    assert inspect.signature(mg.row_dots).parameters["low"].default == 0
    assert len(inspect.signature(mg.Tensor.pull_in_).parameters) == 1
    for function in (mg.pull_in, mg.Tensor.pull_in, mg.pulled):
        assert function.__doc__.startswith("Divide each element by 1 plus")
    assert mg.pull_in.__name__ == "pull_in"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: mg.pull_in("a"), "pull_in(): argument 'input' (position 1) must be Tensor, not str"),
        (lambda x: mg.pull_in(x, 1), "pull_in() takes 1 positional argument but 2 were given"),
        (lambda x: x.pull_in(1), "pull_in() takes 0 positional arguments but 1 was given"),
        (lambda x: x.pull_in_(1), "pull_in_() takes 0 positional arguments but 1 was given"),
        (lambda x: mg.pulled(x, dim=1), "pulled() got an unexpected keyword argument 'dim'"),
        (lambda x: mg.pull_in(x, out=3), "pull_in(): argument 'out' must be Tensor, not int"),
        (
            lambda x: mg.row_dots(x, "a"),
            "row_dots(): argument 'weight' (position 2) must be Tensor, not str",
        ),
        (lambda x: x.row_dots(3), "row_dots(): argument 'weight' (position 1) must be Tensor, not int"),
        (
            lambda x: mg.row_dots(x, x, "b"),
            "row_dots(): argument 'low' (position 3) must be Number, not str",
        ),
    ],
)
def test_errors_about_its_arguments(call, text):
    with pytest.raises(TypeError) as caught:
        call(mg.tensor([1.0, 2.0]))
    assert str(caught.value) == text


def test_the_line_of_the_docs():
    lines = ops_page.forms().splitlines()
    every = [line for line in lines if "`pull_in`" in line]
    assert len(every) == 1 and "`log`" in every[0] and "`pulled`" in every[0]
    assert every[0].startswith("- function, method, function in place, method in place, `out=`: ")
    assert [line.partition(":")[0] for line in lines if "`row_dots`" in line] == [
        "- function, method, `out=`"
    ]


# ── its node


def test_its_node():
    x, weight = leaf(1.0, -3.0), mg.tensor([2.0, 4.0])
    node = mg.pull_in(x).grad_fn
    assert node.name() in ("PullInBackward", "PullInBackward0")
    assert node._saved_self is x
    node = mg.row_dots(x, weight).grad_fn
    assert node._saved_weight is weight and node._saved_self is None
    assert node.next_functions[1] == (None, 0)
    assert {"PullInBackward0", "RowDotsBackward0"} <= set(all_ops())


def test_its_formula_in_the_viewer():
    found = node_vjps.local_derivative("PullInBackward0", 0, {"self": np.float32(3)}, {"self": "x"})
    assert found is not None and float(found.value) == 1 / 16
    assert typeset(found).plain == "1/(|x| + 1)²"


def test_its_derivatives():
    x = mg.tensor([[1.5, -0.5], [2.0, 0.25]], dtype=mg.float64, requires_grad=True)
    w = mg.tensor([[0.5, 1.0], [-2.0, 3.0]], dtype=mg.float64, requires_grad=True)
    for function, given in ((mg.pull_in, (x,)), (mg.row_dots, (x, w))):
        assert gradcheck(function, given) and gradgradcheck(function, given)
    assert gradcheck(mg.pull_in, (x,), check_forward_ad=True)
    model = nn.Linear(2, 2).double()
    model(x).pull_in().sum().backward()
    assert model.weight.grad is not None


def test_slope_and_bend_declare_the_backward_op():
    x = mg.tensor([1.5, -0.5], dtype=mg.float64, requires_grad=True)
    assert gradcheck(mg.ripple, (x, 3)) and gradgradcheck(mg.ripple, (x, 3))
    assert F.ripple_backward.op.params == ("grad_output", "self", "speed")
    (first,) = mg.autograd.grad(mg.ripple(x, 3).sum(), x, create_graph=True)
    assert np.allclose(first.tolist(), 3 * np.cos(3 * np.array(x.tolist())), rtol=1e-12)
    node = first.grad_fn
    assert node.name() in ("RippleBackwardBackward", "RippleBackwardBackward0")
    assert node._saved_self is x and node._saved_speed == 3 and node._saved_grad_output.tolist() == [1, 1]
    half = mg.tensor([1.5, -0.5], dtype=mg.float16)  # computed in float32
    assert F.ripple_backward(half, half, 0.1)._data.tolist() == [
        float(np.float16(np.float32(v) * np.cos(np.float32(v) * np.float32(0.1)) * np.float32(0.1)))
        for v in half.tolist()
    ]


# ── reading the engine


def test_the_source_of_a_function_is_its_declaration():
    source = inspect.getsource(mg.log)
    assert source.startswith("@") and "self=lambda g, self: g / self" in source
    assert "def log(self):" in source and "return np.log(self)" in source
    for function in (mg.log, mg.Tensor.log):
        assert inspect.getsourcefile(inspect.unwrap(function)) == pointwise.__file__


def lines_reached(function) -> set[tuple[str, int]]:
    """The files and lines that run while a function does, as a debugger sees them."""
    reached = set()

    def trace(frame, event, _):
        if "_cls" in frame.f_code.co_varnames:
            return None  # a named tuple is made, by text of the standard library
        reached.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return reached


def test_a_breakpoint_in_a_vjp_is_reached_by_backward():
    z = mg.log(leaf(5.0)).sum()
    vjp = z.grad_fn.next_functions[0][0].op.vjps["self"]
    home, line = vjp.__code__.co_filename, vjp.__code__.co_firstlineno
    assert "lambda g, self: g / self" in linecache.getline(home, line)
    reached = lines_reached(z.backward)
    assert (home, line) in reached
    assert "<string>" not in {path for path, _ in reached}


@pytest.mark.parametrize("where", ["kernel", "vjp"])
def test_a_traceback_shows_real_files_and_lines(where):
    x = leaf(1.0, 2.0)

    def fail(*args):
        raise ZeroDivisionError("on purpose")

    op = F.row_dots.op
    if where == "kernel":
        with pytest.raises(ValueError, match="low has to be 0") as caught:
            mg.row_dots(x, x, 1)
    else:
        z = mg.row_dots(x, x)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(op, "pulls", tuple((i, fail, pick) for i, _, pick in op.pulls))
            with pytest.raises(ZeroDivisionError) as caught:
                z.backward()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].filename == __file__
    assert all(linecache.getline(frame.filename, frame.lineno) for frame in frames)
    assert frames[-1].line.startswith("raise ")
