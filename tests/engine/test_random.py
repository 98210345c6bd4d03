"""Random numbers: from the same seed the same as PyTorch's on the CPU, call after call."""

from __future__ import annotations

import numpy as np
import pytest
from calls import assert_same_ends
from twins import dialect, dtype_of, numbers, outcome, same_numbers

import minigrad
from minigrad.ops import generator

SIZES = (0, 1, 2, 3, 15, 16, 17, 31, 32, 100)
FLOATS = ("float16", "float32", "float64")
WHOLE = ("int64", "int32", "int16", "int8", "uint8")
# On Intel processors PyTorch takes the numbers of these from Intel's library.
FROM_MKL = (
    "bernoulli_",
    "bernoulli of p",
    "exponential_",
    "multinomial",
    "multinomial of rows",
    "one of three",
)

CALLS = {
    **{f"rand {k}": lambda L, n, k=k: L.rand(n, dtype=getattr(L, k)) for k in (*FLOATS, "complex64")},
    **{f"randn {k}": lambda L, n, k=k: L.randn(n, dtype=getattr(L, k)) for k in (*FLOATS, "complex128")},
    **{
        f"randint {k}": lambda L, n, k=k: L.randint(3, 120, (n,), dtype=getattr(L, k))
        for k in (*FLOATS, *WHOLE)
    },
    **{
        f"random_ {k}": lambda L, n, k=k: L.zeros(n, dtype=getattr(L, k)).random_()
        for k in (*FLOATS, *WHOLE, "bool")
    },
    "randint of a large range": lambda L, n: L.randint(-(2**40), 2**41, (n,)),
    "randint at the limit": lambda L, n: L.randint(2**28, (n,)),
    "randint below the limit": lambda L, n: L.randint(2**28 - 1, (n,)),
    "randperm": lambda L, n: L.randperm(n),
    "rand_like": lambda L, n: L.rand_like(L.zeros(n)),
    "rand_like of columns": lambda L, n: L.rand_like(L.zeros(3, n).t()),
    "randn_like": lambda L, n: L.randn_like(L.zeros(2, n)),
    "randint_like": lambda L, n: L.randint_like(L.zeros(n), 2, 9),
    "uniform_ of columns": lambda L, n: L.zeros(3, n).t().uniform_(-2, 3),
    "uniform_ of every other": lambda L, n: L.zeros(n, 4)[:, ::2].uniform_(-2, 3),
    "normal_ of columns": lambda L, n: L.zeros(3, n).t().normal_(1, 2),
    "normal_ of every other": lambda L, n: L.zeros(2 * n)[::2].normal_(1, 2),
    "normal_": lambda L, n: L.zeros(n).normal_(2, 0.5),
    "normal of both": lambda L, n: L.normal(L.arange(n) * 1.0, L.ones(n)),
    "normal of means": lambda L, n: L.normal(L.arange(n) * 1.0, 2.0),
    "normal of a size": lambda L, n: L.normal(2.0, 3.0, (n, 2)),
    "bernoulli": lambda L, n: L.bernoulli(L.full((n,), 0.3)),
    "bernoulli double": lambda L, n: L.bernoulli(L.full((n,), 0.3, dtype=L.float64)),
    "bernoulli of p": lambda L, n: L.bernoulli(L.zeros(n), 0.3),
    "bernoulli_": lambda L, n: L.zeros(n, dtype=L.bool).bernoulli_(0.7),
    "bernoulli_ of a tensor": lambda L, n: L.zeros(n, 3).bernoulli_(L.tensor([0.2, 0.5, 0.9])),
    "exponential_": lambda L, n: L.zeros(n).exponential_(2),
    "multinomial": lambda L, n: L.multinomial(L.arange(1.0, n + 3), 2),
    "one of three": lambda L, n: L.multinomial(L.tensor([[0.1, 0.2, 0.7]]), 1),
    "multinomial of rows": lambda L, n: L.multinomial(L.tensor([[1.0, 2, 3, 4], [4, 3, 2, 1]]), 3),
    "multinomial again": lambda L, n: L.multinomial(
        L.tensor([[0.1, 0.2, 0.7], [5, 0, 1]]), n + 2, replacement=True
    ),
}


def is_intels(torch) -> bool:
    """Whether the numbers of PyTorch's that come from Intel's library are other ones on this machine."""
    torch.manual_seed(0)
    drawn = torch.zeros(64).exponential_().numpy()
    minigrad.manual_seed(0)
    return not np.allclose(drawn, minigrad.zeros(64).exponential_().numpy())


@pytest.mark.quick(10)
@pytest.mark.parametrize("name", CALLS)
def test_the_same_numbers(torch, name):
    if name in FROM_MKL and is_intels(torch):
        pytest.skip("PyTorch takes these from Intel's library on this machine")
    for n in SIZES:
        found = []
        for library in (minigrad, torch):
            library.manual_seed(1000 + n)
            first, then = CALLS[name](library, n), library.rand(2, dtype=library.float64)
            found.append((first, then, CALLS[name](library, n)))
        (a, b, c), (x, y, z) = found
        assert same_numbers(b, y), f"{n}: not as many words were drawn"
        for ours, theirs in ((a, x), (c, z)):
            slack = 1e-3 if dtype_of(ours) == "float16" else 2e-6
            assert (dtype_of(ours), tuple(ours.shape)) == (dtype_of(theirs), tuple(theirs.shape))
            assert np.allclose(numbers(ours), numbers(theirs), slack, slack), f"{n}: {ours} for {theirs}"


@pytest.mark.parametrize(
    "name", ["rand float32", "randn float16", "randn float32", "randn float64", "randperm"]
)
@pytest.mark.parametrize("n", [generator.FEW - 1, generator.FEW, 2 * generator.PART + 19])
def test_the_same_numbers_of_many(torch, name, n):
    found = []
    for library in (minigrad, torch):
        library.manual_seed(n)
        found.append((CALLS[name](library, n), library.rand(2, dtype=library.float64)))
    (a, b), (x, y) = found
    slack = 1e-3 if "16" in name else 2e-6
    assert same_numbers(b, y) and np.allclose(numbers(a), numbers(x), slack, slack)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_exchanges_at_once_are_those_one_by_one(seed):
    """Also where many steps have the same target, which random ones seldom do."""
    pick = np.random.default_rng(seed)
    for count in (1, 2, 3, 10, 50):
        targets = np.arange(count) + (pick.random(count) ** 3 * np.arange(count, 0, -1)).astype(np.int64)
        targets[::3] = np.maximum(targets[::3], count // 2)
        one_by_one = generator.exchanged_one_by_one(targets)
        assert generator.exchange_elements(targets.copy()).tolist() == one_by_one.tolist()
        assert sorted(one_by_one) == list(range(count))


def test_points_on_circles_are_rounded_from_the_exact_ones():
    """Near the axes, too, where a coordinate is the difference of nearly equal numbers."""
    steps = np.arange(2**16)
    turns = np.concatenate((steps / 2**16, 0.25 + (steps - 2**15) / 2**24, 0.5 + (steps - 2**15) / 2**24))
    angle = (np.float32(2 * np.pi) * turns.astype("f4")).astype("f8")
    radius = np.sqrt(-2 * np.log(np.random.default_rng(0).random(len(angle))))
    exact = generator.on_circle_exactly(radius, angle)
    for found, expected in zip(generator.on_circle(radius, angle), exact, strict=True):
        assert found.dtype == np.float32 and (found == expected.astype("f4")).all()


@pytest.mark.parametrize("seed", [0, 1, 42, -1, 2**32, 2**63, 2**64 - 1, 3.7, "17", True])
def test_seeds(torch, seed):
    found = []
    for library in (minigrad, torch):
        generator = library.manual_seed(seed)
        found.append((library.initial_seed(), generator.initial_seed(), library.rand(3).tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1, "a", None])
def test_seeds_that_are_none(torch, seed):
    assert outcome(lambda: minigrad.manual_seed(seed))[0] == outcome(lambda: torch.manual_seed(seed))[0]


def test_a_seed_that_nobody_knows():
    seeds = {minigrad.seed(), minigrad.seed(), minigrad.Generator().seed()}
    assert len(seeds) == 3


def test_a_generator_has_its_own_state(torch):
    for library in (minigrad, torch):
        g = library.Generator()
        assert g.initial_seed() == 67280421310721
        assert g.manual_seed(3) is g
        library.manual_seed(3)
        first = library.rand(4)
        assert (
            first.tolist() == library.rand(4, generator=g).tolist() != library.rand(4, generator=g).tolist()
        )
        assert str(g.device) == "cpu"
        twin = g.clone_state()
        assert library.randperm(9, generator=twin).tolist() == library.randperm(9, generator=g).tolist()


def test_states_are_pytorchs(torch):
    """A state may be carried from one library into the other, byte by byte."""
    for draw in (lambda L: None, lambda L: L.rand(7), lambda L: L.randn(3), lambda L: L.rand(1000)):
        states = []
        for library in (minigrad, torch):
            library.manual_seed(11)
            draw(library)
            states.append(library.get_rng_state())
        mine, theirs = (state.tolist() for state in states)
        kept = slice(5024, 5032)  # a number not given out yet: it may differ in the last place
        assert np.allclose(*(np.frombuffer(bytes(s[kept])) for s in (mine, theirs)), 1e-14)
        mine[kept] = theirs[kept]
        assert mine == theirs
        minigrad.set_rng_state(minigrad.from_numpy(states[1].numpy()))
        assert np.allclose(minigrad.randn(5).tolist(), torch.randn(5).tolist(), 1e-6)


def test_a_state_brings_the_numbers_back():
    minigrad.manual_seed(5)
    minigrad.randn(3)  # one number is left over
    state = minigrad.get_rng_state()
    first = minigrad.randn(5).tolist()
    with minigrad.random.fork_rng():
        minigrad.rand(100)
    minigrad.set_rng_state(state)
    assert minigrad.randn(5).tolist() == first


BAD = """
L.set_rng_state(L.zeros(3)) | L.set_rng_state(L.zeros(3, dtype=L.uint8))
L.set_rng_state(L.zeros(5056, dtype=L.uint8)) | L.set_rng_state(3) | L.rand(2, dtype=L.int64)
L.randn(2, dtype=L.int64) | L.rand(2, -1) | L.randint(3, 3, (2,)) | L.randint(0, 300, (2,), dtype=L.uint8)
L.randint(0, 3, (2,), dtype=L.complex64) | L.randint(3, 2) | L.randperm(3, dtype=L.bool)
L.randperm(300, dtype=L.uint8) | L.randperm(3.0) | L.bernoulli(L.tensor([1])) | L.bernoulli(L.zeros(2), 2.0)
L.zeros(2).bernoulli_(1.5) | L.zeros(2).bernoulli_(L.tensor([0.5, 0.5, 0.5]))
L.zeros(2, dtype=L.complex64).bernoulli_() | L.normal(2.0, -1.0, (2,))
L.normal(L.zeros(2), L.tensor([-1.0, 1.0])) | L.normal(L.zeros(2), L.zeros(3))
L.zeros(2, dtype=L.int64).uniform_() | L.zeros(2).uniform_(1, 0) | L.zeros(2).uniform_(0, 1e+40)
L.zeros(2, dtype=L.int64).normal_() | L.zeros(2, dtype=L.int64).exponential_() | L.zeros(2).exponential_(0)
L.zeros(2, dtype=L.complex64).random_() | L.zeros(2, dtype=L.uint8).random_(-3, 3)
L.multinomial(L.ones(3), 2.0) | L.zeros(2, requires_grad=True).uniform_()
"""


def test_errors(torch):
    assert_same_ends(torch, BAD)


@pytest.mark.parametrize("randomness", ["error", "different", "same"])
def test_inside_vmap(torch, randomness):
    draws = (
        lambda L, t: L.rand(2), lambda L, t: L.rand_like(t), lambda L, t: t.clone().normal_(),
        lambda L, t: L.randperm(4), lambda L, t: L.randint(9, (3,)),
    )  # fmt: skip
    for draw in draws:
        found = []
        for library in (minigrad, torch):
            library.manual_seed(0)
            x = library.arange(6.0).reshape(3, 2)
            mapped = library.func.vmap(lambda t, L=library, d=draw: d(L, t), randomness=randomness)
            found.append(outcome(lambda m=mapped, x=x: m(x).tolist()))
        assert found[0] == found[1] if randomness == "error" else np.allclose(found[0], found[1])


def test_random_numbers_are_constants_of_the_graph():
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone().uniform_()
    (y * x).sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_recomputing_draws_the_same_numbers():
    x = minigrad.ones(50, requires_grad=True)
    drawn = []

    def function(t):
        drawn.append(minigrad.rand(50))
        return (t * drawn[-1]).exp()

    for use_reentrant in (True, False):
        drawn.clear()
        minigrad.utils.checkpoint.checkpoint(function, x, use_reentrant=use_reentrant).sum().backward()
        assert drawn[0].tolist() == drawn[1].tolist()


def test_they_print_as_documented(torch):
    with dialect("2"):
        for library in (minigrad, torch):
            library.manual_seed(0)
        assert repr(minigrad.rand(2, 3)) == repr(torch.rand(2, 3))
        assert repr(minigrad.randn(4, 5)) == repr(torch.randn(4, 5))
