"""What Codes 1 to 12 show, beside what they print."""

from __future__ import annotations

import functions
import numpy as np
import pytest
from documents.facts import FREED, NO_GRAPH, Seen, calls, code_4, code_9, name, near, saved_arrays


def test_code_1_leaves_no_graph(lib):
    x = lib.tensor(5.0)
    y = x**3
    z = lib.log(y)
    assert (x.item(), y.item(), z.item()) == (5.0, 125.0, near(4.828313827514648))
    assert all(t.grad_fn is None and not t.requires_grad for t in (x, y, z))


@pytest.mark.parametrize(
    ("h", "quotient"),
    [(0.1, "0.5941"), (0.01, "0.5994"), (0.001, "0.5999"), (1e-5, "0.5714"), (1e-6, "0.5000")],
)
def test_code_2_truncation_against_rounding(lib, h, quotient):
    """The quotient nears 0.6 until the difference of two float32 numbers has too few digits left."""
    x, x2 = lib.tensor(5.0), lib.tensor(5.0 + h)
    z, z2 = lib.log(x**3), lib.log(x2**3)
    assert str((z2 - z) / (x2 - x)) == f"tensor({quotient})"


def test_code_3_leaf_means_no_grad_fn(lib):
    x = lib.tensor(5.0)
    for t in (x, x**3, lib.log(x**3)):
        assert (t.requires_grad, t.is_leaf, t.grad_fn, t.grad) == (False, True, None, None)
    for t in code_4(lib):
        assert t.is_leaf is (t.grad_fn is None)


def test_code_4_the_chain(lib):
    """∂z/∂z = 1, ∂z/∂y = 1/y = .008, ∂y/∂x = 3x² = 75, ∂z/∂x = 75 · .008 = .6."""
    x, y, z = code_4(lib)
    (dz_dz,) = lib.autograd.grad(z, z, retain_graph=True)
    (dz_dy,) = lib.autograd.grad(z, y, retain_graph=True)
    (dy_dx,) = lib.autograd.grad(y, x, retain_graph=True)
    (dz_dx,) = lib.autograd.grad(z, x, retain_graph=True)
    assert [g.item() for g in (dz_dz, dz_dy, dy_dx, dz_dx)] == [1, near(0.008), 75, near(0.6)]
    assert (dy_dx * dz_dy).item() == dz_dx.item() == 0.6000000238418579


def test_code_4_computed_is_not_stored(lib):
    x, y, z = code_4(lib)
    seen_y, seen_z = Seen(), Seen()
    y.register_hook(seen_y)
    z.register_hook(seen_z)
    z.backward()
    assert (seen_y.gradients, seen_z.gradients) == ([near(0.008)], [1.0])
    assert (y.grad, z.grad, x.grad.item()) == (None, None, near(0.6))


def test_code_4_intermediates_must_require_gradients(lib):
    """Nothing is stored for y and z, but x is reached through them: cut at y, it gets no gradient."""
    x, y, z = code_4(lib)
    assert y.requires_grad and z.requires_grad
    cut = y.detach()
    with pytest.raises(RuntimeError, match=NO_GRAPH):
        lib.log(cut).backward()
    assert x.grad is None


def test_code_4_figure(lib):
    """z's LogBackward, then y's PowBackward, then the end of the path at x, with what they saved."""
    x, y, z = code_4(lib)
    log, power = z.grad_fn, y.grad_fn
    assert (name(log), name(power)) == ("LogBackward", "PowBackward")
    assert (log._saved_self.item(), power._saved_self.item(), power._saved_exponent) == (125.0, 5.0, 3)
    assert log.next_functions == ((power, 0),)
    ((end, number),) = power.next_functions
    assert (name(end), number, end.next_functions, end.variable is x) == ("AccumulateGrad", 0, (), True)


def test_code_5_keeps_intermediate_gradients(lib):
    x, y, z = code_4(lib)
    assert not y.retains_grad
    y.retain_grad()
    z.retain_grad()
    z.backward()
    assert (y.grad.item(), z.grad.item()) == (0.00800000037997961, 1.0)
    assert (y.retains_grad, z.retains_grad) == (True, True)
    assert not x.retains_grad
    x.retain_grad()  # nothing to do for a leaf
    assert not x.retains_grad


def test_code_6_what_freeing_means(lib):
    """The saved numbers are gone, the nodes and edges are not; the gradient of the first backward stays."""
    x, y, z = code_4(lib)
    z.backward()
    for node in (z.grad_fn, y.grad_fn):
        with pytest.raises(RuntimeError, match=FREED):
            _ = node._saved_self
    assert z.grad_fn.next_functions[0][0] is y.grad_fn
    with pytest.raises(RuntimeError, match=FREED):
        z.backward()
    assert x.grad.item() == 0.6000000238418579


def test_code_7_accumulates_and_the_last_call_frees(lib):
    x, _, z = code_4(lib)
    z.backward(retain_graph=True)
    kept = x.grad
    assert kept.item() == 0.6000000238418579
    z.backward()
    assert x.grad is kept, "the sum is made in the same tensor"
    assert kept.item() == 1.2000000476837158
    with pytest.raises(RuntimeError, match=FREED):
        z.backward()


@pytest.mark.parametrize("reset", ["zero_", "None"])
def test_code_8_two_ways_to_reset(lib, reset):
    x, _, z = code_4(lib)
    z.backward(retain_graph=True)
    assert x.grad.item() == 0.6000000238418579
    if reset == "zero_":
        assert x.grad.zero_() is x.grad
        assert x.grad.item() == 0.0
    else:
        x.grad = None
    z.backward()
    assert x.grad.item() == 0.6000000238418579


def test_code_9_two_paths_add(lib):
    """∂y/∂x = 75, ∂w/∂x = 10, ∂z/∂y = .008, ∂z/∂w = .1; 75 · .008 + 10 · .1 = 1.6."""
    x, y, w, z = code_9(lib)
    first = [lib.autograd.grad(t, x, retain_graph=True)[0] for t in (y, w)]
    second = lib.autograd.grad(z, (y, w), retain_graph=True)
    assert [g.item() for g in (*first, *second)] == [75, 10, near(0.008), near(0.1)]
    paths = [(a * b).item() for a, b in zip(first, second, strict=True)]
    assert paths == [near(0.6), 1.0]
    z.backward()
    assert x.grad.item() == 1.600000023841858 == near(sum(paths))


def test_code_9_a_kernel_used_three_times(lib):
    """A weight shared as in a convolution: one leaf, three uses, one sum [1+2+3, 2+3+4] = [6, 9]."""
    signal = lib.tensor([1.0, 2.0, 3.0, 4.0])
    kernel = lib.tensor([10.0, 1.0], requires_grad=True)
    seen = Seen()
    kernel.register_hook(seen)
    windows = [signal[i : i + 2] for i in range(3)]
    outputs = [window @ kernel for window in windows]
    total = outputs[0] + outputs[1] + outputs[2]
    assert [o.item() for o in outputs] == [12.0, 23.0, 34.0]
    parts = [lib.autograd.grad(o, kernel, retain_graph=True)[0].tolist() for o in outputs]
    assert parts == [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]
    ends = [o.grad_fn.next_functions[1][0] for o in outputs]
    runs = calls(ends[0])
    assert ends[0] is ends[1] is ends[2]
    seen.gradients.clear()
    total.backward()
    assert kernel.grad.tolist() == [6.0, 9.0]
    assert (seen.gradients, len(runs)) == ([[6.0, 9.0]], 1)


def test_code_9_the_sum_is_the_convolutions(torch):
    signal = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    kernel = torch.tensor([[[10.0, 1.0]]], requires_grad=True)
    torch.nn.functional.conv1d(signal, kernel).sum().backward()
    assert kernel.grad.tolist() == [[[6.0, 9.0]]]


def code_10(lib, exponent=3.0, base=5.0):
    q = lib.tensor(exponent, requires_grad=True)
    x = lib.tensor(base, requires_grad=True)
    y = x**q
    return q, x, y, lib.log(y)


def test_code_10_two_leaves_into_one_node(lib):
    """∂y/∂x = q·x^(q-1) = 75, ∂y/∂q = x^q·ln x = 201.18; times .008 that is .6 and 1.6094."""
    q, x, y, z = code_10(lib)
    by_x, by_q = lib.autograd.grad(y, (x, q), retain_graph=True)
    assert (by_x.item(), by_q.item()) == (75, near(125 * np.log(5)))
    z.backward()
    assert (x.grad.item(), q.grad.item()) == (0.6000000238418579, near(1.6094379425048828))


def test_code_10_figure(lib):
    q, x, y, z = code_10(lib)
    power = y.grad_fn
    assert power.name() == "PowBackward1"
    assert z.grad_fn.next_functions == ((power, 0),)
    (to_x, _), (to_q, _) = power.next_functions
    assert (to_x.variable is x, to_q.variable is q) == (True, True)
    saved = (power._saved_self, power._saved_exponent, power._saved_result)
    assert [t.item() for t in saved] == [5.0, 3.0, 125.0]


def watched_pow(lib):
    """MyPow, which notes the numbers that its backward reads and returns."""
    parent = functions.my_pow(lib)

    class MyPow(parent):
        seen = ()

        @staticmethod
        def backward(ctx, g):
            sent = parent.backward(ctx, g)
            MyPow.seen = (*ctx.saved_tensors, g, *sent)
            return sent

    return MyPow


def test_code_11_needs_the_numbers_of_the_forward_pass(lib):
    """The formula q·x^(q-1) is known beforehand; its numbers are those that were saved, x and q."""
    my = watched_pow(lib)
    q = lib.tensor(3.0, requires_grad=True)
    x = lib.tensor(5.0, requires_grad=True)
    y = my.apply(x, q)
    z = lib.log(y)
    assert (y.item(), y.grad_fn.name()) == (125.0, "MyPowBackward")
    assert [t is u for t, u in zip(y.grad_fn.saved_tensors, (x, q), strict=True)] == [True, True]
    assert [node.variable for node, _ in y.grad_fn.next_functions] == [x, q]
    z.backward()
    values = [t.item() for t in my.seen]
    assert values == [5.0, 3.0, near(0.008), near(0.6), near(1.6094379425048828)]
    assert (x.grad.item(), q.grad.item()) == (near(0.6), near(1.6094379425048828))
    with pytest.raises(RuntimeError, match=FREED):
        _ = y.grad_fn.saved_tensors


def test_code_12_what_no_grad_saves(lib):
    """1,000 floats: exp keeps its result, 4,000 bytes; under no_grad there is no node to keep anything."""
    a = lib.ones(1000, requires_grad=True)
    total = (a * 2).exp().sum()
    assert [t.numel() * t.element_size() for t in saved_arrays(total.grad_fn)] == [4000]
    with lib.no_grad():
        total = (a * 2).exp().sum()
    assert total.grad_fn is None
    assert (a.requires_grad, total.requires_grad, total.is_leaf) == (True, False, True)
    with pytest.raises(RuntimeError, match=NO_GRAPH):
        total.backward()


def test_code_12_leaves_made_inside_keep_what_they_asked_for(lib):
    with lib.no_grad():
        q, x, y, z = code_10(lib)
    assert [t.requires_grad for t in (q, x, y, z)] == [True, True, False, False]
    assert all(t.is_leaf and t.grad_fn is None for t in (q, x, y, z))
    lib.log(x**q).backward()
    assert x.grad.item() == 0.6000000238418579
