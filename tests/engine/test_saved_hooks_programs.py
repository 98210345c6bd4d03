"""saved_tensors_hooks and save_on_cpu, as PyTorch documents them; every program runs in both libraries."""

import pytest
from functions import made

pytestmark = pytest.mark.quick


def test_inputs_and_outputs(L, note):
    """Leaves and results of other ops come as they are, a result with the node that made it."""
    a = L.tensor([1.0, 2.0], requires_grad=True)
    b = a * 2
    seen = []

    def pack(t):
        seen.append(t is a or t is b)
        note(t, t.is_leaf, t is a, t is b)
        return t.detach()

    with L.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = a * b
        z = y.exp()
        w = L.where(a > 1, z, y) * L.tensor([3.0, 4.0])
    for fn in (y.grad_fn, z.grad_fn, w.grad_fn):
        note(fn, [n for n in ("self", "other", "result") if hasattr(fn, "_raw_saved_" + n)])
    saved = y.grad_fn._saved_self, y.grad_fn._saved_other, z.grad_fn._saved_result
    note(saved, [t.is_leaf for t in saved], saved[0] is a, saved[2].grad_fn is z.grad_fn)
    note(saved[0]._version, y.grad_fn._saved_self is saved[0])
    w.sum().backward()
    note(a.grad)


def test_leaves_keep_their_accumulator(L, note):
    """A leaf that was packed comes back as a leaf whose gradient goes to the same place."""
    a = L.tensor([1.0, 2.0], requires_grad=True)
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.detach() * 1, lambda t: t):
        y = a * a
    again = y.grad_fn._saved_self
    (again * 3).sum().backward()
    note(again.is_leaf, again is a, a.grad, again.grad)
    y.sum().backward(create_graph=True)
    note(a.grad)


def test_anything_can_be_kept(L, note):
    """The packed object may be anything: a number, a string, a list, None."""
    store = {}

    def to_key(t):
        key = f"key {len(store)}"
        store[key] = t.detach()
        return key

    for pack, unpack in (
        (lambda t: t.tolist(), lambda kept: L.tensor(kept)),
        (to_key, store.__getitem__),
        (lambda t: None, lambda kept: L.tensor([5.0, 6.0])),
    ):
        a = L.tensor([1.0, 2.0], requires_grad=True)
        with L.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = (a * a).exp()
        y.sum().backward()
        note(a.grad)


def test_the_innermost_pair_counts(L, note):
    hooks = L.autograd.graph.saved_tensors_hooks
    a = L.tensor([1.0], requires_grad=True)

    def named(name):
        return hooks(lambda t: note("pack", name) or t.detach(), lambda t: note("unpack", name) or t)

    with named("outer"):
        b = a * a
        with named("inner"):
            c = b * a
            with named("innermost"):
                d = c.exp()
            d = d * c
        e = d * a
    f = e * a
    f.sum().backward()
    note(a.grad)


def test_one_pair_can_be_entered_again(L, note):
    a = L.tensor([1.0], requires_grad=True)
    h = L.autograd.graph.saved_tensors_hooks(lambda t: note("pack") or t.detach(), lambda t: t)
    with h:
        with h:
            b = a * a
        b = b * a
    (b * a).backward()
    note(a.grad)


def test_versions_are_not_compared(L, note):
    """What hooks gave back is taken as it is, whatever happened to the tensor since."""
    a = L.tensor([1.0, 2.0], requires_grad=True)
    b = a * 1
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = b * b
    b.mul_(10)
    y.sum().backward()
    note(a.grad)
    b = a * 1
    with L.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = b * b
    b.mul_(10)
    y.sum().backward()
    note(a.grad)


def test_in_place_ops_pack_too(L, note):
    """An op in place packs what it overwrites as a copy, and its result with its new place."""
    a = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
    hooks = L.autograd.graph.saved_tensors_hooks

    def pack(t):
        note("pack", t, t.is_leaf, t._version)
        return t.detach().clone()

    def unpack(t):
        note("unpack", t, L.is_grad_enabled())
        return t

    with hooks(pack, unpack):
        b = a * 1
        b.exp_()
        c = a * 1
        c.mul_(b)
        d = a * 1
        d[0].mul_(d[1])
        d[1:].exp_()
        d[0] = 7.0
        d[1:] = a[1:]
    (b * c + d).sum().backward()
    note(a.grad)


def test_nodes_that_get_no_gradient_unpack_all_the_same(L, note):
    a = L.tensor([1.0, 2.0], requires_grad=True)
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: note("unpack") or t):
        y = a * a
    made(L, lambda ctx, t: t * 1, lambda ctx, g: None).apply(y).sum().backward()
    note(a.grad)


def test_only_what_is_saved(L, note):
    """Ops that save nothing, no_grad and constants pack nothing; limited passes read what they need."""
    a = L.tensor([1.0, 2.0], requires_grad=True)
    c = L.tensor([3.0, 4.0])
    with L.autograd.graph.saved_tensors_hooks(
        lambda t: note("pack", t) or t.detach(), lambda t: note("unpack", t) or t
    ):
        x = (a + a).sum() - c.sum()
        with L.no_grad():
            a * a
        c * c
        y = a * c
        z = y * a
    note("backward")
    L.autograd.grad(z.sum() + x, y, retain_graph=True)
    note("again")
    z.sum().backward(inputs=[a], retain_graph=True)
    z.sum().backward()
    note(a.grad)


def test_save_on_cpu(L, note):
    for pin in (False, True):
        a = L.tensor([1.0, 2.0], requires_grad=True)
        with L.autograd.graph.save_on_cpu(pin_memory=pin):
            y = (a * a).exp()
        note(y.grad_fn._saved_result)
        y.sum().backward()
        note(a.grad)


def test_backward_inside_a_hook(L, note):
    """An unpack hook may run a backward of its own."""
    a = L.tensor([1.0, 2.0], requires_grad=True)
    inner = L.tensor([3.0], requires_grad=True)

    def unpack(kept):
        with L.enable_grad():
            (inner * inner).backward()
        return kept

    with L.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), unpack):
        y = a * a
    y.sum().backward()
    note(a.grad, inner.grad)


def test_ops_in_a_pack_hook(L, note):
    """They are not recorded, and their tensors are not packed."""
    a = L.tensor([1.0, 2.0], requires_grad=True)

    def pack(t):
        twice = t * 2
        note(twice, L.is_grad_enabled())
        return twice

    with L.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept / 2):
        y = (a * a).exp()
    y.sum().backward()
    note(a.grad)


def test_a_subclass_of_the_context(L, note):
    class Halves(L.autograd.graph.saved_tensors_hooks):
        def __init__(self, name):
            super().__init__(lambda t: note("pack", name) or t.detach(), lambda t: note("unpack", name) or t)

    a = L.tensor([1.0, 2.0], requires_grad=True)
    with Halves("one") as nothing:
        note(nothing)
        y = a * a
    y.sum().backward()
    note(a.grad)
