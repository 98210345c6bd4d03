"""Complex numbers against PyTorch: what calls give, their errors, views of conjugates, and gradients."""

import numpy as np
import pytest
from calls import assert_same_ends
from complex_calls import CALLS
from twins import is_tensor, noted, numbers

import minigrad


def readable(thing):
    """What a call gave: of tensors numbers, dtype and shape, everything else as text."""
    if is_tensor(thing):
        data = numbers(thing)
        size = max([1.0, *(abs(x) for x in data.ravel().tolist() if abs(x) < 1e30)])
        parts = [(x.real, x.imag) for x in data.ravel().astype(complex).tolist()]
        digits = [" ".join(f"{0 if abs(n) < 1e-6 * size else n:.4g}" for n in pair) for pair in parts]
        return digits, data.shape, str(thing.dtype).rpartition(".")[2], thing.grad_fn and thing.grad_fn.name()
    if isinstance(thing, (tuple, list)) and any(is_tensor(t) for t in thing):
        return [readable(t) for t in thing]
    return getattr(thing, "__name__", thing) if callable(thing) else thing


def namespace(L):
    """The tensors that the calls are about."""
    return {
        "L": L,
        "z": L.tensor([1 + 2j, 0.5 - 1j]),
        "w": L.tensor([1 - 1j, 2j], dtype=L.complex128),
        "m": L.tensor([[1 + 2j, 0.5], [1j, -1 - 1j]]),
        "s": L.tensor(1 + 2j),
        "t": L.tensor(1 + 2j, dtype=L.complex128),
        "r": L.tensor([0.5, 2.0]),
        "d": L.tensor([0.5, 2.0], dtype=L.float64),
        "i": L.tensor([1, 2]),
    }


@pytest.mark.quick
def test_calls(torch):
    assert_same_ends(torch, CALLS, namespace, readable)


def note_all(note, *things):
    """Note tensors of complex numbers."""
    for thing in things:
        note(readable(thing))


def leaf(L, *numbers):
    return L.tensor(list(numbers), requires_grad=True)


def test_a_conjugate_shares_memory(L, note):
    z = L.tensor([1 + 2j, 3 - 1j])
    y = z.conj()
    y.add_(1j)
    note_all(note, z, y)
    note(z._version, y._version, y._is_view(), y._base is z, y.is_conj())
    z[0] = 5
    y[1] = 2j
    note_all(note, z, y, y[0], y.real, y.imag)
    y.imag.mul_(2)
    y.real.zero_()
    note_all(note, z, y)
    y.exp_()
    note_all(note, z, y)
    z.real = L.tensor([7.0, 8.0])
    z.imag = 1
    note_all(note, z, y)


def test_in_place_through_a_conjugate(L, note):
    for change in (
        lambda y: y.mul_(1j), lambda y: y.add_(y), lambda y: y.exp_(), lambda y: y.copy_(y * 3),
        lambda y: y[0].pow_(2), lambda y: y.zero_(), lambda y: y.sigmoid_(), lambda y: y.div_(1 + 1j),
    ):  # fmt: skip
        x = leaf(L, 1 + 2j, 0.5 - 1j)
        z = x * 1
        y = z.conj()
        change(y)
        note_all(note, y, z)
        note(y.is_conj(), z.grad_fn, y.grad_fn)
        (z * z + y).sum().backward(L.tensor(1 + 0.5j))
        note_all(note, x.grad)


def test_in_place_through_parts(L, note):
    for change in (
        lambda z: z.real.mul_(3), lambda z: z.imag.add_(1), lambda z: L.view_as_real(z)[0].mul_(2),
        lambda z: z.conj().imag.mul_(2), lambda z: z.conj().real.exp_(), lambda z: z[0].real.zero_(),
    ):  # fmt: skip
        x = leaf(L, 1 + 2j, 0.5 - 1j)
        z = x * 1
        change(z)
        note_all(note, z)
        note(z.grad_fn, z._version)
        (z * z.conj()).real.sum().backward()
        note_all(note, x.grad)


def test_saved_conjugates(L, note):
    x = leaf(L, 1 + 2j, 0.5 - 1j)
    y = x.conj()
    z = y * x
    note_all(note, z.grad_fn._saved_self, z.grad_fn._saved_other)
    note(z.grad_fn._saved_self.is_conj())
    with L.no_grad():
        x.mul_(2)
    note.error(lambda: z.sum().backward(L.tensor(1 + 0j)))
    a = x * 1
    b = a.conj().exp()
    a.add_(1)
    b.sum().backward(L.tensor(1j))
    note_all(note, x.grad)


def test_roots(L, note):
    x = leaf(L, 1 + 2j)
    note.error(lambda: (x * x).backward())
    note.error(lambda: (x * x).sum().backward())
    note.error(lambda: L.autograd.grad(x * x, x))
    (x * x).backward(L.tensor([1j]))
    note_all(note, x.grad)
    note.error(lambda: (x * x).backward(L.tensor([1.0])))
    note.error(lambda: x.abs().backward(L.tensor([1j])))
    note.error(lambda: (x * x).backward(L.tensor([1j], dtype=L.complex128)))
    x.grad = None
    x.abs().backward()
    note_all(note, x.grad)
    (x.conj() * 2).backward(L.tensor([1j]).conj())
    note_all(note, x.grad)
    note.error(lambda: setattr(x, "grad", L.tensor([1.0])))
    x.grad = L.tensor([1 + 1j])
    note_all(note, x.grad)


def test_gradients_of_real_inputs(L, note):
    for f in (
        lambda r, z: r * z, lambda r, z: z / r, lambda r, z: r**z, lambda r, z: r - z,
        lambda r, z: (r + 1j) * z, lambda r, z: L.complex(r, r * 2) * z,
        lambda r, z: r.to(L.complex64) @ z, lambda r, z: L.polar(r, r) + z,
    ):  # fmt: skip
        r, z = leaf(L, 0.5, 2.0), leaf(L, 1 + 2j, 0.5 - 1j)
        out = f(r, z)
        out.sum().backward(L.tensor(1 + 0.5j))
        note_all(note, out, r.grad, z.grad)


def test_hooks(L, note):
    x = leaf(L, 1 + 2j)
    y = x.conj() * 2
    y.register_hook(lambda g: note_all(note, g))
    y.register_hook(lambda g: g.conj())
    x.register_hook(lambda g: g * 1j)
    y.grad_fn.register_hook(lambda sent, received: note_all(note, sent[0], received[0]))
    y.retain_grad()
    y.backward(L.tensor([1 + 3j]))
    note_all(note, x.grad, y.grad)


def test_functions(L, note):
    class Conjugate(L.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.conj() * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            note_all(note, x, g)
            return x * (g + g.conj())

    x = leaf(L, 1 + 2j, 3j)
    y = Conjugate.apply(x)
    y.sum().backward(L.tensor(1 + 1j))
    note_all(note, y, x.grad)
    z = Conjugate.apply(x.conj())
    z.sum().backward(L.tensor(1 + 1j))
    note_all(note, z, x.grad)


def test_second_derivatives(L, note):
    for f in (
        lambda z: (z * z.conj()).real, lambda z: z.exp().abs(), lambda z: z.angle(), lambda z: z.sgn().real,
        lambda z: (z**3).imag, lambda z: L.view_as_real(z * z)[..., 1], lambda z: z.tanh().abs(),
        lambda z: z.sigmoid().imag, lambda z: (z / z.conj()).real, lambda z: (z @ z).abs(),
    ):  # fmt: skip
        z = leaf(L, 1 + 2j, 0.5 - 1j).detach().cdouble().requires_grad_()
        g = L.autograd.grad(f(z).sum(), z, create_graph=True)[0]
        h = L.autograd.grad(g.abs().sum(), z, create_graph=True)[0]
        k = L.autograd.grad((h * h.conj()).real.sum(), z)[0]
        note_all(note, g, h.detach(), k)


def test_descent(L, note):
    """Gradient descent on |A z - b|² reaches the solution."""
    A = L.tensor([[2 + 1j, 0.5], [1j, -1 - 1j]])
    b = L.tensor([1 + 1j, 2.0])
    z = leaf(L, 0j, 0j)
    for _ in range(200):
        e = A @ z - b
        (e * e.conj()).real.sum().backward()
        with L.no_grad():
            z -= 0.05 * z.grad
            z.grad.zero_()
    assert np.abs(numbers(A @ z - b)).max() < 1e-2
    note(np.round(numbers(z), 3).tolist())


def test_printed(L, note):
    for t in (
        L.tensor([1 + 2j, 3j]), L.tensor(1 + 2j), L.tensor([[1 + 2j], [-1e6j]]), L.tensor([]).cfloat(),
        L.tensor([0.1 + 1j], dtype=L.complex128), L.tensor([complex("nan"), complex("inf")]), leaf(L, 1j),
        leaf(L, 1j).conj(), L.tensor([1 + 0j]).conj(), leaf(L, 1 + 1j).imag,
    ):  # fmt: skip
        note(repr(t).replace("minigrad.", "torch."))


def test_gradients_of_conjugates_are_numbers_of_their_own():
    """PyTorch may leave a view of conjugates in `.grad`; here it is a tensor like any other."""
    x = leaf(minigrad, 1 + 2j)
    x.conj().backward(minigrad.tensor([1j]))
    assert not x.grad.is_conj() and noted(x.grad.imag.detach())[0] == [-1.0]
