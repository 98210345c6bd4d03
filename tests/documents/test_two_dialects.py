"""What dialect "1.4" and dialect "2" print differently; "2" is compared with PyTorch itself."""

from __future__ import annotations

import re
import warnings

import pytest
from documents.facts import code_4

import minigrad

SECOND_BACKWARD_1_4 = (
    "Trying to backward through the graph a second time, but the buffers have already been freed. "
    "Specify retain_graph=True when calling backward the first time."
)


@pytest.fixture(params=["1.4", "2"])
def dialect(request):
    before = minigrad.get_dialect()
    minigrad.set_dialect(request.param)
    yield request.param
    minigrad.set_dialect(before)


def second_backward(lib):
    _, _, z = code_4(lib)
    z.backward()
    with pytest.raises(RuntimeError) as error:
        z.backward()
    return str(error.value)


def wrong_function(lib):
    class Wrong(lib.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            return t * 2

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 3

    return Wrong.apply, lib.tensor(1.0, dtype=lib.float64, requires_grad=True)


def test_the_default_is_what_pytorch_prints_today():
    assert minigrad.get_dialect() == "2"


def test_unknown_dialect():
    with pytest.raises(ValueError, match=re.escape("dialect must be one of '1.4', '2', not '3'")):
        minigrad.set_dialect("3")
    assert minigrad.get_dialect() == "2"


RESULTS = {  # how it is made: the node's name in 1.4, and in 2
    "t ** 3": ("PowBackward0", "PowBackward0"),
    "t ** t": ("PowBackward1", "PowBackward1"),
    "t + t": ("AddBackward0", "AddBackward0"),
    "t - t": ("SubBackward0", "SubBackward0"),
    "t * t": ("MulBackward0", "MulBackward0"),
    "t / t": ("DivBackward0", "DivBackward0"),
    "-t": ("NegBackward", "NegBackward0"),
    "lib.log(t)": ("LogBackward", "LogBackward0"),
    "lib.exp(t)": ("ExpBackward", "ExpBackward0"),
    "lib.sqrt(t)": ("SqrtBackward", "SqrtBackward0"),
    "t @ t": ("DotBackward", "DotBackward0"),
    "t.sum()": ("SumBackward0", "SumBackward0"),
    "t.sum(0)": ("SumBackward1", "SumBackward1"),
    "t.clone()": ("CloneBackward", "CloneBackward0"),
}


@pytest.mark.parametrize("text", RESULTS)
def test_node_names(text, dialect, request):
    expected = RESULTS[text][dialect == "2"]
    t = minigrad.tensor([1.0, 2.0], requires_grad=True)
    result = eval(text, {"lib": minigrad, "t": t})
    assert result.grad_fn.name() == expected
    assert f"grad_fn=<{expected}>" in str(result)
    assert re.fullmatch(rf"<{expected} object at 0x[0-9a-f]+>", repr(result.grad_fn))


@pytest.mark.parametrize("text", RESULTS)
def test_node_names_of_2_are_pytorchs(text, torch):
    t = torch.tensor([1.0, 2.0], requires_grad=True)
    assert eval(text, {"lib": torch, "t": t}).grad_fn.name() == RESULTS[text][1]


def test_names_of_functions_and_leaves_are_the_same_in_both(dialect):
    apply, t = wrong_function(minigrad)
    result = apply(t)
    assert (result.grad_fn.name(), str(result)) == (
        "WrongBackward",
        "tensor(2., dtype=torch.float64, grad_fn=<WrongBackward>)",
    )
    assert "<AccumulateGrad object at 0x" in str(result.grad_fn.next_functions)


def test_a_graph_prints_in_the_dialect_in_force(dialect):
    """The name is made when it is asked for: the same node prints in both."""
    _, _, z = code_4(minigrad)
    minigrad.set_dialect("2")
    assert str(z) == "tensor(4.8283, grad_fn=<LogBackward0>)"
    minigrad.set_dialect("1.4")
    assert str(z) == "tensor(4.8283, grad_fn=<LogBackward>)"


def test_retains_grad_before_it_was_asked_for(dialect, torch):
    x, y, _ = code_4(minigrad)
    unset = None if dialect == "1.4" else False
    assert (x.retains_grad, y.retains_grad) == (unset, unset)
    y.retain_grad()
    assert y.retains_grad is True
    x, y, _ = code_4(torch)
    assert (x.retains_grad, y.retains_grad) == (False, False)


def test_second_backward(dialect, torch):
    expected = SECOND_BACKWARD_1_4 if dialect == "1.4" else second_backward(torch)
    assert second_backward(minigrad) == expected


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
def test_the_node_that_stores_a_gradient(dialect):
    x, _, z = code_4(minigrad)
    z.backward(create_graph=True)
    expected = {"1.4": "CloneBackward", "2": "CopyBackwards"}[dialect]
    assert str(x.grad) == f"tensor(0.6000, grad_fn=<{expected}>)"
    assert repr(x.grad.grad_fn).startswith(f"<{expected} object at 0x")


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
def test_the_node_that_stores_a_gradient_is_pytorchs(dialect_2, torch):
    """It copies into memory that has no history, so its first edge leads nowhere."""

    def stored(lib):
        x, _, z = code_4(lib)
        z.backward(create_graph=True)
        gradient, x.grad = x.grad, None  # PyTorch's leaf and gradient would keep each other alive
        node = gradient.grad_fn
        names = [None if target is None else target.name() for target, _ in node.next_functions]
        return str(gradient), node.name(), names

    assert stored(minigrad) == stored(torch)


def test_class_of_a_failing_gradcheck(dialect, torch):
    apply, t = wrong_function(minigrad)
    with pytest.raises(RuntimeError) as error:
        minigrad.autograd.gradcheck(apply, (t,))
    expected = {"1.4": RuntimeError, "2": minigrad.autograd.GradcheckError}[dialect]
    assert error.type is expected
    assert issubclass(minigrad.autograd.GradcheckError, RuntimeError)
    apply, t = wrong_function(torch)
    with pytest.raises(RuntimeError) as theirs:
        torch.autograd.gradcheck(apply, (t,))
    assert str(error.value) == str(theirs.value)
    assert theirs.type.__name__ == minigrad.autograd.GradcheckError.__name__


def warned(action):
    """The texts of the warnings that `action` gives, without the place where PyTorch triggered them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [re.sub(r" \(Triggered internally at .*", "", str(w.message)) for w in caught]


def read_gradient_of_a_result(lib):
    _, y, z = code_4(lib)
    z.backward()
    assert y.grad is None


def backward_with_create_graph(lib):
    x, _, z = code_4(lib)
    z.backward(create_graph=True)
    x.grad = None


@pytest.mark.parametrize("action", [read_gradient_of_a_result, backward_with_create_graph])
def test_warnings_belong_to_dialect_2(action, dialect):
    texts = warned(lambda: action(minigrad))
    if dialect == "1.4":
        assert texts == []
    else:
        assert len(texts) == 1


def test_the_warning_about_a_results_gradient_is_pytorchs(dialect_2, torch):
    assert warned(lambda: read_gradient_of_a_result(minigrad)) == warned(
        lambda: read_gradient_of_a_result(torch)
    )


def test_the_warning_about_create_graph_is_pytorchs(dialect_2, torch):
    """PyTorch warns once per process unless it is set to warn always."""
    torch._C._set_warnAlways(True)
    try:
        theirs = warned(lambda: backward_with_create_graph(torch))
    finally:
        torch._C._set_warnAlways(False)
    assert warned(lambda: backward_with_create_graph(minigrad)) == theirs


def test_a_warning_points_at_the_users_line(dialect_2):
    """Not into the library, where nobody can do anything about it."""
    for action in (read_gradient_of_a_result, backward_with_create_graph):
        with pytest.warns(UserWarning) as caught:
            action(minigrad)
        assert [w.filename for w in caught] == [__file__]


def test_no_warning_for_a_gradient_that_is_kept(dialect_2):
    x, y, z = code_4(minigrad)
    y.retain_grad()
    z.backward()
    assert warned(lambda: (x.grad, y.grad)) == []


def test_a_dialect_decides_nothing_else(dialect):
    """The same numbers, versions and edges."""
    x, y, z = code_4(minigrad)
    z.backward(retain_graph=True)
    assert (x.grad.item(), x.grad._version, z.grad_fn.next_functions[0][0] is y.grad_fn) == (
        0.6000000238418579,
        0,
        True,
    )
