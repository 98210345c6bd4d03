"""Twenty places where the documents are imprecise or out of date: what is true there.

Each test is numbered as the places are in the project's list of them, and says first what is true.
"""

from __future__ import annotations

import math

import pytest
from documents.facts import FREED, NO_GRAPH, Seen, calls, code_9, name, near, nodes
from functions import my_pow


@pytest.fixture
def xyz(lib):
    """Code 4: x = 5, y = x³, z = ln y."""
    x = lib.tensor(5.0, requires_grad=True)
    y = x**3
    return x, y, lib.log(y)


def test_01_y_requires_a_gradient_but_is_no_leaf(lib):
    """In the composite function y.grad is None because y is not a leaf; y does require a gradient."""
    x = lib.tensor([4.0], requires_grad=True)
    y = 2 * (x**2)
    z = y**2
    assert (y.requires_grad, y.is_leaf) == (True, False)
    z.backward(retain_graph=True)
    assert y.grad is None
    y.retain_grad()
    z.backward()
    assert y.grad.tolist() == [64.0]


def test_02_gradient_is_used_in_one_pass(lib):
    """`gradient=v` computes vᵀJ in one pass, as (v·y).sum().backward() does, not one pass per element."""
    x = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
    v = lib.tensor([1.0, 10.0, 100.0])
    y = x**2
    runs = calls(y.grad_fn)
    y.backward(gradient=v, retain_graph=True)
    assert (len(runs), x.grad.tolist()) == (1, [2.0, 40.0, 600.0])
    x.grad = None
    (v * y).sum().backward()
    assert (len(runs), x.grad.tolist()) == (2, [2.0, 40.0, 600.0])


def test_03_retain_graph_defaults_to_create_graph(xyz):
    x, _, z = xyz
    z.backward(create_graph=True)
    z.backward(retain_graph=False)
    with pytest.raises(RuntimeError, match=FREED):
        z.backward()
    assert x.grad.item() == near(1.2)


def test_03_retain_graph_can_be_off_under_create_graph(xyz):
    _, _, z = xyz
    z.backward(create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match=FREED):
        z.backward()


def test_04_grad_gives_one_result_per_input(lib):
    """Two results need two inputs, a result that has a graph needs create_graph, `out` has one element."""
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    w = lib.tensor([3.0, 4.0], requires_grad=True)
    out = (x * w).sum()
    only = lib.autograd.grad(out, x, retain_graph=True)
    assert (len(only), only[0].tolist(), only[0].requires_grad) == (1, [3.0, 4.0], False)
    with pytest.raises(ValueError, match="not enough values to unpack"):
        _, _ = lib.autograd.grad(out, x, retain_graph=True)
    grad_x, _ = lib.autograd.grad(out, (x, w), create_graph=True)
    assert (grad_x.requires_grad, grad_x.tolist()) == (True, [3.0, 4.0])
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        lib.autograd.grad(x * w, x)


def test_05_others_than_leaves_get_gradients_too(xyz):
    """After retain_grad(), or when they are named in `inputs=`."""
    x, y, z = xyz
    z.retain_grad()
    z.backward(inputs=[y], retain_graph=True)
    assert (x.grad, y.grad.item(), z.grad.item()) == (None, near(0.008), 1.0)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_06_a_root_of_one_element_suffices(lib, shape):
    x = lib.ones(shape, requires_grad=True)
    y = x * 3
    y.backward()
    assert (tuple(x.grad.shape), x.grad.item()) == (shape, 3.0)


def test_06_the_default_of_one_holds_only_there(lib):
    y = lib.ones(2, requires_grad=True) * 3
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        y.backward()
    y.backward(gradient=lib.ones(2))


def test_07_backward_works_again_if_nothing_was_saved(lib):
    """x + 1 survives two backwards; x · 2, which saved the 2, does not."""
    x = lib.tensor(5.0, requires_grad=True)
    total, product = x + 1, x * 2
    total.backward()
    total.backward()
    assert x.grad.item() == 2.0
    product.backward()
    with pytest.raises(RuntimeError, match=FREED):
        product.backward()


def test_07_only_saved_tensors_are_freed(xyz):
    """The nodes, their edges and plain numbers stay."""
    x, y, z = xyz
    z.backward()
    power = z.grad_fn.next_functions[0][0]
    assert power is y.grad_fn
    assert power.next_functions[0][0].variable is x
    assert power._saved_exponent == 3
    with pytest.raises(RuntimeError, match=FREED):
        _ = power._saved_self


def test_08_grad_fn_is_a_node_that_multiplies(lib):
    """Not a method, and not the derivative: a node, which takes a vector to its product with the Jacobian."""
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x**3
    assert (y.grad_fn.name(), len(y.grad_fn.next_functions)) == ("PowBackward0", 1)
    passed = []
    y.grad_fn.register_hook(lambda inputs, outputs: passed.append((outputs[0].tolist(), inputs[0].tolist())))
    y.backward(gradient=lib.tensor([1.0, 10.0]))
    assert passed == [([1.0, 10.0], [1.0 * 3, 10.0 * 12])]


def test_09_one_input_that_requires_a_gradient_is_enough(lib):
    x = lib.tensor(5.0, requires_grad=True)
    plain = lib.tensor(2.0)
    y = x * plain
    assert y.requires_grad
    (end, _), other = y.grad_fn.next_functions
    assert (end.variable is x, other) == (True, (None, 0))
    y.backward()
    assert (x.grad.item(), plain.grad) == (2.0, None)


def test_10_leaf_means_no_grad_fn(lib):
    """A tensor without grad_fn is a leaf: plain tensors are, and so are results under no_grad."""
    plain = lib.tensor(1.0)
    asked = lib.tensor(1.0, requires_grad=True)
    converted = lib.tensor(1.0, requires_grad=True).double()
    with lib.no_grad():
        unrecorded = asked * 2
    tensors = (plain, plain * 2, asked, unrecorded, asked * 2, converted)
    assert [t.is_leaf for t in tensors] == [True, True, True, True, False, False]
    assert [t.grad_fn is None for t in tensors] == [t.is_leaf for t in tensors]
    assert (converted.requires_grad, converted.dtype) == (True, lib.float64)


def test_11_the_gradient_of_y_is_computed_and_not_stored(xyz):
    _, y, z = xyz
    seen = Seen()
    y.register_hook(seen)
    z.backward()
    assert (seen.gradients, y.grad, z.grad) == ([near(0.008)], None, None)


def test_12_gradients_meet_before_they_are_stored(lib):
    """The two parts of 1.6 are added on the way; AccumulateGrad runs once and adds the sum to x.grad."""
    x, y, _, z = code_9(lib)
    x.grad = lib.tensor(10.0)
    end = y.grad_fn.next_functions[0][0]
    seen, received = Seen(), []
    x.register_hook(seen)
    end.register_hook(lambda inputs, outputs: received.append(outputs[0].item()))
    z.backward()
    assert (seen.gradients, received) == ([near(1.6)], [near(1.6)])
    assert x.grad.item() == near(11.6)


def test_12_grad_adds_paths_although_it_stores_nothing(lib):
    x, _, _, z = code_9(lib)
    (dz_dx,) = lib.autograd.grad(z, x)
    assert (dz_dx.item(), x.grad) == (near(1.6), None)


def test_12_the_derivative_by_x_is_total(lib):
    """z depends on y and w, which depend on x: with them held fixed, z would not depend on x at all."""
    x, y, w, _ = code_9(lib)
    held = lib.log(y.detach()) + lib.sqrt(w.detach())
    assert not held.requires_grad
    total = lib.log(x**3) + lib.sqrt(x**2)
    assert lib.autograd.grad(total, x)[0].item() == near(1.6)


def test_13_one_over_y_is_one_over_x_to_the_q(lib):
    """1/x³ is its value at q = 3 only; at q = 2 it is 1/25."""
    q = lib.tensor(2.0, requires_grad=True)
    x = lib.tensor(5.0, requires_grad=True)
    y = x**q
    (dz_dy,) = lib.autograd.grad(lib.log(y), y)
    assert dz_dy.item() == near(1 / 25)


def test_13_the_exact_product_is_201_18(lib):
    q = lib.tensor(3.0, dtype=lib.float64, requires_grad=True)
    x = lib.tensor(5.0, dtype=lib.float64)
    (dy_dq,) = lib.autograd.grad(x**q, q)
    assert dy_dq.item() == pytest.approx(125 * math.log(5)) == pytest.approx(201.1797, abs=5e-5)


def test_13_own_power_has_no_gradient_at_zero(lib):
    """At x = 0 MyPow multiplies 0 by ln 0 = −∞; the library's pow knows that 0^q is constant there."""
    x = lib.tensor(0.0, requires_grad=True)
    q = lib.tensor(3.0, requires_grad=True)
    own = lib.autograd.grad(my_pow(lib).apply(x, q), (x, q))
    built_in = lib.autograd.grad(x**q, (x, q))
    assert (own[0].item(), math.isnan(own[1].item())) == (0.0, True)
    assert [g.item() for g in built_in] == [0.0, 0.0]


def test_14_leaves_made_under_no_grad_get_what_they_ask_for(lib):
    with lib.no_grad():
        leaf = lib.tensor(5.0, requires_grad=True)
        result = leaf * 2
    assert (leaf.requires_grad, result.requires_grad) == (True, False)
    (leaf * 2).backward()
    assert leaf.grad.item() == 2.0


def test_15_comparisons_require_no_gradient(lib):
    x = lib.tensor([1.0, 3.0], requires_grad=True)
    above = x > 2
    assert (above.tolist(), above.requires_grad, above.grad_fn, above.dtype) == (
        [False, True],
        False,
        None,
        lib.bool,
    )


def test_15_detach_shares_memory_and_version(lib):
    """Writing to the detached w changes y, and a backward that needs the old y finds out."""
    x = lib.tensor(5.0, requires_grad=True)
    y = x * lib.tensor([2.0, 3.0, 5.0])
    z = (y * y).sum()
    w = y.detach()
    assert (y._version, w._version) == (0, 0)
    w -= 1
    assert (y.tolist(), y._version, w._version) == ([9.0, 14.0, 24.0], 1, 1)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        z.backward()


def test_16_the_keyword_is_gradient(lib):
    x = lib.tensor(5.0, requires_grad=True)
    y = x * lib.tensor([2.0, 3.0, 5.0])
    v = lib.tensor([4.0, 7.0, 9.0])
    with pytest.raises(TypeError, match="grad_output"):
        y.backward(grad_output=v)
    y.backward(gradient=v)
    assert x.grad.item() == 74.0


def test_16_the_function_of_code_11_is_my_pow(lib):
    """Its node takes the class's name; and Code 17 goes on from Code 4, the first that has an x.grad."""

    class MyPow(lib.autograd.Function):
        @staticmethod
        def forward(ctx, input_1):
            return input_1 * 1

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output

    assert MyPow.apply(lib.tensor(1.0, requires_grad=True)).grad_fn.name() == "MyPowBackward"


def test_17_backward_of_the_gradient_adds_to_it(xyz):
    """.6 − .12 = .48; to have −.12 in x.grad it must be reset before."""
    x, _, z = xyz
    z.backward(create_graph=True)
    c = x.grad
    c.backward(retain_graph=True)
    assert x.grad.item() == pytest.approx(0.48, abs=1e-7)
    x.grad = None
    c.backward()
    assert x.grad.item() == pytest.approx(-0.12, abs=1e-7)


@pytest.mark.parametrize("kept", [False, True])
def test_18_what_the_hook_returns_is_kept_only_on_request(xyz, kept):
    """y.grad is None, as for every result; after retain_grad() it is the doubled .016."""
    x, y, z = xyz
    if kept:
        y.retain_grad()
    y.register_hook(lambda grad: grad * 2)
    z.backward()
    assert (y.grad.item() if kept else y.grad) == (near(0.016) if kept else None)
    assert x.grad.item() == near(1.2)


def test_19_the_labels_of_code_22(lib):
    """The label y.grad_fn stands before LogBackward's next_functions; y.grad_fn is what is in them."""
    _, y, w, z = code_9(lib)
    (log, _), (sqrt, _) = z.grad_fn.next_functions
    assert (name(log), log.next_functions[0][0] is y.grad_fn) == ("LogBackward", True)
    assert (name(sqrt), sqrt.next_functions[0][0] is w.grad_fn) == ("SqrtBackward", True)


def test_19_one_node_over_two_edges_runs_once(lib):
    _, y, w, z = code_9(lib)
    end = y.grad_fn.next_functions[0][0]
    assert w.grad_fn.next_functions[0][0] is end
    runs = calls(end)
    z.backward()
    assert len(runs) == 1


def test_19_each_grad_fn_is_an_object_of_its_own(xyz):
    """Equal printed addresses come from objects that are no longer there."""
    _, y, z = xyz
    assert y.grad_fn is y.grad_fn
    assert y.grad_fn is not z.grad_fn
    assert len({id(n) for n in nodes(z.grad_fn)}) == 3


def test_20_complex_tensors_may_require_gradients(lib):
    z = lib.tensor(3 + 4j, requires_grad=True)
    assert (z.requires_grad, z.dtype) == (True, lib.complex64)
    for whole in (lib.tensor(3), lib.tensor([True])):
        with pytest.raises(RuntimeError, match="only Tensors of floating point"):
            whole.requires_grad_()


def test_20_float_tensor_is_the_old_way(lib):
    old, new = lib.FloatTensor([1.0, 2.0]), lib.tensor([1.0, 2.0])
    assert (old.tolist(), old.dtype, old.requires_grad) == (new.tolist(), new.dtype, False)
    assert str(old) == str(new)


def test_20_resetting_to_none(xyz):
    """As an optimizer's zero_grad() does today: the next backward makes a new tensor and adds to nothing."""
    x, _, z = xyz
    z.backward(retain_graph=True)
    old = x.grad
    x.grad = None
    z.backward()
    assert x.grad is not old
    assert (old.item(), x.grad.item()) == (near(0.6), near(0.6))


def test_20_no_graph_is_an_error(lib):
    with pytest.raises(RuntimeError, match=NO_GRAPH):
        lib.tensor(1.0).backward()
