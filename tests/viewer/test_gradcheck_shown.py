"""A gradcheck that failed, explained with its numbers as matrices; and `check_gradients`, which shows them on
request."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from cells import run
from shells import Shell
from staged import explanations_of

import minigrad
from minigrad_viz import check_gradients
from minigrad_viz.drawing.matrices import STYLE, matrices_html, matrices_text
from minigrad_viz.recording.error_frames import gradcheck_comparison
from minigrad_viz.trace.events import BackwardStarted, Forward
from minigrad_viz.trace.graph import Matrices, Matrix

LATER = """
class MyPow(torch.autograd.Function):
  @staticmethod
  def forward(ctx, input_1, input_2):
    ctx.save_for_backward(input_1, input_2)
    result = input_1 ** input_2
    return result

  @staticmethod
  def backward(ctx, grad_output):
    input_1, input_2 = ctx.saved_tensors
    grad_input_1 = grad_output * input_2 * input_1 ** (input_2 - 1)
    grad_input_2 = grad_output * input_1 ** input_2 * torch.log(input_1 + 1)
    return grad_input_1, grad_input_2

myPow = MyPow.apply
q = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
x = torch.tensor(5.0, dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(myPow, (x, q)))
"""
TIMES = """
class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * {true}
    @staticmethod
    def backward(ctx, g):
        return g * {false}
x = torch.tensor({data}, dtype=torch.float64, requires_grad=True)
"""


def times(data="[1.0, 2.0]", true=2, false=3):
    return TIMES.format(data=data, true=true, false=false)


def explained(source, library, lang="en"):
    """The last explanation of a cell, whose error it tells word for word."""
    ran = run(source, library)
    assert ran.error is not None
    last = explanations_of(ran.trace, lang)[-1]
    assert last.error.strip() == f"{type(ran.error).__name__}: {ran.error}".strip()
    return last


def test_the_function_is_not_called_again(library):
    """What is shown was computed by the checker, while it ran."""
    counting = "calls = 0\ndef f(x):\n    global calls\n    calls += 1\n    return Times.apply(x)\n"
    for fast in ("", ", fast_mode=True"):
        source = times() + counting + f"torch.autograd.gradcheck(f, (x,){fast})\n"
        ran = run(source, library)
        alone = {"torch": library}
        with pytest.raises(RuntimeError):
            exec(source, alone)
        assert explanations_of(ran.trace, "en")[-1].matrices
        assert ran.names["calls"] == alone["calls"]


def test_a_class_of_an_earlier_cell_is_not_guessed_at():
    names = run(times(), minigrad).names
    ran = run(
        "torch.autograd.gradcheck(Times.apply, x)\n",
        minigrad,
        names={"Times": names["Times"], "x": names["x"]},
    )
    (last,) = explanations_of(ran.trace, "en")
    assert last.key == "jacobian_mismatch"
    assert last.cause is None and last.fix == ""


def test_in_a_cell(library, tmp_path):
    with Shell(tmp_path) as shell:
        ran = shell.run("%%autograd --lang en\n" + LATER, {"torch": library}, library)
    assert "Jacobian mismatch for output 0 with respect to input 1" in ran.failed
    (shown,) = ran.displayed
    told, page = shown["data"]["text/plain"], shown["data"]["text/html"]
    assert told.index("Jacobian mismatch") < told.index("is 223.97 by backward") < told.index("(analytical)")
    assert "q [ ✗ 223.97 ]" in told
    assert page.count('class="w"') == 3
    assert page.count(STYLE) == 1


# ── showing matrices ────────────────────────────────────────────────────────────────────────────────────────


def large():
    items = tuple(tuple(float(10 * i + j) for j in range(12)) for i in range(12))
    names = tuple(map(str, range(12)))
    return Matrix("large", items, "float64", names, names, ((7, 9), (0, 0)))


def test_the_worst_place_of_a_large_matrix_is_in_sight():
    told = matrices_text(Matrices("", (large(),)), "en")
    assert "✗ 79." in told and "…" in told and "(12 × 12, not all shown)" in told
    assert "111." in told  # and the last
    assert " 56." not in told
    page = matrices_html([Matrices("<b>", (large(),))], "en")
    assert '<td class="w">✗ 79.</td>' in page and "&lt;b&gt;" in page and "<b>" not in page


def test_matrices_stand_below_each_other_where_they_do_not_fit():
    one = Matrix("m", ((1.0, 2.0),), "float64", ("r",), ("a", "b"))
    assert len(matrices_text(Matrices("", (one, one)), "en").splitlines()) == 3
    wide = Matrix("m", ((1.23456e-20,) * 5,), "float64", ("r",), tuple("abcde"))
    assert len(matrices_text(Matrices("", (wide, wide)), "en").splitlines()) == 6


# ── on request ──────────────────────────────────────────────────────────────────────────────────────────────


def wrong_square(library):
    class Square(library.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x

    return Square.apply


def doubles(library, data):
    return library.tensor(data, dtype=library.float64, requires_grad=True)


def test_all_is_well(library):
    x, q = doubles(library, [[1.0, 2.0], [3.0, 4.0]]), doubles(library, [2.0, 3.0])
    c = library.tensor(2.0, dtype=library.float64)
    found = check_gradients(lambda x, c, q: (x @ q * c, (x * x).sum(), x > 0), (x, c, q), lang="en")
    assert found and found.ok is True
    assert [[a.shape for a in row] for row in found.analytical] == [[(4, 2), (2, 2)], [(4, 1), (2, 1)]]
    assert np.array_equal(found.analytical[0][0], [[4, 0], [6, 0], [0, 4], [0, 6]])
    assert np.array_equal(found.analytical[1][1], [[0], [0]])  # not used
    assert np.allclose(found.difference[1][0], 0, atol=1e-7)
    told = repr(found)
    assert told.startswith("Backward agrees with the difference quotients.\nRows: the elements of x. ")
    assert "✗" not in told
    assert np.array_equal(x.detach().numpy(), [[1, 2], [3, 4]])


def test_what_disagrees_is_said_and_marked(library):
    found = check_gradients(wrong_square(library), doubles(library, [1.0, 4.0]), lang="en")
    assert not found
    assert repr(found).startswith("∂out[1]/∂x[1] is 4. by backward and 8. by the difference quotient.")
    assert found.pairs[0].wrong == ((1, 1), (0, 0))
    assert found._repr_html_().count('class="w"') == 6


@pytest.mark.filterwarnings("ignore:Input #0 requires gradient")
@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
def test_numbers_are_those_of_gradcheck(library, dtype):
    """Both matrices are compared with those of the library's own check."""
    data = [1.5 + 1j, -2.0 + 0.5j] if dtype.startswith("complex") else [1.5, -2.0]
    x = library.tensor(data, dtype=getattr(library, dtype), requires_grad=True)
    found = check_gradients(wrong_square(library), x)
    with pytest.raises(RuntimeError) as raised:
        library.autograd.gradcheck(wrong_square(library), x)
    told = gradcheck_comparison(raised.value)
    half = slice(2, 4) if dtype.startswith("complex") else slice(0, 2)  # of the imaginary part
    for mine, theirs in ((found.numerical, told.numerical), (found.analytical, told.analytical)):
        expected = np.array(theirs.items).reshape(theirs.shape)
        assert np.allclose(mine[0][0][:, half], expected, rtol=1e-12, atol=1e-12)


def test_numbers_are_exactly_those_of_pytorch(torch):
    own = sys.modules["torch.autograd.gradcheck"]
    x, q = doubles(torch, [[1.0, 2.0], [3.0, 4.0]]), doubles(torch, [2.0, 3.0])

    def function(x, q):
        return (x @ q).exp() / 1e4, (x * x).sum()

    found = check_gradients(function, (x, q))
    theirs = own._get_numerical_jacobian(function, (x, q), eps=1e-6)
    for i, j in np.ndindex(2, 2):
        assert np.array_equal(found.numerical[i][j], theirs[j][i].numpy())
        assert np.array_equal(
            found.analytical[i][j],
            own._check_analytical_jacobian_attributes((x, q), function(x, q)[i], 0.0, False)[j].numpy(),
        )


@pytest.mark.filterwarnings("ignore:Input #0 requires gradient")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_single_precision_is_said_on_request(library, dtype):
    x = library.tensor([1.0, 2.0, 3.0], dtype=getattr(library, dtype), requires_grad=True)
    found = check_gradients(lambda x: x**3, x, lang="en")
    assert (
        found.ok
        == library.autograd.gradcheck(lambda x: x**3, x, raise_exception=False)
        == (dtype == "float64")
    )
    assert ("float32 is not precise enough" in repr(found)) == (dtype == "float32")
    wrong = check_gradients(wrong_square(library), x, lang="en", eps=0.01)
    assert not wrong.ok
    assert "float32" not in repr(wrong)


def test_what_cannot_be_checked(library):
    plain = library.tensor([1.0, 2.0])
    with pytest.raises(ValueError, match="at least one input tensor with requires_grad=True"):
        check_gradients(lambda x: x, plain)
    with pytest.raises(RuntimeError, match="elements of input 1 share memory"):
        check_gradients(lambda x, y: x * y, (plain, doubles(library, 1.0).expand(3)))


def test_the_input_is_as_before_when_the_function_fails(library):
    x, calls = doubles(library, [1.0, 2.0]), []

    def fails(x):
        calls.append(x.tolist())
        if len(calls) == 2:
            raise KeyError("second")
        return x * 2

    with pytest.raises(KeyError):
        check_gradients(fails, x)
    assert calls[1] == [1.0 - 1e-6, 2.0]
    assert x.tolist() == [1.0, 2.0]


def test_outputs_without_a_path(library):
    """As gradcheck has it: a derivative of 0 is right only if the differences are 0."""
    x = doubles(library, [2.0])
    assert check_gradients(lambda x: x.detach() * 0, x)
    assert not check_gradients(lambda x: x.detach() * 2, x)


def test_tensors_without_elements(library):
    x, none = doubles(library, [1.0, 2.0]), library.zeros(0, 3, dtype=library.float64, requires_grad=True)
    found = check_gradients(lambda x, none: (x * 2, none * 3, none.sum() + x), (x, none), lang="en")
    assert (
        found.ok
        is library.autograd.gradcheck(lambda x, none: (x * 2, none * 3, none.sum() + x), (x, none))
        is True
    )
    assert [[a.shape for a in row] for row in found.numerical] == [
        [(2, 2), (0, 2)],
        [(2, 0), (0, 0)],
        [(2, 2), (0, 2)],
    ]
    assert repr(found).count("Rows:") == 2


def test_many_pairs_are_counted(library):
    found = check_gradients(
        lambda *x: tuple(t * 2 for t in x), [doubles(library, [1.0]) for _ in range(3)], lang="en"
    )
    assert len(found.pairs) == 9
    assert repr(found).endswith("Pairs of output and input not shown: 3.")


def test_a_cell_is_shown_without_what_it_did(library):
    source = (
        "from minigrad_viz import check_gradients\n"
        "x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)\n"
        "ok = bool(check_gradients(lambda x: x ** 3, x))\ny = x * 2\n"
    )
    ran = run(source, library)
    assert ran.error is None and ran.names["ok"] is True
    assert [e.op for e in ran.trace.events if isinstance(e, Forward)] == ["mul"]
    assert not [e for e in ran.trace.events if isinstance(e, BackwardStarted)]


def test_outputs_are_told_apart(library):
    wrong = wrong_square(library)
    found = check_gradients(lambda x: (x * 1, wrong(x)), doubles(library, [1.0, 4.0]), lang="en")
    (said,) = found.said()
    assert said.startswith("∂out1[1]/∂x[1] is 4. by backward and 8. by the difference quotient.")
    source = times() + "torch.autograd.gradcheck(lambda x: (x * 1, Times.apply(x)), (x,))\n"
    assert explained(source, library).why.startswith("∂out1[0]/∂x[0] is 3. by backward and 2. by")


NAMED = """
class Old(torch.autograd.Function):
    @staticmethod
    def forward(ctx, base, exponent):
        ctx.save_for_backward(base, exponent)
        return base**exponent

    @staticmethod
    def backward(ctx, g):
        base, exponent = ctx.saved_tensors
        return g * exponent * base ** (exponent - 1), g * base**exponent * torch.log(base)

class New(Old):
    @staticmethod
    def forward(base, exponent):
        return base**exponent

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

class Any(Old):
    @staticmethod
    def forward(ctx, *both):
        return Old.forward(ctx, *both)
"""


@pytest.mark.parametrize(
    "name, rows",
    [("Old", ["base", "exponent"]), ("New", ["base", "exponent"]), ("Any", ["in0", "in1"])],
)
def test_inputs_of_a_function_are_called_as_its_forward_does(name, rows, library):
    space = {"torch": library}
    exec(NAMED, space)
    x, q = (library.tensor(v, dtype=library.float64, requires_grad=True) for v in (5.0, 3.0))
    found = check_gradients(space[name].apply, (x, q), lang="en")
    assert found and [pair.rows for pair in found.pairs] == [(row,) for row in rows]
