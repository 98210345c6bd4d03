"""Views and in-place ops of dual tensors, side by side with PyTorch."""

import pytest
from twins import graph, tangent

# PyTorch compiles its own formulas when the first dual tensor is made.
pytestmark = [pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning"), pytest.mark.quick]


def dual(L, x, t, **how):
    return L.autograd.forward_ad.make_dual(L.tensor(x), L.tensor(t, **how))


def states_of(L, *tensors):
    """Numbers, tangent, node and version of each."""
    return [(x, tangent(L, x), x.grad_fn and x.grad_fn.name(), x._version) for x in tensors]


# ------------------------------------------------------------------------- every op, with and without graph

# (name, change): `change(L, a, b)` writes into `a`, or returns another tensor to look at
CHANGES = [
    ("mul_ number", lambda L, a, b: a.mul_(2)),
    ("mul_", lambda L, a, b: a.mul_(b)),
    ("add_", lambda L, a, b: a.add_(b)),
    ("add_ number", lambda L, a, b: a.add_(2)),
    ("sub_ alpha", lambda L, a, b: a.sub_(b, alpha=2)),
    ("div_", lambda L, a, b: a.div_(b)),
    ("div_ number", lambda L, a, b: a.div_(4)),
    ("exp_", lambda L, a, b: a.exp_()),
    ("neg_", lambda L, a, b: a.neg_()),
    ("log_", lambda L, a, b: a.log_()),
    ("sqrt_", lambda L, a, b: a.sqrt_()),
    ("tanh_", lambda L, a, b: a.tanh_()),
    ("sigmoid_", lambda L, a, b: a.sigmoid_()),
    ("relu_", lambda L, a, b: a.relu_()),
    ("pow_ number", lambda L, a, b: a.pow_(3)),
    ("pow_", lambda L, a, b: a.pow_(b)),
    ("copy_", lambda L, a, b: a.copy_(b)),
    ("copy_ part", lambda L, a, b: a.copy_(b[0])),
    ("zero_", lambda L, a, b: a.zero_()),
    ("fill_", lambda L, a, b: a.fill_(3)),
    ("view mul_ number", lambda L, a, b: a[0].mul_(2)),
    ("view mul_", lambda L, a, b: a[0].mul_(b[0])),
    ("view mul_, the view", lambda L, a, b: (a, a[0].mul_(b[0]))[1:]),
    ("view of a view", lambda L, a, b: a.t()[1].add_(b[0])),
    ("view exp_", lambda L, a, b: a[:, 1].exp_()),
    ("view zero_", lambda L, a, b: a[:, 1].zero_()),
    ("view copy_", lambda L, a, b: a[:, 1].copy_(b[1])),
    ("setitem", lambda L, a, b: a.__setitem__(0, b[0])),
    ("setitem number", lambda L, a, b: a.__setitem__(0, 3.0)),
    ("augmented item", lambda L, a, b: a.__setitem__(0, a[0] + b[0])),
    ("t_", lambda L, a, b: a.t_()),
    ("unsqueeze_", lambda L, a, b: a.unsqueeze_(1)),
    ("squeeze_", lambda L, a, b: a.unsqueeze_(0).squeeze_(0)),
    ("transpose_ and mul_", lambda L, a, b: a.transpose_(0, 1).mul_(b)),
    ("t_ of a view", lambda L, a, b: (a, a.view(2, 2).t_().mul_(b))[1:]),
    ("fill_ tensor", lambda L, a, b: a.fill_(b[0, 0])),
    ("several", lambda L, a, b: a.mul_(2).add_(b).exp_()),
    ("broadcast", lambda L, a, b: a.mul_(b[0])),
]
WHICH = {"first": (True, False), "second": (False, True), "both": (True, True)}


@pytest.mark.quick(4)
@pytest.mark.parametrize("learns", [False, True], ids=["plain", "learns"])
@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("change", CHANGES, ids=[name for name, _ in CHANGES])
def test_in_place(L, note, change, which, learns):
    """The tangent is written to in place, through views too; its graph is PyTorch's."""
    fw = L.autograd.forward_ad
    leaves = [
        L.tensor(v, dtype=L.float64, requires_grad=learns)
        for v in (
            [[1.0, 2.0], [3.0, 4.0]],
            [[0.5, 1.0], [2.0, -1.0]],
            [[2.0, 0.5], [1.5, 1.0]],
            [[1.0, 3.0], [-2.0, 0.25]],
        )
    ]
    x, t, o, u = leaves
    with fw.dual_level():
        first, second = WHICH[which]
        a = (fw.make_dual(x, t) if first else x).clone()
        b = fw.make_dual(o, u) if second else o
        before = tangent(L, a)
        returned = change[1](L, a, b)
        looked = [a, *(returned if isinstance(returned, tuple) else ())]
        for r in looked:
            after = tangent(L, r)
            note(r, after, after is before)
            if after is not None and after.requires_grad:
                note(graph(after))
                note(L.autograd.grad(after.sum(), leaves, allow_unused=True, retain_graph=True))
        note(states_of(L, a))


# -------------------------------------------------------------------------------------- views and aliases


def test_a_view_taken_before(L, note):
    with L.autograd.forward_ad.dual_level():
        a = L.tensor([1.0, 2.0, 3.0])
        v, w = a[1:], a[:2]
        v.mul_(dual(L, [5.0, 6.0], [1.0, 1.0]))
        note(states_of(L, a, v, w))
        note(tangent(L, v)._base is tangent(L, a), tangent(L, w)._base is tangent(L, a))
        w.mul_(2)
        note(states_of(L, a, v, w))


def test_the_base_becomes_dual(L, note):
    with L.autograd.forward_ad.dual_level():
        a = L.tensor([1.0, 2.0, 3.0])
        v = a[1:]
        a.mul_(dual(L, [5.0, 6.0, 7.0], [1.0, 1.0, 1.0]))
        note(states_of(L, a, v), tangent(L, v)._base is tangent(L, a))
        tangent(L, v).zero_()
        note(states_of(L, a, v))


def test_a_view_of_a_dual_tensor(L, note):
    with L.autograd.forward_ad.dual_level():
        a = dual(L, [[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]])
        t = tangent(L, a)
        for v in (
            a[1],
            a.t(),
            a.view(4),
            a.t()[0],
            a.expand(2, 2, 2),
            a[:, 1:].unsqueeze(0),
            *a.unbind(),
            *a.split(1),
        ):
            note(states_of(L, v), tangent(L, v)._is_view(), tangent(L, v)._base is t)
        a.t()[0].mul_(2)
        note(states_of(L, a), tangent(L, a) is t)
        a.mul_(3)
        note(states_of(L, a, v))


def test_the_primal_is_another_tensor(L, note):
    fw = L.autograd.forward_ad
    with fw.dual_level():
        p = L.tensor([1.0, 2.0, 3.0])
        a = fw.make_dual(p, L.tensor([1.0, 1.0, 1.0]))
        v = a[1:]
        p.mul_(2)
        note(states_of(L, a, p, v))
        p.mul_(dual(L, [1.0, 2.0, 3.0], [7.0, 1.0, 1.0]))
        note(states_of(L, a, p, v, p[1:]))
        primal = fw.unpack_dual(a).primal
        primal.mul_(2)
        note(states_of(L, a, p, primal, primal[1:]))
        primal.mul_(a)
        note(states_of(L, a, p, primal, primal[1:]))


def test_the_primal_is_a_view(L, note):
    fw = L.autograd.forward_ad
    with fw.dual_level():
        base = L.tensor([1.0, 2.0, 3.0])
        t = L.tensor([1.0, 2.0])
        a = fw.make_dual(base[1:], t)
        note(tangent(L, a) is t, states_of(L, a, base, base[1:]))
        a.mul_(2)
        note(states_of(L, a, base, base[1:]), t)
        note(states_of(L, a[1]), states_of(L, a.as_strided((2,), (1,), 1)))


def test_the_tangent_is_a_view(L, note):
    fw = L.autograd.forward_ad
    with fw.dual_level():
        t = L.tensor([1.0, 2.0, 3.0])
        a = fw.make_dual(L.tensor([1.0, 2.0]), t[1:])
        note(tangent(L, a)._is_view())
        a.mul_(2)
        note(states_of(L, a), t)


def test_layouts(L, note):
    fw = L.autograd.forward_ad
    with fw.dual_level():
        for learns in (False, True):
            m = [[1.0, 2.0], [3.0, 4.0]]
            for p, t in (
                (L.tensor(m).t(), L.tensor(m, requires_grad=learns)),
                (L.tensor(m), L.tensor(m, requires_grad=learns).t()),
                (L.tensor(m).t(), L.tensor(m, requires_grad=learns).t()),
                (L.tensor(m), L.tensor(1.0, requires_grad=learns).expand(2, 2)),
                (L.tensor([1.0, 2.0, 3.0])[::2], L.tensor([1.0, 2.0], requires_grad=learns)),
            ):
                a = fw.make_dual(p, t)
                note(tangent(L, a) is t, tangent(L, a).stride(), tangent(L, a), graph(tangent(L, a)))
                note(states_of(L, a * 2, a.sum(0), a.clone()))
                for r in (a * 2, a.exp()):
                    note(r.stride(), tangent(L, r).stride())
        note.error(lambda: fw.make_dual(L.tensor([1.0]).expand(3), L.tensor([1.0, 2.0, 3.0])))


def test_one_tensor_as_primal_and_tangent(L, note):
    fw = L.autograd.forward_ad
    with fw.dual_level():
        p = L.tensor([1.0, 2.0])
        a = fw.make_dual(p, p)
        note(tangent(L, a) is p)
        note.error(lambda: a.mul_(2))
        note(p)


def test_writing_to_the_tangent(L, note):
    fw = L.autograd.forward_ad
    with fw.dual_level():
        t = L.tensor([1.0, 1.0])
        a = fw.make_dual(L.tensor([1.0, 2.0]), t)
        t.mul_(5)
        note(states_of(L, a), tangent(L, a) is t, t._version)
        tangent(L, a).add_(1)
        note(states_of(L, a), t)
        b = a * 1
        b.mul_(0)
        note(states_of(L, a, b))
        for made in (a + 1, a - 1, 1 - a, a.clone(), a * 1, a**1):
            tangent(L, made).zero_()
            note(states_of(L, a))


def test_a_tangent_that_learns(L, note):
    with L.autograd.forward_ad.dual_level():
        a = dual(L, [1.0, 2.0], [3.0, 4.0], requires_grad=True)
        note.error(lambda: a.mul_(2))
        with L.no_grad():
            a.mul_(2)
        note(tangent(L, a))


def test_other_dtypes(L, note):
    fw = L.autograd.forward_ad
    with fw.dual_level():
        d = fw.make_dual(L.tensor([1.0, 2.0], dtype=L.float64), L.tensor([3.0, 4.0], dtype=L.float64))
        f = L.zeros(2)
        f.copy_(d)
        note(states_of(L, f))
        f = L.zeros(2)
        f.add_(d)
        note(states_of(L, f))
        f.mul_(d)
        note(states_of(L, f))
        whole = L.tensor([1, 2])
        whole.copy_(d)
        note(states_of(L, whole))
        note.error(lambda: whole.mul_(d))
        s = fw.make_dual(L.tensor(2.0, dtype=L.float64), L.tensor(3.0, dtype=L.float64))
        f = L.zeros(3)
        f.add_(s)
        note(states_of(L, f))
        f[1] = s
        note(states_of(L, f))
        a = fw.make_dual(L.tensor([1.0, 2.0]), L.tensor([1.0, 1.0], dtype=L.float64))
        note(states_of(L, a * 2, a + 1, a.exp(), a.view(2, 1), a.exp_()))
        b = fw.make_dual(L.tensor([1.0, 2.0], dtype=L.float64), L.tensor([1.0, 1.0]))
        note(states_of(L, b * 2, b + 1, b.exp(), b.view(2, 1), b.mul_(2)))
