"""All options of gradcheck and gradgradcheck: how each call ends, in both libraries, word for word."""

import warnings

import pytest
from functions import made
from twins import dialect, outcome

import minigrad

CASES = {}
FAST = {"fast_mode": True}
WAYS = ({}, FAST)


def case(*options):
    """Collect a function `(L, check, twice, **how)` that is called once for each of these options."""

    def collect(function):
        for i, how in enumerate(options):
            CASES[f"{function.__name__} {i}"] = (function, how)
        return function

    return collect


def ended(torch, function, how):
    """How a call ends in each library, and the warnings it gives."""
    found = []
    with dialect("2"):
        for L in (minigrad, torch):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                result = outcome(
                    lambda L=L: function(L, L.autograd.gradcheck, L.autograd.gradgradcheck, **how)
                )
            told = [(w.category.__name__, str(w.message)) for w in seen if "jit.script" not in str(w.message)]
            found.append((result, told))
    return found


def without_library(ending):
    """An ending without the library's name."""
    return repr(ending).replace("minigrad.", "torch.")


def double(L, *values, grad=True):
    return L.tensor(list(values) or [1.0, 2.0, 3.0], dtype=L.float64, requires_grad=grad)


def number(L, value=2.0):
    return L.tensor(value, dtype=L.float64, requires_grad=True)


def function(L, backward, forward=lambda a, b: a * b, materialize=True):
    """A custom Function with this backward, which calls what it saved `ctx.kept`."""

    def keeping(ctx, *args):
        ctx.kept = args
        ctx.set_materialize_grads(materialize)
        return forward(*args)

    return made(L, keeping, backward).apply


def wrong(L):
    """A product whose derivative by its second factor is wrong."""
    return function(L, lambda ctx, g: (g * ctx.kept[1], g * ctx.kept[0] * 1.1))


@case(*WAYS, {"raise_exception": False})
def mismatch_of_a_vector(L, check, twice, **how):
    return check(wrong(L), (double(L), double(L, 2.0, 3.0, 4.0)), **how)


@case(*WAYS)
def mismatch_of_a_number(L, check, twice, **how):
    return check(wrong(L), (number(L), number(L)), **how)


@case(*WAYS)
def mismatch_of_the_second_output(L, check, twice, **how):
    def f(a, b):
        return a * b, wrong(L)(a, b).sum()

    return check(f, (double(L), double(L, 2.0, 3.0, 4.0)), **how)


@case(*WAYS)
def mismatch_with_one_input_that_learns(L, check, twice, **how):
    return check(lambda a: wrong(L)(double(L, grad=False), a), double(L), **how)


@case(*WAYS, {"eps": 1e-3, "atol": 1e-2}, {"check_batched_grad": True})
def agreement(L, check, twice, **how):
    turned = L.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=L.float64).t().requires_grad_()
    return (
        check(lambda a: a.t().exp() * a[0], turned, **how),
        check(lambda a: a.exp(), double(L), **how),
        check(lambda a, n, b: a * n * b, (double(L), 3, double(L, grad=False)), **how),
        check(lambda a: [a.exp(), a.sum()], [double(L)], **how),
        check(lambda a, b: (a * b, a.sum(), b), (number(L), double(L)), **how),
        check(lambda a, b: a[:, None] @ b[None], (double(L), double(L)), **how),
        check(lambda a, b: a * 2, (double(L), double(L)), **how),
    )


@case(*WAYS)
def inputs_that_do_not_learn(L, check, twice, **how):
    return check(lambda a: a * 2, (double(L, grad=False), 3), **how)


@case(*WAYS)
def overlapping_inputs(L, check, twice, **how):
    return check(lambda a, b: a * b, (double(L), number(L).expand(3)), **how)


@case(*WAYS, {"eps": 1e-2, "atol": 1e-2})
def single_precision(L, check, twice, **how):
    return check(lambda a: a * 2, L.tensor([1.0, 2.0], requires_grad=True), **how)


@case(*WAYS)
def outputs_without_derivative(L, check, twice, **how):
    return check(lambda a: a.detach() * 0, double(L), **how)


@case(*WAYS)
def outputs_that_hide_their_derivative(L, check, twice, **how):
    return check(lambda a: a.detach() * 2, double(L), **how)


@case({})
def one_output_without_derivative(L, check, twice, **how):
    return check(lambda a: (a * 2, a.detach() * 3, a * a), double(L), **how)


@case(*WAYS)
def outputs_that_are_no_tensors(L, check, twice, **how):
    return check(lambda a: (a * 2, 3), double(L), **how)


@case(*WAYS)
def not_multiplied_by_the_gradient(L, check, twice, **how):
    ones = function(L, lambda ctx, g: double(L, 2.0, 2.0, 2.0, grad=False), lambda a: a * 2)
    return check(ones, double(L), atol=10.0, **how)


@case(*WAYS)
def nearly_multiplied(L, check, twice, **how):
    more = function(L, lambda ctx, g: g * 2 + 1e-9, lambda a: a * 2)
    return check(more, double(L), masked=True, **how), check(more, double(L), **how)


@case(*WAYS, {"check_undefined_grad": False})
def undefined_gradients_raise(L, check, twice, **how):
    f = function(L, lambda ctx, g, h: (g * 2, h * 3), lambda a, b: (a * 2, b * 3), False)
    return check(f, (double(L), double(L)), **how)


@case(*WAYS, {"check_undefined_grad": False})
def undefined_gradients_count(L, check, twice, **how):
    def backward(ctx, g, h):
        ones = double(L, 1.0, 1.0, 1.0, grad=False)
        return ones if g is None else g * 2, None if h is None else h * 3

    f = function(L, backward, lambda a, b: (a * 2, b * 3), False)
    return check(f, (double(L), double(L)), **how)


@case(*WAYS, {"nondet_tol": 1e-3}, {"nondet_tol": 1e-3, "fast_mode": True})
def unsteady(L, check, twice, **how):
    calls = []

    def backward(ctx, g):
        calls.append(1)
        return g * (2 + 1e-6 * len(calls))

    return check(function(L, backward, lambda a: a * 2), double(L), **how)


@case(*WAYS)
def shapes_that_vary(L, check, twice, **how):
    return check(lambda a: a.sum() if a.detach()[0].item() > 1 else a, double(L), **how)


@case(*WAYS)
def dtypes_that_vary(L, check, twice, **how):
    return check(lambda a: a.float() if a.detach()[0].item() > 1 else a, double(L), **how)


@case(*WAYS)
def errors_of_the_function(L, check, twice, **how):
    return check(lambda a: 1 / 0, double(L), raise_exception=False, **how)


@case({"check_backward_ad": False}, {"check_batched_forward_grad": True})
def what_does_not_go_together(L, check, twice, **how):
    return check(lambda a: a, double(L), **how)


@case({"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True})
def batched_without_backward(L, check, twice, **how):
    return check(lambda a: a, double(L), **how)


@case(
    {"check_rev_over_rev": False},
    {"check_rev_over_rev": False, "check_fwd_over_rev": True},
    {
        "check_rev_over_rev": False,
        "check_fwd_over_rev": True,
        "check_undefined_grad": False,
        "check_batched_grad": True,
    },
)
def what_does_not_go_together_twice(L, check, twice, **how):
    return twice(lambda a: a, double(L), **how)


@case({})
def without_grad_mode(L, check, twice, **how):
    with L.no_grad():
        return check(lambda a: a.exp(), double(L))


@case({})
def positional_options(L, check, twice, **how):
    return check(lambda a: a.exp(), double(L), 1e-3)


@case(*WAYS, {"check_batched_grad": True}, {"gen_non_contig_grad_outputs": True})
def second_derivatives(L, check, twice, **how):
    return (
        twice(lambda a: a.exp() * a, double(L), **how),
        twice(lambda a, b: (a * b, a.exp()), (double(L), double(L, 2.0, 3.0, 4.0)), **how),
        twice(lambda a: a * a * a, double(L), double(L, 1.0, 2.0, 1.0), **how),
        twice(lambda a: a * a * a, double(L), double(L, 1.0, 2.0, 1.0, grad=False), **how),
        twice(lambda a: (a * a).sum(), double(L), number(L), **how),
    )


@case(*WAYS, {"raise_exception": False})
def wrong_second_derivative(L, check, twice, **how):
    def backward(ctx, g):
        a = ctx.kept[0]
        return g * 3 * a.detach() * a.detach()

    return twice(function(L, backward, lambda a: a * a * a), double(L), double(L, 1.0, 1.0, 1.0), **how)


def own_forward_mode(L, factor):
    """A square with both modes, forward mode off by a factor."""

    def setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    return made(
        L,
        lambda a: a * a,
        lambda ctx, g: g * 2 * ctx.saved_tensors[0],
        jvp=lambda ctx, tangent: tangent * factor * ctx.saved_tensors[0],
        setup_context=setup,
    ).apply


@case(*WAYS, {"check_backward_ad": False}, {"check_batched_forward_grad": True, "check_batched_grad": True})
def forward_mode(L, check, twice, **how):
    how["check_forward_ad"] = True
    return (
        check(lambda a: a.exp() * a, double(L), **how),
        check(lambda a, b: (a * b, a.exp()), (double(L), double(L, 2.0, 3.0, 4.0)), **how),
        check(own_forward_mode(L, 2), double(L), **how),
        check(lambda a, b: (a * 2, b), (number(L), double(L, 1.0, grad=False)), **how),
    )


@case(*WAYS, {"check_backward_ad": False})
def wrong_forward_mode(L, check, twice, **how):
    return check(own_forward_mode(L, 2.5), double(L), check_forward_ad=True, **how)


@case(*WAYS)
def no_forward_mode(L, check, twice, **how):
    f = function(L, lambda ctx, g: g * 2, lambda a: a * 2)
    return check(f, double(L), check_forward_ad=True, **how)


@case(*WAYS, {"check_rev_over_rev": False, "check_undefined_grad": False})
def forward_over_reverse(L, check, twice, **how):
    return twice(lambda a: a.exp() * a, double(L), check_fwd_over_rev=True, **how)


@pytest.mark.parametrize("name", CASES)
def test_as_pytorch(torch, name):
    ours, theirs = ended(torch, *CASES[name])
    assert without_library(ours) == without_library(theirs)


@pytest.mark.parametrize("how", [{}, FAST, {"check_undefined_grad": False}, {"check_batched_grad": True}])
def test_how_often_the_function_is_called(torch, how):
    counts = []
    for L in (minigrad, torch):
        calls = []
        L.autograd.gradcheck(lambda a, calls=calls: (calls.append(1), a * a, a.exp())[1:], double(L), **how)
        counts.append(len(calls))
    assert counts[0] == counts[1]


def test_nothing_is_changed():
    x = double(minigrad)
    for how in ({}, FAST, {"check_forward_ad": True}, {"check_batched_grad": True}):
        assert minigrad.autograd.gradcheck(lambda a: a.exp() * a, x, **how)
        assert minigrad.autograd.gradgradcheck(lambda a: a.exp() * a, x, fast_mode="fast_mode" in how)
    with pytest.raises(ZeroDivisionError):
        minigrad.autograd.gradcheck(lambda a: 1 / 0 if a.tolist() != [1.0, 2.0, 3.0] else a, x)
    assert (x.tolist(), x.grad, x._version, x.requires_grad) == ([1.0, 2.0, 3.0], None, 0, True)


def test_dialects():
    """1.4 raises RuntimeError, and has no note on deterministic algorithms."""
    calls = []

    def backward(ctx, g):
        calls.append(1)
        return g * (2 + 1e-6 * len(calls))

    f = function(minigrad, backward, lambda a: a * 2)
    for name, cls in (("1.4", RuntimeError), ("2", minigrad.autograd.GradcheckError)):
        with dialect(name), pytest.raises(RuntimeError, match="not reentrant") as caught:
            minigrad.autograd.gradcheck(f, double(minigrad))
        assert type(caught.value) is cls
        assert ("deterministic operations" in str(caught.value)) == (name == "2")
        with dialect(name):
            assert minigrad.autograd.gradcheck(f, double(minigrad), raise_exception=False) is False
