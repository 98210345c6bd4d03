"""What PyTorch's autograd does in corners where minigrad once did something else: modes that user code leaves
switched, saved tensors that are written to, memory that is exchanged, small ops in place.
"""

import numpy as np
import pytest
from functions import leaf, made, of_inputs

VALUES = (1.5, [1.5, 2.0])


# ── modes that user code switches inside backward and leaves so


def modes_of(L):
    forward = L.autograd.forward_ad._is_fwd_grad_enabled()
    return L.is_grad_enabled(), L.is_inference_mode_enabled(), forward


def test_modes_left_by_hooks(L, note):
    for create_graph in (False, True):
        for mode in (L.no_grad, L.enable_grad, L.inference_mode):
            x = leaf(L, [1.0, 2.0])
            y = x * 2
            z = y.exp()
            context = mode()
            seen = []

            def hook(g, x=x, seen=seen):
                seen.append((modes_of(L), (x * x).requires_grad))

            z.register_hook(lambda g, context=context: context.__enter__())
            for t in (z, y, x):
                t.register_hook(hook)
            L.autograd.grad(z.sum(), [x], create_graph=create_graph)
            note(seen, modes_of(L), (x * x).requires_grad)
            context.__exit__(None, None, None)
            L.set_grad_enabled(True)


def test_saved_tensor_hooks_left_by_backward(L, note):
    packed = []

    def pack(t):
        packed.append(t.tolist())
        return t

    for error in (None, ValueError("stop")):

        def backward(ctx, g, error=error):
            L.autograd.graph.saved_tensors_hooks(pack, lambda t: t).__enter__()
            L.set_grad_enabled(False)
            L.autograd.set_multithreading_enabled(False)
            if error is not None:
                raise error
            return g

        x = leaf(L, [3.0])
        result = made(L, lambda ctx, x: x * 1, backward).apply(x).sum()
        note.error(result.backward)
        x.exp()
        note(list(packed), L.is_grad_enabled(), L.autograd.is_multithreading_enabled())


# ── saved tensors


def test_what_is_saved_shares_its_version(L, note):
    for value in VALUES:
        a = leaf(L, value)
        b = L.exp(a)
        s = b.grad_fn._saved_result
        note(b._version, s._version)
        with L.no_grad():
            b += 1
        note(b, s.detach(), b._version, s._version)
        b = a * 2
        s = b.sin().grad_fn._saved_self
        with L.no_grad():
            s += 1
        note(s.detach(), s._version, b._version)


def test_written_through_what_is_saved(L, note):
    for value in VALUES:
        a = leaf(L, value)
        c = L.exp(a)
        with L.no_grad():
            c.grad_fn._saved_result.add_(1)
        note(c._version)
        note.error(lambda c=c: c.sum().backward())


def test_packed_numbers_are_written_to(L, note):
    for value in VALUES:
        a = leaf(L, value)
        other = a.detach().clone()

        def backward(g, x, a=a, other=other):
            x.add_(1)
            note(a.detach(), x.detach(), other, a._version, other._version)
            return g * x

        with L.autograd.graph.saved_tensors_hooks(lambda t, other=other: other, lambda t: t):
            c = of_inputs(L, lambda x: x * 2, backward).apply(a)
        c.sum().backward()
        note(a.grad)


def test_what_an_unpack_hook_gives(L, note):
    given = []

    def unpack(t):
        given.append(t)
        return t

    packs = (lambda t: t, lambda t: t.clone(), lambda t: t.detach(), lambda t: t.detach().requires_grad_())
    for pack in packs:
        for x in (L.tensor([1.0, 2.0]), leaf(L, [1.0, 2.0]), leaf(L, [1.0, 2.0]) * 1):
            with L.autograd.graph.saved_tensors_hooks(pack, unpack):
                w = x * leaf(L, [3.0, 4.0])
            s = w.grad_fn._saved_self
            note(s is given[-1], s is x, s.is_leaf, s.requires_grad, s._is_view(), s._version)


# ── other memory under the same version counter


def test_exchanged_data_keeps_the_counter(L, note):
    for value in VALUES:
        x = L.tensor([value, value])
        v = x[0]
        x.data = L.ones(3)
        x.add_(1)
        note(x, v, x._version, v._version)
        v.add_(1)
        x.data = L.zeros(1)
        note(x, v, x._version, v._version, x._is_view(), v._is_view())
        y = leaf(L, value) * 2
        d = y.detach()
        z = y.sin()
        y.data = L.tensor(value) * 5
        d.add_(1)
        note(y.detach(), d, y._version, d._version)
        note.error(lambda z=z: z.sum().backward())


def test_exchanged_data_is_what_was_saved(L, note):
    for value in VALUES:
        x = leaf(L, value)
        y = x * 2
        z = y.sin() * x
        y.data = L.tensor(value) * 5
        y.data = L.tensor(value) * 7
        z.sum().backward()
        note(x.grad)


def test_views_of_exchanged_data(L, note):
    for new in ([[5.0, 6.0, 7.0], [8.0, 9.0, 1.0]], [1.0], [[1.0, 2.0]] * 5, 3.0):
        for write_to_view in (True, False):
            a = leaf(L, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
            x = a * 1
            v = x[1]
            x.data = L.tensor(new)
            (v if write_to_view else x).mul_(2)
            note(v.detach(), x.detach(), v._version, x._version, v.grad_fn.name(), x.grad_fn.name())
            note.error(lambda t=x if write_to_view else v: t.sum().backward())
            note(a.grad)


def test_memory_around_a_part(L, note):
    t = L.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    for part in (t[1:3].detach(), t[:4].detach()[1:], t[2:].view(3).data):
        note(part.storage_offset(), part.as_strided((4,), (1,), 0), part.as_strided((2,), (1,)))
        note.error(lambda part=part: part.as_strided((6,), (1,), 0))
    numbers = L.from_numpy(np.arange(6.0)[1:4])
    note(numbers.storage_offset(), numbers.as_strided((2,), (1,), 0))
    note.error(lambda: numbers.as_strided((5,), (1,), 0))
    apart = L.from_numpy(np.arange(12.0).reshape(4, 3)[::2, 1:])
    apart.mul_(leaf(L, 2.0).double())
    v = apart[1]
    v.add_(1)
    note(apart, v, v.stride(), v.storage_offset(), apart.as_strided((8,), (1,)))
    note.error(lambda: apart.as_strided((9,), (1,)))


# ── small ops in place, and filling by a mask


def test_elementwise_in_place(L, note):
    for name in ("sin_", "cos_", "abs_", "absolute_", "reciprocal_", "sgn_", "sign_"):
        for dtype in (L.float32, L.float64, L.complex128, L.int64):
            x = L.tensor([-1.5, 0.5, 2.0]).to(dtype)
            if dtype != L.int64:
                x.requires_grad_()
            y = x.clone()
            try:
                same = getattr(y, name)() is y
            except (RuntimeError, NotImplementedError) as error:
                note(name, type(error).__name__, str(error))
                continue
            note(name, same, y.detach(), y._version, y.grad_fn and y.grad_fn.name())
            if y.requires_grad and name != "sgn_":  # there, PyTorch gives zeros without memory
                z = (y * y.conj()).real.sum()
                note(L.autograd.grad(z, [x])[0])


def test_in_place_where_nobody_records(L, note):
    c = L.tensor([1.0 + 2.0j])
    negative = c.conj().imag.detach()  # its memory holds the negatives of its numbers
    p = leaf(L, [1.0, 2.0, 3.0, 4.0])
    with L.no_grad():
        negative.add_(1.0)
        p -= 0.5 * p
        p.mul_(p)
        p[:2].add_(p[:2])
        note.error(lambda: p[1:].add_(p[:3]))
        p.data.sub_(1)
    note(c, negative, p, p._version)
    wide = L.zeros(3)
    note.error(lambda: wide.add_(L.ones(2, 3)))
    note(wide.add_(L.ones(3, dtype=L.float64)), wide.add_(True), wide._version)
    note.error(lambda: wide.bitwise_and_(1))


def test_sign_and_power(L, note):
    x = leaf(L, [-2.0, 0.0, float("nan"), 3.0])
    note(x.sign(), x.sign().grad_fn.name(), x.sgn().grad_fn.name(), L.sign(x))
    note.error(lambda: L.tensor([1j]).sign())
    e = L.tensor([1.0 + 1j], requires_grad=True)
    note(L.pow(2, e), L.pow(2, e).grad_fn.name(), L.autograd.grad(L.pow(2, e).real.sum(), [e])[0])


def test_filled_by_a_mask(L, note):
    masks = ([True, False, True], [[True, False, True], [False, False, True]], True)
    for mask in masks:
        for in_place in (False, True):
            for dtype in (L.float32, L.float64):
                for value in (4.0, leaf(L, 6.0)):
                    x = leaf(L, [1.0, 2.0, 3.0])
                    y, m = (x * x).to(dtype), L.tensor(mask)
                    if in_place and mask is masks[1]:
                        note.error(lambda y=y, m=m, value=value: y.masked_fill_(m, value))
                        continue
                    y = y.masked_fill_(m, value) if in_place else y.masked_fill(m, value)
                    note(y.detach(), y._version, [n and n.name() for n, _ in y.grad_fn.next_functions])
                    inputs = [x] if value == 4.0 else [x, value]
                    first = L.autograd.grad((y * y).sum(), inputs, create_graph=True)
                    note(y.grad_fn.name(), [g.detach() for g in first])
                    second = L.autograd.grad(sum((g * g).sum() for g in first), inputs)
                    note([g * 1 for g in second])


def test_filled_by_a_mask_forward(L, note):
    forward = L.autograd.forward_ad
    for dual in ((True, False), (False, True), (True, True)):
        for in_place in (False, True):
            with forward.dual_level():
                x, v = L.tensor([1.0, 2.0, 3.0]), L.tensor(7.0)
                x = forward.make_dual(x, L.tensor([0.1, 0.2, 0.3])) if dual[0] else x
                v = forward.make_dual(v, L.tensor(0.5)) if dual[1] else v
                m = L.tensor([True, False, True])
                y = (x * 1).masked_fill_(m, v) if in_place else x.masked_fill(m, v)
                note(*forward.unpack_dual(y))


# ── forward mode, nodes


def test_tangents_are_read_as_their_tensors(L, note):
    forward = L.autograd.forward_ad
    note(forward._current_level)
    ways = (lambda z: z, lambda z: z.conj(), lambda z: z.conj().resolve_conj())
    for value in (2 - 1j, [1 + 2j, 3 - 1j]):
        for of_tensor in ways:
            for of_tangent in ways:
                with forward.dual_level():
                    x, t = of_tensor(L.tensor(value)), of_tangent(L.tensor(value) * 2)
                    dual = forward.make_dual(x, t)
                    kept = forward.unpack_dual(dual).tangent
                    note(kept is t, kept.resolve_conj(), kept.is_conj(), forward._current_level)
                    note(*forward.unpack_dual(dual.real), *forward.unpack_dual(dual * dual))


def test_the_class_of_nodes(L, note):
    Same = made(L, lambda ctx, x: x * 1)
    Node = L.autograd.graph.Node
    x = leaf(L, [1.0])
    for node in (x.exp().grad_fn, Same.apply(x).grad_fn, x.exp().grad_fn.next_functions[0][0]):
        note(isinstance(node, Node), issubclass(type(node), Node), Node in type(node).mro())
    note(isinstance(x, Node), isinstance(None, Node), issubclass(Same, Node), issubclass(Node, Node))
    with pytest.raises(TypeError, match="abstract class Node"):
        Node()
    with pytest.raises(RuntimeError, match="SavedTensor"):
        L.autograd.SavedTensor()
