"""What Codes 13 to 22 show, beside what they print."""

from __future__ import annotations

import pytest
from documents.facts import FREED, NO_GRAPH, Seen, calls, code_4, name, near, nodes
from functions import my_pow


def code_13(lib):
    x = lib.tensor(5.0, requires_grad=True)
    y = x * lib.tensor([2.0, 3.0, 5.0])
    return x, y, y @ lib.tensor([4.0, 7.0, 9.0])


def test_code_13_component_by_component(lib):
    """∂z/∂y = [4 7 9], ∂y/∂x = [2 3 5], and 4·2 + 7·3 + 9·5 = 8 + 21 + 45 = 74."""
    x, y, z = code_13(lib)
    assert (y.tolist(), z.item()) == ([10, 15, 25], 370)
    dy_dx = [lib.autograd.grad(y[i], x, retain_graph=True)[0].item() for i in range(3)]
    dz_dy = lib.autograd.grad(z, y, retain_graph=True)[0].tolist()
    terms = [a * b for a, b in zip(dz_dy, dy_dx, strict=True)]
    assert (dz_dy, dy_dx, terms) == ([4, 7, 9], [2, 3, 5], [8, 21, 45])
    y.retain_grad()
    z.retain_grad()
    z.backward()
    assert (x.grad.item(), y.grad.tolist(), z.grad.item()) == (74.0, [4, 7, 9], 1.0)
    assert (x.grad.shape, x.grad.item()) == (x.shape, sum(terms))


def test_code_13_figure(lib):
    """x and z are single numbers, y is three; constants are not in the graph, but their numbers are saved."""
    x, y, z = code_13(lib)
    assert [tuple(t.shape) for t in (x, y, z)] == [(), (3,), ()]
    assert (name(z.grad_fn), name(y.grad_fn)) == ("DotBackward", "MulBackward")
    assert z.grad_fn.next_functions == ((y.grad_fn, 0), (None, 0))
    (end, _), constant = y.grad_fn.next_functions
    assert (end.variable is x, constant) == (True, (None, 0))
    assert z.grad_fn._saved_tensor.tolist() == [4, 7, 9]
    assert y.grad_fn._saved_other.tolist() == [2, 3, 5]


def code_14(lib):
    x = lib.tensor(5.0, requires_grad=True)
    y = x * lib.tensor([2.0, 3.0, 5.0])
    return x, y, y.detach()


def test_code_14_cuts_after_y_only(lib):
    x, y, w = code_14(lib)
    z = w @ lib.tensor([4.0, 7.0, 9.0])
    assert [t.requires_grad for t in (x, y, w, z)] == [True, True, False, False]
    assert (w.grad_fn, z.grad_fn) == (None, None)
    with pytest.raises(RuntimeError, match=NO_GRAPH):
        z.backward()
    assert x.grad is None
    y.sum().backward()  # the part before the cut is whole
    assert x.grad.item() == 10.0


def test_code_15_a_new_leaf(lib):
    x, y, w = code_14(lib)
    assert w.requires_grad_() is w
    z = w @ lib.tensor([4.0, 7.0, 9.0])
    z.backward()
    assert (w.is_leaf, w.grad_fn, w.grad.tolist(), x.grad) == (True, None, [4, 7, 9], None)
    assert {n.variable for n in nodes(z.grad_fn) if hasattr(n, "variable")} == {w}
    assert y.grad_fn not in nodes(z.grad_fn)


def test_code_16_joins_the_halves(lib):
    """vᵀJ with v = ∂z/∂y and J = ∂y/∂x gives what an uncut graph gives."""
    x, y, w = code_14(lib)
    w.requires_grad_()
    (w @ lib.tensor([4.0, 7.0, 9.0])).backward()
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        y.backward()
    y.backward(gradient=w.grad)
    assert x.grad.item() == 74.0
    whole, _, z = code_13(lib)
    z.backward()
    assert whole.grad.item() == x.grad.item()


def test_code_17_a_gradient_is_a_plain_tensor(lib):
    x, _, z = code_4(lib)
    z.backward(retain_graph=True)
    assert (x.grad.requires_grad, x.grad.is_leaf, x.grad.grad_fn, x.grad.grad) == (False, True, None, None)
    with pytest.raises(RuntimeError, match=NO_GRAPH):
        lib.autograd.grad(x.grad, x)
    (again,) = lib.autograd.grad(z, x)
    assert (again.requires_grad, again.grad_fn) == (False, None)


def test_code_18_the_gradient_has_a_graph(lib):
    """3/x → −3/x²: .6 → −.12."""
    x, _, z = code_4(lib)
    z.backward(create_graph=True)
    assert (x.grad.requires_grad, x.grad.is_leaf) == (True, False)
    assert name(x.grad.grad_fn) in ("CloneBackward", "CopyBackwards")
    assert x in [n.variable for n in nodes(x.grad.grad_fn) if hasattr(n, "variable")]
    (second,) = lib.autograd.grad(x.grad, x)
    assert (second.item(), str(second)) == (pytest.approx(-0.12, abs=1e-7), "tensor(-0.1200)")
    assert (second.requires_grad, x.grad.item()) == (False, near(0.6))


def test_code_18_two_paths_of_the_second_derivative(lib):
    """c = a·b with a = 3x² and b = 1/y; x reaches c through a and, over y, through b: .24 − .36 = −.12."""
    x, y, z = code_4(lib)
    (b,) = lib.autograd.grad(z, y, create_graph=True)
    (a,) = lib.autograd.grad(y, x, create_graph=True)
    c = a * b
    assert [t.item() for t in (a, b, c)] == [75, near(0.008), near(0.6)]
    assert all(t.requires_grad for t in (a, b, c))

    def slope(of, by):
        return lib.autograd.grad(of, by, retain_graph=True)[0].item()

    assert (slope(c, a), slope(c, b)) == (b.item(), a.item())
    assert (slope(a, x), slope(b, y), slope(y, x)) == (30, near(-0.000064), 75)
    through_a, through_b = slope(a, x) * slope(c, a), slope(y, x) * slope(b, y) * slope(c, b)
    assert (through_a, through_b) == (near(0.24), near(-0.36))
    assert slope(c, x) == pytest.approx(through_a + through_b, abs=1e-7) == pytest.approx(-0.12, abs=1e-7)


def test_code_18_without_create_graph_constants_remain(lib):
    x, y, z = code_4(lib)
    (b,) = lib.autograd.grad(z, y, retain_graph=True)
    (a,) = lib.autograd.grad(y, x)
    c = a * b
    assert [(t.item(), t.requires_grad, t.grad_fn) for t in (a, b, c)] == [
        (75, False, None),
        (near(0.008), False, None),
        (near(0.6), False, None),
    ]


def test_code_18_backward_of_the_gradient_adds(lib):
    """c.backward() does not store −.12 in x.grad: it adds it to the .6 that is there."""
    x, _, z = code_4(lib)
    z.backward(create_graph=True)
    c = x.grad
    c.backward()
    assert x.grad.item() == pytest.approx(0.48, abs=1e-7)


def test_code_19_hooks_see_and_change(lib):
    x, y, z = code_4(lib)
    seen = Seen()
    y.register_hook(seen)
    doubling = y.register_hook(lambda grad: grad * 2)
    z.backward(retain_graph=True)
    assert (seen.gradients, x.grad.item()) == ([near(0.008)], 1.2000000476837158)
    doubling.remove()
    x.grad = None
    z.backward()
    assert (len(seen.gradients), x.grad.item()) == (2, 0.6000000238418579)


def test_code_19_returning_none_changes_nothing(lib):
    x, y, z = code_4(lib)
    y.register_hook(lambda grad: None)
    z.backward()
    assert x.grad.item() == 0.6000000238418579


@pytest.fixture
def x_and_q(lib):
    x = lib.tensor(5.0, dtype=lib.float64, requires_grad=True)
    q = lib.tensor(3.0, dtype=lib.float64, requires_grad=True)
    return x, q


def test_code_20_gradcheck_agrees(lib, x_and_q):
    assert lib.autograd.gradcheck(my_pow(lib).apply, x_and_q) is True
    assert [t.item() for t in x_and_q] == [5.0, 3.0], "the inputs are as they were"


def test_code_21_gradcheck_disagrees(lib, x_and_q):
    """x^q·ln(x + 1) = 223.97 where the limit is x^q·ln x = 201.18."""
    with pytest.raises(RuntimeError) as error:
        lib.autograd.gradcheck(my_pow(lib, wrong=1).apply, x_and_q)
    assert str(error.value) == (
        "Jacobian mismatch for output 0 with respect to input 1,\n"
        "numerical:tensor([[201.1797]], dtype=torch.float64)\n"
        "analytical:tensor([[223.9699]], dtype=torch.float64)\n"
    )
    assert lib.autograd.gradcheck(my_pow(lib, wrong=1).apply, x_and_q, raise_exception=False) is False


def test_code_20_float32_is_not_enough(lib):
    """The step of 1e-6 is lost in float32: a right derivative fails, with a warning that says why."""
    x = lib.tensor(5.0, requires_grad=True)
    q = lib.tensor(3.0, requires_grad=True)
    with (
        pytest.warns(UserWarning, match="double precision"),
        pytest.raises(RuntimeError, match="Jacobian mismatch"),
    ):
        lib.autograd.gradcheck(my_pow(lib).apply, (x, q))


def test_code_22_two_edges_one_node(lib):
    x = lib.tensor(5.0, requires_grad=True)
    y = x**3
    w = x**2
    z = lib.log(y) + lib.sqrt(w)
    (log, first), (sqrt, second) = z.grad_fn.next_functions
    assert [name(n) for n in (z.grad_fn, log, sqrt)] == ["AddBackward", "LogBackward", "SqrtBackward"]
    assert (first, second) == (0, 0)
    assert (log.next_functions, sqrt.next_functions) == (((y.grad_fn, 0),), ((w.grad_fn, 0),))
    ((end_1, _),) = y.grad_fn.next_functions
    ((end_2, _),) = w.grad_fn.next_functions
    assert end_1 is end_2
    assert end_1.variable is x
    assert [name(n) for n in nodes(z.grad_fn)].count("AccumulateGrad") == 1

    seen = Seen()
    x.register_hook(seen)
    runs = calls(end_1)
    z.backward()
    assert (seen.gradients, len(runs), x.grad.item()) == ([1.600000023841858], 1, 1.600000023841858)
    with pytest.raises(RuntimeError, match=FREED):
        z.backward()
