"""A gradcheck that failed, explained with its numbers as matrices; and `check_gradients`, which shows them on
request."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from cells import CELLS, MY_POW, run
from shells import Shell
from staged import build, explanations_of

import minigrad
from minigrad_viz import check_gradients
from minigrad_viz.drawing.matrices import STYLE, matrices_html, matrices_text
from minigrad_viz.recording.error_frames import gradcheck_comparison
from minigrad_viz.trace.events import BackwardStarted, Forward, Trace
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


def wrong_in(explanation):
    (group,) = explanation.matrices
    assert len({matrix.wrong for matrix in group.side_by_side}) == 1
    return group.side_by_side[0].wrong


@pytest.mark.quick
def test_the_documents_wrong_backward(library):
    last = explained(LATER, library)
    assert last.key == "jacobian_mismatch"
    assert last.why.startswith("∂out/∂q is 223.97 by backward and 201.18 by the difference quotient.")
    assert "1 of 1" in last.why
    assert last.fix == "Check the gradient that MyPow.backward returns for q (line 13)."
    assert last.cause.text == "grad_input_2 = grad_output * input_1 ** input_2 * torch.log(input_1 + 1)"
    assert LATER.splitlines()[last.cause.line - 1].strip() == last.cause.text
    analytical, numerical, difference = last.matrices[0].side_by_side
    assert analytical.items == ((pytest.approx(223.9699, abs=1e-4),),)
    assert numerical.items == ((pytest.approx(201.1797, abs=1e-4),),)
    assert difference.items[0][0] == pytest.approx(22.7902, abs=1e-4)
    assert wrong_in(last) == ((0, 0),)


def test_the_picture_says_what_it_leaves_out(library):
    assert build(run(LATER, library).trace).note == ("no_graph_checked", {})


def test_in_the_other_dialect(names_of_today):
    last = explained(LATER, minigrad)
    assert last.error.startswith("GradcheckError: Jacobian mismatch")
    assert last.key == "jacobian_mismatch"
    assert last.cause.line == 13


def test_in_korean(library):
    last = explained(LATER, library, "ko")
    assert "223.97" in last.why
    assert "13행" in last.fix


def test_the_part_of_the_return(library):
    last = explained(CELLS[21], library)
    assert last.cause.text == "g * base ** (exponent - 1)"
    assert "for a (line 11)" in last.fix


def test_fast_mode_has_the_matrices_of_slow_mode(library):
    last = explained(LATER.replace("(x, q))", "(x, q), fast_mode=True)"), library)
    assert last.key == "jacobian_mismatch"
    ((number,),) = last.matrices[0].side_by_side[0].items
    assert number == pytest.approx(125 * np.log(6), rel=1e-12)
    assert last.cause.line == 13


@pytest.mark.parametrize("fast", ["", ", fast_mode=True"])
def test_inputs_without_gradients_are_not_counted(library, fast):
    source = (
        times() + f"c = torch.ones(2)\ntorch.autograd.gradcheck(lambda c, x: Times.apply(x), (c, x){fast})\n"
    )
    last = explained(source, library)
    assert "input 0" in last.error
    assert "∂out[0]/∂x[0] is 3. by backward and 2. by" in last.why
    assert last.cause.text == "return g * 3"


def test_rows_are_named_by_their_places(library):
    last = explained(times("[[1.0, 2.0]]") + "torch.autograd.gradcheck(Times.apply, x)\n", library)
    assert last.matrices[0].side_by_side[0].rows == ("x[0, 0]", "x[0, 1]")
    assert last.matrices[0].side_by_side[0].columns == ("out[0]", "out[1]")
    assert wrong_in(last) == ((0, 0), (1, 1))


def test_the_worst_place_comes_first(library):
    source = times(true="torch.tensor([1., 9., 5.]).double()", data="[1.0, 2.0, 3.0]")
    assert wrong_in(explained(source + "torch.autograd.gradcheck(Times.apply, x)\n", library))[0] == (1, 1)


def test_what_the_text_leaves_out_is_known(library):
    """More than a thousand elements are shortened in the text, which has four digits of each."""
    last = explained(times("[1.0] * 40") + "torch.autograd.gradcheck(Times.apply, x)\n", library)
    assert "..." in last.error
    assert wrong_in(last) == tuple((i, i) for i in range(40))
    assert "40 of 1600" in last.why


def test_very_large_matrices_are_not_kept(library):
    last = explained(times("[1.0] * 101") + "torch.autograd.gradcheck(Times.apply, x)\n", library)
    assert last.matrices == ()
    assert last.why.startswith("The derivative of output 0 with respect to input 0 differs: backward and ")
    assert last.cause.text == "return g * 3"


def test_tolerances_are_those_of_the_call(library):
    source = times("[1.0, 2.0]", "torch.tensor([3.0, 3.5]).double()")
    call = "torch.autograd.gradcheck(Times.apply, (x,){})\n"
    assert wrong_in(explained(source + call.format(", atol=1e-3"), library)) == ((1, 1),)
    close = times("[1.0, 2.0]", "torch.tensor([3.1, 3.5]).double()")
    assert wrong_in(explained(close + call.format(""), library)) == ((1, 1), (0, 0))
    assert wrong_in(explained(close + call.format(", atol=0.2"), library)) == ((1, 1),)
    hidden = explained(close + "most = 0.2\n" + call.format(", atol=most"), library)
    assert wrong_in(hidden) == ((1, 1),)
    options = explained(close + "options = {'atol': 0.2}\n" + call.format(", **options"), library)
    assert wrong_in(options) == ((1, 1),)


def test_what_the_digits_do_not_tell_is_marked(library):
    """3.00302 is printed as 3.0030, which would be within the tolerance of 3."""
    call = "torch.autograd.gradcheck(Times.apply, (x,))\n"
    assert set(wrong_in(explained(times(true=3, false=3.00302) + call, library))) == {(0, 0), (1, 1)}


def test_forward_mode_is_shown_too(library):
    source = times() + "torch.autograd.gradcheck(f, (x,), check_forward_ad=True, check_backward_ad=False{})\n"
    source = source.replace(
        "        return g * 3",
        "        return g * 2\n    @staticmethod\n    def jvp(ctx, t):\n        return t * 5",
    )
    for fast in ("", ", fast_mode=True"):
        last = explained(source.replace("(f,", "(Times.apply,").format(fast), library)
        assert "computed with forward mode" in last.error
        assert wrong_in(last) == ((0, 0), (1, 1)) and "∂out[0]/∂x[0] is 5. by" in last.why


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


def test_a_trace_with_matrices_can_be_saved(library):
    trace = run(LATER, library).trace
    again = Trace.from_json(trace.to_json())
    assert explanations_of(again, "en") == explanations_of(trace, "en")


def test_complex_parts(library):
    source = (
        times("[1 + 2j, 3 - 1j]").replace("float64", "complex128")
        + "torch.autograd.gradcheck(Times.apply, x)\n"
    )
    last = explained(source, library)
    assert "imaginary part" in last.error
    assert set(wrong_in(last)) == {(0, 0), (1, 1)}
    assert last.matrices[0].side_by_side[1].items[0][0] == pytest.approx(2j)


def test_single_precision_is_told_where_it_is_the_matter(library):
    source = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
    call = "torch.autograd.gradcheck(lambda t: t ** 3, (x,){})\n"
    last = explained(source + call.format(""), library)
    assert last.key == "single_precision"
    assert last.why.startswith("These inputs have single precision: x.") and "1e-06" in last.why
    assert "float64" in last.fix
    assert last.cause is None
    assert len(last.matrices[0].side_by_side) == 3
    wide = (
        times("[1.0]").replace("float64", "float32")
        + "torch.autograd.gradcheck(Times.apply, (x,), eps=0.01)\n"
    )
    assert explained(wide, library).key == "jacobian_mismatch"
    assert (
        explained(times() + "torch.autograd.gradcheck(Times.apply, x)\n", library).key == "jacobian_mismatch"
    )


def test_inputs_that_have_no_name(library):
    call = "torch.autograd.gradcheck(lambda t: t ** 3, torch.tensor([2.0, 3.0], requires_grad=True))\n"
    last = explained(call, library)
    assert last.key == "single_precision"
    known = explained(
        times() + "torch.autograd.gradcheck(Times.apply, (x.detach().requires_grad_(),))\n", library
    )
    assert known.key == "jacobian_mismatch"
    assert known.matrices[0].side_by_side[0].rows == ("in[0]", "in[1]")
    assert known.fix == "Check what Times.backward returns (line 8)."


def test_second_derivatives(library):
    source = """
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * x.detach() ** 2 + 0 * x
x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
torch.autograd.gradgradcheck(Cube.apply, x)
"""
    last = explained(source, library)
    assert last.key == "jacobian_mismatch"
    assert "where out is a gradient, is 0. by its backward" in last.why
    assert last.fix == "" and last.cause is None


def test_an_error_that_only_looks_like_it(library):
    text = "Jacobian mismatch for output 0 with respect to input 0,\\nnumerical:1.0\\nanalytical:2.0\\n"
    last = explained(f'x = torch.ones(1, requires_grad=True)\nraise RuntimeError("{text}")\n', library)
    assert last.key == ""
    assert last.why == last.fix == ""
    assert last.matrices == ()


CHECK_A = "a = torch.tensor(5.0, dtype=torch.float64, requires_grad=True)\n"
WRONG = MY_POW.replace("exponent * base **", "base **") + CHECK_A


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("lambda a: MyPow.apply(a, torch.tensor(3.0).double())", "g * base ** (exponent - 1)"),
        ("lambda a: MyPow.apply(a, 3 + 0 * a)", "return g * base ** (exponent - 1), g * base ** exponent"),
        ("lambda a: MyPow.apply(2 * a, torch.tensor(3.0).double())", "return g * base ** (exponent - 1), g"),
        ("lambda a: MyPow.apply(a.detach() * a, torch.tensor(3.0).double())", None),
        ("lambda a: MyPow.apply(MyPow.apply(a, b), b)", None),
        ("power", "g * base ** (exponent - 1)"),
        ("in_steps", None),
        ("twice", None),
    ],
)
def test_whose_backward_it_was(library, function, text):
    source = WRONG + (
        "b = torch.tensor(3.0, dtype=torch.float64)\n"
        "def power(a):\n    'a to the b'\n    return MyPow.apply(a, b)\n"
        "def in_steps(a):\n    c = a * 1\n    return MyPow.apply(c, b)\n"
        "twice = None\ntwice = lambda a: MyPow.apply(a, b)\n"
    )
    cause = explained(source + f"torch.autograd.gradcheck({function}, (a,))\n", library).cause
    assert cause is None if text is None else cause.text.startswith(text)


def test_two_returns_are_not_chosen_between(library):
    source = times().replace(
        "        return g * 3", "        if g.sum() > 9:\n            return g\n        return g * 3"
    )
    assert explained(source + "torch.autograd.gradcheck(Times.apply, x)\n", library).cause is None


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
