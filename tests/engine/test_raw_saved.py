"""`_raw_saved_<name>` of ops' nodes and `_raw_saved_tensors` of Functions: hooks for one saved tensor."""

import re

import pytest
from functions import leaf, made
from twins import outcome

import minigrad

pytestmark = pytest.mark.quick


def test_what_it_is(L, note):
    x = leaf(L)
    y = x * x
    raw = y.grad_fn._raw_saved_self
    note(re.sub("0x[0-9a-f]+", "", repr(raw)), raw is y.grad_fn._raw_saved_self)
    note(raw.data, raw.data is x, raw.unpack(), raw.unpack() is x, raw.unpack_hook)
    note.error(type(raw))
    note([n for n in dir(y.grad_fn) if n.startswith("_raw_saved")])


def test_hooks_on_one_of_two(L, note):
    x = leaf(L)
    y = x * x
    raw = y.grad_fn._raw_saved_self

    def pack(t):
        note("pack", t, t is x, t.is_leaf, L.is_grad_enabled())
        return t * 2

    def unpack(t):
        note("unpack", t, L.is_grad_enabled())
        return t

    note(raw.register_hooks(pack, unpack), raw.data, raw.unpack_hook is unpack)
    note.error(raw.register_hooks, pack, unpack)
    note(y.grad_fn._saved_self, y.grad_fn._saved_other, y.grad_fn._saved_self is x)
    note(raw.unpack())
    y.sum().backward(retain_graph=True)
    note(x.grad)
    y.sum().backward()
    note(x.grad)


def test_freed(L, note):
    x = leaf(L)
    y = x * x
    raw, other = y.grad_fn._raw_saved_self, y.grad_fn._raw_saved_other
    other.register_hooks(lambda t: t.detach(), lambda t: t)
    y.sum().backward()
    for r in (raw, other):
        note.error(r.register_hooks, lambda t: t, lambda t: t)
        note.error(lambda r=r: r.data)
        note.error(r.unpack)
        note(r.unpack_hook)
    note.error(lambda: y.grad_fn._saved_self)
    note.error(lambda: y.grad_fn._saved_other)
    note.error(lambda: y.sum().backward())


def test_what_is_not_there(L, note):
    x = leaf(L)
    y = x * L.tensor([3.0, 4.0])
    note(y.grad_fn._saved_self, y.grad_fn._raw_saved_self.data, y.grad_fn._raw_saved_self.unpack_hook)
    note.error(y.grad_fn._raw_saved_self.register_hooks, lambda t: t, lambda t: t)
    note(y.grad_fn._raw_saved_other.register_hooks(lambda t: note(t) or t, lambda t: t))
    note(y.grad_fn._saved_other)
    z = x**3
    note(z.grad_fn._saved_exponent)
    note.error(lambda: z.grad_fn._raw_saved_exponent)
    note.error(lambda: z.grad_fn._raw_saved_nothing)


def test_numbers(L, note):
    """The number of `x * 3` stands there as a tensor, and hooks can be set for it."""
    x = leaf(L)
    y = x * 3
    raw = y.grad_fn._raw_saved_other
    note(raw.data, raw.unpack())
    raw.register_hooks(lambda t: note("pack", t) or t, lambda t: note("unpack", t) or t)
    note(y.grad_fn._saved_other)
    y.sum().backward()
    note(x.grad)


def test_outputs(L, note):
    """A saved output is known by its node only."""
    x = leaf(L)
    y = x.exp()
    raw = y.grad_fn._raw_saved_result
    note(raw.data, raw.data is y)
    note.error(raw.unpack)
    raw.register_hooks(lambda t: note("pack", t) or t.clone(), lambda t: note("unpack", t) or t)
    note(y.grad_fn._saved_result, y.grad_fn._saved_result.grad_fn is y.grad_fn)
    note.error(raw.unpack)
    y.sum().backward()
    note(x.grad)


def test_conditions(L, note):
    x = leaf(L)
    y = L.where(x > 1, x, x * 2)
    raw = y.grad_fn._raw_saved_condition
    note(raw.data.tolist(), [hasattr(y.grad_fn, "_raw_saved_" + n) for n in ("self", "other")])
    raw.register_hooks(lambda t: t.tolist(), lambda kept: L.tensor([not k for k in kept]))
    y.sum().backward()
    note(x.grad)


def test_versions(L, note):
    """Setting hooks takes the tensor as it is now; from then on its version does not count."""
    x = leaf(L)
    a = x * 1
    y = a * a
    a.mul_(10)
    note.error(lambda: y.grad_fn._saved_self)
    y.grad_fn._raw_saved_self.register_hooks(lambda t: note(t) or t.clone(), lambda t: t)
    note(y.grad_fn._saved_self)
    note.error(lambda: y.sum().backward())
    y.grad_fn._raw_saved_other.register_hooks(lambda t: t.clone(), lambda t: t)
    y.sum().backward()
    note(x.grad)


def test_writing_is_refused(L, note):
    x = leaf(L)
    y = x * x

    def pack(t):
        with L.no_grad():
            t.add_(1)
        return t

    note.error(y.grad_fn._raw_saved_self.register_hooks, pack, lambda t: t)
    note(x)
    note.error(lambda: y.grad_fn._saved_self)
    note.error(lambda: y.grad_fn._saved_other)
    note.error(lambda: y.sum().backward())


def test_functions(L, note):
    def forward(ctx, a, b):
        out = a * b
        ctx.save_for_backward(a, None, out, a + 1)
        return out

    def backward(ctx, g):
        a, _, out, more = ctx.saved_tensors
        return g * a + out * 0 + more * 0, None

    x, b = leaf(L), L.tensor([3.0, 4.0])
    y = made(L, forward, backward).apply(x, b)
    raw = y.grad_fn._raw_saved_tensors
    note(len(raw), raw[0] is y.grad_fn._raw_saved_tensors[0], [r.data for r in raw])
    note.error(raw[1].register_hooks, len, len)
    note.error(raw[2].unpack)
    for i in (0, 2, 3):
        raw[i].register_hooks(lambda t: note("pack", t) or t.clone(), lambda t: note("unpack", t) or t)
    note.error(raw[0].register_hooks, len, len)
    note([None if t is None else (t.tolist(), t.is_leaf) for t in y.grad_fn.saved_tensors])
    y.sum().backward()
    note(x.grad)
    note.error(lambda: y.grad_fn._raw_saved_tensors)
    note.error(lambda: y.grad_fn.saved_tensors)


def test_second_derivatives(L, note):
    x = leaf(L)
    y = x * x * x
    fn = y.grad_fn
    fn._raw_saved_self.register_hooks(lambda t: t.clone(), lambda t: note("unpack", t) or t)
    (g,) = L.autograd.grad(y.sum(), x, create_graph=True)
    note(g)
    note(L.autograd.grad(g.sum(), x))


def test_hooks_beside_those_in_force(L, note):
    """A tensor that was packed already takes no second pair."""
    x = leaf(L)
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        y = x * x
    raw = y.grad_fn._raw_saved_self
    note(raw.data, raw.data.requires_grad, raw.unpack())
    note.error(raw.register_hooks, lambda t: t, lambda t: t)


@pytest.mark.parametrize("hooks", [(1, 2), (len,), (len, len, len), ()])
def test_what_is_no_pair_of_hooks(L, note, hooks):
    kind, text = outcome((leaf(L) * 2).grad_fn._raw_saved_other.register_hooks, *hooks)
    note(kind, re.sub("0x[0-9a-f]+", "", text))


def test_a_pack_hook_that_raises_changes_nothing():
    """PyTorch is left with hooks that were never given a tensor; here the tensor stays as it was."""
    x = leaf(minigrad)
    y = x * x
    raw = y.grad_fn._raw_saved_self
    with pytest.raises(ZeroDivisionError):
        raw.register_hooks(lambda t: 1 / 0, lambda t: t)
    assert raw.unpack_hook is None and raw.unpack() is x
    raw.register_hooks(lambda t: t * 1, lambda t: t)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_what_was_never_saved_is_none_after_backward_too(library):
    x = library.tensor(3.0, requires_grad=True)
    y = x * library.tensor(2.0)
    y.backward()
    assert y.grad_fn._saved_self is None
    with pytest.raises(RuntimeError, match="a second time"):
        y.grad_fn._saved_other  # noqa: B018  # reading is the test
