"""Training that goes on: a further round is the round that the cell's own loop would have run."""

from __future__ import annotations

import subprocess
import sys

import numpy
import pytest

import minigrad
from minigrad_viz.replay import watch
from minigrad_viz.replay.live import ReplayRefusal
from minigrad_viz.replay.training import Training, movable_numbers, slice_of
from minigrad_viz.shell.run import trace_source

SETUP = """\
torch.manual_seed(3)
w = torch.tensor([0.5, -0.25], requires_grad=True)
b = torch.tensor(0.1, requires_grad=True)
X = torch.tensor([[0.0, 1.0], [1.0, 2.0], [2.0, -1.0], [3.0, 0.5]])
Y = torch.tensor([1.0, 2.5, 5.0, 6.5])
losses = []
"""
BODIES = {
    "by hand": """\
for i in range(N):
    loss = ((X @ w + b - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.02 * w.grad
        b -= 0.02 * b.grad
    w.grad = b.grad = None
    losses.append(loss.item())
""",
    "by data": """\
lr = 0.02
for i in range(N):
    loss = ((X @ w + b - Y) ** 2).mean()
    loss.backward()
    losses.append(loss.item())
    w.data -= lr * w.grad
    b.data -= lr * b.grad
    w.grad.zero_()
    b.grad.zero_()
""",
    "sgd": """\
opt = torch.optim.SGD([w, b], lr=0.02, momentum=0.9, weight_decay=0.01)
for i in range(N):
    opt.zero_grad()
    loss = ((X @ w + b - Y) ** 2).mean()
    loss.backward()
    opt.step()
    losses.append(loss.item())
""",
    "adam": """\
opt = torch.optim.Adam([w, b], lr=0.05)
for i in range(N):
    loss = ((torch.tanh(X @ w) + b - Y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    losses.append(loss.item())
    opt.step()
""",
    "dropout": """\
opt = torch.optim.Adam([w, b], lr=0.05)
for i in range(N):
    opt.zero_grad()
    h = torch.nn.functional.dropout(X * w, 0.25)
    loss = ((h.sum(dim=1) + b - Y) ** 2).mean()
    loss.backward()
    opt.step()
    losses.append(loss.item())
""",
    "a model": """\
hidden = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Dropout(0.2))
net = torch.nn.Sequential(hidden, torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.8)
for i in range(N):
    opt.zero_grad()
    loss = torch.nn.functional.mse_loss(net(X).squeeze(1), Y)
    loss.backward()
    opt.step()
    losses.append(loss.item())
""",
}


def trained(body, library, rounds=5):
    """The trace and the program of a loop, and its namespace."""
    space = {"torch": library, "N": rounds}
    watched = watch(SETUP + body, space, rounds=True)
    exec(compile(SETUP + body, "<cell>", "exec"), space)
    return *watched.stop(), space


def training(body, library, rounds=5):
    trace, program, _ = trained(body, library, rounds)
    return Training(trace, program, "en")


@pytest.mark.parametrize("name", BODIES)
class TestRounds:
    def test_further_rounds_are_those_of_the_loop(self, library, name):
        whole = trained(BODIES[name], library, 12)[2]["losses"]
        goes_on = training(BODIES[name], library, 5)
        assert goes_on.round == 5 and goes_on.loss == whole[4]
        assert goes_on.more() == whole[5:6]
        assert goes_on.more(6) == whole[6:12]
        assert [goes_on.losses[i] for i in range(1, 13)] == whole

    def test_back_and_on_gives_the_same_numbers(self, library, name):
        goes_on = training(BODIES[name], library, 5)
        first, values = goes_on.more(6), goes_on.values()
        assert goes_on.rewind(7) == first[1] and goes_on.round == 7
        assert goes_on.more(4) == first[2:] and goes_on.values() == values
        goes_on.rewind(3)  # into the rounds of the cell
        assert goes_on.more(8)[2:] == first

    def test_with_another_learning_rate(self, library, name):
        goes_on = training(BODIES[name], library, 5)
        rate = goes_on.rate
        assert rate == (0.02 if name in ("by hand", "by data", "sgd") else 0.05)
        slow = goes_on.more(3)
        goes_on.rewind(5)
        fast = goes_on.more(3, lr=rate / 2)
        assert goes_on.rate == rate / 2 and slow[0] == fast[0] and slow[1:] != fast[1:]
        goes_on.rewind(5)
        assert goes_on.more(3, lr=rate) == slow

    def test_the_cell_does_not_notice(self, library, name, capsys):
        trace, program, space = trained(BODIES[name], library)
        before = {key: repr(value) for key, value in space.items() if key in ("w", "b", "losses", "loss")}
        drawn = library.get_rng_state().tolist()
        Training(trace, program, "en").more(4, lr=0.5)
        assert {key: repr(space[key]) for key in before} == before
        assert library.get_rng_state().tolist() == drawn and capsys.readouterr().out == ""


REFUSED = {
    "new data": (
        "for i in range(N):\n    x = torch.randn(3)\n    ((x * b) ** 2).sum().backward()\n    b.grad = None",
        "other data",
    ),
    "batches": (
        "for i in range(N):\n    x = X[i % 4]\n    ((x @ w - Y[i % 4]) ** 2).backward()\n    w.grad = None",
        "changes from round to round",
    ),
    "another way": (
        "for i in range(N):\n    l = (b * 2 if i % 2 else b * b)\n    l.backward()\n    b.grad = None",
        "different operations",
    ),
    "a schedule": (
        "opt = torch.optim.SGD([b], lr=0.1)\ns = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5)\n"
        "for i in range(N):\n    (b * b).backward()\n    opt.step()\n    s.step()\n    opt.zero_grad()",
        "changes from round to round",
    ),
    "results of the round before": (
        "for i in range(N):\n    l = b * b\n    l.backward()\n"
        "    b = (b - 0.1 * b.grad).detach().requires_grad_()",
        "what the round before computed",
    ),
    "no loop": ("(b * b).backward()", "no loop"),
    "a list of losses that decides": (
        "for i in range(N):\n    l = b * b\n    losses.append(l.item())\n    if len(losses) > 1:\n"
        "        l = l * losses[-1]\n    l.backward()\n    b.grad = None",
        "uses losses, which holds numbers",
    ),
    "numbers that are used": (
        "for i in range(N):\n    l = (b * b)\n    l = l / l.item()\n    l.backward()",
        "takes numbers out",
    ),
}


@pytest.mark.quick
@pytest.mark.parametrize("name", REFUSED)
def test_refused(library, name):
    body, said = REFUSED[name]
    with pytest.raises(ReplayRefusal, match=said):
        training(body, library)


def test_a_list_of_losses_may_be_used_after_the_loop(library):
    body = BODIES["by hand"] + "smallest = min(losses)\n"
    assert training(body, library).more(2)


class TestLandscape:
    @pytest.mark.parametrize("name", BODIES)
    def test_it_goes_through_the_rounds_of_the_loop(self, library, name):
        """The slice has the loss of the round where its leaf is, the gradient of the round as its slope, and
        the value of the next round where the update leads."""
        goes_on = training(BODIES[name], library, 6)
        name, (number, place) = list(movable_numbers(goes_on).items())[-1]
        found = slice_of(goes_on, name)
        assert found.here.y == goes_on.loss == found.ys[found.xs.index(found.here.x)]
        assert found.here.slope == pytest.approx(found.grad, rel=1e-5, abs=1e-7)
        goes_on.more()
        assert float(goes_on.states[-1].tensors[number].data[place]) == found.next.x

    def test_against_the_formula(self, library):
        trace, program, space = trained(BODIES["by hand"], library, 4)
        goes_on = Training(trace, program, "en")
        X, Y, w = space["X"].numpy(), space["Y"].numpy(), numpy.array(goes_on.values()["w"])
        found = slice_of(goes_on, "b")
        for x, y in zip(found.xs, found.ys):
            assert y == pytest.approx(float(((X @ w + x - Y) ** 2).mean()), rel=1e-5)
        assert found.next.x == pytest.approx(found.here.x - 0.02 * found.here.slope, rel=1e-5)

    def test_where_gradients_add_up_the_slope_is_not_the_gradient(self, library):
        found = slice_of(training("for i in range(N):\n    (b * b).backward()\n", library, 4), "b")
        assert found.grad == pytest.approx(4 * found.here.slope)

    def test_it_has_a_gap_where_the_round_would_take_another_way(self, library):
        loop = "for i in range(N):\n    loss = (b * 2 - 3) ** 2\n    if loss < 1e-4:\n        'small'\n"
        loop += (
            "    loss.backward()\n    with torch.no_grad():\n        b -= 0.11 * b.grad\n    b.grad = None\n"
        )
        goes_on = training(loop, library, 5)
        found = slice_of(goes_on, "b")
        assert found.here.y == goes_on.loss < 1e-4
        small = [y for y in found.ys if numpy.isfinite(y)]
        assert len(small) < len(found.ys) and max(small) < 1e-4


SIZED = "big = torch.zeros({size}, requires_grad=True)\nopt = torch.optim.SGD([big], lr=0.1{more})\n" + (
    "for i in range(N):\n    (big ** 2).sum().backward()\n    opt.step()\n    opt.zero_grad()\n"
)


class TestBounds:
    def test_the_newest_twenty_rounds_are_kept(self, library):
        goes_on = training(BODIES["adam"], library, 30)
        assert goes_on.rounds == tuple(range(11, 31))
        goes_on.more(5)
        assert goes_on.rounds == tuple(range(16, 36)) and len(goes_on.states) == 20
        with pytest.raises(ReplayRefusal, match="Round 15 was not kept"):
            goes_on.rewind(15)

    def test_they_take_at_most_twenty_megabytes(self, library):
        """Values, gradients and what an optimizer keeps count."""
        goes_on = training(SIZED.format(size=100_000, more=""), library, 25)
        kept = [given for state in goes_on.states for given in state.tensors.values()]
        size = sum(given.data.nbytes + (0 if given.grad is None else given.grad.nbytes) for given in kept)
        assert 7_000_000 < size <= 20_000_000
        for size, more in ((130_000, ""), (100_000, ", momentum=0.9")):
            with pytest.raises(ReplayRefusal, match="too large"):
                training(SIZED.format(size=size, more=more), library, 5)


def test_a_way_that_changes_later_ends_it():
    body = (
        "for i in range(N):\n    l = b * b\n    if l > 0.001:\n        l = l * 2\n    l.backward()\n"
        "    with torch.no_grad():\n        b -= 0.1 * b.grad\n    b.grad = None"
    )
    goes_on = training(body, minigrad, 3)
    with pytest.raises(ReplayRefusal, match=r"line 9 was True and would be False"):
        goes_on.more(50)
    assert goes_on.round >= 3


def test_the_newest_rounds_are_kept():
    goes_on = training(BODIES["by hand"], minigrad, 30)
    assert goes_on.rounds == tuple(range(11, 31))
    goes_on.more(5)
    assert goes_on.rounds == tuple(range(16, 36))
    with pytest.raises(ReplayRefusal, match=r"Round 3 was not kept. The rounds that were kept: 16, 17"):
        goes_on.rewind(3)


def test_from_the_report():
    source = f"import minigrad as torch\nN = 5\n{SETUP}{BODIES['adam']}"
    report, _ = trace_source(source, lang="en", live=True)
    first, second = report.training(), report.training()
    assert first.more(2) == second.more(2)
    plain, _ = trace_source(source, lang="en")
    with pytest.raises(ValueError, match="record\\(live=True\\)"):
        plain.training()


def test_pytorch_may_be_imported_in_the_cell(torch):
    """Steps of optimizers are heard of, and nobody listens afterwards."""
    code = (
        "from minigrad_viz.shell.run import trace_source\n"
        f"source = 'import torch\\nN = 5\\n' + {SETUP + BODIES['adam']!r}\n"
        "report, error = trace_source(source, live=True)\nassert error is None\n"
        "assert len(report.training().more(2)) == 2\nfrom torch.optim import optimizer\n"
        "assert not optimizer._global_optimizer_post_hooks"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_values_by_name():
    goes_on = training(BODIES["by hand"], minigrad)
    assert list(goes_on.values()) == ["w", "b"] and len(goes_on.values()["w"]) == 2


def test_a_training_says_where_it_stands():
    source = (
        "w = torch.tensor(0.0, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nfor i in range(5):\n"
        "    opt.zero_grad()\n    loss = (w * 2 - 3) ** 2\n    loss.backward()\n    opt.step()\n"
    )
    report, error = trace_source("import minigrad as torch\n" + source, lang="en", live=True)
    training = report.training()
    assert error is None and repr(training).startswith(f"Training after round 5: {training.loss:.5g}")
    training.more(2)
    assert "after round 7" in repr(training) and "lr=0.1" in repr(training)
