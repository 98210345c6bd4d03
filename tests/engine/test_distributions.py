"""`torch.distributions`: parameters, samples, probabilities, divergences, errors and graphs as in PyTorch."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import numpy as np
import pytest
from calls import assert_same_ends
from cells import traced
from twins import assert_same_graph, assert_same_tensor, dialect, outcome, outcome_and_warnings

import minigrad
from minigrad_viz.trace.events import Forward, TensorCreated

pytestmark = pytest.mark.quick(11)

WEIGHTS = [[0.2, 0.5, 0.3], [1.0, 0.0, 3.0]]
LOGITS = [[0.3, -1.2, 2.0], [0.0, 0.5, -0.5]]


@pytest.fixture(autouse=True)
def validation():
    """`torch.compile`, which other tests call, switches PyTorch's checks off for good."""
    if "torch" in sys.modules:
        sys.modules["torch"].distributions.Distribution.set_default_validate_args(True)


def leaf(L, numbers):
    return L.tensor(numbers, dtype=L.float64, requires_grad=True)


# Name → the leaves, and the distribution of them.
MADE = {
    "Normal": ([[0.5, -1.0, 2.0], [0.3, 1.5, 2.0]], lambda D, loc, scale: D.Normal(loc, scale)),
    "Normal that is broadcast": (
        [[[0.5], [-1.0]], [0.3, 1.5, 2.0]],
        lambda D, loc, scale: D.Normal(loc, scale),
    ),
    "Normal of a number": ([[0.3, 1.5]], lambda D, scale: D.Normal(1, scale)),
    "Normal of one": ([0.3], lambda D, scale: D.Normal(0.5, scale)),
    "Bernoulli": ([[0.2, 0.9, 0.5]], lambda D, probs: D.Bernoulli(probs)),
    "Bernoulli of logits": ([[-1.5, 0.0, 3.0]], lambda D, logits: D.Bernoulli(logits=logits)),
    "Bernoulli at the ends": ([[0.0, 1.0]], lambda D, probs: D.Bernoulli(probs=probs)),
    "Categorical": ([WEIGHTS], lambda D, probs: D.Categorical(probs)),
    "Categorical of logits": ([LOGITS], lambda D, logits: D.Categorical(logits=logits)),
    "Categorical of a vector": ([LOGITS[0]], lambda D, logits: D.Categorical(logits=logits)),
    "Independent": (
        [[[0.5], [-1.0]], [0.3, 1.5, 2.0]],
        lambda D, loc, scale: D.Independent(D.Normal(loc, scale), 1),
    ),
    "Independent of none": ([[0.2, 0.9, 0.5]], lambda D, probs: D.Independent(D.Bernoulli(probs), 0)),
    "Independent Bernoulli": ([[0.2, 0.9, 0.5]], lambda D, probs: D.Independent(D.Bernoulli(probs), 1)),
    "Categorical, expanded": ([LOGITS], lambda D, logits: D.Categorical(logits=logits).expand((4, 2))),
    "Normal, expanded": ([[0.5], [0.3]], lambda D, loc, scale: D.Normal(loc, scale).expand([2, 3])),
    "Bernoulli, expanded": ([[0.2, 0.9]], lambda D, probs: D.Bernoulli(probs).expand((3, 2))),
    "Independent, expanded": (
        [[0.5, 2.0], [0.3, 0.7]],
        lambda D, loc, scale: D.Independent(D.Normal(loc, scale), 1).expand((3,)),
    ),
}
READ = {
    **{
        name: lambda d, name=name: getattr(d, name)
        for name in ("mean", "mode", "stddev", "variance", "probs", "logits", "loc", "scale", "param_shape")
    },
    "entropy": lambda d: d.entropy(),
    "perplexity": lambda d: d.perplexity(),
    "enumerate_support": lambda d: d.enumerate_support(),
    "enumerate_support as it is": lambda d: d.enumerate_support(expand=False),
    "shapes": lambda d: (d.batch_shape, d.event_shape, d.has_rsample, d.has_enumerate_support),
    "support": lambda d: (d.support, d.support.is_discrete, d.support.event_dim),
}


def value_for(L, made):
    """Values that a distribution could have drawn, the same in both libraries."""
    shape = (2, *made.batch_shape, *made.event_shape)
    numbers = np.arange(np.prod(shape)).reshape(shape)
    if "Normal" in repr(made):
        return L.tensor(numbers / 4 - 1)
    return L.tensor(numbers % (3 if "Categorical" in repr(made) else 2) * (1 if "C" in repr(made) else 1.0))


def compare(torch, name, read):
    """Compare what `read(L, distribution)` returns, its graph, and the gradients of the leaves."""
    leaves, make = MADE[name]
    found, grads, texts = [], [], []
    with dialect("2"):
        for L in (minigrad, torch):
            tensors = [leaf(L, numbers) for numbers in leaves]
            made = make(L.distributions, *tensors)
            texts.append(repr(made))
            result = outcome(read, L, made)
            found.append(result)
            if isinstance(result, L.Tensor) and result.grad_fn is not None:
                result.cos().sum().backward(retain_graph=True)
            grads.append([t.grad for t in tensors])
        assert texts[0] == texts[1]
        if isinstance(found[1], torch.Tensor):
            assert_same_tensor(*found, name)
            assert_same_graph((found[0],), (found[1],), values=False)
        else:
            assert str(found[0]).replace("minigrad", "torch") == str(found[1])
        for ours, theirs in zip(*grads, strict=True):
            assert_same_tensor(ours, theirs, f"{name}: gradient")


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize("name", MADE)
def test_statistics(torch, name, read):
    compare(torch, name, lambda L, made: READ[read](made))


@pytest.mark.parametrize("name", MADE)
def test_log_prob(torch, name):
    compare(torch, name, lambda L, made: made.log_prob(value_for(L, made)))


@pytest.mark.parametrize("name", [name for name in MADE if "Normal" in name])
@pytest.mark.parametrize("function", ["cdf", "icdf"])
def test_distribution_function(torch, name, function):
    def read(L, made):
        return getattr(made, function)(value_for(L, made).sigmoid())

    compare(torch, name, read)


# On some processors PyTorch draws a single integer from Intel's library, whose numbers are others.
ONE_BY_ONE = ("Categorical", "Categorical of logits", "Categorical of a vector", "Categorical, expanded")


@pytest.mark.parametrize("shape", [(), (2,), (3, 2), (0,), [5], (20,)], ids=str)
@pytest.mark.parametrize("name", MADE)
def test_samples_of_a_seed(torch, name, shape):
    """Samples, and a number that is drawn after them."""

    def read(method):
        def drawn(L, made):
            L.manual_seed(3)
            if name in ONE_BY_ONE and np.prod(shape) == 1:
                return L.tensor(list(made.sample(shape).shape))
            return getattr(made, method)(shape)

        return drawn

    compare(torch, name, read("sample"))
    compare(torch, name, read("rsample"))


def test_frequencies_of_single_draws():
    minigrad.manual_seed(0)
    made = minigrad.distributions.Categorical(minigrad.tensor([0.2, 0.0, 0.8]))
    counts = np.bincount([made.sample().item() for _ in range(500)], minlength=3)
    assert counts[1] == 0 and abs(counts[0] - 100) < 30


DIVERGENCES = {
    "normal": lambda D, a, b: (D.Normal(a, b.exp()), D.Normal(b, 1.5)),
    "Bernoulli": lambda D, a, b: (D.Bernoulli(logits=a), D.Bernoulli(logits=b)),
    "Bernoulli of probabilities": lambda D, a, b: (D.Bernoulli(a.sigmoid()), D.Bernoulli(b.sigmoid())),
    "Bernoulli at the ends": lambda D, a, b: (D.Bernoulli((a > 0) * 1.0), D.Bernoulli(b.sigmoid())),
    "Bernoulli that is impossible": lambda D, a, b: (D.Bernoulli(a.sigmoid()), D.Bernoulli((b > 0) * 1.0)),
    "categorical": lambda D, a, b: (D.Categorical(logits=a), D.Categorical(logits=b)),
    "categorical of probabilities": lambda D, a, b: (D.Categorical(a.exp()), D.Categorical(b.relu())),
    "categorical without a class": lambda D, a, b: (D.Categorical(a.relu()), D.Categorical(logits=b)),
    "independent": lambda D, a, b: (D.Independent(D.Normal(a, 1), 1), D.Independent(D.Normal(b, 2), 1)),
    "independent in two ways": lambda D, a, b: (
        D.Independent(D.Normal(a, 1.0), 0),
        D.Independent(D.Normal(b, 1.0), 1),
    ),
    "of two classes": lambda D, a, b: (D.Normal(a, 1.0), D.Categorical(logits=b)),
}


@pytest.mark.parametrize("name", DIVERGENCES)
def test_divergences(torch, name):
    found, grads = [], []
    with dialect("2"):
        for L in (minigrad, torch):
            a, b = leaf(L, [0.5, 0.1, 2.0]), leaf(L, [-2.5, -1.2, 0.7])
            result = outcome(L.distributions.kl_divergence, *DIVERGENCES[name](L.distributions, a, b))
            if isinstance(result, L.Tensor) and result.requires_grad:
                result.sum().backward(retain_graph=True)
            found.append(result)
            grads.append((a.grad, b.grad))
        if isinstance(found[1], tuple):
            assert found[0] == found[1]
            return
        assert_same_tensor(*found, name)
        assert_same_graph((found[0],), (found[1],), values=False)
        for ours, theirs in zip(*grads, strict=True):
            assert_same_tensor(ours, theirs, "gradient")


# ─── Errors, checks, subclasses


PARAMETERS = """
D.Normal(0.0, x) | D.Normal(0.0, -1.0) | D.Normal(0.0, L.nn.Parameter(x))
D.Normal(L.tensor([float('nan'), 0.0]), 1.0) | D.Normal('a', 1.0) | D.Normal(L.ones(2), L.ones(3))
D.Bernoulli(1.5) | D.Bernoulli(x) | D.Bernoulli() | D.Bernoulli(probs=x, logits=x)
D.Bernoulli(logits=x / 0 * 0) | D.Categorical(x) | D.Categorical(L.zeros(2)) | D.Categorical()
D.Categorical(x, x) | D.Categorical(L.tensor(1.0)) | D.Categorical(logits=L.tensor(1.0))
D.Categorical(logits=L.tensor([1.0, float('nan')])) | D.Independent(D.Normal(x, 1.0), 2)
D.Normal(0.0, x, validate_args=False).log_prob(x) | D.Bernoulli(1.5, validate_args=False).variance
"""


def test_parameters_are_checked(torch):
    assert_same_ends(torch, PARAMETERS, lambda L: {"D": L.distributions, "x": L.tensor([0.5, -1.0])})


VALUES = """
normal.log_prob(0.5) | normal.log_prob(L.ones(2)) | normal.log_prob(L.tensor([float('nan'), 0.0, 0.0]))
normal.cdf(L.ones(4, 2)) | coin.log_prob(L.tensor(0.5)) | coin.log_prob(1) | dice.log_prob(L.tensor([6, 0]))
dice.log_prob(L.tensor([0.5, 0])) | dice.log_prob(L.tensor([1, 2, 3])) | dice.rsample() | coin.rsample((2,))
dice.cdf(L.tensor(1)) | row.log_prob(L.ones(2)) | row.enumerate_support()
D.Bernoulli(0.5, validate_args=False).log_prob(L.tensor(0.5)) | normal, coin | dice, row
D.Normal(L.ones(1), 1.0)
"""


def drawn(L):
    D = L.distributions
    return {
        "D": D,
        "normal": D.Normal(L.zeros(3), 1.0),
        "coin": D.Bernoulli(0.5),
        "dice": D.Categorical(L.ones(2, 6)),
        "row": D.Independent(D.Normal(L.zeros(2, 3), 1.0), 1),
    }


def test_values_are_checked(torch):
    assert_same_ends(torch, VALUES, drawn)


def test_checks_can_be_switched_off(L, note):
    Distribution = L.distributions.Distribution
    Distribution.set_default_validate_args(False)
    try:
        note(L.distributions.Normal(0.0, -1.0).scale)
        note.error(lambda: L.distributions.Normal(0.0, -1.0, validate_args=True))
    finally:
        Distribution.set_default_validate_args(True)
    note.error(lambda: Distribution.set_default_validate_args(3))
    note.error(lambda: L.distributions.Normal(0.0, -1.0))


def test_expanding_keeps_the_choice_of_checks(L, note):
    made = L.distributions.Normal(0.0, 1.0, validate_args=False).expand((2,))
    note(made.log_prob(L.tensor([float("nan"), 0.0])), repr(made))


def test_a_class_of_the_users(L, note):
    D, constraints = L.distributions, L.distributions.constraints

    class Exponential(D.Distribution):
        arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
        support = constraints.greater_than(-1.0)
        has_rsample = True

        def __init__(self, rate, validate_args=None):
            (self.rate,) = D.utils.broadcast_all(rate)
            super().__init__(self.rate.shape, validate_args=validate_args)

        def rsample(self, sample_shape=()):
            return -L.rand(self._extended_shape(sample_shape)).log1p() / self.rate

        def log_prob(self, value):
            self._validate_sample(value)
            return self.rate.log() - self.rate * value

    class Shifted(D.Normal):
        def __init__(self, loc):
            super().__init__(loc + 1, 1.0)

    made = Exponential(L.tensor([1.0, 2.0], requires_grad=True))
    L.manual_seed(1)
    note(repr(made), made.sample((3,)), made.rsample(), made.log_prob(L.tensor(0.5)))
    for wrong in (
        lambda: Exponential(0.0),
        lambda: made.log_prob(L.tensor(-2.0)),
        lambda: made.mean,
        lambda: made.variance,
        lambda: made.entropy(),
        lambda: made.expand((2,)),
        lambda: made.cdf(L.ones(2)),
        lambda: made.icdf(L.ones(2)),
        lambda: made.enumerate_support(),
        lambda: D.kl_divergence(made, made),
        lambda: Shifted(L.ones(2)).expand((3, 2)),
        lambda: constraints.Constraint().check(L.ones(2)),
        lambda: constraints.real_vector.check(L.tensor(1.0)),
    ):
        note.error(wrong)
    note(D.kl_divergence(Shifted(L.ones(2)), D.Normal(0.0, 1.0)))

    @D.register_kl(Exponential, Exponential)
    def divergence(p, q):
        return (p.rate / q.rate).log() + q.rate / p.rate - 1

    note(D.kl_divergence(made, Exponential(3.0)))


def test_constraints_have_texts(L, note):
    found = L.distributions.constraints
    events = L.tensor([[0.25, 0.75], [1.0, 1.0], [-0.5, 1.5]])
    for name in ("boolean", "positive", "real", "real_vector", "simplex", "unit_interval"):
        constraint = getattr(found, name)
        note(repr(constraint), constraint.check(events), constraint.is_discrete, constraint.event_dim)
    note(repr(found.integer_interval(0, 3)), found.integer_interval(0, 1).check(events))
    note(repr(found.independent(found.boolean, 1)), found.independent(found.boolean, 1).check(events))


def test_parameters_that_are_computed_have_gradients(L, note):
    """Also if they are read first where no gradients are recorded."""
    logits = L.tensor([0.5, 1.0], requires_grad=True)
    policy = L.distributions.Categorical(logits=logits)
    with L.no_grad():
        note(policy.probs)
    note(policy.probs is policy.probs, policy.probs)
    policy.probs[0].backward()
    note(logits.grad)


@pytest.mark.parametrize("what", ["arg_constraints", "support"])
def test_a_class_without_constraints_warns(L, note, what):
    Distribution = L.distributions.Distribution
    body = {} if what == "arg_constraints" else {"arg_constraints": {}}
    cls = type("Mine", (Distribution,), {**body, "log_prob": Distribution._validate_sample})
    note(*outcome_and_warnings(lambda: cls() and None))
    note(*outcome_and_warnings(lambda: cls().log_prob(L.ones(2))))


@pytest.mark.parametrize("validate", [True, False])
def test_a_batch_of_policies_under_vmap(torch, validate):
    found = []
    for L in (minigrad, torch):

        def loss(logits, action, L=L):
            return L.distributions.Categorical(logits=logits, validate_args=validate).log_prob(action)

        logits, actions = L.tensor(LOGITS), L.tensor([2, 0])
        found.append(L.func.vmap(L.func.grad(loss))(logits, actions))
        if validate:  # also an example that is not the first
            with pytest.raises(ValueError, match="IndependentConstraint"):
                L.func.vmap(loss)(L.tensor([[1.0, 2.0], [float("nan"), 2.0]]), L.tensor([1, 0]))
    assert_same_tensor(*found)


def test_the_checks_are_no_steps_of_the_program():
    cell = (
        "d = torch.distributions.Normal(torch.zeros(2), torch.ones(2))\nd._validate_sample(torch.ones(2))\n"
    )
    events = traced(cell, minigrad).events
    assert [event.op for event in events if isinstance(event, Forward)] == []
    assert any(isinstance(event, TensorCreated) for event in events)


# ─── Programs as lessons write them


def test_reinforce(L, note):
    """A walk on five fields; the goal is the last. The policy is a table of logits."""
    L.manual_seed(0)
    logits = L.nn.Parameter(L.zeros(5, 2, dtype=L.float64))
    optimizer = L.optim.SGD([logits], lr=0.5)
    for episode in range(12):
        field, log_probs, rewards = 2, [], []
        for _ in range(8):
            policy = L.distributions.Categorical(logits=logits[field])
            action = policy.sample((2,))[-1]  # of two draws, which come from the same words everywhere
            log_probs.append(policy.log_prob(action))
            field = max(field + 2 * action.item() - 1, 0)
            rewards.append(1.0 if field == 4 else -0.1)
            if field == 4:
                break
        returns, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + 0.9 * total
            returns.insert(0, total)
        returns = L.tensor(returns, dtype=L.float64)
        loss = -(L.stack(log_probs) * (returns - returns.mean())).sum()
        entropy = L.distributions.Categorical(logits=logits).entropy().mean()
        optimizer.zero_grad()
        (loss - 0.01 * entropy).backward()
        optimizer.step()
        note(episode, len(rewards), total, loss, entropy)
    note(logits)


def test_variational_autoencoder(L, note):
    nn, D = L.nn, L.distributions

    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(8, 6), nn.Tanh())
            self.mu, self.log_var = nn.Linear(6, 2), nn.Linear(6, 2)
            self.decoder = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 8))

        def forward(self, x):
            h = self.encoder(x)
            q = D.Normal(self.mu(h), (0.5 * self.log_var(h)).exp())
            return D.Bernoulli(logits=self.decoder(q.rsample())), q

    L.manual_seed(0)
    model = VAE().double()
    x = (L.rand(16, 8) > 0.5).double()
    optimizer = L.optim.Adam(model.parameters(), lr=0.02)
    prior = D.Independent(D.Normal(L.zeros(2, dtype=L.float64), 1.0), 1)
    for _ in range(6):
        p, q = model(x)
        divergence = D.kl_divergence(D.Independent(q, 1), prior.expand((16,)))
        loss = (-p.log_prob(x).sum(1) + divergence).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        note(loss, divergence, q.mean, p.probs[0])
    note([w for _, w in model.named_parameters()])
