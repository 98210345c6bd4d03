"""Levels and dual tensors: `autograd.forward_ad` side by side with PyTorch's."""

import pytest
from twins import graph, tangent

# PyTorch compiles its own formulas when the first dual tensor is made.
pytestmark = [pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"), pytest.mark.quick]


# ------------------------------------------------------------------------------------------------- levels


def test_outside_of_a_level(L, note):
    fw = L.autograd.forward_ad
    x = L.tensor([1.0, 2.0])
    note.error(lambda: fw.make_dual(x, x))
    note.error(lambda: fw.make_dual(x, x, level=1))
    note.error(fw.exit_dual_level)
    note.error(lambda: fw.exit_dual_level(level=0))
    for level in (None, 0, -1):
        unpacked = fw.unpack_dual(x, level=level)
        note(unpacked.primal is x, unpacked.tangent)
    note(type(fw.unpack_dual(1.0)).__name__, tuple(fw.unpack_dual(1.0)))


def test_levels(L, note):
    fw = L.autograd.forward_ad
    note(fw.enter_dual_level())
    note.error(fw.enter_dual_level)
    note.error(lambda: fw.exit_dual_level(level=1))
    note.error(lambda: fw.exit_dual_level(level=-1))
    note(fw.exit_dual_level(level=0))
    note.error(fw.exit_dual_level)
    with fw.dual_level() as level:
        note(level)
    note.error(lambda: nested(fw))
    note.error(fw.exit_dual_level)
    with fw.dual_level():
        pass


def nested(fw):
    with fw.dual_level(), fw.dual_level():
        pass


def test_an_error_closes_the_level(L, note):
    fw = L.autograd.forward_ad

    def fail():
        with fw.dual_level():
            fw.make_dual(L.tensor(1.0), L.tensor([1.0]))

    note.error(fail)
    note.error(fw.exit_dual_level)


def test_as_a_decorator(L, note):
    fw = L.autograd.forward_ad

    @fw.dual_level()
    def derivative(x):
        return fw.unpack_dual(fw.make_dual(x, L.ones_like(x)) ** 3).tangent

    note(derivative(L.tensor([1.0, 2.0])), derivative.__name__)

    @fw.dual_level()
    def steps():
        yield fw.enter_dual_level
        yield fw.make_dual(L.tensor(1.0), L.tensor(2.0))

    first, second = list(steps())
    note(second, first())
    fw.exit_dual_level()


def test_tangents_go_with_the_level(L, note):
    fw = L.autograd.forward_ad
    x = L.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        a = fw.make_dual(x, L.tensor([3.0, 4.0]))
        b = a.exp()
        c, v = b * 2, b[0]
        note(tangent(L, a), tangent(L, b), tangent(L, c), tangent(L, v))
        kept = tangent(L, c)
    for t in (a, b, c, v):
        note(t, tangent(L, t))
    with fw.dual_level():
        for t in (a, b, c, v, a * 2, b.grad_fn._saved_result):
            note(t, tangent(L, t))
    note(kept)
    c.sum().backward()
    note(x.grad)


# ------------------------------------------------------------------------------------------- dual tensors


def test_what_make_dual_refuses(L, note):
    fw = L.autograd.forward_ad
    x, whole = L.tensor([1.0, 2.0]), L.tensor([1, 2])
    with fw.dual_level():
        for tensor, t in (
            (x, L.tensor([1.0])),
            (x, L.tensor(1.0)),
            (L.tensor(1.0), x),
            (x, L.tensor([[1.0, 2.0]])),
            (whole, whole),
            (whole, x),
            (x, whole),
            (x, x > 1),
            (x, 1.0),
            (x, None),
            (1.0, x),
            (x, fw.make_dual(x, x)),
            (fw.make_dual(x, x), x),
        ):
            note.error(fw.make_dual, tensor, t)
        dual = fw.make_dual(x, x)
        for level in (-1, 1, 7):
            note.error(lambda level=level: fw.make_dual(x, x, level=level))
            note.error(lambda level=level: list(fw.unpack_dual(x, level=level)))
            note.error(lambda level=level: list(fw.unpack_dual(dual, level=level)))
        note.error(lambda: fw.unpack_dual(1.0))
        note.error(lambda: fw.unpack_dual([x]))
        note(fw.make_dual(x, x, level=0), fw.unpack_dual(x, level=0))


def test_a_dual_tensor_is_a_view_of_the_primal(L, note):
    fw = L.autograd.forward_ad
    for learns in (False, True):
        x = L.tensor([1.0, 2.0], requires_grad=learns)
        t = L.tensor([3.0, 4.0], requires_grad=learns)
        with fw.dual_level():
            d = fw.make_dual(x, t)
            note(d, d is x, d._is_view(), d._base is x, d.is_leaf, graph(d), d._version)
            u = fw.unpack_dual(d)
            note(u.tangent is t, fw.unpack_dual(d).tangent is t, u.primal is d, u.primal is x)
            note(u.primal, u.primal._is_view(), u.primal._base is x, graph(u.primal), tangent(L, u.primal))
            p = fw.unpack_dual(x).primal
            note(p is x, p, p._base is x, tangent(L, x), graph(p))
            note(type(u).__name__, u._fields)


def test_what_keeps_the_tangent(L, note):
    fw = L.autograd.forward_ad
    import copy

    for learns in (False, True):
        with fw.dual_level():
            x = L.tensor([1.0, 2.0], requires_grad=learns)

            def d(x=x):
                return fw.make_dual(x, L.tensor([3.0, 4.0]))

            for make in (
                lambda a: a.detach(),
                lambda a: a.data,
                lambda a: a.clone(),
                lambda a: a[...],
                lambda a: L.zeros_like(a),
                lambda a: a.long(),
                lambda a: a > 1,
                lambda a: a.double(),
                lambda a: a.long().float(),
                lambda a: a.argmax(),
                lambda a: a.relu(),
                lambda a: a.mul(1).detach_(),
                lambda a: a.detach().clone(),
                lambda a: copy.deepcopy(a.detach()),
                lambda a: copy.copy(a),
            ):
                made = make(d())
                note(made, tangent(L, made))
            if not learns:
                a = d().requires_grad_()
                note(a, tangent(L, a), a.is_leaf)
                note(L.tensor(d()), tangent(L, L.tensor(d())))
            a = d()
            note(tangent(L, a[...]) is tangent(L, a), a.detach().tolist(), a[0].item())


def test_printed(L, note):
    fw = L.autograd.forward_ad
    for x, t in (
        (L.tensor(1.0), L.tensor(2.0)),
        (L.tensor([1.0, 2.0]), L.tensor([3.0, 4.0])),
        (L.tensor([1.0, 2.0], requires_grad=True), L.tensor([3.0, 4.0], requires_grad=True)),
        (L.ones(2, 12), L.ones(2, 12)),
    ):
        with fw.dual_level():
            d = fw.make_dual(x, t)
            note(*(repr(r).replace("minigrad", "torch") for r in (d, d * 2, fw.unpack_dual(d), d.detach())))
        note(repr(d))


def test_a_direction_after_the_other(L, note):
    """The columns of a Jacobian: one primal, many tangents, in one level and in a level each."""
    fw = L.autograd.forward_ad
    x = L.tensor([1.0, 2.0, 3.0], dtype=L.float64, requires_grad=True)
    basis = [L.tensor([float(i == k) for i in range(3)], dtype=L.float64) for k in range(3)]
    with fw.dual_level():
        for e in basis:
            d = fw.make_dual(x, e)
            note(tangent(L, (d * d).sum() * d), tangent(L, x))
    for e in basis:
        with fw.dual_level():
            d = fw.make_dual(x, e)
            note(tangent(L, (d * d).sum() * d), tangent(L, x))
    with fw.dual_level():
        rows = [L.autograd.grad((d**3).sum(), d)[0] for d in (fw.make_dual(x, e) for e in basis)]
        note([tangent(L, row) for row in rows])
